/* ops.c: the lists of operations, put together. */
#include "ops/ops.h"

err op_table_all(struct arena *a, struct op_table **out)
{
    const struct op_list lists[] = { schema_ops,   state_ops,  session_ops, run_ops,
                                     callback_ops, runner_ops, agent_ops,   profile_ops,
                                     prompt_ops,   token_ops,  hook_ops,    permission_ops,
                                     event_ops,    node_ops,   system_ops,  attend_ops };

    return op_table_new(a, lists, sizeof lists / sizeof *lists, out);
}
