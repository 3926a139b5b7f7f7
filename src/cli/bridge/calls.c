/* calls.c: what is asked of the server, and in which order.
 *
 * A call waits until what it needs is there, flies on a connection, and is told how it
 * went. Those that are answered at once and come together share one connection. One whose
 * connection is lost flies again: each has a key by which the server knows it. Does not know
 * what any call is for. */
#include <assert.h>

#include "cli/bridge/private.h"

enum { SPARE_MAX = 64 };

/* How long a call rests before its second, third … try: a server that restarts needs a moment. */
static const int64_t rests_ms[BRIDGE_TRIES_MAX] = { 0, 100, 500 };

/* ---- one call ---- */

struct call *call_new(struct bridge *b, const struct errand *e)
{
    struct call *c;
    struct arena *arena;

    if (list_empty(&b->spare)) {
        c = mem_alloc(sizeof *c);
        arena = arena_new();
    } else {
        c = LIST_ENTRY(b->spare.prev, struct call, link);
        arena = c->arena;
        list_remove(&c->link);
        b->spare_count--;
    }
    *c = (struct call){ .arena = arena, .errand = e, .number = ++b->last_number };
    list_init(&c->link);
    list_init(&c->place);
    return c;
}

void call_wait(struct bridge *b, struct call *c)
{
    list_append(&b->waiting, &c->link);
    b->waiting_count++;
    b->stirred = true;
}

static void unlink_call(struct bridge *b, struct call *c)
{
    if (c->lane)
        lane_close(b, c->lane);
    if (!c->flying && c->link.next != &c->link)
        b->waiting_count--;
    list_remove(&c->link);
    c->flying = false;
}

void call_again(struct bridge *b, struct call *c, int64_t delay_ms)
{
    unlink_call(b, c);
    c->not_before_ms = delay_ms ? b->now_ms + delay_ms : 0;
    c->repeated = true;
    c->answered = false;
    call_wait(b, c);
}

void call_end(struct bridge *b, struct call *c)
{
    unlink_call(b, c);
    if (b->spare_count == SPARE_MAX) {
        arena_free(c->arena);
        mem_free(c);
        return;
    }
    arena_reset(c->arena);
    list_append(&b->spare, &c->link);
    b->spare_count++;
}

void call_lost(struct bridge *b, struct call *c, bool costs)
{
    if (c->answered || c->cancelled) {
        call_end(b, c);
    } else if (c->lasting) {
        call_again(b, c, b->options.pause_ms);
    } else if (!costs || c->tries + 1 < BRIDGE_TRIES_MAX) {
        c->tries += costs;
        call_again(b, c, rests_ms[c->tries]);
    } else {
        c->errand->failed(
            b, c,
            err_new(b->scratch, ERR_UNAVAILABLE,
                    "the server closed the connection %d times before it had answered; what was "
                    "asked for may have been done: read before you write again",
                    BRIDGE_TRIES_MAX));
    }
}

/* ---- all of them ---- */

/* Not at once: whoever says so may be one of them. */
void calls_fail(struct bridge *b, err e)
{
    b->failing = e;
}

static void fail_waiting(struct bridge *b)
{
    LIST_EACH(it, &b->waiting) {
        struct call *c = LIST_ENTRY(it, struct call, link);
        if (c->lasting)
            c->not_before_ms = b->now_ms + b->options.pause_ms;
        else
            c->errand->failed(b, c, b->failing);
    }
    b->failing = NULL;
}

/* There is no connection for it: it waits for the server, unless that is in vain. */
static void stay(struct bridge *b, struct call *c)
{
    if (b->lane_count >= BRIDGE_LANES_MAX && !b->site.down_since_ms)
        return;
    if (c->lasting)
        c->not_before_ms = b->now_ms + b->options.pause_ms;
    else if (!site_seek(b))
        c->errand->failed(b, c, b->site.why);
}

static void fly(struct bridge *b, struct call *c, struct lane *lane)
{
    list_remove(&c->link);
    b->waiting_count--;
    list_append(&b->flying, &c->link);
    c->flying = true;
    lane_add(b, lane, c);
}

static void pump_once(struct bridge *b)
{
    for (struct list *it = b->waiting.next, *next; it != &b->waiting; it = next) {
        struct call *c = LIST_ENTRY(it, struct call, link);
        bool sends = c->not_before_ms <= b->now_ms && c->errand->ready(b, c);
        struct lane *lane = sends ? lane_take(b, c) : NULL;
        next = it->next;
        if (lane)
            fly(b, c, lane);
        else if (sends)
            stay(b, c);
    }
    lane_fill_end(b);
}

/* Their connection was closed because of another call on it: they have done nothing wrong. */
static void take_stranded(struct bridge *b)
{
    b->stranded = false;
    LIST_EACH(it, &b->flying) {
        struct call *c = LIST_ENTRY(it, struct call, link);
        if (!c->lane)
            call_lost(b, c, false);
    }
}

/* What is sent, or is found to be needed first, can bring other calls to wait. */
void calls_pump(struct bridge *b)
{
    b->site.looked = false;
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

static bool is_patient(const struct lane *c)
{
    return !lane_first(c) || lane_first(c)->lasting;
}

/* An answer that does not come in time will not come, nor will those behind it. */
static void check_silence(struct bridge *b, struct lane *c)
{
    err e;

    if (is_patient(c) || b->now_ms - c->heard_ms < b->options.silence_ms)
        return;
    e = err_new(b->scratch, ERR_UNAVAILABLE,
                "the server did not answer within %lld s; what was asked for may have been done: "
                "read before you write again",
                (long long)(b->options.silence_ms / 1000));
    for (struct call *call; (call = lane_first(c));) {
        list_remove(&call->place);
        call->lane = NULL;
        call->errand->failed(b, call, e);
    }
    lane_close(b, c);
}

int64_t calls_next_ms(struct bridge *b)
{
    int64_t next = INT64_MAX;

    LIST_EACH(it, &b->waiting) {
        struct call *c = LIST_ENTRY(it, struct call, link);
        if (c->not_before_ms > b->now_ms)
            next = least(next, c->not_before_ms);
        else if (b->site.look_at_ms > b->now_ms && b->site.state != SITE_STARTING)
            next = least(next, b->site.look_at_ms);
    }
    LIST_EACH(it, &b->lanes) {
        struct lane *c = LIST_ENTRY(it, struct lane, link);
        check_silence(b, c);
        if (!is_patient(c))
            next = least(next, c->heard_ms + b->options.silence_ms);
    }
    return next;
}

/* ---- what errands have in common ---- */

bool call_always(struct bridge *b, struct call *c)
{
    (void)b, (void)c;
    return true;
}

void call_is_done(struct bridge *b, struct call *c, const struct response *r)
{
    (void)r;
    call_end(b, c);
}

void call_has_failed(struct bridge *b, struct call *c, err e)
{
    (void)e;
    call_end(b, c);
}

/* The text of a problem as RFC 9457 has it, or what else there is to say. */
err call_refusal(struct arena *a, const struct response *r)
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
