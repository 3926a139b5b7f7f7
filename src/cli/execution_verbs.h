/* execution_verbs.h: commands on workflows and what runs by them that are more than one operation. */
#ifndef CLI_EXECUTION_VERBS_H
#define CLI_EXECUTION_VERBS_H

#include "cli/call.h"
#include "cli/execution_text.h"

/* What `baton workflow`, `baton execution` and `baton job` have besides, or instead of, the operations. */
extern const struct verb workflow_verbs[], execution_verbs[], job_verbs[];

/* What a command that has waited for an execution ends with: as with a session's result. */
enum execution_exit { EXECUTION_EXIT_FAILED = 16, EXECUTION_EXIT_CANCELLED = 17 };

/* The variables of each --set NAME=VALUE: JSON, or a text. */
err execution_variables_read(struct cli *c, struct json *out);

/* How text is to look where this command prints. */
struct execution_text execution_text_here(const struct cli *c);

#endif
