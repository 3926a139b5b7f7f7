/* output.c: what runs have written, in pieces.
 *
 * Each piece knows how many bytes were written up to its end, so that what is too
 * old is found without adding anything up. */
#include "core/output.h"

#include <assert.h>

#include "core/columns.h"
#include "core/team.h"

enum {
    LIST_BYTES_MAX = 1 << 20, /* beyond the first piece of a page */
    TAIL_PIECES_MAX = 50,
};

static err oldest_drop(struct tx *tx, str run_id, int64_t total)
{
    int64_t most = team_rules_of(tx)->output_bytes;

    if (total <= most)
        return NULL;
    /* From the oldest on, up to the first that ends within what is kept: only what goes is read. */
    return sql_exec(tx->sql,
                    "DELETE FROM run_output WHERE run_id = $1 AND number <"
                    " (SELECT number FROM run_output WHERE run_id = $1 AND bytes > $2"
                    "   ORDER BY number LIMIT 1)",
                    ARGS(TEXT(run_id), INT(total - most)));
}

err output_add(struct tx *tx, str run_id, bool error, str text)
{
    const struct row *last;

    if (text.len > OUTPUT_PIECE_MAX)
        return err_new(tx->arena, ERR_TOO_LARGE,
                       "a piece of output may have %d bytes, found %zu: send it in several",
                       OUTPUT_PIECE_MAX, text.len);
    TRY(sql_one(tx->sql, &last,
                "SELECT number, bytes FROM run_output WHERE run_id = $1"
                " ORDER BY number DESC LIMIT 1",
                ARGS(TEXT(run_id))));
    struct output piece = { .run_id = run_id,
                            .number = last ? row_int(last, 0) + 1 : 1,
                            .error = error,
                            .at_ms = tx->now_ms,
                            .bytes = (last ? row_int(last, 1) : 0) + (int64_t)text.len,
                            .text = text };
    TRY(sql_exec(tx->sql, INSERT_INTO(run_output, RUN_OUTPUT_COLUMNS),
                 ARGS(VALUES(RUN_OUTPUT_COLUMNS, (&piece)))));
    return oldest_drop(tx, run_id, piece.bytes);
}

err output_list(struct tx *tx, str run_id, int64_t after, int64_t limit, const struct output **out,
                size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " RUN_OUTPUT_NAMES " FROM run_output WHERE run_id = $1 AND number > $2"
                " AND bytes <= $3 + (SELECT bytes FROM run_output"
                "   WHERE run_id = $1 AND number > $2 ORDER BY number LIMIT 1)"
                " ORDER BY number LIMIT $4",
                ARGS(TEXT(run_id), INT(after), INT(LIST_BYTES_MAX), INT(limit))));
    struct output *all = ARENA_ARRAY(tx->arena, struct output, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(RUN_OUTPUT_COLUMNS, tx, &rows[i], "run", (&all[i]));
    assert(!*count || all[0].number > after);
    *out = all;
    return NULL;
}

/* The last bytes of a text, from the start of a line or, where there is none, of a character. */
static str tail_cut(str text, size_t bytes)
{
    if (text.len <= bytes)
        return text;
    str tail = str_slice(text, text.len - bytes, text.len);
    size_t line = str_find(tail, '\n');
    if (line + 1 < tail.len)
        return str_slice(tail, line + 1, tail.len);
    while (tail.len && ((unsigned char)*tail.at & 0xc0) == 0x80)
        tail = str_slice(tail, 1, tail.len);
    return tail;
}

err output_tail(struct tx *tx, str run_id, size_t bytes, str *out)
{
    struct buf text = buf_in(tx->arena);
    const struct row *rows;
    size_t count, from = 0, have = 0;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT text FROM run_output WHERE run_id = $1 AND error = 1"
                " ORDER BY number DESC LIMIT $2",
                ARGS(TEXT(run_id), INT(TAIL_PIECES_MAX))));
    while (from < count && have <= bytes)
        have += row_str(&rows[from++], 0).len;
    while (from > 0)
        buf_add(&text, row_str(&rows[--from], 0));
    *out = tail_cut(buf_str(&text), bytes);
    return NULL;
}
