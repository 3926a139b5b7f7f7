/* local_runner.c: the runner that a server has for its own machine. */
#include "app/local_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/data.h"
#include "app/process.h"
#include "base/log.h"
#include "os/fd.h"
#include "os/program.h"
#include "runner/runner.h"

enum {
    RUNS_PER_CORE = 4,
    LOG_BYTES_MAX = 1 << 20,
    DELAY_LEAST_MS = 200,
    DELAY_MOST_MS = 30 * 1000,
    PROVEN_MS = 60 * 1000, /* one that lived for so long did not end by its start */
    STOP_MS = 2000,        /* for one that was asked to end */
    LOOK_MS = 10,
};

extern char **environ;

/* ---- starting it ---- */

/* What the server was told, and no agent is to know. */
static char **environment_make(void)
{
    static const char *const unwanted[] = { "BATON_STORE=",      "BATON_TOKEN=", "BATON_URL=",
                                            "BATON_TOKEN_FILE=", "PGPASSWORD=",  "NOTIFY_SOCKET=" };
    size_t count = 0, kept = 0;

    while (environ[count])
        count++;
    char **env = mem_alloc((count + 1) * sizeof *env);
    for (size_t i = 0; i < count; i++) {
        bool wanted = true;
        for (size_t k = 0; k < sizeof unwanted / sizeof *unwanted; k++)
            wanted = wanted && strncmp(environ[i], unwanted[k], strlen(unwanted[k])) != 0;
        if (wanted)
            env[kept++] = environ[i];
    }
    env[kept] = NULL;
    return env;
}

/* The server has threads, so it is not forked: the program is started anew, and told all that it
 * needs by its arguments. */
static int spawn(struct local_runner *r)
{
    char mask[16], files[32];
    char *argv[] = { "baton", "serve-runner", (char *)r->folder.at, mask, files, NULL };
    char **env = environment_make();

    snprintf(mask, sizeof mask, "%o", (unsigned)r->mask);
    snprintf(files, sizeof files, "%llu", (unsigned long long)r->files);
    /* It has a session of its own: Ctrl-C is for the server, which then says so. */
    int code = program_spawn(argv, env, &r->pid);
    mem_free(env);
    return code;
}

int64_t local_runner_delay_ms(int n)
{
    int64_t ms = DELAY_LEAST_MS;

    while (--n > 0 && ms < DELAY_MOST_MS)
        ms *= 2;
    return ms < DELAY_MOST_MS ? ms : DELAY_MOST_MS;
}

/* There is none: it is started again, unless that is not wanted. */
static void ended(struct local_runner *r)
{
    int64_t now = loop_now_ms(r->loop);

    r->pid = 0;
    if (r->removed) {
        log_warn("runner.removed", LOG_S("do", STR("start the server again to have one again")));
        return;
    }
    r->failures = now - r->began_ms >= PROVEN_MS ? 1 : r->failures + 1;
    int64_t delay_ms = local_runner_delay_ms(r->failures);
    r->again_ms = now + delay_ms;
    log_error("runner.ended", LOG_S("how", str_from(r->ended)), LOG_N("again_in_ms", delay_ms),
              LOG_S("see", STR("runner.log in the data directory")));
    timer_set(r->timer, delay_ms);
}

static void start(struct local_runner *r)
{
    r->began_ms = loop_now_ms(r->loop);
    int code = spawn(r);
    if (!code)
        return;
    snprintf(r->ended, sizeof r->ended, "it could not be started: %s", strerror(code));
    ended(r);
}

static void on_timer(void *self)
{
    struct local_runner *r = self;

    r->restarts++;
    start(r);
}

/* One that the operator has removed ends well; whoever else ends it, by a signal or because he
 * waited in vain for this server, leaves it to us to have another. */
static void on_child(void *self)
{
    struct local_runner *r = self;
    int status;

    if (r->pid <= 0 || waitpid(r->pid, &status, WNOHANG) != r->pid)
        return;
    if (WIFSIGNALED(status))
        snprintf(r->ended, sizeof r->ended, "it was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(r->ended, sizeof r->ended, "it ended with exit code %d", WEXITSTATUS(status));
    r->removed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ended(r);
}

/* ---- for the server ---- */

void local_runner_note(struct local_runner *r)
{
    struct rlimit files = { 0 };

    r->mask = umask(077);
    umask(r->mask);
    getrlimit(RLIMIT_NOFILE, &files);
    r->files = files.rlim_cur;
}

void local_runner_start(struct local_runner *r, struct loop *l, str folder)
{
    r->folder = folder;
    r->loop = l;
    r->timer = timer_new(l, on_timer, r);
    r->watch = signal_new(l, SIGCHLD, on_child, r);
    start(r);
}

void local_runner_stop(struct local_runner *r)
{
    if (!r->timer)
        return;
    timer_free(r->timer);
    signal_free(r->watch);
    r->timer = NULL;
    if (r->pid <= 0)
        return;
    kill(r->pid, SIGTERM);
    for (int waited = 0; waitpid(r->pid, NULL, WNOHANG) == 0; waited += LOOK_MS) {
        if (waited == STOP_MS)
            kill(r->pid, SIGKILL); /* it was stopped, or is stuck */
        poll(NULL, 0, LOOK_MS);
    }
    r->pid = 0;
}

void local_runner_write(const struct local_runner *r, struct json_writer *w)
{
    bool waits = r->timer && !r->pid && !r->removed;
    int64_t left = waits ? r->again_ms - loop_now_ms(r->loop) : 0;

    json_write_begin(w, '{');
    write_text(w, STR("state"),
               !r->timer    ? STR("off")
               : r->pid     ? STR("running")
               : r->removed ? STR("removed")
                            : STR("ended"));
    write_int(w, STR("restarts"), r->restarts);
    if (r->ended[0])
        write_text(w, STR("last_end"), str_from(r->ended));
    if (waits)
        write_int(w, STR("again_in_ms"), left > 0 ? left : 0);
    json_write_end(w, '}');
}

/* ---- the runner's own process ---- */

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

/* Undoes what the server has done to itself. Its files are its own. */
static err leave_server(struct cli *c)
{
    char *mask_end, *files_end;
    unsigned long mask = strtoul(c->args[1], &mask_end, 8);
    rlim_t most = strtoull(c->args[2], &files_end, 10);
    struct rlimit files;

    if (*mask_end || *files_end || getrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_new(c->arena, ERR_INVALID,
                       "expected the folder of a server, a mask and a number of files: this "
                       "command is a server's own, and not for people");
    fds_close_from(STDERR_FILENO + 1);
    umask((mode_t)mask);
    files.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &files);
    program_rename("baton-runner");
    return NULL;
}

err serve_runner_verb_run(struct cli *c)
{
    str folder = str_from(c->args[0]);
    char *here = getcwd(NULL, 0);
    struct runner_options o = { .data = folder,
                                .home = folder,
                                .name = STR("local"),
                                .user = STR(""),
                                .project_dir = arena_copy(c->arena, str_from(here)),
                                .capacity = RUNS_PER_CORE * sysconf(_SC_NPROCESSORS_ONLN),
                                .commands = true,
                                .local = true };

    free(here);
    TRY(leave_server(c));
    log_open(c->arena, folder);
    process_log(LOG_INFO);
    setenv("BATON_TOKEN_FILE", data_path(c->arena, folder, "runner.token").at, 1);
    err e = runner_run(c->arena, &o);
    if (e)
        log_error("runner.failed", LOG_S("error", e->message));
    return e;
}
