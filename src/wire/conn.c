/* conn.c: one connection: what is waiting to be sent, and how long it may take.
 *
 * What is sent is a ring of pieces. Small texts are copied, one behind the other,
 * into chunks that all connections take turns with; a body that is shared stays
 * where it is. So a response is one call to the system, whatever it is made of,
 * and costs no malloc; and a connection that is silent holds no buffer. */
#include "wire/conn.h"

#include <assert.h>

#include "wire/server_private.h"

enum {
    RING_MIN = 4,
    RING_KEPT = 8, /* a larger ring goes when it is empty */
    CHUNK_BYTES = 4096 - sizeof(void *),
    CHUNKS_KEPT = 256,
    LINGER_MS = 1000,
    READ_LITTLE = 4 << 10, /* bytes, at once, of one who has shown no token */
    BULK_BYTES = 16 << 10, /* as many at once are much: others have their turn first */
    ASKED_MOST = 16,       /* requests in a turn of the loop: likewise */
    BULK_TOGETHER = 4,     /* of those, connections that go on in one turn of the loop */
};

struct chunk {
    struct chunk *next; /* while it is empty */
    char bytes[CHUNK_BYTES];
};

struct piece {
    str bytes;
    void *keeper; /* whom the bytes belong to */
    enum { PIECE_CHUNK, PIECE_OWN, PIECE_SHARED, PIECE_CACHED } kind;
    uint32_t room; /* of a chunk: free bytes behind the others */
};

/* ---- chunks ---- */

static struct chunk *chunk_take(struct server *s)
{
    struct chunk *chunk = s->chunks;

    if (!chunk)
        return mem_alloc(sizeof *chunk);
    s->chunks = chunk->next;
    s->chunk_count--;
    return chunk;
}

static void chunk_give(struct server *s, struct chunk *chunk)
{
    if (s->chunk_count == CHUNKS_KEPT) {
        mem_free(chunk);
        return;
    }
    chunk->next = s->chunks;
    s->chunks = chunk;
    s->chunk_count++;
}

void conn_chunks_free(struct server *s)
{
    while (s->chunks)
        mem_free(chunk_take(s));
}

/* ---- the ring ---- */

static struct piece *piece_at(struct conn *c, uint32_t i)
{
    return &c->out[(c->out_first + i) & (c->out_room - 1)];
}

static void ring_grow(struct conn *c)
{
    uint32_t room = c->out_room ? c->out_room * 2 : RING_MIN;
    struct piece *ring = mem_alloc(room * sizeof *ring);

    for (uint32_t i = 0; i < c->out_count; i++)
        ring[i] = *piece_at(c, i);
    mem_free(c->out);
    c->out = ring;
    c->out_first = 0;
    c->out_room = room;
}

/* What is this connection's alone counts for its quota; what others have too counts once. */
static size_t piece_own_bytes(const struct piece *p)
{
    return p->kind == PIECE_CHUNK ? CHUNK_BYTES : p->kind == PIECE_OWN ? p->bytes.len : 0;
}

static void shown_hold(struct server *s, struct cached_answer *shown)
{
    if (shown->holders++ == 0)
        s->held += shown->text.len;
}

static void shown_release(struct server *s, struct cached_answer *shown)
{
    if (--shown->holders == 0)
        s->held -= shown->text.len;
    cached_answer_unref(shown);
}

static void ring_append(struct conn *c, struct piece p)
{
    struct server *s = c->server;
    size_t own = piece_own_bytes(&p);

    if (c->out_count == c->out_room)
        ring_grow(c);
    *piece_at(c, c->out_count++) = p;
    c->out_bytes += p.bytes.len;
    c->out_own += own;
    c->quota->held += own;
    s->held += own;
    if (p.kind == PIECE_SHARED)
        shared_hold(s, p.keeper);
    else if (p.kind == PIECE_CACHED)
        shown_hold(s, p.keeper);
}

static void piece_release(struct conn *c, struct piece *p)
{
    struct server *s = c->server;
    size_t own = piece_own_bytes(p);

    c->out_own -= own;
    c->quota->held -= own;
    s->held -= own;
    switch (p->kind) {
    case PIECE_CHUNK: chunk_give(s, p->keeper); break;
    case PIECE_OWN: shared_unref(p->keeper); break;
    case PIECE_SHARED: shared_release(s, p->keeper); break;
    case PIECE_CACHED: shown_release(s, p->keeper); break;
    }
}

/* Drops pieces from the front. */
static void ring_drop(struct conn *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct piece *p = piece_at(c, i);
        c->out_bytes -= p->bytes.len;
        piece_release(c, p);
    }
    c->out_first += count;
    c->out_count -= count;
    if (c->out_count == 0 && c->out_room > RING_KEPT) {
        mem_free(c->out);
        c->out = NULL;
        c->out_room = 0;
    }
}

/* ---- sending ---- */

/* Whether more can be put to it: what comes too late is dropped. */
static bool takes_more(const struct conn *c)
{
    return !c->closing && !c->closed;
}

/* The last piece, when these bytes can be put behind its own. */
static struct piece *piece_with_room(struct conn *c, size_t len)
{
    if (c->out_count == c->out_taken)
        return NULL;
    struct piece *last = piece_at(c, c->out_count - 1);
    return last->kind == PIECE_CHUNK && len <= last->room ? last : NULL;
}

void conn_send(struct conn *c, str bytes)
{
    if (!takes_more(c) || bytes.len == 0)
        return;
    if (bytes.len > CHUNK_BYTES) {
        struct shared *copy = shared_new(bytes);
        ring_append(c, (struct piece){ copy->bytes, copy, PIECE_OWN, 0 });
        return;
    }
    struct piece *last = piece_with_room(c, bytes.len);
    if (!last) {
        struct chunk *chunk = chunk_take(c->server);
        ring_append(c, (struct piece){ { chunk->bytes, 0 }, chunk, PIECE_CHUNK, CHUNK_BYTES });
        last = piece_at(c, c->out_count - 1);
    }
    memcpy((char *)last->bytes.at + last->bytes.len, bytes.at, bytes.len);
    last->bytes.len += bytes.len;
    last->room -= (uint32_t)bytes.len;
    c->out_bytes += bytes.len;
}

void conn_send_shared(struct conn *c, struct shared *s)
{
    if (takes_more(c))
        ring_append(c, (struct piece){ s->bytes, shared_ref(s), PIECE_SHARED, 0 });
}

void conn_send_cached(struct conn *c, struct cached_answer *s)
{
    if (takes_more(c))
        ring_append(c, (struct piece){ s->text, s, PIECE_CACHED, 0 });
    else
        cached_answer_unref(s);
}

/* All is sent and the connection is to be closed. Unread bytes would turn a close into a reset, and
 * a reset makes the peer's system throw away what the peer has not read yet: our last answer. So
 * the peer is told that no more comes, and what it still sends is dropped for a while. */
static void linger(struct conn *c)
{
    int64_t now = loop_now_ms(c->server->loop);

    if (c->lingering)
        return;
    if (c->ended || now - c->sent_ms > LINGER_MS) {
        conn_abort(c);
        return;
    }
    c->lingering = true;
    c->deadline_ms = now + LINGER_MS;
    link_finish(c->link);
    link_resume(c->link);
}

void conn_flush(struct conn *c)
{
    str pieces[LINK_PIECES_MAX];

    if (c->sending || c->closed)
        return;
    while (c->out_count) {
        uint32_t count = c->out_count < LINK_PIECES_MAX ? c->out_count : LINK_PIECES_MAX;
        for (uint32_t i = 0; i < count; i++)
            pieces[i] = piece_at(c, i)->bytes;
        c->sent_ms = loop_now_ms(c->server->loop);
        if (!link_send(c->link, pieces, count)) {
            c->sending = true;
            c->out_taken = count;
            c->unsent = link_unsent(c->link);
            return;
        }
        ring_drop(c, count);
    }
    if (c->closing)
        linger(c);
}

void conn_flush_later(struct conn *c)
{
    if (!c->closed && list_empty(&c->dirty))
        list_append(&c->server->dirty, &c->dirty);
}

/* Unless something is being sent, after which it will. */
static void go_on(struct conn *c)
{
    if (c->out_count == 0 && takes_more(c))
        c->protocol->sent(c);
}

void conn_turn_ends(struct conn *c)
{
    list_remove(&c->dirty);
    conn_flush(c);
    go_on(c);
}

/* ---- turns ---- */

/* A connection that has brought as much as is read at once waits, so that those who bring little
 * need not. Of those who wait, a few go on in each turn of the loop: the quotas one after the other,
 * so that a token that sends much by many connections holds up only itself. */
static void bulk_wait(struct conn *c)
{
    struct quota *sh = c->quota;

    if (c->closed || !list_empty(&c->bulk))
        return;
    link_yield(c->link);
    list_append(&sh->bulk, &c->bulk);
    if (list_empty(&sh->turn))
        list_append(&c->server->bulk, &sh->turn);
}

static void bulk_leave(struct conn *c)
{
    list_remove(&c->bulk);
    if (list_empty(&c->quota->bulk))
        list_remove(&c->quota->turn);
}

void conns_bulk_go_on(struct server *s)
{
    for (int i = 0; i < BULK_TOGETHER && !list_empty(&s->bulk); i++) {
        struct quota *sh = LIST_ENTRY(s->bulk.next, struct quota, turn);
        struct conn *c = LIST_ENTRY(sh->bulk.next, struct conn, bulk);
        list_remove(&sh->turn);
        list_append(&s->bulk, &sh->turn);
        bulk_leave(c);
        link_go_on(c->link);
        go_on(c);
    }
}

bool conn_may_ask(struct conn *c)
{
    if (c->asked_turn != c->server->turn)
        c->asked = 0;
    c->asked_turn = c->server->turn;
    if (c->asked++ == ASKED_MOST)
        bulk_wait(c);
    return list_empty(&c->bulk);
}

/* ---- time ---- */

void conn_deadline(struct conn *c, int64_t ms)
{
    if (takes_more(c))
        c->deadline_ms = ms ? loop_now_ms(c->server->loop) + ms : 0;
}

int64_t conn_progress_ms(struct conn *c)
{
    size_t unsent = c->sending ? link_unsent(c->link) : 0;

    if (unsent != c->unsent) {
        c->unsent = unsent;
        c->sent_ms = loop_now_ms(c->server->loop);
    }
    return c->sent_ms;
}

/* A peer that takes what we send, however slowly, is no stalled one. */
static bool is_stalled(struct conn *c, int64_t now_ms)
{
    int64_t most = c->server->limits.write_ms;

    return c->sending && most && now_ms - conn_progress_ms(c) >= most;
}

void conn_check_deadlines(struct conn *c, int64_t now_ms)
{
    if (c->closed)
        return;
    if (is_stalled(c, now_ms)) {
        conn_abort(c);
    } else if (c->deadline_ms && now_ms >= c->deadline_ms) {
        c->deadline_ms = 0;
        if (c->closing)
            conn_abort(c);
        else
            c->protocol->late(c);
    }
}

/* ---- how many there are ---- */

static void count(struct server *s, struct conn *c)
{
    c->quota->connections++;
    s->open_count++;
    if (!c->quota->token_id.len) {
        s->unknown_count++;
        list_append(&s->unknown, &c->unknown);
    } else if (!c->quota->operates) {
        s->known_count++;
    }
}

static void discount(struct server *s, struct conn *c, struct quota *sh)
{
    sh->connections--;
    s->open_count--;
    if (!sh->token_id.len)
        s->unknown_count--;
    else if (!sh->operates)
        s->known_count--;
    list_remove(&c->unknown);
}

/* ---- the link ---- */

static void on_bytes(void *owner, str bytes)
{
    struct conn *c = owner;

    if (takes_more(c))
        c->protocol->bytes(c, bytes);
    if (bytes.len >= BULK_BYTES || bytes.len == READ_LITTLE)
        bulk_wait(c);
}

static void on_sent(void *owner)
{
    struct conn *c = owner;
    uint32_t taken = c->out_taken;

    c->sending = false;
    c->out_taken = 0;
    ring_drop(c, taken);
    conn_flush(c);
    go_on(c);
}

static void on_ended(void *owner)
{
    struct conn *c = owner;

    c->ended = true;
    if (takes_more(c))
        c->protocol->ended(c);
    else if (c->lingering)
        conn_abort(c);
}

static void on_closed(void *owner)
{
    struct conn *c = owner;
    struct server *s = c->server;

    c->closed = true;
    c->protocol->closed(c);
    ring_drop(c, c->out_count);
    mem_free(c->out);
    list_remove(&c->dirty);
    list_remove(&c->all);
    if (c->grant)
        grant_unref(c->grant);
    quota_unref(c->quota);
    mem_free(c);
    s->conn_count--;
}

static const struct link_events events = { on_bytes, on_sent, on_ended, on_closed };

struct conn *conn_open(struct server *s, struct link *l)
{
    struct conn *c = mem_alloc(sizeof *c);

    *c = (struct conn){ .server = s, .link = l, .quota = quota_of(s, NULL) };
    list_init(&c->dirty);
    list_init(&c->bulk);
    list_init(&c->unknown);
    list_append(&s->conns, &c->all);
    s->conn_count++;
    count(s, c);
    link_open(l, &events, c);
    link_read_most(l, READ_LITTLE);
    return c;
}

void conn_admit(struct conn *c, struct grant *g)
{
    struct quota *before = c->quota;
    bool waits = !list_empty(&c->bulk);

    if (c->grant)
        grant_unref(c->grant);
    bulk_leave(c);
    c->grant = g;
    c->quota = quota_of(c->server, g);
    if (waits)
        bulk_wait(c);
    link_read_most(c->link, g ? LINK_READ_MAX : READ_LITTLE);
    if (c->quota != before) {
        before->held -= c->out_own;
        c->quota->held += c->out_own;
        if (!c->closed) {
            discount(c->server, c, before);
            count(c->server, c);
        }
    }
    quota_unref(before);
}

void conn_switch(struct conn *c, const struct protocol *p, void *state)
{
    c->protocol = p;
    c->state = state;
}

void conn_finish(struct conn *c)
{
    if (!takes_more(c))
        return;
    c->closing = true;
    c->deadline_ms = 0;
    conn_flush(c);
}

void conn_abort(struct conn *c)
{
    if (c->closed)
        return;
    c->closed = true;
    list_remove(&c->dirty);
    bulk_leave(c);
    discount(c->server, c, c->quota);
    link_close(c->link);
    c->out_taken = 0;
    ring_drop(c, c->out_count); /* the link does not look at it any more */
}
