/* closest.c: which alternative of anyOf or oneOf a value was meant to fit.
 *
 * An alternative is close when it takes the kind of the value, when the members
 * that tell alternatives apart (those with `const` or `enum`) have its values,
 * and then when little is wrong with the rest. */
#include "json/schema/explain.h"
#include "json/schema/message.h"

enum {
    THROUGH_MAX = 8,   /* how many $ref and allOf are looked through */
    BRANCH_MAX = 100,  /* violations of one alternative */
    CHOICES_MAX = 100, /* values of alternatives that are nothing but a value */
    NAMES_MAX = 4,     /* of members, in words for an alternative */
    OTHERS_MAX = 3,    /* alternatives that are told beside the closest … */
    WORDED_MAX = 8,    /* … of so many */
};

/* What a node says of a value at first sight, together with those that it includes by $ref and
 * allOf. */
struct candidate {
    const struct json *v;
    unsigned kinds;                   /* that all of them take; 1.0 is no integer here */
    bool takes_kind;                  /* … and whether that of `v` is among them */
    const struct value_rules *values; /* of the first one that lists some */
    uint32_t right, wrong;            /* members with const or enum whose value fits, or not */
};

/* The values that a node lists, or one that it only refers to; NULL: none. */
static const struct value_rules *values_of(const struct node *n, unsigned through)
{
    if (n->constant || n->values)
        return n->constant ? n->constant : n->values;
    for (uint32_t i = 0; through > 0 && i < n->rule_count; i++)
        if (n->rules[i].kind == RULE_ALL && n->rules[i].count == 1)
            return values_of(n->rules[i].nodes[0], through - 1);
    return NULL;
}

static void candidate_add_members(struct explain *x, struct candidate *c,
                                  const struct object_rules *o)
{
    explain_charge(x, c->v->len / 4);
    for (uint32_t i = 0; i < c->v->len && !explain_stopped(x); i++) {
        const struct property *p = object_property(o, &c->v->members[i]);
        if (!p || !p->node || !values_of(p->node, THROUGH_MAX))
            continue;
        if (check_node(&x->check, p->node, &c->v->members[i].value, NULL))
            c->right++;
        else
            c->wrong++;
    }
}

static void candidate_add(struct explain *x, struct candidate *c, const struct node *n,
                          unsigned through)
{
    explain_charge(x, 1);
    c->kinds &= n->whole ? n->kinds & ~(1u << JSON_REAL) : n->kinds;
    c->takes_kind &= node_takes_kind(n, c->v);
    if (!c->values)
        c->values = n->constant ? n->constant : n->values;
    if (c->v->kind == JSON_OBJECT && n->object)
        candidate_add_members(x, c, n->object);
    for (uint32_t i = 0; through > 0 && i < n->rule_count && !explain_stopped(x); i++)
        for (uint32_t j = 0; n->rules[i].kind == RULE_ALL && j < n->rules[i].count; j++)
            candidate_add(x, c, n->rules[i].nodes[j], through - 1);
}

/* Below, equal or above 0 when `a` is farther than, as far as or closer than `b`. */
static int candidate_compare(const struct candidate *a, const struct candidate *b)
{
    if (a->takes_kind != b->takes_kind)
        return a->takes_kind - b->takes_kind;
    if (a->wrong != b->wrong)
        return a->wrong < b->wrong ? 1 : -1;
    return (a->right > b->right) - (a->right < b->right);
}

/* When each alternative is nothing but a choice of values, all of them together are an enum. */
static bool explain_choices(struct explain *x, const struct rule *r,
                            const struct candidate *candidates, const struct json *v,
                            const struct location *at)
{
    struct json choices[CHOICES_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        const struct value_rules *values = candidates[i].values;
        if (!values || values->all->len > CHOICES_MAX - count)
            return false;
        for (uint32_t j = 0; j < values->all->len; j++)
            choices[count++] = values->all->items[j];
    }
    explain_values(x, at, r->keyword, choices, count, v);
    return true;
}

/* No alternative takes the kind of the value: says which ones there are. */
static bool explain_kinds(struct explain *x, const struct rule *r,
                          const struct candidate *candidates, const struct json *v,
                          const struct location *at)
{
    unsigned kinds = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        if (candidates[i].takes_kind)
            return false;
        kinds |= candidates[i].kinds;
    }
    struct buf m = message_start(x->arena, kinds ? "expected " : "no value is allowed here");
    message_kinds(&m, kinds, false);
    buf_add(&m, STR(", found "));
    message_value(&m, v);
    explain_quoted(x, &m, v, kinds);
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

/* ---- what an alternative is, in words ---- */

static void add_required(struct buf *out, const struct object_rules *o)
{
    for (uint32_t i = 0; i < o->required_count && i < NAMES_MAX; i++) {
        buf_add(out, i == 0 ? STR("") : i + 1 < o->required_count ? STR(", ") : STR(" and "));
        message_name(out, (str){ o->required_names[i].at, o->required_names[i].len });
    }
    if (o->required_count > NAMES_MAX)
        buf_printf(out, " and %u more", (unsigned)(o->required_count - NAMES_MAX));
}

/* The first member, by name, whose values it lists: `"kind": "circle"`. */
static bool add_telling_member(struct explain *x, struct buf *out, const struct object_rules *o)
{
    const struct property *telling = NULL;

    explain_charge(x, o->name_count / 4);
    for (uint32_t i = 0; o->name_count && i <= o->slot_mask; i++) {
        const struct property *p = &o->slots[i];
        if (!p->name.at || !p->node || !values_of(p->node, THROUGH_MAX))
            continue;
        if (!telling || str_compare((str){ p->name.at, p->name.len },
                                    (str){ telling->name.at, telling->name.len }) < 0)
            telling = p;
    }
    if (!telling)
        return false;
    const struct value_rules *values = values_of(telling->node, THROUGH_MAX);
    message_name(out, (str){ telling->name.at, telling->name.len });
    buf_add(out, STR(": "));
    message_values(out, values->all->items, values->all->len);
    return true;
}

static bool add_object(struct explain *x, struct buf *out, const struct node *n, unsigned through)
{
    struct buf inside = buf_in(x->arena);

    explain_charge(x, 1);
    if (n->object && !add_telling_member(x, &inside, n->object))
        add_required(&inside, n->object);
    if (inside.len) {
        buf_add(out, STR("an object with "));
        buf_add(out, buf_str(&inside));
        return true;
    }
    for (uint32_t i = 0; through > 0 && i < n->rule_count && !explain_stopped(x); i++)
        for (uint32_t j = 0; n->rules[i].kind == RULE_ALL && j < n->rules[i].count; j++)
            if (add_object(x, out, n->rules[i].nodes[j], through - 1))
                return true;
    return false;
}

/* By the values that it lists, the members that tell it from others, or the kinds that it takes; false:
 * there is nothing of that. */
static bool add_alternative(struct explain *x, struct buf *out, const struct node *n,
                            const struct candidate *c)
{
    const unsigned object = 1u << JSON_OBJECT;

    if (n->never)
        return false;
    if (c->values)
        message_values(out, c->values->all->items, c->values->all->len);
    else if (c->kinds & object && add_object(x, out, n, THROUGH_MAX))
        return true;
    else if (c->kinds && c->kinds != (ALL_KINDS & ~(1u << JSON_REAL)) && c->kinds != ALL_KINDS)
        message_kinds(out, c->kinds, false);
    else
        return false;
    return true;
}

/* The first alternatives in words, once for all violations; empty: there are none. */
static const str *alternatives_worded(struct explain *x, const struct rule *r,
                                      const struct candidate *candidates)
{
    str *words = ARENA_ARRAY(x->arena, str, WORDED_MAX);

    for (uint32_t i = 0; i < WORDED_MAX; i++) {
        struct buf one = buf_in(x->arena);
        if (i < r->count && r->count > 1)
            add_alternative(x, &one, r->nodes[i], &candidates[i]);
        words[i] = buf_str(&one);
    }
    return words;
}

/* Which alternative a violation is of, and which others there are: ` (as an object with "a"; also
 * allowed: a string)`. What lists its values has said so itself. */
static str reason_of(struct explain *x, const struct rule *r, const struct candidate *candidates,
                     const str *words, uint32_t chosen)
{
    struct buf own = buf_in(x->arena), others = buf_in(x->arena), out = buf_in(x->arena);
    uint32_t shown = 0;

    if (r->count == 1)
        return STR("");
    if (!candidates[chosen].values && chosen < WORDED_MAX)
        buf_add(&own, words[chosen]);
    else if (!candidates[chosen].values)
        add_alternative(x, &own, r->nodes[chosen], &candidates[chosen]);
    for (uint32_t i = 0; i < WORDED_MAX && shown < OTHERS_MAX; i++)
        if (i != chosen && words[i].len)
            buf_printf(&others, "%s" STR_FMT, shown++ ? ", " : "", STR_ARG(words[i]));
    if (!own.len && !shown)
        return arena_printf(x->arena, " (the closest of %u forms that are allowed here)",
                            (unsigned)r->count);
    buf_add(&out, STR(" ("));
    if (own.len)
        buf_printf(&out, "as " STR_FMT, STR_ARG(buf_str(&own)));
    if (shown)
        buf_printf(&out, "%salso allowed: " STR_FMT, own.len ? "; " : "",
                   STR_ARG(buf_str(&others)));
    if (shown + 1 < r->count)
        buf_printf(&out, "%s%u more form%s",
                   shown ? " and " : "; also allowed: ", (unsigned)(r->count - 1 - shown),
                   r->count - 1 - shown == 1 ? "" : "s");
    buf_byte(&out, ')');
    return buf_str(&out);
}

/* `"operations" or "merge"`: alternatives that are nothing but names of members. */
static void add_choice(struct buf *out, const struct rule *r, const char * or)
{
    for (uint32_t i = 0; i < r->count; i++) {
        buf_add(out, str_from(i ? or : ""));
        add_required(out, r->nodes[i]->object);
    }
}

static bool are_only_names(const struct rule *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!node_only_requires(r->nodes[i]))
            return false;
    return r->count <= OTHERS_MAX + 1;
}

static bool has_any(const struct json *v, const struct object_rules *o)
{
    for (uint32_t i = 0; i < o->required_count; i++)
        if (json_find(v, (str){ o->required_names[i].at, o->required_names[i].len }))
            return true;
    return false;
}

/* Nothing of any alternative is there: none of them is closer than the others. */
static bool explain_names(struct explain *x, const struct rule *r, const struct json *v,
                          const struct location *at)
{
    if (v->kind != JSON_OBJECT || r->count < 2 || !are_only_names(r))
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        if (has_any(v, r->nodes[i]->object))
            return false;
    struct buf m = message_start(x->arena, "expected ");
    add_choice(&m, r, " or ");
    buf_add(&m, r->count == 2 ? STR(", found neither") : STR(", found none of them"));
    explain_report(x, at, r->keyword, &m);
    return true;
}

void explain_several(struct explain *x, const struct rule *r, const uint32_t *fit, uint32_t count,
                     const struct location *at)
{
    struct buf m = message_start(x->arena, "expected ");

    if (are_only_names(r) && count == r->count) {
        buf_add(&m, STR("only one of "));
        add_choice(&m, r, " and ");
        buf_add(&m, count == 2 ? STR(", found both") : STR(", found all of them"));
    } else {
        buf_add(&m, STR("to fit exactly one of the forms that are allowed here, fits "));
        for (uint32_t i = 0; i < count; i++) {
            struct candidate c = { .v = &(struct json){ .kind = JSON_NULL },
                                   .kinds = ALL_KINDS,
                                   .takes_kind = true };
            buf_add(&m, i == 0 ? STR("") : i + 1 < count ? STR(", ") : STR(" and "));
            candidate_add(x, &c, r->nodes[fit[i]], THROUGH_MAX);
            if (!add_alternative(x, &m, r->nodes[fit[i]], &c))
                message_pattern(&m, r->nodes[fit[i]]->pointer);
        }
    }
    explain_report(x, at, r->keyword, &m);
}

/* ---- the closest one ---- */

static void explain_best(struct explain *x, const struct rule *r,
                         const struct candidate *candidates, const struct json *v,
                         const struct location *at)
{
    struct findings best = { 0 }, *into = x->into;
    const struct candidate *closest = &candidates[0];
    const str *words = alternatives_worded(x, r, candidates);
    str outer = x->reason;

    for (uint32_t i = 1; i < r->count; i++)
        if (candidate_compare(&candidates[i], closest) > 0)
            closest = &candidates[i];
    for (uint32_t i = 0; i < r->count; i++) {
        struct findings own = findings_in(x->arena, BRANCH_MAX);
        if (candidate_compare(&candidates[i], closest) != 0)
            continue;
        x->into = &own;
        x->reason = reason_of(x, r, candidates, words, i);
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
                     const struct location *at)
{
    struct candidate *candidates = ARENA_ARRAY(x->arena, struct candidate, r->count);

    x->failures++;
    for (uint32_t i = 0; i < r->count; i++) {
        candidates[i] = (struct candidate){ .v = v, .kinds = ALL_KINDS, .takes_kind = true };
        candidate_add(x, &candidates[i], r->nodes[i], THROUGH_MAX);
    }
    if (!explain_choices(x, r, candidates, v, at) && !explain_kinds(x, r, candidates, v, at) &&
        !explain_names(x, r, v, at))
        explain_best(x, r, candidates, v, at);
}
