/* unheard.h: agents that have not heard what came for them, for the people at their clients. */
#ifndef CLI_UNHEARD_H
#define CLI_UNHEARD_H

#include "client/caller.h"

/* An array, as wake.list has it; empty where it cannot be asked: of a server that is older, or by a
 * token that may not see it. */
void unheard_load(struct caller *c, struct arena *a, struct json *out);

/* One of them, in a sentence. */
str unheard_told(struct arena *a, const struct json *one, int64_t now_ms);

#endif
