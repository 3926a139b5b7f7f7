/* graph.c: a definition → a graph: which of the forms it is, what all forms have in common, and what can
 * be said of a graph when it is done. */
#include "flow/graph_private.h"

#include "json/schema/schema.h"

enum {
    NEAR_CELLS = 4000000,   /* of looking for near names: a few milliseconds */
    INPUT_PARTS_MAX = 2000, /* schemas in the schema of the input */
};

enum top_slot {
    TOP_NAME,
    TOP_DESCRIPTION,
    TOP_INPUT,
    TOP_CONTEXT,
    TOP_DEFAULTS,
    TOP_ON_FAIL,
    TOP_RESULT,
    TOP_LIST,
    TOP_FLOWS,
    TOP_LEVEL,
    TOP_TASK,
    TOP_STATUS,
    TOP_CURRENT,
    TOP_ARTIFACTS,
    TOP_SLOTS
};

#define T (1u << JSON_STRING)
#define A (1u << JSON_ARRAY)
#define O (1u << JSON_OBJECT)
#define ANY (~0u)
#define NODES (1u << GRAPH_NODES)
#define PHASES (1u << GRAPH_PHASES)
#define PLANNING (1u << GRAPH_PLANNING)
#define DOCUMENTED (1u << GRAPH_GENERATION | PLANNING)

// clang-format off
static const struct member top_members[] = {
    { "workflow",         TOP_NAME,        T,                   0,                      0 },
    { "name",             TOP_NAME,        T,                   0,                      0 },
    { "description",      TOP_DESCRIPTION, T,                   0,                      0 },
    { "input",            TOP_INPUT,       O | 1u << JSON_BOOL, 0,                      0 },
    { "id",               TOP_CONTEXT,     T,                   0,                      0 },
    { "defaults",         TOP_DEFAULTS,    O,                   0,                      0 },
    { "on_fail",          TOP_ON_FAIL,     T,                   0,                      0 },
    { "result",           TOP_RESULT,      ANY,                 0,                      0 },
    { "steps",            TOP_LIST,        A,                   1u << GRAPH_STEPS,      0 },
    { "nodes",            TOP_LIST,        A,                   NODES,                  0 },
    { "flows",            TOP_FLOWS,       A,                   NODES,                  0 },
    { "phases",           TOP_LIST,        A,                   PHASES,                 0 },
    { "generation_steps", TOP_LIST,        A,                   1u << GRAPH_GENERATION, 0 },
    { "planning_phases",  TOP_LIST,        O,                   PLANNING,               0 },
    { "level",            TOP_LEVEL,       T,                   PLANNING,               0 },
    { "task",             TOP_TASK,        T,                   PHASES,                 0 },
    { "status",           TOP_STATUS,      T,                   PHASES,                 0 },
    { "current_phase",    TOP_CURRENT,     T | 1u << JSON_NULL, PHASES,                 0 },
    { "artifacts",        TOP_ARTIFACTS,   A,                   DOCUMENTED,             0 },
};

const char *const graph_kind_names[GRAPH_KINDS] = { "steps", "nodes", "phases", "generation", "planning" };
const char *const node_kind_names[NODE_KINDS] = { "start", "end", "pass", "set", "xor", "and", "work" };

/* What the list of a form is called. */
static const char *const lists[GRAPH_KINDS] = {
    "steps", "nodes", "phases", "generation_steps", "planning_phases",
};
// clang-format on

enum { TOP_MEMBERS = sizeof top_members / sizeof *top_members };

/* ---- which form ---- */

static bool find_form(struct builder *b, const struct spot *root, const struct json *definition)
{
    int found = -1;

    for (int i = 0; i < GRAPH_KINDS; i++) {
        if (!json_get(definition, lists[i]))
            continue;
        if (found >= 0) {
            struct spot at = spot_member(root, str_from(lists[i]));
            builder_wrong(b, &at, "conflict",
                          "\"%s\" says already what there is to do: make two workflows",
                          lists[found]);
            return false;
        }
        found = i;
    }
    b->kind = found < 0 ? GRAPH_STEPS : (enum graph_kind)found;
    if (found >= 0)
        return true;
    str names[GRAPH_KINDS], meant = STR("");
    for (int i = 0; i < GRAPH_KINDS; i++)
        names[i] = str_from(lists[i]);
    for (uint32_t i = 0; i < definition->len && i < TOP_MEMBERS && !meant.len; i++)
        meant = builder_meant(b, json_name(&definition->members[i]), names, GRAPH_KINDS);
    builder_wrong(
        b, root, "required",
        "expected \"steps\", or \"nodes\" and \"flows\", \"phases\", \"generation_steps\" or "
        "\"planning_phases\", found none" STR_FMT,
        STR_ARG(meant));
    return false;
}

/* ---- what all forms have ---- */

/* Each of what the schema's compiler finds, in place of it as a whole. */
static void check_input(struct builder *b, const struct spot *at, const struct json *text)
{
    struct schema_options options = { .assert_formats = true, .parts_max = INPUT_PARTS_MAX };
    struct schema *s;
    const struct json *members;

    err e = schema_compile(b->arena, text, &options, &s);
    if (!e) {
        schema_free(s);
        return;
    }
    size_t before = b->mistake_count;
    str printed = arena_printf(b->arena, "{" STR_FMT "}", STR_ARG(e->members));
    const struct json *errors =
        json_parse_own(b->arena, printed, &members) ? NULL : json_get(members, "errors");
    for (uint32_t i = 0; json_is(errors, JSON_ARRAY) && i < errors->len; i++) {
        builder_wrong(b, at, "schema", STR_FMT, STR_ARG(json_str(&errors->items[i], "message")));
        if (b->mistake_count <= BUILDER_MISTAKES_MAX) {
            struct violation *last = &b->mistakes[b->mistake_count - 1];
            last->pointer = arena_printf(b->arena, STR_FMT STR_FMT, STR_ARG(last->pointer),
                                         STR_ARG(json_str(&errors->items[i], "pointer")));
        }
    }
    if (b->mistake_count == before)
        builder_wrong(b, at, "schema", STR_FMT, STR_ARG(e->message));
}

static void read_on_fail(struct builder *b, struct members *top, struct graph *g)
{
    struct spot defaults = builder_spot(top, TOP_DEFAULTS), word = builder_spot(top, TOP_ON_FAIL);

    g->on_fail = b->kind == GRAPH_NODES ? ON_FAIL_INCIDENT : ON_FAIL_DRAIN;
    defaults_read(b, &defaults, top->is[TOP_DEFAULTS], &g->on_fail);
    if (!top->is[TOP_ON_FAIL])
        return;
    if (json_get(top->is[TOP_DEFAULTS], "on_fail")) {
        builder_wrong(b, &word, "conflict", "\"defaults\" says this already: keep one of them");
        return;
    }
    int n = builder_word(b, &word, top->is[TOP_ON_FAIL], on_fail_names, ON_FAIL_COUNT);
    g->on_fail = n < 0 ? g->on_fail : (enum graph_on_fail)n;
}

static void read_top(struct builder *b, struct members *top, struct graph *g)
{
    struct spot name = builder_spot(top, TOP_NAME), input = builder_spot(top, TOP_INPUT),
                id = builder_spot(top, TOP_CONTEXT), result = builder_spot(top, TOP_RESULT),
                artifacts = builder_spot(top, TOP_ARTIFACTS);
    const struct json *said = top->is[TOP_DESCRIPTION] ? top->is[TOP_DESCRIPTION]
                                                       : top->is[TOP_TASK];

    g->kind = b->kind;
    if (top->is[TOP_NAME])
        builder_id(b, &name, top->is[TOP_NAME], "the name of a workflow", &g->name);
    if (said)
        g->description = json_text(said);
    if (top->is[TOP_INPUT]) {
        g->input = top->is[TOP_INPUT];
        check_input(b, &input, g->input);
    }
    /* Of phases it is the id that an execution already has. */
    if (top->is[TOP_CONTEXT] && b->kind != GRAPH_PHASES)
        g->context = builder_template(b, &id, top->is[TOP_CONTEXT]);
    if (top->is[TOP_ARTIFACTS])
        builder_name_list(b, &artifacts, top->is[TOP_ARTIFACTS], "the name of an output",
                          &g->artifacts, &g->artifact_count);
    if (top->is[TOP_RESULT])
        g->result = builder_value(b, &result, top->is[TOP_RESULT]);
    read_on_fail(b, top, g);
}

static void read_list(struct builder *b, struct members *top, struct graph *g)
{
    struct spot at = builder_spot(top, TOP_LIST), flows = spot_member(top->at, STR("flows"));
    const struct json *list = top->is[TOP_LIST];

    if (list && b->kind == GRAPH_PLANNING)
        list = planning_list(b, &at, list, top->is[TOP_LEVEL], &g->level);
    if (!list)
        return; /* it is of another kind, which has been told */
    struct spot level = spot_member(&at, g->level);
    if (b->kind == GRAPH_NODES)
        nodes_compile(b, &at, list, &flows, top->is[TOP_FLOWS]);
    else
        steps_compile(b, b->kind == GRAPH_PLANNING ? &level : &at, list);
}

/* ---- when it is done ---- */

static void link_flows(struct builder *b, struct graph *g)
{
    uint16_t *in = ARENA_ARRAY(b->arena, uint16_t, g->flow_count),
             *out = ARENA_ARRAY(b->arena, uint16_t, g->flow_count);

    for (uint16_t i = 0; i < g->flow_count; i++) {
        b->nodes[b->flows[i].source].out_count++;
        b->nodes[b->flows[i].target].in_count++;
    }
    for (uint16_t i = 0; i < g->node_count; i++) {
        struct graph_node *n = &b->nodes[i];
        n->in = in;
        n->out = out;
        in += n->in_count;
        out += n->out_count;
        n->in_count = n->out_count = 0;
        if (n->kind == NODE_START)
            g->start = i;
    }
    for (uint16_t i = 0; i < g->flow_count; i++) {
        struct graph_node *source = &b->nodes[b->flows[i].source],
                          *target = &b->nodes[b->flows[i].target];
        ((uint16_t *)source->out)[source->out_count++] = i;
        ((uint16_t *)target->in)[target->in_count++] = i;
    }
}

/* Their numbers in the order of their ids: things of `size` bytes with the id at their beginning. */
static const uint16_t *sorted(struct builder *b, const void *things, size_t size, size_t count)
{
    str *ids = ARENA_ARRAY(b->arena, str, count);

    for (size_t i = 0; i < count; i++)
        memcpy(&ids[i], (const char *)things + i * size, sizeof *ids);
    return builder_names(b, ids, count, "", NULL, NULL).order;
}

/* Which nodes a token can come to. `joins`: only where all flows of an `and` can bring one. */
static bool *reached(struct arena *a, const struct graph *g, bool joins)
{
    bool *is = arena_zero(a, g->node_count);
    uint16_t *queue = ARENA_ARRAY(a, uint16_t, g->node_count),
             *came = arena_zero(a, g->node_count * sizeof *came);
    size_t first = 0, last = 0;

    is[g->start] = true;
    queue[last++] = g->start;
    while (first < last) {
        const struct graph_node *n = &g->nodes[queue[first++]];
        for (uint16_t i = 0; i < n->out_count; i++) {
            uint16_t to = g->flows[n->out[i]].target;
            const struct graph_node *target = &g->nodes[to];
            came[to]++;
            if (is[to] || (joins && target->kind == NODE_AND && came[to] < target->in_count))
                continue;
            is[to] = true;
            queue[last++] = to;
        }
    }
    return is;
}

static void warn_unreached(struct builder *b, const struct graph *g)
{
    const bool *can = reached(b->arena, g, false), *will = reached(b->arena, g, true);

    for (uint16_t i = 0; i < g->node_count; i++) {
        const struct graph_node *n = &g->nodes[i];
        const struct graph_flow *missing = NULL;
        bool comes = false;
        for (uint16_t k = 0; k < n->in_count; k++) {
            const struct graph_flow *f = &g->flows[n->in[k]];
            comes = comes || will[f->source];
            missing = missing || will[f->source] ? missing : f;
        }
        if (!can[i])
            builder_warn(b, "nothing leads to the node " STR_FMT, STR_ARG(builder_named(b, n->id)));
        else if (!will[i] && comes)
            builder_warn(b,
                         "the join " STR_FMT " can never go on, because nothing comes by " STR_FMT
                         " before it has: put an \"xor\" where a circle comes back",
                         STR_ARG(builder_named(b, n->id)), STR_ARG(builder_named(b, missing->id)));
    }
}

static void warn_untaken(struct builder *b, const struct graph *g)
{
    for (uint16_t i = 0; i < g->node_count; i++) {
        const struct graph_node *n = &g->nodes[i];
        for (uint16_t k = 0; n->kind == NODE_XOR && k + 1 < n->out_count; k++) {
            if (g->flows[n->out[k]].when || n->out[k] == n->fallback)
                continue;
            builder_warn(b,
                         "the flow " STR_FMT " has no condition, so none behind it is ever taken",
                         STR_ARG(builder_named(b, g->flows[n->out[k]].id)));
            break;
        }
    }
}

/* Of each node: the flow by which what comes to it has left an `xor`, along nodes that one flow leads to;
 * GRAPH_NONE: nobody knows. */
static uint16_t *choices(struct arena *a, const struct graph *g)
{
    uint16_t *by = ARENA_ARRAY(a, uint16_t, g->node_count),
             *path = ARENA_ARRAY(a, uint16_t, g->node_count);
    bool *known = arena_zero(a, g->node_count);

    for (uint16_t i = 0; i < g->node_count; i++) {
        uint16_t v = i;
        size_t length = 0;
        while (!known[v]) {
            const struct graph_node *n = &g->nodes[v];
            const struct graph_flow *f = n->in_count == 1 ? &g->flows[n->in[0]] : NULL;
            known[v] = true;
            by[v] = GRAPH_NONE;
            path[length++] = v;
            if (!f)
                break;
            if (g->nodes[f->source].kind == NODE_XOR && g->nodes[f->source].out_count > 1) {
                by[v] = n->in[0];
                break;
            }
            v = f->source;
        }
        uint16_t found = by[v];
        while (length)
            by[path[--length]] = found;
    }
    return by;
}

/* The choice that a flow's token has come by. */
static uint16_t choice_of(const struct graph *g, const uint16_t *by, uint16_t flow)
{
    const struct graph_node *source = &g->nodes[g->flows[flow].source];
    bool chosen = source->kind == NODE_XOR && source->out_count > 1;

    return chosen ? flow : by[g->flows[flow].source];
}

/* A join of two choices of one `xor`, of which it makes one. */
static void warn_chosen(struct builder *b, const struct graph *g)
{
    const uint16_t *by = choices(b->arena, g);
    uint16_t *first = arena_zero(b->arena, g->node_count * sizeof *first); /* of an `xor`, plus 1 */

    for (uint16_t i = 0; i < g->node_count; i++) {
        const struct graph_node *n = &g->nodes[i];
        uint16_t count = n->kind == NODE_AND ? n->in_count : 0, k;
        for (k = 0; k < count; k++) {
            uint16_t choice = choice_of(g, by, n->in[k]);
            if (choice == GRAPH_NONE)
                continue;
            uint16_t *other = &first[g->flows[choice].source];
            if (*other && *other != choice + 1) {
                builder_warn(b,
                             "the join " STR_FMT " waits for " STR_FMT " and " STR_FMT
                             ", of which only one is taken: join them by a \"pass\"",
                             STR_ARG(builder_named(b, n->id)),
                             STR_ARG(builder_named(b, g->flows[*other - 1].id)),
                             STR_ARG(builder_named(b, g->flows[choice].id)));
                break;
            }
            *other = (uint16_t)(choice + 1);
        }
        for (k = 0; k < count; k++)
            if (choice_of(g, by, n->in[k]) != GRAPH_NONE)
                first[g->flows[choice_of(g, by, n->in[k])].source] = 0;
    }
}

struct endless {
    struct builder *builder;
    const str *ids;
};

static void warn_circle(void *who, const uint16_t *vertices, size_t count)
{
    const struct endless *e = who;

    builder_warn(e->builder,
                 "nothing decides about the circle " STR_FMT
                 ": what comes into it goes round for ever",
                 STR_ARG(builder_circle(e->builder, e->ids, vertices, count)));
}

/* Circles of flows that are always taken. */
static void warn_endless(struct builder *b, const struct graph *g)
{
    uint16_t(*pairs)[2] = arena_array(b->arena, g->flow_count, sizeof *pairs);
    str *ids = ARENA_ARRAY(b->arena, str, g->node_count);
    struct endless e = { b, ids };
    size_t count = 0;

    for (uint16_t i = 0; i < g->node_count; i++)
        ids[i] = g->nodes[i].id;
    for (uint16_t i = 0; i < g->flow_count; i++) {
        const struct graph_flow *f = &g->flows[i];
        const struct graph_node *n = &g->nodes[f->source];
        if (f->when || n->fallback == i || (n->kind == NODE_XOR && n->out_count > 1))
            continue;
        pairs[count][0] = f->source;
        pairs[count++][1] = f->target;
    }
    struct edges edges =
        edges_of(b->arena, g->node_count, (const uint16_t(*)[2])pairs, count, NULL);
    edges_walk(b->arena, &edges, g->start, NULL, warn_circle, &e);
}

static void finish(struct builder *b, struct graph *g)
{
    g->nodes = b->nodes;
    g->flows = b->flows;
    g->steps = b->steps;
    g->node_count = b->node_count;
    g->flow_count = b->flow_count;
    g->step_count = b->step_count;
    link_flows(b, g);
    g->nodes_sorted = sorted(b, g->nodes, sizeof *g->nodes, g->node_count);
    g->flows_sorted = sorted(b, g->flows, sizeof *g->flows, g->flow_count);
    g->steps_sorted = sorted(b, g->steps, sizeof *g->steps, g->step_count);
    if (g->kind == GRAPH_NODES) {
        warn_unreached(b, g);
        warn_untaken(b, g);
        warn_chosen(b, g);
        warn_endless(b, g);
    }
    str *warnings = ARENA_ARRAY(b->arena, str, b->warning_count);
    memcpy(warnings, b->warnings, b->warning_count * sizeof *warnings);
    g->warnings = warnings;
    g->warning_count = b->warning_count;
}

static err mistakes(struct builder *b)
{
    size_t kept = b->mistake_count < BUILDER_MISTAKES_MAX ? b->mistake_count : BUILDER_MISTAKES_MAX;
    struct buf m = buf_in(b->arena);

    buf_add(&m, b->mistakes[0].message);
    if (b->mistake_count > 1)
        buf_printf(&m, " (and %zu more)", b->mistake_count - 1);
    str message = buf_str(&m);
    return err_with(b->arena, err_new(b->arena, ERR_UNFIT, STR_FMT, STR_ARG(message)),
                    message_errors(b->arena, b->mistakes, kept));
}

err graph_compile(struct arena *a, const struct json *definition, const struct graph **out)
{
    struct builder b = { .arena = a, .cells_left = NEAR_CELLS };
    struct graph *g = ARENA_NEW(a, struct graph);
    const struct json *is[TOP_SLOTS] = { 0 };
    const char *called[TOP_SLOTS] = { 0 };
    struct spot root = { 0 };
    struct members top = { &root, is, called };

    g->name = g->description = g->level = STR("");
    if (definition->kind != JSON_OBJECT)
        builder_wrong(&b, &root, "type",
                      "expected a workflow's definition, an object, found " STR_FMT,
                      STR_ARG(builder_shown(&b, definition)));
    else if (json_print_size(definition) > GRAPH_TEXT_MAX)
        builder_wrong(&b, &root, "limit", "expected at most %d bytes, found %zu", GRAPH_TEXT_MAX,
                      json_print_size(definition));
    else if (find_form(&b, &root, definition)) {
        builder_members(&b, &top, definition, top_members, TOP_MEMBERS);
        read_top(&b, &top, g);
        read_list(&b, &top, g);
    }
    if (b.mistake_count)
        return mistakes(&b);
    finish(&b, g);
    *out = g;
    return NULL;
}

/* ---- looking things up ---- */

static uint16_t find(const uint16_t *order, size_t count, const void *things, size_t size, str id)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        str name;
        memcpy(&name, (const char *)things + order[middle] * size, sizeof name);
        int order_of = str_compare(name, id);
        if (order_of == 0)
            return order[middle];
        if (order_of < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return GRAPH_NONE;
}

uint16_t graph_node_find(const struct graph *g, str id)
{
    return find(g->nodes_sorted, g->node_count, g->nodes, sizeof *g->nodes, id);
}

uint16_t graph_flow_find(const struct graph *g, str id)
{
    return find(g->flows_sorted, g->flow_count, g->flows, sizeof *g->flows, id);
}

uint16_t graph_step_find(const struct graph *g, str id)
{
    return find(g->steps_sorted, g->step_count, g->steps, sizeof *g->steps, id);
}

const bool *graph_downstream(struct arena *a, const struct graph *g, uint16_t step)
{
    bool *is = arena_zero(a, g->step_count), *seen = arena_zero(a, g->node_count);
    uint16_t *queue = ARENA_ARRAY(a, uint16_t, g->node_count);
    size_t first = 0, last = 0;

    seen[g->steps[step].node] = true;
    queue[last++] = g->steps[step].node;
    while (first < last) {
        const struct graph_node *n = &g->nodes[queue[first++]];
        if (n->step != GRAPH_NONE)
            is[n->step] = true;
        for (uint16_t i = 0; i < n->out_count; i++) {
            uint16_t to = g->flows[n->out[i]].target;
            if (!seen[to])
                queue[last++] = to;
            seen[to] = true;
        }
    }
    return is;
}
