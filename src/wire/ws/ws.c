/* ws.c: WebSocket connections: the handshake, who is there, and how long they may be silent.
 *
 * What their messages mean is message.c's business, what frames look like frame.c's. */
#include "wire/ws/ws.h"

#include "json/write.h"
#include "wire/http/text.h"

enum {
    PINGS_MAX = 2, /* that may go unanswered */
    FIRST_MESSAGE_MAX =
        4 << 10, /* bytes of one that shows a token: nothing else is wanted before */
};

#define PROTOCOL "baton.v1"
#define BEARER "bearer."

/* ---- closing ---- */

static void ws_close(struct ws *ws, enum websocket_code code, str reason)
{
    struct arena *a = server_arena(ws->server);
    struct buf frame = buf_in(a);

    if (!ws->closing) {
        ws->closing = true;
        ws_unsubscribe_all(ws);
        websocket_close(&frame, code, reason);
        conn_send(ws->conn, buf_str(&frame));
        conn_flush(ws->conn);
        link_resume(ws->conn->link); /* to see that the peer closes too */
        conn_deadline(ws->conn, ws->server->limits.header_ms);
    }
    server_arena_done(ws->server, a);
}

/* The peer's close frame answers ours, or is answered; either way it is the end. */
static void peer_closes(struct ws *ws, const struct websocket_event *e)
{
    if (!ws->closing)
        ws_close(ws, e->code, STR(""));
    conn_finish(ws->conn);
}

/* Of one who breaks the rules nothing more can be understood, not even that it closes. */
static void peer_fails(struct ws *ws, const struct websocket_event *e)
{
    ws_close(ws, e->code, e->payload);
    conn_finish(ws->conn);
}

/* ---- time ---- */

static void ping_send(struct ws *ws)
{
    struct arena *a = server_arena(ws->server);
    struct buf frame = buf_in(a);

    websocket_frame(&frame, WEBSOCKET_PING, STR(""));
    conn_send(ws->conn, buf_str(&frame));
    conn_flush(ws->conn);
    ws->pings++;
    server_arena_done(ws->server, a);
}

/* When its silence is looked at next. */
static void deadline_set(struct ws *ws)
{
    int64_t at = ws->heard_ms + (ws->pings + 1) * ws->server->limits.ping_ms;
    int64_t ms = at - loop_now_ms(ws->server->loop);

    conn_deadline(ws->conn, ms > 0 ? ms : 1);
}

static void silence_end(struct ws *ws)
{
    int64_t silent = loop_now_ms(ws->server->loop) - ws->heard_ms;

    if (silent >= (ws->pings + 1) * ws->server->limits.ping_ms) {
        if (ws->pings == PINGS_MAX) {
            conn_abort(ws->conn); /* nobody is there to be told */
            return;
        }
        ping_send(ws);
    }
    deadline_set(ws);
}

static void on_late(struct conn *c)
{
    struct ws *ws = c->state;

    if (ws->closing)
        conn_abort(c);
    else if (!c->grant)
        ws_close(ws, WEBSOCKET_POLICY, STR("no token came in time"));
    else
        silence_end(ws);
}

/* ---- who is there ---- */

static void ws_release(struct ws *ws)
{
    websocket_reader_release(&ws->reader);
    charge_end(&ws->charge);
    mem_free(ws->early);
    mem_free(ws);
}

/* False: it is being closed, and the grant is not needed any more. */
static bool is_welcome(struct ws *ws, struct grant *g)
{
    struct arena *a = server_arena(ws->server);
    err refused = server_check_welcome(ws->conn, g, a);

    if (refused) {
        grant_unref(g);
        ws_close(ws, WEBSOCKET_POLICY, refused->message);
    }
    server_arena_done(ws->server, a);
    return !refused;
}

static void ws_read(struct ws *ws, str bytes);

static void admitted(void *owner, struct grant *g, err refused)
{
    struct ws *ws = owner;
    char *early = ws->early;
    str bytes = { early, ws->early_len };

    ws->admitting = false;
    if (ws->conn)
        ws->conn->admitting = false;
    if (!ws->conn || ws->closing) {
        if (g)
            grant_unref(g);
        if (!ws->conn)
            ws_release(ws);
        return;
    }
    if (refused)
        ws_close(ws, WEBSOCKET_POLICY, refused->message);
    if (refused || !is_welcome(ws, g))
        return;
    conn_admit(ws->conn, g);
    ws->reader.message_max = ws->server->limits.message_max;
    ws->heard_ms = loop_now_ms(ws->server->loop);
    deadline_set(ws);
    if (ws->asked)
        ws_say_authenticated(ws);
    link_resume(ws->conn->link);
    ws->early = NULL;
    ws->early_len = 0;
    if (bytes.len)
        ws_read(ws, bytes);
    mem_free(early);
}

static void ws_authenticate(struct ws *ws, str token)
{
    ws->admitting = ws->conn->admitting = true;
    link_pause(ws->conn->link);
    ws->grant_wait = (struct grant_wait){ .then = admitted, .owner = ws };
    server_grant(ws->server, token, &ws->grant_wait);
}

/* ---- bytes ---- */

/* What comes while the token is looked up waits for the answer: not much, the link is paused. */
static void keep_early(struct ws *ws, str bytes)
{
    if (bytes.len == 0)
        return;
    ws->early = mem_grow(ws->early, ws->early_len + bytes.len);
    memcpy(ws->early + ws->early_len, bytes.at, bytes.len);
    ws->early_len += bytes.len;
}

static void pong_send(struct ws *ws, str payload)
{
    struct arena *a = server_arena(ws->server);
    struct buf frame = buf_in(a);

    websocket_frame(&frame, WEBSOCKET_PONG, payload);
    conn_send(ws->conn, buf_str(&frame));
    conn_flush_later(ws->conn);
    server_arena_done(ws->server, a);
}

static void message_take(struct ws *ws, enum websocket_kind kind, str payload)
{
    struct arena *a = server_arena(ws->server);
    struct ws_outcome outcome = ws_message(ws, a, kind, payload);

    if (outcome.close.len)
        ws_close(ws, WEBSOCKET_POLICY, outcome.close);
    else if (outcome.token.len)
        ws_authenticate(ws, outcome.token);
    server_arena_done(ws->server, a);
}

static void frame_take(struct ws *ws, const struct websocket_event *e)
{
    if (e->kind == WEBSOCKET_CLOSE)
        peer_closes(ws, e);
    else if (ws->closing)
        return;
    else if (e->kind == WEBSOCKET_REFUSED)
        peer_fails(ws, e);
    else if (e->kind == WEBSOCKET_PING)
        pong_send(ws, e->payload);
    else if (e->kind != WEBSOCKET_PONG)
        message_take(ws, e->kind, e->payload);
}

/* False: there is no room for it. */
static bool ws_count(struct ws *ws)
{
    uint64_t bytes = ws->reader.room + ws->early_len;
    bool fits = bytes <= ws->charge.bytes || charge_fits(&ws->charge, bytes);

    charge_set(&ws->charge, ws->conn->quota, bytes);
    return fits || server_makes_room(ws->conn);
}

static void ws_read(struct ws *ws, str bytes)
{
    struct websocket_event e;

    while (!ws->admitting && !ws->conn->closing && websocket_read(&ws->reader, &bytes, &e))
        frame_take(ws, &e);
    if (ws->admitting)
        keep_early(ws, bytes);
    if (!ws_count(ws))
        ws_close(ws, WEBSOCKET_TRY_LATER, STR("too many bytes of messages are held"));
    /* Who asks and never listens is not read any further until it has taken the answers. */
    if (ws->conn->out_bytes > lag_max(ws->conn) && !ws->closing)
        link_pause(ws->conn->link);
}

static void on_bytes(struct conn *c, str bytes)
{
    struct ws *ws = c->state;

    ws->heard_ms = loop_now_ms(ws->server->loop);
    ws->pings = 0;
    ws_read(ws, bytes);
}

static void on_sent(struct conn *c)
{
    struct ws *ws = c->state;

    if (!ws->admitting)
        link_resume(c->link);
    if (lag_sent(&ws->lag))
        ws_resume_all(ws);
}

static void on_ended(struct conn *c)
{
    conn_abort(c); /* without a close frame there is nobody to answer */
}

static void on_revoked(struct conn *c)
{
    ws_close(c->state, WEBSOCKET_POLICY, STR("token revoked"));
}

static void on_stopping(struct conn *c)
{
    ws_close(c->state, WEBSOCKET_GOING_AWAY, STR("the server stops"));
}

static void on_closed(struct conn *c)
{
    struct ws *ws = c->state;

    ws_unsubscribe_all(ws);
    ws->conn = NULL;
    if (!ws->admitting)
        ws_release(ws);
}

static const struct protocol ws_protocol = { .name = "websocket",
                                             .bytes = on_bytes,
                                             .sent = on_sent,
                                             .ended = on_ended,
                                             .late = on_late,
                                             .revoked = on_revoked,
                                             .stopping = on_stopping,
                                             .closed = on_closed };

/* ---- the handshake ---- */

static bool list_has(struct http_exchange *x, const char *name, str wanted)
{
    str list, part;

    if (!http_header_list(x->arena, x->request, name, &list))
        return false;
    while (http_list_next(&list, ',', &part))
        if (http_same(part, wanted))
            return true;
    return false;
}

/* The token among the subprotocols, which is how pages in browsers can show one. */
static bool offered_token(struct http_exchange *x, str *token)
{
    str list, part;

    if (!http_header_list(x->arena, x->request, "Sec-WebSocket-Protocol", &list))
        return false;
    while (http_list_next(&list, ',', &part)) {
        if (str_starts(part, STR(BEARER))) {
            *token = str_slice(part, strlen(BEARER), part.len);
            return true;
        }
    }
    return false;
}

/* The answer to who wants something else than WebSocket of our version: which one it is. */
static void upgrade_required(struct http_exchange *x, str detail)
{
    struct buf out = buf_in(x->arena), body = buf_in(x->arena);
    struct json_writer w = json_writer_to(&body);

    json_write_begin(&w, '{');
    write_text(&w, STR("type"), STR("about:blank"));
    write_text(&w, STR("title"), str_from(http_reason(426)));
    write_int(&w, STR("status"), 426);
    write_text(&w, STR("detail"), detail);
    json_write_end(&w, '}');

    http_write_status(&out, 426);
    http_write_field(&out, STR("Upgrade"), STR("websocket"));
    http_write_field(&out, STR("Sec-WebSocket-Version"), STR("13"));
    http_write_field(&out, STR("Connection"), STR("Upgrade, close"));
    http_write_field(&out, STR("Content-Type"), STR("application/problem+json"));
    http_write_number(&out, STR("Content-Length"), (int64_t)body.len);
    http_write_end(&out);
    buf_add(&out, buf_str(&body));
    conn_send(x->conn, buf_str(&out));
    conn_finish(x->conn);
}

static void switch_protocols(struct http_exchange *x, str accept)
{
    struct buf out = buf_in(x->arena);

    http_write_status(&out, 101);
    http_write_field(&out, STR("Upgrade"), STR("websocket"));
    http_write_field(&out, STR("Connection"), STR("Upgrade"));
    http_write_field(&out, STR("Sec-WebSocket-Accept"), accept);
    if (list_has(x, "Sec-WebSocket-Protocol", STR(PROTOCOL)))
        http_write_field(&out, STR("Sec-WebSocket-Protocol"), STR(PROTOCOL));
    http_write_end(&out);
    conn_send(x->conn, buf_str(&out));
    conn_flush_later(x->conn);
}

static void ws_open(struct http_exchange *x)
{
    struct conn *c = x->conn;
    struct ws *ws = mem_alloc(sizeof *ws);
    str token = STR("");

    *ws = (struct ws){ .conn = c, .server = c->server, .heard_ms = loop_now_ms(c->server->loop) };
    list_init(&ws->subs);
    websocket_reader_init(&ws->reader, WEBSOCKET_SERVER,
                          c->grant ? c->server->limits.message_max : FIRST_MESSAGE_MAX);
    charge_begin(&ws->charge, c->server, c->quota);
    conn_switch(c, &ws_protocol, ws);
    if (c->grant)
        deadline_set(ws);
    else
        conn_deadline(c, c->server->limits.header_ms);
    if (!c->grant && offered_token(x, &token))
        ws_authenticate(ws, token);
}

void ws_begin(struct http_exchange *x)
{
    const struct http_request *r = x->request;
    str version, key, accept;

    if (!str_eq(r->method, STR("GET")) || r->minor < 1 || !r->upgrade ||
        !list_has(x, "Upgrade", STR("websocket"))) {
        upgrade_required(x, STR("/ws speaks WebSocket: expected GET with Upgrade: websocket"));
        return;
    }
    if (!http_header(r, "Sec-WebSocket-Version", &version) || !str_eq(version, STR("13"))) {
        upgrade_required(x, STR("expected Sec-WebSocket-Version: 13"));
        return;
    }
    if (http_header_count(r, "Sec-WebSocket-Key") != 1 ||
        !http_header(r, "Sec-WebSocket-Key", &key)) {
        http_refuse(x, err_new(x->arena, ERR_INVALID, "expected one Sec-WebSocket-Key"));
        return;
    }
    err e = websocket_accept(x->arena, key, &accept);
    if (e) {
        http_refuse(x, e);
        return;
    }
    switch_protocols(x, accept);
    ws_open(x);
}
