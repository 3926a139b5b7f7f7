/* callback_deliver.c: how a parent hears that a child has settled.
 *
 * A callback is a row that waits until its parent can take it: with a turn of its
 * own, or with the answer to its next event. It has arrived when that turn began. */
#include <assert.h>

#include "core/callback.h"
#include "core/callback_private.h"
#include "core/columns.h"
#include "core/message.h"
#include "core/prompt.h"

enum { CALLBACKS_MAX = 50 }; /* that one turn takes */

/* ---- rows ---- */

static void callbacks_read(struct tx *tx, const struct row *rows, size_t count,
                           struct callback **out)
{
    *out = ARENA_ARRAY(tx->arena, struct callback, count);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = (struct callback){ .cycle = 0 };
        COLUMNS_READ(CALLBACK_COLUMNS, tx, &rows[i], "callback", (&(*out)[i]));
    }
}

static err waiting_list(struct tx *tx, str parent_id, struct callback **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " CALLBACK_NAMES " FROM callback"
                " WHERE parent_id = $1 AND status = 'waiting' ORDER BY seq LIMIT $2",
                ARGS(TEXT(parent_id), INT(CALLBACKS_MAX))));
    callbacks_read(tx, rows, *count, out);
    return NULL;
}

static err carried_list(struct tx *tx, str run_id, struct callback **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " CALLBACK_NAMES " FROM callback"
                " WHERE run_id = $1 AND status = 'in_flight' ORDER BY seq LIMIT $2",
                ARGS(TEXT(run_id), INT(CALLBACKS_MAX))));
    callbacks_read(tx, rows, *count, out);
    return NULL;
}

err callback_waits(struct tx *tx, str parent_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM callback WHERE parent_id = $1 AND status = 'waiting' LIMIT 1",
                ARGS(TEXT(parent_id))));
    *out = row != NULL;
    return NULL;
}

err callback_become(struct tx *tx, struct callback *c, enum callback_status to, str run_id)
{
    assert(callback_may_become(c->status, to));
    c->status = to;
    c->run_id = run_id;
    c->delivered_at_ms = to == CALLBACK_DELIVERED ? tx->now_ms : 0;
    return sql_exec(tx->sql,
                    "UPDATE callback SET " SET_STORED(CALLBACK_COLUMNS) " WHERE callback_id = $1",
                    ARGS(TEXT(c->id), STORED_VALUES(CALLBACK_COLUMNS, c)));
}

static err delivered_emit(struct tx *tx, const struct callback *c)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("callback_id"), c->id);
    write_text(w, STR("child_id"), c->child_id);
    write_text(w, STR("child_name"), c->child_name);
    write_int(w, STR("cycle"), c->cycle);
    write_or_null(w, STR("run_id"), c->run_id);
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_CALLBACK_DELIVERED, .subject = c->parent_id },
                     NULL);
}

err callback_arrived(struct tx *tx, struct callback *c)
{
    TRY(callback_become(tx, c, CALLBACK_DELIVERED, c->run_id));
    return delivered_emit(tx, c);
}

/* ---- a turn that carries them ---- */

/* What a run's metadata says is of the first; the prompt tells of all. */
static str metadata_of(struct tx *tx, const struct callback *all, size_t count)
{
    struct buf text = buf_in(tx->arena);
    struct json_writer w = json_writer_to(&text);

    assert(count > 0);
    json_write_begin(&w, '{');
    write_text(&w, STR("callback_source"), all[0].child_name);
    write_begin(&w, STR("callback_sources"), '[');
    for (size_t i = 0; i < count; i++)
        json_write_str(&w, all[i].child_name);
    json_write_end(&w, ']');
    if (all[0].state_version)
        write_int(&w, STR("workflow_state_version"), all[0].state_version);
    if (all[0].update != UPDATE_NONE)
        write_text(&w, STR("state_update_status"), team_name(&update_words, all[0].update));
    json_write_end(&w, '}');
    return buf_str(&text);
}

/* Who was stopped is not started again by its children: it hears of them when it is resumed. */
static bool can_be_resumed(const struct session *s)
{
    return !s->attended && !s->run_id.len && s->status != SESSION_STOPPED && s->client_id.len;
}

err callback_deliver(struct tx *tx, struct session *parent, bool *delivers)
{
    struct callback *all;
    struct run run;
    size_t count;

    *delivers = false;
    if (!can_be_resumed(parent))
        return NULL;
    TRY(waiting_list(tx, parent->id, &all, &count));
    if (count == 0)
        return NULL;
    *delivers = true;
    TRY(session_reopen(tx, parent, parent->calls_back));
    if (parent->status == SESSION_RUNNING)
        TRY(session_become(tx, parent, SESSION_IDLE));
    struct run_new n = {
        .type = RUN_TYPE_RESUME,
        .purpose = PURPOSE_CALLBACK,
        .mode = MODE_POLL,
        .prompt = prompt_callbacks(tx, all, count),
        .metadata = metadata_of(tx, all, count),
    };
    TRY(run_create(tx, parent, &n, &run));
    assert(str_eq(run.session_id, parent->id));
    for (size_t i = 0; i < count; i++)
        TRY(callback_become(tx, &all[i], CALLBACK_IN_FLIGHT, run.id));
    return NULL;
}

err callback_arrive(struct tx *tx, const struct run *carrier)
{
    struct callback *all;
    size_t count;

    TRY(carried_list(tx, carrier->id, &all, &count));
    for (size_t i = 0; i < count; i++)
        TRY(callback_arrived(tx, &all[i]));
    return NULL;
}

err callback_return(struct tx *tx, const struct run *carrier, size_t *count)
{
    struct callback *all;

    TRY(carried_list(tx, carrier->id, &all, count));
    for (size_t i = 0; i < *count; i++)
        TRY(callback_become(tx, &all[i], CALLBACK_WAITING, STR("")));
    return NULL;
}

err callback_due_deliver(struct tx *tx, const struct due *due)
{
    struct session parent;
    bool found, ignored;

    TRY(session_find_id(tx, due->subject, &parent, &found));
    return found ? callback_deliver(tx, &parent, &ignored) : NULL;
}

/* ---- a child that has settled ---- */

err callback_create(struct tx *tx, const struct session *child, int64_t state_version, int64_t seq)
{
    assert(child->settled && child->calls_back && seq > 0 && seq <= *tx->seq);
    struct callback c = {
        .id = tx_id(tx, "cb_"),
        .parent_id = child->parent_id,
        .child_id = child->id,
        .child_name = child->name,
        .cycle = child->cycle,
        .seq = seq,
        .status = CALLBACK_WAITING,
        .child_status = child->status,
        .update = child->update,
        .state_version = state_version,
        .error = child->error,
        .created_at_ms = tx->now_ms,
    };

    return sql_exec(tx->sql, INSERT_INTO(callback, CALLBACK_COLUMNS),
                    ARGS(VALUES(CALLBACK_COLUMNS, (&c))));
}

/* ---- a parent that nobody here resumes ---- */

err callback_take(struct tx *tx, struct session *parent, str *text, size_t *count)
{
    struct callback *all;

    *text = STR("");
    *count = 0;
    if (!parent->attended)
        return NULL;
    TRY(waiting_list(tx, parent->id, &all, count));
    for (size_t i = 0; i < *count; i++)
        TRY(callback_arrived(tx, &all[i]));
    if (*count == 0)
        return NULL;
    *text = prompt_callbacks(tx, all, *count);
    return parent->settled ? NULL : session_begin_work(tx, parent);
}

err news_take(struct tx *tx, struct session *s, bool waking, str *text, size_t *count)
{
    size_t messages = 0;
    str more = STR("");

    TRY(callback_take(tx, s, text, count));
    if (s->attended)
        TRY(messages_take(tx, s, waking, &more, &messages));
    *count += messages;
    if (more.len)
        *text = text->len
                    ? arena_printf(tx->arena, STR_FMT "\n" STR_FMT, STR_ARG(*text), STR_ARG(more))
                    : more;
    return NULL;
}

err news_waits(struct tx *tx, str session_id, bool *out)
{
    TRY(callback_waits(tx, session_id, out));
    return *out ? NULL : message_waits(tx, session_id, out);
}
