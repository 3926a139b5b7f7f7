/* message.c: the rows of messages, and how they are given to those that they are for. */
#include "core/message.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/prompt.h"

enum { MESSAGES_AT_ONCE = 20 };

static void messages_read(struct tx *tx, const struct row *rows, size_t count, struct message **out)
{
    *out = ARENA_ARRAY(tx->arena, struct message, count);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = (struct message){ .seq = 0 };
        COLUMNS_READ(MESSAGE_COLUMNS, tx, &rows[i], "message", (&(*out)[i]));
    }
}

/* ---- sending ---- */

static err text_check(struct tx *tx, str text)
{
    if (str_trim(text).len && text.len <= MESSAGE_BYTES_MAX)
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "expected a message of 1 to %d bytes, found %zu: put what is longer into the "
                   "state, and say where",
                   MESSAGE_BYTES_MAX, str_trim(text).len ? text.len : 0);
}

static err room_check(struct tx *tx, const struct session *to)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM (SELECT 1 FROM message WHERE receiver_id = $1"
                " AND status = 'pending' LIMIT $2) AS there",
                ARGS(TEXT(to->id), INT(MESSAGES_PENDING_MAX))));
    if (row_int(row, 0) < MESSAGES_PENDING_MAX)
        return NULL;
    return err_new(tx->arena, ERR_LIMIT,
                   "%d messages wait for session " STR_FMT
                   " already: it takes them when it works again",
                   MESSAGES_PENDING_MAX, STR_ARG(to->name));
}

static err sent_emit(struct tx *tx, const struct message *m)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("message_id"), m->id);
    write_or_null(w, STR("sender_id"), m->sender_id);
    write_or_null(w, STR("sender_name"), m->sender_name);
    write_text(w, STR("receiver_name"), m->receiver_name);
    write_bool(w, STR("wakes"), m->wakes);
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_MESSAGE_SENT, .subject = m->receiver_id }, NULL);
}

err message_send(struct tx *tx, const struct session *to, str text, bool by_server,
                 struct message *out)
{
    const struct actor *by = tx->actor;

    TRY(text_check(tx, text));
    TRY(room_check(tx, to));
    *out = (struct message){
        .id = tx_id(tx, "msg_"),
        .sender_id = by_server ? STR("") : by->session_id,
        .sender_name = by_server ? STR("") : by->name,
        .receiver_id = to->id,
        .receiver_name = to->name,
        .status = MESSAGE_PENDING,
        .wakes = !by_server && by->kind == ACTOR_OPERATOR,
        .created_at_ms = tx->now_ms,
        .text = text,
    };
    TRY(sent_emit(tx, out));
    out->seq = *tx->seq;
    return sql_exec(tx->sql, INSERT_INTO(message, MESSAGE_COLUMNS),
                    ARGS(VALUES(MESSAGE_COLUMNS, out)));
}

/* ---- for whom ---- */

/* No name and no id of a session has a colon. */
static err group_find(struct tx *tx, str kind, str name, struct session **out, size_t *count)
{
    int64_t most = MESSAGE_RECEIVERS_MAX + 1;
    struct session top;

    if (str_eq(kind, STR("role")))
        return session_with_role(tx, name, most, out, count);
    if (!str_eq(kind, STR("tree")))
        return err_new(tx->arena, ERR_INVALID,
                       "expected a session, \"role:NAME\" or \"tree:NAME\", found \"" STR_FMT ":\"",
                       STR_ARG(utf8_cut(kind, 80)));
    TRY(session_see(tx, name, &top));
    return session_in_tree(tx, &top, most, out, count);
}

err message_receivers(struct tx *tx, str to, struct session **out, size_t *count)
{
    str kind, name;

    if (str_cut(to, ':', &kind, &name)) {
        TRY(group_find(tx, kind, name, out, count));
        if (*count > MESSAGE_RECEIVERS_MAX)
            return err_new(tx->arena, ERR_LIMIT,
                           "expected at most %d live sessions of " STR_FMT
                           ", found more: write to a part of them, as with tree:NAME",
                           MESSAGE_RECEIVERS_MAX, STR_ARG(to));
        if (*count)
            return NULL;
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "nobody is there that " STR_FMT
                       " means: only live sessions get such a message, and not the one that writes "
                       "it",
                       STR_ARG(to));
    }
    *out = ARENA_NEW(tx->arena, struct session);
    *count = 1;
    TRY(session_see(tx, to, *out));
    if (str_eq((*out)->id, tx->actor->session_id))
        return err_new(tx->arena, ERR_INVALID,
                       "a session cannot write to itself: list_agent_sessions tells who else there "
                       "is");
    return NULL;
}

/* ---- waiting ---- */

err message_pending(struct tx *tx, str receiver_id, bool waking, struct message **out,
                    size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " MESSAGE_NAMES " FROM message WHERE receiver_id = $1"
                " AND status = 'pending' AND carrier = '' AND ($2 = 0 OR wakes = 1)"
                " ORDER BY seq LIMIT $3",
                ARGS(TEXT(receiver_id), INT(waking), INT(MESSAGES_AT_ONCE))));
    messages_read(tx, rows, *count, out);
    return NULL;
}

err message_waits(struct tx *tx, str receiver_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM message WHERE receiver_id = $1 AND status = 'pending'"
                " AND carrier = '' LIMIT 1",
                ARGS(TEXT(receiver_id))));
    *out = row != NULL;
    return NULL;
}

/* ---- delivering ---- */

err message_store(struct tx *tx, struct message *m)
{
    return sql_exec(tx->sql,
                    "UPDATE message SET " SET_STORED(MESSAGE_COLUMNS) " WHERE message_id = $1",
                    ARGS(TEXT(m->id), STORED_VALUES(MESSAGE_COLUMNS, m)));
}

err message_deliver(struct tx *tx, struct message *m)
{
    assert(m->status == MESSAGE_PENDING);
    m->status = MESSAGE_DELIVERED;
    m->carrier = STR("");
    m->delivered_at_ms = tx->now_ms;
    TRY(message_store(tx, m));
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);
    write_text(w, STR("message_id"), m->id);
    write_or_null(w, STR("sender_name"), m->sender_name);
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_MESSAGE_DELIVERED, .subject = m->receiver_id },
                     NULL);
}

err messages_take(struct tx *tx, const struct session *receiver, bool waking, str *text,
                  size_t *count)
{
    struct message *all;

    *text = STR("");
    TRY(message_pending(tx, receiver->id, waking, &all, count));
    for (size_t i = 0; i < *count; i++)
        TRY(message_deliver(tx, &all[i]));
    if (*count)
        *text = prompt_messages(tx, all, *count);
    return NULL;
}

err message_forget(struct tx *tx, int64_t before_ms, int64_t limit, int64_t *count)
{
    const struct row *rows;
    size_t n;

    TRY(sql_all(tx->sql, &rows, &n,
                "DELETE FROM message WHERE message_id IN"
                " (SELECT message_id FROM message WHERE status = 'delivered' AND delivered_at < $1"
                "  ORDER BY delivered_at LIMIT $2) RETURNING 1",
                ARGS(INT(before_ms), INT(limit))));
    *count = (int64_t)n;
    return NULL;
}

/* ---- lists ---- */

err message_find(struct tx *tx, str id, struct message *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " MESSAGE_NAMES " FROM message WHERE message_id = $1",
                ARGS(TEXT(id))));
    *found = row;
    if (row)
        COLUMNS_READ(MESSAGE_COLUMNS, tx, row, "message", out);
    return NULL;
}

/* A session sees its own; each side has an index. */
err message_list(struct tx *tx, const struct message_filter *f, const struct message **out,
                 size_t *count)
{
    str whose = tx->actor->kind == ACTOR_SESSION ? tx->actor->session_id : f->session_id;
    const struct row *rows;
    struct message *all;

    if (whose.len)
        TRY(sql_all(tx->sql, &rows, count,
                    "SELECT " MESSAGE_NAMES " FROM message WHERE message_id IN"
                    " (SELECT message_id FROM message WHERE receiver_id = $1"
                    "  UNION SELECT message_id FROM message WHERE sender_id = $1)"
                    " AND message_id > $2 AND ($3 = '' OR status = $3)"
                    " ORDER BY message_id LIMIT $4",
                    ARGS(TEXT(whose), TEXT(f->after), TEXT(f->status), INT(f->limit))));
    else
        TRY(sql_all(tx->sql, &rows, count,
                    "SELECT " MESSAGE_NAMES " FROM message WHERE message_id > $1"
                    " AND ($2 = '' OR status = $2) ORDER BY message_id LIMIT $3",
                    ARGS(TEXT(f->after), TEXT(f->status), INT(f->limit))));
    messages_read(tx, rows, *count, &all);
    *out = all;
    return NULL;
}
