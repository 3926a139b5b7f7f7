/* abuse_test.c: requests that nobody should send, to the program itself, beside a client that
 * behaves. */
#define _GNU_SOURCE
#include <sys/socket.h>

#include "black/neighbour.h"
#include "client/socket.h"
#include "client/ws_client.h"
#include "json_help.h"

/* ---- requests whose end is a matter of opinion ---- */

#define POST "POST /workflow-states HTTP/1.1\r\nHost: localhost\r\n"
#define GET "GET /health HTTP/1.1\r\nHost: localhost\r\n"
#define LENGTH "Content-Length: "
#define CODED "Transfer-Encoding: "
#define CHUNKS CODED "chunked\r\n"

/* Behind each follows a request of its own. A server that took that for another one, or for a part
 * of this one, would not be of the opinion of a proxy in front of it; so neither is done. */
// clang-format off
static const struct {
    int status;
    const char *what;
    str bytes;
} smuggled[] = {
    { 400, "two lengths",              STR(POST LENGTH "2\r\n" LENGTH "3\r\n\r\n{}") },
    { 400, "a list of lengths",        STR(POST LENGTH "2, 3\r\n\r\n{}") },
    { 400, "a length with a sign",     STR(POST LENGTH "+2\r\n\r\n{}") },
    { 400, "a negative length",        STR(POST LENGTH "-2\r\n\r\n{}") },
    { 400, "a length in hexadecimal",  STR(POST LENGTH "0x2\r\n\r\n{}") },
    { 400, "an empty length",          STR(POST "Content-Length:\r\n\r\n{}") },
    { 413, "a length of 2^64 + 2",     STR(POST LENGTH "18446744073709551618\r\n\r\n{}") },
    { 400, "a length and chunks",      STR(POST LENGTH "2\r\n" CHUNKS "\r\n0\r\n\r\n") },
    { 400, "chunks and a length",      STR(POST CHUNKS LENGTH "2\r\n\r\n0\r\n\r\n") },
    { 400, "chunks twice",             STR(POST CHUNKS CHUNKS "\r\n0\r\n\r\n") },
    { 501, "chunks that are not last", STR(POST CODED "chunked, identity\r\n\r\n0\r\n\r\n") },
    { 400, "chunks in HTTP/1.0",       STR("POST / HTTP/1.0\r\n" CHUNKS "\r\n0\r\n\r\n") },
    { 400, "a chunk of no number",     STR(POST CHUNKS "\r\nzz\r\n\r\n") },
    { 400, "a chunk with a sign",      STR(POST CHUNKS "\r\n-2\r\n{}\r\n0\r\n\r\n") },
    { 400, "a chunk of 2^64 + 2",      STR(POST CHUNKS "\r\n10000000000000002\r\n{}\r\n") },
    { 400, "a chunk that is longer",   STR(POST CHUNKS "\r\n1\r\n{}\r\n0\r\n\r\n") },
    { 400, "a chunk with a bare LF",   STR(POST CHUNKS "\r\n2\n{}\r\n0\r\n\r\n") },
    { 400, "a folded header",          STR(GET "X-A: 1\r\n Content-Length: 2\r\n\r\n") },
    { 400, "a folded first header",    STR("GET /health HTTP/1.1\r\n Host: localhost\r\n\r\n") },
    { 400, "bare LFs",                 STR("GET /health HTTP/1.1\nHost: localhost\n\n") },
    { 400, "a bare LF in the headers", STR(GET "X-A: 1\nContent-Length: 2\r\n\r\n") },
    { 400, "a bare CR in a header",    STR(GET "X-A: 1\rContent-Length: 2\r\n\r\n") },
    { 400, "a space before a colon",   STR(POST "Content-Length : 2\r\n\r\n{}") },
    { 400, "a tab before a colon",     STR(POST "Content-Length\t: 2\r\n\r\n{}") },
    { 400, "a NUL in a value",         STR(GET "X-A: 1\0002\r\n\r\n") },
    { 400, "a NUL in a name",          STR(GET "X\000A: 1\r\n\r\n") },
    { 400, "a header without a colon", STR(GET "Content-Length\r\n\r\n") },
    { 400, "a header without a name",  STR(GET ": 1\r\n\r\n") },
    { 400, "no Host",                  STR("GET /health HTTP/1.1\r\n\r\n") },
    { 400, "two Hosts",                STR(GET "Host: localhost\r\n\r\n") },
    { 400, "two spaces",               STR("GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n") },
    { 400, "a tab for a space",        STR("GET\t/health\tHTTP/1.1\r\nHost: localhost\r\n\r\n") },
    { 505, "more behind the version",  STR("GET /health HTTP/1.1 x\r\nHost: localhost\r\n\r\n") },
    { 400, "no version",               STR("GET /health\r\nHost: localhost\r\n\r\n") },
    { 400, "another protocol",         STR("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\r\n\r\n") },
};
// clang-format on

/* With a token behind its Host, so that it is not refused for the lack of one. */
static str with_token(const struct black *b, str bytes)
{
    str host = STR("Host: localhost\r\n");
    const char *at = memmem(bytes.at, bytes.len, host.at, host.len);
    size_t before = at ? (size_t)(at - bytes.at) + host.len : 0;
    struct buf out = buf_in(check_arena());

    buf_add(&out, str_slice(bytes, 0, before));
    if (at)
        buf_printf(&out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(b->endpoint.token));
    buf_add(&out, str_slice(bytes, before, bytes.len));
    return buf_str(&out);
}

TEST(request_of_doubtful_length_is_refused_and_nothing_behind_it_is_heard)
{
    struct black b = { 0 };
    struct neighbour n;

    black_start(&b);
    black_add_schema(&b);
    neighbour_start(&n, &b);
    for (size_t i = 0; i < sizeof smuggled / sizeof *smuggled; i++) {
        struct peer p = peer_open(&b, check_arena());
        peer_send(&p, with_token(&b, smuggled[i].bytes));
        peer_send(&p, STR(GET "\r\n"));
        int first = peer_next(&p).status, second = peer_next(&p).status;
        if (first != smuggled[i].status || second != 0)
            check_fail(__FILE__, __LINE__, "%s: expected %d and the end, found %d and %d",
                       smuggled[i].what, smuggled[i].status, first, second);
        peer_close(&p);
    }
    neighbour_stop(&n);
    black_stop(&b);
}

/* ---- requests that are too much, or not for us ---- */

static str repeated(const char *what, int count)
{
    struct buf out = buf_in(check_arena());

    for (int i = 0; i < count; i++)
        buf_add(&out, str_from(what));
    return buf_str(&out);
}

static int status_to(const struct black *b, str request)
{
    struct peer p = peer_open(b, check_arena());

    peer_send(&p, request);
    int status = peer_next(&p).status;
    peer_close(&p);
    return status;
}

static int status_with(const struct black *b, const char *route, const char *header)
{
    return status_to(b, arena_printf(check_arena(), STR_FMT "%s\r\n\r\n",
                                     STR_ARG(peer_head(check_arena(), b, route)), header));
}

TEST(request_beyond_a_limit_gets_the_status_of_that_limit)
{
    struct black b = { .args = (const char *[]){ "--set", "body_bytes=64KiB", NULL } };
    struct neighbour n;
    const char *deep = arena_printf(check_arena(), "{'schema_name':'any','initial_data':%s1%s}",
                                    repeated("[", 100).at, repeated("]", 100).at)
                           .at;
    const char *large = arena_printf(check_arena(), "{'schema_name':'any','initial_data':'%s'}",
                                     repeated("0123456789", 10000).at)
                            .at;
    const char *path = arena_printf(check_arena(), "GET /%s", repeated("0123456789", 1000).at).at;
    const char *header = arena_printf(check_arena(), "X-A: %s", repeated("0123456789", 1000).at).at;
    const char *many = arena_printf(check_arena(), "%sX-B: 1", repeated("X-A: 1\r\n", 100).at).at;

    black_start(&b);
    black_add_schema(&b);
    neighbour_start(&n, &b);
    black_expect(&b, 413, "POST /workflow-states", large);
    black_expect(&b, 400, "POST /workflow-states", deep);
    CHECK_INT(status_with(&b, path, "X-A: 1"), 414);
    CHECK_INT(status_with(&b, "GET /health", header), 431);
    CHECK_INT(status_with(&b, "GET /health", many), 431);
    /* A length is refused before a byte of it is sent. */
    CHECK_INT(status_with(&b, "POST /workflow-states", "Content-Length: 99999999999"), 413);
    neighbour_stop(&n);
    black_stop(&b);
}

/* A page of another site can make a browser ask here, under its own name or under ours. */
TEST(page_of_another_site_gets_nothing)
{
    struct black b = { 0 };
    static const char *const hosts[] = {
        "evil.example",           "evil.example:8765", "localhost.evil.example",
        "127.0.0.1.evil.example", "0.0.0.0",           "[::2]"
    };
    static const char *const origins[] = { "http://evil.example", "https://evil.example", "null",
                                           "http://localhost.evil.example", "file://" };

    black_start(&b);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        str request = arena_printf(check_arena(),
                                   "GET /tokens HTTP/1.1\r\nHost: %s\r\n"
                                   "Authorization: Bearer " STR_FMT "\r\n\r\n",
                                   hosts[i], STR_ARG(b.endpoint.token));
        CHECK_INT(status_to(&b, request), 421);
    }
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        const char *header = arena_printf(check_arena(), "Origin: %s", origins[i]).at;
        const char *upgrade = arena_printf(check_arena(),
                                           "%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                           "Sec-WebSocket-Version: 13\r\n"
                                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                                           header)
                                  .at;
        CHECK_INT(status_with(&b, "GET /tokens", header), 403);
        CHECK_INT(status_with(&b, "POST /tokens", header), 403);
        CHECK_INT(status_with(&b, "GET /ws", upgrade), 403);
    }
    CHECK_INT(status_with(&b, "GET /tokens", "Origin: http://localhost"), 200);
    black_stop(&b);
}

/* ---- requests that take their time ---- */

enum { SLOW = 50 };

/* Peers that send the beginning, and one of them a byte now and then; all are sent away. */
static void slow_peers(const struct black *b, str beginning)
{
    int count = SLOW * black_times();
    struct peer *peers = ARENA_ARRAY(check_arena(), struct peer, (size_t)count);
    bool taken = true;

    for (int i = 0; i < count; i++) {
        peers[i] = peer_open(b, check_arena());
        peer_send(&peers[i], beginning);
    }
    while (taken) { /* once for each answer of the server's: a pace without a clock */
        black_expect(b, 200, "GET /health", "");
        taken = peer_send(&peers[0], STR("x")) && !socket_ready(peers[0].fd);
    }
    for (int i = 0; i < count; i++) {
        CHECK_INT(peer_next(&peers[i]).status, 408);
        peer_expect_end(&peers[i]);
        peer_close(&peers[i]);
    }
}

TEST(peer_that_takes_its_time_is_sent_away)
{
    struct black b = { .args = (const char *[]){ "--set", "header_time=300ms", "--set",
                                                 "body_time=300ms", "--set", "idle_time=300ms",
                                                 NULL } };
    struct neighbour n;

    black_start(&b);
    black_add_schema(&b);
    neighbour_start(&n, &b);
    slow_peers(&b, STR("GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: "));
    slow_peers(&b, arena_printf(check_arena(), STR_FMT "Content-Length: 60000\r\n\r\n{",
                                STR_ARG(peer_head(check_arena(), &b, "POST /workflow-states"))));

    /* One that has nothing to say is not even answered. */
    struct peer idle = peer_open(&b, check_arena()), once = peer_open(&b, check_arena());
    peer_send(&once, STR(GET "\r\n"));
    CHECK_INT(peer_next(&once).status, 200);
    CHECK_INT(peer_next(&once).status, 0);
    CHECK_INT(peer_next(&idle).status, 0);
    peer_close(&idle);
    peer_close(&once);
    neighbour_stop(&n);
    black_stop(&b);
}

/* ---- requests in a row, and ends that are only half of one ---- */

TEST(requests_that_are_sent_ahead_are_answered_in_their_order)
{
    enum { COUNT = 200 };
    struct black b = { 0 };
    struct buf all = buf_in(check_arena());

    black_start(&b);
    black_add_schema(&b);
    str id = black_add_state(&b, "{}");
    str patch = peer_head(check_arena(), &b, black_route("PATCH", id));
    str get = peer_head(check_arena(), &b, black_route("GET", id));
    for (int i = 0; i < COUNT; i++) {
        str body = arena_printf(check_arena(),
                                "{\"operations\":[{\"op\":\"add\",\"path\":\"/n\",\"value\":%d}]}",
                                i);
        buf_printf(&all, STR_FMT "Content-Length: %zu\r\n\r\n" STR_FMT, STR_ARG(patch), body.len,
                   STR_ARG(body));
        buf_printf(&all, STR_FMT "\r\n", STR_ARG(get));
    }
    struct peer p = peer_open(&b, check_arena());
    peer_send(&p, buf_str(&all));
    shutdown(p.fd, SHUT_WR); /* it says no more, but it listens */
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(peer_next(&p).status, 200);
        struct response r = peer_next(&p);
        CHECK_INT(r.status, 200);
        const struct json *state = json_parsed(check_arena(), r.body);
        CHECK_INT(json_int_or(state, "version", 0), i + 2);
        CHECK_INT(json_int_or(json_get(state, "current_data"), "n", -1), i);
    }
    CHECK_INT(peer_next(&p).status, 0);
    peer_close(&p);
    black_stop(&b);
}

/* ---- tokens that are taken back ---- */

static void revoke(const struct black *b, struct black_token t)
{
    black_expect(b, 204, arena_printf(check_arena(), "DELETE /tokens/" STR_FMT, STR_ARG(t.id)).at,
                 "");
}

TEST(token_that_is_revoked_is_of_no_use_from_then_on)
{
    struct black b = { 0 };
    struct ws_client *ws;
    struct response r;
    str message;

    black_start(&b);
    struct black_token viewer = black_add_token(&b, "viewer");
    struct endpoint as = b.endpoint;
    as.token = viewer.text;
    struct http_client *kept = http_client_new(&as);
    struct http_call call = { .method = "GET", .target = STR("/workflow-states") };
    CHECK_OK(http_client_call(kept, check_arena(), &call, &r));
    CHECK_INT(r.status, 200);
    CHECK_OK(ws_client_open(check_arena(), &as, "/ws", 5000, &ws));
    CHECK_OK(ws_client_send(ws, check_arena(), STR("{\"action\":\"ping\"}"), 5000));
    CHECK_OK(ws_client_next(ws, check_arena(), 5000, &message));

    revoke(&b, viewer);
    CHECK_OK(http_client_call(kept, check_arena(), &call, &r));
    CHECK_INT(r.status, 401);
    err end = ws_client_next(ws, check_arena(), 5000, &message);
    CHECK_ERR(end, ERR_FORBIDDEN);
    CHECK(strstr(end->message.at, "1008"));
    CHECK_ERR(ws_client_open(check_arena(), &as, "/ws", 5000, &(struct ws_client *){ 0 }),
              ERR_UNAUTHENTICATED);
    ws_client_free(ws);
    http_client_free(kept);
    black_stop(&b);
}

/* Who has no token costs nothing but the answer that says so, however many show the same one. */
TEST_LIMIT(one_unknown_token_that_many_show_at_once_hurts_nobody, 60)
{
    enum { PEERS = 64, REQUESTS = 20, ROUNDS = 10 };
    struct black b = { 0 };
    struct peer peers[PEERS];
    struct buf requests = buf_in(check_arena());

    for (int i = 0; i < REQUESTS; i++)
        buf_add(&requests, STR("GET /tokens HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer bt_unknown\r\n\r\n"));
    black_start(&b);
    for (int i = 0; i < PEERS; i++)
        peers[i] = peer_open(&b, check_arena());
    for (int round = 0; round < ROUNDS * black_times(); round++) {
        for (int i = 0; i < PEERS; i++)
            peer_send(&peers[i], buf_str(&requests));
        for (int i = 0; i < PEERS * REQUESTS; i++) {
            struct response r = peer_next(&peers[i % PEERS]);
            if (r.status != 401)
                black_alive(&b);
            CHECK_INT(r.status, 401);
        }
    }
    for (int i = 0; i < PEERS; i++)
        peer_close(&peers[i]);
    black_expect(&b, 200, "GET /tokens", "");
    black_stop(&b);
}
