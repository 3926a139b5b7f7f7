/* runs_read.c: operations that read runs. */
#include "core/output.h"
#include "ops/page.h"
#include "ops/runs.h"
#include "ops/write.h"

/* ---- one run ---- */

static void write_demands(struct tx *tx, struct json_writer *w, const struct run *r)
{
    struct demand d;

    demand_read(tx->arena, r->demand, &d);
    if (d.unreadable)
        stored_note(tx, stored_damage(tx, THING("run", r->id), DEMAND_UNREADABLE));
    write_begin(w, STR("demands"), '{');
    write_or_null(w, STR("hostname"), d.hostname);
    write_or_null(w, STR("profile"), d.profile);
    write_or_null(w, STR("project_dir"), d.project_dir);
    if (d.user.len)
        write_text(w, STR("user"), d.user);
    write_texts(w, STR("tags"), d.tags, d.tag_count);
    json_write_end(w, '}');
}

static void write_times(struct json_writer *w, const struct run *r)
{
    write_time(w, STR("created_at"), r->created_at_ms);
    write_time_or_null(w, STR("not_before"), r->not_before_ms);
    write_time_or_null(w, STR("claimed_at"), r->claimed_at_ms);
    write_time_or_null(w, STR("started_at"), r->started_at_ms);
    write_time_or_null(w, STR("ended_at"), r->ended_at_ms);
}

void write_run(struct tx *tx, struct json_writer *w, const struct run *r, bool whole)
{
    json_write_begin(w, '{');
    write_text(w, STR("run_id"), r->id);
    write_text(w, STR("session_id"), r->session_id);
    write_text(w, STR("session_name"), r->session_name);
    write_text(w, STR("type"), team_name(&run_type_words, (int)r->type));
    write_text(w, STR("purpose"), team_name(&purpose_words, (int)r->purpose));
    write_text(w, STR("status"), team_name(&run_words, (int)r->status));
    write_text(w, STR("execution_mode"), team_name(&mode_words, (int)r->mode));
    write_bool(w, STR("queued"), r->queued);
    write_or_null(w, STR("agent_name"), r->agent);
    write_or_null(w, STR("profile"), r->profile);
    write_or_null(w, STR("project_dir"), r->project_dir);
    write_demands(tx, w, r);
    write_int(w, STR("priority"), r->priority);
    write_seconds(w, STR("max_seconds"), r->max_ms);
    write_int(w, STR("cycle"), r->cycle);
    write_int(w, STR("attempt"), r->attempt);
    write_or_null(w, STR("runner_id"), r->runner_id);
    write_times(w, r);
    write_stored(tx, w, STR("metadata"), THING("run", r->id), r->metadata);
    write_or_null(w, STR("error"), r->error);
    if (whole) {
        write_text(w, STR("prompt"), r->prompt);
        write_or_null(w, STR("result"), r->result);
        if (r->result_cut)
            write_bool(w, STR("truncated"), true);
    }
    json_write_end(w, '}');
}

err run_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    write_run(tx, &out->json, &r, true);
    return NULL;
}

err run_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run_filter filter = { .after = input_str(in, "after"),
                                 .session_id = input_str(in, "session"),
                                 .status = input_str(in, "status"),
                                 .limit = page_rows(in) };
    const struct run *all;
    size_t count;

    TRY(run_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("runs"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_run(tx, &out->json, &all[i], false);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

/* ---- what they have written ---- */

static void write_output(struct json_writer *w, const struct output *o)
{
    json_write_begin(w, '{');
    write_int(w, STR("number"), o->number);
    write_text(w, STR("stream"), o->error ? STR("stderr") : STR("stdout"));
    write_text(w, STR("text"), o->text);
    write_time(w, STR("time"), o->at_ms);
    json_write_end(w, '}');
}

err run_output_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t after = input_int(in, "after", 0), wait_s = input_int(in, "wait", 0);
    const struct output *all;
    struct run r;
    size_t count;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    TRY(output_list(tx, r.id, after, input_int(in, "limit", 100), &all, &count));
    if (!count && wait_s && run_is_live(r.status) && !in->wait_over) {
        out->waits = true;
        out->wait_subject = r.id;
        out->wait_seq = *tx->seq;
        out->wait_until_ms = tx->now_ms + wait_s * 1000;
        return NULL;
    }
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("run_id"), r.id);
    write_text(&out->json, STR("status"), team_name(&run_words, (int)r.status));
    write_begin(&out->json, STR("output"), '[');
    size_t shown = count;
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_output(&out->json, &all[i]);
    json_write_end(&out->json, ']');
    write_int(&out->json, STR("next"), shown ? all[shown - 1].number : after);
    write_bool(&out->json, STR("ended"), !run_is_live(r.status) && !count);
    json_write_end(&out->json, '}');
    return NULL;
}
