/* mirror.c: which files a project wants, and what became of them. */
#include "core/mirror.h"

#include "core/columns.h"
#include "core/exec/documents.h"
#include "core/stored.h"

enum { LOOKED_AT_MAX = 300, FOLDERS_MAX = 100 };

const char *const mirror_kind_names[MIRROR_KINDS] = { "workflow", "markdown", "workflow-state",
                                                      "log" };

/* ---- what is wanted ---- */

err mirror_kinds(struct tx *tx, const struct project *p, unsigned *out)
{
    const struct json *names;

    *out = (1u << MIRROR_KINDS) - 1;
    if (!p->mirrors.len)
        return NULL;
    TRY(stored_parse_as(tx, THING("project", p->name), p->mirrors, JSON_ARRAY, &names));
    *out = 0;
    for (uint32_t i = 0; i < names->len; i++)
        for (unsigned kind = 0; kind < MIRROR_KINDS; kind++)
            if (json_is(&names->items[i], JSON_STRING) &&
                str_eq(json_text(&names->items[i]), str_from(mirror_kind_names[kind])))
                *out |= 1u << kind;
    return NULL;
}

void mirror_kinds_set(struct tx *tx, struct project *p, const struct json *names)
{
    p->mirrors = json_printed(tx->arena, names);
}

/* ---- where ---- */

str mirror_folder(str common_dir)
{
    const str git = STR("/.git");

    return str_ends(common_dir, git) && common_dir.len > git.len
               ? str_slice(common_dir, 0, common_dir.len - git.len)
               : common_dir;
}

static bool is_in(str path, str folder)
{
    return folder.len && str_starts(path, folder) &&
           (path.len == folder.len || path.at[folder.len] == '/');
}

err mirror_folders(struct tx *tx, str hostname, const struct project_folder **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " PROJECT_FOLDER_NAMES " FROM project_folder WHERE hostname = $1"
                " ORDER BY common_dir LIMIT $2",
                ARGS(TEXT(hostname), INT(FOLDERS_MAX))));
    struct project_folder *all = ARENA_ARRAY(tx->arena, struct project_folder, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(PROJECT_FOLDER_COLUMNS, tx, &rows[i], "project", (&all[i]));
    *out = all;
    return NULL;
}

/* Two that wrote the same file would each take the other's for an edit. */
err mirror_is_writer(struct tx *tx, const struct runner *r, str folder, bool *out)
{
    const struct row *rows;
    size_t count, i = 0;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT runner_id, project_dir FROM runner WHERE hostname = $1 AND lost = 0"
                " ORDER BY runner_id",
                ARGS(TEXT(r->hostname))));
    while (i < count && row_str(&rows[i], 1).len && !is_in(folder, row_str(&rows[i], 1)))
        i++;
    *out = i < count && str_eq(row_str(&rows[i], 0), r->id);
    return NULL;
}

/* ---- of what ---- */

static err is_of_project(struct tx *tx, const struct project *p,
                         const struct project_folder *folders, size_t count,
                         const struct execution *e, bool *out)
{
    struct session root;
    bool found = false;

    *out = false;
    for (size_t i = 0; i < count && !*out; i++)
        *out = is_in(e->project_dir, mirror_folder(folders[i].common_dir));
    if (*out || !e->root_id.len)
        return NULL;
    TRY(session_find_id(tx, e->root_id, &root, &found));
    *out = found && str_eq(root.project, p->name);
    return NULL;
}

err mirror_executions(struct tx *tx, const struct project *p, str kind, size_t limit,
                      const struct execution **out, size_t *count)
{
    struct execution_documents filter = { .kind = kind, .limit = LOOKED_AT_MAX };
    struct execution *all = ARENA_ARRAY(tx->arena, struct execution, limit);
    const struct project_folder *folders;
    const struct execution *found;
    size_t folder_count, found_count;

    *out = all;
    *count = 0;
    TRY(project_folders(tx, p->name, &folders, &folder_count));
    for (int ended = 0; ended < 2; ended++) {
        filter.status = ended ? STR("") : STR("open");
        TRY(execution_documents(tx, &filter, &found, &found_count, NULL));
        for (size_t i = 0; i < found_count && *count < limit; i++) {
            bool own = false;
            if (!ended || !execution_is_open(found[i].status))
                TRY(is_of_project(tx, p, folders, folder_count, &found[i], &own));
            if (own)
                all[(*count)++] = found[i];
        }
    }
    return NULL;
}

/* ---- what was found ---- */

static err oldest_drop(struct tx *tx, str project)
{
    return sql_exec(tx->sql,
                    "DELETE FROM mirror WHERE project = $1 AND path IN"
                    " (SELECT path FROM mirror WHERE project = $1"
                    "  ORDER BY found_at DESC, path LIMIT 1 OFFSET $2)",
                    ARGS(TEXT(project), INT(MIRRORS_NOTED_MAX)));
}

err mirror_note(struct tx *tx, struct mirror *m)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    m->times = 1;
    m->found_at_ms = tx->now_ms;
    write_text(w, STR("path"), m->path);
    write_text(w, STR("found"), m->found);
    if (m->detail.len)
        write_text(w, STR("detail"), m->detail);
    TRY(sql_exec(tx->sql,
                 INSERT_INTO(mirror,
                             MIRROR_COLUMNS) " ON CONFLICT (project, path) DO UPDATE SET"
                                             " found = excluded.found, detail = excluded.detail,"
                                             " times = mirror.times + 1,"
                                             " found_at = excluded.found_at",
                 ARGS(VALUES(MIRROR_COLUMNS, m))));
    TRY(oldest_drop(tx, m->project));
    return event_end(tx, &data, (struct event){ .type = EVENT_MIRROR_FOUND, .subject = m->project },
                     NULL);
}

err mirror_unblock(struct tx *tx, str project, str path)
{
    return sql_exec(tx->sql,
                    "DELETE FROM mirror WHERE project = $1 AND path = $2 AND found = 'blocked'",
                    ARGS(TEXT(project), TEXT(path)));
}

err mirror_noted(struct tx *tx, str project, const struct mirror **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " MIRROR_NAMES " FROM mirror WHERE project = $1 ORDER BY path",
                ARGS(TEXT(project))));
    struct mirror *all = ARENA_ARRAY(tx->arena, struct mirror, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(MIRROR_COLUMNS, tx, &rows[i], "project", (&all[i]));
    *out = all;
    return NULL;
}
