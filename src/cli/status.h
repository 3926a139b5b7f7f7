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

/* ---- open_file.c ---- */

/* Makes a file in the data directory that only we can read and that leads a browser to the address,
 * and removes those that are older than they are good. `leads` is its own address. FORBIDDEN: it
 * cannot be made. */
err open_file_make(struct arena *a, const char *data, str url, int64_t good_ms, str *path,
                   str *leads);

/* Has the browser open it, and it removed when it is good no more; false: it is removed already. */
bool open_file_show(str browser, str path, str leads, int64_t good_ms);

#endif
