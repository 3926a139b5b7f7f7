/* reopen.c: a step and all after it are done anew.
 *
 * In a graph of steps the marking follows from what became of the steps: where a prerequisite is done and
 * what follows is not, a token stands between them. So going back needs no history of tokens. */
#include <assert.h>

#include "core/exec/private.h"
#include "core/stored.h"

static bool is_done(const struct step *s)
{
    return s->status == STEP_COMPLETED || s->status == STEP_SKIPPED;
}

/* The steps to do anew. Of an ended execution, all that had not been done are among them: their tokens
 * are gone, too. */
static const bool *steps_again(struct exec *x, uint16_t step)
{
    const bool *down = graph_downstream(x->tx->arena, x->graph, step);
    bool *again = arena_zero(x->tx->arena, x->graph->step_count);
    bool ended = !execution_is_open(x->row.status);

    for (uint16_t i = 0; i < x->graph->step_count; i++)
        again[i] = down[i] || (ended && !is_done(exec_step(x, i)));
    return again;
}

static bool is_of(const struct exec *x, const struct mark *m, const bool *again)
{
    uint16_t step = x->graph->nodes[m->at].step;

#ifdef PLANT_MOVER_JOIN_SURVIVES
    if (m->status == MARK_JOIN)
        return false;
#endif
    return step != GRAPH_NONE && again[step];
}

static err marks_cancel(struct exec *x, const bool *again, str why)
{
    struct mark *m;

    TRY(marks_know_all(x));
    for (m = mark_after(x, 0); m; m = mark_after(x, m->n))
        if (is_of(x, m, again) && m->status != MARK_DONE)
            exec_move(x, m, "cancelled");
    for (m = mark_after(x, 0); m; m = mark_after(x, m->n))
        if (is_of(x, m, again) && !m->scope)
            TRY(mark_cancel(x, m, why));
    return NULL;
}

static struct json violation(struct exec *x, str why)
{
    struct json list = json_array();

    json_push(x->tx->arena, &list, json_string(why));
    return list;
}

/* What was is history; a retry counts what the step has already been tried. */
static err step_again(struct exec *x, struct step *s, bool retry, str why)
{
    static const char *const kept[] = { "outputs", "evidence", "approval" };
    struct arena *a = x->tx->arena;
    struct json fresh = json_object(), list = json_array(), entry = json_object();
    const struct json *data, *before;

    if (s->status == STEP_PENDING && !s->stored)
        return NULL;
    TRY(stored_parse_as(x->tx, THING("execution", x->row.id), s->data, JSON_OBJECT, &data));
    before = json_get(data, "history");
    for (uint32_t i = 0; before && i < before->len; i++)
        json_push(a, &list, before->items[i]);
    if (s->status != STEP_PENDING) {
        json_put(a, &entry, STR("attempt"), json_int(a, s->attempt));
        json_put(a, &entry, STR("outcome"), json_string(STR("reopened")));
        json_put(a, &entry, STR("status"), json_string(team_name(&step_words, (int)s->status)));
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            if (json_get(data, kept[i]))
                json_put(a, &entry, str_from(kept[i]), *json_get(data, kept[i]));
        if (why.len)
            json_put(a, &entry, STR("violations"), violation(x, why));
        json_push(a, &list, entry);
    }
    if (list.len)
        json_put(a, &fresh, STR("history"), list);
    if (json_get(data, "sessions"))
        json_put(a, &fresh, STR("sessions"), *json_get(data, "sessions"));
    s->data = json_printed(a, &fresh);
    s->before = retry ? s->attempt : 0;
    s->attempt = retry ? s->attempt + 1 : 0;
    s->opened++;
    s->changed = true;
    if (s->status != STEP_PENDING)
        step_become(x, s, STEP_PENDING);
    return NULL;
}

static uint16_t flow_between(const struct graph *g, uint16_t from, uint16_t to)
{
    const struct graph_node *node = &g->nodes[to];

    for (uint16_t i = 0; i < node->in_count; i++)
        if (g->flows[node->in[i]].source == from)
            return node->in[i];
    return GRAPH_NONE;
}

static void token_put(struct exec *x, uint16_t step, uint16_t via)
{
    struct mark *m = mark_new(x, 0, x->graph->steps[step].entry, via);

    exec_moved(x, x->steps[step].node, "reopened", m->n);
    mark_todo(x, m, MARK_ENTER);
}

/* It is done, and its token has yet to go on: it comes by itself. */
static bool is_leaving(struct exec *x, uint16_t step)
{
    for (struct mark *m = mark_after(x, 0); m; m = mark_after(x, m->n))
        if (m->at == x->graph->steps[step].node && !m->scope &&
            (m->status == MARK_LEAVE || (m->status == MARK_INCIDENT && m->again == MARK_LEAVE)))
            return true;
    return false;
}

/* A token for each prerequisite that is done and stays so; without any, one that begins. */
static void tokens_put(struct exec *x, uint16_t step, const bool *again)
{
    const struct graph_step *s = &x->graph->steps[step];

    if (!s->after_count)
        token_put(x, step, GRAPH_NONE);
    for (size_t i = 0; i < s->after_count; i++) {
        uint16_t before = s->after[i];
        if (again[before] || !is_done(exec_step(x, before)) || is_leaving(x, before))
            continue;
        uint16_t via = flow_between(x->graph, x->graph->steps[before].node, s->entry);
        assert(via != GRAPH_NONE);
        token_put(x, step, via);
    }
}

err exec_reopen(struct exec *x, uint16_t step, bool retry, str why)
{
    const bool *again = steps_again(x, step);

    assert(x->graph->kind != GRAPH_NODES);
    TRY(marks_cancel(x, again, STR("an earlier step is done anew")));
    for (uint16_t i = 0; i < x->graph->step_count; i++)
        if (again[i])
            TRY(step_again(x, exec_step(x, i), retry && i == step, i == step ? why : STR("")));
    if (!execution_is_open(x->row.status)) {
        assert(execution_may_become(x->row.status, EXECUTION_RUNNING));
        x->row.status = EXECUTION_RUNNING;
        x->row.ended_at_ms = 0;
        x->row.result = STR("");
        x->result_changed = true;
    }
    x->row.failing = false;
    x->row.reason = STR("");
    for (uint16_t i = 0; i < x->graph->step_count; i++)
        if (again[i])
            tokens_put(x, i, again);
    return NULL;
}
