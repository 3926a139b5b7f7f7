/* tx.h: everything a rule may see.
 *
 * A rule is a plain function of a transaction: it reads and writes rows, emits
 * events, and can reach nothing else. Time is one value for the whole command;
 * ids and secrets come from a source that the simulator replaces. What a rule
 * allocates lives in the arena of its command. */
#ifndef CORE_TX_H
#define CORE_TX_H

#include "base/map.h"
#include "store/sql.h"

/* Where identity and secrets come from: the system's randomness, or a counter in simulation. */
struct tx_source {
    /* "run_" and twelve characters that no other id has. */
    str (*id)(void *self, struct arena *a, const char *prefix);
    void (*random)(void *self, unsigned char *bytes, size_t count);
    void *self;
};

/* A code is nobody: it is worth one token, which it is exchanged for. */
enum actor_kind {
    ACTOR_SYSTEM,
    ACTOR_OPERATOR,
    ACTOR_RUNNER,
    ACTOR_SESSION,
    ACTOR_VIEWER,
    ACTOR_CODE,
};

/* Who acts, and how far they may reach. */
struct actor {
    enum actor_kind kind;
    str name;         /* as events and history show them: "operator", a session's name */
    str token_id;     /* whose holder it is; empty: the server's own work */
    str session_id;   /* empty: not a session */
    str run_id;       /* the run that a session's token was minted for; empty: by hand */
    str state_id;     /* the one state that a session has; empty: none. Others see all */
    const str *reads; /* other states that it may read, by their ids */
    size_t read_count;
    str project_state_id; /* of its tree's project, which it may read; empty: none */
    bool is_page;         /* it has signed in by a code, in a browser: it makes no tokens */
    bool is_child;        /* of a session: it has a parent */
    bool is_attended;     /* of a session: somebody outside runs it, so its callbacks wait for it */
    str records_by;  /* of a session that works for a step: the tool by which it says what came of
                           * it; empty: it works for none */
    const str *jobs; /* of a runner's token that is a worker's: types of jobs; none: it is none */
    size_t job_count;
    const str *pointers; /* a session writes at and below these only; none: everywhere */
    size_t pointer_count;
};

struct cache;
struct event;
struct retention;
struct team_rules;

/* What the commands of a batch will ask for, read before they run: where the database is a server,
 * one way there and back is then enough for all of them. Writes keep it up to date. It is worth
 * nothing any more once a command that has written is taken back, or the transaction has ended. */
struct tx_ahead {
    struct map states; /* see state_read_ahead */
    struct map keys;   /* see idempotency_read_ahead */
};

struct tx {
    struct arena *arena;
    struct sql *sql;
    int64_t now_ms;
    int64_t *seq; /* number of the last event; counted in memory, written when the batch commits */
    const struct actor *actor;
    const struct tx_source *source;
    struct cache *compiled; /* schemas by their ids, graphs of workflows by their digests */
    struct tx_ahead *ahead; /* of its batch; NULL: nothing was read ahead */
    const struct retention *retention; /* NULL: the defaults */
    const struct team_rules *team;     /* of sessions and runs; NULL: the defaults */
    int64_t cause;                     /* the event that this is a consequence of; 0: a command */
    struct event *first, *last;        /* emitted by this command, in order */
    /* Rows that this command has read or stored: see session_change and run_change. */
    struct session_known *sessions; /* session.c's */
    struct run_known *runs;         /* run.c's */
    err damage;           /* noted by a reader of rows: the command has failed; see stored.h */
    str fault;            /* members of the error, should it fail: what it was about */
    int64_t seen_version; /* of the state that it writes: whoever asked for it has seen this one */
    bool precondition;    /* another version than expected is PRECONDITION, not CONFLICT */
};

/* Changes rows of sessions, or of runs, by a statement of the caller's own. What the command has read
 * of them is read again; what session_store and run_store write is known. */
#define session_change(tx, text, args) ((tx)->sessions = NULL, sql_exec((tx)->sql, text, args))
#define session_change_all(tx, rows, count, text, args) \
    ((tx)->sessions = NULL, sql_all((tx)->sql, rows, count, text, args))
#define run_change(tx, text, args) ((tx)->runs = NULL, sql_exec((tx)->sql, text, args))
#define run_change_all(tx, rows, count, text, args) \
    ((tx)->runs = NULL, sql_all((tx)->sql, rows, count, text, args))

static inline str tx_id(struct tx *tx, const char *prefix)
{
    return tx->source->id(tx->source->self, tx->arena, prefix);
}

#endif
