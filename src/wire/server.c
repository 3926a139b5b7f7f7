/* server.c: what all connections share: limits, time, and the way to the other threads and back.
 *
 * A turn of the loop gathers commands and bytes, and passes each of them on once,
 * at its end. What comes back is deliver.c's. */
#include "wire/server.h"

#include <assert.h>
#include <unistd.h>

#include "wire/hub.h"
#include "wire/server_private.h"

enum {
    REFUSALS_MAX = 64, /* connections beyond the limit that are told so, at a time */
    ROUNDS_MAX = 8,    /* at the end of a turn: each may make work for the next */
    LOOK_MS_MIN = 5,
    LOOK_MS_MAX = 1000,
};

struct server_more {
    struct timer *look, *grace;
    bool looking; /* the timer is set */
    int64_t look_ms;
    struct shared *refusal;
    void (*stopped)(void *self);
};

struct server_limits server_limits_default(void)
{
    return (struct server_limits){
        .header_ms = 10 * 1000,
        .body_ms = 30 * 1000,
        .idle_ms = 60 * 1000,
        .write_ms = 60 * 1000,
        .connections_max = 4096,
        .connections_kept = 16,
        .connections_unknown = 1024,
        .buffered_max = 64u << 20,
        .held_max = 64u << 20,
        .answer_max = 4u << 20,
        .token_bytes = 32u << 20,
        .token_connections = 1024,
        .token_waits = 4096,
        .token_requests = 64,
        .token_mcp_sessions = 250,
        .message_max = 1 << 20,
        .behind_events = 1000,
        .behind_bytes = 4 << 20,
        .ping_ms = 25 * 1000,
        .wait_max_ms = 60 * 1000,
        .mcp_wait_ms = 45 * 1000,
        .mcp_progress_ms = 10 * 1000,
        .mcp_session_ms = 3600 * 1000,
        .mcp_sessions_max = 1000,
    };
}

/* ---- time ---- */

static void look_later(struct server *s)
{
    struct server_more *m = s->more;

    if (!m->looking && s->conn_count) {
        m->looking = true;
        timer_set(m->look, m->look_ms);
    }
}

static void on_look(void *owner)
{
    struct server *s = owner;
    int64_t now = loop_now_ms(s->loop);

    s->more->looking = false;
    grants_expire(s);
    LIST_EACH(it, &s->conns)
        conn_check_deadlines(LIST_ENTRY(it, struct conn, all), now);
    look_later(s);
}

/* A deadline is met within a tenth of the shortest one. */
static int64_t look_interval(const struct server_limits *limits)
{
    const int64_t deadlines[] = { limits->header_ms, limits->body_ms, limits->idle_ms,
                                  limits->write_ms, limits->ping_ms };
    int64_t least = LOOK_MS_MAX;

    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++)
        if (deadlines[i] && deadlines[i] / 10 < least)
            least = deadlines[i] / 10;
    return least < LOOK_MS_MIN ? LOOK_MS_MIN : least;
}

/* ---- the end of a turn ---- */

static void tell_stopped(struct server *s)
{
    void (*stopped)(void *self) = s->more->stopped;

    s->more->stopped = NULL;
    timer_clear(s->more->grace);
    stopped(s->options.self); /* may free the server */
}

/* Those that wait for the end of the turn now; whoever joins them meanwhile is of the next round. */
static void flush_all(struct server *s)
{
    struct list turn;

    list_init(&turn);
    while (!list_empty(&s->dirty)) {
        struct list *first = s->dirty.next;
        list_remove(first);
        list_append(&turn, first);
    }
    while (!list_empty(&turn))
        conn_turn_ends(LIST_ENTRY(turn.next, struct conn, dirty));
}

static bool has_gathered(const struct server *s)
{
    return s->gathered || !list_empty(&s->dirty) || barrier_waits(s);
}

static void on_turn(void *owner)
{
    struct server *s = owner;

    s->turn++;
    conns_bulk_go_on(s);
    for (int round = 0; round < ROUNDS_MAX && has_gathered(s); round++) {
        if (barrier_waits(s))
            barrier_read(s);
        gathered_hand_over(s);
        flush_all(s);
    }
    if (has_gathered(s) || !list_empty(&s->bulk))
        delivery_soon(s); /* others may want a turn: go on in the next one */
    look_later(s);
    if (s->more->stopped && s->conn_count == 0)
        tell_stopped(s);
}

/* ---- connections ---- */

static void nothing(struct conn *c)
{
    (void)c;
}

/* A connection that is one too many is finished from its first moment, and told nothing but that it
 * is closed. */
static const struct protocol refused = { .name = "refused", .closed = nothing };

static struct shared *refusal_new(void)
{
    static const char body[] = "{\"type\":\"about:blank\",\"title\":\"Unavailable\",\"status\":503,"
                               "\"detail\":\"all connections are in use; try again in a second\"}";
    struct arena *a = arena_new();
    struct shared *s = shared_new(arena_printf(a,
                                               "HTTP/1.1 503 Service Unavailable\r\n"
                                               "Content-Type: application/problem+json\r\n"
                                               "Content-Length: %zu\r\n"
                                               "Retry-After: 1\r\n"
                                               "Connection: close\r\n\r\n%s",
                                               sizeof body - 1, body));

    arena_free(a);
    return s;
}

void server_accept(void *owner, struct link *l)
{
    struct server *s = owner;

    if (!l) {
        admit_no_descriptors(s);
        return;
    }
    if (s->stopping || admit_is_stranger(l)) {
        link_close(l);
        return;
    }
    bool one_too_many = !admit_has_room(s);
    if (one_too_many && s->open_count >= s->limits.connections_max + REFUSALS_MAX) {
        link_close(l);
        return;
    }
    struct conn *c = conn_open(s, l);
    if (one_too_many) {
        conn_switch(c, &refused, NULL);
        conn_send_shared(c, s->more->refusal);
        conn_finish(c);
    } else {
        http_conn_open(c);
    }
}

/* ---- beginning and end ---- */

static void on_grace_over(void *owner)
{
    struct server *s = owner;

    if (s->conn_count == 0) {
        tell_stopped(s);
        return;
    }
    LIST_EACH(it, &s->conns)
        conn_abort(LIST_ENTRY(it, struct conn, all));
}

void server_stop(struct server *s, int64_t grace_ms, void (*stopped)(void *self))
{
    assert(!s->stopping);
    s->stopping = true;
    s->more->stopped = stopped;
    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        if (!c->closing && !c->closed)
            c->protocol->stopping(c);
    }
    mcp_front_stop(s);
    timer_set(s->more->grace, s->conn_count ? grace_ms : 0);
}

static struct server_more *more_new(struct server *s)
{
    struct server_more *m = mem_alloc(sizeof *m);

    *m = (struct server_more){ .look_ms = look_interval(&s->limits), .refusal = refusal_new() };
    m->look = timer_new(s->loop, on_look, s);
    m->grace = timer_new(s->loop, on_grace_over, s);
    return m;
}

struct server *server_new(const struct server_options *options)
{
    struct server *s = mem_alloc(sizeof *s);

    *s = (struct server){ .options = *options,
                          .limits = options->limits,
                          .loop = options->loop,
                          .routes = server_routes,
                          .published = options->seq,
                          .team_published = options->seq };
    list_init(&s->conns);
    list_init(&s->dirty);
    list_init(&s->bulk);
    list_init(&s->unknown);
    s->quotas = quotas_new();
    arenas_init(s);
    s->cache = op_cache_new(options->cache_bytes);
    s->grants = grants_new();
    s->barriers = barriers_new();
    s->delivery = delivery_new(s);
    s->more = more_new(s);
    s->hub = hub_new(s);
    if (options->mcp)
        s->mcp = mcp_front_new(s);
    loop_each_turn(s->loop, on_turn, s);
    return s;
}

/* Everything that somebody still waits for gets an answer, so that its memory can be let go. */
static void settle_all(struct server *s)
{
    s->freed = true;
    delivery_settle(s);
    gathered_refuse(s);
    barriers_free(s);
    grants_free(s);
}

void server_free(struct server *s)
{
    struct server_more *m = s->more;

    assert(s->conn_count == 0);
    settle_all(s);
    mcp_front_free(s);
    hub_free(s->hub);
    loop_each_turn(s->loop, NULL, NULL);
    timer_free(m->look);
    timer_free(m->grace);
    delivery_free(s);
    shared_unref(m->refusal);
    mem_free(m);
    route_files_free(s);
    op_cache_free(s->cache);
    conn_chunks_free(s);
    arenas_free(s);
    quotas_free(s);
    mem_free(s);
}
