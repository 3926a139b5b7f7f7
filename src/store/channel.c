/* channel.c: one connection to PostgreSQL, and the statements on their way through it. */
#include "store/channel.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STATEMENTS_MIN = 64,
    ARGS_MAX = 64,
    FLUSH_EVERY = 8, /* statements: the server works on them while the next are made */
    QUEUE_MAX = 256, /* then answers are collected, so that neither side's memory grows */
    NAME_BYTES = 16,
    INT_BYTES = 24,
};

/* Types by their numbers in PostgreSQL's catalog, which never change. */
enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25 };

struct statement {
    const char *text; /* the literal; NULL: a free slot */
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

/* ---- errors ---- */

/* A message of several lines as one. */
static str one_line(struct arena *a, const char *message)
{
    struct buf out = buf_in(a);

    for (const char *at = message; *at; at++)
        if (*at != '\n' && *at != '\t')
            buf_byte(&out, *at);
        else if (at[1] && at[1] != '\n' && at[1] != '\t')
            buf_add(&out, STR("; "));
    return str_trim(buf_str(&out));
}

static void channel_leave(struct channel *c)
{
    c->place->pq->finish(c->conn);
    c->conn = NULL;
    c->ends = true;
    c->queued = 0;
    for (uint32_t i = 0; i < c->statement_slots; i++)
        c->statements[i].prepared = false;
}

/* What became of a connection that is no more. */
static err channel_lost(struct channel *c, str message)
{
    channel_leave(c);
    return err_new(c->arena, ERR_UNAVAILABLE, "%s: the connection was lost: " STR_FMT "; try again",
                   c->place->shown, STR_ARG(message));
}

static err channel_broken(struct channel *c)
{
    return channel_lost(c, one_line(c->arena, c->place->pq->error_message(c->conn)));
}

#define POOLER                                                                               \
    "a pooler gives each transaction another session: connect to the server itself, or set " \
    "pool_mode = session"

/* By the first characters of SQLSTATE; the longer ones first. What goes wrong with the database is
 * never the fault of who asked, so most of it is UNAVAILABLE. A transaction goes on from its
 * savepoint, or it ends; or the connection is left too, because a new one may find another server
 * or other settings. */
static const struct trouble {
    const char *state;
    enum error_kind kind;
    enum { GOES_ON, ENDS, LEAVES } then;
    const char *advice;
} troubles[] = {
    { "08", ERR_UNAVAILABLE, ENDS, "see the network and the server's log; try again" },
    { "40", ERR_UNAVAILABLE, ENDS, "another transaction was in the way; try again" },
    { "55P03", ERR_UNAVAILABLE, ENDS, "another node is writing and does not end; try again" },
    { "57014", ERR_UNAVAILABLE, ENDS, "it took too long, or somebody cancelled it; try again" },
    { "53100", ERR_FULL, ENDS, "free some space on the server's disk; nothing was changed" },
    { "53300", ERR_UNAVAILABLE, ENDS, "raise max_connections of the server, or end some" },
    { "53", ERR_UNAVAILABLE, ENDS, "see the server's log, and try again" },
    { "58", ERR_UNAVAILABLE, ENDS, "see the disk's errors in the server's log" },
    { "25006", ERR_UNAVAILABLE, LEAVES,
      "it takes no writes, as a standby does: name the primary, or end default_transaction_read_only" },
    { "42501", ERR_UNAVAILABLE, GOES_ON,
      "let the role own the database, or GRANT it what is missing" },
    { "42P01", ERR_INTERNAL, GOES_ON,
      "a table is not there: see search_path, and whether somebody removed it" },
    { "42P05", ERR_UNAVAILABLE, ENDS, POOLER },
    { "26000", ERR_UNAVAILABLE, ENDS, POOLER },
    { "42P07", ERR_CONFLICT, GOES_ON,
      "it has tables that are not baton's: give baton a database of its own" },
    { "42703", ERR_INTERNAL, GOES_ON, "a table is not baton's: give it a database of its own" },
    { "22021", ERR_INVALID, GOES_ON, "a text must be UTF-8 and hold no NUL" },
    { "XX00", ERR_INTERNAL, ENDS, "the database is damaged; restore a backup" },
};

static err result_error(struct channel *c, const PGresult *r)
{
    const struct libpq *pq = c->place->pq;
    const char *state = pq->result_error_field(r, PG_DIAG_SQLSTATE);
    const char *severity = pq->result_error_field(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = pq->result_error_field(r, PG_DIAG_MESSAGE_PRIMARY);

    if (!state || pq->status(c->conn) != CONNECTION_OK)
        return channel_broken(c);
    str message = one_line(c->arena, text ? text : "");
    if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
        return channel_lost(c, message);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        const struct trouble *t = &troubles[i];
        if (strncmp(state, t->state, strlen(t->state)) != 0)
            continue;
        c->ends |= t->then != GOES_ON;
        if (t->then == LEAVES)
            channel_leave(c);
        return err_new(c->arena, t->kind, "%s: " STR_FMT ": %s", c->place->shown, STR_ARG(message),
                       t->advice);
    }
    return err_new(c->arena, ERR_INTERNAL, "%s: " STR_FMT " (%s)", c->place->shown,
                   STR_ARG(message), state);
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
    const struct libpq *pq = c->place->pq;
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
    for (int i = 0; i < c->place->pq->nfields(r); i++) {
        switch (c->place->pq->ftype(r, i)) {
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
    int columns = c->place->pq->nfields(r), found = c->place->pq->ntuples(r);
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

static struct statement *statement_slot(const struct channel *c, const char *text)
{
    uint32_t mask = c->statement_slots - 1;
    uint32_t at = (uint32_t)((uintptr_t)text * 0x9e3779b97f4a7c15u >> 32) & mask;

    while (c->statements[at].text && c->statements[at].text != text)
        at = (at + 1) & mask;
    return &c->statements[at];
}

static void statements_widen(struct channel *c)
{
    struct statement *old = c->statements;
    uint32_t count = c->statement_slots;

    c->statement_slots = count ? count * 2 : STATEMENTS_MIN;
    c->statements = mem_alloc(c->statement_slots * sizeof *c->statements);
    memset(c->statements, 0, c->statement_slots * sizeof *c->statements);
    for (uint32_t i = 0; i < count; i++)
        if (old[i].text)
            *statement_slot(c, old[i].text) = old[i];
    mem_free(old);
}

static struct statement *statement_of(struct channel *c, const char *text)
{
    if ((c->statement_count + 1) * 2 > c->statement_slots)
        statements_widen(c);
    struct statement *s = statement_slot(c, text);
    if (!s->text)
        *s = (struct statement){ .text = text, .number = ++c->statement_count };
    return s;
}

/* ---- collecting ---- */

/* The next result, or NULL: the statement has no more, or the connection is gone. */
static PGresult *result_next(struct channel *c, int64_t until)
{
    const struct libpq *pq = c->place->pq;

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
    const struct libpq *pq = c->place->pq;

    switch ((int)pq->result_status(r)) {
    case PGRES_TUPLES_OK:
        if (p->rows)
            TRY(rows_take(c, r, p));
        /* fall through */
    case PGRES_COMMAND_OK:
        if (p->text && strcmp(p->text, "COMMIT") == 0 &&
            strcmp(pq->cmd_status((PGresult *)r), "ROLLBACK") == 0)
            return err_new(c->arena, ERR_INTERNAL, "%s: what was to be committed had failed before",
                           c->place->shown);
        if (p->kind == PENDING_RUN && strchr("IUD", pq->cmd_status((PGresult *)r)[0]))
            c->changes += strtoll(pq->cmd_tuples((PGresult *)r), NULL, 10);
        return NULL;
    case LIBPQ_PIPELINE_SYNC: return NULL;
    case LIBPQ_PIPELINE_ABORTED:
        if (p->kind == PENDING_PREPARE)
            statement_slot(c, p->text)->prepared = false;
        return NULL; /* the one that failed has said why */
    default:
        if (p->kind == PENDING_PREPARE)
            statement_slot(c, p->text)->prepared = false;
        return result_error(c, r);
    }
}

/* All results of one thing that was sent. After this the connection may be gone. */
static err pending_take(struct channel *c, const struct pending *p)
{
    const struct libpq *pq = c->place->pq;
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
    if (!c->place->pq->pipeline_sync(c->conn))
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
    const char *values[ARGS_MAX];
    int lengths[ARGS_MAX], formats[ARGS_MAX];
    Oid types[ARGS_MAX];
    char numbers[ARGS_MAX][INT_BYTES];
};

/* Numbers travel as text, since a parameter that was NULL at first may have got a narrower type;
 * bytes and texts as they are, since they need not end in NUL. */
static void bind_all(struct bound *b, struct sql_args args)
{
    assert(args.count <= ARGS_MAX);
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
    const struct libpq *pq = c->place->pq;
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
    const struct libpq *pq = c->place->pq;
    struct pollfd wire = { pq->socket(c->conn), POLLIN, 0 };

    poll(&wire, 1, ms < INT32_MAX ? (int)ms : INT32_MAX);
    if (!wire.revents)
        return 0;
    if (pq->consume_input(c->conn))
        return 1;
    channel_broken(c);
    return -1;
}

/* ---- connecting ---- */

/* A server's answer to who connects has no SQLSTATE that could be asked for. */
static const char *connect_advice(const char *message)
{
    static const struct {
        const char *says, *advice;
    } known[] = {
        { "too many", "raise max_connections of the server (or the limit of the role or database), "
                      "or end some" },
        { "connection slots", "raise max_connections of the server, or end some" },
        { "permission denied for database", "GRANT CONNECT ON DATABASE to the role" },
        { "not permitted to log in", "let it: ALTER ROLE … LOGIN" },
        { "password", "put the right password into the URL, PGPASSWORD or ~/.pgpass" },
        { "pg_hba.conf", "let this host and role in, in pg_hba.conf of the server" },
        { "database \"", "create it first (createdb), or name another" },
        { "role \"", "create it first (createuser), or name another" },
        { "translate host name", "see whether the host's name is right" },
        { "starting up", "it will soon be ready" },
        { "shutting down", "it will soon be gone: wait until it is back" },
        { "certificate", "see sslmode and sslrootcert" },
        { "SSL", "see sslmode" },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(message, known[i].says))
            return known[i].advice;
    return "see whether it runs there, and listens";
}

static void notice_ignore(void *unused, const PGresult *r)
{
    (void)unused;
    (void)r;
}

static err configure(struct channel *c, const char *settings, bool one_by_one)
{
    const struct libpq *pq = c->place->pq;

    pq->set_notice_receiver(c->conn, notice_ignore, NULL);
    if (pq->server_version(c->conn) < 130000)
        return err_new(c->arena, ERR_UNAVAILABLE, "%s: it is version %d; baton needs 13 or later",
                       c->place->shown, pq->server_version(c->conn) / 10000);
    PGresult *r = pq->exec(c->conn, settings);
    ExecStatusType status = pq->result_status(r);
    err e = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? NULL : result_error(c, r);
    pq->clear(r);
    c->pipelined = !one_by_one && pq->enter_pipeline_mode;
    if (!e && c->pipelined && !pq->enter_pipeline_mode(c->conn))
        return channel_broken(c);
    return e;
}

err channel_open(struct channel *c, const char *settings, bool one_by_one)
{
    /* What the URL says wins over what stands before it. */
    const char *names[] = { "application_name",
                            "connect_timeout",
                            "keepalives_idle",
                            "keepalives_interval",
                            "keepalives_count",
                            "tcp_user_timeout",
                            "dbname",
                            "client_encoding",
                            NULL };
    const char *values[] = { "baton", "5", "5", "5", "3", "15000", c->place->url, "UTF8", NULL };
    const struct libpq *pq = c->place->pq;

    assert(!c->conn);
    c->conn = pq->connectdb_params(names, values, 1);
    err e = NULL;
    if (pq->status(c->conn) == CONNECTION_OK)
        e = configure(c, settings, one_by_one);
    else
        e = err_new(c->arena, ERR_UNAVAILABLE, "%s cannot be reached: " STR_FMT ": %s",
                    c->place->shown, STR_ARG(one_line(c->arena, pq->error_message(c->conn))),
                    connect_advice(pq->error_message(c->conn)));
    if (e && c->conn) {
        pq->finish(c->conn);
        c->conn = NULL;
    }
    return e;
}

void channel_release(struct channel *c)
{
    if (c->conn)
        c->place->pq->finish(c->conn);
    mem_free(c->statements);
    mem_free(c->queue);
}
