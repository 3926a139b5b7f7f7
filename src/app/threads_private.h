/* threads_private.h: threads as their files see them. Private to these, which are, from below to
 * above:
 *
 *   fault.c     what is noted of an error that is our fault
 *   writer.c    the one thread that changes the database
 *   threads.c   all of them: who performs commands */
#ifndef APP_THREADS_PRIVATE_H
#define APP_THREADS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "app/follow.h"
#include "app/threads.h"
#include "base/queue.h"
#include "base/fair_queue.h"

enum {
    EXIT_THREAD = 70,
    READERS = 2,
    THREADS = READERS + 2,
    QUEUE_ROOM = 8192,
};

/* A thread without which the server is none: when it ends before it is to, the process does. */
struct thread {
    const char *name;
    void *(*run)(void *self);
    void *self;
    const atomic_bool *ending; /* it is to */
    pthread_t id;
};

err thread_start(struct arena *a, struct thread *t);

/* What a thread needs to perform commands. */
struct worker {
    struct threads *threads;
    struct engine engine;
    struct chance chance;
    struct tx_source source;
};

/* One of these. */
struct job {
    struct command **commands; /* that are read together */
    size_t count;
    struct admission *admission;
    struct command *write; /* that is prepared, and then the writer's */
};

struct threads {
    struct threads_options options;
    struct server *server;
    str url;                   /* of the server */
    atomic_llong nodes;        /* that share the database, as of the last beat */
    struct fair_queue *writes; /* of struct command *, a tenant for each token */
    struct fair_queue *reads;  /* of struct job *, likewise */
    struct queue *calls; /* for the checkpointer: a byte means that there is something to do. The
                           * follower gets none, and ends with it */
    struct fair_item write_list[QUEUE_ROOM],
        read_list[QUEUE_ROOM]; /* the loop's, while it hands in */
    struct worker writer, readers[READERS];
    struct sql *checkpoints; /* one of both */
    struct follow *follow;
    struct thread all[THREADS];
    int running;
    atomic_bool ending;

    /* For /metrics: one thread counts, another looks. */
    atomic_llong batch_count, command_count, batch_us, log_bytes, checkpoint_count, restart_count;
    atomic_llong again_count, trip_count, damage_count;
    atomic_llong store_full; /* whether the last write met a full disk */
};

#define COUNT(counter, n) atomic_fetch_add_explicit(&(counter), (n), memory_order_relaxed)
#define SHOW(counter, n) atomic_store_explicit(&(counter), (n), memory_order_relaxed)
#define LOOK(counter) atomic_load_explicit(&(counter), memory_order_relaxed)

/* A command as it waits for the writer: those of one token take turns with those of others. */
static inline struct fair_item fair_item_of(struct command *c)
{
    return (struct fair_item){ c, actor_token(c->actor) };
}

/* ---- fault.c ---- */

/* Of what was done: what went wrong by our fault, or by damage of the store, is in the log; damage is
 * counted. */
void fault_note(struct threads *t, const char *what, err e);

/* ---- writer.c ---- */

/* The writer's thread, of a struct threads. */
void *writer_run(void *threads);

#endif
