/* graph_text.c: a workflow's graph as lines for people. */
#include "cli/graph_text.h"

#include "base/map.h"
#include "cli/cli.h"

enum {
    TEXT_LEAST = 24, /* characters of names beside the lanes, or half of the line */
    WIDTH_LEAST = 20,
    DOES_LEAST = 12, /* characters of what a step does, or nothing of it */
    NONE = UINT32_MAX,
};

/* ---- the drawing ---- */

struct sketch_node {
    str id, title, kind, does;
    uint32_t first_out, out_count; /* edges */
    uint32_t waits;                /* edges that come from what is not placed yet */
    uint32_t in_count;
};

struct sketch_edge {
    uint32_t from, to;
    str label;
    bool fallback, back;
};

struct sketch {
    struct arena *arena;
    struct sketch_node *nodes;
    struct sketch_edge *edges; /* by where they come from, and there in their order */
    uint32_t *order;           /* of nodes: each behind all that lead to it, chains together */
    uint32_t count, edge_count, placed;
};

/* On one line, whatever a title holds: signs that are none would take more room than was counted. */
static str one_line(struct arena *a, str text)
{
    str copy = arena_copy(a, text);

    for (size_t i = 0; i < copy.len; i++)
        if ((unsigned char)copy.at[i] < ' ' || copy.at[i] == 127)
            ((char *)copy.at)[i] = ' ';
    return str_trim(copy);
}

/* A step's join and the step are one line: whatever leads to the join leads to the step. */
static uint32_t stands_for(const struct json *nodes, struct map *by_id, uint32_t i)
{
    const struct json *n = &nodes->items[i];
    str step = json_str(n, "step");

    if (!step.len || str_eq(json_str(n, "id"), step))
        return i;
    const struct json *other = map_get(by_id, step);
    return other ? (uint32_t)(other - nodes->items) : i;
}

static void read_edges(struct sketch *s, const struct json *edges, struct map *by_id,
                       const struct json *nodes)
{
    struct sketch_edge *all = ARENA_ARRAY(s->arena, struct sketch_edge, edges->len);
    uint32_t *next = ARENA_ARRAY(s->arena, uint32_t, s->count);

    for (uint32_t i = 0; i < edges->len; i++) {
        const struct json *e = &edges->items[i], *from = map_get(by_id, json_str(e, "from")),
                          *to = map_get(by_id, json_str(e, "to"));
        if (!from || !to)
            continue;
        struct sketch_edge made = {
            .from = stands_for(nodes, by_id, (uint32_t)(from - nodes->items)),
            .to = stands_for(nodes, by_id, (uint32_t)(to - nodes->items)),
            .label = one_line(s->arena, json_str(e, "label")),
            .fallback = json_bool_or(e, "default", false),
            .back = json_bool_or(e, "back", false),
        };
        if (made.from == made.to && !made.back)
            continue; /* from a join to its step */
        all[s->edge_count++] = made;
        s->nodes[made.from].out_count++;
        s->nodes[made.to].in_count += !made.back;
    }
    for (uint32_t i = 0, first = 0; i < s->count; i++) {
        s->nodes[i].first_out = next[i] = first;
        first += s->nodes[i].out_count;
    }
    s->edges = ARENA_ARRAY(s->arena, struct sketch_edge, s->edge_count);
    for (uint32_t i = 0; i < s->edge_count; i++)
        s->edges[next[all[i].from]++] = all[i];
}

/* A chain is followed to where it has to wait for another. */
static void find_order(struct sketch *s, const bool *left_out)
{
    uint32_t *stack = ARENA_ARRAY(s->arena, uint32_t, s->count), depth = 0;

    s->order = ARENA_ARRAY(s->arena, uint32_t, s->count);
    for (uint32_t i = s->count; i-- > 0;) {
        s->nodes[i].waits = s->nodes[i].in_count;
        if (!s->nodes[i].waits && !left_out[i])
            stack[depth++] = i;
    }
    while (depth) {
        uint32_t i = s->order[s->placed++] = stack[--depth];
        const struct sketch_node *n = &s->nodes[i];
        for (uint32_t k = n->out_count; k-- > 0;) {
            const struct sketch_edge *e = &s->edges[n->first_out + k];
            if (!e->back && --s->nodes[e->to].waits == 0)
                stack[depth++] = e->to;
        }
    }
}

/* "by security, style at once, up to 3 attempts, evidence, a person approves"; empty: nothing of that. */
static str does_of(struct arena *a, const struct json *node)
{
    const struct json *agents = json_get(node, "agents");
    int64_t runs = json_int_or(node, "parallel_agents", 0),
            attempts = json_int_or(node, "attempts", 0);
    str approval = json_str(node, "approval");
    struct buf out = buf_in(a);

    for (uint32_t i = 0; json_is(agents, JSON_ARRAY) && i < agents->len; i++)
        buf_printf(&out, "%s" STR_FMT, i ? ", " : "by ", STR_ARG(json_text(&agents->items[i])));
    if (json_bool_or(node, "at_once", false))
        buf_add(&out, STR(" at once"));
    if (runs)
        buf_printf(&out, "%s%lld at once", out.len ? ", " : "", (long long)runs);
    if (attempts)
        buf_printf(&out, "%sup to %lld attempts", out.len ? ", " : "", (long long)attempts);
    if (json_get(node, "evidence"))
        buf_printf(&out, "%sevidence", out.len ? ", " : "");
    if (approval.len)
        buf_printf(&out, "%sa person %s", out.len ? ", " : "",
                   str_eq(approval, STR("approve")) ? "approves" : "chooses");
    return one_line(a, buf_str(&out));
}

static struct sketch sketch_of(struct arena *a, const struct json *drawing)
{
    const struct json *nodes = json_get(drawing, "nodes"), *edges = json_get(drawing, "edges");
    struct sketch s = { .arena = a };
    struct map by_id = map_in(a);

    if (!json_is(nodes, JSON_ARRAY) || !json_is(edges, JSON_ARRAY))
        return s;
    s.count = nodes->len;
    s.nodes = arena_zero(a, s.count * sizeof *s.nodes);
    bool *left_out = arena_zero(a, s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        const struct json *n = &nodes->items[i];
        s.nodes[i].id = json_str(n, "id");
        s.nodes[i].kind = json_str(n, "kind");
        s.nodes[i].title = one_line(a, json_str(n, "title"));
        s.nodes[i].does = does_of(a, n);
        map_put(&by_id, s.nodes[i].id, (void *)n);
    }
    for (uint32_t i = 0; i < s.count; i++)
        left_out[i] = stands_for(nodes, &by_id, i) != i;
    read_edges(&s, edges, &by_id, nodes);
    find_order(&s, left_out);
    return s;
}

/* ---- lines ---- */

struct picture {
    struct buf *out; /* NULL: only the width of the lanes is wanted */
    const struct sketch *sketch;
    const struct graph_style *style;
    uint32_t *lanes; /* the node that each leads to; NONE: none */
    uint32_t lane_count, lane_most;
};

// clang-format off
/* In each of the two ways: what stands in a lane, and what between it and the next. */
enum sign { PASSES, FREE, FIRST, MIDDLE, LAST, FORK, FORK_LAST, ACROSS, SPACE, SIGNS };
static const char *const signs[2][SIGNS] = {
    { "|", " ", "|", "+", "'", "+", ".", "-", " " },
    { "│", " ", "├", "┴", "╯", "┬", "╮", "─", " " },
};

static const struct { const char *kind, *sign[2]; } markers[] = {
    { "start", { "o", "○" } }, { "end",  { "o", "○" } }, { "pass", { ".", "·" } },
    { "set",   { "=", "=" } }, { "xor",  { "?", "◇" } }, { "and",  { "+", "+" } },
    { "work",  { "*", "●" } },
};
// clang-format on

static const char *marker_of(const struct picture *p, str kind)
{
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (str_eq(kind, str_from(markers[i].kind)))
            return markers[i].sign[p->style->unicode];
    return "*";
}

static void put(const struct picture *p, enum paint paint, str text)
{
    term_put(p->out, p->style->coloured ? paint : PAINT_PLAIN, text);
}

static void put_sign(const struct picture *p, enum sign sign)
{
    put(p, PAINT_DIM, str_from(signs[p->style->unicode][sign]));
}

static str cut(const struct picture *p, str text, size_t width)
{
    if (render_text_width(text) <= width)
        return text;
    text = render_cut(p->sketch->arena, text, width ? width : 1);
    if (p->style->unicode)
        return text;
    return arena_printf(p->sketch->arena, STR_FMT "~", STR_ARG(str_slice(text, 0, text.len - 3)));
}

static size_t room_beside(const struct picture *p, size_t taken)
{
    size_t width = p->style->width < WIDTH_LEAST ? WIDTH_LEAST : p->style->width;

    return !p->style->width ? SIZE_MAX : width > taken ? width - taken : 0;
}

static void end_line(struct buf *out)
{
    while (out->len && out->at[out->len - 1] == ' ')
        out->len--;
    buf_byte(out, '\n');
}

/* Lanes as they pass, with a node's marker in one of them. */
static void put_lanes(const struct picture *p, uint32_t lane, const char *marker)
{
    for (uint32_t i = 0; i < p->lane_count; i++) {
        if (i == lane && marker)
            put(p, PAINT_KEY, str_from(marker));
        else
            put_sign(p, p->lanes[i] == NONE ? FREE : PASSES);
        put_sign(p, SPACE);
    }
}

/* A line from one lane to others at its right, which are marked in `joins`. */
static void put_branches(const struct picture *p, uint32_t lane, const bool *joins,
                         enum sign middle, enum sign last)
{
    uint32_t end = lane;

    for (uint32_t i = lane + 1; i < p->lane_count; i++)
        end = joins[i] ? i : end;
    for (uint32_t i = 0; i < p->lane_count; i++) {
        if (i == lane)
            put_sign(p, FIRST);
        else if (joins[i])
            put_sign(p, i == end ? last : middle);
        else if (p->lanes[i] != NONE)
            put_sign(p, PASSES);
        else
            put_sign(p, i > lane && i < end ? ACROSS : FREE);
        put_sign(p, i >= lane && i < end ? ACROSS : SPACE);
    }
    end_line(p->out);
}

static str name_of(const struct picture *p, const struct sketch_node *n)
{
    if (!n->title.len || str_eq(n->title, n->id))
        return n->id;
    return arena_printf(p->sketch->arena, STR_FMT "  " STR_FMT, STR_ARG(n->id), STR_ARG(n->title));
}

/* "if x > 3 -> fix", "else -> done", and what goes back. */
static str edge_said(const struct picture *p, const struct sketch_edge *e)
{
    const char *arrow = e->back             ? (p->style->unicode ? "↺" : "back to")
                        : p->style->unicode ? "→"
                                            : "->";
    const char *word = e->fallback ? "else " : e->label.len ? "if " : "";

    return arena_printf(p->sketch->arena, "%s" STR_FMT "%s%s " STR_FMT, word, STR_ARG(e->label),
                        e->label.len ? " " : "", arrow, STR_ARG(p->sketch->nodes[e->to].id));
}

static bool is_said(const struct sketch_edge *e)
{
    return e->label.len || e->fallback || e->back;
}

/* Behind a name, as far as there is room for it. */
static void put_does(const struct picture *p, const struct sketch_node *n, size_t taken)
{
    size_t room = room_beside(p, taken + 2);

    if (!n->does.len || room < DOES_LEAST)
        return;
    buf_add(p->out, STR("  "));
    put(p, PAINT_DIM, cut(p, n->does, room));
}

static void put_said(const struct picture *p, const struct sketch_node *n)
{
    for (uint32_t k = 0; k < n->out_count; k++) {
        const struct sketch_edge *e = &p->sketch->edges[n->first_out + k];
        if (!is_said(e))
            continue;
        put_lanes(p, NONE, NULL);
        buf_add(p->out, STR("  "));
        put(p, PAINT_DIM, cut(p, edge_said(p, e), room_beside(p, p->lane_count * 2 + 2)));
        end_line(p->out);
    }
}

/* ---- lanes ---- */

/* The first free lane at or behind one, or a new one. */
static uint32_t lane_free(struct picture *p, uint32_t from)
{
    uint32_t i = from;

    while (i < p->lane_count && p->lanes[i] != NONE)
        i++;
    if (i >= p->lane_count) {
        i = p->lane_count++;
        p->lanes[i] = NONE;
    }
    p->lane_most = p->lane_count > p->lane_most ? p->lane_count : p->lane_most;
    return i;
}

/* Brings all that lead to a node into one lane. */
static uint32_t lanes_join(struct picture *p, uint32_t node, bool *joins)
{
    uint32_t lane = NONE, others = 0;

    for (uint32_t i = 0; i < p->lane_count; i++) {
        joins[i] = lane != NONE && p->lanes[i] == node;
        others += joins[i];
        if (lane == NONE && p->lanes[i] == node)
            lane = i;
    }
    if (lane == NONE)
        lane = lane_free(p, 0);
    if (others && p->out)
        put_branches(p, lane, joins, MIDDLE, LAST);
    for (uint32_t i = 0; others && i < p->lane_count; i++)
        p->lanes[i] = joins[i] ? NONE : p->lanes[i];
    p->lanes[lane] = node;
    while (p->lane_count && p->lanes[p->lane_count - 1] == NONE)
        p->lane_count--;
    return lane;
}

/* Gives a lane to each edge that goes on. */
static void lanes_fork(struct picture *p, const struct sketch_node *n, uint32_t lane, bool *joins)
{
    uint32_t taken = 0;

    memset(joins, 0, p->lane_count + n->out_count);
    p->lanes[lane] = NONE;
    for (uint32_t k = 0; k < n->out_count; k++) {
        const struct sketch_edge *e = &p->sketch->edges[n->first_out + k];
        if (e->back)
            continue;
        uint32_t to = taken ? lane_free(p, lane + 1) : lane;
        p->lanes[to] = e->to;
        joins[to] = taken++ > 0;
    }
    if (taken > 1 && p->out)
        put_branches(p, lane, joins, FORK, FORK_LAST);
    while (p->lane_count && p->lanes[p->lane_count - 1] == NONE)
        p->lane_count--;
}

static bool goes_on(const struct sketch *s, const struct sketch_node *n)
{
    for (uint32_t k = 0; k < n->out_count; k++)
        if (!s->edges[n->first_out + k].back)
            return true;
    return false;
}

/* Draws all of it, or finds out how many lanes that takes; gives up beyond `most`. */
static void draw(struct picture *p, uint32_t most)
{
    const struct sketch *s = p->sketch;
    uint32_t room = s->edge_count + s->count;
    bool *joins = arena_zero(s->arena, room);

    p->lanes = ARENA_ARRAY(s->arena, uint32_t, room);
    p->lane_count = 0;
    for (uint32_t i = 0; i < s->placed && p->lane_most <= most; i++) {
        const struct sketch_node *n = &s->nodes[s->order[i]];
        uint32_t lane = lanes_join(p, s->order[i], joins);
        if (p->out) {
            put_lanes(p, lane, marker_of(p, n->kind));
            str name = cut(p, name_of(p, n), room_beside(p, p->lane_count * 2));
            put(p, PAINT_PLAIN, name);
            put_does(p, n, p->lane_count * 2 + render_text_width(name));
            end_line(p->out);
            if (!goes_on(s, n))
                p->lanes[lane] = NONE;
            put_said(p, n);
        }
        lanes_fork(p, n, lane, joins);
    }
}

/* ---- without lanes ---- */

/* "* ship  after review, docs": in one line for each node what it comes after. */
static void put_list(struct picture *p)
{
    const struct sketch *s = p->sketch;
    struct buf *after = ARENA_ARRAY(s->arena, struct buf, s->count);

    for (uint32_t i = 0; i < s->count; i++)
        after[i] = buf_in(s->arena);
    for (uint32_t i = 0; i < s->edge_count; i++) {
        const struct sketch_edge *e = &s->edges[i];
        if (!e->back && str_eq(s->nodes[e->from].kind, STR("start")))
            continue;
        if (!e->back)
            buf_printf(&after[e->to], "%s" STR_FMT, after[e->to].len ? ", " : "  after ",
                       STR_ARG(s->nodes[e->from].id));
    }
    p->lane_count = 0;
    for (uint32_t i = 0; i < s->placed; i++) {
        const struct sketch_node *n = &s->nodes[s->order[i]];
        struct buf line = buf_in(s->arena);
        buf_add(&line, name_of(p, n));
        buf_add(&line, buf_str(&after[s->order[i]]));
        put(p, PAINT_KEY, str_from(marker_of(p, n->kind)));
        buf_byte(p->out, ' ');
        str text = cut(p, buf_str(&line), room_beside(p, 2));
        put(p, PAINT_PLAIN, text);
        put_does(p, n, 2 + render_text_width(text));
        end_line(p->out);
        put_said(p, n);
    }
}

void graph_text(struct buf *out, const struct json *drawing, const struct graph_style *style)
{
    struct sketch s = sketch_of(out->arena, drawing);
    struct picture p = { .sketch = &s, .style = style };
    size_t width = style->width < WIDTH_LEAST ? WIDTH_LEAST : style->width;
    size_t text = width / 2 < TEXT_LEAST ? width / 2 : TEXT_LEAST;
    uint32_t most = style->width ? (uint32_t)((width - text) / 2) : NONE;

    draw(&p, most);
    bool fits = p.lane_most <= most;
    p.out = out;
    if (fits)
        draw(&p, NONE);
    else
        put_list(&p);
}
