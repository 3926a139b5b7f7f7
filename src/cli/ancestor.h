/* ancestor.h: the process that a client of an agent is.
 *
 * A client starts its hooks and its MCP servers as processes below its own, each perhaps by a shell
 * in between. Where it tells them nothing else that they have in common, that it is their ancestor
 * is how they are known to belong together. */
#ifndef CLI_ANCESTOR_H
#define CLI_ANCESTOR_H

#include "os/processes.h"

/* A text that means the nearest process above `pid` which is no shell, and no other process, on any
 * machine or later, too. Empty: it is not known, as where there is no such folder of processes
 * (PROCESSES), or when the client is gone and somebody else has become the parent. */
str ancestor_client(struct arena *a, const char *processes, int64_t pid);

/* Whether that process was started with this word among its arguments. */
bool ancestor_was_told(const char *processes, int64_t pid, str word);

#endif
