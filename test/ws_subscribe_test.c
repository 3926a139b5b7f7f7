/* ws_subscribe_test.c: what those hear who subscribe over a WebSocket, at whatever pace they read. */
#include "ws_client.h"

/* ---- subscriptions ---- */

TEST(ws_sends_a_snapshot_the_replay_and_what_comes_then)
{
    struct client c;
    struct log_server *w = client_ready(&c, NULL);

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
    struct log_server *w = client_ready(&c, NULL);

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
    struct log_server *w = client_ready(&c, NULL);

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
    struct log_server *w = client_ready(&c, NULL);

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
    struct log_server *w = log_open(NULL);
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
    struct log_server *w = client_ready(&c, NULL);

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

enum { LARGE = 4096 };

/* The data of an event: an array with nothing in it but room. */
static str large(void)
{
    char *text = arena_alloc(check_arena(), LARGE);

    memset(text, ' ', LARGE);
    text[0] = '[';
    text[LARGE - 1] = ']';
    return (str){ text, LARGE };
}

/* One that does not read costs no more than the limit, and gets everything when it reads again. */
TEST(ws_holds_back_for_a_slow_client_and_loses_nothing)
{
    struct server_limits limits = server_limits_default();
    struct client c;
    size_t most = 0;

    limits.behind_events = 20;
    limits.behind_bytes = 64 << 10;
    struct log_server *w = client_ready(&c, &limits);
    w->data = large();
    client_say(&c, "{'action':'subscribe','state_id':'a'}");
    client_listen(&c);
    struct conn *conn = LIST_ENTRY(w->server->conns.next, struct conn, all);
    for (int i = 0; i < 1000; i++) {
        log_add(w, "a");
        log_turn(w);
        if (conn->out_bytes > most)
            most = conn->out_bytes;
    }
    CHECK(most > limits.behind_bytes / 2 && most < limits.behind_bytes + 2 * LARGE);
    client_listen(&c);
    CHECK_INT(c.events, 1000);
    CHECK_INT(c.last, 1000);
    client_close(&c);
    log_close(w);
}

TEST(ws_resets_a_slow_client_whose_events_are_gone)
{
    struct server_limits limits = server_limits_default();
    struct client c;

    limits.behind_events = 20;
    struct log_server *w = client_ready(&c, &limits);
    w->data = large();
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
