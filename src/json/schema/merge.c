/* merge.c: joins nodes where that changes nothing but the time a check takes.
 *
 * A schema that only refers to another one becomes that one; what `allOf` and
 * `$ref` bring in moves into the node that has them, where there is place for
 * it. After that, nodes that say little are marked, so that checking them takes
 * the short way. */
#include <assert.h>

#include "json/schema/build.h"

enum {
    PASSES = 4,            /* each pass joins one more level of nested allOf and $ref */
    RULES_MERGED_MAX = 12, /* so that doubling references do not grow a node without end */
    ALIAS_HOPS_MAX = 64,
};

/* The kinds of which any value fits. A whole number must be looked at, unless it is written so. */
static uint8_t node_passes(const struct node *n)
{
    unsigned passes = n->kinds;

    if (n->values || n->constant || n->rule_count)
        return 0;
    if (n->object)
        passes &= ~(1u << JSON_OBJECT);
    if (n->array)
        passes &= ~(1u << JSON_ARRAY);
    if (n->string)
        passes &= ~(1u << JSON_STRING);
    if (n->number)
        passes &= ~JSON_NUMBERS;
    if (n->whole)
        passes &= ~(1u << JSON_REAL);
    return (uint8_t)passes;
}

/* The shortest way to check a node. Where a resource must be noted on entering it, containers take
 * the long way. */
static enum node_path node_path(const struct node *n, bool dynamic)
{
    if (n->string || n->number || n->constant || n->rule_count)
        return PATH_ANY;
    if (n->values)
        return n->object || n->array || n->values->others ? PATH_ANY : PATH_TEXTS;
    if (!n->object && !n->array)
        return PATH_KINDS;
    if (dynamic || (n->object && n->array))
        return PATH_ANY;
    if (n->object)
        return n->object->plain ? PATH_OBJECT : PATH_ANY;
    return n->array->plain ? PATH_ITEMS : PATH_ANY;
}

/* Where a node that is nothing but one reference leads. */
static const struct node *alias_target(const struct node *n)
{
    for (int hops = 0; hops < ALIAS_HOPS_MAX; hops++) {
        bool is_alias = n->kinds == ALL_KINDS && !n->object && !n->array && !n->string &&
                        !n->number && !n->values && !n->constant && n->rule_count == 1 &&
                        n->rules->kind == RULE_ALL && n->rules->count == 1;
        if (!is_alias)
            return n;
        n = n->rules->nodes[0];
    }
    return n;
}

/* ---- every pointer from node to node ---- */

static void skip_alias(const struct node *const *pointer)
{
    const struct node **place = (const struct node **)(uintptr_t)pointer;
    if (*place)
        *place = alias_target(*place);
}

static void skip_aliases_of_object(const struct object_rules *o)
{
    for (uint32_t i = 0; o->name_count && i <= o->slot_mask; i++)
        skip_alias(&o->slots[i].node);
    for (uint32_t i = 0; i < o->pattern_count; i++)
        skip_alias(&o->patterns[i].node);
    for (uint32_t i = 0; i < o->dependency_count; i++)
        skip_alias(&o->dependencies[i].node);
    skip_alias(&o->additional);
    skip_alias(&o->names);
    skip_alias(&o->unevaluated);
}

static void skip_aliases_of_array(const struct array_rules *a)
{
    for (uint32_t i = 0; i < a->prefix_count; i++)
        skip_alias(&a->prefix[i]);
    skip_alias(&a->items);
    skip_alias(&a->contains);
    skip_alias(&a->unevaluated);
}

static void skip_aliases(const struct node *n)
{
    if (n->object)
        skip_aliases_of_object(n->object);
    if (n->array)
        skip_aliases_of_array(n->array);
    for (uint32_t i = 0; i < n->rule_count; i++)
        for (uint32_t j = 0; j < n->rules[i].count; j++)
            skip_alias(&n->rules[i].nodes[j]);
}

/* ---- taking in what applies to the same instance ---- */

static bool takes_in(const struct node *n, const struct node *child)
{
    bool clash = (n->object && child->object) || (n->array && child->array) ||
                 (n->string && child->string) || (n->number && child->number) ||
                 (n->values && child->values) || (n->constant && child->constant);
    /* unevaluated… speaks of what its own node has seen, so it must stay in a node of its own. */
    bool bound = (child->object && child->object->unevaluated) ||
                 (child->array && child->array->unevaluated);
    return child != n && !clash && !bound;
}

#define TAKE(field)                  \
    do {                             \
        if (child->field)            \
            n->field = child->field; \
    } while (0)

static void take_in(struct node *n, const struct node *child)
{
    n->kinds &= child->kinds;
    n->whole |= child->whole;
    n->never |= child->never;
    TAKE(object);
    TAKE(array);
    TAKE(string);
    TAKE(number);
    TAKE(values);
    TAKE(constant);
}

/* Replaces the node's RULE_ALL rules by what they lead to, as far as that goes. */
static void merge_node(struct build *b, struct node *n)
{
    struct rule rules[RULES_MERGED_MAX + 16];
    uint32_t count = 0;

    if (n->rule_count > RULES_MERGED_MAX)
        return;
    for (uint32_t i = 0; i < n->rule_count; i++) {
        const struct rule *r = &n->rules[i];
        uint32_t left = n->rule_count - i - 1;
        if (r->kind != RULE_ALL) {
            rules[count++] = *r;
            continue;
        }
        const struct node **kept = ARENA_ARRAY(b->arena, const struct node *, r->count);
        uint32_t kept_count = 0;
        for (uint32_t j = 0; j < r->count; j++) {
            const struct node *child = r->nodes[j];
            if (!takes_in(n, child) || count + left + child->rule_count + 1 > RULES_MERGED_MAX) {
                kept[kept_count++] = child;
                continue;
            }
            take_in(n, child);
            for (uint32_t c = 0; c < child->rule_count; c++)
                rules[count++] = child->rules[c];
        }
        if (kept_count) {
            rules[count] = *r;
            rules[count].nodes = kept;
            rules[count++].count = kept_count;
        }
    }
    assert(count <= sizeof rules / sizeof *rules);
    struct rule *copy = ARENA_ARRAY(b->arena, struct rule, count);
    n->rules = memcpy(copy, rules, count * sizeof *copy);
    n->rule_count = count;
}

static void properties_pass(const struct object_rules *o)
{
    for (uint32_t i = 0; o->name_count && i <= o->slot_mask; i++) {
        struct property *p = (struct property *)(uintptr_t)&o->slots[i];
        p->passes = p->node ? p->node->passes : ALL_KINDS;
    }
}

void build_merge(struct build *b, struct schema *s)
{
    /* With dynamic references the way taken matters, so every step stays. */
    if (!b->dynamics.count) {
        for (uint32_t i = 0; i < b->count; i++)
            skip_aliases(b->made[i]);
        s->root = alias_target(s->root);
        for (int pass = 0; pass < PASSES; pass++)
            for (uint32_t i = 0; i < b->count; i++)
                if (b->made[i]->rule_count)
                    merge_node(b, b->made[i]);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        b->made[i]->passes = node_passes(b->made[i]);
        b->made[i]->path = (uint8_t)node_path(b->made[i], b->dynamics.count > 0);
        assert(b->made[i]->kinds <= ALL_KINDS);
        assert((b->made[i]->passes & ~b->made[i]->kinds) == 0);
    }
    for (uint32_t i = 0; i < b->count; i++)
        if (b->made[i]->object)
            properties_pass(b->made[i]->object);
}
