/* inputs.h: what a client of the swarm asks for.
 *
 * Inputs are made from the operation's schema. Where a property names something, what it gets is
 * mostly something that is there, sometimes something that was there, and now and then nonsense:
 * the words are known here, which operations use them is not. */
#ifndef SIM_INPUTS_H
#define SIM_INPUTS_H

#include "sim/generate.h"
#include "sim/model.h"

struct inputs {
    struct arena *arena;
    struct random *random;
    struct model *model;
    struct generator generator;

    /* Of the input that is being made. */
    const struct op *op;
    const struct json *properties; /* of its schema */
    struct model_state *state;
    struct model_schema *schema;
    const struct model_run *run; /* NULL: there is none */
    bool starts;                 /* it asks for a new session */
};

void inputs_init(struct inputs *in, struct arena *a, struct random *r, struct model *m);

/* An input; `broken`: of which one thing was changed, so that it hardly fits. */
struct json inputs_draw(struct inputs *in, const struct op *op, bool broken);

/* Who asks: somebody who may, unless `anybody`. A session is bound to a state that the input
 * names, more often than not, and may write only some of it. */
const struct actor *inputs_actor(struct inputs *in, const struct op *op, const struct json *input,
                                 bool anybody);

/* A document that fits a schema. */
struct json inputs_document(struct inputs *in, const struct model_schema *schema);

/* A state that is there, or NULL. */
struct model_state *inputs_state(struct inputs *in);

#endif
