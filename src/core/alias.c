/* alias.c: what else is known to be a session. */
#include "core/alias.h"

#include <assert.h>

#include "core/columns.h"

enum { DAY_MS = 86400 * 1000 };

static const int64_t process_lives_ms = 30LL * DAY_MS;

static const char *const kind_names[] = {
    [ALIAS_CONVERSATION] = "conversation", [ALIAS_PROCESS] = "process"
};

/* One that is not there has no session. */
static err alias_get(struct tx *tx, enum alias_kind kind, str what, struct alias *out)
{
    const struct row *row;

    *out = (struct alias){ .kind = str_from(kind_names[kind]), .what = what };
    TRY(sql_one(tx->sql, &row, "SELECT " ALIAS_NAMES " FROM alias WHERE kind = $1 AND what = $2",
                ARGS(TEXT(out->kind), TEXT(what))));
    if (row)
        COLUMNS_READ(ALIAS_COLUMNS, tx, row, "alias", out);
    return NULL;
}

err alias_find(struct tx *tx, enum alias_kind kind, str what, str *session_id)
{
    struct alias a;

    TRY(alias_get(tx, kind, what, &a));
    *session_id = a.session_id;
    return NULL;
}

err alias_set(struct tx *tx, enum alias_kind kind, str what, str session_id)
{
    struct alias a;

    assert(what.len > 0 && session_id.len > 0);
    TRY(alias_get(tx, kind, what, &a));
    if (str_eq(a.session_id, session_id) && a.at_ms > tx->now_ms - DAY_MS)
        return NULL;
    /* Processes come and go, and most never say that they do. */
    TRY(sql_exec(tx->sql, "DELETE FROM alias WHERE kind = 'process' AND at < $1",
                 ARGS(INT(tx->now_ms - process_lives_ms))));
    a.session_id = session_id;
    a.at_ms = tx->now_ms;
    return sql_exec(
        tx->sql,
        INSERT_INTO(
            alias,
            ALIAS_COLUMNS) " ON CONFLICT (kind, what) DO UPDATE SET session_id = excluded.session_id,"
                           " at = excluded.at",
        ARGS(VALUES(ALIAS_COLUMNS, (&a))));
}

err alias_drop(struct tx *tx, str session_id)
{
    return sql_exec(tx->sql, "DELETE FROM alias WHERE session_id = $1", ARGS(TEXT(session_id)));
}
