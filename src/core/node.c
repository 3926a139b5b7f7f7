/* node.c: the servers that share the database. */
#include "core/node.h"

#include <assert.h>

#include "core/columns.h"

enum {
    ALIVE_MS = 15 * 1000, /* three heartbeats: two may come late or get lost */
    FORGET_MS = 24 * 3600 * 1000,
    FORGET_MOST = 100, /* in one heartbeat, which others wait for */
};

static err node_store(struct tx *tx, const struct node *n)
{
    struct node now = *n;

    now.started_at_ms = now.seen_at_ms = tx->now_ms;
    return sql_exec(
        tx->sql,
        INSERT_INTO(cluster_node,
                    NODE_COLUMNS) " ON CONFLICT (node_id) DO UPDATE SET name = excluded.name,"
                                  " url = excluded.url, version = excluded.version,"
                                  " seen_at = excluded.seen_at, seq = excluded.seq",
        ARGS(VALUES(NODE_COLUMNS, (&now))));
}

static err node_forget_silent(struct tx *tx)
{
    return sql_exec(tx->sql,
                    "DELETE FROM cluster_node WHERE node_id IN"
                    " (SELECT node_id FROM cluster_node WHERE seen_at < $1"
                    " ORDER BY seen_at, node_id LIMIT $2)",
                    ARGS(INT(tx->now_ms - FORGET_MS), INT(FORGET_MOST)));
}

err node_heartbeat(struct tx *tx, const struct node *n, int64_t *alive)
{
    const struct row *row;

    assert(n->id.len > 0 && n->seq >= 0);
    TRY(node_store(tx, n));
    TRY(node_forget_silent(tx));
    TRY(sql_one(tx->sql, &row, "SELECT count(*) FROM cluster_node WHERE seen_at >= $1",
                ARGS(INT(tx->now_ms - ALIVE_MS))));
    assert(row);
    *alive = row_int(row, 0);
    assert(*alive > 0);
    return NULL;
}

err node_leave(struct tx *tx, str id)
{
    return sql_exec(tx->sql, "DELETE FROM cluster_node WHERE node_id = $1", ARGS(TEXT(id)));
}

err node_list(struct tx *tx, str after, int64_t limit, const struct node **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " NODE_NAMES " FROM cluster_node"
                " WHERE node_id > $1 ORDER BY node_id LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    struct node *all = ARENA_ARRAY(tx->arena, struct node, *count);
    for (size_t i = 0; i < *count; i++) {
        all[i] = (struct node){ .seq = 0 };
        COLUMNS_READ(NODE_COLUMNS, tx, &rows[i], "node", (&all[i]));
    }
    assert(!*count || str_compare(all[0].id, after) > 0);
    *out = all;
    return NULL;
}

bool node_alive(const struct tx *tx, const struct node *n)
{
    return n->seen_at_ms >= tx->now_ms - ALIVE_MS;
}
