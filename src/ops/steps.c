/* steps.c: document 002's eight tools: where a workflow stands, what comes next, what is given, decided,
 * resumed and cancelled. Inputs and answers are those that the document prints. */
#include <assert.h>

#include "base/utf8.h"
#include "core/exec/approval.h"
#include "core/exec/documents.h"
#include "core/exec/share.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/write.h"
#include "view/view.h"

enum { MARKS_MAX = 1000 };

static err view_of(struct tx *tx, const struct input *in, struct execution *e, struct view *v)
{
    TRY(execution_see(tx, input_str(in, "workflow_id"), e));
    return view_load(tx, e, v);
}

/* The lowest step after one that is not done; GRAPH_NONE: there is none. */
static uint16_t next_of(const struct view *v, uint16_t step)
{
    for (uint16_t i = (uint16_t)(step + 1); i < v->count; i++)
        if (!view_is_done(v, i))
            return i;
    return GRAPH_NONE;
}

static void write_next(struct json_writer *w, const struct view *v, uint16_t next)
{
    if (next == GRAPH_NONE) {
        write_null(w, STR("next_step"));
        write_null(w, STR("next_step_name"));
        return;
    }
    view_write_key(w, STR("next_step"), v, next);
    write_text(w, STR("next_step_name"), v->steps[next].step->title);
}

/* "verification plan" */
static str lower(struct arena *a, str text)
{
    str out = arena_copy(a, text);

    for (size_t i = 0; i < out.len; i++)
        if (out.at[i] >= 'A' && out.at[i] <= 'Z')
            ((char *)out.at)[i] = (char)(out.at[i] | 0x20);
    return out;
}

/* "Step 3 (Verification Plan)" */
static str step_called(const struct view *v, uint16_t i)
{
    bool phase = v->graph->kind == GRAPH_PLANNING || view_is_phases(v);

    return arena_printf(v->tx->arena, "%s " STR_FMT " (" STR_FMT ")", phase ? "Phase" : "Step",
                        STR_ARG(view_key(v, i)), STR_ARG(v->steps[i].step->title));
}

/* Steps that come before one and are done, or (not) are not. */
static size_t before_count(const struct view *v, uint16_t step, bool done)
{
    const bool *before = view_before(v, step);
    size_t count = 0;

    for (uint16_t i = 0; i < v->count; i++)
        count += before[i] && view_is_done(v, i) == done;
    return count;
}

/* ---- get_workflow_status ---- */

static err step_status_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct execution e;
    struct view v;

    TRY(view_of(tx, in, &e, &v));
    uint16_t current = view_current(&v);
    json_write_begin(w, '{');
    write_text(w, STR("workflow_id"), e.id);
    write_text(w, STR("workflow_type"), view_kind(&v));
    write_text(w, STR("status"), view_status(&v));
    view_write_key(w, STR("current_step"), &v, current);
    write_text(w, STR("current_step_name"), v.steps[current].step->title);
    write_bool(w, STR("waiting_for_approval"), view_waits(&v));
    write_int(w, STR("progress_percentage"), view_progress(&v));
    view_write_artifacts(w, STR("artifacts"), &v, current);
    json_write_end(w, '}');
    return NULL;
}

/* ---- get_next_step ---- */

/* Why nobody can go on by themselves, and what has to be done by whom. */
struct block {
    str reason, action; /* no reason: whoever does the step goes on */
};

static struct block block_of_approval(const struct view *v, uint16_t i)
{
    struct arena *a = v->tx->arena;
    str name = lower(a, v->steps[i].step->title);

    if (v->steps[i].step->approval->variant)
        return (struct block){
            arena_printf(a, "Human selection of a variant required for " STR_FMT, STR_ARG(name)),
            arena_printf(a, "User must select a variant of " STR_FMT, STR_ARG(name))
        };
    return (struct block){ arena_printf(a, "Human approval required for " STR_FMT, STR_ARG(name)),
                           arena_printf(a, "User must approve or modify " STR_FMT, STR_ARG(name)) };
}

static struct block block_of_failure(const struct view *v, uint16_t i)
{
    str why = json_str(v->steps[i].data, "error");
    struct arena *a = v->tx->arena;

    return (struct block){
        arena_printf(a, STR_FMT " has failed%s" STR_FMT, STR_ARG(step_called(v, i)),
                     why.len ? ": " : "", STR_ARG(why)),
        arena_printf(a, "User must mend the cause, and resume the workflow from step " STR_FMT,
                     STR_ARG(view_key(v, i)))
    };
}

static struct block block_of_work(const struct view *v, uint16_t i)
{
    const struct graph_step *s = v->steps[i].step;
    struct buf who = buf_in(v->tx->arena);

    for (size_t k = 0; k < s->agent_count; k++)
        buf_printf(&who, "%s" STR_FMT, k ? ", " : "", STR_ARG(s->agents[k]));
    if (!who.len)
        buf_add(&who, STR("Whoever does it"));
    return (struct block){ STR(""), arena_printf(v->tx->arena, STR_FMT " must complete " STR_FMT,
                                                 STR_ARG(buf_str(&who)),
                                                 STR_ARG(lower(v->tx->arena, s->title))) };
}

static struct block block_of(const struct view *v, uint16_t i)
{
    const struct execution *e = v->e;
    struct arena *a = v->tx->arena;

    if (e->status == EXECUTION_COMPLETED)
        return (struct block){ STR("All steps are completed"), STR("None") };
    if (v->steps[i].row.status == STEP_FAILED && e->status != EXECUTION_CANCELLED)
        return block_of_failure(v, i);
    if (!execution_is_open(e->status))
        return (struct block){ arena_printf(a, "The workflow is " STR_FMT ": " STR_FMT,
                                            STR_ARG(view_status(v)), STR_ARG(e->reason)),
                               arena_printf(a, "User must resume the workflow from step " STR_FMT,
                                            STR_ARG(view_key(v, i))) };
    if (v->steps[i].row.status == STEP_APPROVAL)
        return block_of_approval(v, i);
    if (e->status == EXECUTION_PAUSED)
        return (struct block){ arena_printf(a, "The workflow is paused%s" STR_FMT,
                                            e->reason.len ? ": " : "", STR_ARG(e->reason)),
                               STR("User must resume the workflow") };
    if (e->incidents)
        return (struct block){ arena_printf(a, "%lld incident%s of the workflow wait for a person",
                                            (long long)e->incidents, e->incidents == 1 ? "" : "s"),
                               STR("User must resolve what 'baton inbox' shows") };
    if (view_is_phases(v) && v->steps[i].row.status == STEP_PENDING)
        return (struct block){ STR(""), arena_printf(a, "Phase " STR_FMT " must be told active",
                                                     STR_ARG(view_key(v, i))) };
    return block_of_work(v, i);
}

static err step_next_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct execution e;
    struct view v;

    TRY(view_of(tx, in, &e, &v));
    uint16_t current = view_current(&v), next = next_of(&v, current);
    struct block block = block_of(&v, current);
    json_write_begin(w, '{');
    write_bool(w, STR("can_proceed"), !block.reason.len);
    view_write_key(w, STR("current_step"), &v, current);
    write_text(w, STR("current_step_name"), v.steps[current].step->title);
    write_text(w, STR("current_status"), view_step_status(&v, current));
    write_or_null(w, STR("blocking_reason"), block.reason);
    write_text(w, STR("required_action"), block.action);
    write_next(w, &v, next);
    write_bool(w, STR("prerequisites_met"), next == GRAPH_NONE || !before_count(&v, next, false));
    json_write_end(w, '}');
    return NULL;
}

/* ---- validate_prerequisites ---- */

enum which { REQUIRED, COMPLETED, MISSING };

static void write_before(struct json_writer *w, const struct view *v, uint16_t step, str name,
                         enum which which)
{
    const bool *before = view_before(v, step);

    write_begin(w, name, '[');
    for (uint16_t i = 0; i < v->count; i++) {
        int64_t number;
        str key = view_key(v, i);
        if (!before[i] || (which != REQUIRED && view_is_done(v, i) != (which == COMPLETED)))
            continue;
        if (str_to_int(key, &number))
            json_write_int(w, number);
        else
            json_write_str(w, key);
    }
    json_write_end(w, ']');
}

/* What stands in the way of a step, each in a sentence; gives how much. */
static size_t write_issues(struct json_writer *w, const struct view *v, uint16_t step)
{
    const bool *before = view_before(v, step);
    enum step_status status = v->steps[step].row.status;
    size_t count = 0;

    write_begin(w, STR("blocking_issues"), '[');
    for (uint16_t i = 0; i < v->count; i++)
        if (before[i] && !view_is_done(v, i)) {
            json_write_str(w, arena_printf(v->tx->arena, STR_FMT " is " STR_FMT,
                                           STR_ARG(step_called(v, i)),
                                           STR_ARG(view_step_status(v, i))));
            count++;
        }
    if (status != STEP_PENDING && status != STEP_IN_PROGRESS) {
        json_write_str(w, arena_printf(v->tx->arena, STR_FMT " is " STR_FMT " already",
                                       STR_ARG(step_called(v, step)),
                                       STR_ARG(view_step_status(v, step))));
        count++;
    }
    if (!execution_is_open(v->e->status)) {
        json_write_str(w, arena_printf(v->tx->arena, "The workflow is " STR_FMT,
                                       STR_ARG(view_status(v))));
        count++;
    } else if (v->e->status == EXECUTION_PAUSED) {
        json_write_str(w, STR("The workflow is paused"));
        count++;
    }
    json_write_end(w, ']');
    return count;
}

static err step_prerequisites_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct buf issues = buf_in(tx->arena);
    struct json_writer aside = json_writer_to(&issues);
    struct execution e;
    struct view v;
    uint16_t step;

    TRY(view_of(tx, in, &e, &v));
    TRY(view_step_find(&v, input_json(in, "step"), &step));
    json_write_begin(&aside, '{');
    bool can = !write_issues(&aside, &v, step);
    json_write_end(&aside, '}');
    json_write_begin(w, '{');
    write_bool(w, STR("prerequisites_met"), !before_count(&v, step, false));
    write_before(w, &v, step, STR("required_steps"), REQUIRED);
    write_before(w, &v, step, STR("completed_steps"), COMPLETED);
    write_before(w, &v, step, STR("missing_steps"), MISSING);
    write_bool(w, STR("can_start_step"), can);
    write_issues(w, &v, step);
    json_write_end(w, '}');
    return NULL;
}

/* ---- approve_step ---- */

static err not_asked(struct tx *tx, const struct view *v, uint16_t step)
{
    return err_new(tx->arena, ERR_CONFLICT, STR_FMT " waits for no approval: it is " STR_FMT "%s",
                   STR_ARG(step_called(v, step)), STR_ARG(view_step_status(v, step)),
                   v->steps[step].step->approval ? "" : ", and its definition asks nobody for one");
}

/* Whoever has not heard the answer decides the same again. */
static bool was_decided_so(const struct view *v, uint16_t step, bool approved)
{
    const struct json *approval = json_get(v->steps[step].data, "approval");
    str status = json_str(approval, "status");

    return str_eq(status, approved ? STR("approved") : STR("rejected"));
}

err write_step_decided(struct tx *tx, struct json_writer *w, const struct execution *e, str id)
{
    struct view v;

    TRY(view_load(tx, e, &v));
    uint16_t step = graph_step_find(v.graph, id);
    assert(step != GRAPH_NONE); /* an execution's definition stays */
    json_write_begin(w, '{');
    write_bool(w, STR("success"), true);
    write_text(w, STR("workflow_id"), e->id);
    view_write_key(w, STR("step"), &v, step);
    write_text(w, STR("status"), view_step_status(&v, step));
    write_next(w, &v, next_of(&v, step));
    json_write_end(w, '}');
    return NULL;
}

err step_approval(struct tx *tx, const struct input *in, struct approval *out, bool *found)
{
    struct execution e;
    struct view v;
    uint16_t step;

    TRY(view_of(tx, in, &e, &v));
    TRY(view_step_find(&v, input_json(in, "step"), &step));
    return approval_at(tx, &e, v.steps[step].step->id, out, found);
}

static err step_approve_op(struct tx *tx, const struct input *in, struct answer *out)
{
    bool approved = input_bool(in, "approved", true), found;
    struct approval p;
    struct execution e;
    struct view v;
    uint16_t step;

    TRY(view_of(tx, in, &e, &v));
    TRY(view_step_find(&v, input_json(in, "step"), &step));
    str id = arena_copy(tx->arena, v.steps[step].step->id);
    TRY(approval_at(tx, &e, id, &p, &found));
    if (found) {
        const struct approval_decision d = {
            .status = approved ? APPROVAL_APPROVED : APPROVAL_REJECTED,
            .reason = input_str(in, "reason"),
            .selected_variant = input_str(in, "selected_variant"),
            .modifications = input_json(in, "modifications"),
            .channel = input_str(in, "channel").len ? input_str(in, "channel") : STR("mcp")
        };
        TRY(approval_decide(tx, p.id, &d, &p, &e));
    } else if (!was_decided_so(&v, step, approved)) {
        return not_asked(tx, &v, step);
    }
    return write_step_decided(tx, &out->json, &e, id);
}

/* ---- update_workflow_state ---- */

/* What a session works for needs no name: its task has it. */
static err told_of(struct tx *tx, const struct input *in, bool worker, struct step_told *t)
{
    static const struct {
        const char *word;
        enum step_status status;
    } words[] = { { "pending", STEP_PENDING },
                  { "in_progress", STEP_IN_PROGRESS },
                  { "completed", STEP_COMPLETED },
                  { "failed", STEP_FAILED } };
    str word = input_str(in, "status");
    struct execution e;
    struct view v;
    uint16_t step;
    size_t i = 0;

    while (!str_eq(word, str_from(words[i].word)))
        i++; /* the schema knows no others */
    *t = (struct step_told){ .status = words[i].status,
                             .outputs = input_json(in, "artifacts"),
                             .error = input_str(in, "error") };
    if (worker && !input_json(in, "step"))
        return NULL;
    TRY(view_of(tx, in, &e, &v)); /* whoever does not see it hears nothing else of it */
    if (!input_json(in, "step"))
        return err_new(tx->arena, ERR_INVALID, "expected \"step\": which one it is");
    TRY(view_step_find(&v, input_json(in, "step"), &step));
    t->step = v.steps[step].step->id;
    return NULL;
}

static err step_record(struct tx *tx, str id, const struct step_told *t, struct execution *e)
{
    const struct share_record r = { .execution_id = id,
                                    .step = t->step,
                                    .failed = t->status == STEP_FAILED,
                                    .more = t->status == STEP_IN_PROGRESS,
                                    .error = t->error,
                                    .outputs = t->outputs };

    if (t->status == STEP_PENDING)
        return err_new(tx->arena, ERR_CONFLICT,
                       "the step that this session works for is in_progress, and cannot become "
                       "pending: say in_progress, completed or failed");
    return share_put_record(tx, &r, e);
}

static err step_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str id = input_str(in, "workflow_id");
    struct step_told t;
    struct execution e;
    bool worker;

    TRY(share_is_worker(tx, id, &worker));
    TRY(told_of(tx, in, worker, &t));
    TRY(worker ? step_record(tx, id, &t, &e) : execution_tell(tx, id, &t, &e));
    json_write_begin(&out->json, '{');
    write_bool(&out->json, STR("success"), true);
    write_text(&out->json, STR("workflow_id"), id);
    view_write_time(&out->json, STR("updated_at"), e.updated_at_ms);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- list_workflows ---- */

/* A word of the document's, as executions have it; false: it is none of theirs. */
static void filter_status(str word, struct execution_documents *f)
{
    static const char *const words[][2] = { { "in_progress", "open" },
                                            { "completed", "COMPLETED" },
                                            { "failed", "FAILED" },
                                            { "cancelled", "CANCELLED" } };

    f->waiting = str_eq(word, STR("waiting_approval"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(word, str_from(words[i][0])))
            f->status = str_from(words[i][1]);
}

/* One whose definition was deleted has no steps to show. */
static err write_listed(struct tx *tx, struct json_writer *w, const struct execution *listed)
{
    struct execution e;
    struct view v;
    err gone;

    TRY(execution_see(tx, listed->id, &e));
    gone = view_load(tx, &e, &v);
    if (gone && gone->kind != ERR_CONFLICT)
        return gone;
    json_write_begin(w, '{');
    write_text(w, STR("workflow_id"), e.id);
    write_text(w, STR("workflow_type"), e.kind);
    write_text(w, STR("status"), view_status_of(e.kind, e.status, true));
    if (!gone) {
        view_write_key(w, STR("current_step"), &v, view_current(&v));
        write_int(w, STR("progress_percentage"), view_progress(&v));
    }
    json_write_end(w, '}');
    return NULL;
}

static err step_workflows_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str workspace = input_str(in, "session_name");
    struct execution_documents f = { .kind = input_str(in, "workflow_type"),
                                     .of_workspace = workspace.len,
                                     .workspace = workspace,
                                     .before = input_int(in, "after", 0),
                                     .limit = page_rows(in) };
    const struct execution *all;
    int64_t total;
    size_t count;

    filter_status(input_str(in, "status"), &f);
    TRY(execution_documents(tx, &f, &all, &count, &total));
    size_t shown = (int64_t)count < f.limit ? count : (size_t)f.limit - 1;
    json_write_begin(&out->json, '{');
    write_begin(&out->json, STR("workflows"), '[');
    for (size_t i = 0; i < shown; i++)
        TRY(write_listed(tx, &out->json, &all[i]));
    json_write_end(&out->json, ']');
    write_int(&out->json, STR("total"), total);
    if (shown < count) {
        write_int(&out->json, STR("next"), all[shown - 1].no);
        out->next = arena_printf(tx->arena, "%lld", (long long)all[shown - 1].no);
    }
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- resume_workflow, cancel_workflow ---- */

static err step_resume_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct execution e;
    struct view v;
    uint16_t step;

    TRY(view_of(tx, in, &e, &v));
    step = view_current(&v);
    if (input_json(in, "from_step"))
        TRY(view_step_find(&v, input_json(in, "from_step"), &step));
    str from = input_json(in, "from_step") || !execution_is_open(e.status)
                   ? v.steps[step].step->id
                   : STR(""); /* a paused one goes on where it is */
    TRY(execution_resume(tx, e.id, from, &e));
    TRY(view_of(tx, in, &e, &v));
    json_write_begin(w, '{');
    write_bool(w, STR("success"), true);
    write_text(w, STR("workflow_id"), e.id);
    view_write_key(w, STR("resumed_from_step"), &v, step);
    write_text(w, STR("current_status"), view_status(&v));
    json_write_end(w, '}');
    return NULL;
}

/* Whether there is something that the end of an execution ends: runs, jobs, approvals. */
static err has_to_clean(struct tx *tx, const struct execution *e, bool *out)
{
    struct share *shares;
    struct mark *marks;
    size_t count;

    *out = false;
    TRY(execution_marks(tx, e, MARKS_MAX, &marks, &count));
    for (size_t i = 0; i < count; i++)
        *out |= marks[i].status == MARK_APPROVAL || marks[i].status == MARK_CHECK ||
                marks[i].ref.len || marks[i].job_type.len;
    TRY(share_list(tx, e->no, 0, &shares, &count));
    for (size_t i = 0; i < count; i++)
        *out |= shares[i].status == SHARE_WAITING || shares[i].status == SHARE_WORKING;
    return NULL;
}

static err step_cancel_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct execution e;
    struct view v;
    bool cleans = false;

    TRY(view_of(tx, in, &e, &v));
    if (execution_is_open(e.status))
        TRY(has_to_clean(tx, &e, &cleans));
    TRY(execution_cancel(tx, e.id, input_str(in, "reason"), &e));
    json_write_begin(w, '{');
    write_bool(w, STR("success"), true);
    write_text(w, STR("workflow_id"), e.id);
    write_text(w, STR("status"), STR("cancelled"));
    write_bool(w, STR("cleanup_performed"), cleans);
    json_write_end(w, '}');
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define WORKFLOW_ID JSON("workflow_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The workflow, by the id that it was started with." })

static const struct op ops[] = {
    {
        .name = "step.workflows", .http = "GET /executions/workflows", .on = ON_HTTP | ON_MCP, .by = BY_READERS,
        .tool = "list_workflows", .tier = TIER_ROOT, .group = GROUP_STEPS,
        .summary = "List workflows of generation and planning, the newest first.",
        .hint = "List the workflows of generation and planning: which there are, how they stand, and where.",
        .input = FIELDS("", JSON(
            "status": { "enum": ["in_progress", "waiting_approval", "failed", "completed", "cancelled"], "description": "Only those with this status; waiting_approval: those in progress with a step that a person is to approve." },
            "workflow_type": { "enum": ["generation", "planning", "phases"], "description": "Only those of this type; without it generation and planning." },
            "session_name": { "type": "string", "maxLength": 100, "description": "Only those of this workspace." },
            "after": { "type": "integer", "minimum": 1, "description": "Begin after this one: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("workflows", "total"), SHAPE_LIST("workflows", "A page of them.", SHAPE(JSON("workflow_id", "workflow_type", "status"), JSON(
                "workflow_id": { "type": "string", "description": "What the other operations name it by." },
                "workflow_type": { "type": "string", "description": "generation, planning or phases." },
                "status": { "type": "string", "description": "in_progress, completed, failed or cancelled." },
                "progress_percentage": { "type": "integer", "description": "floor(100 · current_step / total_steps)." }) ","
                STEP("current_step", "The lowest step that is not done; not there: its definition was deleted."))) "," JSON(
            "total": { "type": "integer", "description": "How many there are, on all pages." }) "," PAGE_NEXT_NUMBER),
        .tool_input = JSON({ "status": "", "workflow_type": "", "session_name": "Only of this workspace" }),
        .tool_output = JSON({ "workflows": true, "total": true, "next": true }),
        .run = step_workflows_op,
    },
    {
        .name = "step.status", .http = "GET /executions/{workflow_id}/workflow/status", .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS,
        .tool = "get_workflow_status", .tier = TIER_CHILD, .group = GROUP_STEPS,
        .summary = "Show where a workflow stands: its current step, whether a person is awaited, and what that step has given.",
        .hint = "Show where a workflow stands: its current step, whether it waits for a person's approval, and its artifacts.",
        .input = FIELDS(JSON("workflow_id"), WORKFLOW_ID),
        .output = SHAPE(JSON("workflow_id", "workflow_type", "status", "current_step", "current_step_name", "waiting_for_approval", "progress_percentage", "artifacts"), JSON(
            "workflow_id": { "type": "string", "description": "The workflow." },
            "workflow_type": { "type": "string", "description": "generation, planning, phases, steps or nodes." },
            "status": { "type": "string", "description": "in_progress, also while a person is awaited; completed, failed or cancelled. Of phases: pending, active, completed or failed." },
            "current_step_name": { "type": "string", "description": "What people call it." },
            "waiting_for_approval": { "type": "boolean", "description": "A step of it waits for a person's approval." },
            "progress_percentage": { "type": "integer", "description": "floor(100 · current_step / total_steps)." },
            "artifacts": { "type": "object", "description": "What the current step has given, by name." }) ","
            STEP("current_step", "The lowest step that is not done; the last one when all are.")),
        .tool_input = JSON({ "workflow_id": "" }),
        .tool_output = JSON({ "workflow_id": true, "workflow_type": true, "status": true, "current_step": true, "current_step_name": true, "waiting_for_approval": true, "progress_percentage": true, "artifacts": true }),
        .run = step_status_op,
    },
    {
        .name = "step.next", .http = "GET /executions/{workflow_id}/workflow/next", .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS,
        .tool = "get_next_step", .tier = TIER_CHILD, .group = GROUP_STEPS,
        .summary = "Show what a workflow needs now to go on, by whom, and which step comes next.",
        .hint = "Show what a workflow needs to go on, and which step comes next. Steps cannot be skipped: what is in the way is named.",
        .input = FIELDS(JSON("workflow_id"), WORKFLOW_ID),
        .output = SHAPE(JSON("can_proceed", "current_step", "current_step_name", "current_status", "blocking_reason", "required_action", "next_step", "next_step_name", "prerequisites_met"), JSON(
            "can_proceed": { "type": "boolean", "description": "Whoever does the current step can go on; false: something else has to happen first." },
            "current_step_name": { "type": "string", "description": "What people call it." },
            "current_status": { "type": "string", "description": "How the current step stands." },
            "blocking_reason": { "type": ["string", "null"], "description": "What is in the way; null: nothing." },
            "required_action": { "type": "string", "description": "What has to be done, and by whom." },
            "next_step_name": { "type": ["string", "null"], "description": "What people call that; null: there is none." },
            "prerequisites_met": { "type": "boolean", "description": "Whether all that comes before the next step is done." }) ","
            STEP("current_step", "The lowest step that is not done; the last one when all are.") ","
            STEP_OR_NULL("next_step", "The step after it that is not done; null: there is none.")),
        .tool_input = JSON({ "workflow_id": "" }),
        .tool_output = JSON({ "can_proceed": true, "current_step": true, "current_step_name": true, "current_status": true, "blocking_reason": true, "required_action": true, "next_step": true, "next_step_name": true, "prerequisites_met": true }),
        .run = step_next_op,
    },
    {
        .name = "step.prerequisites", .http = "GET /executions/{workflow_id}/workflow/prerequisites", .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS,
        .tool = "validate_prerequisites", .tier = TIER_CHILD, .group = GROUP_STEPS,
        .summary = "Show whether all that comes before a step is done, near and far.",
        .hint = "Check whether all steps that must come before a step are completed, and what is in its way.",
        .input = FIELDS(JSON("workflow_id", "step"), WORKFLOW_ID "," STEP("step", "The step, by its number or its id.")),
        .output = SHAPE(JSON("prerequisites_met", "required_steps", "completed_steps", "missing_steps", "can_start_step", "blocking_issues"), JSON(
            "prerequisites_met": { "type": "boolean", "description": "All required steps are done." },
            "required_steps": { "type": "array", "items": { "type": ["integer", "string"] }, "description": "All steps that come before it, near and far." },
            "completed_steps": { "type": "array", "items": { "type": ["integer", "string"] }, "description": "Of those, the ones that are done." },
            "missing_steps": { "type": "array", "items": { "type": ["integer", "string"] }, "description": "And the ones that are not." },
            "can_start_step": { "type": "boolean", "description": "Nothing is in the way of doing it now." },
            "blocking_issues": { "type": "array", "items": { "type": "string" }, "description": "What is in the way, each in a sentence." })),
        .tool_input = JSON({ "workflow_id": "", "step": "" }),
        .tool_output = JSON({ "prerequisites_met": true, "required_steps": true, "completed_steps": true, "missing_steps": true, "can_start_step": true, "blocking_issues": true }),
        .run = step_prerequisites_op,
    },
    {
        .name = "step.approve", .http = "POST /executions/{workflow_id}/workflow/approve", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "approve_step", .tier = TIER_ROOT, .group = GROUP_STEPS, .elicits = true,
        .summary = "Decide about what a step has given, as the person who is asked: approve it, perhaps with modifications or by a variant, or reject it.",
        .hint = "Pass on a person's decision about a step that waits for approval. An agent cannot decide by itself: the answer then says who must, and where.",
        .input = FIELDS(JSON("workflow_id", "step", "approved"), WORKFLOW_ID "," STEP("step", "The step, by its number (in planning the phase's) or its id.") "," JSON(
            "approved": { "type": "boolean", "description": "false: it is rejected." },
            "modifications": { "type": "object", "description": "What is to be otherwise: the steps after it are told." },
            "selected_variant": { "type": "string", "maxLength": 1000, "description": "Of several: the one that was chosen." },
            "reason": { "type": "string", "maxLength": 4000, "description": "Why, for whoever does it anew." },
            "channel": { "enum": ["http", "cli", "mcp", "page"], "default": "mcp", "description": "By which way the person has decided, for those who wonder later." })),
        .output = DECIDED_SHAPE,
        .tool_input = JSON({ "workflow_id": "", "step": "", "approved": "", "modifications": "What is to be otherwise", "selected_variant": "Of several, the chosen one" }),
        .tool_output = JSON({ "success": true, "workflow_id": true, "step": true, "status": true, "next_step": true, "next_step_name": true }),
        .run = step_approve_op,
    },
    {
        .name = "step.update", .http = "POST /executions/{workflow_id}/workflow/update", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "update_workflow_state", .tier = TIER_CHILD, .group = GROUP_STEPS,
        .summary = "Record what a step has given, and that it is done, has failed, or is still at work.",
        .hint = "Record what your step has given (artifacts are its outputs, all of them when it is completed), or that it has failed.",
        .input = FIELDS(JSON("workflow_id", "status"), WORKFLOW_ID "," STEP("step", "The step, by its number or its id; who works for one need not say it.") "," JSON(
            "status": { "enum": ["pending", "in_progress", "completed", "failed"], "description": "How it stands; pending is where it begins, and nobody brings it back there." },
            "artifacts": { "type": "object", "description": "What it has given, by the names of its outputs." },
            "error": { "type": "string", "maxLength": 4000, "description": "Of one that has failed: why." })),
        .output = SHAPE(JSON("success", "workflow_id", "updated_at"), SUCCESS "," JSON(
            "workflow_id": { "type": "string", "description": "The workflow." },
            "updated_at": { "type": "string", "description": "When, in whole seconds." })),
        .tool_input = JSON({ "workflow_id": "", "step": "", "status": "", "artifacts": "Its outputs, by name", "error": "Why it has failed" }),
        .tool_output = JSON({ "success": true, "workflow_id": true, "updated_at": true }),
        .run = step_update_op,
    },
    {
        .name = "step.resume", .http = "POST /executions/{workflow_id}/workflow/resume", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP,
        .by = BY_OPERATOR | BY_SESSION, .tool = "resume_workflow", .tier = TIER_ROOT, .group = GROUP_STEPS,
        .summary = "Do a step of a workflow and all after it anew, also when it had failed or was cancelled; or let a paused one go on.",
        .hint = "Resume a workflow that has failed or was cancelled: the step and all after it are done anew.",
        .input = FIELDS(JSON("workflow_id"), WORKFLOW_ID "," STEP("from_step", "The step to begin anew from; the lowest that is not done unless given.")),
        .output = SHAPE(JSON("success", "workflow_id", "resumed_from_step", "current_status"), SUCCESS "," JSON(
            "workflow_id": { "type": "string", "description": "The workflow." },
            "current_status": { "type": "string", "description": "What the workflow is now." }) ","
            STEP("resumed_from_step", "The step that it goes on from.")),
        .tool_input = JSON({ "workflow_id": "", "from_step": "" }),
        .tool_output = JSON({ "success": true, "workflow_id": true, "resumed_from_step": true, "current_status": true }),
        .run = step_resume_op,
    },
    {
        .name = "step.cancel", .http = "POST /executions/{workflow_id}/workflow/cancel", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP,
        .by = BY_OPERATOR | BY_SESSION, .tool = "cancel_workflow", .tier = TIER_ROOT, .group = GROUP_STEPS,
        .summary = "End a workflow: what is at work for it is stopped; its files stay.",
        .hint = "Cancel a workflow: its runs, jobs and approvals are ended; its files stay.",
        .input = FIELDS(JSON("workflow_id"), WORKFLOW_ID "," JSON(
            "reason": { "type": "string", "maxLength": 1000, "description": "Why, for those who wonder later." })),
        .output = SHAPE(JSON("success", "workflow_id", "status", "cleanup_performed"), SUCCESS "," JSON(
            "workflow_id": { "type": "string", "description": "The workflow." },
            "status": { "type": "string", "description": "What the workflow is now: cancelled." },
            "cleanup_performed": { "type": "boolean", "description": "Runs, jobs or approvals of it were ended; files stay." })),
        .tool_input = JSON({ "workflow_id": "", "reason": "" }),
        .tool_output = JSON({ "success": true, "workflow_id": true, "status": true, "cleanup_performed": true }),
        .run = step_cancel_op,
    },
};
// clang-format on

const struct op_list step_ops = { ops, sizeof ops / sizeof *ops };
