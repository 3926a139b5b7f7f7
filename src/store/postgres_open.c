/* postgres_open.c: opening a database that several nodes share, and bringing its tables up to date. */
#include <assert.h>

#include "store/postgres_private.h"

/* Any other cannot hold every text, or does not know which ones are. */
static err encoding_check(struct postgres *q, str encoding)
{
    if (str_eq(encoding, STR("UTF8")))
        return NULL;
    return err_new(q->sql.arena, ERR_INVALID,
                   "%s: expected a database in UTF8, but it is in " STR_FMT
                   ": create another with createdb --template=template0 --encoding=UTF8",
                   q->channel.url->redacted, STR_ARG(encoding));
}

static err node_find(struct postgres *q, bool *there)
{
    struct rows found = { .most = 1 };

    TRY(postgres_statement(
        q, "SELECT to_regclass('node') IS NOT NULL, current_setting('server_encoding')", NO_ARGS,
        &found));
    *there = row_int(found.at, 0);
    return encoding_check(q, row_str(found.at, 1));
}

/* Whoever wants only what is there already, in the right version, gets it without a write: as a role
 * that only reads, and from a standby. */
static err is_current(struct postgres *q, bool *current)
{
    struct rows found = { .most = 1 };
    bool there;

    TRY(node_find(q, &there));
    if (!there)
        return store_absent(q->sql.arena, q->channel.url->redacted);
    TRY(postgres_statement(q, "SELECT version FROM node WHERE node_id = 1", NO_ARGS, &found));
    *current = found.count && row_int(found.at, 0) == q->sql.store->options.migration_count;
    return NULL;
}

static err node_make(struct postgres *q)
{
    bool there;

    TRY(node_find(q, &there));
    if (there)
        return NULL;
    TRY(postgres_statement(q,
                           "CREATE TABLE node (node_id BIGINT PRIMARY KEY, version BIGINT NOT NULL,"
                           " seq BIGINT NOT NULL, clock BIGINT NOT NULL, batch BIGINT NOT NULL)",
                           NO_ARGS, NULL));
    return postgres_statement(
        q, "INSERT INTO node (node_id, version, seq, clock, batch) VALUES (1, 0, 0, 0, 0)", NO_ARGS,
        NULL);
}

/* Long texts lie beside their row as they are: packing them costs more than it saves. These are the
 * columns that this transaction has made. */
#define KEEP_TEXTS_UNPACKED                                                       \
    "DO $$ DECLARE made record; BEGIN"                                            \
    " FOR made IN SELECT attrelid::regclass AS owner, attname FROM pg_attribute"  \
    "  JOIN pg_class ON pg_class.oid = attrelid"                                  \
    "  WHERE relkind = 'r' AND attnum > 0 AND atttypid = 'text'::regtype"         \
    "  AND attstorage <> 'e'"                                                     \
    "  AND pg_attribute.xmin = pg_current_xact_id()::xid"                         \
    " LOOP EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE EXTERNAL'," \
    "  made.owner, made.attname);"                                                \
    " END LOOP; END $$"

/* All that is missing, in one transaction. Nodes that start at the same time take turns; a node
 * that writes meanwhile waits at its row, and then finds the new version there. */
static err migrate(struct postgres *q, const struct store_options *o)
{
    struct rows found = { .most = 1 };
    bool current = false;

    if (o->existing)
        TRY(is_current(q, &current));
    if (current)
        return NULL;
    TRY(postgres_statement(q, "BEGIN ISOLATION LEVEL READ COMMITTED", NO_ARGS, NULL));
    TRY(postgres_statement(q, "SELECT pg_advisory_xact_lock(hashtext('baton'))", NO_ARGS, NULL));
    TRY(node_make(q));
    TRY(postgres_statement(q, "SELECT version FROM node WHERE node_id = 1 FOR UPDATE", NO_ARGS,
                           &found));
    if (!found.count)
        return postgres_node_gone(q);
    int64_t version = row_int(found.at, 0);
    if (version > o->migration_count)
        return postgres_version_check(q, version, ERR_CONFLICT);
    if (version > 0 && version < o->version_min)
        return store_too_old(q->sql.arena, q->channel.url->redacted, version, o->version_min);
    if (version < o->migration_count && o->as_it_is)
        return store_older(q->sql.arena, q->channel.url->redacted, version, o->migration_count);
    for (int i = (int)version; i < o->migration_count; i++) {
        assert(o->migrations[i].version == i + 1);
        for (const char *const *text = o->migrations[i].statements; *text; text++)
            TRY(postgres_statement(q, *text, NO_ARGS, NULL));
    }
    if (version < o->migration_count)
        TRY(postgres_statement(q, KEEP_TEXTS_UNPACKED, NO_ARGS, NULL));
    TRY(postgres_statement(q, "UPDATE node SET version = $1 WHERE node_id = 1",
                           ARGS(INT(o->migration_count)), NULL));
    /* Rows of writers that have not written for a day. */
    TRY(postgres_statement(q,
                           "DELETE FROM node WHERE node_id > 1"
                           " AND clock < (SELECT clock FROM node WHERE node_id = 1) - 86400000",
                           NO_ARGS, NULL));
    TRY(postgres_statement(q, "COMMIT", NO_ARGS, NULL));
    return postgres_collect(q);
}

static void postgres_close(struct store *s)
{
    struct postgres_store *database = database_of(s);

    database_url_release(&database->url);
    mem_free(database);
}

static err postgres_open(struct arena *a, str url, const struct store_options *options,
                         struct store **out)
{
    struct postgres_store *s = mem_alloc(sizeof *s);
    struct postgres *q = NULL;

    *s = (struct postgres_store){ .store = { &postgres_kind, *options },
                                  .mark = postgres_own_number() };
    err e = database_url_init(&s->url, a, url);
    if (e) {
        mem_free(s);
        return e;
    }
    e = postgres_connect(a, &s->store, &postgres_driver, STORE_WRITES, true, &q);
    if (!e) {
        e = migrate(q, options);
        postgres_disconnect(&q->sql);
    }
    if (e)
        postgres_close(&s->store);
    else
        *out = &s->store;
    return e;
}

static err database_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out)
{
    struct postgres *q;

    TRY(postgres_connect(a, s, &postgres_driver, use, false, &q));
    *out = &q->sql;
    return NULL;
}

const struct store_kind postgres_kind = { postgres_open, database_connect, postgres_close };
