/* loop.c: schemas that apply themselves to the same value again.
 *
 * A reference that comes back to where it began, without having gone into a
 * member or an element, has no meaning: a check would never end. Where it is
 * always followed, the text is no schema; where it depends on the value, the
 * text is taken with a warning, and a check that comes there is given up. */
#include <assert.h>

#include "json/schema/build.h"

enum { SHOWN_MAX = 6 }; /* places of a circle that a message names */

/* A node on the way from where the search began, and the next of its edges. */
struct step {
    const struct node *node;
    uint32_t rule, at;
};

struct search {
    struct build *b;
    bool always;     /* only along what every check follows */
    uint8_t *colour; /* by the number of a node: 0 not seen, 1 on the way, 2 done */
    struct step *way;
    uint32_t length;
};

/* How many of a rule's schemas are applied, whatever the value is. */
static uint32_t always_followed(const struct rule *r)
{
    switch (r->kind) {
    case RULE_ALL:
    case RULE_ONE:
    case RULE_NOT: return r->count;
    case RULE_ANY:
    case RULE_IF: return 1;
    default: return 0;
    }
}

/* The next schema that a node applies to its own value, or NULL. Those behind its rules are its
 * dependencies. */
static const struct node *next_of(const struct search *s, struct step *step)
{
    const struct node *n = step->node;

    for (; step->rule < n->rule_count; step->rule++, step->at = 0) {
        const struct rule *r = &n->rules[step->rule];
        uint32_t count = s->always ? always_followed(r) : r->kind == RULE_DYNAMIC ? 0 : r->count;
        while (step->at < count) {
            const struct node *to = r->nodes[step->at++];
            if (to)
                return to;
        }
    }
    while (!s->always && n->object && step->at < n->object->dependency_count) {
        const struct node *to = n->object->dependencies[step->at++].node;
        if (to)
            return to;
    }
    return NULL;
}

static void enter(struct search *s, const struct node *n)
{
    assert(s->b->made[n->number_in_build] == n && s->length < s->b->count);
    s->colour[n->number_in_build] = 1;
    s->way[s->length++] = (struct step){ .node = n };
}

/* Goes on until it comes to a node that it is on the way from: true, and `to` is that. */
static bool circle_find(struct search *s, const struct node *from, const struct node **to)
{
    enter(s, from);
    while (s->length) {
        struct step *last = &s->way[s->length - 1];
        *to = next_of(s, last);
        if (!*to) {
            s->colour[last->node->number_in_build] = 2;
            s->length--;
        } else if (s->colour[(*to)->number_in_build] == 1) {
            return true;
        } else if (s->colour[(*to)->number_in_build] == 0) {
            enter(s, *to);
        }
    }
    return false;
}

static void location_add(struct buf *out, const struct node *n)
{
    buf_add(out, n->pointer.len ? n->pointer : STR("#"));
}

/* "/a → /b → /a". */
static str circle_printed(const struct search *s, const struct node *to)
{
    struct buf out = buf_in(s->b->errors);
    uint32_t i = s->length, shown = 0;

    while (i > 0 && s->way[i - 1].node != to)
        i--;
    assert(i > 0); /* it is on the way */
    for (i--; i < s->length && shown < SHOWN_MAX; i++, shown++) {
        location_add(&out, s->way[i].node);
        buf_add(&out, STR(" → "));
    }
    if (i < s->length)
        buf_add(&out, STR("… → "));
    location_add(&out, to);
    return buf_str(&out);
}

static err search_run(struct build *b, bool always)
{
    struct search s = { .b = b,
                        .always = always,
                        .colour = arena_zero(b->arena, b->count),
                        .way = ARENA_ARRAY(b->arena, struct step, b->count) };
    const struct node *to;

    for (uint32_t i = 0; i < b->count; i++) {
        s.length = 0;
        if (s.colour[i] || !circle_find(&s, b->made[i], &to))
            continue;
        str shown = circle_printed(&s, to);
        if (always)
            return build_error(b, to->pointer, "$ref",
                               "leads back to itself without going into the value, so that a check "
                               "would never end: " STR_FMT,
                               STR_ARG(shown));
        build_warn(b, to->pointer, "$ref",
                   "may lead back to itself without going into the value; a check that comes there "
                   "is given up: " STR_FMT,
                   STR_ARG(shown));
        return NULL; /* one is enough to look at */
    }
    return NULL;
}

err build_loops(struct build *b)
{
    if (!b->options->is_known)
        TRY(search_run(b, true));
    return b->options->warnings ? search_run(b, false) : NULL;
}
