/* runners_report.c: what runners tell of the runs that they hold. */
#include <math.h>

#include "core/output.h"
#include "ops/runners.h"
#include "ops/write.h"

/* ---- signs of life ---- */

/* The run that a report is about, after it was made sure that it is the reporter's. */
static err report_begin(struct tx *tx, const struct input *in, struct run *out)
{
    struct runner r;
    bool late;

    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(runner_seen(tx, &r));
    return run_holder(tx, input_str(in, "run_id"), &r, input_int(in, "fence", 0), out, &late);
}

/* A run that has ended without its runner is to stop, too. */
static err report_answer(struct tx *tx, const struct run *r, struct answer *out)
{
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("run_id"), r->id);
    write_text(&out->json, STR("status"), team_name(&run_words, (int)r->status));
    write_bool(&out->json, STR("stop"), r->status == RUN_STOPPING || !run_is_live(r->status));
    write_int(&out->json, STR("lease_seconds"), team_rules_of(tx)->lease_ms / 1000);
    json_write_end(&out->json, '}');
    return NULL;
}

err runner_started_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(report_begin(tx, in, &r));
    TRY(run_started(tx, &r, input_str(in, "project_dir")));
    if (run_is_live(r.status))
        TRY(run_note_activity(tx, &r, input_str(in, "client_id"), STR("")));
    return report_answer(tx, &r, out);
}

err runner_progress_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *pieces = input_json(in, "output");
    struct run r;

    TRY(report_begin(tx, in, &r));
    TRY(run_renew(tx, &r));
    if (!run_is_live(r.status))
        return report_answer(tx, &r, out);
    TRY(run_note_activity(tx, &r, input_str(in, "client_id"), input_str(in, "heard")));
    for (uint32_t i = 0; pieces && i < pieces->len; i++) {
        const struct json *piece = &pieces->items[i];
        TRY(output_add(tx, r.id, str_eq(json_str(piece, "stream"), STR("stderr")),
                       json_str(piece, "text")));
    }
    if (pieces && pieces->len)
        out->notify = r.id;
    return report_answer(tx, &r, out);
}

/* ---- ends ---- */

static int64_t millionths(const struct json *dollars)
{
    double value = json_is_number(dollars) ? json_to_double(dollars) * 1e6 : 0;

    return value > 0 && value < 9e18 ? (int64_t)floor(value + 0.5) : 0;
}

static struct usage usage_in(struct tx *tx, const struct input *in)
{
    const struct json *usage = input_json(in, "usage"), *models = json_get(usage, "models");

    return (struct usage){
        .tokens_in = json_int_or(usage, "input_tokens", 0),
        .tokens_out = json_int_or(usage, "output_tokens", 0),
        .tokens_cached = json_int_or(usage, "cached_tokens", 0),
        .cost = millionths(json_get(usage, "cost_usd")),
        .models = json_is(models, JSON_OBJECT) ? json_printed(tx->arena, models) : STR(""),
    };
}

static bool is_whole(const struct json *usage, const char *name)
{
    const struct json *whole = json_get(usage, "whole");
    bool found = false;

    for (uint32_t i = 0; json_is(whole, JSON_ARRAY) && i < whole->len; i++)
        found |= str_eq(json_text(&whole->items[i]), str_from(name));
    return found;
}

static struct usage_whole whole_in(const struct input *in)
{
    const struct json *usage = input_json(in, "usage");

    return (struct usage_whole){
        .tokens_in = is_whole(usage, "input_tokens"),
        .tokens_out = is_whole(usage, "output_tokens"),
        .tokens_cached = is_whole(usage, "cached_tokens"),
        .cost = is_whole(usage, "cost_usd"),
        .models = is_whole(usage, "models"),
    };
}

/* Why a run did not end well: what its runner says, or how its agent left, and the agent's last
 * words on stderr. */
static err error_in(struct tx *tx, const struct input *in, str run_id, int64_t code, str *out)
{
    str said = input_str(in, "error"), tail = input_str(in, "stderr_tail");
    struct buf text = buf_in(tx->arena);

    if (said.len)
        buf_add(&text, said);
    else if (code >= 0)
        buf_printf(&text, "its agent ended with exit code %lld", (long long)code);
    else
        buf_add(&text, STR("its runner did not say why"));
    if (!tail.len)
        TRY(output_tail(tx, run_id, RUN_TAIL_BYTES, &tail));
    if (tail.len) {
        buf_byte(&text, '\n');
        buf_add(&text, tail);
    }
    *out = buf_str(&text);
    return NULL;
}

static err end_report(struct tx *tx, const struct input *in, enum run_status end,
                      struct answer *out)
{
    const struct json *git = input_json(in, "git");
    struct run_facts facts = {
        .result = input_str(in, "result"),
        .client_id = input_str(in, "client_id"),
        .git = json_is(git, JSON_OBJECT) ? json_printed(tx->arena, git) : STR(""),
        .usage = usage_in(tx, in),
        .whole = whole_in(in),
        .exit_code = input_int(in, "exit_code", -1),
        .result_cut = input_bool(in, "result_truncated", false),
    };
    struct run r;

    TRY(report_begin(tx, in, &r));
    if (end == RUN_FAILED || end == RUN_TIMED_OUT)
        TRY(error_in(tx, in, r.id, facts.exit_code, &facts.error));
    else
        facts.error = input_str(in, "error");
    TRY(run_report_end(tx, &r, end, &facts));
    return report_answer(tx, &r, out);
}

err runner_completed_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_COMPLETED, out);
}

err runner_failed_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_FAILED, out);
}

err runner_timed_out_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_TIMED_OUT, out);
}

err runner_stopped_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_STOPPED, out);
}
