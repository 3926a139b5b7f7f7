/* postgres_private.h: what these files share, from below to above:
 *
 *   postgres_connect.c   connections, which get their driver from whoever makes one
 *   postgres.c           transactions
 *   postgres_open.c      opening a database, and its tables */
#ifndef STORE_POSTGRES_PRIVATE_H
#define STORE_POSTGRES_PRIVATE_H

#include "store/channel.h"
#include "store/driver.h"

enum { SETTINGS_BYTES = 1024, AWAY_BYTES = 512 };

/* A write of the command that is under way, not yet sent. */
struct held {
    const char *text;
    struct sql_args args;
    struct held *next;
};

struct postgres_store {
    struct store store;
    struct database_url url;
    int64_t mark; /* by which its connections know what one of them has told */
};

struct postgres {
    struct sql sql;
    struct channel channel;
    bool begun, saved; /* as the server sees it: in a transaction, behind a savepoint */
    bool failed;       /* a statement has, and the savepoint was not taken back yet */
    bool holds;        /* a command is under way, whose writes are held */
    struct held *held, **held_end;
    int64_t writer;    /* node_id of the writer's own row */
    int64_t batch;     /* how many commits it has begun */
    int64_t begun_seq; /* the number that the transaction found */
    char settings[SETTINGS_BYTES];

    bool reached; /* once: from then on it is worth a line in the log when it is not */

    /* While the database is away. */
    int64_t retry_at, retry_ms; /* 0: the last connection was made */
    char away[AWAY_BYTES];      /* why the last one was not */
};

static inline struct postgres_store *database_of(struct store *s)
{
    return (struct postgres_store *)s; /* its first member */
}

static inline struct postgres *postgres_of(struct sql *s)
{
    return (struct postgres *)s; /* its first member */
}

/* The connection, with rows and errors going where the caller wants them. */
static inline struct channel *channel_of(struct postgres *q)
{
    q->channel.arena = q->sql.arena;
    return &q->channel;
}

/* ---- postgres_connect.c ---- */

/* A connection to a store; one that migrates waits longer, and for statements of any length. */
err postgres_connect(struct arena *a, struct store *s, const struct driver *driver,
                     enum store_use use, bool migrates, struct postgres **out);
void postgres_disconnect(struct sql *s);

/* Connects when there is no connection, but does not try again and again while there cannot be;
 * or tries at once. */
err postgres_reach(struct postgres *q);
err postgres_reach_now(struct postgres *q);

/* A number that nobody else has, and that is not the first row's. */
int64_t postgres_own_number(void);

/* As the driver's. */
err postgres_listen(struct sql *s);
enum store_news postgres_wait(struct sql *s, int64_t ms, int64_t *seq);

/* ---- postgres.c ---- */

extern const struct driver postgres_driver;

/* Runs a statement; see channel_run. */
err postgres_statement(struct postgres *q, const char *text, struct sql_args args,
                       struct rows *rows);

/* Waits for what was sent. */
err postgres_collect(struct postgres *q);

/* The error of a database that has not the version of this program; `newer` is its kind where that
 * is the older one. */
err postgres_version_check(const struct postgres *q, int64_t version, enum error_kind newer);

/* The row that all of it hangs on is not there. */
err postgres_node_gone(struct postgres *q);

#endif
