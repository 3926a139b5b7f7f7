/* explain.c: program × document that does not fit → what is wrong with it.
 *
 * Walks the nodes as check.c does, but goes on after a failure and words
 * each one. What cannot be right before something else is, is left out: the
 * members of a value whose type is wrong, or what is unevaluated in a value
 * with other violations. */
#include "json/schema/explain.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "json/schema/message.h"

enum {
    INDEXES_MAX = 8,      /* of alternatives, in a list */
    TEXT_STEP_BYTES = 16, /* bytes that cost a step: texts and numbers may be megabytes long */
    DIGIT_STEP_BYTES = 4,
    PARSED_STEP_BYTES = 4,
    LIMIT_STEPS = 25000, /* what a match costs that meets its limit */
};

static void add_found(struct buf *m, const struct json *v)
{
    buf_add(m, STR(", found "));
    message_value(m, v);
}

static bool fits(struct explain *x, const struct node *n, const struct json *v)
{
    return check_node(&x->check, n, v, NULL);
}

/* What comparing or hashing a value costs, charged once; asking costs no more than that. */
static uint64_t charge_weight(struct explain *x, const struct json *v)
{
    uint64_t weight = 1;

    if (v->kind == JSON_STRING || json_is_number(v))
        weight += v->len / TEXT_STEP_BYTES;
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->len && !explain_stopped(x); i++)
        weight += charge_weight(x, &v->items[i]);
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->len && !explain_stopped(x); i++)
        weight += v->members[i].name_len / TEXT_STEP_BYTES + charge_weight(x, &v->members[i].value);
    explain_charge(x, 1);
    return weight;
}

/* ---- any value ---- */

static void explain_never(struct explain *x, const char *keyword, const struct json *v,
                          const struct location *at)
{
    struct buf m = message_start(x->arena, "");

    if (at->member)
        message_name(&m, json_name(at->member));
    else if (at->up)
        buf_printf(&m, "element %u", (unsigned)at->index);
    else
        buf_add(&m, STR("the document"));
    buf_add(&m, STR(" is not allowed here"));
    add_found(&m, v);
    explain_report(x, at, keyword, &m);
}

void explain_quoted(struct explain *x, struct buf *m, const struct json *v, unsigned kinds)
{
    explain_charge(x, v->kind == JSON_STRING ? v->len / PARSED_STEP_BYTES : 0);
    if (!explain_stopped(x))
        message_quoted(m, v, kinds);
}

static void explain_kind(struct explain *x, const struct node *n, const struct json *v,
                         const struct location *at)
{
    if (n->never || n->kinds == 0) { /* none is left where allOf joins types that differ */
        explain_never(x, n->never ? "false" : "type", v, at);
        return;
    }
    struct buf m = message_start(x->arena, "expected ");
    message_kinds(&m, n->kinds, n->whole);
    add_found(&m, v);
    explain_quoted(x, &m, v, n->kinds);
    explain_report(x, at, "type", &m);
}

void explain_values(struct explain *x, const struct location *at, const char *keyword,
                    const struct json *values, size_t count, const struct json *v)
{
    struct buf m = message_start(x->arena, "expected ");

    message_values(&m, values, count);
    add_found(&m, v);
    message_meant(&m, v, values, count, &x->cells_left);
    explain_report(x, at, keyword, &m);
}

/* True when there was something to say. */
static bool explain_among(struct explain *x, const struct value_rules *r, const struct json *v,
                          const struct location *at)
{
    if (!r)
        return false;
    uint64_t weight = charge_weight(x, v);
    for (uint32_t i = 0; i < r->all->len; i++) {
        explain_charge(x, weight);
        if (explain_stopped(x) || json_equal(&r->all->items[i], v))
            return false;
    }
    explain_values(x, at, r->keyword, r->all->items, r->all->len, v);
    return true;
}

void explain_count(struct explain *x, const struct location *at, const char *noun, uint64_t found,
                   const char *min_keyword, uint32_t min, const char *max_keyword, uint32_t max)
{
    bool few = found < min;

    if (!few && found <= max)
        return;
    struct buf m = message_start(x->arena, few ? "expected at least " : "expected at most ");
    message_count(&m, few ? min : max, noun);
    buf_printf(&m, ", found %llu", (unsigned long long)found);
    explain_report(x, at, few ? min_keyword : max_keyword, &m);
}

/* ---- strings and numbers ---- */

enum regex_result explain_match(struct explain *x, const struct regex *regex, str pattern, str text,
                                const struct location *at)
{
    uint32_t left = x->check.steps_left;
    enum regex_result result = regex_match(regex, text, &left);

    if (result != REGEX_LIMIT) {
        x->check.steps_left = left;
        return result;
    }
    explain_charge(x, LIMIT_STEPS + text.len / TEXT_STEP_BYTES); /* and go on with the rest */
    struct buf m = message_start(x->arena, "matching the pattern ");
    message_pattern(&m, pattern);
    buf_add(&m, STR(" took too many steps of backtracking, so it is not known whether "));
    message_name(&m, text);
    buf_add(&m, STR(" matches"));
    explain_report(x, at, "budget", &m);
    return result;
}

static void explain_string(struct explain *x, const struct node *n, const struct json *v,
                           const struct location *at)
{
    const struct string_rules *s = n->string;

    explain_charge(x, v->len / TEXT_STEP_BYTES);
    if (s->length_min > 0 || s->length_max < v->len)
        explain_count(x, at, "character", utf8_length(json_text(v)), "minLength", s->length_min,
                      "maxLength", s->length_max);
    if (s->pattern && explain_match(x, s->pattern, s->pattern_text, json_text(v), at) == REGEX_NO) {
        struct buf m = message_start(x->arena, "expected a string that matches the pattern ");
        message_pattern(&m, s->pattern_text);
        add_found(&m, v);
        explain_report(x, at, "pattern", &m);
    }
    if (s->format && !s->format->fits(json_text(v))) {
        struct buf m = message_start(x->arena, "expected ");
        buf_add(&m, str_from(s->format->hint));
        add_found(&m, v);
        explain_report(x, at, "format", &m);
    }
}

static void explain_bound(struct explain *x, const struct location *at, const char *keyword,
                          const char *words, const struct json *bound, const struct json *v)
{
    struct buf m = message_start(x->arena, words);

    message_value(&m, bound);
    add_found(&m, v);
    explain_report(x, at, keyword, &m);
}

static void explain_number(struct explain *x, const struct node *n, const struct json *v,
                           const struct location *at)
{
    const struct bound *min = &n->number->min, *max = &n->number->max;
    int below = min->number ? json_number_compare(v, min->number) : 1;
    int above = max->number ? json_number_compare(v, max->number) : -1;

    explain_charge(x, v->len / DIGIT_STEP_BYTES);
    if (min->excluded && below <= 0)
        explain_bound(x, at, "exclusiveMinimum", "expected more than ", min->number, v);
    else if (below < 0)
        explain_bound(x, at, "minimum", "expected at least ", min->number, v);
    if (max->excluded && above >= 0)
        explain_bound(x, at, "exclusiveMaximum", "expected less than ", max->number, v);
    else if (above > 0)
        explain_bound(x, at, "maximum", "expected at most ", max->number, v);
    if (n->number->multiple && !json_number_multiple(v, n->number->multiple))
        explain_bound(x, at, "multipleOf", "expected a multiple of ", n->number->multiple, v);
}

/* ---- arrays ---- */

static int hash_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first two elements that are equal, among those of one hash. */
static bool find_equal(struct explain *x, const struct json *v, uint32_t *one, uint32_t *other)
{
    uint64_t *hashes = ARENA_ARRAY(x->arena, uint64_t, v->len);

    charge_weight(x, v);
    for (uint32_t i = 0; i < v->len; i++)
        hashes[i] = (uint64_t)json_hash(&v->items[i]) << 32 | i;
    qsort(hashes, v->len, sizeof *hashes, hash_order);
    for (uint32_t i = 1; i < v->len; i++) {
        for (uint32_t j = i; j-- > 0 && hashes[j] >> 32 == hashes[i] >> 32;) {
            *one = (uint32_t)hashes[j];
            *other = (uint32_t)hashes[i];
            explain_charge(x, charge_weight(x, &v->items[*one]));
            if (explain_stopped(x))
                return false;
            if (json_equal(&v->items[*one], &v->items[*other]))
                return true;
        }
    }
    return false;
}

static void explain_unique(struct explain *x, const struct json *v, const struct location *at)
{
    uint32_t one, other;

    if (v->len < 2 || !find_equal(x, v, &one, &other))
        return;
    struct buf m = message_start(x->arena, "expected elements that all differ");
    buf_printf(&m, ", found %u and %u equal: ", (unsigned)one, (unsigned)other);
    message_value(&m, &v->items[one]);
    explain_report(x, at, "uniqueItems", &m);
}

static void explain_contains(struct explain *x, const struct array_rules *a, const struct json *v,
                             const struct location *at)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < v->len && !explain_stopped(x); i++)
        count += fits(x, a->contains, &v->items[i]);
    if (count >= a->contains_min && count <= a->contains_max)
        return;
    bool few = count < a->contains_min;
    uint32_t bound = few ? a->contains_min : a->contains_max;
    struct buf m = message_start(x->arena, few ? "expected at least " : "expected at most ");
    message_count(&m, bound, "element");
    buf_printf(&m, " that fit%s `contains`, found %u", bound == 1 ? "s" : "", (unsigned)count);
    explain_report(x, at, !few ? "maxContains" : bound > 1 ? "minContains" : "contains", &m);
}

static void explain_too_many(struct explain *x, const struct location *at, const char *keyword,
                             uint32_t allowed, uint32_t found)
{
    struct buf m = message_start(x->arena, "expected at most ");

    message_count(&m, allowed, "element");
    buf_printf(&m, ", found %u", (unsigned)found);
    explain_report(x, at, keyword, &m);
}

static void explain_array(struct explain *x, const struct node *n, const struct json *v,
                          const struct location *at)
{
    const struct array_rules *a = n->array;

    explain_count(x, at, "element", v->len, "minItems", a->count_min, "maxItems", a->count_max);
    for (uint32_t i = 0; i < v->len && !explain_stopped(x); i++) {
        const struct node *element = i < a->prefix_count ? a->prefix[i] : a->items;
        const struct location here = location_element(at, i);
        if (!element)
            break;
        if (i >= a->prefix_count && element->never) {
            explain_too_many(x, at, a->items_keyword, i, v->len);
            break;
        }
        explain_node(x, element, &v->items[i], &here);
    }
    if (a->contains)
        explain_contains(x, a, v, at);
    if (a->unique)
        explain_unique(x, v, at);
}

/* ---- what applies to the instance itself ---- */

static void explain_all(struct explain *x, const struct rule *r, const struct json *v,
                        const struct location *at)
{
    for (uint32_t i = 0; i < r->count && !explain_stopped(x); i++)
        explain_node(x, r->nodes[i], v, at);
}

static void explain_any(struct explain *x, const struct rule *r, const struct json *v,
                        const struct location *at)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (fits(x, r->nodes[i], v))
            return;
    explain_closest(x, r, v, at);
}

static void explain_one(struct explain *x, const struct rule *r, const struct json *v,
                        const struct location *at)
{
    uint32_t fit[INDEXES_MAX], count = 0;

    for (uint32_t i = 0; i < r->count && count < INDEXES_MAX; i++)
        if (fits(x, r->nodes[i], v))
            fit[count++] = i;
    if (count == 0)
        explain_closest(x, r, v, at);
    if (count > 1)
        explain_several(x, r, fit, count, at);
}

/* `not: {required: […]}` is the common way to forbid members. */
bool node_only_requires(const struct node *n)
{
    const struct object_rules *o = n->object;

    return o && o->required_count > 0 && o->required_count == o->name_count && o->plain &&
           o->count_min == 0 && o->count_max == UINT32_MAX && !o->unevaluated && !n->rule_count;
}

static void explain_not(struct explain *x, const struct rule *r, const struct json *v,
                        const struct location *at)
{
    const struct node *n = r->nodes[0];
    const struct value_rules *values = n->constant ? n->constant : n->values;

    if (!fits(x, n, v))
        return;
    struct buf m = message_start(x->arena, "expected ");
    if (values) {
        buf_add(&m, STR("anything but "));
        message_values(&m, values->all->items, values->all->len);
    } else if (n->path == PATH_KINDS && n->kinds != ALL_KINDS) {
        buf_add(&m, STR("anything but "));
        message_kinds(&m, n->kinds, n->whole);
    } else if (v->kind == JSON_OBJECT && node_only_requires(n)) {
        buf_add(&m, STR("an object without "));
        for (uint32_t i = 0; i < n->object->required_count; i++) {
            const struct name *name = &n->object->required_names[i];
            buf_add(&m, i ? STR(" and ") : STR(""));
            message_name(&m, (str){ name->at, name->len });
        }
    } else {
        buf_add(&m, STR("a value that does not fit the schema at "));
        message_pattern(&m, n->pointer);
    }
    add_found(&m, v);
    explain_report(x, at, "not", &m);
}

static void explain_if(struct explain *x, const struct rule *r, const struct json *v,
                       const struct location *at)
{
    bool fit = fits(x, r->nodes[0], v);
    const struct node *then = r->nodes[fit ? 1 : 2];
    str outer = x->reason;

    if (!then)
        return;
    x->reason = fit ? STR(" (because `if` fits)") : STR(" (because `if` does not fit)");
    explain_node(x, then, v, at);
    x->reason = outer;
}

static void explain_dynamic(struct explain *x, const struct rule *r, const struct json *v,
                            const struct location *at)
{
    explain_node(x, check_dynamic(&x->check, r), v, at);
}

typedef void rule_explain(struct explain *x, const struct rule *r, const struct json *v,
                          const struct location *at);

static rule_explain *const rule_explains[] = {
    [RULE_ALL] = explain_all, [RULE_ANY] = explain_any, [RULE_ONE] = explain_one,
    [RULE_NOT] = explain_not, [RULE_IF] = explain_if,   [RULE_DYNAMIC] = explain_dynamic,
};

/* ---- nodes ---- */

static void explain_unevaluated(struct explain *x, const struct node *n, const struct json *v,
                                const struct location *at)
{
    const struct node *rest = node_unevaluated(n, v);
    uint32_t mark = x->check.word_count;

    if (!rest)
        return;
    uint64_t *seen = check_bits(&x->check, v->len);
    check_evaluated(&x->check, n, v, seen);
    for (uint32_t i = 0; i < v->len && !explain_stopped(x); i++) {
        if (bit_get(seen, i))
            continue;
        if (v->kind == JSON_OBJECT) {
            const struct location here = location_member(at, &v->members[i]);
            if (rest->never)
                explain_unknown_member(x, n, "unevaluatedProperties", &v->members[i], at);
            else
                explain_node(x, rest, &v->members[i].value, &here);
        } else {
            const struct location here = location_element(at, i);
            if (rest->never)
                explain_never(x, "unevaluatedItems", &v->items[i], &here);
            else
                explain_node(x, rest, &v->items[i], &here);
        }
    }
    x->check.word_count = mark;
}

static void explain_kind_rules(struct explain *x, const struct node *n, const struct json *v,
                               const struct location *at)
{
    if (v->kind == JSON_OBJECT && n->object)
        explain_object(x, n, v, at);
    else if (v->kind == JSON_ARRAY && n->array)
        explain_array(x, n, v, at);
    else if (v->kind == JSON_STRING && n->string)
        explain_string(x, n, v, at);
    else if (json_is_number(v) && n->number)
        explain_number(x, n, v, at);
}

static void explain_keywords(struct explain *x, const struct node *n, const struct json *v,
                             const struct location *at)
{
    uint32_t before = x->failures;

    if (explain_among(x, n->constant, v, at) || explain_among(x, n->values, v, at))
        return;
    explain_kind_rules(x, n, v, at);
    for (uint32_t i = 0; i < n->rule_count && !explain_stopped(x); i++)
        rule_explains[n->rules[i].kind](x, &n->rules[i], v, at);
    if (x->failures == before && !explain_stopped(x))
        explain_unevaluated(x, n, v, at);
}

void explain_node(struct explain *x, const struct node *n, const struct json *v,
                  const struct location *at)
{
    struct check *c = &x->check;
    const struct scope *outer = c->scope;
    struct scope inner = { n->resource, outer };

    if (n->path == PATH_KINDS && node_takes_kind(n, v))
        return;
    explain_charge(x, 1);
    if (explain_stopped(x) || c->depth_left == 0)
        return;
    if (!node_takes_kind(n, v)) {
        explain_kind(x, n, v, at);
        return;
    }
    if (c->schema->dynamic_count && (!outer || outer->resource != n->resource))
        c->scope = &inner;
    c->depth_left--;
    explain_keywords(x, n, v, at);
    c->depth_left++;
    c->scope = outer;
}
