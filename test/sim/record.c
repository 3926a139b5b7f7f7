/* record.c: a connection that remembers every statement and what came back. */
#include "sim/record.h"

#include "check.h"
#include "store/driver.h"

struct recorder {
    struct sql sql;
    struct sql *inner;
    struct recording *to;
};

static struct recorder *recorder_of(struct sql *s)
{
    return (struct recorder *)s; /* its first member */
}

/* The inner connection as the outer one is now. */
static struct sql *inner_of(struct recorder *r)
{
    r->inner->arena = r->sql.arena;
    return r->inner;
}

static err settled(struct recorder *r, err e)
{
    r->sql.dead = r->inner->dead;
    CHECK_OK(e);
    return e;
}

/* ---- what is kept ---- */

static struct record *record_add(struct recording *to, enum record_kind kind)
{
    struct record *r = ARENA_NEW(to->arena, struct record);

    r->kind = kind;
    if (to->last)
        to->last->next = r;
    else
        to->first = r;
    to->last = r;
    to->count++;
    return r;
}

static const struct sql_value *values_copy(struct arena *a, const struct sql_value *values,
                                           size_t count)
{
    struct sql_value *copies = ARENA_ARRAY(a, struct sql_value, count);

    for (size_t i = 0; i < count; i++) {
        copies[i] = values[i];
        copies[i].bytes = arena_copy(a, values[i].bytes.at ? values[i].bytes : STR(""));
    }
    return copies;
}

static const struct row *rows_copy(struct arena *a, const struct row *rows, size_t count)
{
    struct row *copies = ARENA_ARRAY(a, struct row, count);

    for (size_t i = 0; i < count; i++)
        copies[i] = (struct row){ values_copy(a, rows[i].values, rows[i].count), rows[i].count };
    return copies;
}

/* ---- the driver ---- */

static err recorder_run(struct sql *s, const char *text, struct sql_args args, size_t most,
                        const struct row **rows, size_t *count)
{
    struct recorder *r = recorder_of(s);
    struct sql *inner = inner_of(r);

    TRY(settled(r, inner->driver->run(inner, text, args, most, rows, count)));
    struct record *kept = record_add(r->to, RECORD_RUN);
    struct arena *a = r->to->arena;
    kept->text = text;
    kept->args = (struct sql_args){ values_copy(a, args.values, args.count), args.count };
    kept->count = rows ? *count : 0;
    kept->rows = rows_copy(a, rows ? *rows : NULL, kept->count);
    kept->whole = most > kept->count;
    return NULL;
}

static err recorder_begin(struct sql *s, struct store_node *node)
{
    struct recorder *r = recorder_of(s);
    struct sql *inner = inner_of(r);

    inner->dead = false;
    record_add(r->to, RECORD_BEGIN);
    return settled(r, inner->driver->begin(inner, node));
}

static err recorder_mark(struct sql *s, bool cheap)
{
    struct recorder *r = recorder_of(s);
    struct sql *inner = inner_of(r);

    record_add(r->to, RECORD_MARK);
    return settled(r, inner->driver->mark(inner, cheap));
}

static err recorder_keep(struct sql *s)
{
    struct recorder *r = recorder_of(s);
    struct sql *inner = inner_of(r);

    record_add(r->to, RECORD_KEEP);
    return settled(r, inner->driver->keep(inner));
}

static err recorder_undo(struct sql *s)
{
    struct recorder *r = recorder_of(s);
    struct sql *inner = inner_of(r);

    record_add(r->to, RECORD_UNDO);
    return settled(r, inner->driver->undo(inner));
}

static enum store_outcome recorder_commit(struct sql *s, const struct store_node *node, err *why)
{
    struct recorder *r = recorder_of(s);
    struct sql *inner = inner_of(r);

    record_add(r->to, RECORD_COMMIT);
    enum store_outcome outcome = inner->driver->commit(inner, node, why);
    CHECK_INT(outcome, STORE_COMMITTED);
    return outcome;
}

static void recorder_rollback(struct sql *s)
{
    struct recorder *r = recorder_of(s);

    record_add(r->to, RECORD_ROLLBACK);
    r->inner->driver->rollback(r->inner);
}

static err recorder_checkpoint(struct sql *s)
{
    struct sql *inner = inner_of(recorder_of(s));
    return inner->driver->checkpoint(inner);
}

static err recorder_restart_log(struct sql *s)
{
    struct sql *inner = inner_of(recorder_of(s));
    return inner->driver->restart_log(inner);
}

/* What others commit is no statement of ours. */
static err recorder_listen(struct sql *s)
{
    struct sql *inner = inner_of(recorder_of(s));
    return store_listen(inner, inner->arena);
}

static enum store_news recorder_wait(struct sql *s, int64_t ms, int64_t *seq)
{
    return store_wait(recorder_of(s)->inner, ms, seq);
}

static void recorder_disconnect(struct sql *s)
{
    struct recorder *r = recorder_of(s);

    r->inner->driver->disconnect(r->inner);
    mem_free(r);
}

static const struct driver recorder_driver = {
    .run = recorder_run,
    .begin = recorder_begin,
    .mark = recorder_mark,
    .keep = recorder_keep,
    .undo = recorder_undo,
    .commit = recorder_commit,
    .rollback = recorder_rollback,
    .checkpoint = recorder_checkpoint,
    .restart_log = recorder_restart_log,
    .disconnect = recorder_disconnect,
    .listen = recorder_listen,
    .wait = recorder_wait,
};

struct sql *record_around(struct sql *inner, struct recording *r)
{
    struct recorder *s = mem_alloc(sizeof *s);

    CHECK(!inner->open);
    *s = (struct recorder){
        .sql = { .driver = &recorder_driver, .store = inner->store, .use = inner->use },
        .inner = inner,
        .to = r,
    };
    return &s->sql;
}
