/* start_server.c: a server for a data directory that has none. */
#include "app/start_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/data.h"
#include "client/endpoint.h"
#include "client/socket.h"
#include "os/fd.h"
#include "os/program.h"

enum {
    START_MS = 10000, /* until it can be reached */
    LOOK_MS = 10,     /* between two looks */
    TAKEN_MS = 100,   /* before the next try, when somebody else has what it needs */
    CONNECT_MS = 1000,
    LOG_BYTES_MAX = 1 << 20, /* of serve.log: a larger one is begun anew */
    WORDS_MAX = 300,         /* bytes of its last words */
};

/* What an agent has in its environment for itself, and a server that outlives it must not hand on
 * to other agents. */
static const char *const unwanted[] = {
    "BATON_TOKEN=",
    "BATON_TOKEN_FILE=",
    "BATON_URL=",
    "BATON_RUN_ID=",
    "BATON_SESSION_ID=",
    "BATON_PARENT_SESSION_ID=",
    "WORKFLOW_STATE_ID=",
    "AGENT_SESSION_NAME=",
    "TRACEPARENT=",
    "CLAUDE",
    "CODEX",
    "GEMINI_CLI",
    "OPENCODE",
};

extern char **environ;

static void environment_clean(void)
{
    char **to = environ;

    for (char **from = environ; *from; from++) {
        bool kept = true;
        for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
            kept = kept && strncmp(*from, unwanted[i], strlen(unwanted[i])) != 0;
        if (kept)
            *to++ = *from;
    }
    *to = NULL;
}

/* ---- whether there is one ---- */

static bool is_up(struct arena *a, str dir)
{
    struct endpoint endpoint;
    int fd;

    if (endpoint_find(a, dir.at, &endpoint) ||
        socket_open(a, &endpoint, socket_clock_ms() + CONNECT_MS, &fd))
        return false;
    close(fd);
    return true;
}

/* Whether no server has the directory: then what another one had is the port. */
static bool is_free(struct arena *a, str dir)
{
    int fd = open(data_path(a, dir, "baton.lock").at, O_RDWR | O_CLOEXEC);
    bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (fd >= 0)
        close(fd);
    return free;
}

/* ---- one try ---- */

static int log_open(struct arena *a, str dir)
{
    const char *path = data_path(a, dir, "serve.log").at;
    struct stat st;
    bool large = stat(path, &st) == 0 && st.st_size > LOG_BYTES_MAX;

    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (large ? O_TRUNC : 0), 0600);
}

/* In the new process. Its mask is left as it is: agents get it from the server. */
static void become_server(struct arena *a, str dir, bool any_port)
{
    const char *argv[] = { "baton",       "serve", "--data", dir.at, any_port ? "--listen" : NULL,
                           "127.0.0.1:0", NULL };
    int log = log_open(a, dir), null = open("/dev/null", O_RDWR);
    sigset_t none;

    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    dup2(null, STDIN_FILENO);
    dup2(log >= 0 ? log : null, STDOUT_FILENO);
    dup2(log >= 0 ? log : null, STDERR_FILENO);
    fds_close_from(STDERR_FILENO + 1);
    environment_clean();
    execv(program_self(), (char *const *)argv);
    _exit(127);
}

/* The last line that it has logged, where it says why it ended. */
static str last_words(struct arena *a, str dir)
{
    str text;

    if (data_read(a, data_path(a, dir, "serve.log"), &text))
        return STR("");
    text = str_trim(text);
    size_t from = text.len;
    while (from > 0 && text.at[from - 1] != '\n')
        from--;
    return str_slice(text, from, from + WORDS_MAX);
}

static err failed(struct arena *a, str dir, const char *how)
{
    str words = last_words(a, dir);

    return err_new(a, ERR_UNAVAILABLE,
                   "no server could be started for " STR_FMT ": %s (" STR_FMT "); see " STR_FMT
                   "/serve.log, or start one with `baton serve --data " STR_FMT "`",
                   STR_ARG(dir), how, STR_ARG(words), STR_ARG(dir), STR_ARG(dir));
}

/* Waits until the server can be reached or has ended: *status is then its exit code, else −1. */
static err wait_for(struct arena *a, str dir, pid_t pid, int64_t until_ms, int *status)
{
    int ended;

    *status = -1;
    for (;;) {
        struct arena *look = arena_new();
        bool up = is_up(look, dir);
        arena_free(look);
        if (up)
            return NULL;
        if (waitpid(pid, &ended, WNOHANG) == pid) {
            *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;
            return NULL;
        }
        if (socket_clock_ms() >= until_ms)
            return failed(a, dir, "it is not ready after 10 s");
        poll(NULL, 0, LOOK_MS);
    }
}

/* ---- until there is one ---- */

/* Another one may be stopping, or starting, and then is waited for; another one's port is no reason
 * to have none. */
static err start(struct arena *a, str dir)
{
    int64_t until_ms = socket_clock_ms() + START_MS;
    bool any_port = false;
    int status = 0;

    while (status >= 0 && !is_up(a, dir)) {
        pid_t pid = fork();
        if (pid < 0)
            return err_new(a, ERR_UNAVAILABLE, "no server could be started: %s", strerror(errno));
        if (pid == 0)
            become_server(a, dir, any_port);
        TRY(wait_for(a, dir, pid, until_ms, &status));
        if (status < 0)
            break;
        if (status != error_kind_info(ERR_CONFLICT)->exit || socket_clock_ms() >= until_ms)
            return failed(a, dir, "it ended");
        any_port = any_port || is_free(a, dir);
        poll(NULL, 0, TAKEN_MS);
    }
    return NULL;
}

err start_server(struct arena *a, str dir)
{
    TRY(data_make(a, dir));
    char *whole = realpath(dir.at, NULL);
    dir = whole ? arena_copy(a, str_from(whole)) : dir;
    free(whole);

    str lock = data_path(a, dir, "start.lock");
    int fd = open(lock.at, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_new(a, ERR_UNAVAILABLE, "cannot open " STR_FMT ": %s", STR_ARG(lock),
                       strerror(errno));
    while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
        ;
    err e = start(a, dir);
    close(fd);
    return e;
}
