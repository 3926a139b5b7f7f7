/* program.h: the program from its arguments to its exit code. */
#ifndef APP_PROGRAM_H
#define APP_PROGRAM_H

#include "cli/cli.h"

/* The commands of the product. */
extern const struct verb program_verbs[];

/* `verbs` are those, or a copy with more in it. */
int program_main(const struct verb *verbs, int argc, char **argv);

#endif
