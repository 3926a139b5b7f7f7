/* states.h: how operations show states. Private to ops/. */
#ifndef OPS_STATES_H
#define OPS_STATES_H

#include "core/state.h"

/* The members of a state but its data, as of a version; the object is left open for that. */
void write_state_head(struct json_writer *w, const struct state *s, int64_t version);

/* The first version of a state is a patch too, of nothing. */
void write_first_patch(struct json_writer *w, str body);

#endif
