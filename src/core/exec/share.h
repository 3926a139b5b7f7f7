/* share.h: what an agent does of an attempt of a step.
 *
 * A step of one agent has one share for each attempt. Of several agents each has its own: one after the
 * other, where each is given what those before it have recorded and the last record is the step's; or
 * all at once, and then one more of the first agent, which is given all their results and records the
 * outputs. A share is a session of its own with a run of purpose task. Where a limit of sessions leaves
 * no room for it, it waits for its turn.
 *
 * What a session is to record stands in session.task, a printed JSON object: {"workflow_id", "step",
 * "share", "outputs": [names], "tool"}; so the rules of sessions need not know executions. */
#ifndef CORE_EXEC_SHARE_H
#define CORE_EXEC_SHARE_H

#include "core/exec/execution.h"

struct share {
    int64_t no, n, number; /* the mark that it is of; 1, 2 … */
    int64_t scope;         /* of the mark */
    int64_t attempt;       /* of the mark's work */
    str agent;
    str session_name,
        session_id; /* while it waits for its turn: what it is to be called, and empty */
    enum share_status status;
    str task; /* its session's, see above */
    str prompt;
    str outputs; /* what it has recorded, a printed JSON object; empty: nothing yet */
    str error;
    int64_t seq;           /* its turn among those that wait */
    int64_t waited;        /* rate limits that its session has met */
    int64_t not_before_ms; /* of one that waits: when that may be over; 0: at its turn */
    int64_t started_at_ms, ended_at_ms;
};

/* The table `share`: see columns.h. */
// clang-format off
#define SHARE_COLUMNS(X, s)                       \
    X(no,           INT,      INSERT, s->no)      \
    X(n,            INT,      INSERT, s->n)       \
    X(number,       INT,      INSERT, s->number)  \
    X(scope,        INT,      INSERT, s->scope)   \
    X(attempt,      INT,      INSERT, s->attempt) \
    X(agent,        TEXT,     INSERT, s->agent)   \
    X(session_name, TEXT,     STORE,  s->session_name) \
    X(session_id,   TEXT,     STORE,  s->session_id)   \
    X(status,       WORD,     STORE,  s->status)       \
    X(task,         JSON,     INSERT, s->task)         \
    X(prompt,       TEXT,     INSERT, s->prompt)       \
    X(outputs,      NULLABLE, STORE,  s->outputs)      \
    X(error,        TEXT,     STORE,  s->error)        \
    X(seq,          INT,      STORE,  s->seq)          \
    X(waited,       INT,      STORE,  s->waited)       \
    X(not_before,   DEADLINE, STORE,  s->not_before_ms) \
    X(started_at,   TIME,     STORE,  s->started_at_ms) \
    X(ended_at,     TIME,     STORE,  s->ended_at_ms)
#define SHARE_NAMES COLUMNS(SHARE_COLUMNS)
// clang-format on

/* Those of an execution, or (n) of one mark of it, in their order. They go when the attempt is over, and
 * are history then: "sessions" in step.data. */
err share_list(struct tx *tx, int64_t no, int64_t n, struct share **out, size_t *count);

/* The one that a session works on. */
err share_of_session(struct tx *tx, str session_id, struct share *out, bool *found);

/* Agents of a definition that nobody knows, each in a sentence: their steps wait for a report. */
err share_unknown_agents(struct tx *tx, const struct execution *e, const struct graph *g, str **out,
                         size_t *count);

/* What an agent says of the step that its session works for. */
struct share_record {
    str execution_id, step; /* what it believes that to be; empty: it does not say */
    bool failed;
    bool more; /* only a part of it: it will say when it is done */
    str error;
    const struct json *outputs; /* an object; NULL: {} */
};

/* Keeps it as the share's, and what the session owes is paid; the execution goes on when the session has
 * settled. Again, before that: what was said last holds. UNFIT when outputs are missing, naming them;
 * CONFLICT when its session works for no step (any more), or for another one. */
err share_put_record(struct tx *tx, const struct share_record *r, struct execution *out);

/* Whether the actor is a session that works for a step of this execution: then its word of it is a
 * record. */
err share_is_worker(struct tx *tx, str execution_id, bool *out);

/* ---- consequences: see consequence.h ---- */

err share_after_started(struct tx *tx, const struct event *e); /* run_started: its time runs */
err share_after_settled(struct tx *tx,
                        const struct event *e); /* session_settled: it is over, or the
                                                                * next one has room */

due_run share_due_turn;

#endif
