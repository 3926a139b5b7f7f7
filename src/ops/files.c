/* files.c: the operation on files that members of a project are at. */
#include "core/file_touch.h"
#include "core/project.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* A session sees its own project, and who sees one state the project of that. */
static err project_seen(struct tx *tx, str name, struct project *out)
{
    struct session s, root;
    bool found = false;

    if (tx->actor->kind == ACTOR_SESSION) {
        TRY(session_find_id(tx, tx->actor->session_id, &s, &found));
        if (found)
            TRY(session_find_id(tx, s.root_id, &root, &found));
        if (!found || !root.project.len || !str_eq(root.project, name))
            return err_new(tx->arena, ERR_NOT_FOUND,
                           "there is no project \"" STR_FMT "\" that this session works for",
                           STR_ARG(name));
    }
    TRY(project_get(tx, name, out));
    if (tx->actor->kind != ACTOR_SESSION && tx->actor->state_id.len &&
        !str_eq(tx->actor->state_id, out->state_id))
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no project \"" STR_FMT "\" of the state that this token sees",
                       STR_ARG(name));
    return NULL;
}

static void write_member(struct json_writer *w, const struct file_member *m)
{
    json_write_begin(w, '{');
    write_text(w, STR("session_name"), m->session_name);
    write_text(w, STR("session_id"), m->touch.session_id);
    write_time(w, STR("seen_at"), m->touch.seen_at_ms);
    write_time_or_null(w, STR("wrote_at"), m->touch.wrote_at_ms);
    write_int(w, STR("added"), m->touch.added);
    write_int(w, STR("removed"), m->touch.removed);
    json_write_end(w, '}');
}

/* A file and who is at it: `count` of them, which stand together, the last writer first. */
static void write_file(struct json_writer *w, const struct file_member *all, size_t count)
{
    const struct file_touch *t = &all[0].touch;
    str host, place;

    str_cut(t->file, ':', &host, &place);
    str top = str_slice(place, 0, place.len - t->path.len - 1);
    json_write_begin(w, '{');
    write_text(w, STR("path"), t->path);
    write_text(w, STR("worktree"), top.len ? top : STR("/"));
    write_text(w, STR("host"), host);
    write_time_or_null(w, STR("changed_at"), t->wrote_at_ms);
    write_begin(w, STR("names"), '[');
    for (size_t i = 0; i < count; i++)
        json_write_str(w, all[i].session_name);
    json_write_end(w, ']');
    write_begin(w, STR("members"), '[');
    for (size_t i = 0; i < count; i++)
        write_member(w, &all[i]);
    json_write_end(w, ']');
    json_write_end(w, '}');
}

static err file_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct file_member *all;
    struct project p;
    size_t count, files = 0;

    TRY(project_seen(tx, input_str(in, "name"), &p));
    TRY(file_touch_list(tx, p.name, input_str(in, "after"), input_bool(in, "shared", false),
                        page_rows(in), &all, &count));
    size_t *begins = ARENA_ARRAY(tx->arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !str_eq(all[i].touch.file, all[i - 1].touch.file))
            begins[files++] = i;
    begins[files] = count;
    size_t shown = page_begin(in, out, STR("files"), files);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_file(&out->json, &all[begins[i]], begins[i + 1] - begins[i]);
    page_end(out, shown < files ? all[begins[shown - 1]].touch.file : STR(""));
    return NULL;
}

// clang-format off

#define FILE_MEMBER_SHAPE SHAPE(JSON("session_name", "session_id", "seen_at", "wrote_at", "added", "removed"), JSON( \
    "session_name": { "type": "string", "description": "Its name." }, \
    "session_id": { "type": "string", "description": "Its id." }, \
    "seen_at": { "type": "string", "format": "date-time", "description": "When it last read or wrote the file, or was told that others had." }, \
    "wrote_at": { "type": ["string", "null"], "format": "date-time", "description": "When it last wrote it; null: it has not." }, \
    "added": { "type": "integer", "minimum": 0, "description": "Lines that all its writes added." }, \
    "removed": { "type": "integer", "minimum": 0, "description": "Lines that they took away, as far as its client tells." }))

static const struct op ops[] = {
    {
        .name = "file.list", .http = "GET /projects/{name}/files", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_VIEWER | BY_SESSION,
        .summary = "List the files that members of a project are at, and who is.",
        .input = FIELDS(JSON("name"), JSON(
            "name": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The project." },
            "shared": { "type": "boolean", "default": false,
                "description": "Only files that two or more members are at, and that one of them has written." },
            "after": { "type": "string", "maxLength": 2400, "description": "Begin after this file: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("files"), SHAPE_LIST("files", "A page of them. Members that are silent or have ended are at none.",
            SHAPE(JSON("path", "worktree", "host", "changed_at", "names", "members"), JSON(
                "path": { "type": "string", "description": "Where it is in its working tree." },
                "worktree": { "type": "string", "description": "The top of that working tree." },
                "host": { "type": "string", "description": "The machine that it is on." },
                "changed_at": { "type": ["string", "null"], "format": "date-time", "description": "When one of them last wrote it; null: none has." },
                "names": { "type": "array", "items": { "type": "string" }, "description": "The members' names." }) ","
                SHAPE_LIST("members", "Who is at it, the last writer first.", FILE_MEMBER_SHAPE))) "," PAGE_NEXT),
        .run = file_list_op,
    },
};
// clang-format on

const struct op_list file_ops = { ops, sizeof ops / sizeof *ops };
