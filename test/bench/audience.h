/* audience.h: many WebSocket subscribers who only listen. */
#ifndef BENCH_AUDIENCE_H
#define BENCH_AUDIENCE_H

#include "base/arena.h"

struct audience;

/* Connects that many, each subscribed to every update of every state, and waits until the server
 * has confirmed all of them. */
struct audience *audience_new(int port, const char *token, uint32_t count);
void audience_free(struct audience *a);

/* Waits until each of them has got that many events more. */
void audience_hear(struct audience *a, uint64_t events);

/* Averages since it was last asked. */
struct audience_heard {
    double events_each_read, bytes_each_event;
};

struct audience_heard audience_heard(struct audience *a);

#endif
