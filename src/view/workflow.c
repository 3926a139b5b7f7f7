/* workflow.c: workflow.json of document 001, and the state of document 002. */
#include "view/view.h"

static void write_agent(struct json_writer *w, const struct graph_step *s)
{
    write_text(w, STR("agent"), s->agent_count ? s->agents[0] : STR(""));
}

/* ---- document 001 ---- */

static void write_phase(struct json_writer *w, const struct view *v, uint16_t i)
{
    const struct graph_step *s = v->steps[i].step;

    json_write_begin(w, '{');
    write_text(w, STR("id"), s->id);
    write_text(w, STR("title"), s->title);
    write_agent(w, s);
    write_text(w, STR("status"), view_step_status(v, i));
    write_value(w, STR("deliverables"), view_deliverables(v, i));
    write_text(w, STR("context_for_next"), view_context_for_next(v, i));
    json_write_end(w, '}');
}

static void write_phases(struct json_writer *w, const struct view *v)
{
    uint16_t active = view_active(v);

    write_text(w, STR("id"), v->e->id);
    write_text(w, STR("task"), v->graph->description);
    write_text(w, STR("status"), view_status(v));
    write_or_null(w, STR("current_phase"),
                  active == GRAPH_NONE ? STR("") : v->steps[active].step->id);
    write_begin(w, STR("phases"), '[');
    for (uint16_t i = 0; i < v->count; i++)
        write_phase(w, v, i);
    json_write_end(w, ']');
}

/* ---- document 002 ---- */

/* What a person has decided, or is to decide. */
static void write_approval(struct json_writer *w, const struct view_step *s)
{
    const struct json *approval = json_get(s->data, "approval");
    str at = json_str(approval, "approved_at");
    int64_t ms = 0;

    if (at.len && !date_parse(at, &ms))
        ms = 0;
    write_begin(w, STR("human_approval"), '{');
    write_bool(w, STR("required"), true);
    write_bool(w, STR("approved"), json_bool_or(approval, "approved", false));
    view_write_time(w, STR("approved_at"), ms);
    if (s->step->approval->variant)
        write_or_null(w, STR("selected_variant"), json_str(approval, "selected_variant"));
    json_write_end(w, '}');
}

/* An earlier attempt, with its times in whole seconds. */
static void write_earlier(struct json_writer *w, const struct json *entry)
{
    json_write_begin(w, '{');
    for (uint32_t i = 0; json_is(entry, JSON_OBJECT) && i < entry->len; i++) {
        const struct json_member *m = &entry->members[i];
        int64_t ms;
        if (str_ends(json_name(m), STR("_at")) && json_is(&m->value, JSON_STRING) &&
            date_parse(json_text(&m->value), &ms))
            view_write_time(w, json_name(m), ms);
        else
            write_value(w, json_name(m), &m->value);
    }
    json_write_end(w, '}');
}

static void write_attempts(struct json_writer *w, const struct view_step *s)
{
    const struct json *history = json_get(s->data, "history");

    write_begin(w, STR("attempts"), '{');
    write_int(w, STR("current"), s->row.attempt);
    write_int(w, STR("max"), s->work->retry.max_attempts);
    write_begin(w, STR("history"), '[');
    for (uint32_t i = 0; json_is(history, JSON_ARRAY) && i < history->len; i++)
        write_earlier(w, &history->items[i]);
    json_write_end(w, ']');
    json_write_end(w, '}');
}

static void write_step(struct json_writer *w, const struct view *v, uint16_t i)
{
    const struct view_step *s = &v->steps[i];
    bool planning = v->graph->kind == GRAPH_PLANNING,
         own = !planning && v->graph->kind != GRAPH_GENERATION;

    json_write_begin(w, '{');
    view_write_key(w, planning ? STR("phase") : STR("step"), v, i);
    write_text(w, STR("name"), s->step->title);
    write_text(w, STR("status"), view_step_status(v, i));
    view_write_time(w, STR("started_at"), s->row.started_at_ms);
    view_write_time(w, STR("completed_at"), view_is_done(v, i) ? s->row.ended_at_ms : 0);
    if (planning || (own && s->step->agent_count))
        write_texts(w, STR("agents"), s->step->agents, s->step->agent_count);
    view_write_artifacts(w, STR("artifacts"), v, i);
    if (s->step->approval)
        write_approval(w, s);
    if (s->work && s->work->retry.max_attempts > 1)
        write_attempts(w, s);
    json_write_end(w, '}');
}

/* What the planning is about: as its input says it, together or one by one. */
static void write_context(struct json_writer *w, const struct view *v)
{
    static const char *const parts[] = { "act", "chapter", "scene" };
    const struct json *context = json_get(&v->vars, "context");

    if (json_is(context, JSON_OBJECT)) {
        write_value(w, STR("context"), context);
        return;
    }
    write_begin(w, STR("context"), '{');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (json_get(&v->vars, parts[i]))
            write_value(w, str_from(parts[i]), json_get(&v->vars, parts[i]));
    json_write_end(w, '}');
}

static void write_artifacts(struct json_writer *w, const struct view *v)
{
    const str *names;
    size_t count = view_own_artifacts(v, &names);

    write_begin(w, STR("artifacts"), '{');
    for (size_t i = 0; i < count; i++)
        if (json_find(&v->vars, names[i]))
            write_value(w, names[i], json_find(&v->vars, names[i]));
    write_text(w, STR("working_dir"), view_working_dir(v->tx, v->e));
    json_write_end(w, '}');
}

static void write_generation_head(struct json_writer *w, const struct view *v)
{
    const struct json *scene = json_get(&v->vars, "scene_id");

    if (scene)
        write_value(w, STR("scene_id"), scene);
    else
        write_null(w, STR("scene_id"));
}

static void write_planning_head(struct json_writer *w, const struct view *v)
{
    write_text(w, STR("level"), v->graph->level);
    write_context(w, v);
}

static void write_state(struct json_writer *w, const struct view *v)
{
    bool planning = v->graph->kind == GRAPH_PLANNING;
    const struct execution *e = v->e;

    write_text(w, STR("workflow_id"), e->id);
    write_text(w, STR("workflow_type"), view_kind(v));
    if (e->workspace.len)
        write_text(w, STR("session_name"), e->workspace);
    write_text(w, STR("status"), view_status(v));
    view_write_time(w, STR("created_at"), e->created_at_ms);
    view_write_time(w, STR("updated_at"), e->updated_at_ms);
    write_begin(w, view_kind(v), '{');
    if (v->graph->kind == GRAPH_GENERATION)
        write_generation_head(w, v);
    else if (planning)
        write_planning_head(w, v);
    else
        write_text(w, STR("workflow"), e->workflow);
    view_write_key(w, planning ? STR("current_phase") : STR("current_step"), v, view_current(v));
    write_int(w, planning ? STR("total_phases") : STR("total_steps"), v->count);
    write_begin(w, planning ? STR("phases") : STR("steps"), '[');
    for (uint16_t i = 0; i < v->count; i++)
        write_step(w, v, i);
    json_write_end(w, ']');
    write_artifacts(w, v);
    json_write_end(w, '}');
}

void view_write_workflow(struct json_writer *w, const struct view *v)
{
    if (view_is_phases(v))
        write_phases(w, v);
    else
        write_state(w, v);
}
