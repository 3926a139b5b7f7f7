/* loop.c: what is done once for each item of a list. */
#include <assert.h>

#include "core/exec/private.h"

enum { INSTANCES_AT_ONCE = 64 };

static const struct graph_node *node_of(const struct exec *x, const struct mark *m)
{
    return &x->graph->nodes[m->at];
}

/* Instances begin as many as may be at work at once, so many in one move. */
err loop_more(struct exec *x, struct mark *m)
{
    const struct graph_loop *loop = node_of(x, m)->loop;
    int64_t at_once = loop->at_once ? loop->at_once : m->total;
    int64_t begun = 0;

    mark_rest(x, m, MARK_LOOP);
    for (; m->started < m->total && m->live < at_once && begun < INSTANCES_AT_ONCE; begun++) {
        struct mark *instance = mark_new(x, m->n, m->at, GRAPH_NONE);
        instance->item = m->started++;
        m->live++;
        mark_todo(x, instance, MARK_ENTER);
    }
    if (m->started < m->total && m->live < at_once)
        mark_todo(x, m, MARK_MORE);
    return NULL;
}

/* Each name that the definition sets, with the list of its values in all instances. */
static struct json results_gather(struct exec *x, const struct graph_node *node,
                                  const struct json *results)
{
    size_t count = node->work ? node->work->output_count : node->settings.count;
    struct json out = json_object();

    for (size_t i = 0; i < count; i++) {
        str name = node->work ? node->work->outputs[i] : node->settings.at[i].name;
        struct json list = json_array();
        for (uint32_t k = 0; k < results->len; k++) {
            const struct json *value = json_find(&results->items[k], name);
            json_push(x->tx->arena, &list, value ? *value : json_null());
        }
        if (!json_find(&out, name))
            json_put(x->tx->arena, &out, name, list);
    }
    return out;
}

static err loop_close(struct exec *x, struct mark *m, struct json *outputs)
{
    struct json *list = arena_zero(x->tx->arena, (size_t)(m->total + 1) * sizeof *list);
    struct step *s = step_of(x, m);
    size_t at = 0;

    TRY(marks_know(x, m->n));
    for (size_t i = 0; i < MARK_BUCKETS; i++)
        for (struct mark *one = x->marks[i]; one; one = one->next) {
            const struct json *result;
            if (one->dead || one->scope != m->n)
                continue;
            assert(one->status == MARK_DONE && one->item < m->total);
            TRY(json_parse_own(x->tx->arena, one->vars, &result));
            list[one->item] = *result;
            mark_gone(x, one);
            at++;
        }
    assert((int64_t)at == m->total);
    struct json results = { .kind = JSON_ARRAY, .len = (uint32_t)at, .items = list };
    *outputs = results_gather(x, node_of(x, m), &results);
    m->vars = STR("");
    TRY(vars_set_all(x, outputs));
    if (s && s->status == STEP_PENDING)
        step_become(x, s, STEP_IN_PROGRESS);
    return s ? step_note(x, s, "results", results) : NULL;
}

/* All of them are done: a person decides on them together, or the loop goes on. */
static err loop_end(struct exec *x, struct mark *m, const struct json *outputs, bool *leaves)
{
    const struct graph_node *node = node_of(x, m);
    struct step *s = step_of(x, m);

    *leaves = node->step == GRAPH_NONE || !x->graph->steps[node->step].approval;
    if (!*leaves)
        return approval_ask(x, m, outputs);
    if (s)
        step_become(x, s, STEP_COMPLETED);
    return NULL;
}

err instance_done(struct exec *x, struct mark *m, const struct json *outputs)
{
    struct mark *loop;
    struct json all;
    bool leaves;

    exec_move(x, m, "completed");
    m->vars = json_printed(x->tx->arena, outputs);
    mark_rest(x, m, MARK_DONE);
    TRY(mark_find(x, 0, m->scope, &loop));
    assert(loop && loop->live > 0);
    loop->live--;
    loop->done++;
    loop->changed = true;
    if (loop->done == loop->total) {
        assert(!loop->todo);
        TRY(loop_close(x, loop, &all));
        exec_move(x, loop, "closed");
        TRY(loop_end(x, loop, &all, &leaves));
        if (leaves)
            mark_todo(x, loop, MARK_LEAVE);
    } else if (loop->started < loop->total && !loop->todo) {
        mark_todo(x, loop, MARK_MORE);
    }
    return NULL;
}

err loop_open(struct exec *x, struct mark *m, bool *leaves)
{
    int64_t most = team_rules_of(x->tx)->loop_items;
    const struct graph_loop *loop = node_of(x, m)->loop;
    struct step *s = step_of(x, m);
    struct exec_scope scope;
    struct feel_result r;
    struct json none;

    *leaves = false;
    TRY(scope_of(x, m, &scope));
    err e = feel_eval(x->tx->arena, loop->items, scope_names(&scope), x->tx->now_ms, &r);
    if (e || !json_is(r.value, JSON_ARRAY) || r.value->len > most)
        return incident_raise(
            x, m, MARK_ENTER, "items",
            arena_printf(x->tx->arena,
                         "for_each of " STR_FMT
                         " expected a list of at most %lld items from " STR_FMT ", found %s" STR_FMT
                         ": set what it names, and resolve this",
                         STR_ARG(m->node), (long long)most, STR_ARG(feel_text(loop->items)),
                         e ? "" : json_kind_name(r.value->kind),
                         STR_ARG(e              ? e->message
                                 : r.reason.len ? arena_printf(x->tx->arena, " (" STR_FMT ")",
                                                               STR_ARG(r.reason))
                                 : json_is(r.value, JSON_ARRAY)
                                     ? arena_printf(x->tx->arena, " of %u items", r.value->len)
                                     : STR(""))));
    exec_move(x, m, "opened");
    m->total = r.value->len;
    m->started = m->done = m->live = 0;
    m->items = r.value;
    m->vars = json_printed(x->tx->arena, r.value);
    if (s)
        step_become(x, s, STEP_IN_PROGRESS);
    if (m->total)
        return loop_more(x, m);
    TRY(loop_close(x, m, &none));
    return loop_end(x, m, &none, leaves);
}
