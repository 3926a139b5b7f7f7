/* phases.c: document 001's functions: phases are made, begin, are done, and are looked at. */
#include <assert.h>

#include "base/utf8.h"
#include "core/exec/documents.h"
#include "core/exec/share.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/write.h"
#include "view/view.h"

/* Who does a phase when nobody is named: the document's example. */
#define DEFAULT_AGENT "general-purpose"

/* ---- making them ---- */

static str phase_id(struct arena *a, int64_t i)
{
    return arena_printf(a, "phase_%lld", (long long)i);
}

static err bad_phase(struct arena *a, uint32_t i, const char *what, str found)
{
    return err_new(a, ERR_INVALID, "phase %u: %s, found " STR_FMT, i, what,
                   STR_ARG(utf8_cut(found, 80)));
}

/* A member that says how a phase stands may be there as long as it says that nothing was done. */
static bool is_untouched(const struct json_member *m)
{
    str name = json_name(m);

    if (str_eq(name, STR("status")))
        return json_is(&m->value, JSON_STRING) && str_eq(json_text(&m->value), STR("pending"));
    if (str_eq(name, STR("deliverables")))
        return json_is(&m->value, JSON_ARRAY) && !m->value.len;
    if (str_eq(name, STR("context_for_next")))
        return json_is(&m->value, JSON_STRING) && !m->value.len;
    return false;
}

/* What it comes after: ids of phases, or their numbers. */
static err after_read(struct arena *a, uint32_t i, const struct json *value, struct json *out)
{
    struct json list = json_array();
    uint32_t count = value->kind == JSON_ARRAY ? value->len : 1;

    for (uint32_t k = 0; k < count; k++) {
        const struct json *one = value->kind == JSON_ARRAY ? &value->items[k] : value;
        int64_t number;
        if (json_is(one, JSON_INTEGER) && json_to_int(one, &number))
            json_push(a, &list, json_string(phase_id(a, number)));
        else if (json_is(one, JSON_STRING))
            json_push(a, &list, *one);
        else
            return bad_phase(a, i, "expected in \"after\" ids of phases, like \"phase_0\"",
                             json_printed(a, one));
    }
    json_put(a, out, STR("after"), list);
    return NULL;
}

/* {"title", "agent", …}: nothing that is executed may be among it. */
static err phase_member(struct arena *a, uint32_t i, const struct json_member *m, struct json *out)
{
    static const char *const texts[] = { "title", "agent", "description" };
    str name = json_name(m);

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (!str_eq(name, str_from(texts[k])))
            continue;
        if (!json_is(&m->value, JSON_STRING) || !m->value.len)
            return bad_phase(a, i, arena_printf(a, "expected a text as \"%s\"", texts[k]).at,
                             json_printed(a, &m->value));
        json_put(a, out, name, m->value);
        return NULL;
    }
    if (str_eq(name, STR("after")))
        return after_read(a, i, &m->value, out);
    if (str_eq(name, STR("id"))) {
        if (json_is(&m->value, JSON_STRING) && str_eq(json_text(&m->value), phase_id(a, i)))
            return NULL;
        return bad_phase(a, i,
                         arena_printf(a,
                                      "expected the id " STR_FMT ", or none: phases are "
                                      "numbered as they stand in the list",
                                      STR_ARG(phase_id(a, i)))
                             .at,
                         json_printed(a, &m->value));
    }
    if (is_untouched(m))
        return NULL;
    return bad_phase(a, i,
                     "expected \"title\", \"agent\", \"description\" and \"after\", since every "
                     "phase begins as pending",
                     arena_printf(a, "\"" STR_FMT "\": " STR_FMT, STR_ARG(name),
                                  STR_ARG(json_printed(a, &m->value))));
}

/* A phase is an object, a title, or a title and an agent. */
static err phase_read(struct arena *a, uint32_t i, const struct json *given, struct json *out)
{
    static const char *const pair[] = { "title", "agent" };

    *out = json_object();
    json_put(a, out, STR("id"), json_string(phase_id(a, i)));
    if (given->kind == JSON_STRING)
        json_put(a, out, STR("title"), *given);
    for (uint32_t k = 0; given->kind == JSON_ARRAY && k < given->len; k++) {
        if (k > 1 || given->items[k].kind != JSON_STRING)
            return bad_phase(a, i, "expected a title and an agent", json_printed(a, given));
        json_put(a, out, str_from(pair[k]), given->items[k]);
    }
    for (uint32_t k = 0; given->kind == JSON_OBJECT && k < given->len; k++)
        TRY(phase_member(a, i, &given->members[k], out));
    if (!json_str(out, "title").len)
        return bad_phase(a, i, "expected a \"title\"", json_printed(a, given));
    if (!json_get(out, "agent"))
        json_put(a, out, STR("agent"), json_string(STR(DEFAULT_AGENT)));
    return NULL;
}

static err definition_of(struct arena *a, const struct input *in, struct json *out)
{
    const struct json *phases = input_json(in, "phases");
    struct json list = json_array(), one;

    for (uint32_t i = 0; i < phases->len; i++) {
        TRY(phase_read(a, i, &phases->items[i], &one));
        json_push(a, &list, one);
    }
    *out = json_object();
    json_put(a, out, STR("task"), json_string(input_str(in, "task")));
    json_put(a, out, STR("phases"), list);
    return NULL;
}

static err phase_create_ready(struct arena *a, const struct input *in, void **ready)
{
    struct json *definition = ARENA_NEW(a, struct json);

    TRY(definition_of(a, in, definition));
    return workflow_prepare(a, definition, (struct workflow_ready **)ready);
}

static err phase_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    void *ready = in->ready;
    struct workflow kept;
    struct execution e;
    struct view v;

    if (!ready)
        TRY(phase_create_ready(tx->arena, in, &ready));
    TRY(workflow_keep(tx, ready, &kept));
    struct execution_new n = { .workflow = kept.name,
                               .version = kept.version,
                               .workspace = input_str(in, "session_name"),
                               .project_dir = input_str(in, "project_dir"),
                               .session = input_str(in, "parent_session_name"),
                               .workflow_state_id = input_str(in, "workflow_state_id") };
    TRY(execution_start(tx, &n, &e));
    TRY(view_load(tx, &e, &v));
    out->created = true;
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("workflow_id"), e.id);
    view_write_workflow(&out->json, &v);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- what is said of one ---- */

static enum step_status status_of(str word)
{
    static const struct {
        const char *word;
        enum step_status status;
    } words[] = { { "pending", STEP_PENDING },
                  { "active", STEP_IN_PROGRESS },
                  { "completed", STEP_COMPLETED },
                  { "failed", STEP_FAILED } };
    size_t i = 0;

    while (!str_eq(word, str_from(words[i].word)))
        i++; /* the schema knows no others */
    return words[i].status;
}

/* What it leaves. */
static err outputs_of(struct tx *tx, const struct input *in, struct json *out)
{
    const struct json *deliverables = input_json(in, "deliverables"),
                      *left = input_json(in, "context_for_next"),
                      *other = input_json(in, "context");
    struct arena *a = tx->arena;

    if (left && other && !json_equal(left, other))
        return err_new(a, ERR_INVALID,
                       "\"context\" is another name of \"context_for_next\": expected one of them, "
                       "found both with two values");
    left = left ? left : other;
    *out = json_object();
    if (deliverables)
        json_put(a, out, STR("deliverables"), *deliverables);
    if (left)
        json_put(a, out, STR("context_for_next"), *left);
    return NULL;
}

/* A session that works for a step records it; others tell of it. */
static err phase_tell(struct tx *tx, const struct input *in, const struct step_told *t,
                      struct execution *e)
{
    str id = input_str(in, "workflow_id");
    bool worker;

    TRY(share_is_worker(tx, id, &worker));
    if (!worker)
        return execution_tell(tx, id, t, e);
    const struct share_record r = { .execution_id = id,
                                    .step = t->step,
                                    .failed = t->status == STEP_FAILED,
                                    .more = t->status == STEP_IN_PROGRESS,
                                    .error = t->error,
                                    .outputs = t->outputs };
    return share_put_record(tx, &r, e);
}

/* What whoever does a phase is told of it: as the document spawns its agent. */
static str task_of(const struct view *v, uint16_t i)
{
    str context = view_context(v, i);
    const struct graph_step *s = v->steps[i].step;

    return arena_printf(v->tx->arena, STR_FMT "%s" STR_FMT, STR_ARG(s->title),
                        context.len ? "\n\nContext: " : "", STR_ARG(context));
}

/* The phases that have become active by what was just said of another. */
static void write_activated(struct json_writer *w, const struct view *before,
                            const struct view *now, uint16_t said)
{
    write_begin(w, STR("activated"), '[');
    for (uint16_t i = 0; i < now->count; i++) {
        const struct graph_step *s = now->steps[i].step;
        if (i == said || now->steps[i].row.status != STEP_IN_PROGRESS ||
            before->steps[i].row.status == STEP_IN_PROGRESS)
            continue;
        json_write_begin(w, '{');
        write_text(w, STR("id"), s->id);
        write_text(w, STR("title"), s->title);
        write_text(w, STR("agent"), s->agent_count ? s->agents[0] : STR(""));
        write_text(w, STR("task"), task_of(now, i));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static err phase_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str id = input_str(in, "workflow_id"), phase = input_str(in, "phase_id");
    struct json key = json_string(phase), outputs;
    struct json_writer *w = &out->json;
    struct step_told t = { .status = status_of(input_str(in, "status")),
                           .error = input_str(in, "error") };
    struct view before, now;
    struct execution e, was;
    uint16_t i;

    TRY(execution_see(tx, id, &was));
    TRY(view_load(tx, &was, &before));
    TRY(view_step_find(&before, &key, &i));
    TRY(outputs_of(tx, in, &outputs));
    t.step = before.steps[i].step->id;
    t.outputs = &outputs;
    TRY(phase_tell(tx, in, &t, &e));
    TRY(execution_see(tx, id, &e));
    TRY(view_load(tx, &e, &now));
    uint16_t active = view_active(&now);
    json_write_begin(w, '{');
    write_text(w, STR("workflow_id"), e.id);
    write_text(w, STR("phase_id"), t.step);
    write_text(w, STR("status"), view_step_status(&now, i));
    write_text(w, STR("workflow_status"), view_status(&now));
    write_or_null(w, STR("current_phase"),
                  active == GRAPH_NONE ? STR("") : now.steps[active].step->id);
    write_text(w, STR("context"), view_context(&now, i));
    write_activated(w, &before, &now, i);
    json_write_end(w, '}');
    return NULL;
}

/* ---- looking ---- */

/* The newest open one, or the newest of all. */
static err newest_workflow(struct tx *tx, struct execution *out)
{
    struct execution_documents filter = { .kind = STR("phases"),
                                          .status = STR("open"),
                                          .limit = 1 };
    const struct execution *found;
    size_t count;

    TRY(execution_documents(tx, &filter, &found, &count, NULL));
    filter.status = STR("");
    if (!count)
        TRY(execution_documents(tx, &filter, &found, &count, NULL));
    if (!count)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no workflow of phases yet: create_workflow_state makes one "
                       "('baton phase create TASK')");
    return execution_see(tx, found->id, out);
}

static err phase_show_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str id = input_str(in, "workflow_id");
    struct execution e;
    struct view v;

    if (id.len)
        TRY(execution_see(tx, id, &e));
    else
        TRY(newest_workflow(tx, &e));
    TRY(view_load(tx, &e, &v));
    uint16_t active = view_active(&v);
    json_write_begin(&out->json, '{');
    view_write_workflow(&out->json, &v);
    write_text(&out->json, STR("context"),
               active == GRAPH_NONE ? STR("") : view_context(&v, active));
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define PHASE_SHAPE SHAPE(JSON("id", "title", "agent", "status", "deliverables", "context_for_next"), JSON( \
    "id": { "type": "string", "description": "phase_N, N counting from 0." },                      \
    "title": { "type": "string", "description": "What is done in it." },                           \
    "agent": { "type": "string", "description": "Who does it." },                                  \
    "status": { "enum": ["pending", "active", "completed", "failed"], "description": "How far it is." }, \
    "deliverables": { "type": "array", "items": { "type": "string" }, "description": "Paths and outcomes that it has left." }, \
    "context_for_next": { "type": "string", "description": "What those after it are to know." }))

#define WORKFLOW_JSON JSON(                                                                        \
    "id": { "type": "string", "description": "The workflow, wf_YYYYMMDD_HHMMSS." },                \
    "task": { "type": "string", "description": "What was asked for, word by word." },              \
    "status": { "type": "string", "description": "pending until a phase begins; active, completed or failed." }, \
    "current_phase": { "type": ["string", "null"], "description": "The lowest phase that is active; null: none is." }) "," \
    SHAPE_LIST("phases", "All of them, in their order.", PHASE_SHAPE)

#define WORKFLOW_ID JSON("workflow_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The workflow, by the id that it was made with." })

static const struct op ops[] = {
    {
        .name = "phase.create", .http = "POST /executions/phases", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "create_workflow_state", .tier = TIER_ROOT,
        .summary = "Make a workflow of phases that agents report: all of them are pending until the first is told active.",
        .hint = "Make a workflow of phases before you delegate: it keeps who does what, what was delivered and what the next one must know. "
                "Begin with update_phase_status(phase_0, active).",
        .input = FIELDS(JSON("task", "phases"), JSON(
            "task": { "type": "string", "minLength": 1, "maxLength": 20000, "description": "What was asked for, word by word." },
            "phases": { "type": "array", "minItems": 1, "maxItems": 100, "items": { "type": ["object", "array", "string"] },
                "description": "Each an object with title and agent, and perhaps description and after (ids like phase_0: without any, they come one after the other); or a list of title and agent; or a title." },
            "session_name": { "type": "string", "maxLength": 100, "description": "The workspace that it belongs to." },
            "parent_session_name": { "type": "string", "maxLength": 100, "description": "The session that it is for, by name or id; a session's own unless given." },
            "workflow_state_id": { "type": "string", "maxLength": 100, "description": "The state that its work is about, by id or name." },
            "project_dir": { "type": "string", "maxLength": 1200, "pattern": "^/", "description": "The folder that it is about." })),
        .output = SHAPE(JSON("workflow_id", "id", "task", "status", "current_phase", "phases"), JSON(
            "workflow_id": { "type": "string", "description": "What the other operations name it by." }) "," WORKFLOW_JSON),
        .tool_input = JSON({ "task": "The user's request, word by word", "phases": "Each {title, agent, after?: [phase_N]}" }),
        .tool_output = JSON({ "workflow_id": true, "status": true, "phases": { "id": true, "title": true, "agent": true } }),
        .prepare = phase_create_ready, .run = phase_create_op,
    },
    {
        .name = "phase.update", .http = "POST /executions/{workflow_id}/phases/{phase_id}", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "update_phase_status", .tier = TIER_CHILD, .group = GROUP_PHASES,
        .summary = "Say that a phase begins, is completed or has failed; completing one activates those after it.",
        .hint = "Say that a phase of a workflow is active, completed or failed. Completing one activates the next: what it must know is context_for_next.",
        .input = FIELDS(JSON("workflow_id", "phase_id", "status"), WORKFLOW_ID "," JSON(
            "phase_id": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The phase, phase_N." },
            "status": { "enum": ["pending", "active", "completed", "failed"], "description": "What it is now; pending is where it begins, and nobody brings it back there." },
            "deliverables": { "type": "array", "maxItems": 1000, "items": { "type": "string", "maxLength": 4000 }, "description": "Paths and outcomes that it leaves." },
            "context_for_next": { "type": "string", "maxLength": 100000, "description": "What those after it are to know." },
            "context": { "type": "string", "maxLength": 100000, "description": "Another name of context_for_next." },
            "error": { "type": "string", "maxLength": 4000, "description": "Of one that has failed: why." })),
        .output = SHAPE(JSON("workflow_id", "phase_id", "status", "workflow_status", "current_phase", "context", "activated"), JSON(
            "workflow_id": { "type": "string", "description": "The workflow." },
            "phase_id": { "type": "string", "description": "The phase." },
            "status": { "type": "string", "description": "What the phase is now." },
            "workflow_status": { "type": "string", "description": "What the workflow is now: failed when a phase has." },
            "current_phase": { "type": ["string", "null"], "description": "The lowest phase that is active; null: none is." },
            "context": { "type": "string", "description": "What the phases before this one have left for it; empty: nothing." }) ","
            SHAPE_LIST("activated", "Phases that became active by this: each with the task for its agent, which begins with its title and ends with the context.", SHAPE(JSON("id", "title", "agent", "task"), JSON(
                "id": { "type": "string", "description": "The phase." },
                "title": { "type": "string", "description": "What is done in it." },
                "agent": { "type": "string", "description": "Who is to do it." },
                "task": { "type": "string", "description": "What to tell that agent." })))),
        .tool_input = JSON({ "workflow_id": "", "phase_id": "phase_N", "status": "", "deliverables": "Paths and outcomes", "context_for_next": "What the next phase must know" }),
        .tool_output = JSON({ "status": true, "workflow_status": true, "current_phase": true, "context": true, "activated": true }),
        .run = phase_update_op,
    },
    {
        .name = "phase.show", .http = "GET /executions/phases", .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_READERS, .tool = "get_workflow_state", .tier = TIER_CHILD, .group = GROUP_PHASES,
        .summary = "Show a workflow of phases, and what those before the current one have left for it; the newest open one unless it is named.",
        .hint = "Show a workflow's phases, their deliverables, and the context that was left for the current one. Without an id: the newest open one.",
        .input = FIELDS("", WORKFLOW_ID),
        .output = SHAPE(JSON("status", "context"), WORKFLOW_JSON "," JSON(
            "context": { "type": "string", "description": "What the phases before the current one have left for it; empty: nothing." },
            "workflow_id": { "type": "string", "description": "Of a workflow that is not of phases: its id, and the other members of its state." },
            "workflow_type": { "type": "string", "description": "Of such a one: what it is." },
            "generation": { "type": "object", "description": "Of such a one: its steps." },
            "planning": { "type": "object", "description": "Of such a one: its phases." },
            "steps": { "type": "object", "description": "Of such a one: its steps." })),
        .tool_input = JSON({ "workflow_id": "Unless given, the newest open one" }),
        .tool_output = JSON({ "id": true, "workflow_id": true, "task": true, "status": true, "current_phase": true, "phases": true, "generation": true, "planning": true, "steps": true, "context": true }),
        .run = phase_show_op,
    },
};
// clang-format on

const struct op_list phase_ops = { ops, sizeof ops / sizeof *ops };
