/* hub.h: who subscribes to which events.
 *
 * An event is printed once and framed once for all of its subscribers. A subscriber
 * is behind while it reads what it missed from the log, and live afterwards; on
 * the way from one to the other nothing is lost and nothing comes twice. When the
 * log does not reach back far enough, it is told so. */
#ifndef WIRE_HUB_H
#define WIRE_HUB_H

#include "wire/server_private.h"

struct subscriber;

/* The bytes that its owner gets. An event is encoded once for all subscribers of one encoding. */
enum hub_encoding { HUB_WEBSOCKET, HUB_SSE, HUB_ENCODINGS };

/* What an owner is told, never before hub_subscribe has returned. It may leave, pause and resume in
 * any of them. */
struct hub_events {
    void (*started)(void *owner,
                    int64_t seq); /* it is allowed to; what is after this number follows */
    void (*event)(void *owner, struct shared *framed, int64_t seq); /* in order */
    void (*caught_up)(void *owner, int64_t seq);              /* all up to this number was given */
    void (*gap)(void *owner, int64_t oldest, int64_t newest); /* what is older than that is lost */
    void (*failed)(void *owner, err e);                       /* nothing more comes */
};

struct hub_filter {
    str subject;      /* empty: all */
    const str *types; /* none: all */
    size_t type_count;
    int64_t after; /* −1: from now on */
};

/* ---- pure: what a request for a stream asks for, in wire/http/sse.c; and an event as it is sent ---- */

struct http_request;

/* INVALID says which parameter is not one, or what was expected of it. */
err sse_filter(struct arena *a, const struct http_request *r, struct hub_filter *out);

/* The text must be printed JSON, which has no line ends. */
void sse_write(struct buf *out, int64_t seq, str type, str json);

/* ---- the hub ---- */

struct hub *hub_new(struct server *s);
void hub_free(struct hub *h);

/* Whether one may subscribe is decided by whether the grant's actor may read the log: each subscriber
 * begins with such a read, which says `started` or `failed`. */
struct subscriber *hub_subscribe(struct hub *h, const struct hub_filter *filter, struct grant *g,
                                 enum hub_encoding encoding, const struct hub_events *events,
                                 void *owner);
void hub_unsubscribe(struct subscriber *f);

/* A subscriber that cannot take more for now misses what is published, and reads it from the log when
 * it is resumed. */
void hub_pause(struct subscriber *f);
void hub_resume(struct subscriber *f);

/* Called for each event after its commit, in order, on the loop's thread. */
void hub_publish(struct hub *h, const struct event *e);

/* What a waiter waits for, which has read everything up to a number. */
struct hub_wait {
    str subject;           /* empty: any */
    int64_t seq;           /* of the last event that it has seen */
    int64_t notifications; /* what hub_notifications said before it read */
    int64_t until_ms;      /* by the program's clock */
};

/* Calls fn once: at the first event of the subject after the number, at a hub_notify, or when the time
 * has come. The watch is gone then. NULL: there may have been one already, and nothing will be
 * called. */
struct hub_watch;
struct hub_watch *hub_watch(struct hub *h, const struct hub_wait *what, void (*fn)(void *owner),
                            void *owner);
void hub_unwatch(struct hub_watch *w);

/* Something of the subject has changed that is no event: whoever watches it reads again. */
void hub_notify(struct hub *h, str subject);
int64_t hub_notifications(const struct hub *h);

/* ---- hub_matcher.c ---- */

/* A waiter with a predicate, like a runner's claim, which waits for a run that the runner can do. An
 * event that it matches wakes one matcher, the one that has waited longest. Between two waits a
 * matcher runs, and events that it matches meanwhile are noted. fn is called when it is to run, and
 * may free it. */
struct hub_matcher;
struct hub_matcher *hub_matcher_new(struct hub *h, void (*fn)(void *owner), void *owner);
void hub_matcher_free(struct hub_matcher *c);

/* Waits for an event after the number, or for the time. `self` lives until the next call. False:
 * there may have been one already, and it is to run again. */
bool hub_match(struct hub_matcher *c, op_wakes *wakes, const void *self, int64_t seq,
               int64_t until_ms);

/* The matcher that was woken could not run: all the others are woken. */
void hub_wake_all(struct hub *h);

#endif
