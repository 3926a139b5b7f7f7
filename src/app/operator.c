/* operator.c: the operator's token, in a file that the operator's programs read. */
#include "app/operator.h"

#include <assert.h>

#include "app/data.h"
#include "base/log.h"
#include "core/tx.h"

/* Whether the token is one that may come in as operator; false for none. */
static err token_works(struct arena *a, struct engine *e, str token, bool *works)
{
    struct grant *grant;

    *works = false;
    if (!token.len)
        return NULL;
    err refused = op_admit(e, a, token, &grant);
    if (refused)
        return refused->kind == ERR_UNAUTHENTICATED ? NULL : refused;
    *works = grant->operates;
    grant_unref(grant);
    return NULL;
}

static err token_mint(struct arena *a, struct engine *e, str *token)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct json input = json_object();
    const struct json *answer;

    json_put(a, &input, STR("kind"), json_string(STR("operator")));
    struct command c = {
        .arena = a, .op = op_find(e->table, STR("token.create")), .input = &input, .actor = &system
    };
    op_perform(e, &(struct command *){ &c }, 1);
    if (e->stopped)
        return err_new(a, ERR_UNAVAILABLE,
                       "the disk failed while the operator's token was made: "
                       "see the system's log, then start again");
    if (c.error)
        return err_within(a, c.error, "making the operator's token");
    TRY(json_parse(a, c.answer, NULL, &answer));
    *token = json_str(answer, "token");
    assert(token->len > 0);
    return NULL;
}

/* The file is written after the commit: a crash between them costs a token that nobody knows. */
err operator_token(struct arena *a, struct engine *e, str folder)
{
    str path = data_path(a, folder, "operator.token"), token;
    bool works;

    TRY(data_read(a, path, &token));
    token = str_trim(token);
    TRY(token_works(a, e, token, &works));
    if (works)
        return NULL;
    if (token.len)
        log_warn("operator.token", LOG_S("why", STR("the one in the file is not valid any more")));
    TRY(token_mint(a, e, &token));
    return data_write(a, path, arena_printf(a, STR_FMT "\n", STR_ARG(token)));
}
