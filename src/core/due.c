/* due.c: everything that has a time. */
#include "core/due.h"

#include <assert.h>

#include "core/columns.h"

static const char *const names[DUE_KIND_COUNT] = {
#define DUE_NAME(id, name) name,
    DUE_KINDS(DUE_NAME)
#undef DUE_NAME
};

/* DUE_KIND_COUNT: there is no such kind. */
static enum due_kind kind_of(str name)
{
    int kind = 0;

    while (kind < DUE_KIND_COUNT && !str_eq(name, str_from(names[kind])))
        kind++;
    return kind;
}

err due_add(struct tx *tx, int64_t at_ms, enum due_kind kind, str subject, int64_t arg)
{
    assert(at_ms > 0 && kind < DUE_KIND_COUNT);
    struct due due = { kind, str_from(names[kind]), subject, at_ms, arg };
    return sql_exec(
        tx->sql,
        INSERT_INTO(
            due,
            DUE_COLUMNS) " ON CONFLICT (kind, subject) DO UPDATE SET at = excluded.at, arg = excluded.arg",
        ARGS(VALUES(DUE_COLUMNS, (&due))));
}

err due_drop(struct tx *tx, enum due_kind kind, str subject)
{
    return sql_exec(tx->sql, "DELETE FROM due WHERE kind = $1 AND subject = $2",
                    ARGS(TEXT(str_from(names[kind])), TEXT(subject)));
}

err due_next(struct tx *tx, int64_t *at_ms)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT at FROM due ORDER BY at LIMIT 1", NO_ARGS));
    *at_ms = row ? row_int(row, 0) : 0;
    return NULL;
}

static err recurring_add(struct tx *tx, const struct due_work works[DUE_KIND_COUNT])
{
    for (int i = 0; i < DUE_KIND_COUNT; i++) {
        struct due due = { .kind_name = str_from(names[i]), .at_ms = tx->now_ms };
        if (works[i].recurs)
            TRY(sql_exec(tx->sql,
                         INSERT_INTO(due, DUE_COLUMNS) " ON CONFLICT (kind, subject) DO NOTHING",
                         ARGS(VALUES(DUE_COLUMNS, (&due)))));
    }
    return NULL;
}

/* The two that have been due the longest. */
static err due_first(struct tx *tx, const struct row **rows, size_t *count)
{
    return sql_all(tx->sql, rows, count,
                   "SELECT " DUE_NAMES " FROM due WHERE at <= $1"
                   " ORDER BY at, kind, subject LIMIT 2",
                   ARGS(INT(tx->now_ms)));
}

err due_fire(struct tx *tx, const struct due_work works[DUE_KIND_COUNT], struct due *fired,
             bool *more)
{
    const struct row *rows;
    size_t count;

    *fired = (struct due){ .kind_name = STR("") };
    TRY(due_first(tx, &rows, &count));
    if (count < 2) {
        TRY(recurring_add(tx, works));
        TRY(due_first(tx, &rows, &count));
    }
    *more = count > 1;
    if (!count)
        return NULL;
    COLUMNS_READ(DUE_COLUMNS, tx, rows, "due", fired);
    assert(fired->at_ms <= tx->now_ms);
    /* The row goes before the work is done, so that the work can add it again. */
    TRY(sql_exec(tx->sql, "DELETE FROM due WHERE kind = $1 AND subject = $2",
                 ARGS(TEXT(fired->kind_name), TEXT(fired->subject))));
    fired->kind = kind_of(fired->kind_name);
    if (fired->kind == DUE_KIND_COUNT)
        return stored_damage(tx, THING("work that is due for", fired->subject),
                             "it is of a kind that there is not");
    return works[fired->kind].run(tx, fired);
}

err due_put_off(struct tx *tx, const struct due *which, int64_t ms)
{
    return sql_exec(tx->sql, "UPDATE due SET at = $3 WHERE kind = $1 AND subject = $2 AND at <= $4",
                    ARGS(TEXT(which->kind_name), TEXT(which->subject), INT(tx->now_ms + ms),
                         INT(tx->now_ms)));
}
