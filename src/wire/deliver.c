/* deliver.c: what other threads bring: published, then answered.
 *
 * Events are published in the order of their numbers, without a hole. Where
 * several nodes share a store, those of other nodes come out of the log, and what
 * this node has written waits for those before it. Nobody is answered before what
 * the answer may show is published. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "wire/hub.h"
#include "wire/server_private.h"

/* Bytes that were read and wait for the loop, before readers wait for it. */
enum { PERFORMED_BYTES_MAX = 16 << 20 };

/* Events of the log, on their way to be published. */
struct brought {
    struct arena *arena; /* that this is in, too */
    const struct event *events;
    struct brought *follows;
};

struct delivery {
    struct command *held, **held_end;   /* reads that saw more than is published */
    struct command *ahead, **ahead_end; /* writes that came before what is to be published first */
    atomic_llong seq;                   /* what is published, for other threads */

    /* What other threads bring. */
    struct wakeup *wakeup;
    pthread_mutex_t mutex;
    struct command *performed, **performed_end;
    uint64_t performed_bytes; /* that their arenas take */
    pthread_cond_t taken;     /* they were, or never will be */
    bool loop_ended;
    struct admission *admitted, **admitted_end;
    struct brought *brought, **brought_end;
};

/* ---- publishing ---- */

static const struct event *unpublished(const struct server *s, const struct event *e)
{
    while (e && event_seq(e) <= s->published)
        e = event_after(e);
    return e;
}

static void publish_events(struct server *s, const struct event *e)
{
    for (; e; e = event_after(e)) {
        s->published = event_seq(e);
        if (event_is_of_team(e))
            s->team_published = s->published;
        hub_publish(s->hub, e);
        grants_hear(s, e);
        mcp_hear(s, e);
    }
    atomic_store_explicit(&s->delivery->seq, s->published, memory_order_relaxed);
}

/* Events that the log has brought already are not published again; and what the command shows, or
 * knows of a new token, is out of date, perhaps, when anything was published since its commit. Where that cannot be told,
 * because it has no event, it is not shown either. */
static void publish(struct server *s, const struct command *c)
{
    const struct event *e = s->options.shared ? unpublished(s, c->events) : c->events;
    bool newest = e == c->events && (e || !s->options.shared);

    if (c->op->effect == OP_WRITES && newest)
        op_cache_written(s->cache, c);
    else if (e)
        op_cache_written(s->cache, &(struct command){ .events = e });
    publish_events(s, e);
    if (newest && c->minted)
        grants_put(s, c->minted);
    if (c->answer.notify.len)
        hub_notify(s->hub, c->answer.notify);
}

/* Whether events of other nodes must be published before those of this write. What comes after one
 * that waits is answered after it. */
static bool is_ahead(const struct server *s, const struct command *c)
{
    if (!s->options.shared || c->op->effect != OP_WRITES)
        return false;
    const struct event *e = unpublished(s, c->events);
    return e && event_seq(e) > s->published + 1;
}

/* ---- answering ---- */

/* A reader may have seen a commit whose events are still on their way here. Its answer waits for
 * them: else the next read, out of the cache, would show less than this one did. */
static bool is_early(const struct server *s, const struct command *c)
{
    return c->op->effect == OP_READS && c->seq > s->published;
}

/* Whoever submitted it has it again, with its memory. */
static void answer(struct command *c)
{
    arena_take(c->arena);
    c->done(c);
}

static void answer_or_hold(struct server *s, struct command *list)
{
    struct delivery *d = s->delivery;

    for (struct command *c = list, *next; c; c = next) {
        next = c->follows;
        if (is_early(s, c)) {
            c->follows = NULL;
            *d->held_end = c;
            d->held_end = &c->follows;
        } else {
            answer(c);
        }
    }
}

static struct command *held_take(struct server *s)
{
    struct command *list = s->delivery->held;

    s->delivery->held = NULL;
    s->delivery->held_end = &s->delivery->held;
    return list;
}

static struct command *ahead_take(struct server *s)
{
    struct command *list = s->delivery->ahead;

    s->delivery->ahead = NULL;
    s->delivery->ahead_end = &s->delivery->ahead;
    return list;
}

/* Publishes those whose turn it is, and gives them; the others wait, in their order. */
static struct command *publish_ready(struct server *s, struct command *list)
{
    struct delivery *d = s->delivery;
    struct command *ready = NULL, **end = &ready;

    for (struct command *c = list, *next; c; c = next) {
        next = c->follows;
        bool behind = d->ahead && c->op->effect == OP_WRITES;
        struct command ***to = behind || is_ahead(s, c) ? &d->ahead_end : &end;
        if (to == &end)
            publish(s, c);
        c->follows = NULL;
        **to = c;
        *to = &c->follows;
    }
    return ready;
}

static void deliver(struct server *s, struct command *list)
{
    int64_t before = s->published;
    struct command *ready = publish_ready(s, list);

    if (s->published != before)
        answer_or_hold(s, held_take(s));
    answer_or_hold(s, ready);
}

/* What comes out of the log is published first, and lets go on who waited for it. */
static void deliver_brought(struct server *s, struct brought *list)
{
    for (struct brought *b = list, *next; b; b = next) {
        next = b->follows;
        const struct event *e = unpublished(s, b->events);
        if (e) {
            assert(event_seq(e) == s->published + 1);
            op_cache_written(s->cache, &(struct command){ .events = e });
            publish_events(s, e);
            struct command *ready = publish_ready(s, ahead_take(s));
            answer_or_hold(s, held_take(s));
            answer_or_hold(s, ready);
        }
        arena_free(b->arena); /* nobody's: it was only read here */
    }
}

/* Commands before what the log brings, which then has less that is new. Both before admissions: a
 * revocation that was on its way together with a grant counts. */
static void on_wakeup(void *owner)
{
    struct server *s = owner;
    struct delivery *d = s->delivery;

    pthread_mutex_lock(&d->mutex);
    struct command *performed = d->performed;
    struct admission *admitted = d->admitted;
    struct brought *brought = d->brought;
    d->performed = NULL;
    d->performed_end = &d->performed;
    d->performed_bytes = 0;
    pthread_cond_broadcast(&d->taken);
    d->admitted = NULL;
    d->admitted_end = &d->admitted;
    d->brought = NULL;
    d->brought_end = &d->brought;
    pthread_mutex_unlock(&d->mutex);

    deliver(s, performed);
    deliver_brought(s, brought);
    for (struct admission *a = admitted, *next; a; a = next) {
        next = a->follows;
        arena_take(a->arena);
        a->done(a);
    }
}

/* ---- from other threads ---- */

void server_performed(struct server *s, struct command *list)
{
    struct delivery *d = s->delivery;
    struct command **end = &list;
    uint64_t bytes = 0;

    if (!list)
        return;
    for (; *end; end = &(*end)->follows) {
        bytes += (*end)->arena->bytes;
        arena_give((*end)->arena);
    }
    pthread_mutex_lock(&d->mutex);
    d->performed_bytes += bytes;
    *d->performed_end = list;
    d->performed_end = end;
    pthread_mutex_unlock(&d->mutex);
    wakeup_send(d->wakeup);
}

void server_keep_up(struct server *s)
{
    struct delivery *d = s->delivery;

    pthread_mutex_lock(&d->mutex);
    while (d->performed_bytes > PERFORMED_BYTES_MAX && !d->loop_ended)
        pthread_cond_wait(&d->taken, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
}

void server_loop_ended(struct server *s)
{
    struct delivery *d = s->delivery;

    pthread_mutex_lock(&d->mutex);
    d->loop_ended = true;
    pthread_cond_broadcast(&d->taken);
    pthread_mutex_unlock(&d->mutex);
}

void server_admitted(struct server *s, struct admission *a)
{
    struct delivery *d = s->delivery;

    a->follows = NULL;
    arena_give(a->arena);
    pthread_mutex_lock(&d->mutex);
    *d->admitted_end = a;
    d->admitted_end = &a->follows;
    pthread_mutex_unlock(&d->mutex);
    wakeup_send(d->wakeup);
}

void server_published(struct server *s, struct arena *a, const struct event *events)
{
    struct delivery *d = s->delivery;
    struct brought *b = ARENA_NEW(a, struct brought);

    *b = (struct brought){ .arena = a, .events = events };
    arena_give(a);
    pthread_mutex_lock(&d->mutex);
    *d->brought_end = b;
    d->brought_end = &b->follows;
    pthread_mutex_unlock(&d->mutex);
    wakeup_send(d->wakeup);
}

int64_t server_seq(struct server *s)
{
    return atomic_load_explicit(&s->delivery->seq, memory_order_relaxed);
}

void delivery_soon(struct server *s)
{
    wakeup_send(s->delivery->wakeup);
}

/* ---- beginning and end ---- */

struct delivery *delivery_new(struct server *s)
{
    struct delivery *d = mem_alloc(sizeof *d);

    *d = (struct delivery){ .wakeup = wakeup_new(s->loop, on_wakeup, s) };
    d->held_end = &d->held;
    d->ahead_end = &d->ahead;
    d->performed_end = &d->performed;
    d->admitted_end = &d->admitted;
    d->brought_end = &d->brought;
    atomic_init(&d->seq, s->published);
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->taken, NULL);
    return d;
}

static void answer_all(struct command *list)
{
    for (struct command *c = list, *next; c; c = next) {
        next = c->follows;
        answer(c);
    }
}

void delivery_settle(struct server *s)
{
    on_wakeup(s);
    answer_all(ahead_take(s));
    answer_all(held_take(s));
}

void delivery_free(struct server *s)
{
    wakeup_free(s->delivery->wakeup);
    pthread_cond_destroy(&s->delivery->taken);
    pthread_mutex_destroy(&s->delivery->mutex);
    mem_free(s->delivery);
}
