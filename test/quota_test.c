/* quota_test.c: what one token may take, what those may who have shown none, and that the operator
 * always gets in. */
#include <unistd.h>

#include "http_fixture.h"
#include "net_help.h"

#define CHECK_SAID(site, pattern)                                           \
    do {                                                                    \
        http_fixture_listen(site);                                          \
        check_fits(__FILE__, __LINE__, buf_str(&(site)->heard), (pattern)); \
        (site)->heard.len = 0;                                              \
    } while (0)

static bool is_closed(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* ---- connections ---- */

static struct server_limits few(void)
{
    struct server_limits l = server_limits_default();

    l.connections_max = 6;
    l.connections_kept = 2;
    l.connections_unknown = 3;
    return l;
}

TEST(newcomer_takes_the_place_of_the_oldest_who_has_shown_no_token)
{
    struct server_limits limits = few();
    struct http_fixture *s = http_fixture_open(&limits);
    int fds[5];

    for (int i = 0; i < 5; i++) {
        http_fixture_connect(s);
        fds[i] = s->fd;
    }
    CHECK_INT(s->server->open_count, 3);
    CHECK(is_closed(fds[0]) && is_closed(fds[1]) && !is_closed(fds[2]) && !is_closed(fds[4]));
    http_fixture_ask(s, "GET /health HTTP/1.1|" H "|");
    CHECK_SAID(s, "HTTP/1.1 200 *");
    for (int i = 0; i < 5; i++)
        close(fds[i]);
    http_fixture_close(s);
}

TEST(operator_gets_in_however_many_others_there_are)
{
    struct server_limits limits = few();
    struct http_fixture *s = http_fixture_open(&limits);
    int fds[16], count = 0;

    for (int i = 0; i < 4; i++) { /* as many as there are for others */
        http_fixture_connect(s);
        fds[count++] = s->fd;
        http_fixture_ask(s, GET_AS("viewer", "/things/a"));
        CHECK_SAID(s, "HTTP/1.1 200 *");
    }
    http_fixture_connect(s);
    fds[count++] = s->fd;
    http_fixture_ask(s, GET_AS("viewer", "/things/a"));
    CHECK_SAID(s, "HTTP/1.1 503 *Retry-After: 1|*");
    for (int i = 0; i < 8; i++) { /* and whoever says nothing */
        http_fixture_connect(s);
        fds[count++] = s->fd;
    }
    http_fixture_connect(s);
    fds[count++] = s->fd;
    http_fixture_ask(s, GET("/things/a"));
    CHECK_SAID(s, "HTTP/1.1 200 *");
    http_fixture_connect_local(s);
    fds[count++] = s->fd;
    http_fixture_ask(s, GET("/things/a"));
    CHECK_SAID(s, "HTTP/1.1 200 *");
    CHECK(s->server->open_count <= limits.connections_max);
    while (count)
        close(fds[--count]);
    http_fixture_turn(s);
    CHECK_INT(s->server->open_count, 0);
    CHECK_INT(s->server->known_count, 0);
    CHECK_INT(s->server->unknown_count, 0);
    http_fixture_close(s);
}

TEST(connection_that_is_one_too_many_is_told_so)
{
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int fds[2];

    limits.connections_max = 2;
    limits.connections_kept = 0;
    s = http_fixture_open(&limits);
    s->holds = true; /* what they show is being looked up: nobody can say who they are */
    for (int i = 0; i < 2; i++) {
        http_fixture_connect(s);
        fds[i] = s->fd;
        http_fixture_ask(s, GET("/things/a"));
    }
    http_fixture_connect(s);
    CHECK_SAID(s, "HTTP/1.1 503 Service Unavailable|*Retry-After: 1|Connection: close|*<closed>");
    http_fixture_hang_up(s);
    s->holds = false;
    http_fixture_answer_admissions(s);
    http_fixture_turn(s);
    for (int i = 0; i < 2; i++)
        close(fds[i]);
    http_fixture_close(s);
}

TEST(token_has_a_share_of_the_connections)
{
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int fds[4];

    limits.token_connections = 2;
    s = http_fixture_open(&limits);
    for (int i = 0; i < 4; i++) {
        http_fixture_connect(s);
        fds[i] = s->fd;
        http_fixture_ask(s, i < 3 ? GET_AS("viewer", "/things/a") : GET_AS("session", "/things/a"));
        if (i == 2)
            CHECK_SAID(s, "HTTP/1.1 429 *at most 2 connections of one token (token_connections)*");
        else
            CHECK_SAID(s, "HTTP/1.1 200 *");
    }
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    http_fixture_close(s);
}

TEST(token_has_a_share_of_the_waits)
{
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int fds[3];

    limits.token_waits = 1;
    s = http_fixture_open(&limits);
    for (int i = 0; i < 3; i++) {
        http_fixture_connect(s);
        fds[i] = s->fd;
        http_fixture_ask(s, i < 2 ? GET_AS("viewer", "/things/a/wait?timeout=1000")
                                  : GET_AS("session", "/things/a/wait?timeout=1000"));
        if (i == 1)
            CHECK_SAID(s, "HTTP/1.1 429 *(token_waits)*");
        else
            CHECK_SAID(s, "");
    }
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    http_fixture_turn(s);
    http_fixture_connect(s); /* those are gone, and it may again */
    http_fixture_ask(s, GET_AS("viewer", "/things/a/wait?timeout=1000"));
    CHECK_SAID(s, "");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(token_has_a_share_of_what_is_worked_on)
{
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int fds[4];

    limits.token_requests = 2;
    s = http_fixture_open(&limits);
    http_fixture_connect(s); /* so that the token is known, and its requests come at once */
    http_fixture_ask(s, GET_AS("viewer", "/things/a"));
    s->holds = true;
    http_fixture_hang_up(s);
    for (int i = 0; i < 4; i++) {
        http_fixture_connect(s);
        fds[i] = s->fd;
        http_fixture_ask(s, i < 3 ? GET_AS("viewer", "/things?limit=5") : GET("/things?limit=5"));
        http_fixture_answer_admissions(s);
        http_fixture_turn(s);
        CHECK_SAID(s, i == 2 ? "HTTP/1.1 429 *(token_requests)*" : "");
    }
    s->holds = false;
    http_fixture_perform(s);
    http_fixture_turn(s);
    CHECK_SAID(s, "HTTP/1.1 200 *");
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    http_fixture_close(s);
}

/* ---- bytes of requests ---- */

static str put(const char *token, int numbers)
{
    struct buf out = buf_in(check_arena()), body = buf_in(check_arena());

    buf_add(&body, STR("{\"data\":[0"));
    for (int i = 1; i < numbers; i++)
        buf_add(&body, STR(",0"));
    buf_add(&body, STR("]}"));
    buf_printf(&out,
               "PUT /things/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
               "Content-Length: %zu\r\n\r\n",
               token, body.len);
    buf_add(&out, buf_str(&body));
    return buf_str(&out);
}

static void say_all(struct http_fixture *s, str bytes)
{
    while (bytes.len) {
        str piece = str_slice(bytes, 0, 16 << 10);
        http_fixture_say(s, piece);
        bytes = str_slice(bytes, piece.len, bytes.len);
    }
}

TEST(values_of_a_body_count_and_not_only_its_bytes)
{
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int waits;

    limits.buffered_max = 12 << 20;
    limits.http.body_max = 1 << 20;
    s = http_fixture_open(&limits);
    s->holds = true;
    http_fixture_connect(s);
    waits = s->fd;
    say_all(s, put("op", 120000)); /* 240 KB, which are 1,920 KB of values */
    http_fixture_answer_admissions(s);
    http_fixture_turn(s);
    CHECK(s->server->buffered > 1920000);
    CHECK(s->waiting);

    http_fixture_connect(s);
    say_all(s, put("op", 400000));
    http_fixture_turn(s);
    CHECK_SAID(s, "HTTP/1.1 503 *Retry-After: 1|*buffered_bytes*");
    http_fixture_hang_up(s);
    s->holds = false;
    http_fixture_perform(s);
    http_fixture_turn(s);
    CHECK_INT(s->server->buffered, 0);

    http_fixture_connect(
        s); /* now there is room, but not for values that are too many in any case */
    say_all(s, put("op", 400000));
    http_fixture_turn(s);
    CHECK_SAID(s, "HTTP/1.1 413 *bytes of memory*");
    http_fixture_hang_up(s);
    close(waits);
    http_fixture_close(s);
}

TEST(body_that_is_announced_has_its_room_before_it_comes)
{
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int first;

    limits.buffered_max = 4 << 20;
    limits.token_bytes = 1 << 20;
    s = http_fixture_open(&limits);
    http_fixture_connect(s);
    first = s->fd;
    http_fixture_ask(s, "PUT /things/a HTTP/1.1|" H
                        "Authorization: Bearer viewer|Content-Length: 700000||");
    CHECK_SAID(s, "");
    CHECK(s->server->buffered > 700000);
    http_fixture_connect(s);
    http_fixture_ask(s, "PUT /things/a HTTP/1.1|" H
                        "Authorization: Bearer viewer|Content-Length: 700000||");
    CHECK_SAID(s, "HTTP/1.1 503 *token_bytes*");
    http_fixture_hang_up(s);
    http_fixture_connect(s); /* another token has its own */
    http_fixture_ask(s, "PUT /things/a HTTP/1.1|" H
                        "Authorization: Bearer session|Content-Length: 700000||");
    CHECK_SAID(s, "");
    http_fixture_hang_up(s);
    close(first);
    http_fixture_close(s);
}

/* Whoever they are, and whatever a token may have: what one has is never more than what is left. */
TEST(tokens_that_take_all_they_can_leave_room_for_another)
{
    enum { BODIES = 40 };
    static const char *const takers[] = { "viewer", "op", "session" };
    struct server_limits limits = server_limits_default();
    int fds[3 * BODIES], count = 0, had[3] = { 0 };
    struct http_fixture *s;

    limits.buffered_max = limits.token_bytes = 12 << 20;
    s = http_fixture_open(&limits);
    for (int t = 0; t < 3; t++) {
        for (bool room = true; room && had[t] < BODIES;) {
            http_fixture_connect(s);
            fds[count++] = s->fd;
            http_fixture_ask(s, arena_printf(check_arena(),
                                             "PUT /things/a HTTP/1.1|" H
                                             "Authorization: Bearer %s|Content-Length: 500000||",
                                             takers[t])
                                    .at);
            http_fixture_listen(s);
            room = s->heard.len == 0;
            had[t] += room;
            s->heard.len = 0;
        }
    }
    /* Half of what is not kept for the operator, half of the rest with it, and half of that. */
    CHECK(had[0] >= 10 && had[0] <= 11);
    CHECK(had[1] >= 6 && had[1] <= 7);
    CHECK(had[2] >= 2 && had[2] <= 3);
    while (count)
        close(fds[--count]);
    http_fixture_turn(s);
    CHECK_INT(s->server->buffered, 0);
    http_fixture_close(s);
}

/* ---- answers that nobody takes ---- */

/* By the Unix socket, for which the system keeps little. */
static void slow_ask(struct http_fixture *s, const char *token)
{
    http_fixture_connect_local(s);
    say_all(s, put(token, 1000000)); /* is answered with as much */
    http_fixture_turn(s);
}

TEST(slowest_reader_is_dropped_when_answers_that_wait_are_too_many)
{
    enum { PEERS = 12 };
    struct server_limits limits = server_limits_default();
    struct http_fixture *s;
    int fds[PEERS];

    limits.held_max = 4 << 20;
    limits.buffered_max = 64 << 20;
    s = http_fixture_open(&limits);
    for (int i = 0; i < PEERS; i++) {
        slow_ask(s, "viewer");
        fds[i] = s->fd;
        CHECK(s->server->held <= limits.held_max);
    }
    CHECK(s->server->dropped > 0);
    CHECK(s->server->held > 0);
    for (int i = 0; i < PEERS; i++)
        close(fds[i]);
    http_fixture_turn(s);
    CHECK_INT(s->server->held, 0);
    http_fixture_close(s);
}
