/* mcp_random_test.c: clients of both eras that come, ask, listen, break off and come back, in any
 * order: whatever they do, nothing hangs and nothing is left. */
#include "mcp_server.h"

#include <unistd.h>

#include "json_help.h"
#include "wire/mcp/private.h"

enum { PEERS = 6, STEPS = 500 };

struct crowd {
    struct mcp_server *server;
    struct random *random;
    struct mcp_peer *peers[PEERS];
    str session; /* the last that was begun; empty: none */
    bool fixtures;
};

// clang-format off
static const struct {
    const char *fields, *body; /* $ is the state's id, and the session's field is added */
} messages[] = {
    { "", "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25','capabilities':{'sampling':{}},"
          "'clientInfo':{'name':'t','version':'1'}}}" },
    { "", "{'jsonrpc':'2.0','id':1,'method':'ping'}" },
    { "", "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'state_read','arguments':{'state_id':'$','wait_version':99,"
          "'timeout':30},'_meta':{'progressToken':1}}}" },
    { "", "{'jsonrpc':'2.0','id':3,'method':'resources/subscribe','params':{'uri':'baton://state/$'}}" },
    { "", "{'jsonrpc':'2.0','id':4,'method':'resources/unsubscribe','params':{'uri':'baton://state/$'}}" },
    { "", "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}" },
    { "", "{'jsonrpc':'2.0','id':'fixture-1','result':{}}" },
    { "", "{'jsonrpc':'2.0','id':5,'method':'tools/call','params':{'name':'test_sampling','arguments':{'prompt':'?'}}}" },
    { "", "{'jsonrpc':'2.0','id':6,'method':'tools/call','params':{'name':'test_reconnection'}}" },
    { "", "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'test_tool_with_progress','_meta':{'progressToken':2}}}" },
    { MODERN_HEAD("tools/call") "Mcp-Name: state_read|",
      "{'jsonrpc':'2.0','id':8,'method':'tools/call','params':{'name':'state_read','arguments':{'state_id':'$'}," MODERN "}}" },
    { MODERN_HEAD("tools/call") "Mcp-Name: state_read|",
      "{'jsonrpc':'2.0','id':9,'method':'tools/call','params':{'name':'state_read','arguments':{'state_id':'$','wait_version':99,"
      "'timeout':30}," MODERN_AS("{}") ",'progressToken':3}}}" },
    { MODERN_HEAD("tools/call") "Mcp-Name: state_patch|",
      "{'jsonrpc':'2.0','id':10,'method':'tools/call','params':{'name':'state_patch','arguments':{'state_id':'$','operations':"
      "[{'op':'add','path':'/n','value':1}]}," MODERN "}}" },
    { MODERN_HEAD("subscriptions/listen"),
      "{'jsonrpc':'2.0','id':11,'method':'subscriptions/listen','params':{'notifications':{'resourcesListChanged':true,"
      "'toolsListChanged':true,'resourceSubscriptions':['baton://state/$']}," MODERN "}}" },
    { MODERN_HEAD("tools/call") "Mcp-Name: test_trigger_tool_change|",
      "{'jsonrpc':'2.0','id':12,'method':'tools/call','params':{'name':'test_trigger_tool_change'," MODERN "}}" },
    { "", "{'jsonrpc'" },
};
// clang-format on

static const char *filled(const struct crowd *c, const char *text)
{
    struct buf out = buf_in(check_arena());
    str rest = str_from(text), before;

    while (str_cut(rest, '$', &before, &rest)) {
        buf_add(&out, before);
        buf_add(&out, c->server->state_id);
    }
    buf_add(&out, before);
    return buf_str(&out).at;
}

static str session_field(const struct crowd *c)
{
    return c->session.len
               ? arena_printf(check_arena(), "Mcp-Session-Id: " STR_FMT "|", STR_ARG(c->session))
               : STR("");
}

static struct mcp_peer **any_peer(struct crowd *c)
{
    struct mcp_peer **p = &c->peers[random_below(c->random, PEERS)];

    if (!*p)
        *p = mcp_peer_new(c->server);
    return p;
}

/* A peer that the server has closed may still be spoken to. */
static void say(struct mcp_peer *p, str bytes)
{
    ssize_t n = write(p->fd, bytes.at, bytes.len);

    (void)n;
    mcp_peer_listen(p);
}

static void do_post(struct crowd *c)
{
    struct mcp_peer *p = *any_peer(c);
    size_t which = random_below(c->random, sizeof messages / sizeof *messages);
    str fields = arena_printf(check_arena(),
                              "Accept: application/json, text/event-stream|" STR_FMT "%s",
                              STR_ARG(session_field(c)), messages[which].fields);
    str bytes = mcp_post(c->fixtures ? STR("") : c->server->operator_token, fields.at,
                         filled(c, messages[which].body));

    p->heard.len = 0;
    say(p, random_below(c->random, 8) ? bytes : str_slice(bytes, 0, random_below(c->random, 400)));
    str session = mcp_peer_field(p, "Mcp-Session-Id");
    if (session.len)
        c->session = session;
}

static void do_other(struct crowd *c)
{
    static const char *const requests[] = {
        "GET /mcp HTTP/1.1|Host: localhost|Accept: text/event-stream|",
        "GET /mcp HTTP/1.1|Host: localhost|Accept: text/event-stream|Last-Event-ID: 0-0|",
        "GET /mcp HTTP/1.1|Host: localhost|Accept: text/event-stream|Last-Event-ID: 1-0|",
        "GET /mcp HTTP/1.1|Host: localhost|Accept: text/event-stream|Last-Event-ID: 2-1|",
        "DELETE /mcp HTTP/1.1|Host: localhost|",
    };
    const char *request = requests[random_below(c->random, sizeof requests / sizeof *requests)];
    str token = c->fixtures ? STR("")
                            : arena_printf(check_arena(), "Authorization: Bearer " STR_FMT "|",
                                           STR_ARG(c->server->operator_token));

    say(*any_peer(c), text_wire(arena_printf(check_arena(), "%s" STR_FMT STR_FMT "|", request,
                                             STR_ARG(token), STR_ARG(session_field(c)))
                                    .at));
}

static void do_close(struct crowd *c)
{
    struct mcp_peer **p = any_peer(c);

    mcp_peer_close(*p);
    *p = NULL;
}

static void do_change(struct crowd *c)
{
    mcp_server_do(c->server, "state.patch", filled(c, "{'state_id':'$','merge':{'m':1}}"));
}

static void do_hold(struct crowd *c)
{
    c->server->holds = !c->server->holds;
    if (!c->server->holds)
        mcp_server_perform(c->server);
    mcp_server_turn(c->server);
}

static void do_wait(struct crowd *c)
{
    mcp_server_wait(c->server, 1 + random_below(c->random, 8));
}

static void (*const steps[])(struct crowd *c) = { do_post,  do_post,   do_post, do_post, do_other,
                                                  do_close, do_change, do_hold, do_wait };

static void crowd_run(bool fixtures, struct random *random)
{
    struct server_limits limits = server_limits_default();
    struct crowd c = { .random = random, .fixtures = fixtures };

    limits.mcp_progress_ms = 5;
    limits.mcp_wait_ms = 40;
    limits.mcp_session_ms = 200;
    limits.mcp_sessions_max = 3;
    c.server = mcp_server_open(&limits, fixtures);
    for (int i = 0; i < STEPS; i++)
        steps[random_below(random, sizeof steps / sizeof *steps)](&c);
    for (int i = 0; i < PEERS; i++)
        if (c.peers[i] && random_below(random, 2))
            mcp_peer_close(c.peers[i]);
        else if (c.peers[i])
            close(c.peers[i]->fd); /* found out while it stops */
    mcp_server_close(c.server);
    CHECK(!fixtures || c.server->performed == 0);
}

TEST_LIMIT(mcp_random_clients_leave_nothing_behind, 60)
{
    struct random random = random_start();

    crowd_run(false, &random);
}

TEST_LIMIT(mcp_random_clients_of_the_fixtures_leave_nothing_behind, 60)
{
    struct random random = random_start();

    crowd_run(true, &random);
}
