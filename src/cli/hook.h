/* hook.h: `baton hook CLIENT`: what a client of an agent calls at each of its steps.
 *
 * JSON on standard input goes to the server, and its answer to standard output. An agent must never
 * be held up by it: whatever goes wrong, nothing is printed there, the exit code says that all is
 * well, and it has ended before its time is over. It starts no server. With --wait it is another thing:
 * hook_wait.h. */
#ifndef CLI_HOOK_H
#define CLI_HOOK_H

#include "cli/cli.h"

extern const struct option hook_options[];
extern const char hook_details[];

err hook_run(struct cli *c);

/* Whether this is a call of it, by its name or by that of a link. */
bool hook_is_called(int argc, char **argv);

/* The exit code for clients, to which 2 is a refusal of what the agent does: wrong usage is 1. Only
 * --wait ends with 2, when it has something to wake the agent for. */
int hook_exit(int code);

#endif
