/* due.c: everything that has a time. */
#include "core/due.h"

#include <assert.h>

static const char *const names[DUE_KIND_COUNT] = {
#define DUE_NAME(id, name) name,
    DUE_KINDS(DUE_NAME)
#undef DUE_NAME
};

static enum due_kind kind_of(str name)
{
    int kind = 0;

    while (kind < DUE_KIND_COUNT && !str_eq(name, str_from(names[kind])))
        kind++;
    assert(kind < DUE_KIND_COUNT);
    return kind;
}

err due_add(struct tx *tx, int64_t at_ms, enum due_kind kind, str subject, int64_t arg)
{
    assert(at_ms > 0 && kind < DUE_KIND_COUNT);
    return sql_exec(tx->sql,
                    "INSERT INTO due (at, kind, subject, arg) VALUES ($1, $2, $3, $4)"
                    " ON CONFLICT (kind, subject)"
                    " DO UPDATE SET at = excluded.at, arg = excluded.arg",
                    ARGS(INT(at_ms), TEXT(str_from(names[kind])), TEXT(subject), INT(arg)));
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
    for (int i = 0; i < DUE_KIND_COUNT; i++)
        if (works[i].recurs)
            TRY(sql_exec(tx->sql,
                         "INSERT INTO due (at, kind, subject, arg) VALUES ($1, $2, '', 0)"
                         " ON CONFLICT (kind, subject) DO NOTHING",
                         ARGS(INT(tx->now_ms), TEXT(str_from(names[i])))));
    return NULL;
}

err due_fire(struct tx *tx, const struct due_work works[DUE_KIND_COUNT])
{
    const struct row *row;

    TRY(recurring_add(tx, works));
    /* The row goes before the work is done, so that the work can add it again. */
    TRY(sql_one(tx->sql, &row,
                "DELETE FROM due WHERE (kind, subject) IN"
                " (SELECT kind, subject FROM due WHERE at <= $1"
                "   ORDER BY at, kind, subject LIMIT 1)"
                " RETURNING kind, subject, arg",
                ARGS(INT(tx->now_ms))));
    if (!row)
        return NULL;
    struct due due = { kind_of(row_str(row, 0)), row_str(row, 1), row_int(row, 2) };
    return works[due.kind].run(tx, &due);
}

err due_put_off(struct tx *tx, str *what)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "UPDATE due SET at = $1 WHERE (kind, subject) IN"
                " (SELECT kind, subject FROM due WHERE at <= $2"
                "   ORDER BY at, kind, subject LIMIT 1)"
                " RETURNING kind, subject",
                ARGS(INT(tx->now_ms + DUE_PUT_OFF_MS), INT(tx->now_ms))));
    *what = row ? arena_printf(tx->arena, STR_FMT " " STR_FMT, STR_ARG(row_str(row, 0)),
                               STR_ARG(row_str(row, 1)))
                : STR("");
    return NULL;
}
