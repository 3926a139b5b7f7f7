/* ops.c: the lists of operations, put together. */
#include "ops/ops.h"

/* Of two routes that fit a path the first is taken: /executions/phases, then /executions/{id}. */
static const struct op_list *const lists[] = {
    &schema_ops,   &state_ops,
    &session_ops,  &run_ops,
    &callback_ops, &runner_ops,
    &agent_ops,    &profile_ops,
    &prompt_ops,   &token_ops,
    &hook_ops,     &permission_ops,
    &event_ops,    &node_ops,
    &system_ops,   &attend_ops,
    &project_ops,  &message_ops,
    &wake_ops,     &file_ops,
    &workflow_ops, &execution_write_ops,
    &phase_ops,    &step_ops,
    &view_ops,     &execution_ops,
    &job_ops,      &incident_ops,
    &approval_ops, &inbox_ops,
    &mirror_ops,   &todo_ops,
};

enum { LISTS = sizeof lists / sizeof *lists };

const struct op *op_nth(size_t i)
{
    for (size_t k = 0; k < LISTS; i -= lists[k++]->count)
        if (i < lists[k]->count)
            return &lists[k]->ops[i];
    return NULL;
}

err op_table_all(struct arena *a, struct op_table **out)
{
    struct op_list all[LISTS];

    for (size_t i = 0; i < LISTS; i++)
        all[i] = *lists[i];
    return op_table_new(a, all, LISTS, out);
}
