/* top_events.h: a thread that listens for events, and wakes whoever shows them. */
#ifndef CLI_TOP_EVENTS_H
#define CLI_TOP_EVENTS_H

#include "cli/cli.h"

/* Writes a byte to `wake` for every event of sessions, runs and runners, for as long as the process
 * lives. When the server is away it is looked for again. */
void top_listen(const char *data, int wake);

#endif
