/* channel.c: messages to a client as a stream of server-sent events.
 *
 * The stream of a request ends with its answer. One that belongs to a session is numbered and kept,
 * as far as there is room: a client whose connection broke says what it got last and gets the rest.
 * Without a session nothing is kept, and the end of the connection is the end of it. Does not know
 * what the messages say. */
#include <assert.h>

#include "wire/held.h"
#include "wire/http/text.h"
#include "wire/mcp/private.h"
#include "wire/lag.h"

enum {
    KEPT_MAX = 256,          /* messages of one channel */
    KEPT_BYTES_MAX = 1 << 20 /* and their bytes; the newest stays, whatever its size */
};

struct kept {
    struct list link;
    int64_t number;
    struct shared *framed;
};

/* ---- frames ---- */

static struct shared *frame_make(struct server *s, const struct mcp_channel *ch, str message)
{
    struct arena *a = server_arena(s);
    struct buf out = buf_in(a);
    str line;

    if (ch->session)
        buf_printf(&out, "id: %u-%lld\n", ch->number, (long long)ch->sent);
    for (bool more = true; more;) {
        more = str_cut(message, '\n', &line, &message);
        buf_add(&out, line.len ? STR("data: ") : STR("data:"));
        buf_add(&out, line);
        buf_byte(&out, '\n');
    }
    buf_byte(&out, '\n');
    struct shared *framed = shared_new(buf_str(&out));
    server_arena_done(s, a);
    return framed;
}

static void put(struct mcp_channel *ch, struct shared *framed)
{
    if (!ch->conn)
        return;
    held_takes(ch->server, ch->conn, framed->bytes.len, true);
    conn_send_shared(ch->conn, framed);
    conn_flush_later(ch->conn);
}

static void kept_drop(struct mcp_channel *ch)
{
    struct kept *oldest = LIST_ENTRY(ch->kept.next, struct kept, link);

    list_remove(&oldest->link);
    ch->kept_count--;
    ch->kept_bytes -= oldest->framed->bytes.len;
    shared_release(ch->server, oldest->framed);
    mem_free(oldest);
}

static void keep(struct mcp_channel *ch, struct shared *framed)
{
    struct kept *k = mem_alloc(sizeof *k);

    *k = (struct kept){ .number = ch->sent, .framed = shared_ref(framed) };
    shared_hold(ch->server, framed);
    list_append(&ch->kept, &k->link);
    ch->kept_count++;
    ch->kept_bytes += framed->bytes.len;
    while (ch->kept_count > 1 && (ch->kept_count > KEPT_MAX || ch->kept_bytes > KEPT_BYTES_MAX))
        kept_drop(ch);
    /* A client may come back for them; those who wait for theirs are there. */
    while (ch->kept_count > 0 && held_is_full(ch->server))
        kept_drop(ch);
}

void mcp_channel_send(struct mcp_channel *ch, str message)
{
    ch->sent++;
    struct shared *framed = frame_make(ch->server, ch, message);
    if (ch->session)
        keep(ch, framed);
    put(ch, framed);
    shared_unref(framed);
}

/* An event without data says nothing, but the client remembers its id. It needs no keeping: who got
 * no other has missed all of them. */
void mcp_channel_prime(struct mcp_channel *ch)
{
    if (!ch->session || ch->session->client.version < MCP_2025_11_25)
        return;
    struct shared *framed = frame_make(ch->server, ch, STR(""));
    put(ch, framed);
    shared_unref(framed);
}

bool mcp_channel_has_room(const struct mcp_channel *ch)
{
    return ch->conn && !ch->conn->closing && ch->conn->out_bytes <= lag_max(ch->conn);
}

/* ---- beginning and end ---- */

struct mcp_channel *mcp_channel_new(struct server *s, struct mcp_session *session,
                                    const struct mcp_channel_events *events, void *owner)
{
    struct mcp_channel *ch = mem_alloc(sizeof *ch);

    *ch = (struct mcp_channel){ .server = s, .session = session, .events = events, .owner = owner };
    list_init(&ch->link);
    list_init(&ch->kept);
    return ch;
}

/* Nobody listens, sends or comes back: it goes. */
static void settle(struct mcp_channel *ch)
{
    if (ch->conn || ch->owner || ch->session)
        return;
    while (!list_empty(&ch->kept))
        kept_drop(ch);
    mem_free(ch);
}

/* The connection sends what it was given, and ends. */
static void let_go(struct mcp_channel *ch)
{
    struct conn *c = ch->conn;

    ch->conn = NULL;
    if (!c)
        return;
    c->state = NULL;
    conn_finish(c);
}

void mcp_channel_cut(struct mcp_channel *ch, int64_t retry_ms)
{
    if (ch->conn && retry_ms > 0) {
        struct arena *a = server_arena(ch->server);
        conn_send(ch->conn, arena_printf(a, "retry: %lld\n\n", (long long)retry_ms));
        server_arena_done(ch->server, a);
    }
    let_go(ch);
}

void mcp_channel_end(struct mcp_channel *ch)
{
    ch->owner = NULL;
    let_go(ch);
    settle(ch);
}

void mcp_channel_forget(struct mcp_channel *ch)
{
    list_remove(&ch->link);
    ch->session = NULL;
    while (!list_empty(&ch->kept))
        kept_drop(ch);
    settle(ch);
}

/* ---- what the connection says ---- */

static void on_bytes(struct conn *c, str bytes)
{
    (void)c, (void)bytes; /* its next request is not answered here: the head says so */
}

static void on_sent(struct conn *c)
{
    struct mcp_channel *ch = c->state;

    if (ch && ch->owner)
        ch->events->room(ch->owner);
}

static void on_ended(struct conn *c)
{
    conn_abort(c);
}

/* Something must be sent from time to time, or what is between us takes the silence for an end. */
static void on_late(struct conn *c)
{
    conn_send(c, STR(":\n\n"));
    conn_flush_later(c);
    conn_deadline(c, c->server->limits.ping_ms);
}

static void tell(struct conn *c, enum cancel_reason why)
{
    struct mcp_channel *ch = c->state;

    if (ch && ch->owner)
        ch->events->over(ch->owner, why);
}

static void on_revoked(struct conn *c)
{
    tell(c, CANCEL_REVOKED);
}

static void on_stopping(struct conn *c)
{
    tell(c, CANCEL_STOPPING);
}

static void on_closed(struct conn *c)
{
    struct mcp_channel *ch = c->state;

    if (!ch)
        return;
    void *owner = ch->owner;
    ch->conn = NULL;
    if (owner && !ch->session) {
        ch->owner = NULL;
        ch->events->over(owner, CANCEL_GONE);
    }
    settle(ch);
}

static const struct protocol stream_protocol = {
    .name = "mcp",
    .bytes = on_bytes,
    .sent = on_sent,
    .ended = on_ended,
    .late = on_late,
    .revoked = on_revoked,
    .stopping = on_stopping,
    .closed = on_closed,
};

/* ---- a connection for it ---- */

static void head_send(struct conn *c)
{
    struct server *s = c->server;
    struct arena *a = server_arena(s);
    struct buf head = buf_in(a);

    http_write_status(&head, 200);
    http_write_field(&head, STR("Content-Type"), STR("text/event-stream"));
    http_write_field(&head, STR("Cache-Control"), STR("no-cache"));
    http_write_field(&head, STR("X-Accel-Buffering"), STR("no"));
    http_write_field(&head, STR("Connection"), STR("close"));
    http_write_end(&head);
    conn_send(c, buf_str(&head));
    conn_flush_later(c);
    s->by_class[2]++;
    server_arena_done(s, a);
}

void mcp_channel_attach(struct mcp_channel *ch, struct http *h, int64_t after)
{
    struct conn *c = h->x.conn;

    let_go(ch); /* whoever listened before has been replaced by this one */
    head_send(c);
    conn_switch(c, &stream_protocol, ch);
    conn_deadline(c, ch->server->limits.ping_ms);
    ch->conn = c;
    h->phase = HTTP_SWITCHED;
    LIST_EACH(it, &ch->kept) {
        struct kept *k = LIST_ENTRY(it, struct kept, link);
        if (k->number > after)
            put(ch, k->framed);
    }
    if (!ch->owner)
        let_go(ch); /* that was all */
}
