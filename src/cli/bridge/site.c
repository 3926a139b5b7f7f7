/* site.c: where the server is, and having one started.
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

void site_init(struct bridge *b)
{
    const char *url = getenv("BATON_URL");
    struct site *s = &b->site;

    *s = (struct site){ .arena = arena_new(), .why_arena = arena_new(), .starting = -1 };
    bool elsewhere = !b->options.data && url && *url;
    if (!b->options.start || elsewhere || data_dir_find(s->why_arena, b->options.data, &s->dir))
        s->dir = STR("");
    s->dir = arena_copy(s->why_arena, s->dir);
}

void site_release(struct bridge *b)
{
    if (b->site.starting >= 0)
        close(b->site.starting);
    arena_free(b->site.arena);
    arena_free(b->site.why_arena);
}

/* ---- reaching it ---- */

static void note_down(struct bridge *b, err e)
{
    struct site *s = &b->site;
    str dir = s->dir;
    struct arena *fresh = arena_new();

    s->why = err_new(fresh, e->kind, STR_FMT, STR_ARG(e->message));
    s->dir = arena_copy(fresh, dir);
    arena_free(s->why_arena);
    s->why_arena = fresh;
    s->state = SITE_UNKNOWN;
    s->looked = true;
    s->look_at_ms = b->now_ms + LOOK_MS;
    if (!s->down_since_ms)
        s->down_since_ms = b->now_ms;
}

bool site_reach(struct bridge *b, int *fd)
{
    struct site *s = &b->site;
    err e = NULL;

    if (s->state == SITE_STARTING || b->now_ms < s->look_at_ms)
        return false;
    if (s->state == SITE_UNKNOWN) {
        arena_reset(s->arena);
        e = endpoint_find(s->arena, b->options.data, &s->endpoint);
    }
    if (!e) {
        s->state = SITE_FOUND;
        e = socket_open(b->scratch, &s->endpoint, socket_clock_ms() + CONNECT_MS, fd);
    }
    if (e)
        note_down(b, e);
    else
        s->down_since_ms = s->look_at_ms = 0;
    return !e;
}

void site_forget(struct bridge *b)
{
    if (b->site.state == SITE_FOUND)
        b->site.state = SITE_UNKNOWN;
    LIST_EACH(it, &b->lanes) {
        struct lane *c = LIST_ENTRY(it, struct lane, link);
        if (!lane_first(c))
            lane_close(b, c);
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

    err e = b->options.start(arena_new(), b->site.dir);
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
    b->site.state = SITE_STARTING;
    b->site.starting = ends[0];
    b->site.starter = pid;
    return true;
}

void site_started(struct bridge *b)
{
    struct site *s = &b->site;
    char why[WHY_MAX];
    ssize_t n = read(s->starting, why, sizeof why);

    close(s->starting);
    waitpid(s->starter, NULL, 0);
    s->starting = -1;
    s->state = SITE_UNKNOWN;
    s->look_at_ms = 0;
    if (n <= 0) {
        lines_note("a server was started for " STR_FMT ", which goes on when this one ends",
                   STR_ARG(s->dir));
        return;
    }
    s->start_at_ms = b->now_ms + RESTART_MS;
    note_down(b, err_new(b->scratch, ERR_UNAVAILABLE, STR_FMT, STR_ARG(((str){ why, (size_t)n }))));
    lines_note(STR_FMT, STR_ARG(s->why->message));
    calls_fail(b, s->why);
}

/* A server of our own directory is started; another one may come back by itself, for a while. */
bool site_seek(struct bridge *b)
{
    struct site *s = &b->site;

    if (b->leaving)
        return false;
    if (s->state == SITE_STARTING)
        return true;
    if (!s->looked) /* it is looked for again, soon */
        return true;
    if (s->dir.len && s->why->kind == ERR_UNAVAILABLE)
        return b->now_ms >= s->start_at_ms && start(b);
    return s->why->kind == ERR_UNAVAILABLE && b->now_ms - s->down_since_ms < b->options.down_ms;
}
