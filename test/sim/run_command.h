/* run_command.h: run.command, an operation that only tests have: it makes a run of purpose command.
 *
 * In the program rules alone make them. Here the operator does, with what run_command_create takes. */
#ifndef SIM_RUN_COMMAND_H
#define SIM_RUN_COMMAND_H

#include "ops/op.h"

extern const struct op run_command_op;

#endif
