/* commit.c: what the program was built of. Apart from the rest, since it is compiled anew with every
 * commit. */
#include "cli/cli.h"

#ifndef BATON_COMMIT
#define BATON_COMMIT ""
#endif

const char cli_commit[] = BATON_COMMIT;
