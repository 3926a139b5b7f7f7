/* graph_private.h: what the files that read definitions share, from below to above.
 *
 *   walk.c     circles and orders of anything that has numbers and edges
 *   builder.c  mistakes and warnings, members by tables, names, values, durations
 *   work.c     the members that steps and nodes have in common: who does it, how often, with what
 *   steps.c    lists of steps → nodes, flows and steps
 *   nodes.c    nodes and flows as they are written
 *   graph.c    which of the forms it is; what of all is so when it is done
 */
#ifndef FLOW_GRAPH_PRIVATE_H
#define FLOW_GRAPH_PRIVATE_H

#include "flow/graph.h"
#include "json/schema/message.h"

/* ---- walk.c ---- */

/* Edges by where they begin: those of v are edge[first[v]] up to, not including, edge[first[v + 1]]. */
struct edges {
    uint32_t *first;
    uint16_t *to;
    uint16_t count; /* vertices */
};

/* From pairs, in their order; `which` gets for each edge the number of its pair, unless it is NULL. */
struct edges edges_of(struct arena *a, uint16_t count, const uint16_t (*pairs)[2],
                      size_t pair_count, uint32_t **which);

/* Marks edges without which there is no circle, as they are met on a walk in depth that begins at
 * `root` and goes on with what that has not reached. Gives one circle for each of them whose vertices
 * are in none that was given before: its vertices, in their order. */
void edges_walk(struct arena *a, const struct edges *e, uint16_t root, bool *back,
                void (*circle)(void *who, const uint16_t *vertices, size_t count), void *who);

/* Each after all that lead to it; the edges that are marked do not count. `back` may be NULL, where
 * there is no circle. */
uint16_t *edges_order(struct arena *a, const struct edges *e, const bool *back);

/* ---- builder.c ---- */

enum { BUILDER_MISTAKES_MAX = 20, BUILDER_NAME_MAX = 100 };

/* Where something stands in the definition: a member, or an element of a list. */
struct spot {
    const struct spot *outer; /* NULL: it is the definition itself */
    str key;                  /* of a member; its `at` is NULL: it is an element */
    size_t index;
    const char *noun; /* of an element that has a name: "step" */
    str name;
};

static inline struct spot spot_member(const struct spot *outer, str key)
{
    return (struct spot){ .outer = outer, .key = key };
}

static inline struct spot spot_element(const struct spot *outer, size_t index)
{
    return (struct spot){ .outer = outer, .index = index };
}

/* Names and their numbers: those of the definition, so that looking for one is never slow. */
struct name_table {
    const str *names;
    uint16_t *order; /* sorted; of equal ones the first first */
    uint16_t count;
};

struct builder {
    struct arena *arena;
    struct violation mistakes[BUILDER_MISTAKES_MAX];
    size_t mistake_count; /* of all, also those that are not kept */
    uint32_t cells_left;  /* of looking for near names */

    struct graph_node *nodes;
    struct graph_flow *flows;
    struct graph_step *steps;
    uint16_t node_count, flow_count, step_count;
    str warnings[BUILDER_MISTAKES_MAX];
    size_t warning_count;

    enum graph_kind kind;
    int64_t timeout_ms; /* of the definition's defaults */
    struct graph_retry retry;
};

/* There is a mistake at that place: what was expected, what was found, what to do. */
void builder_wrong(struct builder *b, const struct spot *at, const char *keyword,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void builder_warn(struct builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For messages: a value or a name as JSON, cut short; "; did you mean "x"?" or nothing. */
str builder_shown(struct builder *b, const struct json *value);
str builder_named(struct builder *b, str name);
str builder_meant(struct builder *b, str wanted, const str *names, size_t count);

/* A member that an object may have. Members that mean the same have the same slot. */
struct member {
    const char *name;
    unsigned slot;
    unsigned kinds; /* of JSON */
    unsigned forms; /* bits of enum graph_kind: in which it is one; 0: in all */
    unsigned works; /* bits of enum work_form, of those that it says something of; 0: of all */
};

/* What an object's members are: the value and the name that each slot was given by. */
struct members {
    const struct spot *at;
    const struct json **is;
    const char **called;
};

/* Reads them; what is unknown, of another kind or there twice is a mistake and left out. */
void builder_members(struct builder *b, struct members *m, const struct json *object,
                     const struct member *table, size_t count);

/* The place of the member of a slot. */
struct spot builder_spot(const struct members *m, unsigned slot);

/* [A-Za-z0-9_.-]{1,100}, and not only dots. */
bool builder_is_name(str text);

/* A name or a whole number; false, and a mistake, for anything else. `noun`: what it is: "a step's id". */
bool builder_id(struct builder *b, const struct spot *at, const struct json *value,
                const char *noun, str *out);

/* Sorts names; those that are empty are in nobody's way. A name that is there twice is a mistake at its
 * place, which `spot` gives. */
struct name_table builder_names(struct builder *b, const str *names, size_t count, const char *noun,
                                struct spot (*spot)(const void *of, size_t i), const void *of);
uint16_t name_find(const struct name_table *t, str name);

/* By number in the list of words, or -1 and a mistake. */
int builder_word(struct builder *b, const struct spot *at, const struct json *value,
                 const char *const *words, size_t count);

/* "=x" is an expression, everything else itself. NULL after a mistake. */
const struct feel *builder_value(struct builder *b, const struct spot *at,
                                 const struct json *value);

/* The same for what can only be true or not: a text that is no expression is a mistake. */
const struct feel *builder_condition(struct builder *b, const struct spot *at,
                                     const struct json *value);

const struct template *builder_template(struct builder *b, const struct spot *at,
                                        const struct json *value);

/* Milliseconds; false, and a mistake: it is no duration, or longer than a year. */
bool builder_duration(struct builder *b, const struct spot *at, const struct json *value,
                      int64_t *out);

/* A whole number from `least` to `most`. */
bool builder_int(struct builder *b, const struct spot *at, const struct json *value, int64_t least,
                 int64_t most, int64_t *out);

/* Names, each once. */
bool builder_name_list(struct builder *b, const struct spot *at, const struct json *value,
                       const char *noun, const str **out, size_t *count);

/* Room for nodes and flows, when all is counted and within the limits; and one of them. */
void builder_room(struct builder *b, size_t nodes, size_t flows);
struct graph_node *builder_node(struct builder *b, str id, enum node_kind kind);
struct graph_flow *builder_flow(struct builder *b, uint16_t source, uint16_t target);

/* "plan -> code -> plan"; in the middle of a long one some are only counted. */
str builder_circle(struct builder *b, const str *names, const uint16_t *vertices, size_t count);

/* ---- work.c ---- */

enum work_form { FORM_REPORT, FORM_JOB, FORM_RUN, FORM_SET, FORM_NONE, WORK_FORMS };

enum part_slot {
    PART_ID,
    PART_KIND,
    PART_TITLE,
    PART_DESCRIPTION,
    PART_AFTER,
    PART_AGENTS,
    PART_PARALLEL,
    PART_PARALLEL_AGENTS,
    PART_PROMPT,
    PART_OUTPUTS,
    PART_WHEN,
    PART_FOR_EACH,
    PART_AS,
    PART_RETRY,
    PART_RETRY_ENABLED,
    PART_MAX_ATTEMPTS,
    PART_TRIGGERS_RETRY,
    PART_TIMEOUT,
    PART_JOB,
    PART_RUN,
    PART_WITH,
    PART_SET,
    PART_BY,
    PART_FAILS_WHEN,
    PART_APPROVAL,
    PART_APPROVAL_TYPE,
    PART_EVIDENCE,
    PART_STATUS,
    PART_DELIVERABLES,
    PART_CONTEXT_FOR_NEXT,
    PART_SLOTS
};

/* A step or node as it is written. */
struct part {
    struct spot spot;
    struct members members;
    str id; /* empty after a mistake */
    enum work_form form;
    bool retries; /* it may be tried more than once */
};

/* Reads the members of each, and their ids. */
struct part *parts_read(struct builder *b, const struct spot *at, const struct json *list,
                        const char *noun);
struct name_table parts_names(struct builder *b, const struct part *parts, size_t count,
                              const char *noun);

/* Which of the ways to do work it says; more than one is a mistake. FORM_NONE: none. */
enum work_form part_form(struct builder *b, struct part *p);

/* What the members that it has in common say: fills the node's kind, condition, loop, work and settings,
 * and the step. Members that are not of its form are mistakes. */
void part_read(struct builder *b, struct part *p, struct graph_node *node, struct graph_step *step);

/* A definition's defaults; *on_fail is set when they say it. */
void defaults_read(struct builder *b, const struct spot *at, const struct json *value,
                   enum graph_on_fail *on_fail);

/* ---- steps.c, nodes.c ---- */

void steps_compile(struct builder *b, const struct spot *at, const struct json *list);

/* Of planning_phases: the list of the level that is meant, and its name; NULL after a mistake. */
const struct json *planning_list(struct builder *b, const struct spot *at,
                                 const struct json *levels, const struct json *wanted, str *level);

void nodes_compile(struct builder *b, const struct spot *at, const struct json *nodes,
                   const struct spot *flows_at, const struct json *flows);

#endif
