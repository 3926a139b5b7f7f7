/* alias.c: what else is known to be a session. */
#include "core/alias.h"

#include "core/columns.h"

enum { DAY_MS = 86400 * 1000 };

static const int64_t process_lives_ms = 30LL * DAY_MS;

static const char *const kind_names[] = {
    [ALIAS_CONVERSATION] = "conversation", [ALIAS_PROCESS] = "process"
};

static err row_find(struct tx *tx, enum alias_kind kind, str what, const struct row **out)
{
    return sql_one(tx->sql, out, "SELECT session_id, at FROM alias WHERE kind = $1 AND what = $2",
                   ARGS(TEXT(str_from(kind_names[kind])), TEXT(what)));
}

err alias_find(struct tx *tx, enum alias_kind kind, str what, str *session_id)
{
    const struct row *row;

    *session_id = STR("");
    TRY(row_find(tx, kind, what, &row));
    if (row)
        *session_id = row_str(row, 0);
    return NULL;
}

/* Processes come and go, and most never say that they do. */
static err forget_old(struct tx *tx)
{
    return sql_exec(tx->sql, "DELETE FROM alias WHERE kind = 'process' AND at < $1",
                    ARGS(INT(tx->now_ms - process_lives_ms)));
}

err alias_make(struct tx *tx, enum alias_kind kind, str what, str session_id)
{
    const struct row *row;

    TRY(row_find(tx, kind, what, &row));
    if (row && str_eq(row_str(row, 0), session_id) && row_int(row, 1) > tx->now_ms - DAY_MS)
        return NULL;
    TRY(forget_old(tx));
    return sql_exec(tx->sql,
                    "INSERT INTO alias (" ALIAS_NAMES ") VALUES (" ALIAS_PLACES ")"
                    " ON CONFLICT (kind, what) DO UPDATE SET session_id = excluded.session_id,"
                    " at = excluded.at",
                    ARGS(TEXT(str_from(kind_names[kind])), TEXT(what), TEXT(session_id),
                         INT(tx->now_ms)));
}

err alias_drop(struct tx *tx, str session_id)
{
    return sql_exec(tx->sql, "DELETE FROM alias WHERE session_id = $1", ARGS(TEXT(session_id)));
}
