/* graph.h: a workflow's definition as one graph of nodes and flows.
 *
 * Whatever a definition is written as (phases, steps, nodes and flows), it becomes this, and the rules that
 * move an execution know nothing else. A graph is immutable; it lives in the arena that it was compiled in,
 * together with the parsed definition, and may be shared by threads. Nodes and flows are named by their
 * numbers here and by their ids in rows, because another day's compiler may number them otherwise.
 *
 * Does not know executions, rows or time: it turns a text into a graph and stops. */
#ifndef FLOW_GRAPH_H
#define FLOW_GRAPH_H

#include "flow/feel.h"
#include "flow/template.h"
#include "json/write.h"

enum {
    GRAPH_NODES_MAX = 2000,
    GRAPH_FLOWS_MAX = 5000,
    GRAPH_TEXT_MAX = 1 << 20,
    GRAPH_NONE = UINT16_MAX, /* no node, flow or step */
};

enum graph_kind {
    GRAPH_STEPS,      /* our own: steps with what they come after */
    GRAPH_NODES,      /* our own: nodes and flows, where there may be circles */
    GRAPH_PHASES,     /* document 001's phases */
    GRAPH_GENERATION, /* document 002's generation_steps */
    GRAPH_PLANNING,   /* document 002's planning_phases */
    GRAPH_KINDS
};

enum node_kind {
    NODE_START,
    NODE_END,
    NODE_PASS,
    NODE_FEEL,
    NODE_XOR,
    NODE_AND,
    NODE_WORK,
    NODE_KINDS
};

/* Who does the work of a node. */
enum work_by {
    WORK_REPORT,  /* whoever reports that it is done */
    WORK_AGENT,   /* agents that are started for it; where nobody knows one, as by report */
    WORK_JOB,     /* a worker that claims jobs of its type */
    WORK_COMMAND, /* a runner, by a command of the definition */
    WORK_BY_COUNT
};

/* What becomes of an execution when work has failed for good. */
enum graph_on_fail {
    ON_FAIL_DRAIN,    /* what runs may finish, nothing starts, then it has failed */
    ON_FAIL_STOP,     /* all is cancelled, and it has failed */
    ON_FAIL_INCIDENT, /* it rests until a person has helped */
    ON_FAIL_COUNT
};

/* name = value: what a feel node sets, and what work is given. */
struct graph_setting {
    str name;
    const struct feel *value;
};
struct graph_settings {
    const struct graph_setting *at;
    size_t count;
};

/* A node is done once for each item of a list. */
struct graph_loop {
    const struct feel *items;
    str as;           /* the variable that holds the item */
    uint32_t at_once; /* how many at a time; 0: all */
};

struct graph_retry {
    int64_t max_attempts; /* 1: none but the first */
    int64_t backoff_ms;   /* before the second attempt */
    int64_t factor_milli; /* 2000: twice as long before each further one */
    int64_t max_backoff_ms;
};

struct graph_work {
    enum work_by by;
    str job_type;    /* of a job */
    const str *argv; /* of a command: what is executed, as it stands there */
    size_t argv_count;
    bool has_with; /* only what `with` names is given, else all variables */
    struct graph_settings with;
    const str *outputs; /* names that its result is to have */
    size_t output_count;
    int64_t timeout_ms; /* of one attempt; 0: none */
    struct graph_retry retry;
    const struct feel *fails_when; /* of a result: true, and the attempt has failed; NULL: never */
    uint16_t retry_step;           /* that is re-opened when this has failed for good; GRAPH_NONE */
};

/* What only a person decides when a step's work is done. */
struct graph_approval {
    bool variant;    /* one of several is to be chosen */
    bool attended;   /* its person may answer through their agent's client */
    const str *show; /* outputs that are to be judged; none: all of the step */
    size_t show_count;
    const struct feel *options; /* the variants, a list; NULL: it does not say */
    int64_t deadline_ms;        /* 0: none */
    str fallback;       /* "approve", "reject", or empty: it waits on when nobody has decided */
    uint16_t on_reject; /* the step that is done anew; GRAPH_NONE: the execution fails */
};

enum evidence_kind { EVIDENCE_COMMAND, EVIDENCE_HASH, EVIDENCE_TESTS };

/* What a runner must have seen before a step counts as done. */
struct graph_evidence {
    enum evidence_kind kind;
    const str *argv; /* of a command, as it stands there */
    size_t argv_count;
    int64_t exit;
    const struct feel *file;   /* of a file, or of a report of tests (JUnit): its path */
    const struct feel *sha256; /* NULL: that it is there is enough */
};

struct graph_flow {
    str id;
    uint16_t source, target;
    const struct feel *when; /* NULL: always */
};

struct graph_node {
    str id;
    str title; /* what a person calls it; often empty: its step has one, or it has none */
    enum node_kind kind;
    const uint16_t *in, *out; /* flows, in the order of the definition */
    uint16_t in_count, out_count;
    uint16_t fallback;              /* the flow that is taken when no other is; GRAPH_NONE */
    uint16_t step;                  /* that it belongs to; GRAPH_NONE */
    const struct feel *when;        /* not true: it is skipped, and the token passes; NULL: never */
    const struct graph_loop *loop;  /* NULL: it is done once */
    const struct graph_work *work;  /* of NODE_WORK */
    struct graph_settings settings; /* of NODE_FEEL */
};

/* What a person calls a step, in the order of the definition. In the nodes form these are the nodes of
 * kind work and feel, with nothing that they come after. */
struct graph_step {
    str id, title, description;
    uint16_t entry; /* where tokens come in: the join, should it have one, else its node */
    uint16_t node;
    const uint16_t *after; /* steps, in order */
    size_t after_count;
    const str *agents; /* whose work it is */
    size_t agent_count;
    uint32_t parallel_agents;              /* 0: one */
    bool agents_at_once;                   /* several agents, not one after the other */
    const struct template *prompt;         /* NULL: none */
    const struct graph_approval *approval; /* NULL: none */
    const struct graph_evidence *evidence;
    size_t evidence_count;
};

struct graph {
    enum graph_kind kind;
    str name, description; /* as the definition says; empty: it does not */
    str level;             /* of document 002's planning; empty: it is none */
    const struct graph_node *nodes;
    const struct graph_flow *flows;
    const struct graph_step *steps;
    uint16_t node_count, flow_count, step_count;
    uint16_t start;
    enum graph_on_fail on_fail;
    const struct json *input; /* JSON Schema of what an execution is started with; NULL: anything */
    const struct feel *result; /* of a whole execution; NULL: its variables */
    const str *artifacts;      /* outputs that are the whole workflow's, and not their step's */
    size_t artifact_count;
    const struct template
        *context; /* of the ids of executions: see the documents' forms; NULL: none */
    const str *warnings;
    size_t warning_count;
    const uint16_t *nodes_sorted, *flows_sorted,
        *steps_sorted; /* by their ids, for who looks for one */
};

/* Compiles a definition, parsed. UNFIT, with `errors` of pointer, keyword and message, all that are found
 * up to 20: unknown members and ids with what was meant, circles of steps with the way around, texts that
 * are no expressions. The definition must live as long as the arena. */
err graph_compile(struct arena *a, const struct json *definition, const struct graph **out);

/* By id; GRAPH_NONE: there is none. */
uint16_t graph_node_find(const struct graph *g, str id);
uint16_t graph_flow_find(const struct graph *g, str id);
uint16_t graph_step_find(const struct graph *g, str id);

/* The steps that come after a step, and it: one flag for each. */
const bool *graph_downstream(struct arena *a, const struct graph *g, uint16_t step);

extern const char
    *const graph_kind_names[GRAPH_KINDS]; /* "steps", "nodes", "phases", "generation", "planning" */
extern const char *const node_kind_names[NODE_KINDS];
extern const char *const work_by_names[WORK_BY_COUNT];
extern const char *const on_fail_names[ON_FAIL_COUNT];

/* ---- draw.c ---- */

/* nodes (id, kind, title, step, layer, row), edges (id, from, to, label, default, back) and layers (how
 * many), so that whoever draws it needs no graph theory: back edges close circles. */
void graph_draw(struct arena *a, struct json_writer *w, const struct graph *g);

#endif
