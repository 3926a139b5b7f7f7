/* idempotency.c: the same request twice is applied once. */
#include "core/idempotency.h"

#include "core/plant.h"

/* Keys belong to who uses them. A session keeps its own however often it gets a new token. */
static str owner_of(const struct tx *tx)
{
    return tx->actor->session_id.len ? tx->actor->session_id : tx->actor->name;
}

err idempotency_find(struct tx *tx, str key, str digest, str *answer)
{
    const struct row *row;

    *answer = STR("");
    if (key.len == 0 || key.len > IDEMPOTENCY_KEY_MAX)
        return err_new(tx->arena, ERR_INVALID,
                       "expected an Idempotency-Key of 1 to %d bytes, found %zu",
                       IDEMPOTENCY_KEY_MAX, key.len);
    TRY(sql_one(tx->sql, &row,
                "SELECT digest, answer FROM idempotency WHERE actor = $1 AND key = $2",
                ARGS(TEXT(owner_of(tx)), TEXT(key))));
    if (!row)
        return NULL;
    if (!str_eq(row_str(row, 0), digest))
        return err_new(tx->arena, ERR_UNFIT,
                       "the Idempotency-Key \"" STR_FMT "\" was used for another request: a new "
                       "request needs a new key",
                       STR_ARG(key));
    *answer = row_str(row, 1);
    return NULL;
}

err idempotency_keep(struct tx *tx, str key, str digest, str answer)
{
#ifdef PLANT_KEY_IN_SECOND_TRANSACTION
    TRY(plant_split(tx));
#endif
    return sql_exec(tx->sql,
                    "INSERT INTO idempotency (actor, key, digest, answer, created_at)"
                    " VALUES ($1, $2, $3, $4, $5)",
                    ARGS(TEXT(owner_of(tx)), TEXT(key), TEXT(digest), TEXT(answer),
                         INT(tx->now_ms)));
}

err idempotency_forget(struct tx *tx, int64_t before_ms, int64_t limit)
{
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
