/* execution_waits.c: what executions wait for, in words.
 *
 * A function of rows and of the graph; nothing of it is stored. */
#define _GNU_SOURCE /* memmem */
#include "core/run.h"
#include "ops/executions.h"
#include "ops/write.h"

enum { WAYS_SHOWN = 5 };

/* "45s", "3m", "2h", "4d". */
static str span(struct tx *tx, int64_t ms)
{
    static const struct {
        int64_t ms;
        char unit;
    } units[] = { { 24 * 3600000LL, 'd' }, { 3600000, 'h' }, { 60000, 'm' }, { 1000, 's' } };
    size_t i = 0;

    ms = ms < 0 ? 0 : ms;
    while (i < 3 && ms < units[i].ms)
        i++;
    return arena_printf(tx->arena, "%lld%c", (long long)(ms / units[i].ms), units[i].unit);
}

/* The time of day, with the day where that is another one. */
static str clock_time(struct tx *tx, int64_t ms)
{
    char text[DATE_TEXT_MAX], today[DATE_TEXT_MAX];
    str then = date_print(text, ms), now = date_print(today, tx->now_ms);
    bool same = str_eq(str_slice(then, 0, 10), str_slice(now, 0, 10));

    return arena_printf(tx->arena, STR_FMT "%s" STR_FMT " UTC",
                        STR_ARG(same ? STR("") : str_slice(then, 0, 10)), same ? "" : " ",
                        STR_ARG(str_slice(then, 11, 16)));
}

static str since(struct tx *tx, const struct mark *m)
{
    return span(tx, tx->now_ms - m->since_ms);
}

/* What a person calls where a node is: its step, or the node itself. */
static str place_of(const struct graph *g, uint16_t node)
{
    uint16_t step = g->nodes[node].step;

    return step == GRAPH_NONE ? g->nodes[node].id : g->steps[step].id;
}

/* ---- for each way to rest ---- */

/* The sessions that work for it, and who waits for room; empty: no agent is at it. */
static str waits_agents(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    struct buf out = buf_in(tx->arena);
    size_t waiting = 0;
    int told = 0;

    for (size_t i = 0; i < r->share_count; i++) {
        const struct share *s = &r->shares[i];
        if (s->n != m->n || (s->status != SHARE_WORKING && s->status != SHARE_WAITING))
            continue;
        waiting += s->status == SHARE_WAITING;
        if (s->status == SHARE_WAITING || told++ >= WAYS_SHOWN)
            continue;
        buf_printf(&out, "%s" STR_FMT " (agent " STR_FMT "), for " STR_FMT,
                   out.len ? "; " : "session ", STR_ARG(s->session_name), STR_ARG(s->agent),
                   STR_ARG(span(tx, tx->now_ms - s->started_at_ms)));
    }
    if (told > WAYS_SHOWN)
        buf_printf(&out, " and %d more", told - WAYS_SHOWN);
    if (waiting)
        buf_printf(&out, "%sroom for %zu more session%s", out.len ? "; " : "", waiting,
                   waiting == 1 ? "" : "s");
    return buf_str(&out);
}

static str waits_work(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    str where = m->at == GRAPH_NONE ? m->node : place_of(r->graph, m->at);
    const struct graph_work *work = m->at == GRAPH_NONE ? NULL : r->graph->nodes[m->at].work;

    str agents = waits_agents(tx, r, m);

    if (agents.len)
        return agents;
    if (m->worker.len)
        return arena_printf(tx->arena,
                            "worker " STR_FMT " with attempt %lld, its lease until " STR_FMT,
                            STR_ARG(m->worker), (long long)m->attempt,
                            STR_ARG(clock_time(tx, m->lease_until_ms)));
    if (m->job_type.len)
        return arena_printf(tx->arena, "a worker for jobs of type " STR_FMT ", for " STR_FMT,
                            STR_ARG(m->job_type), STR_ARG(since(tx, m)));
    if (m->ref.len)
        return arena_printf(tx->arena, "its command, run " STR_FMT ", for " STR_FMT,
                            STR_ARG(m->ref), STR_ARG(since(tx, m)));
    if (work && work->by == WORK_COMMAND)
        return arena_printf(tx->arena, "a runner for its command, for " STR_FMT,
                            STR_ARG(since(tx, m)));
    if (m->item >= 0)
        return arena_printf(tx->arena, "item %lld of step " STR_FMT " to be reported, for " STR_FMT,
                            (long long)m->item, STR_ARG(where), STR_ARG(since(tx, m)));
    return arena_printf(tx->arena, "step " STR_FMT " to be reported, for " STR_FMT, STR_ARG(where),
                        STR_ARG(since(tx, m)));
}

static bool has_arrived(const struct execution_rest *r, const struct mark *at, str flow)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->marks[i].status == MARK_JOIN && r->marks[i].scope == at->scope &&
            str_eq(r->marks[i].node, at->node) && str_eq(r->marks[i].via, flow))
            return true;
    return false;
}

/* The ways into a join by which nothing has come yet: the first of them, since there may be thousands. */
static str waits_join(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    const struct graph_node *join = m->at == GRAPH_NONE ? NULL : &r->graph->nodes[m->at];
    struct buf out = buf_in(tx->arena);
    int told = 0;

    for (uint16_t i = 0; join && i < join->in_count && told <= WAYS_SHOWN; i++) {
        const struct graph_flow *f = &r->graph->flows[join->in[i]];
        if (has_arrived(r, m, f->id))
            continue;
        if (told++ == WAYS_SHOWN)
            buf_add(&out, STR(" and more"));
        else
            buf_printf(&out, "%s" STR_FMT, out.len ? ", " : "",
                       STR_ARG(place_of(r->graph, f->source)));
    }
    if (!out.len)
        buf_add(&out, STR("the other ways into it"));
    return buf_str(&out);
}

static str waits_backoff(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    (void)r;
    return arena_printf(tx->arena, "until " STR_FMT " for attempt %lld",
                        STR_ARG(clock_time(tx, m->timer_ms)), (long long)m->attempt + 1);
}

static str waits_loop(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    (void)r;
    return arena_printf(tx->arena, "%lld of %lld items", (long long)(m->total - m->done),
                        (long long)m->total);
}

static str waits_incident(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    for (size_t i = 0; i < r->incident_count; i++)
        if (r->incidents[i].n == m->n && r->incidents[i].scope == m->scope)
            return arena_printf(tx->arena, "a person, for " STR_FMT ": incident " STR_FMT,
                                STR_ARG(since(tx, m)), STR_ARG(r->incidents[i].id));
    return STR("a person: see incident.list");
}

/* A check that nobody has begun yet names what it needs: its runner may be away for long. */
static str waits_check(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    str folder = r->e->project_dir;
    struct run run;

    if (run_load(tx, m->ref, &run))
        return STR("its evidence to be checked");
    if (run.status == RUN_PENDING)
        return arena_printf(tx->arena,
                            "a runner that takes commands%s" STR_FMT
                            " to check its evidence (run " STR_FMT "), for " STR_FMT,
                            folder.len ? " in " : "", STR_ARG(folder), STR_ARG(run.id),
                            STR_ARG(span(tx, tx->now_ms - run.created_at_ms)));
    return arena_printf(tx->arena, "its evidence to be checked, run " STR_FMT ", for " STR_FMT,
                        STR_ARG(run.id), STR_ARG(span(tx, tx->now_ms - run.created_at_ms)));
}

static str waits_approval(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    for (size_t i = 0; i < r->approval_count; i++) {
        const struct approval *p = &r->approvals[i];
        bool choose = str_eq(p->kind, STR("select_variant"));
        if (p->n == m->n && p->scope == m->scope)
            return arena_printf(tx->arena,
                                "a person: %s " STR_FMT " (baton inbox approve " STR_FMT
                                "%s), for " STR_FMT,
                                choose ? "choose a variant of" : "approve", STR_ARG(p->node),
                                STR_ARG(p->id), choose ? " --variant NAME" : "",
                                STR_ARG(since(tx, m)));
    }
    return STR("a person: see 'baton inbox'");
}

static str waits_held(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    (void)tx, (void)m;
    return r->e->failing ? STR("nothing: the execution is failing, so it is not begun")
                         : STR("the execution to be resumed");
}

static str waits_ready(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    return arena_printf(tx->arena, "phase " STR_FMT " to be told active, for " STR_FMT,
                        STR_ARG(m->at == GRAPH_NONE ? m->node : place_of(r->graph, m->at)),
                        STR_ARG(since(tx, m)));
}

/* What is not here has something left to do. */
static str (*const waits[MARK_STATUS_COUNT])(struct tx *tx, const struct execution_rest *r,
                                             const struct mark *m) = {
    [MARK_WORK] = waits_work,   [MARK_JOIN] = waits_join,         [MARK_BACKOFF] = waits_backoff,
    [MARK_LOOP] = waits_loop,   [MARK_INCIDENT] = waits_incident, [MARK_HELD] = waits_held,
    [MARK_CHECK] = waits_check, [MARK_APPROVAL] = waits_approval, [MARK_READY] = waits_ready,
};

str mark_waits_for(struct tx *tx, const struct execution_rest *r, const struct mark *m)
{
    if (waits[m->status] && !m->todo)
        return waits[m->status](tx, r, m);
    return r->e->status == EXECUTION_PAUSED ? STR("the execution to be resumed")
           : r->e->halted                   ? STR("a person: it has moved too often by itself")
                                            : STR("its turn");
}

/* Of a loop its body says it for all of its instances. */
str step_waits_for(struct tx *tx, const struct execution_rest *r, const struct graph_step *s)
{
    struct buf out = buf_in(tx->arena);
    uint16_t step = (uint16_t)(s - r->graph->steps);
    int told = 0;

    for (size_t i = 0; i < r->count && told <= WAYS_SHOWN; i++) {
        const struct mark *m = &r->marks[i];
        if (m->at == GRAPH_NONE || r->graph->nodes[m->at].step != step || m->status == MARK_DONE ||
            (m->item >= 0 && m->status != MARK_INCIDENT && m->status != MARK_CHECK))
            continue;
        str words = mark_waits_for(tx, r, m);
        if (out.len && memmem(out.at, out.len, words.at, words.len))
            continue; /* several may wait for the same */
        if (told++ == WAYS_SHOWN)
            buf_add(&out, STR(" and more"));
        else
            buf_printf(&out, "%s" STR_FMT, out.len ? "; " : "", STR_ARG(words));
    }
    return buf_str(&out);
}

/* A job begins when a worker takes it; while its evidence is looked for the attempt goes on. */
static bool at_work(const struct mark *m)
{
    return (m->status == MARK_WORK && (!m->job_type.len || m->worker.len)) ||
           m->status == MARK_PROVE || m->status == MARK_CHECK;
}

int64_t step_attempt_began(const struct execution_rest *r, const struct graph_step *s)
{
    uint16_t step = (uint16_t)(s - r->graph->steps);
    int64_t began_ms = 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct mark *m = &r->marks[i];
        if (m->at != GRAPH_NONE && r->graph->nodes[m->at].step == step && at_work(m) &&
            (!began_ms || m->since_ms < began_ms))
            began_ms = m->since_ms;
    }
    return began_ms;
}
