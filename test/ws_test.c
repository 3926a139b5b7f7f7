/* ws_test.c: WebSocket as a client sees it: the handshake, tokens, messages, silence, closing.
 *
 * What the client hears is written as lines: a message as its JSON with single quotes, an event as
 * `event SUBJECT SEQ`, `ping`, `close 1008 'reason'`, and `end` where the server closes. */
#include "json_help.h"
#include "log_help.h"
#include "wire/websocket.h"

struct client {
    struct log_world *world;
    int fd;
    bool upgraded, ended;
    struct buf bytes; /* before the upgrade */
    str head;         /* of the response */
    struct websocket_reader reader;
    struct buf heard;
    int64_t last; /* event */
    int events;
};

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define TOKEN "Authorization: Bearer op_1\r\n"
#define START "GET /ws HTTP/1.1\r\nHost: localhost\r\n"
#define HANDSHAKE START UPGRADE VERSION KEY

/* ---- the client ---- */

static void client_open(struct client *c, struct log_world *w, const char *request)
{
    *c = (struct client){ .world = w,
                          .fd = log_connect(w),
                          .bytes = buf_in(check_arena()),
                          .heard = buf_in(check_arena()) };
    websocket_reader_init(&c->reader, WEBSOCKET_CLIENT, 0);
    net_send(c->fd, str_from(request));
    net_send(c->fd, STR("\r\n"));
}

static void client_close(struct client *c)
{
    close(c->fd);
    websocket_reader_release(&c->reader);
}

static void note_text(struct client *c, str text)
{
    const struct json *json;

    CHECK_OK(json_parse(check_arena(), arena_copy(check_arena(), text), NULL, &json));
    if (!json_get(json, "event_type")) {
        buf_add(&c->heard, json_shown(check_arena(), json));
        return;
    }
    int64_t seq = json_int_or(json, "seq", 0);
    CHECK(seq > c->last);
    c->last = seq;
    c->events++;
    buf_printf(&c->heard, "event " STR_FMT " %lld", STR_ARG(json_str(json, "state_id")),
               (long long)seq);
}

static void note(struct client *c, const struct websocket_event *e)
{
    if (c->heard.len)
        buf_byte(&c->heard, '\n');
    switch (e->kind) {
    case WEBSOCKET_TEXT: note_text(c, e->payload); break;
    case WEBSOCKET_PING: buf_add(&c->heard, STR("ping")); break;
    case WEBSOCKET_PONG: buf_printf(&c->heard, "pong '" STR_FMT "'", STR_ARG(e->payload)); break;
    case WEBSOCKET_CLOSE:
        buf_printf(&c->heard, "close %d '" STR_FMT "'", e->code, STR_ARG(e->payload));
        break;
    default: check_fail(__FILE__, __LINE__, "the server broke a rule: %d", e->kind);
    }
}

static void client_take(struct client *c, str bytes)
{
    struct websocket_event e;

    if (!c->upgraded) {
        buf_add(&c->bytes, bytes);
        str all = buf_str(&c->bytes);
        const char *end = strstr(all.at, "\r\n\r\n");
        if (!end)
            return;
        c->head = (str){ all.at, (size_t)(end + 4 - all.at) };
        if (!str_starts(all, STR("HTTP/1.1 101 ")))
            return;
        c->upgraded = true;
        bytes = str_slice(all, c->head.len, all.len);
    }
    while (websocket_read(&c->reader, &bytes, &e))
        note(c, &e);
}

/* Reads what there is. */
static bool client_read(struct client *c)
{
    char bytes[65536];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (n > 0)
        client_take(c, (str){ bytes, (size_t)n });
    if (n == 0 || (n < 0 && errno == ECONNRESET)) {
        if (!c->ended)
            buf_add(&c->heard, c->heard.len ? STR("\nend") : STR("end"));
        c->ended = true;
    }
    return n > 0;
}

/* Turns the loop until nothing more comes. */
static void client_listen(struct client *c)
{
    for (int quiet = 0; quiet < 6; quiet++) {
        log_turn(c->world);
        while (client_read(c))
            quiet = 0;
    }
}

static void check_heard(int line, struct client *c, const char *expected)
{
    client_listen(c);
    check_str(__FILE__, line, "heard", buf_str(&c->heard), expected);
    c->heard = buf_in(check_arena());
}

#define CHECK_HEARD(c, expected) check_heard(__LINE__, (c), (expected))

/* Waits for something that takes time. */
static void client_wait(struct client *c, const char *line)
{
    while (!strstr(buf_str(&c->heard).at, line)) {
        log_turn(c->world);
        client_read(c);
    }
}

static void client_frame(struct client *c, enum websocket_kind kind, str payload)
{
    static const unsigned char key[4] = { 1, 2, 3, 4 };
    struct buf frame = buf_in(check_arena());

    websocket_frame_masked(&frame, kind, payload, key);
    net_send(c->fd, buf_str(&frame));
}

/* A message in JSON with single quotes. */
static void client_say(struct client *c, const char *text)
{
    str copy = arena_copy(check_arena(), str_from(text));

    for (char *at = (char *)copy.at; (at = strchr(at, '\''));)
        *at = '"';
    client_frame(c, WEBSOCKET_TEXT, copy);
}

static struct log_world *client_ready(struct client *c, const struct server_limits *limits)
{
    struct log_world *w = log_open(limits);

    client_open(c, w, HANDSHAKE TOKEN);
    client_listen(c);
    CHECK(c->upgraded);
    return w;
}

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
        struct log_world *w = log_open(NULL);
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
    struct log_world *w = log_open(NULL);
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
    struct log_world *w = log_open(NULL);
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
    struct log_world *w = log_open(NULL);
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
        struct log_world *w = log_open(NULL);
        struct client c;
        client_open(&c, w, arena_printf(check_arena(), "%s%s", HANDSHAKE, cases[i].protocol).at);
        client_say(&c, cases[i].message);
        client_listen(&c);
        str heard = buf_str(&c.heard);
        for (char *at = (char *)heard.at; (at = strchr(at, '"'));)
            *at = '\'';
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
    struct log_world *w = log_open(&limits);
    client_open(&c, w, HANDSHAKE);
    client_wait(&c, "end");
    CHECK_HEARD(&c, "close 1008 'no token came in time'\nend");
    client_close(&c);
    log_close(w);
}

TEST(ws_closes_when_the_token_is_revoked)
{
    struct client c;
    struct log_world *w = client_ready(&c, NULL);

    client_say(&c, "{'action':'subscribe','state_id':'a'}");
    client_listen(&c);
    log_commit(w, "tok_1", EVENT_TOKEN_REVOKED);
    log_publish(w);
    log_add(w, "a");
    CHECK_HEARD(&c, "{'type':'snapshot','seq':0,'state_id':'a'}\nclose 1008 'token revoked'");
    client_close(&c);
    log_close(w);
}

/* ---- subscriptions ---- */

TEST(ws_sends_a_snapshot_the_replay_and_what_comes_then)
{
    struct client c;
    struct log_world *w = client_ready(&c, NULL);

    log_add(w, "a");
    log_add(w, "b");
    log_add(w, "a");
    client_listen(&c);
    client_say(&c, "{'action':'subscribe','state_id':'a','after':1,'id':'x'}");
    CHECK_HEARD(&c, "{'type':'snapshot','seq':1,'id':'x','state_id':'a'}\n"
                    "event a 3\n"
                    "{'type':'caught_up','seq':3,'id':'x','state_id':'a'}");
    log_add(w, "b");
    log_add(w, "a");
    CHECK_HEARD(&c, "event a 5");
    client_say(&c, "{'action':'unsubscribe','id':'x'}");
    CHECK_HEARD(&c, "{'type':'unsubscribed','id':'x','state_id':'a'}");
    log_add(w, "a");
    CHECK_HEARD(&c, "");
    client_close(&c);
    log_close(w);
}

TEST(ws_subscribes_to_everything_and_to_types)
{
    struct client c;
    struct log_world *w = client_ready(&c, NULL);

    log_add(w, "a");
    client_listen(&c);
    client_say(&c, "{'action':'subscribe','types':['workflow_state_deleted']}");
    CHECK_HEARD(&c, "{'type':'snapshot','seq':1}");
    log_add(w, "a");
    log_commit(w, "b", EVENT_STATE_DELETED);
    log_publish(w);
    CHECK_HEARD(&c, "event b 3");
    client_close(&c);
    log_close(w);
}

TEST(ws_says_reset_when_events_are_gone)
{
    struct client c;
    struct log_world *w = client_ready(&c, NULL);

    for (int i = 0; i < 5; i++)
        log_add(w, "a");
    w->floor = 5;
    client_listen(&c);
    client_say(&c, "{'action':'subscribe','subject':'a','after':1}");
    CHECK_HEARD(&c, "{'type':'snapshot','seq':1,'subject':'a'}\n"
                    "{'type':'reset','oldest':5,'newest':5,'subject':'a'}\n"
                    "event a 5\n"
                    "{'type':'caught_up','seq':5,'subject':'a'}");
    client_close(&c);
    log_close(w);
}

TEST(ws_says_what_it_expected)
{
    static const struct {
        const char *message;
        int status;
        const char *detail;
    } cases[] = {
        { "{'action':'subscribe','afer':1}", 400, "subscribe has no field" },
        { "{'action':'subscribe','after':-1}", 400, "after: expected" },
        { "{'action':'subscribe','after':'1'}", 400, "after: expected" },
        { "{'action':'subscribe','types':'x'}", 400, "types: expected an array" },
        { "{'action':'subscribe','types':[1]}", 400, "types: expected an array" },
        { "{'action':'subscribe','state_id':'a','subject':'a'}", 400, "found both" },
        { "{'action':'subscribe','state_id':''}", 400, "state_id: expected" },
        { "{'action':'subscribe','id':{}}", 400, "id: expected" },
        { "{'action':'subscribe','state_id':'first'}", 409, "unsubscribe first" },
        { "{'action':'unsubscribe','state_id':'b'}", 404, "no such subscription" },
        { "{'action':'sing'}", 400, "whose action is subscribe" },
        { "{", 400, "expected" },
        { "7", 400, "whose action is subscribe" },
    };
    struct client c;
    struct log_world *w = client_ready(&c, NULL);

    client_say(&c, "{'action':'subscribe','state_id':'first'}");
    CHECK_HEARD(&c, "{'type':'snapshot','seq':0,'state_id':'first'}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client_say(&c, cases[i].message);
        client_listen(&c);
        str heard = buf_str(&c.heard);
        str start = arena_printf(check_arena(), "{'type':'error','status':%d,", cases[i].status);
        if (!str_starts(heard, start) || !strstr(heard.at, cases[i].detail))
            check_fail(__FILE__, __LINE__, "%s: heard " STR_FMT, cases[i].message, STR_ARG(heard));
        c.heard = buf_in(check_arena());
    }
    client_frame(&c, WEBSOCKET_BINARY, STR("{}"));
    client_listen(&c);
    CHECK(str_starts(buf_str(&c.heard), STR("{'type':'error','status':415,")));
    client_close(&c);
    log_close(w);
}

TEST(ws_tells_a_session_that_it_may_not_hear_of_others)
{
    struct log_world *w = log_open(NULL);
    struct client c;

    client_open(&c, w, HANDSHAKE "Authorization: Bearer ss_1\r\n");
    client_say(&c, "{'action':'subscribe','state_id':'b','id':1}");
    client_say(&c, "{'action':'subscribe','id':2}");
    CHECK_HEARD(&c, "{'type':'error','status':404,'title':'Not found','detail':'there is nothing"
                    " here for this session to see','id':1,'state_id':'b'}\n"
                    "{'type':'snapshot','seq':0,'id':2}");
    log_add(w, "b");
    log_add(w, "a");
    CHECK_HEARD(&c, "event a 2");
    client_close(&c);
    log_close(w);
}

TEST(ws_limits_the_subscriptions_of_a_connection)
{
    struct client c;
    struct log_world *w = client_ready(&c, NULL);

    for (int i = 0; i < 100; i++)
        client_say(&c, arena_printf(check_arena(), "{'action':'subscribe','id':%d}", i).at);
    client_listen(&c);
    c.heard = buf_in(check_arena());
    client_say(&c, "{'action':'subscribe','id':100}");
    client_listen(&c);
    CHECK(str_starts(buf_str(&c.heard), STR("{'type':'error','status':429,")));
    client_close(&c);
    log_close(w);
}

/* ---- slow clients ---- */

/* One that does not read costs no more than the limit, and gets everything when it reads again. */
TEST(ws_holds_back_for_a_slow_client_and_loses_nothing)
{
    static char big[4096];
    struct server_limits limits = server_limits_default();
    struct client c;
    size_t most = 0;

    limits.behind_events = 20;
    limits.behind_bytes = 64 << 10;
    struct log_world *w = client_ready(&c, &limits);
    memset(big, ' ', sizeof big);
    big[0] = '[';
    big[sizeof big - 1] = ']';
    w->data = (str){ big, sizeof big };
    client_say(&c, "{'action':'subscribe','state_id':'a'}");
    client_listen(&c);
    struct conn *conn = LIST_ENTRY(w->server->conns.next, struct conn, all);
    for (int i = 0; i < 1000; i++) {
        log_add(w, "a");
        log_turn(w);
        if (conn->out_bytes > most)
            most = conn->out_bytes;
    }
    CHECK(most > limits.behind_bytes / 2 && most < limits.behind_bytes + 2 * sizeof big);
    client_listen(&c);
    CHECK_INT(c.events, 1000);
    CHECK_INT(c.last, 1000);
    client_close(&c);
    log_close(w);
}

TEST(ws_resets_a_slow_client_whose_events_are_gone)
{
    static char big[4096];
    struct server_limits limits = server_limits_default();
    struct client c;

    limits.behind_events = 20;
    struct log_world *w = client_ready(&c, &limits);
    memset(big, ' ', sizeof big);
    big[0] = '[';
    big[sizeof big - 1] = ']';
    w->data = (str){ big, sizeof big };
    client_say(&c, "{'action':'subscribe','state_id':'a'}");
    client_listen(&c);
    for (int i = 0; i < 300; i++) {
        log_add(w, "a");
        log_turn(w);
    }
    w->floor = 290;
    client_listen(&c);
    CHECK(
        strstr(buf_str(&c.heard).at, "{'type':'reset','oldest':290,'newest':300,'state_id':'a'}"));
    CHECK(c.events < 300 && c.last == 300);
    client_close(&c);
    log_close(w);
}

/* ---- silence, and the end ---- */

TEST(ws_answers_pings_and_asks_silent_peers_twice)
{
    struct server_limits limits = server_limits_default();
    struct client c;

    limits.ping_ms = 20;
    struct log_world *w = client_ready(&c, &limits);
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
        struct log_world *w = client_ready(&c, &limits);
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
        struct log_world *w = client_ready(&c, &limits);
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
    struct log_world *w = client_ready(&c, NULL);

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
        struct log_world *w = log_open(NULL);
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
