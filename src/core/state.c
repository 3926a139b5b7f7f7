/* state.c: the rows of states, one by one and in lists. */
#include "core/state.h"

#define STATE_COLUMNS                                                                    \
    "state_id, schema_id, schema_name, schema_version, root_session, version, last_seq," \
    " snap_seq, snap_version, patch_bytes, created_at, updated_at"

static void state_read(const struct row *r, struct state *out)
{
    *out = (struct state){
        .id = row_str(r, 0),
        .schema_id = row_str(r, 1),
        .schema_name = row_str(r, 2),
        .schema_version = row_int(r, 3),
        .root_session = row_str(r, 4),
        .version = row_int(r, 5),
        .last_seq = row_int(r, 6),
        .snap_seq = row_int(r, 7),
        .snap_version = row_int(r, 8),
        .patch_bytes = row_int(r, 9),
        .created_at_ms = row_int(r, 10),
        .updated_at_ms = row_int(r, 11),
    };
}

static bool in_reach(const struct tx *tx, str id)
{
    return !tx->actor->state_id.len || str_eq(tx->actor->state_id, id);
}

err state_get(struct tx *tx, str id, struct state *out)
{
    const struct row *row = NULL;

    if (in_reach(tx, id))
        TRY(sql_one(tx->sql, &row, "SELECT " STATE_COLUMNS ", body FROM state WHERE state_id = $1",
                    ARGS(TEXT(id))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no state " STR_FMT, STR_ARG(id));
    state_read(row, out);
    out->body = row_str(row, 12);
    return NULL;
}

/* Each filter has the index that its statement needs: lists of one page read one page. */
static err rows_list(struct tx *tx, const struct state_filter *f, const struct row **rows,
                     size_t *count)
{
    if (f->root_session.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " STATE_COLUMNS " FROM state"
                       " WHERE root_session = $1 AND state_id > $2"
                       "   AND ($3 = '' OR schema_name = $3)"
                       " ORDER BY state_id LIMIT $4",
                       ARGS(TEXT(f->root_session), TEXT(f->after), TEXT(f->schema_name),
                            INT(f->limit)));
    if (f->schema_name.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " STATE_COLUMNS " FROM state"
                       " WHERE schema_name = $1 AND state_id > $2"
                       "   AND ($3 = 0 OR root_session <> '')"
                       " ORDER BY state_id LIMIT $4",
                       ARGS(TEXT(f->schema_name), TEXT(f->after), INT(f->active), INT(f->limit)));
    if (f->active)
        return sql_all(tx->sql, rows, count,
                       "SELECT " STATE_COLUMNS " FROM state"
                       " WHERE root_session <> '' AND state_id > $1"
                       " ORDER BY state_id LIMIT $2",
                       ARGS(TEXT(f->after), INT(f->limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT " STATE_COLUMNS " FROM state WHERE state_id > $1"
                   " ORDER BY state_id LIMIT $2",
                   ARGS(TEXT(f->after), INT(f->limit)));
}

/* The list of an actor that sees one state. */
static err one_list(struct tx *tx, const struct state_filter *f, const struct row **rows,
                    size_t *count)
{
    return sql_all(tx->sql, rows, count,
                   "SELECT " STATE_COLUMNS " FROM state"
                   " WHERE state_id = $1 AND state_id > $2"
                   "   AND ($3 = '' OR root_session = $3) AND ($4 = '' OR schema_name = $4)"
                   "   AND ($5 = 0 OR root_session <> '')",
                   ARGS(TEXT(tx->actor->state_id), TEXT(f->after), TEXT(f->root_session),
                        TEXT(f->schema_name), INT(f->active)));
}

err state_list(struct tx *tx, const struct state_filter *f, const struct state **out, size_t *count)
{
    const struct row *rows;

    TRY(tx->actor->state_id.len ? one_list(tx, f, &rows, count) : rows_list(tx, f, &rows, count));
    struct state *all = ARENA_ARRAY(tx->arena, struct state, *count);
    for (size_t i = 0; i < *count; i++)
        state_read(&rows[i], &all[i]);
    *out = all;
    return NULL;
}
