/* sqlite.c: the embedded store. The only file that knows SQLite.
 *
 * A log of changes (WAL) that is synced at every commit: acknowledged means on
 * disk. SQLITE_FULL and some I/O errors end a whole transaction, savepoints and
 * all, and the next SAVEPOINT would quietly open another one; so after every
 * failed call it is asked whether the transaction still lives. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/driver.h"
#include "store/gather.h"

enum {
    WAL_BYTES_MAX = 64 << 20,
    BUSY_MS = 5000,
    RESTART_BUSY_MS = 50,    /* how long the writer may wait for readers, and everybody for it */
    FRAME_BYTES = 4096 + 24, /* a page in the log; SQLite's own default, which our files have */
    STATEMENTS_MIN = 64,
    ARGS_MAX = 64,
};

struct sqlite_store {
    struct store store;
    char *path;
    struct sqlite3_vfs *files;
    struct sql *first; /* the connection that prepared the file, until somebody asks for one */
};

struct prepared {
    const char *text; /* the literal; NULL: a free slot */
    sqlite3_stmt *statement;
    unsigned char places[ARGS_MAX]; /* where SQLite counts the parameter $(i + 1) */
};

struct sqlite {
    struct sql sql;
    sqlite3 *db;
    sqlite3_int64 changes;        /* how many rows were changed before the transaction */
    sqlite3_int64 marked_changes; /* … and before the mark */
    bool cheap;                   /* the mark is no savepoint */
    struct prepared *prepared;    /* open addressing by the literal's address */
    uint32_t prepared_count, prepared_slots;
};

static struct sqlite *sqlite_of(struct sql *s)
{
    return (struct sqlite *)s; /* its first member */
}

static struct sqlite_store *file_of(struct store *s)
{
    return (struct sqlite_store *)s; /* its first member */
}

static const char *path_of(const struct sqlite *q)
{
    return file_of(q->sql.store)->path;
}

/* ---- errors ---- */

static err sqlite_error(struct sqlite *q, const char *doing)
{
    static const struct {
        int code;
        enum error_kind kind;
        const char *advice;
    } kinds[] = {
        { SQLITE_FULL, ERR_FULL, "free some space; nothing was changed" },
        { SQLITE_BUSY, ERR_UNAVAILABLE, "another process holds the database; try again" },
        { SQLITE_LOCKED, ERR_UNAVAILABLE, "another process holds the database; try again" },
        { SQLITE_IOERR, ERR_UNAVAILABLE, "see the disk's errors in the system's log" },
        { SQLITE_CANTOPEN, ERR_UNAVAILABLE, "see whether its folder exists and may be written" },
        { SQLITE_READONLY, ERR_FORBIDDEN, "see whether the file and its folder may be written" },
        { SQLITE_NOTADB, ERR_INVALID, "that file is no database of ours; name another" },
        { SQLITE_CORRUPT, ERR_INTERNAL, "the file is damaged; restore a backup" },
    };
    int code = sqlite3_errcode(q->db) & 0xff;
    const char *message = sqlite3_errmsg(q->db);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code)
            return err_new(q->sql.arena, kinds[i].kind, "%s: %s: %s: %s", path_of(q), doing,
                           message, kinds[i].advice);
    return err_new(q->sql.arena, ERR_INTERNAL, "%s: %s: %s", path_of(q), doing, message);
}

/* ---- statements ---- */

static struct prepared *prepared_slot(const struct sqlite *q, const char *text)
{
    uint32_t mask = q->prepared_slots - 1;
    uint32_t at = (uint32_t)((uintptr_t)text * 0x9e3779b97f4a7c15u >> 32) & mask;

    while (q->prepared[at].text && q->prepared[at].text != text)
        at = (at + 1) & mask;
    return &q->prepared[at];
}

static void prepared_widen(struct sqlite *q)
{
    struct prepared *old = q->prepared;
    uint32_t count = q->prepared_slots;

    q->prepared_slots = count ? count * 2 : STATEMENTS_MIN;
    q->prepared = mem_alloc(q->prepared_slots * sizeof *q->prepared);
    memset(q->prepared, 0, q->prepared_slots * sizeof *q->prepared);
    for (uint32_t i = 0; i < count; i++)
        if (old[i].text)
            *prepared_slot(q, old[i].text) = old[i];
    free(old);
}

/* SQLite takes $1 for a name, and counts parameters in the order in which they are named. */
static void places_find(struct prepared *p)
{
    int count = sqlite3_bind_parameter_count(p->statement);

    assert(count <= ARGS_MAX);
    for (int i = 0; i < count; i++) {
        char name[16];
        sqlite3_snprintf(sizeof name, name, "$%d", i + 1);
        int place = sqlite3_bind_parameter_index(p->statement, name);
        assert(place > 0); /* a number is left out */
        p->places[i] = (unsigned char)place;
    }
}

/* The statement of a literal, prepared at its first use. */
static err statement_of(struct sqlite *q, const char *text, const struct prepared **out)
{
    if ((q->prepared_count + 1) * 2 > q->prepared_slots)
        prepared_widen(q);
    struct prepared *p = prepared_slot(q, text);
    if (!p->text) {
        if (sqlite3_prepare_v3(q->db, text, -1, SQLITE_PREPARE_PERSISTENT, &p->statement, NULL))
            return sqlite_error(q, "preparing a statement");
        places_find(p);
        p->text = text;
        q->prepared_count++;
    }
    *out = p;
    return NULL;
}

static void bind_all(const struct prepared *p, struct sql_args args)
{
    sqlite3_stmt *st = p->statement;

    assert(sqlite3_bind_parameter_count(st) == (int)args.count);
    for (size_t i = 0; i < args.count; i++) {
        const struct sql_value *v = &args.values[i];
        int at = p->places[i], code = SQLITE_OK;
        switch (v->kind) {
        case SQL_NULL: code = sqlite3_bind_null(st, at); break;
        case SQL_INT: code = sqlite3_bind_int64(st, at, v->number); break;
        case SQL_TEXT:
            code = sqlite3_bind_text64(st, at, v->bytes.at ? v->bytes.at : "", v->bytes.len,
                                       SQLITE_STATIC, SQLITE_UTF8);
            break;
        case SQL_BYTES:
            code = sqlite3_bind_blob64(st, at, v->bytes.at ? v->bytes.at : "", v->bytes.len,
                                       SQLITE_STATIC);
            break;
        }
        assert(code == SQLITE_OK);
    }
}

static struct sql_value column_value(struct arena *a, sqlite3_stmt *st, int column)
{
    switch (sqlite3_column_type(st, column)) {
    case SQLITE_NULL: return NOTHING;
    case SQLITE_INTEGER: return INT(sqlite3_column_int64(st, column));
    case SQLITE_TEXT: {
        const char *at = (const char *)sqlite3_column_text(st, column);
        return TEXT(arena_copy(a, (str){ at, (size_t)sqlite3_column_bytes(st, column) }));
    }
    default: {
        const char *at = sqlite3_column_blob(st, column);
        size_t len = (size_t)sqlite3_column_bytes(st, column);
        return BYTES(arena_copy(a, len ? (str){ at, len } : STR("")));
    }
    }
}

static void copy_row(struct arena *a, sqlite3_stmt *st, struct row *out)
{
    int count = sqlite3_column_count(st);
    struct sql_value *values = ARENA_ARRAY(a, struct sql_value, (size_t)count);

    for (int i = 0; i < count; i++)
        values[i] = column_value(a, st, i);
    *out = (struct row){ values, (size_t)count };
}

/* Steps to the end, so that a statement that writes has written; keeps the first `most` rows. */
static int step_all(struct sqlite *q, sqlite3_stmt *st, size_t most, struct row **rows,
                    size_t *count)
{
    size_t room = 0;
    int code;

    *rows = NULL;
    *count = 0;
    while ((code = sqlite3_step(st)) == SQLITE_ROW) {
        if (*count == most)
            continue;
        if (*count == room) {
            size_t wider = room ? room * 2 : most < 8 ? most : 8;
            *rows = arena_grow(q->sql.arena, *rows, room * sizeof **rows, wider * sizeof **rows);
            room = wider;
        }
        copy_row(q->sql.arena, st, &(*rows)[(*count)++]);
    }
    return code;
}

/* A transaction that a statement was part of, and that is gone, ended by itself. */
static err statement_failed(struct sqlite *q, const char *doing)
{
    err e = sqlite_error(q, doing);
    q->sql.dead = sqlite3_get_autocommit(q->db) != 0;
    return e;
}

static err sqlite_run(struct sql *s, const char *text, struct sql_args args, size_t most,
                      const struct row **rows, size_t *count)
{
    struct sqlite *q = sqlite_of(s);
    const struct prepared *p = NULL;
    struct row *found;
    size_t found_count;

    TRY(statement_of(q, text, &p));
    bind_all(p, args);
    int code = step_all(q, p->statement, most, &found, &found_count);
    err e = code == SQLITE_DONE ? NULL : statement_failed(q, "running a statement");
    sqlite3_reset(p->statement);
    if (!e && rows) {
        *rows = found;
        *count = found_count;
    }
    return e;
}

static err simple(struct sqlite *q, const char *text)
{
    if (sqlite3_exec(q->db, text, NULL, NULL, NULL) == SQLITE_OK)
        return NULL;
    return statement_failed(q, text);
}

/* ---- transactions ---- */

/* The same for what every command begins and ends with: preparing it anew would cost more than
 * running it. */
static err again(struct sqlite *q, const char *literal)
{
    const struct prepared *p = NULL;

    TRY(statement_of(q, literal, &p));
    err e = sqlite3_step(p->statement) == SQLITE_DONE ? NULL : statement_failed(q, literal);
    sqlite3_reset(p->statement);
    return e;
}

static err sqlite_begin(struct sql *s, struct store_node *node)
{
    struct sqlite *q = sqlite_of(s);
    const struct row *row;
    size_t count;

    TRY(again(q, s->use == STORE_WRITES ? "BEGIN IMMEDIATE" : "BEGIN"));
    q->changes = sqlite3_total_changes64(q->db);
    if (!node)
        return NULL;
    err e =
        sqlite_run(s, "SELECT seq, clock FROM node WHERE node_id = 1", NO_ARGS, 1, &row, &count);
    if (e) {
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
        return e;
    }
    assert(count == 1);
    *node = (struct store_node){ .seq = row_int(row, 0), .clock = row_int(row, 1) };
    return NULL;
}

static err sqlite_mark(struct sql *s, bool cheap)
{
    struct sqlite *q = sqlite_of(s);

    q->cheap = cheap;
    q->marked_changes = sqlite3_total_changes64(q->db);
    return cheap ? NULL : again(q, "SAVEPOINT command");
}

static err sqlite_keep(struct sql *s)
{
    return sqlite_of(s)->cheap ? NULL : again(sqlite_of(s), "RELEASE command");
}

static err undo_cheap(struct sqlite *q)
{
    if (sqlite3_total_changes64(q->db) == q->marked_changes)
        return NULL;
    return err_new(q->sql.arena, ERR_INTERNAL, "what was changed cannot be taken back alone");
}

static err sqlite_undo(struct sql *s)
{
    if (sqlite_of(s)->cheap)
        return undo_cheap(sqlite_of(s));
    TRY(again(sqlite_of(s), "ROLLBACK TO command"));
    return again(sqlite_of(s), "RELEASE command");
}

static void sqlite_rollback(struct sql *s)
{
    struct sqlite *q = sqlite_of(s);

    if (!sqlite3_get_autocommit(q->db))
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A commit that failed while the transaction is still open can be rolled back. One that failed and
 * left no transaction may have reached the disk. What changed no row, as a batch of refused commands,
 * has nothing to make durable. */
static enum store_outcome sqlite_commit(struct sql *s, const struct store_node *node, err *why)
{
    struct sqlite *q = sqlite_of(s);

    *why = NULL;
    if (node && sqlite3_total_changes64(q->db) != q->changes)
        *why = sqlite_run(s, "UPDATE node SET seq = $1, clock = $2 WHERE node_id = 1",
                          ARGS(INT(node->seq), INT(node->clock)), 0, NULL, NULL);
    bool in_commit = !*why;
    if (in_commit)
        *why = again(q, "COMMIT");
    if (!*why)
        return STORE_COMMITTED;
    if (in_commit && sqlite3_get_autocommit(q->db) &&
        (sqlite3_errcode(q->db) & 0xff) == SQLITE_IOERR)
        return STORE_UNKNOWN;
    sqlite_rollback(s);
    return STORE_ROLLED_BACK;
}

static err sqlite_checkpoint(struct sql *s)
{
    struct sqlite *q = sqlite_of(s);
    int code = sqlite3_wal_checkpoint_v2(q->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

    return code == SQLITE_OK || code == SQLITE_BUSY ? NULL : sqlite_error(q, "a checkpoint");
}

static int busy_ms(const struct sqlite *q)
{
    return q->sql.store->options.busy_ms ? q->sql.store->options.busy_ms : BUSY_MS;
}

static err sqlite_restart_log(struct sql *s)
{
    struct sqlite *q = sqlite_of(s);

    sqlite3_busy_timeout(q->db, RESTART_BUSY_MS);
    int code = sqlite3_wal_checkpoint_v2(q->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    err e = code == SQLITE_OK ? NULL : sqlite_error(q, "restarting the log");
    sqlite3_busy_timeout(q->db, busy_ms(q));
    return e;
}

/* The file's size would not tell: a log that begins anew is written over, not cut. */
static int log_grew(void *self, sqlite3 *db, const char *name, int pages)
{
    struct sqlite *q = self;

    (void)db;
    (void)name;
    q->sql.log_bytes = (int64_t)pages * FRAME_BYTES;
    return SQLITE_OK;
}

static void sqlite_disconnect(struct sql *s)
{
    struct sqlite *q = sqlite_of(s);

    for (uint32_t i = 0; i < q->prepared_slots; i++)
        sqlite3_finalize(q->prepared[i].statement);
    free(q->prepared);
    sqlite3_close_v2(q->db);
    free(q);
}

static const struct driver sqlite_driver = {
    .run = sqlite_run,
    .begin = sqlite_begin,
    .mark = sqlite_mark,
    .keep = sqlite_keep,
    .undo = sqlite_undo,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .checkpoint = sqlite_checkpoint,
    .restart_log = sqlite_restart_log,
    .disconnect = sqlite_disconnect,
};

/* ---- connections ---- */

/* The collation "C" of PostgreSQL: the order of bytes. */
static int order_bytes(void *unused, int a_len, const void *a, int b_len, const void *b)
{
    (void)unused;
    return str_compare((str){ a, (size_t)a_len }, (str){ b, (size_t)b_len });
}

static err configure(struct sqlite *q)
{
    const struct store_options *o = &q->sql.store->options;

    sqlite3_busy_timeout(q->db, busy_ms(q));
    /* The statements that are kept take all small pieces of the default. Before anything else. */
    if (q->sql.use == STORE_WRITES)
        sqlite3_db_config(q->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 1200, 1000);
    if (sqlite3_create_collation(q->db, "C", SQLITE_UTF8, NULL, order_bytes))
        return sqlite_error(q, "preparing a connection");
    TRY(simple(q, "PRAGMA synchronous = FULL"));
    TRY(simple(q, "PRAGMA wal_autocheckpoint = 0"));
    sqlite3_wal_hook(q->db, log_grew, q);
    TRY(simple(q, "PRAGMA temp_store = MEMORY"));
    if (q->sql.use == STORE_WRITES)
        TRY(simple(q, "PRAGMA cache_size = -8192")); /* 8 MiB, when that much is used */
    char limit[64];
    int64_t bytes = o->wal_bytes_max ? o->wal_bytes_max : WAL_BYTES_MAX;
    sqlite3_snprintf(sizeof limit, limit, "PRAGMA journal_size_limit = %lld", (long long)bytes);
    return simple(q, limit);
}

static err connect_new(struct arena *a, struct sqlite_store *s, enum store_use use,
                       struct sql **out)
{
    struct sqlite *q = mem_alloc(sizeof *q);
    *q = (struct sqlite){
        .sql = { .driver = &sqlite_driver, .store = &s->store, .arena = a, .use = use }
    };
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    err e = NULL;

    if (sqlite3_open_v2(s->path, &q->db, flags, s->files->zName) != SQLITE_OK)
        e = sqlite_error(q, "opening");
    if (!e)
        e = configure(q);
    if (e) {
        sqlite_disconnect(&q->sql);
        return e;
    }
    *out = &q->sql;
    return NULL;
}

/* After a crash the log is long. Whoever closes the only connection moves all of it into the file,
 * and whoever opens the next one reads all of it: so the first connection is not closed before
 * there is another, but handed on. */
static err file_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out)
{
    struct sqlite_store *file = file_of(s);

    if (!file->first)
        return connect_new(a, file, use, out);
    *out = file->first;
    file->first = NULL;
    (*out)->arena = a;
    (*out)->use = use;
    return NULL;
}

/* ---- opening and migrating ---- */

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
    free(folder);
    return e;
}

enum { NO_VERSION = -1 };

/* Takes no lock that a writer minds: a server that commits again and again keeps nobody out. */
static err version_of(struct sqlite *q, int64_t *out)
{
    const struct row *row;
    size_t count;

    *out = NO_VERSION;
    TRY(sqlite_run(&q->sql, "SELECT count(*), coalesce(sum(name = 'node'), 0) FROM sqlite_master",
                   NO_ARGS, 1, &row, &count));
    if (!row_int(row, 0))
        return NULL;
    if (!row_int(row, 1))
        return store_foreign(q->sql.arena, path_of(q));
    TRY(sqlite_run(&q->sql, "SELECT version FROM node WHERE node_id = 1", NO_ARGS, 1, &row,
                   &count));
    if (count)
        *out = row_int(row, 0);
    return NULL;
}

/* The version, unless it is one that this program should not touch. */
static err version_known(struct sqlite *q, int64_t *out)
{
    const struct store_options *o = &q->sql.store->options;

    TRY(version_of(q, out));
    if (*out == NO_VERSION && o->existing)
        return store_absent(q->sql.arena, path_of(q));
    if (*out > o->migration_count)
        return store_newer(q->sql.arena, ERR_CONFLICT, path_of(q), *out, o->migration_count);
    return NULL;
}

static err node_make(struct sqlite *q)
{
    TRY(simple(q, "CREATE TABLE IF NOT EXISTS node (node_id BIGINT PRIMARY KEY,"
                  " version BIGINT NOT NULL, seq BIGINT NOT NULL, clock BIGINT NOT NULL)"));
    return simple(q, "INSERT INTO node (node_id, version, seq, clock) VALUES (1, 0, 0, 0)"
                     " ON CONFLICT (node_id) DO NOTHING");
}

/* What is missing by now: another process may have been faster. */
static err steps_run(struct sqlite *q)
{
    const struct store_options *o = &q->sql.store->options;
    int64_t version = 0;

    TRY(node_make(q));
    TRY(version_known(q, &version));
    for (int i = (int)version; i < o->migration_count; i++) {
        const struct store_migration *m = &o->migrations[i];
        assert(m->version == i + 1);
        for (const char *const *text = m->statements; *text; text++)
            TRY(simple(q, *text));
    }
    return sqlite_run(&q->sql, "UPDATE node SET version = $1 WHERE node_id = 1",
                      ARGS(INT(o->migration_count)), 0, NULL, NULL);
}

/* All that is missing, in one transaction: a crash leaves the old version or the new one. */
static err migrate(struct sqlite *q)
{
    int64_t version = 0;

    TRY(version_known(q, &version)); /* before anything is changed in what may not be ours */
    TRY(simple(q, "PRAGMA journal_mode = WAL"));
    if (version == q->sql.store->options.migration_count)
        return NULL;
    TRY(simple(q, "BEGIN IMMEDIATE"));
    err e = steps_run(q);
    if (!e)
        e = simple(q, "COMMIT");
    if (e && !sqlite3_get_autocommit(q->db))
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
    return e;
}

/* A process that died between a commit's write and its sync has left it in the system's memory
 * alone: we would read it, and tell others, and the next power cut would take it back. So what is
 * found in the log is synced before anybody is told of it. This needs no space on the disk. */
static err log_sync(struct sqlite *q)
{
    sqlite3_file *log = NULL;

    sqlite3_file_control(q->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods && log->pMethods->xSync(log, SQLITE_SYNC_FULL) != SQLITE_OK)
        return err_new(q->sql.arena, ERR_UNAVAILABLE,
                       "%s-wal: it could not be synced: see the disk's errors in the system's log",
                       path_of(q));
    return NULL;
}

static err prepare_file(struct arena *a, struct sqlite_store *s)
{
    TRY(connect_new(a, s, STORE_WRITES, &s->first));
    struct sqlite *q = sqlite_of(s->first);

    /* While the file is being made, its folder is synced after every transaction too. */
    err e = simple(q, "PRAGMA synchronous = EXTRA");
    if (!e)
        e = migrate(q);
    if (!e)
        e = log_sync(q);
    if (!e)
        e = simple(q, "PRAGMA synchronous = FULL");
    if (!e && !s->store.options.vfs)
        e = folder_sync(a, s->path);
    return e;
}

/* Statistics of its memory, under a lock, are of no use to us; too late, when SQLite runs already,
 * is as good. */
static void memory_configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static void file_close(struct store *s)
{
    struct sqlite_store *file = file_of(s);

    store_disconnect(file->first);
    gather_free(file->files);
    free(file->path);
    free(file);
}

static err file_open(struct arena *a, str path, const struct store_options *options,
                     struct store **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct sqlite_store *s = mem_alloc(sizeof *s);

    pthread_once(&once, memory_configure);
    *s = (struct sqlite_store){ .store = { &sqlite_kind, *options },
                                .path = mem_alloc(path.len + 1) };
    memcpy(s->path, path.at, path.len);
    s->path[path.len] = '\0';
    s->files = gather_new(options->vfs);
    assert(s->files);

    err e = prepare_file(a, s);
    if (e)
        file_close(&s->store);
    else
        *out = &s->store;
    return e;
}

const struct store_kind sqlite_kind = { file_open, file_connect, file_close };
