/* inside.h: whether a process belongs to a run of an agent.
 *
 * A runner starts agents with BATON_RUN_ID in their environment, and whatever they
 * start has such an ancestor, or comes to their keeper, which adopts orphans. It keeps
 * an agent from acting as the operator by mistake or by being talked into it. It is no
 * wall: a process of the same user that means to can have others act for it. */
#ifndef APP_INSIDE_H
#define APP_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

/* What cannot be looked at, because it is gone or another user's, counts as outside. */
bool inside_run(int64_t pid);

#endif
