/* hook_wait.h: `baton hook CLIENT --wait`: waits beside an idle agent until there is something to tell
 * it.
 *
 * A client that a person has started runs one in the background. As long as its client lives it asks
 * the server for news of the conversation, over restarts of that too; of two for one conversation, the
 * server ends the older. It is small, has no thread, starts no server, and leaves nothing behind. */
#ifndef CLI_HOOK_WAIT_H
#define CLI_HOOK_WAIT_H

#include "cli/cli.h"

/* Reads which conversation it is from standard input, as a hook does, and waits.
 *
 * Claude Code (`way` rewake) reads one text from standard error when this ends: *woken says that it was
 * printed. Others (`way` plugin) get each as a line of JSON on standard output, with its `text`, and
 * answer with a line on standard input, `handed` or why not; the end of that ends it.
 *
 * Errors are what keeps it from waiting; that there is nothing to wait for is none. */
err hook_wait(struct cli *c, const char *client, bool *woken);

#endif
