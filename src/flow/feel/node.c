/* node.c: the nodes and names of an expression while it is compiled.
 *
 * Nodes are one array, which index 0 is no node of. What has constants alone is evaluated here, once.
 * Knows no text. */
#include <assert.h>

#include "base/hash.h"
#include "flow/feel/private.h"

struct feel_bound {
    const struct feel_name *name;
    const struct feel_bound *outer;
};

/* ---- nodes ---- */

uint16_t feel_node_new(struct feel_text *t, enum feel_node_kind kind, size_t at)
{
    if (t->count == t->room) {
        uint32_t room = t->room ? t->room * 2 : 16;
        t->nodes =
            arena_grow(t->arena, t->nodes, t->room * sizeof *t->nodes, room * sizeof *t->nodes);
        t->room = room;
        t->count += t->count == 0;
    }
    assert(t->count < UINT16_MAX); /* no text of FEEL_TEXT_MAX has so many */
    t->nodes[t->count] = (struct feel_node){ .kind = (uint8_t)kind, .at = (uint16_t)at };
    return (uint16_t)t->count++;
}

uint16_t feel_node_constant(struct feel_text *t, size_t at, struct feel_value v)
{
    uint16_t n = feel_node_new(t, NODE_CONSTANT, at);
    struct feel_value *constant = ARENA_NEW(t->arena, struct feel_value);
    *constant = v;
    t->nodes[n].constant = constant;
    return n;
}

void feel_operand_add(struct feel_text *t, struct feel_operands *o, uint16_t node)
{
    if (o->last)
        t->nodes[o->last].next = node;
    else
        t->nodes[o->of].first = node;
    o->last = node;
}

uint16_t feel_node_of_one(struct feel_text *t, enum feel_node_kind kind, size_t at,
                          uint16_t operand)
{
    uint16_t n = feel_node_new(t, kind, at);
    t->nodes[n].first = operand;
    return n;
}

/* ---- constants ---- */

// clang-format off
enum { FOLDS_NOT, FOLDS, IS_PART };

static const uint8_t folding[NODE_KINDS] = {
    [NODE_NEGATE] = FOLDS,  [NODE_SUM] = FOLDS,      [NODE_PRODUCT] = FOLDS, [NODE_POWER] = FOLDS,
    [NODE_COMPARE] = FOLDS, [NODE_BETWEEN] = FOLDS,  [NODE_IN] = FOLDS,      [NODE_INSTANCE] = FOLDS,
    [NODE_AND] = FOLDS,     [NODE_OR] = FOLDS,       [NODE_IF] = FOLDS,      [NODE_LIST] = FOLDS,
    [NODE_CONTEXT] = FOLDS, [NODE_CALL] = FOLDS,     [NODE_PATH] = FOLDS,
    /* these are constant when what they are made of is */
    [NODE_ENTRY] = IS_PART, [NODE_RANGE] = IS_PART,  [NODE_TEST] = IS_PART,
    [NODE_MEMBER] = IS_PART, [NODE_FILTER] = IS_PART,
};
// clang-format on

static bool operands_constant(const struct feel_text *t, uint16_t n)
{
    for (uint16_t o = t->nodes[n].first; o; o = t->nodes[o].next) {
        uint8_t kind = t->nodes[o].kind;
        if (kind != NODE_CONSTANT && !(folding[kind] == IS_PART && operands_constant(t, o)))
            return false;
    }
    return true;
}

/* Null is computed anew each time, for its reason. */
static void fold(struct feel_text *t, uint16_t n)
{
    struct feel_node *node = &t->nodes[n];

    if (folding[node->kind] != FOLDS || !operands_constant(t, n) || t->fold_steps == 0)
        return;
    if (node->kind == NODE_CALL && node->call->function->impure)
        return;
    struct feel_run run = { .arena = t->arena, .nodes = t->nodes, .steps_left = t->fold_steps };
    struct feel_value v = feel_node_eval(&run, n);
    if (run.pattern.regex)
        regex_free(run.pattern.regex);
    t->fold_steps = run.steps_left;
    if (run.over || v.kind == FEEL_NULL)
        return;
    struct feel_value *constant = ARENA_NEW(t->arena, struct feel_value);
    *constant = v;
    node->kind = NODE_CONSTANT;
    node->constant = constant;
}

err feel_folded(struct feel_text *t, uint16_t n, uint16_t *out)
{
    fold(t, n);
    *out = n;
    return NULL;
}

/* ---- names ---- */

struct feel_name *feel_name_of(struct feel_text *t, str text)
{
    uint64_t key = hash_key(text.at, text.len);
    struct feel_name **slot = &t->names[hash_fold(key, text.len) % FEEL_NAME_SLOTS];

    for (struct feel_name *n = *slot; n; n = n->next)
        if (n->key == key && str_eq(n->text, text))
            return n;
    struct feel_name *n = ARENA_NEW(t->arena, struct feel_name);
    *n = (struct feel_name){ .text = text, .key = key, .next = *slot };
    return *slot = n;
}

void feel_bind(struct feel_text *t, const struct feel_name *name)
{
    struct feel_bound *b = ARENA_NEW(t->arena, struct feel_bound);
    *b = (struct feel_bound){ name, t->bound };
    t->bound = b;
}

void feel_name_used(struct feel_text *t, struct feel_name *name)
{
    for (const struct feel_bound *b = t->bound; b; b = b->outer)
        if (b->name == name)
            return;
    if (name->is_free)
        return;
    name->is_free = true;
    if (t->free_count == t->free_room) {
        size_t room = t->free_room ? t->free_room * 2 : 4;
        t->free_names =
            arena_grow(t->arena, t->free_names, t->free_room * sizeof(str), room * sizeof(str));
        t->free_room = room;
    }
    t->free_names[t->free_count++] = name->text;
}
