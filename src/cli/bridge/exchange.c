/* exchange.c: one thing that is asked of the server.
 *
 * An exchange waits until what it needs is there, is in flight on a connection, and is told how it
 * went. One whose connection is lost is sent again: each has a key by which the server knows it.
 * Does not know what any exchange is for. */
#include "cli/bridge/private.h"

enum { SPARE_MAX = 64 };

/* How long an exchange rests before its second, third … try: a server that restarts needs a moment. */
static const int64_t rests_ms[BRIDGE_TRIES_MAX] = { 0, 100, 500 };

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
