/* todo.c: the lists that agents keep in their own clients, as they were heard of. */
#include "core/todo.h"

#include "core/columns.h"

err todo_load(struct tx *tx, str session_id, struct todo_list *out, bool *found)
{
    const struct row *row;

    *out = (struct todo_list){ .session_id = session_id, .items = STR("[]") };
    TRY(sql_one(tx->sql, &row, "SELECT " TODO_LIST_NAMES " FROM todo_list WHERE session_id = $1",
                ARGS(TEXT(session_id))));
    *found = row;
    if (row)
        COLUMNS_READ(TODO_LIST_COLUMNS, tx, row, "session", out);
    return NULL;
}

err todo_store(struct tx *tx, const struct todo_list *t)
{
    return sql_exec(
        tx->sql,
        INSERT_INTO(
            todo_list,
            TODO_LIST_COLUMNS) " ON CONFLICT (session_id) DO UPDATE SET items = excluded.items,"
                               " told = excluded.told, updated_at = excluded.updated_at",
        ARGS(VALUES(TODO_LIST_COLUMNS, t)));
}

err todo_items(struct tx *tx, const struct todo_list *t, const struct json **out)
{
    return stored_parse_as(tx, THING("session", t->session_id), t->items, JSON_ARRAY, out);
}
