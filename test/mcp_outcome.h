/* mcp_outcome.h: MCP without a transport, for tests of what becomes of a message.
 *
 * That is written as a line: `200 result`, `404 -32601`, `202 accepted`, `perform state.list`,
 * `listen`. */
#ifndef TEST_MCP_OUTCOME_H
#define TEST_MCP_OUTCOME_H

#include "json_help.h"
#include "mcp/mcp_private.h"
#include "sim/world.h"
#include "suites/suites.h"

struct fixture {
    struct arena *arena;
    struct op_table *table;
    struct mcp *mcp;
    struct actor actor;
};

static inline struct fixture fixture_open(bool fixtures)
{
    struct fixture s = { .arena = check_arena(), .actor = { .kind = ACTOR_OPERATOR } };

    CHECK_OK(op_table_all(s.arena, &s.table));
    s.mcp = mcp_new(&(struct mcp_options){ .table = s.table,
                                           .version = "1.2.3",
                                           .served = fixtures ? &mcp_fixtures : NULL,
                                           .wait_ms = 45000 });
    return s;
}

static inline void fixture_close(struct fixture *s)
{
    mcp_free(s->mcp);
    op_table_free(s->table);
}

/* The head is lines of `Name: value`. */
static inline bool find_field(const void *self, const char *name, str *value)
{
    str rest = str_from(self), line, found;

    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (str_cut(line, ':', &found, value) && found.len == strlen(name) &&
            strncasecmp(found.at, name, found.len) == 0)
            return true;
    }
    return false;
}

/* What there is of a session of an older client. */
static const struct mcp_client older = { .version = MCP_2025_06_18, .elicits_form = true };

/* `head` NULL: it did not come by HTTP. */
static inline struct mcp_call *begin(struct fixture *s, const char *head,
                                     const struct mcp_client *session, str body)
{
    struct mcp_call *m = ARENA_NEW(s->arena, struct mcp_call);

    m->arena = s->arena;
    m->mcp = s->mcp;
    m->actor = s->mcp->options.served ? NULL : &s->actor;
    m->session = session;
    m->now_ms = 1736937300000;
    if (head)
        m->head = (struct mcp_head){ find_field, head };
    mcp_begin(m, body);
    return m;
}

static inline const struct json *answer_of(const struct mcp_call *m)
{
    const struct json *answer = json_parsed(m->arena, m->answer);

    CHECK_STR(json_str(answer, "jsonrpc"), "2.0");
    return answer;
}

static inline str outcome(const struct mcp_call *m)
{
    switch (m->next) {
    case MCP_ACCEPTED: return arena_printf(m->arena, "%d accepted", m->status);
    case MCP_PERFORM: return arena_printf(m->arena, "perform %s", m->op->name);
    case MCP_LISTEN: return STR("listen");
    case MCP_PLAY: return STR("play");
    default: break;
    }
    const struct json *answer = answer_of(m), *error = json_get(answer, "error");
    const struct json *id = json_get(answer, "id");
    if (m->message.id && m->message.kind == RPC_REQUEST)
        CHECK(id && json_equal(id, m->message.id));
    else
        CHECK(!id);
    if (!error)
        return arena_printf(m->arena, "%d result%s", m->status,
                            m->next == MCP_INITIALIZE ? " and a session" : "");
    CHECK(json_str(error, "message").len > 0);
    return arena_printf(m->arena, "%d %lld", m->status, (long long)json_int_or(error, "code", 0));
}

static inline void check_outcome(const struct mcp_call *m, const char *expected, const char *what)
{
    str found = outcome(m);

    if (!str_eq(found, str_from(expected)))
        check_fail(__FILE__, __LINE__, "%s\n  found " STR_FMT ", expected %s; " STR_FMT, what,
                   STR_ARG(found), expected, STR_ARG(m->answer));
}

#define META                                                    \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':"       \
    "'2026-07-28','io.modelcontextprotocol/clientCapabilities'" \
    ":{}}"
#define REQUEST(method, params) \
    "{'jsonrpc':'2.0','id':1,'method':'" method "','params':{" params "}}"
#define CALL(params) REQUEST("tools/call", params "," META)
#define HEAD(method) "MCP-Protocol-Version: 2026-07-28\nMcp-Method: " method "\n"

#endif
