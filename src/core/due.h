/* due.h: everything that has a time.
 *
 * What must happen later is a row: when, what, and to whom. The server asks when
 * the next one falls and fires what is due as a command of its own, system.tick;
 * so does the simulator. A firing is a rule like others: it happens wholly or not
 * at all, at most once for each time, and time does not move within it.
 *
 * Does not know what a kind does: rules add rows here, so the files of rules stand
 * above this one, and whoever fires brings a table of what there is to call. */
#ifndef CORE_DUE_H
#define CORE_DUE_H

#include "core/tx.h"

// clang-format off
/*    what                how it is stored    what it does                                        */
#define DUE_KINDS(X)                                                                                \
    X(COMPACT_STATE,     "compact_state")  /* drops old versions of a state                     */  \
    X(PURGE_STATE,       "purge_state")    /* drops the history of a deleted one                */  \
    X(FORGET_KEYS,       "forget_keys")    /* drops old keys, tokens, commands; comes again    */  \
    X(MOVE_FLOOR,        "move_floor")     /* drops events that nobody can replay; comes again  */  \
    X(RUN_READY,         "run_ready")      /* lets a run into the queue                         */  \
    X(RUN_MATCH,         "run_match")      /* fails a run that no runner could take             */  \
    X(RUN_LEASE,         "run_lease")      /* gives a run back whose runner was not heard       */  \
    X(RUN_TIME,          "run_time")       /* ends a run that takes too long                    */  \
    X(RUN_STOP,          "run_stop")       /* takes a run for stopped                           */  \
    X(RUNNER_SILENT,     "runner_silent")  /* takes a runner for lost                           */  \
    X(SESSION_STOP,      "session_stop")   /* stops the next children of a session              */  \
    X(UPDATE_OVERDUE,    "update_overdue") /* counts an attempt of an attended session          */  \
    X(CALLBACK_DELIVER,  "callback_deliver") /* tries again to tell a parent                    */  \
    X(PERMISSION_EXPIRE, "permission_expire") /* refuses what nobody has decided                */  \
    X(APPROVAL_EXPIRE,   "approval_expire") /* decides as its definition says what nobody has     */  \
    X(SHARE_TURN,        "share_turn")     /* starts agents of steps that had to wait          */  \
    X(TOKEN_LEASE,       "token_lease")    /* revokes a token whose holder was not heard        */  \
    X(MEMBER_SILENT,     "member_silent")  /* takes a member for silent                         */  \
    X(WAKE_RETURN,       "wake_return")    /* offers again what a waker has taken in vain      */  \
    X(EXECUTION_GO,      "execution_go")   /* an execution goes on with its agenda              */  \
    X(MARK_TIME,         "mark_time")      /* an attempt took too long, or the next one begins  */  \
    X(JOB_LEASE,         "job_lease")      /* gives jobs back whose worker was not heard        */  \
    X(RETAIN_EXECUTION,  "retain_execution") /* deletes an execution that has ended             */  \
    X(WAKE_OFFER,        "wake_offer")     /* lets a runner wake whom nobody has woken          */  \
    X(WAKE_LEASE,        "wake_lease")     /* offers again what a runner has taken in vain     */  \
    X(RETAIN_STATE,      "retain_state")   /* deletes the state of a root that has ended        */  \
    X(RETAIN_TREE,       "retain_tree")    /* deletes sessions that have ended                  */

enum due_kind {
#define DUE_ENUM(id, name) DUE_##id,
    DUE_KINDS(DUE_ENUM)
#undef DUE_ENUM
    DUE_KIND_COUNT
};
// clang-format on

struct due {
    enum due_kind kind;
    str kind_name; /* as it is stored, also where there is no such kind; empty: no row */
    str subject;
    int64_t at_ms;
    int64_t arg;
};

/* The table `due`: see columns.h. */
// clang-format off
#define DUE_COLUMNS(X, d)                      \
    X(kind,    TEXT,     INSERT, d->kind_name) \
    X(subject, TEXT,     INSERT, d->subject)   \
    X(at,      DEADLINE, INSERT, d->at_ms)     \
    X(arg,     INT,      INSERT, d->arg)
#define DUE_NAMES COLUMNS(DUE_COLUMNS)
// clang-format on

/* Does one piece of the work, of at most about 1,000 rows, and adds the row again for the rest. */
typedef err due_run(struct tx *tx, const struct due *due);

struct due_work {
    due_run *run;
    bool recurs; /* there is always one, without a subject */
};

/* Has it fired at that time, or soon after. One that waits for the same subject is replaced. `arg`
 * is for the one who fires it. */
err due_add(struct tx *tx, int64_t at_ms, enum due_kind kind, str subject, int64_t arg);

/* What waits for this subject does not come any more. */
err due_drop(struct tx *tx, enum due_kind kind, str subject);

/* The next time at which something is due; 0: nothing is. */
err due_next(struct tx *tx, int64_t *at_ms);

/* Fires what has been due the longest, if anything is; *fired is that row, also when it failed. Unless
 * there is more, kinds that recur are added where they are missing, so a new database needs no start.
 * *more: another one was due as well. */
err due_fire(struct tx *tx, const struct due_work works[DUE_KIND_COUNT], struct due *fired,
             bool *more);

/* Has one wait for so long, because its firing has failed: what stands behind it would never come.
 * One that is not due any more stays as it is. */
err due_put_off(struct tx *tx, const struct due *which, int64_t ms);

#endif
