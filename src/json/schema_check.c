/* schema_check.c: program × document → does it fit?
 *
 * The hot path: it answers yes or no and nothing else, and it allocates nothing
 * unless a set of members or elements outgrows the space in struct check. What
 * does not fit, and why, is schema_explain.c's business. */
#include "json/schema_check.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"

enum {
    DEPTH_MAX = 1024, /* schemas inside each other, in-place applicators included */
    UNIQUE_PAIRWISE_MAX = 8,
    /* What is done in the time of a step: */
    COUNTED_BYTES = 256, /* of a text whose characters are counted */
    FORMAT_BYTES = 16,   /* of a text that a format looks at */
    DIGITS = 32,         /* of a long number that is compared */
    VALUES = 4,          /* compared or hashed */
    FETCHED = 2,         /* elements that are asked for ahead of time */
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

/* Worth a copy at each call: they are all that is done for most members. */
#define HOT static inline __attribute__((always_inline))

HOT void charge(struct check *c, uint32_t steps)
{
    c->steps_left = c->steps_left > steps ? c->steps_left - steps : 0;
}

static uint64_t *check_words(struct check *c, uint32_t n)
{
    if (n <= CHECK_WORDS - c->word_count) {
        c->word_count += n;
        return c->words + c->word_count - n;
    }
    if (!c->overflow)
        c->overflow = arena_new();
    return ARENA_ARRAY(c->overflow, uint64_t, n);
}

uint64_t *check_bits(struct check *c, uint32_t n)
{
    uint32_t words = (n + 63) / 64;
    charge(c, words);
    return memset(check_words(c, words), 0, words * sizeof(uint64_t));
}

static void bits_fill(uint64_t *bits, uint32_t n)
{
    memset(bits, 0xff, (n + 63) / 64 * sizeof *bits);
}

static void bits_join(uint64_t *bits, const uint64_t *more, uint32_t n)
{
    for (uint32_t i = 0; i < (n + 63) / 64; i++)
        bits[i] |= more[i];
}

/* ---- names and texts ---- */

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
        charge(c, 1 + object->len / 16);
        if (check_exhausted(c) || !has_member(object, &names[i]))
            return false;
    }
    return true;
}

static bool text_among_many(const struct value_rules *values, const struct json *v)
{
    for (uint32_t low = 0, high = values->text_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        const struct name *t = &values->texts[middle];
        int order = t->len == v->len ? memcmp(t->at, v->text, v->len) : t->len < v->len ? -1 : 1;
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

HOT bool text_among(const struct value_rules *values, const struct json *v)
{
    if (!values->slots)
        return text_among_many(values, v);
    uint64_t key = hash_key(v->text, v->len);
    return name_is(&values->slots[text_slot(values, key)], key, v->text, v->len);
}

/* ---- the short ways ---- */

static bool check_plain(struct check *c, const struct object_rules *o, const struct json *v);
static bool check_items(struct check *c, const struct node *n, const struct json *v, uint32_t from);

/* A value that a node does not let pass by its kind alone. Out of line, so that what goes on
 * around it keeps its registers. */
static __attribute__((noinline)) bool fits_closer(struct check *c, const struct node *n,
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
    return n->passes >> v->kind & 1 || fits_closer(c, n, v);
}

/* The object rules that most schemas have: properties and up to 64 required ones. */
static bool check_plain(struct check *c, const struct object_rules *o, const struct json *v)
{
    uint64_t have = 0;

    charge(c, 1);
    if (check_exhausted(c) || v->len < o->count_min || v->len > o->count_max)
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        const struct json_member *m = &v->members[i];
        const struct property *p = property_of(o, m);
        if (!p)
            continue;
        have |= p->required;
        if (!(p->passes >> m->value.kind & 1) && !fits_closer(c, p->node, &m->value))
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

/* ---- values and patterns ---- */

/* json_equal and json_hash, charged for all that they look at. */
static bool equal_values(struct check *c, const struct json *a, const struct json *b)
{
    uint64_t work = (uint64_t)c->steps_left * VALUES;
    bool equal = json_equal_within(a, b, &work);
    c->steps_left = (uint32_t)(work / VALUES);
    return equal;
}

static uint32_t hash_value(struct check *c, const struct json *v)
{
    uint64_t work = (uint64_t)c->steps_left * VALUES;
    uint32_t hash = json_hash_within(v, &work);
    c->steps_left = (uint32_t)(work / VALUES);
    return hash;
}

static bool value_among(struct check *c, const struct value_rules *values, const struct json *v)
{
    if (v->kind == JSON_STRING)
        return text_among(values, v);
    if (!values->others)
        return false;
    for (uint32_t i = 0; i < values->all->len && !check_exhausted(c); i++)
        if (equal_values(c, &values->all->items[i], v))
            return true;
    return false;
}

static bool text_matches(struct check *c, const struct regex *regex, str text)
{
    bool enough = c->steps_left > REGEX_STEPS_MAX(text.len);
    enum regex_result result = regex_match_within(regex, text, &c->steps_left);

    if (result == REGEX_LIMIT)
        c->regex_limit = enough;
    return result == REGEX_YES;
}

/* ---- strings and numbers ---- */

static bool check_string(struct check *c, const struct string_rules *s, const struct json *v)
{
    /* A character has one to four bytes, so most lengths need no counting. */
    if (v->len < s->length_min || v->len / 4 > s->length_max)
        return false;
    if ((v->len + 3) / 4 < s->length_min || v->len > s->length_max) {
        charge(c, v->len / COUNTED_BYTES);
        size_t length = utf8_length(json_text(v));
        if (length < s->length_min || length > s->length_max)
            return false;
    }
    if (s->pattern && !text_matches(c, s->pattern, json_text(v)))
        return false;
    if (!s->format)
        return true;
    charge(c, v->len / FORMAT_BYTES);
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

    charge(c, (v->len + n->digits) / DIGITS);
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

static int hash_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Long arrays are sorted by hash, so that only elements of one hash are compared. */
static bool items_unique_by_hash(struct check *c, const struct json *v)
{
    uint32_t mark = c->word_count;
    uint64_t *hashes = check_words(c, v->len);
    bool unique = true;

    for (uint32_t i = 0; i < v->len; i++)
        hashes[i] = (uint64_t)hash_value(c, &v->items[i]) << 32 | i;
    if (!check_exhausted(c))
        qsort(hashes, v->len, sizeof *hashes, hash_order);
    for (uint32_t i = 1; i < v->len && unique && !check_exhausted(c); i++)
        for (uint32_t j = i; j-- > 0 && hashes[j] >> 32 == hashes[i] >> 32 && unique;)
            unique =
                !equal_values(c, &v->items[(uint32_t)hashes[j]], &v->items[(uint32_t)hashes[i]]);
    c->word_count = mark;
    return unique;
}

static bool items_unique(struct check *c, const struct json *v)
{
    if (v->len > UNIQUE_PAIRWISE_MAX)
        return items_unique_by_hash(c, v);
    for (uint32_t i = 1; i < v->len; i++)
        for (uint32_t j = 0; j < i; j++)
            if (equal_values(c, &v->items[i], &v->items[j]))
                return false;
    return true;
}

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
    return !a->unique || items_unique(c, v);
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
        if (!text_matches(c, o->patterns[i].regex, json_name(m))) {
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
        charge(c, 1 + v->len / 16);
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

/* ---- what applies to the instance itself ---- */

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

typedef bool rule_check(struct check *c, const struct rule *r, const struct json *v,
                        uint64_t *seen);

static rule_check *const rule_checks[] = {
    [RULE_ALL] = check_all, [RULE_ANY] = check_any, [RULE_ONE] = check_one,
    [RULE_NOT] = check_not, [RULE_IF] = check_if,   [RULE_DYNAMIC] = check_dynamic_rule,
};

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
    if (n->constant && !value_among(c, n->constant, v))
        return false;
    if (n->values && !value_among(c, n->values, v))
        return false;
    if (!check_kind_rules(c, n, v, seen))
        return false;
    for (uint32_t i = 0; i < n->rule_count; i++)
        if (!rule_checks[n->rules[i].kind](c, &n->rules[i], v, seen))
            return false;
    return true;
}

static const struct node *unevaluated_of(const struct node *n, const struct json *v)
{
    if (v->kind == JSON_OBJECT)
        return n->object ? n->object->unevaluated : NULL;
    return v->kind == JSON_ARRAY && n->array ? n->array->unevaluated : NULL;
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
    charge(c, 1);
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

    const struct node *rest = unevaluated_of(n, v);
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
    if (check_exhausted(&c))
        return SCHEMA_EXHAUSTED;
    return fit ? SCHEMA_FITS : SCHEMA_UNFIT;
}
