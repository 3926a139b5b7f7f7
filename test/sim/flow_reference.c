/* flow_reference.c: what an execution of a workflow does, said as plainly as possible. */
#include "sim/flow_reference.h"

#include <assert.h>

enum {
    MOVES_MAX = 10000, /* since anything came from outside */
    MARKS_MAX = 10000,
    ITEMS_MAX = 1000,
    STARTS_IN_ONE_MOVE = 64,
    LOSSES_UNCOUNTED = 3,
    ASKS_MAX = 3,   /* of an agent that has recorded nothing */
    CLAIMS_MAX = 3, /* runners that may lose a turn of an agent */
};

const char *const reference_status_names[REFERENCE_STATUS_COUNT] = {
    [REFERENCE_NEW] = "NEW",       [REFERENCE_RUNNING] = "RUNNING",
    [REFERENCE_PAUSED] = "PAUSED", [REFERENCE_COMPLETED] = "COMPLETED",
    [REFERENCE_FAILED] = "FAILED", [REFERENCE_CANCELLED] = "CANCELLED",
};

const char *const reference_words[WORD_COUNT] = {
    [WORD_ENTERED] = "entered",     [WORD_SKIPPED] = "skipped",   [WORD_ENDED] = "ended",
    [WORD_JOINED] = "joined",       [WORD_OPENED] = "opened",     [WORD_STARTED] = "started",
    [WORD_COMPLETED] = "completed", [WORD_CLOSED] = "closed",     [WORD_FAILED] = "failed",
    [WORD_GAVE_UP] = "gave_up",     [WORD_HELD] = "held",         [WORD_INCIDENT] = "incident",
    [WORD_CANCELLED] = "cancelled", [WORD_REOPENED] = "reopened", [WORD_PROVING] = "proving",
    [WORD_ASKED] = "asked",         [WORD_APPROVED] = "approved", [WORD_REJECTED] = "rejected",
    [WORD_REWORKED] = "reworked",   [WORD_RECORDED] = "recorded",
};

const char *const reference_decisions[DECISION_COUNT] = {
    [DECISION_APPROVE] = "approve",
    [DECISION_REJECT] = "reject",
    [DECISION_REWORK] = "rework",
};

/* What a mark does at its next move, or, where it has an incident, what could not be done. */
enum todo {
    TO_ENTER,
    TO_ENTER_INSTANCE,
    TO_START_AGAIN,
    TO_START_MORE,
    TO_PROVE,
    TO_LEAVE,
    TODO_COUNT
};

/* What one agent does of an attempt. */
struct share {
    uint32_t number; /* from 1 */
    bool begun, done;
    uint32_t asks, losses; /* how often it was asked for a record; of its turn */
    uint64_t place;        /* among those that wait for their turn */
    const struct json *outputs;
};

struct mark {
    uint32_t n;
    uint16_t node, via;
    struct mark *body; /* of an instance */
    enum todo todo;
    enum reference_wait wait;
    bool on_agenda;

    uint32_t attempt, spared; /* the number; and how many of them do not count */
    uint32_t losses;
    int64_t due_ms; /* of a delay, an attempt's timeout, an approval; INT64_MAX: none */

    struct share *shares; /* of an attempt by agents */
    uint32_t share_count;
    const struct json *reported; /* the result of its attempt, while that is judged */
    const struct json *options;  /* of an approval; NULL: it does not say */

    uint32_t index;   /* of an instance */
    struct json vars; /* an instance's own: the item, loopCounter, what a feel node sets */

    const struct json *items; /* of a body */
    struct json *outputs;     /* by index: an object, or null */
    uint32_t total, started, done, live;
    uint32_t children; /* counted anew at each check */
};

/* Of a step: what it is, the highest number that an attempt had, and the number of the first one. */
struct record {
    enum reference_step status;
    uint32_t attempt, first;
};

struct reference {
    struct arena *arena, *scratch; /* what a move needs no longer than it takes */
    const struct graph *graph;
    int64_t now_ms;
    enum reference_status status;
    bool failing, stalled;
    bool loop_incident, stalled_incident;
    uint16_t incident_node; /* of either */
    struct json vars;
    const struct json *result;
    struct record *records;

    struct mark **marks; /* in the order of n */
    uint32_t mark_count, mark_room;
    struct mark **agenda; /* first in, first out */
    uint32_t agenda_count, agenda_room;
    uint32_t next_n, gone, moves;
    uint32_t moves_max; /* without anything from outside */

    const str *agents; /* that are known */
    size_t agent_count;
    uint32_t at_work, at_work_max; /* agents, at once */
    uint32_t in_line;              /* shares that have not begun */
    uint64_t places;

    struct reference_line *lines;
    size_t line_count, line_room;
};

/* ---- lists ---- */

static void append(struct reference *r, struct mark ***list, uint32_t *count, uint32_t *room,
                   struct mark *m)
{
    if (*count == *room) {
        uint32_t more = *room ? *room * 2 : 16;
        *list = arena_grow(r->arena, *list, *room * sizeof **list, more * sizeof **list);
        *room = more;
    }
    (*list)[(*count)++] = m;
}

static void take_out(struct mark **list, uint32_t *count, const struct mark *m)
{
    uint32_t at = 0;

    while (at < *count && list[at] != m)
        at++;
    assert(at < *count);
    memmove(list + at, list + at + 1, (*count - at - 1) * sizeof *list);
    --*count;
}

static void trace(struct reference *r, uint16_t node, enum reference_word what, uint32_t n)
{
    if (r->line_count == r->line_room) {
        size_t room = r->line_room ? r->line_room * 2 : 64;
        r->lines = arena_grow(r->arena, r->lines, r->line_room * sizeof *r->lines,
                              room * sizeof *r->lines);
        r->line_room = room;
    }
    r->lines[r->line_count++] = (struct reference_line){ node, what, n };
}

static const struct graph_node *node_of(const struct reference *r, const struct mark *m)
{
    return &r->graph->nodes[m->node];
}

static void put_on_agenda(struct reference *r, struct mark *m, enum todo todo)
{
    m->todo = todo;
    if (m->wait != WAIT_LOOP || todo == TO_LEAVE)
        m->wait = WAIT_MOVE;
    m->due_ms = INT64_MAX;
    if (m->on_agenda)
        return;
    m->on_agenda = true;
    append(r, &r->agenda, &r->agenda_count, &r->agenda_room, m);
}

static struct mark *make_mark(struct reference *r, uint16_t node, uint16_t via, struct mark *body,
                              enum todo todo)
{
    struct mark *m = ARENA_NEW(r->arena, struct mark);

    m->n = r->next_n++;
    m->node = node;
    m->via = via;
    m->body = body;
    m->vars = json_object();
    if (body)
        body->live++;
    append(r, &r->marks, &r->mark_count, &r->mark_room, m);
    put_on_agenda(r, m, todo);
    return m;
}

static uint32_t shares_at_work(const struct mark *m)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->share_count; i++)
        count += m->shares[i].begun && !m->shares[i].done;
    return count;
}

/* Nobody is at its attempt any more. */
static void drop_shares(struct reference *r, struct mark *m)
{
    r->at_work -= shares_at_work(m);
    for (uint32_t i = 0; i < m->share_count; i++)
        r->in_line -= !m->shares[i].begun;
    m->share_count = 0;
}

static void remove_mark(struct reference *r, struct mark *m)
{
    drop_shares(r, m);
    if (m->on_agenda)
        take_out(r->agenda, &r->agenda_count, m);
    take_out(r->marks, &r->mark_count, m);
    if (m->body)
        m->body->live--;
    r->gone++;
}

/* A mark rests, and waits for something else than a move. */
static void rest(struct mark *m, enum reference_wait wait)
{
    m->wait = wait;
}

static void raise_incident(struct reference *r, struct mark *m, enum todo todo)
{
    trace(r, m->node, WORD_INCIDENT, m->n);
    m->todo = todo;
    m->due_ms = INT64_MAX;
    rest(m, WAIT_INCIDENT);
}

/* ---- variables ---- */

static void set_variable(struct reference *r, struct json *vars, str name, const struct json *value)
{
    struct json copy = json_copy(r->arena, value);
    struct json *old = (struct json *)json_find(vars, name);

    if (old)
        *old = copy;
    else
        json_put(r->arena, vars, arena_copy(r->arena, name), copy);
}

static void set_variables(struct reference *r, struct json *vars, const struct json *values)
{
    for (uint32_t i = 0; json_is(values, JSON_OBJECT) && i < values->len; i++)
        set_variable(r, vars, json_name(&values->members[i]), &values->members[i].value);
}

/* Names are looked for in `result` (may be NULL), then the instance's own, then the execution's. What
 * comes out is good until the next move. False: it cannot be evaluated. */
static bool evaluate(struct reference *r, const struct mark *m, const struct json *result,
                     const struct feel *f, const struct json **out)
{
    struct feel_scope root = { &r->vars, NULL };
    struct feel_scope own = { &m->vars, &root };
    struct feel_scope inner = { result, &own };
    struct feel_result value;

    if (feel_eval(r->scratch, f, &inner, r->now_ms, &value))
        return false;
    *out = value.value;
    return true;
}

static bool is_true(const struct json *value)
{
    return json_is(value, JSON_BOOL) && value->len;
}

/* ---- steps ---- */

static struct record *record_of(struct reference *r, const struct mark *m)
{
    uint16_t step = node_of(r, m)->step;

    return step != GRAPH_NONE && r->graph->steps[step].node == m->node ? &r->records[step] : NULL;
}

static void step_is(struct reference *r, const struct mark *m, enum reference_step status)
{
    struct record *record = record_of(r, m);

    if (record)
        record->status = status;
}

static const struct graph_step *step_of(const struct reference *r, const struct mark *m)
{
    uint16_t step = node_of(r, m)->step;

    return step != GRAPH_NONE && r->graph->steps[step].node == m->node ? &r->graph->steps[step]
                                                                       : NULL;
}

/* What a person decides of it; an instance is decided about with its loop. */
static const struct graph_approval *approval_of(const struct reference *r, const struct mark *m)
{
    const struct graph_step *step = step_of(r, m);

    return step && !m->body ? step->approval : NULL;
}

/* The step and all that come after it, in any number of steps. */
static bool *downstream(struct reference *r, uint16_t step)
{
    const struct graph *g = r->graph;
    bool *in = arena_zero(r->arena, g->step_count);

    in[step] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint16_t s = 0; s < g->step_count; s++)
            for (size_t i = 0; i < g->steps[s].after_count; i++)
                if (!in[s] && in[g->steps[s].after[i]])
                    more = in[s] = true;
    }
    return in;
}

/* ---- ends ---- */

static bool has_ended(const struct reference *r)
{
    return r->status >= REFERENCE_COMPLETED;
}

/* Steps that were at it are so no longer. */
static void drop_all(struct reference *r, bool traced)
{
    while (r->mark_count) {
        struct mark *m = r->marks[0];
        struct record *record = record_of(r, m);
        if (traced)
            trace(r, m->node, WORD_CANCELLED, m->n);
        if (record &&
            (record->status == REFERENCE_STEP_ACTIVE || record->status == REFERENCE_STEP_APPROVAL))
            record->status = REFERENCE_STEP_CANCELLED;
        remove_mark(r, m);
    }
}

static void end(struct reference *r, enum reference_status status)
{
    assert(r->mark_count == 0);
    r->status = status;
    r->failing = r->stalled = r->loop_incident = r->stalled_incident = false;
}

static void complete_execution(struct reference *r)
{
    static const struct json null = { .kind = JSON_NULL };
    static const struct mark outside = { .vars = { .kind = JSON_OBJECT } };
    const struct json *value = &r->vars;
    struct json *result = ARENA_NEW(r->arena, struct json);

    if (r->graph->result && !evaluate(r, &outside, NULL, r->graph->result, &value))
        value = &null;
    *result = json_copy(r->arena, value);
    r->result = result;
    end(r, REFERENCE_COMPLETED);
}

static uint32_t waiting_for(const struct reference *r, enum reference_wait wait)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->mark_count; i++)
        count += r->marks[i]->wait == wait;
    return count;
}

/* Whether it has ended, or has nothing to wait for, now that nothing moves any more. */
static void judge(struct reference *r)
{
    if (r->status != REFERENCE_RUNNING || r->agenda_count || r->loop_incident)
        return;
    r->stalled = false;
    if (r->failing) {
        if (waiting_for(r, WAIT_REPORT) + waiting_for(r, WAIT_AGENTS) +
                waiting_for(r, WAIT_CHECK) ==
            0) {
            drop_all(r, false);
            end(r, REFERENCE_FAILED);
        }
    } else if (r->mark_count == 0) {
        complete_execution(r);
    } else if (waiting_for(r, WAIT_JOIN) == r->mark_count) {
        r->stalled = true;
        if (r->graph->kind != GRAPH_NODES && !r->stalled_incident) {
            r->stalled_incident = true;
            r->incident_node = r->marks[0]->node;
            trace(r, r->incident_node, WORD_INCIDENT, r->marks[0]->n);
        }
    }
}

/* ---- leaving ---- */

struct choice {
    uint16_t *flows;
    uint16_t count;
};

/* The first that is true, else the default. */
static bool choose_first(struct reference *r, struct mark *m, struct choice *c)
{
    const struct graph_node *node = node_of(r, m);

    for (uint16_t i = 0; i < node->out_count; i++) {
        const struct graph_flow *flow = &r->graph->flows[node->out[i]];
        const struct json *value;
        if (node->out[i] == node->fallback)
            continue;
        if (flow->when && !evaluate(r, m, NULL, flow->when, &value))
            return false;
        if (!flow->when || is_true(value)) {
            c->flows[c->count++] = node->out[i];
            return true;
        }
    }
    if (node->fallback == GRAPH_NONE)
        return false;
    c->flows[c->count++] = node->fallback;
    return true;
}

static bool choose_all(struct reference *r, struct mark *m, struct choice *c)
{
    const struct graph_node *node = node_of(r, m);

    for (uint16_t i = 0; i < node->out_count; i++)
        c->flows[c->count++] = node->out[i];
    return true;
}

/* All without a condition and all that are true; the default only if no condition is. */
static bool choose_true(struct reference *r, struct mark *m, struct choice *c)
{
    const struct graph_node *node = node_of(r, m);
    bool *take = arena_zero(r->scratch, node->out_count);
    bool any_true = false;

    for (uint16_t i = 0; i < node->out_count; i++) {
        const struct graph_flow *flow = &r->graph->flows[node->out[i]];
        const struct json *value;
        if (node->out[i] == node->fallback)
            continue;
        if (flow->when && !evaluate(r, m, NULL, flow->when, &value))
            return false;
        take[i] = !flow->when || is_true(value);
        any_true |= flow->when && take[i];
    }
    for (uint16_t i = 0; i < node->out_count; i++)
        if (take[i] || (node->out[i] == node->fallback && !any_true))
            c->flows[c->count++] = node->out[i];
    return true;
}

static bool (*const choices[NODE_KINDS])(struct reference *, struct mark *, struct choice *) = {
    [NODE_START] = choose_true, [NODE_END] = choose_true,  [NODE_PASS] = choose_true,
    [NODE_FEEL] = choose_true,  [NODE_XOR] = choose_first, [NODE_AND] = choose_all,
    [NODE_WORK] = choose_true,
};

static void leave(struct reference *r, struct mark *m)
{
    const struct graph_node *node = node_of(r, m);
    struct choice c = { ARENA_ARRAY(r->scratch, uint16_t, node->out_count), 0 };

    if (!choices[node->kind](r, m, &c) || r->mark_count + c.count > MARKS_MAX + 1) {
        raise_incident(r, m, TO_LEAVE);
        return;
    }
    if (c.count == 0) {
        remove_mark(r, m);
        return;
    }
    for (uint16_t i = 0; i < c.count; i++) {
        uint16_t target = r->graph->flows[c.flows[i]].target;
        if (i > 0) {
            make_mark(r, target, c.flows[i], NULL, TO_ENTER);
            continue;
        }
        m->node = target;
        m->via = c.flows[i];
        m->wait = WAIT_MOVE;
        put_on_agenda(r, m, TO_ENTER);
    }
}

/* ---- loops ---- */

/* The names of what becomes lists. */
static str output_name(const struct graph_node *node, size_t i)
{
    return node->kind == NODE_FEEL ? node->settings.at[i].name : node->work->outputs[i];
}

static size_t output_count(const struct graph_node *node)
{
    return node->kind == NODE_FEEL ? node->settings.count : node->work->output_count;
}

static void set_lists(struct reference *r, struct mark *body)
{
    const struct graph_node *node = node_of(r, body);
    static const struct json null = { .kind = JSON_NULL };
    struct json *lists = ARENA_NEW(r->arena, struct json);

    *lists = json_object();

    for (size_t o = 0; o < output_count(node); o++) {
        struct json list = json_array();
        for (uint32_t i = 0; i < body->total; i++) {
            const struct json *value = json_find(&body->outputs[i], output_name(node, o));
            json_push(r->arena, &list, value ? *value : null);
        }
        set_variable(r, &r->vars, output_name(node, o), &list);
        set_variable(r, lists, output_name(node, o), &list);
    }
    body->reported = lists;
}

static bool may_start_more(const struct reference *r, const struct mark *body)
{
    uint32_t at_once = node_of(r, body)->loop->at_once;

    return body->started < body->total && (at_once == 0 || body->started - body->done < at_once);
}

static void start_more(struct reference *r, struct mark *body)
{
    const struct graph_loop *loop = node_of(r, body)->loop;

    for (int made = 0; may_start_more(r, body); made++) {
        if (made == STARTS_IN_ONE_MOVE) {
            put_on_agenda(r, body, TO_START_MORE);
            return;
        }
        struct mark *m = make_mark(r, body->node, body->via, body, TO_ENTER_INSTANCE);
        struct json counter = json_int(r->arena, (int64_t)body->started + 1);
        m->index = body->started;
        if (loop->as.len)
            set_variable(r, &m->vars, loop->as, json_at(body->items, m->index));
        set_variable(r, &m->vars, STR("loopCounter"), &counter);
        body->started++;
    }
}

static void ask_a_person(struct reference *r, struct mark *m);

static void open_loop(struct reference *r, struct mark *m)
{
    const struct json *items;

    if (!evaluate(r, m, NULL, node_of(r, m)->loop->items, &items) || !json_is(items, JSON_ARRAY) ||
        items->len > ITEMS_MAX) {
        raise_incident(r, m, TO_ENTER);
        return;
    }
    struct json *copy = ARENA_NEW(r->arena, struct json);
    *copy = json_copy(r->arena, items);
    m->items = copy;
    m->total = copy->len;
    m->started = m->done = 0;
    m->outputs = arena_zero(r->arena, m->total * sizeof *m->outputs); /* nulls */
    trace(r, m->node, WORD_OPENED, m->n);
    if (m->total) {
        rest(m, WAIT_LOOP);
        start_more(r, m);
        return;
    }
    set_lists(r, m);
    if (approval_of(r, m)) {
        ask_a_person(r, m);
        return;
    }
    step_is(r, m, REFERENCE_STEP_COMPLETED);
    leave(r, m);
}

static void complete_instance(struct reference *r, struct mark *m, const struct json *outputs)
{
    struct mark *body = m->body;

    trace(r, m->node, WORD_COMPLETED, m->n);
    if (json_is(outputs, JSON_OBJECT))
        body->outputs[m->index] = json_copy(r->arena, outputs);
    remove_mark(r, m);
    body->done++;
    if (body->done == body->total) {
        assert(!body->on_agenda);
        set_lists(r, body);
        trace(r, body->node, WORD_CLOSED, body->n);
        if (approval_of(r, body)) {
            ask_a_person(r, body);
        } else {
            step_is(r, body, REFERENCE_STEP_COMPLETED);
            put_on_agenda(r, body, TO_LEAVE);
        }
    } else if (may_start_more(r, body)) {
        put_on_agenda(r, body, TO_START_MORE);
    }
}

/* ---- work ---- */

static void hold(struct reference *r, struct mark *m)
{
    trace(r, m->node, WORD_HELD, m->n);
    rest(m, WAIT_HELD);
}

static void start_time(struct reference *r, struct mark *m)
{
    int64_t timeout_ms = node_of(r, m)->work->timeout_ms;

    m->due_ms = timeout_ms > 0 ? r->now_ms + timeout_ms : INT64_MAX;
}

static bool is_known(const struct reference *r, str agent)
{
    for (size_t i = 0; i < r->agent_count; i++)
        if (str_eq(r->agents[i], agent))
            return true;
    return false;
}

/* Agents do it, all of whom are known; else whoever reports it. */
static bool by_agents(const struct reference *r, const struct mark *m)
{
    const struct graph_step *step = step_of(r, m);

    if (node_of(r, m)->work->by != WORK_AGENT)
        return false;
    for (size_t i = 0; i < step->agent_count; i++)
        if (!is_known(r, step->agents[i]))
            return false;
    return true;
}

/* How many agents are at it at once; 0: one after the other. */
static uint32_t at_once(const struct graph_step *step)
{
    return step->parallel_agents > 1 ? step->parallel_agents
           : step->agents_at_once    ? (uint32_t)step->agent_count
                                     : 0;
}

static void one_more_share(struct reference *r, struct mark *m)
{
    m->shares[m->share_count] =
        (struct share){ .number = m->share_count + 1, .place = ++r->places };
    m->share_count++;
    r->in_line++;
}

static void start_agents(struct reference *r, struct mark *m)
{
    const struct graph_step *step = step_of(r, m);
    uint32_t first = at_once(step) ? at_once(step) : 1;

    m->shares = ARENA_ARRAY(r->arena, struct share, first + step->agent_count + 1);
    m->share_count = 0;
    m->due_ms = INT64_MAX;
    rest(m, WAIT_AGENTS);
    while (m->share_count < first)
        one_more_share(r, m);
}

/* The one that waits longest for its turn; NULL: none. */
static struct share *next_share(struct reference *r, struct mark **of)
{
    struct share *next = NULL;

    for (uint32_t i = 0; i < r->mark_count; i++)
        for (uint32_t k = 0; k < r->marks[i]->share_count; k++) {
            struct share *s = &r->marks[i]->shares[k];
            if (!s->begun && (!next || s->place < next->place)) {
                next = s;
                *of = r->marks[i];
            }
        }
    return next;
}

/* As many begin as there is room for; time runs from an attempt's first on. */
static void begin_shares(struct reference *r)
{
    while (r->status == REFERENCE_RUNNING && !r->loop_incident && r->in_line &&
           r->at_work < r->at_work_max) {
        struct mark *m = NULL;
        struct share *s = next_share(r, &m);
        if (s->number == 1)
            start_time(r, m);
        s->begun = true;
        r->in_line--;
        r->at_work++;
    }
}

static void start_attempt(struct reference *r, struct mark *m, uint32_t attempt)
{
    struct record *record = record_of(r, m);

    trace(r, m->node, WORD_STARTED, m->n);
    m->attempt = attempt;
    if (record && record->attempt < attempt)
        record->attempt = attempt;
    if (by_agents(r, m)) {
        start_agents(r, m);
        return;
    }
    start_time(r, m);
    rest(m, WAIT_REPORT);
}

static void start_work(struct reference *r, struct mark *m)
{
    struct record *record = record_of(r, m);

    if (r->failing) {
        hold(r, m);
        return;
    }
    m->spared = m->losses = 0;
    start_attempt(r, m, record ? record->first : 1);
}

static void start_again(struct reference *r, struct mark *m)
{
    if (r->failing)
        hold(r, m);
    else
        start_attempt(r, m, m->attempt + 1);
}

/* The variants that there are; false: it cannot be said. */
static bool options_of(struct reference *r, struct mark *m, const struct graph_approval *approval)
{
    const struct json *options;

    m->options = NULL;
    if (!approval->options)
        return true;
    if (!evaluate(r, m, m->reported, approval->options, &options) ||
        !json_is(options, JSON_ARRAY) || !options->len)
        return false;
    struct json *copy = ARENA_NEW(r->arena, struct json);
    *copy = json_copy(r->arena, options);
    m->options = copy;
    return true;
}

/* A step whose loop is empty is asked about too: nothing behind it begins without. */
static void ask_a_person(struct reference *r, struct mark *m)
{
    const struct graph_approval *approval = approval_of(r, m);

    if (r->failing) {
        hold(r, m);
        return;
    }
    if (!options_of(r, m, approval)) {
        raise_incident(r, m, TO_PROVE);
        return;
    }
    trace(r, m->node, WORD_ASKED, m->n);
    step_is(r, m, REFERENCE_STEP_APPROVAL);
    m->due_ms = approval->deadline_ms > 0 && approval->fallback.len
                    ? r->now_ms + approval->deadline_ms
                    : INT64_MAX;
    rest(m, WAIT_APPROVAL);
}

/* It has been reported, and checked where that is wanted. */
static void work_proved(struct reference *r, struct mark *m)
{
    if (m->body) {
        complete_instance(r, m, m->reported);
        return;
    }
    trace(r, m->node, WORD_COMPLETED, m->n);
    if (approval_of(r, m)) {
        ask_a_person(r, m);
        return;
    }
    step_is(r, m, REFERENCE_STEP_COMPLETED);
    put_on_agenda(r, m, TO_LEAVE);
}

/* A runner looks; what it is to look for may take expressions. */
static void prove(struct reference *r, struct mark *m)
{
    const struct graph_step *step = step_of(r, m);

    if (node_of(r, m)->loop && !m->body) {
        ask_a_person(r, m);
        return;
    }
    if (!step->evidence_count) {
        work_proved(r, m);
        return;
    }
    for (size_t i = 0; i < step->evidence_count; i++) {
        const struct graph_evidence *e = &step->evidence[i];
        const struct json *value;
        if ((e->file && !evaluate(r, m, m->reported, e->file, &value)) ||
            (e->sha256 && !evaluate(r, m, m->reported, e->sha256, &value))) {
            raise_incident(r, m, TO_PROVE);
            return;
        }
    }
    trace(r, m->node, WORD_PROVING, m->n);
    rest(m, WAIT_CHECK);
}

/* ---- entering ---- */

static bool evaluate_settings(struct reference *r, struct mark *m, struct json *vars,
                              struct json *outputs)
{
    const struct graph_settings *settings = &node_of(r, m)->settings;

    for (size_t i = 0; i < settings->count; i++) {
        const struct json *value;
        if (!evaluate(r, m, NULL, settings->at[i].value, &value))
            return false;
        set_variable(r, vars, settings->at[i].name, value);
        if (outputs)
            set_variable(r, outputs, settings->at[i].name, value);
    }
    return true;
}

static void enter_end(struct reference *r, struct mark *m)
{
    trace(r, m->node, WORD_ENDED, m->n);
    remove_mark(r, m);
}

static void enter_feel(struct reference *r, struct mark *m)
{
    if (!evaluate_settings(r, m, &r->vars, NULL)) {
        raise_incident(r, m, TO_ENTER);
        return;
    }
    step_is(r, m, REFERENCE_STEP_COMPLETED);
    leave(r, m);
}

/* The mark with the lowest n that rests at this join by that flow, or NULL. */
static struct mark *at_join(struct reference *r, uint16_t node, uint16_t via)
{
    for (uint32_t i = 0; i < r->mark_count; i++) {
        struct mark *m = r->marks[i];
        if (m->wait == WAIT_JOIN && m->node == node && m->via == via)
            return m;
    }
    return NULL;
}

static void enter_and(struct reference *r, struct mark *m)
{
    const struct graph_node *node = node_of(r, m);
    struct mark *survivor = NULL;

    rest(m, WAIT_JOIN);
    for (uint16_t i = 0; i < node->in_count; i++) {
        struct mark *one = at_join(r, m->node, node->in[i]);
        if (!one)
            return;
        if (!survivor || one->n < survivor->n)
            survivor = one;
    }
    if (!survivor) /* a split that no flow leads to: re-opened */
        survivor = m;
    for (uint16_t i = 0; i < node->in_count; i++) {
        struct mark *one = at_join(r, survivor->node, node->in[i]);
        if (one && one != survivor)
            remove_mark(r, one);
    }
    trace(r, survivor->node, WORD_JOINED, survivor->n);
    leave(r, survivor);
}

/* What each kind does when a mark comes in; loops are the same for all. */
static void (*const kinds[NODE_KINDS])(struct reference *, struct mark *) = {
    [NODE_START] = leave,     [NODE_END] = enter_end, [NODE_PASS] = leave,
    [NODE_FEEL] = enter_feel, [NODE_XOR] = leave,     [NODE_AND] = enter_and,
    [NODE_WORK] = start_work,
};

static void enter(struct reference *r, struct mark *m)
{
    const struct graph_node *node = node_of(r, m);
    const struct json *value;

    trace(r, m->node, WORD_ENTERED, m->n);
    step_is(r, m, REFERENCE_STEP_ACTIVE);
    if (node->when) {
        if (!evaluate(r, m, NULL, node->when, &value)) {
            raise_incident(r, m, TO_ENTER);
            return;
        }
        if (!is_true(value)) {
            trace(r, m->node, WORD_SKIPPED, m->n);
            step_is(r, m, REFERENCE_STEP_SKIPPED);
            leave(r, m);
            return;
        }
    }
    if (node->loop && r->failing)
        hold(r, m);
    else if (node->loop)
        open_loop(r, m);
    else
        kinds[node->kind](r, m);
}

static void enter_instance(struct reference *r, struct mark *m)
{
    struct json outputs = json_object();

    trace(r, m->node, WORD_ENTERED, m->n);
    if (node_of(r, m)->kind == NODE_WORK)
        start_work(r, m);
    else if (evaluate_settings(r, m, &m->vars, &outputs))
        complete_instance(r, m, &outputs);
    else
        raise_incident(r, m, TO_ENTER_INSTANCE);
}

static void (*const moves[TODO_COUNT])(struct reference *, struct mark *) = {
    [TO_ENTER] = enter,
    [TO_ENTER_INSTANCE] = enter_instance,
    [TO_START_AGAIN] = start_again,
    [TO_START_MORE] = start_more,
    [TO_PROVE] = prove,
    [TO_LEAVE] = leave,
};

/* ---- what must always be true ---- */

static void check(struct reference *r)
{
    uint32_t queued = 0, at_work = 0;

    assert(r->next_n - 1 == r->gone + r->mark_count);
    for (uint32_t i = 0; i < r->mark_count; i++) {
        struct mark *m = r->marks[i];
        m->children = 0;
        queued += m->on_agenda;
        at_work += shares_at_work(m);
        assert(i == 0 || r->marks[i - 1]->n < m->n);
        assert(m->on_agenda || m->wait != WAIT_MOVE);
    }
    for (uint32_t i = 0; i < r->mark_count; i++)
        if (r->marks[i]->body)
            r->marks[i]->body->children++;
    for (uint32_t i = 0; i < r->mark_count; i++) {
        const struct mark *m = r->marks[i];
        assert(m->live == m->children);
        assert((m->wait == WAIT_AGENTS) == (m->share_count > 0));
        assert(m->wait != WAIT_LOOP || m->live == m->started - m->done);
        /* No instance without its body: a body that is gone would not be in a loop. */
        assert(!m->body || m->body->wait == WAIT_LOOP);
    }
    assert(queued == r->agenda_count);
    assert(at_work == r->at_work && at_work <= r->at_work_max);
    if (has_ended(r))
        assert(r->mark_count == 0 && r->agenda_count == 0);
}

/* ---- the agenda ---- */

static void drain(struct reference *r)
{
    bool somebody_waits = r->in_line > 0; /* room that was made is theirs, when all has moved */

    r->moves = 0;
    check(r);
    while (r->status == REFERENCE_RUNNING && !r->loop_incident && r->agenda_count) {
        struct mark *m = r->agenda[0];
        if (r->moves == r->moves_max) {
            r->loop_incident = true;
            r->incident_node = m->node;
            trace(r, m->node, WORD_INCIDENT, m->n);
            break;
        }
        take_out(r->agenda, &r->agenda_count, m);
        m->on_agenda = false;
        moves[m->todo](r, m);
        r->moves++;
        arena_reset(r->scratch);
        check(r);
        if (!somebody_waits)
            begin_shares(r);
    }
    begin_shares(r);
    judge(r);
    arena_reset(r->scratch);
    check(r);
}

/* ---- re-opening ---- */

/* The flow by which a step's tokens come to another. */
static uint16_t flow_between(const struct graph *g, uint16_t from, uint16_t to)
{
    const struct graph_node *entry = &g->nodes[g->steps[to].entry];

    for (uint16_t i = 0; i < entry->in_count; i++)
        if (g->flows[entry->in[i]].source == g->steps[from].node)
            return entry->in[i];
    assert(!"a step is reached from each step that it comes after");
    return GRAPH_NONE;
}

static bool yet_to_leave(const struct reference *r, uint16_t step)
{
    for (uint32_t i = 0; i < r->mark_count; i++)
        if (r->marks[i]->node == r->graph->steps[step].node && r->marks[i]->todo == TO_LEAVE &&
            (r->marks[i]->wait == WAIT_MOVE || r->marks[i]->wait == WAIT_INCIDENT))
            return true;
    return false;
}

static void reopen_mark(struct reference *r, uint16_t step, uint16_t via)
{
    struct mark *m = make_mark(r, r->graph->steps[step].entry, via, NULL, TO_ENTER);

    trace(r, r->graph->steps[step].node, WORD_REOPENED, m->n);
}

static bool is_done(const struct reference *r, uint16_t step)
{
    return r->records[step].status == REFERENCE_STEP_COMPLETED ||
           r->records[step].status == REFERENCE_STEP_SKIPPED;
}

static void reopen(struct reference *r, uint16_t step, bool is_retry)
{
    const struct graph *g = r->graph;
    bool *in = downstream(r, step);

    for (uint16_t s = 0; has_ended(r) && s < g->step_count; s++)
        in[s] |= !is_done(r, s);
    for (uint32_t i = 0; i < r->mark_count;) {
        struct mark *m = r->marks[i];
        uint16_t of = node_of(r, m)->step;
        if (of == GRAPH_NONE || !in[of]) {
            i++;
            continue;
        }
        trace(r, m->node, WORD_CANCELLED, m->n);
        remove_mark(r, m);
    }
    uint32_t attempt = is_retry ? r->records[step].attempt + 1 : 0;
    for (uint16_t s = 0; s < g->step_count; s++)
        if (in[s])
            r->records[s] = (struct record){ REFERENCE_STEP_PENDING, 0, 1 };
    if (is_retry)
        r->records[step] = (struct record){ REFERENCE_STEP_PENDING, attempt, attempt };
    if (has_ended(r))
        r->status = REFERENCE_RUNNING;
    r->result = NULL;
    r->stalled_incident = false;

    for (uint16_t s = 0; s < g->step_count; s++) {
        if (!in[s])
            continue;
        if (g->steps[s].after_count == 0)
            reopen_mark(r, s, GRAPH_NONE);
        for (size_t i = 0; i < g->steps[s].after_count; i++) {
            uint16_t before = g->steps[s].after[i];
            if (!in[before] && is_done(r, before) && !yet_to_leave(r, before))
                reopen_mark(r, s, flow_between(g, before, s));
        }
    }
}

/* ---- reports ---- */

/* backoff · factor^(k−1), at most max_backoff. */
static int64_t delay_ms(const struct graph_retry *retry, uint32_t k)
{
    int64_t most = retry->max_backoff_ms > 0 ? retry->max_backoff_ms : INT64_MAX / (1 << 20);
    int64_t delay = retry->backoff_ms;

    for (uint32_t i = 1; i < k && delay > 0 && delay < most; i++)
        delay = delay * retry->factor_milli / 1000;
    return delay < most ? delay : most;
}

/* The mark, and where it is an instance the whole loop. */
static void drop_family(struct reference *r, struct mark *m)
{
    struct mark *body = m->body;

    for (uint32_t i = 0; body && i < r->mark_count;)
        if (r->marks[i]->body == body)
            remove_mark(r, r->marks[i]);
        else
            i++;
    remove_mark(r, body ? body : m);
}

static void fail_in_silence(struct reference *r, struct mark *m)
{
    step_is(r, m, REFERENCE_STEP_FAILED);
    drop_family(r, m);
    r->failing = true;
}

static void fail_by_draining(struct reference *r, struct mark *m)
{
    trace(r, m->node, WORD_GAVE_UP, m->n);
    fail_in_silence(r, m);
}

static void fail_by_stopping(struct reference *r, struct mark *m)
{
    step_is(r, m, REFERENCE_STEP_FAILED);
    drop_all(r, true);
    end(r, REFERENCE_FAILED);
}

static void fail_by_incident(struct reference *r, struct mark *m)
{
    raise_incident(r, m, TO_START_AGAIN);
}

static void (*const failures[ON_FAIL_COUNT])(struct reference *, struct mark *) = {
    [ON_FAIL_DRAIN] = fail_by_draining,
    [ON_FAIL_STOP] = fail_by_stopping,
    [ON_FAIL_INCIDENT] = fail_by_incident,
};

/* Whether the step that is to be tried again, should this one fail for good, may be. */
static bool may_trigger(struct reference *r, const struct mark *m, uint16_t target)
{
    if (r->graph->kind == GRAPH_NODES || target == GRAPH_NONE || r->failing)
        return false;
    const struct graph_work *work = r->graph->nodes[r->graph->steps[target].node].work;
    int64_t most = work ? work->retry.max_attempts : 1;
    return r->records[target].attempt < most && downstream(r, target)[node_of(r, m)->step];
}

static void attempt_failed(struct reference *r, struct mark *m)
{
    const struct graph_work *work = node_of(r, m)->work;
    uint32_t counted = m->attempt - m->spared;

    trace(r, m->node, WORD_FAILED, m->n);
    if (counted < work->retry.max_attempts) {
        int64_t delay = delay_ms(&work->retry, counted);
        if (delay > 0) {
            rest(m, WAIT_DELAY);
            m->due_ms = r->now_ms + delay;
        } else {
            put_on_agenda(r, m, TO_START_AGAIN);
        }
    } else if (may_trigger(r, m, work->retry_step)) {
        reopen(r, work->retry_step, true);
    } else {
        failures[r->graph->on_fail](r, m);
    }
}

static void attempt_lost(struct reference *r, struct mark *m)
{
    if (m->losses == LOSSES_UNCOUNTED) {
        attempt_failed(r, m);
        return;
    }
    m->losses++;
    m->spared++;
    put_on_agenda(r, m, TO_START_AGAIN);
}

static void attempt_completed(struct reference *r, struct mark *m, const struct json *outputs)
{
    const struct feel *fails_when = node_of(r, m)->work->fails_when;
    const struct graph_step *step = step_of(r, m);
    const struct json *fails = NULL;

    if (!json_is(outputs, JSON_OBJECT))
        outputs = NULL;
    if (!m->body)
        set_variables(r, &r->vars, outputs);
    if (fails_when && !evaluate(r, m, outputs, fails_when, &fails)) {
        raise_incident(r, m, TO_START_AGAIN);
    } else if (is_true(fails)) {
        attempt_failed(r, m);
    } else {
        struct json *copy = ARENA_NEW(r->arena, struct json);
        *copy = outputs ? json_copy(r->arena, outputs) : json_object();
        m->reported = copy;
        if (step && step->evidence_count)
            put_on_agenda(r, m, TO_PROVE);
        else
            work_proved(r, m);
    }
}

static struct mark *mark_find(const struct reference *r, uint32_t n)
{
    for (uint32_t i = 0; i < r->mark_count; i++)
        if (r->marks[i]->n == n)
            return r->marks[i];
    return NULL;
}

static void report(struct reference *r, struct mark *m, enum reference_outcome outcome,
                   const struct json *outputs)
{
    m->due_ms = INT64_MAX;
    drop_shares(r, m);
    switch (outcome) {
    case OUTCOME_OK: attempt_completed(r, m, outputs); break;
    case OUTCOME_LOST: attempt_lost(r, m); break;
    default: attempt_failed(r, m); break;
    }
    drain(r);
}

/* What nobody has decided on yet may be reported anew, by whoever reports. */
static bool may_report_anew(const struct reference *r, const struct mark *m,
                            enum reference_outcome outcome)
{
    return m->wait == WAIT_APPROVAL && outcome == OUTCOME_OK && !node_of(r, m)->loop &&
           (node_of(r, m)->work->by == WORK_REPORT || node_of(r, m)->work->by == WORK_AGENT) &&
           !by_agents(r, m);
}

bool reference_report(struct reference *r, uint32_t n, enum reference_outcome outcome,
                      const struct json *outputs)
{
    struct mark *m = mark_find(r, n);

    if (!m || (m->wait != WAIT_REPORT && !may_report_anew(r, m, outcome)))
        return false;
    step_is(r, m, REFERENCE_STEP_ACTIVE);
    report(r, m, outcome, outputs);
    return true;
}

/* ---- agents ---- */

static void share_failed(struct reference *r, struct mark *m)
{
    report(r, m, OUTCOME_FAILED, NULL);
}

/* It has ended its turn and recorded nothing. */
static void share_silent(struct reference *r, struct mark *m, struct share *s)
{
    if (s->asks == ASKS_MAX) {
        share_failed(r, m);
        return;
    }
    s->asks++;
    s->losses = 0;
}

static void share_recorded(struct reference *r, struct mark *m, struct share *s,
                           const struct json *outputs)
{
    const struct graph_step *step = step_of(r, m);
    uint32_t beside = at_once(step), done = 0;
    uint32_t all = beside ? beside + 1 : (uint32_t)step->agent_count;

    trace(r, m->node, WORD_RECORDED, m->n);
    s->done = true;
    r->at_work--;
    if (s->number == all) {
        report(r, m, OUTCOME_OK, outputs);
        return;
    }
    for (uint32_t i = 0; i < m->share_count; i++)
        done += m->shares[i].done;
    if (done == m->share_count)
        one_more_share(r, m);
    drain(r);
}

bool reference_share(struct reference *r, uint32_t n, uint32_t number, enum reference_turn how,
                     const struct json *outputs)
{
    struct mark *m = mark_find(r, n);
    struct share *s = m && number && number <= m->share_count ? &m->shares[number - 1] : NULL;

    if (!s || !s->begun || s->done)
        return false;
    switch (how) {
    case TURN_RECORDED: share_recorded(r, m, s, outputs); break;
    case TURN_SAID_FAILED:
        trace(r, m->node, WORD_RECORDED, m->n);
        share_failed(r, m);
        break;
    case TURN_SILENT: share_silent(r, m, s); break;
    case TURN_CRASHED:
        if (s->asks)
            share_silent(r, m, s);
        else
            share_failed(r, m);
        break;
    case TURN_LOST:
        if (++s->losses == CLAIMS_MAX)
            report(r, m, s->asks ? OUTCOME_FAILED : OUTCOME_LOST, NULL);
        break;
    default: share_failed(r, m); break;
    }
    return true;
}

/* ---- evidence ---- */

bool reference_check(struct reference *r, uint32_t n, enum reference_proof proof)
{
    struct mark *m = mark_find(r, n);

    if (!m || m->wait != WAIT_CHECK)
        return false;
    if (proof == PROOF_GOOD) {
        work_proved(r, m);
    } else if (proof == PROOF_LACKING) {
        attempt_failed(r, m);
    } else if (proof == PROOF_ODD || m->losses == LOSSES_UNCOUNTED) {
        raise_incident(r, m, TO_PROVE);
    } else {
        m->losses++;
        put_on_agenda(r, m, TO_PROVE);
    }
    drain(r);
    return true;
}

/* ---- approvals ---- */

static void decision_known(struct reference *r, const char *decision, str variant,
                           const struct json *modifications)
{
    struct json word = json_string(str_from(decision)), chosen = json_string(variant);

    set_variable(r, &r->vars, STR("decision"), &word);
    if (variant.len)
        set_variable(r, &r->vars, STR("selected_variant"), &chosen);
    if (json_is(modifications, JSON_OBJECT) && modifications->len)
        set_variable(r, &r->vars, STR("modifications"), modifications);
}

static void approved(struct reference *r, struct mark *m)
{
    trace(r, m->node, WORD_APPROVED, m->n);
    step_is(r, m, REFERENCE_STEP_COMPLETED);
    put_on_agenda(r, m, TO_LEAVE);
}

/* What has failed by a person's word is nothing that a person has to help with. */
static void (*const refusals[ON_FAIL_COUNT])(struct reference *, struct mark *) = {
    [ON_FAIL_DRAIN] = fail_by_draining,
    [ON_FAIL_STOP] = fail_by_stopping,
    [ON_FAIL_INCIDENT] = fail_in_silence,
};

static void go_back(struct reference *r, struct mark *m, enum reference_word what, uint16_t step)
{
    trace(r, m->node, what, m->n);
    remove_mark(r, m);
    reopen(r, step, false);
}

static void rejected(struct reference *r, struct mark *m)
{
    uint16_t back = approval_of(r, m)->on_reject;

    if (back != GRAPH_NONE && !r->failing) {
        go_back(r, m, WORD_REJECTED, back);
        return;
    }
    trace(r, m->node, WORD_REJECTED, m->n);
    refusals[r->graph->on_fail](r, m);
}

/* GRAPH_NONE: it cannot be done anew. */
static uint16_t rework_target(struct reference *r, struct mark *m, uint16_t step)
{
    uint16_t own = node_of(r, m)->step;

    if (r->failing || r->graph->kind == GRAPH_NODES)
        return GRAPH_NONE;
    if (step == GRAPH_NONE)
        return own;
    return step < r->graph->step_count && downstream(r, step)[own] ? step : GRAPH_NONE;
}

bool reference_decide(struct reference *r, uint32_t n, const struct reference_decision *d)
{
    struct mark *m = mark_find(r, n);
    uint16_t back = GRAPH_NONE;

    if (!m || m->wait != WAIT_APPROVAL)
        return false;
    if (d->what == DECISION_REWORK) {
        back = rework_target(r, m, d->step);
        if (back == GRAPH_NONE)
            return false;
    }
    decision_known(r, reference_decisions[d->what], d->variant, d->modifications);
    switch (d->what) {
    case DECISION_APPROVE: approved(r, m); break;
    case DECISION_REJECT: rejected(r, m); break;
    default: go_back(r, m, WORD_REWORKED, back); break;
    }
    drain(r);
    return true;
}

/* Of variants the first. */
static void decided_by_time(struct reference *r, struct mark *m)
{
    bool good = str_eq(approval_of(r, m)->fallback, STR("approve"));
    struct reference_decision d = { .what = good ? DECISION_APPROVE : DECISION_REJECT };

    if (good && m->options)
        d.variant = json_text(&m->options->items[0]);
    reference_decide(r, m->n, &d);
}

/* ---- the rest of what comes from outside ---- */

static void free_scratch(void *scratch)
{
    arena_free(scratch);
}

struct reference *reference_new(struct arena *a, const struct graph *g,
                                const struct json *variables, int64_t now_ms)
{
    struct reference *r = ARENA_NEW(a, struct reference);

    r->arena = a;
    r->scratch = arena_new();
    arena_on_release(a, free_scratch, r->scratch);
    r->graph = g;
    r->now_ms = now_ms;
    r->next_n = 1;
    r->moves_max = MOVES_MAX;
    r->at_work_max = UINT32_MAX;
    r->vars = json_object();
    set_variables(r, &r->vars, variables);
    r->records = ARENA_ARRAY(a, struct record, g->step_count);
    for (uint16_t s = 0; s < g->step_count; s++)
        r->records[s] = (struct record){ REFERENCE_STEP_PENDING, 0, 1 };
    return r;
}

void reference_agents(struct reference *r, const str *names, size_t count, uint32_t at_once_most)
{
    r->agents = names;
    r->agent_count = count;
    r->at_work_max = at_once_most;
}

void reference_moves_max(struct reference *r, uint32_t most)
{
    r->moves_max = most;
}

bool reference_start(struct reference *r)
{
    if (r->status != REFERENCE_NEW)
        return false;
    r->status = REFERENCE_RUNNING;
    make_mark(r, r->graph->start, GRAPH_NONE, NULL, TO_ENTER);
    drain(r);
    return true;
}

/* What a person says of a result is believed before what was reported. */
static void mend_reported(struct reference *r, struct mark *m, const struct json *variables)
{
    struct json result = m->reported ? json_copy(r->arena, m->reported) : json_object();
    struct json *copy = ARENA_NEW(r->arena, struct json);

    for (uint32_t i = 0; json_is(variables, JSON_OBJECT) && i < variables->len; i++)
        if (json_find(&result, json_name(&variables->members[i])))
            set_variable(r, &result, json_name(&variables->members[i]),
                         &variables->members[i].value);
    *copy = result;
    m->reported = copy;
}

bool reference_retry(struct reference *r, uint32_t n, const struct json *variables)
{
    struct mark *m = n ? mark_find(r, n) : NULL;

    if (n ? !m || m->wait != WAIT_INCIDENT : !r->loop_incident && !r->stalled_incident)
        return false;
    set_variables(r, &r->vars, variables);
    if (m) {
        if (m->todo == TO_PROVE)
            mend_reported(r, m, variables);
        m->spared = m->attempt;
        m->losses = 0;
        put_on_agenda(r, m, m->todo);
    } else {
        r->loop_incident = r->stalled_incident = false;
    }
    drain(r);
    return true;
}

bool reference_reopen(struct reference *r, uint16_t step)
{
    if (r->status == REFERENCE_NEW || r->failing || r->graph->kind == GRAPH_NODES ||
        step >= r->graph->step_count)
        return false;
    reopen(r, step, false);
    drain(r);
    return true;
}

bool reference_pause(struct reference *r)
{
    if (r->status != REFERENCE_RUNNING)
        return false;
    r->status = REFERENCE_PAUSED;
    return true;
}

bool reference_resume(struct reference *r)
{
    if (r->status != REFERENCE_PAUSED)
        return false;
    r->status = REFERENCE_RUNNING;
    drain(r);
    return true;
}

bool reference_cancel(struct reference *r)
{
    if (r->status != REFERENCE_RUNNING && r->status != REFERENCE_PAUSED)
        return false;
    drop_all(r, true);
    end(r, REFERENCE_CANCELLED);
    check(r);
    return true;
}

static struct mark *next_due(const struct reference *r)
{
    struct mark *first = NULL;

    for (uint32_t i = 0; i < r->mark_count; i++)
        if (r->marks[i]->due_ms < (first ? first->due_ms : INT64_MAX))
            first = r->marks[i];
    return first;
}

void reference_advance(struct reference *r, int64_t ms)
{
    r->now_ms += ms;
    for (struct mark *m; (m = next_due(r)) && m->due_ms <= r->now_ms;) {
        if (m->wait == WAIT_DELAY) {
            put_on_agenda(r, m, TO_START_AGAIN);
            drain(r);
        } else if (m->wait == WAIT_APPROVAL) {
            decided_by_time(r, m);
        } else {
            report(r, m, OUTCOME_TIMEOUT, NULL);
        }
    }
}

/* ---- what can be asked ---- */

enum reference_status reference_status(const struct reference *r)
{
    return r->status;
}

bool reference_failing(const struct reference *r)
{
    return r->failing;
}

bool reference_stalled(const struct reference *r)
{
    return r->stalled;
}

int64_t reference_due_ms(const struct reference *r)
{
    const struct mark *m = next_due(r);

    return m ? m->due_ms : INT64_MAX;
}

int64_t reference_now_ms(const struct reference *r)
{
    return r->now_ms;
}

const struct reference_waiting *reference_waiting(const struct reference *r, struct arena *a,
                                                  size_t *count)
{
    struct reference_waiting *all = ARENA_ARRAY(a, struct reference_waiting, r->mark_count + 1);

    *count = 0;
    if (r->loop_incident || r->stalled_incident)
        all[(*count)++] = (struct reference_waiting){
            .wait = WAIT_INCIDENT,
            .node = r->incident_node,
            .index = -1,
        };
    for (uint32_t i = 0; i < r->mark_count; i++) {
        const struct mark *m = r->marks[i];
        all[(*count)++] = (struct reference_waiting){
            .wait = m->wait,
            .node = m->node,
            .n = m->n,
            .scope = m->body ? m->body->n : 0,
            .index = m->body ? (int64_t)m->index : -1,
            .attempt = m->attempt,
            .at_work = shares_at_work(m),
        };
    }
    return all;
}

const struct reference_share *reference_shares(const struct reference *r, struct arena *a,
                                               uint32_t n, size_t *count)
{
    const struct mark *m = mark_find(r, n);
    uint32_t most = m ? m->share_count : 0;
    struct reference_share *all = ARENA_ARRAY(a, struct reference_share, most);

    *count = most;
    for (uint32_t i = 0; i < most; i++)
        all[i] = (struct reference_share){ .number = m->shares[i].number,
                                           .at_work = m->shares[i].begun && !m->shares[i].done,
                                           .done = m->shares[i].done,
                                           .asks = m->shares[i].asks };
    return all;
}

const struct json *reference_variables(const struct reference *r)
{
    return &r->vars;
}

const struct json *reference_result(const struct reference *r)
{
    return r->result;
}

enum reference_step reference_step(const struct reference *r, uint16_t step)
{
    return r->records[step].status;
}

const struct reference_line *reference_trace(const struct reference *r, size_t *count)
{
    *count = r->line_count;
    return r->lines;
}

str reference_trace_text(const struct reference *r, struct arena *a, size_t from)
{
    struct buf out = buf_in(a);

    for (size_t i = from; i < r->line_count; i++)
        buf_printf(&out, STR_FMT " %s %u\n", STR_ARG(r->graph->nodes[r->lines[i].node].id),
                   reference_words[r->lines[i].what], r->lines[i].n);
    return buf_str(&out);
}
