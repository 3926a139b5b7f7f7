/* keeper.h: one run from its claim to its end, in a process of its own.
 *
 * What it starts is called its agent, also where the run is a command.
 *
 * The runner starts a keeper for each run and need not be there afterwards: the keeper
 * starts the agent, reads what it writes, renews the lease, obeys a stop, and tells the
 * end until the server has heard it. If the keeper is killed, so is the agent, and the
 * lease brings the run back. */
#ifndef RUNNER_KEEPER_H
#define RUNNER_KEEPER_H

#include "json/json.h"

/* Descriptors that a keeper is started with, beside its log at 1 and 2. */
enum {
    KEEPER_SECRETS = 0, /* a pipe: {"token": the agent's, "runner_token": ours or ""} */
    KEEPER_LOCK = 3,    /* of its folder */
    KEEPER_READY = 4,   /* a pipe that it closes when the server knows that the run has started */
};

/* What spec.json holds:
 *   run         the claim's run, without its token; of a command with what it gets on its input
 *   runner_id   whose run it is
 *   data        the directory of the server on this machine; "": BATON_URL says where it is
 *   home        the runner's directory
 *   user        as whom agents run; "": as us
 *   project_dir where agents work whose run says nothing
 *
 * Keeps the run whose folder that is; returns when nothing is left to do. */
err keeper_run(struct arena *a, str folder);

#endif
