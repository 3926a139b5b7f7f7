/* fuzz: src/ops/hooks.c src/ops/hooks_event.c src/ops/hooks_session.c src/ops/hooks_tool.c src/ops/permissions.c src/core/permission.c src/core/session_event.c */
/* hooks.c: what clients' hooks send, and permissions that tools wait for; see operations.h.
 *
 * The role "asker" has tools that are asked for; the session x of claude has it. */
#include "operations.h"

static const char beginning[] =
    "o agent.create {\"name\":\"asker\",\"ask\":[\"Bash(git push:*)\",\"Write\"]}\n"
    "o session.create {\"session_id\":\"ses_1\",\"session_name\":\"root\"}\n"
    "o session.create {\"session_id\":\"ses_2\",\"session_name\":\"below\","
    "\"parent_session_name\":\"root\"}\n"
    "o run.create {\"type\":\"start_session\",\"session_id\":\"claude-x\","
    "\"session_name\":\"asker\",\"prompt\":\"p\",\"agent_name\":\"asker\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return operations_run(data, size, beginning, 4);
}
