/* client_test.c: the HTTP and the WebSocket client, against a server that follows a script. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "client/caller.h"
#include "client/ws_client.h"
#include "wire/ws/frame.h"

enum { REQUESTS_MAX = 8, REQUEST_BYTES = 4096 };

/* What the server does, step by step, on one connection after the other: waits for a request and
 * answers with the text; "" only closes, and NULL ends the script. `close` after the answer. */
struct step {
    const char *answer;
    bool close;
};

struct script {
    const struct step *steps;
    int listener;
    pthread_t thread;
    char requests[REQUESTS_MAX][REQUEST_BYTES]; /* what came, in the order of the steps */
    int connections;
};

static struct endpoint endpoint_here(void)
{
    struct endpoint p = { .token = STR("op_secret"), .down = STR("nobody is here") };

    CHECK_OK(url_parse(check_arena(), STR("unix:server.sock"), &p.url));
    return p;
}

/* Reads a request: its head, and as much of a body as it says. False at the end. */
static bool request_take(int fd, char *out)
{
    size_t len = 0, want = 0;

    memset(out, 0, REQUEST_BYTES);
    for (;;) {
        char *end = strstr(out, "\r\n\r\n"), *length = strstr(out, "Content-Length: ");
        if (end)
            want = (size_t)(end + 4 - out) + (length ? (size_t)atoi(length + 16) : 0);
        if (end && len >= want)
            return true;
        ssize_t n = recv(fd, out + len, REQUEST_BYTES - 1 - len, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
    }
}

static void *script_play(void *thing)
{
    struct script *s = thing;
    int fd = -1, n = 0;

    for (const struct step *step = s->steps; step->answer; step++, n++) {
        if (fd < 0) {
            fd = accept(s->listener, NULL, NULL);
            s->connections++;
        }
        if (!request_take(fd, s->requests[n]))
            break;
        send(fd, step->answer, strlen(step->answer), MSG_NOSIGNAL);
        if (step->close) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0) {
        char rest;
        while (recv(fd, &rest, 1, 0) > 0) /* until the client has gone */
            ;
        close(fd);
    }
    return NULL;
}

static int listener_make(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "server.sock" };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    unlink(address.sun_path);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(fd, 8) == 0);
    return fd;
}

static void script_start(struct script *s, const struct step *steps)
{
    *s = (struct script){ .steps = steps, .listener = listener_make() };
    CHECK(pthread_create(&s->thread, NULL, script_play, s) == 0);
}

static void script_end(struct script *s)
{
    pthread_join(s->thread, NULL);
    close(s->listener);
}

#define OK_2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"

/* ---- HTTP ---- */

TEST(http_client_asks_twice_over_one_connection)
{
    static const struct step steps[] = { { OK_2 "{}", false }, { OK_2 "[]", false }, { 0 } };
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    struct script s;

    script_start(&s, steps);
    struct http_client *c = http_client_new(&p);
    struct http_call get = { .method = "GET", .target = STR("/a?b=c") };
    CHECK_OK(http_client_call(c, a, &get, &r));
    CHECK_STR(r.body, "{}");
    struct response_field key = { STR("Idempotency-Key"), STR("k1") };
    struct http_call post = { .method = "POST",
                              .target = STR("/d"),
                              .body = STR("{\"x\":1}"),
                              .fields = &key,
                              .field_count = 1 };
    CHECK_OK(http_client_call(c, a, &post, &r));
    CHECK_STR(r.body, "[]");
    http_client_free(c);
    script_end(&s);

    CHECK_INT(s.connections, 1);
    CHECK_STR(str_from(s.requests[0]), "GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n"
                                       "Authorization: Bearer op_secret\r\n"
                                       "Accept: application/json\r\n\r\n");
    CHECK_STR(str_from(s.requests[1]),
              "POST /d HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer op_secret\r\n"
              "Accept: application/json\r\nIdempotency-Key: k1\r\n"
              "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"x\":1}");
}

TEST(http_client_connects_again_when_the_server_closed_between_requests)
{
    static const struct step steps[] = { { OK_2 "{}", true }, { OK_2 "[]", false }, { 0 } };
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    struct script s;
    /* The close may also come while the second one is under way. */
    struct http_call get = { .method = "GET", .target = STR("/"), .repeatable = true };

    script_start(&s, steps);
    struct http_client *c = http_client_new(&p);
    CHECK_OK(http_client_call(c, a, &get, &r));
    CHECK_OK(http_client_call(c, a, &get, &r));
    CHECK_STR(r.body, "[]");
    http_client_free(c);
    script_end(&s);
    CHECK_INT(s.connections, 2);
}

TEST(http_client_repeats_what_can_be_repeated_once)
{
    static const struct step lost_once[] = { { "HTTP/1.1 200", true }, { OK_2 "{}", true }, { 0 } };
    static const struct step lost_twice[] = { { "", true }, { "", true }, { 0 } };
    static const struct step lost[] = { { "", true }, { 0 } };
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    struct script s;
    struct http_call call = { .method = "POST", .target = STR("/"), .repeatable = true };
    struct http_client *c = http_client_new(&p);

    script_start(&s, lost_once);
    CHECK_OK(http_client_call(c, a, &call, &r));
    CHECK_STR(r.body, "{}");
    script_end(&s);
    CHECK_STR(str_from(s.requests[1]), s.requests[0]);

    script_start(&s, lost_twice);
    CHECK_ERR(http_client_call(c, a, &call, &r), ERR_UNAVAILABLE);
    script_end(&s);
    CHECK_INT(s.connections, 2);

    call.repeatable = false;
    script_start(&s, lost);
    CHECK_ERR(http_client_call(c, a, &call, &r), ERR_UNAVAILABLE);
    script_end(&s);
    CHECK_INT(s.connections, 1);
    http_client_free(c);
}

TEST(http_client_does_not_take_bytes_that_nobody_asked_for_as_an_answer)
{
    static const struct step steps[] = { { OK_2 "{}" OK_2 "xx", true },
                                         { OK_2 "[]", true },
                                         { 0 } };
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    struct script s;
    struct http_call get = { .method = "GET", .target = STR("/") };

    script_start(&s, steps);
    struct http_client *c = http_client_new(&p);
    CHECK_OK(http_client_call(c, a, &get, &r));
    CHECK_STR(r.body, "{}");
    CHECK_OK(http_client_call(c, a, &get, &r));
    CHECK_STR(r.body, "[]");
    http_client_free(c);
    script_end(&s);
}

/* A server may refuse a large body without reading it: its answer counts, not that we could not
 * send all. */
TEST(http_client_reads_an_answer_that_comes_before_all_is_sent)
{
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    size_t size = 4 << 20;
    char *large = memset(arena_alloc(a, size), ' ', size);
    struct http_call put = { .method = "PUT", .target = STR("/"), .body = { large, size } };
    int listener = listener_make();

    pid_t server = fork();
    if (server == 0) {
        static const char answer[] = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n";
        char piece[1024];
        int fd = accept(listener, NULL, NULL);
        recv(fd, piece, sizeof piece, 0);
        send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        while (recv(fd, piece, sizeof piece, 0) > 0)
            ;
        _exit(0);
    }
    struct http_client *c = http_client_new(&p);
    CHECK_OK(http_client_call(c, a, &put, &r));
    CHECK_INT(r.status, 413);
    http_client_free(c);
    close(listener);
}

TEST(http_client_waits_no_longer_than_it_was_told)
{
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    struct http_call get = {
        .method = "GET", .target = STR("/"), .timeout_ms = 50, .repeatable = true
    };
    int listener = listener_make(); /* connections wait in its queue for ever */

    struct http_client *c = http_client_new(&p);
    err e = http_client_call(c, a, &get, &r);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK_STR(e->message,
              "the server did not answer within 0.05 s; what was asked for may have been done");
    http_client_free(c);
    close(listener);
}

TEST(http_client_says_what_to_do_when_nobody_listens)
{
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct response r;
    struct http_call get = { .method = "GET", .target = STR("/") };
    struct http_client *c = http_client_new(&p);

    err e = http_client_call(c, a, &get, &r);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK_STR(e->message, "nobody is here");
    CHECK_OK(url_parse(a, STR("https://localhost"), &p.url));
    CHECK_ERR(http_client_call(c, a, &get, &r), ERR_INVALID);
    http_client_free(c);
}

/* ---- calls ---- */

TEST(caller_repeats_what_reads_or_has_a_key_and_nothing_else)
{
    static const struct step lost_once[] = { { "", true }, { OK_2 "{}", true }, { 0 } };
    static const struct step lost[] = { { "", true }, { 0 } };
    static const struct {
        struct call call;
        bool repeated;
    } cases[] = {
        { { .method = "GET", .pattern = "/a" }, true },
        { { .method = "POST", .pattern = "/a" }, false },
        { { .method = "POST", .pattern = "/a", .key = STR("k1") }, true },
        { { .method = "POST", .pattern = "/a", .reads = true }, true },
        { { .method = "POST", .pattern = "/a", .key = STR("k1"), .once = true }, false },
        { { .method = "GET", .pattern = "/a", .once = true }, false },
    };

    setenv("BATON_URL", "unix:server.sock", 1);
    setenv("BATON_TOKEN", "op_1", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct json *answer;
        struct caller c;
        struct script s;
        script_start(&s, cases[i].repeated ? lost_once : lost);
        caller_init(&c, NULL);
        err e = caller_call(&c, check_arena(), &cases[i].call, &answer);
        caller_release(&c);
        script_end(&s);
        CHECK_INT(!e, cases[i].repeated);
        CHECK_INT(c.reached, cases[i].repeated);
        CHECK_INT(s.connections, cases[i].repeated ? 2 : 1);
        CHECK_STR(str_from(s.requests[1]), cases[i].repeated ? s.requests[0] : "");
    }
}

TEST(caller_looks_for_a_server_again_that_did_not_take_its_token)
{
    static const struct step steps[] = {
        { "HTTP/1.1 401 No\r\nContent-Length: 39\r\n\r\n"
          "{\"title\":\"Unknown\",\"detail\":\"it ended\"}",
          true },
        { OK_2 "{}", true },
        { 0 },
    };
    struct call call = { .method = "GET", .pattern = "/a" };
    struct arena *a = check_arena();
    const struct json *answer;
    struct caller c;
    struct script s;

    setenv("BATON_URL", "unix:server.sock", 1);
    setenv("BATON_TOKEN", "op_1", 1);
    script_start(&s, steps);
    caller_init(&c, NULL);
    err e = caller_call(&c, a, &call, &answer);
    CHECK_ERR(e, ERR_UNAUTHENTICATED);
    CHECK_STR(e->message, "Unknown: it ended");
    setenv("BATON_TOKEN", "op_2", 1);
    CHECK_OK(caller_call(&c, a, &call, &answer));
    CHECK(json_is(answer, JSON_OBJECT));
    caller_release(&c);
    script_end(&s);
    CHECK_HAS(str_from(s.requests[0]), "Bearer op_1\r\n");
    CHECK_HAS(str_from(s.requests[1]), "Bearer op_2\r\n");
}

/* ---- WebSocket ---- */

/* Shakes hands over the connection, sends the bytes behind it in the same breath, and gives what
 * the client sent, unmasked: TEXT hello, PONG x, CLOSE 1000. */
static void *websocket_play(void *thing)
{
    struct script *s = thing;
    struct arena *a = arena_new();
    struct buf out = buf_in(a);
    struct websocket_reader reader;
    struct websocket_event e;
    str accept_key;
    char piece[512];
    ssize_t n;
    int fd = accept(s->listener, NULL, NULL);

    request_take(fd, s->requests[0]);
    char *key = strstr(s->requests[0], "Sec-WebSocket-Key: ") + 19;
    websocket_accept(a, (str){ key, 24 }, &accept_key);
    buf_printf(&out,
               "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " STR_FMT "\r\n\r\n",
               STR_ARG(accept_key));
    websocket_frame(&out, WEBSOCKET_TEXT, STR("first"));
    websocket_frame(&out, WEBSOCKET_PING, STR("x"));
    websocket_frame(&out, WEBSOCKET_TEXT, STR("second"));
    websocket_close(&out, WEBSOCKET_GOING_AWAY, STR("bye"));
    send(fd, out.at, out.len, MSG_NOSIGNAL);

    struct buf seen = buf_in(a);
    websocket_reader_init(&reader, WEBSOCKET_SERVER, 0);
    while ((n = recv(fd, piece, sizeof piece, 0)) > 0) {
        str bytes = { piece, (size_t)n };
        while (websocket_read(&reader, &bytes, &e))
            buf_printf(&seen, "%x:" STR_FMT ":%d ", (unsigned)e.kind, STR_ARG(e.payload),
                       (int)e.code);
    }
    strncpy(s->requests[1], buf_str(&seen).at, REQUEST_BYTES - 1);
    websocket_reader_release(&reader);
    arena_free(a);
    close(fd);
    return NULL;
}

TEST(ws_client_gives_messages_answers_pings_and_says_goodbye)
{
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct script s = { .listener = listener_make() };
    struct ws_client *c;
    str message;

    CHECK(pthread_create(&s.thread, NULL, websocket_play, &s) == 0);
    CHECK_OK(ws_client_open(a, &p, "/ws", 5000, &c));
    CHECK_OK(ws_client_send(c, a, STR("hello"), 5000));
    CHECK_OK(ws_client_next(c, a, 5000, &message));
    CHECK_STR(message, "first");
    CHECK_OK(ws_client_next(c, a, 5000, &message));
    CHECK_STR(message, "second");
    err e = ws_client_next(c, a, 5000, &message);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK_STR(e->message, "the server closed the connection: 1001 bye");
    ws_client_free(c);
    script_end(&s);
    CHECK(strstr(s.requests[0], "\r\nAuthorization: Bearer op_secret\r\n"));
    CHECK_STR(str_from(s.requests[1]), "1:hello:0 a:x:0 8::1001 ");
}

TEST(ws_client_tells_why_it_was_refused)
{
    static const struct step forbidden[] = {
        { "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", true }, { 0 }
    };
    static const struct step wrong_key[] = {
        { "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n", true }, { 0 }
    };
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct ws_client *c;
    struct script s;

    script_start(&s, forbidden);
    err e = ws_client_open(a, &p, "/ws", 5000, &c);
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_STR(e->message, "the server refuses to stream: expected status 101, found 403");
    script_end(&s);
    script_start(&s, wrong_key);
    CHECK_ERR(ws_client_open(a, &p, "/ws", 5000, &c), ERR_INVALID);
    script_end(&s);
}

TEST(ws_client_notices_that_nothing_comes)
{
    struct endpoint p = endpoint_here();
    struct arena *a = check_arena();
    struct ws_client *c;
    int listener = listener_make();

    err e = ws_client_open(a, &p, "/ws", 50, &c);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK_STR(e->message, "the server is silent");
    close(listener);
}
