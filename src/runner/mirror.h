/* mirror.h: files that show workflows, kept in the folders of projects on this machine.
 *
 * A process of its own asks the server which there are to be and what is in them, and writes them: only
 * when that differs, and again when somebody else has edited or deleted one, of which the server hears.
 * It looks whenever the server has news, and as often as the runner gives signs of life. What it wrote
 * is noted in DIR/mirrors.json, so that one that is killed takes nothing of its own for somebody else's;
 * a file that was there before is kept beside. It tells of agents in files, too: see offer.h. */
#ifndef RUNNER_MIRROR_H
#define RUNNER_MIRROR_H

#include <sys/types.h>

#include "runner/runner.h"

/* Starts it; it ends with the runner. 0: it could not be started. */
pid_t mirror_start(const struct runner_options *o, str runner_id, int64_t look_ms);

#endif
