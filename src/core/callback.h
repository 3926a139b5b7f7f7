/* callback.h: how a session's cycle ends, and how its parent hears of it.
 *
 * Two phases: the work, and then the update of the state that the work owes. Only
 * when that was done, or could not be had after counted attempts, has the cycle
 * settled, and a callback is on its way to the parent. The decision is one table:
 * what the session owes × what has happened → what follows.
 *
 * A parent takes its callbacks as a turn of its own, all that wait at once, when it
 * is not busy. A parent that somebody outside started is not resumed from here: it
 * gets them with the answer to its next event. */
#ifndef CORE_CALLBACK_H
#define CORE_CALLBACK_H

#include "core/run.h"

struct callback {
    str id, parent_id, child_id, child_name;
    int64_t cycle;
    int64_t seq; /* of the event that the child settled: their order */
    enum callback_status status;
    str run_id; /* that carries it; or a waker's id: see wake.h */
    enum session_status child_status;
    enum update_status update;
    int64_t state_version; /* 0: there is no state */
    str error;
    int64_t created_at_ms, delivered_at_ms;
};

/* The table `callback`: see columns.h. */
// clang-format off
#define CALLBACK_COLUMNS(X, c)                       \
    X(callback_id,   TEXT, INSERT, c->id)            \
    X(parent_id,     TEXT, INSERT, c->parent_id)     \
    X(child_id,      TEXT, INSERT, c->child_id)      \
    X(child_name,    TEXT, INSERT, c->child_name)    \
    X(cycle,         INT,  INSERT, c->cycle)         \
    X(seq,           INT,  INSERT, c->seq)           \
    X(status,        WORD, STORE,  c->status)        \
    X(run_id,        TEXT, STORE,  c->run_id)        \
    X(child_status,  WORD, INSERT, c->child_status)  \
    X(update_status, WORD, INSERT, c->update)        \
    X(state_version, INT,  INSERT, c->state_version) \
    X(error,         TEXT, INSERT, c->error)         \
    X(created_at,    TIME, INSERT, c->created_at_ms) \
    X(delivered_at,  TIME, STORE,  c->delivered_at_ms)
#define CALLBACK_NAMES COLUMNS(CALLBACK_COLUMNS)
// clang-format on

/* ---- consequences: see consequence.h ---- */

err callback_after_run(struct tx *tx, const struct event *e);      /* run_finished */
err callback_after_start(struct tx *tx, const struct event *e);    /* run_started */
err callback_after_update(struct tx *tx, const struct event *e);   /* a state was written */
err callback_after_settled(struct tx *tx, const struct event *e);  /* session_settled */
err callback_after_approval(struct tx *tx, const struct event *e); /* approval_resolved */

/* ---- the cheap way: a stop that is reported while the agent can still go on ---- */

struct stop_advice {
    bool block; /* the agent must not stop yet */
    str prompt; /* what it has to do first */
    int64_t attempt;
    size_t callbacks; /* that the prompt tells of; 0: it asks for what is owed */
};

/* A session says that it stops: the end of the turn, for one that nobody here started; for one that
 * runs here, a chance to pay what it owes in the same turn. Each stop while the update is pending
 * is an attempt that failed. Callbacks come first: an attended session that some wait for has not
 * heard all, and goes on with them. */
err callback_on_stop(struct tx *tx, struct session *s, str error, struct stop_advice *out);

/* The client of an attended session has ended, and can be asked for nothing any more: its cycle
 * settles, whatever its children do. What it owes and has not paid has failed. */
err callback_on_end(struct tx *tx, struct session *s);

/* The same, said by what stands between the client and us, which may end before it: where hooks of
 * the client speak for the session, theirs is the word. */
err callback_on_bridge_end(struct tx *tx, struct session *s);

/* A session that speaks through the actor's token says that it has written their state by it. Where
 * the actor has made a version that was not counted yet, what it was asked for is paid. */
err callback_on_write(struct tx *tx, struct session *s);

/* It has recorded the result of the step that it works for: what it owes is paid. */
err callback_on_record(struct tx *tx, struct session *s);

/* Changes the status of one; `carrier` is the run, or the waker, that has it now. */
err callback_become(struct tx *tx, struct callback *c, enum callback_status to, str carrier);

/* It has arrived at its parent: delivered, and callback_delivered is emitted. */
err callback_arrived(struct tx *tx, struct callback *c);

/* Whether callbacks wait for a parent. */
err callback_waits(struct tx *tx, str parent_id, bool *out);

/* Callbacks that wait for an attended parent: they are delivered by being given. One text. */
err callback_take(struct tx *tx, struct session *parent, str *text, size_t *count);

/* The same with the messages that wait for it, or only those that would wake it. */
err news_take(struct tx *tx, struct session *s, bool waking, str *text, size_t *count);

/* Whether there is any of it. */
err news_waits(struct tx *tx, str session_id, bool *out);

/* Stops a session and all below it: their runs, and their cycles settle as stopped. The children
 * are stopped by and by: see callback_due_stop. */
err callback_stop_tree(struct tx *tx, struct session *s, str why);

due_run callback_due_stop, /* the next children of a session that was stopped */
    callback_due_lease,    /* a token's holder was not heard: it is revoked, and its session ends */
    callback_due_update,  /* an attended session was asked for its update and does not stop again */
    callback_due_deliver; /* callbacks wait, and the turn that carried them did not begin */

#endif
