/* channel_open.c: how a connection to PostgreSQL is made, what an error of the server means for it,
 * and how it ends. Does not know what travels through it. */
#include <assert.h>

#include "store/channel_private.h"

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
    c->url->pq->finish(c->conn);
    c->conn = NULL;
    c->ends = true;
    c->queued = 0;
    statements_release(&c->statements); /* the server has forgotten them too */
}

err channel_lost(struct channel *c, str message)
{
    channel_leave(c);
    return err_new(c->arena, ERR_UNAVAILABLE, "%s: the connection was lost: " STR_FMT "; try again",
                   c->url->redacted, STR_ARG(message));
}

err channel_broken(struct channel *c)
{
    return channel_lost(c, one_line(c->arena, c->url->pq->error_message(c->conn)));
}

#define DAMAGED "the database is damaged; restore a backup"

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
    { "XX00", ERR_INTERNAL, ENDS, DAMAGED },
};

err channel_refused(struct channel *c, const PGresult *r)
{
    const struct libpq *pq = c->url->pq;
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
        err e = err_new(c->arena, t->kind, "%s: " STR_FMT ": %s", c->url->redacted,
                        STR_ARG(message), t->advice);
        return strcmp(t->advice, DAMAGED) == 0 ? err_damage(c->arena, STR_FMT, STR_ARG(e->message))
                                               : e;
    }
    return err_new(c->arena, ERR_INTERNAL, "%s: " STR_FMT " (%s)", c->url->redacted,
                   STR_ARG(message), state);
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
    const struct libpq *pq = c->url->pq;

    pq->set_notice_receiver(c->conn, notice_ignore, NULL);
    if (pq->server_version(c->conn) < 130000)
        return err_new(c->arena, ERR_UNAVAILABLE, "%s: it is version %d; baton needs 13 or later",
                       c->url->redacted, pq->server_version(c->conn) / 10000);
    PGresult *r = pq->exec(c->conn, settings);
    ExecStatusType status = pq->result_status(r);
    err e = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? NULL : channel_refused(c, r);
    pq->clear(r);
    c->pipelined = !one_by_one && pq->enter_pipeline_mode;
    if (!e && c->pipelined && !pq->enter_pipeline_mode(c->conn))
        return channel_broken(c);
    return e;
}

err channel_open(struct channel *c, const char *settings, bool one_by_one)
{
    /* What the URL says wins over what stands before it. */
    const char *names[] = { "application_name", "connect_timeout",
                            "keepalives_idle",  "keepalives_interval",
                            "keepalives_count", "tcp_user_timeout",
                            "password",         "dbname",
                            "client_encoding",  NULL };
    const char *values[] = { "baton",          "5",         "5",    "5", "3", "15000",
                             c->url->password, c->url->url, "UTF8", NULL };
    const struct libpq *pq = c->url->pq;

    assert(!c->conn);
    c->conn = pq->connectdb_params(names, values, 1);
    err e = NULL;
    if (pq->status(c->conn) == CONNECTION_OK)
        e = configure(c, settings, one_by_one);
    else
        e = err_new(c->arena, ERR_UNAVAILABLE, "%s cannot be reached: " STR_FMT ": %s",
                    c->url->redacted, STR_ARG(one_line(c->arena, pq->error_message(c->conn))),
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
        c->url->pq->finish(c->conn);
    statements_release(&c->statements);
    mem_free(c->queue);
}
