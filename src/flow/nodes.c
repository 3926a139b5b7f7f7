/* nodes.c: nodes and flows as they are written, where tokens may go round in circles. */
#include "flow/graph_private.h"

enum flow_slot { FLOW_ID, FLOW_FROM, FLOW_TO, FLOW_WHEN, FLOW_DEFAULT, FLOW_SLOTS };

#define NAME (1u << JSON_STRING | 1u << JSON_INTEGER)

// clang-format off
static const struct member flow_members[] = {
    { "id",      FLOW_ID,      NAME,                                0, 0 },
    { "from",    FLOW_FROM,    NAME,                                0, 0 },
    { "to",      FLOW_TO,      NAME,                                0, 0 },
    { "when",    FLOW_WHEN,    1u << JSON_STRING | 1u << JSON_BOOL, 0, 0 },
    { "default", FLOW_DEFAULT, 1u << JSON_BOOL,                     0, 0 },
};

/* What a node may be called, and what that makes of it. */
enum { NODE_WORDS = 9 };
static const char *const node_words[NODE_WORDS] = {
    "start", "end", "pass", "xor", "and", "set", "job", "run", "report",
};
static const struct {
    enum node_kind kind;
    enum work_form form;
} node_meanings[NODE_WORDS] = {
    { NODE_START, FORM_NONE }, { NODE_END,  FORM_NONE }, { NODE_PASS, FORM_NONE },
    { NODE_XOR,   FORM_NONE }, { NODE_AND,  FORM_NONE }, { NODE_FEEL, FORM_SET },
    { NODE_WORK,  FORM_JOB },  { NODE_WORK, FORM_RUN },  { NODE_WORK, FORM_REPORT },
};
// clang-format on

static const char *const form_names[WORK_FORMS] = { "report", "job", "run", "set", "" };

/* A flow as it is written. */
struct draft {
    struct spot spot;
    struct members members;
    str id;
    uint16_t from, to;
    const struct feel *when;
    bool fallback;
};

struct net {
    struct part *parts;
    struct graph_node *nodes; /* drafts, one for each part */
    struct graph_step *steps; /* the same */
    struct name_table names;
    struct draft *flows;
    size_t count, flow_count;
    uint16_t start;            /* a part; GRAPH_NONE: there is none */
    bool *comes_in, *goes_out; /* a flow does */
};

/* ---- nodes ---- */

/* A node that says nothing else is one that somebody reports when it names who. */
static enum work_form form_meant(const struct part *p)
{
    bool report = p->members.is[PART_AGENTS] || p->members.is[PART_PROMPT] ||
                  p->members.is[PART_BY];

    return report ? FORM_REPORT : FORM_NONE;
}

static void read_kind(struct builder *b, struct part *p, struct graph_node *n)
{
    const struct json *kind = p->members.is[PART_KIND];
    struct spot at = builder_spot(&p->members, PART_KIND);
    enum work_form said = part_form(b, p);

    p->form = said;
    if (!kind) {
        p->form = said == FORM_NONE ? form_meant(p) : said;
        if (p->form == FORM_NONE && !p->spot.name.len)
            return; /* it is no object, or so wrong that this would be told twice */
        if (p->form == FORM_NONE)
            builder_wrong(
                b, &at, "required",
                "expected a \"kind\", or what it does as \"job\", \"run\", \"set\" or \"agent\"");
        return;
    }
    int word = builder_word(b, &at, kind, node_words, NODE_WORDS);
    if (word < 0)
        return;
    n->kind = node_meanings[word].kind;
    p->form = node_meanings[word].form;
    if (said != FORM_NONE && said != p->form)
        builder_wrong(b, &at, "conflict",
                      "expected \"%s\", because \"%s\" says what it does, found \"%s\"",
                      form_names[said], form_names[said], node_words[word]);
    else if (said == FORM_NONE && p->form != FORM_NONE && p->form != FORM_REPORT)
        builder_wrong(b, &p->spot, "required", "expected \"%s\", which says what it does",
                      form_names[p->form]);
    p->form = said != FORM_NONE ? said : p->form;
}

static void read_nodes(struct builder *b, struct net *net)
{
    net->nodes = arena_zero(b->arena, net->count * sizeof *net->nodes);
    net->steps = arena_zero(b->arena, net->count * sizeof *net->steps);
    net->start = GRAPH_NONE;
    for (size_t i = 0; i < net->count; i++) {
        struct part *p = &net->parts[i];
        size_t before = b->mistake_count;
        net->nodes[i].title = STR("");
        read_kind(b, p, &net->nodes[i]);
        if (b->mistake_count != before)
            continue;
        part_read(b, p, &net->nodes[i], &net->steps[i]);
        if (p->form == FORM_NONE && p->members.is[PART_TITLE])
            net->nodes[i].title = json_text(p->members.is[PART_TITLE]);
        if (!p->members.is[PART_KIND] || net->nodes[i].kind != NODE_START)
            continue;
        struct spot at = builder_spot(&p->members, PART_KIND);
        if (net->start != GRAPH_NONE)
            builder_wrong(b, &at, "conflict", "there is one start, and " STR_FMT " is it",
                          STR_ARG(builder_named(b, net->parts[net->start].id)));
        else
            net->start = (uint16_t)i;
    }
}

/* ---- flows ---- */

static uint16_t flow_end(struct builder *b, const struct net *net, const struct members *m,
                         unsigned slot)
{
    struct spot at = builder_spot(m, slot);
    str id;

    if (!m->is[slot]) {
        builder_wrong(b, &at, "required", "expected \"%s\", the node that this flow %s",
                      flow_members[slot].name, slot == FLOW_FROM ? "comes from" : "leads to");
        return GRAPH_NONE;
    }
    if (!builder_id(b, &at, m->is[slot], "a node's id", &id))
        return GRAPH_NONE;
    uint16_t found = name_find(&net->names, id);
    if (found == GRAPH_NONE)
        builder_wrong(b, &at, "reference", "there is no node " STR_FMT STR_FMT,
                      STR_ARG(builder_named(b, id)),
                      STR_ARG(builder_meant(b, id, net->names.names, net->count)));
    return found;
}

/* What the kinds of its two nodes allow. */
static void check_ends(struct builder *b, const struct net *net, const struct draft *f)
{
    struct spot from = builder_spot(&f->members, FLOW_FROM),
                to = builder_spot(&f->members, FLOW_TO),
                when = builder_spot(&f->members, FLOW_WHEN),
                fallback = builder_spot(&f->members, FLOW_DEFAULT);
    enum node_kind source = f->from == GRAPH_NONE ? NODE_KINDS : net->nodes[f->from].kind;

    if (source == NODE_END && net->parts[f->from].form == FORM_NONE)
        builder_wrong(b, &from, "conflict", "nothing comes after an end: make it a \"pass\"");
    if (f->to != GRAPH_NONE && f->to == net->start)
        builder_wrong(b, &to, "conflict",
                      "nothing comes before the start: go back to a \"pass\" behind it");
    if (source == NODE_AND && f->members.is[FLOW_WHEN])
        builder_wrong(b, &when, "conflict", "all flows of an \"and\" are taken, whatever is asked");
    if (source == NODE_AND && f->fallback)
        builder_wrong(b, &fallback, "conflict",
                      "all flows of an \"and\" are taken: none is the default");
    if (f->fallback && f->members.is[FLOW_WHEN])
        builder_wrong(
            b, &when, "conflict",
            "the default is taken when the others are not: it has no condition of its own");
}

static void read_flow(struct builder *b, struct net *net, struct draft *f, const struct json *value)
{
    f->from = f->to = GRAPH_NONE;
    f->members =
        (struct members){ .at = &f->spot,
                          .is = arena_zero(b->arena, FLOW_SLOTS * sizeof *f->members.is),
                          .called = arena_zero(b->arena, FLOW_SLOTS * sizeof *f->members.called) };
    if (value->kind != JSON_OBJECT) {
        builder_wrong(b, &f->spot, "type",
                      "expected an object with \"from\" and \"to\", found " STR_FMT,
                      STR_ARG(builder_shown(b, value)));
        return;
    }
    builder_members(b, &f->members, value, flow_members,
                    sizeof flow_members / sizeof *flow_members);
    struct spot id = builder_spot(&f->members, FLOW_ID),
                when = builder_spot(&f->members, FLOW_WHEN);
    f->from = flow_end(b, net, &f->members, FLOW_FROM);
    f->to = flow_end(b, net, &f->members, FLOW_TO);
    if (f->members.is[FLOW_ID])
        builder_id(b, &id, f->members.is[FLOW_ID], "an id", &f->id);
    else if (f->from != GRAPH_NONE && f->to != GRAPH_NONE)
        f->id = arena_printf(b->arena, STR_FMT "->" STR_FMT, STR_ARG(net->parts[f->from].id),
                             STR_ARG(net->parts[f->to].id));
    f->spot.name = f->id;
    if (f->members.is[FLOW_WHEN])
        f->when = builder_condition(b, &when, f->members.is[FLOW_WHEN]);
    f->fallback = f->members.is[FLOW_DEFAULT] && f->members.is[FLOW_DEFAULT]->len;
    if (f->from != GRAPH_NONE)
        net->goes_out[f->from] = true;
    if (f->to != GRAPH_NONE)
        net->comes_in[f->to] = true;
    check_ends(b, net, f);
}

static struct spot flow_id_spot(const void *of, size_t i)
{
    return builder_spot(&((const struct draft *)of)[i].members, FLOW_ID);
}

static void read_flows(struct builder *b, struct net *net, const struct spot *at,
                       const struct json *list)
{
    str *ids = arena_zero(b->arena, net->flow_count * sizeof *ids);
    uint16_t *fallback = arena_zero(b->arena, net->count * sizeof *fallback);

    net->flows = arena_zero(b->arena, net->flow_count * sizeof *net->flows);
    net->comes_in = arena_zero(b->arena, net->count);
    net->goes_out = arena_zero(b->arena, net->count);
    for (size_t i = 0; i < net->flow_count; i++) {
        struct draft *f = &net->flows[i];
        f->spot = spot_element(at, i);
        f->spot.noun = "flow";
        read_flow(b, net, f, &list->items[i]);
        ids[i] = f->id;
        if (!f->fallback || f->from == GRAPH_NONE)
            continue;
        struct spot spot = builder_spot(&f->members, FLOW_DEFAULT);
        if (fallback[f->from])
            builder_wrong(b, &spot, "conflict",
                          "the node " STR_FMT " has a default already: the flow " STR_FMT,
                          STR_ARG(builder_named(b, net->parts[f->from].id)),
                          STR_ARG(builder_named(b, ids[fallback[f->from] - 1])));
        fallback[f->from] = (uint16_t)(i + 1);
    }
    builder_names(b, ids, net->flow_count, "flow", flow_id_spot, net->flows);
}

/* ---- what is made of them ---- */

static void emit_nodes(struct builder *b, const struct net *net, uint16_t *place)
{
    b->steps = arena_zero(b->arena, net->count * sizeof *b->steps);
    for (size_t i = 0; i < net->count; i++) {
        place[i] = b->node_count;
        struct graph_node *n = builder_node(b, net->parts[i].id, net->nodes[i].kind);
        n->title = net->nodes[i].title;
        n->when = net->nodes[i].when;
        n->loop = net->nodes[i].loop;
        n->work = net->nodes[i].work;
        n->settings = net->nodes[i].settings;
        if (net->parts[i].form == FORM_NONE)
            continue;
        n->step = b->step_count;
        struct graph_step *s = &b->steps[b->step_count++];
        *s = net->steps[i];
        s->entry = s->node = place[i];
    }
}

static void emit(struct builder *b, const struct net *net)
{
    uint16_t *place = ARENA_ARRAY(b->arena, uint16_t, net->count);

    builder_room(b, net->count + 1, net->flow_count + net->count);
    if (net->start == GRAPH_NONE)
        builder_node(
            b, str_from(name_find(&net->names, STR("start")) == GRAPH_NONE ? "start" : "#start"),
            NODE_START);
    emit_nodes(b, net, place);
    for (size_t i = 0; i < net->flow_count; i++) {
        const struct draft *f = &net->flows[i];
        struct graph_flow *made = builder_flow(b, place[f->from], place[f->to]);
        made->id = f->id;
        made->when = f->when;
        if (f->fallback)
            b->nodes[made->source].fallback = (uint16_t)i;
    }
    for (size_t i = 0; i < net->count && net->start == GRAPH_NONE; i++)
        if (!net->comes_in[i])
            builder_flow(b, 0, place[i]);
}

/* Whether there is somewhere to begin, and not too much of anything. */
static bool check_whole(struct builder *b, const struct net *net, const struct spot *at)
{
    size_t begins = 0;

    for (size_t i = 0; i < net->count; i++)
        begins += !net->comes_in[i];
    if (b->mistake_count)
        return false;
    if (net->start != GRAPH_NONE && !net->goes_out[net->start])
        builder_wrong(b, &net->parts[net->start].spot, "required",
                      "expected a flow from the start: an execution would end at once");
    else if (net->start == GRAPH_NONE && !begins)
        builder_wrong(
            b, at, "required",
            "each node comes after another: write a node of the kind \"start\", and a flow from it");
    else if (net->start == GRAPH_NONE && net->count + 1 > GRAPH_NODES_MAX)
        builder_wrong(b, at, "limit", "expected at most %d nodes, the start counted",
                      GRAPH_NODES_MAX);
    else if (net->start == GRAPH_NONE && net->flow_count + begins > GRAPH_FLOWS_MAX)
        builder_wrong(b, at, "limit", "expected at most %d flows, those from the start counted",
                      GRAPH_FLOWS_MAX);
    return !b->mistake_count;
}

void nodes_compile(struct builder *b, const struct spot *at, const struct json *nodes,
                   const struct spot *flows_at, const struct json *flows)
{
    static const struct json none = { .kind = JSON_ARRAY };
    struct net net = { 0 };

    flows = flows ? flows : &none;
    net.count = nodes->len;
    net.flow_count = flows->len;
    if (!net.count)
        builder_wrong(b, at, "required", "expected at least one node");
    if (net.count > GRAPH_NODES_MAX)
        builder_wrong(b, at, "limit", "expected at most %d nodes, found %zu", GRAPH_NODES_MAX,
                      net.count);
    if (net.flow_count > GRAPH_FLOWS_MAX)
        builder_wrong(b, flows_at, "limit", "expected at most %d flows, found %zu", GRAPH_FLOWS_MAX,
                      net.flow_count);
    if (!net.count || net.count > GRAPH_NODES_MAX || net.flow_count > GRAPH_FLOWS_MAX)
        return;
    net.parts = parts_read(b, at, nodes, "node");
    net.names = parts_names(b, net.parts, net.count, "node");
    read_nodes(b, &net);
    read_flows(b, &net, flows_at, flows);
    if (check_whole(b, &net, at))
        emit(b, &net);
}
