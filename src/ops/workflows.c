/* workflows.c: operations on definitions of workflows. */
#include "core/exec/documents.h"
#include "core/exec/workflow.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* ---- one of them ---- */

static void workflow_members(struct json_writer *w, const struct workflow *f)
{
    write_text(w, STR("workflow"), f->name);
    write_int(w, STR("version"), f->version);
    write_text(w, STR("kind"), f->kind);
    write_text(w, STR("digest"), f->digest);
    write_text(w, STR("description"), f->description);
    write_time_or_null(w, STR("created_at"), f->created_at_ms);
}

static void write_workflow(struct json_writer *w, const struct workflow *f)
{
    json_write_begin(w, '{');
    workflow_members(w, f);
    json_write_end(w, '}');
}

static void write_graph_step(struct json_writer *w, const struct graph *g,
                             const struct graph_step *s)
{
    const struct graph_work *work = g->nodes[s->node].work;

    json_write_begin(w, '{');
    write_text(w, STR("step"), s->id);
    write_or_null(w, STR("title"), s->title);
    write_or_null(w, STR("description"), s->description);
    write_step_after(w, g, s);
    write_or_null(w, STR("by"), work ? str_from(work_by_names[work->by]) : STR(""));
    write_or_null(w, STR("job"), work ? work->job_type : STR(""));
    write_bool(w, STR("for_each"), g->nodes[s->node].loop);
    json_write_end(w, '}');
}

static void write_graph(struct json_writer *w, const struct graph *g)
{
    write_begin(w, STR("steps"), '[');
    for (uint16_t i = 0; i < g->step_count; i++)
        write_graph_step(w, g, &g->steps[i]);
    json_write_end(w, ']');
    write_texts(w, STR("warnings"), g->warnings, g->warning_count);
}

/* ---- whose tools are listed ---- */

static err workflow_used_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct documents_used used;

    (void)in;
    TRY(documents_used_here(tx, &used));
    json_write_begin(&out->json, '{');
    write_bool(&out->json, STR("phases"), used.phases);
    write_bool(&out->json, STR("steps"), used.steps);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- coming and going ---- */

static err workflow_deploy_ready(struct arena *a, const struct input *in, void **ready)
{
    return workflow_prepare(a, input_json(in, "definition"), (struct workflow_ready **)ready);
}

static err workflow_deploy_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct workflow f;
    void *ready = in->ready;

    if (!ready)
        TRY(workflow_deploy_ready(tx->arena, in, &ready));
    const struct workflow_ready *compiled = ready;
    TRY(workflow_deploy(tx, compiled, input_str(in, "name"), input_str(in, "description"), &f,
                        &out->created));
    json_write_begin(&out->json, '{');
    workflow_members(&out->json, &f);
    write_graph(&out->json, compiled->graph);
    json_write_end(&out->json, '}');
    return NULL;
}

static err workflow_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return workflow_delete(tx, input_str(in, "name"), input_int(in, "version", 0));
}

/* ---- whether it is one ---- */

/* All that is wrong, as workflow_prepare has found it; what is no list of mistakes is one of the whole. */
static err write_mistakes(struct tx *tx, struct json_writer *w, err wrong)
{
    const struct json *members = NULL, *errors = NULL;

    if (wrong && wrong->members.len) {
        TRY(json_parse_own(tx->arena,
                           arena_printf(tx->arena, "{" STR_FMT "}", STR_ARG(wrong->members)),
                           &members));
        errors = json_get(members, "errors");
    }
    if (json_is(errors, JSON_ARRAY)) {
        write_value(w, STR("errors"), errors);
        return NULL;
    }
    write_begin(w, STR("errors"), '[');
    if (wrong) {
        json_write_begin(w, '{');
        write_text(w, STR("pointer"), STR(""));
        write_text(w, STR("keyword"), STR(""));
        write_text(w, STR("message"), wrong->message);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    return NULL;
}

/* What is wrong with a definition is the answer here, and not an error. */
static err workflow_check_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct workflow_ready *ready = NULL;
    err wrong = workflow_prepare(tx->arena, input_json(in, "definition"), &ready);

    if (wrong && wrong->kind != ERR_UNFIT && wrong->kind != ERR_INVALID &&
        wrong->kind != ERR_TOO_LARGE)
        return wrong;
    json_write_begin(&out->json, '{');
    write_bool(&out->json, STR("valid"), !wrong);
    TRY(write_mistakes(tx, &out->json, wrong));
    write_texts(&out->json, STR("warnings"), wrong ? NULL : ready->graph->warnings,
                wrong ? 0 : ready->graph->warning_count);
    if (wrong) {
        write_null(&out->json, STR("drawing"));
    } else {
        json_write_name(&out->json, STR("drawing"));
        graph_draw(tx->arena, &out->json, ready->graph);
    }
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- looking ---- */

static err workflow_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct workflow_program *program;
    struct workflow f;

    TRY(workflow_find(tx, input_str(in, "name"), input_int(in, "version", 0), &f));
    TRY(workflow_program(tx, f.name, f.version, f.digest, &program));
    json_write_begin(&out->json, '{');
    workflow_members(&out->json, &f);
    write_graph(&out->json, program->graph);
    write_stored(tx, &out->json, STR("definition"), THING("workflow", f.name), f.text);
    json_write_end(&out->json, '}');
    return NULL;
}

static err workflow_show_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct workflow_program *program;
    struct workflow f;

    TRY(workflow_find(tx, input_str(in, "name"), input_int(in, "version", 0), &f));
    TRY(workflow_program(tx, f.name, f.version, f.digest, &program));
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("workflow"), f.name);
    write_int(&out->json, STR("version"), f.version);
    json_write_name(&out->json, STR("drawing"));
    graph_draw(tx->arena, &out->json, program->graph);
    json_write_end(&out->json, '}');
    return NULL;
}

static err workflow_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct workflow *all;
    size_t count;

    TRY(workflow_list(tx, input_str(in, "after"), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("workflows"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_workflow(&out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].name : STR(""));
    return NULL;
}

static err workflow_versions_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct workflow *all;
    size_t count;

    TRY(workflow_versions(tx, input_str(in, "name"), input_int(in, "after", 0), page_rows(in), &all,
                          &count));
    size_t shown = page_begin(in, out, STR("workflows"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_workflow(&out->json, &all[i]);
    page_end_number(tx, out, shown < count ? all[shown - 1].version : 0);
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define DEFINITION JSON("definition": { "type": "object",                                          \
    "description": "The definition: steps with what each comes after, nodes and flows, or phases, generation_steps or planning_phases of others. It may be the whole body." })

#define NAME JSON("name": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The name of a workflow: workflow.list tells which there are." })

#define VERSION JSON("version": { "type": "integer", "minimum": 1, "description": "Its version; the newest unless it is given." })

#define WORKFLOW_MEMBERS JSON(                                                                     \
    "workflow": { "type": "string", "description": "Its name; executions are started by it." },    \
    "version": { "type": "integer", "minimum": 1, "description": "Its version; what was deployed never changes." }, \
    "kind": { "type": "string", "description": "How it is written: steps, nodes, phases, generation or planning." }, \
    "digest": { "type": "string", "description": "Of its text: the same text has the same digest." }, \
    "description": { "type": "string", "description": "What it is for, in a line for people; empty: nobody said." }, \
    "created_at": { "type": ["string", "null"], "format": "date-time", "description": "When this version was deployed; null: it comes with the program." })

/* Its steps are not among them: a list that is required is what a command shows in its place. */
#define WORKFLOW_REQUIRED JSON("workflow", "version", "kind", "digest", "description", "created_at")

#define STEPS_MEMBER SHAPE_LIST("steps", "What is to be done, in the order of the definition.", SHAPE( \
    JSON("step", "title", "description", "after", "by", "job", "for_each"), JSON(                  \
        "step": { "type": "string", "description": "Its id." },                                    \
        "title": { "type": ["string", "null"], "description": "What people call it; null: its id." }, \
        "description": { "type": ["string", "null"], "description": "What is done in it, in a line for people." }, \
        "after": { "type": "array", "items": { "type": "string" }, "description": "The steps that come before it." }, \
        "by": { "type": ["string", "null"], "description": "Who does it: report (whoever says that it is done), agent (agents that are started for it), job (a worker) or run (a runner, by a command); null: baton itself." }, \
        "job": { "type": ["string", "null"], "description": "The type of its jobs, which workers claim by." }, \
        "for_each": { "type": "boolean", "description": "Whether it is done once for each item of a list." })))

#define WARNINGS_MEMBER SHAPE_LIST("warnings", "What is probably not as it was meant, and is taken as it stands.", "{\"type\":\"string\"}")

#define WORKFLOW_WHOLE WORKFLOW_MEMBERS "," STEPS_MEMBER "," WARNINGS_MEMBER

#define DRAWING_SHAPE SHAPE(JSON("nodes", "edges", "layers"), JSON(                                \
    "nodes": { "type": "array", "items": { "type": "object" }, "description": "Each with id, kind, title, step, and its place: layer, row; of a step with agents, attempts, evidence or approval also these, and at_once, parallel_agents." }, \
    "edges": { "type": "array", "items": { "type": "object" }, "description": "Each with id, from, to, label, default, and back: it closes a circle." }, \
    "layers": { "type": "integer", "description": "How many layers there are: an edge leads to a later one, unless it goes back." }))

static const struct op ops[] = {
    {
        .name = "workflow.deploy", .http = "POST /workflows", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .bodies = { { "application/json", "definition", .either = true } },
        .summary = "Deploy a definition; a known name gets its next version, the same text the one that it has.",
        .input = FIELDS(JSON("definition"), DEFINITION "," JSON(
            "name": { "type": "string", "minLength": 1, "maxLength": 100, "description": "Its name; what the definition calls itself unless given, or what it is of: generation, planning-scene, the words of a task." },
            "description": { "type": "string", "maxLength": 10000, "description": "What it is for, in a line for people; what the definition says unless given." })),
        .output = SHAPE(WORKFLOW_REQUIRED, WORKFLOW_WHOLE),
        .prepare = workflow_deploy_ready, .run = workflow_deploy_op,
    },
    {
        .name = "workflow.used", .by = BY_READERS,
        .summary = "Tell which documents the asker's project uses, so that their tools are listed.",
        .input = FIELDS("", ""),
        .output = SHAPE(JSON("phases", "steps"), JSON(
            "phases": { "type": "boolean", "description": "Document 001: workflows of phases." },
            "steps": { "type": "boolean", "description": "Document 002: generation and planning." })),
        .run = workflow_used_op,
    },
    {
        .name = "workflow.check", .http = "POST /workflows/check", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .bodies = { { "application/json", "definition", .either = true } },
        .summary = "Say whether a definition could be deployed, and all that is wrong with it; nothing is stored.",
        .input = FIELDS(JSON("definition"), DEFINITION),
        .output = SHAPE(JSON("valid", "errors", "warnings", "drawing"), JSON(
            "valid": { "type": "boolean", "description": "Whether it could be deployed; where not, errors says why." }) ","
            SHAPE_LIST("errors", "What is wrong with it, at most 20 mistakes.", FINDING_SHAPE) ","
            WARNINGS_MEMBER "," JSON(
            "drawing": { "type": ["object", "null"], "description": "Its graph as workflow.show answers it; null: it has none." })),
        .run = workflow_check_op,
    },
    {
        .name = "workflow.list", .http = "GET /workflows", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List the newest version of each workflow, by name.",
        .input = FIELDS("", PAGE_AFTER_NAME "," PAGE_LIMIT),
        .output = SHAPE(JSON("workflows"), SHAPE_LIST("workflows", "A page of them, without their definitions.",
            SHAPE(WORKFLOW_REQUIRED, WORKFLOW_MEMBERS)) "," PAGE_NEXT),
        .run = workflow_list_op,
    },
    {
        .name = "workflow.get", .http = "GET /workflows/{name}", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show a workflow with its definition, the newest version unless another is named.",
        .input = FIELDS(JSON("name"), NAME "," VERSION),
        .output = SHAPE(WORKFLOW_REQUIRED "," JSON("definition"), WORKFLOW_WHOLE "," JSON(
            "definition": { "type": "object", "description": "The definition itself, as it was deployed." })),
        .run = workflow_get_op,
    },
    {
        .name = "workflow.versions", .http = "GET /workflows/{name}/versions", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List the versions of a workflow, the newest first.",
        .input = FIELDS(JSON("name"), NAME "," JSON(
            "after": { "type": "integer", "minimum": 1,
                "description": "Begin after this version, with the one before it: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("workflows"), SHAPE_LIST("workflows", "A page of them, without their definitions.",
            SHAPE(WORKFLOW_REQUIRED, WORKFLOW_MEMBERS)) "," PAGE_NEXT_NUMBER),
        .run = workflow_versions_op,
    },
    {
        .name = "workflow.show", .http = "GET /workflows/{name}/drawing", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show how a workflow is to be drawn: its nodes in layers, and the edges between them.",
        .input = FIELDS(JSON("name"), NAME "," VERSION),
        .output = SHAPE(JSON("workflow", "version", "drawing"), JSON(
            "workflow": { "type": "string", "description": "Its name." },
            "version": { "type": "integer", "description": "The version that is drawn." }) ",\"drawing\":" DRAWING_SHAPE),
        .run = workflow_show_op,
    },
    {
        .name = "workflow.delete", .http = "DELETE /workflows/{name}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete a workflow, all of its versions or one; refused while an execution of it has not ended.",
        .input = FIELDS(JSON("name"), NAME "," JSON(
            "version": { "type": "integer", "minimum": 1, "description": "Only this version; all of them unless it is given." })),
        .output = JSON({ "type": "object", "properties": {} }), .run = workflow_delete_op,
    },
};
// clang-format on

const struct op_list workflow_ops = { ops, sizeof ops / sizeof *ops };
