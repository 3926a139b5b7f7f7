/* store.h: databases, connections and transactions.
 *
 * A store is a SQLite file, or a PostgreSQL database that several nodes share.
 * One connection of a node writes, any number read. A write transaction holds a
 * whole batch of commands, each inside a savepoint, and is committed once; only
 * then are answers and events let out. Writers of several nodes take turns.
 *
 * Knows no table but its own `node`, whose first row holds the number of the last
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
    int version_min;       /* CONFLICT where the tables are of an older one; 0: none is too old */
    const char *vfs;       /* SQLite's, for the simulator; NULL: the system's */
    int busy_ms;           /* how long to wait for another writer; 0: 5,000 (PostgreSQL: 10,000) */
    int64_t wal_bytes_max; /* from where on a checkpoint restarts the log; 0: 64 MiB */
    bool existing;         /* NOT_FOUND where there are no tables yet, instead of making them */
    bool as_it_is;         /* CONFLICT where they are older, instead of changing them */

    /* PostgreSQL's alone. */
    int idle_ms;     /* a node that stops inside a transaction loses it after this; 0: 5,000 */
    int find_ms;     /* how long to look for what became of a cut commit; 0: 20,000 */
    bool one_by_one; /* wait for each statement, as with a libpq before 14 */
};

/* A database that is being copied into says that it is of this version, which no program knows: so
 * nobody takes it for whole before it is. */
enum { STORE_UNFINISHED = 1000000000 };

/* Opens "postgres://…" ("postgresql://…"), or else the SQLite file of that path, which is made when
 * it is not there; and migrates it. CONFLICT when a newer program has migrated it further, or it is
 * too old to be migrated, or the target of a copy that did not end, or has tables that are not ours;
 * UNAVAILABLE or FULL when the disk or the server says no. A password is in no message. */
err store_open(struct arena *a, str name, const struct store_options *options, struct store **out);
void store_close(struct store *s);

/* Whether a name means a database that several nodes may share. */
bool store_is_shared(str name);

enum store_use { STORE_WRITES, STORE_READS };

/* A connection, for one thread. There is one writer. */
err store_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out);
void store_disconnect(struct sql *s);

/* The row of `node`, as a write transaction found it and will leave it. */
struct store_node {
    int64_t seq;   /* number of the last event */
    int64_t clock; /* no time before this may be used, in ms */
    int64_t now;   /* the database's clock when it was read; 0: it has none of its own */
};

/* Begins: rows and errors live in the arena until the transaction ends or sql_arena sets another.
 * A writer gets the node's row; `node` may be NULL for a reader. */
err store_begin(struct sql *s, struct arena *a, struct store_node *node);

/* Where rows and errors of the next statements live: each command of a batch has its own arena. */
void sql_arena(struct sql *s, struct arena *a);

/* A savepoint, one at a time: kept or taken back. One that cannot be kept has been taken back; when
 * even that fails, the transaction is dead. Where the database is a server, what was kept may
 * still be on its way there: an error of it is found later, by any call up to the commit, and then the
 * transaction is dead. */
err store_mark(struct sql *s);

/* The same for what is seldom taken back: a savepoint copies each page that is written, which this
 * one may do without. The price is that taking back what has changed a row ends the transaction. */
err store_mark_cheap(struct sql *s);

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

/* How often this connection has waited for answers of a database server; 0 where there is none. */
int64_t store_trips(const struct sql *s);

enum store_news {
    STORE_QUIET, /* the time passed */
    STORE_NEWS,  /* somebody committed */
    STORE_LOST,  /* the connection is gone, and commits may have been missed: listen again */
};

/* Hears from now on of what others commit: all connections but this store's own. For a reader's
 * connection that does nothing else, between transactions. */
err store_listen(struct sql *s, struct arena *a);

/* Waits for a commit, for so long, and gives the highest number that was heard of. It says that
 * there is something to read; what there is, the log tells. A SQLite file is always quiet: its one
 * writer knows what it writes. */
enum store_news store_wait(struct sql *s, int64_t ms, int64_t *seq);

#endif
