/* postgres.c: transactions of the store that several nodes share. How its connections are made is
 * postgres_connect.c's, and how its tables are, postgres_open.c's.
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

#include "store/postgres_private.h"

/* How long, and how often, to look for what became of a cut commit. */
enum { FIND_MS = 20000, FIND_PAUSE_MS = 25, FIND_PAUSE_MS_MAX = 100 };

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

/* What writes and gives rows. */
static bool is_told_by_returning(const char *text)
{
    return strstr(text, "RETURNING") != NULL;
}

/* A command that reads after it has written must see what it wrote, and may be refused after that;
 * so it is with a statement that writes and is answered at once. What earlier commands have sent is answered first: a failure of theirs must end the transaction,
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
    if (q->held || (q->holds && rows && is_told_by_returning(text)))
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
    const char *name = q->channel.url->redacted;
    int known = q->sql.store->options.migration_count;

    if (version == known)
        return NULL;
    if (version > known)
        return store_newer(q->sql.arena, newer, name, version, known);
    return err_new(q->sql.arena, ERR_UNAVAILABLE,
                   "%s: it was taken back to version %lld, and this baton needs %d: start baton "
                   "again, which migrates it",
                   name, (long long)version, known);
}

#define NODE_COLUMNS "seq, clock, version"
#define NODE_CLOCK "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

err postgres_node_gone(struct postgres *q)
{
    return err_new(q->sql.arena, ERR_UNAVAILABLE, "%s: the row of node is gone: restore a backup",
                   q->channel.url->redacted);
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
    TRY(postgres_reach(q));
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
        TRY(postgres_reach_now(q));
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
    int find_ms = q->sql.store->options.find_ms;
    int64_t until = channel_clock() + (find_ms ? find_ms : FIND_MS);
    int pause = FIND_PAUSE_MS;
    bool there;

    for (;;) {
        err e = commit_look(q, &there);
        if (!e && there)
            *why = NULL;
        if (!e)
            return there ? STORE_COMMITTED : STORE_ROLLED_BACK;
        if (channel_clock() + pause > until)
            return STORE_UNKNOWN;
        poll(NULL, 0, pause);
        pause = pause < FIND_PAUSE_MS_MAX ? pause * 2 : pause;
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

const struct driver postgres_driver = {
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
