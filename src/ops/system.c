/* system.c: what the server asks of itself.
 *
 * These operations are on no surface and for no token: the server calls them. The
 * one who keeps time performs system.tick when something is due, and again while
 * it says that there is more; before its first, it performs system.start. */
#include "core/callback.h"
#include "core/exec/approval.h"
#include "core/exec/job.h"
#include "core/exec/share.h"
#include "core/live_counts.h"
#include "core/member.h"
#include "core/node.h"
#include "core/permission.h"
#include "core/retain.h"
#include "core/token.h"
#include "core/wake_queue.h"
#include "ops/ops.h"
#include "ops/write.h"

/* What each kind of due row does. It stands here, above all rules, so that a rule that adds a row
 * need not know the rule that the row fires. */
static const struct due_work works[DUE_KIND_COUNT] = {
    [DUE_COMPACT_STATE] = { .run = retain_compact_state },
    [DUE_PURGE_STATE] = { .run = retain_purge_state },
    [DUE_FORGET_KEYS] = { .run = retain_forget_keys, .recurs = true },
    [DUE_MOVE_FLOOR] = { .run = retain_move_floor, .recurs = true },
    [DUE_RUN_READY] = { .run = run_due_ready },
    [DUE_RUN_MATCH] = { .run = run_due_match },
    [DUE_RUN_LEASE] = { .run = run_due_lease },
    [DUE_RUN_TIME] = { .run = run_due_time },
    [DUE_RUN_STOP] = { .run = run_due_stop },
    [DUE_RUNNER_SILENT] = { .run = runner_due_silent },
    [DUE_SESSION_STOP] = { .run = callback_due_stop },
    [DUE_UPDATE_OVERDUE] = { .run = callback_due_update },
    [DUE_CALLBACK_DELIVER] = { .run = callback_due_deliver },
    [DUE_PERMISSION_EXPIRE] = { .run = permission_due_expire },
    [DUE_APPROVAL_EXPIRE] = { .run = approval_due_expire },
    [DUE_TOKEN_LEASE] = { .run = callback_due_lease },
    [DUE_MEMBER_SILENT] = { .run = member_due_silent },
    [DUE_WAKE_RETURN] = { .run = wake_due_return },
    [DUE_EXECUTION_GO] = { .run = execution_due_go },
    [DUE_SHARE_TURN] = { .run = share_due_turn },
    [DUE_MARK_TIME] = { .run = execution_due_mark },
    [DUE_JOB_LEASE] = { .run = job_due_lease },
    [DUE_RETAIN_EXECUTION] = { .run = execution_due_retain },
    [DUE_WAKE_OFFER] = { .run = wake_due_offer },
    [DUE_WAKE_LEASE] = { .run = wake_due_lease },
    [DUE_RETAIN_STATE] = { .run = retain_state },
    [DUE_RETAIN_TREE] = { .run = retain_tree },
};

enum { NODES_MAX = 1000 };

static err others_alive(struct tx *tx, str node_id, bool *out)
{
    const struct node *all;
    size_t count;

    TRY(node_list(tx, STR(""), NODES_MAX, &all, &count));
    *out = false;
    for (size_t i = 0; i < count; i++)
        *out |= !str_eq(all[i].id, node_id) && node_alive(tx, &all[i]);
    return NULL;
}

/* While no server was there, nobody could be heard: no runner is late, and no holder of a token. */
static err system_start_op(struct tx *tx, const struct input *in, struct answer *out)
{
    bool others;

    TRY(others_alive(tx, input_str(in, "node_id"), &others));
    if (!others) {
        TRY(run_renew_all(tx));
        TRY(token_lease_all(tx));
    }
    json_write_begin(&out->json, '{');
    write_bool(&out->json, STR("renewed"), !others);
    json_write_end(&out->json, '}');
    return NULL;
}

/* An error names the row whose firing failed, so that this one can be put off, and no other; also one
 * of what follows from it, and of what the store has held back until then. */
static err fire(struct tx *tx, int64_t *next_at)
{
    struct due fired;
    struct json name = json_object(), members = json_object();
    bool more = false;
    err e = due_fire(tx, works, &fired, &more);

    if (fired.kind_name.len) {
        json_put(tx->arena, &name, STR("kind"), json_string(fired.kind_name));
        json_put(tx->arena, &name, STR("subject"), json_string(fired.subject));
        json_put(tx->arena, &members, STR("due"), name);
        str printed = json_printed(tx->arena, &members);
        tx->fault = str_slice(printed, 1, printed.len - 1);
    }
    TRY(e);
    *next_at = tx->now_ms;
    return more ? NULL : due_next(tx, next_at);
}

static err put_off(struct tx *tx, const struct json *what, int64_t *next_at)
{
    struct due name = { .kind_name = json_str(what, "kind"), .subject = json_str(what, "subject") };

    TRY(due_put_off(tx, &name, json_int_or(what, "ms", 0)));
    return due_next(tx, next_at);
}

static err system_tick_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *what = input_json(in, "put_off");
    int64_t next_at;

    TRY(what ? put_off(tx, what, &next_at) : fire(tx, &next_at));
    json_write_begin(&out->json, '{');
    write_int_or_null(&out->json, STR("next_at"), next_at);
    write_bool(&out->json, STR("more"), next_at && next_at <= tx->now_ms);
    json_write_end(&out->json, '}');
    return NULL;
}

/* The number itself is of no use to who asks: a read is answered after all that it saw. */
static err system_seen_op(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)in;
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("seq"), *tx->seq);
    json_write_end(&out->json, '}');
    return NULL;
}

static void write_counts(struct json_writer *w, str name, const struct team_words *words,
                         const int64_t *counts, bool (*shown)(int status))
{
    write_begin(w, name, '{');
    for (int i = 0; i < words->count; i++)
        if (shown(i))
            write_int(w, team_name(words, i), counts[i]);
    json_write_end(w, '}');
}

static bool session_counts(int status)
{
    return session_is_live((enum session_status)status);
}

static bool run_counts(int status)
{
    return run_is_live((enum run_status)status);
}

static err system_team_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct live_counts c;

    (void)in;
    TRY(live_counts_read(tx, &c));
    json_write_begin(&out->json, '{');
    write_counts(&out->json, STR("sessions"), &session_words, c.sessions, session_counts);
    write_counts(&out->json, STR("runs"), &run_words, c.runs, run_counts);
    write_int(&out->json, STR("runners"), c.runners);
    write_int(&out->json, STR("callbacks_waiting"), c.callbacks);
    write_int(&out->json, STR("queue_oldest_ms"), c.oldest_ms);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "system.tick", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Do one piece of the work whose time has come.",
        .input = JSON({
            "type": "object", "additionalProperties": false,
            "properties": {
                "put_off": { "type": "object", "description": "Have this wait, because doing it has failed.",
                    "required": ["kind", "subject", "ms"], "additionalProperties": false,
                    "properties": {
                        "kind": { "type": "string", "description": "The kind of the due row, as the error of the tick named it." },
                        "subject": { "type": "string", "description": "The subject of the due row, as the error of the tick named it." },
                        "ms": { "type": "integer", "minimum": 1, "description": "For how many milliseconds from now on it waits." } } } } }),
        .output = JSON({
            "type": "object", "required": ["next_at", "more"],
            "properties": {
                "next_at": { "type": ["integer", "null"],
                    "description": "When the next work is due, in milliseconds since 1970, or now when it is due already; null: none is." },
                "more": { "type": "boolean", "description": "Whether that time has come already." } } }),
        .run = system_tick_op,
    },
    {
        .name = "system.start", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Begin to serve: when no other server was there, all live leases begin anew.",
        .input = JSON({
            "type": "object", "required": ["node_id"], "additionalProperties": false,
            "properties": {
                "node_id": { "type": "string", "maxLength": 100, "description": "The id of the server that starts." } } }),
        .output = JSON({
            "type": "object", "required": ["renewed"],
            "properties": {
                "renewed": { "type": "boolean", "description": "Whether the leases have begun anew." } } }),
        .run = system_start_op,
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
    {
        .name = "system.team", .effect = OP_READS, .by = BY_SYSTEM,
        .summary = "Count what is live.",
        .input = JSON({ "type": "object", "additionalProperties": false, "properties": {} }),
        .output = JSON({
            "type": "object", "required": ["sessions", "runs", "runners", "callbacks_waiting", "queue_oldest_ms"],
            "properties": {
                "sessions": { "type": "object", "description": "How many sessions are live, by status; those that have ended are not counted." },
                "runs": { "type": "object", "description": "How many runs are live, by status; those that have ended are not counted." },
                "runners": { "type": "integer", "description": "How many runners are there; those that fell silent are not counted." },
                "callbacks_waiting": { "type": "integer", "description": "Callbacks that wait for their parents." },
                "queue_oldest_ms": { "type": "integer", "description": "How long the first of the queue waits." } } }),
        .run = system_team_op,
    },
};
// clang-format on

const struct op_list system_ops = { ops, sizeof ops / sizeof *ops };
