/* ws_client.c: a WebSocket to a server, blocking. */
#include "client/ws_client.h"

#include <unistd.h>

#include "client/http_client.h"
#include "client/socket.h"
#include "os/random.h"
#include "wire/ws/frame.h"

enum {
    PIECE = 16 << 10,       /* bytes that are received at once */
    MESSAGE_MAX = 16 << 20, /* of a message: a version of a large state and what goes with it */
    REPLY_MS = 10000,       /* for answering a ping or a close */
};

struct ws_client {
    int fd;
    struct websocket_reader reader;
    char piece[PIECE];
    str rest; /* of the piece: bytes that were received and not looked at */
};

void ws_client_free(struct ws_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    websocket_reader_release(&c->reader);
    mem_free(c);
}

static err gone(struct arena *a, enum socket_result why)
{
    return err_new(a, ERR_UNAVAILABLE,
                   why == SOCKET_LATE ? "the server is silent"
                                      : "the server closed the connection");
}

static err send_bytes(struct ws_client *c, struct arena *a, str bytes, int64_t timeout_ms)
{
    enum socket_result sent = socket_send(c->fd, bytes, socket_clock_ms() + timeout_ms);
    return sent == SOCKET_DONE ? NULL : gone(a, sent);
}

/* Receives a piece when all of the last one was looked at. */
static err refill(struct ws_client *c, struct arena *a, int64_t until_ms)
{
    size_t n = 0;

    if (c->rest.len > 0)
        return NULL;
    enum socket_result got = socket_receive(c->fd, c->piece, PIECE, until_ms, &n);
    if (got != SOCKET_DONE || n == 0)
        return gone(a, got);
    c->rest = (str){ c->piece, n };
    return NULL;
}

/* ---- the handshake ---- */

static err send_handshake(struct ws_client *c, struct arena *a, const struct endpoint *p,
                          const char *path, str key, int64_t timeout_ms)
{
    struct buf out = buf_in(a);
    str target;

    TRY(url_target(a, &p->url, path, NULL, 0, &target));
    http_client_head(&out, p, "GET", target);
    buf_add(&out, STR("Connection: Upgrade\r\n"
                      "Upgrade: websocket\r\n"
                      "Sec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: "));
    buf_add(&out, key);
    buf_add(&out, STR("\r\n\r\n"));
    return send_bytes(c, a, buf_str(&out), timeout_ms);
}

static err read_handshake(struct ws_client *c, struct arena *a, str key, int64_t until_ms)
{
    struct response_parser p;
    bool done = false;
    size_t used;
    str accept;

    response_parser_init(&p, a, NULL);
    while (!done) {
        TRY(refill(c, a, until_ms));
        TRY(response_parse(&p, c->rest, &used, &done));
        c->rest = str_slice(c->rest, used, c->rest.len);
    }
    if (p.response.status != 101)
        return err_new(a, response_kind(p.response.status),
                       "the server refuses to stream: expected status 101, found %d",
                       p.response.status);
    if (!response_value(&p.response, "Sec-WebSocket-Accept", &accept))
        accept = STR("");
    return websocket_check_accept(a, key, accept);
}

err ws_client_open(struct arena *a, const struct endpoint *p, const char *path, int64_t timeout_ms,
                   struct ws_client **out)
{
    struct ws_client *c = mem_alloc(sizeof *c);
    int64_t until_ms = socket_clock_ms() + timeout_ms;
    unsigned char random[WEBSOCKET_KEY_BYTES];

    random_bytes(random, sizeof random);
    str key = websocket_key(a, random);
    c->fd = -1;
    c->rest = STR("");
    websocket_reader_init(&c->reader, WEBSOCKET_CLIENT, MESSAGE_MAX);
    err e = socket_open(a, p, until_ms, &c->fd);
    if (!e)
        e = send_handshake(c, a, p, path, key, timeout_ms);
    if (!e)
        e = read_handshake(c, a, key, until_ms);
    if (e)
        ws_client_free(c);
    else
        *out = c;
    return e;
}

/* ---- messages ---- */

static err send_frame(struct ws_client *c, struct arena *a, enum websocket_kind kind, str payload,
                      int64_t timeout_ms)
{
    struct buf out = buf_in(a);
    unsigned char mask[4];

    random_bytes(mask, sizeof mask);
    websocket_frame_masked(&out, kind, payload, mask);
    return send_bytes(c, a, buf_str(&out), timeout_ms);
}

err ws_client_send(struct ws_client *c, struct arena *a, str text, int64_t timeout_ms)
{
    return send_frame(c, a, WEBSOCKET_TEXT, text, timeout_ms);
}

/* Says goodbye, if anyone still hears it, and why there will be no more messages. */
static err closed(struct ws_client *c, struct arena *a, const struct websocket_event *e)
{
    struct buf out = buf_in(a);
    unsigned char mask[4];

    random_bytes(mask, sizeof mask);
    websocket_close_masked(&out, e->code, e->kind == WEBSOCKET_REFUSED ? e->payload : STR(""),
                           mask);
    socket_send(c->fd, buf_str(&out), socket_clock_ms() + REPLY_MS);
    if (e->kind == WEBSOCKET_REFUSED)
        return err_new(a, ERR_INTERNAL, "the server does not speak WebSocket: " STR_FMT,
                       STR_ARG(e->payload));
    return err_new(a, e->code == WEBSOCKET_POLICY ? ERR_FORBIDDEN : ERR_UNAVAILABLE,
                   "the server closed the connection: %d" STR_FMT STR_FMT, (int)e->code,
                   STR_ARG(e->payload.len ? STR(" ") : STR("")), STR_ARG(e->payload));
}

err ws_client_next(struct ws_client *c, struct arena *a, int64_t silence_ms, str *out)
{
    struct websocket_event e;

    for (;;) {
        TRY(refill(c, a, socket_clock_ms() + silence_ms));
        if (!websocket_read(&c->reader, &c->rest, &e))
            continue;
        switch (e.kind) {
        case WEBSOCKET_TEXT: *out = arena_copy(a, e.payload); return NULL;
        case WEBSOCKET_PING: TRY(send_frame(c, a, WEBSOCKET_PONG, e.payload, REPLY_MS)); break;
        case WEBSOCKET_CLOSE:
        case WEBSOCKET_REFUSED: return closed(c, a, &e);
        default: break; /* nobody asked for a pong or for binary messages */
        }
    }
}
