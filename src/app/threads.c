/* threads.c: who performs commands. What the writer does between them is in writer.c. */
#define _GNU_SOURCE /* names of threads */
#include "app/threads.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/threads_private.h"
#include "base/cache.h"
#include "base/log.h"

enum {
    COMPILED_KEPT = 320,
    READ_TOGETHER = 12,
    TOKEN_READS_MAX = QUEUE_ROOM / 2, /* of one token, that wait for a reader */
};

/* ---- engines ---- */

static err worker_init(struct arena *a, const struct threads_options *o, enum store_use use,
                       struct worker *w)
{
    w->source = chance_source(&w->chance);
    w->engine = (struct engine){
        .table = o->table,
        .retention = &o->config->retention,
        .team = &o->config->team,
        .answer_max = o->config->limits.answer_max,
        .source = &w->source,
        .now_ms = clock_now_ms,
        .clock = o->clock,
    };
    TRY(store_connect(a, o->store, use, &w->engine.sql));
    w->engine.compiled = cache_new(COMPILED_KEPT);
    return NULL;
}

static void worker_release(struct worker *w)
{
    if (!w->engine.sql)
        return;
    store_disconnect(w->engine.sql);
    cache_free(w->engine.compiled);
}

err threads_new(struct arena *a, const struct threads_options *options, struct threads **out)
{
    struct threads *t = mem_alloc(sizeof *t);
    memset(t, 0, sizeof *t);
    t->options = *options;
    t->writes = fair_queue_new(QUEUE_ROOM, TOKEN_WRITES_MAX);
    t->reads = fair_queue_new(QUEUE_ROOM, TOKEN_READS_MAX);
    t->calls = queue_new(1, 1);

    err e = worker_init(a, options, STORE_WRITES, &t->writer);
    for (int i = 0; i < READERS && !e; i++)
        e = worker_init(a, options, STORE_READS, &t->readers[i]);
    if (!e)
        e = options->shared ? follow_new(a, options->store, &t->follow)
                            : store_connect(a, options->store, STORE_READS, &t->checkpoints);
    if (e)
        threads_free(t);
    else
        *out = t;
    return e;
}

void threads_free(struct threads *t)
{
    assert(t->running == 0);
    if (t->follow)
        follow_free(t->follow);
    store_disconnect(t->checkpoints);
    for (int i = 0; i < READERS; i++)
        worker_release(&t->readers[i]);
    worker_release(&t->writer);
    fair_queue_free(t->writes);
    fair_queue_free(t->reads);
    queue_free(t->calls);
    mem_free(t);
}

struct engine *threads_engine(struct threads *t)
{
    assert(t->running == 0);
    return &t->writer.engine;
}

/* ---- handing in ---- */

/* Reads of one document: with a database server they wait more than they work, so some wait
 * together. */
static bool is_quick(const struct threads *t, const struct command *c)
{
    return t->options.shared && c->op->peek && c->input->len == 1;
}

/* Its tenant is the token that it is for: one whose reads take long, or are many, makes
 * others wait for one of them. */
static struct fair_item job_new(struct command *c, bool write)
{
    struct job *job = ARENA_NEW(c->arena, struct job);

    if (write) {
        job->write = c;
    } else {
        job->commands = ARENA_ARRAY(c->arena, struct command *, READ_TOGETHER);
        job->commands[job->count++] = c;
    }
    return (struct fair_item){ job, actor_token(c->actor) };
}

static void all_give(struct command *list)
{
    for (struct command *c = list; c; c = c->follows)
        arena_give(c->arena);
}

/* For which there was no room. */
static void refuse(struct threads *t, struct command *c, const char *what, int most)
{
    arena_take(c->arena);
    c->error = err_new(c->arena, ERR_UNAVAILABLE,
                       "too many %s are waiting, of which one token may have %d: wait for their "
                       "answers, then try again",
                       what, most);
    c->follows = NULL;
    server_performed(t->server, c);
}

/* To the writer, with their arenas, which were given away. A token that has much waiting there is
 * refused by itself, and others are not. */
static void write_all(struct threads *t, struct fair_item *list, size_t count)
{
    size_t refused = count ? fair_queue_put(t->writes, list, count) : 0;

    for (size_t i = 0; i < refused; i++)
        refuse(t, list[i].value, "writes", TOKEN_WRITES_MAX);
}

/* To the readers, likewise. */
static void read_all(struct threads *t, struct fair_item *list, size_t count)
{
    size_t refused = count ? fair_queue_put(t->reads, list, count) : 0;

    for (size_t i = 0; i < refused; i++) {
        const struct job *job = list[i].value;
        if (job->write)
            refuse(t, job->write, "writes", TOKEN_READS_MAX);
        for (size_t k = 0; k < job->count; k++)
            refuse(t, job->commands[k], "reads", TOKEN_READS_MAX);
    }
}

/* What one turn of the loop has gathered goes in at once, or the writer would wake up for the first
 * and commit it alone. */
bool threads_submit(void *threads, struct command *list)
{
    struct threads *t = threads;
    size_t writes = 0, reads = 0;
    struct job *quick = NULL;

    for (struct command *c = list; c; c = c->follows) {
        if (writes == QUEUE_ROOM || reads == QUEUE_ROOM)
            return false;
        if (c->op->effect == OP_WRITES && op_wants_preparing(c)) {
            t->read_list[reads++] = job_new(c, true);
        } else if (c->op->effect == OP_WRITES) {
            t->write_list[writes++] = fair_item_of(c);
        } else if (quick && is_quick(t, c)) {
            quick->commands[quick->count++] = c;
            if (quick->count == READ_TOGETHER)
                quick = NULL;
        } else {
            t->read_list[reads] = job_new(c, false);
            quick = is_quick(t, c) ? t->read_list[reads].value : NULL;
            reads++;
        }
    }
    all_give(list);
    read_all(t, t->read_list, reads);
    write_all(t, t->write_list, writes);
    return true;
}

/* All tokens that nobody knows yet are one tenant. */
void threads_admit(void *threads, struct admission *a)
{
    struct threads *t = threads;
    struct job *job = ARENA_NEW(a->arena, struct job);
    struct fair_item turn = { job, STR("") };

    job->admission = a;
    arena_give(a->arena);
    if (!fair_queue_put(t->reads, &turn, 1))
        return;
    arena_take(a->arena);
    a->error = err_new(a->arena, ERR_UNAVAILABLE,
                       "too many requests are waiting to be let in: try again in a second");
    server_admitted(t->server, a);
}

/* ---- the readers ---- */

static void job_do(struct threads *t, struct engine *e, const struct job *job)
{
    if (job->admission) {
        struct admission *a = job->admission;
        arena_take(a->arena);
        a->follows = NULL;
        a->error = op_admit(e, a->arena, a->token, &a->grant);
        fault_note(t, "admission", a->error);
        server_admitted(t->server, a);
        return;
    }
    if (job->write) {
        struct fair_item turn = fair_item_of(job->write);
        arena_take(job->write->arena);
        job->write->follows = NULL;
        if (op_prepare(e->table, job->write)) {
            arena_give(job->write->arena);
            write_all(t, &turn, 1);
        } else {
            server_performed(t->server, job->write);
        }
        return;
    }
    for (size_t i = 0; i < job->count; i++)
        arena_take(job->commands[i]->arena);
    op_read_all(e, job->commands, job->count);
    for (size_t i = 0; i < job->count; i++) {
        fault_note(t, job->commands[i]->op->name, job->commands[i]->error);
        job->commands[i]->follows = i + 1 < job->count ? job->commands[i + 1] : NULL;
    }
    server_performed(t->server, job->commands[0]);
}

/* One at a time: a long read must hold up nobody while the other reader is idle. */
static void *reader_run(void *self)
{
    struct worker *w = self;
    struct threads *t = w->threads;
    struct fair_item next;
    char tenant[128]; /* whose name is gone with what was done */

    while (fair_queue_take(t->reads, &next, 1, -1, NULL)) {
        server_keep_up(t->server); /* what is read and not sent yet is in no budget */
        int64_t began = clock_steady_us();
        snprintf(tenant, sizeof tenant, STR_FMT, STR_ARG(next.tenant));
        job_do(t, &w->engine, next.value);
        fair_queue_took(t->reads, str_from(tenant), clock_steady_us() - began);
    }
    return NULL;
}

/* ---- the checkpointer ---- */

static void checkpoint(struct threads *t, struct arena *a)
{
    err e = store_checkpoint(t->checkpoints, a);

    if (e)
        log_warn("checkpoint", LOG_S("error", e->message));
    else
        COUNT(t->checkpoint_count, 1);
    arena_reset(a);
}

/* Once at the start, for what a crash has left in the log; then when it is called. */
static void *checkpointer_run(void *self)
{
    struct threads *t = self;
    struct arena *a = arena_new();
    char call;

    do
        checkpoint(t, a);
    while (queue_take(t->calls, &call, 1, -1));
    checkpoint(t, a);
    arena_free(a);
    return NULL;
}

static void *follower_run(void *self)
{
    struct threads *t = self;

    follow_run(t->follow, t->server, t->calls);
    return NULL;
}

/* ---- starting and ending ---- */

/* A server without one of its threads would take requests that nobody answers. */
static void *thread_run(void *self)
{
    const struct thread *t = self;

    t->run(t->self);
    if (!atomic_load(t->ending)) {
        log_error("thread.ended", LOG_S("name", str_from(t->name)),
                  LOG_S("do", STR("start the server again, and report this: it is a mistake of "
                                  "baton")));
        _exit(EXIT_THREAD);
    }
    return NULL;
}

err thread_start(struct arena *a, struct thread *t)
{
    int code = pthread_create(&t->id, NULL, thread_run, t);

    if (code)
        return err_new(a, ERR_UNAVAILABLE, "cannot start the thread '%s': %s", t->name,
                       strerror(code));
    pthread_setname_np(t->id, t->name);
    return NULL;
}

static err start(struct threads *t, struct arena *a, const char *name, void *(*run)(void *),
                 void *self)
{
    struct thread *thread = &t->all[t->running];

    *thread = (struct thread){ .name = name, .run = run, .self = self, .ending = &t->ending };
    TRY(thread_start(a, thread));
    t->running++;
    return NULL;
}

err threads_start(struct threads *t, struct arena *a, struct server *server, str url)
{
    t->server = server;
    t->url = url;
    err e = t->follow ? start(t, a, "follower", follower_run, t)
                      : start(t, a, "checkpointer", checkpointer_run, t);
    for (int i = 0; i < READERS && !e; i++) {
        t->readers[i].threads = t;
        e = start(t, a, "reader", reader_run, &t->readers[i]);
    }
    if (!e)
        e = start(t, a, "writer", writer_run, t);
    if (e)
        threads_stop(t);
    return e;
}

/* The last to start ends first: the checkpointer moves what the writer has left, the follower brings
 * what it waits for. */
void threads_stop(struct threads *t)
{
    atomic_store(&t->ending, true);
    if (t->server) /* else no thread was started */
        server_loop_ended(t->server);
    fair_queue_close(t->writes);
    fair_queue_close(t->reads);
    while (t->running > 1)
        pthread_join(t->all[--t->running].id, NULL);
    queue_close(t->calls);
    if (t->running)
        pthread_join(t->all[--t->running].id, NULL);
}

/* ---- what is told of it ---- */

static void metric(struct buf *out, const char *name, const char *type, const char *help, double n)
{
    buf_printf(out, "# HELP baton_%s %s\n# TYPE baton_%s %s\nbaton_%s %.15g\n", name, help, name,
               type, name, n);
}

void threads_metrics(void *threads, struct buf *out)
{
    struct threads *t = threads;

    metric(out, "batches_total", "counter", "Batches of commands that were performed.",
           (double)LOOK(t->batch_count));
    metric(out, "batch_commands_total", "counter", "Commands in them.",
           (double)LOOK(t->command_count));
    metric(out, "batch_seconds_total", "counter", "Time that they took, commits included.",
           (double)LOOK(t->batch_us) / 1e6);
    metric(out, "batches_again_total", "counter",
           "Batches that were taken back, and whose commands ran again one by one.",
           (double)LOOK(t->again_count));
    metric(out, "store_trips_total", "counter",
           "Times that the writer has waited for an answer of the database server.",
           (double)LOOK(t->trip_count));
    metric(out, "damage_total", "counter",
           "Commands that failed because what is stored is damaged; each is in the log.",
           (double)LOOK(t->damage_count));
    if (t->options.shared)
        metric(out, "nodes", "gauge", "Servers that share the database and are alive.",
               (double)LOOK(t->nodes));
    metric(out, "writes_waiting", "gauge", "Commands that wait for the writer.",
           (double)fair_queue_length(t->writes));
    metric(out, "reads_waiting", "gauge", "Commands and tokens that wait for a reader.",
           (double)fair_queue_length(t->reads));
    metric(out, "wal_bytes", "gauge", "Length of the database's log.", (double)LOOK(t->log_bytes));
    metric(out, "checkpoints_total", "counter", "Times that the log was moved into the file.",
           (double)LOOK(t->checkpoint_count));
    metric(out, "wal_restarts_total", "counter", "Times that the writer began the log anew.",
           (double)LOOK(t->restart_count));
}

const char *threads_unready(void *threads)
{
    struct threads *t = threads;
    const struct config *config = t->options.config;

    if (LOOK(t->store_full))
        return "the database has no space left: writes are refused";
    if (t->follow)
        return follow_lost_ms(t->follow) > config->lost_ms ? "the database cannot be reached"
                                                           : NULL;
    bool full = data_free_bytes(t->options.data) < config->disk_free_min;

    return full ? "the disk is full: writes are refused" : NULL;
}
