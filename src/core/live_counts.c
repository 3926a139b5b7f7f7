/* live_counts.c: how many there are, for those who watch the server. */
#include "core/live_counts.h"

#include <assert.h>

#include "core/stored.h"

static void count_words(struct tx *tx, const struct row *rows, size_t count,
                        const struct team_words *words, int64_t *counts)
{
    for (size_t i = 0; i < count; i++)
        counts[stored_word(tx, THING("status", row_str(&rows[i], 0)), words,
                           row_str(&rows[i], 0))] = row_int(&rows[i], 1);
}

err live_counts_read(struct tx *tx, struct live_counts *out)
{
    const struct row *rows, *row;
    size_t count;

    *out = (struct live_counts){ .runners = 0 };
    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT status, COUNT(*) FROM session"
                " WHERE status IN ('pending', 'running', 'idle') GROUP BY status ORDER BY status",
                NO_ARGS));
    count_words(tx, rows, count, &session_words, out->sessions);
    TRY(sql_all(
        tx->sql, &rows, &count,
        "SELECT status, COUNT(*) FROM run"
        " WHERE status IN ('pending', 'claimed', 'running', 'stopping') GROUP BY status ORDER BY status",
        NO_ARGS));
    count_words(tx, rows, count, &run_words, out->runs);
    TRY(sql_one(tx->sql, &row, "SELECT COUNT(*) FROM runner WHERE lost = 0", NO_ARGS));
    assert(row);
    out->runners = row_int(row, 0);
    TRY(sql_one(tx->sql, &row, "SELECT COUNT(*) FROM callback WHERE status = 'waiting'", NO_ARGS));
    assert(row);
    out->callbacks = row_int(row, 0);
    /* One whose time came later than it did waits since that. */
    TRY(sql_one(tx->sql, &row,
                "SELECT MIN(CASE WHEN not_before > created_at THEN not_before ELSE created_at END)"
                "  FROM run WHERE queued = 1",
                NO_ARGS));
    assert(row);
    if (!row_null(row, 0))
        out->oldest_ms = tx->now_ms - row_int(row, 0);
    return NULL;
}
