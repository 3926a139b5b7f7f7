/* cancel.c: marks that go before they are done, and the end of an execution, when all of them have gone. */
#include <assert.h>

#include "core/exec/private.h"

/* Nobody is at it any more. */
err work_leave(struct exec *x, struct mark *m)
{
    TRY(agents_stop(x, m, STR("the step that it worked for goes on without it")));
    m->job_type = m->worker = m->claim = m->ref = STR("");
    m->job_place = m->lease_until_ms = 0;
    m->changed = true;
    return mark_timer(x, m, 0);
}

static err work_cancel(struct exec *x, struct mark *m, str why)
{
    if (m->ref.len)
        TRY(command_stop(x, m, why));
    TRY(agents_stop(x, m, why));
    return work_leave(x, m);
}

err mark_cancel(struct exec *x, struct mark *m, str why)
{
    if (m->status == MARK_LOOP || m->status == MARK_MORE) {
        TRY(marks_know(x, m->n));
        for (size_t i = 0; i < MARK_BUCKETS; i++)
            for (struct mark *one = x->marks[i]; one; one = one->next)
                if (!one->dead && one->scope == m->n)
                    TRY(mark_cancel(x, one, why));
    }
    if (m->status == MARK_WORK || m->status == MARK_CHECK)
        TRY(work_cancel(x, m, why));
#ifndef PLANT_APPROVAL_OUTLIVES
    if (m->status == MARK_APPROVAL)
        TRY(approval_withdraw(x, m));
#endif
    if (m->status == MARK_INCIDENT)
        TRY(incidents_end(x, m));
    mark_gone(x, m);
    return NULL;
}

static err exec_clear(struct exec *x, str why, bool told)
{
    TRY(marks_know_all(x));
    for (struct mark *m = told ? mark_after(x, 0) : NULL; m; m = mark_after(x, m->n))
        if (m->status != MARK_DONE)
            exec_move(x, m, "cancelled");
    for (struct mark *m; (m = mark_after(x, 0));)
        TRY(mark_cancel(x, m, why));
    x->first = NULL;
    x->last = &x->first;
    x->row.halted = false;
    return incidents_end(x, NULL);
}

static err result_find(struct exec *x)
{
    struct feel_scope names = { .vars = &x->vars };
    struct feel_result r;

    if (!x->graph->result)
        return NULL;
    err e = feel_eval(x->tx->arena, x->graph->result, &names, x->tx->now_ms, &r);
    if (e || (!r.value->len && r.reason.len && r.value->kind == JSON_NULL))
        x->row.reason = arena_printf(x->tx->arena, "its result could not be made: " STR_FMT,
                                     STR_ARG(e ? e->message : r.reason));
    else
        x->row.result = json_printed(x->tx->arena, r.value);
    x->result_changed = true;
    return NULL;
}

err exec_end(struct exec *x, enum execution_status how, str reason, bool told)
{
    TRY(exec_clear(x, reason, told));
    assert(execution_may_become(x->row.status, how));
    x->row.status = how;
    x->row.reason = reason;
    x->row.ended_at_ms = x->tx->now_ms;
    return how == EXECUTION_COMPLETED ? result_find(x) : NULL;
}
