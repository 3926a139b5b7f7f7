/* target.h: a server that is measured, and what the system says of a process.
 *
 * Does not know what is asked of it. */
#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H

#include <sys/types.h>

#include "base/arena.h"

struct target {
    pid_t pid;
    int port;
    char token[128];
    double ready_ms; /* from the start of the program to the line that says it is ready */
};

/* Starts `program serve` on a folder, on a free port, with one more setting (NULL: none). What it
 * logs is added to FOLDER.log. It runs no agents. */
struct target target_start(const char *program, const char *folder, const char *setting);

/* Asks it to stop and waits for it; or ends it as a crash would. */
void target_stop(struct target *t);
void target_kill(struct target *t);

/* A figure of its /metrics. */
double target_metric(const struct target *t, const char *name);

/* Processor time of all threads so far, in seconds. */
double process_cpu_s(pid_t pid);

/* A line of /proc/PID/status such as "VmRSS", in bytes. */
double process_bytes(pid_t pid, const char *line);

double file_bytes(const char *folder, const char *name);
double now_s(void);

#endif
