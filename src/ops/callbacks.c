/* callbacks.c: operations by which a session that somebody outside runs hears of its children.
 *
 * They are for what answers such a session anyway and puts in what waits. Looking is a read, so that
 * it costs next to nothing where, as nearly always, nothing does. */
#include "core/callback.h"
#include "ops/ops.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* The session that asks. One that is not registered has no children. */
static err session_own(struct tx *tx, struct session *out, bool *found)
{
    *found = false;
    return tx->actor->session_id.len ? session_find_id(tx, tx->actor->session_id, out, found)
                                     : NULL;
}

static err callback_waiting_op(struct tx *tx, const struct input *in, struct answer *out)
{
    bool found, waiting = false;
    struct session s;

    (void)in;
    TRY(session_own(tx, &s, &found));
    if (found && s.attended)
        TRY(news_waits(tx, s.id, &waiting));
    json_write_begin(&out->json, '{');
    write_bool(&out->json, STR("waiting"), waiting);
    json_write_end(&out->json, '}');
    return NULL;
}

static err callback_take_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str text = STR("");
    struct session s;
    size_t count = 0;
    bool found;

    (void)in;
    TRY(session_own(tx, &s, &found));
    if (found)
        TRY(news_take(tx, &s, false, &text, &count));
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("count"), (int64_t)count);
    write_text(&out->json, STR("text"), text);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off
#define NO_FIELDS "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}"

static const struct op ops[] = {
    {
        .name = "callback.waiting", .by = BY_SESSION,
        .summary = "Tell whether ends of children wait for a session that somebody outside runs.",
        .input = NO_FIELDS,
        .output = SHAPE(JSON("waiting"), JSON(
            "waiting": { "type": "boolean", "description": "Whether there are some to take." })),
        .run = callback_waiting_op,
    },
    {
        .name = "callback.take", .effect = OP_WRITES, .by = BY_SESSION,
        .summary = "Take the ends of children that wait: they are delivered by being given.",
        .input = NO_FIELDS,
        .output = SHAPE(JSON("count", "text"), JSON(
            "count": { "type": "integer", "minimum": 0, "description": "How many ends the text tells of." },
            "text": { "type": "string", "description": "What the agent is to be told; empty: nothing waits." })),
        .run = callback_take_op,
    },
};
// clang-format on

const struct op_list callback_ops = { ops, sizeof ops / sizeof *ops };
