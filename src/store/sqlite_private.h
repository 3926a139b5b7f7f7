/* sqlite_private.h: what sqlite.c and sqlite_open.c share. */
#ifndef STORE_SQLITE_PRIVATE_H
#define STORE_SQLITE_PRIVATE_H

#include "store/driver.h"

struct sqlite_store {
    struct store store;
    char *path;
    struct sqlite3_vfs *files;
    struct sql *first; /* the connection that prepared the file, until somebody asks for one */
};

static inline struct sqlite_store *file_of(struct store *s)
{
    return (struct sqlite_store *)s; /* its first member */
}

static inline const char *sqlite_path(const struct sql *s)
{
    return file_of(s->store)->path;
}

/* ---- sqlite.c ---- */

/* Settings of the library itself: before anything else is asked of it. */
void sqlite_start(void);

err sqlite_connect(struct arena *a, struct sqlite_store *s, enum store_use use, struct sql **out);

/* As the driver's `run` and `rollback`. */
err sqlite_run(struct sql *s, const char *text, struct sql_args args, size_t most,
               const struct row **rows, size_t *count);
void sqlite_rollback(struct sql *s);

/* Runs, once, what has neither parameters nor rows. */
err sqlite_simple(struct sql *s, const char *text);

/* Syncs the log that it has found. */
err sqlite_sync_log(struct sql *s);

#endif
