/* executions.c: operations that look at executions, the workflows that run, and how they are shown. */
#include "core/state.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/write.h"

enum { MARKS_SHOWN = 200, INCIDENTS_SHOWN = 50, APPROVALS_SHOWN = 50 };

/* ---- one of them ---- */

void execution_members(struct json_writer *w, const struct execution *e)
{
    write_text(w, STR("execution_id"), e->id);
    write_text(w, STR("workflow"), e->workflow);
    write_int(w, STR("version"), e->version);
    write_text(w, STR("status"), team_name(&execution_words, (int)e->status));
    write_or_null(w, STR("reason"), e->reason);
    write_bool(w, STR("failing"), e->failing);
    write_int(w, STR("incidents"), e->incidents);
    write_or_null(w, STR("state_id"), e->state_id);
    write_or_null(w, STR("workflow_state_id"), e->workflow_state_id);
    write_or_null(w, STR("session_id"), e->session_id);
    write_or_null(w, STR("session_name"), e->workspace);
    write_or_null(w, STR("project_dir"), e->project_dir);
    write_or_null(w, STR("business_key"), e->business_key);
    write_text(w, STR("started_by"), e->started_by);
    write_time(w, STR("created_at"), e->created_at_ms);
    write_time(w, STR("updated_at"), e->updated_at_ms);
    write_time_or_null(w, STR("ended_at"), e->ended_at_ms);
}

static void execution_data(struct tx *tx, struct json_writer *w, const struct execution *e)
{
    write_stored(tx, w, STR("variables"), THING("execution", e->id), e->vars);
    write_stored_or_null(tx, w, STR("result"), THING("execution", e->id), e->result);
}

void write_execution(struct tx *tx, struct answer *out, const struct execution *e)
{
    json_write_begin(&out->json, '{');
    execution_members(&out->json, e);
    execution_data(tx, &out->json, e);
    json_write_end(&out->json, '}');
}

void write_step_after(struct json_writer *w, const struct graph *g, const struct graph_step *s)
{
    write_begin(w, STR("after"), '[');
    for (size_t i = 0; i < s->after_count; i++)
        json_write_str(w, g->steps[s->after[i]].id);
    json_write_end(w, ']');
}

/* ---- where it stands ---- */

/* Of an execution that has ended and whose definition was deleted: its document has its steps. */
static const struct graph no_graph;

/* The marks that are shown, and one more where there are more. */
static err rest_load(struct tx *tx, const struct execution *e, struct execution_rest *out)
{
    struct incident_filter open = { .execution_id = e->id,
                                    .status = STR("open"),
                                    .limit = INCIDENTS_SHOWN };
    struct approval_filter waiting = { .execution_id = e->id,
                                       .status = STR("waiting"),
                                       .limit = APPROVALS_SHOWN };
    const struct workflow_program *program;
    struct mark *marks = NULL;

    *out = (struct execution_rest){ .e = e };
    err gone = workflow_program(tx, e->workflow, e->version, e->digest, &program);
    bool is_deleted = gone && (gone->kind == ERR_NOT_FOUND || gone->kind == ERR_CONFLICT);
    if (gone && (!is_deleted || execution_is_open(e->status)))
        return gone;
    out->graph = gone ? &no_graph : program->graph;
    TRY(execution_marks(tx, e, MARKS_SHOWN + 1, &marks, &out->count));
    for (size_t i = 0; i < out->count; i++)
        marks[i].at = graph_node_find(out->graph, marks[i].node);
    out->marks = marks;
    if (execution_is_open(e->status))
        TRY(approval_list(tx, &waiting, &out->approvals, &out->approval_count));
    struct share *shares;
    TRY(share_list(tx, e->no, 0, &shares, &out->share_count));
    out->shares = shares;
    return e->incidents ? incident_list(tx, &open, &out->incidents, &out->incident_count) : NULL;
}

static const struct step *row_of(const struct step *rows, size_t count, str node)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(rows[i].node, node))
            return &rows[i];
    return NULL;
}

/* What every answer says of a step; one that was not reached has no row. */
static void step_members(struct json_writer *w, const struct execution_rest *r,
                         const struct graph_step *s, const struct step *row)
{
    write_text(w, STR("step"), s->id);
    write_or_null(w, STR("title"), s->title);
    write_text(w, STR("status"), team_name(&step_words, (int)(row ? row->status : STEP_PENDING)));
    write_step_after(w, r->graph, s);
    write_int(w, STR("attempt"), row ? row->attempt : 0);
    write_time_or_null(w, STR("started_at"), row ? row->started_at_ms : 0);
    write_time_or_null(w, STR("attempt_started_at"), step_attempt_began(r, s));
    write_time_or_null(w, STR("ended_at"), row ? row->ended_at_ms : 0);
}

static err step_data(struct tx *tx, const struct execution *e, const struct step *row,
                     const struct json **out)
{
    *out = NULL;
    if (!row || !row->data.len)
        return NULL;
    return stored_parse_as(tx, THING("execution", e->id), row->data, JSON_OBJECT, out);
}

static err write_step(struct tx *tx, struct json_writer *w, const struct execution_rest *r,
                      const struct graph_step *s, const struct step *row)
{
    const struct json *data;

    TRY(step_data(tx, r->e, row, &data));
    json_write_begin(w, '{');
    step_members(w, r, s, row);
    write_or_null(w, STR("error"), json_str(data, "error"));
    write_or_null(w, STR("waits_for"), step_waits_for(tx, r, s));
    json_write_end(w, '}');
    return NULL;
}

static void write_token(struct tx *tx, struct json_writer *w, const struct execution_rest *r,
                        const struct mark *m)
{
    uint16_t step = m->at == GRAPH_NONE ? GRAPH_NONE : r->graph->nodes[m->at].step;

    json_write_begin(w, '{');
    write_text(w, STR("token"), arena_printf(tx->arena, "token-%lld", (long long)m->n));
    write_text(w, STR("node"), m->node);
    write_or_null(w, STR("step"), step == GRAPH_NONE ? STR("") : r->graph->steps[step].id);
    write_text(w, STR("status"), team_name(&mark_words, (int)m->status));
    write_text(w, STR("waits_for"), mark_waits_for(tx, r, m));
    write_time(w, STR("since"), m->since_ms);
    write_int(w, STR("attempt"), m->attempt);
    if (m->item >= 0)
        write_int(w, STR("item"), m->item);
    if (m->status == MARK_LOOP) {
        write_int(w, STR("total"), m->total);
        write_int(w, STR("done"), m->done);
    }
    write_or_null(w, STR("worker"), m->worker);
    json_write_end(w, '}');
}

/* Instances that are done have nothing to wait for. */
static void write_tokens(struct tx *tx, struct json_writer *w, const struct execution_rest *r)
{
    size_t shown = r->count < MARKS_SHOWN ? r->count : MARKS_SHOWN;

    write_begin(w, STR("tokens"), '[');
    for (size_t i = 0; i < shown; i++)
        if (r->marks[i].status != MARK_DONE)
            write_token(tx, w, r, &r->marks[i]);
    json_write_end(w, ']');
    if (shown < r->count)
        write_bool(w, STR("truncated"), true);
}

static err write_steps(struct tx *tx, struct json_writer *w, const struct execution_rest *r)
{
    struct step *rows;
    size_t count;

    TRY(execution_steps(tx, r->e, &rows, &count));
    write_begin(w, STR("steps"), '[');
    for (uint16_t i = 0; i < r->graph->step_count; i++) {
        const struct graph_step *s = &r->graph->steps[i];
        TRY(write_step(tx, w, r, s, row_of(rows, count, s->id)));
    }
    json_write_end(w, ']');
    return NULL;
}

/* ---- waiting for it ---- */

/* The version of its document, which changes with whatever is to be seen of it. */
static err document_version(struct tx *tx, const struct execution *e, int64_t *out)
{
    struct state state = { .version = 0 };
    err missing = e->state_id.len ? state_load(tx, e->state_id, &state) : NULL;

    *out = missing ? 0 : state.version;
    return missing && missing->kind != ERR_NOT_FOUND ? missing : NULL;
}

/* Whether to wait: for its end, or for a later version of its document than is known. One that has ended
 * does not change any more by itself. */
static bool waits_for(struct tx *tx, const struct input *in, const struct execution *e,
                      int64_t version, struct answer *out)
{
    str what = input_str(in, "wait");
    int64_t *known = ARENA_NEW(tx->arena, int64_t);

    *known = in->waited ? *(const int64_t *)in->waited : input_int(in, "since_version", version);
    if (!what.len || in->wait_over || !execution_is_open(e->status) ||
        (str_eq(what, STR("changed")) && version > *known))
        return false;
    out->waits = true;
    out->wait_subject = e->id;
    out->wait_seq = *tx->seq;
    out->wait_until_ms = tx->now_ms + input_int(in, "timeout", 30) * 1000;
    out->wait_self = known;
    return true;
}

static err execution_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct execution_rest rest;
    struct execution e;
    int64_t version, waited;

    TRY(execution_get(tx, input_str(in, "execution_id"), &e));
    TRY(document_version(tx, &e, &version));
    if (waits_for(tx, in, &e, version, out))
        return NULL;
    TRY(rest_load(tx, &e, &rest));
    json_write_begin(w, '{');
    execution_members(w, &e);
    write_int(w, STR("state_version"), version);
    TRY(write_steps(tx, w, &rest));
    write_tokens(tx, w, &rest);
    write_begin(w, STR("open_incidents"), '[');
    for (size_t i = 0; i < rest.incident_count; i++)
        write_incident(w, &rest.incidents[i]);
    json_write_end(w, ']');
    write_begin(w, STR("open_approvals"), '[');
    for (size_t i = 0; i < rest.approval_count; i++)
        write_approval(tx, w, &rest.approvals[i]);
    json_write_end(w, ']');
    TRY(approval_waited(tx, &e, &waited));
    write_seconds(w, STR("approval_seconds"), waited);
    execution_data(tx, w, &e);
    json_write_end(w, '}');
    return NULL;
}

/* ---- lists ---- */

static err execution_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution_filter filter = { .workflow = input_str(in, "workflow"),
                                       .session = input_str(in, "session"),
                                       .workspace = input_str(in, "session_name"),
                                       .business_key = input_str(in, "business_key"),
                                       .status = input_str(in, "status"),
                                       .before = input_int(in, "after", 0),
                                       .limit = page_rows(in) };
    const struct execution *all;
    size_t count;

    TRY(execution_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("executions"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        json_write_begin(&out->json, '{');
        execution_members(&out->json, &all[i]);
        json_write_end(&out->json, '}');
    }
    page_end_number(tx, out, shown < count ? all[shown - 1].no : 0);
    return NULL;
}

/* Everything that was kept of a step: its data's own members stand beside the others. */
static err write_step_whole(struct tx *tx, struct json_writer *w, const struct execution_rest *r,
                            const struct graph_step *s, const struct step *row)
{
    static const char *const kept[] = { "outputs",  "error",    "evidence",
                                        "approval", "sessions", "history" };
    const struct json *data;

    TRY(step_data(tx, r->e, row, &data));
    json_write_begin(w, '{');
    step_members(w, r, s, row);
    write_int(w, STR("opened"), row ? row->opened : 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_get(data, kept[i]))
            write_value(w, str_from(kept[i]), json_get(data, kept[i]));
    write_or_null(w, STR("waits_for"), step_waits_for(tx, r, s));
    json_write_end(w, '}');
    return NULL;
}

static err execution_steps_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution_rest rest;
    struct execution e;
    struct step *rows;
    size_t count;

    TRY(execution_get(tx, input_str(in, "execution_id"), &e));
    TRY(rest_load(tx, &e, &rest));
    TRY(execution_steps(tx, &e, &rows, &count));
    json_write_begin(&out->json, '{');
    write_begin(&out->json, STR("steps"), '[');
    for (uint16_t i = 0; i < rest.graph->step_count; i++) {
        const struct graph_step *s = &rest.graph->steps[i];
        TRY(write_step_whole(tx, &out->json, &rest, s, row_of(rows, count, s->id)));
    }
    json_write_end(&out->json, ']');
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define STEP_MEMBERS JSON(                                                                         \
    "step": { "type": "string", "description": "Its id in the definition." },                      \
    "title": { "type": ["string", "null"], "description": "What people call it; null: its id." },  \
    "status": { "enum": ["pending", "in_progress", "waiting_approval", "completed", "failed", "skipped"], "description": "How far it is; waiting_approval: a person decides on it; skipped: its condition was not true." }, \
    "after": { "type": "array", "items": { "type": "string" }, "description": "The steps that come before it." }, \
    "attempt": { "type": "integer", "minimum": 0, "description": "Which attempt it is at, from 1; 0: it has not begun." }, \
    "started_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was begun; null: it has not been." }, \
    "attempt_started_at": { "type": ["string", "null"], "format": "date-time", "description": "When the attempt that is at work began, of several the first: of a job, when a worker has taken it; null: none is at work." }, \
    "ended_at": { "type": ["string", "null"], "format": "date-time", "description": "When it ended; null: it has not." }, \
    "waits_for": { "type": ["string", "null"], "description": "Who or what has to do something now, in words; null: nothing of it waits." })

#define STEP_REQUIRED JSON("step", "title", "status", "after", "attempt", "started_at", "attempt_started_at", "ended_at", "waits_for")

#define TOKEN_SHAPE SHAPE(JSON("token", "node", "step", "status", "waits_for", "since"), JSON(     \
    "token": { "type": "string", "description": "Names it within the execution." },                \
    "node": { "type": "string", "description": "The node of the graph that it rests at." },        \
    "step": { "type": ["string", "null"], "description": "The step that this is a part of." },     \
    "status": { "type": "string", "description": "How it rests: work, ready (a phase that nobody has said to begin), check, approval, backoff, join, loop, incident or held; others have something left to do." }, \
    "waits_for": { "type": "string", "description": "What has to happen for it to go on, in words." }, \
    "since": { "type": "string", "format": "date-time", "description": "Since when it rests so." }, \
    "attempt": { "type": "integer", "description": "Of work: which attempt this is." },            \
    "item": { "type": "integer", "description": "Of what is done for each item of a list: which one, from 0." }, \
    "total": { "type": "integer", "description": "Of a loop: how many items there are." },         \
    "done": { "type": "integer", "description": "Of a loop: how many of them are done." },         \
    "worker": { "type": ["string", "null"], "description": "Who has its job; null: nobody." }))

static const struct op ops[] = {
    {
        .name = "execution.list", .http = "GET /executions", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List executions, the newest first.",
        .input = FIELDS("", JSON(
            "workflow": { "type": "string", "description": "Only those of the workflow of this name." },
            "status": { "enum": ["open", "RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"], "description": "Only those with this status; open: those that have not ended." },
            "session": { "type": "string", "description": "Only those that were started for this session, by id or name." },
            "session_name": { "type": "string", "description": "Only those of this workspace." },
            "business_key": { "type": "string", "description": "Only those that are known outside by this key." },
            "after": { "type": "integer", "minimum": 1, "description": "Begin after this one: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("executions"), SHAPE_LIST("executions", "A page of them, without variables and results.",
            SHAPE(EXECUTION_REQUIRED, EXECUTION_MEMBERS)) "," PAGE_NEXT_NUMBER),
        .run = execution_list_op,
    },
    {
        .name = "execution.get", .http = "GET /executions/{execution_id}", .wait = true, .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show an execution: its steps, where it stands and what it waits for; or wait until it changes or ends.",
        .input = FIELDS(JSON("execution_id"), EXECUTION_ID "," JSON(
            "wait": { "enum": ["ended", "changed"], "description": "Wait until it has ended, or until its document has changed." },
            "since_version": { "type": "integer", "minimum": 0, "description": "With wait=changed: the state_version that is known, so that no change is missed." },
            "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 30, "description": "How many seconds to wait at most; then the answer is how it stands." })),
        .output = SHAPE(EXECUTION_REQUIRED "," JSON("state_version", "open_incidents", "open_approvals", "variables", "result"), EXECUTION_MEMBERS "," JSON(
            "state_version": { "type": "integer", "description": "The version of its document; 0: it has none." },
            "truncated": { "type": "boolean", "description": "There are more tokens than are shown." }) ","
            SHAPE_LIST("steps", "All of them, in the order of the definition.", SHAPE(STEP_REQUIRED, STEP_MEMBERS "," JSON(
                "error": { "type": ["string", "null"], "description": "Why its last attempt has failed; null: it has not." }))) ","
            SHAPE_LIST("tokens", "What rests, and what each waits for; at most 200.", TOKEN_SHAPE) ","
            SHAPE_LIST("open_incidents", "What stands still until a person has helped.", INCIDENT_SHAPE) ","
            SHAPE_LIST("open_approvals", "What a person is to decide.", APPROVAL_SHAPE) "," JSON(
            "approval_seconds": { "type": "integer", "minimum": 0, "description": "How long people were waited for in all, to decide." }) "," EXECUTION_DATA),
        .run = execution_get_op,
    },
    {
        .name = "execution.steps", .http = "GET /executions/{execution_id}/steps", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show the steps of an execution with all that is kept of them: outputs, failures and earlier attempts.",
        .input = FIELDS(JSON("execution_id"), EXECUTION_ID),
        .output = SHAPE(JSON("steps"), SHAPE_LIST("steps", "All of them, in the order of the definition.", SHAPE(STEP_REQUIRED, STEP_MEMBERS "," JSON(
            "opened": { "type": "integer", "description": "How often it was begun anew." },
            "outputs": { "description": "What it has given." },
            "error": { "description": "Why its last attempt has failed." },
            "evidence": { "description": "What a runner has found of what the definition wants to see: ok, what, found, and of a file its sha256." },
            "approval": { "description": "What a person was asked, and what was decided: required, approved, approved_at, selected_variant, decided_by, channel, reason." },
            "history": { "description": "What became of its earlier attempts, with the violations of each." },
            "sessions": { "description": "Which sessions of which agents have worked for it." })))),
        .run = execution_steps_op,
    },
};
// clang-format on

const struct op_list execution_ops = { ops, sizeof ops / sizeof *ops };
