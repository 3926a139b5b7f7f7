/* project.c: the rows of projects and of their folders. */
#include "core/project.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"

enum { FOLDERS_ABOVE_MAX = 64, NAMES_SHOWN = 8 };

/* Open enough to begin with. Things have ids, so that two who write do not meet. */
const char project_schema[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Project\","
    "\"description\":\"What the agents of a project share. Each thing has an id of its own, so that"
    " two who write do not meet.\","
    "\"type\":\"object\",\"properties\":{"
    "\"goal\":{\"type\":\"string\",\"description\":\"What this project is to become, in a sentence.\"},"
    "\"decisions\":{\"type\":\"object\",\"description\":\"What was decided and why, by id.\","
    "\"additionalProperties\":{\"type\":[\"string\",\"object\"]}},"
    "\"plan\":{\"type\":\"object\",\"description\":\"What is to be done, by id.\","
    "\"additionalProperties\":{\"type\":\"object\",\"required\":[\"title\"],\"properties\":{"
    "\"title\":{\"type\":\"string\"},"
    "\"status\":{\"enum\":[\"open\",\"in_progress\",\"blocked\",\"done\",\"dropped\"]},"
    "\"owner\":{\"type\":\"string\",\"description\":\"The session that is at it.\"},"
    "\"notes\":{\"type\":\"string\"}}}},"
    "\"findings\":{\"type\":\"object\",\"description\":\"What was found out that others should know,"
    " by id.\",\"additionalProperties\":{\"type\":[\"string\",\"object\"]}},"
    "\"notes\":{\"type\":\"object\",\"description\":\"All else, by id.\"}}}";

static const char empty_document[] =
    "{\"goal\":\"\",\"decisions\":{},\"plan\":{},\"findings\":{},\"notes\":{}}";

/* ---- one ---- */

err project_find(struct tx *tx, str name, struct project *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " PROJECT_NAMES " FROM project WHERE name = $1",
                ARGS(TEXT(name))));
    *found = row;
    if (row)
        COLUMNS_READ(PROJECT_COLUMNS, tx, row, "project", out);
    return NULL;
}

err project_get(struct tx *tx, str name, struct project *out)
{
    struct buf names = buf_in(tx->arena);
    const struct project *all;
    size_t count;
    bool found;

    TRY(project_find(tx, name, out, &found));
    if (found)
        return NULL;
    TRY(project_list(tx, STR(""), NAMES_SHOWN + 1, &all, &count));
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(all[i].name));
    if (count > NAMES_SHOWN)
        buf_add(&names, STR(" and more: project.list"));
    return err_new(tx->arena, ERR_NOT_FOUND, "there is no project \"" STR_FMT "\"; there are: %s",
                   STR_ARG(name), count ? buf_str(&names).at : "none; 'baton init' makes one");
}

err project_at(struct tx *tx, str hostname, str folder, struct project *out, bool *found)
{
    const struct row *row = NULL;

    *found = false;
    for (int i = 0; i < FOLDERS_ABOVE_MAX && !row && folder.len; i++) {
        TRY(sql_one(tx->sql, &row,
                    "SELECT project FROM project_folder WHERE hostname = $1 AND common_dir = $2",
                    ARGS(TEXT(hostname), TEXT(folder))));
        do
            folder.len--;
        while (folder.len && folder.at[folder.len] != '/');
    }
    return row ? project_find(tx, row_str(row, 0), out, found) : NULL;
}

err project_of_state(struct tx *tx, str state_id, str *name)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT name FROM project WHERE state_id = $1 ORDER BY name LIMIT 1",
                ARGS(TEXT(state_id))));
    *name = row ? row_str(row, 0) : STR("");
    return NULL;
}

err project_at_work(struct tx *tx, str name, int64_t *count)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM session WHERE project = $1 AND project <> ''"
                " AND attended = 1 AND live = 1 AND silent = 0",
                ARGS(TEXT(name))));
    *count = row_int(row, 0);
    return NULL;
}

/* ---- many ---- */

err project_list(struct tx *tx, str after, int64_t limit, const struct project **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " PROJECT_NAMES " FROM project WHERE name > $1 ORDER BY name LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    struct project *all = ARENA_ARRAY(tx->arena, struct project, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(PROJECT_COLUMNS, tx, &rows[i], "project", (&all[i]));
    *out = all;
    return NULL;
}

err project_folders(struct tx *tx, str name, const struct project_folder **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " PROJECT_FOLDER_NAMES " FROM project_folder WHERE project = $1"
                " ORDER BY hostname, common_dir LIMIT $2",
                ARGS(TEXT(name), INT(PROJECT_FOLDERS_MAX))));
    struct project_folder *all = ARENA_ARRAY(tx->arena, struct project_folder, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(PROJECT_FOLDER_COLUMNS, tx, &rows[i], "project", (&all[i]));
    *out = all;
    return NULL;
}

/* ---- folders ---- */

static err folder_check(struct tx *tx, str hostname, str common_dir)
{
    if (hostname.len && str_starts(common_dir, STR("/")) && utf8_valid(hostname) &&
        utf8_valid(common_dir))
        return team_text_check(tx->arena, "a common_dir", common_dir, PROJECT_DIR_MAX);
    return err_new(tx->arena, ERR_INVALID,
                   "expected a \"host\" and a \"common_dir\" that begins with /, found \"" STR_FMT
                   "\" and \"" STR_FMT "\"",
                   STR_ARG(hostname), STR_ARG(common_dir));
}

static err folder_owner(struct tx *tx, str hostname, str common_dir, str *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT project FROM project_folder WHERE hostname = $1 AND common_dir = $2",
                ARGS(TEXT(hostname), TEXT(common_dir))));
    *out = row ? row_str(row, 0) : STR("");
    return NULL;
}

err project_join(struct tx *tx, const struct project *p, str hostname, str common_dir)
{
    const struct project_folder *all;
    size_t count;
    str owner;

    TRY(folder_check(tx, hostname, common_dir));
    TRY(folder_owner(tx, hostname, common_dir, &owner));
    if (str_eq(owner, p->name))
        return NULL;
    if (owner.len)
        return err_new(tx->arena, ERR_CONFLICT,
                       "the folder " STR_FMT " on " STR_FMT " belongs to project \"" STR_FMT
                       "\": take it out of that one first, or go on there",
                       STR_ARG(common_dir), STR_ARG(hostname), STR_ARG(owner));
    TRY(project_folders(tx, p->name, &all, &count));
    if (count >= PROJECT_FOLDERS_MAX)
        return err_new(tx->arena, ERR_LIMIT, "a project has at most %d folders",
                       PROJECT_FOLDERS_MAX);
    struct project_folder f = { hostname, common_dir, p->name, tx->now_ms };
    return sql_exec(tx->sql, INSERT_INTO(project_folder, PROJECT_FOLDER_COLUMNS),
                    ARGS(VALUES(PROJECT_FOLDER_COLUMNS, (&f))));
}

err project_leave(struct tx *tx, const struct project *p, str hostname, str common_dir)
{
    str owner;

    TRY(folder_owner(tx, hostname, common_dir, &owner));
    if (!str_eq(owner, p->name))
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "the folder " STR_FMT " on " STR_FMT " is not one of project " STR_FMT,
                       STR_ARG(common_dir), STR_ARG(hostname), STR_ARG(p->name));
    return sql_exec(tx->sql, "DELETE FROM project_folder WHERE hostname = $1 AND common_dir = $2",
                    ARGS(TEXT(hostname), TEXT(common_dir)));
}

/* ---- coming and going ---- */

static err name_check(struct tx *tx, str name)
{
    bool good = name.len > 0 && name.len <= PROJECT_NAME_MAX && !str_eq(name, STR("off"));

    for (size_t i = 0; i < name.len && good; i++) {
        char c = name.at[i], low = (char)(c | 0x20);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    }
    if (good)
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "expected a name of 1 to %d letters, digits and - _ . for a project, and not "
                   "\"off\", found \"" STR_FMT "\"",
                   PROJECT_NAME_MAX, STR_ARG(utf8_cut(name, 80)));
}

static err schema_for(struct tx *tx, const struct project_new *n, struct schema_version *out)
{
    str name = n->schema_name.len ? n->schema_name : STR(PROJECT_SCHEMA_NAME);
    const struct row *row;
    bool created;

    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM schema WHERE name = $1 LIMIT 1", ARGS(TEXT(name))));
    if (row || n->schema_name.len)
        return schema_find(tx, name, 0, out);
    return schema_register(tx, name, n->built_in, STR("What the agents of a project share"), out,
                           &created);
}

static err state_for(struct tx *tx, const struct project_new *n, struct state *out)
{
    struct schema_version schema;
    const struct json *data = n->initial_data;

    if (n->state_id.len)
        return state_get_to_share(tx, n->state_id, out);
    TRY(schema_for(tx, n, &schema));
    if (!data)
        TRY(json_parse_own(tx->arena, n->schema_name.len ? STR("{}") : str_from(empty_document),
                           &data));
    err e = state_create(tx, &schema, data, STR(""), out);
    if (e && e->kind == ERR_UNFIT && !n->initial_data)
        return err_with(
            tx->arena,
            err_new(tx->arena, ERR_UNFIT,
                    "an empty document does not fit the schema " STR_FMT
                    ": give \"initial_data\", or the \"state\" that is to be shared. " STR_FMT,
                    STR_ARG(schema.name), STR_ARG(e->message)),
            e->members);
    TRY(e);
    /* Its members call it by the project's name, unless another state has that. */
    str taken = n->name;
    TRY(state_resolve(tx, &taken));
    return state_is_name(n->name) && str_eq(taken, n->name) ? state_name_new(tx, out, n->name)
                                                            : NULL;
}

static err created_emit(struct tx *tx, const struct project *p)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("project"), p->name);
    write_text(w, STR("workflow_state_id"), p->state_id);
    write_bool(w, STR("wake"), p->wakes);
    return event_end(tx, &data, (struct event){ .type = EVENT_PROJECT_UPDATED, .subject = p->name },
                     NULL);
}

err project_create(struct tx *tx, const struct project_new *n, struct project *out)
{
    struct project other;
    struct state state;
    bool taken;

    TRY(name_check(tx, n->name));
    TRY(team_text_check(tx->arena, "a project_dir", n->project_dir, PROJECT_DIR_MAX));
    TRY(project_find(tx, n->name, &other, &taken));
    if (taken)
        return err_new(tx->arena, ERR_CONFLICT,
                       "there is a project \"" STR_FMT
                       "\": join it with project.join ('baton init --project " STR_FMT
                       "'), or choose another name",
                       STR_ARG(n->name), STR_ARG(n->name));
    TRY(state_for(tx, n, &state));
    *out = (struct project){ .name = n->name,
                             .project_dir = n->project_dir,
                             .state_id = state.id,
                             .wakes = n->wakes,
                             .mirrors = n->mirrors,
                             .created_at_ms = tx->now_ms,
                             .updated_at_ms = tx->now_ms };
    TRY(sql_exec(tx->sql, INSERT_INTO(project, PROJECT_COLUMNS),
                 ARGS(VALUES(PROJECT_COLUMNS, out))));
    if (n->common_dir.len || n->hostname.len)
        TRY(project_join(tx, out, n->hostname, n->common_dir));
    return created_emit(tx, out);
}

err project_store(struct tx *tx, struct project *p)
{
    p->updated_at_ms = tx->now_ms;
    TRY(sql_exec(tx->sql, "UPDATE project SET " SET_STORED(PROJECT_COLUMNS) " WHERE name = $1",
                 ARGS(TEXT(p->name), STORED_VALUES(PROJECT_COLUMNS, p))));
    return created_emit(tx, p);
}

/* Its members have this in place of one that was the project's, and keep what is their own; either way
 * they are bound anew, since what they may read has changed. */
static err members_bind(struct tx *tx, str name, str was, str now)
{
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT session_id, state_id FROM session WHERE project = $1 AND project <> ''"
                " AND parent_id = '' AND state_id <> '' ORDER BY session_id",
                ARGS(TEXT(name))));
    if (!now.len)
        TRY(session_change(tx,
                           "UPDATE session SET project = '' WHERE project = $1 AND project <> ''",
                           ARGS(TEXT(name))));
    for (size_t i = 0; i < count; i++) {
        str own = row_str(&rows[i], 1);
        TRY(session_state_select(tx, row_str(&rows[i], 0),
                                 now.len && str_eq(own, was) ? now : own));
    }
    return NULL;
}

err project_give_state(struct tx *tx, struct project *p, str state_id)
{
    struct state state;
    str was = p->state_id;

    TRY(state_get_to_share(tx, state_id, &state));
    p->state_id = state.id;
    TRY(project_store(tx, p));
    return str_eq(was, state.id) ? NULL : members_bind(tx, p->name, was, state.id);
}

err project_delete(struct tx *tx, const struct project *p)
{
    struct sql_args self = ARGS(TEXT(p->name));

    TRY(sql_exec(tx->sql, "DELETE FROM project_folder WHERE project = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM file_touch WHERE project = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM mirror WHERE project = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM project WHERE name = $1", self));
    TRY(members_bind(tx, p->name, p->state_id, STR("")));
    return event_emit(tx, (struct event){ .type = EVENT_PROJECT_DELETED, .subject = p->name },
                      NULL);
}
