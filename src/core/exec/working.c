/* working.c: an execution in the hands of a command: its marks and steps in memory, and back into rows. */
#include <assert.h>

#include "core/columns.h"
#include "core/exec/private.h"
#include "core/stored.h"

/* ---- marks in memory ---- */

static struct mark **bucket(struct exec *x, int64_t n)
{
    return &x->marks[(size_t)n % MARK_BUCKETS];
}

static struct mark *mark_known(struct exec *x, int64_t n)
{
    struct mark *m = *bucket(x, n);

    while (m && m->n != n)
        m = m->next;
    return m;
}

static void mark_add(struct exec *x, struct mark *m)
{
    struct mark **b = bucket(x, m->n);

    m->next = *b;
    *b = m;
    x->known++;
}

/* From a row, in the words of the graph. */
static err mark_read(struct exec *x, const struct row *row, struct mark **out)
{
    struct mark *m = ARENA_NEW(x->tx->arena, struct mark);

    COLUMNS_READ(MARK_COLUMNS, x->tx, row, "mark", m);
    *out = mark_known(x, m->n);
    if (*out)
        return NULL;
    m->at = graph_node_find(x->graph, m->node);
    m->by = m->via.len ? graph_flow_find(x->graph, m->via) : GRAPH_NONE;
    m->stored = true;
    if (m->at == GRAPH_NONE)
        return stored_damage(x->tx, THING("execution", x->row.id),
                             "it has a mark at a node that its definition has not");
    mark_add(x, m);
    *out = m;
    return NULL;
}

err mark_find(struct exec *x, int64_t scope, int64_t n, struct mark **out)
{
    const struct row *row;

    *out = mark_known(x, n);
    if (*out) {
        if ((*out)->dead || (*out)->scope != scope)
            *out = NULL;
        return NULL;
    }
    TRY(sql_one(x->tx->sql, &row,
                "SELECT " MARK_NAMES " FROM mark WHERE no = $1 AND scope = $2 AND n = $3",
                ARGS(INT(x->row.no), INT(scope), INT(n))));
    return row ? mark_read(x, row, out) : NULL;
}

static err marks_read(struct exec *x, const struct row *rows, size_t count)
{
    struct mark *m;

    for (size_t i = 0; i < count; i++)
        TRY(mark_read(x, &rows[i], &m));
    return NULL;
}

err marks_know(struct exec *x, int64_t scope)
{
    const struct row *rows;
    size_t count;

    if (x->fresh || x->all_known)
        return NULL;
    TRY(sql_all(x->tx->sql, &rows, &count,
                "SELECT " MARK_NAMES " FROM mark WHERE no = $1 AND scope = $2 ORDER BY n",
                ARGS(INT(x->row.no), INT(scope))));
    return marks_read(x, rows, count);
}

err marks_know_all(struct exec *x)
{
    const struct row *rows;
    size_t count;

    if (x->fresh || x->all_known)
        return NULL;
    TRY(sql_all(x->tx->sql, &rows, &count,
                "SELECT " MARK_NAMES " FROM mark WHERE no = $1 ORDER BY scope, n",
                ARGS(INT(x->row.no))));
    x->all_known = true;
    return marks_read(x, rows, count);
}

/* Numbers that follow each other are in buckets that do: most often the next one is found at once, in an
 * order that makes it the lowest. */
struct mark *mark_after(struct exec *x, int64_t after)
{
    struct mark *lowest = NULL;

    for (int64_t n = after + 1; n <= after + MARK_BUCKETS; n++)
        for (struct mark *m = *bucket(x, n); m; m = m->next) {
            if (m->dead || m->n <= after)
                continue;
            if (m->n == n)
                return m;
            if (!lowest || m->n < lowest->n)
                lowest = m;
        }
    return lowest;
}

static void place(struct exec *x, struct mark *m, uint16_t node, uint16_t via)
{
    m->at = node;
    m->by = via;
    m->node = x->graph->nodes[node].id;
    m->via = via == GRAPH_NONE ? STR("") : x->graph->flows[via].id;
}

struct mark *mark_new(struct exec *x, int64_t scope, uint16_t node, uint16_t via)
{
    struct mark *m = ARENA_NEW(x->tx->arena, struct mark);

    *m = (struct mark){ .no = x->row.no,
                        .scope = scope,
                        .n = x->row.next_n++,
                        .item = -1,
                        .changed = true,
                        .since_ms = x->tx->now_ms };
    place(x, m, node, via);
    if (!scope)
        x->row.live++;
    mark_add(x, m);
    return m;
}

/* It is taken off the agenda by whoever comes to it there. */
void mark_place(struct exec *x, struct mark *m, uint16_t node, uint16_t via)
{
    place(x, m, node, via);
    m->changed = true;
}

void mark_gone(struct exec *x, struct mark *m)
{
    assert(!m->dead);
    if (m->todo)
        x->row.agenda--;
    m->todo = 0;
    m->dead = m->changed = true;
    x->row.gone++;
    if (!m->scope)
        x->row.live--;
}

void mark_todo(struct exec *x, struct mark *m, enum mark_status what)
{
    assert(!m->dead && !m->todo && what <= MARK_PROVE);
    m->status = what;
    m->todo = ++x->row.turn;
    m->since_ms = x->tx->now_ms;
    m->changed = true;
    x->row.agenda++;
    m->follows = NULL;
    *x->last = m;
    x->last = &m->follows;
}

void mark_rest(struct exec *x, struct mark *m, enum mark_status how)
{
    assert(!m->dead && how > MARK_PROVE);
    if (m->todo)
        x->row.agenda--;
    m->todo = 0;
    m->status = how;
    m->since_ms = x->tx->now_ms;
    m->changed = true;
}

void exec_moved(struct exec *x, str node, const char *what, int64_t n)
{
    if (x->moved < MOVES_SHOWN)
        x->moves[x->moved] = (struct move){ node, what, n };
    x->moved++;
}

void exec_move(struct exec *x, const struct mark *m, const char *what)
{
    exec_moved(x, m->node, what, m->n);
}

void mark_hold(struct exec *x, struct mark *m)
{
    exec_move(x, m, "held");
    mark_rest(x, m, MARK_HELD);
}

void exec_told(struct exec *x)
{
    x->row.spin = 0;
}

/* ---- times ---- */

/* Of what is due at once, the lowest n comes first: as texts sort. */
str mark_subject(struct tx *tx, const struct mark *m)
{
    return arena_printf(tx->arena, "%lld/%09lld/%lld", (long long)m->no, (long long)m->n,
                        (long long)m->scope);
}

err mark_timer(struct exec *x, struct mark *m, int64_t at_ms)
{
    if (at_ms == m->timer_ms)
        return NULL;
    m->timer_ms = at_ms;
    m->changed = true;
    return at_ms ? due_add(x->tx, at_ms, DUE_MARK_TIME, mark_subject(x->tx, m), m->attempt)
                 : due_drop(x->tx, DUE_MARK_TIME, mark_subject(x->tx, m));
}

/* ---- steps ---- */

static err steps_read(struct exec *x)
{
    const struct row *rows;
    size_t count;

    x->steps = arena_zero(x->tx->arena, x->graph->step_count * sizeof *x->steps);
    for (uint16_t i = 0; i < x->graph->step_count; i++)
        x->steps[i] =
            (struct step){ .no = x->row.no, .node = x->graph->steps[i].id, .data = STR("{}") };
    if (x->fresh)
        return NULL;
    TRY(sql_all(x->tx->sql, &rows, &count,
                "SELECT " STEP_NAMES " FROM step WHERE no = $1 ORDER BY node",
                ARGS(INT(x->row.no))));
    for (size_t i = 0; i < count; i++) {
        struct step s = { .stored = true };
        COLUMNS_READ(STEP_COLUMNS, x->tx, &rows[i], "step", (&s));
        uint16_t at = graph_step_find(x->graph, s.node);
        if (at == GRAPH_NONE)
            return stored_damage(x->tx, THING("execution", x->row.id),
                                 "it has a step that its definition has not");
        x->steps[at] = s;
    }
    return NULL;
}

struct step *exec_step(struct exec *x, uint16_t step)
{
    assert(step < x->graph->step_count);
    return &x->steps[step];
}

struct step *step_of(struct exec *x, const struct mark *m)
{
    uint16_t step = x->graph->nodes[m->at].step;
    bool entry = step != GRAPH_NONE && x->graph->steps[step].node != m->at;

    return step == GRAPH_NONE || entry ? NULL : exec_step(x, step);
}

/* ---- taking up ---- */

/* What an earlier command has left on the agenda. */
static err agenda_read(struct exec *x)
{
    const struct row *rows;
    size_t count;

    if (!x->row.agenda)
        return NULL;
    TRY(sql_all(x->tx->sql, &rows, &count,
                "SELECT " MARK_NAMES " FROM mark WHERE no = $1 AND todo > 0 ORDER BY todo LIMIT $2",
                ARGS(INT(x->row.no), INT(x->row.agenda))));
    for (size_t i = 0; i < count; i++) {
        struct mark *m;
        TRY(mark_read(x, &rows[i], &m));
#ifdef PLANT_MOVER_ATTEMPT_TWICE
        m->attempt += m->status == MARK_BEGIN;
#endif
        *x->last = m;
        x->last = &m->follows;
    }
    if ((int64_t)count != x->row.agenda)
        return stored_damage(x->tx, THING("execution", x->row.id),
                             "its agenda is not as long as it says");
    return NULL;
}

err exec_open_marks(struct tx *tx, const struct execution *row, struct exec *x)
{
    const struct workflow_program *program;
    const struct json *vars;

    *x = (struct exec){ .tx = tx, .row = *row, .was = row->status, .fresh = !row->next_n };
    x->last = &x->first;
    TRY(workflow_program(tx, row->workflow, row->version, row->digest, &program));
    x->graph = program->graph;
    TRY(stored_parse_as(tx, THING("execution", row->id), row->vars, JSON_OBJECT, &vars));
    x->vars = *vars;
    x->vars_bytes = row->vars.len;
    if (x->fresh)
        x->row.next_n = 1;
    return NULL;
}

err exec_know(struct exec *x)
{
    if (x->steps)
        return NULL;
    TRY(steps_read(x));
    TRY(marks_know(x, 0));
    return agenda_read(x);
}

err exec_open(struct tx *tx, const struct execution *row, struct exec *x)
{
    TRY(exec_open_marks(tx, row, x));
    return exec_know(x);
}
