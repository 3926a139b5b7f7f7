/* variable.c: what an execution knows, and what a mark sees of it. */
#include <assert.h>

#include "core/exec/private.h"
#include "core/stored.h"

/* ---- names ---- */

/* An instance of a loop sees its item and its number before all else. */
err scope_of(struct exec *x, const struct mark *m, struct exec_scope *out)
{
    const struct graph_node *node = &x->graph->nodes[m->at];
    struct arena *a = x->tx->arena;
    struct mark *loop;

    *out = (struct exec_scope){ .outer = { .vars = &x->vars } };
    if (!m->scope)
        return NULL;
    TRY(mark_find(x, 0, m->scope, &loop));
    if (!loop)
        return stored_damage(x->tx, THING("execution", x->row.id),
                             "an instance of a loop is there without the loop");
    if (!loop->items)
        TRY(stored_parse_as(x->tx, THING("execution", x->row.id), loop->vars, JSON_ARRAY,
                            &loop->items));
    const struct json *item = json_at(loop->items, (size_t)m->item);
    out->item = json_object();
    json_put(a, &out->item, node->loop->as, item ? *item : json_null());
    if (!str_eq(node->loop->as, STR("loopCounter")))
        json_put(a, &out->item, STR("loopCounter"), json_int(a, m->item + 1));
    out->inner = (struct feel_scope){ &out->item, &out->outer };
    return NULL;
}

const struct feel_scope *scope_names(const struct exec_scope *s)
{
    return s->inner.vars ? &s->inner : &s->outer;
}

/* ---- setting ---- */

err vars_set(struct exec *x, str name, const struct json *value)
{
    const struct json *there = json_find(&x->vars, name);

    x->vars_bytes += json_print_size(value) + name.len + 4;
    x->vars_changed = true;
    if (there)
        *(struct json *)there = *value;
    else
        json_put(x->tx->arena, &x->vars, name, *value);
    return NULL;
}

err vars_set_all(struct exec *x, const struct json *values)
{
    for (uint32_t i = 0; values && i < values->len; i++)
        TRY(vars_set(x, json_name(&values->members[i]), &values->members[i].value));
    return NULL;
}

/* What was replaced is counted too, until it seems to be too much. */
str vars_trouble(struct exec *x)
{
    if (x->vars_bytes > EXECUTION_VARIABLES_MAX)
        x->vars_bytes = json_print_size(&x->vars);
    if (x->vars_bytes <= EXECUTION_VARIABLES_MAX)
        return STR("");
    return arena_printf(x->tx->arena,
                        "the variables have %zu bytes, at most %u are allowed: keep what is large "
                        "in a state or a file, and its name here",
                        x->vars_bytes, EXECUTION_VARIABLES_MAX);
}

/* ---- evaluating ---- */

err settings_eval(struct exec *x, const struct mark *m, const struct graph_settings *s,
                  struct json *out, str *trouble)
{
    struct tx *tx = x->tx;
    struct exec_scope scope;

    *out = json_object();
    *trouble = STR("");
    TRY(scope_of(x, m, &scope));
    for (size_t i = 0; i < s->count; i++) {
        struct feel_result r;
        err e = feel_eval(tx->arena, s->at[i].value, scope_names(&scope), tx->now_ms, &r);
        if (e) {
            *trouble = arena_printf(tx->arena, "\"" STR_FMT "\": " STR_FMT, STR_ARG(s->at[i].name),
                                    STR_ARG(e->message));
            return NULL;
        }
        json_put(tx->arena, out, s->at[i].name, *r.value);
    }
    return NULL;
}

err work_input(struct exec *x, const struct mark *m, struct json *out, str *trouble)
{
    const struct graph_work *work = x->graph->nodes[m->at].work;
    struct arena *a = x->tx->arena;
    struct exec_scope scope;

    if (work->has_with)
        return settings_eval(x, m, &work->with, out, trouble);
    *trouble = STR("");
    TRY(scope_of(x, m, &scope));
    *out = json_object();
    for (uint32_t i = 0; i < x->vars.len; i++) {
        const struct json_member *v = &x->vars.members[i];
        if (!scope.inner.vars || !json_find(&scope.item, json_name(v)))
            json_put(a, out, json_name(v), v->value);
    }
    for (uint32_t i = 0; scope.inner.vars && i < scope.item.len; i++)
        json_put(a, out, json_name(&scope.item.members[i]), scope.item.members[i].value);
    return NULL;
}
