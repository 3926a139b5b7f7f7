/* memory_test.c: how much memory a server takes at most, whatever a thousand peers do.
 *
 * Each kind of peer is one that used to cost megabytes or a place that others
 * needed. The figure is for the program as it is shipped: a sanitized one takes
 * more, and is only watched for what it answers. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "black/black.h"
#include "wire/ws/frame.h"

enum { PEAK_KIB = 256 << 10, EACH = BLACK_SANITIZED ? 10 : 1000, TOGETHER = EACH * 6 / 10 };

static str repeated(const char *what, size_t bytes)
{
    struct buf out = buf_in(check_arena());

    while (out.len < bytes)
        buf_add(&out, str_from(what));
    return buf_str(&out);
}

/* ---- the peers ---- */

struct fixture {
    struct black server;
    str viewer, large, written; /* a token; a large document; one with a long history */
};

static str as(const struct fixture *s, const char *method, const char *target, const char *fields)
{
    return arena_printf(check_arena(),
                        "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " STR_FMT
                        "\r\n%s\r\n",
                        method, target, STR_ARG(s->viewer), fields);
}

static str of_query(const struct fixture *s)
{
    const char *target = arena_printf(check_arena(), "/workflow-states/" STR_FMT "?query=$[0%s]",
                                      STR_ARG(s->large), repeated(",0", 1000).at)
                             .at;
    return as(s, "GET", target, "");
}

static str of_history(const struct fixture *s)
{
    return as(s, "GET",
              arena_printf(check_arena(), "/workflow-states/" STR_FMT "/history?limit=150",
                           STR_ARG(s->written))
                  .at,
              "");
}

static str of_document(const struct fixture *s)
{
    return as(s, "GET",
              arena_printf(check_arena(), "/workflow-states/" STR_FMT, STR_ARG(s->large)).at, "");
}

static str of_values(const struct fixture *s)
{
    enum { BYTES = 1 << 20 };
    struct buf out = buf_in(check_arena());

    buf_add(&out, as(s, "POST", "/workflow-states",
                     arena_printf(check_arena(), "Content-Length: %d\r\n", BYTES).at));
    buf_add(&out, STR("[0"));
    buf_add(&out, str_slice(repeated(",0", BYTES), 0, BYTES - 10));
    return buf_str(&out);
}

static str of_nothing(const struct fixture *s)
{
    (void)s;
    return STR("");
}

static str of_half_a_head(const struct fixture *s)
{
    (void)s;
    return arena_printf(check_arena(), "GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: %s",
                        repeated("x", 7000).at);
}

static str of_websocket(const struct fixture *s)
{
    struct buf out = buf_in(check_arena());
    str text = repeated("x", 1000000);

    (void)s;
    buf_add(&out, STR("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
    websocket_frame_masked(&out, WEBSOCKET_TEXT, text, (const unsigned char *)"mask");
    out.len -= 10; /* its end never comes */
    return buf_str(&out);
}

static str of_mcp_session(const struct fixture *s)
{
    str body = arena_printf(check_arena(),
                            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":"
                            "{\"name\":\"%s\",\"version\":\"1\"}}}",
                            repeated("x", 200000).at);
    struct buf out = buf_in(check_arena());

    buf_add(&out, as(s, "POST", "/mcp",
                     arena_printf(
                         check_arena(),
                         "Content-Type: application/json\r\n"
                         "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n",
                         body.len)
                         .at));
    buf_add(&out, body);
    return buf_str(&out);
}

static str of_events(const struct fixture *s)
{
    return as(s, "GET", "/events?after=0", "Accept: text/event-stream\r\n");
}

static str (*const kinds[])(const struct fixture *s) = {
    of_query,       of_history,   of_document,    of_values, of_nothing,
    of_half_a_head, of_websocket, of_mcp_session, of_events,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- what they come to ---- */

static void fixture_start(struct fixture *s)
{
    *s = (struct fixture){ .server = { .args =
                                           (const char *[]){ "--set", "idle_time=10m", NULL } } };
    black_start(&s->server);
    black_add_schema(&s->server);
    s->viewer = black_add_token(&s->server, "viewer").text;
    s->large = black_add_state(&s->server,
                               arena_printf(check_arena(), "['%s']", repeated("x", 1000000).at).at);
    s->written = black_add_state(&s->server, "{}");
    for (int i = 0; i < 12; i++)
        black_expect(&s->server, 200, black_route("PUT", s->written),
                     arena_printf(check_arena(), "{'data':{'text':'%d%s'}}", i,
                                  repeated("y", 900000).at)
                         .at);
}

/* What the system takes of it; nothing of the answer is read. */
static int peer_begin(const struct fixture *s, str request)
{
    struct peer p = peer_open(&s->server, check_arena());
    int little = 4096;

    setsockopt(p.fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    while (request.len) {
        ssize_t n = send(p.fd, request.at, request.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n <= 0)
            break;
        request = str_slice(request, (size_t)n, request.len);
    }
    return p.fd;
}

static long peak(const struct fixture *s)
{
    str status = check_read(arena_printf(check_arena(), "/proc/%d/status", (int)s->server.pid).at);
    const char *at = strstr(status.at, "VmHWM:");

    CHECK(at);
    return atol(at + strlen("VmHWM:"));
}

static void check_peak(const struct fixture *s, const char *what)
{
    long found = peak(s);

    check_note("%s: at most %ld MiB", what, found >> 10);
    if (!BLACK_SANITIZED && found >= PEAK_KIB)
        check_fail(__FILE__, __LINE__, "%s: expected a peak below %d MiB, found %ld MiB", what,
                   PEAK_KIB >> 10, found >> 10);
}

static void files_raise(void)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max < KINDS * TOGETHER + 200)
        check_skip("this process may have %llu files", (unsigned long long)limit.rlim_max);
}

/* The operator is answered while they are there, and sees what they hold. */
static void operator_looks(const struct fixture *s)
{
    while (black_ask(&s->server, "GET /workflow-states", "").status == 503)
        ;
    CHECK(black_metric(&s->server, "baton_held_bytes") <= 68 << 20);
    CHECK(black_metric(&s->server, "baton_buffered_bytes") <= 68 << 20);
}

TEST_LIMIT(thousand_hostile_peers_of_any_kind_take_a_bounded_memory, 120)
{
    struct fixture s;
    int *fds = ARENA_ARRAY(check_arena(), int, EACH);

    files_raise();
    fixture_start(&s);
    for (int kind = 0; kind < KINDS; kind++) {
        str request = kinds[kind](&s);
        for (int i = 0; i < EACH; i++)
            fds[i] = peer_begin(&s, request);
        operator_looks(&s);
        check_peak(&s, arena_printf(check_arena(), "kind %d", kind).at);
        for (int i = 0; i < EACH; i++)
            close(fds[i]);
    }
    black_stop(&s.server);
}

TEST_LIMIT(hostile_peers_of_all_kinds_at_once_take_a_bounded_memory, 120)
{
    struct fixture s;
    int *fds = ARENA_ARRAY(check_arena(), int, KINDS *TOGETHER), count = 0;
    str requests[KINDS];

    files_raise();
    fixture_start(&s);
    for (int kind = 0; kind < KINDS; kind++)
        requests[kind] = kinds[kind](&s);
    for (int i = 0; i < TOGETHER; i++)
        for (int kind = 0; kind < KINDS; kind++)
            fds[count++] = peer_begin(&s, requests[kind]);
    operator_looks(&s);
    check_peak(&s, "all at once");
    while (count)
        close(fds[--count]);
    black_stop(&s.server);
}
