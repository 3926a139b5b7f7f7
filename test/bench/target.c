/* target.c: a server that is measured, and what the system says of a process. */
#define _GNU_SOURCE
#include "bench/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/load.h"
#include "bench/set.h"

double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- a process ---- */

double process_cpu_s(pid_t pid)
{
    clockid_t clock;
    struct timespec t;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        fail("the processor time of a server", STR("is not known: it has ended"));
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double process_bytes(pid_t pid, const char *line)
{
    char path[64], text[256];
    double kilobytes = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        fail("cannot read", str_from(path));
    while (fgets(text, sizeof text, file))
        if (strncmp(text, line, strlen(line)) == 0 && text[strlen(line)] == ':')
            kilobytes = atof(text + strlen(line) + 1);
    fclose(file);
    return kilobytes * 1024;
}

double file_bytes(const char *folder, const char *name)
{
    char path[4096];
    struct stat s;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &s) == 0 ? (double)s.st_size : 0;
}

/* ---- a server ---- */

static void program_become(const char *program, const char *folder, const char *setting, int out)
{
    char log[4096];

    snprintf(log, sizeof log, "%s.log", folder);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(open(log, O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
    execl(program, program, "serve", "--data", folder, "--listen", "127.0.0.1:0", "--runner", "off",
          setting ? "--set" : NULL, setting, (char *)NULL);
    _exit(127);
}

static void token_read(struct target *t, const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/operator.token", folder);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%127s", t->token) != 1)
        fail("cannot read", str_from(path));
    fclose(file);
}

struct target target_start(const char *program, const char *folder, const char *setting)
{
    struct target t = { 0 };
    char line[256] = "";
    int out[2];

    if (pipe2(out, O_CLOEXEC) != 0)
        fail("a pipe", str_from(strerror(errno)));
    fflush(stdout);
    double began = now_s();
    t.pid = fork();
    if (t.pid == 0)
        program_become(program, folder, setting, out[1]);
    close(out[1]);
    FILE *said = fdopen(out[0], "r");
    if (!fgets(line, sizeof line, said) ||
        sscanf(line, "baton listening on http://127.0.0.1:%d", &t.port) != 1)
        fail("a server did not start; see the log beside", str_from(folder));
    t.ready_ms = (now_s() - began) * 1e3;
    fclose(said);
    token_read(&t, folder);
    return t;
}

void target_stop(struct target *t)
{
    kill(t->pid, SIGTERM);
    waitpid(t->pid, NULL, 0);
}

void target_kill(struct target *t)
{
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
}

double target_metric(const struct target *t, const char *name)
{
    struct arena *a = arena_new();
    double value = 0;
    str body;

    load_once(a, t->port,
              arena_printf(a,
                           "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                           "Authorization: Bearer %s\r\n\r\n",
                           t->token),
              &body);
    for (str line; body.len;) {
        str_cut(body, '\n', &line, &body);
        if (str_starts(line, str_from(name)) && line.len > strlen(name) &&
            line.at[strlen(name)] == ' ')
            value = atof(arena_copy(a, line).at + strlen(name));
    }
    arena_free(a);
    return value;
}
