/* suites.h: what only the suites of others, and our own tests, have use for.
 *
 * build/baton-suites is baton with these: main.c adds them to its tables. Nothing of them is in
 * the product. */
#ifndef SUITES_SUITES_H
#define SUITES_SUITES_H

#include "cli/cli.h"

/* ---- fixtures.c ---- */

/* What the conformance suite of MCP expects of a server, for mcp_options. */
struct mcp_served;
extern const struct mcp_served mcp_fixtures;

/* ---- batch.c ---- */

#define BATCH_LINE_MAX (64u << 20)

struct batch;

struct batch *batch_new(void);
void batch_free(struct batch *b);

/* Answers one request, a line without its end, by one line of JSON without its end. A blank line
 * is answered by nothing. The arena is the caller's to reset afterwards. */
void batch_line(struct batch *b, struct arena *a, str line, struct buf *out);

extern const char json_batch_details[];
err json_batch_run(struct cli *c);

#endif
