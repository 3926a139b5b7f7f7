/* generate.h: random values that fit a JSON Schema.
 *
 * It reads what schemas of operations and of our own documents use: types, enum, const, required,
 * properties, items, ranges, lengths, formats, local $ref, and oneOf or anyOf as a choice. What a
 * property means is not its business: whoever knows supplies values by name. */
#ifndef SIM_GENERATE_H
#define SIM_GENERATE_H

#include "json_help.h"

struct generator {
    struct arena *arena;
    struct random *random;
    const struct json *root; /* what a $ref is looked up in */

    /* A value for the property of that name; false: any that fits will do. */
    bool (*refer)(void *self, str name, const struct json *schema, struct json *out);
    void *self;
};

struct json generate(struct generator *g, const struct json *schema);

/* Changes one thing in an object: a member is gone, one more, of another kind, or far too large. */
void generate_break(struct generator *g, struct json *object);

#endif
