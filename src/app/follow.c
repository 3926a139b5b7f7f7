/* follow.c: what other nodes commit to a store that is shared, brought to this node's server. */
#include "app/follow.h"

#include <assert.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

enum {
    EXIT_BEHIND = 70,    /* the log begins behind, or ends before, where this node is: start anew */
    WAIT_MS = 100,       /* at a time, so that the end is not waited for longer */
    LOOK_MS = 1000,      /* the log is read that often though nothing was heard */
    BACKOFF_MS_MIN = 50, /* between attempts to reach the database */
    BACKOFF_MS_MAX = 1000,
};

struct follow {
    struct sql *listens;
    struct arena *heard;  /* the listening connection's, as long as it listens */
    struct engine engine; /* reads */
    bool listening;
    int64_t seq;       /* of the last event that was handed over */
    int64_t looked_ms; /* when the log was last read to its end */
    int64_t backoff_ms;
    atomic_llong lost_at_ms; /* 0: it is not */
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

err follow_new(struct arena *a, struct store *store, struct follow **out)
{
    struct follow *f = mem_alloc(sizeof *f);

    *f = (struct follow){ .heard = arena_new(), .backoff_ms = BACKOFF_MS_MIN };
    err e = store_connect(a, store, STORE_READS, &f->listens);
    if (!e)
        e = store_connect(a, store, STORE_READS, &f->engine.sql);
    if (e) {
        follow_free(f);
        return e;
    }
    arena_give(f->heard);
    *out = f;
    return NULL;
}

void follow_free(struct follow *f)
{
    store_disconnect(f->listens);
    store_disconnect(f->engine.sql);
    arena_free(f->heard);
    mem_free(f);
}

int64_t follow_lost_ms(const struct follow *f)
{
    int64_t at = atomic_load_explicit(&f->lost_at_ms, memory_order_relaxed);
    return at ? now_ms() - at : 0;
}

/* ---- the database goes and comes ---- */

static bool is_lost(const struct follow *f)
{
    return atomic_load_explicit(&f->lost_at_ms, memory_order_relaxed) != 0;
}

static void lost(struct follow *f, err why)
{
    if (!is_lost(f)) {
        log_warn("follow.lost", LOG_S("error", why->message));
        atomic_store_explicit(&f->lost_at_ms, now_ms(), memory_order_relaxed);
    }
    f->listening = false;
}

static void found(struct follow *f)
{
    if (is_lost(f))
        log_info("follow.found", LOG_N("ms", follow_lost_ms(f)));
    atomic_store_explicit(&f->lost_at_ms, 0, memory_order_relaxed);
    f->backoff_ms = BACKOFF_MS_MIN;
}

/* After a failure, longer each time. */
static void back_off(struct follow *f, struct queue *until)
{
    char call;

    queue_take(until, &call, 1, f->backoff_ms);
    f->backoff_ms = f->backoff_ms * 2 < BACKOFF_MS_MAX ? f->backoff_ms * 2 : BACKOFF_MS_MAX;
}

/* ---- the log ---- */

/* Subscribers and the cache would miss what happened between. All that matters is in the database:
 * a node that starts has missed nothing. */
static void give_up(err why)
{
    log_error("follow.behind", LOG_S("error", why->message),
              LOG_S("do", STR("start the server again; was it away for longer than events are kept "
                              "(events_kept, events_time)?")));
    _exit(EXIT_BEHIND);
}

/* The next page of the log. False: that was its end, or an error. */
static bool read_page(struct follow *f, struct server *server)
{
    struct arena *a = arena_new();
    const struct event *first;
    int64_t published = server_seq(server);

    if (published > f->seq)
        f->seq = published;
    err e = op_follow(&f->engine, a, f->seq, &first, &f->seq);
    if (e && e->kind == ERR_GONE)
        give_up(e);
    if (e)
        lost(f, e);
    if (e || !first) {
        arena_free(a);
        return false;
    }
    server_published(server, a, first);
    return true;
}

/* To its end, or as far as somebody has said that it goes, who says so again if there is more. */
static void read_log(struct follow *f, struct server *server, int64_t end)
{
    f->looked_ms = now_ms();
    while (f->seq < end && read_page(f, server)) {
    }
    if (f->listening)
        found(f);
}

/* ---- the thread ---- */

/* Listens before it reads: what is committed between the two is heard. */
static void listen_again(struct follow *f, struct server *server)
{
    arena_reset(f->heard);
    err e = store_listen(f->listens, f->heard);

    f->listening = !e;
    if (e)
        lost(f, e);
    else
        read_log(f, server, INT64_MAX);
}

static void hear(struct follow *f, struct server *server)
{
    int64_t heard = 0;
    enum store_news news = store_wait(f->listens, WAIT_MS, &heard);

    if (news == STORE_LOST)
        f->listening = false; /* which the next attempt mends, or says why it cannot */
    else if (news == STORE_NEWS && heard > server_seq(server))
        read_log(f, server, heard);
    else if (news == STORE_QUIET && now_ms() - f->looked_ms >= LOOK_MS)
        read_log(f, server, INT64_MAX);
}

void follow_run(struct follow *f, struct server *server, struct queue *until)
{
    arena_take(f->heard);
    f->seq = server_seq(server);
    while (!queue_ended(until)) {
        if (f->listening)
            hear(f, server);
        else
            listen_again(f, server);
        if (!f->listening && is_lost(f))
            back_off(f, until);
    }
    arena_give(f->heard);
}
