/* eval.c: what a compiled expression is worth, given its variables.
 *
 * A walk over the nodes, no deeper than the expression is nested: long chains are one node with many
 * operands. Names that for, some, every, a filter or a context bind are a list on the stack. When the
 * budget is used up every step answers at once, and the answer is void. */
#include <assert.h>

#include "base/hash.h"
#include "flow/feel/private.h"

struct feel_binding {
    const struct feel_name *name; /* NULL: only the members */
    bool members;                 /* the entries of the value can be named, too */
    struct feel_value value;
    const struct feel_binding *outer;
};

static struct feel_value eval(struct feel_run *run, const struct feel_node *n);

static const struct feel_node *operand(const struct feel_run *run, const struct feel_node *n)
{
    return &run->nodes[n->first];
}

static const struct feel_node *following(const struct feel_run *run, const struct feel_node *n)
{
    return n->next ? &run->nodes[n->next] : NULL;
}

/* ---- names ---- */

static struct feel_value eval_constant(struct feel_run *run, const struct feel_node *n)
{
    (void)run;
    return *n->constant;
}

static bool name_bound(struct feel_run *run, const struct feel_name *name, struct feel_value *out)
{
    for (const struct feel_binding *b = run->bindings; b; b = b->outer) {
        if (b->name == name) {
            *out = b->value;
            return true;
        }
        if (b->members && b->value.kind == FEEL_CONTEXT &&
            feel_field(run, b->value, name->text, name->key, out))
            return true;
    }
    return false;
}

static struct feel_value eval_name(struct feel_run *run, const struct feel_node *n)
{
    struct feel_value v;

    if (run->bindings && name_bound(run, n->name, &v))
        return v;
    for (const struct feel_scope *s = run->scope; s; s = s->outer)
        if (s->vars && feel_field(run, feel_of_json(s->vars), n->name->text, n->name->key, &v)) {
            if (v.kind != FEEL_NULL)
                return v;
            run->at = n->at;
            return feel_null_name(run, "'\3' is null", n->name->text, v);
        }
    run->at = n->at;
    return feel_null_name(run, "there is no variable '\3'", n->name->text, v);
}

/* ---- paths ---- */

static struct feel_value member(struct feel_run *run, const struct feel_node *n,
                                struct feel_value of)
{
    struct feel_value v;

    run->at = n->at;
    if (of.kind == FEEL_CONTEXT) {
        if (!feel_field(run, of, n->name->text, n->name->key, &v))
            return feel_null_name(run, "there is no '\3' in it", n->name->text, of);
        return v.kind == FEEL_NULL && !v.reason
                   ? feel_null_name(run, "'\3' is null", n->name->text, v)
                   : v;
    }
    if (of.kind == FEEL_NULL)
        return feel_null_from(run, of);
    if (feel_is_time(of) && feel_time_part(of, n->name->text, &v))
        return v;
    return feel_null_name(run, "there is no '\3' in \1", n->name->text, of);
}

/* The member of each item. */
static struct feel_value member_of_each(struct feel_run *run, const struct feel_node *n,
                                        struct feel_value list)
{
    struct feel_value *items = feel_values(run, list.len);
    uint32_t count = 0;

    for (; items && count < list.len && feel_spend(run, 1); count++)
        items[count] = member(run, n, feel_item(list, count));
    return feel_list(items, count);
}

static struct feel_value item_at(struct feel_run *run, const struct feel_node *n,
                                 struct feel_value list, struct feel_value position)
{
    int64_t i;

    run->at = n->at;
    if (!feel_number_to_int(position, &i) || i == 0)
        return feel_null_of(run, "expected a position from 1, or from -1 at the end, found \1",
                            position, list);
    if (i > list.len || i < -(int64_t)list.len)
        return feel_null_of(run, "the list has \2 items, so there is none at \1", position,
                            feel_int(list.len));
    struct feel_value v = feel_item(list, (uint32_t)(i > 0 ? i - 1 : i + list.len));
    return v.kind == FEEL_NULL ? feel_null_from(run, v) : v;
}

static struct feel_value filter_with(struct feel_run *run, const struct feel_node *n,
                                     const struct feel_name *item, struct feel_value v)
{
    struct feel_binding b = { .name = item, .members = true, .value = v, .outer = run->bindings };
    run->bindings = &b;
    struct feel_value answer = eval(run, operand(run, n));
    run->bindings = b.outer;
    return answer;
}

/* A condition picks items; a number is a position. Which of them it is shows at the first item. */
static struct feel_value filtered(struct feel_run *run, const struct feel_node *n,
                                  struct feel_value list)
{
    const struct feel_node *condition = operand(run, n);
    struct feel_value none = { 0 }, *items = NULL;
    uint32_t count = 0;

    run->at = n->at;
    if (list.kind == FEEL_NULL)
        return feel_null_from(run, list);
    if (list.kind != FEEL_LIST)
        return feel_null_of(run, "expected a list in front of '[', found \1", list, list);
    if (condition->kind == NODE_CONSTANT && feel_is_number(*condition->constant))
        return item_at(run, n, list, *condition->constant);

    struct feel_value answer =
        filter_with(run, n, n->name, list.len > 0 ? feel_item(list, 0) : none);
    if (feel_is_number(answer))
        return item_at(run, n, list, answer);
    for (uint32_t i = 0; i < list.len && !run->over; i++) {
        struct feel_value item = feel_item(list, i);
        if (i > 0)
            answer = filter_with(run, n, n->name, item);
        if (!feel_is_true(answer))
            continue;
        if (!items && !(items = feel_values(run, list.len - i)))
            break;
        items[count++] = item;
    }
    return feel_list(items, count);
}

static struct feel_value eval_path(struct feel_run *run, const struct feel_node *n)
{
    const struct feel_node *step = operand(run, n);
    struct feel_value v = eval(run, step);

    while ((step = following(run, step)) && feel_spend(run, 1)) {
        if (step->kind == NODE_FILTER)
            v = filtered(run, step, v);
        else if (v.kind == FEEL_LIST)
            v = member_of_each(run, step, v);
        else
            v = member(run, step, v);
    }
    return v;
}

/* ---- arithmetic ---- */

/* A chain of operands, from the left. One null makes it null. */
static struct feel_value chain(struct feel_run *run, const struct feel_node *n,
                               struct feel_value (*join)(struct feel_run *run, bool link,
                                                         struct feel_value a, struct feel_value b))
{
    const struct feel_node *o = operand(run, n);
    struct feel_value total = eval(run, o);

    while ((o = following(run, o)) && !run->over) {
        struct feel_value v = eval(run, o);
        run->at = o->at;
        if (total.kind == FEEL_NULL)
            return feel_null_from(run, total);
        if (v.kind == FEEL_NULL)
            return feel_null_from(run, v);
        total = join(run, o->link, total, v);
    }
    return total;
}

static struct feel_value eval_sum(struct feel_run *run, const struct feel_node *n)
{
    return chain(run, n, feel_sum);
}

static struct feel_value eval_product(struct feel_run *run, const struct feel_node *n)
{
    return chain(run, n, feel_product);
}

static struct feel_value eval_power(struct feel_run *run, const struct feel_node *n)
{
    return chain(run, n, feel_power);
}

static struct feel_value eval_negate(struct feel_run *run, const struct feel_node *n)
{
    struct feel_value v = eval(run, operand(run, n));

    run->at = n->at;
    return feel_negated(run, v);
}

/* ---- comparisons ---- */

static struct feel_value eval_compare(struct feel_run *run, const struct feel_node *n)
{
    const struct feel_node *left = operand(run, n);
    struct feel_value a = eval(run, left), b = eval(run, following(run, left));

    run->at = n->at;
    return feel_compare(run, n->op, a, b);
}

/* Of truth values: any false decides, else any null leaves it open. */
static struct feel_value both(struct feel_value a, struct feel_value b)
{
    if (a.kind == FEEL_BOOL && !a.len)
        return a;
    if (b.kind == FEEL_BOOL && !b.len)
        return b;
    return a.kind == FEEL_NULL ? a : b;
}

static struct feel_value between(struct feel_run *run, struct feel_value v, struct feel_value from,
                                 struct feel_value to, unsigned open)
{
    return both(feel_compare(run, open & RANGE_FROM_OPEN ? OP_MORE : OP_AT_LEAST, v, from),
                feel_compare(run, open & RANGE_TO_OPEN ? OP_LESS : OP_AT_MOST, v, to));
}

static struct feel_value eval_between(struct feel_run *run, const struct feel_node *n)
{
    const struct feel_node *value = operand(run, n), *from = following(run, value);
    struct feel_value v = eval(run, value), a = eval(run, from),
                      b = eval(run, following(run, from));

    run->at = n->at;
    return between(run, v, a, b, 0);
}

/* A list of values holds it or not, whatever else it holds. */
static struct feel_value among(struct feel_run *run, struct feel_value v, struct feel_value list)
{
    for (uint32_t i = 0; i < list.len && feel_spend(run, 1); i++)
        if (feel_equal(run, feel_item(list, i), v))
            return feel_bool(true);
    return feel_bool(false);
}

static struct feel_value passes(struct feel_run *run, const struct feel_node *test,
                                struct feel_value v)
{
    if (test->kind == NODE_RANGE) {
        const struct feel_node *from = operand(run, test);
        struct feel_value a = eval(run, from), b = eval(run, following(run, from));
        run->at = test->at;
        return between(run, v, a, b, test->op);
    }
    struct feel_value other = eval(run, test->kind == NODE_TEST ? operand(run, test) : test);
    run->at = test->at;
    if (test->kind == NODE_TEST)
        return feel_compare(run, test->op, v, other);
    if (other.kind == FEEL_LIST)
        return among(run, v, other);
    return feel_compare(run, OP_EQUAL, v, other);
}

static struct feel_value eval_in(struct feel_run *run, const struct feel_node *n)
{
    const struct feel_node *o = operand(run, n);
    struct feel_value v = eval(run, o), open = feel_bool(false);

    while ((o = following(run, o)) && !run->over) {
        struct feel_value answer = passes(run, o, v);
        if (feel_is_true(answer))
            return answer;
        if (answer.kind == FEEL_NULL)
            open = answer;
    }
    return open;
}

static struct feel_value eval_instance(struct feel_run *run, const struct feel_node *n)
{
    struct feel_value v = eval(run, operand(run, n));

    if (n->op == 0) /* Any */
        return feel_bool(v.kind != FEEL_NULL);
    return feel_bool(v.kind == n->op || (n->op == FEEL_NUMBER && v.kind == FEEL_LONG));
}

/* ---- and, or, if ---- */

/* Kleene's: `decides` is the value that one operand alone decides with. */
static struct feel_value logic(struct feel_run *run, const struct feel_node *n, bool decides)
{
    struct feel_value open = feel_bool(!decides);

    for (const struct feel_node *o = operand(run, n); o && !run->over; o = following(run, o)) {
        struct feel_value v = eval(run, o);
        if (v.kind == FEEL_BOOL) {
            if ((bool)v.len == decides)
                return v;
            continue;
        }
        run->at = o->at;
        open =
            v.kind == FEEL_NULL
                ? feel_null_from(run, v)
                : feel_null_of(run,
                               "expected true or false on both sides of 'and' and 'or', found \1",
                               v, v);
    }
    return open;
}

static struct feel_value eval_and(struct feel_run *run, const struct feel_node *n)
{
    return logic(run, n, false);
}

static struct feel_value eval_or(struct feel_run *run, const struct feel_node *n)
{
    return logic(run, n, true);
}

static struct feel_value eval_if(struct feel_run *run, const struct feel_node *n)
{
    const struct feel_node *condition = operand(run, n), *yes = following(run, condition);

    return eval(run, feel_is_true(eval(run, condition)) ? yes : following(run, yes));
}

/* ---- for, some, every ---- */

struct loop {
    struct feel_value *items; /* for: what was returned; grows */
    uint32_t count, room;
    uint8_t kind;
    struct feel_value answer; /* some, every: so far; for: null when it cannot be said */
    bool done;
};

static void loop_keep(struct feel_run *run, struct loop *l, struct feel_value v)
{
    if (l->count == l->room) {
        uint32_t room = l->room ? l->room * 2 : 8;
        l->items =
            arena_grow(run->arena, l->items, l->room * sizeof *l->items, room * sizeof *l->items);
        l->room = room;
    }
    l->items[l->count++] = v;
}

static void loop_body(struct feel_run *run, struct loop *l, const struct feel_node *body)
{
    struct feel_value v = eval(run, body);
    bool decides = l->kind == NODE_SOME;

    run->at = body->at;
    if (l->kind == NODE_FOR) {
        loop_keep(run, l, v);
    } else if (v.kind == FEEL_NULL) {
        l->answer = feel_null_from(run, v);
    } else if (v.kind != FEEL_BOOL) {
        l->answer = feel_null_of(run, "expected a condition behind 'satisfies', found \1", v, v);
    } else if ((bool)v.len == decides) {
        l->answer = v;
        l->done = true;
    }
}

static void loop_over(struct feel_run *run, struct loop *l, const struct feel_node *n);

static void loop_turn(struct feel_run *run, struct loop *l, const struct feel_node *n,
                      struct feel_value v)
{
    struct feel_binding b = { .name = n->name, .value = v, .outer = run->bindings };
    run->bindings = &b;
    loop_over(run, l, following(run, n));
    run->bindings = b.outer;
}

static void loop_range(struct feel_run *run, struct loop *l, const struct feel_node *n,
                       struct feel_value from, struct feel_value to)
{
    int64_t first, last;

    if (!feel_is_number(from) || !feel_is_number(to) || !feel_number_to_int(from, &first) ||
        !feel_number_to_int(to, &last)) {
        l->answer = from.kind == FEEL_NULL ? feel_null_from(run, from)
                    : to.kind == FEEL_NULL
                        ? feel_null_from(run, to)
                        : feel_null_of(run, "expected whole numbers around '..', found \1 and \2",
                                       from, to);
        l->done = true;
        return;
    }
    for (int64_t i = first; !l->done && feel_spend(run, 1); i += first <= last ? 1 : -1) {
        loop_turn(run, l, n, feel_int(i));
        if (i == last)
            break;
    }
}

/* One iterator, and inside it the rest; behind the last one stands the body. */
static void loop_over(struct feel_run *run, struct loop *l, const struct feel_node *n)
{
    if (n->kind != NODE_ITERATOR) {
        loop_body(run, l, n);
        return;
    }
    const struct feel_node *from = operand(run, n), *to = following(run, from);
    struct feel_value list = eval(run, from);
    if (to) {
        struct feel_value end = eval(run, to);
        run->at = n->at;
        loop_range(run, l, n, list, end);
        return;
    }
    run->at = n->at;
    if (list.kind != FEEL_LIST) {
        l->answer = list.kind == FEEL_NULL
                        ? feel_null_from(run, list)
                        : feel_null_of(run, "expected a list behind 'in', found \1", list, list);
        l->done = true;
        return;
    }
    for (uint32_t i = 0; i < list.len && !l->done && feel_spend(run, 1); i++)
        loop_turn(run, l, n, feel_item(list, i));
}

static struct feel_value eval_loop(struct feel_run *run, const struct feel_node *n)
{
    struct loop l = { .kind = n->kind, .answer = feel_bool(n->kind == NODE_EVERY) };

    loop_over(run, &l, operand(run, n));
    if (n->kind != NODE_FOR || l.answer.kind == FEEL_NULL)
        return l.answer;
    return feel_list(l.items, l.count);
}

/* ---- lists, contexts, calls ---- */

static uint32_t operand_count(const struct feel_run *run, const struct feel_node *n)
{
    uint32_t count = 0;
    for (const struct feel_node *o = n->first ? operand(run, n) : NULL; o; o = following(run, o))
        count++;
    return count;
}

static struct feel_value eval_list(struct feel_run *run, const struct feel_node *n)
{
    uint32_t count = operand_count(run, n);
    struct feel_value *items = feel_values(run, count);
    const struct feel_node *o = operand(run, n);

    for (uint32_t i = 0; items && i < count; i++, o = following(run, o))
        items[i] = eval(run, o);
    return feel_list(items, items ? count : 0);
}

/* An entry may name those before it. */
static struct feel_value eval_context(struct feel_run *run, const struct feel_node *n)
{
    uint32_t count = operand_count(run, n);
    struct feel_field *fields =
        feel_spend(run, count) ? ARENA_ARRAY(run->arena, struct feel_field, count) : NULL;
    struct feel_binding b = { .members = true, .outer = run->bindings };
    const struct feel_node *entry = operand(run, n);

    run->bindings = &b;
    for (uint32_t i = 0; fields && i < count; i++, entry = following(run, entry)) {
        b.value = feel_context(fields, i);
        struct feel_value v = eval(run, operand(run, entry));
        fields[i] = (struct feel_field){ entry->name->text, v };
    }
    run->bindings = b.outer;
    return feel_context(fields, fields ? count : 0);
}

#define ARGUMENTS_HERE 4

static struct feel_value eval_call(struct feel_run *run, const struct feel_node *n)
{
    uint32_t count = n->call->count;
    struct feel_value here[ARGUMENTS_HERE], *args = here;
    const struct feel_node *o = operand(run, n);

    if (count > ARGUMENTS_HERE && !(args = feel_values(run, count)))
        return (struct feel_value){ 0 };
    for (uint32_t i = 0; i < count; i++, o = following(run, o))
        args[i] = eval(run, o);
    run->at = n->at;
    if (run->over)
        return (struct feel_value){ 0 };
    return feel_function_run(run, n->call, args);
}

/* ---- all of it ---- */

static struct feel_value (*const evals[NODE_KINDS])(struct feel_run *, const struct feel_node *) = {
    [NODE_CONSTANT] = eval_constant,
    [NODE_NAME] = eval_name,
    [NODE_PATH] = eval_path,
    [NODE_NEGATE] = eval_negate,
    [NODE_SUM] = eval_sum,
    [NODE_PRODUCT] = eval_product,
    [NODE_POWER] = eval_power,
    [NODE_COMPARE] = eval_compare,
    [NODE_BETWEEN] = eval_between,
    [NODE_IN] = eval_in,
    [NODE_INSTANCE] = eval_instance,
    [NODE_AND] = eval_and,
    [NODE_OR] = eval_or,
    [NODE_IF] = eval_if,
    [NODE_FOR] = eval_loop,
    [NODE_SOME] = eval_loop,
    [NODE_EVERY] = eval_loop,
    [NODE_LIST] = eval_list,
    [NODE_CONTEXT] = eval_context,
    [NODE_CALL] = eval_call,
};

static struct feel_value eval(struct feel_run *run, const struct feel_node *n)
{
    if (!feel_spend(run, 1))
        return (struct feel_value){ 0 };
    assert(evals[n->kind]);
    return evals[n->kind](run, n);
}

struct feel_value feel_node_eval(struct feel_run *run, uint32_t node)
{
    return eval(run, &run->nodes[node]);
}

static const struct json json_truth[] = { { .kind = JSON_BOOL, .len = 0 },
                                          { .kind = JSON_BOOL, .len = 1 } };

static void give(struct feel_run *run, const struct feel *f, struct feel_value v,
                 struct feel_result *out)
{
    size_t bytes = FEEL_RESULT_MAX;

    *out = (struct feel_result){ .reason = STR("") };
    if (v.kind == FEEL_BOOL) {
        out->value = &json_truth[v.len];
        return;
    }
    if (v.in_place) {
        feel_to_json(run, v, &bytes, &(struct json){ 0 });
        out->value = v.json;
        return;
    }
    struct json *j = ARENA_NEW(run->arena, struct json);
    feel_to_json(run, v, &bytes, j);
    out->value = j;
    if (v.kind == FEEL_NULL)
        out->reason = feel_reason_text(run, f->text, v);
}

err feel_eval_within(struct arena *a, const struct feel *f, const struct feel_scope *scope,
                     int64_t now_ms, uint32_t *steps, struct feel_result *out)
{
    struct feel_run run = {
        .arena = a, .nodes = f->nodes, .scope = scope, .now_ms = now_ms, .steps_left = *steps
    };

    for (const struct feel_scope *s = scope; s; s = s->outer)
        assert(!s->vars || json_is(s->vars, JSON_OBJECT));
    struct feel_value v = eval(&run, &f->nodes[f->root]);
    if (!run.over)
        give(&run, f, v, out);
    if (run.pattern.regex)
        regex_free(run.pattern.regex);
    *steps = run.steps_left;
    if (run.over)
        return err_new(a, ERR_LIMIT,
                       "the expression was given up, for %s: at most %u steps and %u bytes are "
                       "allowed",
                       run.over, FEEL_STEPS_MAX, FEEL_RESULT_MAX);
    return NULL;
}

err feel_eval(struct arena *a, const struct feel *f, const struct feel_scope *scope, int64_t now_ms,
              struct feel_result *out)
{
    uint32_t steps = FEEL_STEPS_MAX;
    return feel_eval_within(a, f, scope, now_ms, &steps, out);
}
