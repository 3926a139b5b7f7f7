/* flow_random.h: workflows at random, and what happens to them at random.
 *
 * A definition follows from its seed: steps of all kinds, or nodes and flows that are nested as they should be,
 * with circles, and now and then with flows too many, so that joins starve and tokens multiply. An event
 * follows from what is waiting. Both are texts and numbers, so that they can be given to whatever moves
 * executions. Does not know what is right: see flow_reference.h. */
#ifndef SIM_FLOW_RANDOM_H
#define SIM_FLOW_RANDOM_H

#include "json_help.h"
#include "sim/flow_reference.h"

enum { FLOW_RANDOM_AGENTS = 3, FLOW_RANDOM_AT_ONCE = 3 };

/* Those that definitions name, and somebody knows. So many of them may be at work at once. */
extern const str flow_random_agents[FLOW_RANDOM_AGENTS];

/* A definition as JSON; always one that compiles. */
str flow_random_definition(struct arena *a, uint64_t seed);

/* Variables to start it with, as JSON; some that it reads may be missing. */
str flow_random_variables(struct arena *a, struct random *random);

enum flow_event_kind {
    FLOW_NOTHING, /* it has ended, or waits for nothing that may happen */
    FLOW_REPORT,
    FLOW_TURN,   /* of an agent ends */
    FLOW_CHECK,  /* a runner has looked */
    FLOW_DECIDE, /* a person has decided */
    FLOW_RETRY,
    FLOW_REOPEN,
    FLOW_PAUSE,
    FLOW_RESUME,
    FLOW_CANCEL,
    FLOW_ADVANCE,
    FLOW_EVENT_KINDS
};

struct flow_event {
    enum flow_event_kind kind;
    struct reference_waiting at; /* of those up to a retry; n 0: the execution's incident */
    enum reference_outcome outcome;
    uint32_t number; /* of the agent's share */
    enum reference_turn turn;
    enum reference_proof proof;
    struct reference_decision decision; /* its modifications are values */
    str values;    /* what is reported, mended, or modified: an object as JSON */
    uint16_t step; /* that is re-opened */
    int64_t ms;    /* that pass */
};

/* What happens next. */
struct flow_event flow_random_event(struct arena *a, struct random *random, const struct graph *g,
                                    const struct reference *r);

/* What happens where all that can help does: reports are good, incidents are mended, delays pass. */
struct flow_event flow_kind_event(struct arena *a, struct random *random, const struct graph *g,
                                  const struct reference *r);

/* Lets it happen to the reference; false where that was refused. */
bool flow_event_apply(struct arena *a, struct reference *r, const struct flow_event *e);

/* One line, for messages. */
str flow_event_shown(struct arena *a, const struct graph *g, const struct flow_event *e);

#endif
