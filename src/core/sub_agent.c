/* sub_agent.c: which phase an agent inside of a client does. */
#include "core/sub_agent.h"

#include "core/columns.h"
#include "core/exec/documents.h"

enum { MARKS_MAX = 1000 };

/* ---- rows ---- */

static err sub_agent_store(struct tx *tx, const struct sub_agent *g)
{
    return sql_exec(
        tx->sql,
        INSERT_INTO(
            sub_agent,
            SUB_AGENT_COLUMNS) " ON CONFLICT (session_id, agent_id) DO UPDATE SET"
                               " agent = excluded.agent, execution_id = excluded.execution_id,"
                               " phase = excluded.phase, started_at = excluded.started_at,"
                               " ended_at = excluded.ended_at",
        ARGS(VALUES(SUB_AGENT_COLUMNS, g)));
}

err sub_agent_find(struct tx *tx, str session_id, str agent_id, struct sub_agent *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " SUB_AGENT_NAMES " FROM sub_agent"
                " WHERE agent_id = $2 AND ended_at = 0 AND ($1 = '' OR session_id = $1)"
                " ORDER BY session_id LIMIT 1",
                ARGS(TEXT(session_id), TEXT(agent_id))));
    *found = row;
    if (row)
        COLUMNS_READ(SUB_AGENT_COLUMNS, tx, row, "session", out);
    return NULL;
}

err sub_agent_list(struct tx *tx, str session_id, bool ended, struct sub_agent **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " SUB_AGENT_NAMES " FROM sub_agent"
                " WHERE session_id = $1 AND (ended_at > 0) = ($2 = 1)"
                " ORDER BY started_at, agent_id",
                ARGS(TEXT(session_id), INT(ended))));
    *out = arena_zero(tx->arena, (*count + 1) * sizeof **out);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(SUB_AGENT_COLUMNS, tx, &rows[i], "session", (&(*out)[i]));
    return NULL;
}

err sub_agent_ended(struct tx *tx, struct sub_agent *g)
{
    g->ended_at_ms = tx->now_ms;
    return sub_agent_store(tx, g);
}

err sub_agent_told(struct tx *tx, str session_id)
{
    return sql_exec(tx->sql, "DELETE FROM sub_agent WHERE session_id = $1 AND ended_at > 0",
                    ARGS(TEXT(session_id)));
}

/* ---- its phase ---- */

err session_phases(struct tx *tx, const struct session *s, bool ended, struct execution *out,
                   bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " EXECUTION_NAMES " FROM execution"
                " WHERE root_id = $1 AND root_id <> '' AND session_id = $2"
                " AND kind = 'phases' AND (open = 1 OR $3 = 1)"
                " ORDER BY open DESC, no DESC LIMIT 1",
                ARGS(TEXT(s->root_id), TEXT(s->id), INT(ended))));
    *found = row;
    *out = (struct execution){ .no = 0 };
    if (row)
        COLUMNS_READ(EXECUTION_COLUMNS, tx, row, "execution", out);
    return NULL;
}

static bool is_agent_of(const struct graph_step *step, str agent)
{
    for (size_t i = 0; i < step->agent_count; i++)
        if (str_eq(step->agents[i], agent))
            return true;
    return false;
}

/* Whether a phase is at work, or may begin. */
static bool may_be_done(const struct execution *e, const struct graph *g,
                        const struct graph_step *step, const struct mark *marks, size_t count)
{
    const struct graph_node *node = &g->nodes[step->node];
    bool begins = e->status == EXECUTION_RUNNING && !e->failing;

    if (!node->work || node->work->by != WORK_REPORT || node->loop)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!marks[i].scope && str_eq(marks[i].node, node->id) &&
            (marks[i].status == MARK_WORK || (begins && marks[i].status == MARK_READY)))
            return true;
    return false;
}

static bool has_other(const struct sub_agent *at_work, size_t count, str execution_id, str phase)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(at_work[i].execution_id, execution_id) && str_eq(at_work[i].phase, phase))
            return true;
    return false;
}

/* NULL: there is none for it. */
static err phase_find(struct tx *tx, const struct session *s, const struct execution *e, str agent,
                      str phase, const struct graph_step **out)
{
    const struct workflow_program *program;
    struct sub_agent *at_work;
    struct mark *marks;
    size_t mark_count, count;

    *out = NULL;
    err gone = workflow_program(tx, e->workflow, e->version, e->digest, &program);
    if (gone)
        return gone->kind == ERR_CONFLICT || gone->kind == ERR_NOT_FOUND ? NULL : gone;
    TRY(execution_marks(tx, e, MARKS_MAX, &marks, &mark_count));
    TRY(sub_agent_list(tx, s->id, false, &at_work, &count));
    const struct graph *g = program->graph;
    for (uint16_t i = 0; i < g->step_count && !*out; i++)
        if ((!phase.len || str_eq(g->steps[i].id, phase)) && is_agent_of(&g->steps[i], agent) &&
            may_be_done(e, g, &g->steps[i], marks, mark_count) &&
            !has_other(at_work, count, e->id, g->steps[i].id))
            *out = &g->steps[i];
    return NULL;
}

err sub_agent_begin(struct tx *tx, const struct session *s, str agent_id, str agent, str phase,
                    struct sub_agent *out, bool *tied)
{
    const struct graph_step *step;
    struct execution e;

    *tied = false;
    if (!agent_id.len || agent_id.len > SUB_AGENT_WORD_MAX || !agent.len ||
        agent.len > SUB_AGENT_WORD_MAX)
        return NULL;
    TRY(sub_agent_find(tx, s->id, agent_id, out, tied));
    if (*tied)
        return NULL;
    TRY(session_phases(tx, s, false, &e, tied));
    if (!*tied)
        return NULL;
    TRY(phase_find(tx, s, &e, agent, phase, &step));
    *tied = step;
    if (!step)
        return NULL;
    *out = (struct sub_agent){ .session_id = s->id,
                               .agent_id = agent_id,
                               .agent = agent,
                               .execution_id = e.id,
                               .phase = step->id,
                               .started_at_ms = tx->now_ms };
    struct step_told begins = { .step = step->id, .status = STEP_IN_PROGRESS };
    TRY(execution_tell(tx, e.id, &begins, &e));
    return sub_agent_store(tx, out);
}

err sub_agent_move(struct tx *tx, struct sub_agent *g, str phase)
{
    struct sub_agent *at_work;
    size_t count;

    TRY(sub_agent_list(tx, g->session_id, false, &at_work, &count));
    for (size_t i = 0; i < count; i++) {
        if (!str_eq(at_work[i].execution_id, g->execution_id) || !str_eq(at_work[i].phase, phase))
            continue;
        at_work[i].phase = g->phase;
        TRY(sub_agent_store(tx, &at_work[i]));
    }
    g->phase = phase;
    return sub_agent_store(tx, g);
}
