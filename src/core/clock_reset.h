/* clock_reset.h: a database whose clock was ahead is set back. */
#ifndef CORE_CLOCK_RESET_H
#define CORE_CLOCK_RESET_H

#include "core/tx.h"

/* What is to happen comes so many milliseconds earlier: work, leases, runs that wait, tokens that expire.
 * What has happened at times that have not come has happened now. */
err clock_reset(struct tx *tx, int64_t ms);

#endif
