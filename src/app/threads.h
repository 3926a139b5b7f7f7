/* threads.h: who performs commands: one writer, two readers, and one who looks after the log.
 *
 * The loop hands commands and tokens in, and gets them back through the server,
 * from these threads. They share nothing but queues and what never changes: each
 * has its own connection, compiled schemas and randomness.
 *
 * writer        takes what is waiting, performs it as one batch, and does the
 *               server's own work (system.tick) when it is due
 * readers       operations that only read, and tokens
 * checkpointer  moves what is committed from the database's log into its file
 * follower      instead of it, where nodes share the store: brings what others commit */
#ifndef APP_THREADS_H
#define APP_THREADS_H

#include "app/clock.h"
#include "app/config.h"
#include "app/data.h"
#include "ops/perform.h"

struct threads;

struct threads_options {
    struct store *store;
    const struct op_table *table;
    struct clock *clock;
    bool shared; /* the store is, with other nodes */
    const struct data *data;
    const struct config *config;
};

/* Connects; nothing runs yet. */
err threads_new(struct arena *a, const struct threads_options *options, struct threads **out);

/* The writer's engine, for what is done before the threads run. */
struct engine *threads_engine(struct threads *t);

/* Lets them run, and answer to the server, which others reach at `url`. */
err threads_start(struct threads *t, struct arena *a, struct server *server, str url);

/* Performs all that was submitted, moves the log a last time, and ends them. */
void threads_stop(struct threads *t);
void threads_free(struct threads *t);

/* For the server's options; `threads` is a struct threads. On the loop's thread alone. */
bool threads_submit(void *threads, struct command *list);
void threads_admit(void *threads, struct admission *a);
void threads_metrics(void *threads, struct buf *out);
const char *threads_unready(void *threads);

#endif
