/* steps.c: a list of steps, each with what it comes after, as nodes and flows: our own steps, and
 * phases, generation steps and phases of planning as others write them. */
#include "flow/graph_private.h"

struct list {
    struct part *parts;
    struct name_table names;
    uint16_t count;
    const uint16_t **after; /* of each */
    size_t *after_count;
    size_t flows; /* of what they come after, in all */
    struct edges next;
    uint16_t *order;
};

/* ---- what comes after what ---- */

static uint16_t step_named(struct builder *b, const struct list *l, const struct spot *at,
                           const struct json *value)
{
    str id;

    if (!builder_id(b, at, value, "a step's id", &id))
        return GRAPH_NONE;
    uint16_t found = name_find(&l->names, id);
    if (found == GRAPH_NONE)
        builder_wrong(b, at, "reference", "there is no step " STR_FMT STR_FMT,
                      STR_ARG(builder_named(b, id)),
                      STR_ARG(builder_meant(b, id, l->names.names, l->count)));
    return found;
}

static void add_after(struct builder *b, struct list *l, const struct spot *at, uint16_t step,
                      uint16_t other, uint16_t *last, uint16_t *list)
{
    if (other == GRAPH_NONE)
        return;
    if (last[other] == step + 1)
        builder_wrong(b, at, "unique", STR_FMT " is there twice",
                      STR_ARG(builder_named(b, l->parts[other].id)));
    else if (other == step)
        builder_wrong(b, at, "circle", "a step cannot come after itself");
    else {
        list[l->after_count[step]++] = other;
        l->flows++;
    }
    last[other] = (uint16_t)(step + 1);
}

/* `last` has for each step the one, plus one, that named it last. */
static void read_after(struct builder *b, struct list *l, uint16_t step, uint16_t *last)
{
    const struct json *value = l->parts[step].members.is[PART_AFTER];
    struct spot at = builder_spot(&l->parts[step].members, PART_AFTER);
    size_t count = value->kind == JSON_ARRAY ? value->len : 1;

    uint16_t *list = ARENA_ARRAY(b->arena, uint16_t, count);
    l->after[step] = list;
    if (value->kind != JSON_ARRAY)
        add_after(b, l, &at, step, step_named(b, l, &at, value), last, list);
    for (size_t i = 0; value->kind == JSON_ARRAY && i < count; i++) {
        struct spot spot = spot_element(&at, i);
        add_after(b, l, &spot, step, step_named(b, l, &spot, &value->items[i]), last, list);
    }
}

/* Documents give phases in their order; only where one of them says what it comes after, the others that
 * say nothing come after nothing. Our own steps always say it. */
static bool is_chain(const struct builder *b, const struct list *l)
{
    bool said = b->kind == GRAPH_STEPS;

    for (uint16_t i = 0; i < l->count; i++)
        said = said || l->parts[i].members.is[PART_AFTER];
    return !said;
}

static void read_order(struct builder *b, struct list *l)
{
    uint16_t *last = arena_zero(b->arena, l->count * sizeof *last);
    bool chain = is_chain(b, l);

    l->after = arena_zero(b->arena, l->count * sizeof *l->after);
    l->after_count = arena_zero(b->arena, l->count * sizeof *l->after_count);
    for (uint16_t i = 0; i < l->count; i++) {
        const struct json *value = l->parts[i].members.is[PART_AFTER];
        if (value && value->kind == JSON_ARRAY && l->flows + value->len > GRAPH_FLOWS_MAX) {
            struct spot at = builder_spot(&l->parts[i].members, PART_AFTER);
            builder_wrong(b, &at, "limit",
                          "up to here steps come after %zu others in all: at most %d",
                          l->flows + value->len, GRAPH_FLOWS_MAX);
            return;
        }
        if (value) {
            read_after(b, l, i, last);
        } else if (chain && i) {
            uint16_t *before = ARENA_NEW(b->arena, uint16_t);
            *before = (uint16_t)(i - 1);
            l->after[i] = before;
            l->after_count[i] = 1;
            l->flows++;
        }
    }
}

/* ---- circles ---- */

struct circles {
    struct builder *builder;
    const struct list *list;
};

static void tell_circle(void *who, const uint16_t *vertices, size_t count)
{
    const struct circles *c = who;
    const struct list *l = c->list;
    uint16_t first = vertices[0];

    for (size_t i = 0; i < count; i++)
        first = vertices[i] < first ? vertices[i] : first;
    struct spot at = builder_spot(&l->parts[first].members, PART_AFTER);
    str way = builder_circle(c->builder, l->names.names, vertices, count);
    builder_wrong(
        c->builder, &at, "circle",
        "these steps wait for each other: " STR_FMT
        "; take one of them out of \"after\", or write nodes and flows, where circles may be",
        STR_ARG(way));
}

static void find_circles(struct builder *b, struct list *l)
{
    uint16_t(*pairs)[2] = arena_array(b->arena, l->flows, sizeof *pairs);
    struct circles c = { b, l };
    size_t n = 0;

    for (uint16_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->after_count[i]; k++, n++)
            pairs[n][0] = l->after[i][k], pairs[n][1] = i;
    l->next = edges_of(b->arena, l->count, (const uint16_t(*)[2])pairs, n, NULL);
    edges_walk(b->arena, &l->next, 0, NULL, tell_circle, &c);
}

/* ---- steps that others name ---- */

/* One row of bits for each step: those that it comes after, near or far. */
struct before {
    uint64_t *bits;
    size_t words;
};

static struct before before_of(struct builder *b, const struct list *l)
{
    struct before f = { .words = (l->count + 63u) / 64 };

    f.bits = arena_zero(b->arena, l->count * f.words * sizeof *f.bits);
    for (uint16_t i = 0; i < l->count; i++) {
        uint64_t *row = f.bits + l->order[i] * f.words;
        for (size_t k = 0; k < l->after_count[l->order[i]]; k++) {
            uint16_t other = l->after[l->order[i]][k];
            for (size_t w = 0; w < f.words; w++)
                row[w] |= f.bits[other * f.words + w];
            row[other / 64] |= 1ull << other % 64;
        }
    }
    return f;
}

static bool is_before(const struct before *f, uint16_t step, uint16_t other)
{
    return f->bits[step * f->words + other / 64] >> other % 64 & 1;
}

/* For each step the nearest one before it that may be tried again: of those as near, the later one. */
static uint16_t *nearest_retries(struct builder *b, const struct list *l)
{
    uint16_t *nearest = ARENA_ARRAY(b->arena, uint16_t, l->count);
    uint32_t *far = ARENA_ARRAY(b->arena, uint32_t, l->count);

    for (uint16_t i = 0; i < l->count; i++) {
        uint16_t step = l->order[i];
        nearest[step] = GRAPH_NONE;
        far[step] = UINT32_MAX;
        for (size_t k = 0; k < l->after_count[step]; k++) {
            uint16_t other = l->after[step][k];
            uint16_t found = l->parts[other].retries ? other : nearest[other];
            uint32_t distance = l->parts[other].retries ? 1 : far[other] + 1;
            if (found == GRAPH_NONE || distance > far[step] ||
                (distance == far[step] && found < nearest[step]))
                continue;
            nearest[step] = found;
            far[step] = distance;
        }
    }
    return nearest;
}

static uint16_t trigger_of(struct builder *b, const struct list *l, uint16_t step,
                           const uint16_t *nearest, const struct before *before)
{
    const struct json *value = l->parts[step].members.is[PART_TRIGGERS_RETRY];
    struct spot at = builder_spot(&l->parts[step].members, PART_TRIGGERS_RETRY);

    if (value->kind == JSON_BOOL) {
        if (value->len && nearest[step] == GRAPH_NONE)
            builder_wrong(b, &at, "reference",
                          "no step before this one may be tried again: give one a \"retry\" of "
                          "\"max_attempts\" above 1");
        return value->len ? nearest[step] : GRAPH_NONE;
    }
    uint16_t other = step_named(b, l, &at, value);
    if (other == GRAPH_NONE)
        return other;
    if (!is_before(before, step, other))
        builder_wrong(b, &at, "reference",
                      "expected a step that comes before this one, found " STR_FMT,
                      STR_ARG(builder_shown(b, value)));
    else if (!l->parts[other].retries)
        builder_wrong(b, &at, "reference",
                      "the step " STR_FMT
                      " is tried only once: give it a \"retry\" of \"max_attempts\" above 1",
                      STR_ARG(builder_shown(b, value)));
    return other;
}

static void read_on_reject(struct builder *b, const struct list *l, uint16_t step,
                           const struct before *before)
{
    struct graph_approval *a = (struct graph_approval *)b->steps[step].approval;
    const struct json *to = json_get(l->parts[step].members.is[PART_APPROVAL], "on_reject");
    struct spot approval = builder_spot(&l->parts[step].members, PART_APPROVAL),
                at = spot_member(&approval, STR("on_reject"));

    if (!to || (to->kind == JSON_STRING && str_eq(json_text(to), STR("fail"))) ||
        (to->kind != JSON_STRING && to->kind != JSON_INTEGER) || !builder_is_name(json_text(to)))
        return;
    uint16_t other = step_named(b, l, &at, to);
    if (other != GRAPH_NONE && other != step && !is_before(before, step, other))
        builder_wrong(b, &at, "reference",
                      "expected \"fail\", this step or one before it, found " STR_FMT,
                      STR_ARG(builder_shown(b, to)));
    if (a)
        a->on_reject = other;
}

/* Which steps others go back to. */
static void read_triggers(struct builder *b, struct list *l, uint16_t *triggers)
{
    uint16_t *nearest = nearest_retries(b, l);
    struct before before = before_of(b, l);

    for (uint16_t i = 0; i < l->count; i++) {
        triggers[i] = GRAPH_NONE;
        if (l->parts[i].members.is[PART_TRIGGERS_RETRY] && l->parts[i].form != FORM_SET)
            triggers[i] = trigger_of(b, l, i, nearest, &before);
        if (l->parts[i].members.is[PART_APPROVAL])
            read_on_reject(b, l, i, &before);
    }
}

/* ---- nodes and flows ---- */

static void emit_flows(struct builder *b, const struct list *l, const uint16_t *entry,
                       const uint16_t *node, uint16_t end)
{
    for (uint16_t i = 0; i < l->count; i++) {
        if (!l->after_count[i])
            builder_flow(b, 0, entry[i]);
        for (size_t k = 0; k < l->after_count[i]; k++)
            builder_flow(b, node[l->after[i][k]], entry[i]);
        if (entry[i] != node[i])
            builder_flow(b, entry[i], node[i]);
    }
    for (uint16_t i = 0; i < l->count; i++)
        if (l->next.first[i] == l->next.first[i + 1])
            builder_flow(b, node[i], end);
}

/* Counts what will be made, and makes room for it where it may be. */
static bool make_room(struct builder *b, const struct spot *at, const struct list *l)
{
    size_t joins = 0, flows = l->flows;

    for (uint16_t i = 0; i < l->count; i++) {
        joins += l->after_count[i] > 1;
        flows += !l->after_count[i];
        flows += l->next.first[i] == l->next.first[i + 1];
    }
    if (l->count + joins + 2 > GRAPH_NODES_MAX)
        builder_wrong(b, at, "limit",
                      "%u steps, %zu of which come after several, make %zu nodes: at most %d",
                      l->count, joins, l->count + joins + 2, GRAPH_NODES_MAX);
    if (flows + joins > GRAPH_FLOWS_MAX)
        builder_wrong(b, at, "limit", "what comes after what makes %zu flows: at most %d",
                      flows + joins, GRAPH_FLOWS_MAX);
    if (b->mistake_count)
        return false;
    builder_room(b, l->count + joins + 2, flows + joins);
    return true;
}

static str free_name(const struct list *l, const char *name, const char *otherwise)
{
    return str_from(name_find(&l->names, str_from(name)) == GRAPH_NONE ? name : otherwise);
}

static void emit(struct builder *b, const struct list *l, const struct graph_node *drafts,
                 const uint16_t *triggers)
{
    uint16_t *entry = ARENA_ARRAY(b->arena, uint16_t, l->count),
             *node = ARENA_ARRAY(b->arena, uint16_t, l->count);

    builder_node(b, free_name(l, "start", "#start"), NODE_START);
    for (uint16_t i = 0; i < l->count; i++) {
        struct graph_step *s = &b->steps[i];
        entry[i] = b->node_count;
        if (l->after_count[i] > 1) {
            str ready = arena_printf(b->arena, STR_FMT "#ready", STR_ARG(s->id));
            builder_node(b, ready, NODE_AND)->step = i;
        }
        node[i] = b->node_count;
        struct graph_node *n = builder_node(b, s->id, drafts[i].kind);
        n->step = i;
        n->when = drafts[i].when;
        n->loop = drafts[i].loop;
        n->work = drafts[i].work;
        n->settings = drafts[i].settings;
        if (n->work)
            ((struct graph_work *)n->work)->retry_step = triggers[i];
        s->entry = entry[i];
        s->node = node[i];
        s->after = l->after[i];
        s->after_count = l->after_count[i];
    }
    b->step_count = l->count;
    uint16_t end = b->node_count;
    builder_node(b, free_name(l, "end", "#end"), NODE_END);
    emit_flows(b, l, entry, node, end);
}

void steps_compile(struct builder *b, const struct spot *at, const struct json *list)
{
    struct list l = { 0 };

    if (!list->len) {
        builder_wrong(b, at, "required", "expected at least one step");
        return;
    }
    if (list->len > GRAPH_NODES_MAX - 2) {
        builder_wrong(b, at, "limit", "expected at most %d steps, found %u", GRAPH_NODES_MAX - 2,
                      list->len);
        return;
    }
    l.count = (uint16_t)list->len;
    l.parts = parts_read(b, at, list,
                         b->kind == GRAPH_STEPS || b->kind == GRAPH_GENERATION ? "step" : "phase");
    l.names = parts_names(b, l.parts, l.count, "step");
    struct graph_node *drafts = arena_zero(b->arena, l.count * sizeof *drafts);
    b->steps = arena_zero(b->arena, l.count * sizeof *b->steps);
    for (uint16_t i = 0; i < l.count; i++) {
        l.parts[i].form = part_form(b, &l.parts[i]);
        if (l.parts[i].form == FORM_NONE)
            l.parts[i].form = FORM_REPORT;
        part_read(b, &l.parts[i], &drafts[i], &b->steps[i]);
    }
    size_t before = b->mistake_count;
    read_order(b, &l);
    find_circles(b, &l);
    if (b->mistake_count != before)
        return;
    uint16_t *triggers = ARENA_ARRAY(b->arena, uint16_t, l.count);
    l.order = edges_order(b->arena, &l.next, NULL);
    read_triggers(b, &l, triggers);
    if (make_room(b, at, &l))
        emit(b, &l, drafts, triggers);
}

/* ---- levels ---- */

/* Levels that an example leaves to its reader hold one text. */
static bool is_placeholder(const struct json *list)
{
    for (uint32_t i = 0; list->kind == JSON_ARRAY && i < list->len; i++)
        if (list->items[i].kind != JSON_STRING)
            return false;
    return list->kind == JSON_ARRAY;
}

const struct json *planning_list(struct builder *b, const struct spot *at,
                                 const struct json *levels, const struct json *wanted, str *level)
{
    str *names = ARENA_ARRAY(b->arena, str, levels->len);
    const struct json *found = NULL;
    struct buf all = buf_in(b->arena);
    size_t count = 0;

    for (uint32_t i = 0; i < levels->len; i++) {
        str name = json_name(&levels->members[i]);
        const struct json *list = &levels->members[i].value;
        struct spot spot = spot_member(at, name);
        if (list->kind != JSON_ARRAY)
            builder_wrong(b, &spot, "type",
                          "expected the phases of a level, an array, found " STR_FMT,
                          STR_ARG(builder_shown(b, list)));
        else if (!builder_is_name(name))
            builder_wrong(b, &spot, "format", "expected the name of a level, like \"scene\"");
        else if (is_placeholder(list))
            builder_warn(b, "the level " STR_FMT " has no phases and is left out",
                         STR_ARG(builder_named(b, name)));
        else
            names[count++] = name;
    }
    if (b->mistake_count)
        return NULL;
    message_names(&all, names, count);
    if (wanted) {
        found = json_find(levels, json_text(wanted));
        struct spot root = { 0 }, spot = spot_member(&root, STR("level"));
        if (!found || is_placeholder(found))
            builder_wrong(b, &spot, "reference",
                          "there are no phases of the level " STR_FMT STR_FMT,
                          STR_ARG(builder_shown(b, wanted)),
                          STR_ARG(builder_meant(b, json_text(wanted), names, count)));
        *level = json_text(wanted);
    } else if (count == 1) {
        found = json_find(levels, names[0]);
        *level = names[0];
    } else if (count) {
        builder_wrong(b, at, "required",
                      "there are phases of %zu levels, " STR_FMT ": say which with \"level\"",
                      count, STR_ARG(buf_str(&all)));
    } else {
        builder_wrong(b, at, "required",
                      "expected the phases of a level, like {\"scene\": [{\"phase\": 1, …}]}");
    }
    return b->mistake_count ? NULL : found;
}
