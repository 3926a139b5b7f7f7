/* mcp_direct.h: MCP in front of the operations, without a transport: for tests.
 *
 * Each command lives in an arena of its own, which is gone as soon as the call has heard of it, as
 * it is in the server. */
#ifndef TEST_MCP_DIRECT_H
#define TEST_MCP_DIRECT_H

#include "core/tx.h"
#include "json_help.h"
#include "mcp/mcp_private.h"
#include "sim/world.h"

struct mcp_direct {
    struct world *w;
    struct mcp *mcp;
    struct mcp_client legacy; /* what the session of an older client knows */
    bool tasks;               /* the newer client has the extension */
    int performed;            /* how many operations the last call took */
    struct mcp_call *call;    /* the last one */
};

static inline struct mcp_direct *mcp_direct_new(const char *path)
{
    struct mcp_direct *r = ARENA_NEW(check_arena(), struct mcp_direct);
    struct mcp_options o = { .version = "1.2.3",
                             .secret = "a secret of thirty-two bytes...",
                             .wait_ms = 45000 };

    CHECK_OK(world_open(path, NULL, &r->w));
    o.table = r->w->table;
    r->mcp = mcp_new(&o);
    r->legacy.version = MCP_2025_06_18;
    return r;
}

static inline void mcp_direct_free(struct mcp_direct *r)
{
    mcp_free(r->mcp);
    world_close(r->w);
}

/* ---- operations by hand, which must succeed ---- */

static inline const struct json *mcp_direct_did(struct mcp_direct *r, const char *op,
                                                const char *input)
{
    const struct command *c = world_call(r->w, op, input, "");

    CHECK_OK(c->error);
    return json_parsed(check_arena(), c->answer.text);
}

/* Many of them in one transaction: `input` is told the number of each. */
static inline void mcp_direct_did_many(struct mcp_direct *r, const char *op, int count,
                                       str (*input)(struct arena *a, int number))
{
    struct command **all = ARENA_ARRAY(check_arena(), struct command *, (size_t)count);

    for (int i = 0; i < count; i++)
        all[i] = world_command(r->w, op, input(check_arena(), i).at, "");
    op_perform(&r->w->engine, all, (size_t)count);
    for (int i = 0; i < count; i++)
        CHECK_OK(all[i]->error);
}

/* Whoever acts next: a session, of whose state it is told; the operator; a viewer. */
static inline void mcp_direct_as(struct mcp_direct *r, enum actor_kind kind, const char *token,
                                 const char *id, str state_id)
{
    r->w->actor = (struct actor){ .kind = kind,
                                  .name = str_from(token),
                                  .token_id = str_from(token),
                                  .session_id = str_from(id),
                                  .state_id = state_id };
}

static inline void mcp_direct_as_operator(struct mcp_direct *r)
{
    mcp_direct_as(r, ACTOR_OPERATOR, "operator", "", STR(""));
}

/* ---- messages ---- */

/* A call without a message yet. */
static inline struct mcp_call *mcp_direct_call(struct mcp_direct *r)
{
    struct mcp_call *m = ARENA_NEW(check_arena(), struct mcp_call);
    struct actor *actor = ARENA_NEW(check_arena(), struct actor);

    *actor = r->w->actor;
    m->arena = check_arena();
    m->mcp = r->mcp;
    m->actor = actor;
    m->now_ms = r->w->now_ms;
    return r->call = m;
}

/* Performs what the call asks for, until something else is next. */
static inline void mcp_direct_finish(struct mcp_direct *r, struct mcp_call *m)
{
    for (r->performed = 0; m->next == MCP_PERFORM; r->performed++) {
        struct arena *a = arena_new();
        struct json input = json_copy(a, m->input);
        struct command command = {
            .arena = a, .op = m->op, .input = &input, .actor = m->actor, .by_person = m->by_person
        };

        op_perform(&r->w->engine, &(struct command *){ &command }, 1);
        CHECK(!command.answer.waits);
        world_check_answer(r->w, &command);
        mcp_performed(m, &command);
        arena_free(a);
    }
}

/* A message, of which `params` is the members of its params, written with single quotes. The whole
 * answer. */
static inline const struct json *mcp_direct_said(struct mcp_direct *r, bool modern,
                                                 const char *method, const char *params)
{
    struct mcp_call *m = mcp_direct_call(r);
    str meta = STR("");

    if (modern)
        meta = arena_printf(m->arena,
                            "%s'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                            "'io.modelcontextprotocol/clientCapabilities':{%s}}",
                            *params ? "," : "",
                            r->tasks ? "'extensions':{'io.modelcontextprotocol/tasks':{}}" : "");
    m->session = modern ? NULL : &r->legacy;
    str text = arena_printf(m->arena,
                            "{'jsonrpc':'2.0','id':7,'method':'%s','params':{%s" STR_FMT "}}",
                            method, params, STR_ARG(meta));
    struct json body = json_of(m->arena, text.at);
    mcp_begin(m, json_printed(m->arena, &body));
    mcp_direct_finish(r, m);
    return json_parsed(m->arena, m->answer);
}

static inline const struct json *mcp_direct_member(struct mcp_direct *r, const struct json *said,
                                                   const char *name)
{
    if (!json_get(said, name))
        check_fail(__FILE__, __LINE__, "expected a member %s, found " STR_FMT, name,
                   STR_ARG(r->call->answer));
    return json_get(said, name);
}

static inline const struct json *mcp_direct_result(struct mcp_direct *r, bool modern,
                                                   const char *method, const char *params)
{
    return mcp_direct_member(r, mcp_direct_said(r, modern, method, params), "result");
}

/* The code of an error that it must be. */
static inline int64_t mcp_direct_refused(struct mcp_direct *r, bool modern, const char *method,
                                         const char *params)
{
    return json_int_or(mcp_direct_member(r, mcp_direct_said(r, modern, method, params), "error"),
                       "code", 0);
}

#endif
