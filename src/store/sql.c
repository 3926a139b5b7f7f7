/* sql.c: the part of the store that is the same for every database. */
#include <assert.h>
#include <poll.h>

#include "store/driver.h"

static const struct sql_value *column_of(const struct row *r, size_t column)
{
    assert(column < r->count);
    return &r->values[column];
}

int64_t row_int(const struct row *r, size_t column)
{
    const struct sql_value *v = column_of(r, column);
    assert(v->kind == SQL_INT || v->kind == SQL_NULL);
    return v->number;
}

str row_str(const struct row *r, size_t column)
{
    const struct sql_value *v = column_of(r, column);
    assert(v->kind != SQL_INT);
    return v->bytes.at ? v->bytes : STR("");
}

bool row_null(const struct row *r, size_t column)
{
    return column_of(r, column)->kind == SQL_NULL;
}

/* What a database says names its host, its user and its tables: that is for the log. */
static err hide(struct sql *s, err e)
{
    return e ? err_hide(s->arena, e) : NULL;
}

/* A statement after the transaction has died would run outside of any. */
static err run(struct sql *s, const char *text, struct sql_args args, size_t most,
               const struct row **rows, size_t *count)
{
    assert(s->open);
    if (s->dead)
        return err_new(s->arena, ERR_UNAVAILABLE, "the transaction has ended; try again");
    return hide(s, s->driver->run(s, text, args, most, rows, count));
}

err sql_exec_(struct sql *s, const char *text, struct sql_args args)
{
    return run(s, text, args, 0, NULL, NULL);
}

err sql_one_(struct sql *s, const struct row **row, const char *text, struct sql_args args)
{
    size_t count;

    *row = NULL;
    TRY(run(s, text, args, 1, row, &count));
    if (count == 0)
        *row = NULL;
    return NULL;
}

err sql_all_(struct sql *s, const struct row **rows, size_t *count, const char *text,
             struct sql_args args)
{
    *count = 0;
    return run(s, text, args, SIZE_MAX, rows, count);
}

void sql_arena(struct sql *s, struct arena *a)
{
    s->arena = a;
}

err store_begin(struct sql *s, struct arena *a, struct store_node *node)
{
    assert(!s->open && (node || s->use == STORE_READS));
    s->arena = a;
    s->dead = s->marked = false;
    TRY(hide(s, s->driver->begin(s, node)));
    s->open = true;
    return NULL;
}

static err mark(struct sql *s, bool cheap)
{
    assert(s->open && !s->marked && !s->dead);
    TRY(hide(s, s->driver->mark(s, cheap)));
    s->marked = true;
    return NULL;
}

err store_mark(struct sql *s)
{
    return mark(s, false);
}

err store_mark_cheap(struct sql *s)
{
    return mark(s, true);
}

/* What cannot be taken back alone takes everything with it. */
static void take_back(struct sql *s)
{
    if (s->dead || !s->driver->undo(s))
        return;
    s->driver->rollback(s);
    s->dead = true;
}

err store_keep(struct sql *s)
{
    assert(s->marked && !s->dead);
    s->marked = false;
    err e = hide(s, s->driver->keep(s));
    if (e)
        take_back(s);
    return e;
}

void store_undo(struct sql *s)
{
    assert(s->marked);
    s->marked = false;
    take_back(s);
#ifdef PLANT_SAVEPOINT_AFTER_DEATH
    s->dead = false;
#endif
}

enum store_outcome store_commit(struct sql *s, const struct store_node *node, err *why)
{
    assert(s->open && !s->marked && !s->dead);
    enum store_outcome outcome = s->driver->commit(s, node, why);
    *why = outcome == STORE_COMMITTED ? *why : hide(s, *why);
    s->open = false;
    return outcome;
}

void store_rollback(struct sql *s)
{
    assert(s->open);
    s->driver->rollback(s);
    s->open = s->marked = s->dead = false;
}

bool store_dead(const struct sql *s)
{
    return s->dead;
}

err store_checkpoint(struct sql *s, struct arena *a)
{
    assert(!s->open);
    s->arena = a;
    return s->driver->checkpoint(s);
}

err store_restart_log(struct sql *s, struct arena *a)
{
    assert(!s->open && s->use == STORE_WRITES);
    s->arena = a;
    return s->driver->restart_log(s);
}

int64_t store_log_bytes(const struct sql *s)
{
    return s->log_bytes;
}

int64_t store_trips(const struct sql *s)
{
    return s->trips;
}

err store_listen(struct sql *s, struct arena *a)
{
    assert(!s->open && s->use == STORE_READS);
    s->arena = a;
    return s->driver->listen ? s->driver->listen(s) : NULL;
}

enum store_news store_wait(struct sql *s, int64_t ms, int64_t *seq)
{
    assert(!s->open && ms >= 0);
    if (s->driver->wait)
        return s->driver->wait(s, ms, seq);
    poll(NULL, 0, ms < INT32_MAX ? (int)ms : INT32_MAX);
    return STORE_QUIET;
}

void store_disconnect(struct sql *s)
{
    if (s)
        s->driver->disconnect(s);
}
