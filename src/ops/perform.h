/* perform.h: commands in, answers and events out.
 *
 * A batch of commands is one transaction, in which a refused command is taken
 * back alone. It is committed once, and only then may answers and events be let
 * out. The writer thread and the simulator perform the same batches. */
#ifndef OPS_PERFORM_H
#define OPS_PERFORM_H

#include "base/cache.h"
#include "core/event.h"
#include "ops/op.h"
#include "store/store.h"

enum { OP_ANSWER_MAX = 4 << 20 };

/* What commands need beside themselves; each thread that performs any has its own. */
struct engine {
    const struct op_table *table;
    struct sql *sql;                   /* a writer's connection, or a reader's */
    struct cache *compiled;            /* see tx.h */
    const struct retention *retention; /* how long things are kept; NULL: the defaults */
    const struct team_rules *team;     /* of sessions and runs; NULL: the defaults */
    const struct tx_source *source;
    size_t answer_max; /* bytes of one answer: TOO_LARGE, or a page that ends; 0: OP_ANSWER_MAX */
    int64_t (*now_ms)(void *clock);
    void *clock;
    bool careful;  /* each command has a savepoint at once, and not when a batch runs again */
    int64_t again; /* batches so far that were taken back, and ran again one by one */
    bool stopped;  /* a commit's outcome is not known: nothing may be answered any more */

    /* What the store could not do last, so that it is not logged again and again. */
    enum error_kind trouble; /* since the last write that it took; only if */
    int64_t trouble_at_ms;   /* this is not 0: when that was logged */
    char trouble_text[200];  /* and how it began */
};

/* Performs the commands in order. Each gets its answer or its error, except when the engine has
 * stopped (see there): then none of them may be told anything. */
void op_perform(struct engine *e, struct command *const *commands, size_t count);

/* How a turn of the writer is filled, and when it ends. */
struct op_turn {
    size_t most; /* commands in all */

    /* Puts commands into the room, `most` of them at most, and says how many; NULL: nobody joins. Those
     * join who are there when the transaction has begun, for which writers of several nodes take turns,
     * and those who came while the first were performed. */
    size_t (*join)(void *self, struct command **room, size_t most);

    /* Asked before and after each command, whether enough was done for one commit, now that so many
     * are; NULL: never. */
    bool (*enough)(void *self, size_t done);
    void *self;
};

/* The same for a writer who has others waiting. There are `count` commands and room for turn->most;
 * count becomes how many there are with those who joined. Gives how many of them, from the first on,
 * were performed, at least one: with the others nothing was done. */
size_t op_perform_turn(struct engine *e, struct command **commands, size_t *count,
                       const struct op_turn *turn);

/* Whether there is something about a command that is worth doing before it is the writer's, and does
 * it, without the database. False when the command is refused by that: it has its error. */
bool op_wants_preparing(const struct command *c);
bool op_prepare(const struct op_table *table, struct command *c);

/* Performs an operation that only reads, on a connection of its own. */
void op_read(struct engine *e, struct command *c);

/* The same for several at one moment, which costs little more than one. */
void op_read_all(struct engine *e, struct command *const *commands, size_t count);

/* The events after a number, in order and linked, some hundreds of them at most; none: NULL. `last`
 * is the number of the last one. GONE: they are not kept any more, or the log ends before `after`. */
err op_follow(struct engine *e, struct arena *a, int64_t after, const struct event **first,
              int64_t *last);

/* ---- trouble.c ---- */

/* An error as a caller gets it, in the arena. What a database says goes to the log, and the caller
 * is told by its kind what to do. */
err op_public_error(struct engine *e, struct arena *a, err why);

/* Who a token stands for that is being made, in the transaction's arena. */
err op_mint(struct tx *tx, str token, const struct minted **out);

/* The grant of a token, or UNAUTHENTICATED. */
err op_admit(struct engine *e, struct arena *a, str token, struct grant **out);

#endif
