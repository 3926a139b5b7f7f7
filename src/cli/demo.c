/* demo.c: baton demo: starts a server, lets the team play, and takes everything away again. */
#define _GNU_SOURCE
#include "cli/demo.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/socket.h"
#include "os/fd.h"
#include "os/program.h"

enum {
    READY_MS = 15000, /* until the server listens */
    STORY_MS = 30000, /* until the story must be over */
    SETTLE_MS = 5000, /* until agents have stopped that are asked to */
    STOP_MS = 15000,  /* until the server has */
    LOOK_S = 1,       /* how long one look at the log waits: so long Ctrl-C may take */
    PAGE = 200,
    REMOVALS = 20, /* a file may come while the folder is being removed */
    REMOVAL_WAIT_MS = 100,
};

// clang-format off
const struct option demo_options[] = {
    { "--data", 0, "DIR", "play there, on its server if one runs; what is written stays" },
    { "--keep", 0, NULL,  "leave the server running, to look around" },
    { "--wait", 0, NULL,  "of the generation: you approve, in another terminal" },
    { "--json", 0, NULL,  "print the events, one line of JSON each" },
    { 0 },
};
// clang-format on

const char demo_details[] =
    "STORY is team, as without it, or generation.\n"
    "\n"
    "It starts a server of its own in a temporary folder, and on it a team: a lead\n"
    "that starts three workers at the same time. One does what it should. One\n"
    "ignores twice that it has to record its result. One fails. The lead is told of\n"
    "each as soon as what came of it is recorded, and not before.\n"
    "\n"
    "The generation is a workflow of seven steps: a scene is written after a plan\n"
    "that a person approves, which it does for you unless you --wait; a check fails,\n"
    "and the draft is done anew; seven agents validate it at once, and in the middle\n"
    "of that the server is killed.\n"
    "\n"
    "The agents are scripted, and need neither a model nor a network; the server, the\n"
    "runner and the agents' processes are the real ones. It takes a few seconds, and\n"
    "leaves nothing behind, also when it is ended by Ctrl-C.\n"
    "\n"
    "Exit codes: 0 the story went as promised; 1 it did not; 130 it was interrupted.";

struct demo {
    struct cli *cli;
    struct caller caller;
    str folder;
    bool temporary; /* the folder is ours */
    bool keep;
    pid_t server; /* 0: it is not ours */
    str url;
    struct demo_cast cast;
    struct demo_host host;
    str execution; /* of the generation; empty: it has not begun */
    bool generation, begun;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- the folder ---- */

static err folder_make(struct demo *d)
{
    const char *given = cli_value(d->cli, "--data"), *temporary = getenv("TMPDIR");
    struct arena *a = d->cli->arena;

    if (given) {
        d->folder = str_from(given);
        return NULL;
    }
    d->folder =
        arena_printf(a, "%s/baton-demo-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp((char *)d->folder.at))
        return err_new(a, ERR_FORBIDDEN, "cannot make a folder like %s: %s", d->folder.at,
                       strerror(errno));
    d->temporary = true;
    return NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

static void folder_remove(struct demo *d)
{
    for (int i = 0; i < REMOVALS && access(d->folder.at, F_OK) == 0; i++) {
        if (i)
            poll(NULL, 0, REMOVAL_WAIT_MS);
        nftw(d->folder.at, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

/* ---- the server ---- */

/* Ctrl-C at a terminal is for us alone: we end the server when its agents have stopped. */
static void become_server(struct demo *d, int ready)
{
    str listen = str_starts(d->url, STR("http://")) ? str_slice(d->url, 7, d->url.len)
                                                    : STR("127.0.0.1:0");
    const char *argv[] = { "baton",      "serve",    "--data",
                           d->folder.at, "--listen", arena_copy(d->cli->arena, listen).at,
                           NULL };
    str path = arena_printf(d->cli->arena, STR_FMT "/serve.log", STR_ARG(d->folder));
    int log, null = open("/dev/null", O_RDWR);

    if (d->keep)
        setsid();
    else
        program_die_with_parent(SIGTERM);
    setpgid(0, 0);
    mkdir(d->folder.at, 0700);
    log = open(path.at, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(null, STDIN_FILENO);
    dup2(ready, STDOUT_FILENO);
    dup2(log >= 0 ? log : null, STDERR_FILENO);
    fds_close_from(STDERR_FILENO + 1);
    execv(program_self(), (char *const *)argv);
    _exit(127);
}

/* The last that a server said that did not start. */
static str last_words(struct demo *d)
{
    str path = arena_printf(d->cli->arena, STR_FMT "/serve.log", STR_ARG(d->folder));
    str text = STR(""), line = STR(""), rest;

    if (cli_read(d->cli, d->cli->arena, path.at, &text))
        return STR("it said nothing");
    for (text = str_trim(text); text.len; text = rest)
        if (!str_cut(text, '\n', &line, &rest))
            rest = STR("");
    return line;
}

/* Reads "baton listening on URL". */
static err url_read(struct demo *d, int ready)
{
    static const char before[] = "baton listening on ";
    struct buf text = buf_in(d->cli->arena);
    int64_t until = socket_clock_ms() + READY_MS;
    str line, rest;

    while (!interrupted && socket_clock_ms() < until) {
        struct pollfd p = { .fd = ready, .events = POLLIN };
        if (poll(&p, 1, 100) <= 0)
            continue;
        ssize_t n = read(ready, buf_reserve(&text, 256), 256);
        if (n <= 0)
            break;
        text.len += (size_t)n;
        if (str_cut(buf_str(&text), '\n', &line, &rest) && str_starts(line, str_from(before))) {
            d->url = str_slice(line, strlen(before), line.len);
            return NULL;
        }
    }
    return err_new(d->cli->arena, ERR_UNAVAILABLE, "the server did not start: " STR_FMT,
                   STR_ARG(last_words(d)));
}

static err server_start(struct demo *d)
{
    int ready[2];

    if (!pipe_open(ready))
        return err_new(d->cli->arena, ERR_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    cli_flush(d->cli);
    d->server = fork();
    if (d->server == 0)
        become_server(d, ready[1]);
    close(ready[1]);
    err e = d->server < 0 ? err_new(d->cli->arena, ERR_UNAVAILABLE, "cannot start a process: %s",
                                    strerror(errno))
                          : url_read(d, ready[0]);
    close(ready[0]);
    return e;
}

/* The server of the folder, if one runs there; else our own. */
static err server_find(struct demo *d)
{
    struct call look = { .method = "GET", .pattern = "/sessions", PARAMS({ "limit", STR("1") }) };
    const struct json *ignored;

    if (d->temporary || caller_call(&d->caller, d->cli->arena, &look, &ignored))
        return server_start(d);
    d->url = url_authority(d->cli->arena, &d->caller.endpoint.url);
    return NULL;
}

static void server_stop(struct demo *d)
{
    int64_t until = socket_clock_ms() + STOP_MS;

    kill(d->server, SIGTERM);
    while (waitpid(d->server, NULL, WNOHANG) == 0) {
        if (socket_clock_ms() > until)
            kill(d->server, SIGKILL);
        poll(NULL, 0, 20);
    }
}

static bool is_interrupted(void)
{
    return interrupted;
}

/* At the same address, which its agents know. */
static err server_restart(struct demo_host *h)
{
    struct demo *d = (struct demo *)((char *)h - offsetof(struct demo, host));

    kill(d->server, SIGKILL);
    waitpid(d->server, NULL, 0);
    d->server = 0;
    caller_release(&d->caller);
    TRY(server_start(d));
    caller_init(&d->caller, cli_value(d->cli, "--data"));
    return NULL;
}

/* ---- the story ---- */

static err story_follow(struct demo *d, struct story *s, int64_t after)
{
    int64_t until = socket_clock_ms() + STORY_MS;
    struct arena *a = arena_new();
    err e = NULL;

    while (!e && !interrupted && !story_is_over(s) && socket_clock_ms() < until) {
        const struct json *page, *events;
        arena_reset(a);
        struct call list = { .method = "GET",
                             .pattern = "/events",
                             PARAMS({ "after", arena_printf(a, "%lld", (long long)after) },
                                    { "wait", arena_printf(a, "%d", LOOK_S) },
                                    { "limit", arena_printf(a, "%d", PAGE) }) };
        e = caller_call(&d->caller, a, &list, &page);
        events = e ? NULL : json_get(page, "events");
        for (uint32_t i = 0; json_is(events, JSON_ARRAY) && i < events->len; i++)
            story_take(s, a, &events->items[i]);
        after = e ? after : json_int_or(page, "next", after);
    }
    if (e)
        e = err_copy(d->cli->arena, e);
    arena_free(a);
    return e;
}

static err play_generation(struct demo *d)
{
    d->host = (struct demo_host){ .cli = d->cli,
                                  .caller = &d->caller,
                                  .folder = d->folder,
                                  .ours = d->server > 0,
                                  .prefix = d->temporary ? STR("") : STR("demo-"),
                                  .interrupted = is_interrupted,
                                  .restart = server_restart };
    err e = demo_generation(&d->host, &d->execution);
    d->begun = d->execution.len > 0 && (e || interrupted || d->cli->exit);
    return e;
}

static err play_team(struct demo *d)
{
    struct story s = { .cli = d->cli, .cast = &d->cast };
    struct call list = { .method = "GET", .pattern = "/events", PARAMS({ "limit", STR("1") }) };
    struct arena *a = d->cli->arena;
    const struct json *page;
    str suffix = STR("");

    TRY(caller_call(&d->caller, a, &list, &page));
    int64_t after = json_int_or(page, "seen", 0); /* the newest event */
    if (!d->temporary)                            /* an earlier demonstration may have been here */
        suffix = arena_printf(a, "-%04x", (unsigned)(socket_clock_ms() / 100 & 0xffff));
    TRY(demo_begin(&d->caller, a, suffix, &d->cast));
    d->begun = true;
    TRY(story_follow(d, &s, after));
    if (interrupted)
        return NULL;
    if (story_is_over(&s))
        TRY(demo_state_is_right(&d->caller, a, &d->cast, &s.state_right));
    d->cli->exit = story_end(&s, a) ? 0 : 1;
    d->begun = !story_is_over(&s);
    return NULL;
}

/* ---- the end ---- */

/* Agents must not work on in a folder that is about to go. */
static void team_stop(struct demo *d)
{
    struct arena *a = d->cli->arena;
    struct call stop = { .method = "POST",
                         .pattern = d->generation ? "/executions/{id}/cancel"
                                                  : "/sessions/{id}/stop",
                         .key = idempotency_key(a),
                         PARAMS({ "id", d->generation ? d->execution : d->cast.lead }) };
    struct call look = { .method = "GET",
                         .pattern = "/runs",
                         PARAMS({ "status", STR("stopping") }) };
    const struct json *answer;
    int64_t until = socket_clock_ms() + SETTLE_MS;
    bool live = !caller_call(&d->caller, a, &stop, &answer);

    while (live && socket_clock_ms() < until) {
        poll(NULL, 0, 100);
        live = !caller_call(&d->caller, a, &look, &answer) && json_get(answer, "runs") &&
               json_get(answer, "runs")->len > 0;
    }
}

static void kept_print(struct demo *d)
{
    struct buf out = buf_in(d->cli->arena);

    if (d->cli->json)
        buf_printf(&out,
                   "{\"type\":\"demo_kept\",\"url\":\"" STR_FMT "\",\"data\":\"" STR_FMT
                   "\",\"pid\":%d}\n",
                   STR_ARG(d->url), STR_ARG(d->folder), (int)d->server);
    else
        buf_printf(&out,
                   "\nThe server is still there: " STR_FMT "\n"
                   "  export BATON_DATA=" STR_FMT "\n"
                   "  baton session list                what came of each\n"
                   "  baton %s " STR_FMT "\n"
                   "  kill %d                       ends it\n",
                   STR_ARG(d->url), STR_ARG(d->folder),
                   d->generation ? "execution show" : "state history",
                   STR_ARG(d->generation ? d->execution : d->cast.state_id), (int)d->server);
    cli_write(d->cli, buf_str(&out));
}

static void watch_signals(void)
{
    const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &(struct sigaction){ .sa_handler = on_signal }, NULL);
    signal(SIGPIPE, SIG_IGN); /* who has seen enough of our output still wants the server ended */
}

/* Our own processes find the server by its folder, and nothing else is meant by the environment. */
static void environment_clear(struct demo *d)
{
    const char *const names[] = { "BATON_URL", "BATON_TOKEN", "BATON_TOKEN_FILE" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    setenv("BATON_DATA", d->folder.at, 1);
}

static err story_read(struct cli *c, bool *generation)
{
    const char *word = c->arg_count ? c->args[0] : "team";
    struct guess g = { .wanted = str_from(word) };

    guess_try(&g, "team");
    guess_try(&g, "generation");
    *generation = strcmp(word, "generation") == 0;
    if (!g.name || g.distance)
        return usage_error(
            c, arena_printf(c->arena, "STORY expects team or generation, but found '%s'" STR_FMT,
                            word, STR_ARG(guess_hint(c->arena, &g))));
    if (!*generation && cli_flag(c, "--wait"))
        return usage_error(c, STR("--wait is of the story generation: nobody is asked in the "
                                  "team's."));
    return NULL;
}

err demo_run(struct cli *c)
{
    struct demo d = { .cli = c, .keep = cli_flag(c, "--keep") };

    TRY(story_read(c, &d.generation));
    TRY(folder_make(&d));
    watch_signals();
    environment_clear(&d);
    caller_init(&d.caller, cli_value(c, "--data"));
    err e = server_find(&d);
    if (!e && !c->json)
        cli_write(c, arena_printf(c->arena, "%s, on " STR_FMT "\n\n",
                                  d.generation ? "A workflow of seven steps, by scripted agents"
                                               : "A team of four scripted agents",
                                  STR_ARG(d.url)));
    if (!e)
        e = d.generation ? play_generation(&d) : play_team(&d);
    bool keep = d.keep && d.server > 0 && !e && !interrupted;
    if (keep)
        kept_print(&d);
    if (d.begun)
        team_stop(&d);
    caller_release(&d.caller);
    if (d.server > 0 && !keep)
        server_stop(&d);
    if (d.temporary && !keep)
        folder_remove(&d);
    if (interrupted)
        c->exit = 128 + SIGINT;
    return interrupted ? NULL : e;
}
