/* idempotency.c: the same request twice is applied once. */
#include "core/idempotency.h"

#include <assert.h>

#include "core/columns.h"
#include "core/plant.h"
#include "core/token.h"

/* Keys belong to who uses them. A session keeps its own however often it gets a new token. The kind
 * stands before: sessions choose the ids of those below them, and none may be taken for a runner or
 * the operator of that name. */
static str owner_of(struct arena *a, const struct actor *actor)
{
    str who = actor->session_id.len ? actor->session_id : actor->name;

    return arena_printf(a, "%s " STR_FMT, actor_kind_name(actor->kind), STR_ARG(who));
}

/* ---- reading ahead ---- */

enum { AHEAD_KEYS = 12 }; /* by one statement */

// clang-format off
#define USE(actor_, key_) "(actor = $" #actor_ " AND key = $" #key_ ")"
#define AHEAD_USES                                                                       \
    USE(1, 2) " OR " USE(3, 4) " OR " USE(5, 6) " OR " USE(7, 8) " OR "                  \
    USE(9, 10) " OR " USE(11, 12) " OR " USE(13, 14) " OR " USE(15, 16) " OR "           \
    USE(17, 18) " OR " USE(19, 20) " OR " USE(21, 22) " OR " USE(23, 24)
// clang-format on

/* The name under which both are known together. */
static str use_name(struct arena *a, str owner, str key)
{
    return arena_printf(a, "%zu " STR_FMT " " STR_FMT, owner.len, STR_ARG(owner), STR_ARG(key));
}

static void remember(struct tx *tx, const struct idempotency *i)
{
    struct idempotency *copy = ARENA_NEW(tx->arena, struct idempotency);

    *copy = *i;
    map_put(&tx->ahead->keys, use_name(tx->arena, i->actor, i->key), copy);
}

/* Parameters that are left over get the last key again. One pair after the other, because SQLite reads
 * the whole table for a list of pairs. */
static err some_read_ahead(struct tx *tx, const struct idempotency_use *uses, size_t count)
{
    struct sql_value values[2 * AHEAD_KEYS];
    const struct row *rows;
    size_t found;

    assert(count > 0 && count <= AHEAD_KEYS);
    for (size_t i = 0; i < AHEAD_KEYS; i++) {
        const struct idempotency_use *use = &uses[i < count ? i : count - 1];
        struct idempotency none = { .actor = owner_of(tx->arena, use->actor), .key = use->key };
        values[2 * i] = TEXT(none.actor);
        values[2 * i + 1] = TEXT(none.key);
        remember(tx, &none);
    }
    TRY(sql_all(tx->sql, &rows, &found,
                "SELECT " IDEMPOTENCY_NAMES " FROM idempotency WHERE " AHEAD_USES,
                ((struct sql_args){ values, 2 * AHEAD_KEYS })));
    for (size_t i = 0; i < found; i++) {
        struct idempotency stored;
        COLUMNS_READ(IDEMPOTENCY_COLUMNS, tx, &rows[i], "key", (&stored));
        remember(tx, &stored);
    }
    return NULL;
}

err idempotency_read_ahead(struct tx *tx, const struct idempotency_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i += AHEAD_KEYS)
        TRY(some_read_ahead(tx, uses + i, count - i < AHEAD_KEYS ? count - i : AHEAD_KEYS));
    return NULL;
}

/* ---- one key ---- */

static err key_get(struct tx *tx, str key, struct idempotency *out)
{
    const struct idempotency *known = NULL;
    const struct row *row;

    *out = (struct idempotency){ .actor = owner_of(tx->arena, tx->actor), .key = key };
    if (tx->ahead)
        known = map_get(&tx->ahead->keys, use_name(tx->arena, out->actor, key));
    if (known) {
        *out = *known;
        return NULL;
    }
    TRY(sql_one(tx->sql, &row,
                "SELECT " IDEMPOTENCY_NAMES " FROM idempotency"
                " WHERE actor = $1 AND key = $2",
                ARGS(TEXT(out->actor), TEXT(key))));
    if (row)
        COLUMNS_READ(IDEMPOTENCY_COLUMNS, tx, row, "key", out);
    return NULL;
}

err idempotency_find(struct tx *tx, str key, str digest, str *answer)
{
    struct idempotency given;

    *answer = STR("");
    if (key.len == 0 || key.len > IDEMPOTENCY_KEY_MAX)
        return err_new(tx->arena, ERR_INVALID,
                       "expected an Idempotency-Key of 1 to %d bytes, found %zu",
                       IDEMPOTENCY_KEY_MAX, key.len);
    TRY(key_get(tx, key, &given));
    if (!given.digest.len)
        return NULL;
    if (!str_eq(given.digest, digest))
        return err_new(tx->arena, ERR_UNFIT,
                       "the Idempotency-Key \"" STR_FMT "\" was used for another request: a new "
                       "request needs a new key",
                       STR_ARG(key));
    *answer = given.answer;
    return NULL;
}

err idempotency_keep(struct tx *tx, str key, str digest, str answer)
{
#ifdef PLANT_KEY_IN_SECOND_TRANSACTION
    TRY(plant_split(tx));
#endif
    struct idempotency given = { .actor = owner_of(tx->arena, tx->actor),
                                 .key = key,
                                 .digest = digest,
                                 .answer = answer,
                                 .created_at_ms = tx->now_ms };

    assert(digest.len > 0 && answer.len > 0);
    if (tx->ahead)
        remember(tx, &given);
    return sql_exec(tx->sql, INSERT_INTO(idempotency, IDEMPOTENCY_COLUMNS),
                    ARGS(VALUES(IDEMPOTENCY_COLUMNS, (&given))));
}

err idempotency_forget(struct tx *tx, int64_t before_ms, int64_t limit)
{
    if (tx->ahead)
        tx->ahead->keys = map_in(tx->arena); /* which of them are gone is not known */
    return sql_exec(tx->sql,
                    "DELETE FROM idempotency WHERE (actor, key) IN"
                    " (SELECT actor, key FROM idempotency WHERE created_at < $1"
                    "   ORDER BY created_at LIMIT $2)",
                    ARGS(INT(before_ms), INT(limit)));
}

err idempotency_oldest(struct tx *tx, int64_t *at_ms)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT created_at FROM idempotency ORDER BY created_at LIMIT 1",
                NO_ARGS));
    *at_ms = row ? row_int(row, 0) : 0;
    return NULL;
}
