/* check_rules.c: what applies other schemas to the instance itself: allOf, anyOf, oneOf, not,
 * if, and references.
 *
 * Does not look at the instance: whether it fits a schema, check_node says. */
#include "json/schema/check_private.h"

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

/* ---- alternatives ---- */

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

rule_check *const rule_checks[] = {
    [RULE_ALL] = check_all, [RULE_ANY] = check_any, [RULE_ONE] = check_one,
    [RULE_NOT] = check_not, [RULE_IF] = check_if,   [RULE_DYNAMIC] = check_dynamic_rule,
};
