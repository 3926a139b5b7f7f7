/* graph_text.h: a workflow's graph as lines for people.
 *
 * Nodes stand one below the other, each behind all that lead to it, and lanes at their left say what leads
 * where, as version control shows its history. Pure: from the drawing that the server gives (nodes, edges)
 * to text. Does not know what has become of an execution. */
#ifndef CLI_GRAPH_TEXT_H
#define CLI_GRAPH_TEXT_H

#include "json/json.h"

struct graph_style {
    size_t width; /* of the terminal; 0: as wide as it gets */
    bool unicode, coloured;
};

/* A line or more for each node. Where there is no room for the lanes, each node says what it comes after
 * instead. What goes back in a circle is said below the node that it goes back from. */
void graph_text(struct buf *out, const struct json *drawing, const struct graph_style *style);

#endif
