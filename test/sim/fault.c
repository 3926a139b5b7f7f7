/* fault.c: a connection that fails on purpose, around one that works. */
#include "sim/fault.h"

#include <assert.h>
#include <stdlib.h>

#include "store/driver.h"

struct faulty {
    struct sql sql;
    struct sql *inner;
    struct fault *plan;
};

static struct faulty *faulty_of(struct sql *s)
{
    return (struct faulty *)s; /* its first member */
}

/* The inner connection as the outer one is now. */
static struct sql *inner_of(struct faulty *f)
{
    f->inner->arena = f->sql.arena;
    return f->inner;
}

static err settled(struct faulty *f, err e)
{
    f->sql.dead = f->inner->dead;
    return e;
}

/* Counts a call and gives its error when it is the one that is to fail. */
static err strike(struct faulty *f)
{
    struct fault *plan = f->plan;
    bool hit = ++plan->calls == plan->nth;

    if (!hit || (plan->kind != FAULT_CALL && plan->kind != FAULT_DEATH))
        return NULL;
    plan->fired = true;
    if (plan->kind == FAULT_CALL)
        return err_new(f->sql.arena, ERR_UNAVAILABLE, "a fault was injected into call %llu",
                       (unsigned long long)plan->calls);
    f->inner->driver->rollback(f->inner);
    f->sql.dead = f->inner->dead = true;
    return err_new(f->sql.arena, ERR_FULL, "a full disk was injected into call %llu",
                   (unsigned long long)plan->calls);
}

static err faulty_run(struct sql *s, const char *text, struct sql_args args, size_t most,
                      const struct row **rows, size_t *count)
{
    struct faulty *f = faulty_of(s);
    struct sql *inner = inner_of(f);

    TRY(strike(f));
    return settled(f, inner->driver->run(inner, text, args, most, rows, count));
}

static err faulty_begin(struct sql *s, struct store_node *node)
{
    struct faulty *f = faulty_of(s);
    struct sql *inner = inner_of(f);

    inner->dead = false;
    TRY(strike(f));
    return settled(f, inner->driver->begin(inner, node));
}

static err faulty_mark(struct sql *s, bool cheap)
{
    struct faulty *f = faulty_of(s);
    struct sql *inner = inner_of(f);

    TRY(strike(f));
    return settled(f, inner->driver->mark(inner, cheap));
}

static err faulty_keep(struct sql *s)
{
    struct faulty *f = faulty_of(s);
    struct sql *inner = inner_of(f);

    TRY(strike(f));
    return settled(f, inner->driver->keep(inner));
}

/* Taking back is never made to fail alone: it is what a failure leads to. */
static err faulty_undo(struct sql *s)
{
    struct faulty *f = faulty_of(s);
    struct sql *inner = inner_of(f);

    return settled(f, inner->driver->undo(inner));
}

static enum store_outcome faulty_commit(struct sql *s, const struct store_node *node, err *why)
{
    struct faulty *f = faulty_of(s);
    struct sql *inner = inner_of(f);
    struct fault *plan = f->plan;
    bool hit = ++plan->commits == plan->nth;

    if (hit && plan->kind == FAULT_COMMIT) {
        plan->fired = true;
        inner->driver->rollback(inner);
        *why = err_new(s->arena, ERR_UNAVAILABLE, "a commit was made to fail");
        return STORE_ROLLED_BACK;
    }
    enum store_outcome outcome = inner->driver->commit(inner, node, why);
    s->log_bytes = inner->log_bytes;
    if (hit && plan->kind == FAULT_LOST && outcome == STORE_COMMITTED) {
        plan->fired = true;
        *why = err_new(s->arena, ERR_UNAVAILABLE, "the answer to a commit was lost");
        return STORE_UNKNOWN;
    }
    return outcome;
}

static void faulty_rollback(struct sql *s)
{
    struct faulty *f = faulty_of(s);
    f->inner->driver->rollback(f->inner);
}

static err faulty_checkpoint(struct sql *s)
{
    struct sql *inner = inner_of(faulty_of(s));
    return inner->driver->checkpoint(inner);
}

static err faulty_restart_log(struct sql *s)
{
    struct sql *inner = inner_of(faulty_of(s));
    return inner->driver->restart_log(inner);
}

static err faulty_listen(struct sql *s)
{
    struct sql *inner = inner_of(faulty_of(s));
    return store_listen(inner, inner->arena);
}

static enum store_news faulty_wait(struct sql *s, int64_t ms, int64_t *seq)
{
    return store_wait(faulty_of(s)->inner, ms, seq);
}

static void faulty_disconnect(struct sql *s)
{
    struct faulty *f = faulty_of(s);
    f->inner->driver->disconnect(f->inner);
    free(f);
}

static const struct driver faulty_driver = {
    .run = faulty_run,
    .begin = faulty_begin,
    .mark = faulty_mark,
    .keep = faulty_keep,
    .undo = faulty_undo,
    .commit = faulty_commit,
    .rollback = faulty_rollback,
    .checkpoint = faulty_checkpoint,
    .restart_log = faulty_restart_log,
    .disconnect = faulty_disconnect,
    .listen = faulty_listen,
    .wait = faulty_wait,
};

struct sql *fault_around(struct sql *inner, struct fault *plan)
{
    struct faulty *f = mem_alloc(sizeof *f);

    assert(!inner->open);
    *f = (struct faulty){
        .sql = { .driver = &faulty_driver, .store = inner->store, .use = inner->use },
        .inner = inner,
        .plan = plan,
    };
    return &f->sql;
}
