/* compile.c: schema text → program. Does not look at instances.
 *
 * Nodes are made from a queue and not by recursion, so that a chain of
 * references may be as long as it likes; a node exists before it is filled, so
 * that schemas may refer to each other in circles. */
#include <assert.h>
#include <stdlib.h>

#include "json/schema/build.h"

/* ---- references and applicators ---- */

struct rules {
    struct rule at[16];
    uint32_t count;
};

static void rule_add(struct rules *rules, enum rule_kind kind, enum keyword k,
                     const struct node *const *nodes, uint32_t count)
{
    assert(rules->count < sizeof rules->at / sizeof *rules->at);
    rules->at[rules->count++] =
        (struct rule){ .kind = kind, .keyword = keyword_name(k), .nodes = nodes, .count = count };
}

static void rule_add_one(struct build *b, struct rules *rules, enum rule_kind kind, enum keyword k,
                         const struct node *node)
{
    const struct node **nodes = ARENA_ARRAY(b->arena, const struct node *, 1);

    nodes[0] = node;
    rule_add(rules, kind, k, nodes, 1);
}

static uint32_t dynamic_index(struct build *b, str anchor)
{
    uintptr_t index = (uintptr_t)map_get(&b->dynamics, anchor);

    if (!index) {
        index = b->dynamics.count + 1;
        map_put(&b->dynamics, anchor, (void *)index);
    }
    return (uint32_t)index - 1;
}

static err ref_of(struct build *b, const struct schema_location *at, enum keyword k,
                  const struct json *ref, struct rules *rules)
{
    struct schema_location to;
    str anchor;

    if (!ref)
        return NULL;
    TRY(build_resolve(b, at, k, json_text(ref), &to, &anchor));
    bool dynamic = k == KEYWORD_DYNAMIC_REF && anchor.len;
    if (k == KEYWORD_RECURSIVE_REF)
        dynamic = map_get(&to.resource->dynamic_anchors, STR("")) && to.json == to.resource->root;
    rule_add_one(b, rules, dynamic ? RULE_DYNAMIC : RULE_ALL, k, build_node_at(b, &to));
    if (dynamic)
        rules->at[rules->count - 1].dynamic = dynamic_index(b, anchor);
    return NULL;
}

static void applicators_of(struct build *b, const struct keywords *k, struct rules *rules)
{
    static const struct {
        enum keyword keyword;
        enum rule_kind kind;
    } lists[] = {
        { KEYWORD_ALL_OF, RULE_ALL },
        { KEYWORD_ANY_OF, RULE_ANY },
        { KEYWORD_ONE_OF, RULE_ONE },
    };

    if (k->at[KEYWORD_NOT])
        rule_add_one(b, rules, RULE_NOT, KEYWORD_NOT, build_node(b, k->at[KEYWORD_NOT]));
    for (int i = 0; i < 3; i++) {
        const struct json *list = k->at[lists[i].keyword];
        if (list)
            rule_add(rules, lists[i].kind, lists[i].keyword, build_nodes(b, list), list->len);
    }
    if (k->at[KEYWORD_IF]) {
        const struct node **nodes = ARENA_ARRAY(b->arena, const struct node *, 3);
        nodes[0] = build_node(b, k->at[KEYWORD_IF]);
        nodes[1] = build_node(b, k->at[KEYWORD_THEN]);
        nodes[2] = build_node(b, k->at[KEYWORD_ELSE]);
        rule_add(rules, RULE_IF, KEYWORD_IF, nodes, 3);
    }
}

static err rules_of(struct build *b, const struct schema_location *at, const struct keywords *k,
                    struct node *n)
{
    struct rules rules = { .count = 0 };

    TRY(ref_of(b, at, KEYWORD_REF, k->at[KEYWORD_REF], &rules));
    TRY(ref_of(b, at, KEYWORD_RECURSIVE_REF, k->at[KEYWORD_RECURSIVE_REF], &rules));
    TRY(ref_of(b, at, KEYWORD_DYNAMIC_REF, k->at[KEYWORD_DYNAMIC_REF], &rules));
    applicators_of(b, k, &rules);
    if (rules.count) {
        struct rule *copy = ARENA_ARRAY(b->arena, struct rule, rules.count);
        n->rules = memcpy(copy, rules.at, rules.count * sizeof *copy);
        n->rule_count = rules.count;
    }
    return NULL;
}

/* ---- the whole ---- */

static err node_fill(struct build *b, const struct schema_location *at, struct node *n)
{
    struct keywords k;

    n->kinds = ALL_KINDS;
    n->resource = at->resource->index;
    n->pointer = at->pointer;
    if (at->json->kind == JSON_BOOL) {
        n->never = !at->json->len;
        n->kinds = n->never ? 0 : ALL_KINDS;
        return NULL;
    }
    keywords_read(at->json, at->resource->dialect, &k);
    if (at->resource->dialect.draft == DRAFT_07 && k.at[KEYWORD_REF]) {
        const struct json *ref = k.at[KEYWORD_REF];
        k = (struct keywords){ .at = { [KEYWORD_REF] = ref } };
    }
    TRY(build_kinds(b, at, &k, n));
    return rules_of(b, at, &k, n);
}

static err queue_run(struct build *b)
{
    assert(b->done <= b->count && b->count <= b->room);
    for (; b->done < b->count; b->done++) {
        struct schema_location at = b->queue[b->done];
        TRY(node_fill(b, &at, b->made[b->done]));
    }
    return NULL;
}

/* Every anchor that a dynamic reference could end up at must be compiled, which can bring in more
 * resources and more dynamic references. */
static err dynamics_compile(struct build *b)
{
    uint32_t before;

    do {
        before = b->count;
        for (const struct resource *r = b->last; r; r = r->previous)
            for (uint32_t i = 0; i < r->dynamic_anchors.count; i++)
                if (map_get(&b->dynamics, r->dynamic_anchors.entries[i].key))
                    build_node(b, r->dynamic_anchors.entries[i].value);
        TRY(queue_run(b));
    } while (b->count != before);
    return NULL;
}

static int anchor_order(const void *a, const void *b)
{
    const struct dynamic *x = a, *y = b;
    return (x->anchor > y->anchor) - (x->anchor < y->anchor);
}

static void dynamics_table(struct build *b, struct schema *s)
{
    s->dynamic_count = b->dynamics.count;
    if (!s->dynamic_count)
        return;

    uint32_t count = 0, *start = ARENA_ARRAY(b->arena, uint32_t, b->resource_count + 1);
    for (const struct resource *r = b->last; r; r = r->previous)
        count += r->dynamic_anchors.count;
    struct dynamic *all = ARENA_ARRAY(b->arena, struct dynamic, count);

    /* Resources hang in a list from the last one to the first, so the table is filled backwards. */
    uint32_t at = count;
    start[b->resource_count] = count;
    for (const struct resource *r = b->last; r; r = r->previous) {
        uint32_t end = at;
        for (uint32_t i = 0; i < r->dynamic_anchors.count; i++) {
            const struct map_entry *e = &r->dynamic_anchors.entries[i];
            uintptr_t index = (uintptr_t)map_get(&b->dynamics, e->key);
            if (index)
                all[--at] = (struct dynamic){ (uint32_t)index - 1, build_node(b, e->value) };
        }
        qsort(all + at, end - at, sizeof *all, anchor_order);
        start[r->index] = at;
    }
    s->dynamics = all;
    s->dynamic_start = start;
}

static err build_run(struct build *b, const struct json *text, struct schema *s)
{
    struct schema_location root;

    TRY(build_load_root(b, text, &root));
    s->root = build_node_at(b, &root);
    TRY(queue_run(b));
    TRY(dynamics_compile(b));
    TRY(build_loops(b));
    dynamics_table(b, s);
    assert(b->done == b->count); /* every node that others point at is filled */
    build_merge(b, s);
    return NULL;
}

err schema_compile(struct arena *a, const struct json *text, const struct schema_options *options,
                   struct schema **out)
{
    static const struct schema_options defaults = { 0 };
    struct arena *arena = arena_new();
    struct schema *s = ARENA_NEW(arena, struct schema);
    struct build b = {
        .arena = arena,
        .errors = a,
        .options = options ? options : &defaults,
        .resources = map_in(arena),
        .known = map_in(arena),
        .nodes = map_in(arena),
        .indexes = map_in(arena),
        .patterns = map_in(arena),
        .dynamics = map_in(arena),
    };

    s->arena = arena;
    err e = build_run(&b, text, s);
    if (e) {
        arena_free(arena);
        return e;
    }
    arena_give(arena); /* from now on it is shared, and does not change */
    *out = s;
    return NULL;
}

void schema_free(struct schema *s)
{
    if (s)
        arena_free(s->arena);
}

static void release(void *schema)
{
    schema_free(schema);
}

void schema_free_with(struct arena *a, struct schema *s)
{
    arena_on_release(a, release, s);
}
