/* system.c: what the server asks of itself.
 *
 * These operations are on no surface and for no token: the server calls them. The
 * one who keeps time performs system.tick when something is due, and again while
 * it says that there is more. */
#include "core/retain.h"
#include "ops/ops.h"
#include "ops/write.h"

/* What each kind of due row does. It stands here, above all rules, so that a rule that adds a row
 * need not know the rule that the row fires. */
static const struct due_work works[DUE_KIND_COUNT] = {
    [DUE_COMPACT_STATE] = { .run = retain_compact_state },
    [DUE_PURGE_STATE] = { .run = retain_purge_state },
    [DUE_FORGET_KEYS] = { .run = retain_forget_keys, .recurs = true },
    [DUE_MOVE_FLOOR] = { .run = retain_move_floor, .recurs = true },
};

static err system_tick_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t next_at;

    (void)in;
    TRY(due_fire(tx, works));
    TRY(due_next(tx, &next_at));
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("next_at"));
    if (next_at)
        json_write_int(&out->json, next_at);
    else
        json_write_null(&out->json);
    json_write_name(&out->json, STR("more"));
    json_write_bool(&out->json, next_at && next_at <= tx->now_ms);
    json_write_end(&out->json, '}');
    return NULL;
}

/* The number itself is of no use to who asks: a read is answered after all that it saw. */
static err system_seen_op(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)in;
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("seq"));
    json_write_int(&out->json, *tx->seq);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "system.tick", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Do one piece of the work whose time has come.",
        .input = JSON({ "type": "object", "additionalProperties": false, "properties": {} }),
        .output = JSON({
            "type": "object", "required": ["next_at", "more"],
            "properties": {
                "next_at": { "type": ["integer", "null"],
                    "description": "When the next work is due, in milliseconds since 1970; null: none is." },
                "more": { "type": "boolean", "description": "Whether that time has come already." } } }),
        .run = system_tick_op,
    },
    {
        .name = "system.seen", .effect = OP_READS, .by = BY_SYSTEM,
        .summary = "Look how far the log goes.",
        .input = JSON({ "type": "object", "additionalProperties": false, "properties": {} }),
        .output = JSON({
            "type": "object", "required": ["seq"],
            "properties": {
                "seq": { "type": "integer", "description": "The number of the last event." } } }),
        .run = system_seen_op,
    },
};
// clang-format on

const struct op_list system_ops = { ops, sizeof ops / sizeof *ops };
