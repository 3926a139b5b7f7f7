/* event.c: the log of everything that happened. */
#include "core/event.h"

#include <assert.h>

static const char *const names[EVENT_TYPE_COUNT] = {
#define EVENT_NAME(id, name) name,
    EVENT_TYPES(EVENT_NAME)
#undef EVENT_NAME
};

const char *event_name(enum event_type type)
{
    assert(type < EVENT_TYPE_COUNT);
    return names[type];
}

bool event_type_find(str name, enum event_type *out)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        if (str_eq(name, str_from(names[i]))) {
            *out = i;
            return true;
        }
    }
    return false;
}

err event_emit(struct tx *tx, struct event event, struct event **out)
{
    struct event *e = arena_alloc(tx->arena, sizeof *e);

    *e = event;
    e->seq = ++*tx->seq;
    e->time_ms = tx->now_ms;
    e->actor = tx->actor->name;
    e->session_id = tx->actor->session_id;
    e->cause = tx->cause;
    e->next = NULL;
    if (e->body.len)
        e->snap_seq = e->seq;
    TRY(sql_exec(tx->sql,
                 "INSERT INTO log (seq, type, subject, actor, session_id, time, cause, version,"
                 " prev_seq, snap_seq, data, body)"
                 " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                 ARGS(INT(e->seq), TEXT(str_from(names[e->type])), TEXT(e->subject), TEXT(e->actor),
                      TEXT(e->session_id), INT(e->time_ms), INT(e->cause), INT(e->version),
                      INT(e->prev_seq), INT(e->snap_seq), TEXT(e->data),
                      e->body.len ? TEXT(e->body) : NOTHING)));
    if (tx->last)
        tx->last->next = e;
    else
        tx->first = e;
    tx->last = e;
    if (out)
        *out = e;
    return NULL;
}

#define EVENT_COLUMNS \
    "seq, type, subject, actor, session_id, time, cause, version, prev_seq, snap_seq, data, body"

static void event_read(const struct row *r, struct event *out)
{
    *out = (struct event){
        .seq = row_int(r, 0),
        .subject = row_str(r, 2),
        .actor = row_str(r, 3),
        .session_id = row_str(r, 4),
        .time_ms = row_int(r, 5),
        .cause = row_int(r, 6),
        .version = row_int(r, 7),
        .prev_seq = row_int(r, 8),
        .snap_seq = row_int(r, 9),
        .data = row_str(r, 10),
        .body = row_str(r, 11),
    };
    bool known = event_type_find(row_str(r, 1), &out->type);
    assert(known);
}

err event_get(struct tx *tx, int64_t seq, const struct event **out)
{
    const struct row *row;

    *out = NULL;
    TRY(sql_one(tx->sql, &row, "SELECT " EVENT_COLUMNS " FROM log WHERE seq = $1", ARGS(INT(seq))));
    if (row) {
        struct event *e = arena_alloc(tx->arena, sizeof *e);
        event_read(row, e);
        *out = e;
    }
    return NULL;
}

err event_list(struct tx *tx, int64_t after, str subject, int64_t limit, const struct event **out,
               size_t *count)
{
    const struct row *rows;

    if (subject.len)
        TRY(sql_all(tx->sql, &rows, count,
                    "SELECT " EVENT_COLUMNS " FROM log"
                    " WHERE seq > $1 AND subject = $2 ORDER BY seq LIMIT $3",
                    ARGS(INT(after), TEXT(subject), INT(limit))));
    else
        TRY(sql_all(tx->sql, &rows, count,
                    "SELECT " EVENT_COLUMNS " FROM log WHERE seq > $1 ORDER BY seq LIMIT $2",
                    ARGS(INT(after), INT(limit))));
    struct event *events = ARENA_ARRAY(tx->arena, struct event, *count);
    for (size_t i = 0; i < *count; i++)
        event_read(&rows[i], &events[i]);
    *out = events;
    return NULL;
}
