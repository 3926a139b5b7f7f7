/* ws_test.c: WebSocket as a client sees it: the handshake, tokens, silence, closing. */
#include "ws_client.h"

/* ---- the handshake ---- */

TEST(ws_answers_each_handshake_with_its_status)
{
    static const struct {
        const char *request, *status, *field; /* a field that the head has */
    } cases[] = {
        { HANDSHAKE TOKEN, "101", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" },
        { HANDSHAKE, "101", "Upgrade: websocket" },
        { HANDSHAKE TOKEN "Sec-WebSocket-Protocol: other, baton.v1\r\n", "101",
          "Sec-WebSocket-Protocol: baton.v1" },
        { HANDSHAKE "Authorization: Bearer nobody\r\n", "401", "" },
        { START TOKEN VERSION KEY, "426", "Sec-WebSocket-Version: 13" },
        { START TOKEN UPGRADE KEY, "426", "Sec-WebSocket-Version: 13" },
        { START TOKEN UPGRADE KEY "Sec-WebSocket-Version: 8\r\n", "426", "Upgrade: websocket" },
        { START TOKEN VERSION KEY "Upgrade: h2c\r\nConnection: Upgrade\r\n", "426", "" },
        { START TOKEN UPGRADE VERSION, "400", "" },
        { START TOKEN UPGRADE VERSION "Sec-WebSocket-Key: short\r\n", "400", "" },
        { START TOKEN UPGRADE VERSION KEY KEY, "400", "" },
        { "GET /ws HTTP/1.0\r\nHost: localhost\r\n" TOKEN UPGRADE VERSION KEY, "426", "" },
        { "POST /ws HTTP/1.1\r\nHost: localhost\r\n" TOKEN UPGRADE VERSION KEY, "405", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_server *w = log_open(NULL);
        struct client c;
        client_open(&c, w, cases[i].request);
        client_listen(&c);
        str status = str_slice(c.head, strlen("HTTP/1.1 "), strlen("HTTP/1.1 101"));
        if (!str_eq(status, str_from(cases[i].status)) || !strstr(c.head.at, cases[i].field))
            check_fail(__FILE__, __LINE__, "case %zu: expected %s with \"%s\", found:\n" STR_FMT, i,
                       cases[i].status, cases[i].field, STR_ARG(c.head));
        client_close(&c);
        log_close(w);
    }
}

/* ---- tokens ---- */

TEST(ws_takes_a_token_among_the_subprotocols_and_never_says_it_back)
{
    struct log_server *w = log_open(NULL);
    struct client c;

    client_open(&c, w, HANDSHAKE "Sec-WebSocket-Protocol: baton.v1, bearer.op_1\r\n");
    client_say(&c, "{'action':'ping'}"); /* before the token is looked up */
    CHECK_HEARD(&c, "{'type':'pong'}");
    CHECK(strstr(c.head.at, "Sec-WebSocket-Protocol: baton.v1\r\n") && !strstr(c.head.at, "op_1"));
    client_close(&c);
    log_close(w);
}

TEST(ws_takes_a_token_in_the_first_message)
{
    struct log_server *w = log_open(NULL);
    struct client c;

    client_open(&c, w, HANDSHAKE);
    client_listen(&c);
    client_say(&c, "{'action':'auth','token':'op_1'}");
    client_say(&c, "{'action':'ping','id':7}");
    CHECK_HEARD(&c, "{'type':'authenticated'}\n{'type':'pong','id':7}");
    client_say(&c, "{'action':'auth','token':'op_1'}");
    CHECK_HEARD(&c, "{'type':'error','status':409,'title':'Conflict',"
                    "'detail':'this connection is authenticated already'}");
    client_close(&c);
    log_close(w);
}

static bool everybody_is_inside(int64_t pid)
{
    return pid == getpid();
}

TEST(ws_closes_on_the_operator_inside_of_a_run_and_not_on_the_run)
{
    struct log_server *w = log_open(NULL);
    struct client c;

    w->server->options.inside = everybody_is_inside;
    client_open(&c, w, HANDSHAKE);
    client_say(&c, "{'action':'auth','token':'op_1'}");
    client_listen(&c);
    CHECK(str_starts(buf_str(&c.heard), STR("close 1008 'this process belongs to a run")));
    client_close(&c);

    client_open(&c, w, HANDSHAKE);
    client_listen(&c);
    client_say(&c, "{'action':'auth','token':'ss_1'}");
    CHECK_HEARD(&c, "{'type':'authenticated'}");
    client_close(&c);
    log_close(w);
}

TEST(ws_closes_on_those_without_a_good_token)
{
    static const struct {
        const char *protocol, *message, *reason;
    } cases[] = {
        { "", "{'action':'subscribe'}", "expected {'action':'auth','token':'…'} first" },
        { "", "{'action':'auth','token':'nobody'}", "this token is not known" },
        { "", "{'action':'auth'}", "expected a token, as a string" },
        { "", "[]", "expected an object whose action is subscribe, unsubscribe, ping or auth" },
        { "Sec-WebSocket-Protocol: bearer.nobody\r\n", "{'action':'ping'}",
          "this token is not known" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_server *w = log_open(NULL);
        struct client c;
        client_open(&c, w, arena_printf(check_arena(), "%s%s", HANDSHAKE, cases[i].protocol).at);
        client_say(&c, cases[i].message);
        client_listen(&c);
        str heard = quotes_single(check_arena(), buf_str(&c.heard));
        CHECK_STR(heard, arena_printf(check_arena(), "close 1008 '%s'", cases[i].reason).at);
        client_close(&c);
        log_close(w);
    }
}

TEST(ws_does_not_wait_for_ever_for_a_token)
{
    struct server_limits limits = server_limits_default();
    struct client c;

    limits.header_ms = 20;
    struct log_server *w = log_open(&limits);
    client_open(&c, w, HANDSHAKE);
    client_wait(&c, "end");
    CHECK_HEARD(&c, "close 1008 'no token came in time'\nend");
    client_close(&c);
    log_close(w);
}

TEST(ws_closes_when_the_token_is_revoked)
{
    struct client c;
    struct log_server *w = client_ready(&c, NULL);

    client_say(&c, "{'action':'subscribe','state_id':'a'}");
    client_listen(&c);
    log_commit(w, "tok_1", EVENT_TOKEN_REVOKED);
    log_publish(w);
    log_add(w, "a");
    CHECK_HEARD(&c, "{'type':'snapshot','seq':0,'state_id':'a'}\nclose 1008 'token revoked'");
    client_close(&c);
    log_close(w);
}

/* ---- silence, and the end ---- */

TEST(ws_answers_pings_and_asks_silent_peers_twice)
{
    struct server_limits limits = server_limits_default();
    struct client c;

    limits.ping_ms = 20;
    struct log_server *w = client_ready(&c, &limits);
    client_frame(&c, WEBSOCKET_PING, STR("hi"));
    client_wait(&c, "end");
    CHECK_HEARD(&c, "pong 'hi'\nping\nping\nend");
    client_close(&c);
    log_close(w);
}

TEST(ws_closes_with_the_code_of_what_went_wrong)
{
    static const struct {
        const char *bytes; /* frames in hex, masked with zeros */
        const char *heard;
    } cases[] = {
        { "88 82 00000000 03e8", "close 1000 ''\nend" },
        { "88 80 00000000", "close 1005 ''\nend" },
        { "81 82 00000000 c328", "close 1007 " },
        { "81 02 6869", "close 1002 " },
        { "f1 80 00000000", "close 1002 " },
        { "81 fe 1388 00000000", "close 1009 " },
    };
    struct server_limits limits = server_limits_default();

    limits.message_max = 1000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c;
        struct log_server *w = client_ready(&c, &limits);
        struct buf bytes = buf_in(check_arena());
        for (const char *at = cases[i].bytes; *at; at += at[0] == ' ' ? 1 : 2)
            if (*at != ' ')
                buf_byte(&bytes, (char)strtol((char[]){ at[0], at[1], 0 }, NULL, 16));
        net_send(c.fd, buf_str(&bytes));
        client_listen(&c);
        if (!str_starts(buf_str(&c.heard), str_from(cases[i].heard)))
            check_fail(__FILE__, __LINE__, "%s: heard " STR_FMT, cases[i].bytes,
                       STR_ARG(buf_str(&c.heard)));
        client_close(&c);
        log_close(w);
    }
}

TEST(ws_waits_for_the_peers_close_but_not_for_ever)
{
    struct server_limits limits = server_limits_default();

    limits.header_ms = 100;
    for (int answers = 0; answers <= 1; answers++) {
        struct client c;
        struct log_server *w = client_ready(&c, &limits);
        log_commit(w, "tok_1", EVENT_TOKEN_REVOKED);
        log_publish(w);
        client_listen(&c);
        CHECK(!c.ended);
        if (answers)
            client_frame(&c, WEBSOCKET_CLOSE, STR("\x03\xf0"));
        else
            client_wait(&c, "end");
        client_listen(&c);
        CHECK(c.ended);
        client_close(&c);
        log_close(w);
    }
}

static void stopped(void *self)
{
    (void)self;
}

TEST(ws_goes_away_when_the_server_stops)
{
    struct client c;
    struct log_server *w = client_ready(&c, NULL);

    server_stop(w->server, 1000, stopped);
    CHECK_HEARD(&c, "close 1001 'the server stops'");
    client_frame(&c, WEBSOCKET_CLOSE, STR("\x03\xe9"));
    CHECK_HEARD(&c, "end");
    client_close(&c);
    log_close(w);
}

TEST(ws_survives_a_client_that_is_gone_at_any_moment)
{
    for (int turns = 0; turns < 12; turns++) {
        struct log_server *w = log_open(NULL);
        struct client c;
        for (int i = 0; i < 10; i++)
            log_add(w, "a");
        w->page_max = 2;
        client_open(&c, w, HANDSHAKE);
        client_say(&c, "{'action':'auth','token':'op_1'}");
        client_say(&c, "{'action':'subscribe','state_id':'a','after':0}");
        client_say(&c, "{'action':'subscribe','after':0}");
        for (int i = 0; i < turns; i++)
            log_turn(w);
        client_close(&c);
        log_add(w, "a");
        log_settle(w);
        CHECK_INT(w->server->conn_count, 0);
        log_close(w);
    }
}

/* ---- what is said before a token is shown ---- */

TEST(ws_without_a_token_may_say_little)
{
    struct log_server *w = log_open(NULL);
    struct client c;
    struct buf frame = buf_in(check_arena());
    char *text = arena_alloc(check_arena(), 100000);

    memset(text, 'x', 100000);
    websocket_frame_masked(&frame, WEBSOCKET_TEXT, (str){ text, 100000 },
                           (const unsigned char *)"mask");
    client_open(&c, w, HANDSHAKE);
    client_listen(&c);
    net_send(c.fd, buf_str(&frame));
    client_listen(&c);
    CHECK(strstr(buf_str(&c.heard).at, "close 1009"));
    client_close(&c);
    log_close(w);
}
