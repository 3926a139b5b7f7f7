/* rows.c: the tables row by row. Columns of the key come first. */
#include "core/rows.h"

#include <assert.h>

#define SCHEMA "name, version, schema_id, text, digest, description, created_at"
#define STATE                                                                            \
    "state_id, schema_id, schema_name, schema_version, root_session, version, last_seq," \
    " snap_seq, snap_version, patch_bytes, created_at, updated_at, body"
#define TOKEN "token_id, kind, name, hash, scope, created_at, expires_at, revoked_at"
#define IDEMPOTENCY "actor, key, digest, answer, created_at"
#define LOG                                                                                  \
    "seq, type, subject, actor, session_id, time, cause, version, prev_seq, snap_seq, data," \
    " body"
#define DUE "kind, subject, at, arg"

/* The log comes first: it is nearly all there is, so the rest adds little to how long it takes. */
const struct rows_table rows_tables[] = {
    {
        .name = "log",
        .keys = { SQL_INT },
        .columns = 12,
        .count = "SELECT count(*) FROM log",
        .page = "SELECT " LOG " FROM log WHERE seq > $1 ORDER BY seq LIMIT $2",
        .insert = "INSERT INTO log (" LOG ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    },
    {
        .name = "schema",
        .keys = { SQL_TEXT, SQL_INT },
        .columns = 7,
        .count = "SELECT count(*) FROM schema",
        .page = "SELECT " SCHEMA " FROM schema WHERE (name, version) > ($1, $2)"
                " ORDER BY name, version LIMIT $3",
        .insert = "INSERT INTO schema (" SCHEMA ") VALUES ($1, $2, $3, $4, $5, $6, $7)",
    },
    {
        .name = "state",
        .keys = { SQL_TEXT },
        .columns = 13,
        .count = "SELECT count(*) FROM state",
        .page = "SELECT " STATE " FROM state WHERE state_id > $1 ORDER BY state_id LIMIT $2",
        .insert = "INSERT INTO state (" STATE ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    },
    {
        .name = "token",
        .keys = { SQL_TEXT },
        .columns = 8,
        .count = "SELECT count(*) FROM token",
        .page = "SELECT " TOKEN " FROM token WHERE token_id > $1 ORDER BY token_id LIMIT $2",
        .insert = "INSERT INTO token (" TOKEN ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    },
    {
        .name = "idempotency",
        .keys = { SQL_TEXT, SQL_TEXT },
        .columns = 5,
        .count = "SELECT count(*) FROM idempotency",
        .page = "SELECT " IDEMPOTENCY " FROM idempotency WHERE (actor, key) > ($1, $2)"
                " ORDER BY actor, key LIMIT $3",
        .insert = "INSERT INTO idempotency (" IDEMPOTENCY ") VALUES ($1, $2, $3, $4, $5)",
    },
    {
        .name = "due",
        .keys = { SQL_TEXT, SQL_TEXT },
        .columns = 4,
        .count = "SELECT count(*) FROM due",
        .page = "SELECT " DUE " FROM due WHERE (kind, subject) > ($1, $2)"
                " ORDER BY kind, subject LIMIT $3",
        .insert = "INSERT INTO due (" DUE ") VALUES ($1, $2, $3, $4)",
    },
    {
        .name = "replay",
        .keys = { SQL_INT },
        .columns = 2,
        .count = "SELECT count(*) FROM replay",
        .page = "SELECT replay_id, floor FROM replay WHERE replay_id > $1"
                " ORDER BY replay_id LIMIT $2",
        .insert = "INSERT INTO replay (replay_id, floor) VALUES ($1, $2)"
                  " ON CONFLICT (replay_id) DO UPDATE SET floor = excluded.floor",
        .seeded = true,
    },
};
const size_t rows_table_count = sizeof rows_tables / sizeof *rows_tables;

_Static_assert(sizeof rows_tables / sizeof *rows_tables <= ROWS_TABLES_MAX,
               "there is room for all");

size_t rows_keys(const struct rows_table *t)
{
    size_t n = 0;

    while (n < ROWS_KEYS_MAX && t->keys[n] != SQL_NULL)
        n++;
    return n;
}

struct sql_args rows_after(const struct rows_table *t, const struct row *last, int64_t limit,
                           struct sql_value room[ROWS_KEYS_MAX + 1])
{
    size_t n = rows_keys(t);

    assert(!last || last->count == t->columns);
    for (size_t i = 0; i < n; i++) {
        if (last)
            room[i] = last->values[i];
        else
            room[i] = t->keys[i] == SQL_INT ? INT(INT64_MIN) : TEXT(STR(""));
    }
    room[n] = INT(limit);
    return (struct sql_args){ room, n + 1 };
}
