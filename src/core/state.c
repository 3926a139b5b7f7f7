/* state.c: versioned documents. */
#include "core/state.h"

#include <assert.h>

#include "core/token.h"
#include "json/diff.h"
#include "json/patch.h"

enum {
    SNAPSHOT_VERSIONS = 100, /* a whole body is logged at least every so many versions */
    PATCH_OPERATIONS_MAX = 1000,
};

/* ---- rows ---- */

#define STATE_COLUMNS                                                                     \
    "state_id, schema_id, root_session, version, body, last_seq, snap_seq, snap_version," \
    " patch_bytes, created_at, updated_at"

static void state_read(const struct row *r, struct state *out)
{
    *out = (struct state){
        .id = row_str(r, 0),
        .schema_id = row_str(r, 1),
        .root_session = row_str(r, 2),
        .version = row_int(r, 3),
        .body = row_str(r, 4),
        .last_seq = row_int(r, 5),
        .snap_seq = row_int(r, 6),
        .snap_version = row_int(r, 7),
        .patch_bytes = row_int(r, 8),
        .created_at_ms = row_int(r, 9),
        .updated_at_ms = row_int(r, 10),
    };
}

err state_get(struct tx *tx, str id, struct state *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " STATE_COLUMNS " FROM state WHERE state_id = $1",
                ARGS(TEXT(id))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no state " STR_FMT, STR_ARG(id));
    state_read(row, out);
    return NULL;
}

/* The state and its document, for a write that expects a version. */
static err state_load(struct tx *tx, str id, int64_t expected, struct state *out, struct json *doc)
{
    const struct json *parsed;

    TRY(state_get(tx, id, out));
    if (expected && expected != out->version) {
        err e = err_new(tx->arena, tx->precondition ? ERR_PRECONDITION : ERR_CONFLICT,
                        "state " STR_FMT " is at version %lld, expected %lld: read it again and "
                        "repeat the change on what it is now",
                        STR_ARG(id), (long long)out->version, (long long)expected);
        return err_with(tx->arena, e,
                        arena_printf(tx->arena, "\"current_version\":%lld",
                                     (long long)out->version));
    }
    TRY(json_parse(tx->arena, out->body, NULL, &parsed));
    *doc = *parsed;
    return NULL;
}

/* ---- writing ---- */

static err document_check(struct tx *tx, const struct schema_version *schema,
                          const struct json *doc, str printed)
{
    struct schema *program;

    if (printed.len > STATE_BYTES_MAX)
        return err_new(tx->arena, ERR_TOO_LARGE,
                       "the state would have %zu bytes, at most %u are allowed", printed.len,
                       STATE_BYTES_MAX);
    TRY(schema_program(tx, schema, &program));
    return schema_require(tx->arena, program, doc);
}

/* Appends the version to the log, with its whole body when the last one is far, or when the
 * patches since then have outgrown it. */
static err version_log(struct tx *tx, struct state *s, enum event_type type, str patch)
{
    bool whole = s->version == 1 || s->version - s->snap_version >= SNAPSHOT_VERSIONS ||
                 s->patch_bytes + (int64_t)patch.len > (int64_t)s->body.len;
    struct event *e;

    TRY(event_emit(tx,
                   (struct event){ .type = type,
                                   .subject = s->id,
                                   .version = s->version,
                                   .prev_seq = s->last_seq,
                                   .snap_seq = s->snap_seq,
                                   .data = patch,
                                   .body = whole ? s->body : STR("") },
                   &e));
    s->last_seq = e->seq;
    s->patch_bytes = whole ? 0 : s->patch_bytes + (int64_t)patch.len;
    if (whole) {
        s->snap_seq = e->seq;
        s->snap_version = s->version;
    }
    return NULL;
}

err state_create(struct tx *tx, const struct schema_version *schema, const struct json *data,
                 str root_session, struct state *out)
{
    *out = (struct state){
        .id = tx_id(tx, "wfstate_"),
        .schema_id = schema->id,
        .root_session = root_session,
        .version = 1,
        .body = json_printed(tx->arena, data),
        .created_at_ms = tx->now_ms,
        .updated_at_ms = tx->now_ms,
    };
    TRY(document_check(tx, schema, data, out->body));
    TRY(version_log(tx, out, EVENT_STATE_CREATED, STR("")));
    return sql_exec(tx->sql,
                    "INSERT INTO state (" STATE_COLUMNS ")"
                    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                    ARGS(TEXT(out->id), TEXT(out->schema_id), TEXT(out->root_session),
                         INT(out->version), TEXT(out->body), INT(out->last_seq), INT(out->snap_seq),
                         INT(out->snap_version), INT(out->patch_bytes), INT(out->created_at_ms),
                         INT(out->updated_at_ms)));
}

static str sections_shown(struct tx *tx)
{
    struct buf out = buf_in(tx->arena);

    for (size_t i = 0; i < tx->actor->pointer_count; i++)
        buf_printf(&out, "%s" STR_FMT, i ? ", " : "", STR_ARG(tx->actor->pointers[i]));
    return tx->actor->pointer_count ? buf_str(&out) : STR("nothing");
}

/* A session with sections of its own changes nothing outside of them. */
static err sections_check(struct tx *tx, const struct json *patch)
{
    for (uint32_t i = 0; tx->actor->pointers && i < patch->len; i++) {
        const struct json *op = &patch->items[i];
        str places[2] = { json_str(op, "path"), json_str(op, "from") };
        bool reads_from = str_eq(json_str(op, "op"), STR("copy"));
        for (int p = 0; p < 2; p++) {
            bool writes = p == 0 ? !str_eq(json_str(op, "op"), STR("test"))
                                 : json_get(op, "from") && !reads_from;
            if (writes && !actor_may_write(tx->actor, places[p]))
                return err_new(tx->arena, ERR_FORBIDDEN,
                               "operation %u changes \"" STR_FMT
                               "\", which is outside of what this "
                               "session may write: " STR_FMT,
                               (unsigned)i, STR_ARG(places[p]), STR_ARG(sections_shown(tx)));
        }
    }
    return NULL;
}

/* Makes the next version out of a changed document. */
static err state_write(struct tx *tx, struct state *s, const struct json *doc, str patch)
{
    struct schema_version schema;

    TRY(schema_by_id(tx, s->schema_id, &schema));
    s->body = json_printed(tx->arena, doc);
    TRY(document_check(tx, &schema, doc, s->body));
    s->version++;
    s->updated_at_ms = tx->now_ms;
    TRY(version_log(tx, s, EVENT_STATE_UPDATED, patch));
    return sql_exec(tx->sql,
                    "UPDATE state SET version = $2, body = $3, last_seq = $4, snap_seq = $5,"
                    " snap_version = $6, patch_bytes = $7, updated_at = $8 WHERE state_id = $1",
                    ARGS(TEXT(s->id), INT(s->version), TEXT(s->body), INT(s->last_seq),
                         INT(s->snap_seq), INT(s->snap_version), INT(s->patch_bytes),
                         INT(s->updated_at_ms)));
}

/* The write of a whole new document: what it changes is found by comparing. */
static err state_write_diff(struct tx *tx, struct state *s, const struct json *from,
                            const struct json *to)
{
    struct json patch = json_diff(tx->arena, from, to, 0);

    TRY(sections_check(tx, &patch));
    return state_write(tx, s, to, json_printed(tx->arena, &patch));
}

err state_replace(struct tx *tx, str id, const struct json *data, int64_t expected,
                  struct state *out)
{
    struct json doc;

    TRY(state_load(tx, id, expected, out, &doc));
    return state_write_diff(tx, out, &doc, data);
}

err state_patch(struct tx *tx, str id, const struct json *operations, int64_t expected,
                struct state *out)
{
    struct json_patch_limits limits = { .operations_max = PATCH_OPERATIONS_MAX,
                                        .copy_bytes_max = 2 * STATE_BYTES_MAX };
    struct json doc;

    TRY(state_load(tx, id, expected, out, &doc));
    TRY(json_patch(tx->arena, &doc, operations, &limits));
    TRY(sections_check(tx, operations));
    return state_write(tx, out, &doc, json_printed(tx->arena, operations));
}

err state_merge(struct tx *tx, str id, const struct json *patch, int64_t expected,
                struct state *out)
{
    struct json doc, before;

    TRY(state_load(tx, id, expected, out, &doc));
    before = json_copy(tx->arena, &doc);
    TRY(json_merge(tx->arena, &doc, patch, NULL));
    return state_write_diff(tx, out, &before, &doc);
}

err state_rollback(struct tx *tx, str id, int64_t version, int64_t expected, struct state *out)
{
    struct json doc, old;

    TRY(state_load(tx, id, expected, out, &doc));
    TRY(state_at(tx, out, version, &old));
    return state_write_diff(tx, out, &doc, &old);
}

err state_delete(struct tx *tx, str id, int64_t expected)
{
    struct state s;
    struct json doc;

    TRY(state_load(tx, id, expected, &s, &doc));
    TRY(event_emit(tx,
                   (struct event){ .type = EVENT_STATE_DELETED,
                                   .subject = id,
                                   .version = s.version,
                                   .prev_seq = s.last_seq },
                   NULL));
    return sql_exec(tx->sql, "DELETE FROM state WHERE state_id = $1", ARGS(TEXT(id)));
}

/* ---- older versions ---- */

static err row_of(struct tx *tx, const struct state *s, int64_t seq, const struct event **out)
{
    TRY(event_get(tx, seq, out));
    if (!*out)
        return err_new(tx->arena, ERR_GONE,
                       "that version of state " STR_FMT " was compacted and is not kept any more",
                       STR_ARG(s->id));
    assert(str_eq((*out)->subject, s->id));
    return NULL;
}

/* The last row with a whole body up to a version, and the rows of the versions after it. From the
 * newest row one goes back from body to body, so that a version is at most a body's distance away
 * from one, however long the history is. */
static err chain_to(struct tx *tx, const struct state *s, int64_t version,
                    const struct event **body, const struct event ***rows, size_t *count)
{
    const struct event *row;

    TRY(row_of(tx, s, s->last_seq, &row));
    for (;;) {
        TRY(row_of(tx, s, row->snap_seq, body));
        if ((*body)->version <= version)
            break;
        TRY(row_of(tx, s, (*body)->prev_seq, &row));
    }
    *count = (size_t)(version - (*body)->version);
    *rows = ARENA_ARRAY(tx->arena, const struct event *, *count);
    while (row->version > (*body)->version) {
        if (row->version <= version)
            (*rows)[row->version - (*body)->version - 1] = row;
        TRY(row_of(tx, s, row->prev_seq, &row));
    }
    return NULL;
}

err state_at(struct tx *tx, const struct state *state, int64_t version, struct json *out)
{
    const struct event *body, **rows;
    const struct json *parsed, *patch;
    size_t count;

    if (version < 1 || version > state->version)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "state " STR_FMT " has no version %lld: its newest is %lld",
                       STR_ARG(state->id), (long long)version, (long long)state->version);
    TRY(chain_to(tx, state, version, &body, &rows, &count));
    TRY(json_parse(tx->arena, body->body, NULL, &parsed));
    *out = *parsed;
    struct json_patch_limits unlimited = { .operations_max = UINT32_MAX,
                                           .copy_bytes_max = SIZE_MAX };
    for (size_t i = 0; i < count; i++) {
        TRY(json_parse(tx->arena, rows[i]->data, NULL, &patch));
        TRY(json_patch(tx->arena, out, patch, &unlimited));
    }
    return NULL;
}

err state_history(struct tx *tx, const struct state *state, int64_t before, int64_t limit,
                  const struct event **out, size_t *count)
{
    struct event *rows = NULL;
    int64_t seq = state->last_seq;

    *count = 0;
    while (seq && (int64_t)*count < limit) {
        const struct event *row;
        TRY(event_get(tx, seq, &row));
        if (!row)
            break; /* older ones are compacted */
        seq = row->prev_seq;
        if (before && row->version >= before)
            continue;
        rows = arena_grow(tx->arena, rows, *count * sizeof *rows, (*count + 1) * sizeof *rows);
        rows[(*count)++] = *row;
    }
    *out = rows;
    return NULL;
}
