/* feel.h: FEEL, the expression language of conditions and prompts in workflows.
 *
 * An expression is compiled once and evaluated over any number of variables. What cannot be
 * computed (a name that is not there, a text plus a number, a division by zero) is null, with a
 * reason that a person can act on; only true takes a flow. Evaluating is bounded in steps and in the
 * size of its result, and knows no clock: who asks says what time it is.
 *
 * The language is described in docs/feel.md. Does not know what a workflow is. */
#ifndef FLOW_FEEL_H
#define FLOW_FEEL_H

#include "json/json.h"

#define FEEL_TEXT_MAX 4096          /* bytes of an expression                            */
#define FEEL_DEPTH_MAX 32           /* expressions inside each other                     */
#define FEEL_STEPS_MAX 100000       /* of one evaluation                                 */
#define FEEL_RESULT_MAX (64u << 10) /* bytes of a result as JSON, and of any text in between */

/* Compiled; lives in the arena that it was compiled in, does not change, and may be evaluated by
 * several threads. */
struct feel;

/* INVALID, with the column, what was expected and what was found. A '=' in front, as BPMN writes it,
 * is skipped. What stands in ${…} is as Camunda 7 writes conditions: == && || ! and '…', and of FEEL
 * variables, members, numbers, sums, products and comparisons alone. */
err feel_compile(struct arena *a, str text, const struct feel **out);

/* Variables: an object or NULL; what is not among them is looked for further out. */
struct feel_scope {
    const struct json *vars;
    const struct feel_scope *outer;
};

struct feel_result {
    const struct json *value; /* may share with the variables and the expression; never NULL */
    str reason;               /* why it is null, with the column; else empty */
};

/* LIMIT when the steps or the bytes of the result are used up. `scope` may be NULL. */
err feel_eval(struct arena *a, const struct feel *f, const struct feel_scope *scope, int64_t now_ms,
              struct feel_result *out);

/* The same for who evaluates several under one budget: takes off `steps` what it took. */
err feel_eval_within(struct arena *a, const struct feel *f, const struct feel_scope *scope,
                     int64_t now_ms, uint32_t *steps, struct feel_result *out);

static inline bool feel_true(const struct feel_result *r)
{
    return json_is(r->value, JSON_BOOL) && r->value->len;
}

/* The names of variables that it may read, each once, in the order of their first mention; gives how
 * many. Not those that for, some, every, a filter's `item` or a context's own entries bind. A name
 * inside a filter is listed, since whether it is the item's shows only when it is evaluated. */
size_t feel_names(const struct feel *f, const str **names);

/* What it was compiled from. */
str feel_text(const struct feel *f);

#endif
