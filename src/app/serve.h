/* serve.h: the command `serve`: a server from its options to its end. */
#ifndef APP_SERVE_H
#define APP_SERVE_H

#include "cli/cli.h"

extern const struct option serve_options[];
extern const char serve_details[];
err serve_run(struct cli *c);

#endif
