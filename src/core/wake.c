/* wake.c: wakers, and what they carry. */
#include "core/wake.h"

#include <assert.h>

#include "core/columns.h"
#include "core/project.h"
#include "core/prompt.h"

enum {
    NEWS_MAX = 20,    /* of each kind that one waking tells of */
    IDS_MAX = 100,    /* that are looked for in a prompt */
    MARKERS_MAX = 20, /* and in how many places of it */
};

#define MARKER "[baton "

/* ---- wakers ---- */

static err newest(struct tx *tx, str session_id, struct waker *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " WAKER_NAMES " FROM waker WHERE session_id = $1"
                " ORDER BY number DESC LIMIT 1",
                ARGS(TEXT(session_id))));
    *found = row;
    if (row)
        COLUMNS_READ(WAKER_COLUMNS, tx, row, "waker", out);
    return NULL;
}

static err waker_find(struct tx *tx, str id, struct waker *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " WAKER_NAMES " FROM waker WHERE waker_id = $1"
                " ORDER BY number DESC LIMIT 1",
                ARGS(TEXT(id))));
    *found = row;
    if (row)
        COLUMNS_READ(WAKER_COLUMNS, tx, row, "waker", out);
    return NULL;
}

/* Old ones are told that they are; those that never ask again are forgotten by and by. */
static err waker_add(struct tx *tx, str session_id, str id, enum wake_way way)
{
    struct waker last = { .number = 0 };
    bool found;

    TRY(newest(tx, session_id, &last, &found));
    struct waker w = { session_id, last.number + 1, id, way, false, tx->now_ms };
    TRY(sql_exec(tx->sql, INSERT_INTO(waker, WAKER_COLUMNS), ARGS(VALUES(WAKER_COLUMNS, (&w)))));
    return sql_exec(tx->sql, "DELETE FROM waker WHERE session_id = $1 AND number <= $2",
                    ARGS(TEXT(session_id), INT(w.number - WAKERS_KEPT)));
}

/* ---- what they carry ---- */

#define CALLBACKS "SELECT " CALLBACK_NAMES " FROM callback WHERE parent_id = $1 AND status = "
#define MESSAGES \
    "SELECT " MESSAGE_NAMES " FROM message WHERE receiver_id = $1 AND status = 'pending'"

struct load {
    struct callback *callbacks;
    struct message *messages;
    size_t callback_count, message_count;
};

static void load_read(struct tx *tx, const struct row *callbacks, const struct row *messages,
                      struct load *out)
{
    out->callbacks = ARENA_ARRAY(tx->arena, struct callback, out->callback_count);
    out->messages = ARENA_ARRAY(tx->arena, struct message, out->message_count);
    for (size_t i = 0; i < out->callback_count; i++) {
        out->callbacks[i] = (struct callback){ .cycle = 0 };
        COLUMNS_READ(CALLBACK_COLUMNS, tx, &callbacks[i], "callback", (&out->callbacks[i]));
    }
    for (size_t i = 0; i < out->message_count; i++) {
        out->messages[i] = (struct message){ .seq = 0 };
        COLUMNS_READ(MESSAGE_COLUMNS, tx, &messages[i], "message", (&out->messages[i]));
    }
}

/* What waits to be told and may wake it. */
static err load_waiting(struct tx *tx, str session_id, struct load *out)
{
    const struct row *callbacks, *messages;

    TRY(sql_all(tx->sql, &callbacks, &out->callback_count,
                CALLBACKS "'waiting' ORDER BY seq LIMIT $2",
                ARGS(TEXT(session_id), INT(NEWS_MAX))));
    TRY(sql_all(tx->sql, &messages, &out->message_count,
                MESSAGES " AND carrier = '' AND wakes = 1 ORDER BY seq LIMIT $2",
                ARGS(TEXT(session_id), INT(NEWS_MAX))));
    load_read(tx, callbacks, messages, out);
    return NULL;
}

/* What a waker has; an empty id: what any has that did not hand it over. */
static err load_carried(struct tx *tx, str session_id, str waker_id, struct load *out)
{
    const struct row *callbacks, *messages;

    TRY(sql_all(tx->sql, &callbacks, &out->callback_count,
                CALLBACKS "'in_flight' AND (run_id = $2 OR ($2 = '' AND run_id NOT IN"
                          " (SELECT waker_id FROM waker WHERE session_id = $1 AND handed = 1)))"
                          " ORDER BY seq LIMIT $3",
                ARGS(TEXT(session_id), TEXT(waker_id), INT(NEWS_MAX))));
    TRY(sql_all(tx->sql, &messages, &out->message_count,
                MESSAGES " AND carrier <> '' AND (carrier = $2 OR ($2 = '' AND carrier NOT IN"
                         " (SELECT waker_id FROM waker WHERE session_id = $1 AND handed = 1)))"
                         " ORDER BY seq LIMIT $3",
                ARGS(TEXT(session_id), TEXT(waker_id), INT(NEWS_MAX))));
    load_read(tx, callbacks, messages, out);
    return NULL;
}

static err load_give(struct tx *tx, struct load *l, str waker_id)
{
    for (size_t i = 0; i < l->callback_count; i++)
        TRY(callback_become(tx, &l->callbacks[i],
                            waker_id.len ? CALLBACK_IN_FLIGHT : CALLBACK_WAITING, waker_id));
    for (size_t i = 0; i < l->message_count; i++) {
        l->messages[i].carrier = waker_id;
        TRY(message_store(tx, &l->messages[i]));
    }
    return NULL;
}

/* One text, which begins with the ids of all that it tells of. */
static void load_tell(struct tx *tx, const struct load *l, struct wake_news *out)
{
    str *ids = ARENA_ARRAY(tx->arena, str, l->callback_count + l->message_count);
    struct buf text = buf_in(tx->arena);

    for (size_t i = 0; i < l->callback_count; i++)
        ids[out->id_count++] = l->callbacks[i].id;
    for (size_t i = 0; i < l->message_count; i++)
        ids[out->id_count++] = l->messages[i].id;
    buf_add(&text, STR("[baton"));
    for (size_t i = 0; i < out->id_count; i++)
        buf_printf(&text, " " STR_FMT, STR_ARG(ids[i]));
    buf_add(&text, STR("]\n\n"));
    if (l->callback_count)
        buf_add(&text, prompt_callbacks(tx, l->callbacks, l->callback_count));
    if (l->callback_count && l->message_count)
        buf_byte(&text, '\n');
    if (l->message_count)
        buf_add(&text, prompt_messages(tx, l->messages, l->message_count));
    out->answer = WAKE_NEWS;
    out->ids = ids;
    out->text = buf_str(&text);
}

static bool load_is_empty(const struct load *l)
{
    return l->callback_count + l->message_count == 0;
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

static err off_reason(struct tx *tx, const struct session *s, str *out)
{
    struct project project;
    bool found = false;

    *out = STR("");
    if (!team_rules_of(tx)->wake)
        *out = STR("waking is off on this server (wake)");
    else if (!s->attended)
        *out = STR("the session is run from here, and is resumed instead");
    else if (!s->wakes)
        *out = STR("waking is off for this session");
    else if (s->project.len)
        TRY(project_find(tx, s->project, &project, &found));
    if (found && !project.wakes)
        *out = STR("waking is off for this project");
    return NULL;
}

err wake_take(struct tx *tx, const struct session *s, str waker_id, enum wake_way way,
              struct wake_news *out)
{
    int64_t grace = team_rules_of(tx)->wake_grace_ms;
    struct waker last, own;
    struct load l;
    bool known, any;

    *out = (struct wake_news){ .answer = WAKE_NONE };
    TRY(off_reason(tx, s, &out->reason));
    if (out->reason.len) {
        out->answer = WAKE_OFF;
        return NULL;
    }
    TRY(waker_find(tx, waker_id, &own, &known));
    if (!known || !str_eq(own.session_id, s->id)) {
        out->answer = WAKE_REGISTERED;
        return waker_add(tx, s->id, waker_id, way);
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

err wake_handed(struct tx *tx, str waker_id)
{
    struct waker w;

    TRY(waker_get(tx, waker_id, &w));
    return sql_exec(tx->sql, "UPDATE waker SET handed = 1 WHERE session_id = $1 AND number = $2",
                    ARGS(TEXT(w.session_id), INT(w.number)));
}

static err load_return(struct tx *tx, str session_id, str waker_id, bool told)
{
    struct load l;

    TRY(load_carried(tx, session_id, waker_id, &l));
    if (load_is_empty(&l))
        return NULL;
    TRY(load_give(tx, &l, STR("")));
    if (!told)
        return NULL;
    return event_emit(tx, (struct event){ .type = EVENT_CALLBACK_WAITING, .subject = session_id },
                      NULL);
}

err wake_failed(struct tx *tx, str waker_id)
{
    struct waker w;

    TRY(waker_get(tx, waker_id, &w));
    return load_return(tx, w.session_id, waker_id, true);
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
    TRY(newest(tx, s->id, &last, &any));
    if (!any || last.way == WAY_CLOSED)
        return NULL;
    return waker_add(tx, s->id, arena_printf(tx->arena, "closed-%lld", (long long)*tx->seq),
                     WAY_CLOSED);
}
