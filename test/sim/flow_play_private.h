/* flow_play_private.h: what the files of a play share: doing, and looking. */
#ifndef SIM_FLOW_PLAY_PRIVATE_H
#define SIM_FLOW_PLAY_PRIVATE_H

#include "calls.h"
#include "sim/flow_play.h"

__attribute__((format(printf, 2, 3))) void play_fail(const struct play *p, const char *format, ...);

/* A command by whoever the world's actor is; the input is JSON, maybe with single quotes. It lives in the
 * arena of one event. */
struct command *play_call(struct play *p, const char *op, str input);

/* The same of one that must succeed: its answer. */
str play_shown(struct play *p, const char *op, str input);
const struct json *play_asked(struct play *p, const char *op, str input);

/* The outputs that a definition names, with null for those that are missing. */
str play_outputs(struct play *p, const struct graph_work *work, str values);

#endif
