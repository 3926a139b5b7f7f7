/* wake_load.c: rows of wakers, and what they carry. */
#include "core/columns.h"
#include "core/project.h"
#include "core/prompt.h"
#include "core/wake_private.h"

enum { NEWS_MAX = 20 }; /* of each kind that one waking tells of */

/* ---- wakers ---- */

err waker_find(struct tx *tx, str id, struct waker *out, bool *found)
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

err waker_add(struct tx *tx, struct waker w)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT coalesce(max(number), 0) FROM waker WHERE session_id = $1",
                ARGS(TEXT(w.session_id))));
    w.number = row_int(row, 0) + 1;
    w.created_at_ms = tx->now_ms;
    TRY(sql_exec(tx->sql, INSERT_INTO(waker, WAKER_COLUMNS), ARGS(VALUES(WAKER_COLUMNS, (&w)))));
    return sql_exec(tx->sql, "DELETE FROM waker WHERE session_id = $1 AND number <= $2",
                    ARGS(TEXT(w.session_id), INT(w.number - WAKERS_KEPT)));
}

/* ---- what they carry ---- */

#define CALLBACKS "SELECT " CALLBACK_NAMES " FROM callback WHERE parent_id = $1 AND status = "
#define MESSAGES \
    "SELECT " MESSAGE_NAMES " FROM message WHERE receiver_id = $1 AND status = 'pending'"

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

err load_waiting(struct tx *tx, str session_id, struct load *out)
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

err load_carried(struct tx *tx, str session_id, str waker_id, struct load *out)
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

err load_give(struct tx *tx, struct load *l, str waker_id)
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

void load_tell(struct tx *tx, const struct load *l, struct wake_news *out)
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

err load_return(struct tx *tx, str session_id, str waker_id, bool told)
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

/* ---- whether it may be ---- */

err wake_off_reason(struct tx *tx, const struct session *s, str *out)
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
