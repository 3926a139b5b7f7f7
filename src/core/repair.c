/* repair.c: a damaged state, made whole again from what is known better.
 *
 * Its statements go to the functions below the macros of sql.h, since no operation leads to them;
 * the tests of repairing run them on both databases. */
#include "core/repair.h"

#include <assert.h>

#include "base/digest.h"
#include "core/rows.h"
#include "core/state.h"
#include "core/stored.h"

/* ---- rows as they are ---- */

/* Where each column is: LOG_AT_subject. */
#define LOG_AT(column, kind, when, value) LOG_AT_##column,
enum { LOG_COLUMNS(LOG_AT, ) };

static err log_row(struct tx *tx, int64_t seq, const struct row **out)
{
    return sql_one_(tx->sql, out, "SELECT " LOG_NAMES " FROM log WHERE seq = $1", ARGS(INT(seq)));
}

static bool rows_equal(const struct row *a, const struct row *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct sql_value *x = &a->values[i], *y = &b->values[i];
        if (x->kind != y->kind || x->number != y->number || !str_eq(x->bytes, y->bytes))
            return false;
    }
    return true;
}

/* What says that both are the same event, one of them perhaps damaged. */
static bool is_same_event(const struct row *a, const struct row *b)
{
    return row_int(a, LOG_AT_time) == row_int(b, LOG_AT_time) &&
           (row_int(a, LOG_AT_version) == row_int(b, LOG_AT_version) ||
            str_eq(row_str(a, LOG_AT_subject), row_str(b, LOG_AT_subject)));
}

static err log_put(struct tx *tx, const struct row *row)
{
    TRY(sql_exec_(tx->sql, "DELETE FROM log WHERE seq = $1", ARGS(INT(row_int(row, LOG_AT_seq)))));
    return sql_exec_(tx->sql, INSERT_INTO(log, LOG_COLUMNS),
                     ((struct sql_args){ row->values, row->count }));
}

/* ---- parts of a state ---- */

/* From the newest row back: what is missing here, or is another than in the copy, comes from there. */
static err history_repair(struct tx *tx, struct tx *copy, const struct state *s, struct repair *out)
{
    for (int64_t seq = s->last_seq; seq > 0;) {
        const struct row *here, *there;
        TRY(log_row(tx, seq, &here));
        TRY(log_row(copy, seq, &there));
        if (there && !str_eq(row_str(there, LOG_AT_subject), s->id))
            there = NULL;
        if (there && (!here || (is_same_event(here, there) && !rows_equal(here, there)))) {
            TRY(log_put(tx, there));
            out->events++;
            here = there;
        }
        if (!here || row_int(here, LOG_AT_prev_seq) >= seq)
            return NULL;
        seq = row_int(here, LOG_AT_prev_seq);
    }
    return NULL;
}

static err row_repair(struct tx *tx, const struct state *s, const struct state *c,
                      struct repair *out)
{
    bool same = s->updated_at_ms == c->updated_at_ms &&
                (s->version == c->version || s->last_seq == c->last_seq);

    bool equal = str_eq(s->body, c->body) && str_eq(s->schema_id, c->schema_id) &&
                 str_eq(s->schema_name, c->schema_name) && s->schema_version == c->schema_version &&
                 s->version == c->version && s->last_seq == c->last_seq &&
                 s->snap_seq == c->snap_seq && s->snap_version == c->snap_version &&
                 s->patch_bytes == c->patch_bytes;

    if (!same || equal)
        return NULL;
    out->row = true;
    return sql_exec_(tx->sql,
                     "UPDATE state SET schema_id = $2, schema_name = $3, schema_version = $4,"
                     " version = $5, last_seq = $6, snap_seq = $7, snap_version = $8,"
                     " patch_bytes = $9, body = $10 WHERE state_id = $1",
                     ARGS(TEXT(s->id), TEXT(c->schema_id), TEXT(c->schema_name),
                          INT(c->schema_version), INT(c->version), INT(c->last_seq),
                          INT(c->snap_seq), INT(c->snap_version), INT(c->patch_bytes),
                          TEXT(c->body)));
}

static str digest_of(struct arena *a, str text)
{
    unsigned char sum[SHA256_BYTES];

    sha256(text, sum);
    return hex_encode(a, (str){ (const char *)sum, sizeof sum });
}

/* The digest says which text was registered, whoever has it. */
static err schema_repair(struct tx *tx, struct tx *copy, const struct state *s, struct repair *out)
{
    struct schema_version here, there;

    if (schema_by_id(tx, s->schema_id, &here) || schema_by_id(copy, s->schema_id, &there) ||
        str_eq(digest_of(tx->arena, here.text), here.digest) ||
        !str_eq(digest_of(tx->arena, there.text), here.digest))
        return NULL;
    out->schema = true;
    return sql_exec_(tx->sql, "UPDATE schema SET text = $2 WHERE schema_id = $1",
                     ARGS(TEXT(here.id), TEXT(there.text)));
}

/* A document that is no JSON any more, from the last whole one and the changes since. */
static err document_repair(struct tx *tx, const struct state *s, struct repair *out)
{
    const struct event **rows = NULL, *row;
    const struct json *parsed;
    size_t count = 0, room = 0;
    struct arena *a = tx->arena;

    if (!stored_parse(tx, THING("state", s->id), s->body, &parsed))
        return NULL;
    TRY(state_row(tx, s, s->last_seq, &row));
    while (row && !row->body.len) {
        if (count == room) {
            rows = arena_grow(a, rows, room * sizeof *rows, (room * 2 + 64) * sizeof *rows);
            room = room * 2 + 64;
        }
        rows[count++] = row;
        TRY(state_row_before(tx, s, row, &row));
    }
    if (!row)
        return NULL;
    TRY(stored_parse(tx, THING("state", s->id), row->body, &parsed));
    struct json doc = *parsed;
    while (count > 0)
        TRY(state_step(tx, s, rows[--count], &doc));
    out->document = true;
    return sql_exec_(tx->sql, "UPDATE state SET body = $2 WHERE state_id = $1",
                     ARGS(TEXT(s->id), TEXT(json_printed(a, &doc))));
}

/* ---- a state ---- */

static err is_there(err e, bool *out)
{
    *out = !e;
    return e && e->kind == ERR_NOT_FOUND ? NULL : e;
}

err repair_state(struct tx *tx, struct tx *copy, str id, struct repair *out)
{
    struct state s, c;
    bool here, there = false;

    assert(tx != copy);
    *out = (struct repair){ .events = 0 };
    TRY(is_there(state_load(tx, id, &s), &here));
    if (!here)
        return NULL;
    if (copy)
        TRY(is_there(state_load(copy, id, &c), &there));
    if (there && c.created_at_ms == s.created_at_ms) {
        TRY(row_repair(tx, &s, &c, out));
        TRY(state_load(tx, id, &s));
        TRY(schema_repair(tx, copy, &s, out));
        TRY(history_repair(tx, copy, &s, out));
    }
    err e = document_repair(tx, &s, out);
    return e && e->damage ? NULL : e; /* it stays damaged, which the next check tells */
}

err repair_log_end(struct tx *tx, int64_t named)
{
    return sql_exec_(tx->sql, "UPDATE replay SET floor = $1 WHERE replay_id = 1",
                     ARGS(INT(named + 1)));
}
