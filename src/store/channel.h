/* channel.h: one connection to PostgreSQL, and the statements on their way through it.
 *
 * A statement whose rows nobody waits for is sent and not waited for: its answer is taken with that
 * of the next one whose rows are wanted, so a batch of commands costs a few round trips and not one
 * for each statement. The server skips what follows a failed statement up to the next point of
 * synchronization; there is one wherever answers are collected, so a failure never reaches past
 * what was collected with it. Every such point also starts the server's clock for nodes that stop
 * inside a transaction.
 *
 * Knows statements, rows and errors; transactions are postgres.c's. Private to store/. */
#ifndef STORE_CHANNEL_H
#define STORE_CHANNEL_H

#include "store/database_url.h"
#include "store/sql.h"
#include "store/statements.h"

struct rows {
    size_t most; /* how many are wanted */
    struct row *at;
    size_t count;
};

struct channel {
    const struct database_url *url;
    PGconn *conn;        /* NULL: there is none, or it was lost */
    bool pipelined;      /* else every statement is waited for */
    bool ends;           /* the last error ends a transaction, savepoints and all */
    int wait_ms;         /* how long an answer may take; 0: for ever */
    int64_t trips;       /* how often answers were waited for */
    int64_t changes;     /* rows that statements have changed since somebody set it to 0 */
    struct arena *arena; /* of rows and errors */

    struct statements statements; /* that it has prepared */
    struct pending *queue;        /* what was sent and not yet answered */
    size_t queued, queue_room;
};

/* Connects anew; `settings` is what the session begins with. */
err channel_open(struct channel *c, const char *settings, bool one_by_one);
void channel_release(struct channel *c);

/* Runs a literal. With `rows` they are there when it returns; else it may still be on its way, and
 * its error comes with one of the next calls. */
err channel_run(struct channel *c, const char *text, struct sql_args args, struct rows *rows);

/* Waits for all that is on its way, and gives the first error of it. */
err channel_collect(struct channel *c);

/* Sends what is on its way and then a statement of the same kind as ROLLBACK, waits for nothing,
 * and forgets their errors. */
void channel_dismiss(struct channel *c, const char *text);

/* Waits until the server has sent something; 0: it has not, for so long; -1: it is gone. */
int channel_listen(struct channel *c, int64_t ms);

/* Milliseconds of a clock that only goes forward. */
int64_t channel_clock(void);

#endif
