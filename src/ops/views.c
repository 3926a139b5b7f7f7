/* views.c: pictures of executions, one operation for all of them. */
#include "core/exec/documents.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/write.h"
#include "view/view.h"

typedef err view_write(struct json_writer *w, const struct view *v);

static err write_workflow(struct json_writer *w, const struct view *v)
{
    view_write_workflow(w, v);
    return NULL;
}

static err write_markdown(struct json_writer *w, const struct view *v)
{
    write_text(w, STR("text"), view_markdown(v));
    return NULL;
}

static err write_todos(struct json_writer *w, const struct view *v)
{
    view_write_todos(w, v);
    return NULL;
}

static err write_index(struct json_writer *w, const struct view *v)
{
    return view_write_index(v->tx, w, v->e->workspace);
}

static err write_log(struct json_writer *w, const struct view *v)
{
    str text;

    TRY(view_log(v, &text));
    write_text(w, STR("text"), text);
    return NULL;
}

/* In the order of the operation's words. */
static const struct {
    const char *name, *media;
    view_write *write;
} views[] = {
    { "workflow", NULL, write_workflow },
    { "markdown", "text/markdown; charset=utf-8", write_markdown },
    { "todos", NULL, write_todos },
    { "index", NULL, write_index },
    { "metrics", NULL, view_write_metrics },
    { "log", "text/plain; charset=utf-8", write_log },
};

static err execution_view_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str name = input_str(in, "view");
    struct execution e;
    struct view v;
    size_t i = 0;

    TRY(execution_see(tx, input_str(in, "execution_id"), &e));
    TRY(view_load(tx, &e, &v));
    while (!str_eq(name, str_from(views[i].name)))
        i++; /* the schema knows no others */
    json_write_begin(&out->json, '{');
    TRY(views[i].write(&out->json, &v));
    json_write_end(&out->json, '}');
    out->media = views[i].media;
    return NULL;
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "execution.view", .http = "GET /executions/{execution_id}/views/{view}", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show a picture of an execution as documents 001 and 002 print it; Markdown and log are texts, the others JSON.",
        .input = FIELDS(JSON("execution_id", "view"), EXECUTION_ID "," JSON(
            "view": { "enum": ["workflow", "markdown", "todos", "index", "metrics", "log"], "description": "workflow: workflow.json, or the workflow's state; markdown: the status page; todos: the list that an agent shows; index: all workflows of its workspace; metrics: what it took; log: what happened." })),
        .output = SHAPE("", JSON(
            "text": { "type": "string", "description": "Of markdown and log: the text, which is the whole answer unless JSON is accepted by name." },
            "id": { "type": "string", "description": "Of phases: the workflow." },
            "task": { "type": "string", "description": "Of phases: what was asked for." },
            "status": { "type": "string", "description": "Of the workflow: pending, active, completed or failed of phases; else in_progress, completed, failed or cancelled." },
            "current_phase": { "type": ["string", "null"], "description": "Of phases: the lowest that is active; null: none is." },
            "phases": { "type": "array", "items": { "type": "object" }, "description": "Of phases: all of them, with what they have left." },
            "workflow_id": { "type": "string", "description": "The workflow." },
            "workflow_type": { "type": "string", "description": "generation, planning, steps or nodes: the member of that name has the rest." },
            "session_name": { "type": "string", "description": "The workspace that it belongs to; not there: none." },
            "created_at": { "type": "string", "description": "When it was started, in whole seconds." },
            "updated_at": { "type": "string", "description": "When it last changed, in whole seconds." },
            "generation": { "type": "object", "description": "Its seven steps, and where it stands." },
            "planning": { "type": "object", "description": "Its phases, and where it stands." },
            "steps": { "type": "object", "description": "The same of steps of one's own." },
            "nodes": { "type": "object", "description": "The same of nodes." },
            "todos": { "type": "array", "items": { "type": "object" }, "description": "content, status and activeForm of each step." },
            "workflows": { "type": "array", "items": { "type": "object" }, "description": "Of the index: those of the same workspace." },
            "workflow_metrics": { "type": "object", "description": "Times, retries and agents." })),
        .run = execution_view_op,
    },
};
// clang-format on

const struct op_list view_ops = { ops, sizeof ops / sizeof *ops };
