/* audit.h: what holds in every database, whatever was done to it.
 *
 * Each rule is a statement that finds the rows which break it, so that a whole
 * database can be checked in one transaction that only reads, beside a server
 * that writes. Rules that need more than SQL look at documents one by one.
 *
 * Repairs nothing: a broken rule is a mistake of ours or of the disk, and what was
 * meant cannot be known from what is there. What a copy knows better is repair.h's. */
#ifndef CORE_AUDIT_H
#define CORE_AUDIT_H

#include "core/state.h"

/* What both of its files advise. */
#define RESTORE_STATE                                                                       \
    "repair it from a backup with 'baton store check --repair --from BACKUP', or write it " \
    "anew: create a state with its document"

#define AUDIT_SHOWN 20 /* findings of one rule that are given at most */

struct audit_finding {
    const char *rule; /* its name */
    str place;        /* "state wfstate_2, event 17" */
    str problem;
    const char *advice;
    str state; /* the id of the state that is damaged; empty: it is something else */
};

/* Called for each finding, which lives as long as the call. */
typedef void audit_sink(void *self, const struct audit_finding *finding);

/* All rules that SQL can state. */
err audit_rows(struct tx *tx, audit_sink *sink, void *self);

/* ---- audit_deep.c: what takes more than SQL. Needs tx->compiled ---- */

/* The number of events that rows name: of the log itself, and the highest that any row has. When
 * the log ends before one of them, its end was lost. */
struct audit_end {
    int64_t node;  /* of the last event, as the node says */
    int64_t log;   /* of the last row of the log; 0: it has none */
    int64_t named; /* the highest that any other row names */
    int64_t floor; /* where it can be replayed from */
};
err audit_end_read(struct tx *tx, struct audit_end *out);

/* What is wrong with it; NULL: nothing. */
err audit_end_check(struct tx *tx, const struct audit_end *end);

/* The check of one state: its document parses and fits its schema, which is the text that was
 * registered; and its history leads from each whole body, change by change, to the next one, and to
 * the document. It goes in steps, from the newest part of the history back: what a step allocates
 * is needed by the next one, and by none after that. */
struct audit_state {
    str id;     /* set by the caller */
    bool begun; /* the rest is audit_state_step's */
    struct state state;
    const struct event *last;  /* the newest row of the part of the history that comes next */
    const struct event *after; /* the row after that one, with a body; NULL: the state has it */
};

/* Gives an error of the store; in `wrong` what is wrong with the state, which ends the check, or
 * NULL. */
err audit_state_step(struct tx *tx, struct audit_state *at, bool *more, err *wrong);

/* The id of the state after that one; empty: there is none. */
err audit_state_next(struct tx *tx, str after, str *id);

/* How that is told. */
struct audit_finding audit_state_finding(struct tx *tx, str id, err wrong);

/* Some rows of a table: all texts that are to be JSON are. */
struct audit_cursor {
    size_t table;           /* of rows_tables; beyond the last: those were all */
    const struct row *last; /* in what the call before has allocated */
};
err audit_texts(struct tx *tx, struct audit_cursor *at, audit_sink *sink, void *self);

size_t audit_rule_count(void);

#endif
