/* workflow.c: definitions, their rows and their graphs. */
#include "core/exec/workflow.h"

#include "base/cache.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "core/columns.h"
#include "core/event.h"

/* ---- compiling ---- */

static err input_compile(struct arena *a, const struct graph *g, struct schema **out)
{
    const struct schema_options options = { .assert_formats = true, .is_known = true };

    *out = NULL;
    return g->input ? schema_compile(a, g->input, &options, out) : NULL;
}

/* All of it lives in `keep`; what is only needed meanwhile, in the command's arena. */
static err program_make(struct tx *tx, struct arena *keep, str name, int64_t version, str digest,
                        struct workflow_program *out)
{
    const struct json *definition;
    struct workflow w;

    TRY(workflow_still(tx, name, version, digest, &w));
    TRY(json_parse_own(keep, arena_copy(keep, w.text), &definition));
    TRY(graph_compile(keep, definition, &out->graph));
    TRY(input_compile(tx->arena, out->graph, &out->input));
    if (out->input)
        schema_free_with(keep, out->input);
    return NULL;
}

err workflow_program(struct tx *tx, str name, int64_t version, str digest,
                     const struct workflow_program **out)
{
    struct workflow_program *made;
    struct arena *keep;

    *out = cache_find(tx->compiled, digest);
    if (*out)
        return NULL;
    keep = arena_new();
    made = ARENA_NEW(keep, struct workflow_program);
    err e = program_make(tx, keep, name, version, digest, made);
    if (e) {
        e = err_copy(tx->arena, e); /* it may lie in what goes now */
        arena_free(keep);
        return e;
    }
    arena_give(keep);
    cache_keep(tx->compiled, digest, keep, made);
    *out = made;
    return NULL;
}

err workflow_prepare(struct arena *a, const struct json *definition, struct workflow_ready **out)
{
    struct workflow_ready *r = ARENA_NEW(a, struct workflow_ready);
    unsigned char sum[SHA256_BYTES];
    struct schema *input;

    r->text = json_printed(a, definition);
    if (r->text.len > GRAPH_TEXT_MAX)
        return err_new(a, ERR_TOO_LARGE,
                       "the definition has %zu bytes, at most %d are allowed: put what its steps "
                       "work with into the input, or into files",
                       r->text.len, GRAPH_TEXT_MAX);
    TRY(graph_compile(a, definition, &r->graph));
    TRY(input_compile(a, r->graph, &input));
    schema_free(input);
    sha256(r->text, sum);
    r->digest = hex_encode(a, (str){ (const char *)sum, sizeof sum });
    *out = r;
    return NULL;
}

/* ---- rows ---- */

static void workflows_read(struct tx *tx, const struct row *rows, size_t count,
                           const struct workflow **out)
{
    struct workflow *all = ARENA_ARRAY(tx->arena, struct workflow, count);

    for (size_t i = 0; i < count; i++) {
        all[i] = (struct workflow){ .version = 0 };
        COLUMNS_READ(WORKFLOW_LISTED, tx, &rows[i], "workflow", (&all[i]));
    }
    *out = all;
}

static err no_such_workflow(struct tx *tx, str name)
{
    enum { SHOWN = 8 };
    struct buf names = buf_in(tx->arena);
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count, "SELECT DISTINCT name FROM workflow ORDER BY name LIMIT $1",
                ARGS(INT(SHOWN + 1))));
    for (size_t i = 0; i < count && i < SHOWN; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(row_str(&rows[i], 0)));
    if (count > SHOWN)
        buf_add(&names, STR(" and more: 'baton workflow list'"));
    if (!count)
        buf_add(&names, STR("none; the operator deploys one with 'baton workflow deploy FILE'"));
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is no workflow \"" STR_FMT "\"; there are: " STR_FMT,
                   STR_ARG(utf8_cut(name, 80)), STR_ARG(buf_str(&names)));
}

static err newest(struct tx *tx, str name, struct workflow *out)
{
    const struct row *row;

    *out = (struct workflow){ .version = 0 };
    TRY(sql_one(tx->sql, &row,
                "SELECT " WORKFLOW_NAMES " FROM workflow WHERE name = $1"
                " ORDER BY version DESC LIMIT 1",
                ARGS(TEXT(name))));
    if (row)
        COLUMNS_READ(WORKFLOW_COLUMNS, tx, row, "workflow", out);
    return NULL;
}

err workflow_find(struct tx *tx, str name, int64_t version, struct workflow *out)
{
    const struct row *row;

    TRY(newest(tx, name, out));
    if (!out->version)
        return no_such_workflow(tx, name);
    if (!version || version == out->version)
        return NULL;
    TRY(sql_one(tx->sql, &row,
                "SELECT " WORKFLOW_NAMES " FROM workflow WHERE name = $1 AND version = $2",
                ARGS(TEXT(name), INT(version))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "workflow \"" STR_FMT "\" has no version %lld: its newest is %lld",
                       STR_ARG(name), (long long)version, (long long)out->version);
    COLUMNS_READ(WORKFLOW_COLUMNS, tx, row, "workflow", out);
    return NULL;
}

err workflow_still(struct tx *tx, str name, int64_t version, str digest, struct workflow *out)
{
    TRY(workflow_find(tx, name, version, out));
    if (str_eq(out->digest, digest))
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "version %lld of workflow \"" STR_FMT
                   "\" was deleted, and is another definition now: start a new execution of it",
                   (long long)version, STR_ARG(name));
}

err workflow_list(struct tx *tx, str after, int64_t limit, const struct workflow **out,
                  size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " WORKFLOW_LISTED_NAMES " FROM workflow AS w WHERE name > $1"
                " AND version = (SELECT max(version) FROM workflow AS v WHERE v.name = w.name)"
                " ORDER BY name LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    workflows_read(tx, rows, *count, out);
    return NULL;
}

err workflow_versions(struct tx *tx, str name, int64_t before, int64_t limit,
                      const struct workflow **out, size_t *count)
{
    struct workflow first;
    const struct row *rows;

    TRY(workflow_find(tx, name, 0, &first));
    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " WORKFLOW_LISTED_NAMES " FROM workflow WHERE name = $1 AND version < $2"
                " ORDER BY version DESC LIMIT $3",
                ARGS(TEXT(name), INT(before ? before : INT64_MAX), INT(limit))));
    workflows_read(tx, rows, *count, out);
    return NULL;
}

/* ---- deploying ---- */

static err name_check(struct tx *tx, str name)
{
    bool good = name.len > 0 && name.len <= WORKFLOW_NAME_MAX;

    for (size_t i = 0; i < name.len && good; i++) {
        char c = name.at[i], low = (char)(c | 0x20);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    }
    if (good)
        return NULL;
    if (!name.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a name for the workflow: a member \"workflow\" of the definition, "
                       "or \"name\" beside it");
    return err_new(tx->arena, ERR_INVALID,
                   "expected a name of 1 to %d letters, digits and - _ . for a workflow, found "
                   "\"" STR_FMT "\"",
                   WORKFLOW_NAME_MAX, STR_ARG(utf8_cut(name, 80)));
}

static err workflow_emit(struct tx *tx, enum event_type type, str name, int64_t version)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("workflow"), name);
    if (version)
        write_int(w, STR("version"), version);
    return event_end(tx, &data, (struct event){ .type = type, .subject = name }, NULL);
}

err workflow_deploy(struct tx *tx, const struct workflow_ready *ready, str name, str description,
                    struct workflow *out, bool *created)
{
    str called = name.len ? name : ready->graph->name;
    struct workflow last;

    TRY(name_check(tx, called));
    TRY(newest(tx, called, &last));
    *created = !last.version || !str_eq(last.digest, ready->digest);
    if (!*created) {
        *out = last;
        return NULL;
    }
    *out = (struct workflow){
        .name = called,
        .version = last.version + 1,
        .digest = ready->digest,
        .kind = str_from(graph_kind_names[ready->graph->kind]),
        .description = description.len ? description : ready->graph->description,
        .created_at_ms = tx->now_ms,
        .text = ready->text,
    };
    TRY(sql_exec(tx->sql, INSERT_INTO(workflow, WORKFLOW_COLUMNS),
                 ARGS(VALUES(WORKFLOW_COLUMNS, out))));
    return workflow_emit(tx, EVENT_WORKFLOW_DEPLOYED, called, out->version);
}

/* Ended executions keep their document and their history, and can be read without the definition; so
 * an execution of a version that is gone cannot go on, and only open ones are in the way. */
err workflow_delete(struct tx *tx, str name, int64_t version)
{
    struct workflow w;
    const struct row *row;

    TRY(workflow_find(tx, name, version, &w));
    TRY(sql_one(tx->sql, &row,
                "SELECT execution_id, version FROM execution WHERE workflow = $1"
                " AND status IN ('RUNNING', 'PAUSED') AND ($2 = 0 OR version = $2) LIMIT 1",
                ARGS(TEXT(name), INT(version))));
    if (row)
        return err_new(tx->arena, ERR_CONFLICT,
                       "execution " STR_FMT
                       " of version %lld has not ended: wait for it, or cancel "
                       "it first",
                       STR_ARG(row_str(row, 0)), (long long)row_int(row, 1));
    TRY(sql_exec(tx->sql, "DELETE FROM workflow WHERE name = $1 AND ($2 = 0 OR version = $2)",
                 ARGS(TEXT(name), INT(version))));
    return workflow_emit(tx, EVENT_WORKFLOW_DELETED, name, version);
}
