/* upstream.c: where the server is, and having one started.
 *
 * The server is looked for as all commands do. Where there is none for the data
 * directory, one is started by a process of its own, so that the bridge waits for
 * nothing; the pipe to that process tells how it went. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bridge/private.h"
#include "client/socket.h"
#include "os/fd.h"

enum {
    CONNECT_MS = 2000,
    LOOK_MS = 50,      /* between two looks for a server that is away */
    RESTART_MS = 2000, /* between two starts of one that does not start */
    WHY_MAX = 4096,    /* bytes of what a start says */
};

void upstream_init(struct bridge *b)
{
    const char *url = getenv("BATON_URL");
    struct upstream *s = &b->upstream;

    *s = (struct upstream){ .arena = arena_new(), .why_arena = arena_new(), .starting = -1 };
    bool elsewhere = !b->options.data && url && *url;
    if (!b->options.start || elsewhere || data_dir_find(s->why_arena, b->options.data, &s->dir))
        s->dir = STR("");
    s->dir = arena_copy(s->why_arena, s->dir);
}

void upstream_release(struct bridge *b)
{
    if (b->upstream.starting >= 0)
        close(b->upstream.starting);
    arena_free(b->upstream.arena);
    arena_free(b->upstream.why_arena);
}

/* ---- reaching it ---- */

static void note_down(struct bridge *b, err e)
{
    struct upstream *s = &b->upstream;
    str dir = s->dir;
    struct arena *fresh = arena_new();

    s->why = err_copy(fresh, e);
    s->dir = arena_copy(fresh, dir);
    arena_free(s->why_arena);
    s->why_arena = fresh;
    s->state = UPSTREAM_UNKNOWN;
    s->tried = true;
    s->retry_at_ms = b->now_ms + LOOK_MS;
    if (!s->down_since_ms)
        s->down_since_ms = b->now_ms;
}

bool upstream_reach(struct bridge *b, int *fd)
{
    struct upstream *s = &b->upstream;
    err e = NULL;

    if (s->state == UPSTREAM_STARTING || b->now_ms < s->retry_at_ms)
        return false;
    if (s->state == UPSTREAM_UNKNOWN) {
        arena_reset(s->arena);
        e = endpoint_find(s->arena, b->options.data, &s->endpoint);
    }
    if (!e) {
        s->state = UPSTREAM_FOUND;
        e = socket_open(b->scratch, &s->endpoint, socket_clock_ms() + CONNECT_MS, fd);
    }
    if (e)
        note_down(b, e);
    else
        s->down_since_ms = s->retry_at_ms = 0;
    return !e;
}

void upstream_forget(struct bridge *b)
{
    if (b->upstream.state == UPSTREAM_FOUND)
        b->upstream.state = UPSTREAM_UNKNOWN;
    LIST_EACH(it, &b->connections) {
        struct connection *c = LIST_ENTRY(it, struct connection, link);
        if (!connection_first(c))
            connection_close(b, c);
    }
}

/* ---- starting one ---- */

/* Our standard output is the client's, who waits for its end; nothing but the pipe is kept. */
static void become_starter(struct bridge *b, int pipe)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    int kept = dup2(pipe, STDERR_FILENO + 1);
    fds_close_from(STDERR_FILENO + 2);
    fcntl(kept, F_SETFD, FD_CLOEXEC);

    err e = b->options.start(arena_new(), b->upstream.dir);
    if (e && write(kept, e->message.at, e->message.len) < 0)
        _exit(2);
    _exit(e != NULL);
}

static bool start(struct bridge *b)
{
    int ends[2];

    if (!pipe_open(ends))
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become_starter(b, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    b->upstream.state = UPSTREAM_STARTING;
    b->upstream.starting = ends[0];
    b->upstream.starter = pid;
    return true;
}

err upstream_started(struct bridge *b)
{
    struct upstream *s = &b->upstream;
    char why[WHY_MAX];
    ssize_t n = read(s->starting, why, sizeof why);

    close(s->starting);
    waitpid(s->starter, NULL, 0);
    s->starting = -1;
    s->state = UPSTREAM_UNKNOWN;
    s->retry_at_ms = 0;
    if (n <= 0) {
        lines_note("a server was started for " STR_FMT
                   ", which goes on when this one ends; `baton stop --data " STR_FMT "` ends it",
                   STR_ARG(s->dir), STR_ARG(s->dir));
        return NULL;
    }
    s->start_at_ms = b->now_ms + RESTART_MS;
    note_down(b, err_new(b->scratch, ERR_UNAVAILABLE, STR_FMT, STR_ARG(((str){ why, (size_t)n }))));
    lines_note(STR_FMT, STR_ARG(s->why->message));
    return s->why;
}

/* A server of our own directory is started; another one may come back by itself, for a while. */
bool upstream_seek(struct bridge *b)
{
    struct upstream *s = &b->upstream;

    if (b->leaving)
        return false;
    if (s->state == UPSTREAM_STARTING)
        return true;
    if (!s->tried) /* it is looked for again, soon */
        return true;
    if (s->dir.len && s->why->kind == ERR_UNAVAILABLE)
        return b->now_ms >= s->start_at_ms && start(b);
    return s->why->kind == ERR_UNAVAILABLE && b->now_ms - s->down_since_ms < b->options.down_ms;
}
