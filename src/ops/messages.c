/* messages.c: operations by which agents and people write to each other. */
#include "core/message.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

static void write_message(struct json_writer *w, const struct message *m)
{
    json_write_begin(w, '{');
    write_text(w, STR("message_id"), m->id);
    write_or_null(w, STR("sender_id"), m->sender_id);
    write_or_null(w, STR("sender_name"), m->sender_name);
    write_text(w, STR("receiver_id"), m->receiver_id);
    write_text(w, STR("receiver_name"), m->receiver_name);
    write_text(w, STR("status"), team_name(&message_words, (int)m->status));
    write_or_null(w, STR("error"), m->error);
    write_text(w, STR("message"), m->text);
    write_time(w, STR("created_at"), m->created_at_ms);
    write_time_or_null(w, STR("delivered_at"), m->delivered_at_ms);
    json_write_end(w, '}');
}

static err message_send_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session to;
    struct message m;

    TRY(session_see(tx, input_str(in, "to"), &to));
    if (str_eq(to.id, tx->actor->session_id))
        return err_new(tx->arena, ERR_INVALID,
                       "a session cannot write to itself: list_agent_sessions tells who else there "
                       "is");
    TRY(message_send(tx, &to, input_str(in, "message"), false, &m));
    out->created = true;
    write_message(&out->json, &m);
    return NULL;
}

static err message_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct message_filter filter = { .after = input_str(in, "after"),
                                     .status = input_str(in, "status"),
                                     .limit = page_rows(in) };
    const struct message *all;
    struct session s;
    size_t count;

    if (input_str(in, "session").len) {
        TRY(session_get(tx, input_str(in, "session"), &s));
        filter.session_id = s.id;
    }
    TRY(message_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("messages"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_message(&out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

// clang-format off

#define MESSAGE_SHAPE SHAPE(JSON("message_id", "sender_id", "sender_name", "receiver_id", "receiver_name", "status", \
        "message", "created_at", "delivered_at"), JSON( \
    "message_id": { "type": "string", "description": "What it is known by, also in what its receiver reads." }, \
    "sender_id": { "type": ["string", "null"], "description": "The session that sent it; null: a person, or baton itself." }, \
    "sender_name": { "type": ["string", "null"], "description": "How that is called; null: baton itself." }, \
    "receiver_id": { "type": "string", "description": "The session that it is for." }, \
    "receiver_name": { "type": "string", "description": "How that was called when it was sent." }, \
    "status": { "enum": ["pending", "delivered", "failed"], "description": "Whether its receiver has read it." }, \
    "error": { "type": ["string", "null"], "description": "Why it could not be delivered." }, \
    "message": { "type": "string", "description": "What was written." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was sent." }, \
    "delivered_at": { "type": ["string", "null"], "format": "date-time", "description": "When it arrived; null: not yet." }))

static const struct op ops[] = {
    {
        .name = "message.send", .http = "POST /messages", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "send_message", .tier = TIER_ROOT,
        .summary = "Write to a session: it reads that with its next prompt or tool; a person's wakes it when it is idle.",
        .hint = "Write to another agent of your project or below you; it reads that when it works next.",
        .input = FIELDS(JSON("to", "message"), JSON(
            "to": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The session, by name or id." },
            "message": { "type": "string", "minLength": 1, "maxLength": 16384, "description": "What to write, in at most 16 KiB." })),
        .tool_input = JSON({ "to": "Name of a session", "message": "" }),
        .tool_output = JSON({ "message_id": true, "receiver_name": true, "status": true }),
        .output = MESSAGE_SHAPE, .run = message_send_op,
    },
    {
        .name = "message.list", .http = "GET /messages", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "List messages by id; of a session, what it was sent and has sent.",
        .input = FIELDS("", JSON(
            "session": { "type": "string", "minLength": 1, "maxLength": 100, "description": "Only what this session was sent or has sent." },
            "status": { "enum": ["pending", "delivered", "failed"], "description": "Only those with this status." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("messages"), SHAPE_LIST("messages", "A page of them.", MESSAGE_SHAPE) "," PAGE_NEXT),
        .run = message_list_op,
    },
};
// clang-format on

const struct op_list message_ops = { ops, sizeof ops / sizeof *ops };
