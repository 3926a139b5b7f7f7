/* numbers.c: what an execution took, and the index of many of them. */
#include "core/exec/documents.h"
#include "core/exec/share.h"
#include "view/view.h"

enum { INDEX_MAX = 1000 };

/* ---- metrics ---- */

static int64_t seconds(int64_t ms)
{
    return ms > 0 ? ms / 1000 : 0;
}

/* Up to its end, or to now. */
static int64_t spent(const struct view *v, int64_t from, int64_t to)
{
    return seconds((to ? to : v->tx->now_ms) - from);
}

/* How many agents of a step work side by side. */
static int64_t at_once(const struct view_step *s)
{
    if (s->step->parallel_agents > 1)
        return s->step->parallel_agents;
    return s->step->agents_at_once ? (int64_t)s->step->agent_count : 1;
}

/* Sessions that work or have worked for it; and of what agents report by themselves, each attempt. */
static err agent_calls(const struct view *v, int64_t *out)
{
    struct share *shares;
    size_t count;

    TRY(share_list(v->tx, v->e->no, 0, &shares, &count));
    for (size_t i = 0; i < count; i++)
        *out += shares[i].session_id.len > 0;
    for (uint16_t i = 0; i < v->count; i++) {
        const struct view_step *s = &v->steps[i];
        const struct json *sessions = json_get(s->data, "sessions"),
                          *history = json_get(s->data, "history");
        bool reports = s->work && s->work->by == WORK_REPORT && s->step->agent_count;
        if (json_is(sessions, JSON_ARRAY))
            *out += sessions->len;
        if (reports && json_is(history, JSON_ARRAY))
            *out += history->len;
        *out += reports && s->row.started_at_ms;
    }
    return NULL;
}

err view_write_metrics(struct json_writer *w, const struct view *v)
{
    int64_t retries = 0, parallel = 0, calls = 0, waited = 0;

    TRY(agent_calls(v, &calls));
    TRY(approval_waited(v->tx, v->e, &waited));
    write_begin(w, STR("workflow_metrics"), '{');
    write_text(w, STR("workflow_id"), v->e->id);
    write_int(w, STR("total_time_seconds"), spent(v, v->e->created_at_ms, v->e->ended_at_ms));
    write_begin(w, STR("step_times"), '[');
    for (uint16_t i = 0; i < v->count; i++) {
        const struct view_step *s = &v->steps[i];
        if (!s->row.started_at_ms)
            continue;
        retries += s->row.attempt > 1 ? s->row.attempt - 1 : 0;
        parallel = at_once(s) > parallel ? at_once(s) : parallel;
        if (!s->row.ended_at_ms || s->row.status == STEP_APPROVAL)
            continue;
        json_write_begin(w, '{');
        view_write_key(w, STR("step"), v, i);
        write_int(w, STR("duration_seconds"), spent(v, s->row.started_at_ms, s->row.ended_at_ms));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    write_int(w, STR("retry_count"), retries);
    write_int(w, STR("human_approval_time_seconds"), seconds(waited));
    write_int(w, STR("agent_calls"), calls);
    write_int(w, STR("parallel_executions"), parallel);
    json_write_end(w, '}');
    return NULL;
}

/* ---- the index ---- */

static void write_entry(struct tx *tx, struct json_writer *w, const struct execution *e)
{
    json_write_begin(w, '{');
    write_text(w, STR("workflow_id"), e->id);
    write_text(w, STR("workflow_type"), e->kind);
    write_text(w, STR("status"), view_status_of(e->kind, e->status, true));
    if (e->workspace.len)
        write_text(w, STR("session_name"), e->workspace);
    view_write_time(w, STR("created_at"), e->created_at_ms);
    view_write_time(w, STR("updated_at"), e->updated_at_ms);
    write_text(w, STR("state_file"), view_state_file(tx, e));
    json_write_end(w, '}');
}

err view_write_index(struct tx *tx, struct json_writer *w, str workspace)
{
    struct execution_documents filter = { .of_workspace = true,
                                          .workspace = workspace,
                                          .limit = INDEX_MAX };
    const struct execution *all;
    size_t count;

    TRY(execution_documents(tx, &filter, &all, &count, NULL));
    write_begin(w, STR("workflows"), '[');
    for (size_t i = count; i-- > 0;)
        write_entry(tx, w, &all[i]);
    json_write_end(w, ']');
    return NULL;
}
