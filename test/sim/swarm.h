/* swarm.h: from a seed, a random run of everything the operations can do, with everything that can
 * go wrong.
 *
 * A run is one world, on a simulated disk or on a store of the caller's. In each step somebody does
 * something (a batch of writes, a read, a retry, a restart), perhaps under a fault, and then the
 * model and every row are compared. From the same seed follows the same run, byte for byte. */
#ifndef SIM_SWARM_H
#define SIM_SWARM_H

#include <stdio.h>

#include "sim/model.h"
#include "sim/fault_sites.h"

enum { SWARM_OPS_MAX = 256, SWARM_STEPS = 40 };

/* What was done and met, over all runs. */
struct swarm_totals {
    uint64_t cells[SWARM_OPS_MAX][FAULT_SITE_COUNT]; /* by the operation's place in the table */
    uint64_t runs, commands, applied, reads, restarts;
    uint64_t dropped; /* versions that were looked for, and had been let go of */
    uint64_t points;  /* moments at which the power went, each looked at */
};

struct swarm_options {
    uint32_t points_per_batch; /* of the moments of a batch, so many are crashed */
    bool evenly;               /* no operation comes more often than others */
    FILE *log;                 /* one line for each step; NULL: nobody listens */
    bool tells;                /* and one for all that was answered, and the digest of all rows */

    const char *store;             /* on this one, which is new; NULL: on a simulated disk */
    struct proxy *wire;            /* to that store; NULL: none that can be cut */
    void (*restart)(void *server); /* the store's server; NULL: it does not restart */
    void *server;
};

/* A number from the environment. */
uint64_t swarm_setting(const char *variable, uint64_t otherwise);

/* Runs one seed and adds to the totals. The digest is that of the log and of all rows after each
 * step. A broken promise ends the test; what was printed by then ends with the step. */
void swarm_run(uint64_t seed, const struct swarm_options *options, struct swarm_totals *totals,
               unsigned char digest[SHA256_BYTES]);

#endif
