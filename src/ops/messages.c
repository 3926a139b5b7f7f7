/* messages.c: operations by which agents and people write to each other. */
#include "core/message.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

static void write_members(struct json_writer *w, const struct message *m)
{
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
}

static void write_message(struct json_writer *w, const struct message *m)
{
    json_write_begin(w, '{');
    write_members(w, m);
    json_write_end(w, '}');
}

/* To one or to many: all of them, or none where one cannot take it. */
static err send_to(struct tx *tx, const struct input *in, str to, struct answer *out)
{
    struct session *all;
    size_t count;

    TRY(message_receivers(tx, to, &all, &count));
    struct message *sent = ARENA_ARRAY(tx->arena, struct message, count);
    for (size_t i = 0; i < count; i++)
        TRY(message_send(tx, &all[i], input_str(in, "message"), false, &sent[i]));
    out->created = true;
    json_write_begin(&out->json, '{');
    write_members(&out->json, &sent[0]);
    if (str_find(to, ':') < to.len) {
        write_begin(&out->json, STR("messages"), '[');
        for (size_t i = 0; i < count; i++)
            write_message(&out->json, &sent[i]);
        json_write_end(&out->json, ']');
    }
    json_write_end(&out->json, '}');
    return NULL;
}

static err message_send_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return send_to(tx, in, input_str(in, "to"), out);
}

static err session_message_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return send_to(tx, in, input_str(in, "session_id"), out);
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

#define MESSAGE_REQUIRED JSON("message_id", "sender_id", "sender_name", "receiver_id", "receiver_name", "status", \
        "message", "created_at", "delivered_at")

#define MESSAGE_MEMBERS JSON( \
    "message_id": { "type": "string", "description": "What it is known by, also in what its receiver reads." }, \
    "sender_id": { "type": ["string", "null"], "description": "The session that sent it; null: a person, or baton itself." }, \
    "sender_name": { "type": ["string", "null"], "description": "How that is called; null: baton itself." }, \
    "receiver_id": { "type": "string", "description": "The session that it is for." }, \
    "receiver_name": { "type": "string", "description": "How that was called when it was sent." }, \
    "status": { "enum": ["pending", "delivered", "failed"], "description": "Whether its receiver has read it." }, \
    "error": { "type": ["string", "null"], "description": "Why it could not be delivered." }, \
    "message": { "type": "string", "description": "What was written." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was sent." }, \
    "delivered_at": { "type": ["string", "null"], "format": "date-time", "description": "When it arrived; null: not yet." })

#define MESSAGE_SHAPE SHAPE(MESSAGE_REQUIRED, MESSAGE_MEMBERS)

#define SENT_SHAPE SHAPE(MESSAGE_REQUIRED, MESSAGE_MEMBERS "," \
    SHAPE_LIST("messages", "To a role or a tree: all that were sent, of which the members above are the first.", MESSAGE_SHAPE))

#define TEXT_AND_KEY JSON( \
    "message": { "type": "string", "minLength": 1, "maxLength": 16384, "description": "What to write, in at most 16 KiB." }, \
    "key": { "type": "string", "minLength": 1, "maxLength": 255, "description": "The same key again sends nothing, and is answered as the first time: an Idempotency-Key." })

static const struct op ops[] = {
    {
        .name = "message.send", .http = "POST /messages", .effect = OP_WRITES, .keyed = true, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "send_message", .tier = TIER_ROOT,
        .summary = "Write to a session, a role or a tree: they read that with their next prompt or tool; a person's wakes those that are idle.",
        .hint = "Write to another agent of your project or below you; it reads that when it works next.",
        .input = FIELDS(JSON("to", "message"), JSON(
            "to": { "type": "string", "minLength": 1, "maxLength": 105, "description": "The session, by name or id; role:AGENT: all live ones with that role; tree:SESSION: that one and all live ones below it. At most 64." }) "," TEXT_AND_KEY),
        .tool_input = JSON({ "to": "Name of a session; role:AGENT and tree:SESSION mean all of these", "message": "" }),
        .tool_output = JSON({ "message_id": true, "receiver_name": true, "status": true, "messages": { "message_id": true, "receiver_name": true, "status": true } }),
        .output = SENT_SHAPE, .run = message_send_op,
    },
    {
        .name = "session.message", .http = "POST /sessions/{session_id}/messages", .effect = OP_WRITES, .keyed = true, .on = ON_HTTP,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Write to a session: message.send to the one that the path names.",
        .input = FIELDS(JSON("session_id", "message"), JSON(
            "session_id": { "type": "string", "minLength": 1, "maxLength": 105, "description": "The session, by name or id; or a role or a tree, as message.send has them." }) "," TEXT_AND_KEY),
        .output = SENT_SHAPE, .run = session_message_op,
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
