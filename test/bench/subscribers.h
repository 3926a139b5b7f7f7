/* subscribers.h: many WebSocket subscribers who only listen. */
#ifndef BENCH_SUBSCRIBERS_H
#define BENCH_SUBSCRIBERS_H

#include "base/arena.h"

struct subscribers;

/* Connects that many, each subscribed to every update of every state, and waits until the server
 * has confirmed all of them. */
struct subscribers *subscribers_new(int port, const char *token, uint32_t count);
void subscribers_free(struct subscribers *a);

/* Waits until each of them has got that many events more. */
void subscribers_receive(struct subscribers *a, uint64_t events);

/* Averages since it was last asked. */
struct subscribers_received {
    double events_each_read, bytes_each_event;
};

struct subscribers_received subscribers_received(struct subscribers *a);

#endif
