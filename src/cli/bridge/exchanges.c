/* exchanges.c: in which order exchanges are sent, and until when their answers are waited for.
 *
 * Those that are answered at once and come together share one connection. Does not know what any
 * exchange is for. */
#include "cli/bridge/private.h"

/* ---- sending ---- */

/* Not at once: whoever says so may be one of them. */
void exchanges_fail(struct bridge *b, err e)
{
    b->failing = e;
}

static void fail_waiting(struct bridge *b)
{
    LIST_EACH(it, &b->waiting) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        if (c->lasting)
            c->not_before_ms = b->now_ms + b->options.pause_ms;
        else
            c->kind->failed(b, c, b->failing);
    }
    b->failing = NULL;
}

/* There is no connection for it: it waits for the server, unless that is in vain. */
static void stay(struct bridge *b, struct exchange *c)
{
    if (b->connection_count >= BRIDGE_CONNECTIONS_MAX && !b->upstream.down_since_ms)
        return;
    if (c->lasting)
        c->not_before_ms = b->now_ms + b->options.pause_ms;
    else if (!upstream_seek(b))
        c->kind->failed(b, c, b->upstream.why);
}

static void pump_once(struct bridge *b)
{
    for (struct list *it = b->waiting.next, *next; it != &b->waiting; it = next) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        bool sends = c->not_before_ms <= b->now_ms && c->kind->ready(b, c);
        struct connection *connection = sends ? connection_take(b, c) : NULL;
        next = it->next;
        if (!connection) {
            if (sends)
                stay(b, c);
            continue;
        }
        list_remove(&c->link);
        b->waiting_count--;
        list_append(&b->in_flight, &c->link);
        c->in_flight = true;
        connection_add(b, connection, c);
    }
    connection_fill_end(b);
}

/* Their connection was closed because of another exchange on it: they have done nothing wrong. */
static void take_stranded(struct bridge *b)
{
    b->stranded = false;
    LIST_EACH(it, &b->in_flight) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        if (!c->connection)
            exchange_lost(b, c, false);
    }
}

/* What is sent, or is found to be needed first, can bring other exchanges to wait. */
void exchanges_pump(struct bridge *b)
{
    b->upstream.tried = false;
    do {
        b->stirred = false;
        if (b->failing)
            fail_waiting(b);
        if (b->stranded)
            take_stranded(b);
        pump_once(b);
    } while (b->stirred || b->failing || b->stranded);
}

/* ---- time ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_patient(const struct connection *c)
{
    const struct exchange *first = connection_first(c);

    return !first || (first->lasting && !first->polls);
}

/* An answer that does not come in time will not come, nor will those behind it. */
static void check_silence(struct bridge *b, struct connection *c)
{
    err e;

    if (is_patient(c) || b->now_ms - c->received_ms < b->options.silence_ms)
        return;
    e = err_new(b->scratch, ERR_UNAVAILABLE,
                "the server did not answer within %lld s; what was asked for may have been done: "
                "read before you write again",
                (long long)(b->options.silence_ms / 1000));
    for (struct exchange *exchange; (exchange = connection_first(c));) {
        list_remove(&exchange->pipeline);
        exchange->connection = NULL;
        exchange->kind->failed(b, exchange, e);
    }
    connection_close(b, c);
}

int64_t exchanges_next_ms(struct bridge *b)
{
    int64_t next = INT64_MAX;

    LIST_EACH(it, &b->waiting) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        if (c->not_before_ms > b->now_ms)
            next = least(next, c->not_before_ms);
        else if (b->upstream.retry_at_ms > b->now_ms && b->upstream.state != UPSTREAM_STARTING)
            next = least(next, b->upstream.retry_at_ms);
    }
    LIST_EACH(it, &b->connections) {
        struct connection *c = LIST_ENTRY(it, struct connection, link);
        check_silence(b, c);
        if (!is_patient(c))
            next = least(next, c->received_ms + b->options.silence_ms);
    }
    return next;
}
