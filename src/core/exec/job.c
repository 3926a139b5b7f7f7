/* job.c: jobs: marks in a queue of their type, and the workers that have them. */
#include "core/exec/job.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/exec/private.h"
#include "core/stored.h"
#include "core/token.h"

enum { JOB_LOOKS = 4 }; /* how many times as many as are asked for are looked at */

/* ---- ids ---- */

static str job_id(struct tx *tx, const struct mark *m)
{
    return arena_printf(tx->arena, "job_%lld_%lld_%lld_%lld", (long long)m->no, (long long)m->scope,
                        (long long)m->n, (long long)m->fence);
}

struct job_name {
    int64_t no, scope, n, fence;
};

static err job_name_read(struct tx *tx, str id, struct job_name *out)
{
    int64_t all[4];
    str rest = str_starts(id, STR("job_")) ? str_slice(id, 4, id.len) : STR(""), part;
    bool good = rest.len > 0;

    for (int i = 0; i < 4 && good; i++) {
        str whole = rest;
        bool more = str_cut(whole, '_', &part, &rest);
        good = more == (i < 3) && str_to_int(more ? part : whole, &all[i]) && all[i] >= 0;
    }
    if (!good)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no job " STR_FMT ": expected an id as a claim gives it",
                       STR_ARG(utf8_cut(id, 80)));
    *out = (struct job_name){ all[0], all[1], all[2], all[3] };
    return NULL;
}

/* ---- which types ---- */

/* A type, or all that begin so: "deploy", "deploy.*", "*". */
static bool type_fits(str pattern, str type)
{
    if (str_ends(pattern, STR("*")))
        return str_starts(type, str_slice(pattern, 0, pattern.len - 1));
    return str_eq(pattern, type);
}

static bool claims(const struct job_claim *c, str type)
{
    for (size_t i = 0; i < c->type_count; i++)
        if (type_fits(c->types[i], type))
            return true;
    return false;
}

bool jobs_wake(const struct job_claim *c, const struct event *e)
{
    struct arena *a;
    const struct json *data;
    bool wakes = false;

    if ((e->type != EVENT_EXECUTION_STARTED && e->type != EVENT_EXECUTION_MOVED) ||
        !str_contains(e->data, STR("\"jobs\":[")))
        return false;
    a = arena_new();
    if (!json_parse_own(a, e->data, &data)) {
        const struct json *types = json_get(data, "jobs");
        for (uint32_t i = 0; types && i < types->len && !wakes; i++)
            wakes = claims(c, json_text(&types->items[i]));
    }
    arena_free(a);
    return wakes;
}

/* ---- claiming ---- */

/* The oldest of a type; of types that begin so, one type after the other. What is given out is not in
 * this index any more. */
static err candidates(struct tx *tx, str pattern, int64_t limit, const struct row **rows,
                      size_t *count)
{
    bool many = str_ends(pattern, STR("*"));
    str prefix = many ? str_slice(pattern, 0, pattern.len - 1) : pattern;
    str beyond =
        arena_printf(tx->arena, STR_FMT "~", STR_ARG(prefix)); /* no type has that character */

    if (!many)
        return sql_all(tx->sql, rows, count,
                       "SELECT no, scope, n FROM mark WHERE job_type = $1 AND job_place > 0"
                       " ORDER BY job_place, no, scope, n LIMIT $2",
                       ARGS(TEXT(prefix), INT(limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT no, scope, n FROM mark WHERE job_type >= $1 AND job_type < $2"
                   " AND job_place > 0 ORDER BY job_type, job_place, no, scope, n LIMIT $3",
                   ARGS(TEXT(prefix), TEXT(beyond), INT(limit)));
}

static void job_fill(struct exec *x, const struct mark *m, const struct json *input,
                     struct job *out)
{
    const struct graph_work *work = x->graph->nodes[m->at].work;

    *out = (struct job){
        .id = job_id(x->tx, m),
        .execution_id = x->row.id,
        .workflow = x->row.workflow,
        .step = m->node,
        .type = m->job_type,
        .business_key = x->row.business_key,
        .worker = m->worker,
        .item = m->item,
        .attempt = m->attempt,
        .max_attempts = work->retry.max_attempts,
        .lease_until_ms = m->lease_until_ms,
        .timeout_at_ms = m->timer_ms,
        .variables = json_printed(x->tx->arena, input),
        .project_dir = x->row.project_dir,
    };
}

static err job_read(struct exec *x, struct mark *m, struct job *out)
{
    struct json input;
    str trouble;

    TRY(work_input(x, m, &input, &trouble));
    job_fill(x, m, &input, out);
    return trouble.len ? err_new(x->tx->arena, ERR_UNFIT, STR_FMT, STR_ARG(trouble)) : NULL;
}

/* A claim changes a mark and nothing else: it is no move, and no part of the document. What cannot be
 * given because its input cannot be made stops with an incident. */
static err job_take(struct exec *x, struct mark *m, const struct job_claim *c, str claim,
                    struct job *out, bool *taken)
{
    int64_t timeout = x->graph->nodes[m->at].work->timeout_ms;
    struct json input;
    str trouble;

    TRY(work_input(x, m, &input, &trouble));
    *taken = !trouble.len;
    if (trouble.len) {
        TRY(exec_know(x));
        m->job_place = 0;
        return incident_raise(x, m, MARK_BEGIN, "expression", trouble);
    }
    m->job_place = 0;
    m->worker = c->worker;
    m->claim = claim;
    m->lease_until_ms = x->tx->now_ms + c->lease_ms;
    m->since_ms = x->tx->now_ms;
    m->changed = true;
    if (timeout)
        TRY(mark_timer(x, m, x->tx->now_ms + timeout));
    job_fill(x, m, &input, out);
    return NULL;
}

/* Takes up, one after the other, the executions of candidates that follow each other. */
struct taking {
    struct tx *tx;
    const struct job_claim *c;
    str claim;
    struct job *jobs;
    size_t count;
    struct exec x;
    bool open, moved;
};

static err taking_leave(struct taking *t)
{
    struct execution e;

    if (!t->open)
        return NULL;
    t->open = false;
    return t->moved ? exec_close(&t->x, &e) : marks_flush(&t->x);
}

static err taking_enter(struct taking *t, int64_t no)
{
    struct execution e;
    bool found;

    if (t->open && t->x.row.no == no)
        return NULL;
    TRY(taking_leave(t));
    TRY(execution_load(t->tx, no, &e, &found));
    if (!found)
        return stored_damage(t->tx, THING("jobs", t->c->worker), "one of them has no execution");
    t->open = true;
    t->moved = false;
    return exec_open_marks(t->tx, &e, &t->x);
}

static err take_all(struct taking *t, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count && (int64_t)t->count < t->c->max; i++) {
        struct mark *m;
        bool taken;
        TRY(taking_enter(t, row_int(&rows[i], 0)));
        TRY(mark_find(&t->x, row_int(&rows[i], 1), row_int(&rows[i], 2), &m));
        if (!m || m->status != MARK_WORK || m->job_place <= 0 ||
            !actor_works(t->tx->actor, m->job_type))
            continue;
        TRY(job_take(&t->x, m, t->c, t->claim, &t->jobs[t->count], &taken));
        t->count += taken;
        t->moved |= !taken;
    }
    return taking_leave(t);
}

static err lease_due(struct tx *tx, const struct taking *t)
{
    return t->count ? due_add(tx, tx->now_ms + t->c->lease_ms, DUE_JOB_LEASE, t->claim, 0) : NULL;
}

static struct taking taking_begin(struct tx *tx, const struct job_claim *c)
{
    return (struct taking){ .tx = tx,
                            .c = c,
                            .claim = tx_id(tx, "claim_"),
                            .jobs = ARENA_ARRAY(tx->arena, struct job, (size_t)c->max) };
}

err jobs_claim(struct tx *tx, const struct job_claim *c, struct job **out, size_t *count)
{
    struct taking t = taking_begin(tx, c);

    assert(c->max > 0 && c->max <= JOBS_MAX && c->lease_ms > 0);
    for (size_t i = 0; i < c->type_count && (int64_t)t.count < c->max; i++) {
        const struct row *rows;
        size_t found;
        TRY(candidates(tx, c->types[i], c->max - (int64_t)t.count, &rows, &found));
        TRY(take_all(&t, rows, found));
    }
    TRY(lease_due(tx, &t));
    *out = t.jobs;
    *count = t.count;
    return NULL;
}

err jobs_claim_next(struct tx *tx, const struct execution *e, const struct job_claim *c,
                    struct job **out, size_t *count)
{
    struct taking t = taking_begin(tx, c);
    const struct row *rows;
    size_t found, kept = 0;

    TRY(sql_all(tx->sql, &rows, &found,
                "SELECT no, scope, n, job_type FROM mark WHERE no = $1 AND job_place > 0"
                " ORDER BY job_place, scope, n LIMIT $2",
                ARGS(INT(e->no), INT(c->max * JOB_LOOKS))));
    struct row *mine = ARENA_ARRAY(tx->arena, struct row, found + 1);
    for (size_t i = 0; i < found; i++)
        if (claims(c, row_str(&rows[i], 3)))
            mine[kept++] = rows[i];
    TRY(take_all(&t, mine, kept));
    TRY(lease_due(tx, &t));
    *out = t.jobs;
    *count = t.count;
    return NULL;
}

/* ---- reports ---- */

static err not_yours(struct tx *tx, str id)
{
    return err_new(tx->arena, ERR_CONFLICT,
                   "job " STR_FMT
                   " is not there any more: its lease has passed, its time was over, "
                   "it was reported already, or its execution has ended; claim another",
                   STR_ARG(id));
}

/* A report of an attempt that is not the present one. */
#ifdef PLANT_MOVER_LATE_REPORT
#define IS_LATE(mark, name) false
#else
#define IS_LATE(mark, name) ((mark)->fence != (name).fence)
#endif

/* The mark of a job that somebody has; its execution is taken up. */
static err job_open(struct tx *tx, str id, struct exec *x, struct mark **m)
{
    struct job_name name;
    struct execution e;
    bool found;

    TRY(job_name_read(tx, id, &name));
    TRY(execution_load(tx, name.no, &e, &found));
    if (!found || !execution_is_open(e.status))
        return not_yours(tx, id);
    TRY(exec_open(tx, &e, x));
    TRY(mark_find(x, name.scope, name.n, m));
    if (!*m || (*m)->status != MARK_WORK || IS_LATE(*m, name) || !(*m)->job_type.len)
        return not_yours(tx, id);
    if (!actor_works(tx->actor, (*m)->job_type))
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no job " STR_FMT, STR_ARG(id));
    return (*m)->claim.len ? NULL
                           : err_new(tx->arena, ERR_CONFLICT,
                                     "job " STR_FMT " is nobody's: claim it first", STR_ARG(id));
}

err job_complete(struct tx *tx, str id, const struct json *outputs, struct execution *e)
{
    const struct outcome o = { .what = "completed", .outputs = outputs };
    struct exec x;
    struct mark *m;

    TRY(job_open(tx, id, &x, &m));
    TRY(outputs_check(&x, m, outputs));
    return work_told(&x, m, &o, e);
}

err job_fail(struct tx *tx, str id, str error, bool for_good, struct execution *e)
{
    const struct outcome o = { .what = "failed", .error = error, .for_good = for_good };
    struct exec x;
    struct mark *m;

    TRY(job_open(tx, id, &x, &m));
    return work_told(&x, m, &o, e);
}

err job_error(struct tx *tx, str id, str code, str message, struct execution *e)
{
    struct exec x;
    struct mark *m;

    TRY(job_open(tx, id, &x, &m));
    TRY(work_leave(&x, m));
    TRY(incident_raise(&x, m, MARK_BEGIN, "error",
                       arena_printf(tx->arena,
                                    "its worker reports the error \"" STR_FMT "\"%s" STR_FMT,
                                    STR_ARG(code), message.len ? ": " : "", STR_ARG(message))));
    exec_told(&x);
    TRY(exec_drain(&x));
    return exec_close(&x, e);
}

/* A claim's row comes when the first lease of it may have ended. One that ends later than before needs
 * none: the row comes again by itself. */
static err lease_due_before(struct tx *tx, str claim)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT MIN(lease_until) FROM mark WHERE claim = $1 AND claim <> ''",
                ARGS(TEXT(claim))));
    return due_add(tx, row_int(row, 0), DUE_JOB_LEASE, claim, 0);
}

err job_renew(struct tx *tx, str id, int64_t lease_ms, int64_t *until_ms)
{
    struct exec x;
    struct mark *m;
    bool shorter;

    TRY(job_open(tx, id, &x, &m));
    *until_ms = tx->now_ms + lease_ms;
    shorter = *until_ms < m->lease_until_ms;
    m->lease_until_ms = *until_ms;
    m->changed = true;
    TRY(marks_flush(&x));
    return shorter ? lease_due_before(tx, m->claim) : NULL;
}

/* ---- looking ---- */

err jobs_list(struct tx *tx, const struct job_filter *f, struct job **out, size_t *count)
{
    struct execution e = { .no = 0 };
    struct job_name after = { .no = 0 };
    const struct row *rows;
    size_t found;
    struct exec x = { .tx = NULL };

    if (f->execution_id.len)
        TRY(execution_get(tx, f->execution_id, &e));
    if (f->after.len)
        TRY(job_name_read(tx, f->after, &after));
    TRY(sql_all(tx->sql, &rows, &found,
                "SELECT no, scope, n FROM mark WHERE job_type <> '' AND ($1 = 0 OR no = $1)"
                " AND ($2 = '' OR job_type = $2) AND ($3 = 0 OR job_place > 0)"
                " AND (no, scope, n) > ($4, $5, $6) ORDER BY no, scope, n LIMIT $7",
                ARGS(INT(e.no), TEXT(f->type), INT(f->waiting), INT(after.no), INT(after.scope),
                     INT(after.n), INT(f->limit))));
    *out = ARENA_ARRAY(tx->arena, struct job, found + 1);
    *count = 0;
    for (size_t i = 0; i < found; i++) {
        struct mark *m;
        bool there;
        if (!x.tx || x.row.no != row_int(&rows[i], 0)) {
            TRY(execution_load(tx, row_int(&rows[i], 0), &e, &there));
            TRY(exec_open_marks(tx, &e, &x));
        }
        TRY(mark_find(&x, row_int(&rows[i], 1), row_int(&rows[i], 2), &m));
        if (m && actor_works(tx->actor, m->job_type) && !job_read(&x, m, &(*out)[*count]))
            (*count)++;
    }
    return NULL;
}

/* ---- a worker that is not heard ---- */

/* Whoever has renewed some of the jobs of a claim has the row come again for those. */
err job_due_lease(struct tx *tx, const struct due *due)
{
    const struct outcome lost = { .what = "lost",
                                  .error = STR("its worker was not heard of within its lease") };
    const struct row *rows;
    size_t count;
    int64_t next = 0;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT no, scope, n, lease_until FROM mark WHERE claim = $1 AND claim <> ''"
                " ORDER BY no, scope, n LIMIT $2",
                ARGS(TEXT(due->subject), INT(JOBS_MAX))));
    for (size_t i = 0; i < count; i++) {
        int64_t until = row_int(&rows[i], 3);
        struct execution e;
        struct exec x;
        struct mark *m;
        bool found;
        if (until > tx->now_ms) {
            next = !next || until < next ? until : next;
            continue;
        }
        TRY(execution_load(tx, row_int(&rows[i], 0), &e, &found));
        assert(found);
        TRY(exec_open(tx, &e, &x));
        TRY(mark_find(&x, row_int(&rows[i], 1), row_int(&rows[i], 2), &m));
        if (m && m->status == MARK_WORK)
            TRY(work_told(&x, m, &lost, &e));
    }
    return next ? due_add(tx, next, DUE_JOB_LEASE, due->subject, 0) : NULL;
}
