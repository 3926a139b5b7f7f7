/* mcp_session_test.c: clients of the older revisions: their sessions, streams that break and are
 * taken up again, and questions that they are asked. */
#include "mcp_server.h"

#include <unistd.h>

#include "json_help.h"
#include "wire/mcp/private.h"

#define OK_JSON "HTTP/1.1 200 OK|*Content-Type: application/json|*"
#define OK_STREAM                                                              \
    "HTTP/1.1 200 OK|Content-Type: text/event-stream|Cache-Control: no-cache|" \
    "X-Accel-Buffering: no|Connection: close||"

#define INITIALIZE(version)                                                                    \
    "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':'" version "'," \
    "'capabilities':{'sampling':{},'elicitation':{}},'clientInfo':{'name':'t','version':'1'}}}"
#define PING "{'jsonrpc':'2.0','id':5,'method':'ping'}"

/* The field that names the session which this client begins. */
static const char *begin(struct mcp_peer *p, const char *initialize)
{
    mcp_peer_post(p, "", initialize);
    str id = mcp_peer_field(p, "Mcp-Session-Id");
    CHECK_PEER(p, OK_JSON "*'id':0,'result':{'protocolVersion':*");
    CHECK(id.len > 0);
    return arena_printf(check_arena(), "Mcp-Session-Id: " STR_FMT "|", STR_ARG(id)).at;
}

static void ask(struct mcp_peer *p, const char *method, const char *fields)
{
    str token = p->server->operator_token;
    bool open = p->server->server->options.mcp_open;

    p->heard.len = 0;
    mcp_peer_say(p, text_wire(arena_printf(check_arena(),
                                           "%s /mcp HTTP/1.1|Host: localhost|%s" STR_FMT "%s%s|",
                                           method, open ? "" : "Authorization: Bearer ",
                                           STR_ARG(open ? STR("") : token), open ? "" : "|", fields)
                                  .at));
}

static const char *more(const char *a, const char *b)
{
    return arena_printf(check_arena(), "%s%s", a, b).at;
}

static const char *call(const char *tool, const char *rest)
{
    return arena_printf(check_arena(),
                        "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'%s'%s}}",
                        tool, rest)
        .at;
}

/* ---- sessions ---- */

TEST(mcp_session_is_visible_ascii_and_lives_until_it_is_ended)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));

    for (const char *at = session + strlen("Mcp-Session-Id: "); *at != '|'; at++)
        CHECK(*at > 0x20 && *at < 0x7f);
    CHECK(strcmp(session, begin(p, INITIALIZE("2025-11-25"))) != 0);
    mcp_peer_post(p, session, "{'jsonrpc':'2.0','method':'notifications/initialized'}");
    CHECK_PEER(p, "HTTP/1.1 202 Accepted|*Content-Length: 0||");
    mcp_peer_post(p, session, PING);
    CHECK_PEER(p, OK_JSON "{'jsonrpc':'2.0','id':5,'result':{}}");
    mcp_peer_post(p, "", PING);
    CHECK_PEER(p, "HTTP/1.1 400 *");
    mcp_peer_post(p, "Mcp-Session-Id: 00000000000000000000000000000000|", PING);
    CHECK_PEER(p, "HTTP/1.1 404 *");
    ask(p, "DELETE", session);
    CHECK_PEER(p, "HTTP/1.1 204 *");
    ask(p, "DELETE", session);
    CHECK_PEER(p, "HTTP/1.1 404 *");
    ask(p, "GET", session);
    CHECK_PEER(p, "HTTP/1.1 404 *");
    mcp_peer_post(p, session, PING);
    CHECK_PEER(p, "HTTP/1.1 404 *");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_session_is_nobody_elses)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-06-18"));
    str other = mcp_server_session(s, "other", STR(""));

    mcp_peer_say(p, mcp_post(other, session, PING));
    CHECK_PEER(p, "HTTP/1.1 404 *");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_session_ends_when_it_is_idle_and_not_before)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_session_ms = 60;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s), *listener = mcp_peer_new(s);
    const char *idle = begin(p, INITIALIZE("2025-11-25"));
    const char *listening = begin(p, INITIALIZE("2025-11-25"));

    ask(listener, "GET", more(listening, "Accept: text/event-stream|"));
    mcp_server_wait(s, 130);
    CHECK_INT(s->server->mcp->session_count, 1);
    mcp_peer_post(p, idle, PING);
    CHECK_PEER(p, "HTTP/1.1 404 *");
    mcp_peer_post(p, listening, PING);
    CHECK_PEER(p, OK_JSON "*");
    mcp_peer_close(listener);
    mcp_server_wait(s, 130);
    CHECK_INT(s->server->mcp->session_count, 0);
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_sessions_that_are_too_many_push_out_the_one_unused_for_longest)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_sessions_max = 2;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s), *listeners[2] = { mcp_peer_new(s), mcp_peer_new(s) };
    const char *first = begin(p, INITIALIZE("2025-11-25"));
    const char *second = begin(p, INITIALIZE("2025-11-25"));

    mcp_peer_post(p, first, PING);
    const char *third = begin(p, INITIALIZE("2025-11-25"));
    mcp_peer_post(p, second, PING);
    CHECK_PEER(p, "HTTP/1.1 404 *");
    mcp_peer_post(p, first, PING);
    CHECK_PEER(p, OK_JSON "*");
    ask(listeners[0], "GET", more(first, "Accept: text/event-stream|"));
    ask(listeners[1], "GET", more(third, "Accept: text/event-stream|"));
    mcp_peer_post(p, "", INITIALIZE("2025-11-25"));
    CHECK_PEER(p, "HTTP/1.1 503 *Retry-After: 1|*at most 2 sessions of MCP (mcp_sessions)*");
    mcp_peer_close(listeners[0]);
    mcp_peer_close(listeners[1]);
    mcp_peer_close(p);
    mcp_server_close(s);
}

static str session_begin(struct mcp_peer *p, str token)
{
    p->heard.len = 0;
    mcp_peer_say(p, mcp_post(token, "", INITIALIZE("2025-11-25")));
    return mcp_peer_field(p, "Mcp-Session-Id");
}

TEST(token_ends_no_session_of_mcp_that_is_another_tokens)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_sessions_max = 8;
    limits.token_mcp_sessions = 3;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);
    str agent = mcp_server_session(s, "agent", STR("")),
        other = mcp_server_session(s, "other", STR(""));

    str mine = session_begin(p, s->operator_token);
    CHECK(mine.len);
    const char *field =
        arena_printf(check_arena(), "Mcp-Session-Id: " STR_FMT "|", STR_ARG(mine)).at;
    for (int i = 0; i < 20; i++) {
        CHECK(session_begin(p, agent).len > 0);
        CHECK(session_begin(p, other).len > 0);
    }
    CHECK(s->server->mcp->session_count <= 8);
    mcp_peer_post(p, field, PING);
    CHECK_PEER(p, OK_JSON "*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_session_ends_with_its_token)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s), *listener = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));

    ask(listener, "GET", more(session, "Accept: text/event-stream|"));
    listener->heard.len = 0;
    mcp_server_do(s, "token.revoke",
                  arena_printf(check_arena(), "{'token_id':'" STR_FMT "'}",
                               STR_ARG(s->operator_token_id))
                      .at);
    CHECK_INT(s->server->mcp->session_count, 0);
    mcp_peer_listen(listener);
    CHECK_PEER(listener, "<closed>");
    mcp_peer_close(p);
    mcp_peer_close(listener);
    mcp_server_close(s);
}

/* ---- what belongs to no request ---- */

TEST(mcp_get_hears_of_what_was_subscribed_to)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s), *listener = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));
    const char *uri =
        arena_printf(check_arena(), "baton://state/" STR_FMT, STR_ARG(s->state_id)).at;
    const char *subscription = arena_printf(check_arena(), "'params':{'uri':'%s'}}", uri).at;
    const char *patch = arena_printf(check_arena(),
                                     "{'state_id':'" STR_FMT "','merge':{'n':1},'touch':true}",
                                     STR_ARG(s->state_id))
                            .at;
    str updated = arena_printf(check_arena(),
                               "id: 0-*|data: {*notifications/resources/updated*'uri':'%s'}}||",
                               uri);

    mcp_peer_post(p, session,
                  more("{'jsonrpc':'2.0','id':3,'method':'resources/subscribe',", subscription));
    CHECK_PEER(p, OK_JSON "{'jsonrpc':'2.0','id':3,'result':{}}");
    ask(listener, "GET", more(session, "Accept: text/event-stream|"));
    CHECK_PEER(listener, OK_STREAM "id: 0-0|data:||");
    for (int i = 0; i < 2; i++) {
        mcp_server_do(s, "state.patch", patch);
        mcp_peer_listen(listener);
        CHECK_PEER(listener, updated.at);
    }
    mcp_server_do(s, "state.create", "{'schema_name':'s','initial_data':{}}");
    mcp_peer_listen(listener);
    CHECK_PEER(listener, "id: 0-3|data: {*notifications/resources/list_changed*}||");
    mcp_peer_post(p, session,
                  more("{'jsonrpc':'2.0','id':4,'method':'resources/unsubscribe',", subscription));
    CHECK_PEER(p, OK_JSON "{'jsonrpc':'2.0','id':4,'result':{}}");
    mcp_server_do(s, "state.patch", patch);
    mcp_peer_listen(listener);
    CHECK_PEER(listener, "");
    mcp_peer_close(p);
    mcp_peer_close(listener);
    mcp_server_close(s);
}

/* Many changes are told once to one who comes late; and what was sent is sent again to one who says
 * that he has not got it. */
TEST(mcp_get_may_come_back_for_what_it_missed)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s), *listener = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-06-18"));
    const char *patch = arena_printf(check_arena(),
                                     "{'state_id':'" STR_FMT "','merge':{'n':1},'touch':true}",
                                     STR_ARG(s->state_id))
                            .at;

    mcp_peer_post(p, session,
                  arena_printf(check_arena(),
                               "{'jsonrpc':'2.0','id':3,'method':'resources/subscribe',"
                               "'params':{'uri':'baton://state/" STR_FMT "'}}",
                               STR_ARG(s->state_id))
                      .at);
    for (int i = 0; i < 3; i++)
        mcp_server_do(s, "state.patch", patch);
    ask(listener, "GET", more(session, "Accept: text/event-stream|"));
    CHECK_PEER(listener, OK_STREAM "id: 0-1|data: {*updated*}||");
    mcp_server_do(s, "state.patch", patch);
    mcp_peer_close(listener);
    listener = mcp_peer_new(s);
    ask(listener, "GET", more(session, "Accept: text/event-stream|Last-Event-ID: 0-1|"));
    CHECK_PEER(listener, OK_STREAM "id: 0-2|data: {*updated*}||");
    struct mcp_peer *second = mcp_peer_new(s);
    ask(second, "GET", more(session, "Accept: text/event-stream|Last-Event-ID: 0-0|"));
    CHECK_PEER(second, OK_STREAM "id: 0-1|data: {*updated*}||id: 0-2|data: {*updated*}||");
    mcp_peer_listen(listener); /* another has taken its place */
    CHECK_PEER(listener, "<closed>");
    mcp_peer_close(listener);
    mcp_peer_close(second);
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_get_refuses_what_it_cannot_give)
{
    static const struct {
        const char *fields, *heard;
    } cases[] = {
        { "Accept: application/json|", "HTTP/1.1 406 *text/event-stream*" },
        { "Accept: text/event-stream|Last-Event-ID: 9-1|", "HTTP/1.1 400 *Last-Event-ID*" },
        { "Accept: text/event-stream|Last-Event-ID: 0-1|", "HTTP/1.1 400 *Last-Event-ID*" },
        { "Accept: text/event-stream|Last-Event-ID: x|", "HTTP/1.1 400 *Last-Event-ID*" },
        { "Accept: text/event-stream|Last-Event-ID: 0--1|", "HTTP/1.1 400 *Last-Event-ID*" },
    };
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(p, "GET", more(session, cases[i].fields));
        CHECK_PEER(p, cases[i].heard);
    }
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_streams_are_kept_alive)
{
    struct server_limits limits = server_limits_default();
    limits.ping_ms = 50;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-06-18"));

    ask(p, "GET", more(session, "Accept: text/event-stream|"));
    CHECK_PEER(p, OK_STREAM);
    mcp_server_wait(s, 80);
    mcp_peer_listen(p);
    CHECK_PEER(p, ":||*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* ---- waiting ---- */

#define WAITING ",'arguments':{'state_id':'" STR_FMT "','wait_version':2,'timeout':30}"

/* Who closes the connection has not said that he wants no answer. */
TEST(mcp_answer_is_kept_for_an_older_client_that_comes_back)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_progress_ms = 20;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s), *back = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));
    str rest =
        arena_printf(check_arena(), WAITING ",'_meta':{'progressToken':1}", STR_ARG(s->state_id));

    mcp_peer_post(p, session, call("state_read", rest.at));
    mcp_server_wait(s, 25);
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_STREAM "id: 1-0|data:||id: 1-1|data: {*'progress':1*}||");
    mcp_peer_close(p);
    mcp_server_do(s, "state.patch",
                  arena_printf(check_arena(), "{'state_id':'" STR_FMT "','merge':{'n':'two'}}",
                               STR_ARG(s->state_id))
                      .at);
    for (int i = 0; i < 2; i++) {
        ask(back, "GET", more(session, "Accept: text/event-stream|Last-Event-ID: 1-1|"));
        CHECK_PEER(back, OK_STREAM "id: 1-2|data: {*'id':7,'result'*two*}||<closed>");
        mcp_peer_close(back);
        back = mcp_peer_new(s);
    }
    mcp_peer_close(back);
    mcp_server_close(s);
}

TEST(mcp_call_that_waits_is_cancelled_by_a_notification_or_the_end_of_its_session)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s), *other = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));
    const char *wait =
        call("state_read", arena_printf(check_arena(), WAITING, STR_ARG(s->state_id)).at);

    mcp_peer_post(p, session, wait);
    mcp_peer_post(other, session,
                  "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':8}}");
    CHECK_PEER(other, "HTTP/1.1 202 *");
    mcp_peer_listen(p);
    CHECK_PEER(p, "");
    mcp_peer_post(other, session,
                  "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':7}}");
    CHECK_PEER(other, "HTTP/1.1 202 *");
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*'isError':true*");
    mcp_peer_post(p, session, wait);
    ask(other, "DELETE", session);
    CHECK_PEER(other, "HTTP/1.1 204 *");
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*'isError':true*");
    mcp_peer_close(p);
    mcp_peer_close(other);
    mcp_server_close(s);
}

/* ---- what is played ---- */

TEST(mcp_fixtures_need_no_token_and_perform_nothing)
{
    struct mcp_server *s = mcp_server_open(NULL, true);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));

    mcp_peer_post(p, session, call("test_simple_text", ""));
    CHECK_PEER(p, OK_JSON "*'id':7,'result':{'content':[{'type':'text'*");
    mcp_peer_post(p, session, call("state_read", ""));
    CHECK_PEER(p, OK_JSON "*'id':7,'error'*");
    mcp_peer_say(p, text_wire("GET /workflow-states HTTP/1.1|Host: localhost||"));
    CHECK_PEER(p, "HTTP/1.1 401 *");
    CHECK_INT(s->performed, 0);
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_stream_comes_one_message_after_the_other)
{
    struct mcp_server *s = mcp_server_open(NULL, true);
    struct mcp_peer *p = mcp_peer_new(s), *other = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-06-18"));
    const char *progress = call("test_tool_with_progress", ",'_meta':{'progressToken':'x'}");

    mcp_peer_post(p, session, progress);
    CHECK_PEER(p, OK_STREAM "id: 1-1|data: {*'progress':0,*}||");
    mcp_peer_post(other, session, progress);
    CHECK_PEER(other, OK_STREAM "id: 2-1|data: {*'progress':0,*}||");
    mcp_server_wait(s, 60);
    mcp_server_wait(s, 60);
    mcp_peer_listen(p);
    CHECK_PEER(p, "id: 1-2|data: {*'progress':50,*}||id: 1-3|data: {*'progress':100,*}||"
                  "id: 1-4|data: {*'id':7,'result'*}||<closed>");
    mcp_peer_listen(other);
    CHECK_PEER(other, "id: 2-2|*id: 2-4|data: {*'id':7,'result'*}||<closed>");
    mcp_peer_close(p);
    mcp_peer_close(other);
    mcp_server_close(s);
}

TEST(mcp_stream_is_refused_to_who_takes_none)
{
    struct mcp_server *s = mcp_server_open(NULL, true);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));

    mcp_peer_say(p, mcp_post(STR(""), more(session, "Accept: application/json|"),
                             call("test_tool_with_progress", "")));
    CHECK_PEER(p, "HTTP/1.1 406 *text/event-stream*");
    mcp_peer_post(p, session, PING);
    CHECK_PEER(p, OK_JSON "*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_stream_that_is_cut_is_taken_up_where_it_was)
{
    struct mcp_server *s = mcp_server_open(NULL, true);
    struct mcp_peer *p = mcp_peer_new(s), *back = mcp_peer_new(s);
    const char *session = begin(p, INITIALIZE("2025-11-25"));

    mcp_peer_post(p, session, call("test_reconnection", ""));
    CHECK_PEER(p, OK_STREAM "id: 1-0|data:||retry: 500||<closed>");
    ask(back, "GET", more(session, "Accept: text/event-stream|Last-Event-ID: 1-0|"));
    CHECK_PEER(back, OK_STREAM);
    mcp_server_wait(s, 110);
    mcp_peer_listen(back);
    CHECK_PEER(back, "id: 1-1|data: {*'id':7,'result'*}||<closed>");
    mcp_peer_close(p);
    mcp_peer_close(back);
    mcp_server_close(s);
}

TEST(mcp_client_answers_what_it_is_asked)
{
    static const struct {
        const char *reply, *heard;
    } cases[] = {
        { "'result':{'role':'assistant','model':'m','content':{'type':'text','text':'blue'}}",
          "*'id':7,'result'*blue*" },
        { "'error':{'code':-1,'message':'the user said no'}", "*'id':7,'result'*said no*" },
    };
    struct mcp_server *s = mcp_server_open(NULL, true);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mcp_peer *p = mcp_peer_new(s), *other = mcp_peer_new(s);
        const char *session = begin(other, INITIALIZE("2025-11-25"));
        mcp_peer_post(p, session, call("test_sampling", ",'arguments':{'prompt':'which color?'}"));
        str heard = arena_copy(check_arena(), buf_str(&p->heard));
        CHECK_PEER(p, OK_STREAM "*'id':'*','method':'sampling/createMessage'*||");
        const char *id = strstr(heard.at, "'id':'") + strlen("'id':'");
        str name = { id, strcspn(id, "'") };

        mcp_peer_post(
            other, session,
            arena_printf(check_arena(), "{'jsonrpc':'2.0','id':'not it',%s}", cases[i].reply).at);
        CHECK_PEER(other, "HTTP/1.1 202 *");
        mcp_peer_listen(p);
        CHECK_PEER(p, "");
        mcp_peer_post(other, session,
                      arena_printf(check_arena(), "{'jsonrpc':'2.0','id':'" STR_FMT "',%s}",
                                   STR_ARG(name), cases[i].reply)
                          .at);
        CHECK_PEER(other, "HTTP/1.1 202 *");
        mcp_peer_listen(p);
        CHECK_PEER(p, cases[i].heard);
        mcp_peer_close(p);
        mcp_peer_close(other);
    }
    mcp_server_close(s);
}

/* Whatever is under way when the client, its session or the server goes: nothing hangs and nothing
 * is left. */
TEST(mcp_streams_may_end_at_any_point)
{
    enum { CLIENT, SESSION, STOP, ENDS };
    static const struct {
        const char *name, *rest;
    } tools[] = { { "test_sampling", ",'arguments':{'prompt':'?'}" },
                  { "test_tool_with_progress", ",'_meta':{'progressToken':1}" },
                  { "test_reconnection", "" } };

    for (int end = 0; end < ENDS; end++)
        for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
            struct mcp_server *s = mcp_server_open(NULL, true);
            struct mcp_peer *p = mcp_peer_new(s), *other = mcp_peer_new(s);
            const char *session = begin(other, INITIALIZE("2025-11-25"));
            mcp_peer_post(p, session, call(tools[i].name, tools[i].rest));
            if (end == CLIENT)
                mcp_peer_close(p);
            if (end == SESSION) {
                ask(other, "DELETE", session);
                mcp_peer_listen(p);
                CHECK_PEER(p, OK_STREAM "*<closed>");
            }
            if (end != CLIENT)
                close(p->fd);
            mcp_peer_close(other);
            mcp_server_close(s);
            unlink("mcp.db");
            unlink("mcp.db-wal");
            unlink("mcp.db-shm");
        }
}
