/* prompts.c: texts that agents get from us, for those who want to see them or to ask by hand. */
#include "core/prompt.h"
#include "core/session.h"
#include "ops/ops.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* As it is asked for the first time; what the session was asked already does not count here. */
static err update_text(struct tx *tx, struct session *s, struct state *state, str *out)
{
    if (!s->state_id.len)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "session " STR_FMT " has no state to record anything in: its root can "
                       "create one",
                       STR_ARG(s->name));
    TRY(state_get(tx, s->state_id, state));
    s->update_attempts = 1;
    return prompt_update(tx, s, state, 1, out);
}

static err prompt_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str wanted = input_str(in, "session_id"), text;
    struct session s;
    struct state state;

    if (!wanted.len)
        wanted = tx->actor->session_id;
    if (!wanted.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"session_id\", the session that is to be asked: this token is "
                       "not a session's own");
    TRY(session_get(tx, wanted, &s));
    TRY(update_text(tx, &s, &state, &text));
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("session_id"), s.id);
    write_text(&out->json, STR("session_name"), s.name);
    write_text(&out->json, STR("state_id"), state.id);
    write_int(&out->json, STR("state_version"), state.version);
    write_text(&out->json, STR("text"), text);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off

static const struct op ops[] = {
    {
        .name = "prompt.update", .http = "GET /prompts/update", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show how a session is asked to record its results in the state.",
        .input = JSON({
            "type": "object", "additionalProperties": false,
            "properties": {
                "session_id": { "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "The session, by id or name; a session's token means its own without this." } } }),
        .output = SHAPE(JSON("session_id", "session_name", "state_id", "state_version", "text"), JSON(
            "session_id": { "type": "string", "description": "The id of the session that the text was written for." },
            "session_name": { "type": "string", "description": "How people call that session." },
            "state_id": { "type": "string", "description": "The state that it is to write to." },
            "state_version": { "type": "integer", "minimum": 1, "description": "The version that the text shows." },
            "text": { "type": "string", "description": "The text to put before its agent." })),
        .run = prompt_update_op,
    },
};
// clang-format on

const struct op_list prompt_ops = { ops, sizeof ops / sizeof *ops };
