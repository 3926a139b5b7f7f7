/* sessions_read.c: operations that read sessions. */
#include "core/run.h"
#include "ops/page.h"
#include "ops/sessions.h"
#include "ops/states.h"
#include "ops/write.h"

/* ---- a session ---- */

void write_usage(struct tx *tx, struct json_writer *w, str name, str session_id,
                 const struct usage *u)
{
    write_begin(w, name, '{');
    write_int(w, STR("input_tokens"), u->tokens_in);
    write_int(w, STR("output_tokens"), u->tokens_out);
    write_int(w, STR("cached_tokens"), u->tokens_cached);
    write_printed(w, STR("cost_usd"),
                  arena_printf(tx->arena, "%lld.%06lld", (long long)(u->cost / 1000000),
                               (long long)(u->cost % 1000000)));
    write_stored_or_null(tx, w, STR("models"), THING("session", session_id), u->models);
    json_write_end(w, '}');
}

/* Who it is and how it stands, which more than one answer has; the object is left open. */
static void write_head(struct json_writer *w, const struct session *s)
{
    json_write_begin(w, '{');
    write_text(w, STR("session_id"), s->id);
    write_text(w, STR("session_name"), s->name);
    write_text(w, STR("status"), team_name(&session_words, s->status));
    write_bool(w, STR("settled"), s->settled);
    write_or_null(w, STR("state_update_status"), team_name(&update_words, s->update));
    write_or_null(w, STR("error"), s->error);
    write_or_null(w, STR("workflow_state_id"), s->state_id);
}

void write_session(struct tx *tx, struct json_writer *w, const struct session *s)
{
    write_head(w, s);
    write_or_null(w, STR("parent_session_id"), s->parent_id);
    write_or_null(w, STR("parent_session_name"), s->parent_name);
    write_text(w, STR("root_session_id"), s->root_id);
    write_int(w, STR("depth"), s->depth);
    write_or_null(w, STR("agent_name"), s->agent);
    write_or_null(w, STR("profile"), s->profile);
    write_or_null(w, STR("project_dir"), s->project_dir);
    write_stored_or_null(tx, w, STR("pointers"), THING("session", s->id), s->pointers);
    write_bool(w, STR("attended"), s->attended);
    write_bool(w, STR("callback"), s->calls_back);
    write_int(w, STR("cycle"), s->cycle);
    write_int(w, STR("state_update_attempts"), s->update_attempts);
    write_or_null(w, STR("run_id"), s->run_id);
    write_or_null(w, STR("result_run_id"), s->result_run);
    write_or_null(w, STR("client_id"), s->client_id);
    write_or_null(w, STR("hostname"), s->hostname);
    write_stored_or_null(tx, w, STR("git"), THING("session", s->id), s->git);
    write_usage(tx, w, STR("usage"), s->id, &s->usage);
    write_or_null(w, STR("last_event"), s->last_event);
    write_time_or_null(w, STR("last_event_at"), s->last_event_at_ms);
    write_or_null(w, STR("notice"), s->notice);
    write_time_or_null(w, STR("notice_until"), s->notice_until_ms);
    write_time(w, STR("created_at"), s->created_at_ms);
    write_time(w, STR("updated_at"), s->updated_at_ms);
    write_time_or_null(w, STR("ended_at"), s->ended_at_ms);
    json_write_end(w, '}');
}

err session_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    write_session(tx, &out->json, &s);
    return NULL;
}

/* ---- many ---- */

/* The id of a session that a filter names; empty: it does not filter. */
static err filter_id(struct tx *tx, str wanted, str *out)
{
    struct session s;

    *out = STR("");
    if (!wanted.len)
        return NULL;
    TRY(session_get(tx, wanted, &s));
    *out = s.id;
    return NULL;
}

err session_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session_filter filter = { .after = input_str(in, "after"),
                                     .status = input_str(in, "status"),
                                     .limit = page_rows(in) };
    const struct session *all;
    size_t count;

    TRY(filter_id(tx, input_str(in, "root"), &filter.root_id));
    TRY(filter_id(tx, input_str(in, "parent"), &filter.parent_id));
    TRY(session_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("sessions"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_session(tx, &out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

/* ---- how it stands ---- */

/* Whether to wait for a session to settle: whatever happens to it wakes whoever waits. */
static bool waits_for(struct tx *tx, const struct input *in, const struct session *s,
                      struct answer *out)
{
    if (s->settled || in->wait_over || !input_bool(in, "wait", false))
        return false;
    out->waits = true;
    out->wait_subject = s->id;
    out->wait_seq = *tx->seq;
    out->wait_until_ms = tx->now_ms + input_int(in, "timeout", 30) * 1000;
    return true;
}

err session_status_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (waits_for(tx, in, &s, out))
        return NULL;
    write_head(w, &s);
    write_int(w, STR("cycle"), s.cycle);
    write_or_null(w, STR("last_event"), s.last_event);
    write_time_or_null(w, STR("last_event_at"), s.last_event_at_ms);
    write_or_null(w, STR("notice"), s.notice);
    write_time_or_null(w, STR("notice_until"), s.notice_until_ms);
    json_write_end(w, '}');
    return NULL;
}

/* The version that its state has now; 0: it has none, or none that the actor knows of yet. */
static err version_of(struct tx *tx, const struct session *s, int64_t *out)
{
    struct state state = { .version = 0 };
    err e = s->state_id.len ? state_get(tx, s->state_id, &state) : NULL;

    *out = e ? 0 : state.version;
    return e && e->kind != ERR_NOT_FOUND ? e : NULL;
}

static const char *hint_of(const struct session *s, const struct run *result)
{
    if (s->settled)
        return result->result_cut
                   ? "the result is the end of a longer one: what its agent wrote is in "
                     "the output of the run (baton logs, GET /runs/{run_id}/output)"
                   : NULL;
    return s->attended
               ? "it has not settled: somebody works in it; ask for its result again with "
                 "wait=true (get_agent_session_result)"
               : "it has not settled: ask for its result again with wait=true "
                 "(get_agent_session_result), or go on and be called back if it was started "
                 "so";
}

err session_result_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct run run = { .id = STR("") };
    struct session s;
    int64_t version;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (waits_for(tx, in, &s, out))
        return NULL;
    TRY(version_of(tx, &s, &version));
    if (s.result_run.len)
        TRY(run_load(tx, s.result_run, &run));
    write_head(w, &s);
    write_or_null(w, STR("result"), run.result);
    if (run.result_cut)
        write_bool(w, STR("truncated"), true);
    write_or_null(w, STR("run_id"), run.id);
    write_int_or_null(w, STR("workflow_state_version"), version);
    write_usage(tx, w, STR("usage"), s.id, &s.usage);
    write_or_null(w, STR("hint"), str_from(hint_of(&s, &run)));
    json_write_end(w, '}');
    return NULL;
}

err session_state_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session s;
    struct state state;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (!s.state_id.len)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "session " STR_FMT " has no state: its root can create one",
                       STR_ARG(s.name));
    TRY(state_get(tx, s.state_id, &state));
    out->version = state.version;
    write_state_head(&out->json, &state, state.version);
    write_stored(tx, &out->json, STR("current_data"), THING("state", state.id), state.body);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- what it told of itself ---- */

err session_events_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    const struct session_event *all;
    struct session s;
    size_t count;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    TRY(session_event_list(tx, s.id, input_int(in, "after", 0), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("events"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        json_write_begin(w, '{');
        write_int(w, STR("number"), all[i].number);
        write_text(w, STR("event_type"), all[i].type);
        write_time(w, STR("time"), all[i].at_ms);
        write_stored_or_null(tx, w, STR("data"), THING("event of session", s.id), all[i].data);
        json_write_end(w, '}');
    }
    page_end_number(tx, out, shown < count ? all[shown - 1].number : 0);
    return NULL;
}
