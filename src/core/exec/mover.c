/* mover.c: the agenda of an execution: what each mark does when its turn comes. */
#include <assert.h>

#include "core/exec/private.h"

static err leave(struct exec *x, struct mark *m);

static const struct graph_node *node_of(const struct exec *x, const struct mark *m)
{
    return &x->graph->nodes[m->at];
}

/* ---- leaving ---- */

/* Flows that are taken, in their order. `trouble` says why none can be, and is empty otherwise. */
struct taken {
    const uint16_t *flows;
    size_t count;
    str trouble;
};

static err condition_eval(struct exec *x, const struct graph_flow *f,
                          const struct exec_scope *scope, struct feel_result *out)
{
    return feel_eval(x->tx->arena, f->when, scope_names(scope), x->tx->now_ms, out);
}

/* What conditions came to, for a person: those of the first so many flows, which come to the same again. */
static str conditions_said(struct exec *x, const struct graph_node *node, uint16_t count,
                           const struct exec_scope *scope)
{
    struct buf out = buf_in(x->tx->arena);

    for (uint16_t i = 0; i < count; i++) {
        const struct graph_flow *f = &x->graph->flows[node->out[i]];
        struct feel_result r;
        if (!f->when || node->out[i] == node->fallback)
            continue;
        err e = condition_eval(x, f, scope, &r);
        buf_printf(&out, "%s" STR_FMT ": " STR_FMT " is ", out.len ? "; " : ": ", STR_ARG(f->id),
                   STR_ARG(feel_text(f->when)));
        if (e) {
            buf_printf(&out, "too much: " STR_FMT, STR_ARG(e->message));
            continue;
        }
        json_print(&out, r.value);
        if (r.reason.len)
            buf_printf(&out, " (" STR_FMT ")", STR_ARG(r.reason));
    }
    return buf_str(&out);
}

static err flows_taken(struct exec *x, const struct mark *m, struct taken *out)
{
    const struct graph_node *node = node_of(x, m);
    uint16_t *flows = ARENA_ARRAY(x->tx->arena, uint16_t, node->out_count), asked = 0;
    bool *take = arena_zero(x->tx->arena, node->out_count);
    bool all = node->kind == NODE_AND, one = node->kind == NODE_XOR, chosen = false, failed = false;
    struct exec_scope scope;

    *out = (struct taken){ .flows = flows };
    TRY(scope_of(x, m, &scope));
    for (; asked < node->out_count && !(one && chosen); asked++) {
        const struct graph_flow *f = &x->graph->flows[node->out[asked]];
        struct feel_result r;
        if (!all && node->out[asked] == node->fallback)
            continue;
        bool conditional = !all && f->when;
        bool too_much = conditional && condition_eval(x, f, &scope, &r);
        failed |= too_much;
        take[asked] = !conditional || (!too_much && feel_true(&r));
        chosen |= take[asked] && (conditional || one);
#ifdef PLANT_MOVER_DEFAULT_BESIDE
        chosen |= take[asked];
#endif
    }
    for (uint16_t i = 0; i < node->out_count; i++)
        if (take[i] || (!all && !chosen && node->out[i] == node->fallback))
            flows[out->count++] = node->out[i];
    if (failed || (one && !out->count))
        out->trouble = arena_printf(x->tx->arena,
                                    "no flow can be taken from " STR_FMT STR_FMT
                                    ": set the variables that they are about, and resolve this",
                                    STR_ARG(node->id),
                                    STR_ARG(conditions_said(x, node, asked, &scope)));
    return NULL;
}

static err leave(struct exec *x, struct mark *m)
{
    int64_t most = team_rules_of(x->tx)->execution_marks;
    struct taken taken;

    assert(!m->scope);
    TRY(flows_taken(x, m, &taken));
    if (taken.trouble.len)
        return incident_raise(x, m, MARK_LEAVE, "choice", taken.trouble);
    if (x->row.live + (int64_t)taken.count - 1 > most)
        return incident_raise(x, m, MARK_LEAVE, "marks",
                              arena_printf(x->tx->arena,
                                           "the execution would be at more than %lld places at "
                                           "once (execution_marks): its definition multiplies "
                                           "tokens, cancel it",
                                           (long long)most));
    if (!taken.count) {
        mark_gone(x, m);
        return NULL;
    }
    for (size_t i = 0; i < taken.count; i++) {
        uint16_t target = x->graph->flows[taken.flows[i]].target;
        struct mark *at = m;
        if (i)
            at = mark_new(x, 0, target, taken.flows[i]);
        else
            mark_place(x, m, target, taken.flows[i]);
        mark_todo(x, at, MARK_ENTER);
    }
    return NULL;
}

/* ---- entering ---- */

static err enter_pass(struct exec *x, struct mark *m)
{
    return leave(x, m);
}

static err enter_end(struct exec *x, struct mark *m)
{
    exec_move(x, m, "ended");
    mark_gone(x, m);
    return NULL;
}

/* Settings one after the other: each sees those before it. Of an instance they are its own. */
static err settings_run(struct exec *x, struct mark *m, struct json *own, str *trouble)
{
    const struct graph_settings *s = &node_of(x, m)->settings;
    struct exec_scope scope;

    *own = json_object();
    *trouble = STR("");
    TRY(scope_of(x, m, &scope));
    const struct feel_scope names = { own, scope_names(&scope) };
    for (size_t i = 0; i < s->count; i++) {
        struct feel_result r;
        err e = feel_eval(x->tx->arena, s->at[i].value, &names, x->tx->now_ms, &r);
        if (e) {
            *trouble = arena_printf(x->tx->arena, "\"" STR_FMT "\" cannot be set: " STR_FMT,
                                    STR_ARG(s->at[i].name), STR_ARG(e->message));
            return NULL;
        }
        json_put(x->tx->arena, own, s->at[i].name, *r.value);
        if (!m->scope)
            TRY(vars_set(x, s->at[i].name, r.value));
    }
    if (!m->scope)
        *trouble = vars_trouble(x);
    return NULL;
}

static err enter_feel(struct exec *x, struct mark *m)
{
    struct step *s = step_of(x, m);
    struct json own;
    str trouble;

    TRY(settings_run(x, m, &own, &trouble));
    if (trouble.len)
        return incident_raise(x, m, MARK_ENTER, "expression", trouble);
    if (m->scope)
        return instance_done(x, m, &own);
    if (s) {
        step_become(x, s, STEP_IN_PROGRESS);
        step_become(x, s, STEP_COMPLETED);
        TRY(step_note(x, s, "outputs", own));
    }
    return leave(x, m);
}

static bool joins(const struct mark *m, uint16_t at)
{
    return !m->dead && m->status == MARK_JOIN && m->at == at;
}

/* Of those that rest at a join, the one of each flow that came first. False: some flow has none, which
 * most often their number tells already. */
static bool all_came(const struct exec *x, uint16_t at, struct mark **came)
{
    const struct graph_node *node = &x->graph->nodes[at];
    uint16_t resting = 0, missing = node->in_count;

    for (size_t i = 0; i < MARK_BUCKETS && resting < node->in_count; i++)
        for (const struct mark *m = x->marks[i]; m && resting < node->in_count; m = m->next)
            resting += joins(m, at);
    if (resting < node->in_count)
        return false;
    for (size_t i = 0; i < MARK_BUCKETS; i++)
        for (struct mark *m = x->marks[i]; m; m = m->next)
            for (uint16_t k = 0; joins(m, at) && k < node->in_count; k++)
                if (node->in[k] == m->by && (!came[k] || m->n < came[k]->n)) {
                    missing -= !came[k];
                    came[k] = m;
                }
    return !missing;
}

static err enter_and(struct exec *x, struct mark *m)
{
    const struct graph_node *node = node_of(x, m);
    struct mark **came = arena_zero(x->tx->arena, node->in_count * sizeof *came);
    struct mark *survivor = m;

    mark_rest(x, m, MARK_JOIN);
    if (!all_came(x, m->at, came))
        return NULL;
    for (uint16_t i = 0; i < node->in_count; i++)
        if (came[i]->n < survivor->n)
            survivor = came[i];
    for (uint16_t i = 0; i < node->in_count; i++)
        if (came[i] != survivor)
            mark_gone(x, came[i]);
    exec_move(x, survivor, "joined");
    return leave(x, survivor);
}

/* Document 001's phases are pending until somebody says that the first of them begins; those after it
 * begin by themselves. */
static bool begins_when_told(const struct exec *x, const struct mark *m)
{
    const struct graph_node *node = node_of(x, m);

    return x->graph->kind == GRAPH_PHASES && node->work->by == WORK_REPORT && !m->scope &&
           !x->graph->steps[node->step].after_count;
}

/* Attempts go on where a later step has had this one done anew; where there are circles, each time
 * around is a first one. */
static err enter_work(struct exec *x, struct mark *m)
{
    struct step *s = step_of(x, m);
    bool circles = x->graph->kind == GRAPH_NODES;

    m->attempt = s && !circles ? s->before : 0;
    m->spared = m->lost = 0;
    if (begins_when_told(x, m)) {
        mark_rest(x, m, MARK_READY);
        return NULL;
    }
    return work_begin(x, m);
}

static err (*const enter_kind[NODE_KINDS])(struct exec *x, struct mark *m) = {
    [NODE_START] = enter_pass, [NODE_END] = enter_end,  [NODE_PASS] = enter_pass,
    [NODE_FEEL] = enter_feel,  [NODE_XOR] = enter_pass, [NODE_AND] = enter_and,
    [NODE_WORK] = enter_work,
};

/* ---- one move ---- */

static err enter_loop(struct exec *x, struct mark *m)
{
    bool leaves;

    TRY(loop_open(x, m, &leaves));
    return leaves ? leave(x, m) : NULL;
}

static err enter_node(struct exec *x, struct mark *m)
{
    const struct graph_node *node = node_of(x, m);

    if (x->row.failing && (node->kind == NODE_WORK || (node->loop && !m->scope))) {
        mark_hold(x, m);
        return NULL;
    }
    if (node->loop && !m->scope)
        return enter_loop(x, m);
    return enter_kind[node->kind](x, m);
}

/* Its token passes, so that no join waits in vain. Another one may be at the step meanwhile. */
static err skip(struct exec *x, struct mark *m)
{
    struct step *s = step_of(x, m);

    exec_move(x, m, "skipped");
    if (s && (s->status == STEP_SKIPPED || step_may_become(s->status, STEP_SKIPPED)))
        step_become(x, s, STEP_SKIPPED);
    return leave(x, m);
}

static err enter(struct exec *x, struct mark *m)
{
    const struct graph_node *node = node_of(x, m);
    struct exec_scope scope;
    struct feel_result r;

    exec_move(x, m, "entered");
    if (!node->when || m->scope)
        return enter_node(x, m);
    TRY(scope_of(x, m, &scope));
    err e = feel_eval(x->tx->arena, node->when, scope_names(&scope), x->tx->now_ms, &r);
    if (e)
        return incident_raise(x, m, MARK_ENTER, "expression",
                              arena_printf(x->tx->arena,
                                           "whether " STR_FMT " is to be done: " STR_FMT,
                                           STR_ARG(m->node), STR_ARG(e->message)));
    return feel_true(&r) ? enter_node(x, m) : skip(x, m);
}

static err (*const does[])(struct exec *x, struct mark *m) = {
    [MARK_ENTER] = enter,    [MARK_BEGIN] = work_begin,     [MARK_LEAVE] = leave,
    [MARK_MORE] = loop_more, [MARK_PROVE] = evidence_begin,
};

/* ---- ends ---- */

/* Whether somebody is at work for it, or will be by themselves. A question to a person is not work. */
static bool at_work(const struct exec *x)
{
    for (size_t i = 0; i < MARK_BUCKETS; i++)
        for (const struct mark *m = x->marks[i]; m; m = m->next)
            if (!m->dead && (m->status == MARK_WORK || m->status == MARK_CHECK))
                return true;
    return false;
}

/* Nobody will ever bring what its marks wait for. */
static bool is_stalled(const struct exec *x)
{
    for (size_t i = 0; i < MARK_BUCKETS; i++)
        for (const struct mark *m = x->marks[i]; m; m = m->next)
            if (!m->dead && m->status != MARK_JOIN)
                return false;
    return true;
}

/* What there is to say when nothing moves any more. */
static err settle(struct exec *x)
{
    if (x->row.status != EXECUTION_RUNNING || x->row.agenda)
        return NULL;
    if (!x->row.live)
        return exec_end(x, x->row.failing ? EXECUTION_FAILED : EXECUTION_COMPLETED, x->row.reason,
                        false);
    if (x->row.failing) {
        TRY(marks_know_all(x));
        return at_work(x) ? NULL : exec_end(x, EXECUTION_FAILED, x->row.reason, false);
    }
    if (x->graph->kind != GRAPH_NODES && !x->row.incidents && is_stalled(x))
        return incident_raise(x, mark_after(x, 0), MARK_STATUS_COUNT, "stalled",
                              STR("its tokens wait at joins for others that cannot come: resume it "
                                  "from a step before them, or cancel it"));
    return NULL;
}

/* ---- the agenda ---- */

static struct mark *agenda_take(struct exec *x)
{
    struct mark *m = x->first;

    while (m && (m->dead || !m->todo))
        m = m->follows;
    x->first = m ? m->follows : NULL;
    if (!x->first)
        x->last = &x->first;
    return m;
}

static err too_often(struct exec *x, struct mark *m)
{
    m->follows = x->first;
    x->first = m;
    if (x->last == &x->first)
        x->last = &m->follows;
    x->row.halted = true;
    return incident_raise(x, m, MARK_STATUS_COUNT, "loop",
                          arena_printf(x->tx->arena,
                                       "it has moved %lld times without anything from outside "
                                       "(execution_spin), and is at " STR_FMT
                                       ": mend the variables that decide, and resolve this, or "
                                       "cancel it",
                                       (long long)x->row.spin, STR_ARG(m->node)));
}

err exec_drain(struct exec *x)
{
    const struct team_rules *rules = team_rules_of(x->tx);
    struct mark *m;

    for (int64_t moves = 0; moves < rules->execution_moves; moves++) {
        if (x->row.status != EXECUTION_RUNNING || x->row.halted || !(m = agenda_take(x)))
            break;
        if (x->row.spin >= rules->execution_spin)
            return too_often(x, m);
        x->row.spin++;
        x->row.agenda--;
        m->todo = 0;
        m->changed = true;
        TRY(does[m->status](x, m));
    }
    return settle(x);
}

err work_told(struct exec *x, struct mark *m, const struct outcome *o, struct execution *out)
{
    TRY(work_end(x, m, o));
    str trouble = vars_trouble(x);
    if (trouble.len)
        return err_new(x->tx->arena, ERR_TOO_LARGE, STR_FMT, STR_ARG(trouble));
    exec_told(x);
    TRY(exec_drain(x));
    return exec_close(x, out);
}
