/* runners.h: the handlers of operations on runners. Private to ops/; the table is in runners.c. */
#ifndef OPS_RUNNERS_H
#define OPS_RUNNERS_H

#include "core/run.h"
#include "ops/op.h"

/* ---- runners_claim.c ---- */

op_run runner_claim_op;

/* ---- runners_report.c ---- */

op_run runner_started_op, runner_progress_op, runner_completed_op, runner_failed_op,
    runner_timed_out_op, runner_stopped_op;

#endif
