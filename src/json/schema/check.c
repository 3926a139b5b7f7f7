/* check.c: program × document → does it fit?
 *
 * The hot path: it answers yes or no and nothing else, and it allocates nothing
 * unless a set of members or elements outgrows the space in struct check. What
 * does not fit, and why, is explain.c's business. */
#include "base/utf8.h"
#include "json/schema/check_private.h"

enum {
    DEPTH_MAX = 1024, /* schemas inside each other, in-place applicators included */
    FETCHED = 2,      /* elements that are asked for ahead of time */
    /* What is done in the time of a step: */
    COUNTED_BYTES = 128, /* of a text whose characters are counted */
    FORMAT_BYTES = 8,    /* of a text that a format looks at */
    DIGITS = 32,         /* of a long number that is compared */
};

/* ---- the machine ---- */

void check_init(struct check *c, const struct schema *s)
{
    c->schema = s;
    c->steps_left = SCHEMA_STEPS_MAX;
    c->depth_left = DEPTH_MAX;
    c->too_deep = c->regex_limit = false;
    c->scope = NULL;
    c->overflow = NULL;
    c->word_count = 0;
}

void check_release(struct check *c)
{
    arena_free(c->overflow);
}

uint64_t *check_bits(struct check *c, uint32_t n)
{
    uint32_t words = (n + 63) / 64;
    check_charge(c, words);
    return memset(check_words(c, words), 0, words * sizeof(uint64_t));
}

static void bits_fill(uint64_t *bits, uint32_t n)
{
    memset(bits, 0xff, (n + 63) / 64 * sizeof *bits);
}

/* ---- names ---- */

/* Where there is no perfect hash, the search goes on from slot to slot. */
static __attribute__((noinline)) const struct property *property_probe(const struct object_rules *o,
                                                                       const struct json_member *m,
                                                                       uint32_t at)
{
    for (; o->slots[at].name.at; at = (at + 1) & o->slot_mask) {
        const struct property *p = &o->slots[at];
        if (name_is(&p->name, m->key, m->name, m->name_len))
            return p;
    }
    return NULL;
}

HOT const struct property *property_of(const struct object_rules *o, const struct json_member *m)
{
    uint32_t at = name_slot(o, m->hash);
    const struct property *p = &o->slots[at];

    if (name_is(&p->name, m->key, m->name, m->name_len))
        return p;
    return o->probe ? property_probe(o, m, at) : NULL;
}

const struct property *object_property(const struct object_rules *o, const struct json_member *m)
{
    return o->name_count ? property_of(o, m) : NULL;
}

static bool has_member(const struct json *object, const struct name *name)
{
    for (uint32_t i = 0; i < object->len; i++) {
        const struct json_member *m = &object->members[i];
        if (name_is(name, m->key, m->name, m->name_len))
            return true;
    }
    return false;
}

static bool has_members(struct check *c, const struct json *object, const struct name *names,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        check_charge(c, 1 + object->len / 8);
        if (check_exhausted(c) || !has_member(object, &names[i]))
            return false;
    }
    return true;
}

/* ---- the short ways ---- */

static bool check_plain(struct check *c, const struct object_rules *o, const struct json *v);
static bool check_items(struct check *c, const struct node *n, const struct json *v, uint32_t from);

/* Whether a value fits that a node does not let pass by its kind alone. Out of line, so that what
 * goes on around a call of it keeps its registers. */
static __attribute__((noinline)) bool check_closer(struct check *c, const struct node *n,
                                                   const struct json *v)
{
    if (!node_takes_kind(n, v))
        return false;
    switch (n->path) {
    case PATH_KINDS: return true;
    case PATH_TEXTS: return v->kind == JSON_STRING && text_among(n->values, v);
    case PATH_OBJECT: return v->kind != JSON_OBJECT || check_plain(c, n->object, v);
    case PATH_ITEMS: return v->kind != JSON_ARRAY || check_items(c, n->array->items, v, 0);
    default: return check_node(c, n, v, NULL);
    }
}

/* A value of its own, so nothing that the schema above has seen is passed on. */
HOT bool fits(struct check *c, const struct node *n, const struct json *v)
{
    return n->passes >> v->kind & 1 || check_closer(c, n, v);
}

/* The object rules that most schemas have: properties and up to 64 required ones. */
static bool check_plain(struct check *c, const struct object_rules *o, const struct json *v)
{
    uint64_t have = 0;

    check_charge(c, 1);
    if (check_exhausted(c) || v->len < o->count_min || v->len > o->count_max)
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        const struct json_member *m = &v->members[i];
        const struct property *p = property_of(o, m);
        if (!p)
            continue;
        have |= p->required;
        if (!(p->passes >> m->value.kind & 1) && !check_closer(c, p->node, &m->value))
            return false;
    }
    return have == o->required;
}

/* Elements that are all of one schema. They point to members and texts that lie anywhere: asking
 * for some of them early lets the memory answer together. */
static bool check_items(struct check *c, const struct node *n, const struct json *v, uint32_t from)
{
    for (uint32_t i = from; i < v->len; i++) {
        const struct json *item = &v->items[i];
        if (i + FETCHED < v->len)
            __builtin_prefetch(item[FETCHED].text);
        if (n->path == PATH_OBJECT && item->kind == JSON_OBJECT) {
            if (!check_plain(c, n->object, item))
                return false;
        } else if (!fits(c, n, item)) {
            return false;
        }
    }
    return true;
}

/* ---- strings and numbers ---- */

static bool check_string(struct check *c, const struct string_rules *s, const struct json *v)
{
    /* A character has one to four bytes, so most lengths need no counting. */
    if (v->len < s->length_min || v->len / 4 > s->length_max)
        return false;
    if ((v->len + 3) / 4 < s->length_min || v->len > s->length_max) {
        check_charge(c, v->len / COUNTED_BYTES);
        size_t length = utf8_length(json_text(v));
        if (length < s->length_min || length > s->length_max)
            return false;
    }
    if (s->pattern && !check_text_matches(c, s->pattern, json_text(v)))
        return false;
    if (!s->format)
        return true;
    check_charge(c, v->len / FORMAT_BYTES);
    return !check_exhausted(c) && s->format->fits(json_text(v));
}

static inline int bound_order(const struct bound *b, const struct json *v, bool is_small,
                              int64_t value)
{
    if (is_small && b->is_small)
        return (value > b->value) - (value < b->value);
    return json_number_compare(v, b->number);
}

static bool check_number(struct check *c, const struct number_rules *n, const struct json *v)
{
    int64_t value = 0;
    bool is_small = v->kind == JSON_INTEGER && json_to_int(v, &value);

    check_charge(c, (v->len + n->digits) / DIGITS);
    if (check_exhausted(c))
        return false;
    if (n->min.number) {
        int order = bound_order(&n->min, v, is_small, value);
        if (order < 0 || (order == 0 && n->min.excluded))
            return false;
    }
    if (n->max.number) {
        int order = bound_order(&n->max, v, is_small, value);
        if (order > 0 || (order == 0 && n->max.excluded))
            return false;
    }
    if (!n->multiple)
        return true;
    if (is_small && n->multiple_value)
        return value % n->multiple_value == 0;
    return json_number_multiple(v, n->multiple);
}

/* ---- arrays ---- */

static bool check_contains(struct check *c, const struct array_rules *a, const struct json *v,
                           uint64_t *seen)
{
    bool count_all = a->contains_max != UINT32_MAX || (seen && a->contains_marks);
    uint32_t count = 0;

    for (uint32_t i = 0; i < v->len && !check_exhausted(c); i++) {
        if (!fits(c, a->contains, &v->items[i]))
            continue;
        count++;
        if (seen && a->contains_marks)
            bit_set(seen, i);
        if (!count_all && count >= a->contains_min)
            break;
    }
    return count >= a->contains_min && count <= a->contains_max;
}

static bool check_array(struct check *c, const struct array_rules *a, const struct json *v,
                        uint64_t *seen)
{
    if (v->len < a->count_min || v->len > a->count_max)
        return false;
    uint32_t prefix = a->prefix_count < v->len ? a->prefix_count : v->len;
    for (uint32_t i = 0; i < prefix; i++) {
        if (!fits(c, a->prefix[i], &v->items[i]))
            return false;
        if (seen)
            bit_set(seen, i);
    }
    if (a->items) {
        if (!check_items(c, a->items, v, prefix))
            return false;
        if (seen)
            bits_fill(seen, v->len);
    }
    if (a->contains && !check_contains(c, a, v, seen))
        return false;
    return !a->unique || check_unique(c, v);
}

/* ---- objects ---- */

/* One member against everything that speaks of members; false when it does not fit. */
static bool check_member(struct check *c, const struct object_rules *o, const struct json_member *m,
                         const struct property *p, bool *evaluated)
{
    if (p && p->node) {
        *evaluated = true;
        if (!fits(c, p->node, &m->value))
            return false;
    }
    for (uint32_t i = 0; i < o->pattern_count; i++) {
        if (!check_text_matches(c, o->patterns[i].regex, json_name(m))) {
            if (check_exhausted(c))
                return false;
            continue;
        }
        *evaluated = true;
        if (!fits(c, o->patterns[i].node, &m->value))
            return false;
    }
    if (o->additional && !*evaluated) {
        *evaluated = true;
        if (!fits(c, o->additional, &m->value))
            return false;
    }
    if (o->names) {
        struct json name = json_string(json_name(m));
        return fits(c, o->names, &name);
    }
    return true;
}

static bool check_dependencies(struct check *c, const struct object_rules *o, const struct json *v,
                               uint64_t *seen)
{
    for (uint32_t i = 0; i < o->dependency_count; i++) {
        const struct dependency *d = &o->dependencies[i];
        check_charge(c, 1 + v->len / 8);
        if (!has_member(v, &d->name))
            continue;
        if (!has_members(c, v, d->required, d->required_count))
            return false;
        if (d->node && !check_node(c, d->node, v, seen))
            return false;
    }
    return true;
}

static bool check_object(struct check *c, const struct object_rules *o, const struct json *v,
                         uint64_t *seen)
{
    uint64_t have = 0;

    if (o->plain && !seen)
        return check_plain(c, o, v);
    if (v->len < o->count_min || v->len > o->count_max)
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        const struct property *p = object_property(o, &v->members[i]);
        bool evaluated = false;
        have |= p ? p->required : 0;
        if (!check_member(c, o, &v->members[i], p, &evaluated))
            return false;
        if (seen && evaluated)
            bit_set(seen, i);
    }
    if (have != o->required)
        return false;
    return has_members(c, v, o->required_more, o->required_more_count) &&
           check_dependencies(c, o, v, seen);
}

/* ---- dynamic references ---- */

/* The node of a dynamic anchor in a resource, or NULL. */
static const struct node *dynamic_in(const struct schema *s, uint32_t resource, uint32_t anchor)
{
    uint32_t low = s->dynamic_start[resource], high = s->dynamic_start[resource + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->dynamics[middle].anchor == anchor)
            return s->dynamics[middle].node;
        if (s->dynamics[middle].anchor < anchor)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct node *check_dynamic(const struct check *c, const struct rule *r)
{
    const struct node *found = r->nodes[0];

    for (const struct scope *at = c->scope; at; at = at->outer) {
        const struct node *n = dynamic_in(c->schema, at->resource, r->dynamic);
        if (n)
            found = n; /* the outermost wins, and it comes last */
    }
    return found;
}

/* ---- rules: what applies other schemas to the instance itself ---- */

static void bits_join(uint64_t *bits, const uint64_t *more, uint32_t n)
{
    for (uint32_t i = 0; i < (n + 63) / 64; i++)
        bits[i] |= more[i];
}

/* One of several alternatives: what it has seen counts only when it fits. */
static bool check_branch(struct check *c, const struct node *n, const struct json *v,
                         uint64_t *seen)
{
    if (!seen)
        return fits(c, n, v);
    uint32_t mark = c->word_count;
    uint64_t *own = check_bits(c, v->len);
    bool fit = check_node(c, n, v, own);
    if (fit)
        bits_join(seen, own, v->len);
    c->word_count = mark;
    return fit;
}

static bool check_all(struct check *c, const struct rule *r, const struct json *v, uint64_t *seen)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!check_node(c, r->nodes[i], v, seen))
            return false;
    return true;
}

static bool check_any(struct check *c, const struct rule *r, const struct json *v, uint64_t *seen)
{
    bool fit = false;

    for (uint32_t i = 0; i < r->count && (!fit || seen); i++)
        fit |= check_branch(c, r->nodes[i], v, seen);
    return fit;
}

static bool check_one(struct check *c, const struct rule *r, const struct json *v, uint64_t *seen)
{
    uint32_t fit = 0;

    for (uint32_t i = 0; i < r->count && fit < 2; i++)
        fit += check_branch(c, r->nodes[i], v, seen);
    return fit == 1;
}

static bool check_not(struct check *c, const struct rule *r, const struct json *v, uint64_t *seen)
{
    (void)seen;
    return !fits(c, r->nodes[0], v);
}

static bool check_if(struct check *c, const struct rule *r, const struct json *v, uint64_t *seen)
{
    const struct node *then = r->nodes[check_branch(c, r->nodes[0], v, seen) ? 1 : 2];
    return !then || check_node(c, then, v, seen);
}

static bool check_dynamic_rule(struct check *c, const struct rule *r, const struct json *v,
                               uint64_t *seen)
{
    return check_node(c, check_dynamic(c, r), v, seen);
}

static bool check_rule(struct check *c, const struct rule *r, const struct json *v, uint64_t *seen)
{
    static bool (*const checks[])(struct check *, const struct rule *, const struct json *,
                                  uint64_t *) = {
        [RULE_ALL] = check_all, [RULE_ANY] = check_any, [RULE_ONE] = check_one,
        [RULE_NOT] = check_not, [RULE_IF] = check_if,   [RULE_DYNAMIC] = check_dynamic_rule,
    };
    return checks[r->kind](c, r, v, seen);
}

/* ---- nodes ---- */

static bool check_kind_rules(struct check *c, const struct node *n, const struct json *v,
                             uint64_t *seen)
{
    switch (v->kind) {
    case JSON_OBJECT: return !n->object || check_object(c, n->object, v, seen);
    case JSON_ARRAY: return !n->array || check_array(c, n->array, v, seen);
    case JSON_STRING: return !n->string || check_string(c, n->string, v);
    case JSON_INTEGER:
    case JSON_REAL: return !n->number || check_number(c, n->number, v);
    default: return true;
    }
}

/* Every keyword of a node but unevaluated…, cheap ones first. */
static bool check_keywords(struct check *c, const struct node *n, const struct json *v,
                           uint64_t *seen)
{
    if (n->constant && !check_value_among(c, n->constant, v))
        return false;
    if (n->values && !check_value_among(c, n->values, v))
        return false;
    if (!check_kind_rules(c, n, v, seen))
        return false;
    for (uint32_t i = 0; i < n->rule_count; i++)
        if (!check_rule(c, &n->rules[i], v, seen))
            return false;
    return true;
}

void check_evaluated(struct check *c, const struct node *n, const struct json *v, uint64_t *seen)
{
    check_keywords(c, n, v, seen);
}

static bool check_unevaluated(struct check *c, const struct node *n, const struct node *rest,
                              const struct json *v, uint64_t *seen)
{
    uint32_t mark = c->word_count;
    uint64_t *own = check_bits(c, v->len);
    bool fit = check_keywords(c, n, v, own);

    for (uint32_t i = 0; i < v->len && fit; i++)
        if (!bit_get(own, i))
            fit = fits(c, rest, v->kind == JSON_OBJECT ? &v->members[i].value : &v->items[i]);
    c->word_count = mark;
    if (fit && seen)
        bits_fill(seen, v->len);
    return fit;
}

/* Takes one step and goes one level down; false when there is none left. */
static bool descend(struct check *c)
{
    check_charge(c, 1);
    if (check_exhausted(c))
        return false;
    if (c->depth_left == 0) {
        c->too_deep = true;
        c->steps_left = 0;
        return false;
    }
    c->depth_left--;
    return true;
}

bool check_node(struct check *c, const struct node *n, const struct json *v, uint64_t *seen)
{
    if (n->passes >> v->kind & 1)
        return true;
    if (!node_takes_kind(n, v) || !descend(c))
        return false;

    const struct scope *outer = c->scope;
    struct scope inner = { n->resource, outer };
    if (c->schema->dynamic_count && (!outer || outer->resource != n->resource))
        c->scope = &inner;

    const struct node *rest = node_unevaluated(n, v);
    bool fit = rest ? check_unevaluated(c, n, rest, v, seen) : check_keywords(c, n, v, seen);
    c->scope = outer;
    c->depth_left++;
    return fit;
}

enum schema_verdict schema_check(const struct schema *s, const struct json *doc)
{
    struct check c;

    check_init(&c, s);
    bool fit = fits(&c, s->root, doc);
    check_release(&c);
    assert(c.word_count == 0 && c.depth_left == DEPTH_MAX && !c.scope); /* all was given back */
    if (check_exhausted(&c))
        return SCHEMA_EXHAUSTED;
    return fit ? SCHEMA_FITS : SCHEMA_UNFIT;
}
