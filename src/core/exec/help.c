/* help.c: incidents, as a person sees and resolves them. */
#include "core/columns.h"
#include "core/exec/documents.h"
#include "core/exec/private.h"
#include "core/stored.h"

/* ---- looking ---- */

/* Of an execution, of those that a session sees, or of all. */
static err incident_rows(struct tx *tx, const struct incident_filter *f, int64_t no,
                         const struct row **rows, size_t *count)
{
    if (no)
        return sql_all(tx->sql, rows, count,
                       "SELECT " INCIDENT_NAMES " FROM incident WHERE no = $1"
                       " AND ($2 = '' OR status = $2) AND incident_id > $3"
                       " ORDER BY incident_id LIMIT $4",
                       ARGS(INT(no), TEXT(f->status), TEXT(f->after), INT(f->limit)));
    if (tx->actor->kind == ACTOR_SESSION)
        return sql_all(tx->sql, rows, count,
                       "SELECT " INCIDENT_NAMES " FROM incident WHERE no IN"
                       " (SELECT e.no FROM execution e JOIN session s ON s.session_id = $1"
                       "  WHERE e.root_id = s.root_id AND e.root_id <> ''"
                       "  AND (s.parent_id = '' OR e.session_id = $1))"
                       " AND ($2 = '' OR status = $2) AND incident_id > $3"
                       " ORDER BY incident_id LIMIT $4",
                       ARGS(TEXT(tx->actor->session_id), TEXT(f->status), TEXT(f->after),
                            INT(f->limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT " INCIDENT_NAMES " FROM incident WHERE ($1 = '' OR status = $1)"
                   " AND incident_id > $2 ORDER BY incident_id LIMIT $3",
                   ARGS(TEXT(f->status), TEXT(f->after), INT(f->limit)));
}

err incident_list(struct tx *tx, const struct incident_filter *f, const struct incident **out,
                  size_t *count)
{
    struct execution e = { .no = 0 };
    const struct row *rows;

    if (f->execution_id.len)
        TRY(execution_see(tx, f->execution_id, &e));
    TRY(incident_rows(tx, f, e.no, &rows, count));
    struct incident *all = ARENA_ARRAY(tx->arena, struct incident, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(INCIDENT_COLUMNS, tx, &rows[i], "incident", (&all[i]));
    *out = all;
    return NULL;
}

err incident_get(struct tx *tx, str id, struct incident *out)
{
    struct execution e;
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " INCIDENT_NAMES " FROM incident WHERE incident_id = $1",
                ARGS(TEXT(id))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no incident " STR_FMT, STR_ARG(id));
    COLUMNS_READ(INCIDENT_COLUMNS, tx, row, "incident", out);
    return execution_get(tx, out->execution_id, &e);
}

/* ---- resolving ---- */

/* What a result is judged by comes from the result first, so that nobody else changes it; but a person who
 * sets one of its names means that. */
static err result_mend(struct exec *x, struct mark *m, const struct json *variables)
{
    struct json mended = json_object();
    const struct json *result;
    bool changed = false;

    TRY(stored_parse_as(x->tx, THING("execution", x->row.id), m->vars, JSON_OBJECT, &result));
    for (uint32_t i = 0; i < result->len; i++) {
        str name = json_name(&result->members[i]);
        const struct json *value = json_find(variables, name);
        changed |= value != NULL;
        json_put(x->tx->arena, &mended, name, value ? *value : result->members[i].value);
    }
    if (changed)
        m->vars = json_printed(x->tx->arena, &mended);
    return NULL;
}

/* Where it stopped: the mark does again what it could not do. */
static err go_on(struct exec *x, const struct incident *i, const struct json *variables)
{
    struct mark *m;

    if (!i->n || str_eq(i->kind, STR("loop"))) {
        x->row.halted = false;
        return share_turn_by(x->tx, x->tx->now_ms); /* nobody began meanwhile */
    }
    TRY(mark_find(x, i->scope, i->n, &m));
    if (!m || m->status != MARK_INCIDENT)
        return NULL;
    m->spared = m->attempt;
    m->lost = 0;
    if (m->again == MARK_PROVE)
        TRY(result_mend(x, m, variables));
    mark_todo(x, m, m->again);
    return NULL;
}

err incident_resolve(struct tx *tx, str id, const struct json *variables, struct incident *out,
                     struct execution *e)
{
    struct exec x;
    bool found;

    TRY(incident_get(tx, id, out));
    TRY(execution_load(tx, out->no, e, &found));
    if (out->status == INCIDENT_RESOLVED || !found)
        return NULL;
    TRY(exec_open(tx, e, &x));
    TRY(vars_set_all(&x, variables));
    str trouble = vars_trouble(&x);
    if (trouble.len)
        return err_new(tx->arena, ERR_TOO_LARGE, STR_FMT, STR_ARG(trouble));
    TRY(incident_end(&x, out));
    TRY(go_on(&x, out, variables));
    exec_told(&x);
    TRY(exec_drain(&x));
    return exec_close(&x, e);
}
