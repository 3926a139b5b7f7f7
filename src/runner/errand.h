/* errand.h: an idle client on this machine is told something, by its own queue.
 *
 * A process of its own runs `codex queue` and tells the server how that went, so that neither a client
 * that takes its time nor a server that is away holds up the runner, and a runner that is killed costs
 * nothing. When it is killed itself, the server offers the errand again by and by. */
#ifndef RUNNER_ERRAND_H
#define RUNNER_ERRAND_H

#include "json/json.h"
#include "runner/runner.h"

/* Starts it: `wake` is as the server gave it. */
void errand_start(struct arena *a, const struct runner_options *o, str runner_id,
                  const struct json *wake);

#endif
