/* flow_random.c: workflows at random, and what happens to them at random. */
#include "sim/flow_random.h"

#include <assert.h>
#include <stdio.h>

enum { STEPS_LEAST = 2, STEPS_MOST = 14, NODES_ENOUGH = 30, NODES_ROOM = 400, DEPTH = 3 };

static bool chance(struct random *r, uint32_t one_in)
{
    return random_below(r, one_in) == 0;
}

#define PICK(r, list) (list)[random_below((r), sizeof(list) / sizeof *(list))]

/* The variables of all: x and y are small numbers, flag is true or not, list is a list. Loops may make
 * lists of them, so that conditions become null. */
static const char *const conditions[] = {
    "x > 1",       "x < 2",        "x = y",           "y >= 1 and flag",
    "flag",        "flag = false", "count(list) > 2", "x + y > 2 or flag",
    "missing > 1", "true",
};
/* What takes too many steps, until x is 1. */
static const char too_long[] = "count(for i in 1..(if x = 1 then 3 else 200000) return i) = 3";

static const char too_long_not[] = "count(for i in 1..(if x = 1 then 3 else 200000) return i) > 3";

static const char *a_condition(struct random *r)
{
    return chance(r, 30) ? too_long : PICK(r, conditions);
}

static const char *const settings[] = {
    "'x':'=x + 1'",       "'y':'=x'",       "'flag':'=x > y'", "'list':'=[x, y]'",
    "'x':0,'y':'=x + 1'", "'list':[1,2,3]", "'flag':true",     "'x':2",
};
static const char *const names[] = { "x", "y", "flag", "list" };
enum { NAMES = sizeof names / sizeof *names };

static void add_value(struct buf *out, struct random *r, unsigned name)
{
    switch (name) {
    case 2: buf_add(out, chance(r, 2) ? STR("true") : STR("false")); break;
    case 3:
        buf_byte(out, '[');
        for (uint32_t i = random_below(r, 7), first = i; i > 0; i--)
            buf_printf(out, "%s%u", i == first ? "" : ",", random_below(r, 4));
        buf_byte(out, ']');
        break;
    default: buf_int(out, random_below(r, 4)); break;
    }
}

/* Some of the variables, or all. */
static str random_values(struct arena *a, struct random *r, uint32_t one_in_is_missing)
{
    struct buf out = buf_in(a);
    const char *comma = "";

    buf_byte(&out, '{');
    for (unsigned i = 0; i < NAMES; i++) {
        if (chance(r, one_in_is_missing))
            continue;
        buf_printf(&out, "%s\"%s\":", comma, names[i]);
        add_value(&out, r, i);
        comma = ",";
    }
    buf_byte(&out, '}');
    return buf_str(&out);
}

str flow_random_variables(struct arena *a, struct random *random)
{
    return random_values(a, random, 12);
}

/* ---- what steps and nodes have in common ---- */

/* Where something is done: its number, and the steps before it with itself; 0: it is no step. */
struct place {
    uint32_t number, before, max_attempts;
    bool is_feel;
};

static void add_outputs(struct buf *out, struct random *r, bool is_loop)
{
    const char *comma = "";

    if (chance(r, 3))
        return;
    buf_add(out, STR(",'outputs':["));
    for (unsigned i = 0; i < NAMES; i++)
        if (chance(r, is_loop ? 6 : 3)) {
            buf_printf(out, "%s'%s'", comma, names[i]);
            comma = ",";
        }
    buf_printf(out, "%s'note']", comma);
}

static void add_loop(struct buf *out, struct random *r)
{
    if (chance(r, 3)) {
        buf_add(out, STR(",'for_each':'=list'"));
    } else {
        buf_add(out, STR(",'for_each':"));
        add_value(out, r, 3);
    }
    if (chance(r, 3))
        buf_add(out, STR(",'as':'part'"));
    uint32_t at_once = random_below(r, 4);
    if (at_once)
        buf_printf(out, ",'parallel':%u", at_once);
}

static void add_retry(struct buf *out, struct random *r, uint32_t max_attempts)
{
    static const char *const delays[] = { "", ",'backoff':'1s'", ",'backoff':'10s','factor':1.5",
                                          ",'backoff':'20s','max_backoff':'30s'" };

    if (max_attempts > 1 || chance(r, 4))
        buf_printf(out, ",'retry':{'max_attempts':%u%s}", max_attempts, PICK(r, delays));
}

const str flow_random_agents[FLOW_RANDOM_AGENTS] = { { "ann", 3 }, { "bob", 3 }, { "cid", 3 } };

/* One that nobody knows reports what it does. */
static void add_agents(struct buf *out, struct random *r, bool is_loop)
{
    static const char *const prompts[] = { "", ",'prompt':'Do it.'",
                                           ",'prompt':'Do {{x}} of {{list}}, {{missing}}.'" };

    if (chance(r, 8))
        buf_add(out, STR(",'agent':'nobody'"));
    else if (chance(r, 2))
        buf_add(out, STR(",'agent':'ann'"));
    else if (chance(r, 2))
        buf_printf(out, ",'agent':'bob','parallel_agents':%u", 1 + random_below(r, 4));
    else
        buf_printf(out, ",'agents':['cid','ann'%s]%s", chance(r, 3) ? ",'bob'" : "",
                   !is_loop && chance(r, 2) ? ",'parallel':true" : "");
    buf_add(out, str_from(PICK(r, prompts)));
}

static void add_evidence(struct buf *out, struct random *r)
{
    static const char *const all[] = {
        "{'run':'make test'}",
        "{'file':'out.txt'},{'run':['sh','-c','exit 3'],'exit':3}",
        "{'junit':'report.xml'}",
        "{'file':'=if count(for i in 1..(if calm = true then 3 else 200000) return i) = 3 then "
        "\\\"a\\\" else \\\"b\\\"','sha256':'00'}",
    };

    buf_printf(out, ",'evidence':[%s]", PICK(r, all));
}

/* No two have the same deadline, so that no two are over at once. */
static void add_approval(struct buf *out, struct random *r, const struct place *at)
{
    if (chance(r, 3)) {
        buf_add(out, STR(",'approval':true"));
        return;
    }
    bool variant = chance(r, 3);
    buf_printf(out, ",'approval':{'type':'%s'", variant ? "select_variant" : "approve");
    if (variant && chance(r, 2))
        buf_add(out, STR(",'options':['a','b']"));
    else if (variant && chance(r, 4))
        buf_add(out, STR(",'options':'=if calm = true then [\\\"b\\\", \\\"a\\\"] else null'"));
    else if (variant)
        buf_add(out, STR(",'options':'=[\\\"a\\\", \\\"b\\\"]'"));
    if (chance(r, 2)) {
        static const char *const defaults[] = { "", ",'default':'approve'", ",'default':'reject'" };
        buf_printf(out, ",'deadline':'%ums'%s", 7000 + 13 * at->number, PICK(r, defaults));
    }
    if (at->before && chance(r, 2)) {
        uint32_t back;
        do
            back = random_below(r, at->number + 1);
        while (!(at->before >> back & 1));
        buf_printf(out, ",'on_reject':'s%u'", back);
    }
    buf_byte(out, '}');
}

/* What is done, without the id: the same in both forms. */
static void add_activity(struct buf *out, struct random *r, const struct place *at)
{
    static const char *const fails[] = { "x = 3", "flag = false", "y > 2" };
    bool is_loop = chance(r, 5);

    if (chance(r, 4))
        buf_printf(out, ",'when':'=%s'", a_condition(r));
    if (is_loop)
        add_loop(out, r);
    if (at->is_feel) {
        buf_printf(out, ",'set':{%s}", PICK(r, settings));
        return;
    }
    if (chance(r, 3))
        add_agents(out, r, is_loop);
    else if (chance(r, 8))
        buf_add(out, STR(",'run':'true'"));
    else if (chance(r, 2))
        buf_add(out, STR(",'job':'work'"));
    else
        buf_add(out, STR(",'by':'report'"));
    add_outputs(out, r, is_loop);
    add_retry(out, r, at->max_attempts);
    if (chance(r, 5))
        buf_printf(out, ",'timeout':'%s'", chance(r, 2) ? "5s" : "1m");
    if (chance(r, 6))
        buf_printf(out, ",'fails_when':'=%s'", chance(r, 10) ? too_long_not : PICK(r, fails));
    if (chance(r, 5))
        add_evidence(out, r);
    if (chance(r, 5))
        add_approval(out, r, at);
}

static str in_double_quotes(struct arena *a, struct buf *out)
{
    return quotes_double(a, buf_str(out).at);
}

static void add_rest(struct buf *out, struct random *r)
{
    static const char *const results[] = { "=x", "={a: x, b: list}", "=missing.name" };
    static const char *const on_fail[] = { "drain", "stop", "incident" };

    if (chance(r, 2))
        buf_printf(out, ",'on_fail':'%s'", PICK(r, on_fail));
    if (chance(r, 3))
        buf_printf(out, ",'result':'%s'", PICK(r, results));
    buf_byte(out, '}');
}

/* ---- steps ---- */

/* Each comes after a few of those before it: chains where it is the last, diamonds where it is not. */
static uint32_t add_after(struct buf *out, struct random *r, uint32_t step)
{
    uint32_t after = 0;

    if (step == 0 || chance(r, 8))
        return 0;
    if (chance(r, 2))
        after = 1u << (step - 1);
    for (uint32_t more = random_below(r, 3) + !after; more > 0; more--)
        after |= 1u << random_below(r, step);
    buf_add(out, STR(",'after':["));
    const char *comma = "";
    for (uint32_t i = 0; i < step; i++)
        if (after >> i & 1) {
            buf_printf(out, "%s's%u'", comma, i);
            comma = ",";
        }
    buf_byte(out, ']');
    return after;
}

static void random_steps(struct buf *out, struct random *r)
{
    uint32_t count = STEPS_LEAST + random_below(r, STEPS_MOST - STEPS_LEAST + 1);
    uint32_t before[STEPS_MOST]; /* near or far */
    uint32_t retried = 0;

    buf_add(out, STR("{'workflow':'random','steps':["));
    for (uint32_t i = 0; i < count; i++) {
        bool is_feel = chance(r, 6);
        uint32_t max_attempts = 1 + random_below(r, 3);
        struct place at = { i, 0, max_attempts, is_feel };
        buf_printf(out, "%s{'id':'s%u'", i ? "," : "", i);
        before[i] = add_after(out, r, i);
        for (uint32_t k = 0; k < i; k++)
            if (before[i] >> k & 1)
                before[i] |= before[k];
        uint32_t targets = before[i] & retried;
        if (!is_feel && targets && chance(r, 2)) {
            uint32_t target = 0;
            do
                target = random_below(r, i);
            while (!(targets >> target & 1));
            buf_printf(out, ",'triggers_retry':'s%u'", target);
        }
        at.before = before[i] | 1u << i;
        add_activity(out, r, &at);
        if (!is_feel && max_attempts > 1)
            retried |= 1u << i;
        buf_byte(out, '}');
    }
    buf_byte(out, ']');
    add_rest(out, r);
}

/* ---- nodes and flows ---- */

struct net {
    struct random *random;
    struct buf nodes, flows;
    uint32_t node_count, flow_count;
    char kinds[NODES_ROOM]; /* of each node: a, x, p, e, s, or w for what does something */
};

static uint32_t add_node(struct net *n, char kind)
{
    static const struct {
        char kind;
        const char *word;
    } words[] = {
        { 'a', "and" }, { 'x', "xor" }, { 'p', "pass" }, { 'e', "end" }, { 's', "start" }
    };

    buf_printf(&n->nodes, "%s{'id':'n%u'", n->node_count ? "," : "", n->node_count);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].kind == kind)
            buf_printf(&n->nodes, ",'kind':'%s'", words[i].word);
    assert(n->node_count < NODES_ROOM);
    n->kinds[n->node_count] = kind;
    return n->node_count++;
}

static uint32_t add_gateway(struct net *n, char kind)
{
    uint32_t node = add_node(n, kind);

    buf_byte(&n->nodes, '}');
    return node;
}

static uint32_t add_set(struct net *n, const char *format, unsigned which)
{
    uint32_t node = add_node(n, 'w');

    buf_add(&n->nodes, STR(",'set':{"));
    buf_printf(&n->nodes, format, which, which);
    buf_add(&n->nodes, STR("}}"));
    return node;
}

/* A condition, "default", or NULL for a flow without. */
static void add_flow(struct net *n, uint32_t from, uint32_t to, const char *when)
{
    buf_printf(&n->flows, "%s{'id':'f%u','from':'n%u','to':'n%u'", n->flow_count ? "," : "",
               n->flow_count, from, to);
    n->flow_count++;
    if (when && strcmp(when, "default") == 0)
        buf_add(&n->flows, STR(",'default':true"));
    else if (when)
        buf_printf(&n->flows, ",'when':'=%s'", when);
    buf_byte(&n->flows, '}');
}

static uint32_t add_block(struct net *n, uint32_t from, unsigned depth);

/* What follows `from`, and the node that it ends with. */
static uint32_t add_sequence(struct net *n, uint32_t from, unsigned depth)
{
    for (uint32_t blocks = 1 + random_below(n->random, 3); blocks > 0; blocks--)
        from = add_block(n, from, depth);
    return from;
}

/* Branches between a split and a join of the same kind. */
static uint32_t add_branches(struct net *n, uint32_t from, unsigned depth, char kind)
{
    uint32_t split = add_gateway(n, kind), join = add_gateway(n, kind);
    uint32_t branches = 2 + random_below(n->random, 2);
    bool has_default = !chance(n->random, 5);

    add_flow(n, from, split, NULL);
    for (uint32_t i = 0; i < branches; i++) {
        const char *when = kind == 'a'                        ? NULL
                           : has_default && i == branches - 1 ? "default"
                                                              : a_condition(n->random);
        uint32_t first = add_gateway(n, 'p');
        add_flow(n, split, first, when);
        add_flow(n, chance(n->random, 5) ? first : add_sequence(n, first, depth - 1), join, NULL);
    }
    return join;
}

/* Around and around, until a counter ends it; a few go by other conditions, fewer are endless. */
static uint32_t add_circle(struct net *n, uint32_t from, unsigned depth)
{
    uint32_t first = add_set(n, "'c%u':0", n->node_count), begin = add_gateway(n, 'x');
    char again[32];

    add_flow(n, from, first, NULL);
    add_flow(n, first, begin, NULL);
    uint32_t last = chance(n->random, 4) ? begin : add_sequence(n, begin, depth - 1);
    uint32_t count = add_set(n, "'c%u':'=c%u + 1'", first);
    uint32_t end = add_gateway(n, 'x');
    snprintf(again, sizeof again, "c%u < %u", first, 1 + random_below(n->random, 4));
    add_flow(n, last, count, NULL);
    add_flow(n, count, end, NULL);
    add_flow(n, end, begin,
             chance(n->random, 60)   ? "true"
             : chance(n->random, 12) ? a_condition(n->random)
                                     : again);
    uint32_t out = add_gateway(n, 'p');
    add_flow(n, end, out, "default");
    return out;
}

/* Flows out of what is no gateway, by conditions, which end in places of their own. */
static uint32_t add_side_ends(struct net *n, uint32_t from)
{
    uint32_t node = add_gateway(n, 'p'), next = add_gateway(n, 'p'), end = add_gateway(n, 'e');

    add_flow(n, from, node, NULL);
    add_flow(n, node, end, a_condition(n->random));
    add_flow(n, node, next, chance(n->random, 2) ? "default" : NULL);
    return next;
}

static uint32_t add_block(struct net *n, uint32_t from, unsigned depth)
{
    uint32_t kind = depth == 0 || n->node_count > NODES_ENOUGH ? 9 : random_below(n->random, 12);

    if (kind < 2)
        return add_branches(n, from, depth, 'x');
    if (kind < 4)
        return add_branches(n, from, depth, 'a');
    if (kind < 6)
        return add_circle(n, from, depth);
    if (kind == 6)
        return add_side_ends(n, from);
    struct place at = { .number = n->node_count,
                        .max_attempts = 1 + random_below(n->random, 3),
                        .is_feel = chance(n->random, 3) };
    uint32_t node = add_node(n, 'w');
    add_activity(&n->nodes, n->random, &at);
    buf_byte(&n->nodes, '}');
    add_flow(n, from, node, NULL);
    return node;
}

/* Anything may follow anything, but for the start and ends. */
static void add_wild_flows(struct net *n)
{
    for (uint32_t more = 1 + random_below(n->random, 3); more > 0; more--) {
        uint32_t from = random_below(n->random, n->node_count),
                 to = 1 + random_below(n->random, n->node_count - 1);
        if (n->kinds[from] == 'e')
            continue;
        add_flow(n, from, to,
                 n->kinds[from] == 'a' || chance(n->random, 3) ? NULL : a_condition(n->random));
    }
}

static void random_nodes(struct arena *a, struct buf *out, struct random *r)
{
    struct net n = { .random = r, .nodes = buf_in(a), .flows = buf_in(a) };
    uint32_t last = add_sequence(&n, add_gateway(&n, 's'), DEPTH);

    if (!chance(r, 4))
        add_flow(&n, last, add_gateway(&n, 'e'), NULL);
    if (chance(r, 4))
        add_wild_flows(&n);
    buf_printf(out, "{'workflow':'random','nodes':[" STR_FMT "],'flows':[" STR_FMT "]",
               STR_ARG(buf_str(&n.nodes)), STR_ARG(buf_str(&n.flows)));
    add_rest(out, r);
}

str flow_random_definition(struct arena *a, uint64_t seed)
{
    struct random r = { seed };
    struct buf out = buf_in(a);

    if (chance(&r, 2))
        random_steps(&out, &r);
    else
        random_nodes(a, &out, &r);
    return in_double_quotes(a, &out);
}

/* ---- events ---- */

static bool has_ended(const struct reference *r)
{
    return reference_status(r) >= REFERENCE_COMPLETED;
}

/* One of those that wait for this, or NULL. */
static const struct reference_waiting *one_waiting(struct arena *a, struct random *random,
                                                   const struct reference *r,
                                                   enum reference_wait wait)
{
    size_t count, found = 0;
    const struct reference_waiting *all = reference_waiting(r, a, &count);
    const struct reference_waiting **those =
        ARENA_ARRAY(a, const struct reference_waiting *, count);

    for (size_t i = 0; i < count; i++)
        if (all[i].wait == wait)
            those[found++] = &all[i];
    return found ? those[random_below(random, (uint32_t)found)] : NULL;
}

static struct flow_event event_report(struct arena *a, struct random *random,
                                      const struct reference_waiting *at)
{
    struct flow_event e = { .kind = FLOW_REPORT, .at = *at, .values = STR("{}") };
    uint32_t what = random_below(random, 20);

    e.outcome = what < 14 ? OUTCOME_OK : what < 18 ? OUTCOME_FAILED : OUTCOME_LOST;
    if (e.outcome == OUTCOME_OK)
        e.values = random_values(a, random, 2);
    return e;
}

/* One of the agents that are at work for a mark. */
static uint32_t one_at_work(struct arena *a, struct random *random, const struct reference *r,
                            uint32_t n)
{
    size_t count;
    const struct reference_share *all = reference_shares(r, a, n, &count);
    uint32_t chosen = 0, seen = 0;

    for (size_t i = 0; i < count; i++)
        if (all[i].at_work && random_below(random, ++seen) == 0)
            chosen = all[i].number;
    return chosen;
}

static struct flow_event event_turn(struct arena *a, struct random *random,
                                    const struct reference_waiting *at, uint32_t number)
{
    static const enum reference_turn turns[] = {
        TURN_RECORDED, TURN_RECORDED, TURN_RECORDED,    TURN_RECORDED, TURN_RECORDED, TURN_RECORDED,
        TURN_RECORDED, TURN_RECORDED, TURN_SAID_FAILED, TURN_SILENT,   TURN_SILENT,   TURN_SILENT,
        TURN_SILENT,   TURN_CRASHED,  TURN_STOPPED,     TURN_LOST,     TURN_LOST,
    };
    struct flow_event e = {
        .kind = FLOW_TURN, .at = *at, .number = number, .turn = PICK(random, turns)
    };

    e.values = e.turn == TURN_RECORDED ? random_values(a, random, 2) : STR("{}");
    return e;
}

static struct flow_event event_check(struct random *random, const struct reference_waiting *at)
{
    uint32_t what = random_below(random, 10);

    return (struct flow_event){ .kind = FLOW_CHECK,
                                .at = *at,
                                .proof = what < 6   ? PROOF_GOOD
                                         : what < 8 ? PROOF_LACKING
                                         : what < 9 ? PROOF_LOST
                                                    : PROOF_ODD };
}

/* A step that it may go back to. */
static uint16_t step_before(struct arena *a, struct random *random, const struct graph *g,
                            uint16_t step)
{
    uint16_t back;

    if (chance(random, 2))
        return GRAPH_NONE;
    do
        back = (uint16_t)random_below(random, g->step_count);
    while (!graph_downstream(a, g, back)[step]);
    return back;
}

static struct flow_event event_decide(struct arena *a, struct random *random, const struct graph *g,
                                      const struct reference *r, const struct reference_waiting *at)
{
    struct flow_event e = { .kind = FLOW_DECIDE, .at = *at, .values = STR("") };
    uint32_t what = random_below(random, 10);
    uint16_t step = g->nodes[at->node].step;
    bool may_reopen = g->kind != GRAPH_NODES && !reference_failing(r);

    if (g->nodes[at->node].work->by == WORK_REPORT && !g->nodes[at->node].loop && chance(random, 6))
        return (struct flow_event){ .kind = FLOW_REPORT,
                                    .at = *at,
                                    .outcome = OUTCOME_OK,
                                    .values = random_values(a, random, 2) };
    e.decision.what = what < 6                  ? DECISION_APPROVE
                      : what < 8 || !may_reopen ? DECISION_REJECT
                                                : DECISION_REWORK;
    e.decision.step = e.decision.what == DECISION_REWORK ? step_before(a, random, g, step)
                                                         : GRAPH_NONE;
    if (e.decision.what == DECISION_APPROVE && g->steps[step].approval->variant)
        e.decision.variant = chance(random, 2) ? STR("a") : STR("b");
    if (e.decision.what == DECISION_APPROVE && chance(random, 3))
        e.values = random_values(a, random, 2);
    return e;
}

/* What can be told of work; its kind is FLOW_NOTHING where there is none. */
static struct flow_event event_work(struct arena *a, struct random *random, const struct graph *g,
                                    const struct reference *r)
{
    size_t count, found = 0;
    const struct reference_waiting *all = reference_waiting(r, a, &count), *at = NULL;

    for (size_t i = 0; i < count; i++) {
        enum reference_wait wait = all[i].wait;
        if (wait == WAIT_REPORT || (wait == WAIT_AGENTS && all[i].at_work) || wait == WAIT_CHECK ||
            wait == WAIT_APPROVAL)
            if (random_below(random, (uint32_t)++found) == 0)
                at = &all[i];
    }
    if (!at)
        return (struct flow_event){ .kind = FLOW_NOTHING };
    switch (at->wait) {
    case WAIT_AGENTS: return event_turn(a, random, at, one_at_work(a, random, r, at->n));
    case WAIT_CHECK: return event_check(random, at);
    case WAIT_APPROVAL: return event_decide(a, random, g, r, at);
    default: return event_report(a, random, at);
    }
}

/* What every condition and every loop can do with. */
static const char mended[] = "{\"x\":1,\"y\":1,\"flag\":true,\"list\":[1,2],\"calm\":true}";

static struct flow_event event_retry(const struct reference_waiting *at)
{
    return (struct flow_event){ .kind = FLOW_RETRY, .at = *at, .values = str_from(mended) };
}

/* The same, going well. */
static struct flow_event made_kind(struct flow_event e, const struct graph *g)
{
    const struct graph_step *step = &g->steps[g->nodes[e.at.node].step];

    e.values = str_from(mended);
    e.outcome = OUTCOME_OK;
    e.turn = TURN_RECORDED;
    e.proof = PROOF_GOOD;
    e.decision = (struct reference_decision){ .what = DECISION_APPROVE, .step = GRAPH_NONE };
    if (e.kind == FLOW_DECIDE && step->approval->variant)
        e.decision.variant = STR("a");
    return e;
}

/* To when something is due. */
static struct flow_event event_due(const struct reference *r)
{
    return (struct flow_event){ .kind = FLOW_ADVANCE,
                                .ms = reference_due_ms(r) - reference_now_ms(r) };
}

static struct flow_event event_reopen(struct random *random, const struct graph *g)
{
    return (struct flow_event){ .kind = FLOW_REOPEN,
                                .step = (uint16_t)random_below(random, g->step_count) };
}

struct flow_event flow_random_event(struct arena *a, struct random *random, const struct graph *g,
                                    const struct reference *r)
{
    const struct reference_waiting *incident = one_waiting(a, random, r, WAIT_INCIDENT);
    struct flow_event told = event_work(a, random, g, r);
    bool work = told.kind != FLOW_NOTHING;
    bool is_due = reference_due_ms(r) != INT64_MAX;
    bool may_reopen = g->kind != GRAPH_NODES && !reference_failing(r);

    if (may_reopen && chance(random, has_ended(r) ? 2 : 20))
        return event_reopen(random, g);
    if (has_ended(r))
        return (struct flow_event){ .kind = FLOW_NOTHING };
    if (reference_status(r) == REFERENCE_PAUSED && chance(random, 3))
        return (struct flow_event){ .kind = FLOW_RESUME };
    if (reference_status(r) == REFERENCE_RUNNING && chance(random, 20))
        return (struct flow_event){ .kind = FLOW_PAUSE };
    if (chance(random, 150))
        return (struct flow_event){ .kind = FLOW_CANCEL };
    if (incident && chance(random, work || is_due ? 5 : 1))
        return event_retry(incident);
    if (is_due && chance(random, work ? 6 : 1))
        return event_due(r);
    if (work)
        return told;
    if (reference_status(r) == REFERENCE_PAUSED)
        return (struct flow_event){ .kind = FLOW_RESUME };
    return (struct flow_event){ .kind = FLOW_NOTHING };
}

struct flow_event flow_kind_event(struct arena *a, struct random *random, const struct graph *g,
                                  const struct reference *r)
{
    const struct reference_waiting *incident = one_waiting(a, random, r, WAIT_INCIDENT),
                                   *delay = one_waiting(a, random, r, WAIT_DELAY);
    struct flow_event told = event_work(a, random, g, r);

    if (reference_status(r) == REFERENCE_PAUSED)
        return (struct flow_event){ .kind = FLOW_RESUME };
    if (incident)
        return event_retry(incident);
    if (told.kind != FLOW_NOTHING)
        return made_kind(told, g);
    if (delay)
        return event_due(r);
    return (struct flow_event){ .kind = FLOW_NOTHING };
}

bool flow_event_apply(struct arena *a, struct reference *r, const struct flow_event *e)
{
    const struct json *values = e->values.len ? json_parsed(a, e->values) : NULL;
    struct reference_decision decision = e->decision;

    decision.modifications = values;
    switch (e->kind) {
    case FLOW_REPORT: return reference_report(r, e->at.n, e->outcome, values);
    case FLOW_TURN: return reference_share(r, e->at.n, e->number, e->turn, values);
    case FLOW_CHECK: return reference_check(r, e->at.n, e->proof);
    case FLOW_DECIDE: return reference_decide(r, e->at.n, &decision);
    case FLOW_RETRY: return reference_retry(r, e->at.n, values);
    case FLOW_REOPEN: return reference_reopen(r, e->step);
    case FLOW_PAUSE: return reference_pause(r);
    case FLOW_RESUME: return reference_resume(r);
    case FLOW_CANCEL: return reference_cancel(r);
    case FLOW_ADVANCE: reference_advance(r, e->ms); return true;
    default: return false;
    }
}

str flow_event_shown(struct arena *a, const struct graph *g, const struct flow_event *e)
{
    static const char *const kinds[FLOW_EVENT_KINDS] = { "nothing", "report", "turn",   "check",
                                                         "decide",  "retry",  "reopen", "pause",
                                                         "resume",  "cancel", "advance" };
    static const char *const outcomes[OUTCOME_COUNT] = { "ok", "failed", "timeout", "lost" };
    static const char *const turns[TURN_COUNT] = { "recorded", "said_failed", "silent",
                                                   "crashed",  "stopped",     "lost" };
    static const char *const proofs[PROOF_COUNT] = { "good", "lacking", "lost", "odd" };
    struct buf out = buf_in(a);

    buf_add(&out, str_from(kinds[e->kind]));
    if (e->kind >= FLOW_REPORT && e->kind <= FLOW_RETRY)
        buf_printf(&out, " " STR_FMT " %u " STR_FMT, STR_ARG(g->nodes[e->at.node].id), e->at.n,
                   STR_ARG(e->values));
    if (e->kind == FLOW_REPORT)
        buf_printf(&out, " %s", outcomes[e->outcome]);
    if (e->kind == FLOW_TURN)
        buf_printf(&out, " share %u %s", e->number, turns[e->turn]);
    if (e->kind == FLOW_CHECK)
        buf_printf(&out, " %s", proofs[e->proof]);
    if (e->kind == FLOW_DECIDE)
        buf_printf(&out, " %s " STR_FMT, reference_decisions[e->decision.what],
                   STR_ARG(e->decision.variant));
    if (e->kind == FLOW_DECIDE && e->decision.step != GRAPH_NONE)
        buf_printf(&out, " " STR_FMT, STR_ARG(g->steps[e->decision.step].id));
    if (e->kind == FLOW_REOPEN)
        buf_printf(&out, " " STR_FMT, STR_ARG(g->steps[e->step].id));
    if (e->kind == FLOW_ADVANCE)
        buf_printf(&out, " %lld", (long long)e->ms);
    return buf_str(&out);
}
