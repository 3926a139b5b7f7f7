/* wake_queue.c: how a runner wakes an idle client whose own waker is gone. */
#include "core/wake_queue.h"

#include "core/columns.h"
#include "core/wake_private.h"

enum {
    FAILURES_MAX = 3, /* then it is no queue */
    OFFERS_AT_ONCE = 20,
};

static err queue_find(struct tx *tx, str session_id, struct wake_queue *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " WAKE_QUEUE_NAMES " FROM wake_queue WHERE session_id = $1",
                ARGS(TEXT(session_id))));
    *found = row;
    if (row)
        COLUMNS_READ(WAKE_QUEUE_COLUMNS, tx, row, "wake_queue", out);
    return NULL;
}

static err queue_store(struct tx *tx, const struct wake_queue *q)
{
    return sql_exec(tx->sql,
                    "UPDATE wake_queue SET " SET_ALL(WAKE_QUEUE_COLUMNS) " WHERE session_id = $1",
                    ARGS(TEXT(q->session_id), ALL_VALUES(WAKE_QUEUE_COLUMNS, q)));
}

/* The waker beside the client may wait for as long as its hooks and tools have to tell it: it is given
 * the time after that. A queue that has failed is given more. */
static err offer_due(struct tx *tx, const struct wake_queue *q)
{
    const struct team_rules *rules = team_rules_of(tx);
    int64_t wait_ms = (rules->wake_grace_ms + rules->wake_return_ms) << (2 * q->failures);

    return due_add(tx, tx->now_ms + wait_ms, DUE_WAKE_OFFER, q->session_id, 0);
}

static err offer_set(struct tx *tx, struct wake_queue *q, bool offered)
{
    if (q->offered == offered)
        return NULL;
    q->offered = offered;
    return queue_store(tx, q);
}

/* ---- what hooks say of it ---- */

err wake_queue_set(struct tx *tx, const struct wake_queue *q)
{
    struct wake_queue there;
    struct load waiting;
    bool found;

    TRY(queue_find(tx, q->session_id, &there, &found));
    if (found && str_eq(there.hostname, q->hostname) && str_eq(there.user, q->user) &&
        str_eq(there.conversation, q->conversation) && str_eq(there.home, q->home) &&
        str_eq(there.path, q->path))
        return NULL;
    struct wake_queue next = *q;
    next.offered = false;
    next.failures = 0;
    if (found)
        TRY(queue_store(tx, &next));
    else
        TRY(sql_exec(tx->sql, INSERT_INTO(wake_queue, WAKE_QUEUE_COLUMNS),
                     ARGS(VALUES(WAKE_QUEUE_COLUMNS, (&next)))));
    TRY(load_waiting(tx, q->session_id, &waiting));
    return load_is_empty(&waiting) ? NULL : offer_due(tx, &next);
}

err wake_queue_drop(struct tx *tx, str session_id)
{
    return sql_exec(tx->sql, "DELETE FROM wake_queue WHERE session_id = $1",
                    ARGS(TEXT(session_id)));
}

static err queue_failed(struct tx *tx, str session_id)
{
    struct wake_queue q;
    bool found;

    TRY(queue_find(tx, session_id, &q, &found));
    if (!found)
        return NULL;
    q.offered = false;
    q.failures++;
    return q.failures < FAILURES_MAX ? queue_store(tx, &q) : wake_queue_drop(tx, session_id);
}

err waker_report(struct tx *tx, const struct waker *w, str failed)
{
    struct json data = json_object();
    struct session s;
    int64_t number;

    if (!failed.len)
        return sql_exec(tx->sql,
                        "UPDATE waker SET handed = 1 WHERE session_id = $1 AND number = $2",
                        ARGS(TEXT(w->session_id), INT(w->number)));
    if (w->runner_id.len)
        TRY(queue_failed(tx, w->session_id));
    TRY(load_return(tx, w->session_id, w->id, true));
    TRY(session_load(tx, w->session_id, &s));
    json_put(tx->arena, &data, STR("content"), json_string(failed));
    return session_event_note(tx, &s, STR("wake_failed"), json_printed(tx->arena, &data), &number);
}

/* ---- when it is offered ---- */

err wake_queue_after_news(struct tx *tx, const struct event *e)
{
    const struct json *data;
    const struct row *row;
    struct wake_queue q;
    bool found;

    TRY(queue_find(tx, e->subject, &q, &found));
    if (!found)
        return NULL;
    if (e->type == EVENT_MESSAGE_SENT) {
        TRY(event_parsed(tx, e, &data));
        if (!json_bool_or(data, "wakes", false))
            return NULL;
    }
    /* What comes later does not put off what waits. */
    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM due WHERE kind = 'wake_offer' AND subject = $1",
                ARGS(TEXT(q.session_id))));
    return row || q.offered ? NULL : offer_due(tx, &q);
}

/* Those of other machines and users are left to wait. */
static err offered_emit(struct tx *tx, const struct wake_queue *q)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("hostname"), q->hostname);
    write_text(w, STR("user"), q->user);
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_WAKE_OFFERED, .subject = q->session_id }, NULL);
}

/* What waits for a client that may be woken. */
static err queue_load(struct tx *tx, const struct wake_queue *q, struct load *out, bool *any)
{
    struct session s;
    str reason;

    *any = false;
    TRY(session_load(tx, q->session_id, &s));
    TRY(wake_off_reason(tx, &s, &reason));
    if (reason.len)
        return NULL;
    TRY(load_waiting(tx, q->session_id, out));
    *any = !load_is_empty(out);
    return NULL;
}

err wake_due_offer(struct tx *tx, const struct due *due)
{
    struct wake_queue q;
    struct load waiting;
    bool found, any;

    TRY(queue_find(tx, due->subject, &q, &found));
    if (!found)
        return NULL;
    TRY(queue_load(tx, &q, &waiting, &any));
    if (!any)
        return NULL;
    TRY(offer_set(tx, &q, true));
    return offered_emit(tx, &q);
}

/* ---- runners ---- */

/* Each is a runner for once: what it is given later is another errand. */
static err errand_give(struct tx *tx, const struct runner *r, struct load *l,
                       struct wake_errand *out)
{
    struct wake_news news = { .id_count = 0 };
    str session_id = out->queue.session_id;

    out->waker = tx_id(tx, "wkr_");
    TRY(waker_add(tx, (struct waker){ session_id, .id = out->waker, .way = WAY_QUEUE,
                                      .runner_id = r->id }));
    TRY(load_give(tx, l, out->waker));
    load_tell(tx, l, &news);
    out->text = news.text;
    return due_add(tx, tx->now_ms + team_rules_of(tx)->lease_ms, DUE_WAKE_LEASE, out->waker, 0);
}

err wake_errand_take(struct tx *tx, const struct runner *r, struct wake_errand *out)
{
    const struct row *rows;
    size_t count;

    *out = (struct wake_errand){ .waker = STR("") };
    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT " WAKE_QUEUE_NAMES " FROM wake_queue WHERE hostname = $1"
                " AND work_user = $2 AND offered = 1 ORDER BY session_id LIMIT $3",
                ARGS(TEXT(r->hostname), TEXT(r->user), INT(OFFERS_AT_ONCE))));
    for (size_t i = 0; i < count && !out->waker.len; i++) {
        struct load waiting;
        bool any;
        COLUMNS_READ(WAKE_QUEUE_COLUMNS, tx, &rows[i], "wake_queue", (&out->queue));
        TRY(queue_load(tx, &out->queue, &waiting, &any));
        TRY(offer_set(tx, &out->queue, false));
        if (any)
            TRY(errand_give(tx, r, &waiting, out));
    }
    return NULL;
}

err wake_errand_end(struct tx *tx, const struct runner *r, str waker, str failed)
{
    struct waker w;
    bool found;

    TRY(waker_find(tx, waker, &w, &found));
    if (!found)
        return NULL;
    if (str_eq(w.runner_id, r->id))
        return waker_report(tx, &w, failed);
    return err_new(tx->arena, ERR_NOT_FOUND, "runner " STR_FMT " was given no waking " STR_FMT,
                   STR_ARG(r->id), STR_ARG(waker));
}

bool wake_errand_wakes(const struct runner *r, const struct event *e)
{
    const struct json *data;
    bool wakes = false;

    if (e->type != EVENT_WAKE_OFFERED)
        return false;
    struct arena *a = arena_new();
    if (!json_parse_own(a, e->data, &data))
        wakes = str_eq(json_str(data, "hostname"), r->hostname) &&
                str_eq(json_str(data, "user"), r->user);
    arena_free(a);
    return wakes;
}

/* It is not known whether the client has it: should it come twice, its id shows that. */
err wake_due_lease(struct tx *tx, const struct due *due)
{
    struct waker w;
    bool found;

    TRY(waker_find(tx, due->subject, &w, &found));
    return found && !w.handed ? load_return(tx, w.session_id, w.id, true) : NULL;
}
