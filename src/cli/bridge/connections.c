/* connections.c: connections to the server.
 *
 * Those that are free are used again, the last one first. Exchanges that are answered at once
 * and are there at the same time are sent behind each other on one, all in one piece; any
 * other exchange has one of its own. Nothing here waits but connecting, which on one machine is
 * done at once. */
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

#include "cli/bridge/private.h"

enum {
    BYTES_MAX = 48 << 10, /* of requests on one connection, before the last one is added */
    APART = 2000,         /* exchanges, before it is tried again */
};

/* ---- the pool ---- */

struct connection *connection_take(struct bridge *b, const struct exchange *exchange)
{
    struct connection *c = b->filling;
    int fd;

    if (c && (c->count >= BRIDGE_PIPELINE_MAX || c->out.len >= BYTES_MAX))
        connection_fill_end(b);
    if (b->filling && exchange->brief && !b->apart)
        return b->filling;
    for (struct list *it = b->connections.prev; it != &b->connections; it = it->prev) {
        c = LIST_ENTRY(it, struct connection, link);
        if (c->fd >= 0 && !connection_first(c))
            return c;
    }
    if (b->connection_count >= BRIDGE_CONNECTIONS_MAX || !upstream_reach(b, &fd))
        return NULL;
    c = mem_alloc(sizeof *c);
    *c = (struct connection){ .fd = fd, .requests = arena_new(), .arena = arena_new() };
    list_init(&c->exchanges);
    list_append(&b->connections, &c->link);
    b->connection_count++;
    return c;
}

void connections_sweep(struct bridge *b)
{
    LIST_EACH(it, &b->connections) {
        struct connection *c = LIST_ENTRY(it, struct connection, link);
        if (c->fd >= 0)
            continue;
        list_remove(&c->link);
        b->connection_count--;
        arena_free(c->requests);
        arena_free(c->arena);
        mem_free(c);
    }
}

/* ---- sending ---- */

static void answer_begin(struct connection *c)
{
    arena_reset(c->arena);
    c->answer = ANSWER_UNKNOWN;
    response_parser_init(&c->parser, c->arena, NULL);
}

void connection_add(struct bridge *b, struct connection *c, struct exchange *exchange)
{
    assert(c == b->filling || !connection_first(c));
    if (!connection_first(c)) { /* whatever was on it is answered */
        arena_reset(c->requests);
        c->out = buf_in(c->requests);
        c->sent = c->count = c->pieces = 0;
        c->received_ms = b->now_ms;
        answer_begin(c);
    }
    buf_reserve(&c->out, exchange->body.len + 1024);
    exchange->kind->head(b, exchange, &c->out);
    buf_add(&c->out, STR("\r\n"));
    buf_add(&c->out, exchange->body);
    c->count++;
    list_append(&c->exchanges, &exchange->pipeline);
    exchange->connection = c;
    if (exchange->brief && !b->apart) {
        b->filling = c;
        return;
    }
    b->apart -= b->apart > 0;
    connection_send(b, c);
}

void connection_fill_end(struct bridge *b)
{
    struct connection *c = b->filling;

    b->filling = NULL;
    if (c)
        connection_send(b, c);
}

bool connection_sends(const struct connection *c)
{
    return connection_first(c) && c->sent < c->out.len;
}

/* The connection has ended under its exchanges. One that was kept open may have been closed before they
 * came, which costs no try; else the first of them may be what the server cannot bear. */
static void lost(struct bridge *b, struct connection *c)
{
    bool stale = c->used && !response_begun(&c->parser);
    struct exchange *exchange = connection_first(c) ? connection_shift(c) : NULL;

    connection_close(b, c);
    if (exchange)
        exchange_lost(b, exchange, !stale);
}

void connection_send(struct bridge *b, struct connection *c)
{
    ssize_t n = send(c->fd, c->out.at + c->sent, c->out.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n >= 0)
        c->sent += (size_t)n;
    else if (errno == EPIPE || errno == ECONNRESET)
        connection_receive(b, c); /* it may have refused what it did not read */
    else if (errno != EAGAIN && errno != EINTR)
        lost(b, c);
}

/* ---- receiving ---- */

/* A stream may take its time: what is behind it is asked elsewhere. */
static void stream_begin(struct bridge *b, struct connection *c)
{
    struct exchange *first = connection_shift(c);

    c->answer = ANSWER_STREAM;
    event_reader_init(&c->events, c->arena);
    while (connection_first(c)) {
        connection_shift(c);
        b->stranded = c->spent = true;
    }
    list_append(&c->exchanges, &first->pipeline);
    first->connection = c;
}

/* That it is a stream is known from the head, before anything comes of it. What came of a stream
 * goes on at once, and is not kept. */
static void take_body(struct bridge *b, struct connection *c)
{
    str type, data;

    if (c->answer == ANSWER_UNKNOWN && response_value(&c->parser.response, "Content-Type", &type) &&
        str_starts(type, STR("text/event-stream")))
        stream_begin(b, c);
    else if (c->answer == ANSWER_UNKNOWN && c->parser.body.len)
        c->answer = ANSWER_WHOLE;
    if (c->answer != ANSWER_STREAM)
        return;
    struct exchange *exchange = connection_first(c);
    str bytes = { c->parser.body.at, c->parser.body.len };
    while (connection_first(c) == exchange && event_read(&c->events, &bytes, &data))
        if (exchange->kind->event)
            exchange->kind->event(b, exchange, data);
    c->parser.body.len = 0;
}

/* The connection is free before the exchange is told, which may want to use it. Answers that came
 * one by one were worked on one after the other: on connections of their own, the server works on
 * many at once. */
static void finish(struct bridge *b, struct connection *c, bool reusable)
{
    struct exchange *exchange = connection_shift(c);
    struct response r = c->parser.response;

    if (c->answer == ANSWER_STREAM)
        r.body = STR("");
    c->used = true;
    if (!connection_first(c) && c->count > 1 && c->pieces > 1 + c->count / 4)
        b->apart = APART;
    if (!reusable || !r.keep_alive || c->spent || (!connection_first(c) && c->sent < c->out.len))
        connection_close(b, c);
    exchange->kind->done(b, exchange, &r);
}

/* One answer, or a part of it. */
static void take_answer(struct bridge *b, struct connection *c, str *bytes)
{
    struct exchange *exchange = connection_first(c);
    size_t used;
    bool done;

    err e = response_parse(&c->parser, *bytes, &used, &done);
    if (e) {
        connection_shift(c);
        connection_close(b, c);
        exchange->kind->failed(b, exchange, e);
        return;
    }
    *bytes = str_slice(*bytes, used, bytes->len);
    take_body(b, c);
    if (!done || connection_first(c) != exchange)
        return;
    finish(b, c, true);
    if (connection_first(c))
        answer_begin(c);
}

/* Bytes that nobody asked for end it; its end is that of an answer that says no other. */
void connection_receive(struct bridge *b, struct connection *c)
{
    ssize_t n = recv(c->fd, b->piece, sizeof b->piece, MSG_DONTWAIT);
    str bytes = { b->piece, n > 0 ? (size_t)n : 0 };

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        c->received_ms = b->now_ms;
        c->pieces++;
        while (bytes.len && connection_first(c))
            take_answer(b, c, &bytes);
        if (bytes.len)
            connection_close(b, c);
        return;
    }
    if (!connection_first(c) || response_end(&c->parser)) {
        lost(b, c);
        return;
    }
    take_body(b, c);
    if (connection_first(c))
        finish(b, c, false);
}
