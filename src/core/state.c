/* state.c: the rows of states, one by one and in lists. */
#include "core/state.h"

#include <assert.h>
#include <stdlib.h>

#include "core/columns.h"
#include "core/token.h"

/* What lists have of a state, and the name of its session. */
#define STATE_READ     \
    STATE_LISTED_NAMES \
    ", coalesce((SELECT r.name FROM session r WHERE r.session_id = root_session), root_session)"

/* In lists, what its schema is for, too. */
#define STATE_READ_LISTED \
    STATE_READ            \
    ", coalesce((SELECT k.description FROM schema k WHERE k.schema_id = state.schema_id), '')"

/* Live sessions are few, however many states there are. */
#define ACTIVE \
    "state_id IN (SELECT r.state_id FROM session r WHERE r.live = 1 AND r.parent_id = '')"

/* Gives the column behind those that all have. */
static size_t head_read(struct tx *tx, const struct row *row, struct state *out)
{
    *out = (struct state){ .version = 0 };
    size_t next = COLUMNS_READ(STATE_LISTED, tx, row, "state", out);
    out->root_name = row_str(row, next++);
    return next;
}

/* A whole one has its body after that. */
static void state_read(struct tx *tx, const struct row *row, struct state *out)
{
    size_t next = head_read(tx, row, out);

    if (next < row->count)
        out->body = row_str(row, next);
}

/* What is known lives in the arena of another command of the batch, and ends with that: the id goes
 * into events and answers, so it is copied; all else is printed before it goes anywhere. */
static bool state_known(struct tx *tx, str id, struct state *out)
{
    const struct state *known = tx->ahead ? map_get(&tx->ahead->states, id) : NULL;

    if (!known)
        return false;
    *out = *known;
    out->id = arena_copy(tx->arena, id);
    return true;
}

static err not_there(struct tx *tx, str id)
{
    return err_new(tx->arena, ERR_NOT_FOUND, "there is no state " STR_FMT, STR_ARG(id));
}

err state_load(struct tx *tx, str id, struct state *out)
{
    const struct row *row;

    if (state_known(tx, id, out))
        return NULL;
    TRY(sql_one(tx->sql, &row, "SELECT " STATE_READ ", body FROM state WHERE state_id = $1",
                ARGS(TEXT(id))));
    if (!row)
        return not_there(tx, id);
    state_read(tx, row, out);
    return NULL;
}

/* ---- names ---- */

bool state_is_id(str text)
{
    return str_starts(text, STR("wfstate_"));
}

/* What is only dots is another place in the path of a URL. */
bool state_is_name(str text)
{
    bool dots = true;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i], low = (char)(c | 0x20);
        if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-' &&
            c != '.')
            return false;
        dots = dots && c == '.';
    }
    return !dots && text.len <= STATE_NAME_MAX && !state_is_id(text);
}

err state_resolve(struct tx *tx, str *id_or_name)
{
    const struct row *row;

    if (!state_is_name(*id_or_name))
        return NULL;
    TRY(sql_one(tx->sql, &row, "SELECT state_id FROM state WHERE name = $1 AND name <> ''",
                ARGS(TEXT(*id_or_name))));
    if (row)
        *id_or_name = row_str(row, 0);
    return NULL;
}

/* The id of what the actor means, if it is in its reach: of others it does not hear that they are
 * there. */
static err state_reach(struct tx *tx, str id_or_name, str *id)
{
    *id = id_or_name;
    TRY(state_resolve(tx, id));
    return actor_reads(tx->actor, *id) ? NULL : not_there(tx, id_or_name);
}

err state_head(struct tx *tx, str id_or_name, struct state *out)
{
    const struct row *row;
    str id;

    TRY(state_reach(tx, id_or_name, &id));
    if (state_known(tx, id, out))
        return NULL;
    TRY(sql_one(tx->sql, &row, "SELECT " STATE_READ " FROM state WHERE state_id = $1",
                ARGS(TEXT(id))));
    if (!row)
        return not_there(tx, id);
    state_read(tx, row, out);
    return NULL;
}

err state_get(struct tx *tx, str id_or_name, struct state *out)
{
    str id;

    TRY(state_reach(tx, id_or_name, &id));
    return state_load(tx, id, out);
}

err state_get_to_write(struct tx *tx, str id_or_name, struct state *out)
{
    TRY(state_get(tx, id_or_name, out));
    if (actor_sees(tx->actor, out->id))
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "this token may read the state " STR_FMT ", and not write to it%s" STR_FMT,
                   STR_ARG(id_or_name), tx->actor->state_id.len ? ": its own is " : "",
                   STR_ARG(tx->actor->state_id));
}

/* ---- reading ahead ---- */

enum { AHEAD_IDS = 24 }; /* by one statement */

#define AHEAD_PARAMETERS                                                                    \
    "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19," \
    " $20, $21, $22, $23, $24"

/* Parameters that are left over get the last id again. */
static err some_read_ahead(struct tx *tx, const str *ids, size_t count)
{
    struct sql_value values[AHEAD_IDS];
    const struct row *rows;
    size_t found;

    assert(count > 0 && count <= AHEAD_IDS);
    for (size_t i = 0; i < AHEAD_IDS; i++)
        values[i] = TEXT(ids[i < count ? i : count - 1]);
    TRY(sql_all(tx->sql, &rows, &found,
                "SELECT " STATE_READ ", body FROM state WHERE state_id IN (" AHEAD_PARAMETERS ")",
                ((struct sql_args){ values, AHEAD_IDS })));
    for (size_t i = 0; i < found; i++) {
        struct state *s = ARENA_NEW(tx->arena, struct state);
        state_read(tx, &rows[i], s);
        map_put(&tx->ahead->states, s->id, s);
    }
    return NULL;
}

err state_read_ahead(struct tx *tx, const str *ids, size_t count)
{
    for (size_t i = 0; i < count; i += AHEAD_IDS)
        TRY(some_read_ahead(tx, ids + i, count - i < AHEAD_IDS ? count - i : AHEAD_IDS));
    return NULL;
}

void state_remember(struct tx *tx, str id, const struct state *now)
{
    struct state *copy = NULL;

    assert(!now || str_eq(now->id, id));
    if (!tx->ahead)
        return;
    if (now) {
        copy = ARENA_NEW(tx->arena, struct state);
        *copy = *now;
    }
    map_put(&tx->ahead->states, id, copy);
}

/* ---- lists ---- */

/* Each filter has the index that its statement needs: lists of one page read one page. */
static err rows_list(struct tx *tx, const struct state_filter *f, const struct row **rows,
                     size_t *count)
{
    if (f->root_session.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " STATE_READ_LISTED " FROM state"
                       " WHERE root_session = $1 AND state_id > $2"
                       "   AND ($3 = '' OR schema_name = $3) AND ($4 = 0 OR " ACTIVE ")"
                       " ORDER BY state_id LIMIT $5",
                       ARGS(TEXT(f->root_session), TEXT(f->after), TEXT(f->schema_name),
                            INT(f->active), INT(f->limit)));
    if (f->schema_name.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " STATE_READ_LISTED " FROM state"
                       " WHERE schema_name = $1 AND state_id > $2"
                       "   AND ($3 = 0 OR " ACTIVE ")"
                       " ORDER BY state_id LIMIT $4",
                       ARGS(TEXT(f->schema_name), TEXT(f->after), INT(f->active), INT(f->limit)));
    if (f->active)
        return sql_all(tx->sql, rows, count,
                       "SELECT " STATE_READ_LISTED " FROM state"
                       " WHERE " ACTIVE " AND state_id > $1"
                       " ORDER BY state_id LIMIT $2",
                       ARGS(TEXT(f->after), INT(f->limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT " STATE_READ_LISTED " FROM state WHERE state_id > $1"
                   " ORDER BY state_id LIMIT $2",
                   ARGS(TEXT(f->after), INT(f->limit)));
}

/* One of the states that an actor reads who does not see all; no row: it is not there, or not meant. */
static err one_list(struct tx *tx, const struct state_filter *f, str id, const struct row **row)
{
    return sql_one(tx->sql, row,
                   "SELECT " STATE_READ_LISTED " FROM state"
                   " WHERE state_id = $1 AND state_id > $2"
                   "   AND ($3 = '' OR root_session = $3) AND ($4 = '' OR schema_name = $4)"
                   "   AND ($5 = 0 OR " ACTIVE ")",
                   ARGS(TEXT(id), TEXT(f->after), TEXT(f->root_session), TEXT(f->schema_name),
                        INT(f->active)));
}

static int by_bytes(const void *a, const void *b)
{
    return str_compare(*(const str *)a, *(const str *)b);
}

/* The list of an actor that sees one state, or none, and reads a few more. */
static err few_list(struct tx *tx, const struct state_filter *f, const struct row **rows,
                    size_t *count)
{
    const struct actor *a = tx->actor;
    struct row *found = ARENA_ARRAY(tx->arena, struct row, a->read_count + 1);
    str *ids = ARENA_ARRAY(tx->arena, str, a->read_count + 1);
    const struct row *row;

    ids[0] = a->state_id;
    for (size_t i = 0; i < a->read_count; i++)
        ids[i + 1] = a->reads[i];
    qsort(ids, a->read_count + 1, sizeof *ids, by_bytes);
    *count = 0;
    for (size_t i = 0; i <= a->read_count && (int64_t)*count < f->limit; i++) {
        if (i > 0 && str_eq(ids[i], ids[i - 1]))
            continue;
        TRY(one_list(tx, f, ids[i], &row));
        if (row)
            found[(*count)++] = *row;
    }
    *rows = found;
    return NULL;
}

err state_list(struct tx *tx, const struct state_filter *f, const struct state **out, size_t *count)
{
    const struct row *rows;

    bool few = tx->actor->state_id.len || tx->actor->kind == ACTOR_SESSION;
    TRY(few ? few_list(tx, f, &rows, count) : rows_list(tx, f, &rows, count));
    struct state *all = ARENA_ARRAY(tx->arena, struct state, *count);
    for (size_t i = 0; i < *count; i++) {
        size_t next = head_read(tx, &rows[i], &all[i]);
        all[i].schema_description = row_str(&rows[i], next);
    }
    *out = all;
    return NULL;
}
