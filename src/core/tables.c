/* tables.c: the data model. Read from top to bottom, it is all that baton remembers.
 *
 * Types are TEXT, BIGINT and BYTEA; times are milliseconds, JSON is TEXT, truth
 * is 0 or 1. What is ordered or paged by a text says COLLATE "C". A change is a
 * new step at the end: what was released is never edited. */
#include "core/tables.h"

#include <stddef.h>

static const char *const step_1[] = {
    /* A schema is immutable: a changed one is the next version of its name. */
    "CREATE TABLE schema ("
    " schema_id TEXT PRIMARY KEY,"
    " name TEXT COLLATE \"C\" NOT NULL,"
    " version BIGINT NOT NULL,"
    " text TEXT NOT NULL,"
    " digest TEXT NOT NULL," /* SHA-256 of the text: compiled ones are kept by it */
    " description TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " UNIQUE (name, version))",

    /* The current version of each document. Its history is a chain through the log: last_seq is
     * the row of this version, snap_seq the last row that holds a whole body. */
    "CREATE TABLE state ("
    " state_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " schema_id TEXT NOT NULL,"
    " schema_name TEXT COLLATE \"C\" NOT NULL," /* of the schema, which never changes: no join */
    " schema_version BIGINT NOT NULL,"
    " root_session TEXT COLLATE \"C\" NOT NULL," /* empty: made by the operator */
    " version BIGINT NOT NULL,"
    " last_seq BIGINT NOT NULL,"
    " snap_seq BIGINT NOT NULL,"
    " snap_version BIGINT NOT NULL,"
    " patch_bytes BIGINT NOT NULL," /* logged since that body */
    " created_at BIGINT NOT NULL,"
    " updated_at BIGINT NOT NULL,"
    " body TEXT NOT NULL)", /* last, so that lists need not read over it */
    "CREATE INDEX state_by_root ON state (root_session, state_id)",
    "CREATE INDEX state_by_schema ON state (schema_name, state_id)",
    "CREATE INDEX state_by_life ON state (state_id) WHERE root_session <> ''",

    /* Who may come in. */
    "CREATE TABLE token ("
    " token_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " kind BIGINT NOT NULL,"
    " name TEXT NOT NULL,"
    " hash TEXT NOT NULL,"
    " scope TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " expires_at BIGINT NOT NULL,"
    " revoked_at BIGINT NOT NULL)",

    /* Answers that were given, for who asks again with the same key. */
    "CREATE TABLE idempotency ("
    " actor TEXT COLLATE \"C\" NOT NULL,"
    " key TEXT COLLATE \"C\" NOT NULL,"
    " digest TEXT NOT NULL," /* of the operation and its input */
    " answer TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " PRIMARY KEY (actor, key))",
    "CREATE INDEX idempotency_by_time ON idempotency (created_at)",

    /* Everything that happened: see event.h. */
    "CREATE TABLE log ("
    " seq BIGINT PRIMARY KEY,"
    " type TEXT NOT NULL,"
    " subject TEXT COLLATE \"C\" NOT NULL,"
    " actor TEXT NOT NULL,"
    " session_id TEXT NOT NULL,"
    " time BIGINT NOT NULL,"
    " cause BIGINT NOT NULL,"
    " version BIGINT NOT NULL,"
    " prev_seq BIGINT NOT NULL,"
    " snap_seq BIGINT NOT NULL,"
    " data TEXT NOT NULL,"
    " body TEXT)",

    /* How far back it can be replayed: rows below the floor are there as history alone. */
    "CREATE TABLE replay ("
    " replay_id BIGINT PRIMARY KEY,"
    " floor BIGINT NOT NULL)",
    "INSERT INTO replay (replay_id, floor) VALUES (1, 1)",

    /* What must happen later: see due.h. */
    "CREATE TABLE due ("
    " at BIGINT NOT NULL,"
    " kind TEXT COLLATE \"C\" NOT NULL,"
    " subject TEXT COLLATE \"C\" NOT NULL,"
    " arg BIGINT NOT NULL,"
    " PRIMARY KEY (kind, subject))",
    "CREATE INDEX due_by_time ON due (at, kind, subject)",

    /* The servers that are there, or were within a day: see member.h. They are few. */
    "CREATE TABLE member ("
    " node_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " name TEXT NOT NULL,"
    " url TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " started_at BIGINT NOT NULL,"
    " seen_at BIGINT NOT NULL,"
    " seq BIGINT NOT NULL)",
    NULL,
};

const struct tables_step tables_steps[] = { { 1, step_1 } };
const int tables_step_count = sizeof tables_steps / sizeof *tables_steps;
