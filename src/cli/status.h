/* status.h: baton status: is there a server, what runs, what waits for me, what is missing next. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "cli/cli.h"

extern const struct option status_options[];
extern const char status_details[];
err status_run(struct cli *c);

/* ---- open.c ---- */

extern const struct option open_options[];
extern const char open_details[];
err open_run(struct cli *c);

#endif
