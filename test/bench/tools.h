/* tools.h: programs of others that measure: wrk and strace. Where one is not installed, its figures
 * are NAN. */
#ifndef BENCH_TOOLS_H
#define BENCH_TOOLS_H

#include "bench/target.h"
#include "bench/traffic.h"

struct wrk {
    double rate, cpu_us, p50_us, p99_us;
};

/* Asks with wrk for states 0 … states - 1; its script and the list of ids are left in `folder`. */
struct wrk wrk_run(const char *folder, const struct target *t, enum traffic_kind kind,
                   uint32_t connections, uint64_t states, int seconds);

/* Counts fdatasync and fsync of all threads of a process from now on, until strace_end. */
struct strace {
    pid_t pid;
    char path[4096];
};

struct strace strace_begin(const char *folder, pid_t pid);
double strace_end(struct strace *s);

#endif
