/* prompt_task.h: what an agent is told that works for a step of a workflow.
 *
 * What other agents have said stands in fences, named as data. With each attempt the words become
 * stricter, and say what was wrong with the one before. Knows no executions: whoever asks says all. */
#ifndef CORE_PROMPT_TASK_H
#define CORE_PROMPT_TASK_H

#include "core/session.h"

#define TOOL_STEP "update_workflow_state" /* by which a step is recorded */
#define TOOL_PHASE "update_phase_status"  /* and one of document 001's phases */

/* Who has said it, and what: a printed JSON object. */
struct prompt_said {
    str by, what;
};

enum prompt_role {
    ROLE_ALONE,
    ROLE_IN_TURN, /* one of several, one after the other */
    ROLE_AT_ONCE, /* one of several at once */
    ROLE_GATHERS, /* brings their results together */
};

struct prompt_task {
    str execution_id, workflow, step, title, description;
    str tool;
    str work;  /* what its definition says that is to be done; empty: nothing more */
    str known; /* printed JSON object: what the workflow was started with; empty: it is in `work` */
    const struct prompt_said *before; /* artifacts of the steps before it */
    size_t before_count;
    enum prompt_role role;
    int64_t number, of;               /* which of how many */
    const struct prompt_said *others; /* what other agents of this step have recorded */
    size_t other_count;
    const str *
        outputs; /* names that its record is to have; of one whose record is not the step's: none */
    size_t output_count;
    int64_t attempt, attempts; /* this one, and how many there are at most */
    str violations; /* what was wrong with the one before, or why it is done anew; empty: nothing */
};

str prompt_task(struct tx *tx, const struct prompt_task *t);

/* The request for the record that a session owes to its step, which session.task says: ever stricter
 * from attempt to attempt. */
err prompt_record(struct tx *tx, const struct session *s, int64_t attempts, str *out);

#endif
