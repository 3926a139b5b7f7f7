/* exchanges.c: what is asked of the server, and in which order.
 *
 * An exchange waits until what it needs is there, is in flight on a connection, and is told how it
 * went. Those that are answered at once and come together share one connection. One whose
 * connection is lost is sent again: each has a key by which the server knows it. Does not know
 * what any exchange is for. */
#include <assert.h>

#include "cli/bridge/private.h"

enum { SPARE_MAX = 64 };

/* How long an exchange rests before its second, third … try: a server that restarts needs a moment. */
static const int64_t rests_ms[BRIDGE_TRIES_MAX] = { 0, 100, 500 };

/* ---- one exchange ---- */

struct exchange *exchange_new(struct bridge *b, const struct exchange_kind *kind)
{
    struct exchange *c;
    struct arena *arena;

    if (list_empty(&b->spare)) {
        c = mem_alloc(sizeof *c);
        arena = arena_new();
    } else {
        c = LIST_ENTRY(b->spare.prev, struct exchange, link);
        arena = c->arena;
        list_remove(&c->link);
        b->spare_count--;
    }
    *c = (struct exchange){ .arena = arena, .kind = kind, .number = ++b->last_number };
    list_init(&c->link);
    list_init(&c->pipeline);
    return c;
}

void exchange_queue(struct bridge *b, struct exchange *c)
{
    list_append(&b->waiting, &c->link);
    b->waiting_count++;
    b->stirred = true;
}

static void exchange_unlink(struct bridge *b, struct exchange *c)
{
    if (c->connection)
        connection_close(b, c->connection);
    if (!c->in_flight && c->link.next != &c->link)
        b->waiting_count--;
    list_remove(&c->link);
    c->in_flight = false;
}

void exchange_retry(struct bridge *b, struct exchange *c, int64_t delay_ms)
{
    exchange_unlink(b, c);
    c->not_before_ms = delay_ms ? b->now_ms + delay_ms : 0;
    c->repeated = true;
    c->answered = false;
    exchange_queue(b, c);
}

void exchange_end(struct bridge *b, struct exchange *c)
{
    exchange_unlink(b, c);
    if (b->spare_count == SPARE_MAX) {
        arena_free(c->arena);
        mem_free(c);
        return;
    }
    arena_reset(c->arena);
    list_append(&b->spare, &c->link);
    b->spare_count++;
}

void exchange_lost(struct bridge *b, struct exchange *c, bool costs)
{
    if (c->answered || c->cancelled) {
        exchange_end(b, c);
    } else if (c->lasting) {
        exchange_retry(b, c, b->options.pause_ms);
    } else if (!costs || c->tries + 1 < BRIDGE_TRIES_MAX) {
        c->tries += costs;
        exchange_retry(b, c, rests_ms[c->tries]);
    } else {
        c->kind->failed(
            b, c,
            err_new(b->scratch, ERR_UNAVAILABLE,
                    "the server closed the connection %d times before it had answered; what was "
                    "asked for may have been done: read before you write again",
                    BRIDGE_TRIES_MAX));
    }
}

/* ---- all of them ---- */

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
    return !connection_first(c) || connection_first(c)->lasting;
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

/* ---- what kinds of exchanges have in common ---- */

bool exchange_always(struct bridge *b, struct exchange *c)
{
    (void)b, (void)c;
    return true;
}

void exchange_is_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    (void)r;
    exchange_end(b, c);
}

void exchange_has_failed(struct bridge *b, struct exchange *c, err e)
{
    (void)e;
    exchange_end(b, c);
}

/* The text of a problem as RFC 9457 has it, or what else there is to say. */
err exchange_refusal(struct arena *a, const struct response *r)
{
    const struct json *problem = NULL;

    if (json_parse(a, r->body, &json_limits_own, &problem))
        problem = NULL;
    str title = json_str(problem, "title"), detail = json_str(problem, "detail");
    if (!detail.len)
        return err_new(a, response_kind(r->status), "the server answers with status %d", r->status);
    return err_new(a, response_kind(r->status), STR_FMT "%s" STR_FMT, STR_ARG(title),
                   title.len ? ": " : "", STR_ARG(detail));
}
