/* codex_start.h: `baton codex-start THREAD MESSAGE`: has a Codex that has paused its queue begin with a
 * message of it.
 *
 * After Esc, Codex keeps what is queued until the end of the person's next turn. Its daemon begins with a
 * message when it is asked to, and refuses that as long as the conversation is at work: so it is asked
 * again until it has begun, or the message is not queued any more. A Codex without a daemon cannot be
 * asked. The bridge runs this beside itself, since a turn may take hours; it ends with the bridge, and
 * has nothing to say. */
#ifndef CLI_CODEX_START_H
#define CLI_CODEX_START_H

#include "cli/cli.h"

err codex_start_run(struct cli *c);

#endif
