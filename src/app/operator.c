/* operator.c: tokens in files, which the operator's programs and the server's own runner read. */
#include "app/operator.h"

#include <assert.h>

#include "app/data.h"
#include "base/log.h"
#include "core/tx.h"

/* A kind of token that is kept in a file. */
struct kept_token {
    enum actor_kind actor;
    const char *kind, *file;
};

/* Whether the token is one that comes in as such; false for none. */
static err token_works(struct arena *a, struct engine *e, const struct kept_token *k, str token,
                       bool *works)
{
    struct grant *grant;

    *works = false;
    if (!token.len)
        return NULL;
    err refused = op_admit(e, a, token, &grant);
    if (refused)
        return refused->kind == ERR_UNAUTHENTICATED ? NULL : refused;
    *works = grant->actor->kind == k->actor;
    grant_unref(grant);
    return NULL;
}

static err token_mint(struct arena *a, struct engine *e, const struct kept_token *k, str *token)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct json input = json_object();
    const struct json *answer;

    json_put(a, &input, STR("kind"), json_string(str_from(k->kind)));
    struct command c = {
        .arena = a, .op = op_find(e->table, STR("token.create")), .input = &input, .actor = &system
    };
    op_perform(e, &(struct command *){ &c }, 1);
    if (e->stopped)
        return err_new(a, ERR_UNAVAILABLE,
                       "the disk failed while the %s's token was made: "
                       "see the system's log, then start again",
                       k->kind);
    if (c.error)
        return err_within(a, c.error, "making the %s's token", k->kind);
    TRY(json_parse_own(a, c.answer.text, &answer));
    *token = json_str(answer, "token");
    assert(token->len > 0);
    return NULL;
}

/* The file is written after the commit: a crash between them costs a token that nobody knows. */
static err token_keep(struct arena *a, struct engine *e, const struct kept_token *k, str folder)
{
    str path = data_path(a, folder, k->file), token;
    bool works;

    TRY(data_read(a, path, &token));
    token = str_trim(token);
    TRY(token_works(a, e, k, token, &works));
    if (works)
        return NULL;
    if (token.len)
        log_warn(k->file, LOG_S("why", STR("the one in the file is not valid any more")));
    TRY(token_mint(a, e, k, &token));
    return data_write(a, path, arena_printf(a, STR_FMT "\n", STR_ARG(token)));
}

err operator_token(struct arena *a, struct engine *e, str folder)
{
    static const struct kept_token k = { ACTOR_OPERATOR, "operator", "operator.token" };
    return token_keep(a, e, &k, folder);
}

err runner_token(struct arena *a, struct engine *e, str folder)
{
    static const struct kept_token k = { ACTOR_RUNNER, "runner", "runner.token" };
    return token_keep(a, e, &k, folder);
}
