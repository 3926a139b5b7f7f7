/* audit_deep.c: what holds in every database, and takes more than SQL to see.
 *
 * Documents are checked against their schemas, and histories are replayed. Who
 * calls turns memories in between, so that long histories need no more of it. */
#include <assert.h>

#include "base/digest.h"
#include "core/audit.h"
#include "core/rows.h"
#include "core/state.h"
#include "core/stored.h"

enum { TEXTS_PAGE = 100 };

/* ---- the end of the log ---- */

static int64_t number_of(const struct row *row)
{
    return row && !row_null(row, 0) ? row_int(row, 0) : 0;
}

err audit_end_read(struct tx *tx, struct audit_end *out)
{
    const struct row *row;

    out->node = *tx->seq;
    TRY(sql_one_(tx->sql, &row, "SELECT max(seq) FROM log", NO_ARGS));
    out->log = number_of(row);
    TRY(sql_one_(tx->sql, &row,
                 "SELECT max(t.seq) FROM (SELECT max(last_seq) AS seq FROM state"
                 " UNION ALL SELECT max(seq) FROM run UNION ALL SELECT max(seq) FROM callback"
                 " UNION ALL SELECT max(seq) FROM permission"
                 " UNION ALL SELECT max(seq) FROM message) AS t",
                 NO_ARGS));
    out->named = number_of(row);
    TRY(sql_one_(tx->sql, &row, "SELECT floor FROM replay WHERE replay_id = 1", NO_ARGS));
    out->floor = number_of(row);
    return NULL;
}

err audit_end_check(struct tx *tx, const struct audit_end *end)
{
    bool lost = end->log < end->node && end->floor <= end->node;
    int64_t ends = lost ? end->log : end->node;
    int64_t named = end->named > end->node ? end->named : end->node;

    if (end->log > named)
        named = end->log;
    if (!lost && named == end->node)
        return NULL;
    return err_damage(tx->arena,
                      "the log ends at event %lld, but rows of this store name event %lld: its end "
                      "was lost, and numbers would be given twice. Restore a backup that has it; "
                      "or let events go on from %lld with 'baton store check --repair --apply'",
                      (long long)ends, (long long)named, (long long)named + 1);
}

/* ---- documents ---- */

static err schema_text_check(struct tx *tx, str id)
{
    unsigned char sum[SHA256_BYTES];
    struct schema_version v;

    TRY(schema_by_id(tx, id, &v));
    sha256(v.text, sum);
    if (str_eq(hex_encode(tx->arena, (str){ (const char *)sum, sizeof sum }), v.digest))
        return NULL;
    return err_new(tx->arena, ERR_UNFIT,
                   "version %lld of its schema " STR_FMT " is not the text that was registered",
                   (long long)v.version, STR_ARG(v.name));
}

static err document_check(struct tx *tx, const struct state *s)
{
    const struct schema_rules *schema;
    const struct json *doc;

    TRY(stored_parse(tx, THING("state", s->id), s->body, &doc));
    TRY(schema_text_check(tx, s->schema_id));
    TRY(schema_rules(tx, s->schema_id, &schema));
    return schema_require(tx->arena, schema->program, doc);
}

/* ---- histories ---- */

static err differs(struct tx *tx, const struct state *s, int64_t version)
{
    return err_damage(
        tx->arena, "its history does not lead to what is stored as version %lld of state " STR_FMT,
        (long long)version, STR_ARG(s->id));
}

/* Whether the changes lead from the body of a part to what comes after it. A body that stands alone,
 * because what was before the next one is not kept, is not compared. */
static err part_replay(struct tx *tx, const struct audit_state *at, const struct event **rows,
                       size_t count, const struct event *body)
{
    const struct state *s = &at->state;
    const struct json *parsed, *next;
    struct json doc;

    TRY(stored_parse(tx, THING("state", s->id), body->body, &parsed));
    doc = *parsed;
    for (size_t i = count; i > 0; i--)
        TRY(state_step(tx, s, rows[i - 1], &doc));
    if (at->after && at->after->version != at->last->version + 1)
        return NULL;
    if (at->after)
        TRY(state_step(tx, s, at->after, &doc));
    TRY(stored_parse(tx, THING("state", s->id), at->after ? at->after->body : s->body, &next));
    return json_equal(&doc, next) ? NULL
                                  : differs(tx, s, at->after ? at->after->version : s->version);
}

static const struct event *event_copy(struct arena *a, const struct event *row)
{
    struct event *copy = ARENA_NEW(a, struct event);

    *copy = *row;
    copy->subject = arena_copy(a, row->subject);
    copy->data = arena_copy(a, row->data);
    copy->body = arena_copy(a, row->body);
    return copy;
}

/* Checks one part, and goes on to the one before it. */
static err part_check(struct tx *tx, struct audit_state *at)
{
    const struct event **rows = NULL, *row = at->last;
    size_t count = 0, room = 0;

    while (!row->body.len) {
        const struct event *before;
        if (count == room) {
            rows = arena_grow(tx->arena, rows, room * sizeof *rows, (room * 2 + 64) * sizeof *rows);
            room = room * 2 + 64;
        }
        rows[count++] = row;
        TRY(state_row_before(tx, &at->state, row, &before));
        if (!before || before->version != row->version - 1)
            return stored_damage(tx, THING("state", at->id), "a version of its history is missing");
        row = before;
    }
    TRY(part_replay(tx, at, rows, count, row));
    at->after = event_copy(tx->arena, row);
    return state_row_before(tx, &at->state, row, &at->last);
}

/* ---- states ---- */

static err state_begin(struct tx *tx, struct audit_state *at)
{
    struct state *s = &at->state;

    TRY(state_load(tx, at->id, s));
    TRY(document_check(tx, s));
    TRY(state_row(tx, s, s->last_seq, &at->last));
    return at->last->version == s->version ? NULL : differs(tx, s, s->version);
}

/* An error of the database ends the audit; one of the document is a finding. */
static bool is_of_store(err e)
{
    return !e->damage &&
           (e->kind == ERR_UNAVAILABLE || e->kind == ERR_FULL || e->kind == ERR_INTERNAL);
}

err audit_state_step(struct tx *tx, struct audit_state *at, bool *more, err *wrong)
{
    bool first = !at->begun;

    at->begun = true;
    at->id = at->state.id = arena_copy(tx->arena, at->id);
    err e = first ? state_begin(tx, at) : part_check(tx, at);
    tx->damage = NULL;
    *more = !e && at->last;
    *wrong = NULL;
    if (e && is_of_store(e))
        return e;
    *wrong = e;
    return NULL;
}

err audit_state_next(struct tx *tx, str after, str *id)
{
    struct state_filter filter = { .after = after, .limit = 1 };
    const struct state *states;
    size_t count;

    TRY(state_list(tx, &filter, &states, &count));
    *id = count ? states[0].id : STR("");
    return NULL;
}

struct audit_finding audit_state_finding(struct tx *tx, str id, err wrong)
{
    return (struct audit_finding){ .rule = "state.document",
                                   .place = arena_printf(tx->arena, "state " STR_FMT, STR_ARG(id)),
                                   .problem = wrong->message,
                                   .advice = RESTORE_STATE,
                                   .state = id };
}

/* ---- all other texts ---- */

static str row_named(struct tx *tx, const struct rows_table *t, const struct row *row)
{
    struct buf out = buf_in(tx->arena);

    buf_printf(&out, "%s", t->name);
    for (size_t i = 0; i < t->keys; i++) {
        if (t->columns[i].kind == SQL_INT)
            buf_printf(&out, " %lld", (long long)row_int(row, i));
        else
            buf_printf(&out, " " STR_FMT, STR_ARG(row_str(row, i)));
    }
    return buf_str(&out);
}

static void texts_check(struct tx *tx, const struct rows_table *t, const struct row *row,
                        audit_sink *sink, void *self)
{
    for (size_t i = 0; i < t->column_count; i++) {
        if (!t->columns[i].json || !row_str(row, i).len ||
            stored_is_json(tx, THING("text", STR("")), row_str(row, i)))
            continue;
        tx->damage = NULL;
        sink(self, &(struct audit_finding){ .rule = "text.json",
                                            .place = row_named(tx, t, row),
                                            .problem = STR("what is stored of it is not JSON"),
                                            .advice = "restore a backup, or remove it and make it "
                                                      "anew" });
    }
}

err audit_texts(struct tx *tx, struct audit_cursor *at, audit_sink *sink, void *self)
{
    assert(at->table < rows_table_count);
    const struct rows_table *t = &rows_tables[at->table];
    struct sql_value room[ROWS_KEYS_MAX + 1];
    const struct row *rows;
    size_t count = 0;

    if (rows_hold_json(t))
        TRY(sql_all_(tx->sql, &rows, &count, t->page, rows_after(t, at->last, TEXTS_PAGE, room)));
    for (size_t i = 0; i < count; i++)
        texts_check(tx, t, &rows[i], sink, self);
    if (count)
        at->last = &rows[count - 1];
    else
        *at = (struct audit_cursor){ .table = at->table + 1 };
    return NULL;
}
