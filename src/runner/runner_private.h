/* runner_private.h: folders of runs as the runner sees them. Private to runner.c, runs.c and offer.c. */
#ifndef RUNNER_RUNNER_PRIVATE_H
#define RUNNER_RUNNER_PRIVATE_H

#include "json/json.h"
#include "runner/runner.h"

/* Live keepers, by the locks of their folders. What those that are gone have left is ended and
 * removed. Their run ids are pushed to `ids`, an array, unless it is NULL. */
int64_t runs_count(struct arena *a, str home, struct json *ids);

/* Starts a keeper for what was claimed. *ready is a pipe that ends when the server knows of the
 * start. CONFLICT: an older keeper of this run is still there. */
err runs_start(struct arena *a, const struct runner_options *o, str runner_id,
               const struct json *run, int *ready);

/* Asks the keeper of a run, if there is one, to stop its agent. */
void runs_stop(struct arena *a, str home, str run_id);

#endif
