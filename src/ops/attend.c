/* attend.c: the operation session.attend: which session the tools of a client speak for.
 *
 * `baton mcp` asks, for an agent that a person has started. What its hooks have registered, or will,
 * is the same session. */
#include "core/alias.h"
#include "ops/hooks.h"
#include "ops/ops.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* The conversation that followed in the same process on one that has ended: tools are told of the first
 * alone (Claude Code: /clear), and hooks of each. Whether it is at work does not matter: of a prompt that
 * was typed into a turn, no hook tells. */
static err session_following(struct tx *tx, const struct input *in, struct session *s)
{
    str process = input_str(in, "process"), known = STR("");
    struct session next;
    bool found = false;

    if (session_is_live(s->status) || !process.len)
        return NULL;
    TRY(alias_find(tx, ALIAS_PROCESS, process, &known));
    if (known.len)
        TRY(session_find_id(tx, known, &next, &found));
    if (found && next.attended)
        *s = next;
    return NULL;
}

/* What it is an alias of: by its conversation, or by its process, which hooks may have told of; else the
 * one of that id, and none that is only named so. */
static err session_known(struct tx *tx, const struct input *in, str id, struct session *out,
                         bool *found)
{
    str process = input_str(in, "process"), known = STR("");
    bool told = input_str(in, "conversation").len > 0;

    if (told)
        TRY(alias_find(tx, ALIAS_CONVERSATION, id, &known));
    else if (process.len)
        TRY(alias_find(tx, ALIAS_PROCESS, process, &known));
    TRY(session_find_id(tx, known.len ? known : id, out, found));
    return told && *found ? session_following(tx, in, out) : NULL;
}

static err session_register(struct tx *tx, const struct input *in, str id, struct session *out,
                            str *notice)
{
    str parent = input_str(in, "parent"), dir = input_str(in, "project_dir");
    struct session above;
    struct session_new n = { .id = id, .project_dir = dir, .attended = true, .calls_back = true };
    bool found = false;

    TRY(hook_session_name(tx, input_str(in, "client"), dir, id, &n.name));
    if (parent.len)
        TRY(session_find(tx, parent, &above, &found));
    if (found)
        n.parent = above.id;
    else if (parent.len)
        *notice = hook_no_parent(tx->arena, parent);
    return session_create(tx, &n, out);
}

static err session_attend_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str own = input_str(in, "conversation"), process = input_str(in, "process");
    str client = input_str(in, "client");
    str id = own.len ? hook_session_id(tx->arena, client, own) : input_str(in, "session_id");
    struct member_place place = hook_place(in, "workflow_state_id");
    str notice = STR("");
    struct session s;
    bool found;

    if (!id.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a \"conversation\", or the \"session_id\" that it is to have");
    TRY(session_known(tx, in, id, &s, &found));
    if (found && !s.attended)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " is run from here, and speaks for itself",
                       STR_ARG(s.name));
    if (!found)
        TRY(session_register(tx, in, id, &s, &notice));
    TRY(member_settle(tx, &s, &place, &notice));
    if (process.len)
        TRY(alias_set(tx, ALIAS_PROCESS, process, s.id));
    out->created = !found;
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("session_id"), s.id);
    write_text(&out->json, STR("session_name"), s.name);
    write_or_null(&out->json, STR("project"), s.project);
    write_or_null(&out->json, STR("notice"), notice);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off

static const struct op ops[] = {
    {
        .name = "session.attend", .http = "POST /sessions/attend", .effect = OP_WRITES,
        .on = ON_HTTP, .by = BY_OPERATOR,
        .summary = "Find the session of an agent that somebody runs outside of baton, or register it: one for its hooks and its tools.",
        .input = FIELDS(JSON("client"), JSON(
            "client": { "type": "string", "pattern": "^[A-Za-z0-9-]{1,40}$", "description": "What runs it: claude, codex, gemini or another word." },
            "conversation": { "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "What its client calls the conversation, as hooks tell it." },
            "process": { "type": "string", "minLength": 1, "maxLength": 200,
                "description": "The process that its client is, where it does not tell its tools of the conversation." },
            "session_id": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The id that it is to have if nobody knows it and there is no conversation." },
            "parent": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The session that an unknown one is registered below, by id or name." },
            "project_dir": { "type": "string", "minLength": 1, "maxLength": 1200, "description": "The folder that it works in, for a session that baton does not know yet; of a known one it is ignored." },
            "workflow_state_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The state that a root is to have, which it does not own by that: WORKFLOW_STATE_ID." },
            "host": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The machine that the client runs on." },
            "common_dir": { "type": "string", "minLength": 1, "maxLength": 1200,
                "description": "Git's common directory of its folder, or without git the folder: the project is found by it." },
            "worktree": { "type": "string", "minLength": 1, "maxLength": 1200, "description": "The top of the working tree that it is in." },
            "project": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The project that it is to be a member of, whatever its folder; off: of none." })),
        .output = SHAPE(JSON("session_id", "session_name"), JSON(
            "session_id": { "type": "string", "description": "The id of the session that the client speaks for from now on: session.get and all others take it." },
            "session_name": { "type": "string", "description": "How people call it; requests take it in place of the id." },
            "project": { "type": ["string", "null"], "description": "The project that it is a member of; null: of none." },
            "notice": { "type": ["string", "null"], "description": "What was asked for by a variable and could not be followed, in sentences; null: all could." })),
        .run = session_attend_op,
    },
};
// clang-format on

const struct op_list attend_ops = { ops, sizeof ops / sizeof *ops };
