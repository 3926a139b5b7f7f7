/* incident.c: what an execution cannot go on with. */
#include <assert.h>

#include "core/columns.h"
#include "core/exec/private.h"

static err incident_emit(struct exec *x, enum event_type type, const struct incident *i)
{
    struct event_writer data;
    struct json_writer *w = event_begin(x->tx, &data);

    write_text(w, STR("incident_id"), i->id);
    write_text(w, STR("workflow"), i->workflow);
    write_or_null(w, STR("step"), i->node);
    write_text(w, STR("kind"), i->kind);
    write_text(w, STR("message"), i->message);
    return event_end(x->tx, &data, (struct event){ .type = type, .subject = i->execution_id },
                     NULL);
}

err incident_raise(struct exec *x, struct mark *m, enum mark_status again, const char *kind,
                   str message)
{
    struct incident i = {
        .id = tx_id(x->tx, "inc_"),
        .no = x->row.no,
        .scope = m ? m->scope : 0,
        .n = m ? m->n : 0,
        .execution_id = x->row.id,
        .workflow = x->row.workflow,
        .node = m ? m->node : STR(""),
        .kind = str_from(kind),
        .message = message,
        .status = INCIDENT_OPEN,
        .raised_at_ms = x->tx->now_ms,
    };

    if (m)
        exec_move(x, m, "incident");
    if (m && again != MARK_STATUS_COUNT) {
        mark_rest(x, m, MARK_INCIDENT);
        m->again = again;
    }
    x->row.incidents++;
    TRY(sql_exec(x->tx->sql, INSERT_INTO(incident, INCIDENT_COLUMNS),
                 ARGS(VALUES(INCIDENT_COLUMNS, (&i)))));
    return incident_emit(x, EVENT_INCIDENT_RAISED, &i);
}

err incident_end(struct exec *x, struct incident *i)
{
    i->status = INCIDENT_RESOLVED;
    i->resolved_at_ms = x->tx->now_ms;
    i->resolved_by = x->tx->actor->name;
    x->row.incidents--;
    assert(x->row.incidents >= 0);
    TRY(sql_exec(x->tx->sql,
                 "UPDATE incident SET " SET_STORED(INCIDENT_COLUMNS) " WHERE incident_id = $1",
                 ARGS(TEXT(i->id), STORED_VALUES(INCIDENT_COLUMNS, i))));
    return incident_emit(x, EVENT_INCIDENT_RESOLVED, i);
}

err incidents_end(struct exec *x, const struct mark *m)
{
    const struct row *rows;
    size_t count;

    if (!x->row.incidents)
        return NULL;
    TRY(sql_all(x->tx->sql, &rows, &count,
                "SELECT " INCIDENT_NAMES " FROM incident WHERE no = $1 AND status = 'open'"
                " AND ($2 = 0 OR n = $2) ORDER BY incident_id",
                ARGS(INT(x->row.no), INT(m ? m->n : 0))));
    for (size_t k = 0; k < count; k++) {
        struct incident i;
        COLUMNS_READ(INCIDENT_COLUMNS, x->tx, &rows[k], "incident", (&i));
        TRY(incident_end(x, &i));
    }
    return NULL;
}
