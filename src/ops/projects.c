/* projects.c: operations on projects, the folders whose agents work together. */
#include "core/mirror.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

static err write_mirrors(struct tx *tx, struct json_writer *w, const struct project *p)
{
    unsigned kinds;

    TRY(mirror_kinds(tx, p, &kinds));
    write_begin(w, STR("mirrors"), '[');
    for (unsigned kind = 0; kind < MIRROR_KINDS; kind++)
        if (kinds & 1u << kind)
            json_write_str(w, str_from(mirror_kind_names[kind]));
    json_write_end(w, ']');
    return NULL;
}

static err write_project(struct tx *tx, struct json_writer *w, const struct project *p)
{
    const struct project_folder *folders;
    struct state state;
    int64_t at_work;
    size_t count;

    TRY(project_folders(tx, p->name, &folders, &count));
    TRY(project_at_work(tx, p->name, &at_work));
    TRY(state_load(tx, p->state_id, &state));
    json_write_begin(w, '{');
    write_text(w, STR("name"), p->name);
    write_text(w, STR("project_dir"), p->project_dir);
    write_text(w, STR("state_id"), p->state_id);
    write_text(w, STR("schema_name"), state.schema_name);
    write_int(w, STR("state_version"), state.version);
    write_bool(w, STR("wake"), p->wakes);
    TRY(write_mirrors(tx, w, p));
    write_int(w, STR("members"), at_work);
    write_begin(w, STR("folders"), '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(w, '{');
        write_text(w, STR("host"), folders[i].hostname);
        write_text(w, STR("common_dir"), folders[i].common_dir);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    write_time(w, STR("created_at"), p->created_at_ms);
    write_time(w, STR("updated_at"), p->updated_at_ms);
    json_write_end(w, '}');
    return NULL;
}

/* ---- coming ---- */

/* The schema that most projects have is compiled before it is the writer's turn. */
static err project_prepare(struct arena *a, const struct input *in, void **ready)
{
    struct schema_ready *built_in;
    const struct json *text;

    (void)in;
    TRY(json_parse_own(a, str_from(project_schema), &text));
    TRY(schema_prepare(a, text, &built_in));
    *ready = built_in;
    return NULL;
}

static err project_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct project_new n = {
        .name = input_str(in, "name"),
        .project_dir = input_str(in, "project_dir"),
        .hostname = input_str(in, "host"),
        .common_dir = input_str(in, "common_dir"),
        .state_id = input_str(in, "state"),
        .schema_name = input_str(in, "schema"),
        .initial_data = input_json(in, "initial_data"),
        .wakes = input_bool(in, "wake", true),
    };
    const struct json *mirrors = input_json(in, "mirrors");
    void *ready = in->ready;
    struct project p;

    if (n.state_id.len && (n.schema_name.len || n.initial_data))
        return err_new(tx->arena, ERR_INVALID,
                       "expected a \"state\" that is there, or a \"schema\" for a new one, found "
                       "both");
    if (!ready)
        TRY(project_prepare(tx->arena, in, &ready));
    n.built_in = ready;
    n.mirrors = mirrors ? json_printed(tx->arena, mirrors) : STR("");
    TRY(project_create(tx, &n, &p));
    out->created = true;
    return write_project(tx, &out->json, &p);
}

/* ---- looking ---- */

static err project_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct project p;

    TRY(project_get(tx, input_str(in, "name"), &p));
    return write_project(tx, &out->json, &p);
}

/* The one of a folder, where that is asked for. */
static err project_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str folder = input_str(in, "common_dir");
    const struct project *all;
    struct project one;
    size_t count;
    bool found;

    if (folder.len) {
        TRY(project_at(tx, input_str(in, "host"), folder, &one, &found));
        all = &one;
        count = found;
    } else {
        TRY(project_list(tx, input_str(in, "after"), page_rows(in), &all, &count));
    }
    size_t shown = page_begin(in, out, STR("projects"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        TRY(write_project(tx, &out->json, &all[i]));
    page_end(out, shown < count ? all[shown - 1].name : STR(""));
    return NULL;
}

/* ---- changing ---- */

static err project_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *mirrors = input_json(in, "mirrors");
    str state = input_str(in, "state");
    struct project p;

    TRY(project_get(tx, input_str(in, "name"), &p));
    p.wakes = input_bool(in, "wake", p.wakes);
    if (mirrors)
        mirror_kinds_set(tx, &p, mirrors);
    TRY(state.len ? project_give_state(tx, &p, state) : project_store(tx, &p));
    return write_project(tx, &out->json, &p);
}

static err project_join_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct project p;

    TRY(project_get(tx, input_str(in, "name"), &p));
    TRY(project_join(tx, &p, input_str(in, "host"), input_str(in, "common_dir")));
    TRY(project_store(tx, &p));
    return write_project(tx, &out->json, &p);
}

static err project_leave_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct project p;

    TRY(project_get(tx, input_str(in, "name"), &p));
    TRY(project_leave(tx, &p, input_str(in, "host"), input_str(in, "common_dir")));
    TRY(project_store(tx, &p));
    return write_project(tx, &out->json, &p);
}

static err project_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct project p;

    TRY(project_get(tx, input_str(in, "name"), &p));
    out->empty = true;
    return project_delete(tx, &p);
}

// clang-format off

#define PROJECT_NAME JSON("name": { "type": "string", "minLength": 1, "maxLength": 100, \
    "description": "Its name: letters, digits and - _ . up to 60 of them." })
#define FOLDER_FIELDS JSON( \
    "host": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The machine that the folder is on." }, \
    "common_dir": { "type": "string", "minLength": 1, "maxLength": 1200, \
        "description": "Git's common directory of the folder, which all its worktrees share; without git, the folder." })
#define MIRRORS_FIELD JSON("mirrors": { "type": "array", "maxItems": 10, "items": { "enum": ["workflow", "markdown", "workflow-state", "log"] }, \
    "description": "Which files the runner of its machine keeps of its workflows, for those who read files: workflow (.claude/state/workflow.json) and markdown (.claude/workflow_state_system.md) of the newest one with phases; workflow-state and log (in workspace/) of generation and planning. All, unless given; none: []." })
#define PROJECT_SHAPE SHAPE(JSON("name", "project_dir", "state_id", "schema_name", "state_version", "wake", "mirrors", \
        "members", "folders", "created_at", "updated_at"), JSON( \
    "name": { "type": "string", "description": "What requests name it by." }, \
    "project_dir": { "type": "string", "description": "The folder that it was made in." }, \
    "state_id": { "type": "string", "description": "The state that its members share." }, \
    "schema_name": { "type": "string", "description": "The schema of that state." }, \
    "state_version": { "type": "integer", "minimum": 1, "description": "The version of that state now." }, \
    "wake": { "type": "boolean", "description": "Whether idle clients of its members may be woken." }, \
    "mirrors": { "type": "array", "items": { "type": "string" }, "description": "The kinds of files that its runner keeps of its workflows." }, \
    "members": { "type": "integer", "minimum": 0, "description": "How many members are at work, or idle and not silent." }, \
    "folders": { "type": "array", "description": "The folders that belong to it.", "items": { "type": "object", \
        "properties": { "host": { "type": "string", "description": "The machine." }, \
            "common_dir": { "type": "string", "description": "Git's common directory there, or the folder." } } } }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was made." }, \
    "updated_at": { "type": "string", "format": "date-time", "description": "When it was changed last." }))

static const struct op ops[] = {
    {
        .name = "project.create", .http = "POST /projects", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Make a folder a project: the agents that people start in it share a state and hear of each other.",
        .input = FIELDS(JSON("name", "project_dir"), PROJECT_NAME "," FOLDER_FIELDS "," JSON(
            "project_dir": { "type": "string", "minLength": 1, "maxLength": 1200, "description": "The folder, for people." },
            "state": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The state to share, by id or name; a new one without this." },
            "schema": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The schema of a new one; the built-in project without this." },
            "initial_data": { "type": ["object", "array"], "description": "What a new one begins with; an empty document without this." },
            "wake": { "type": "boolean", "default": true, "description": "Whether idle clients of its members may be woken." }) "," MIRRORS_FIELD),
        .output = PROJECT_SHAPE, .prepare = project_prepare, .run = project_create_op,
    },
    {
        .name = "project.list", .http = "GET /projects", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List the projects by name; or tell which one a folder belongs to.",
        .input = FIELDS("", FOLDER_FIELDS "," PAGE_AFTER_NAME "," PAGE_LIMIT),
        .output = SHAPE(JSON("projects"), SHAPE_LIST("projects", "A page of them.", PROJECT_SHAPE) "," PAGE_NEXT),
        .run = project_list_op,
    },
    {
        .name = "project.get", .http = "GET /projects/{name}", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "Show a project.",
        .input = FIELDS(JSON("name"), PROJECT_NAME), .output = PROJECT_SHAPE, .run = project_get_op,
    },
    {
        .name = "project.update", .http = "PATCH /projects/{name}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Give a project another state, or say whether its members' clients may be woken and which files show its workflows.",
        .input = FIELDS(JSON("name"), PROJECT_NAME "," JSON(
            "state": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The state to share from now on, by id or name." },
            "wake": { "type": "boolean", "description": "Whether idle clients of its members may be woken." }) "," MIRRORS_FIELD),
        .output = PROJECT_SHAPE, .run = project_update_op,
    },
    {
        .name = "project.join", .http = "POST /projects/{name}/folders", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Add a folder to a project: another clone, or one on another machine.",
        .input = FIELDS(JSON("name", "host", "common_dir"), PROJECT_NAME "," FOLDER_FIELDS),
        .output = PROJECT_SHAPE, .run = project_join_op,
    },
    {
        .name = "project.leave", .http = "DELETE /projects/{name}/folders", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Take a folder out of a project; agents that are started in it stay alone from then on.",
        .input = FIELDS(JSON("name", "host", "common_dir"), PROJECT_NAME "," FOLDER_FIELDS),
        .output = PROJECT_SHAPE, .run = project_leave_op,
    },
    {
        .name = "project.delete", .http = "DELETE /projects/{name}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete a project; its state stays, and its members keep it.",
        .input = FIELDS(JSON("name"), PROJECT_NAME), .output = SHAPE("", ""), .run = project_delete_op,
    },
};
// clang-format on

const struct op_list project_ops = { ops, sizeof ops / sizeof *ops };
