/* agent_private.h: what an entry's text must be. Private to agent.c and agent_check.c. */
#ifndef CORE_AGENT_PRIVATE_H
#define CORE_AGENT_PRIVATE_H

#include "core/agent.h"

/* UNFIT, with pointers into the text, when it is no agent or profile; TOO_LARGE. Does not look at
 * other entries. */
err entry_check(struct arena *a, enum catalog c, const struct json *text);

/* UNFIT for one place of a text, as a check against a schema would say it. */
err entry_unfit(struct arena *a, str pointer, const char *keyword, str message);

#endif
