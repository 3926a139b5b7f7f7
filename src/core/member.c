/* member.c: the servers that share the database. */
#include "core/member.h"

#include <assert.h>

#include "core/columns.h"

enum {
    ALIVE_MS = 15 * 1000, /* three beats: two may come late or get lost */
    FORGET_MS = 24 * 3600 * 1000,
    FORGET_MOST = 100, /* in one beat, which others wait for */
};

static err member_note(struct tx *tx, const struct member *m)
{
    struct member now = *m;

    now.started_at_ms = now.seen_at_ms = tx->now_ms;
    return sql_exec(tx->sql,
                    "INSERT INTO member (" MEMBER_NAMES ") VALUES (" MEMBER_PLACES ")"
                    " ON CONFLICT (node_id) DO UPDATE SET name = excluded.name,"
                    " url = excluded.url, version = excluded.version,"
                    " seen_at = excluded.seen_at, seq = excluded.seq",
                    ARGS(VALUES(MEMBER_COLUMNS, (&now))));
}

static err member_forget_silent(struct tx *tx)
{
    return sql_exec(tx->sql,
                    "DELETE FROM member WHERE node_id IN"
                    " (SELECT node_id FROM member WHERE seen_at < $1"
                    " ORDER BY seen_at, node_id LIMIT $2)",
                    ARGS(INT(tx->now_ms - FORGET_MS), INT(FORGET_MOST)));
}

err member_beat(struct tx *tx, const struct member *m, int64_t *alive)
{
    const struct row *row;

    assert(m->id.len > 0 && m->seq >= 0);
    TRY(member_note(tx, m));
    TRY(member_forget_silent(tx));
    TRY(sql_one(tx->sql, &row, "SELECT count(*) FROM member WHERE seen_at >= $1",
                ARGS(INT(tx->now_ms - ALIVE_MS))));
    *alive = row_int(row, 0);
    assert(*alive > 0);
    return NULL;
}

err member_leave(struct tx *tx, str id)
{
    return sql_exec(tx->sql, "DELETE FROM member WHERE node_id = $1", ARGS(TEXT(id)));
}

err member_list(struct tx *tx, str after, int64_t limit, const struct member **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " MEMBER_NAMES " FROM member"
                " WHERE node_id > $1 ORDER BY node_id LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    struct member *all = ARENA_ARRAY(tx->arena, struct member, *count);
    for (size_t i = 0; i < *count; i++) {
        all[i] = (struct member){ .seq = 0 };
        COLUMNS_READ(MEMBER_COLUMNS, tx, &rows[i], "member", (&all[i]));
    }
    *out = all;
    return NULL;
}

bool member_alive(const struct tx *tx, const struct member *m)
{
    return m->seen_at_ms >= tx->now_ms - ALIVE_MS;
}
