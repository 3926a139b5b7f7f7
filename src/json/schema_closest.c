/* schema_closest.c: which alternative of anyOf or oneOf a value was meant to fit.
 *
 * An alternative is close when it takes the kind of the value, when the members
 * that tell alternatives apart (those with `const` or `enum`) have its values,
 * and then when little is wrong with the rest. */
#include "json/schema_explain.h"
#include "json/schema_message.h"

enum {
    THROUGH_MAX = 8,   /* how many $ref and allOf are looked through */
    BRANCH_MAX = 100,  /* violations of one alternative */
    CHOICES_MAX = 100, /* values of alternatives that are nothing but a value */
};

/* What a node says of a value at first sight, together with those that it includes by $ref and
 * allOf. */
struct look {
    const struct json *v;
    unsigned kinds;                   /* that all of them take; 1.0 is no integer here */
    bool takes_kind;                  /* … and whether that of `v` is among them */
    const struct value_rules *values; /* of the first one that lists some */
    uint32_t right, wrong;            /* members with const or enum whose value fits, or not */
};

static bool has_values(const struct node *n, unsigned through)
{
    if (n->constant || n->values)
        return true;
    for (uint32_t i = 0; through > 0 && i < n->rule_count; i++)
        if (n->rules[i].kind == RULE_ALL && n->rules[i].count == 1)
            return has_values(n->rules[i].nodes[0], through - 1);
    return false;
}

static void look_at_members(struct explain *x, struct look *l, const struct object_rules *o)
{
    explain_charge(x, l->v->len / 4);
    for (uint32_t i = 0; i < l->v->len && !explain_stopped(x); i++) {
        const struct property *p = object_property(o, &l->v->members[i]);
        if (!p || !p->node || !has_values(p->node, THROUGH_MAX))
            continue;
        if (check_node(&x->check, p->node, &l->v->members[i].value, NULL))
            l->right++;
        else
            l->wrong++;
    }
}

static void look_at(struct explain *x, struct look *l, const struct node *n, unsigned through)
{
    explain_charge(x, 1);
    l->kinds &= n->whole ? n->kinds & ~(1u << JSON_REAL) : n->kinds;
    l->takes_kind &= node_takes_kind(n, l->v);
    if (!l->values)
        l->values = n->constant ? n->constant : n->values;
    if (l->v->kind == JSON_OBJECT && n->object)
        look_at_members(x, l, n->object);
    for (uint32_t i = 0; through > 0 && i < n->rule_count && !explain_stopped(x); i++)
        for (uint32_t j = 0; n->rules[i].kind == RULE_ALL && j < n->rules[i].count; j++)
            look_at(x, l, n->rules[i].nodes[j], through - 1);
}

/* Below, equal or above 0 when `a` is farther than, as far as or closer than `b`. */
static int look_compare(const struct look *a, const struct look *b)
{
    if (a->takes_kind != b->takes_kind)
        return a->takes_kind - b->takes_kind;
    if (a->wrong != b->wrong)
        return a->wrong < b->wrong ? 1 : -1;
    return (a->right > b->right) - (a->right < b->right);
}

/* When each alternative is nothing but a choice of values, all of them together are an enum. */
static bool explain_choices(struct explain *x, const struct rule *r, const struct look *looks,
                            const struct json *v, const struct place *at)
{
    struct json choices[CHOICES_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        const struct value_rules *values = looks[i].values;
        if (!values || values->all->len > CHOICES_MAX - count)
            return false;
        for (uint32_t j = 0; j < values->all->len; j++)
            choices[count++] = values->all->items[j];
    }
    explain_values(x, at, r->keyword, choices, count, v);
    return true;
}

/* No alternative takes the kind of the value: says which ones there are. */
static bool explain_kinds(struct explain *x, const struct rule *r, const struct look *looks,
                          const struct json *v, const struct place *at)
{
    unsigned kinds = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        if (looks[i].takes_kind)
            return false;
        kinds |= looks[i].kinds;
    }
    struct buf m = message_start(x->arena, kinds ? "expected " : "no value is allowed here");
    message_kinds(&m, kinds, false);
    buf_add(&m, STR(", found "));
    message_value(&m, v);
    explain_report(x, at, r->keyword, &m);
    return true;
}

static uint32_t shallowest(const struct findings *f)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].depth < least)
            least = f->items[i].depth;
    return least;
}

/* Fewer violations, or as many that lie deeper: more of the value has been understood. */
static bool findings_closer(const struct findings *a, const struct findings *b)
{
    if (a->count != b->count)
        return a->count < b->count;
    return shallowest(a) > shallowest(b);
}

static void explain_best(struct explain *x, const struct rule *r, const struct look *looks,
                         const struct json *v, const struct place *at)
{
    struct findings best = { 0 }, *into = x->into;
    const struct look *closest = &looks[0];
    str outer = x->reason;

    for (uint32_t i = 1; i < r->count; i++)
        if (look_compare(&looks[i], closest) > 0)
            closest = &looks[i];
    if (r->count > 1)
        x->reason = arena_printf(x->arena, " (closest of %u alternatives of %s)",
                                 (unsigned)r->count, r->keyword);
    for (uint32_t i = 0; i < r->count; i++) {
        struct findings own = findings_in(x->arena, BRANCH_MAX);
        if (look_compare(&looks[i], closest) != 0)
            continue;
        x->into = &own;
        explain_node(x, r->nodes[i], v, at);
        x->into = into;
        if (own.count > 0 && (best.count == 0 || findings_closer(&own, &best)))
            best = own;
    }
    x->reason = outer;
    for (uint32_t i = 0; i < best.count; i++)
        findings_add(into, &best.items[i]);
}

void explain_closest(struct explain *x, const struct rule *r, const struct json *v,
                     const struct place *at)
{
    struct look *looks = ARENA_ARRAY(x->arena, struct look, r->count);

    x->failures++;
    for (uint32_t i = 0; i < r->count; i++) {
        looks[i] = (struct look){ .v = v, .kinds = ALL_KINDS, .takes_kind = true };
        look_at(x, &looks[i], r->nodes[i], THROUGH_MAX);
    }
    if (!explain_choices(x, r, looks, v, at) && !explain_kinds(x, r, looks, v, at))
        explain_best(x, r, looks, v, at);
}
