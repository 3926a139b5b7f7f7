/* member.c: the servers that share the database. */
#include "core/member.h"

#include <assert.h>

enum {
    ALIVE_MS = 15 * 1000, /* three beats: two may come late or get lost */
    FORGET_MS = 24 * 3600 * 1000,
    FORGET_MOST = 100, /* in one beat, which others wait for */
};

static err member_note(struct tx *tx, const struct member *m)
{
    return sql_exec(tx->sql,
                    "INSERT INTO member (node_id, name, url, version, started_at, seen_at, seq)"
                    " VALUES ($1, $2, $3, $4, $5, $5, $6)"
                    " ON CONFLICT (node_id) DO UPDATE SET name = excluded.name,"
                    " url = excluded.url, version = excluded.version,"
                    " seen_at = excluded.seen_at, seq = excluded.seq",
                    ARGS(TEXT(m->id), TEXT(m->name), TEXT(m->url), TEXT(m->version),
                         INT(tx->now_ms), INT(m->seq)));
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

static void member_read(const struct row *r, struct member *out)
{
    *out = (struct member){
        .id = row_str(r, 0),
        .name = row_str(r, 1),
        .url = row_str(r, 2),
        .version = row_str(r, 3),
        .started_at_ms = row_int(r, 4),
        .seen_at_ms = row_int(r, 5),
        .seq = row_int(r, 6),
    };
}

err member_list(struct tx *tx, str after, int64_t limit, const struct member **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT node_id, name, url, version, started_at, seen_at, seq FROM member"
                " WHERE node_id > $1 ORDER BY node_id LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    struct member *all = ARENA_ARRAY(tx->arena, struct member, *count);
    for (size_t i = 0; i < *count; i++)
        member_read(&rows[i], &all[i]);
    *out = all;
    return NULL;
}

bool member_alive(const struct tx *tx, const struct member *m)
{
    return m->seen_at_ms >= tx->now_ms - ALIVE_MS;
}
