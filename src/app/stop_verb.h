/* stop_verb.h: baton stop: ends the server of a data directory of this machine. */
#ifndef APP_STOP_VERB_H
#define APP_STOP_VERB_H

#include "cli/cli.h"

extern const struct option stop_options[];
extern const char stop_details[];
err stop_run(struct cli *c);

#endif
