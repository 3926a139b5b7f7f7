/* evidence_verb.h: the command `evidence`, which runners execute before a step counts as done. */
#ifndef APP_EVIDENCE_VERB_H
#define APP_EVIDENCE_VERB_H

#include "cli/cli.h"

extern const char evidence_verb_details[];
err evidence_verb_run(struct cli *c);

#endif
