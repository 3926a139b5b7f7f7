/* cluster.h: a PostgreSQL of the benchmark's own, as it comes: every commit is synced. */
#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

#include "base/arena.h"

struct postgres;

struct cluster {
    struct postgres *server;
    const char *url;   /* a database with the tables and SMALL_STATES states of 1 KB */
    const char *plain; /* another one, for statements by hand */
};

/* Starts it in that folder, whose content is removed first. False, with a line that says why, when
 * there is none to start. */
bool cluster_start(struct cluster *c, const char *folder);
void cluster_stop(struct cluster *c);

/* For cluster.c: calls `start`; false when something that it needs is not installed. */
bool cluster_try(void (*start)(void *self), void *self);

/* ---- updates.c: UPDATE of a state by its id, each a transaction, by many connections ---- */

struct updates {
    double rate, p50_us, p99_us;
};

struct updates updates_run(const char *url, uint32_t connections, double seconds);

#endif
