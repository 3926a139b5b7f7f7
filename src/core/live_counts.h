/* live_counts.h: how many there are, for those who watch the server.
 *
 * Only what is live is counted: it is as much as is going on, however long the server
 * has been there. */
#ifndef CORE_LIVE_COUNTS_H
#define CORE_LIVE_COUNTS_H

#include "core/team.h"

struct live_counts {
    int64_t sessions[SESSION_STATUS_COUNT], runs[RUN_STATUS_COUNT]; /* by status; ends are 0 */
    int64_t runners;                                                /* that were not lost */
    int64_t callbacks;                                              /* that wait */
    int64_t oldest_ms; /* how long the first of the queue has been there; 0: it is empty */
};

err live_counts_read(struct tx *tx, struct live_counts *out);

#endif
