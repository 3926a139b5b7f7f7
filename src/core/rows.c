/* rows.c: the tables row by row. Columns of the key come first. */
#include "core/rows.h"

#include <assert.h>

#define SCHEMA "name, version, schema_id, text, digest, description, created_at"
#define STATE                                                                            \
    "state_id, schema_id, schema_name, schema_version, root_session, version, last_seq," \
    " snap_seq, snap_version, patch_bytes, created_at, updated_at, body"
#define TOKEN "token_id, kind, name, hash, scope, session_id, created_at, expires_at, revoked_at"
#define IDEMPOTENCY "actor, key, digest, answer, created_at"
#define LOG                                                                                  \
    "seq, type, subject, actor, session_id, time, cause, version, prev_seq, snap_seq, data," \
    " body"
#define DUE "kind, subject, at, arg"
#define ENTRY "catalog, name, text, source, created_at, updated_at"
#define SESSION                                                                            \
    "session_id, name, parent_id, root_id, depth, agent, profile, project_dir, status,"    \
    " live, state_id, pointers, attended, calls_back, settled, cycle, update_status,"      \
    " update_attempts, wrote_version, seen_version, run_id, client_id, hostname, git,"     \
    " result_run, error, tokens_in, tokens_out, tokens_cached, cost, usage_models, heard," \
    " heard_at, created_at, updated_at, ended_at, notice, notice_until, role, id_given,"   \
    " work_user, work_dir"
#define SESSION_EVENT "session_id, number, type, at, data"
#define RUN                                                                                 \
    "run_id, session_id, session_name, type, purpose, status, mode, live, queued, profile," \
    " agent, project_dir, demand, priority, not_before, max_ms, cycle, attempt, fence,"     \
    " runner_id, token_id, lease_until, created_at, claimed_at, started_at, ended_at, seq," \
    " metadata, error, prompt, result, place, place_in_dir, result_cut"
#define RUN_OUTPUT "run_id, number, error, at, bytes, text"
#define RUNNER                                                                    \
    "runner_id, token_id, name, hostname, project_dir, tags, profiles, capacity," \
    " registered_at, seen_at, lost, looked, work_user"
#define CALLBACK                                                                \
    "callback_id, parent_id, child_id, child_name, cycle, seq, status, run_id," \
    " child_status, update_status, state_version, error, created_at, delivered_at"
#define PERMISSION                                                                          \
    "permission_id, session_id, session_name, client, tool, digest, input, status, reason," \
    " decided_by, used_by, seq, created_at, decided_at"

/* The log comes first: it is nearly all there is, so the rest adds little to how long it takes. */
const struct rows_table rows_tables[] = {
    {
        .name = "log",
        .keys = { SQL_INT },
        .columns = 12,
        .texts = { 10, 11 },
        .count = "SELECT count(*) FROM log",
        .page = "SELECT " LOG " FROM log WHERE seq > $1 ORDER BY seq LIMIT $2",
        .insert = "INSERT INTO log (" LOG ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    },
    {
        .name = "schema",
        .keys = { SQL_TEXT, SQL_INT },
        .columns = 7,
        .texts = { 3 },
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
        .columns = 9,
        .texts = { 4 },
        .count = "SELECT count(*) FROM token",
        .page = "SELECT " TOKEN " FROM token WHERE token_id > $1 ORDER BY token_id LIMIT $2",
        .insert = "INSERT INTO token (" TOKEN ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    },
    {
        .name = "idempotency",
        .keys = { SQL_TEXT, SQL_TEXT },
        .columns = 5,
        .texts = { 3 },
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
        .name = "entry",
        .keys = { SQL_INT, SQL_TEXT },
        .columns = 6,
        .texts = { 2 },
        .count = "SELECT count(*) FROM entry",
        .page = "SELECT " ENTRY " FROM entry WHERE (catalog, name) > ($1, $2)"
                " ORDER BY catalog, name LIMIT $3",
        .insert = "INSERT INTO entry (" ENTRY ")"
                  " VALUES ($1, $2, $3, $4, $5, $6)",
    },
    {
        .name = "session",
        .keys = { SQL_TEXT },
        .columns = 42,
        .texts = { 11, 23, 30 },
        .count = "SELECT count(*) FROM session",
        .page = "SELECT " SESSION " FROM session WHERE session_id > $1"
                " ORDER BY session_id LIMIT $2",
        .insert = "INSERT INTO session (" SESSION ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
                  " $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,"
                  " $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42)",
    },
    {
        .name = "session_event",
        .keys = { SQL_TEXT, SQL_INT },
        .columns = 5,
        .texts = { 4 },
        .count = "SELECT count(*) FROM session_event",
        .page = "SELECT " SESSION_EVENT " FROM session_event WHERE (session_id, number) > ($1, $2)"
                " ORDER BY session_id, number LIMIT $3",
        .insert = "INSERT INTO session_event (" SESSION_EVENT ")"
                  " VALUES ($1, $2, $3, $4, $5)",
    },
    {
        .name = "run",
        .keys = { SQL_TEXT },
        .columns = 34,
        .texts = { 12, 27 },
        .count = "SELECT count(*) FROM run",
        .page = "SELECT " RUN " FROM run WHERE run_id > $1"
                " ORDER BY run_id LIMIT $2",
        .insert = "INSERT INTO run (" RUN ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
                  " $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,"
                  " $29, $30, $31, $32, $33, $34)",
    },
    {
        .name = "run_output",
        .keys = { SQL_TEXT, SQL_INT },
        .columns = 6,
        .count = "SELECT count(*) FROM run_output",
        .page = "SELECT " RUN_OUTPUT " FROM run_output WHERE (run_id, number) > ($1, $2)"
                " ORDER BY run_id, number LIMIT $3",
        .insert = "INSERT INTO run_output (" RUN_OUTPUT ")"
                  " VALUES ($1, $2, $3, $4, $5, $6)",
    },
    {
        .name = "runner",
        .keys = { SQL_TEXT },
        .columns = 13,
        .texts = { 5, 6 },
        .count = "SELECT count(*) FROM runner",
        .page = "SELECT " RUNNER " FROM runner WHERE runner_id > $1"
                " ORDER BY runner_id LIMIT $2",
        .insert = "INSERT INTO runner (" RUNNER ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    },
    {
        .name = "callback",
        .keys = { SQL_TEXT },
        .columns = 14,
        .count = "SELECT count(*) FROM callback",
        .page = "SELECT " CALLBACK " FROM callback WHERE callback_id > $1"
                " ORDER BY callback_id LIMIT $2",
        .insert = "INSERT INTO callback (" CALLBACK ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    },
    {
        .name = "permission",
        .keys = { SQL_TEXT },
        .columns = 14,
        .texts = { 6 },
        .count = "SELECT count(*) FROM permission",
        .page = "SELECT " PERMISSION " FROM permission WHERE permission_id > $1"
                " ORDER BY permission_id LIMIT $2",
        .insert = "INSERT INTO permission (" PERMISSION ")"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    },
    {
        .name = "tie",
        .keys = { SQL_TEXT, SQL_TEXT },
        .columns = 4,
        .count = "SELECT count(*) FROM tie",
        .page = "SELECT kind, what, session_id, at FROM tie WHERE (kind, what) > ($1, $2)"
                " ORDER BY kind, what LIMIT $3",
        .insert = "INSERT INTO tie (kind, what, session_id, at) VALUES ($1, $2, $3, $4)",
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
