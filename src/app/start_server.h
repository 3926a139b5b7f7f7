/* start_server.h: a server for a data directory that has none.
 *
 * It is started as `baton serve --data DIR`, by nobody's terminal, and goes on when
 * whoever started it ends. However many want one at the same time, one is started. */
#ifndef APP_START_SERVER_H
#define APP_START_SERVER_H

#include "base/arena.h"
#include "base/err.h"

/* Returns when a server of the directory can be reached, at once when there is one already. What it
 * logs is in DIR/serve.log. UNAVAILABLE: none could be started, with its last words. */
err start_server(struct arena *a, str dir);

#endif
