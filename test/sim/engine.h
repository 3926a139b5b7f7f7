/* engine.h: the operations without a server, for tests: one thread, counted ids, a clock that is a
 * number, and a store under faults. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "ops/perform.h"
#include "store/fault.h"

struct world {
    struct store *store;
    struct fault fault;
    struct op_table *table;
    struct engine engine;
    struct tx_source source;
    struct actor actor; /* of the next command */
    int64_t now_ms;
    int ids;
};

/* On a file, in the file system of that name (NULL: the real one). The error is of opening. */
err world_open(const char *path, const char *vfs, struct world **out);
void world_close(struct world *w);

/* A command of an operation; the input is JSON with single quotes, the key may be empty. */
struct command *world_command(struct world *w, const char *op, const char *input, const char *key);

/* Performs one, and checks that its answer fits what the table says of it. */
struct command *world_call(struct world *w, const char *op, const char *input, const char *key);

#endif
