/* projection.h: what of an operation's answer is a tool's: a choice of members. Private to mcp/.
 *
 * An agent pays for every word that it is told. Works on the text as it was printed, without a tree:
 * most answers are a document that passes through. */
#ifndef MCP_PROJECTION_H
#define MCP_PROJECTION_H

#include "json/json.h"

struct projection {
    str name;
    bool nullable;                    /* null says nothing here, and is left out */
    const struct projection *members; /* of it, or of each of its elements; NULL: all of it */
    size_t count;
};

/* What `names` chooses (name → true, or an object of the same kind) of what `schema` describes. */
size_t projection_make(struct arena *a, const struct json *names, const struct json *schema,
                       const struct projection **out);

/* The object `printed` with these members alone. */
void projection_write(struct buf *out, str printed, const struct projection *tells, size_t count);

/* The text of a member of an object; empty: there is none. */
str projection_find(str printed, str name);

#endif
