/* ws_client.h: a client of a WebSocket, for tests.
 *
 * What it hears is written as lines: a message as its JSON with single quotes, an event as
 * `event SUBJECT SEQ`, `ping`, `close 1008 'reason'`, and `end` where the server closes. */
#ifndef TEST_WS_CLIENT_H
#define TEST_WS_CLIENT_H

#include "json_help.h"
#include "log_server.h"
#include "wire/ws/frame.h"

struct client {
    struct log_server *log;
    int fd;
    bool upgraded, ended;
    struct buf bytes; /* before the upgrade */
    str head;         /* of the response */
    struct websocket_reader reader;
    struct buf heard;
    int64_t last; /* event */
    int events;
};

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define TOKEN "Authorization: Bearer op_1\r\n"
#define START "GET /ws HTTP/1.1\r\nHost: localhost\r\n"
#define HANDSHAKE START UPGRADE VERSION KEY

/* ---- the client ---- */

static inline void client_open(struct client *c, struct log_server *w, const char *request)
{
    *c = (struct client){ .log = w,
                          .fd = log_connect(w),
                          .bytes = buf_in(check_arena()),
                          .heard = buf_in(check_arena()) };
    websocket_reader_init(&c->reader, WEBSOCKET_CLIENT, 0);
    net_send(c->fd, str_from(request));
    net_send(c->fd, STR("\r\n"));
}

static inline void client_close(struct client *c)
{
    close(c->fd);
    websocket_reader_release(&c->reader);
}

static inline void note_text(struct client *c, str text)
{
    const struct json *json = json_parsed(check_arena(), arena_copy(check_arena(), text));

    if (!json_get(json, "event_type")) {
        buf_add(&c->heard, json_shown(check_arena(), json));
        return;
    }
    int64_t seq = json_int_or(json, "seq", 0);
    CHECK(seq > c->last);
    c->last = seq;
    c->events++;
    buf_printf(&c->heard, "event " STR_FMT " %lld", STR_ARG(json_str(json, "state_id")),
               (long long)seq);
}

static inline void note(struct client *c, const struct websocket_event *e)
{
    if (c->heard.len)
        buf_byte(&c->heard, '\n');
    switch (e->kind) {
    case WEBSOCKET_TEXT: note_text(c, e->payload); break;
    case WEBSOCKET_PING: buf_add(&c->heard, STR("ping")); break;
    case WEBSOCKET_PONG: buf_printf(&c->heard, "pong '" STR_FMT "'", STR_ARG(e->payload)); break;
    case WEBSOCKET_CLOSE:
        buf_printf(&c->heard, "close %d '" STR_FMT "'", e->code, STR_ARG(e->payload));
        break;
    default: check_fail(__FILE__, __LINE__, "the server broke a rule: %d", e->kind);
    }
}

static inline void client_take(struct client *c, str bytes)
{
    struct websocket_event e;

    if (!c->upgraded) {
        buf_add(&c->bytes, bytes);
        str all = buf_str(&c->bytes);
        const char *end = strstr(all.at, "\r\n\r\n");
        if (!end)
            return;
        c->head = (str){ all.at, (size_t)(end + 4 - all.at) };
        if (!str_starts(all, STR("HTTP/1.1 101 ")))
            return;
        c->upgraded = true;
        bytes = str_slice(all, c->head.len, all.len);
    }
    while (websocket_read(&c->reader, &bytes, &e))
        note(c, &e);
}

/* Reads what there is. */
static inline bool client_read(struct client *c)
{
    char bytes[65536];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (n > 0)
        client_take(c, (str){ bytes, (size_t)n });
    if (n == 0 || (n < 0 && errno == ECONNRESET)) {
        if (!c->ended)
            buf_add(&c->heard, c->heard.len ? STR("\nend") : STR("end"));
        c->ended = true;
    }
    return n > 0;
}

/* Turns the loop until nothing more comes. */
static inline void client_listen(struct client *c)
{
    for (int quiet = 0; quiet < 6; quiet++) {
        log_turn(c->log);
        while (client_read(c))
            quiet = 0;
    }
}

static inline void check_heard(int line, struct client *c, const char *expected)
{
    client_listen(c);
    check_str(__FILE__, line, "heard", buf_str(&c->heard), expected);
    c->heard = buf_in(check_arena());
}

#define CHECK_HEARD(c, expected) check_heard(__LINE__, (c), (expected))

/* Waits for something that takes time. */
static inline void client_wait(struct client *c, const char *line)
{
    while (!strstr(buf_str(&c->heard).at, line)) {
        log_turn(c->log);
        client_read(c);
    }
}

static inline void client_frame(struct client *c, enum websocket_kind kind, str payload)
{
    static const unsigned char key[4] = { 1, 2, 3, 4 };
    struct buf frame = buf_in(check_arena());

    websocket_frame_masked(&frame, kind, payload, key);
    net_send(c->fd, buf_str(&frame));
}

/* A message in JSON with single quotes. */
static inline void client_say(struct client *c, const char *text)
{
    client_frame(c, WEBSOCKET_TEXT, quotes_double(check_arena(), text));
}

static inline struct log_server *client_ready(struct client *c, const struct server_limits *limits)
{
    struct log_server *w = log_open(limits);

    client_open(c, w, HANDSHAKE TOKEN);
    client_listen(c);
    CHECK(c->upgraded);
    return w;
}

#endif
