/* driver.h: what a database has to offer. Private to store/. */
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include "store/store.h"

/* A kind of store: files of SQLite, databases of PostgreSQL. */
struct store_kind {
    err (*open)(struct arena *a, str name, const struct store_options *options, struct store **out);
    err (*connect)(struct arena *a, struct store *s, enum store_use use, struct sql **out);
    void (*close)(struct store *s);
};

/* What every store begins with. */
struct store {
    const struct store_kind *kind;
    struct store_options options;
};

/* Calls that a driver answers for one connection. All of them may fail; after a failure the
 * connection's `dead` says whether the transaction still lives. */
struct driver {
    err (*run)(struct sql *s, const char *text, struct sql_args args, size_t most,
               const struct row **rows, size_t *count);
    err (*begin)(struct sql *s, struct store_node *node);
    err (*mark)(struct sql *s, bool cheap);
    err (*keep)(struct sql *s);
    err (*undo)(struct sql *s);
    enum store_outcome (*commit)(struct sql *s, const struct store_node *node, err *why);
    void (*rollback)(struct sql *s);
    err (*checkpoint)(struct sql *s);
    err (*restart_log)(struct sql *s);
    void (*disconnect)(struct sql *s);

    /* Both or neither: where one process alone writes, there is nothing to hear from others. */
    err (*listen)(struct sql *s);
    enum store_news (*wait)(struct sql *s, int64_t ms, int64_t *seq);
};

/* What every connection begins with, whatever the driver. */
struct sql {
    const struct driver *driver;
    struct store *store;
    struct arena *arena;
    enum store_use use;
    bool open;         /* a transaction was begun */
    bool marked;       /* a savepoint is open */
    bool dead;         /* it ended by itself */
    int64_t log_bytes; /* after the last commit */
    int64_t trips;     /* waits for a server's answer */
};

/* ---- refuse.c ---- */

/* What is said of a database whose version is not known, of one that has no tables of ours, and of
 * one that has those of others. */
err store_newer(struct arena *a, enum error_kind kind, const char *name, int64_t version,
                int known);
err store_older(struct arena *a, const char *name, int64_t version, int known);
err store_too_old(struct arena *a, const char *name, int64_t version, int version_min);
err store_absent(struct arena *a, const char *name);
err store_foreign(struct arena *a, const char *name);

/* ---- sqlite_open.c, postgres_open.c ---- */

extern const struct store_kind sqlite_kind, postgres_kind;

#endif
