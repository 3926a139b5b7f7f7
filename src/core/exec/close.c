/* close.c: the end of a command on an execution: its rows, its document, and what is told of it. */
#include <assert.h>

#include "core/columns.h"
#include "core/exec/private.h"

/* ---- rows ---- */

static err mark_flush(struct exec *x, struct mark *m)
{
    struct tx *tx = x->tx;

    if (!m->changed)
        return NULL;
    m->changed = false;
#ifndef PLANT_MOVER_TIMER_OUTLIVES
    if (m->dead && m->timer_ms)
        TRY(due_drop(tx, DUE_MARK_TIME, mark_subject(tx, m)));
#endif
    if (m->dead && !m->stored)
        return NULL;
    if (m->dead)
        return sql_exec(tx->sql, "DELETE FROM mark WHERE no = $1 AND scope = $2 AND n = $3",
                        ARGS(INT(m->no), INT(m->scope), INT(m->n)));
    if (!m->stored) {
        m->stored = true;
        return sql_exec(tx->sql, INSERT_INTO(mark, MARK_COLUMNS), ARGS(VALUES(MARK_COLUMNS, m)));
    }
    /* The key of the statement is its first parameter; the other two of it come last. */
    return sql_exec(tx->sql,
                    "UPDATE mark SET " SET_STORED(MARK_COLUMNS) " WHERE no = $1 AND scope = $24"
                                                                " AND n = $25",
                    ARGS(INT(m->no), STORED_VALUES(MARK_COLUMNS, m) INT(m->scope), INT(m->n)));
}
_Static_assert(STORED_COUNT(MARK_COLUMNS) == 22, "the rest of its key are parameters 24 and 25");

/* Of an execution that has ended none is left: those that are stored go at once. */
static err marks_drop(struct exec *x)
{
    for (size_t i = 0; i < MARK_BUCKETS; i++)
        for (struct mark *m = x->marks[i]; m; m = m->next)
            m->stored = false;
    return x->fresh ? NULL
                    : sql_exec(x->tx->sql, "DELETE FROM mark WHERE no = $1", ARGS(INT(x->row.no)));
}

err marks_flush(struct exec *x)
{
    if (!execution_is_open(x->row.status))
        TRY(marks_drop(x));
    for (size_t i = 0; i < MARK_BUCKETS; i++)
        for (struct mark *m = x->marks[i]; m; m = m->next)
            TRY(mark_flush(x, m));
    return NULL;
}

static err step_flush(struct exec *x, struct step *s)
{
    if (!s->changed)
        return NULL;
    s->changed = false;
    if (!s->stored) {
        s->stored = true;
        return sql_exec(x->tx->sql, INSERT_INTO(step, STEP_COLUMNS), ARGS(VALUES(STEP_COLUMNS, s)));
    }
    return sql_exec(x->tx->sql,
                    "UPDATE step SET " SET_STORED(STEP_COLUMNS) " WHERE no = $1 AND node = $9",
                    ARGS(INT(s->no), STORED_VALUES(STEP_COLUMNS, s) TEXT(s->node)));
}
_Static_assert(STORED_COUNT(STEP_COLUMNS) == 7, "the rest of its key is parameter 9");

/* Variables change with most moves, so that they go into the same statement. */
static err execution_store(struct exec *x)
{
    const struct execution *e = &x->row;

    if (x->vars_changed)
        return sql_exec(x->tx->sql,
                        "UPDATE execution SET " SET_STORED(EXECUTION_LISTED) ", vars = $15"
                                                                             " WHERE no = $1",
                        ARGS(INT(e->no), STORED_VALUES(EXECUTION_LISTED, e) TEXT(e->vars)));
    return sql_exec(x->tx->sql,
                    "UPDATE execution SET " SET_STORED(EXECUTION_LISTED) " WHERE no = $1",
                    ARGS(INT(e->no), STORED_VALUES(EXECUTION_LISTED, e)));
}
_Static_assert(STORED_COUNT(EXECUTION_LISTED) == 13, "variables are parameter 15");

/* What indexes have is left alone by most moves: writing it would write their entries anew. */
static err execution_flush(struct exec *x)
{
    struct execution *e = &x->row;

    if (x->vars_changed)
        e->vars = json_printed(x->tx->arena, &x->vars);
    e->updated_at_ms = x->tx->now_ms;
    if (x->fresh)
        return sql_exec(x->tx->sql, INSERT_INTO(execution, EXECUTION_COLUMNS),
                        ARGS(VALUES(EXECUTION_COLUMNS, e)));
    if (e->status == x->was && !x->result_changed)
        return execution_store(x);
    return sql_exec(x->tx->sql, "UPDATE execution SET " SET_ALL(EXECUTION_COLUMNS) " WHERE no = $1",
                    ARGS(INT(e->no), ALL_VALUES(EXECUTION_COLUMNS, e)));
}

static void write_moves(struct exec *x, struct json_writer *w)
{
    write_begin(w, STR("moves"), '[');
    for (int64_t i = 0; i < x->moved && i < MOVES_SHOWN; i++) {
        json_write_begin(w, '[');
        json_write_str(w, x->moves[i].node);
        json_write_str(w, str_from(x->moves[i].what));
        json_write_int(w, x->moves[i].n);
        json_write_end(w, ']');
    }
    json_write_end(w, ']');
    if (x->moved > MOVES_SHOWN)
        write_int(w, STR("moved"), x->moved);
    if (x->job_count)
        write_texts(w, STR("jobs"), x->jobs, x->job_count);
}

/* One event for what a command did: that it began, moved or ended; only one that does both in one has
 * two. */
static err exec_emit(struct exec *x, enum event_type type, bool moves)
{
    struct event_writer data;
    struct json_writer *w = event_begin(x->tx, &data);

    write_text(w, STR("workflow"), x->row.workflow);
    write_text(w, STR("status"), team_name(&execution_words, (int)x->row.status));
    if (x->row.reason.len)
        write_text(w, STR("reason"), x->row.reason);
    if (type == EVENT_EXECUTION_STARTED) {
        write_int(w, STR("version"), x->row.version);
        write_or_null(w, STR("business_key"), x->row.business_key);
        write_text(w, STR("workflow_state_id"), x->row.state_id);
    }
    if (moves)
        write_moves(x, w);
    return event_end(x->tx, &data, (struct event){ .type = type, .subject = x->row.id }, NULL);
}

static err exec_tell(struct exec *x, bool ended)
{
    if (x->fresh)
        TRY(exec_emit(x, EVENT_EXECUTION_STARTED, true));
    if (ended)
        return exec_emit(x, EVENT_EXECUTION_ENDED, !x->fresh);
    return x->fresh ? NULL : exec_emit(x, EVENT_EXECUTION_MOVED, true);
}

/* Tokens are conserved, whatever a definition does. */
static void exec_check(struct exec *x)
{
    const struct execution *e = &x->row;

    assert(e->live >= 0 && e->agenda >= 0 && e->next_n - 1 >= e->gone + e->live);
    assert(execution_is_open(e->status) || (e->live == 0 && e->agenda == 0));
    assert(execution_is_open(e->status) == (e->ended_at_ms == 0));
}

err exec_close(struct exec *x, struct execution *out)
{
    bool ended = !execution_is_open(x->row.status);

    exec_check(x);
    if (x->fresh)
        TRY(document_new(x));
    else
        TRY(document_render(x));
    TRY(marks_flush(x));
    for (uint16_t i = 0; i < x->graph->step_count; i++)
        TRY(step_flush(x, &x->steps[i]));
    TRY(execution_flush(x));
    TRY(exec_tell(x, ended));
    x->was = x->row.status;
    x->fresh = false;
    if (x->row.agenda && x->row.status == EXECUTION_RUNNING && !x->row.halted)
        TRY(due_add(x->tx, x->tx->now_ms, DUE_EXECUTION_GO,
                    arena_printf(x->tx->arena, "%lld", (long long)x->row.no), 0));
    if (ended && team_rules_of(x->tx)->execution_retention_ms)
        TRY(due_add(x->tx, x->tx->now_ms + team_rules_of(x->tx)->execution_retention_ms,
                    DUE_RETAIN_EXECUTION, arena_printf(x->tx->arena, "%lld", (long long)x->row.no),
                    0));
    *out = x->row;
    return NULL;
}
