/* consequence.h: what follows from an event, in the same transaction.
 *
 * A rule calls what stands below it; what it causes above it stands here, in one
 * table. "What happens when a run ends?" is answered by reading its lines. */
#ifndef CORE_CONSEQUENCE_H
#define CORE_CONSEQUENCE_H

#include "core/event.h"

/* Runs what follows from the events that this command has emitted, and from those that this emits,
 * until there are none left. LIMIT when that does not end. */
err consequence_run(struct tx *tx);

#endif
