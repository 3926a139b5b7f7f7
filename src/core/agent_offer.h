/* agent_offer.h: agents that nobody has registered, and that a runner's machine has as files.
 *
 * A runner says which there are: those of a project, which are good in its folder and below it, those
 * of its user's home, and those of its own data. Where several have the name, the project's comes
 * first and then home's. Its text never leaves that machine: a run for such an agent goes to a runner
 * that offers it, which reads the file. */
#ifndef CORE_AGENT_OFFER_H
#define CORE_AGENT_OFFER_H

#include "core/runner.h"

#define OFFERS_MAX 500 /* of one runner */

enum offer_source { OFFER_PROJECT, OFFER_HOME, OFFER_DATA, OFFER_SOURCES };

struct agent_offer {
    str name, description, model;
    enum offer_source source;
    str project; /* the folder that it is good in; empty: everywhere */
    str runner_id, runner_name, hostname;
};

extern const char *const offer_source_names[OFFER_SOURCES]; /* "project", "home", "data" */

/* What a runner would take for this name in a directory; false: it has none. */
bool runner_offers(struct arena *a, const struct runner *r, str name, str dir,
                   struct agent_offer *out);

/* Whether a runner offers it there that is not lost; or, with `lost`, that is known at all. */
err agent_is_offered(struct tx *tx, str name, str dir, bool lost, bool *out);

/* All that is offered by runners that are not lost, by name, and of one name what comes first, first. */
err agent_offers(struct tx *tx, struct agent_offer **out, size_t *count);

/* The offers of a runner, printed as they are stored. INVALID for a project's without its folder. */
err agent_offers_check(struct tx *tx, const struct json *offers, str *printed);

#endif
