/* mcp_elicit_http_test.c: an older client's person is asked on the stream of the agent's call. */
#include "json_help.h"
#include "mcp/mcp_private.h"
#include "mcp_server.h"

#define OK_STREAM "HTTP/1.1 200 OK|Content-Type: text/event-stream|*"
#define ASKED OK_STREAM "*'id':'ask-*','method':'elicitation/create'*the first text*||"
#define INITIALIZE                                                                       \
    "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"         \
    "'2025-06-18','capabilities':{'elicitation':{}},'clientInfo':{'name':'t','version':" \
    "'1'}}}"
#define ACCEPT(decision) "'result':{'action':'accept','content':{'decision':'" decision "'}}"

/* An agent's client, which has a session of the protocol, and a second connection of it. */
struct desk {
    struct mcp_server *s;
    struct mcp_peer *p, *other;
    str token, id;
    const char *session; /* the field of the head */
};

static void post(struct desk *k, struct mcp_peer *p, const char *session, const char *body)
{
    p->heard.len = 0;
    mcp_peer_say(p, mcp_post(k->token,
                             arena_printf(check_arena(),
                                          "Accept: application/json, text/event-stream|%s", session)
                                 .at,
                             body));
}

static const char *initialized(struct desk *k)
{
    post(k, k->other, "", INITIALIZE);
    return arena_printf(check_arena(), "Mcp-Session-Id: " STR_FMT "|",
                        STR_ARG(mcp_peer_field(k->other, "Mcp-Session-Id")))
        .at;
}

static struct desk desk_new(int64_t ask_ms)
{
    struct desk k = { .s = mcp_server_open(NULL, false) };

    k.s->mcp->options.ask_ms = ask_ms;
    k.token = mcp_server_session(k.s, "root", STR(""));
    mcp_server_do(k.s, "workflow.deploy",
                  "{'definition':{'workflow':'plan','steps':[{'id':'plan','outputs':['text'],"
                  "'approval':{'attended':true}}]}}");
    k.id = arena_copy(check_arena(),
                      json_str(mcp_server_do(k.s, "execution.start",
                                             "{'workflow':'plan','parent_session_name':'root'}"),
                               "execution_id"));
    mcp_server_do(k.s, "execution.report",
                  arena_printf(check_arena(),
                               "{'execution_id':'" STR_FMT
                               "','step':'plan','outputs':{'text':'the first text'}}",
                               STR_ARG(k.id))
                      .at);
    k.p = mcp_peer_new(k.s);
    k.other = mcp_peer_new(k.s);
    k.session = initialized(&k);
    return k;
}

static void desk_free(struct desk *k)
{
    mcp_peer_close(k->p);
    mcp_peer_close(k->other);
    mcp_server_close(k->s);
}

static void call_it(struct desk *k)
{
    post(k, k->p, k->session,
         arena_printf(check_arena(),
                      "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':"
                      "'approve_step','arguments':{'workflow_id':'" STR_FMT
                      "','step':'plan','approved':true}}}",
                      STR_ARG(k->id))
             .at);
}

/* The agent's call; the id of the request by which its client is asked. */
static str asked(struct desk *k)
{
    call_it(k);
    str heard = arena_copy(check_arena(), buf_str(&k->p->heard));
    CHECK_PEER(k->p, ASKED);
    const char *id = strstr(heard.at, "'id':'") + strlen("'id':'");
    return (str){ id, strcspn(id, "'") };
}

static void replies(struct desk *k, const char *session, str id, const char *reply)
{
    post(k, k->other, session,
         arena_printf(check_arena(), "{'jsonrpc':'2.0','id':'" STR_FMT "',%s}", STR_ARG(id), reply)
             .at);
    CHECK_PEER(k->other, "HTTP/1.1 202 *");
    mcp_peer_listen(k->p);
}

static str status(struct desk *k)
{
    return json_str(
        mcp_server_do(
            k->s, "execution.get",
            arena_printf(check_arena(), "{'execution_id':'" STR_FMT "'}", STR_ARG(k->id)).at),
        "status");
}

TEST(mcp_person_is_asked_on_the_stream_of_the_call_and_what_they_say_is_done)
{
    struct desk k = desk_new(0);
    str id = asked(&k);

    CHECK_STR(status(&k), "RUNNING");
    replies(&k, initialized(&k), id, ACCEPT("reject")); /* another client's, of the same token */
    replies(&k, k.session, STR("ask-0"), ACCEPT("reject"));
    CHECK_PEER(k.p, "");
    replies(&k, k.session, id, ACCEPT("approve"));
    CHECK_PEER(k.p, "*'id':7,'result'*success*completed*");
    CHECK_STR(status(&k), "COMPLETED");
    replies(&k, k.session, id, ACCEPT("reject")); /* once */
    CHECK_STR(status(&k), "COMPLETED");
    desk_free(&k);
}

TEST(mcp_person_who_says_no_or_nothing_leaves_the_agent_with_who_decides)
{
    static const char *const answers[] = { "'result':{'action':'decline'}",
                                           "'result':{'action':'cancel'}",
                                           "'error':{'code':-1,'message':'there is nobody'}" };
    struct desk k = desk_new(60);

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        replies(&k, k.session, asked(&k), answers[i]);
        CHECK_PEER(k.p, "*'id':7,'result'*is decided by a person*'isError':true*");
        mcp_peer_close(k.p);
        k.p = mcp_peer_new(k.s);
    }
    str id = asked(&k);
    mcp_server_wait(k.s, 100);
    mcp_peer_listen(k.p);
    CHECK_PEER(k.p, "*'id':7,'result'*is decided by a person*'isError':true*");
    replies(&k, k.session, id, ACCEPT("approve")); /* too late */
    CHECK_STR(status(&k), "RUNNING");
    desk_free(&k);
}

/* The question goes with the call, its session or the server; nothing hangs and nothing is left. */
TEST(mcp_question_ends_with_whatever_it_was_asked_by)
{
    struct desk k = desk_new(0);
    str id = asked(&k);

    post(&k, k.other, k.session,
         "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':7}}");
    mcp_peer_listen(k.p);
    CHECK_PEER(k.p, "*'id':7,'error'*");
    replies(&k, k.session, id, ACCEPT("approve"));
    CHECK_STR(status(&k), "RUNNING");
    mcp_peer_close(k.p);
    k.p = mcp_peer_new(k.s);

    asked(&k);
    k.other->heard.len = 0;
    mcp_peer_say(k.other,
                 text_wire(arena_printf(check_arena(),
                                        "DELETE /mcp HTTP/1.1|Host: localhost|Authorization: "
                                        "Bearer " STR_FMT "|%s|",
                                        STR_ARG(k.token), k.session)
                               .at));
    CHECK_PEER(k.other, "HTTP/1.1 204 *");
    mcp_peer_listen(k.p);
    CHECK_PEER(k.p, "*'id':7,'error'*");
    mcp_peer_close(k.p);
    k.p = mcp_peer_new(k.s);

    k.session = initialized(&k);
    asked(&k); /* and now the server ends */
    desk_free(&k);
}

TEST(mcp_client_leaves_so_many_questions_behind_and_no_more)
{
    struct desk k = desk_new(0);
    str id = STR("");

    for (int i = 0; i < 16; i++) {
        id = asked(&k);
        mcp_peer_close(k.p);
        k.p = mcp_peer_new(k.s);
    }
    call_it(&k);
    CHECK_PEER(k.p, "HTTP/1.1 200 OK|*application/json*'id':7,'error'*16 questions*");
    replies(&k, k.session, id, "'result':{'action':'cancel'}");
    asked(&k);
    desk_free(&k);
}

/* A client that has gone comes back for the answer. */
TEST(mcp_person_decides_though_the_agents_connection_was_lost)
{
    struct desk k = desk_new(0);
    str id = asked(&k);

    mcp_peer_close(k.p);
    k.p = mcp_peer_new(k.s);
    replies(&k, k.session, id, ACCEPT("approve"));
    CHECK_STR(status(&k), "COMPLETED");
    desk_free(&k);
}
