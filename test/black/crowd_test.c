/* crowd_test.c: many peers at a time, and peers that do not listen to what they asked for. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "black/neighbour.h"
#include "client/socket.h"
#include "client/ws_client.h"
#include "json_help.h"
#include "wire/ws/frame.h"

/* ---- connections ---- */

static void files_raise(rlim_t count)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max < count)
        check_skip("%llu connections need as many files, and this process may have %llu",
                   (unsigned long long)count, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* Those that wait are no burden: neither in time for others nor in memory. */
TEST_LIMIT(thousands_of_idle_connections_hurt_nobody, 60)
{
    enum { IDLE = 4000, KIB_EACH = BLACK_SANITIZED ? 64 : 8 };
    struct black b = { .args = (const char *[]){ "--set", "idle_time=10m", NULL } };
    struct neighbour n;
    struct peer *peers = ARENA_ARRAY(check_arena(), struct peer, IDLE);

    files_raise(IDLE + 100);
    black_start(&b);
    black_add_schema(&b);
    black_expect(&b, 200, "GET /health", "");
    long before = black_memory(&b);
    str known = arena_printf(check_arena(), STR_FMT "\r\n",
                             STR_ARG(peer_head(check_arena(), &b, "GET /limits")));
    for (int i = 0; i < IDLE; i++) { /* who has shown a token may stay */
        peers[i] = peer_open(&b, check_arena());
        peer_send(&peers[i], known);
        CHECK_INT(peer_next(&peers[i]).status, 200);
    }
    CHECK(black_metric(&b, "baton_connections") >= IDLE);
    neighbour_start(&n, &b);
    neighbour_goes_on(&n, 200 * black_times());
    neighbour_stop(&n);
    long each = (black_memory(&b) - before) / IDLE;
    check_note("%d connections, about %ld KiB of memory for each", IDLE, each);
    CHECK(each < KIB_EACH);
    for (int i = 0; i < IDLE; i++)
        peer_close(&peers[i]);
    while (black_metric(&b, "baton_connections") > 2)
        ;
    black_stop(&b);
}

/* Whoever has shown no token makes room for whoever comes: by either way, the operator gets in. */
TEST_LIMIT(operator_gets_in_past_more_idle_connections_than_there_may_be, 60)
{
    enum { IDLE = 4160 };
    struct black b = { .args = (const char *[]){ "--set", "idle_time=10m", NULL } };
    struct peer *peers = ARENA_ARRAY(check_arena(), struct peer, IDLE);

    files_raise(IDLE + 100);
    black_start(&b);
    struct black_token viewer = black_add_token(&b, "viewer");
    for (int i = 0; i < IDLE; i++)
        peers[i] = peer_open(&b, check_arena());
    CHECK_INT(black_ask(&b, "GET /workflow-states", "").status, 200);
    CHECK_INT(black_ask_as(&b, viewer.text, "GET /workflow-states", "").status, 200);
    struct black by_socket = b;
    by_socket.endpoint.url = (struct url){ .scheme = URL_UNIX, .socket = STR("data/baton.sock") };
    CHECK_INT(black_ask(&by_socket, "GET /workflow-states", "").status, 200);
    CHECK(black_metric(&b, "baton_connections_unknown") <= 1024);
    CHECK(black_metric(&b, "baton_connections_dropped_total") > 3000);
    for (int i = 0; i < IDLE; i++)
        peer_close(&peers[i]);
    black_stop(&b);
}

TEST(last_connections_are_for_the_operator)
{
    enum { MOST = 32, KEPT = 16 };
    struct black b = { .args = (const char *[]){ "--set", "connections=32", "--set",
                                                 "connections_kept=16", NULL } };
    struct peer peers[MOST];

    black_start(&b);
    struct black_token viewer = black_add_token(&b, "viewer");
    str ask = arena_printf(check_arena(),
                           "GET /workflow-states HTTP/1.1\r\nHost: localhost\r\n"
                           "Authorization: Bearer " STR_FMT "\r\n\r\n",
                           STR_ARG(viewer.text));
    for (int i = 0; i < MOST; i++) {
        peers[i] = peer_open(&b, check_arena());
        peer_send(&peers[i], ask);
        struct response r = peer_next(&peers[i]);
        str after;
        CHECK_INT(r.status, i < MOST - KEPT ? 200 : 503);
        CHECK(i < MOST - KEPT || response_value(&r, "Retry-After", &after));
        CHECK_INT(black_ask(&b, "GET /workflow-states", "").status, 200);
    }
    for (int i = 0; i < MOST; i++)
        peer_close(&peers[i]);
    while (black_ask_as(&b, viewer.text, "GET /workflow-states", "").status == 503)
        ;
    CHECK_INT(black_ask_as(&b, viewer.text, "GET /workflow-states", "").status, 200);
    black_stop(&b);
}

/* 0: the connection was closed without an answer, as those far beyond the limit are. */
static int health_status(const struct black *b)
{
    struct peer p = peer_open(b, check_arena());

    peer_send(&p, STR("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    int status = peer_next(&p).status;
    peer_close(&p);
    return status;
}

/* A system that gives few files makes the limit lower, not the server unable to answer. */
TEST(connections_beyond_the_files_that_there_are_hurt_nobody)
{
    enum { FILES = 256, PEERS = 230 };
    struct black b = { 0 };
    struct rlimit few = { FILES, FILES };
    struct peer peers[PEERS];

    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    black_start(&b);
    for (int i = 0; i < PEERS; i++) {
        peers[i] = peer_open(&b, check_arena());
        peer_send(&peers[i], STR("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        CHECK_INT(peer_next(&peers[i]).status, 200); /* in the place of one that came before */
    }
    CHECK(black_metric(&b, "baton_connections") < PEERS);
    for (int i = 0; i < PEERS; i++)
        peer_close(&peers[i]);
    while (health_status(&b) != 200)
        ; /* until it has seen that they are gone */
    black_expect(&b, 200, "GET /tokens", "");
    black_stop(&b);
}

/* ---- memory ---- */

enum { GROWTH_MIB = BLACK_SANITIZED ? 400 : 48 };

/* Bodies that are on their way are counted together, whoever sends them. */
TEST(bodies_that_never_end_are_refused_when_there_are_too_many)
{
    enum { PEERS = 100, BODY = 400 << 10 };
    struct black b = { .args = (const char *[]){ "--set", "buffered_bytes=4MiB", "--set",
                                                 "body_time=10m", NULL } };
    struct peer *peers = ARENA_ARRAY(check_arena(), struct peer, PEERS);
    char *body = arena_alloc(check_arena(), BODY);
    int refused = 0;

    memset(body, ' ', BODY);
    black_start(&b);
    str head = arena_printf(check_arena(), STR_FMT "Content-Length: %d\r\n\r\n",
                            STR_ARG(peer_head(check_arena(), &b, "POST /workflow-states")),
                            BODY + 1);
    for (int i = 0; i < PEERS; i++) {
        peers[i] = peer_open(&b, check_arena());
        peer_send(&peers[i], head);
        peer_send(&peers[i], (str){ body, BODY });
    }
    while (black_ask(&b, "GET /tokens", "").status == 503)
        ; /* for a moment it may have no room for anyone */
    CHECK(black_metric(&b, "baton_buffered_bytes") <= 5 << 20);
    for (int i = 0; i < PEERS; i++) {
        peer_send(&peers[i], STR("\n"));
        int status = peer_next(&peers[i]).status; /* white space alone is no JSON */
        CHECK(status == 503 || status == 400);
        refused += status == 503;
        peer_close(&peers[i]);
    }
    CHECK(refused > 0 && refused < PEERS);
    black_stop(&b);
}

/* Answers that nobody takes are not made. */
TEST(peer_that_asks_and_does_not_read_is_not_heard_any_more)
{
    enum { PEERS = 10, REQUESTS = 500, TEXT_BYTES = 500000 };
    struct black b = { 0 };
    struct peer peers[PEERS];
    struct neighbour n;
    struct buf data = buf_in(check_arena()), requests = buf_in(check_arena());

    buf_add(&data, STR("{'text':'"));
    memset(buf_reserve(&data, TEXT_BYTES), 'x', TEXT_BYTES);
    data.len += TEXT_BYTES;
    buf_add(&data, STR("'}"));
    black_start(&b);
    black_add_schema(&b);
    str id = black_add_state(&b, buf_str(&data).at);
    str head = peer_head(check_arena(), &b, black_route("GET", id));
    for (int i = 0; i < REQUESTS; i++)
        buf_printf(&requests, STR_FMT "\r\n", STR_ARG(head));
    neighbour_start(&n, &b);
    long before = black_memory(&b);
    for (int i = 0; i < PEERS; i++) {
        peers[i] = peer_open(&b, check_arena());
        CHECK(send(peers[i].fd, requests.at, requests.len, MSG_DONTWAIT | MSG_NOSIGNAL) > 0);
    }
    neighbour_goes_on(&n, 200 * black_times());
    long growth = (black_memory(&b) - before) >> 10;
    check_note("%d MB of answers that were not read: %ld MiB more memory",
               PEERS * REQUESTS / 1000 * (TEXT_BYTES / 1000), growth);
    CHECK(growth < GROWTH_MIB);
    for (int i = 0; i < PEERS; i++)
        peer_close(&peers[i]);
    neighbour_stop(&n);
    black_stop(&b);
}

/* ---- subscribers ---- */

enum { WRITERS = 8, WRITES = 300, TEXT = 4000 };

struct crowd {
    struct black server;
    str id;
    int64_t versions; /* that there will be */
    int writes;       /* of each writer */
};

static void *crowd_write(void *self)
{
    struct crowd *c = self;
    struct arena *a = arena_new();
    struct http_client *client = http_client_new(&c->server.endpoint);
    char text[TEXT + 1];

    memset(text, 'x', TEXT);
    text[TEXT] = '\0';
    struct http_call call = {
        .method = "PATCH",
        .target = arena_printf(a, "/workflow-states/" STR_FMT, STR_ARG(c->id)),
    };
    for (int i = 0; i < c->writes; i++) {
        struct arena *one = arena_new();
        struct response r;
        /* Another text each time: of one that changes nothing there is no event. */
        call.body = arena_printf(
            one, "{\"operations\":[{\"op\":\"add\",\"path\":\"/text\",\"value\":\"%p-%d-%s\"}]}",
            (void *)a, i, text);
        CHECK_OK(http_client_call(client, one, &call, &r));
        CHECK_INT(r.status, 200);
        arena_free(one);
    }
    http_client_free(client);
    arena_free(a);
    return NULL;
}

/* Hears every version, in order. */
static void *crowd_listen(void *self)
{
    struct crowd *c = self;
    struct arena *a = arena_new();
    struct ws_client *ws;
    str message;
    int64_t version = 0;

    CHECK_OK(ws_client_open(a, &c->server.endpoint, "/ws", 5000, &ws));
    CHECK_OK(ws_client_send(
        ws, a,
        arena_printf(a, "{\"action\":\"subscribe\",\"state_id\":\"" STR_FMT "\",\"after\":0}",
                     STR_ARG(c->id)),
        5000));
    while (version < c->versions) {
        arena_reset(a);
        CHECK_OK(ws_client_next(ws, a, 20000, &message));
        const struct json *json = json_parsed(a, message);
        if (json_get(json, "event_type"))
            CHECK_INT(json_int_or(json, "version", 0), ++version);
    }
    ws_client_free(ws);
    arena_free(a);
    return NULL;
}

/* A subscriber that does not read. More will come than the system keeps for it. */
static struct peer deaf_open(const struct crowd *c)
{
    struct peer p = peer_open(&c->server, check_arena());
    struct buf out = buf_in(check_arena());

    buf_printf(&out,
               STR_FMT "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
               STR_ARG(peer_head(check_arena(), &c->server, "GET /ws")));
    websocket_frame_masked(&out, WEBSOCKET_TEXT,
                           arena_printf(check_arena(),
                                        "{\"action\":\"subscribe\",\"state_id\":\"" STR_FMT
                                        "\",\"after\":0}",
                                        STR_ARG(c->id)),
                           (const unsigned char *)"mask");
    peer_send(&p, buf_str(&out));
    return p;
}

/* Reads on after it has not read for long: what it hears is in order, without a gap, to the end. */
static void deaf_recovers(struct peer *p, int64_t versions)
{
    struct websocket_reader reader;
    struct websocket_event e;
    struct arena *a = arena_new(); /* of one message */
    char piece[65536];
    int64_t version = 0;

    CHECK_INT(peer_next(p).status, 101);
    websocket_reader_init(&reader, WEBSOCKET_CLIENT, 1 << 20);
    while (version < versions) {
        str bytes = { p->piece + p->from, p->len - p->from };
        if (bytes.len == 0) {
            ssize_t n = recv(p->fd, piece, sizeof piece, 0);
            if (n <= 0)
                check_fail(__FILE__, __LINE__, "ended at version %lld of %lld: %s",
                           (long long)version, (long long)versions, n ? strerror(errno) : "closed");
            bytes = (str){ piece, (size_t)n };
        }
        p->from = p->len = 0;
        while (websocket_read(&reader, &bytes, &e)) {
            if (e.kind == WEBSOCKET_PING)
                continue;
            CHECK(e.kind == WEBSOCKET_TEXT);
            const struct json *json = json_parsed(a, e.payload);
            if (json_get(json, "event_type"))
                CHECK_INT(json_int_or(json, "version", 0), ++version);
            arena_reset(a);
        }
    }
    websocket_reader_release(&reader);
    arena_free(a);
}

/* Many writes, heard by one who listens; the others of the crowd have been there before. */
static void crowd_run(struct crowd *c)
{
    pthread_t writers[WRITERS], listener;

    CHECK(pthread_create(&listener, NULL, crowd_listen, c) == 0);
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&writers[i], NULL, crowd_write, c) == 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    pthread_join(listener, NULL);
}

static void crowd_start(struct crowd *c, const char *const *args)
{
    c->server.args = args;
    c->writes = WRITES * black_times();
    c->versions = 1 + (int64_t)WRITERS * c->writes;
    black_start(&c->server);
    black_add_schema(&c->server);
    c->id = black_add_state(&c->server, "{}");
}

enum { DEAF = 20 };

TEST_LIMIT(subscriber_that_does_not_read_costs_nobody_anything_and_may_read_on, 90)
{
    static const char *const args[] = { "--set", "behind_events=100",
                                        "--set", "behind_bytes=64KiB",
                                        "--set", "versions_kept=1000000",
                                        NULL };
    static struct crowd c;
    struct peer deaf[DEAF];

    crowd_start(&c, args);
    for (int i = 0; i < DEAF; i++)
        deaf[i] = deaf_open(&c);
    long before = black_memory(&c.server);
    crowd_run(&c);
    long growth = (black_memory(&c.server) - before) >> 10;
    check_note("%lld events of %d bytes with %d subscribers that did not read: %ld MiB more memory",
               (long long)c.versions, TEXT, DEAF, growth);
    CHECK(growth < GROWTH_MIB);
    for (int i = 0; i < DEAF; i++) {
        if (i % 5 == 0)
            deaf_recovers(&deaf[i], c.versions);
        peer_close(&deaf[i]);
    }
    black_stop(&c.server);
}

TEST_LIMIT(subscriber_that_never_reads_is_dropped, 90)
{
    static const char *const args[] = { "--set", "behind_events=100", "--set", "behind_bytes=64KiB",
                                        "--set", "write_time=300ms",  NULL };
    static struct crowd c;
    struct peer deaf[DEAF];

    crowd_start(&c, args);
    for (int i = 0; i < DEAF; i++)
        deaf[i] = deaf_open(&c);
    crowd_run(&c);
    while (black_metric(&c.server, "baton_connections") > 1)
        ; /* the test's own time limit ends a wait in vain */
    for (int i = 0; i < DEAF; i++) {
        peer_expect_end(&deaf[i]);
        peer_close(&deaf[i]);
    }
    black_stop(&c.server);
}
