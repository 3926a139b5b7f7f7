/* black.c: the program itself as a process, and peers of it. */
#define _GNU_SOURCE
#include "black/black.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 32, PIECE = 64 << 10, PATIENCE_S = 30 };

int black_times(void)
{
    return getenv("BATON_SOAK_SECONDS") ? 8 : 1;
}

/* ---- the server ---- */

const char *black_program(void)
{
    static const char *const places[] = { "baton", "../baton" };
    const char *named = getenv("BATON_SERVER");
    char self[4096];

    if (named)
        return named;
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(len > 0);
    self[len] = '\0';
    *(strrchr(self, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *path = arena_printf(check_arena(), "%s%s", self, places[i]).at;
        if (access(path, X_OK) == 0)
            return path;
    }
    check_fail(__FILE__, __LINE__, "expected the program beside %s: make build/baton", self);
}

/* In the new process, which must not outlive the test, nor keep open what the test closes. */
static void child_run(const char *path, char *const *argv, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execv(path, argv);
    _exit(127);
}

/* With these words, and then those of its own. */
static void launch(struct black *b, const char *const *words)
{
    char *argv[ARGS_MAX] = { "baton" };
    const char *path = black_program();
    int ends[2], count = 1;
    bool runner = false;

    for (; *words; words++)
        argv[count++] = (char *)*words;
    for (const char *const *arg = b->args; arg && *arg; arg++) {
        argv[count++] = (char *)*arg;
        runner = runner || strcmp(*arg, "--runner") == 0;
    }
    if (!runner && strcmp(argv[1], "serve") == 0) {
        argv[count++] = "--runner";
        argv[count++] = "off";
    }
    CHECK(count < ARGS_MAX && pipe2(ends, O_CLOEXEC) == 0);
    b->pid = fork();
    CHECK(b->pid >= 0);
    if (b->pid == 0)
        child_run(path, argv, ends[1]);
    close(ends[1]);
    b->out = ends[0];
}

/* One line of what it prints, without its end; empty when there is none. */
static str line_of(const struct black *b)
{
    struct buf line = buf_in(check_arena());
    char c;

    while (read(b->out, &c, 1) == 1 && c != '\n')
        buf_byte(&line, c);
    return buf_str(&line);
}

static str end_of_log(void)
{
    str all = check_read("log");
    return str_slice(all, all.len > 4000 ? all.len - 4000 : 0, all.len);
}

/* A port that is kept for the servers of this test, one after the other: while it is bound here and
 * nobody listens, the system gives it to no one else. */
static uint16_t port_keep(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    CHECK(bind(fd, (struct sockaddr *)&at, size) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    return ntohs(at.sin_port);
}

void black_start(struct black *b)
{
    str start = STR("baton listening on http://127.0.0.1:");
    int64_t port;

    b->port = b->port ? b->port : port_keep();
    str listen = arena_printf(check_arena(), "127.0.0.1:%u", (unsigned)b->port);
    b->data = b->data ? b->data : "data";
    launch(b, (const char *const[]){ "serve", "--data", b->data, "--listen", listen.at, NULL });
    str line = line_of(b);
    if (!str_starts(line, start))
        check_fail(__FILE__, __LINE__, "not ready: \"" STR_FMT "\"; it logged:\n" STR_FMT,
                   STR_ARG(line), STR_ARG(end_of_log()));
    CHECK(str_to_int(str_slice(line, start.len, line.len), &port));
    CHECK_INT(port, b->port);
    if (b->endpoint.token.len)
        return; /* it is started again: other threads may be using the endpoint */
    b->endpoint = (struct endpoint){
        .url = { .scheme = URL_HTTP, .host = STR("127.0.0.1"), .port = b->port },
        .token = str_trim(check_read(arena_printf(check_arena(), "%s/operator.token", b->data).at)),
    };
}

int black_end(struct black *b)
{
    int status;

    CHECK(waitpid(b->pid, &status, 0) == b->pid);
    close(b->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void black_stop(struct black *b)
{
    kill(b->pid, SIGTERM);
    int status = black_end(b);
    if (status)
        check_fail(__FILE__, __LINE__, "it ended with %d; it logged:\n" STR_FMT, status,
                   STR_ARG(end_of_log()));
}

void black_kill(struct black *b)
{
    black_alive(b);
    kill(b->pid, SIGKILL);
    CHECK_INT(black_end(b), -SIGKILL);
}

/* It may take a moment until it has really stopped. */
void black_pause(struct black *b)
{
    int status;

    black_alive(b);
    kill(b->pid, SIGSTOP);
    CHECK(waitpid(b->pid, &status, WUNTRACED) == b->pid && WIFSTOPPED(status));
}

void black_continue(struct black *b)
{
    kill(b->pid, SIGCONT);
}

void black_run(const char *const *words)
{
    struct black b = { .pid = 0 };
    struct buf said = buf_in(check_arena());
    char piece[4096];

    launch(&b, words);
    for (ssize_t n; (n = read(b.out, piece, sizeof piece)) > 0;)
        buf_add(&said, (str){ piece, (size_t)n });
    int status = black_end(&b);
    if (status)
        check_fail(__FILE__, __LINE__, "%s %s … ended with %d; it said:\n" STR_FMT, words[0],
                   words[1], status, STR_ARG(buf_str(&said)));
}

void black_alive(const struct black *b)
{
    int status;

    if (waitpid(b->pid, &status, WNOHANG) != 0)
        check_fail(__FILE__, __LINE__, "it has ended by itself (%x); it logged:\n" STR_FMT, status,
                   STR_ARG(end_of_log()));
}

static long status_of(const struct black *b, const char *name)
{
    str status = check_read(arena_printf(check_arena(), "/proc/%d/status", (int)b->pid).at);
    const char *at = strstr(status.at, name);

    CHECK(at);
    return atol(at + strlen(name));
}

long black_memory(const struct black *b)
{
    return status_of(b, "VmRSS:");
}

long black_memory_peak(const struct black *b)
{
    return status_of(b, "VmHWM:");
}

/* ---- requests of somebody who behaves ---- */

struct reply black_ask_as(const struct black *b, str token, const char *route, const char *body)
{
    struct arena *a = check_arena();
    struct endpoint as = b->endpoint;
    str method, target;

    as.token = token;
    CHECK(str_cut(str_from(route), ' ', &method, &target));
    struct http_call call = { .method = arena_copy(a, method).at,
                              .target = target,
                              .body = quotes_double(a, body),
                              .repeatable = str_eq(method, STR("GET")) };
    struct http_client *client = http_client_new(&as);
    struct reply r = { 0 };
    err e = http_client_call(client, a, &call, &r.response);
    if (e)
        black_alive(b); /* which says more, when it is not */
    CHECK_OK(e);
    http_client_free(client);
    r.status = r.response.status;
    if (json_parse(a, r.response.body, NULL, &r.body))
        r.body = NULL;
    return r;
}

struct reply black_ask(const struct black *b, const char *route, const char *body)
{
    return black_ask_as(b, b->endpoint.token, route, body);
}

const struct json *black_expect(const struct black *b, int status, const char *route,
                                const char *body)
{
    struct reply r = black_ask(b, route, body);

    if (r.status != status)
        check_fail(__FILE__, __LINE__, "%s: expected status %d, found %d: " STR_FMT, route, status,
                   r.status, STR_ARG(r.response.body));
    return r.body;
}

struct reply black_ask_until(const struct black *b, int status, const char *route, const char *body)
{
    struct reply r;

    while ((r = black_ask(b, route, body)).status != status)
        usleep(20000); /* the test's own time limit ends a wait in vain */
    return r;
}

void black_add_schema(const struct black *b)
{
    black_expect(b, 201, "POST /workflow-schemas", "{'name':'any','json_schema':true}");
}

str black_add_state(const struct black *b, const char *data)
{
    str body = arena_printf(check_arena(), "{'schema_name':'any','initial_data':%s}", data);
    return json_str(black_expect(b, 201, "POST /workflow-states", body.at), "state_id");
}

struct black_token black_add_token(const struct black *b, const char *kind)
{
    str body = arena_printf(check_arena(), "{'kind':'%s'}", kind);
    const struct json *made = black_expect(b, 201, "POST /tokens", body.at);
    return (struct black_token){ json_str(made, "token_id"), json_str(made, "token") };
}

const char *black_route(const char *method, str state_id)
{
    return arena_printf(check_arena(), "%s /workflow-states/" STR_FMT, method, STR_ARG(state_id))
        .at;
}

int64_t black_metric(const struct black *b, const char *name)
{
    struct reply all = black_ask(b, "GET /metrics", "");
    str wanted = arena_printf(check_arena(), "\n%s ", name);
    const char *at = strstr(arena_copy(check_arena(), all.response.body).at, wanted.at);

    CHECK(at);
    return atoll(at + wanted.len);
}

/* ---- requests of somebody who does not ---- */

struct peer peer_open(const struct black *b, struct arena *a)
{
    struct timeval patience = { .tv_sec = PATIENCE_S };
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(b->port) };
    struct peer p = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .arena = a };

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (p.fd < 0 || connect(p.fd, (struct sockaddr *)&to, sizeof to) < 0)
        check_fail(__FILE__, __LINE__, "connect: %s", strerror(errno));
    setsockopt(p.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(p.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return p;
}

void peer_close(struct peer *p)
{
    close(p->fd);
}

bool peer_send(struct peer *p, str bytes)
{
    while (bytes.len) {
        ssize_t n = send(p->fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return false;
        if (n < 0)
            check_fail(__FILE__, __LINE__, "send: %s", strerror(errno));
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
    return true;
}

str peer_head(struct arena *a, const struct black *b, const char *route)
{
    return arena_printf(a,
                        "%s HTTP/1.1\r\nHost: localhost\r\n"
                        "Authorization: Bearer " STR_FMT "\r\n",
                        route, STR_ARG(b->endpoint.token));
}

/* False: the connection has ended. Its end in time is what tests wait for. */
static bool receive(struct peer *p)
{
    if (!p->piece)
        p->piece = arena_alloc(p->arena, PIECE);
    ssize_t n = recv(p->fd, p->piece, PIECE, 0);
    if (n < 0 && errno != ECONNRESET)
        check_fail(__FILE__, __LINE__, "recv: %s", strerror(errno));
    p->from = 0;
    p->len = n > 0 ? (size_t)n : 0;
    return n > 0;
}

struct response peer_next(struct peer *p)
{
    struct response_parser parser;
    size_t used;
    bool done = false;

    response_parser_init(&parser, p->arena, NULL);
    while (!done) {
        if (p->from == p->len && !receive(p)) {
            if (response_end(&parser))
                parser.response.status = 0;
            break;
        }
        CHECK_OK(
            response_parse(&parser, (str){ p->piece + p->from, p->len - p->from }, &used, &done));
        p->from += used;
    }
    return parser.response;
}

void peer_expect_end(struct peer *p)
{
    while (receive(p))
        ;
}
