/* draw.c: where the nodes of a graph stand in a picture: layers by the longest way to them, and within a
 * layer rows in which few edges cross. */
#include <stdlib.h>

#include "flow/graph_private.h"

enum { SWEEPS = 6 };

struct draw {
    const struct graph *graph;
    bool *back;            /* of each flow: it closes a circle */
    uint16_t *layer, *row; /* of each node */
    uint16_t layers;
    uint16_t *placed; /* the nodes, layer by layer, in their rows */
    uint16_t *first;  /* of each layer: where it begins in them, and one more */
};

/* The longest way, circles once around only. */
static void find_layers(struct arena *a, struct draw *d)
{
    const struct graph *g = d->graph;
    uint16_t(*pairs)[2] = arena_array(a, g->flow_count, sizeof *pairs);
    bool *back = arena_zero(a, g->flow_count);
    uint32_t *which;

    for (uint16_t i = 0; i < g->flow_count; i++)
        pairs[i][0] = g->flows[i].source, pairs[i][1] = g->flows[i].target;
    struct edges e = edges_of(a, g->node_count, (const uint16_t(*)[2])pairs, g->flow_count, &which);
    edges_walk(a, &e, g->start, back, NULL, NULL);
    uint16_t *order = edges_order(a, &e, back);
    for (uint16_t i = 0; i < g->node_count; i++) {
        uint16_t v = order[i];
        for (uint32_t k = e.first[v]; k < e.first[v + 1]; k++) {
            d->back[which[k]] = back[k];
            if (!back[k] && d->layer[e.to[k]] <= d->layer[v])
                d->layer[e.to[k]] = (uint16_t)(d->layer[v] + 1);
        }
        if (d->layer[v] >= d->layers)
            d->layers = (uint16_t)(d->layer[v] + 1);
    }
}

static void find_rows(struct arena *a, struct draw *d)
{
    uint16_t n = d->graph->node_count, *next = ARENA_ARRAY(a, uint16_t, d->layers);

    d->placed = ARENA_ARRAY(a, uint16_t, n);
    d->first = arena_zero(a, (d->layers + 1u) * sizeof *d->first);
    for (uint16_t i = 0; i < n; i++)
        d->first[d->layer[i] + 1]++;
    for (uint16_t l = 0; l < d->layers; l++) {
        d->first[l + 1] = (uint16_t)(d->first[l + 1] + d->first[l]);
        next[l] = d->first[l];
    }
    for (uint16_t i = 0; i < n; i++) {
        d->row[i] = (uint16_t)(next[d->layer[i]] - d->first[d->layer[i]]);
        d->placed[next[d->layer[i]]++] = i;
    }
}

struct pulled {
    double to;
    uint16_t node, row;
};

static int pulled_order(const void *a, const void *b)
{
    const struct pulled *x = a, *y = b;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* How far a node stands from the middle of its layer. */
static double height(const struct draw *d, uint16_t node)
{
    uint16_t l = d->layer[node];

    return d->row[node] - (d->first[l + 1] - d->first[l] - 1) / 2.0;
}

/* Where the nodes on the other side of its flows would have it: their mean. */
static double pull(const struct draw *d, uint16_t node, bool down)
{
    const struct graph_node *n = &d->graph->nodes[node];
    uint16_t count = down ? n->in_count : n->out_count, counted = 0;
    double sum = 0;

    for (uint16_t i = 0; i < count; i++) {
        const struct graph_flow *f = &d->graph->flows[down ? n->in[i] : n->out[i]];
        if (d->back[f - d->graph->flows])
            continue;
        sum += height(d, down ? f->source : f->target);
        counted++;
    }
    return counted ? sum / counted : height(d, node);
}

static void sweep(struct draw *d, struct pulled *room, bool down)
{
    for (uint16_t i = 0; i < d->layers; i++) {
        uint16_t l = down ? i : (uint16_t)(d->layers - 1 - i);
        uint16_t *placed = d->placed + d->first[l], n = (uint16_t)(d->first[l + 1] - d->first[l]);
        for (uint16_t k = 0; k < n; k++)
            room[k] = (struct pulled){ pull(d, placed[k], down), placed[k], k };
        qsort(room, n, sizeof *room, pulled_order);
        for (uint16_t k = 0; k < n; k++) {
            placed[k] = room[k].node;
            d->row[room[k].node] = k;
        }
    }
}

/* What people look for beside the name of a step: who does it, how often, and what is asked of it then. */
static void write_step(struct json_writer *w, const struct graph_step *s,
                       const struct graph_work *work)
{
    if (s->agent_count) {
        write_texts(w, STR("agents"), s->agents, s->agent_count);
        write_bool(w, STR("at_once"), s->agents_at_once);
    }
    if (s->parallel_agents > 1)
        write_int(w, STR("parallel_agents"), s->parallel_agents);
    if (work && work->retry.max_attempts > 1)
        write_int(w, STR("attempts"), work->retry.max_attempts);
    if (s->evidence_count)
        write_int(w, STR("evidence"), (int64_t)s->evidence_count);
    if (s->approval)
        write_text(w, STR("approval"),
                   s->approval->variant ? STR("select_variant") : STR("approve"));
}

static void write_node(struct json_writer *w, const struct draw *d, uint16_t i)
{
    const struct graph *g = d->graph;
    const struct graph_node *n = &g->nodes[i];
    bool named = n->step != GRAPH_NONE && g->steps[n->step].node == i;

    json_write_begin(w, '{');
    write_text(w, STR("id"), n->id);
    write_text(w, STR("kind"), str_from(node_kind_names[n->kind]));
    write_text(w, STR("title"), named ? g->steps[n->step].title : n->title);
    write_or_null(w, STR("step"), n->step == GRAPH_NONE ? STR("") : g->steps[n->step].id);
    write_int(w, STR("layer"), d->layer[i]);
    write_int(w, STR("row"), d->row[i]);
    if (named)
        write_step(w, &g->steps[n->step], n->work);
    json_write_end(w, '}');
}

static void write_edge(struct json_writer *w, const struct draw *d, uint16_t i)
{
    const struct graph *g = d->graph;
    const struct graph_flow *f = &g->flows[i];
    str label = f->when ? feel_text(f->when) : STR("");

    if (str_starts(label, STR("=")))
        label = str_trim(str_slice(label, 1, label.len));
    json_write_begin(w, '{');
    write_text(w, STR("id"), f->id);
    write_text(w, STR("from"), g->nodes[f->source].id);
    write_text(w, STR("to"), g->nodes[f->target].id);
    write_text(w, STR("label"), label);
    write_bool(w, STR("default"), g->nodes[f->source].fallback == i);
    write_bool(w, STR("back"), d->back[i]);
    json_write_end(w, '}');
}

void graph_draw(struct arena *a, struct json_writer *w, const struct graph *g)
{
    struct draw d = {
        .graph = g,
        .back = arena_zero(a, g->flow_count),
        .layer = arena_zero(a, g->node_count * sizeof *d.layer),
        .row = arena_zero(a, g->node_count * sizeof *d.row),
    };
    struct pulled *room = ARENA_ARRAY(a, struct pulled, g->node_count);

    find_layers(a, &d);
    find_rows(a, &d);
    for (int i = 0; i < SWEEPS; i++)
        sweep(&d, room, i % 2 == 0);
    json_write_begin(w, '{');
    write_begin(w, STR("nodes"), '[');
    for (uint16_t i = 0; i < g->node_count; i++)
        write_node(w, &d, i);
    json_write_end(w, ']');
    write_begin(w, STR("edges"), '[');
    for (uint16_t i = 0; i < g->flow_count; i++)
        write_edge(w, &d, i);
    json_write_end(w, ']');
    write_int(w, STR("layers"), d.layers);
    json_write_end(w, '}');
}
