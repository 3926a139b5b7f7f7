/* serve_plan.h: what a server is to be, as its options, the environment and baton.toml say.
 *
 * Knows nothing of how it becomes that. Private to serve….c. */
#ifndef APP_SERVE_PLAN_H
#define APP_SERVE_PLAN_H

#include "app/config.h"
#include "cli/cli.h"

struct serve_plan {
    str folder;
    struct config config;
    str database; /* empty: in the folder */
    bool shared;  /* with other nodes: the store is a server's */
    bool runs_agents;
};

/* Takes all that was said; the last that names a setting counts. */
err serve_plan_read(struct cli *c, struct serve_plan *out);

/* INVALID: no server can be that, or none should. Finds what the setting `store` means. */
err serve_plan_check(struct arena *a, struct serve_plan *p);

/* The names that it answers to beside this machine's own. */
const str *serve_plan_hosts(struct arena *a, const struct serve_plan *p, size_t *count);

#endif
