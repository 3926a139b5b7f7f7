/* describe.h: the table of operations, written out for those who build on it.
 *
 * Everything is derived: what is not in the table cannot be promised here. */
#ifndef OPS_DESCRIBE_H
#define OPS_DESCRIBE_H

#include "ops/op.h"

/* What an operation takes, taken apart: fields of its input and where each of them travels. */
struct described {
    const struct op *op;
    const struct json *input, *output;
    str noun, verb;       /* of "state.patch" */
    str method, path;     /* of its route; empty: it has none */
    bool in_query;        /* fields that are not in the path are in the query, not in a body */
    bool answers_nothing; /* 204 */
};

/* The schemas are parsed into the arena. */
struct described op_described(struct arena *a, const struct op *op);

/* Whether the route captures a field of that name; whether the input requires it. */
bool field_in_path(const struct described *d, str name);
bool field_required(const struct described *d, str name);

/* docs/operations.md. */
str op_markdown(struct arena *a, const struct op_table *t);

#endif
