/* scripted_verb.h: the command `scripted`, which runners start for the profile of that name. */
#ifndef APP_SCRIPTED_VERB_H
#define APP_SCRIPTED_VERB_H

#include "cli/cli.h"

extern const struct option scripted_verb_options[];
err scripted_verb_run(struct cli *c);

#endif
