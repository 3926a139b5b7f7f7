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

struct hub_events {
    void (*event)(void *owner, struct shared *framed, int64_t seq); /* in order */
    void (*caught_up)(void *owner, int64_t seq);              /* all up to this number was given */
    void (*gap)(void *owner, int64_t oldest, int64_t newest); /* what is older than that is lost */
    void (*failed)(void *owner, err e);
};

struct hub_wish {
    str subject;      /* empty: all */
    const str *types; /* none: all */
    size_t type_count;
    int64_t after; /* −1: from now on */
};

struct hub *hub_new(struct server *s);
void hub_free(struct hub *h);

/* The grant decides what may be heard: a session hears of its own state only. FORBIDDEN. */
err hub_listen(struct hub *h, struct arena *a, const struct hub_wish *wish, struct grant *g,
               enum hub_look look, const struct hub_events *events, void *owner,
               struct follower **out);
void hub_leave(struct hub *h, struct follower *l);

/* A listener that cannot take more for now misses what is published, and reads it from the log when
 * it is resumed. */
void hub_pause(struct hub *h, struct follower *l);
void hub_resume(struct hub *h, struct follower *l);

/* Called for each event after its commit, in order, on the loop's thread. */
void hub_publish(struct hub *h, const struct event *e);

/* Calls fn at the first event of the subject (empty: of any) after the number. */
struct hub_watch;
struct hub_watch *hub_watch(struct hub *h, str subject, int64_t seq, void (*fn)(void *owner),
                            void *owner);
void hub_unwatch(struct hub *h, struct hub_watch *w);

#endif
