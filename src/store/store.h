/* store.h: databases, connections and transactions.
 *
 * A store is a SQLite file (or, by its own driver, a PostgreSQL database). One
 * connection writes, any number read. A write transaction holds a whole batch
 * of commands, each inside a savepoint, and is committed once; only then are
 * answers and events let out.
 *
 * Knows no table but its own `node`, whose one row holds the number of the last
 * event and the highest time that was ever used. The list of migrations is
 * handed to it. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/sql.h"

struct store;

/* Statements that bring a database from version - 1 to version, in one transaction. */
struct store_migration {
    int version;
    const char *const *statements; /* NULL ends them */
};

struct store_options {
    const struct store_migration *migrations; /* in order: 1, 2, 3 … */
    int migration_count;
    const char *vfs;       /* SQLite's, for the simulator; NULL: the system's */
    int busy_ms;           /* how long to wait for another process's lock; 0: 5,000 */
    int64_t wal_bytes_max; /* from where on a checkpoint restarts the log; 0: 64 MiB */
};

/* Opens a SQLite file, which is made when it is not there, and migrates it. CONFLICT when a newer
 * program has migrated it further; UNAVAILABLE or FULL when the disk says no. */
err store_open(struct arena *a, str path, const struct store_options *options, struct store **out);
void store_close(struct store *s);

enum store_use { STORE_WRITES, STORE_READS };

/* A connection, for one thread. There is one writer. */
err store_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out);
void store_disconnect(struct sql *s);

/* The row of `node`, as a write transaction found it and will leave it. */
struct store_node {
    int64_t seq;   /* number of the last event */
    int64_t clock; /* no time before this may be used, in ms */
};

/* Begins: rows and errors live in the arena until the transaction ends or sql_arena sets another.
 * A writer gets the node's row; `node` may be NULL for a reader. */
err store_begin(struct sql *s, struct arena *a, struct store_node *node);

/* Where rows and errors of the next statements live: each command of a batch has its own arena. */
void sql_arena(struct sql *s, struct arena *a);

/* A savepoint, one at a time: kept or taken back. One that cannot be kept has been taken back; when
 * even that fails, the transaction is dead. */
err store_mark(struct sql *s);
err store_keep(struct sql *s);
void store_undo(struct sql *s);

enum store_outcome {
    STORE_COMMITTED,
    STORE_ROLLED_BACK, /* nothing of it is there */
    STORE_UNKNOWN,     /* it may be there after a restart: nobody may be told anything */
};

/* Writes the node's row back (of a writer that changed something) and commits. The error says why when the outcome is not
 * STORE_COMMITTED. */
enum store_outcome store_commit(struct sql *s, const struct store_node *node, err *why);
void store_rollback(struct sql *s);

/* Whether the transaction has ended by itself, savepoints and all, as it does on a full disk. Then
 * nothing that was done in it counts, and only store_rollback may follow. */
bool store_dead(const struct sql *s);

/* Moves what is committed from the log into the file; for a thread of its own, with a connection
 * of its own. Readers and the writer go on meanwhile. */
err store_checkpoint(struct sql *s, struct arena *a);

/* Moves all of it and has the log begin anew with the next commit, without which it would grow as
 * long as commits keep coming. For the writer, between transactions: it waits for readers, for a
 * moment only. UNAVAILABLE when they stay, or a checkpoint is going on: try again later. */
err store_restart_log(struct sql *s, struct arena *a);

/* How long the log was after the last commit of this connection, in bytes; 0 before the first. */
int64_t store_log_bytes(const struct sql *s);

#endif
