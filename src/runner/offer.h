/* offer.h: keeps the server told of the agents that are in files on this machine.
 *
 * A runner says them when it registers; when they have changed, or a project has come to the machine,
 * they are told again with a heartbeat. What that answers is done as the runner would. */
#ifndef RUNNER_OFFER_H
#define RUNNER_OFFER_H

#include "client/caller.h"
#include "runner/runner.h"

struct offer {
    const struct runner_options *o;
    str runner_id;
    struct arena *arena; /* of what follows */
    str told, bad;       /* printed: what is offered; files that cannot be read */
    bool refused;        /* the server does not want to hear of them: it is an older one */
};

/* What a runner says of them when it registers; it knows no projects then. */
struct json offer_first(struct arena *a, const struct runner_options *o);

void offer_init(struct offer *f, const struct runner_options *o, str runner_id);

/* Looks, and tells what is new. */
void offer_tell(struct offer *f, struct arena *a, struct caller *c);

#endif
