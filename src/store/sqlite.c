/* sqlite.c: a connection to a SQLite file. With gather.c, which writes the log for it, all that
 * knows the library; which file it is, and what its tables are, is sqlite_open.c's.
 *
 * A log of changes (WAL) that is synced at every commit: acknowledged means on
 * disk. SQLITE_FULL and some I/O errors end a whole transaction, savepoints and
 * all, and the next SAVEPOINT would quietly open another one; so after every
 * failed call it is asked whether the transaction still lives. */
#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>

#include "store/sqlite_private.h"
#include "store/statements.h"

enum {
    WAL_BYTES_MAX = 64 << 20,
    BUSY_MS = 5000,
    RESTART_BUSY_MS = 50,    /* how long the writer may wait for readers, and everybody for it */
    FRAME_BYTES = 4096 + 24, /* a page in the log; SQLite's own default, which our files have */
};

struct prepared {
    const char *text; /* the literal */
    sqlite3_stmt *statement;
    unsigned char places[STATEMENT_ARGS_MAX]; /* where SQLite counts the parameter $(i + 1) */
};

struct sqlite {
    struct sql sql;
    sqlite3 *db;
    sqlite3_int64 changes;        /* how many rows were changed before the transaction */
    sqlite3_int64 marked_changes; /* … and before the mark */
    bool cheap;                   /* the mark is no savepoint */
    struct statements statements; /* of struct prepared */
};

static struct sqlite *sqlite_of(struct sql *s)
{
    return (struct sqlite *)s; /* its first member */
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
    };
    int code = sqlite3_errcode(q->db) & 0xff;
    const char *message = sqlite3_errmsg(q->db);

    if (code == SQLITE_CORRUPT)
        return err_damage(q->sql.arena, "%s: %s: %s: the file is damaged; restore a backup",
                          sqlite_path(&q->sql), doing, message);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code)
            return err_new(q->sql.arena, kinds[i].kind, "%s: %s: %s: %s", sqlite_path(&q->sql),
                           doing, message, kinds[i].advice);
    return err_new(q->sql.arena, ERR_INTERNAL, "%s: %s: %s", sqlite_path(&q->sql), doing, message);
}

/* ---- statements ---- */

/* SQLite takes $1 for a name, and counts parameters in the order in which they are named. */
static void places_find(struct prepared *p)
{
    int count = sqlite3_bind_parameter_count(p->statement);

    assert(count <= STATEMENT_ARGS_MAX);
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
    struct prepared *p = statements_find(&q->statements, text, sizeof *p);

    if (!p->statement) {
        if (sqlite3_prepare_v3(q->db, text, -1, SQLITE_PREPARE_PERSISTENT, &p->statement, NULL))
            return sqlite_error(q, "preparing a statement");
        places_find(p);
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

err sqlite_run(struct sql *s, const char *text, struct sql_args args, size_t most,
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

err sqlite_simple(struct sql *s, const char *text)
{
    struct sqlite *q = sqlite_of(s);

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

void sqlite_rollback(struct sql *s)
{
    struct sqlite *q = sqlite_of(s);

    if (!sqlite3_get_autocommit(q->db))
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
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
        sqlite_rollback(s);
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

/* ---- the log ---- */

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

/* A process that died between a commit's write and its sync has left it in the system's memory
 * alone: we would read it, and tell others, and the next power cut would take it back. So what is
 * found in the log is synced before anybody is told of it. This needs no space on the disk. */
err sqlite_sync_log(struct sql *s)
{
    sqlite3_file *log = NULL;

    sqlite3_file_control(sqlite_of(s)->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods && log->pMethods->xSync(log, SQLITE_SYNC_FULL) != SQLITE_OK)
        return err_new(s->arena, ERR_UNAVAILABLE,
                       "%s-wal: it could not be synced: see the disk's errors in the system's log",
                       sqlite_path(s));
    return NULL;
}

/* ---- connections ---- */

static void sqlite_disconnect(struct sql *s)
{
    struct sqlite *q = sqlite_of(s);
    const struct prepared *all = q->statements.slots;

    for (uint32_t i = 0; i < q->statements.slot_count; i++)
        sqlite3_finalize(all[i].statement);
    statements_release(&q->statements);
    sqlite3_close_v2(q->db);
    mem_free(q);
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

/* The collation "C" of PostgreSQL: the order of bytes. */
static int order_bytes(void *unused, int a_len, const void *a, int b_len, const void *b)
{
    (void)unused;
    return str_compare((str){ a, (size_t)a_len }, (str){ b, (size_t)b_len });
}

static err configure(struct sqlite *q)
{
    struct sql *s = &q->sql;
    int64_t log_max = s->store->options.wal_bytes_max;
    char limit[64];

    sqlite3_busy_timeout(q->db, busy_ms(q));
    /* The statements that are kept take all small pieces of the default. Before anything else. */
    if (s->use == STORE_WRITES)
        sqlite3_db_config(q->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 1200, 1000);
    if (sqlite3_create_collation(q->db, "C", SQLITE_UTF8, NULL, order_bytes))
        return sqlite_error(q, "preparing a connection");
    TRY(sqlite_simple(s, "PRAGMA synchronous = FULL"));
    TRY(sqlite_simple(s, "PRAGMA wal_autocheckpoint = 0"));
    sqlite3_wal_hook(q->db, log_grew, q);
    TRY(sqlite_simple(s, "PRAGMA temp_store = MEMORY"));
    if (s->use == STORE_WRITES)
        TRY(sqlite_simple(s, "PRAGMA cache_size = -8192")); /* 8 MiB, when that much is used */
    sqlite3_snprintf(sizeof limit, limit, "PRAGMA journal_size_limit = %lld",
                     (long long)(log_max ? log_max : WAL_BYTES_MAX));
    return sqlite_simple(s, limit);
}

err sqlite_connect(struct arena *a, struct sqlite_store *s, enum store_use use, struct sql **out)
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

/* Statistics of its memory, under a lock, are of no use to us; too late, when SQLite runs already,
 * is as good. */
static void memory_configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void sqlite_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, memory_configure);
}
