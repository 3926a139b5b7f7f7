/* sub_agent.h: agents inside of a client's process that do phases of a workflow.
 *
 * A client that starts one tells of its start and of its end. One whose type is the agent of a phase of
 * its session's newest open workflow of phases is tied to that phase from its start to its end: the
 * lowest that is not done, may start, and has no other at work. One that finds none is tied to nothing,
 * and nothing is kept of it. What has ended is kept until whoever has started it was told.
 *
 * Does not know what clients tell, nor what is said to them: see ops/hooks_agent.c. */
#ifndef CORE_SUB_AGENT_H
#define CORE_SUB_AGENT_H

#include "core/exec/execution.h"
#include "core/session.h"

enum {
    SUB_AGENT_WORD_MAX = 100
}; /* bytes of an id or a type; a longer one is none of a client's */

struct sub_agent {
    str session_id;
    str agent_id; /* as its client calls it */
    str agent;    /* its type */
    str execution_id;
    str phase;
    int64_t started_at_ms;
    int64_t ended_at_ms; /* 0: it is at work */
};

/* The table `sub_agent`: see columns.h. */
// clang-format off
#define SUB_AGENT_COLUMNS(X, g)                     \
    X(session_id,   TEXT, INSERT, g->session_id)    \
    X(agent_id,     TEXT, INSERT, g->agent_id)      \
    X(agent,        TEXT, STORE,  g->agent)         \
    X(execution_id, TEXT, STORE,  g->execution_id)  \
    X(phase,        TEXT, STORE,  g->phase)         \
    X(started_at,   TIME, STORE,  g->started_at_ms) \
    X(ended_at,     TIME, STORE,  g->ended_at_ms)
#define SUB_AGENT_NAMES COLUMNS(SUB_AGENT_COLUMNS)
// clang-format on

/* The newest open workflow of phases that a session has, or, where there is none and `ended` is true too,
 * the newest of all; `found` is false when there is none. */
err session_phases(struct tx *tx, const struct session *s, bool ended, struct execution *out,
                   bool *found);

/* One has started: its phase, the lowest that fits or the one that is named, begins, unless it has begun
 * already. `tied` is false when there is none for it; one that is at work stays with its phase. */
err sub_agent_begin(struct tx *tx, const struct session *s, str agent_id, str agent, str phase,
                    struct sub_agent *out, bool *tied);

/* One that is at work does another phase of the same workflow, as it turns out: whoever was tied to that
 * does the one that it leaves. */
err sub_agent_move(struct tx *tx, struct sub_agent *g, str phase);

/* Those at work, or those that have ended, by their starts. */
err sub_agent_list(struct tx *tx, str session_id, bool ended, struct sub_agent **out,
                   size_t *count);

/* One that is at work, of a session, or (empty) of any. */
err sub_agent_find(struct tx *tx, str session_id, str agent_id, struct sub_agent *out, bool *found);

/* It has ended; what became of its phase is to be told. */
err sub_agent_ended(struct tx *tx, struct sub_agent *g);

/* Whoever has started them knows of all that have ended. */
err sub_agent_told(struct tx *tx, str session_id);

#endif
