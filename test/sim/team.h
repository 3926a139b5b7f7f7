/* team.h: from a seed, a team of agents that misbehave, on runners that come and go, under people
 * who change their minds, with a server that restarts.
 *
 * A run is one world on a simulated disk. In each step somebody does something: a runner asks for
 * work, an agent goes on, a person starts or stops a session, time passes. Now and then the server
 * dies, before a command or after it was committed and before anybody was told. Then all calm down:
 * agents do what they are asked, time goes on until nothing is left to do, and every promise that
 * was made to a parent must have been kept. From the same seed follows the same run. */
#ifndef SIM_TEAM_H
#define SIM_TEAM_H

#include <stdio.h>

#include "base/digest.h"

/* What was done, over all runs. */
struct team_totals {
    uint64_t runs, calls, restarts, lost; /* lost: answers that nobody got */
    uint64_t sessions, turns, prompts;    /* prompts: turns for nothing but the update */
    uint64_t told;                        /* cycles that a parent heard of */
    uint64_t late, refused;               /* completions after the lease; reports by who lost it */
};

struct team_options {
    bool restart_always; /* in every step; else in one of them */
    FILE *log;           /* one line for each command and event; NULL: nobody listens */
};

/* Runs one seed and adds to the totals. The digest is that of the log. A broken promise ends the
 * test; what was printed by then ends with the command that broke it. */
void team_run(uint64_t seed, const struct team_options *options, struct team_totals *totals,
              unsigned char digest[SHA256_BYTES]);

#endif
