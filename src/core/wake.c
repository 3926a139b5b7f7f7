/* wake.c: wakers, and what they carry. */
#include <assert.h>

#include "core/columns.h"
#include "core/wake_private.h"
#include "core/wake_queue.h"

enum {
    IDS_MAX = 100,    /* that are looked for in a prompt */
    MARKERS_MAX = 20, /* and in how many places of it */
};

#define MARKER "[baton "

/* ---- wakers ---- */

/* A runner is none of them: one that stands in for a waker takes nothing from it but what it carries. */
static err newest(struct tx *tx, str session_id, struct waker *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " WAKER_NAMES " FROM waker WHERE session_id = $1"
                " AND runner_id = '' ORDER BY number DESC LIMIT 1",
                ARGS(TEXT(session_id))));
    *found = row;
    if (row)
        COLUMNS_READ(WAKER_COLUMNS, tx, row, "waker", out);
    return NULL;
}

/* When the oldest of it began to wait. */
static int64_t load_since(const struct load *l)
{
    int64_t since = INT64_MAX;

    if (l->callback_count)
        since = l->callbacks[0].created_at_ms;
    if (l->message_count && l->messages[0].created_at_ms < since)
        since = l->messages[0].created_at_ms;
    return since;
}

/* ---- taking ---- */

err wake_take(struct tx *tx, const struct session *s, str waker_id, enum wake_way way,
              struct wake_news *out)
{
    int64_t grace = team_rules_of(tx)->wake_grace_ms;
    struct waker last, own;
    struct load l;
    bool known, any;

    *out = (struct wake_news){ .answer = WAKE_NONE };
    TRY(wake_off_reason(tx, s, &out->reason));
    if (out->reason.len) {
        out->answer = WAKE_OFF;
        return NULL;
    }
    TRY(waker_find(tx, waker_id, &own, &known));
    if (!known || !str_eq(own.session_id, s->id)) {
        out->answer = WAKE_REGISTERED;
        return waker_add(tx, (struct waker){ s->id, .id = waker_id, .way = way });
    }
    TRY(newest(tx, s->id, &last, &any));
    assert(any);
    if (last.number != own.number) {
        out->answer = WAKE_SUPERSEDED;
        return NULL;
    }
    TRY(load_carried(tx, s->id, waker_id, &l));
    if (!load_is_empty(&l) && !own.handed) {
        load_tell(tx, &l, out); /* it asks again for what it was told: the answer did not arrive */
        return NULL;
    }
    TRY(load_waiting(tx, s->id, &l));
    if (load_is_empty(&l))
        return NULL;
    if (s->status == SESSION_RUNNING && load_since(&l) + grace > tx->now_ms) {
        out->again_ms = load_since(&l) + grace;
        return NULL;
    }
    TRY(load_give(tx, &l, waker_id));
    if (own.handed)
        TRY(sql_exec(tx->sql, "UPDATE waker SET handed = 0 WHERE session_id = $1 AND number = $2",
                     ARGS(TEXT(own.session_id), INT(own.number))));
    load_tell(tx, &l, out);
    return NULL;
}

/* ---- what became of it ---- */

static err waker_get(struct tx *tx, str id, struct waker *out)
{
    bool found;

    TRY(waker_find(tx, id, out, &found));
    return found ? NULL
                 : err_new(tx->arena, ERR_NOT_FOUND, "there is no waker " STR_FMT, STR_ARG(id));
}

err wake_session(struct tx *tx, str waker_id, struct session *out)
{
    struct waker w;
    bool reached;

    TRY(waker_get(tx, waker_id, &w));
    TRY(session_load(tx, w.session_id, out));
    TRY(session_in_reach(tx, out, &reached));
    return reached
               ? NULL
               : err_new(tx->arena, ERR_NOT_FOUND, "there is no waker " STR_FMT, STR_ARG(waker_id));
}

err wake_report(struct tx *tx, str waker_id, str failed)
{
    struct waker w;

    TRY(waker_get(tx, waker_id, &w));
    return waker_report(tx, &w, failed);
}

/* ---- receipts ---- */

/* One id of a marker: whether it had arrived before. What is not this session's is passed over. */
static err id_arrived(struct tx *tx, const struct session *s, str id, bool *fresh, bool *stale)
{
    const struct row *row;
    struct message m;
    bool found;

    TRY(sql_one(tx->sql, &row, "SELECT " CALLBACK_NAMES " FROM callback WHERE callback_id = $1",
                ARGS(TEXT(id))));
    if (row) {
        struct callback c = { .cycle = 0 };
        COLUMNS_READ(CALLBACK_COLUMNS, tx, row, "callback", (&c));
        if (!str_eq(c.parent_id, s->id))
            return NULL;
        bool open = c.status == CALLBACK_WAITING || c.status == CALLBACK_IN_FLIGHT;
        *fresh |= open;
        *stale |= !open;
        return open ? callback_arrived(tx, &c) : NULL;
    }
    TRY(message_find(tx, id, &m, &found));
    if (!found || !str_eq(m.receiver_id, s->id))
        return NULL;
    *fresh |= m.status == MESSAGE_PENDING;
    *stale |= m.status != MESSAGE_PENDING;
    return m.status == MESSAGE_PENDING ? message_deliver(tx, &m) : NULL;
}

static err marker_read(struct tx *tx, const struct session *s, str text, bool *fresh, bool *stale)
{
    str ids, id, rest;

    if (!str_cut(text, ']', &ids, &rest))
        return NULL;
    for (int i = 0; i < IDS_MAX && ids.len; i++) {
        str_cut(ids, ' ', &id, &ids);
        if (str_starts(id, STR("cb_")) || str_starts(id, STR("msg_")))
            TRY(id_arrived(tx, s, id, fresh, stale));
    }
    return NULL;
}

/* Only what a waker brought is a double; a person may quote what they like. */
err wake_receipt(struct tx *tx, const struct session *s, str prompt, bool *again)
{
    str mark = STR(MARKER);
    bool fresh = false, stale = false;
    bool brought = str_starts(str_trim(prompt), mark) ||
                   str_contains(prompt, STR("<task-notification>"));
    int markers = 0;

    for (size_t i = 0; i + mark.len < prompt.len && markers < MARKERS_MAX; i++) {
        if (prompt.at[i] != '[' || !str_starts(str_slice(prompt, i, prompt.len), mark))
            continue;
        markers++;
        TRY(marker_read(tx, s, str_slice(prompt, i + mark.len, prompt.len), &fresh, &stale));
    }
    *again = brought && stale && !fresh;
    return NULL;
}

/* ---- the client ---- */

err wake_on_start(struct tx *tx, const struct session *s)
{
    return load_return(tx, s->id, STR(""), false);
}

/* A waking that is queued behind the turn comes right after its end: it is not offered again before
 * that would have happened. */
err wake_on_stop(struct tx *tx, const struct session *s)
{
    struct load l;

    TRY(load_carried(tx, s->id, STR(""), &l));
    if (load_is_empty(&l))
        return NULL;
    return due_add(tx, tx->now_ms + team_rules_of(tx)->wake_return_ms, DUE_WAKE_RETURN, s->id, 0);
}

err wake_due_return(struct tx *tx, const struct due *due)
{
    return load_return(tx, due->subject, STR(""), true);
}

err wake_on_end(struct tx *tx, const struct session *s)
{
    struct waker last;
    bool any;

    TRY(load_return(tx, s->id, STR(""), false));
    TRY(wake_queue_drop(tx, s->id));
    TRY(newest(tx, s->id, &last, &any));
    if (!any || last.way == WAY_CLOSED)
        return NULL;
    str id = arena_printf(tx->arena, "closed-%lld", (long long)*tx->seq);
    return waker_add(tx, (struct waker){ s->id, .id = id, .way = WAY_CLOSED });
}

/* ---- what was not heard ---- */

err wake_unheard(struct tx *tx, str after, int64_t limit, const struct unheard **out, size_t *count)
{
    const struct team_rules *rules = team_rules_of(tx);
    const struct row *rows;

    TRY(sql_all(
        tx->sql, &rows, count,
        "SELECT s.session_id, s.name, sum(there.ends), sum(there.messages), min(there.since)"
        " FROM (SELECT parent_id AS id, 1 AS ends, 0 AS messages, created_at AS since"
        "  FROM callback WHERE status = 'waiting' AND parent_id > $1"
        " UNION ALL SELECT parent_id, 1, 0, created_at"
        "  FROM callback WHERE status = 'in_flight' AND parent_id > $1"
        " UNION ALL SELECT receiver_id, 0, 1, created_at"
        "  FROM message WHERE status = 'pending' AND wakes = 1 AND receiver_id > $1) there"
        " JOIN session s ON s.session_id = there.id"
        " WHERE s.attended = 1 AND s.live = 1 AND ($2 = '' OR s.state_id = $2)"
        " GROUP BY s.session_id, s.name HAVING min(there.since) <= $3"
        " ORDER BY s.session_id LIMIT $4",
        ARGS(TEXT(after), TEXT(tx->actor->state_id),
             INT(tx->now_ms - rules->wake_grace_ms - rules->wake_return_ms), INT(limit))));
    struct unheard *all = ARENA_ARRAY(tx->arena, struct unheard, *count);
    for (size_t i = 0; i < *count; i++)
        all[i] = (struct unheard){ row_str(&rows[i], 0), row_str(&rows[i], 1), row_int(&rows[i], 2),
                                   row_int(&rows[i], 3), row_int(&rows[i], 4) };
    *out = all;
    return NULL;
}
