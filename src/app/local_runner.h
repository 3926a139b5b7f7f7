/* local_runner.h: the runner that a server has for its own machine.
 *
 * It is a process of its own, the program started anew (`baton serve-runner`), and a client of the
 * server like those of other machines. While the server lives, one that ends is started again, later
 * each time. It outlives a server that crashes, and gives way to the runner of the next. */
#ifndef APP_LOCAL_RUNNER_H
#define APP_LOCAL_RUNNER_H

#include <sys/resource.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "json/write.h"
#include "wire/loop.h"

/* All of it belongs to the loop's thread. */
struct local_runner {
    mode_t mask; /* what agents are to have as the server had it at first */
    rlim_t files;
    str folder;       /* empty: there is to be no runner */
    pid_t pid;        /* 0: there is none now */
    int64_t began_ms; /* of the loop's clock: its last start */
    int64_t again_ms; /* the next */
    int failures;     /* starts that came to nothing, one after the other */
    int64_t restarts; /* all of them */
    bool removed;     /* by the operator: there is to be none any more */
    char ended[128];  /* how the last one ended; empty: none has */
    struct loop *loop;
    struct timer *timer;
    struct signal_watch *watch;
};

/* Notes how the process was started, before the server changes it. */
void local_runner_note(struct local_runner *r);

/* Starts it, and again when it ends. */
void local_runner_start(struct local_runner *r, struct loop *l, str folder);

/* Ends it; its keepers and their agents go on. */
void local_runner_stop(struct local_runner *r);

/* How it is, as a value for GET /ready: state (off, running, ended or removed), restarts, and of one
 * that has ended how, and when it is started again. */
void local_runner_write(const struct local_runner *r, struct json_writer *w);

/* How long after the n-th start in a row that came to nothing the next one is, n from 1 on. */
int64_t local_runner_delay_ms(int n);

/* ---- the runner's own process ---- */

/* The command: its arguments are the folder, and the mask and the number of files for agents. */
err serve_runner_verb_run(struct cli *c);

#endif
