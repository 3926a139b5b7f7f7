/* http_client.c: one request after the other to one server, blocking. */
#include "client/http_client.h"

#include <unistd.h>

#include "client/socket.h"

enum {
    TIMEOUT_MS = 30000,
    PIECE = 64 << 10, /* bytes that are received at once */
};

struct http_client {
    const struct endpoint *endpoint;
    int fd; /* −1: not connected */
};

struct http_client *http_client_new(const struct endpoint *p)
{
    struct http_client *c = mem_alloc(sizeof *c);
    *c = (struct http_client){ .endpoint = p, .fd = -1 };
    return c;
}

static void disconnect(struct http_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void http_client_free(struct http_client *c)
{
    disconnect(c);
    mem_free(c);
}

/* ---- writing ---- */

static void put_field(struct buf *out, str name, str value)
{
    buf_add(out, name);
    buf_add(out, STR(": "));
    buf_add(out, value);
    buf_add(out, STR("\r\n"));
}

void http_client_head(struct buf *out, const struct endpoint *p, const char *method, str target)
{
    buf_printf(out, "%s ", method);
    buf_add(out, target);
    buf_add(out, STR(" HTTP/1.1\r\n"));
    put_field(out, STR("Host"), url_authority(out->arena, &p->url));
    buf_add(out, STR("Authorization: Bearer "));
    buf_add(out, p->token);
    buf_add(out, STR("\r\n"));
}

static str request_print(struct arena *a, const struct endpoint *p, const struct http_call *call)
{
    struct buf out = buf_in(a);

    http_client_head(&out, p, call->method, call->target);
    put_field(&out, STR("Accept"), STR("application/json"));
    for (size_t i = 0; i < call->field_count; i++)
        put_field(&out, call->fields[i].name, call->fields[i].value);
    if (call->body.len) {
        put_field(&out, STR("Content-Type"), STR("application/json"));
        buf_printf(&out, "Content-Length: %zu\r\n", call->body.len);
    }
    buf_add(&out, STR("\r\n"));
    buf_add(&out, call->body);
    return buf_str(&out);
}

/* ---- one try ---- */

static err too_late(struct arena *a, int64_t timeout_ms)
{
    return err_new(a, ERR_UNAVAILABLE,
                   "the server did not answer within %g s; what was asked for may have been done",
                   (double)timeout_ms / 1000);
}

/* Receives until the response is whole. *lost: the connection ended before it was. */
static err receive(struct http_client *c, struct response_parser *p, int64_t until_ms,
                   int64_t timeout_ms, bool *lost)
{
    char *piece = arena_alloc(p->arena, PIECE);
    bool done = false;
    size_t n, used = 0;

    while (!done) {
        switch (socket_receive(c->fd, piece, PIECE, until_ms, &n)) {
        case SOCKET_LATE: return too_late(p->arena, timeout_ms);
        case SOCKET_LOST: n = 0; break;
        case SOCKET_DONE: break;
        }
        if (n == 0) {
            err e = response_end(p);
            *lost = e != NULL;
            return e;
        }
        TRY(response_parse(p, (str){ piece, n }, &used, &done));
    }
    /* Bytes that nobody asked for: whatever they are, they must not become the next answer. */
    if (used < n)
        p->response.keep_alive = false;
    return NULL;
}

/* A server that refuses a large body answers and closes before it has read it, so that an answer
 * may be there although sending failed. */
static err try_once(struct http_client *c, struct arena *a, str request, int64_t until_ms,
                    int64_t timeout_ms, struct response *out, bool *lost)
{
    struct response_parser p;

    *lost = false;
    response_parser_init(&p, a, NULL);
    if (c->fd >= 0 && socket_ready(c->fd))
        disconnect(c);
    if (c->fd < 0)
        TRY(socket_open(a, c->endpoint, until_ms, &c->fd));

    err e = socket_send(c->fd, request, until_ms) == SOCKET_LATE
                ? too_late(a, timeout_ms)
                : receive(c, &p, until_ms, timeout_ms, lost);
    if (e || !p.response.keep_alive)
        disconnect(c);
    *out = p.response;
    return e;
}

err http_client_call(struct http_client *c, struct arena *a, const struct http_call *call,
                     struct response *out)
{
    int64_t timeout_ms = call->timeout_ms ? call->timeout_ms : TIMEOUT_MS;
    int64_t until_ms = socket_clock_ms() + timeout_ms;
    str request = request_print(a, c->endpoint, call);
    bool lost;

    err e = try_once(c, a, request, until_ms, timeout_ms, out, &lost);
    if (lost && call->repeatable)
        e = try_once(c, a, request, until_ms, timeout_ms, out, &lost);
    return e;
}
