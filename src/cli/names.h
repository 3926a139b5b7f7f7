/* names.h: what there is on the server, by name or id: for completions, and for "did you mean". */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/call.h"

/* What an argument or a field names, by how it is called: "STATE_ID", "[NAME]", "--agent"; `noun` is
 * what the command is about. NULL: nothing that the server has a list of. */
const char *names_kind(struct arena *a, str noun, str called);

/* Appends the names of all that there is of a kind: texts. As far as the first page goes. */
err names_list(struct caller *k, struct arena *a, const char *kind, struct json *out);

/* The error; if it says that there is nothing of that name, with the nearest one that there is; not
 * with --json. */
err names_meant(struct cli *c, struct caller *k, err e, const char *kind, str name);

/* The command that completion scripts call: `names KIND` prints them, a line for each, and nothing where
 * there is no server. */
err names_run(struct cli *c);

#endif
