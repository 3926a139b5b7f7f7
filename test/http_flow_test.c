/* http_flow_test.c: connections over time: who is remembered, what waits, what is too much. */
#include <sys/socket.h>
#include <unistd.h>

#include "http_fixture.h"
#include "json_help.h"

/* ---- who is there ---- */

TEST(a_unix_socket_is_no_host_that_a_page_could_point_at)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect_local(s);
    http_fixture_ask(s, "GET /health HTTP/1.1|Host: whatever||");
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_ask(s, "GET /things HTTP/1.1|Host: whatever||");
    CHECK_HEARD(s, "HTTP/1.1 401 *");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(a_connection_remembers_whom_it_let_in_until_the_token_is_revoked)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET_AS("viewer", "/things"));
    http_fixture_ask(s, GET_AS("viewer", "/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *HTTP/1.1 200 *");
    CHECK_INT(s->lookups, 1);
    http_fixture_ask(s, GET_AS("bad", "/things"));
    CHECK_HEARD(s, "HTTP/1.1 401 *");
    http_fixture_ask(s, "GET /things HTTP/1.1|" H "|");
    CHECK_HEARD(s, "HTTP/1.1 401 *");
    http_fixture_ask(s, GET_AS("viewer", "/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    CHECK_INT(s->lookups, 2);

    grants_revoke(s->server, STR("viewer"));
    http_fixture_ask(s, GET_AS("viewer", "/things"));
    CHECK_INT(s->lookups, 3);
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* Those who show it while it is looked up leave the one alone who does that: see arena_give. */
TEST(a_token_that_many_show_at_once_is_looked_up_once_for_all_of_them)
{
    enum { PEERS = 20 };
    struct http_fixture *s = http_fixture_open(NULL);
    int fds[PEERS];

    s->holds = true;
    for (int i = 0; i < PEERS; i++) {
        http_fixture_connect(s);
        http_fixture_ask(s, GET_AS("bad", "/things") GET_AS("bad", "/things"));
        fds[i] = s->fd;
    }
    CHECK_INT(s->lookups, 1);
    http_fixture_answer_admissions(s);
    http_fixture_turn(s);
    CHECK_INT(s->lookups, 2); /* all of them go on with their second request */
    http_fixture_answer_admissions(s);
    http_fixture_turn(s);
    for (int i = 0; i < PEERS; i++) {
        s->fd = fds[i];
        http_fixture_listen(s);
        CHECK_HEARD(s, "HTTP/1.1 401 *HTTP/1.1 401 *");
        http_fixture_hang_up(s);
    }
    http_fixture_close(s);
}

TEST(a_token_that_expires_is_refused_on_the_connection_that_showed_it)
{
    struct http_fixture *s = http_fixture_open(NULL);

    s->now_ms = 4999;
    http_fixture_connect(s);
    http_fixture_ask(s, GET_AS("brief", "/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    s->now_ms = 5000;
    http_fixture_ask(s, GET_AS("brief", "/things"));
    CHECK_HEARD(s, "HTTP/1.1 401 *");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(the_last_connections_are_for_the_operator)
{
    struct server_limits limits = server_limits_default();
    limits.connections_max = 3;
    limits.connections_kept = 2;
    struct http_fixture *s = http_fixture_open(&limits);

    http_fixture_connect(s);
    int first = s->fd;
    http_fixture_ask(s, GET_AS("viewer", "/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_connect(s);
    http_fixture_ask(s, "GET /health HTTP/1.1|" H "|");
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_ask(s, GET("/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_ask(s, GET_AS("viewer", "/things"));
    CHECK_HEARD(s,
                "HTTP/1.1 503 *|Connection: close|Retry-After: 1|*too many connections*<closed>");
    http_fixture_hang_up(s);
    s->fd = first;
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* ---- from memory ---- */

TEST(a_document_that_was_read_is_answered_from_memory)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things/x"));
    CHECK_HEARD(s, "HTTP/1.1 200 OK|" DATE "ETag: '7'|" JSON_TYPE "*{'asked':{'thing_id':'x'}}");
    CHECK_INT(s->performed, 1);
    http_fixture_ask(s, GET("/things/x"));
    CHECK_HEARD(s, "HTTP/1.1 200 OK|" DATE "ETag: '7'|" JSON_TYPE
                   "Content-Length: 17||{'from':'memory'}");
    http_fixture_ask(s, "HEAD /things/x HTTP/1.1|" A "|");
    CHECK_HEARD(s, "HTTP/1.1 200 OK|" DATE "ETag: '7'|" JSON_TYPE "Content-Length: 17||");
    http_fixture_ask(s, "GET /things/x HTTP/1.1|" A "If-None-Match: \"7\"||");
    CHECK_HEARD(s, "HTTP/1.1 304 Not Modified|" DATE "ETag: '7'||");
    CHECK_INT(s->performed, 1);
    http_fixture_ask(s, GET("/things/x?part=y"));
    CHECK_INT(s->performed, 2);
    http_fixture_ask(s, GET("/things/none"));
    http_fixture_ask(s, GET("/things/none"));
    CHECK_INT(s->performed, 4);
    s->heard.len = 0;
    http_fixture_ask(s, GET("/metrics"));
    CHECK_HEARD(s, "*|baton_http_cache_hits_total 3|*");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* ---- one after the other ---- */

static void let_go(struct http_fixture *s)
{
    http_fixture_perform(s);
    http_fixture_turn(s);
}

TEST(requests_behind_one_in_flight_wait_for_its_answer)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things?limit=1"));
    s->heard.len = 0;
    s->holds = true;
    http_fixture_ask(s, GET("/things?limit=2") GET("/health"));
    http_fixture_ask(s, GET("/things?limit=3"));
    CHECK_HEARD(s, "");
    CHECK(s->waiting && !s->waiting->follows);
    let_go(s);
    http_fixture_listen(s);
    CHECK_HEARD(s, "HTTP/1.1 200 *{'limit':2}}HTTP/1.1 200 *'status':'ok'*}");
    let_go(s);
    http_fixture_listen(s);
    CHECK_HEARD(s, "HTTP/1.1 200 *{'limit':3}}");
    s->holds = false;
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

static void send_what_fits(struct http_fixture *s, str bytes, size_t *sent)
{
    ssize_t n = send(s->fd, bytes.at + *sent, bytes.len - *sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    *sent += n > 0 ? (size_t)n : 0;
    http_fixture_turn(s);
    http_fixture_listen(s);
}

/* So many requests, one behind the other. */
static str flood_of(int count)
{
    struct buf flood = buf_in(check_arena());

    for (int i = 0; i < count; i++)
        buf_add(&flood, text_wire("GET /health HTTP/1.1|" H "|"));
    return buf_str(&flood);
}

/* The system's buffers hold the rest. */
TEST(a_flood_behind_a_request_in_flight_is_not_read)
{
    enum { MANY = 20000 };
    struct http_fixture *s = http_fixture_open(NULL);
    str flood = flood_of(MANY);
    size_t sent = 0;

    http_fixture_connect_local(s);
    http_fixture_ask(s, GET("/things"));
    size_t first = s->heard.len;
    http_fixture_ask(s, GET("/health"));
    size_t each = s->heard.len - first;
    s->holds = true;
    http_fixture_ask(s, GET("/things"));
    s->heard.len = 0;
    for (int i = 0; i < 100; i++)
        send_what_fits(s, flood, &sent);
    CHECK(sent < flood.len);
    CHECK_INT(s->heard.len, 0);
    CHECK(s->server->buffered < 200 << 10);

    s->holds = false;
    let_go(s);
    while (s->heard.len < first + MANY * each)
        send_what_fits(s, flood, &sent);
    CHECK_INT(sent, flood.len);
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(a_peer_that_takes_no_answers_is_not_read_either)
{
    enum { MANY = 60000 };
    struct http_fixture *s = http_fixture_open(NULL);
    str flood = flood_of(MANY);
    size_t sent = 0;

    http_fixture_connect_local(s);
    http_fixture_ask(s, GET("/health"));
    size_t each = s->heard.len;
    struct conn *c = LIST_ENTRY(s->server->conns.next, struct conn, all);
    for (int i = 0; i < 200; i++) {
        ssize_t n = send(s->fd, flood.at + sent, flood.len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        http_fixture_turn(s);
        CHECK(c->out_bytes < 3 << 20);
        CHECK(s->server->buffered < 200 << 10);
    }
    CHECK(sent < flood.len);
    while (s->heard.len < (MANY + 1) * each)
        send_what_fits(s, flood, &sent);
    CHECK_INT(sent, flood.len);
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* The peer's end alone does not close a connection with a request in flight; a reset does, or we. */
static void break_off(struct http_fixture *s)
{
    conn_abort(LIST_ENTRY(s->server->conns.next, struct conn, all));
    http_fixture_hang_up(s);
    CHECK_INT(s->server->conn_count, 0);
}

TEST(a_connection_that_breaks_leaves_its_command_to_finish)
{
    struct http_fixture *s = http_fixture_open(NULL);

    s->holds = true;
    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things"));
    break_off(s);
    http_fixture_answer_admissions(s);
    http_fixture_turn(s);
    CHECK(!s->waiting);

    http_fixture_connect(s);
    http_fixture_ask(s, "PUT /things/x HTTP/1.1|" A "Content-Length: 2||{}GET /things");
    break_off(s);
    CHECK_INT(s->performed, 0);
    let_go(s);
    CHECK_INT(s->performed, 1);
    s->holds = false;

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things/x/wait?timeout=20000"));
    break_off(s);
    CHECK_INT(s->performed, 2);
    http_fixture_close(s);
}

TEST(a_client_that_only_ends_its_side_is_answered)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    str both = text_wire(GET("/things") GET("/health"));
    CHECK_INT(send(s->fd, both.at, both.len, MSG_NOSIGNAL), both.len);
    shutdown(s->fd, SHUT_WR);
    http_fixture_turn(s);
    http_fixture_listen(s);
    CHECK_HEARD(s, "HTTP/1.1 200 *HTTP/1.1 200 *<closed>");
    http_fixture_hang_up(s);

    http_fixture_connect(s);
    http_fixture_ask(s, "GET /things HTTP/1.1|Ho");
    shutdown(s->fd, SHUT_WR);
    http_fixture_turn(s);
    http_fixture_listen(s);
    CHECK_HEARD(s, "<closed>");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* ---- waiting ---- */

static void pass_ms(struct http_fixture *s, int ms)
{
    s->now_ms += ms;
    timer_set(s->timer, ms);
    loop_run(s->loop);
    http_fixture_turn(s);
    http_fixture_listen(s);
}

TEST(a_command_that_waits_is_answered_when_its_time_is_up)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things/x/wait?timeout=20") GET("/health"));
    CHECK_HEARD(s, "");
    for (int i = 0; i < 100 && s->heard.len == 0; i++)
        pass_ms(s, 20);
    CHECK_HEARD(s, "HTTP/1.1 200 *'timeout':20}}HTTP/1.1 200 *");
    http_fixture_hang_up(s);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things/x/wait?timeout=20000"));
    int performed = s->performed;
    http_fixture_hang_up(s);
    http_fixture_turn(s);
    CHECK_INT(s->server->conn_count, 0);
    CHECK_INT(s->performed, performed);

    http_fixture_connect(s);
    http_fixture_ask(s, GET_AS("viewer", "/things/x/wait?timeout=20000"));
    grants_revoke(s->server, STR("viewer"));
    http_fixture_ask(s, "");
    CHECK_HEARD(s, "HTTP/1.1 401 *not valid any more*");
    fixture_grants[FIXTURE_VIEWER].revoked = false;
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* Then it is with another thread, and does not wait yet. */
TEST(a_token_that_is_revoked_while_its_command_is_performed_ends_its_wait)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET_AS("viewer", "/things/a")); /* whose grant is known from now on */
    s->heard.len = 0;
    s->holds = true;
    http_fixture_ask(s, GET_AS("viewer", "/things/x/wait?timeout=20000"));
    CHECK(s->waiting);
    grants_revoke(s->server, STR("viewer"));
    http_fixture_ask(s, "");
    CHECK_HEARD(s, "");
    http_fixture_perform(s);
    http_fixture_ask(s, "");
    CHECK_HEARD(s, "HTTP/1.1 401 *not valid any more*");
    fixture_grants[FIXTURE_VIEWER].revoked = false;
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* ---- stopping ---- */

TEST(a_server_that_stops_answers_what_is_in_flight_and_closes_the_rest)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    int idle = s->fd;
    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things/x/wait?timeout=20000"));
    int waiting = s->fd;
    http_fixture_connect(s);
    s->holds = true;
    http_fixture_ask(s, GET("/things"));
    s->holds = false;
    listener_close(s->unix_socket);
    listener_close(s->tcp);
    server_stop(s->server, 10000, http_fixture_stopped);
    let_go(s);
    http_fixture_listen(s);
    CHECK_HEARD(s, "HTTP/1.1 200 OK|" CLOSE "*<closed>");
    http_fixture_hang_up(s);
    s->fd = idle;
    http_fixture_listen(s);
    CHECK_HEARD(s, "<closed>");
    http_fixture_hang_up(s);
    s->fd = waiting;
    http_fixture_listen(s);
    CHECK_HEARD(s, "HTTP/1.1 503 *" CLOSE "*the server stops*<closed>");
    http_fixture_hang_up(s);
    for (int i = 0; i < 100 && !s->stopped; i++)
        pass_ms(s, 1);
    CHECK(s->stopped);
    server_free(s->server);
    timer_free(s->timer);
    wakeup_free(s->stop);
    loop_free(s->loop);
    op_table_free(s->table);
}

/* ---- limits ---- */

TEST(a_slow_request_is_told_so_and_a_silent_connection_closes)
{
    static const struct {
        const char *asked, *answered;
    } slow[] = {
        { "", "<closed>" },
        { "GET /things HTTP/1.1|Host",
          "HTTP/1.1 408 Request Timeout|" CLOSE "*the head *<closed>" },
        { "PUT /things/x HTTP/1.1|" A "Content-Length: 2||{",
          "HTTP/1.1 408 *" CLOSE "*the body *<closed>" },
        { GET("/health"), "HTTP/1.1 200 *}<closed>" },
        { GET("/health") "GET", "HTTP/1.1 200 *}HTTP/1.1 408 *<closed>" },
    };
    struct server_limits limits = server_limits_default();
    limits.header_ms = limits.body_ms = limits.idle_ms = 30;
    struct http_fixture *s = http_fixture_open(&limits);

    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        http_fixture_connect(s);
        http_fixture_ask(s, slow[i].asked);
        for (int n = 0; n < 400 && !str_ends(buf_str(&s->heard), STR("<closed>")); n++)
            pass_ms(s, 5);
        CHECK_HEARD(s, slow[i].answered);
        http_fixture_hang_up(s);
    }
    http_fixture_close(s);
}

TEST(time_does_not_count_while_a_command_is_performed)
{
    struct server_limits limits = server_limits_default();
    limits.header_ms = limits.body_ms = limits.idle_ms = 10;
    struct http_fixture *s = http_fixture_open(&limits);

    http_fixture_connect(s);
    s->holds = true;
    http_fixture_ask(s, "GET /things HTTP/1.1|" A "|");
    http_fixture_answer_admissions(s);
    http_fixture_turn(s);
    for (int i = 0; i < 10; i++)
        pass_ms(s, 10);
    CHECK_HEARD(s, "");
    s->holds = false;
    let_go(s);
    http_fixture_listen(s);
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(beyond_the_bytes_that_are_held_in_all_requests_are_refused)
{
    struct server_limits limits = server_limits_default();
    limits.buffered_max = 20000; /* an arena's first block fits, and no second */
    struct http_fixture *s = http_fixture_open(&limits);
    struct buf chunk = buf_in(check_arena());

    http_fixture_connect(s);
    http_fixture_ask(s, "PUT /things/x HTTP/1.1|" A "Content-Length: 20001||");
    CHECK_HEARD(s, "HTTP/1.1 503 *|Connection: close|Retry-After: 1|*<closed>");
    http_fixture_hang_up(s);

    buf_printf(&chunk, "PUT /things/x HTTP/1.1|" A "Transfer-Encoding: chunked||8000|%030000d", 0);
    http_fixture_connect(s);
    http_fixture_ask(s, buf_str(&chunk).at);
    CHECK_HEARD(s, "HTTP/1.1 503 *|Connection: close|Retry-After: 1|*<closed>");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(when_no_more_can_be_done_that_is_said)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    s->full = true;
    http_fixture_ask(s, GET("/things"));
    CHECK_HEARD(s, "HTTP/1.1 503 *|Retry-After: 1|*try again in a moment*");
    s->full = false;
    http_fixture_ask(s, GET("/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    s->unready = "the store is being repaired";
    http_fixture_ask(s, GET("/ready"));
    CHECK_HEARD(s, "HTTP/1.1 503 *|Retry-After: 1|*the store is being repaired*");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* 64 levels of a document, and four around it. */
TEST(an_envelope_may_be_deeper_than_its_document)
{
    struct http_fixture *s = http_fixture_open(NULL);

    for (int depth = 67; depth <= 68; depth++) {
        struct buf body = buf_in(check_arena()), all = buf_in(check_arena());
        buf_add(&body, STR("{\"data\":"));
        for (int i = 0; i < depth; i++)
            buf_byte(&body, '[');
        for (int i = 0; i < depth; i++)
            buf_byte(&body, ']');
        buf_byte(&body, '}');
        buf_printf(&all, "PUT /things/x HTTP/1.1|" A "Content-Length: %zu||%s", body.len,
                   buf_str(&body).at);
        http_fixture_connect(s);
        http_fixture_ask(s, buf_str(&all).at);
        CHECK_HEARD(s, depth == 67 ? "HTTP/1.1 200 *" : "HTTP/1.1 400 *");
        http_fixture_hang_up(s);
    }
    http_fixture_close(s);
}

/* ---- other protocols ---- */

TEST(what_comes_behind_an_upgrade_belongs_to_the_new_protocol)
{
    struct http_fixture *s = http_fixture_open(NULL);
    struct buf bytes = buf_in(check_arena());

    buf_add(&bytes, text_wire("GET /ws HTTP/1.1|" A "Connection: Upgrade|Upgrade: websocket|"
                              "Sec-WebSocket-Version: 13|"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==||"));
    buf_add(&bytes, STR("\x89\x82\x00\x00\x00\x00hi"));
    for (size_t at = 1; at <= bytes.len; at++) {
        http_fixture_connect(s);
        http_fixture_say(s, str_slice(buf_str(&bytes), 0, at));
        http_fixture_say(s, str_slice(buf_str(&bytes), at, bytes.len));
        CHECK_HEARD(s, "HTTP/1.1 101 Switching Protocols|*"
                       "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=|*|\x8a\x02hi");
        http_fixture_hang_up(s);
    }
    http_fixture_close(s);
}

/* ---- whatever comes ---- */

/* A request that is mostly right: one of a few, with some bytes changed or missing. */
static str random_request(struct random *r)
{
    static const char *const requests[] = {
        GET("/things/x"),
        GET("/things?limit=2&tag=1&tag=2"),
        GET("/things/x/wait?timeout=5"),
        "PUT /things/x HTTP/1.1|" A "If-Match: \"7\"|Content-Length: 12||{\"data\":[1]}",
        "PATCH /things/x HTTP/1.1|" A "Content-Type: application/json-patch+json|"
        "Transfer-Encoding: chunked||2|[]|0||",
        "POST /things HTTP/1.1|" A "Expect: 100-continue|Content-Length: 12||{\"name\":\"a\"}",
        "GET /health HTTP/1.1|" H "Origin: null||",
        "GET /ws HTTP/1.1|" A "Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Version: 13|"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==||",
    };
    str bytes = text_wire(requests[random_below(r, sizeof requests / sizeof *requests)]);
    char *at = (char *)bytes.at;

    while (random_below(r, 3) == 0)
        at[random_below(r, (uint32_t)bytes.len)] = (char)random_below(r, 256);
    if (random_below(r, 8) == 0)
        bytes.len = random_below(r, (uint32_t)bytes.len) + 1;
    return bytes;
}

/* One connection: requests in pieces, and an end that may come at any time. */
static void random_visit(struct http_fixture *s, struct random *r)
{
    http_fixture_connect(s);
    for (uint32_t i = random_below(r, 5); i > 0; i--) {
        str rest = random_request(r);
        while (rest.len > 0 && !str_ends(buf_str(&s->heard), STR("<closed>"))) {
            size_t n = random_below(r, 4) ? rest.len : random_below(r, (uint32_t)rest.len) + 1;
            s->holds = random_below(r, 4) == 0;
            send(s->fd, rest.at, n, MSG_NOSIGNAL);
            rest = str_slice(rest, n, rest.len);
            http_fixture_turn(s);
            http_fixture_listen(s);
        }
    }
    if (random_below(r, 3) == 0 && s->server->conn_count > 0)
        conn_abort(LIST_ENTRY(s->server->conns.next, struct conn, all));
    close(s->fd);
    s->holds = false;
    http_fixture_answer_admissions(s);
    let_go(s);
    s->now_ms += 5;
}

TEST(random_requests_leave_nothing_behind)
{
    struct random r = random_start();
    struct http_fixture *s = http_fixture_open(NULL);

    for (int i = 0; i < 3000; i++)
        random_visit(s, &r);
    http_fixture_connect(s);
    http_fixture_ask(s, GET("/health"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}
