/* runs.h: the handlers of operations on runs. Private to ops/; the table is in runs.c. */
#ifndef OPS_RUNS_H
#define OPS_RUNS_H

#include "core/run.h"
#include "ops/op.h"

/* ---- runs_read.c ---- */

op_run run_list_op, run_get_op, run_output_op;

/* A run; lists leave out what may be long. */
void write_run(struct tx *tx, struct json_writer *w, const struct run *r, bool whole);

/* ---- runs_write.c ---- */

op_run run_create_op, run_stop_op;

#endif
