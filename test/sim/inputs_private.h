/* inputs_private.h: what the files of inputs.h share. */
#ifndef SIM_INPUTS_PRIVATE_H
#define SIM_INPUTS_PRIVATE_H

#include "sim/inputs.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline bool chance(struct inputs *in, uint32_t one_in)
{
    return random_below(in->random, one_in) == 0;
}

static inline struct json text(const char *z)
{
    return json_string(str_from(z));
}

static inline bool op_is_of(const struct inputs *in, const char *noun)
{
    return str_starts(str_from(in->op->name), str_from(noun));
}

static inline bool op_is(const struct inputs *in, const char *name)
{
    return str_eq(str_from(in->op->name), str_from(name));
}

/* ---- inputs_team.c ---- */

/* What the input that is to be made is about. */
void inputs_team_draw(struct inputs *in);

/* A value for a property of that name; false: it is not about teams. */
bool inputs_team_refer(struct inputs *in, str name, struct json *out);

/* ---- inputs_flow.c ---- */

/* The same for operations of workflows. */
bool inputs_flow_refer(struct inputs *in, str name, struct json *out);

#endif
