/* lanes.c: connections to the server.
 *
 * Those that are free are used again, the last one first. Calls that are answered at once
 * and are there at the same time are sent behind each other on one, all in one piece; any
 * other call has one of its own. Nothing here waits but connecting, which on one machine is
 * done at once. */
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/bridge/private.h"

enum {
    BYTES_MAX = 48 << 10, /* of requests on one lane, before the last one is added */
    APART = 2000,         /* calls, before it is tried again */
};

/* ---- the pool ---- */

static struct lane *lane_new(struct bridge *b, int fd)
{
    struct lane *c = mem_alloc(sizeof *c);

    *c = (struct lane){ .fd = fd, .asked = arena_new(), .arena = arena_new() };
    list_init(&c->calls);
    list_append(&b->lanes, &c->link);
    b->lane_count++;
    return c;
}

struct call *lane_first(const struct lane *c)
{
    return list_empty(&c->calls) ? NULL : LIST_ENTRY(c->calls.next, struct call, place);
}

bool lane_is_shared(const struct lane *c)
{
    return c->calls.next != c->calls.prev;
}

static bool has_room(const struct lane *c)
{
    return c->count < BRIDGE_TOGETHER_MAX && c->out.len < BYTES_MAX;
}

struct lane *lane_take(struct bridge *b, const struct call *call)
{
    int fd;

    if (b->filling && !has_room(b->filling))
        lane_fill_end(b);
    if (b->filling && call->brief && !b->apart)
        return b->filling;
    for (struct list *it = b->lanes.prev; it != &b->lanes; it = it->prev) {
        struct lane *c = LIST_ENTRY(it, struct lane, link);
        if (c->fd >= 0 && !lane_first(c))
            return c;
    }
    if (b->lane_count >= BRIDGE_LANES_MAX || !site_reach(b, &fd))
        return NULL;
    return lane_new(b, fd);
}

static struct call *take_first(struct lane *c)
{
    struct call *call = lane_first(c);

    list_remove(&call->place);
    call->lane = NULL;
    return call;
}

void lane_close(struct bridge *b, struct lane *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (b->filling == c)
        b->filling = NULL;
    while (lane_first(c)) {
        take_first(c);
        b->stranded = true;
    }
}

void lanes_sweep(struct bridge *b)
{
    LIST_EACH(it, &b->lanes) {
        struct lane *c = LIST_ENTRY(it, struct lane, link);
        if (c->fd >= 0)
            continue;
        list_remove(&c->link);
        b->lane_count--;
        arena_free(c->asked);
        arena_free(c->arena);
        mem_free(c);
    }
}

/* ---- sending ---- */

static void answer_begin(struct lane *c)
{
    arena_reset(c->arena);
    c->answer = ANSWER_UNKNOWN;
    response_parser_init(&c->parser, c->arena, NULL);
}

/* It was free: whatever was on it is answered. */
static void lane_clear(struct bridge *b, struct lane *c)
{
    arena_reset(c->asked);
    c->out = buf_in(c->asked);
    c->sent = c->count = c->pieces = 0;
    c->heard_ms = b->now_ms;
    answer_begin(c);
}

void lane_add(struct bridge *b, struct lane *c, struct call *call)
{
    assert(c == b->filling || !lane_first(c));
    if (!lane_first(c))
        lane_clear(b, c);
    buf_reserve(&c->out, call->body.len + 1024);
    call->errand->head(b, call, &c->out);
    buf_add(&c->out, STR("\r\n"));
    buf_add(&c->out, call->body);
    c->count++;
    list_append(&c->calls, &call->place);
    call->lane = c;
    if (call->brief && !b->apart) {
        b->filling = c;
        return;
    }
    b->apart -= b->apart > 0;
    lane_send(b, c);
}

void lane_fill_end(struct bridge *b)
{
    struct lane *c = b->filling;

    b->filling = NULL;
    if (c)
        lane_send(b, c);
}

bool lane_sends(const struct lane *c)
{
    return lane_first(c) && c->sent < c->out.len;
}

/* The connection has ended under its calls. One that was kept open may have been closed before they
 * came, which costs no try; else the first of them may be what the server cannot bear. */
static void lost(struct bridge *b, struct lane *c)
{
    bool stale = c->used && !response_begun(&c->parser);
    struct call *call = lane_first(c) ? take_first(c) : NULL;

    lane_close(b, c);
    if (call)
        call_lost(b, call, !stale);
}

void lane_send(struct bridge *b, struct lane *c)
{
    ssize_t n = send(c->fd, c->out.at + c->sent, c->out.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n >= 0)
        c->sent += (size_t)n;
    else if (errno == EPIPE || errno == ECONNRESET)
        lane_receive(b, c); /* it may have refused what it did not read */
    else if (errno != EAGAIN && errno != EINTR)
        lost(b, c);
}

/* ---- receiving ---- */

static bool is_stream(const struct response *r)
{
    str type;
    return response_value(r, "Content-Type", &type) && str_starts(type, STR("text/event-stream"));
}

/* A stream may take its time: what is behind it is asked elsewhere. */
static void stream_begin(struct bridge *b, struct lane *c)
{
    struct call *first = take_first(c);

    c->answer = ANSWER_STREAM;
    event_reader_init(&c->events, c->arena);
    while (lane_first(c)) {
        take_first(c);
        b->stranded = c->spent = true;
    }
    list_append(&c->calls, &first->place);
    first->lane = c;
}

/* What came of a stream goes on at once, and is not kept. */
static void take_events(struct bridge *b, struct lane *c)
{
    struct call *call = lane_first(c);
    str bytes = { c->parser.body.at, c->parser.body.len }, data;

    while (lane_first(c) == call && event_read(&c->events, &bytes, &data))
        if (call->errand->event)
            call->errand->event(b, call, data);
    c->parser.body.len = 0;
}

/* That it is a stream is known from the head, before anything comes of it. */
static void take_body(struct bridge *b, struct lane *c)
{
    if (c->answer == ANSWER_UNKNOWN && is_stream(&c->parser.response))
        stream_begin(b, c);
    else if (c->answer == ANSWER_UNKNOWN && c->parser.body.len)
        c->answer = ANSWER_WHOLE;
    if (c->answer == ANSWER_STREAM)
        take_events(b, c);
}

/* Answers that come one by one were worked on one after the other: on connections of their own, the
 * server works on many at once. */
static void judge(struct bridge *b, const struct lane *c)
{
    if (c->count > 1 && c->pieces > 1 + c->count / 4)
        b->apart = APART;
}

/* The connection is free before the call is told, which may want to use it. */
static void finish(struct bridge *b, struct lane *c, bool reusable)
{
    struct call *call = take_first(c);
    struct response r = c->parser.response;

    if (c->answer == ANSWER_STREAM)
        r.body = STR("");
    c->used = true;
    if (!lane_first(c))
        judge(b, c);
    if (!reusable || !r.keep_alive || c->spent || (!lane_first(c) && c->sent < c->out.len))
        lane_close(b, c);
    call->errand->done(b, call, &r);
}

/* One answer, or a part of it. */
static void take_answer(struct bridge *b, struct lane *c, str *bytes)
{
    struct call *call = lane_first(c);
    size_t used;
    bool done;

    err e = response_parse(&c->parser, *bytes, &used, &done);
    if (e) {
        take_first(c);
        lane_close(b, c);
        call->errand->failed(b, call, e);
        return;
    }
    *bytes = str_slice(*bytes, used, bytes->len);
    take_body(b, c);
    if (!done || lane_first(c) != call)
        return;
    finish(b, c, true);
    if (lane_first(c))
        answer_begin(c);
}

/* Bytes that nobody asked for end it. */
static void take_bytes(struct bridge *b, struct lane *c, str bytes)
{
    c->heard_ms = b->now_ms;
    c->pieces++;
    while (bytes.len && lane_first(c))
        take_answer(b, c, &bytes);
    if (bytes.len)
        lane_close(b, c);
}

/* The end of the connection is the end of an answer that says no other. */
static void take_end(struct bridge *b, struct lane *c)
{
    if (!lane_first(c) || response_end(&c->parser)) {
        lost(b, c);
        return;
    }
    take_body(b, c);
    if (lane_first(c))
        finish(b, c, false);
}

void lane_receive(struct bridge *b, struct lane *c)
{
    ssize_t n = recv(c->fd, b->piece, sizeof b->piece, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        take_bytes(b, c, (str){ b->piece, (size_t)n });
    else
        take_end(b, c);
}
