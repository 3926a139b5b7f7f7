/* channel.c: the statements on their way through a connection to PostgreSQL. How it is made, and
 * what a failure means for it, is channel_open.c's. */
#include "store/channel_private.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    FLUSH_EVERY = 8, /* statements: the server works on them while the next are made */
    QUEUE_MAX = 256, /* then answers are collected, so that neither side's memory grows */
    NAME_BYTES = 16,
    INT_BYTES = 24,
};

/* Types by their numbers in PostgreSQL's catalog, which never change. */
enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25 };

struct statement {
    const char *text; /* the literal */
    unsigned number;  /* makes its name on the server */
    bool prepared;    /* there, or on its way there */
};

enum pending_kind { PENDING_PREPARE, PENDING_RUN, PENDING_SYNC };

struct pending {
    enum pending_kind kind;
    bool dismissed; /* nobody asks for its error */
    const char *text;
    struct rows *rows;
};

int64_t channel_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- rows ---- */

static uint64_t big_endian(const char *at, int bytes)
{
    uint64_t n = 0;

    for (int i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)at[i];
    return n;
}

static struct sql_value value_of(struct channel *c, const PGresult *r, int row, int column)
{
    const struct libpq *pq = c->url->pq;
    const char *at = pq->getvalue(r, row, column);
    str bytes = { at, (size_t)pq->getlength(r, row, column) };

    if (pq->getisnull(r, row, column))
        return NOTHING;
    switch (pq->ftype(r, column)) {
    case OID_INT8: return INT((int64_t)big_endian(at, 8));
    case OID_INT4: return INT((int32_t)big_endian(at, 4));
    case OID_INT2: return INT((int16_t)big_endian(at, 2));
    case OID_BOOL: return INT(at[0] != 0);
    case OID_BYTEA: return BYTES(arena_copy(c->arena, bytes));
    default: return TEXT(arena_copy(c->arena, bytes)); /* see types_check */
    }
}

/* A statement of ours gives other types only by mistake: sum() of BIGINT, for one, is NUMERIC. */
static err types_check(struct channel *c, const PGresult *r, const char *text)
{
    for (int i = 0; i < c->url->pq->nfields(r); i++) {
        switch (c->url->pq->ftype(r, i)) {
        case OID_INT8:
        case OID_INT4:
        case OID_INT2:
        case OID_BOOL:
        case OID_BYTEA:
        case OID_TEXT: break;
        default:
            return err_new(c->arena, ERR_INTERNAL,
                           "column %d is not TEXT, BIGINT or BYTEA; cast it: %s", i, text);
        }
    }
    return NULL;
}

static err rows_take(struct channel *c, const PGresult *r, const struct pending *p)
{
    int columns = c->url->pq->nfields(r), found = c->url->pq->ntuples(r);
    struct rows *out = p->rows;

    TRY(types_check(c, r, p->text));
    out->count = (size_t)found < out->most ? (size_t)found : out->most;
    out->at = ARENA_ARRAY(c->arena, struct row, out->count);
    for (size_t row = 0; row < out->count; row++) {
        struct sql_value *values = ARENA_ARRAY(c->arena, struct sql_value, (size_t)columns);
        for (int i = 0; i < columns; i++)
            values[i] = value_of(c, r, (int)row, i);
        out->at[row] = (struct row){ values, (size_t)columns };
    }
    return NULL;
}

/* ---- prepared statements ---- */

static struct statement *statement_of(struct channel *c, const char *text)
{
    struct statement *s = statements_find(&c->statements, text, sizeof *s);

    if (!s->number)
        s->number = c->statements.count; /* so far: it is the newest */
    return s;
}

/* ---- collecting ---- */

/* The next result, or NULL: the statement has no more, or the connection is gone. */
static PGresult *result_next(struct channel *c, int64_t until)
{
    const struct libpq *pq = c->url->pq;

    while (pq->is_busy(c->conn)) {
        struct pollfd wire = { pq->socket(c->conn), POLLIN, 0 };
        int64_t left = c->wait_ms ? until - channel_clock() : -1;
        if (c->wait_ms && left <= 0)
            return NULL;
        if (poll(&wire, 1, (int)left) < 0 && errno != EINTR)
            return NULL;
        if (wire.revents && !pq->consume_input(c->conn))
            break; /* what it said last may still be there */
    }
    return pq->get_result(c->conn);
}

static err result_take(struct channel *c, const PGresult *r, const struct pending *p)
{
    const struct libpq *pq = c->url->pq;
    int status = (int)pq->result_status(r);

    switch (status) {
    case PGRES_TUPLES_OK:
        if (p->rows)
            TRY(rows_take(c, r, p));
        /* fall through */
    case PGRES_COMMAND_OK:
        if (p->text && strcmp(p->text, "COMMIT") == 0 &&
            strcmp(pq->cmd_status((PGresult *)r), "ROLLBACK") == 0)
            return err_new(c->arena, ERR_INTERNAL, "%s: what was to be committed had failed before",
                           c->url->redacted);
        if (p->kind == PENDING_RUN && strchr("IUD", pq->cmd_status((PGresult *)r)[0]))
            c->changes += strtoll(pq->cmd_tuples((PGresult *)r), NULL, 10);
        return NULL;
    case LIBPQ_PIPELINE_SYNC: return NULL;
    default:
        if (p->kind == PENDING_PREPARE)
            statement_of(c, p->text)->prepared = false;
        if (status == LIBPQ_PIPELINE_ABORTED)
            return NULL; /* the one that failed has said why */
        return channel_refused(c, r);
    }
}

/* All results of one thing that was sent. After this the connection may be gone. */
static err pending_take(struct channel *c, const struct pending *p)
{
    const struct libpq *pq = c->url->pq;
    int64_t until = channel_clock() + c->wait_ms;
    PGresult *r = result_next(c, until);
    err e = NULL;

    if (!r && c->wait_ms && channel_clock() >= until)
        return channel_lost(c, STR("it did not answer in time"));
    if (!r)
        return channel_broken(c);
    e = result_take(c, r, p);
    pq->clear(r);
    while (c->conn && p->kind != PENDING_SYNC && (r = result_next(c, until)))
        pq->clear(r);
    return e;
}

static void pending_add(struct channel *c, struct pending p)
{
    if (c->queued == c->queue_room) {
        c->queue_room = c->queue_room ? c->queue_room * 2 : 16;
        c->queue = mem_grow(c->queue, c->queue_room * sizeof *c->queue);
    }
    c->queue[c->queued++] = p;
}

/* Ends what was sent so far: a failure in it does not reach further. */
static err channel_sync(struct channel *c)
{
    if (!c->pipelined || !c->queued || c->queue[c->queued - 1].kind == PENDING_SYNC)
        return NULL;
    if (!c->url->pq->pipeline_sync(c->conn))
        return channel_broken(c);
    pending_add(c, (struct pending){ .kind = PENDING_SYNC });
    return NULL;
}

err channel_collect(struct channel *c)
{
    err first = NULL;

    TRY(channel_sync(c));
    c->trips += c->queued > 0;
    for (size_t i = 0; i < c->queued; i++) {
        struct pending p = c->queue[i];
        err e = pending_take(c, &p);
        if (!c->conn)
            return first ? first : e;
        if (e && !first && !p.dismissed)
            first = e;
    }
    c->queued = 0;
    return first;
}

/* ---- sending ---- */

struct bound {
    const char *values[STATEMENT_ARGS_MAX];
    int lengths[STATEMENT_ARGS_MAX], formats[STATEMENT_ARGS_MAX];
    Oid types[STATEMENT_ARGS_MAX];
    char numbers[STATEMENT_ARGS_MAX][INT_BYTES];
};

/* Numbers travel as text, since a parameter that was NULL at first may have got a narrower type;
 * bytes and texts as they are, since they need not end in NUL. */
static void bind_all(struct bound *b, struct sql_args args)
{
    assert(args.count <= STATEMENT_ARGS_MAX);
    for (size_t i = 0; i < args.count; i++) {
        const struct sql_value *v = &args.values[i];
        static const Oid types[] = {
            [SQL_NULL] = 0, [SQL_INT] = OID_INT8, [SQL_TEXT] = OID_TEXT, [SQL_BYTES] = OID_BYTEA
        };
        b->types[i] = types[v->kind];
        b->formats[i] = v->kind == SQL_TEXT || v->kind == SQL_BYTES;
        b->lengths[i] = (int)v->bytes.len;
        b->values[i] = v->bytes.at ? v->bytes.at : "";
        if (v->kind == SQL_NULL)
            b->values[i] = NULL;
        else if (v->kind == SQL_INT) {
            snprintf(b->numbers[i], INT_BYTES, "%lld", (long long)v->number);
            b->values[i] = b->numbers[i];
        }
    }
}

static err channel_send(struct channel *c, const char *text, struct sql_args args,
                        struct rows *rows)
{
    const struct libpq *pq = c->url->pq;
    struct statement *s = statement_of(c, text);
    struct bound b;
    char name[NAME_BYTES];

    bind_all(&b, args);
    snprintf(name, sizeof name, "s%u", s->number);
    if (!s->prepared) {
        if (!pq->send_prepare(c->conn, name, text, (int)args.count, b.types))
            return channel_broken(c);
        s->prepared = true;
        pending_add(c, (struct pending){ PENDING_PREPARE, false, text, NULL });
        if (!c->pipelined)
            TRY(channel_collect(c));
    }
    if (!pq->send_query_prepared(c->conn, name, (int)args.count, b.values, b.lengths, b.formats, 1))
        return channel_broken(c);
    pending_add(c, (struct pending){ PENDING_RUN, false, text, rows });
    if (c->queued % FLUSH_EVERY == 0 && pq->flush(c->conn) < 0)
        return channel_broken(c);
    return NULL;
}

err channel_run(struct channel *c, const char *text, struct sql_args args, struct rows *rows)
{
    assert(c->conn);
    TRY(channel_send(c, text, args, rows));
    return rows || !c->pipelined || c->queued >= QUEUE_MAX ? channel_collect(c) : NULL;
}

void channel_dismiss(struct channel *c, const char *text)
{
    /* A statement behind a failed one would be skipped with it. */
    if (channel_sync(c) || channel_run(c, text, NO_ARGS, NULL) || channel_sync(c))
        return; /* lost, and the server rolls back by itself */
    for (size_t i = 0; i < c->queued; i++)
        c->queue[i].dismissed = true;
}

int channel_listen(struct channel *c, int64_t ms)
{
    const struct libpq *pq = c->url->pq;
    struct pollfd wire = { pq->socket(c->conn), POLLIN, 0 };

    poll(&wire, 1, ms < INT32_MAX ? (int)ms : INT32_MAX);
    if (!wire.revents)
        return 0;
    if (pq->consume_input(c->conn))
        return 1;
    channel_broken(c);
    return -1;
}
