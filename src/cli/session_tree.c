/* session_tree.c: sessions as the trees that they are: who is below whom, in which order, and what
 * it sums up to. */
#include "cli/session_tree.h"

#include <stdlib.h>

#include "base/date.h"
#include "base/map.h"

/* A root that failed asks for somebody for a day; then it is history. */
#define NEEDS_YOU_MS (24 * 3600 * 1000LL)

/* ---- one session ---- */

static int64_t time_of(const struct json *session, const char *name)
{
    int64_t ms;

    return date_parse(json_str(session, name), &ms) ? ms : 0;
}

static const struct {
    const char *status;
    enum tree_rank rank;
} ranks[] = {
    { "pending", RANK_RUNNING },
    { "running", RANK_RUNNING },
    { "idle", RANK_IDLE },
};

/* A member of which nothing was heard for long is not counted as what it said last. */
static enum tree_rank rank_of(const struct json *session)
{
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (str_eq(json_str(session, "status"), str_from(ranks[i].status)))
            return json_bool_or(session, "silent", false) ? RANK_SILENT : ranks[i].rank;
    return RANK_ENDED;
}

static void node_init(struct tree_node *n, const struct json *session)
{
    const struct json *usage = json_get(session, "usage"), *cost = json_get(usage, "cost_usd");

    *n = (struct tree_node){ .session = session,
                             .id = json_str(session, "session_id"),
                             .name = json_str(session, "session_name"),
                             .created_ms = time_of(session, "created_at"),
                             .heard_ms = time_of(session, "last_event_at"),
                             .rank = rank_of(session) };
    n->own.cost = json_is_number(cost) ? (int64_t)(json_to_double(cost) * 1e6 + 0.5) : 0;
    n->own.tokens = json_int_or(usage, "input_tokens", 0) + json_int_or(usage, "output_tokens", 0);
    int64_t changed = time_of(session, "updated_at");
    if (changed > n->heard_ms && (!n->heard_ms || n->rank == RANK_ENDED))
        n->heard_ms = changed;
}

/* ---- who needs somebody ---- */

/* What happens to a child is for its parent, who hears of it; a root has nobody but you. And what
 * waits where nobody runs anything waits for you to start a runner. */
static void rank_settle(const struct tree_source *s, struct tree_node *n, bool served)
{
    bool failed = str_eq(json_str(n->session, "status"), STR("failed"));

    if (failed && !n->parent && s->now_ms - n->heard_ms < NEEDS_YOU_MS)
        n->rank = RANK_NEEDS_YOU;
    if (n->queued && !served)
        n->rank = RANK_NEEDS_YOU;
}

/* ---- the tree ---- */

struct maker {
    struct arena *arena;
    const struct tree_source *source;
    struct tree_node *nodes;
    size_t count;
    struct map by_id;
    struct session_tree *out;
};

static int by_urgency(const void *a, const void *b)
{
    const struct tree_node *x = *(struct tree_node *const *)a, *y = *(struct tree_node *const *)b;

    if (x->rank_below != y->rank_below)
        return x->rank_below < y->rank_below ? -1 : 1;
    if (x->rank_below == RANK_ENDED && x->heard_ms != y->heard_ms)
        return x->heard_ms > y->heard_ms ? -1 : 1;
    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return str_compare(x->name, y->name);
}

static int by_age(const void *a, const void *b)
{
    const struct tree_node *x = *(struct tree_node *const *)a, *y = *(struct tree_node *const *)b;

    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return str_compare(x->name, y->name);
}

/* Adds a session up into all above it. Steps are counted, for parents that go round in a circle. */
static void add_up(struct maker *m, struct tree_node *n)
{
    size_t steps = 0;

    for (struct tree_node *up = n; up && steps <= m->count; up = up->parent, steps++) {
        up->all.cost += n->own.cost;
        up->all.tokens += n->own.tokens;
        if (n->rank < up->rank_below)
            up->rank_below = n->rank;
    }
}

/* All nodes in the order of siblings: then each is put in front of its parent's children, from the
 * last to the first. */
static struct tree_node **nodes_sort(struct maker *m)
{
    struct tree_node **order = ARENA_ARRAY(m->arena, struct tree_node *, m->count + 1);

    for (size_t i = 0; i < m->count; i++)
        order[i] = &m->nodes[i];
    qsort(order, m->count, sizeof *order, m->source->urgent_first ? by_urgency : by_age);
    for (size_t i = m->count; i-- > 0;) {
        struct tree_node *n = order[i], *above = n->parent;
        if (!above)
            continue;
        n->next = above->first;
        above->first = n;
        above->children++;
    }
    return order;
}

static void row_add(struct maker *m, struct tree_node *n, int depth, str branch, bool last)
{
    struct session_tree *t = m->out;

    n->seen = true;
    t->rows[t->count++] = (struct tree_row){ n, depth, branch, last };
    t->sum.cost += n->own.cost;
    t->sum.tokens += n->own.tokens;
    t->ranks[n->rank]++;
    t->queued += n->queued;

    str below = depth == 0
                    ? STR("")
                    : arena_printf(m->arena, STR_FMT "%s", STR_ARG(branch), last ? " " : "|");
    for (struct tree_node *child = n->first; child; child = child->next)
        if (!child->seen)
            row_add(m, child, depth + 1, below, !child->next);
}

void session_tree_make(struct arena *a, const struct tree_source *s, struct session_tree *out)
{
    struct maker m = { .arena = a, .source = s, .by_id = map_in(a), .out = out };
    bool served = !s->runners;

    for (uint32_t i = 0; json_is(s->runners, JSON_ARRAY) && i < s->runners->len; i++)
        served = served || json_bool_or(&s->runners->items[i], "alive", false);
    m.count = json_is(s->sessions, JSON_ARRAY) ? s->sessions->len : 0;
    m.nodes = ARENA_ARRAY(a, struct tree_node, m.count + 1);
    *out = (struct session_tree){ .rows = ARENA_ARRAY(a, struct tree_row, m.count + 1) };
    for (size_t i = 0; i < m.count; i++) {
        node_init(&m.nodes[i], &s->sessions->items[i]);
        map_put(&m.by_id, m.nodes[i].id, &m.nodes[i]);
    }
    for (uint32_t i = 0; json_is(s->runs, JSON_ARRAY) && i < s->runs->len; i++) {
        struct tree_node *n = map_get(&m.by_id, json_str(&s->runs->items[i], "session_id"));
        if (n)
            n->queued++;
    }
    for (size_t i = 0; i < m.count; i++) {
        struct tree_node *n = &m.nodes[i];
        struct tree_node *above = map_get(&m.by_id, json_str(n->session, "parent_session_id"));
        bool is_top = s->top.len && str_eq(n->id, s->top);
        n->parent = above != n && !is_top ? above : NULL;
        rank_settle(s, n, served);
        n->rank_below = n->rank;
    }
    for (size_t i = 0; i < m.count; i++)
        add_up(&m, &m.nodes[i]);

    struct tree_node **order = nodes_sort(&m);
    for (size_t i = 0; i < m.count; i++)
        if (!order[i]->parent && (!s->top.len || str_eq(order[i]->id, s->top)))
            row_add(&m, order[i], 0, STR(""), true);
    for (size_t i = 0; !s->top.len && i < m.count; i++)
        if (!order[i]->seen)
            row_add(&m, order[i], 0, STR(""), true);
}

/* ---- as JSON ---- */

static void write_sum(struct json_writer *w, struct arena *a, const struct tree_sum *sum)
{
    json_write_name(w, STR("subtree"));
    json_write_begin(w, '{');
    json_write_name(w, STR("tokens"));
    json_write_int(w, sum->tokens);
    json_write_name(w, STR("cost_usd"));
    json_write_printed(w, arena_printf(a, "%lld.%06lld", (long long)(sum->cost / 1000000),
                                       (long long)(sum->cost % 1000000)));
    json_write_end(w, '}');
}

static void write_node(struct json_writer *w, const struct tree_row *row)
{
    const struct tree_node *n = row->node;

    json_write_begin(w, '{');
    for (uint32_t i = 0; i < n->session->len; i++) {
        json_write_name(w, json_name(&n->session->members[i]));
        json_write_value(w, &n->session->members[i].value);
    }
    json_write_name(w, STR("needs_you"));
    json_write_bool(w, n->rank == RANK_NEEDS_YOU);
    json_write_name(w, STR("children"));
    json_write_int(w, n->children);
    json_write_name(w, STR("queued_runs"));
    json_write_int(w, n->queued);
    write_sum(w, w->out->arena, &n->all);
    json_write_end(w, '}');
}

void session_tree_json(struct json_writer *w, const struct session_tree *t)
{
    json_write_begin(w, '[');
    for (size_t i = 0; i < t->count; i++)
        write_node(w, &t->rows[i]);
    json_write_end(w, ']');
}
