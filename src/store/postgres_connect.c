/* postgres_connect.c: connections to a database that several nodes share: how they are made, made
 * again after the database was away, and listened on for what others commit. Knows nothing of
 * transactions. */
#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "os/random.h"
#include "store/postgres_private.h"

enum {
    BUSY_MS = 10000, /* longer than IDLE_MS: whoever waits for a stopped node gets its turn */
    IDLE_MS = 5000,
    READER_IDLE_MS = 60000,
    STATEMENT_MS = 30000,
    ANSWER_MS = STATEMENT_MS + 5000, /* the server should speak first */
    MIGRATION_LOCK_MS = 60000,
    RETRY_MS = 100, /* between tries to connect, at first */
    RETRY_MS_MAX = 1000,
};

/* ---- staying connected ---- */

static int or_default(int value, int otherwise)
{
    return value ? value : otherwise;
}

/* A commit must be on the server's disk, whatever the server's default is. TCP's own probes end the
 * transaction of a node that vanished; where there is a limit for whole transactions, it ends one
 * that stopped while it was sending. */
static void settings_write(struct postgres *q, bool migrates)
{
    const struct store_options *o = &q->sql.store->options;
    bool writes = q->sql.use == STORE_WRITES;

    q->channel.wait_ms = migrates ? 0 : ANSWER_MS;
    int n = snprintf(q->settings, sizeof q->settings,
                     "SET idle_in_transaction_session_timeout = %d; SET lock_timeout = %d;"
                     " SET statement_timeout = %d; SET tcp_keepalives_idle = 5;"
                     " SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;"
                     " SELECT set_config(name, '%d', false) FROM pg_settings"
                     " WHERE name = 'transaction_timeout';"
                     " SELECT set_config('synchronous_commit', 'on', false)"
                     " WHERE current_setting('synchronous_commit') = 'off'",
                     writes ? or_default(o->idle_ms, IDLE_MS) : READER_IDLE_MS,
                     migrates ? MIGRATION_LOCK_MS : or_default(o->busy_ms, BUSY_MS),
                     migrates ? 0 : STATEMENT_MS, migrates || !writes ? 0 : STATEMENT_MS);
    assert(n < SETTINGS_BYTES);
}

err postgres_reach_now(struct postgres *q)
{
    struct channel *c = channel_of(q);
    err e = channel_open(c, q->settings, q->sql.store->options.one_by_one);

    if (!e) {
        if (q->retry_ms)
            log_info("store.back", LOG_S("store", str_from(c->url->redacted)));
        q->retry_ms = 0;
        q->reached = true;
        return NULL;
    }
    if (!q->retry_ms && q->reached)
        log_warn("store.away", LOG_S("reason", e->message));
    q->retry_ms = q->retry_ms ? q->retry_ms * 2 : RETRY_MS;
    if (q->retry_ms > RETRY_MS_MAX)
        q->retry_ms = RETRY_MS_MAX;
    q->retry_at = channel_clock() + q->retry_ms;
    snprintf(q->away, sizeof q->away, STR_FMT, STR_ARG(e->message));
    return e;
}

err postgres_reach(struct postgres *q)
{
    if (q->channel.conn)
        return NULL;
    if (!q->retry_ms || channel_clock() >= q->retry_at)
        return postgres_reach_now(q);
    return err_new(q->sql.arena, ERR_UNAVAILABLE, "%s; trying again", q->away);
}

/* ---- news ---- */

err postgres_listen(struct sql *s)
{
    struct postgres *q = postgres_of(s);

    TRY(postgres_reach(q));
    err e = channel_run(channel_of(q), "LISTEN baton", NO_ARGS, NULL);
    return e ? e : channel_collect(channel_of(q));
}

/* What this node has written it knows by itself. */
static bool news_take(struct postgres *q, int64_t *seq)
{
    const struct libpq *pq = q->channel.url->pq;
    bool any = false;

    for (PGnotify *n; (n = pq->notifies(q->channel.conn)); pq->free_memory(n)) {
        int64_t heard, mark;
        str number, rest;
        str_cut(str_from(n->extra), ' ', &number, &rest);
        if (!str_to_int(number, &heard) || !str_to_int(rest, &mark) ||
            mark == database_of(q->sql.store)->mark)
            continue;
        if (!any || heard > *seq)
            *seq = heard;
        any = true;
    }
    return any;
}

enum store_news postgres_wait(struct sql *s, int64_t ms, int64_t *seq)
{
    struct postgres *q = postgres_of(s);
    int64_t until = channel_clock() + ms;

    for (;;) {
        if (!q->channel.conn)
            return STORE_LOST;
        if (news_take(q, seq))
            return STORE_NEWS;
        int64_t left = until - channel_clock();
        if (left <= 0)
            return STORE_QUIET;
        channel_listen(channel_of(q), left);
    }
}

/* ---- connections ---- */

void postgres_disconnect(struct sql *s)
{
    struct postgres *q = postgres_of(s);

    channel_release(&q->channel);
    mem_free(q);
}

int64_t postgres_own_number(void)
{
    uint64_t n;

    random_bytes(&n, sizeof n);
    return (int64_t)(n >> 2) + 2;
}

err postgres_connect(struct arena *a, struct store *s, const struct driver *driver,
                     enum store_use use, bool migrates, struct postgres **out)
{
    struct postgres *q = mem_alloc(sizeof *q);

    *q = (struct postgres){
        .sql = { .driver = driver, .store = s, .arena = a, .use = use },
        .channel = { .url = &database_of(s)->url },
        .writer = postgres_own_number(),
    };
    q->held_end = &q->held;
    settings_write(q, migrates);
    err e = postgres_reach_now(q);
    if (e)
        postgres_disconnect(&q->sql);
    else
        *out = q;
    return e;
}
