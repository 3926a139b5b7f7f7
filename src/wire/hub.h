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

/* Calls fn once: at the first event of the subject (empty: of any) after the number, or, with
 * `over`, when the program's clock has come to `until_ms`. The watch is gone then. NULL: there may
 * have been such an event already, and nothing will be called. */
struct hub_watch;
struct hub_watch *hub_watch(struct hub *h, str subject, int64_t seq, int64_t until_ms,
                            void (*fn)(void *owner, bool over), void *owner);
void hub_unwatch(struct hub_watch *w);

#endif
