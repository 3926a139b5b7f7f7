/* reference_help.h: the reference by hand, for tests of it: what is done to it, and what it then says. */
#ifndef TEST_REFERENCE_HELP_H
#define TEST_REFERENCE_HELP_H

#include "json_help.h"
#include "sim/flow_reference.h"

static const str known_agents[] = { { "ann", 3 }, { "bob", 3 }, { "cid", 3 } };
static uint32_t agents_at_once = 100;

/* One execution, and how much of its trace has been looked at. */
struct play {
    struct arena *arena;
    const struct graph *graph;
    struct reference *r;
    size_t seen;
};

static inline struct play play_with(const char *definition, const char *variables)
{
    struct arena *a = check_arena();
    struct play p = { .arena = a };
    struct json vars = json_of(a, variables);

    CHECK_OK(graph_compile(a, json_parsed(a, quotes_double(a, definition)), &p.graph));
    p.r = reference_new(a, p.graph, &vars, 0);
    reference_agents(p.r, known_agents, 3, agents_at_once);
    CHECK(reference_start(p.r));
    return p;
}

static inline struct play play(const char *definition)
{
    return play_with(definition, "{}");
}

/* What has been traced since this was asked last: "a entered 1, a started 1". */
static inline str traced(struct play *p)
{
    str lines = reference_trace_text(p->r, p->arena, p->seen);
    struct buf out = buf_in(p->arena);

    reference_trace(p->r, &p->seen);
    for (size_t i = 0; i + 1 < lines.len; i++)
        if (lines.at[i] == '\n')
            buf_add(&out, STR(", "));
        else
            buf_byte(&out, lines.at[i]);
    return buf_str(&out);
}

#define TRACED(p, expected) CHECK_STR(traced(p), expected)
#define STATUS(p) str_from(reference_status_names[reference_status((p)->r)])
#define VARIABLES(p) json_shown((p)->arena, reference_variables((p)->r))

/* The number of the mark that waits so at a node, as an instance or not (-1); 0: there is none. */
static inline uint32_t waits(const struct play *p, enum reference_wait wait, const char *node,
                             int index)
{
    size_t count;
    const struct reference_waiting *all = reference_waiting(p->r, p->arena, &count);

    for (size_t i = 0; i < count; i++)
        if (all[i].wait == wait && all[i].index == index &&
            str_eq(p->graph->nodes[all[i].node].id, str_from(node)))
            return all[i].n;
    return 0;
}

static inline void report(struct play *p, const char *node, int index,
                          enum reference_outcome outcome, const char *outputs)
{
    struct json values = json_of(p->arena, outputs);
    uint32_t n = waits(p, WAIT_REPORT, node, index);

    CHECK(n > 0);
    CHECK(reference_report(p->r, n, outcome, &values));
}

static inline void done(struct play *p, const char *node)
{
    report(p, node, -1, OUTCOME_OK, "{}");
}

static inline void failed(struct play *p, const char *node)
{
    report(p, node, -1, OUTCOME_FAILED, "{}");
}

static inline bool reopen(struct play *p, const char *step)
{
    return reference_reopen(p->r, graph_step_find(p->graph, str_from(step)));
}

#endif
