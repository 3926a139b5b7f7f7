/* mcp_listen_test.c: subscriptions/listen: who hears of which change, how often, and until when. */
#include "mcp_server.h"

#include <sys/socket.h>

#include "json_help.h"

#define OK_STREAM "HTTP/1.1 200 OK|Content-Type: text/event-stream|*||"
#define TASKS "{'extensions':{'io.modelcontextprotocol/tasks':{}}}"

static const char *printed(const char *format, str id)
{
    struct arena *a = check_arena();
    struct buf out = buf_in(a);
    str rest = str_from(format), before;

    while (str_cut(rest, '$', &before, &rest)) {
        buf_add(&out, before);
        buf_add(&out, id);
    }
    buf_add(&out, before);
    return buf_str(&out).at;
}

static struct mcp_peer *listener(struct mcp_server *s, str token, const char *wishes)
{
    struct mcp_peer *p = mcp_peer_new(s);
    str body = arena_printf(check_arena(),
                            "{'jsonrpc':'2.0','id':'l','method':'subscriptions/listen','params':{"
                            "'notifications':%s," MODERN_AS(TASKS) "}}}",
                            wishes);

    mcp_peer_say(p, mcp_post(token,
                             "Accept: application/json, text/event-stream|" MODERN_HEAD(
                                 "subscriptions/listen"),
                             body.at));
    return p;
}

TEST(mcp_listener_hears_once_of_each_change)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = listener(
        s, s->operator_token,
        printed("{'resourcesListChanged':true,'resourceSubscriptions':['baton://state/$']}",
                s->state_id));
    const char *updated = "data: {*notifications/resources/updated*subscriptionId':'l'*}||";

    CHECK_PEER(p, OK_STREAM "data: {*subscriptions/acknowledged*subscriptionId':'l'*}||");
    mcp_server_do(s, "state.patch", printed("{'state_id':'$','merge':{'n':1}}", s->state_id));
    mcp_peer_listen(p);
    CHECK_PEER(p, updated);
    mcp_server_do(s, "state.create", "{'schema_name':'s','initial_data':{}}");
    mcp_peer_listen(p);
    CHECK_PEER(p, "data: {*notifications/resources/list_changed*subscriptionId':'l'*}||");
    mcp_peer_listen(p);
    CHECK_PEER(p, "");
    mcp_peer_close(p);
    mcp_server_do(s, "state.patch", printed("{'state_id':'$','merge':{'n':2}}", s->state_id));
    mcp_server_close(s);
}

/* More tools are listed from then on, by whichever node and client it was begun. */
TEST(mcp_listener_hears_that_a_document_is_used)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = listener(s, s->operator_token, "{'toolsListChanged':true}");

    CHECK_PEER(p, OK_STREAM "data: {*subscriptions/acknowledged*}||");
    mcp_server_do(s, "phase.create", "{'task':'t','phases':['a']}");
    mcp_peer_listen(p);
    CHECK_PEER(p, "data: {*notifications/tools/list_changed*subscriptionId':'l'*}||");
    mcp_server_do(s, "phase.create", "{'task':'t','phases':['a']}");
    mcp_peer_listen(p);
    CHECK_PEER(p, "");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* Whoever was told that he listens misses nothing, however long his first look takes. */
TEST(mcp_listener_hears_of_what_comes_while_it_begins)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, MODERN_HEAD("server/discover"),
                  "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" MODERN "}}");
    s->holds = true;
    mcp_peer_post(p, MODERN_HEAD("subscriptions/listen"),
                  "{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{"
                  "'notifications':{'resourcesListChanged':true}," MODERN "}}");
    CHECK_PEER(p, OK_STREAM "data: {*acknowledged*}||");
    mcp_server_do(s, "state.create", "{'schema_name':'s','initial_data':{}}");
    mcp_peer_listen(p);
    CHECK_PEER(p, "");
    s->holds = false;
    mcp_server_perform(s);
    mcp_peer_listen(p);
    CHECK_PEER(p, "data: {*list_changed*}||");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_listener_hears_nothing_of_what_it_may_not_see)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    str token = mcp_server_session(s, "other", STR(""));
    struct mcp_peer *p = listener(
        s, token,
        printed("{'resourcesListChanged':true,'resourceSubscriptions':['baton://state/$']}",
                s->state_id));

    CHECK_PEER(p, OK_STREAM "data: {*'resourceSubscriptions':[]*}||");
    mcp_server_do(s, "state.patch", printed("{'state_id':'$','merge':{'n':1}}", s->state_id));
    mcp_server_do(s, "state.create", "{'schema_name':'s','initial_data':{}}");
    mcp_peer_listen(p);
    CHECK_PEER(p, "");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_listener_hears_that_its_session_got_a_state)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    str token = mcp_server_session(s, "root", STR(""));
    struct mcp_peer *p = listener(s, token, "{'resourcesListChanged':true}");

    CHECK_PEER(p, OK_STREAM "data: {*acknowledged*}||");
    mcp_server_do(s, "state.create", "{'schema_name':'s','initial_data':{},'root_session':'root'}");
    mcp_peer_listen(p);
    CHECK_PEER(p, "data: {*list_changed*}||");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_listener_ends_with_its_token)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = listener(s, s->operator_token, "{'resourcesListChanged':true}");

    p->heard.len = 0;
    mcp_server_do(s, "token.revoke", printed("{'token_id':'$'}", s->operator_token_id));
    mcp_peer_listen(p);
    CHECK_PEER(p, "<closed>");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* It costs no memory, and is told once of all that it could not take. */
TEST(mcp_listener_that_is_slow_is_told_once_of_many_changes)
{
    struct server_limits limits = server_limits_default();
    limits.behind_bytes = 1000;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p =
        listener(s, s->operator_token,
                 printed("{'resourceSubscriptions':['baton://state/$']}", s->state_id));
    struct conn *c = LIST_ENTRY(s->server->conns.next, struct conn, all);
    const char *patch = printed("{'state_id':'$','merge':{'n':1}}", s->state_id);

    p->heard.len = 0;
    /* The peer's window is full from now on: something large is on the way to it. */
    str ballast = { arena_zero(check_arena(), 32 << 20), 32 << 20 };
    conn_send(c, ballast);
    conn_flush(c);
    CHECK(c->out_bytes > limits.behind_bytes);
    size_t before = c->out_bytes;
    for (int i = 0; i < 50; i++)
        mcp_server_do(s, "state.patch", patch);
    CHECK(c->out_bytes <= before);
    for (size_t got = 0; got < ballast.len;) {
        static char bytes[1 << 20];
        ssize_t n = recv(p->fd, bytes,
                         ballast.len - got < sizeof bytes ? ballast.len - got : sizeof bytes,
                         MSG_DONTWAIT);
        if (n > 0)
            got += (size_t)n;
        else
            mcp_server_turn(s);
    }
    mcp_peer_listen(p);
    str heard = buf_str(&p->heard);
    CHECK(text_fits(heard.at, "data: {*updated*}||"));
    CHECK(!strstr(strstr(heard.at, "updated") + 1, "updated"));
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* ---- tasks ---- */

TEST(mcp_listener_is_told_how_a_task_goes)
{
    struct mcp_server *s = mcp_server_open(NULL, false);

    mcp_server_do(s, "session.create", "{'session_name':'w'}");
    str run = json_str(mcp_server_do(s, "run.create",
                                     "{'type':'start_session','session_name':'w','prompt':'go'}"),
                       "run_id");
    struct mcp_peer *p = listener(s, s->operator_token, printed("{'taskIds':['$']}", run));
    CHECK_PEER(p, OK_STREAM "data: {*acknowledged*}||"
                            "data: {*notifications/tasks*'status':'working'*}||");
    mcp_server_do(s, "run.stop", printed("{'run_id':'$'}", run));
    mcp_peer_listen(p);
    CHECK_PEER(p, "*data: {*notifications/tasks*'status':'cancelled'*}||*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* ---- lists of the fixtures, which change by a tool ---- */

TEST(mcp_listeners_of_both_eras_hear_of_a_list_that_changed)
{
    static const struct {
        const char *tool, *list;
    } cases[] = { { "test_trigger_tool_change", "data: {*notifications/tools/list_changed*}||" },
                  { "test_trigger_prompt_change",
                    "data: {*notifications/prompts/list_changed*}||" } };
    struct mcp_server *s = mcp_server_open(NULL, true);
    struct mcp_peer *p =
        listener(s, STR(""), "{'toolsListChanged':true,'promptsListChanged':true}");
    struct mcp_peer *asker = mcp_peer_new(s), *old = mcp_peer_new(s);

    p->heard.len = 0;
    mcp_peer_post(asker, "",
                  "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"
                  "'2025-06-18','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}");
    str session = mcp_peer_field(asker, "Mcp-Session-Id");
    mcp_peer_say(old,
                 text_wire(arena_printf(check_arena(),
                                        "GET /mcp HTTP/1.1|Host: localhost|Mcp-Session-Id: " STR_FMT
                                        "|Accept: text/event-stream||",
                                        STR_ARG(session))
                               .at));
    CHECK_PEER(old, OK_STREAM);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcp_peer_post(asker,
                      arena_printf(check_arena(), MODERN_HEAD("tools/call") "Mcp-Name: %s|",
                                   cases[i].tool)
                          .at,
                      arena_printf(check_arena(),
                                   "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{"
                                   "'name':'%s'," MODERN "}}",
                                   cases[i].tool)
                          .at);
        mcp_peer_listen(p);
        CHECK_PEER(p, cases[i].list);
        mcp_peer_listen(old);
        CHECK_PEER(old, arena_printf(check_arena(), "id: 0-%zu|%s", i + 1, cases[i].list).at);
    }
    mcp_peer_close(p);
    mcp_peer_close(old);
    mcp_peer_close(asker);
    mcp_server_close(s);
}
