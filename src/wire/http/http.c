/* http.c: the protocol of a connection: one request after the other, in order.
 *
 * While others work on a request, what comes behind it is kept; so responses
 * leave in the order of their requests, and a client that sends many at once costs
 * no more than one that waits. Time counts only while the client is the one to
 * act. */
#include <assert.h>

#include "wire/held.h"
#include "wire/http/glue.h"

enum {
    HELD_MAX = 64 << 10,   /* bytes behind a request in flight, before the link is paused */
    OUT_MAX = 1 << 20,     /* bytes that the peer has not taken, before the next request is read */
    OUT_LITTLE = 16 << 10, /* the same of one who has shown no token, or when much waits */
};

/* What is held behind a request counts like one. */
static void held_count(struct http *h)
{
    charge_set(&h->behind, h->x.conn ? h->x.conn->quota : h->behind.quota, h->held_room);
}

static void http_free(struct http *h)
{
    http_exchange_end(h);
    charge_end(&h->behind);
    mem_free(h->held);
    mem_free(h->shown);
    mem_free(h);
}

/* ---- the request is whole ---- */

static void performed(struct pending *p)
{
    struct http *h = p->owner;

    if (h->x.conn)
        http_answer(h);
    http_go_on(h);
}

static void submit(struct http *h)
{
    h->grant = grant_ref(h->x.conn->grant);
    h->pending.command.actor = h->grant->actor;
    h->phase = HTTP_PENDING;
    err e = pending_submit(&h->pending);
    if (e)
        http_refuse(&h->x, e);
}

static void request_done(struct http *h)
{
    struct cached_answer *shown = NULL;

    h->whole = true;
    if (h->with_body) {
        h->with_body(h);
        return;
    }
    h->pending = (struct pending){
        .server = h->server, .charge = h->charge, .cached = STR(""), .done = performed, .owner = h
    };
    if (http_is_plain(h)) {
        h->pending.cached = h->match.captures[0].value;
        shown = op_peek(h->server->cache, h->match.op, h->pending.cached, h->x.conn->grant->actor);
    }
    if (shown) {
        http_answer_cached(h, shown);
        return;
    }
    err e = http_input(h);
    if (!http_count(h))
        http_refuse_busy(h, "too many bytes of requests are held (buffered_bytes, token_bytes)");
    else if (e)
        http_refuse(&h->x, e);
    else
        submit(h);
}

/* ---- bytes ---- */

/* Takes what belongs to the request. False: more must come. */
static bool parse(struct http *h, str *rest)
{
    size_t used;
    enum http_result result = http_parse(&h->parser, *rest, &used);
    bool fits = http_count(h);

    *rest = str_slice(*rest, used, rest->len);
    switch (result) {
    case HTTP_HEAD_DONE: http_begin(h); return true;
    case HTTP_REQUEST_DONE: request_done(h); return true;
    case HTTP_REFUSED: http_problem(h, h->parser.status, h->parser.message, STR("")); return true;
    case HTTP_NEED_MORE: break;
    }
    if (fits || server_makes_room(h->x.conn))
        return false;
    h->close = true;
    http_refuse_busy(h, "too many bytes of requests are held (buffered_bytes, token_bytes)");
    return true;
}

/* The response is on the way: what is next? */
static void after_answer(struct http *h)
{
    bool close = h->close;

    http_exchange_end(h);
    h->phase = close ? HTTP_CLOSING : HTTP_IDLE;
    if (close)
        conn_finish(h->x.conn);
}

static size_t out_most(const struct http *h)
{
    return !h->x.conn->grant || held_is_scarce(h->server) ? OUT_LITTLE : OUT_MAX;
}

/* Goes one step; false: nothing more can be done with what is there. */
static bool step(struct http *h, str *rest)
{
    switch (h->phase) {
    case HTTP_IDLE:
        if (rest->len == 0 || h->x.conn->out_bytes > out_most(h) || !conn_may_ask(h->x.conn))
            return false;
        http_exchange_begin(h);
        return true;
    case HTTP_HEAD:
    case HTTP_BODY: return parse(h, rest);
    case HTTP_ANSWERED: after_answer(h); return true;
    default: return false;
    }
}

static void pump(struct http *h, str *rest)
{
    assert(!h->pumping);
    h->pumping = true;
    while (step(h, rest)) {
    }
    h->pumping = false;
}

static void hold(struct http *h, str bytes)
{
    if (bytes.len == 0)
        return;
    if (h->held_from > 0) {
        memmove(h->held, h->held + h->held_from, h->held_len);
        h->held_from = 0;
    }
    if (h->held_len + bytes.len > h->held_room) {
        h->held_room = h->held_len + bytes.len;
        h->held = mem_grow(h->held, h->held_room);
    }
    memcpy(h->held + h->held_len, bytes.at, bytes.len);
    h->held_len += bytes.len;
    held_count(h);
}

/* What was held is used up to the last `left` bytes. */
static void held_used(struct http *h, size_t left)
{
    h->held_from += h->held_len - left;
    h->held_len = left;
    if (left == 0) {
        mem_free(h->held);
        h->held = NULL;
        h->held_from = h->held_room = 0;
    }
    held_count(h);
}

static void pace(struct http *h)
{
    bool pause = h->held_len > HELD_MAX;

    if (pause == h->paused)
        return;
    h->paused = pause;
    if (pause)
        link_pause(h->x.conn->link);
    else
        link_resume(h->x.conn->link);
}

static void set_deadline(struct http *h)
{
    const struct server_limits *l = &h->server->limits;

    if (h->timed == h->phase)
        return;
    h->timed = h->phase;
    conn_deadline(h->x.conn, h->phase == HTTP_IDLE   ? l->idle_ms
                             : h->phase == HTTP_HEAD ? l->header_ms
                             : h->phase == HTTP_BODY ? l->body_ms
                                                     : 0);
}

/* After a pump: what the connection is to wait for now. */
static void settle(struct http *h)
{
    bool reading = h->phase == HTTP_IDLE || h->phase == HTTP_HEAD || h->phase == HTTP_BODY;

    if (h->phase == HTTP_CLOSING)
        return;
    pace(h);
    if (reading && h->held_len == 0 &&
        (h->ended || (h->phase == HTTP_IDLE && h->server->stopping))) {
        h->phase = HTTP_CLOSING;
        conn_finish(h->x.conn);
        return;
    }
    set_deadline(h);
}

/* The connection speaks another protocol: what came behind the request is in it. */
static void hand_over(struct http *h, str rest)
{
    struct conn *c = h->x.conn;

    if (h->paused)
        link_resume(c->link);
    if (rest.len > 0)
        c->protocol->bytes(c, rest);
    http_free(h);
}

/* Goes on with what is held. */
static void pump_held(struct http *h)
{
    str rest = h->held_len > 0 ? (str){ h->held + h->held_from, h->held_len } : STR("");

    pump(h, &rest);
    held_used(h, h->phase == HTTP_CLOSING ? 0 : rest.len);
    if (h->phase == HTTP_SWITCHED)
        hand_over(h, rest);
    else
        settle(h);
}

static void go_on(struct http *h)
{
    if (!h->x.conn)
        http_free(h);
    else if (!h->pumping)
        pump_held(h);
}

/* ---- what the connection tells ---- */

static void http_bytes(struct conn *c, str bytes)
{
    struct http *h = c->state;

    if (h->held_len > 0) {
        hold(h, bytes);
        http_go_on(h);
        return;
    }
    pump(h, &bytes);
    if (h->phase == HTTP_SWITCHED) {
        hand_over(h, bytes);
        return;
    }
    if (h->phase != HTTP_CLOSING)
        hold(h, bytes);
    settle(h);
}

static void http_sent(struct conn *c)
{
    struct http *h = c->state;

    if (h->phase == HTTP_IDLE && h->held_len > 0)
        http_go_on(h);
}

/* Nobody waits for what others do for the request. False: nobody does anything. */
static bool cancel(struct http *h, enum cancel_reason why)
{
    if (h->phase == HTTP_PENDING)
        pending_cancel(&h->pending, why);
    else if (h->phase == HTTP_AWAY)
        h->cancel(h, why);
    else
        return false;
    return true;
}

static void http_ended(struct conn *c)
{
    struct http *h = c->state;

    h->ended = true;
    if (!cancel(h, CANCEL_GONE))
        settle(h);
}

static void http_late(struct conn *c)
{
    struct http *h = c->state;

    if (h->phase == HTTP_HEAD || h->phase == HTTP_BODY) {
        h->close = true;
        http_problem(h, 408,
                     h->phase == HTTP_HEAD ? STR("the head of the request took too long")
                                           : STR("the body of the request took too long"),
                     STR(""));
        http_go_on(h);
    } else if (h->phase == HTTP_IDLE) {
        h->phase = HTTP_CLOSING;
        conn_finish(c);
    }
}

static void http_revoked(struct conn *c)
{
    struct http *h = c->state;

    h->shown_len = 0;
    cancel(h, CANCEL_REVOKED);
}

static void http_stopping(struct conn *c)
{
    struct http *h = c->state;

    if (!cancel(h, CANCEL_STOPPING))
        settle(h);
}

/* Whoever works on the request has its memory, and lets go of it. */
static void http_closed(struct conn *c)
{
    struct http *h = c->state;

    h->x.conn = NULL;
    if (!cancel(h, CANCEL_GONE) && h->phase != HTTP_ADMITTING)
        http_free(h);
}

const struct protocol http_protocol = {
    .name = "http",
    .bytes = http_bytes,
    .sent = http_sent,
    .ended = http_ended,
    .late = http_late,
    .revoked = http_revoked,
    .stopping = http_stopping,
    .closed = http_closed,
};

void http_conn_open(struct conn *c)
{
    struct http *h = mem_alloc(sizeof *h);

    *h = (struct http){ .x = { .conn = c }, .server = c->server, .timed = HTTP_ANSWERED };
    h->x.request = &h->parser.request;
    h->go_on = go_on;
    charge_begin(&h->behind, c->server, c->quota);
    conn_switch(c, &http_protocol, h);
    set_deadline(h);
}
