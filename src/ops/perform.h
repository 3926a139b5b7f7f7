/* perform.h: commands in, answers and events out.
 *
 * A batch of commands is one transaction, each command a savepoint in it. It is
 * committed once, and only then may answers and events be let out. The writer
 * thread and the simulator both call op_perform, with the same batches. */
#ifndef OPS_PERFORM_H
#define OPS_PERFORM_H

#include "core/event.h"
#include "ops/op.h"
#include "store/store.h"

/* What commands need beside themselves. */
struct engine {
    const struct op_table *table;
    struct sql *writer;
    struct schema_cache *schemas;
    const struct tx_source *source;
    int64_t (*now_ms)(void *clock);
    void *clock;
    bool stopped; /* a commit's outcome is not known: nothing may be answered any more */
};

/* One request for one operation. It owns its arena until it is handed back. */
struct command {
    struct arena *arena;
    const struct op *op;
    const struct json *input;
    struct actor actor;
    str key; /* Idempotency-Key; empty: none */

    /* Set by op_perform. When `error` is NULL, the rest is the answer. */
    err error;
    str answer; /* printed JSON */
    bool created, empty, repeated;
    int64_t version;
    str next;
    const struct event *events; /* that it emitted, in order; they may be published now */
    bool waits;
    str wait_subject;
    int64_t wait_seq, wait_until_ms;
};

/* Performs the commands in order. Each gets its answer or its error, except when the engine has
 * stopped (see there): then none of them may be told anything. */
void op_perform(struct engine *e, struct command *const *commands, size_t count);

#endif
