/* view.c: the rows of an execution, put beside its definition, and the words that documents have for
 * them. */
#include "view/view.h"

#include "base/utf8.h"
#include "core/stored.h"

/* ---- rows ---- */

static err program_of(struct tx *tx, const struct execution *e, const struct graph **out)
{
    const struct workflow_program *program;
    err gone = workflow_program(tx, e->workflow, e->version, e->digest, &program);

    if (!gone) {
        *out = program->graph;
        return NULL;
    }
    if (gone->kind != ERR_NOT_FOUND && gone->kind != ERR_CONFLICT)
        return gone;
    return err_new(tx->arena, ERR_CONFLICT,
                   "the definition of execution " STR_FMT
                   " was deleted, and without it there is no "
                   "picture of it: what became of it is in its document, state " STR_FMT,
                   STR_ARG(e->id), STR_ARG(e->state_id));
}

static err step_take(struct view *v, const struct step *row)
{
    uint16_t i = graph_step_find(v->graph, row->node);

    if (i == GRAPH_NONE)
        return stored_damage(v->tx, THING("execution", v->e->id),
                             "it has a step that its definition has not");
    v->steps[i].row = *row;
    if (!execution_is_open(v->e->status) &&
        (row->status == STEP_IN_PROGRESS || row->status == STEP_APPROVAL))
        v->steps[i].row.status = STEP_FAILED; /* it was stopped */
    return stored_parse_as(v->tx, THING("execution", v->e->id), row->data, JSON_OBJECT,
                           &v->steps[i].data);
}

err view_load(struct tx *tx, const struct execution *e, struct view *out)
{
    static const struct json nothing = { .kind = JSON_OBJECT };
    const struct json *vars;
    struct step *rows;
    size_t count;

    *out = (struct view){ .tx = tx, .e = e };
    TRY(program_of(tx, e, &out->graph));
    TRY(stored_parse_as(tx, THING("execution", e->id), e->vars, JSON_OBJECT, &vars));
    TRY(execution_steps(tx, e, &rows, &count));
    out->vars = *vars;
    out->count = out->graph->step_count;
    out->steps = arena_zero(tx->arena, out->count * sizeof *out->steps);
    for (uint16_t i = 0; i < out->count; i++) {
        const struct graph_step *s = &out->graph->steps[i];
        out->steps[i] = (struct view_step){ .step = s,
                                            .work = out->graph->nodes[s->node].work,
                                            .row = { .no = e->no, .node = s->id },
                                            .data = &nothing };
    }
    for (size_t i = 0; i < count; i++)
        TRY(step_take(out, &rows[i]));
    return NULL;
}

/* ---- words ---- */

bool view_is_phases(const struct view *v)
{
    return v->graph->kind == GRAPH_PHASES;
}

str view_kind(const struct view *v)
{
    return str_from(graph_kind_names[v->graph->kind]);
}

// clang-format off
enum { WORDS_001, WORDS_002 };
static const char *const execution_in[2][EXECUTION_STATUS_COUNT] = {
    { [EXECUTION_RUNNING]   = "active",      [EXECUTION_PAUSED] = "active",
      [EXECUTION_COMPLETED] = "completed",   [EXECUTION_FAILED] = "failed",
      [EXECUTION_CANCELLED] = "failed" },
    { [EXECUTION_RUNNING]   = "in_progress", [EXECUTION_PAUSED] = "in_progress",
      [EXECUTION_COMPLETED] = "completed",   [EXECUTION_FAILED] = "failed",
      [EXECUTION_CANCELLED] = "cancelled" },
};
/* Neither has a word for a step that was left out because it was not needed: nothing waits for it. */
static const char *const step_in[2][STEP_STATUS_COUNT] = {
    { [STEP_PENDING]   = "pending",   [STEP_IN_PROGRESS] = "active",
      [STEP_COMPLETED] = "completed", [STEP_FAILED]      = "failed",
      [STEP_SKIPPED]   = "completed", [STEP_APPROVAL]    = "active" },
    { [STEP_PENDING]   = "pending",   [STEP_IN_PROGRESS] = "in_progress",
      [STEP_COMPLETED] = "completed", [STEP_FAILED]      = "failed",
      [STEP_SKIPPED]   = "completed", [STEP_APPROVAL]    = "waiting_approval" },
};
// clang-format on

str view_status_of(str kind, enum execution_status status, bool begun)
{
    bool phases = str_eq(kind, str_from(graph_kind_names[GRAPH_PHASES]));

    if (phases && execution_is_open(status) && !begun)
        return STR("pending");
    return str_from(execution_in[phases ? WORDS_001 : WORDS_002][status]);
}

str view_status(const struct view *v)
{
    return view_status_of(view_kind(v), v->e->status, view_has_begun(v));
}

str view_step_status(const struct view *v, uint16_t step)
{
    return str_from(step_in[view_is_phases(v) ? WORDS_001 : WORDS_002][v->steps[step].row.status]);
}

bool view_is_done(const struct view *v, uint16_t step)
{
    enum step_status s = v->steps[step].row.status;

    return s == STEP_COMPLETED || s == STEP_SKIPPED;
}

bool view_has_begun(const struct view *v)
{
    for (uint16_t i = 0; i < v->count; i++)
        if (v->steps[i].row.status != STEP_PENDING)
            return true;
    return false;
}

bool view_waits(const struct view *v)
{
    for (uint16_t i = 0; i < v->count; i++)
        if (v->steps[i].row.status == STEP_APPROVAL)
            return true;
    return false;
}

uint16_t view_current(const struct view *v)
{
    for (uint16_t i = 0; i < v->count; i++)
        if (!view_is_done(v, i))
            return i;
    return (uint16_t)(v->count - 1);
}

int64_t view_progress(const struct view *v)
{
    return 100 * (view_current(v) + 1) / v->count;
}

uint16_t view_active(const struct view *v)
{
    for (uint16_t i = 0; i < v->count; i++)
        if (v->steps[i].row.status == STEP_IN_PROGRESS || v->steps[i].row.status == STEP_APPROVAL)
            return i;
    return GRAPH_NONE;
}

/* ---- what steps are called ---- */

static bool is_002(const struct view *v)
{
    return v->graph->kind == GRAPH_GENERATION || v->graph->kind == GRAPH_PLANNING;
}

str view_key(const struct view *v, uint16_t step)
{
    int64_t number;

    if (!is_002(v) || str_to_int(v->steps[step].step->id, &number))
        return v->steps[step].step->id;
    return arena_printf(v->tx->arena, "%d", step + 1);
}

void view_write_key(struct json_writer *w, str name, const struct view *v, uint16_t step)
{
    int64_t number;

    if (is_002(v) && str_to_int(view_key(v, step), &number))
        write_int(w, name, number);
    else
        write_text(w, name, view_key(v, step));
}

err view_step_find(const struct view *v, const struct json *key, uint16_t *out)
{
    struct buf names = buf_in(v->tx->arena);
    str wanted = json_is(key, JSON_STRING) || json_is(key, JSON_INTEGER) ? json_text(key) : STR("");

    *out = graph_step_find(v->graph, wanted);
    for (uint16_t i = 0; i < v->count && *out == GRAPH_NONE; i++)
        if (str_eq(view_key(v, i), wanted))
            *out = i;
    if (*out != GRAPH_NONE)
        return NULL;
    for (uint16_t i = 0; i < v->count && names.len < 300; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(view_key(v, i)));
    return err_new(v->tx->arena, ERR_NOT_FOUND,
                   "workflow " STR_FMT " has no %s \"" STR_FMT "\"; there are: " STR_FMT,
                   STR_ARG(v->e->id), view_is_phases(v) ? "phase" : "step",
                   STR_ARG(utf8_cut(wanted, 80)), STR_ARG(buf_str(&names)));
}

/* Steps are compiled in the order of their list, which need not be that of what they come after. */
const bool *view_before(const struct view *v, uint16_t step)
{
    bool *before = arena_zero(v->tx->arena, v->count * sizeof *before);
    uint16_t *todo = ARENA_ARRAY(v->tx->arena, uint16_t, v->count + 1u);
    size_t count = 0;

    todo[count++] = step;
    while (count) {
        const struct graph_step *s = v->steps[todo[--count]].step;
        for (size_t i = 0; i < s->after_count; i++)
            if (!before[s->after[i]]) {
                before[s->after[i]] = true;
                todo[count++] = s->after[i];
            }
    }
    return before;
}

/* ---- what they have given ---- */

/* What was said before it was done is of one attempt. */
const struct json *view_outputs(const struct view *v, uint16_t step)
{
    static const struct json nothing = { .kind = JSON_OBJECT };
    const struct view_step *s = &v->steps[step];
    const struct json *outputs = json_get(s->data, "outputs"), *told = json_get(s->data, "told");

    if (json_is(outputs, JSON_OBJECT))
        return outputs;
    bool present = json_int_or(told, "attempt", 0) == s->row.attempt;
    outputs = json_get(told, "outputs");
    return present && json_is(outputs, JSON_OBJECT) ? outputs : &nothing;
}

/* The document's definition does not say so, and its state shows it. */
size_t view_own_artifacts(const struct view *v, const str **names)
{
    static const str blueprint = { "blueprint_path", 14 };
    bool said = v->graph->artifact_count || v->graph->kind != GRAPH_GENERATION;

    *names = said ? v->graph->artifacts : &blueprint;
    return said ? v->graph->artifact_count : 1;
}

static bool is_of_whole(const struct view *v, str name)
{
    const str *names;
    size_t count = view_own_artifacts(v, &names);

    for (size_t i = 0; i < count; i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

void view_write_artifacts(struct json_writer *w, str name, const struct view *v, uint16_t step)
{
    const struct json *outputs = view_outputs(v, step);

    write_begin(w, name, '{');
    for (uint32_t i = 0; i < outputs->len; i++)
        if (!is_of_whole(v, json_name(&outputs->members[i])))
            write_value(w, json_name(&outputs->members[i]), &outputs->members[i].value);
    json_write_end(w, '}');
}

const struct json *view_deliverables(const struct view *v, uint16_t step)
{
    static const struct json none = { .kind = JSON_ARRAY };
    const struct json *list = json_get(view_outputs(v, step), "deliverables");

    return json_is(list, JSON_ARRAY) ? list : &none;
}

str view_context_for_next(const struct view *v, uint16_t step)
{
    return json_str(view_outputs(v, step), "context_for_next");
}

str view_context(const struct view *v, uint16_t step)
{
    const struct graph_step *s = v->steps[step].step;
    struct buf out = buf_in(v->tx->arena);

    for (size_t i = 0; i < s->after_count; i++) {
        str left = view_context_for_next(v, s->after[i]);
        if (left.len)
            buf_printf(&out, "%s" STR_FMT, out.len ? "\n" : "", STR_ARG(left));
    }
    return buf_str(&out);
}

/* ---- times ---- */

str view_time(struct tx *tx, int64_t ms)
{
    char room[DATE_TEXT_MAX];
    int64_t part = ((ms % 1000) + 1000) % 1000;

    return arena_copy(tx->arena, date_print(room, ms - part));
}

void view_write_time(struct json_writer *w, str name, int64_t ms)
{
    char room[DATE_TEXT_MAX];

    if (ms)
        write_text(w, name, date_print(room, ms - ms % 1000));
    else
        write_null(w, name);
}

/* ---- files ---- */

/* "workspace", or that of a session. */
static str workspace_dir(struct tx *tx, const struct execution *e)
{
    return e->workspace.len
               ? arena_printf(tx->arena, "workspace/sessions/" STR_FMT, STR_ARG(e->workspace))
               : STR("workspace");
}

str view_working_dir(struct tx *tx, const struct execution *e)
{
    return arena_printf(tx->arena, STR_FMT "/" STR_FMT "-runs/" STR_FMT,
                        STR_ARG(workspace_dir(tx, e)), STR_ARG(e->kind), STR_ARG(e->id));
}

str view_state_file(struct tx *tx, const struct execution *e)
{
    return arena_printf(tx->arena, STR_FMT "/workflow-state/" STR_FMT ".json",
                        STR_ARG(workspace_dir(tx, e)), STR_ARG(e->id));
}

str view_index_file(struct tx *tx, const struct execution *e)
{
    return arena_printf(tx->arena, STR_FMT "/workflow-state/index.json",
                        STR_ARG(workspace_dir(tx, e)));
}

str view_log_file(struct tx *tx, const struct execution *e)
{
    return arena_printf(tx->arena, "workspace/logs/workflow-orchestration/" STR_FMT ".log",
                        STR_ARG(e->id));
}
