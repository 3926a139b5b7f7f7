/* walk.c: circles and orders of what has numbers and edges, without recursion: a chain may be as long
 * as a definition. */
#include "flow/graph_private.h"

struct edges edges_of(struct arena *a, uint16_t count, const uint16_t (*pairs)[2],
                      size_t pair_count, uint32_t **which)
{
    struct edges e = {
        .first = arena_zero(a, (count + 1u) * sizeof *e.first),
        .to = ARENA_ARRAY(a, uint16_t, pair_count),
        .count = count,
    };
    uint32_t *next = ARENA_ARRAY(a, uint32_t, count + 1u);

    for (size_t i = 0; i < pair_count; i++)
        e.first[pairs[i][0] + 1]++;
    for (uint32_t v = 0; v < count; v++)
        e.first[v + 1] += e.first[v];
    memcpy(next, e.first, (count + 1u) * sizeof *next);
    if (which)
        *which = ARENA_ARRAY(a, uint32_t, pair_count);
    for (size_t i = 0; i < pair_count; i++) {
        uint32_t at = next[pairs[i][0]]++;
        e.to[at] = pairs[i][1];
        if (which)
            (*which)[at] = (uint32_t)i;
    }
    return e;
}

enum colour { NEW, ON_THE_WAY, DONE };

struct walk {
    const struct edges *edges;
    uint16_t *path; /* from where the walk began to where it is */
    uint16_t length;
    uint32_t *next; /* of each vertex: the edge that is looked at next */
    uint8_t *colour;
    bool *told; /* it is in a circle that was given */
    bool *back;
    void (*circle)(void *who, const uint16_t *vertices, size_t count);
    void *who;
};

static void walk_tell(struct walk *w, uint16_t from)
{
    size_t start = w->length;

    do
        start--;
    while (w->path[start] != from);
    for (size_t i = start; i < w->length; i++)
        if (w->told[w->path[i]])
            return;
    for (size_t i = start; i < w->length; i++)
        w->told[w->path[i]] = true;
    w->circle(w->who, w->path + start, w->length - start);
}

static void walk_from(struct walk *w, uint16_t root)
{
    const struct edges *e = w->edges;

    w->path[w->length++] = root;
    w->colour[root] = ON_THE_WAY;
    while (w->length) {
        uint16_t v = w->path[w->length - 1];
        if (w->next[v] == e->first[v + 1]) {
            w->colour[v] = DONE;
            w->length--;
            continue;
        }
        uint32_t edge = w->next[v]++;
        uint16_t to = e->to[edge];
        if (w->colour[to] == NEW) {
            w->colour[to] = ON_THE_WAY;
            w->path[w->length++] = to;
        } else if (w->colour[to] == ON_THE_WAY) {
            if (w->back)
                w->back[edge] = true;
            if (w->circle && !w->told[to])
                walk_tell(w, to);
        }
    }
}

void edges_walk(struct arena *a, const struct edges *e, uint16_t root, bool *back,
                void (*circle)(void *who, const uint16_t *vertices, size_t count), void *who)
{
    struct walk w = {
        .edges = e,
        .path = ARENA_ARRAY(a, uint16_t, e->count),
        .next = ARENA_ARRAY(a, uint32_t, e->count),
        .colour = arena_zero(a, e->count),
        .told = arena_zero(a, e->count),
        .back = back,
        .circle = circle,
        .who = who,
    };

    memcpy(w.next, e->first, e->count * sizeof *w.next);
    if (root < e->count)
        walk_from(&w, root);
    for (uint16_t v = 0; v < e->count; v++)
        if (w.colour[v] == NEW)
            walk_from(&w, v);
}

uint16_t *edges_order(struct arena *a, const struct edges *e, const bool *back)
{
    uint16_t *order = ARENA_ARRAY(a, uint16_t, e->count);
    uint32_t *missing = arena_zero(a, e->count * sizeof *missing);
    uint16_t first = 0, last = 0;

    for (uint32_t i = 0; i < e->first[e->count]; i++)
        missing[e->to[i]] += !(back && back[i]);
    for (uint16_t v = 0; v < e->count; v++)
        if (!missing[v])
            order[last++] = v;
    while (first < last) {
        uint16_t v = order[first++];
        for (uint32_t i = e->first[v]; i < e->first[v + 1]; i++)
            if (!(back && back[i]) && --missing[e->to[i]] == 0)
                order[last++] = e->to[i];
    }
    return order;
}
