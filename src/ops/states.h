/* states.h: the handlers of operations on states. Private to ops/; the table is in states.c. */
#ifndef OPS_STATES_H
#define OPS_STATES_H

#include "core/state.h"
#include "ops/op.h"

/* ---- states_read.c ---- */

op_run state_list_op, state_read_op, state_history_op, state_diff_op, state_blame_op,
    state_schema_op;

/* The members of a state but its data, as of a version; the object is left open for that. */
void write_state_head(struct json_writer *w, const struct state *s, int64_t version);

/* The first version of a state is a patch too, of nothing. */
void write_first_patch(struct json_writer *w, str body);

/* ---- states_write.c ---- */

op_run state_create_op, state_update_op, state_patch_op, state_delete_op, state_rollback_op,
    state_migrate_op;

#endif
