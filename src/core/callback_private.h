/* callback_private.h: what the files of callback.h share. Private to callback*.c. */
#ifndef CORE_CALLBACK_PRIVATE_H
#define CORE_CALLBACK_PRIVATE_H

#include "core/callback.h"

/* ---- callback.c: the cycle of a session ---- */

/* A session between turns looks again whether its cycle can go on. */
err cycle_go_on(struct tx *tx, struct session *s);

/* A turn of work owes an update of its own, whatever was recorded before it: also after its
 * children. Who was asked already stays asked, but is counted anew. */
err work_begins(struct tx *tx, struct session *s);

/* ---- callback_deliver.c: what is on its way to a parent ---- */

/* Gives a parent a turn with all that waits for it. False when nothing does, or when it cannot be
 * given one now. */
err callback_deliver(struct tx *tx, struct session *parent, bool *delivers);

/* The run that carries callbacks has begun: they have arrived. */
err callback_arrive(struct tx *tx, const struct run *carrier);

/* It ended and had not begun: they wait again. */
err callback_return(struct tx *tx, const struct run *carrier);

#endif
