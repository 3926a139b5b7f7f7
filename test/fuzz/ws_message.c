/* fuzz: src/wire/ws/message.c */
/* ws_message.c: any lines as messages of a WebSocket's client.
 *
 * Over a real socket, from a real server with an empty log. Whatever a message is, it is answered;
 * what is answered is JSON, or the close frame of a server that refuses to go on. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/tx.h"
#include "wire/server_private.h"
#include "wire/ws/frame.h"

enum { MESSAGES_MAX = 8, TURNS = 3 };

struct client {
    int fd;
    struct websocket_reader reader;
    bool upgraded, ended;
    int answers; /* to the last message */
};

static struct loop *loop;
static struct server *server;
static struct arena *kept; /* what lives as long as the server */
static struct op_table *table;
static struct listener *listener;
static char path[64];

/* An actor is nothing that the front of the program looks into. */
static const struct actor operator= { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };
static struct grant grant = {
    .actor = &operator, .token_id = { "tok_1", 5 }, .operates = true, .refs = 1
};

/* ---- what the server wants of its maker ---- */

static bool submit(void *self, struct command *list)
{
    (void)self;
    for (struct command *c = list; c; c = c->follows) {
        c->error = NULL;
        c->answer.text = STR("{\"events\":[],\"next\":0,\"seen\":0,\"oldest\":1}");
    }
    server_performed(server, list);
    return true;
}

static void admit(void *self, struct admission *a)
{
    (void)self;
    a->grant = grant_ref(&grant);
    server_admitted(server, a);
}

static int64_t now_ms(void *self)
{
    (void)self;
    return 1736937300000;
}

/* ---- the client ---- */

static void stop(void *owner)
{
    loop_stop(owner);
}

static void turn(void)
{
    struct timer *t = timer_new(loop, stop, loop);

    timer_set(t, 0);
    loop_run(loop);
    timer_free(t);
}

static void take(struct client *c, struct arena *a, str bytes)
{
    struct websocket_event e;
    const struct json *json;

    if (!c->upgraded) {
        assert(bytes.len > 12 && memcmp(bytes.at, "HTTP/1.1 101", 12) == 0);
        c->upgraded = true; /* the head comes whole, and nothing behind it */
        return;
    }
    while (websocket_read(&c->reader, &bytes, &e)) {
        assert(e.kind == WEBSOCKET_TEXT || e.kind == WEBSOCKET_CLOSE);
        if (e.kind == WEBSOCKET_TEXT)
            assert(!json_parse(a, arena_copy(a, e.payload), NULL, &json) && json_get(json, "type"));
        c->answers++;
    }
}

static void listen_to(struct client *c, struct arena *a)
{
    char bytes[65536];

    for (int quiet = 0; quiet < TURNS && !c->ended; quiet++) {
        turn();
        ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0) {
            take(c, a, (str){ bytes, (size_t)n });
            quiet = 0;
        }
        c->ended = n == 0;
    }
}

static void say(struct client *c, struct arena *a, str message)
{
    static const unsigned char key[4] = { 9, 8, 7, 6 };
    struct buf frame = buf_in(a);

    c->answers = 0;
    websocket_frame_masked(&frame, WEBSOCKET_TEXT, message, key);
    str bytes = buf_str(&frame);
    assert(send(c->fd, bytes.at, bytes.len, MSG_NOSIGNAL) == (ssize_t)bytes.len);
    listen_to(c, a);
    assert(c->answers > 0);
}

static void client_open(struct client *c, struct arena *a)
{
    static const char request[] = "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                                  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                  "Authorization: Bearer op_1\r\n\r\n";
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    *c = (struct client){ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    websocket_reader_init(&c->reader, WEBSOCKET_CLIENT, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    assert(connect(c->fd, (struct sockaddr *)&to, sizeof to) == 0);
    assert(send(c->fd, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1);
    listen_to(c, a);
    assert(c->upgraded);
}

static void remove_socket(void)
{
    unlink(path);
}

static void server_start(void)
{
    kept = arena_new();
    loop = loop_new();
    snprintf(path, sizeof path, "/tmp/ws_message.%d", (int)getpid());
    assert(!op_table_all(kept, &table));
    struct server_options o = { .loop = loop,
                                .table = table,
                                .limits = server_limits_default(),
                                .now_ms = now_ms,
                                .submit = submit,
                                .admit = admit,
                                .version = "fuzz" };
    server = server_new(&o);
    assert(!loop_listen_unix(loop, kept, str_from(path), server_accept, server, &listener));
    atexit(remove_socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str rest = { (const char *)data, size }, message;
    struct client c;

    if (!server)
        server_start();
    client_open(&c, a);
    for (int i = 0; i < MESSAGES_MAX && rest.len && !c.ended; i++) {
        if (!str_cut(rest, '\n', &message, &rest))
            rest = STR("");
        say(&c, a, message);
    }
    close(c.fd);
    websocket_reader_release(&c.reader);
    while (server->conn_count)
        turn();
    arena_free(a);
    return 0;
}
