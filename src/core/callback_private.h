/* callback_private.h: what callback.c calls of callback_deliver.c, which is below it. Private to
 * these two. */
#ifndef CORE_CALLBACK_PRIVATE_H
#define CORE_CALLBACK_PRIVATE_H

#include "core/callback.h"

/* ---- callback_deliver.c: what is on its way to a parent ---- */

/* A child has settled: its parent is to hear of it. `seq` is the event's. */
err callback_create(struct tx *tx, const struct session *child, int64_t state_version, int64_t seq);

/* Gives a parent a turn with all that waits for it. False when nothing does, or when it cannot be
 * given one now. */
err callback_deliver(struct tx *tx, struct session *parent, bool *delivers);

/* The run that carries callbacks has begun: they have arrived. */
err callback_arrive(struct tx *tx, const struct run *carrier);

/* It ended and had not begun: those that have not arrived wait again, so many. */
err callback_return(struct tx *tx, const struct run *carrier, size_t *count);

#endif
