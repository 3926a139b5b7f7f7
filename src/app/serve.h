/* serve.h: the command `serve`: a server from its options to its end. */
#ifndef APP_SERVE_H
#define APP_SERVE_H

#include "cli/cli.h"

extern const struct option serve_options[];
extern const char serve_details[];
err serve_run(struct cli *c);

/* The same with something else at /mcp, which asks for no token; NULL: what we have. */
struct mcp_served;
err serve_run_with(struct cli *c, const struct mcp_served *served);

#endif
