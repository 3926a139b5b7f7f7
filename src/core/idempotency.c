/* idempotency.c: the same request twice is applied once. */
#include "core/idempotency.h"

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

/* What is kept under a key; of one under which nothing is, the digest is empty. */
struct kept {
    str digest, answer;
};

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

static void remember(struct tx *tx, str owner, str key, struct kept kept)
{
    struct kept *copy = ARENA_NEW(tx->arena, struct kept);

    *copy = kept;
    map_put(&tx->ahead->keys, use_name(tx->arena, owner, key), copy);
}

/* Places that are left over get the last key again. One pair after the other, because SQLite reads
 * the whole table for a list of pairs. */
static err some_read_ahead(struct tx *tx, const struct idempotency_use *uses, size_t count)
{
    struct sql_value places[2 * AHEAD_KEYS];
    const struct row *rows;
    size_t found;

    for (size_t i = 0; i < AHEAD_KEYS; i++) {
        const struct idempotency_use *use = &uses[i < count ? i : count - 1];
        str owner = owner_of(tx->arena, use->actor);
        places[2 * i] = TEXT(owner);
        places[2 * i + 1] = TEXT(use->key);
        remember(tx, owner, use->key, (struct kept){ STR(""), STR("") });
    }
    TRY(sql_all(tx->sql, &rows, &found,
                "SELECT actor, key, digest, answer FROM idempotency WHERE " AHEAD_USES,
                ((struct sql_args){ places, 2 * AHEAD_KEYS })));
    for (size_t i = 0; i < found; i++)
        remember(tx, row_str(&rows[i], 0), row_str(&rows[i], 1),
                 (struct kept){ row_str(&rows[i], 2), row_str(&rows[i], 3) });
    return NULL;
}

err idempotency_read_ahead(struct tx *tx, const struct idempotency_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i += AHEAD_KEYS)
        TRY(some_read_ahead(tx, uses + i, count - i < AHEAD_KEYS ? count - i : AHEAD_KEYS));
    return NULL;
}

/* ---- one key ---- */

static err kept_get(struct tx *tx, str key, struct kept *out)
{
    str owner = owner_of(tx->arena, tx->actor);
    const struct kept *known = NULL;
    const struct row *row;

    if (tx->ahead)
        known = map_get(&tx->ahead->keys, use_name(tx->arena, owner, key));
    *out = known ? *known : (struct kept){ STR(""), STR("") };
    if (known)
        return NULL;
    TRY(sql_one(tx->sql, &row,
                "SELECT digest, answer FROM idempotency WHERE actor = $1 AND key = $2",
                ARGS(TEXT(owner), TEXT(key))));
    if (row)
        *out = (struct kept){ row_str(row, 0), row_str(row, 1) };
    return NULL;
}

err idempotency_find(struct tx *tx, str key, str digest, str *answer)
{
    struct kept kept;

    *answer = STR("");
    if (key.len == 0 || key.len > IDEMPOTENCY_KEY_MAX)
        return err_new(tx->arena, ERR_INVALID,
                       "expected an Idempotency-Key of 1 to %d bytes, found %zu",
                       IDEMPOTENCY_KEY_MAX, key.len);
    TRY(kept_get(tx, key, &kept));
    if (!kept.digest.len)
        return NULL;
    if (!str_eq(kept.digest, digest))
        return err_new(tx->arena, ERR_UNFIT,
                       "the Idempotency-Key \"" STR_FMT "\" was used for another request: a new "
                       "request needs a new key",
                       STR_ARG(key));
    *answer = kept.answer;
    return NULL;
}

err idempotency_keep(struct tx *tx, str key, str digest, str answer)
{
#ifdef PLANT_KEY_IN_SECOND_TRANSACTION
    TRY(plant_split(tx));
#endif
    str owner = owner_of(tx->arena, tx->actor);

    if (tx->ahead)
        remember(tx, owner, key, (struct kept){ digest, answer });
    return sql_exec(tx->sql,
                    "INSERT INTO idempotency (" IDEMPOTENCY_NAMES ") VALUES (" IDEMPOTENCY_PLACES
                    ")",
                    ARGS(TEXT(owner), TEXT(key), TEXT(digest), TEXT(answer), INT(tx->now_ms)));
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
