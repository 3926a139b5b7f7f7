/* agent_import.h: `baton agent import`, beside the commands of the table of operations. */
#ifndef CLI_AGENT_IMPORT_H
#define CLI_AGENT_IMPORT_H

#include "cli/cli.h"

extern const struct verb agent_verbs[];

#endif
