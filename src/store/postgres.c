/* postgres.c: the store that several nodes share.
 *
 * A write transaction begins by locking the first row of `node`: one writer at a time over all
 * nodes, as with SQLite, so rules need not know that there are others. The row holds the version
 * of the tables too, and is looked at in every transaction: a node whose program is too old for
 * them stops. Time is the database's.
 *
 * Each writer also has a row of its own, where a commit leaves its count. When the connection is
 * cut during a commit, a new one locks the first row, which waits until the cut transaction has
 * ended one way or the other, and then the writer's own row tells which way. */
#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/log.h"
#include "store/postgres_private.h"

enum {
    BUSY_MS = 10000, /* longer than IDLE_MS: whoever waits for a stopped node gets its turn */
    IDLE_MS = 5000,
    FIND_MS = 20000,
    READER_IDLE_MS = 60000,
    STATEMENT_MS = 30000,
    ANSWER_MS = STATEMENT_MS + 5000, /* the server should speak first */
    MIGRATION_LOCK_MS = 60000,
    RETRY_MS = 100, /* between tries to connect, at first */
    RETRY_MS_MAX = 1000,
};

static struct postgres *postgres_of(struct sql *s)
{
    return (struct postgres *)s; /* its first member */
}

/* The connection, with rows and errors going where the caller wants them. */
static struct channel *channel_of(struct postgres *q)
{
    q->channel.arena = q->sql.arena;
    return &q->channel;
}

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

static err connect_now(struct postgres *q)
{
    struct channel *c = channel_of(q);
    err e = channel_open(c, q->settings, q->sql.store->options.one_by_one);

    if (!e) {
        if (q->retry_ms)
            log_info("store.back", LOG_S("store", str_from(c->place->shown)));
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

/* Connects when there is no connection, but does not try again and again while there cannot be. */
static err connect_if_due(struct postgres *q)
{
    if (q->channel.conn)
        return NULL;
    if (!q->retry_ms || channel_clock() >= q->retry_at)
        return connect_now(q);
    return err_new(q->sql.arena, ERR_UNAVAILABLE, "%s; trying again", q->away);
}

/* ---- statements ---- */

/* After an error nothing runs until its savepoint is taken back; where there is none, or the error
 * is of a kind that will come again, the transaction has ended. */
static err statement_failed(struct postgres *q, err e)
{
    q->failed = true;
    if (!q->saved || q->channel.ends)
        q->sql.dead = true;
    return e;
}

err postgres_collect(struct postgres *q)
{
    err e = channel_collect(channel_of(q));
    return e ? statement_failed(q, e) : NULL;
}

err postgres_statement(struct postgres *q, const char *text, struct sql_args args,
                       struct rows *rows)
{
    if (q->failed)
        return err_new(q->sql.arena, ERR_UNAVAILABLE,
                       "an earlier statement of this command failed");
    err e = channel_run(channel_of(q), text, args, rows);
    return e ? statement_failed(q, e) : NULL;
}

/* ---- the writes of a command ---- */

/* They stay here until the command is kept. One that is refused has then changed nothing there, and
 * needs no savepoint, which would cost the server two statements and a transaction's number. */

static struct sql_args args_copy(struct arena *a, struct sql_args args)
{
    struct sql_value *values = ARENA_ARRAY(a, struct sql_value, args.count);

    for (size_t i = 0; i < args.count; i++) {
        values[i] = args.values[i];
        if (values[i].bytes.len)
            values[i].bytes = arena_copy(a, values[i].bytes);
    }
    return (struct sql_args){ values, args.count };
}

static void held_add(struct postgres *q, const char *text, struct sql_args args)
{
    struct held *h = ARENA_NEW(q->sql.arena, struct held);

    *h = (struct held){ .text = text, .args = args_copy(q->sql.arena, args) };
    *q->held_end = h;
    q->held_end = &h->next;
}

static struct held *held_take(struct postgres *q)
{
    struct held *first = q->held;

    q->held = NULL;
    q->held_end = &q->held;
    return first;
}

static err held_send(struct postgres *q)
{
    for (const struct held *h = held_take(q); h; h = h->next)
        TRY(postgres_statement(q, h->text, h->args, NULL));
    return NULL;
}

/* A command that reads after it has written must see what it wrote, and may be refused after that.
 * What earlier commands have sent is answered first: a failure of theirs must end the transaction,
 * and not go back with this command. */
static err held_send_behind_savepoint(struct postgres *q)
{
    if (!q->saved) {
        TRY(postgres_collect(q));
        TRY(postgres_statement(q, "SAVEPOINT command", NO_ARGS, NULL));
        q->saved = true;
    }
    return held_send(q);
}

static err postgres_run(struct sql *s, const char *text, struct sql_args args, size_t most,
                        const struct row **rows, size_t *count)
{
    struct postgres *q = postgres_of(s);
    struct rows found = { .most = most };

    if (!rows && q->holds && !q->failed) {
        held_add(q, text, args);
        return NULL;
    }
    if (q->held)
        TRY(held_send_behind_savepoint(q));
    TRY(postgres_statement(q, text, args, rows ? &found : NULL));
    if (rows) {
        *rows = found.at;
        *count = found.count;
    }
    return NULL;
}

/* ---- transactions ---- */

static void postgres_rollback(struct sql *s)
{
    struct postgres *q = postgres_of(s);

    if (q->begun && q->channel.conn)
        channel_dismiss(channel_of(q), "ROLLBACK");
    q->begun = q->saved = q->failed = q->holds = false;
    held_take(q);
}

/* Whoever asks this node for something is to ask later; the node itself, when it starts, is told
 * that it is the wrong one. */
err postgres_version_check(const struct postgres *q, int64_t version, enum error_kind newer)
{
    const char *shown = q->channel.place->shown;
    int known = q->sql.store->options.migration_count;

    if (version == known)
        return NULL;
    if (version > known)
        return store_newer(q->sql.arena, newer, shown, version, known);
    return err_new(q->sql.arena, ERR_UNAVAILABLE,
                   "%s: it was taken back to version %lld, and this baton needs %d: start baton "
                   "again, which migrates it",
                   shown, (long long)version, known);
}

#define NODE_COLUMNS "seq, clock, version"
#define NODE_CLOCK "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

err postgres_node_gone(struct postgres *q)
{
    return err_new(q->sql.arena, ERR_UNAVAILABLE, "%s: the row of node is gone: restore a backup",
                   q->channel.place->shown);
}

/* The clock is read outside of the part that waits for the lock, and so after it. */
static err node_read(struct postgres *q, struct store_node *node)
{
    struct rows found = { .most = 1 };

    if (q->sql.use == STORE_WRITES)
        TRY(postgres_statement(q,
                               "SELECT " NODE_COLUMNS ", " NODE_CLOCK " FROM (SELECT " NODE_COLUMNS
                               " FROM node WHERE node_id = 1 FOR UPDATE) AS locked",
                               NO_ARGS, &found));
    else
        TRY(postgres_statement(q,
                               "SELECT " NODE_COLUMNS ", " NODE_CLOCK
                               " FROM node WHERE node_id = 1",
                               NO_ARGS, &found));
    if (!found.count)
        return postgres_node_gone(q);
    if (node)
        *node = (struct store_node){ .seq = row_int(found.at, 0),
                                     .clock = row_int(found.at, 1),
                                     .now = row_int(found.at, 3) };
    q->begun_seq = row_int(found.at, 0);
    return postgres_version_check(q, row_int(found.at, 2), ERR_UNAVAILABLE);
}

static err begin_once(struct postgres *q, struct store_node *node)
{
    TRY(connect_if_due(q));
    q->begun = true;
    q->failed = q->saved = q->channel.ends = false;
    err e = postgres_statement(q,
                               q->sql.use == STORE_WRITES
                                   ? "BEGIN ISOLATION LEVEL READ COMMITTED"
                                   : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                               NO_ARGS, NULL);
    if (!e)
        e = node_read(q, node);
    if (e)
        postgres_rollback(&q->sql);
    q->channel.changes = 0;
    q->sql.trips = q->channel.trips;
    q->sql.dead = false;
    return e;
}

/* A connection that was lost while nobody used it is found out only now. */
static err postgres_begin(struct sql *s, struct store_node *node)
{
    struct postgres *q = postgres_of(s);
    bool connected = q->channel.conn != NULL;
    err e = begin_once(q, node);

    return e && connected && !q->channel.conn ? begin_once(q, node) : e;
}

static err postgres_mark(struct sql *s, bool cheap)
{
    struct postgres *q = postgres_of(s);

    (void)cheap; /* it is: what a command writes is held here until it is kept */
    assert(!q->held && !q->saved);
    q->holds = true;
    return NULL;
}

/* Waits for nothing: an error of what is on its way now ends the transaction when it is found, and
 * whose it was shows when the commands run again one by one. */
static err postgres_keep(struct sql *s)
{
    struct postgres *q = postgres_of(s);

    q->holds = false;
    TRY(held_send(q));
    if (!q->saved)
        return NULL;
    TRY(postgres_statement(q, "RELEASE command", NO_ARGS, NULL));
    q->saved = false;
    return NULL;
}

/* What is on its way must be answered first: it may fail, and would take the way back with it. */
static err postgres_undo(struct sql *s)
{
    struct postgres *q = postgres_of(s);

    q->holds = false;
    held_take(q);
    if (!q->saved)
        return NULL;
    if (q->channel.conn)
        channel_collect(channel_of(q));
    if (!q->channel.conn || q->channel.ends)
        return err_new(s->arena, ERR_UNAVAILABLE, "the transaction has ended; try again");
    q->failed = q->saved = false;
    TRY(postgres_statement(q, "ROLLBACK TO command", NO_ARGS, NULL));
    TRY(postgres_statement(q, "RELEASE command", NO_ARGS, NULL));
    return postgres_collect(q);
}

/* ---- commits ---- */

/* Whether the last commit of this writer is there; an error: that cannot be said yet. */
static err commit_look(struct postgres *q, bool *there)
{
    struct rows locked = { .most = 1 }, found = { .most = 1 };

    if (!q->channel.conn)
        TRY(connect_now(q));
    q->begun = true;
    q->failed = q->channel.ends = false;
    err e = postgres_statement(q, "BEGIN ISOLATION LEVEL READ COMMITTED", NO_ARGS, NULL);
    if (!e)
        e = postgres_statement(q, "SELECT node_id FROM node WHERE node_id = 1 FOR UPDATE", NO_ARGS,
                               &locked);
    if (!e)
        e = postgres_statement(q, "SELECT batch FROM node WHERE node_id = $1", ARGS(INT(q->writer)),
                               &found);
    postgres_rollback(&q->sql);
    *there = found.count && row_int(found.at, 0) == q->batch;
    return e;
}

/* After the connection was lost under a commit. */
static enum store_outcome commit_find(struct postgres *q, err *why)
{
    int64_t until = channel_clock() + or_default(q->sql.store->options.find_ms, FIND_MS);
    int64_t pause = RETRY_MS / 4;
    bool there;

    for (;;) {
        err e = commit_look(q, &there);
        if (!e && there)
            *why = NULL;
        if (!e)
            return there ? STORE_COMMITTED : STORE_ROLLED_BACK;
        if (channel_clock() + pause > until)
            return STORE_UNKNOWN;
        poll(NULL, 0, (int)pause);
        pause = pause < RETRY_MS_MAX / 10 ? pause * 2 : pause;
    }
}

/* The count of the writer, the node's row, and a word to all who listen. */
static err commit_send(struct postgres *q, const struct store_node *node)
{
    char news[48];

    snprintf(news, sizeof news, "%lld %lld", (long long)node->seq,
             (long long)database_of(q->sql.store)->mark);
    TRY(postgres_statement(
        q,
        "INSERT INTO node (node_id, version, seq, clock, batch) VALUES ($1, 0, $2, $3, $4)"
        " ON CONFLICT (node_id) DO UPDATE SET seq = $2, clock = $3, batch = $4",
        ARGS(INT(q->writer), INT(node->seq), INT(node->clock), INT(++q->batch)), NULL));
    TRY(postgres_statement(q, "UPDATE node SET seq = $1, clock = $2 WHERE node_id = 1",
                           ARGS(INT(node->seq), INT(node->clock)), NULL));
    if (node->seq != q->begun_seq) /* else there is nothing to hear of */
        TRY(postgres_statement(q, "SELECT pg_notify('baton', $1)", ARGS(TEXT(str_from(news))),
                               NULL));
    TRY(postgres_statement(q, "COMMIT", NO_ARGS, NULL));
    return postgres_collect(q);
}

/* What changed no row, as a batch of refused commands, has nothing to make durable. */
static enum store_outcome postgres_commit(struct sql *s, const struct store_node *node, err *why)
{
    struct postgres *q = postgres_of(s);

    assert(!q->failed && !q->saved && !q->held);
    *why = q->channel.changes ? NULL : channel_collect(channel_of(q));
    if (*why || !q->channel.changes) {
        postgres_rollback(s);
        return *why ? STORE_ROLLED_BACK : STORE_COMMITTED;
    }
    assert(node);
    *why = commit_send(q, node);
    bool lost = !q->channel.conn;
    if (!*why) {
        q->begun = false;
        return STORE_COMMITTED;
    }
    postgres_rollback(s);
    return lost ? commit_find(q, why) : STORE_ROLLED_BACK;
}

/* The server does both by itself. */
static err postgres_rests(struct sql *s)
{
    (void)s;
    return NULL;
}

/* ---- news ---- */

static err postgres_listen(struct sql *s)
{
    struct postgres *q = postgres_of(s);

    TRY(connect_if_due(q));
    err e = channel_run(channel_of(q), "LISTEN baton", NO_ARGS, NULL);
    return e ? e : channel_collect(channel_of(q));
}

/* What this node has written it knows by itself. */
static bool news_take(struct postgres *q, int64_t *seq)
{
    const struct libpq *pq = q->channel.place->pq;
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

static enum store_news postgres_wait(struct sql *s, int64_t ms, int64_t *seq)
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

static const struct driver postgres_driver = {
    .run = postgres_run,
    .begin = postgres_begin,
    .mark = postgres_mark,
    .keep = postgres_keep,
    .undo = postgres_undo,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .checkpoint = postgres_rests,
    .restart_log = postgres_rests,
    .disconnect = postgres_disconnect,
    .listen = postgres_listen,
    .wait = postgres_wait,
};

/* An id that no other writer has, and that is not the first row's. */
int64_t postgres_own_number(void)
{
    uint64_t n = 0;
    ssize_t got = getrandom(&n, sizeof n, 0);

    assert(got == sizeof n);
    return (int64_t)(n >> 2) + 2;
}

err postgres_connect(struct arena *a, struct store *s, enum store_use use, bool migrates,
                     struct postgres **out)
{
    struct postgres *q = mem_alloc(sizeof *q);

    *q = (struct postgres){
        .sql = { .driver = &postgres_driver, .store = s, .arena = a, .use = use },
        .channel = { .place = &database_of(s)->place },
        .writer = postgres_own_number(),
    };
    q->held_end = &q->held;
    settings_write(q, migrates);
    err e = connect_now(q);
    if (e)
        postgres_disconnect(&q->sql);
    else
        *out = q;
    return e;
}

static err database_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out)
{
    struct postgres *q;

    TRY(postgres_connect(a, s, use, false, &q));
    *out = &q->sql;
    return NULL;
}

const struct store_kind postgres_kind = { postgres_open, database_connect, postgres_close };
