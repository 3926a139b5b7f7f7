/* sqlite_open.c: the embedded store, a file: opening it, and bringing its tables up to date.
 *
 * Speaks SQLite's SQL, but knows nothing of its library. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/gather.h"
#include "store/sqlite_private.h"

/* ---- migrating ---- */

enum { NO_VERSION = -1 };

/* Takes no lock that a writer minds: a server that commits again and again keeps nobody out. */
static err version_of(struct sql *s, int64_t *out)
{
    const struct row *row;
    size_t count;

    *out = NO_VERSION;
    TRY(sqlite_run(s, "SELECT count(*), coalesce(sum(name = 'node'), 0) FROM sqlite_master",
                   NO_ARGS, 1, &row, &count));
    if (!row_int(row, 0))
        return NULL;
    if (!row_int(row, 1))
        return store_foreign(s->arena, sqlite_path(s));
    TRY(sqlite_run(s, "SELECT version FROM node WHERE node_id = 1", NO_ARGS, 1, &row, &count));
    if (count)
        *out = row_int(row, 0);
    return NULL;
}

/* The version, unless it is one that this program should not touch. */
static err version_known(struct sql *s, int64_t *out)
{
    const struct store_options *o = &s->store->options;

    TRY(version_of(s, out));
    if (*out == NO_VERSION && o->existing)
        return store_absent(s->arena, sqlite_path(s));
    if (*out > o->migration_count)
        return store_newer(s->arena, ERR_CONFLICT, sqlite_path(s), *out, o->migration_count);
    if (*out > 0 && *out < o->version_min)
        return store_too_old(s->arena, sqlite_path(s), *out, o->version_min);
    if (*out < o->migration_count && o->as_it_is)
        return store_older(s->arena, sqlite_path(s), *out, o->migration_count);
    return NULL;
}

static err node_make(struct sql *s)
{
    TRY(sqlite_simple(s, "CREATE TABLE IF NOT EXISTS node (node_id BIGINT PRIMARY KEY,"
                         " version BIGINT NOT NULL, seq BIGINT NOT NULL, clock BIGINT NOT NULL)"));
    return sqlite_simple(s, "INSERT INTO node (node_id, version, seq, clock) VALUES (1, 0, 0, 0)"
                            " ON CONFLICT (node_id) DO NOTHING");
}

/* What is missing by now: another process may have been faster. */
static err steps_run(struct sql *s)
{
    const struct store_options *o = &s->store->options;
    int64_t version = 0;

    TRY(node_make(s));
    TRY(version_known(s, &version));
    for (int i = (int)version; i < o->migration_count; i++) {
        const struct store_migration *m = &o->migrations[i];
        assert(m->version == i + 1);
        for (const char *const *text = m->statements; *text; text++)
            TRY(sqlite_simple(s, *text));
    }
    return sqlite_run(s, "UPDATE node SET version = $1 WHERE node_id = 1",
                      ARGS(INT(o->migration_count)), 0, NULL, NULL);
}

/* All that is missing, in one transaction: a crash leaves the old version or the new one. */
static err migrate(struct sql *s)
{
    int64_t version = 0;

    TRY(version_known(s, &version)); /* before anything is changed in what may not be ours */
    TRY(sqlite_simple(s, "PRAGMA journal_mode = WAL"));
    if (version == s->store->options.migration_count)
        return NULL;
    TRY(sqlite_simple(s, "BEGIN IMMEDIATE"));
    err e = steps_run(s);
    if (!e)
        e = sqlite_simple(s, "COMMIT");
    if (e)
        sqlite_rollback(s);
    return e;
}

/* ---- opening ---- */

/* A file that was just made is there after a power cut only when its folder says so. */
static err folder_sync(struct arena *a, const char *path)
{
    char *folder = mem_alloc(strlen(path) + 2);
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';

    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    err e = synced ? NULL
                   : err_new(a, ERR_UNAVAILABLE, "%s: cannot make its folder durable: %s", path,
                             strerror(errno));
    if (fd >= 0)
        close(fd);
    mem_free(folder);
    return e;
}

static err prepare(struct arena *a, struct sqlite_store *file)
{
    TRY(sqlite_connect(a, file, STORE_WRITES, &file->first));
    struct sql *s = file->first;

    /* While the file is being made, its folder is synced after every transaction too. */
    TRY(sqlite_simple(s, "PRAGMA synchronous = EXTRA"));
    TRY(migrate(s));
    TRY(sqlite_sync_log(s));
    TRY(sqlite_simple(s, "PRAGMA synchronous = FULL"));
    return file->store.options.vfs ? NULL : folder_sync(a, file->path);
}

static void file_close(struct store *s)
{
    struct sqlite_store *file = file_of(s);

    store_disconnect(file->first);
    gather_free(file->files);
    mem_free(file->path);
    mem_free(file);
}

static err file_open(struct arena *a, str path, const struct store_options *options,
                     struct store **out)
{
    struct sqlite_store *file = mem_alloc(sizeof *file);

    sqlite_start();
    *file = (struct sqlite_store){ .store = { &sqlite_kind, *options },
                                   .path = mem_alloc(path.len + 1),
                                   .files = gather_new(options->vfs) };
    memcpy(file->path, path.at, path.len);
    file->path[path.len] = '\0';
    assert(file->files);

    err e = prepare(a, file);
    if (e)
        file_close(&file->store);
    else
        *out = &file->store;
    return e;
}

/* After a crash the log is long. Whoever closes the only connection moves all of it into the file,
 * and whoever opens the next one reads all of it: so the first connection is not closed before
 * there is another, but handed on. */
static err file_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out)
{
    struct sqlite_store *file = file_of(s);

    if (!file->first)
        return sqlite_connect(a, file, use, out);
    *out = file->first;
    file->first = NULL;
    (*out)->arena = a;
    (*out)->use = use;
    return NULL;
}

const struct store_kind sqlite_kind = { file_open, file_connect, file_close };
