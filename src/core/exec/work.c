/* work.c: what somebody does for an execution: attempts, from their begin to their end. */
#include <assert.h>

#include "core/exec/private.h"
#include "core/stored.h"

static const struct graph_work *work_of(const struct exec *x, const struct mark *m)
{
    assert(x->graph->nodes[m->at].work);
    return x->graph->nodes[m->at].work;
}

/* ---- beginning ---- */

static void job_offer(struct exec *x, struct mark *m, str type)
{
    m->job_type = type;
    m->job_place = *x->tx->seq + 1;
    for (size_t i = 0; i < x->job_count; i++)
        if (str_eq(x->jobs[i], type))
            return;
    if (x->job_count < JOB_TYPES_SHOWN)
        x->jobs[x->job_count++] = type;
}

static err report_begin(struct exec *x, struct mark *m)
{
    int64_t timeout = work_of(x, m)->timeout_ms;

    return timeout ? mark_timer(x, m, x->tx->now_ms + timeout) : NULL;
}

/* Its time runs from when a worker has it. */
static err job_begin(struct exec *x, struct mark *m)
{
    job_offer(x, m, work_of(x, m)->job_type);
    return NULL;
}

static err (*const begin[WORK_BY_COUNT])(struct exec *x, struct mark *m) = {
    [WORK_REPORT] = report_begin,
    [WORK_AGENT] = agents_begin,
    [WORK_JOB] = job_begin,
    [WORK_COMMAND] = command_begin,
};

err work_begin(struct exec *x, struct mark *m)
{
    struct step *s = step_of(x, m);

    if (x->row.failing) {
        mark_hold(x, m);
        return NULL;
    }
    m->attempt++;
    m->fence = ++x->row.turn;
    exec_move(x, m, "started");
    mark_rest(x, m, MARK_WORK);
    if (s && s->status != STEP_IN_PROGRESS)
        step_become(x, s, STEP_IN_PROGRESS);
    if (s && s->attempt < m->attempt) {
        s->attempt = m->attempt;
        s->changed = true;
    }
    return begin[work_of(x, m)->by](x, m);
}

/* ---- ending ---- */

static int64_t backoff(const struct graph_retry *r, int64_t failures)
{
    int64_t ms = r->backoff_ms;

    for (int64_t i = 1; i < failures && ms < r->max_backoff_ms; i++)
        if (__builtin_mul_overflow(ms, r->factor_milli, &ms))
            return r->max_backoff_ms;
        else
            ms /= 1000;
    return ms < r->max_backoff_ms ? ms : r->max_backoff_ms;
}

/* An earlier step is done anew because this one has failed, as often as that one may be tried. */
static bool may_reopen(struct exec *x, const struct mark *m, uint16_t step)
{
    if (step == GRAPH_NONE || x->row.failing || x->graph->kind == GRAPH_NODES)
        return false;
    const struct graph_node *node = &x->graph->nodes[x->graph->steps[step].node];
    int64_t most = node->work ? node->work->retry.max_attempts : 1;
    return exec_step(x, step)->attempt < most &&
           graph_downstream(x->tx->arena, x->graph, step)[x->graph->nodes[m->at].step];
}

static str failed_reason(struct exec *x, const struct mark *m, const struct outcome *o)
{
    return arena_printf(x->tx->arena, "step " STR_FMT " has failed after %lld attempt%s: " STR_FMT,
                        STR_ARG(m->node), (long long)m->attempt, m->attempt == 1 ? "" : "s",
                        STR_ARG(o->error.len ? o->error : str_from(o->what)));
}

/* The step has failed, and what the definition says of that happens. */
static err failed_for_good(struct exec *x, struct mark *m, str error, str reason)
{
    struct step *s = step_of(x, m);
    struct mark *loop;

    if (x->graph->on_fail == ON_FAIL_DRAIN)
        exec_move(x, m, "gave_up");
    if (s) {
        if (s->status != STEP_IN_PROGRESS)
            step_become(x, s, STEP_IN_PROGRESS);
        step_become(x, s, STEP_FAILED);
        TRY(step_note(x, s, "error", json_string(error)));
    }
    if (!x->row.failing)
        x->row.reason = reason;
    x->row.failing = true;
    if (x->graph->on_fail == ON_FAIL_STOP)
        return exec_end(x, EXECUTION_FAILED, x->row.reason, true);
    if (!m->scope) {
        mark_gone(x, m);
        return NULL;
    }
    TRY(mark_find(x, 0, m->scope, &loop));
    return loop ? mark_cancel(x, loop, reason) : NULL;
}

err work_refused(struct exec *x, struct mark *m, str error, str reason)
{
    assert(!m->scope);
    return failed_for_good(x, m, error, reason);
}

/* No attempt is left. */
static err give_up(struct exec *x, struct mark *m, const struct outcome *o)
{
    uint16_t earlier = work_of(x, m)->retry_step;
    str reason = failed_reason(x, m, o);

    if (may_reopen(x, m, earlier))
        return exec_reopen(x, earlier, true, reason);
    if (x->graph->on_fail == ON_FAIL_INCIDENT)
        return incident_raise(x, m, MARK_BEGIN, "attempts",
                              arena_printf(x->tx->arena,
                                           STR_FMT ": mend the cause, and resolve this to have it "
                                                   "tried again",
                                           STR_ARG(reason)));
    return failed_for_good(x, m, o->error.len ? o->error : str_from(o->what), reason);
}

static err failure(struct exec *x, struct mark *m, const struct outcome *o)
{
    const struct graph_retry *retry = &work_of(x, m)->retry;
    int64_t wait;

    exec_move(x, m, "failed");
    if (o->for_good || m->attempt - m->spared >= retry->max_attempts)
        return give_up(x, m, o);
    wait = backoff(retry, m->attempt - m->spared);
    if (!wait) {
        mark_todo(x, m, MARK_BEGIN);
        return NULL;
    }
    mark_rest(x, m, MARK_BACKOFF);
    return mark_timer(x, m, x->tx->now_ms + wait);
}

/* Its worker is gone: the work is not to blame, unless that happens again and again. */
static err lost(struct exec *x, struct mark *m, const struct outcome *o)
{
    if (m->lost >= team_rules_of(x->tx)->claim_max)
        return failure(x, m, o);
    m->lost++;
    m->spared++;
    mark_todo(x, m, MARK_BEGIN);
    return NULL;
}

/* What a result comes to, by what the definition says of it; names of the result come first. */
enum verdict { IS_RESULT, IS_FAILURE, IS_UNKNOWN };

static err judge(struct exec *x, const struct mark *m, const struct json *outputs,
                 enum verdict *out, str *why)
{
    const struct feel *when = work_of(x, m)->fails_when;
    struct exec_scope scope;
    struct feel_result r;

    *out = IS_RESULT;
    if (!when)
        return NULL;
    TRY(scope_of(x, m, &scope));
    const struct feel_scope names = { outputs, scope_names(&scope) };
    err e = feel_eval(x->tx->arena, when, &names, x->tx->now_ms, &r);
    *out = e ? IS_UNKNOWN : feel_true(&r) ? IS_FAILURE : IS_RESULT;
    *why = e ? e->message
             : arena_printf(x->tx->arena, "its result is one that fails_when names: " STR_FMT,
                            STR_ARG(feel_text(when)));
    return NULL;
}

static const struct graph_step *definition_of(const struct exec *x, const struct mark *m)
{
    uint16_t step = x->graph->nodes[m->at].step;

    return step == GRAPH_NONE ? NULL : &x->graph->steps[step];
}

err work_proven(struct exec *x, struct mark *m, const struct json *outputs)
{
    const struct graph_step *definition = definition_of(x, m);
    struct step *s = step_of(x, m);

    m->vars = STR("");
    if (m->scope)
        return instance_done(x, m, outputs);
    exec_move(x, m, "completed");
    if (s)
        TRY(step_note(x, s, "outputs", *outputs));
    if (definition && definition->approval)
        return approval_ask(x, m, outputs);
    if (s)
        step_become(x, s, STEP_COMPLETED);
    mark_todo(x, m, MARK_LEAVE);
    return NULL;
}

/* Evidence is of the attempt, which has not ended until that is known. */
static void work_to_prove(struct exec *x, struct mark *m, const struct json *outputs)
{
    int64_t since_ms = m->since_ms;

    m->vars = json_printed(x->tx->arena, outputs);
    mark_todo(x, m, MARK_PROVE);
    m->since_ms = since_ms;
}

/* What it has said is known, also when that makes it a failure: the next attempt is told so. */
static err said(struct exec *x, struct mark *m, const struct outcome *o)
{
    struct json none = json_object();
    const struct json *outputs = json_is(o->outputs, JSON_OBJECT) ? o->outputs : &none;
    const struct graph_step *definition = definition_of(x, m);
    struct outcome end = *o;
    enum verdict verdict;

    if (!m->scope)
        TRY(vars_set_all(x, outputs));
    TRY(judge(x, m, outputs, &verdict, &end.error));
    if (verdict == IS_FAILURE) {
        end.what = "failed";
        TRY(history_add(x, m, &end));
    }
    TRY(work_leave(x, m));
    if (verdict == IS_UNKNOWN)
        return incident_raise(x, m, MARK_BEGIN, "expression",
                              arena_printf(x->tx->arena,
                                           "whether its result is a failure: " STR_FMT,
                                           STR_ARG(end.error)));
    if (verdict == IS_FAILURE)
        return failure(x, m, &end);
    if (!definition || !definition->evidence_count)
        return work_proven(x, m, outputs);
    work_to_prove(x, m, outputs);
    return NULL;
}

err work_end(struct exec *x, struct mark *m, const struct outcome *o)
{
    assert(m->status == MARK_WORK);
    if (str_eq(str_from(o->what), STR("completed")))
        return said(x, m, o);
    return work_missed(x, m, o);
}

err work_missed(struct exec *x, struct mark *m, const struct outcome *o)
{
    TRY(history_add(x, m, o));
    TRY(work_leave(x, m));
    return str_eq(str_from(o->what), STR("lost")) ? lost(x, m, o) : failure(x, m, o);
}

err work_again(struct exec *x, struct mark *m)
{
    assert(m->status == MARK_APPROVAL && !m->scope);
    TRY(approval_withdraw(x, m));
    mark_rest(x, m, MARK_WORK);
    return NULL;
}

err outputs_check(struct exec *x, const struct mark *m, const struct json *outputs)
{
    const struct graph_work *work = work_of(x, m);
    struct buf missing = buf_in(x->tx->arena);

    for (size_t i = 0; i < work->output_count; i++)
        if (!json_find(outputs, work->outputs[i]))
            buf_printf(&missing, "%s\"" STR_FMT "\"", missing.len ? ", " : "",
                       STR_ARG(work->outputs[i]));
    if (!missing.len)
        return NULL;
    return err_new(x->tx->arena, ERR_UNFIT,
                   "step " STR_FMT " has outputs that are missing here: " STR_FMT
                   ": report it again with all of them, or that it has failed",
                   STR_ARG(m->node), STR_ARG(buf_str(&missing)));
}
