/* report.c: what executions are told: that work is done, by whoever did it, and that a time has come. */
#include <assert.h>

#include "base/utf8.h"
#include "core/exec/private.h"
#include "core/stored.h"

/* ---- reports ---- */

/* The mark of a step that rests so. */
static struct mark *mark_resting(struct exec *x, uint16_t step, const struct execution_report *r,
                                 enum mark_status how)
{
    uint16_t node = x->graph->steps[step].node;

    for (struct mark *m = mark_after(x, 0); m; m = mark_after(x, m->n))
        if (m->at == node && m->status == how && m->item == r->item && (!r->n || r->n == m->n))
            return m;
    return NULL;
}

/* The mark that is at a step's work. What nobody has decided on yet may be reported anew. */
static err mark_at_work(struct exec *x, uint16_t step, const struct execution_report *r,
                        struct mark **out)
{
    bool loop = x->graph->nodes[x->graph->steps[step].node].loop;

    if (loop)
        TRY(marks_know_all(x));
    *out = mark_resting(x, step, r, MARK_WORK);
    if (*out || loop || r->failed)
        return NULL;
    *out = mark_resting(x, step, r, MARK_APPROVAL);
    return *out ? work_again(x, *out) : NULL;
}

static err not_at_work(struct exec *x, uint16_t step, const struct execution_report *r)
{
    bool loop = x->graph->nodes[x->graph->steps[step].node].loop;

    if (mark_resting(x, step, r, MARK_CHECK) || mark_resting(x, step, r, MARK_PROVE))
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "step " STR_FMT " was reported, and a runner checks its evidence: wait for "
                       "what it finds",
                       STR_ARG(r->step));
    if (loop && r->item < 0)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "step " STR_FMT " is done for each item of a list: say which, as \"item\" "
                       "from 0",
                       STR_ARG(r->step));
    return err_new(x->tx->arena, ERR_CONFLICT, "step " STR_FMT " is not at work%s: it is " STR_FMT,
                   STR_ARG(r->step), loop ? " for that item" : "",
                   STR_ARG(team_name(&step_words, (int)exec_step(x, step)->status)));
}

/* What agents do is theirs to record, and nobody's to claim who is not a person. */
static err others_check(struct exec *x, const struct mark *m, str step)
{
    bool agents;

    if (x->tx->actor->kind != ACTOR_SESSION)
        return NULL;
    TRY(agents_are_at(x, m, &agents));
    return !agents ? NULL
                   : err_new(x->tx->arena, ERR_CONFLICT,
                             "agents work for step " STR_FMT
                             ", and its result is theirs to record: wait for them, or ask a person "
                             "to report it",
                             STR_ARG(step));
}

err report_find(struct exec *x, const struct execution_report *r, struct mark **out)
{
    uint16_t step = graph_step_find(x->graph, r->step);
    const struct graph_work *work;

    if (step == GRAPH_NONE)
        return err_new(x->tx->arena, ERR_NOT_FOUND,
                       "workflow \"" STR_FMT "\" has no step \"" STR_FMT "\"",
                       STR_ARG(x->row.workflow), STR_ARG(utf8_cut(r->step, 80)));
    work = x->graph->nodes[x->graph->steps[step].node].work;
    if (!work || (work->by != WORK_REPORT && work->by != WORK_AGENT))
        return err_new(x->tx->arena, ERR_CONFLICT, "step " STR_FMT " is not done by report: %s",
                       STR_ARG(r->step),
                       !work                      ? "the engine does it itself"
                       : work->by == WORK_COMMAND ? "a runner executes its command"
                                                  : "a worker claims its job");
    TRY(mark_at_work(x, step, r, out));
    if (!*out)
        return not_at_work(x, step, r);
    if (r->attempt && r->attempt != (*out)->attempt)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "step " STR_FMT " is at attempt %lld, expected %lld", STR_ARG(r->step),
                       (long long)(*out)->attempt, (long long)r->attempt);
    return others_check(x, *out, r->step);
}

/* By the session that was started for it. */
static err record(struct tx *tx, str id, const struct execution_report *r, struct execution *out)
{
    struct share_record said = { .execution_id = id,
                                 .step = r->step,
                                 .failed = r->failed,
                                 .error = r->error,
                                 .outputs = r->outputs };

    return share_put_record(tx, &said, out);
}

err execution_report(struct tx *tx, str id, const struct execution_report *r, struct execution *out)
{
    struct outcome o = { .what = r->failed ? "failed" : "completed",
                         .outputs = r->outputs,
                         .error = r->error };
    struct mark *m = NULL;
    bool is_worker;
    struct exec x;

    TRY(share_is_worker(tx, id, &is_worker));
    if (is_worker)
        return record(tx, id, r, out);
    TRY(execution_get_open(tx, id, out));
    TRY(exec_open(tx, out, &x));
    TRY(report_find(&x, r, &m));
    if (!r->failed)
        TRY(outputs_check(&x, m, r->outputs));
    return work_told(&x, m, &o, out);
}

/* ---- commands ---- */

/* What a command has said, as variables: a JSON object of its standard output, or none. */
static const struct json *outputs_of(struct tx *tx, const struct run *r)
{
    const struct json *said;

    if (r->result_cut || json_parse(tx->arena, str_trim(r->result), NULL, &said) ||
        !json_is(said, JSON_OBJECT))
        return NULL;
    return said;
}

static struct outcome outcome_of(struct tx *tx, const struct run *r)
{
    struct outcome o = { .what = "failed", .error = r->error };

    if (r->status == RUN_COMPLETED && r->exit_code == 0)
        return (struct outcome){ .what = "completed", .outputs = outputs_of(tx, r) };
    if (r->status == RUN_TIMED_OUT)
        o.what = "timeout";
    if (!r->error.len)
        o.error = arena_printf(tx->arena, "the command ended with exit code %lld",
                               (long long)r->exit_code);
    return o;
}

/* What a runner has found of a step's evidence. */
static err check_told(struct exec *x, struct mark *m, const struct run *r, struct execution *out)
{
    TRY(evidence_end(x, m, r));
    exec_told(x);
    TRY(exec_drain(x));
    return exec_close(x, out);
}

/* Its mark may have gone meanwhile, or be at another attempt. */
err execution_after_run(struct tx *tx, const struct event *e)
{
    const struct row *row;
    struct execution row_of;
    struct outcome o;
    struct run run;
    struct exec x;
    struct mark *m;
    bool found;

    TRY(sql_one(tx->sql, &row, "SELECT no, scope, n FROM mark WHERE ref = $1 AND ref <> ''",
                ARGS(TEXT(e->subject))));
    if (!row)
        return NULL;
    TRY(execution_load(tx, row_int(row, 0), &row_of, &found));
    assert(found);
    TRY(exec_open(tx, &row_of, &x));
    TRY(mark_find(&x, row_int(row, 1), row_int(row, 2), &m));
    if (!m || (m->status != MARK_WORK && m->status != MARK_CHECK))
        return NULL;
    TRY(run_load(tx, e->subject, &run));
    if (m->status == MARK_CHECK)
        return check_told(&x, m, &run, &row_of);
    o = outcome_of(tx, &run);
    err missing = str_eq(str_from(o.what), STR("completed")) ? outputs_check(&x, m, o.outputs)
                                                             : NULL;
    if (missing)
        o = (struct outcome){ .what = "failed", .error = missing->message };
    return work_told(&x, m, &o, &row_of);
}

/* ---- what becomes due ---- */

/* NO/N/SCOPE. */
static err subject_read(struct tx *tx, str subject, int64_t out[3])
{
    str rest = subject, part;

    for (int i = 0; i < 3; i++) {
        str whole = rest;
        if (!str_cut(whole, '/', &part, &rest))
            part = whole;
        if (!str_to_int(part, &out[i]))
            return stored_damage(tx, THING("what is due for a mark", subject), "it names no mark");
    }
    return NULL;
}

err execution_due_mark(struct tx *tx, const struct due *due)
{
    const struct outcome timeout = { .what = "timeout",
                                     .error = STR("it took longer than its timeout") };
    int64_t at[3];
    struct execution e;
    struct exec x;
    struct mark *m;
    bool found;

    TRY(subject_read(tx, due->subject, at));
    TRY(execution_load(tx, at[0], &e, &found));
    if (!found || !execution_is_open(e.status))
        return NULL;
    TRY(exec_open(tx, &e, &x));
    TRY(mark_find(&x, at[2], at[1], &m));
    if (!m || !m->timer_ms)
        return NULL;
    m->timer_ms = 0; /* its row has gone with its firing */
    m->changed = true;
    if (m->status == MARK_WORK)
        TRY(work_end(&x, m, &timeout));
    else if (m->status == MARK_BACKOFF)
        mark_todo(&x, m, MARK_BEGIN);
    exec_told(&x);
    TRY(exec_drain(&x));
    return exec_close(&x, &e);
}

err execution_due_go(struct tx *tx, const struct due *due)
{
    struct execution e;
    struct exec x;
    int64_t no;
    bool found;

    if (!str_to_int(due->subject, &no))
        return stored_damage(tx, THING("what is due for an execution", due->subject),
                             "it names none");
    TRY(execution_load(tx, no, &e, &found));
    if (!found || e.status != EXECUTION_RUNNING || !e.agenda || e.halted)
        return NULL;
    TRY(exec_open(tx, &e, &x));
    TRY(exec_drain(&x));
    return exec_close(&x, &e);
}
