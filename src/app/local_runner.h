/* local_runner.h: the runner that a server starts for its own machine.
 *
 * It is a process of its own, a client of the server like those of other machines. It
 * outlives a server that crashes, and gives way to the runner of the next. */
#ifndef APP_LOCAL_RUNNER_H
#define APP_LOCAL_RUNNER_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/str.h"

struct local_runner {
    mode_t mask; /* what agents are to have as the server had it at first */
    struct rlimit files;
    pid_t pid; /* 0: there is none */
};

/* Notes how the process was started, before the server changes it. */
void local_runner_note(struct local_runner *r);

/* Starts it, before there are threads or a store. */
void local_runner_start(struct local_runner *r, struct arena *a, str folder);

/* Ends it; its keepers and their agents go on. */
void local_runner_stop(struct local_runner *r);

#endif
