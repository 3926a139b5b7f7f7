/* neighbour.h: a client that behaves, beside one that does not.
 *
 * It writes and reads a state of its own as fast as it gets answers. Whatever
 * others do to the server, all of its requests are answered well and in time. */
#ifndef TEST_BLACK_NEIGHBOUR_H
#define TEST_BLACK_NEIGHBOUR_H

#include <pthread.h>
#include <stdatomic.h>

#include "black/black.h"

struct neighbour {
    const struct black *server;
    str state_id;
    pthread_t thread;
    atomic_bool over;
    _Atomic int64_t requests;
    int64_t longest_ms;
};

void neighbour_start(struct neighbour *n, const struct black *b);

/* Waits until it has had so many more answers. */
void neighbour_goes_on(const struct neighbour *n, int64_t requests);

/* Checks how it fared, and tells. */
void neighbour_stop(struct neighbour *n);

#endif
