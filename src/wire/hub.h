/* hub.h: who listens to which events.
 *
 * An event is printed once and framed once for all of its listeners. A listener
 * is behind while it reads what it missed from the log, and live afterwards; on
 * the way from one to the other nothing is lost and nothing comes twice. When the
 * log does not reach back far enough, it is told so. */
#ifndef WIRE_HUB_H
#define WIRE_HUB_H

#include "wire/server_private.h"

struct follower;

/* How its owner gets them. One of each is made for all listeners of a look. */
enum hub_look { HUB_WEBSOCKET, HUB_SSE, HUB_LOOKS };

/* What an owner is told, never before hub_listen has returned. It may leave, pause and resume in
 * any of them. */
struct hub_events {
    void (*started)(void *owner,
                    int64_t seq); /* it may listen; what is after this number follows */
    void (*event)(void *owner, struct shared *framed, int64_t seq); /* in order */
    void (*caught_up)(void *owner, int64_t seq);              /* all up to this number was given */
    void (*gap)(void *owner, int64_t oldest, int64_t newest); /* what is older than that is lost */
    void (*failed)(void *owner, err e);                       /* nothing more comes */
};

struct hub_wish {
    str subject;      /* empty: all */
    const str *types; /* none: all */
    size_t type_count;
    int64_t after; /* −1: from now on */
};

/* ---- pure: what a request for a stream asks for, in wire/http/sse.c; and an event as it is sent ---- */

struct http_request;

/* INVALID says which parameter is not one, or what was expected of it. */
err sse_wish(struct arena *a, const struct http_request *r, struct hub_wish *out);

/* The text must be printed JSON, which has no line ends. */
void sse_write(struct buf *out, int64_t seq, str type, str json);

/* ---- the hub ---- */

struct hub *hub_new(struct server *s);
void hub_free(struct hub *h);

/* What may be heard is decided by whether the grant's actor may read it from the log: each listener
 * begins with such a read, which says `started` or `failed`. */
struct follower *hub_listen(struct hub *h, const struct hub_wish *wish, struct grant *g,
                            enum hub_look look, const struct hub_events *events, void *owner);
void hub_leave(struct follower *f);

/* A listener that cannot take more for now misses what is published, and reads it from the log when
 * it is resumed. */
void hub_pause(struct follower *f);
void hub_resume(struct follower *f);

/* Called for each event after its commit, in order, on the loop's thread. */
void hub_publish(struct hub *h, const struct event *e);

/* What somebody waits for, who has looked already and seen all up to a number. */
struct hub_wait {
    str subject;      /* empty: any */
    int64_t seq;      /* of the last event that he has seen */
    int64_t nudges;   /* what hub_nudges said before he looked */
    int64_t until_ms; /* by the program's clock */
};

/* Calls fn once: at the first event of the subject after the number, at a nudge, or when the time
 * has come. The watch is gone then. NULL: there may have been one already, and nothing will be
 * called. */
struct hub_watch;
struct hub_watch *hub_watch(struct hub *h, const struct hub_wait *what, void (*fn)(void *owner),
                            void *owner);
void hub_unwatch(struct hub_watch *w);

/* Something of the subject has changed that is no event: whoever watches it looks again. */
void hub_nudge(struct hub *h, str subject);
int64_t hub_nudges(const struct hub *h);

/* ---- hub_matcher.c ---- */

/* One who waits for events that only he can tell from others, like a runner for a run that it can
 * do. Each such event has one of them look, who has waited longest; between two waits he looks, and
 * what he would choose meanwhile is noted. fn is called when he is to look, and may free him. */
struct hub_chooser;
struct hub_chooser *hub_chooser_new(struct hub *h, void (*fn)(void *owner), void *owner);
void hub_chooser_free(struct hub_chooser *c);

/* Waits for an event after the number, or for the time. `self` lives until the next call. False:
 * there may have been one already, and he is to look again. */
bool hub_choose(struct hub_chooser *c, op_wakes *wakes, const void *self, int64_t seq,
                int64_t until_ms);

/* The one who was to look could not: all the others do. */
void hub_pass_on(struct hub *h);

#endif
