/* state_verbs.h: commands on states that are more than one operation. */
#ifndef CLI_STATE_VERBS_H
#define CLI_STATE_VERBS_H

#include "cli/cli.h"

/* What `baton state` has besides the operations on states. */
extern const struct verb state_verbs[];

#endif
