/* clock_reset.c: a database whose clock was ahead is set back. */
#include "core/clock_reset.h"

#include <assert.h>

#include "core/node.h"
#include "core/rows.h"

/* What is to happen comes before the rest, since that is what it waits for. Nodes do not move with
 * the rows of rows.h, and their clocks are set back all the same. */
err clock_reset(struct tx *tx, int64_t ms)
{
    assert(ms > 0 && tx->now_ms > 0);
    for (size_t i = 0; i < rows_table_count; i++)
        if (rows_tables[i].deadlines)
            TRY(sql_exec_(tx->sql, rows_tables[i].deadlines, ARGS(INT(ms), INT(tx->now_ms))));
    for (size_t i = 0; i < rows_table_count; i++)
        if (rows_tables[i].times)
            TRY(sql_exec_(tx->sql, rows_tables[i].times, ARGS(INT(tx->now_ms))));
    return sql_exec_(tx->sql, TIMES_UPDATE(cluster_node, NODE_COLUMNS), ARGS(INT(tx->now_ms)));
}
