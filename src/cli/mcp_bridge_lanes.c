/* mcp_bridge_lanes.c: connections to the server, each with one call at a time.
 *
 * Those that are free are used again, the last one first. Nothing here waits but
 * connecting, which on one machine is done at once. */
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/mcp_bridge_private.h"

/* ---- the pool ---- */

static struct lane *lane_new(struct bridge *b, int fd)
{
    struct lane *c = mem_alloc(sizeof *c);

    *c = (struct lane){ .fd = fd, .arena = arena_new() };
    list_append(&b->lanes, &c->link);
    b->lane_count++;
    return c;
}

struct lane *lane_take(struct bridge *b)
{
    int fd;

    for (struct list *it = b->lanes.prev; it != &b->lanes; it = it->prev) {
        struct lane *c = LIST_ENTRY(it, struct lane, link);
        if (c->fd >= 0 && !c->call)
            return c;
    }
    if (b->lane_count >= BRIDGE_LANES_MAX || !site_reach(b, &fd))
        return NULL;
    return lane_new(b, fd);
}

void lane_close(struct lane *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->call)
        c->call->lane = NULL;
    c->call = NULL;
}

void lanes_sweep(struct bridge *b)
{
    LIST_EACH(it, &b->lanes) {
        struct lane *c = LIST_ENTRY(it, struct lane, link);
        if (c->fd >= 0)
            continue;
        list_remove(&c->link);
        b->lane_count--;
        arena_free(c->arena);
        mem_free(c);
    }
}

/* ---- sending ---- */

/* The connection has ended under a call. One that was kept open may have been closed before the
 * call came, which costs it no try. */
static void lost(struct bridge *b, struct lane *c)
{
    struct call *call = c->call;
    bool stale = c->used && !response_begun(&c->parser);

    lane_close(c);
    if (call)
        call_lost(b, call, !stale);
}

void lane_begin(struct bridge *b, struct lane *c, struct call *call)
{
    struct buf head = buf_in(c->arena);

    assert(!c->call);
    arena_reset(c->arena);
    buf_reserve(&head, 512);
    call->errand->head(b, call, &head);
    buf_add(&head, STR("\r\n"));
    c->call = call;
    call->lane = c;
    c->head = buf_str(&head);
    c->body = call->body;
    c->sent = 0;
    c->answer = ANSWER_UNKNOWN;
    c->heard_ms = b->now_ms;
    response_parser_init(&c->parser, c->arena, NULL);
    lane_send(b, c);
}

void lane_send(struct bridge *b, struct lane *c)
{
    str head = str_slice(c->head, c->sent, c->head.len);
    size_t of_body = c->sent > c->head.len ? c->sent - c->head.len : 0;
    str body = str_slice(c->body, of_body, c->body.len);
    struct iovec parts[] = { { (void *)head.at, head.len }, { (void *)body.at, body.len } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

    ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
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

/* What came of a stream goes on at once, and is not kept. */
static void take_events(struct bridge *b, struct lane *c)
{
    struct call *call = c->call;
    str bytes = { c->parser.body.at, c->parser.body.len }, data;

    while (c->call == call && event_read(&c->events, &bytes, &data))
        if (call->errand->event)
            call->errand->event(b, call, data);
    c->parser.body.len = 0;
}

/* As soon as there is something of the body, all of the head is known. */
static void take_body(struct bridge *b, struct lane *c)
{
    if (c->answer == ANSWER_UNKNOWN && c->parser.body.len) {
        c->answer = is_stream(&c->parser.response) ? ANSWER_STREAM : ANSWER_WHOLE;
        event_reader_init(&c->events, c->arena);
    }
    if (c->answer == ANSWER_STREAM)
        take_events(b, c);
}

/* The connection is free before the call is told, which may want to use it. */
static void finish(struct bridge *b, struct lane *c, bool reusable)
{
    struct call *call = c->call;
    struct response r = c->parser.response;

    if (c->answer == ANSWER_STREAM)
        r.body = STR("");
    c->call = NULL;
    call->lane = NULL;
    c->used = true;
    if (!reusable || !r.keep_alive || c->sent < c->head.len + c->body.len)
        lane_close(c);
    call->errand->done(b, call, &r);
}

static void take_bytes(struct bridge *b, struct lane *c, str bytes)
{
    struct call *call = c->call;
    size_t used;
    bool done;

    c->heard_ms = b->now_ms;
    err e = response_parse(&c->parser, bytes, &used, &done);
    if (e) {
        lane_close(c);
        call->errand->failed(b, call, e);
        return;
    }
    take_body(b, c);
    if (done && c->call == call)
        finish(b, c, used == bytes.len);
}

/* The end of the connection is the end of an answer that says no other. */
static void take_end(struct bridge *b, struct lane *c)
{
    if (!c->call || response_end(&c->parser)) {
        lost(b, c);
        return;
    }
    take_body(b, c);
    if (c->call)
        finish(b, c, false);
}

void lane_receive(struct bridge *b, struct lane *c)
{
    ssize_t n = recv(c->fd, b->piece, sizeof b->piece, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0 && c->call)
        take_bytes(b, c, (str){ b->piece, (size_t)n });
    else if (n > 0)
        lane_close(c); /* bytes that nobody asked for */
    else
        take_end(b, c);
}
