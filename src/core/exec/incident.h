/* incident.h: what an execution cannot go on with, until a person has helped. */
#ifndef CORE_EXEC_INCIDENT_H
#define CORE_EXEC_INCIDENT_H

#include "core/exec/execution.h"

struct incident {
    str id;
    int64_t no, scope, n; /* the mark that it stops; n 0: none, the execution as a whole */
    str execution_id, workflow;
    str node;
    str kind;    /* expression, choice, items, command, marks, attempts, error, loop, stalled */
    str message; /* what was expected, what was found, what to do */
    enum incident_status status;
    int64_t raised_at_ms, resolved_at_ms;
    str resolved_by;
};

/* The table `incident`: see columns.h. */
// clang-format off
#define INCIDENT_COLUMNS(X, i)                           \
    X(incident_id,  TEXT, INSERT, i->id)                 \
    X(no,           INT,  INSERT, i->no)                 \
    X(scope,        INT,  INSERT, i->scope)              \
    X(n,            INT,  INSERT, i->n)                  \
    X(execution_id, TEXT, INSERT, i->execution_id)       \
    X(workflow,     TEXT, INSERT, i->workflow)           \
    X(node,         TEXT, INSERT, i->node)               \
    X(kind,         TEXT, INSERT, i->kind)               \
    X(message,      TEXT, INSERT, i->message)            \
    X(status,       WORD, STORE,  i->status)             \
    X(raised_at,    TIME, INSERT, i->raised_at_ms)       \
    X(resolved_at,  TIME, STORE,  i->resolved_at_ms)     \
    X(resolved_by,  TEXT, STORE,  i->resolved_by)
#define INCIDENT_NAMES COLUMNS(INCIDENT_COLUMNS)
// clang-format on

struct incident_filter {
    str execution_id, status, after; /* by id */
    int64_t limit;
};
err incident_list(struct tx *tx, const struct incident_filter *f, const struct incident **out,
                  size_t *count);
err incident_get(struct tx *tx, str id, struct incident *out);

/* Sets variables (NULL: none), and lets the execution go on where it stopped. Again: nothing. */
err incident_resolve(struct tx *tx, str id, const struct json *variables, struct incident *out,
                     struct execution *e);

#endif
