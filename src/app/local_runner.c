/* local_runner.c: the runner that a server starts for its own machine. */
#define _GNU_SOURCE /* close_range */
#include "app/local_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/data.h"
#include "app/process.h"
#include "base/arena.h"
#include "runner/runner.h"

enum { RUNS_PER_CORE = 4, LOG_BYTES_MAX = 1 << 20 };

/* What the server was told, and no agent is to know. The texts are overwritten too, since they can
 * be read in /proc. */
static void secrets_forget(void)
{
    static const char *const names[] = { "BATON_STORE",      "BATON_TOKEN", "BATON_URL",
                                         "BATON_TOKEN_FILE", "PGPASSWORD",  "NOTIFY_SOCKET" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *value = getenv(names[i]);
        if (value)
            memset(value, 0, strlen(value));
        unsetenv(names[i]);
    }
}

/* Its log is a file of its own: whoever reads the server's must see the end of it when the server
 * ends. One that has grown is begun anew. */
static void log_open(struct arena *a, str folder)
{
    const char *path = data_path(a, folder, "runner.log").at;
    struct stat st;
    bool large = stat(path, &st) == 0 && st.st_size > LOG_BYTES_MAX;
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | (large ? O_TRUNC : 0), 0600);
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(log >= 0 ? log : null, STDOUT_FILENO);
    dup2(log >= 0 ? log : null, STDERR_FILENO);
    if (log > STDERR_FILENO)
        close(log);
    if (null > STDERR_FILENO)
        close(null);
}

/* Undoes what the server has done to itself. Its files, the lock among them, are its own. */
static void leave_server(const struct local_runner *r)
{
    close_range(STDERR_FILENO + 1, ~0u, 0);
    umask(r->mask);
    setrlimit(RLIMIT_NOFILE, &r->files);
    setsid(); /* Ctrl-C is for the server, which then says so */
    prctl(PR_SET_NAME, "baton-runner");
}

static void run(const struct local_runner *r, struct arena *a, str folder)
{
    char *here = getcwd(NULL, 0);
    struct runner_options o = { .data = folder,
                                .home = folder,
                                .name = STR("local"),
                                .user = STR(""),
                                .project_dir = str_from(here),
                                .capacity = RUNS_PER_CORE * sysconf(_SC_NPROCESSORS_ONLN),
                                .local = true };

    leave_server(r);
    log_open(a, folder);
    process_log(LOG_INFO);
    secrets_forget();
    setenv("BATON_TOKEN_FILE", data_path(a, folder, "runner.token").at, 1);
    err e = runner_run(a, &o);
    if (e)
        log_error("runner.failed", LOG_S("error", e->message));
    free(here);
    _exit(e ? error_look(e->kind)->exit : 0);
}

void local_runner_note(struct local_runner *r)
{
    r->mask = umask(077);
    umask(r->mask);
    getrlimit(RLIMIT_NOFILE, &r->files);
}

void local_runner_start(struct local_runner *r, struct arena *a, str folder)
{
    r->pid = fork();
    if (r->pid == 0)
        run(r, a, folder);
    if (r->pid < 0)
        log_warn("runner.start", LOG_S("error", str_from(strerror(errno))));
}

void local_runner_stop(struct local_runner *r)
{
    if (r->pid <= 0)
        return;
    kill(r->pid, SIGTERM);
    waitpid(r->pid, NULL, 0);
    r->pid = 0;
}
