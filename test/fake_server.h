/* fake_server.h: a server that a runner talks to, for tests: it gives out the runs that the test
 * offers, and keeps what it is told.
 *
 * The runner is a process of its own, and so are its keepers and their agents: the test program
 * becomes the real one when it is started so. */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/local_runner.h"
#include "app/runner_verbs.h"
#include "check.h"
#include "json_help.h"

/* ---- the program ---- */

static const struct verb runner_test_verbs[] = {
    { .name = "runner", .summary = "", .options = runner_verb_options, .run = runner_verb_run },
    { .name = "keep-run",
      .args = "FOLDER",
      .args_min = 1,
      .args_max = 1,
      .summary = "",
      .run = keep_run_verb_run },
    { .name = "serve-runner",
      .args = "FOLDER MASK FILES",
      .args_min = 3,
      .args_max = 3,
      .summary = "",
      .run = serve_runner_verb_run },
    { 0 },
};

static const struct verb runner_test_program = { .name = "baton",
                                                 .summary = "",
                                                 .verbs = runner_test_verbs };

/* A keeper is started by the name of the running program, whichever that is. */
__attribute__((constructor)) static void become_program(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "keep-run") == 0 || strcmp(argv[1], "serve-runner") == 0 ||
                     getenv("BATON_TEST_PROGRAM")))
        exit(cli_main(&runner_test_program, argc, argv));
}

/* ---- the server ---- */

enum { REPORTS_MAX = 512, OFFERS_MAX = 16 };

/* Less than a test may take. */
#ifdef __SANITIZE_ADDRESS__
enum { FAKE_PATIENCE_S = 70 };
#else
enum { FAKE_PATIENCE_S = 18 };
#endif

struct told_report {
    str run_id, what, token;
    const struct json *body;
};

struct fake_conn {
    struct fake_server *fake;
    int fd;
    struct arena *arena;
    struct fake_conn *next; /* of all that there were: threads may outlive the test */
};

struct fake_server {
    int listener;
    struct fake_conn *conns;
    uint16_t port;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct arena *arena;            /* of what follows */
    const char *offers[OFFERS_MAX]; /* runs to give out, in order */
    int offered, given;
    const struct json *registered; /* what the last runner said of itself */
    const struct json *agents;     /* and of agents in files, then or since */
    const char *projects;          /* that are on its machine: a JSON array; NULL: none */
    struct told_report reports[REPORTS_MAX];
    int count;
    size_t body_bytes;  /* of all reports, those too that are not kept: progress, when it is much */
    bool away;          /* nobody is answered */
    int missed;         /* requests that were not, because of that */
    const char *refuse; /* reports of this kind: 409 */
    bool offers_wakes;  /* what is offered are errands: /runner/wakes/ID is told "wake" of ID */
    bool stop;          /* progress is answered so */
    const char *stop_run; /* claims name it */
    int claims;
};

static str fake_answer(struct fake_server *f, str method, str target, str token, str body,
                       int *status)
{
    struct arena *a = f->arena;
    str path, query, id, what;

    *status = 200;
    str_cut(target, '?', &path, &query);
    if (str_eq(path, STR("/runner/register"))) {
        CHECK_OK(json_parse_own(a, arena_copy(a, body), &f->registered));
        f->agents = json_get(f->registered, "agents");
        pthread_cond_broadcast(&f->changed);
        return STR("{\"runner_id\":\"rnr_1\",\"poll_timeout_seconds\":1,"
                   "\"heartbeat_interval_seconds\":1}");
    }
    if (str_eq(path, STR("/runner/heartbeat"))) {
        const struct json *beat;
        CHECK_OK(json_parse_own(a, arena_copy(a, body), &beat));
        if (json_get(beat, "agents"))
            f->agents = json_get(beat, "agents");
        pthread_cond_broadcast(&f->changed);
        return STR("{\"stop_runs\":[]}");
    }
    if (str_eq(path, STR("/runner/mirrors")))
        return STR("{\"seq\":1}");
    if (str_eq(path, STR("/runner/projects")))
        return arena_printf(a, "{\"projects\":%s}", f->projects ? f->projects : "[]");
    if (str_eq(method, STR("GET"))) {
        f->claims++;
        if (f->stop_run) {
            str stop = arena_printf(a, "{\"stop_runs\":[\"%s\"]}", f->stop_run);
            f->stop_run = NULL;
            return stop;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        arena_give(a);
        if (f->given == f->offered)
            pthread_cond_timedwait(&f->changed, &f->mutex, &until);
        arena_take(a);
        if (f->given < f->offered)
            return arena_printf(a, f->offers_wakes ? "{\"wake\":%s}" : "{\"run\":%s}",
                                f->offers[f->given++]);
        *status = 204;
        return STR("");
    }
    bool wake = str_starts(path, STR("/runner/wakes/"));
    str rest = str_slice(path, strlen(wake ? "/runner/wakes/" : "/runner/runs/"), path.len);
    str_cut(rest, '/', &id, &what);
    what = wake ? STR("wake") : what;
    struct told_report *r = &f->reports[f->count];
    r->run_id = arena_copy(a, id);
    r->what = arena_copy(a, what);
    r->token = arena_copy(a, token);
    body = arena_copy(a, body);
    f->body_bytes += body.len;
    bool keep = f->count < (str_eq(what, STR("progress")) ? REPORTS_MAX / 2 : REPORTS_MAX - 1);
    if (keep && !json_parse(a, body, NULL, &r->body))
        f->count++;
    pthread_cond_broadcast(&f->changed);
    if (f->refuse && str_eq(what, str_from(f->refuse))) {
        *status = 409;
        return STR("{\"detail\":\"not yours\"}");
    }
    return f->stop ? STR("{\"stop\":true,\"lease_seconds\":1}")
                   : STR("{\"stop\":false,\"lease_seconds\":1}");
}

/* One request: its head and as much of a body as it says. False: the connection has ended. */
static bool fake_request(int fd, struct buf *in, size_t *head, size_t *whole)
{
    *whole = 0;
    for (;;) {
        buf_str(in);
        const char *end = in->len ? strstr(in->at, "\r\n\r\n") : NULL;
        if (end) {
            const char *length = strstr(in->at, "Content-Length: ");
            *head = (size_t)(end - in->at) + 4;
            *whole = *head + (length && length < end ? strtoul(length + 16, NULL, 10) : 0);
            if (in->len >= *whole)
                return true;
        }
        char piece[65536];
        ssize_t n = recv(fd, piece, sizeof piece, 0);
        if (n <= 0)
            return false;
        buf_add(in, (str){ piece, (size_t)n });
    }
}

static void *fake_serve(void *self)
{
    struct fake_conn c = *(struct fake_conn *)self;
    struct arena *a = c.arena;
    size_t head, whole;
    int status = 0;

    arena_take(a);
    for (;;) {
        arena_reset(a);
        struct buf in = buf_in(a);
        if (!fake_request(c.fd, &in, &head, &whole))
            break;
        str text = { in.at, head }, method, target, token = STR("");
        str_cut(text, ' ', &method, &text);
        str_cut(text, ' ', &target, &text);
        const char *bearer = strstr(in.at, "Bearer ");
        if (bearer)
            str_cut(str_from(bearer + 7), '\r', &token, &text);
        pthread_mutex_lock(&c.fake->mutex);
        bool away = c.fake->away;
        arena_take(c.fake->arena); /* it goes with the mutex */
        c.fake->missed += away;
        pthread_cond_broadcast(&c.fake->changed);
        str answer = away ? STR("")
                          : fake_answer(c.fake, method, target, token,
                                        (str){ in.at + head, whole - head }, &status);
        arena_give(c.fake->arena);
        pthread_mutex_unlock(&c.fake->mutex);
        if (away)
            break;
        str out = arena_printf(a, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n" STR_FMT, status,
                               answer.len, STR_ARG(answer));
        if (status == 204)
            out = STR("HTTP/1.1 204 X\r\n\r\n");
        if (send(c.fd, out.at, out.len, MSG_NOSIGNAL) < 0)
            break;
    }
    close(c.fd);
    return NULL;
}

static void *fake_accept(void *self)
{
    struct fake_server *f = self;
    pthread_t thread;
    int fd;

    while ((fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct fake_conn *c = mem_alloc(sizeof *c);
        *c = (struct fake_conn){ f, fd, arena_new(), f->conns };
        f->conns = c;
        arena_give(c->arena);
        CHECK(pthread_create(&thread, NULL, fake_serve, c) == 0);
        pthread_detach(thread);
    }
    return NULL;
}

static inline struct fake_server *fake_new(void)
{
    static struct fake_server fake; /* its threads outlive the test's arena */
    struct fake_server *f = &fake;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    pthread_t thread;

    f->arena = arena_new();
    arena_give(f->arena);
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(f->listener, (struct sockaddr *)&at, len) == 0 && listen(f->listener, 64) == 0);
    CHECK(getsockname(f->listener, (struct sockaddr *)&at, &len) == 0);
    f->port = ntohs(at.sin_port);
    CHECK(pthread_create(&thread, NULL, fake_accept, f) == 0);
    pthread_detach(thread);
    return f;
}

static inline void fake_set(struct fake_server *f, bool *what, bool value)
{
    pthread_mutex_lock(&f->mutex);
    *what = value;
    pthread_mutex_unlock(&f->mutex);
}

/* Offers a run; JSON with single quotes. */
static inline void fake_offer(struct fake_server *f, const char *run)
{
    pthread_mutex_lock(&f->mutex);
    CHECK(f->offered < OFFERS_MAX);
    arena_take(f->arena);
    struct json j = json_of(f->arena, run);
    f->offers[f->offered++] = json_printed(f->arena, &j).at;
    arena_give(f->arena);
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->mutex);
}

/* How many reports of a kind there are of a run so far. */
static inline int fake_count(struct fake_server *f, const char *run_id, const char *what)
{
    int n = 0;

    pthread_mutex_lock(&f->mutex);
    for (int i = 0; i < f->count; i++)
        n += str_eq(f->reports[i].run_id, str_from(run_id)) &&
             str_eq(f->reports[i].what, str_from(what));
    pthread_mutex_unlock(&f->mutex);
    return n;
}

/* Waits for the n-th report of a kind, n from 1 on. */
static inline const struct told_report *fake_wait(struct fake_server *f, const char *run_id,
                                                  const char *what, int n)
{
    struct told_report *found = NULL;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FAKE_PATIENCE_S;
    pthread_mutex_lock(&f->mutex);
    for (int failed = 0; !found && !failed;) {
        int left = n;
        for (int i = 0; i < f->count && !found; i++)
            if (str_eq(f->reports[i].run_id, str_from(run_id)) &&
                str_eq(f->reports[i].what, str_from(what)) && --left == 0)
                found = &f->reports[i];
        if (!found)
            failed = pthread_cond_timedwait(&f->changed, &f->mutex, &until);
    }
    struct buf told = buf_in(check_arena());
    for (int i = 0; !found && i < f->count; i++)
        buf_printf(&told, "\n" STR_FMT " " STR_FMT " %.300s", STR_ARG(f->reports[i].run_id),
                   STR_ARG(f->reports[i].what), json_printed(check_arena(), f->reports[i].body).at);
    pthread_mutex_unlock(&f->mutex);
    if (!found)
        check_fail(__FILE__, __LINE__, "nobody reported %s %s (%d times); told:" STR_FMT, run_id,
                   what, n, STR_ARG(buf_str(&told)));
    return found;
}

/* ---- the runner ---- */

/* Starts one for the server, in ./data. `more` are arguments and NAME=VALUE, up to NULL. */
static inline pid_t runner_launch(const struct fake_server *f, const char *const *more)
{
    pid_t pid = fork();
    char *argv[32] = { "baton", "runner", "--data", "data" };
    char url[64];
    int argc = 4;

    CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)f->port);
    argv[argc++] = "--url";
    argv[argc++] = url;
    setenv("BATON_TEST_PROGRAM", "1", 1);
    setenv("BATON_TOKEN", "rn_of_the_runner", 1);
    setenv("BATON_AGENT_STOP_TIME", "200ms", 1);
    for (; more && *more; more++)
        if (strchr(*more, '=') && (*more)[0] != '-')
            putenv((char *)*more);
        else
            argv[argc++] = (char *)*more;
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, 1);
    dup2(log, 2);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static inline void runner_end(pid_t runner, int number)
{
    int status;

    kill(runner, number);
    CHECK(waitpid(runner, &status, 0) == runner);
}

/* Waits until a file is there and has a line, and gives it without its end. */
static inline str file_wait(const char *path)
{
    for (int i = 0; i < FAKE_PATIENCE_S * 100; i++) {
        struct timespec little = { .tv_nsec = 10000000 };
        int fd = open(path, O_RDONLY);
        char text[4096];
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
        if (fd >= 0)
            close(fd);
        if (n > 0 && text[n - 1] == '\n')
            return arena_copy(check_arena(), (str){ text, (size_t)n - 1 });
        nanosleep(&little, NULL);
    }
    check_fail(__FILE__, __LINE__, "nobody wrote %s", path);
}

static inline bool is_alive(pid_t pid)
{
    char path[64], line[256] = "";

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    const char *state = n > 0 ? strrchr(line, ')') : NULL;
    return state && state[2] != 'Z' && state[2] != 'X';
}

/* Waits for its end. */
static inline void gone_wait(pid_t pid)
{
    for (int i = 0; is_alive(pid); i++) {
        struct timespec little = { .tv_nsec = 10000000 };
        if (i > FAKE_PATIENCE_S * 100)
            check_fail(__FILE__, __LINE__, "process %d lives", (int)pid);
        nanosleep(&little, NULL);
    }
}

static inline pid_t pid_in(const char *path)
{
    int64_t pid;

    CHECK(str_to_int(file_wait(path), &pid));
    return (pid_t)pid;
}

#endif
