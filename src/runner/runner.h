/* runner.h: a machine's worker: it claims runs, agents' turns and commands, and starts a keeper for each.
 *
 * It is a client of the server like any other. What it holds in memory can be lost: keepers
 * go on without it, and one that is started again counts those that are there by the locks
 * of their folders, and starts nothing twice. */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include "base/arena.h"
#include "base/err.h"

struct runner_options {
    str data; /* the directory of the server on this machine; empty: BATON_URL says where it is */
    str home; /* its own directory, in which runs/ is */
    str name; /* what tells runners of one machine apart */
    str user; /* as whom agents run; empty: as us */
    str project_dir;
    const str *tags, *profiles; /* no profiles: all */
    size_t tag_count, profile_count;
    int64_t capacity;
    bool commands; /* it takes runs of purpose command */
    bool local;    /* a server started it: it takes over from another, and ends without a server */

    void (*ready)(void *to, str runner_id); /* it is registered; may be NULL */
    void *to;
};

/* Works until it is told to end (SIGTERM, SIGINT: the process ends) or the operator has removed it,
 * which is NULL. CONFLICT: another runner has the directory. UNAVAILABLE, of a local one: its server
 * is gone. */
err runner_run(struct arena *a, const struct runner_options *o);

#endif
