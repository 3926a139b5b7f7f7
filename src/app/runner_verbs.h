/* runner_verbs.h: the commands `runner` and, for the program's own use, `keep-run`. */
#ifndef APP_RUNNER_VERBS_H
#define APP_RUNNER_VERBS_H

#include "cli/cli.h"

extern const struct option runner_verb_options[];
extern const char runner_verb_details[];

err runner_verb_run(struct cli *c);
err keep_run_verb_run(struct cli *c);

#endif
