/* parts.c: operations that methods perform: asked for, answered, refused. */
#include <assert.h>

#include "mcp/parts.h"

void mcp_ask_with(struct mcp_call *m, const char *op, struct json input,
                  void (*then)(struct mcp_call *m, const struct command *done))
{
    struct json *kept = ARENA_NEW(m->arena, struct json);

    *kept = input;
    mcp_ask(m, op, kept, then);
}

const struct json *mcp_answer_json(struct mcp_call *m, const struct command *done)
{
    const struct json *answer;
    err unread = json_parse_own(m->arena, arena_copy(m->arena, done->answer.text), &answer);

    assert(!unread); /* we have printed it ourselves */
    return answer;
}

bool error_says_unknown(err e)
{
    return e->kind == ERR_NOT_FOUND || e->kind == ERR_GONE || e->kind == ERR_INVALID;
}

void mcp_refuse_error(struct mcp_call *m, err e, enum rpc_code unknown, str data)
{
    enum rpc_code code = error_says_unknown(e) ? unknown
                                               : (enum rpc_code)error_kind_info(e->kind)->rpc;

    mcp_refuse(m, code, error_says_unknown(e) ? data : STR(""), STR_FMT, STR_ARG(e->message));
}

bool mcp_one_page(struct mcp_call *m)
{
    str after;

    if (!mcp_cursor(m, &after))
        return false;
    if (after.len)
        mcp_refuse(m, RPC_PARAMS, STR(""), "this list has one page: leave out \"cursor\"");
    return !after.len;
}
