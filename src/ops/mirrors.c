/* mirrors.c: the files that show a project's workflows: what is in them, for the runner that writes
 * them, and what it has found of them. */
#include "ops/mirrors.h"

#include "base/digest.h"
#include "base/log.h"
#include "core/file_touch.h"
#include "core/tx.h"
#include "ops/ops.h"
#include "ops/shapes.h"
#include "ops/write.h"
#include "view/view.h"

enum {
    PHASES_LOOKED_AT = 1, /* the newest alone has a file */
    SHOWN_MAX = 32,       /* of document 002's executions: the open ones, and then the newest */
    TEXT_BYTES = 1 << 20, /* of all texts in an answer */
    CHANGED_MAX = 200,    /* executions that are told apart */
    PAGES_MAX = 16,       /* of the log, that are looked at in one go */
    PAGE_EVENTS = 500,
};

static const char workflow_path[] = ".claude/state/workflow.json";
static const char markdown_path[] = ".claude/workflow_state_system.md";

/* ---- which files there are ---- */

struct file {
    str path;
    enum mirror_kind kind;
    const struct execution *e;
    bool index; /* of those of a workspace: e is one of them */
};

struct files {
    struct arena *arena;
    struct file list[3 * SHOWN_MAX + 2];
    size_t count;
};

static void file_add(struct files *all, str path, enum mirror_kind kind, const struct execution *e,
                     bool index)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->list[i].path, path))
            return;
    all->list[all->count++] = (struct file){ path, kind, e, index };
}

static err phases_files(struct tx *tx, const struct project *p, unsigned kinds, struct files *out)
{
    const struct execution *newest;
    size_t count;

    TRY(mirror_executions(tx, p, str_from(graph_kind_names[GRAPH_PHASES]), PHASES_LOOKED_AT,
                          &newest, &count));
    if (count && kinds & 1u << MIRROR_WORKFLOW)
        file_add(out, str_from(workflow_path), MIRROR_WORKFLOW, newest, false);
    if (count && kinds & 1u << MIRROR_MARKDOWN)
        file_add(out, str_from(markdown_path), MIRROR_MARKDOWN, newest, false);
    return NULL;
}

static err steps_files(struct tx *tx, const struct project *p, unsigned kinds, struct files *out)
{
    const struct execution *all;
    size_t count;

    TRY(mirror_executions(tx, p, STR(""), SHOWN_MAX, &all, &count));
    for (size_t i = 0; i < count; i++) {
        if (kinds & 1u << MIRROR_STATE) {
            file_add(out, view_state_file(tx, &all[i]), MIRROR_STATE, &all[i], false);
            file_add(out, view_index_file(tx, &all[i]), MIRROR_STATE, &all[i], true);
        }
        if (kinds & 1u << MIRROR_LOG)
            file_add(out, view_log_file(tx, &all[i]), MIRROR_LOG, &all[i], false);
    }
    return NULL;
}

static err files_find(struct tx *tx, const struct project *p, struct files *out)
{
    unsigned kinds;

    out->arena = tx->arena;
    out->count = 0;
    TRY(mirror_kinds(tx, p, &kinds));
    if (kinds & (1u << MIRROR_WORKFLOW | 1u << MIRROR_MARKDOWN))
        TRY(phases_files(tx, p, kinds, out));
    if (kinds & (1u << MIRROR_STATE | 1u << MIRROR_LOG))
        TRY(steps_files(tx, p, kinds, out));
    return NULL;
}

/* ---- what is in them ---- */

/* Documents are read by people too. */
static err pretty(struct tx *tx, str printed, str *out)
{
    struct buf text = buf_in(tx->arena);
    const struct json *parsed;

    TRY(json_parse_own(tx->arena, printed, &parsed));
    json_print_pretty(&text, parsed);
    buf_byte(&text, '\n');
    *out = buf_str(&text);
    return NULL;
}

static err document_text(struct tx *tx, const struct view *v, str *out)
{
    struct buf text = buf_in(tx->arena);
    struct json_writer w = json_writer_to(&text);

    json_write_begin(&w, '{');
    view_write_workflow(&w, v);
    json_write_end(&w, '}');
    return pretty(tx, buf_str(&text), out);
}

static err index_text(struct tx *tx, str workspace, str *out)
{
    struct buf text = buf_in(tx->arena);
    struct json_writer w = json_writer_to(&text);

    json_write_begin(&w, '{');
    TRY(view_write_index(tx, &w, workspace));
    json_write_end(&w, '}');
    return pretty(tx, buf_str(&text), out);
}

/* Of one whose definition was deleted, the file stays as it was: then there is no text. */
static err file_text(struct tx *tx, const struct file *f, str *out)
{
    struct execution whole;
    struct view v;

    *out = STR("");
    if (f->index)
        return index_text(tx, f->e->workspace, out);
    TRY(execution_get(tx, f->e->id, &whole));
    err e = view_load(tx, &whole, &v);
    if (e)
        return e->kind == ERR_CONFLICT ? NULL : e;
    if (f->kind == MIRROR_LOG)
        return view_log(&v, out);
    if (f->kind != MIRROR_MARKDOWN)
        return document_text(tx, &v, out);
    *out = view_markdown(&v);
    return NULL;
}

/* ---- what has changed ---- */

/* Since a runner was told last. */
struct changes {
    int64_t looked; /* the log was looked at up to here */
    bool any, all;  /* all: it is not known of what, or of more than executions */
    str ids[CHANGED_MAX];
    size_t count;
};

#define BIT(type) (1ull << EVENT_##type)

static const uint64_t of_executions = BIT(EXECUTION_STARTED) | BIT(EXECUTION_MOVED) |
                                      BIT(EXECUTION_ENDED) | BIT(EXECUTION_DELETED);
static const uint64_t of_places = BIT(PROJECT_UPDATED) | BIT(PROJECT_DELETED) | BIT(RUNNER_JOINED) |
                                  BIT(RUNNER_LOST);

static void change_take(struct changes *c, const struct event *e)
{
    c->any = true;
    if (!(1ull << e->type & of_executions) || c->count == CHANGED_MAX) {
        c->all = true;
        return;
    }
    for (size_t i = 0; i < c->count; i++)
        if (str_eq(c->ids[i], e->subject))
            return;
    c->ids[c->count++] = e->subject;
}

static err changes_find(struct tx *tx, int64_t after, struct changes *out)
{
    struct event_query q = { .after = after,
                             .types = of_executions | of_places,
                             .limit = PAGE_EVENTS };
    struct event_page page;

    out->looked = after;
    for (int i = 0; i < PAGES_MAX && out->looked < *tx->seq && !out->all; i++) {
        q.after = out->looked;
        err e = event_list(tx, &q, &page);
        if (e && e->kind != ERR_GONE)
            return e;
        out->all = e != NULL;
        for (size_t k = 0; !e && k < page.count; k++)
            change_take(out, &page.events[k]);
        out->looked = e ? *tx->seq : page.next;
    }
    out->all = out->all || out->looked < *tx->seq;
    out->any = out->any || out->all;
    out->looked = *tx->seq;
    return NULL;
}

static bool has_changed(const struct changes *c, const struct file *f)
{
    bool one = f->index || f->kind == MIRROR_WORKFLOW || f->kind == MIRROR_MARKDOWN;

    for (size_t i = 0; i < c->count && !one; i++)
        one = str_eq(c->ids[i], f->e->id);
    return one || c->all;
}

/* ---- telling a runner ---- */

static const char *view_of(const struct file *f)
{
    return f->index ? "index" : f->kind == MIRROR_STATE ? "workflow" : mirror_kind_names[f->kind];
}

static void write_text_and_sum(struct tx *tx, struct json_writer *w, str text)
{
    unsigned char sum[SHA256_BYTES];

    sha256(text, sum);
    write_text(w, STR("sha256"), hex_encode(tx->arena, (str){ (const char *)sum, sizeof sum }));
    write_text(w, STR("text"), text);
}

static err write_files(struct tx *tx, struct json_writer *w, const struct project *p,
                       const struct changes *c, size_t *bytes)
{
    struct files *all = ARENA_NEW(tx->arena, struct files);
    str text = STR("");

    TRY(files_find(tx, p, all));
    write_begin(w, STR("files"), '[');
    for (size_t i = 0; i < all->count; i++) {
        const struct file *f = &all->list[i];
        bool wanted = has_changed(c, f) && *bytes < TEXT_BYTES;
        if (wanted)
            TRY(file_text(tx, f, &text));
        wanted = wanted && text.len && *bytes + text.len <= TEXT_BYTES;
        *bytes += wanted ? text.len : 0;
        json_write_begin(w, '{');
        write_text(w, STR("path"), f->path);
        write_text(w, STR("view"), str_from(view_of(f)));
        write_or_null(w, STR("execution_id"), f->index ? STR("") : f->e->id);
        if (wanted)
            write_text_and_sum(tx, w, text);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    return NULL;
}

static err write_places(struct tx *tx, struct json_writer *w, const struct runner *r,
                        const struct changes *c)
{
    const struct project_folder *folders;
    size_t count, bytes = 0;

    TRY(mirror_folders(tx, r->hostname, &folders, &count));
    write_begin(w, STR("projects"), '[');
    for (size_t i = 0; i < count; i++) {
        str folder = mirror_folder(folders[i].common_dir);
        struct project p;
        bool writes, found;
        TRY(mirror_is_writer(tx, r, folder, &writes));
        TRY(project_find(tx, folders[i].project, &p, &found));
        if (!writes || !found)
            continue;
        json_write_begin(w, '{');
        write_text(w, STR("project"), p.name);
        write_text(w, STR("folder"), folder);
        TRY(write_files(tx, w, &p, c, &bytes));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    return NULL;
}

static err runner_mirrors_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t after = input_int(in, "after", 0), seconds = input_int(in, "timeout", 0);
    struct changes *c = ARENA_NEW(tx->arena, struct changes);
    struct runner r;

    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    if (in->waited)
        after = *(const int64_t *)in->waited;
    c->all = c->any = after == 0;
    if (after)
        TRY(changes_find(tx, after, c));
    if (!c->any && seconds && !in->wait_over) {
        int64_t *looked = ARENA_NEW(tx->arena, int64_t);
        *looked = *tx->seq;
        out->waits = true;
        out->wait_seq = *tx->seq;
        out->wait_until_ms = tx->now_ms + seconds * 1000;
        out->wait_self = looked;
        return NULL;
    }
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("seq"), *tx->seq);
    if (c->any)
        TRY(write_places(tx, &out->json, &r, c));
    json_write_end(&out->json, '}');
    return NULL;
}

static err runner_projects_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct project_folder *folders;
    struct runner r;
    size_t count;

    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(mirror_folders(tx, r.hostname, &folders, &count));
    json_write_begin(&out->json, '{');
    write_begin(&out->json, STR("projects"), '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&out->json, '{');
        write_text(&out->json, STR("name"), folders[i].project);
        write_text(&out->json, STR("folder"), mirror_folder(folders[i].common_dir));
        json_write_end(&out->json, '}');
    }
    json_write_end(&out->json, ']');
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- what a runner has found ---- */

static err runner_mirrored_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct mirror m = { .project = input_str(in, "project"),
                        .path = input_str(in, "path"),
                        .found = input_str(in, "found"),
                        .detail = input_str(in, "detail") };
    struct project p;
    struct runner r;

    out->empty = true;
    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(project_get(tx, m.project, &p));
    if (str_eq(m.found, STR("written")))
        return mirror_unblock(tx, p.name, m.path);
    log_warn("mirror.found", LOG_S("project", p.name), LOG_S("path", m.path),
             LOG_S("found", m.found), LOG_S("runner", r.id), LOG_S("detail", m.detail));
    return mirror_note(tx, &m);
}

/* ---- telling people ---- */

static const struct mirror *noted_of(const struct mirror *all, size_t count, str path)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i].path, path))
            return &all[i];
    return NULL;
}

static void write_noted(struct json_writer *w, const struct mirror *m)
{
    write_or_null(w, STR("found"), m ? m->found : STR(""));
    write_or_null(w, STR("detail"), m ? m->detail : STR(""));
    write_int(w, STR("times"), m ? m->times : 0);
    if (m)
        write_time(w, STR("found_at"), m->found_at_ms);
}

static err project_mirrors_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct files *all = ARENA_NEW(tx->arena, struct files);
    const struct mirror *noted;
    struct project p;
    size_t count;

    TRY(project_get(tx, input_str(in, "name"), &p));
    TRY(files_find(tx, &p, all));
    TRY(mirror_noted(tx, p.name, &noted, &count));
    json_write_begin(&out->json, '{');
    write_begin(&out->json, STR("files"), '[');
    for (size_t i = 0; i < all->count; i++) {
        const struct file *f = &all->list[i];
        json_write_begin(&out->json, '{');
        write_text(&out->json, STR("path"), f->path);
        write_text(&out->json, STR("view"), str_from(view_of(f)));
        write_or_null(&out->json, STR("execution_id"), f->index ? STR("") : f->e->id);
        write_noted(&out->json, noted_of(noted, count, f->path));
        json_write_end(&out->json, '}');
    }
    json_write_end(&out->json, ']');
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- telling an agent that edits one ---- */

/* What stands between a beginning and an end, and is no path itself. */
static bool is_between(str path, const char *begin, const char *end, str *out)
{
    str head = str_from(begin), tail = str_from(end);
    bool fits = path.len > head.len + tail.len && str_starts(path, head) && str_ends(path, tail);

    *out = fits ? str_slice(path, head.len, path.len - tail.len) : STR("");
    return fits && str_find(*out, '/') == out->len;
}

enum mirror_kind mirror_kind_of(str path, str *execution_id)
{
    str rest = path, session;

    *execution_id = STR("");
    if (str_eq(path, str_from(workflow_path)))
        return MIRROR_WORKFLOW;
    if (str_eq(path, str_from(markdown_path)))
        return MIRROR_MARKDOWN;
    if (is_between(path, "workspace/logs/workflow-orchestration/", ".log", execution_id))
        return MIRROR_LOG;
    if (str_starts(path, STR("workspace/sessions/"))) {
        str_cut(str_slice(path, strlen("workspace/sessions/"), path.len), '/', &session, &rest);
        rest = session.len ? rest : STR("");
    } else if (str_starts(path, STR("workspace/"))) {
        rest = str_slice(path, strlen("workspace/"), path.len);
    } else {
        return MIRROR_KINDS;
    }
    if (!is_between(rest, "workflow-state/", ".json", execution_id))
        return MIRROR_KINDS;
    if (str_eq(*execution_id, STR("index")))
        *execution_id = STR("");
    return MIRROR_STATE;
}

/* Most files are none, and nobody asks for more. */
static bool may_be_one(str path)
{
    return str_ends(path, str_from(workflow_path)) || str_ends(path, str_from(markdown_path)) ||
           str_contains(path, STR("/workspace/"));
}

/* The project of a session's tree, and the path within one of its folders. */
static err place_in_project(struct tx *tx, const struct session *s, str whole, struct project *p,
                            str *within, bool *found)
{
    const struct project_folder *folders;
    struct session root = *s;
    size_t count;

    *found = true;
    if (!root.project.len && s->root_id.len)
        TRY(session_find_id(tx, s->root_id, &root, found));
    *found = *found && root.project.len;
    if (*found)
        TRY(project_find(tx, root.project, p, found));
    if (!*found)
        return NULL;
    TRY(project_folders(tx, p->name, &folders, &count));
    *within = STR("");
    for (size_t i = 0; i < count && !within->len; i++) {
        str folder = mirror_folder(folders[i].common_dir);
        if (str_starts(whole, folder) && whole.len > folder.len + 1 && whole.at[folder.len] == '/')
            *within = str_slice(whole, folder.len + 1, whole.len);
    }
    *found = within->len > 0;
    return NULL;
}

static const struct {
    const char *what, *instead;
} pictures[MIRROR_KINDS] = {
    [MIRROR_WORKFLOW] = { "the workflow's phases", "update_phase_status" },
    [MIRROR_MARKDOWN] = { "the workflow's phases", "update_phase_status" },
    [MIRROR_STATE] = { "workflows", "update_workflow_state" },
    [MIRROR_LOG] = { "what a workflow has done", "update_workflow_state" },
};

err mirror_warning(struct tx *tx, const struct session *s, str cwd, str path, str *out)
{
    struct files *all = ARENA_NEW(tx->arena, struct files);
    str whole, within = STR(""), id;
    struct project p;
    bool found;

    *out = STR("");
    if (!file_path_clean(tx->arena, cwd, path, &whole) || !may_be_one(whole))
        return NULL;
    TRY(place_in_project(tx, s, whole, &p, &within, &found));
    enum mirror_kind kind = found ? mirror_kind_of(within, &id) : MIRROR_KINDS;
    if (kind == MIRROR_KINDS)
        return NULL;
    TRY(files_find(tx, &p, all));
    for (size_t i = 0; i < all->count && !out->len; i++)
        if (str_eq(all->list[i].path, within))
            *out = arena_printf(tx->arena,
                                STR_FMT " is a picture of %s that baton writes, and will be "
                                        "written anew: what you write there changes nothing and is "
                                        "lost. Change the workflow by the tool %s.",
                                STR_ARG(within), pictures[kind].what, pictures[kind].instead);
    return NULL;
}

// clang-format off

#define RUNNER_ID JSON("runner_id": { "type": "string", "description": "The runner, as it was registered." })

#define MIRROR_FILE JSON( \
    "path": { "type": "string", "description": "Where it is in the project's folder." }, \
    "view": { "enum": ["workflow", "markdown", "index", "log"], "description": "What it shows." }, \
    "execution_id": { "type": ["string", "null"], "description": "The execution that it shows; null: several." })

static const struct op ops[] = {
    {
        .name = "runner.projects", .http = "GET /runner/projects", .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "List the projects that have folders on a runner's machine, for the agents that are in them.",
        .input = FIELDS(JSON("runner_id"), RUNNER_ID),
        .output = SHAPE(JSON("projects"), SHAPE_LIST("projects", "By folder.", SHAPE(JSON("name", "folder"), JSON(
            "name": { "type": "string", "description": "The project." },
            "folder": { "type": "string", "description": "Its folder on that machine." })))),
        .run = runner_projects_op,
    },
    {
        .name = "runner.mirrors", .http = "GET /runner/mirrors", .wait = true, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Tell a runner which files of its machine's projects show their workflows, and what is in them; or wait until that changes.",
        .input = FIELDS(JSON("runner_id"), RUNNER_ID "," JSON(
            "after": { "type": "integer", "minimum": 0, "default": 0, "description": "The seq of the last answer: only what has changed since has a text; 0: everything." },
            "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 0, "description": "How many seconds to wait for a change." })),
        .output = SHAPE(JSON("seq"), JSON(
            "seq": { "type": "integer", "description": "What to ask for with after, to go on." }) ","
            SHAPE_LIST("projects", "Those whose files this runner writes; not there when nothing has changed.", SHAPE(JSON("project", "folder", "files"), JSON(
                "project": { "type": "string", "description": "The project." },
                "folder": { "type": "string", "description": "Its folder on the runner's machine." }) ","
                SHAPE_LIST("files", "All that are to be there.", SHAPE(JSON("path", "view", "execution_id"), MIRROR_FILE "," JSON(
                    "sha256": { "type": "string", "description": "Of the text." },
                    "text": { "type": "string", "description": "What is in it; not there when it is as it was." })))))),
        .run = runner_mirrors_op,
    },
    {
        .name = "runner.mirrored", .http = "POST /runner/mirrors", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Report that somebody has edited or deleted a file that shows a workflow, or that it cannot be written.",
        .input = FIELDS(JSON("runner_id", "project", "path", "found"), RUNNER_ID "," JSON(
            "project": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The project." },
            "path": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "The file, in the project's folder." },
            "found": { "enum": ["edited", "deleted", "blocked", "written"], "description": "What was found; written: one that was blocked is not any more." },
            "detail": { "type": "string", "maxLength": 1000, "description": "More of that, for people." })),
        .output = SHAPE("", ""), .run = runner_mirrored_op,
    },
    {
        .name = "project.mirrors", .http = "GET /projects/{name}/mirrors", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List the files that show a project's workflows, and what others did to them.",
        .input = FIELDS(JSON("name"), JSON("name": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The project." })),
        .output = SHAPE(JSON("files"), SHAPE_LIST("files", "As they are written now.", SHAPE(JSON("path", "view", "execution_id", "found", "detail", "times"), MIRROR_FILE "," JSON(
            "found": { "enum": ["edited", "deleted", "blocked", null], "description": "What somebody else did to it, after which it was written anew; blocked: it cannot be written." },
            "detail": { "type": ["string", "null"], "description": "More of that, for people." },
            "times": { "type": "integer", "minimum": 0, "description": "How often that was found." },
            "found_at": { "type": "string", "format": "date-time", "description": "When it was found last." })))),
        .run = project_mirrors_op,
    },
};
// clang-format on

const struct op_list mirror_ops = { ops, sizeof ops / sizeof *ops };
