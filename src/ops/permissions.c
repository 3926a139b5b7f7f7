/* permissions.c: operations on what agents want to do and a person decides. */
#include "core/permission.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

static void write_permission(struct tx *tx, struct json_writer *w, const struct permission *p)
{
    json_write_begin(w, '{');
    write_text(w, STR("permission_id"), p->id);
    write_text(w, STR("status"), team_name(&permission_words, (int)p->status));
    write_text(w, STR("session_id"), p->session_id);
    write_text(w, STR("session_name"), p->session_name);
    write_text(w, STR("client"), p->client);
    write_text(w, STR("tool_name"), p->tool);
    write_stored(tx, w, STR("tool_input"), THING("permission", p->id), p->input);
    write_or_null(w, STR("reason"), p->reason);
    write_or_null(w, STR("decided_by"), p->decided_by);
    write_time(w, STR("created_at"), p->created_at_ms);
    write_time_or_null(w, STR("decided_at"), p->decided_at_ms);
    json_write_end(w, '}');
}

static err permission_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct permission_filter f = { .after = input_str(in, "after"),
                                   .status = input_str(in, "status"),
                                   .limit = page_rows(in) };
    const struct permission *all;
    struct session s;
    size_t count;

    if (input_str(in, "session").len) {
        TRY(session_get(tx, input_str(in, "session"), &s));
        f.session_id = s.id;
    }
    TRY(permission_list(tx, &f, &all, &count));
    size_t shown = page_begin(in, out, STR("permissions"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_permission(tx, &out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err permission_resolve_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct permission p;

    TRY(permission_resolve(tx, input_str(in, "permission_id"),
                           str_eq(input_str(in, "decision"), STR("allow")), input_str(in, "reason"),
                           &p));
    write_permission(tx, &out->json, &p);
    return NULL;
}

// clang-format off

#define PERMISSION_SHAPE SHAPE(JSON("permission_id", "status", "session_id", "session_name",       \
    "client", "tool_name", "tool_input", "created_at"), JSON(                                      \
    "permission_id": { "type": "string", "description": "What permission.resolve takes." },                               \
    "status": { "enum": ["waiting", "allowed", "denied", "expired", "withdrawn"],                  \
        "description": "What was decided; expired: nobody did in time; withdrawn: its session has settled." }, \
    "session_id": { "type": "string", "description": "The id of the session whose agent wants to use the tool." }, \
    "session_name": { "type": "string", "description": "How people call that session." },          \
    "client": { "type": "string", "description": "Which client the agent runs in: claude, codex or gemini." },                                  \
    "tool_name": { "type": "string", "description": "The tool that it wants to use." },            \
    "tool_input": { "type": "object", "description": "What for; long texts are cut." },            \
    "reason": { "type": ["string", "null"], "description": "What whoever decided gave as a reason; null: none, or it waits still." }, \
    "decided_by": { "type": ["string", "null"], "description": "The name of the token that decided it, or system where its time ran out; null: it waits still." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When the agent asked for it." }, \
    "decided_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was decided; null: it waits still." }))

static const struct op ops[] = {
    {
        .name = "permission.list", .http = "GET /permissions", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "List what agents want to do and a person decides, by id.",
        .input = FIELDS("", JSON(
            "status": { "enum": ["waiting", "allowed", "denied", "expired", "withdrawn"], "description": "Only those with this status; all of them when it is not given." },
            "session": { "type": "string", "description": "Only those of this session, by id or name." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("permissions"), SHAPE_LIST("permissions", "A page of them.", PERMISSION_SHAPE) "," PAGE_NEXT),
        .run = permission_list_op,
    },
    {
        .name = "permission.resolve", .http = "POST /permissions/{permission_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Allow or deny what an agent wants to do; its session is then resumed.",
        .input = FIELDS(JSON("permission_id", "decision"), JSON(
            "permission_id": { "type": "string", "description": "The request to decide on, as permission.list and the event approval_requested name it." },
            "decision": { "enum": ["allow", "deny"], "description": "allow: the agent may make exactly this call, once; deny: it is told that it may not." },
            "reason": { "type": "string", "maxLength": 1000, "description": "Why, in words that the agent reads; may be left out." })),
        .output = PERMISSION_SHAPE, .run = permission_resolve_op,
    },
};
// clang-format on

const struct op_list permission_ops = { ops, sizeof ops / sizeof *ops };
