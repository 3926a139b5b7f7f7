/* runs_write.c: asking sessions for a turn, and taking that back. */
#include "base/date.h"
#include "ops/runs.h"

enum { SYNC_WAIT_S = 45, METADATA_BYTES_MAX = 16384 };

/* ---- asking for one ---- */

static enum run_type type_of(const struct input *in)
{
    str name = str_from(in->op->name);

    if (str_eq(name, STR("session.start")))
        return RUN_TYPE_START;
    if (str_eq(name, STR("session.resume")))
        return RUN_TYPE_RESUME;
    return (enum run_type)team_word(&run_type_words, input_str(in, "type"));
}

/* An agent is called back by what it starts, unless it says otherwise; the operator looks. */
static err mode_of(struct tx *tx, const struct input *in, enum run_mode *out)
{
    str asked = input_str(in, "execution_mode");
    bool callback = input_bool(in, "callback", false);

    *out = callback || tx->actor->kind == ACTOR_SESSION ? MODE_CALLBACK : MODE_POLL;
    if (asked.len)
        *out = (enum run_mode)team_word(&mode_words, asked);
    if (callback && *out != MODE_CALLBACK)
        return err_new(tx->arena, ERR_INVALID,
                       "\"callback\" means the execution mode async_callback, found \"" STR_FMT
                       "\": leave one of them out",
                       STR_ARG(asked));
    return NULL;
}

static struct demand demand_in(struct tx *tx, const struct input *in)
{
    const struct json *demands = input_declares(in, "demands") ? input_json(in, "demands") : NULL;
    const struct json *tags = json_get(demands, "tags");
    uint32_t count = tags ? tags->len : 0;
    str *copies = ARENA_ARRAY(tx->arena, str, count);

    for (uint32_t i = 0; i < count; i++)
        copies[i] = json_text(&tags->items[i]);
    return (struct demand){ .hostname = json_str(demands, "hostname"),
                            .tags = copies,
                            .tag_count = count };
}

static err run_new_in(struct tx *tx, const struct input *in, struct run_new *out)
{
    const struct json *metadata = input_json(in, "metadata");
    str when = input_str(in, "not_before");

    *out = (struct run_new){ .type = type_of(in),
                             .purpose = PURPOSE_WORK,
                             .prompt = input_str(in, "prompt"),
                             .demand = demand_in(tx, in),
                             .priority = input_int(in, "priority", 0),
                             .max_ms = input_int(in, "max_seconds", 0) * 1000,
                             .metadata = metadata ? json_printed(tx->arena, metadata) : STR("") };
    if (when.len && !date_parse(when, &out->not_before_ms))
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"not_before\" to be a time like 2025-01-15T10:35:00Z");
    if (out->metadata.len > METADATA_BYTES_MAX)
        return err_new(tx->arena, ERR_TOO_LARGE, "\"metadata\" may have %d bytes, found %zu",
                       METADATA_BYTES_MAX, out->metadata.len);
    return mode_of(tx, in, &out->mode);
}

/* Who wants the result in the answer waits for it after all of this is committed. */
static void answer_with_result(struct tx *tx, const struct input *in, str session_id,
                               struct answer *out)
{
    out->then = "session.result";
    out->then_input = json_object();
    json_put(tx->arena, &out->then_input, STR("session_id"), json_string(session_id));
    json_put(tx->arena, &out->then_input, STR("wait"), json_bool(true));
    json_put(tx->arena, &out->then_input, STR("timeout"),
             json_int(tx->arena, input_int(in, "timeout", SYNC_WAIT_S)));
}

/* What a session that is started is to be; one that is resumed is what it is. */
static void start_in(const struct input *in, struct run_request *q)
{
    const struct json *demands = input_json(in, "demands");
    str dir = input_str(in, "project_dir");

    q->parent = input_str(in, "parent_session_name");
    q->agent = input_str(in, "agent_name");
    q->profile = json_str(demands, "profile");
    q->project_dir = dir.len ? dir : json_str(demands, "project_dir");
}

err run_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run_request q = { .session_name = input_str(in, "session_name") };
    struct session s;
    struct run r;

    TRY(run_new_in(tx, in, &q.run));
    if (input_declares(in, "session_id"))
        q.session_id = input_str(in, "session_id");
    if (q.run.type == RUN_TYPE_START)
        start_in(in, &q);
    TRY(run_request(tx, &q, &s, &r));
    out->created = true;
    if (q.run.mode == MODE_SYNC)
        answer_with_result(tx, in, s.id, out);
    write_run(tx, &out->json, &r, true);
    return NULL;
}

err run_stop_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    str why = input_str(in, "reason");
    TRY(run_stop(
        tx, &r,
        why.len ? why : arena_printf(tx->arena, "stopped by " STR_FMT, STR_ARG(tx->actor->name))));
    write_run(tx, &out->json, &r, true);
    return NULL;
}
