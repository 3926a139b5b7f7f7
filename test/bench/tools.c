/* tools.c: programs of others that measure: wrk and strace. */
#define _GNU_SOURCE
#include "bench/tools.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/fill.h"
#include "bench/set.h"

static bool installed(const char *program)
{
    char command[128];

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

/* ---- wrk ---- */

static void ids_write(const char *path, uint64_t states)
{
    char id[FILL_ID_BYTES];
    FILE *file = fopen(path, "w");

    if (!file)
        fail("cannot write", str_from(path));
    for (uint64_t i = 0; i < states; i++) {
        fill_id(id, i);
        fprintf(file, "%s\n", id);
    }
    fclose(file);
}

/* "1.23ms" in microseconds. */
static double wrk_time(const char *text)
{
    char unit[8] = "";
    double value = NAN;

    sscanf(text, "%lf%7s", &value, unit);
    return value * (strcmp(unit, "us") == 0 ? 1 : strcmp(unit, "ms") == 0 ? 1e3 : 1e6);
}

static double wrk_read(FILE *out, struct wrk *w)
{
    char line[256];
    double requests = NAN;

    while (fgets(line, sizeof line, out)) {
        sscanf(line, " %lf requests in", &requests);
        sscanf(line, "Requests/sec: %lf", &w->rate);
        if (strncmp(line, "     50%", 8) == 0)
            w->p50_us = wrk_time(line + 8);
        if (strncmp(line, "     99%", 8) == 0)
            w->p99_us = wrk_time(line + 8);
        if (strstr(line, "Non-2xx"))
            printf("wrk:%s", line);
    }
    return requests;
}

struct wrk wrk_run(const char *folder, const struct target *t, enum traffic_kind kind,
                   uint32_t connections, uint64_t states, int seconds)
{
    struct wrk w = { NAN, NAN, NAN, NAN };
    char ids[4096], command[8192];

    if (!installed("wrk"))
        return w;
    snprintf(ids, sizeof ids, "%s/ids", folder);
    ids_write(ids, states);
    setenv("BENCH_TOKEN", t->token, 1);
    setenv("BENCH_IDS", ids, 1);
    setenv("BENCH_METHOD", kind == TRAFFIC_GET ? "GET" : "PATCH", 1);
    snprintf(command, sizeof command,
             "wrk --latency -t1 -c%u -d%ds -s test/bench/wrk.lua http://127.0.0.1:%d", connections,
             seconds, t->port);
    double cpu = process_cpu_s(t->pid);
    FILE *out = popen(command, "r");
    if (!out)
        return w;
    double requests = wrk_read(out, &w);
    pclose(out);
    w.cpu_us = (process_cpu_s(t->pid) - cpu) * 1e6 / requests;
    return w;
}

/* ---- strace ---- */

enum { ATTACH_MS = 5000 };

/* Whether every thread of the process is traced. */
static bool traced(pid_t pid)
{
    char command[128];

    snprintf(command, sizeof command, "! grep -q 'TracerPid:\t0$' /proc/%d/task/*/status",
             (int)pid);
    return system(command) == 0;
}

struct strace strace_begin(const char *folder, pid_t pid)
{
    struct strace s = { 0 };
    char number[16];

    if (!installed("strace"))
        return s;
    snprintf(s.path, sizeof s.path, "%s/strace", folder);
    snprintf(number, sizeof number, "%d", (int)pid);
    fflush(stdout);
    s.pid = fork();
    if (s.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGINT);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        execlp("strace", "strace", "-f", "-c", "-e", "trace=fdatasync,fsync", "-o", s.path, "-p",
               number, (char *)NULL);
        _exit(127);
    }
    for (int ms = 0; ms < ATTACH_MS && !traced(pid); ms += 20)
        usleep(20 * 1000);
    return s;
}

/* Rows are "% time, seconds, usecs/call, calls, [errors,] syscall". */
double strace_end(struct strace *s)
{
    char line[256], name[64];
    double calls = NAN, some;

    if (!s->pid)
        return NAN;
    kill(s->pid, SIGINT);
    waitpid(s->pid, NULL, 0);
    FILE *file = fopen(s->path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%*f %*f %*f %lf %63s", &some, name) == 2 &&
            (strcmp(name, "fdatasync") == 0 || strcmp(name, "fsync") == 0))
            calls = some + (isnan(calls) ? 0 : calls);
    if (file)
        fclose(file);
    return calls;
}
