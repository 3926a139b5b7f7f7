/* workflow.c: definitions, their rows and their graphs. */
#include "core/exec/workflow.h"

#include "base/cache.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "core/columns.h"
#include "core/event.h"
#include "core/exec/documents.h"
#include "core/exec/workflow_data.h"

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

/* Names of people begin with a letter, a digit or one of ". _ -", which all come after this one. */
#define UNNAMED "#"
#define NAMED_FROM "$"

bool workflow_is_unnamed(str name)
{
    return str_starts(name, STR(UNNAMED));
}

/* ---- those that come with the program ---- */

/* The n-th; false: there are fewer. */
static err built_in_at(struct tx *tx, size_t i, struct workflow *out, bool *there)
{
    struct workflow_built_in b = workflow_built_in(i);
    struct workflow_ready *ready;
    const struct json *text;

    *there = b.name;
    if (!b.name)
        return NULL;
    TRY(json_parse_own(tx->arena, b.text, &text));
    TRY(workflow_prepare(tx->arena, text, &ready));
    *out = (struct workflow){
        .name = str_from(b.name),
        .version = 1,
        .digest = ready->digest,
        .kind = str_from(graph_kind_names[ready->graph->kind]),
        .description = ready->graph->description,
        .text = ready->text,
    };
    return NULL;
}

static err built_in_find(struct tx *tx, str name, struct workflow *out)
{
    for (size_t i = 0; workflow_built_in(i).name; i++) {
        bool there;
        if (str_eq(name, str_from(workflow_built_in(i).name)))
            return built_in_at(tx, i, out, &there);
    }
    return NULL;
}

static bool is_among(const struct row *rows, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(row_str(&rows[i], 0), name))
            return true;
    return false;
}

static err no_such_workflow(struct tx *tx, str name)
{
    enum { SHOWN = 8 };
    struct buf names = buf_in(tx->arena);
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT DISTINCT name FROM workflow WHERE name > $1 ORDER BY name LIMIT $2",
                ARGS(TEXT(STR(NAMED_FROM)), INT(SHOWN + 1))));
    for (size_t i = 0; i < count && i < SHOWN; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(row_str(&rows[i], 0)));
    for (size_t i = 0; workflow_built_in(i).name; i++)
        if (!is_among(rows, count, str_from(workflow_built_in(i).name)))
            buf_printf(&names, "%s%s", names.len ? ", " : "", workflow_built_in(i).name);
    if (count > SHOWN)
        buf_add(&names, STR(" and more: 'baton workflow list'"));
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is no workflow \"" STR_FMT "\"; there are: " STR_FMT,
                   STR_ARG(utf8_cut(name, 80)), STR_ARG(buf_str(&names)));
}

/* Its newest row; the version is 0 when there is none. */
static err newest_row(struct tx *tx, str name, struct workflow *out)
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

/* The same, or what comes with the program. */
static err newest(struct tx *tx, str name, struct workflow *out)
{
    TRY(newest_row(tx, name, out));
    return out->version ? NULL : built_in_find(tx, name, out);
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

/* Puts one into a list that is in the order of names, unless it comes after a page that is full. */
static void list_insert(struct workflow *all, size_t *count, size_t limit, const struct workflow *w)
{
    size_t at = *count;

    while (at > 0 && str_compare(w->name, all[at - 1].name) < 0)
        at--;
    if (at == limit)
        return;
    *count += *count < limit;
    for (size_t i = *count - 1; i > at; i--)
        all[i] = all[i - 1];
    all[at] = *w;
}

err workflow_list(struct tx *tx, str after, int64_t limit, const struct workflow **out,
                  size_t *count)
{
    str from = str_compare(after, STR(NAMED_FROM)) < 0 ? STR(NAMED_FROM) : after;
    struct workflow *all = ARENA_ARRAY(tx->arena, struct workflow, (size_t)limit);
    const struct workflow *stored;
    const struct row *rows;
    bool there = true;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " WORKFLOW_LISTED_NAMES " FROM workflow AS w WHERE name > $1"
                " AND version = (SELECT max(version) FROM workflow AS v WHERE v.name = w.name)"
                " ORDER BY name LIMIT $2",
                ARGS(TEXT(from), INT(limit))));
    workflows_read(tx, rows, *count, &stored);
    for (size_t i = 0; i < *count; i++)
        all[i] = stored[i];
    for (size_t i = 0; there; i++) {
        struct workflow own, row;
        TRY(built_in_at(tx, i, &own, &there));
        if (!there || str_compare(own.name, after) <= 0)
            continue;
        TRY(newest_row(tx, own.name, &row));
        if (!row.version)
            list_insert(all, count, (size_t)limit, &own);
    }
    *out = all;
    return NULL;
}

err workflow_versions(struct tx *tx, str name, int64_t before, int64_t limit,
                      const struct workflow **out, size_t *count)
{
    struct workflow first;
    const struct row *rows;

    TRY(workflow_find(tx, name, 0, &first));
    if (!first.created_at_ms) {
        struct workflow *one = ARENA_NEW(tx->arena, struct workflow);
        *one = first;
        *out = one;
        *count = before != 1;
        return NULL;
    }
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

/* The words of a text, as a name. */
static str name_of_words(struct arena *a, str text)
{
    enum { SHOWN = 60 };
    struct buf out = buf_in(a);
    bool apart = false;

    for (size_t i = 0; i < text.len && out.len < SHOWN; i++) {
        char c = text.at[i];
        bool upper = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
        if (!upper && !digit && !(c >= 'a' && c <= 'z') && c != '.' && c != '_') {
            apart = out.len > 0;
            continue;
        }
        if (apart)
            buf_byte(&out, '-');
        apart = false;
        buf_byte(&out, upper ? (char)(c | 0x20) : c);
    }
    return buf_str(&out);
}

/* Documents of others have no name: what they are of stands for it. */
static str name_of(struct arena *a, const struct graph *g)
{
    if (g->name.len)
        return g->name;
    if (g->kind == GRAPH_GENERATION)
        return STR("generation");
    if (g->kind == GRAPH_PLANNING)
        return arena_printf(a, "planning-" STR_FMT, STR_ARG(g->level));
    return g->kind == GRAPH_PHASES ? name_of_words(a, g->description) : STR("");
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

static err workflow_insert(struct tx *tx, struct workflow *w)
{
    w->created_at_ms = tx->now_ms;
    return sql_exec(tx->sql, INSERT_INTO(workflow, WORKFLOW_COLUMNS),
                    ARGS(VALUES(WORKFLOW_COLUMNS, w)));
}

/* What is deployed first under its name comes after the one of the program, which others may have been
 * told of as version 1. */
err workflow_deploy(struct tx *tx, const struct workflow_ready *ready, str name, str description,
                    struct workflow *out, bool *created)
{
    str called = name.len ? name : name_of(tx->arena, ready->graph);
    struct workflow last;

    TRY(name_check(tx, called));
    TRY(newest(tx, called, &last));
    *created = !last.version || !str_eq(last.digest, ready->digest);
    if (!*created) {
        *out = last;
        return NULL;
    }
    if (last.version)
        TRY(workflow_begun(tx, &last));
    *out = (struct workflow){
        .name = called,
        .version = last.version + 1,
        .digest = ready->digest,
        .kind = str_from(graph_kind_names[ready->graph->kind]),
        .description = description.len ? description : ready->graph->description,
        .text = ready->text,
    };
    TRY(documents_begin(tx, out->kind, DOCUMENTS_NOBODY));
    TRY(workflow_insert(tx, out));
    return workflow_emit(tx, EVENT_WORKFLOW_DEPLOYED, called, out->version);
}

err workflow_begun(struct tx *tx, const struct workflow *w)
{
    struct workflow row = *w;

    if (w->created_at_ms)
        return NULL;
    TRY(workflow_insert(tx, &row));
    return workflow_emit(tx, EVENT_WORKFLOW_DEPLOYED, row.name, row.version);
}

/* ---- those without a name ---- */

/* As much of the digest as no other one begins with. */
err workflow_keep(struct tx *tx, const struct workflow_ready *ready, struct workflow *out)
{
    size_t shown = 12;
    bool other = true;
    str name = STR("");

    for (; other; shown += 4) {
        name =
            arena_printf(tx->arena, UNNAMED STR_FMT, STR_ARG(str_slice(ready->digest, 0, shown)));
        TRY(newest_row(tx, name, out));
        other = out->version && !str_eq(out->digest, ready->digest);
    }
    if (out->version)
        return NULL;
    *out = (struct workflow){
        .name = name,
        .version = 1,
        .digest = ready->digest,
        .kind = str_from(graph_kind_names[ready->graph->kind]),
        .description = ready->graph->description,
        .text = ready->text,
    };
    return workflow_insert(tx, out);
}

err workflow_let_go(struct tx *tx, str name)
{
    if (!workflow_is_unnamed(name))
        return NULL;
    return sql_exec(tx->sql,
                    "DELETE FROM workflow WHERE name = $1"
                    " AND NOT EXISTS (SELECT 1 FROM execution e WHERE e.workflow = $1)",
                    ARGS(TEXT(name)));
}

/* Ended executions keep their document and their history, and can be read without the definition; so
 * an execution of a version that is gone cannot go on, and only open ones are in the way. */
err workflow_delete(struct tx *tx, str name, int64_t version)
{
    struct workflow w;
    const struct row *row;

    TRY(workflow_find(tx, name, version, &w));
    if (!w.created_at_ms)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "workflow \"" STR_FMT
                       "\" comes with the program, and nothing was deployed in its place",
                       STR_ARG(w.name));
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
