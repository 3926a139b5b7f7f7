/* ops.h: the lists of operations, one for each noun. */
#ifndef OPS_OPS_H
#define OPS_OPS_H

#include "ops/op.h"

extern const struct op_list schema_ops, state_ops, session_ops, run_ops, callback_ops, runner_ops,
    agent_ops, profile_ops, prompt_ops, token_ops, hook_ops, permission_ops, event_ops, node_ops,
    system_ops, attend_ops, project_ops, message_ops, wake_ops, file_ops, mirror_ops, workflow_ops,
    execution_ops, execution_write_ops, job_ops, incident_ops, approval_ops, inbox_ops, view_ops,
    phase_ops, step_ops, todo_ops;

#endif
