/* call.h: what commands that are written by hand do with more than one call.
 *
 * A command that goes on for long waits for a server that is away for a while, and a list
 * comes in pages. Knows no operation. */
#ifndef CLI_CALL_H
#define CLI_CALL_H

#include "cli/cli.h"
#include "client/caller.h"

/* Calls until there is an answer: once a server has been reached, one that is away is waited for,
 * and people are told. The arena is reset for each try: nothing of the call may be in it. */
err call_until_answered(struct cli *c, struct caller *k, struct arena *a, const struct call *call,
                        const struct json **out);

/* All pages of a list; `list` is the member that holds it. At most `most` of them, and *cut says
 * that there are more. */
err call_pages(struct caller *k, struct arena *a, const char *pattern,
               const struct url_param *filter, const char *list, size_t most, struct json *out,
               bool *cut);

#endif
