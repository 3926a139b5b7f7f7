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
    ARENAS_KEPT = 64,
    ARENA_BYTES_KEPT = 64 << 10,
    GATHERED_MAX = 8192,
    UNKNOWN_TOGETHER = 16, /* connections without a token that go when there are no descriptors */
    REFUSALS_MAX = 64,     /* connections beyond the limit that are told so, at a time */
    ROUNDS_MAX = 8,        /* at the end of a turn: each may make work for the next */
    LOOK_MS_MIN = 5,
    LOOK_MS_MAX = 1000,
};

struct server_more {
    struct timer *look, *grace;
    bool looking; /* the timer is set */
    int64_t look_ms;
    struct shared *refusal;
    void (*stopped)(void *self);
    bool freed;

    uint32_t gathered_count;
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

/* ---- arenas ---- */

struct arena *server_arena(struct server *s)
{
    return s->arena_count ? s->arenas[--s->arena_count] : arena_new();
}

void server_arena_done(struct server *s, struct arena *a)
{
    if (s->arena_count == ARENAS_KEPT || a->bytes > ARENA_BYTES_KEPT) {
        arena_free(a);
        return;
    }
    arena_reset(a);
    s->arenas[s->arena_count++] = a;
}

/* ---- commands, to the other threads ---- */

bool server_submit(struct server *s, struct command *c)
{
    struct server_more *m = s->more;

    if (m->gathered_count == GATHERED_MAX || m->freed)
        return false;
    m->gathered_count++;
    arena_give(c->arena);
    c->follows = NULL;
    *s->gathered_end = c;
    s->gathered_end = &c->follows;
    return true;
}

static struct command *gathered_take(struct server *s)
{
    struct command *list = s->gathered;

    for (struct command *c = list; c; c = c->follows)
        arena_take(c->arena);
    s->gathered = NULL;
    s->gathered_end = &s->gathered;
    s->more->gathered_count = 0;
    return list;
}

static void refuse_all(struct command *list, const char *why)
{
    for (struct command *c = list, *next; c; c = next) {
        next = c->follows;
        c->error = err_new(c->arena, ERR_UNAVAILABLE, "%s", why);
        c->done(c);
    }
}

static void hand_over(struct server *s)
{
    struct command *list = gathered_take(s);

    if (list && !s->options.submit(s->options.self, list))
        refuse_all(list, "too much is waiting to be done; try again in a moment");
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

/* ---- the end of a turn ---- */

static bool has_gathered(const struct server *s)
{
    return s->gathered || !list_empty(&s->dirty) || barrier_waits(s);
}

static void on_turn(void *owner)
{
    struct server *s = owner;

    s->turn++;
    bulk_go_on(s);
    for (int round = 0; round < ROUNDS_MAX && has_gathered(s); round++) {
        if (barrier_waits(s))
            barrier_read(s);
        hand_over(s);
        flush_all(s);
    }
    if (has_gathered(s) || !list_empty(&s->bulk))
        delivery_soon(s); /* others may want a turn: go on in the next one */
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

/* Others than our own user are kept from a Unix socket by its file's mode; this also holds when
 * somebody has changed that. */
static bool is_stranger(const struct link *l)
{
    uint32_t uid;
    int64_t pid;

    return link_is_local(l) && (!link_peer(l, &uid, &pid) || (uid != geteuid() && uid != 0));
}

/* A process may be looked at when it connects; what it shows is known later, and often is not the
 * operator's. So it is looked at then, and once. */
static bool is_inside(struct conn *c)
{
    const struct server_options *o = &c->server->options;
    uint32_t uid;
    int64_t pid;

    if (!c->looked && o->inside && link_is_local(c->link) && link_peer(c->link, &uid, &pid))
        c->inside = o->inside(pid);
    c->looked = true;
    return c->inside;
}

err server_check_inside(struct conn *c, const struct grant *g, struct arena *a)
{
    if (!g->operates || !is_inside(c))
        return NULL;
    return err_new(a, ERR_FORBIDDEN,
                   "this process belongs to a run of an agent, and the operator's token is not for "
                   "agents: use the run's own, which is in BATON_TOKEN, or let the operator do it "
                   "outside of the run");
}

err server_check_welcome(struct conn *c, const struct grant *g, struct arena *a)
{
    struct quota *sh = quota_of(c->server, g);
    err e = c->quota == sh ? NULL : quota_check_connection(c->server, sh, a);

    quota_unref(sh);
    return e ? e : server_check_inside(c, g, a);
}

/* Closes the connection without a token that has been there for longest, unless what it shows is
 * just being looked up. False: there is none. */
static bool unknown_close(struct server *s, const struct conn *but)
{
    LIST_EACH(it, &s->unknown) {
        struct conn *c = LIST_ENTRY(it, struct conn, unknown);
        if (c->admitting || c == but)
            continue;
        s->dropped++;
        conn_abort(c);
        return true;
    }
    return false;
}

/* A new connection has shown nothing yet, and may be the operator: it gets the place of one that has
 * had time to show something. */
static bool place_find(struct server *s)
{
    bool crowded = s->unknown_count >= s->limits.connections_unknown ||
                   s->open_count >= s->limits.connections_max;

    return !crowded || unknown_close(s, NULL);
}

bool server_makes_room(struct conn *c)
{
    return (!c->grant || c->grant->operates) && unknown_close(c->server, c);
}

/* Without descriptors nobody can come: some of those go who have shown nothing. */
static void none_could_come(struct server *s)
{
    for (int i = 0; i < UNKNOWN_TOGETHER && unknown_close(s, NULL); i++) {
    }
}

void server_accept(void *owner, struct link *l)
{
    struct server *s = owner;

    if (!l) {
        none_could_come(s);
        return;
    }
    if (s->stopping || is_stranger(l)) {
        link_close(l);
        return;
    }
    bool one_too_many = !place_find(s);
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

static void conn_count(struct server *s, struct conn *c)
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

static void conn_discount(struct server *s, struct conn *c, struct quota *sh)
{
    sh->connections--;
    s->open_count--;
    if (!sh->token_id.len)
        s->unknown_count--;
    else if (!sh->operates)
        s->known_count--;
    list_remove(&c->unknown);
}

void server_conn_came(struct server *s, struct conn *c)
{
    list_append(&s->conns, &c->all);
    s->conn_count++;
    conn_count(s, c);
    look_later(s);
}

void server_conn_moved(struct server *s, struct conn *c, struct quota *from)
{
    conn_discount(s, c, from);
    conn_count(s, c);
}

void server_conn_left(struct server *s, struct conn *c)
{
    conn_discount(s, c, c->quota);
}

/* ---- beginning and end ---- */

static void tell_stopped(struct server *s)
{
    void (*stopped)(void *self) = s->more->stopped;

    s->more->stopped = NULL;
    timer_clear(s->more->grace);
    stopped(s->options.self); /* may free the server */
}

void server_conn_gone(struct server *s)
{
    s->conn_count--;
    if (s->more->stopped && s->conn_count == 0)
        tell_stopped(s);
}

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
                          .published = options->seq,
                          .team_published = options->seq };
    list_init(&s->conns);
    list_init(&s->dirty);
    list_init(&s->bulk);
    list_init(&s->unknown);
    s->quotas = quotas_new();
    s->gathered_end = &s->gathered;
    s->arenas = mem_alloc(ARENAS_KEPT * sizeof *s->arenas);
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
    static const char why[] = "the server has stopped";

    s->more->freed = true;
    delivery_settle(s);
    refuse_all(gathered_take(s), why);
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
    if (s->openapi)
        shared_unref(s->openapi);
    op_cache_free(s->cache);
    conn_chunks_free(s);
    while (s->arena_count)
        arena_free(s->arenas[--s->arena_count]);
    mem_free(s->arenas);
    quotas_free(s);
    mem_free(s);
}
