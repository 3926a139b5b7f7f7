/* fuzz: src/ops/sessions.c src/ops/runs.c src/ops/runners.c src/core/session.c src/core/session_new.c src/core/run_demand.c src/core/run.c src/core/run_queue.c src/core/run_report.c src/core/callback.c src/core/callback_deliver.c */
/* team.c: operations on sessions, runs and runners, while time passes; see operations.h.
 *
 * There are a root ses_1 with a child ses_2, a state, a runner that has claimed a first run, and a
 * second run that waits. */
#include "operations.h"

static const char beginning[] =
    "o schema.create {\"name\":\"s\",\"json_schema\":{\"type\":\"object\"}}\n"
    "o session.create {\"session_id\":\"ses_1\",\"session_name\":\"root\"}\n"
    "o session.create {\"session_id\":\"ses_2\",\"session_name\":\"below\","
    "\"parent_session_name\":\"root\"}\n"
    "o state.create {\"schema_name\":\"s\",\"initial_data\":{\"n\":1},\"root_session\":\"ses_1\"}\n"
    "r runner.register {\"hostname\":\"h\",\"capacity\":2}\n"
    "o run.create {\"type\":\"start_session\",\"session_name\":\"a\",\"prompt\":\"p\"}\n"
    "r runner.claim {\"runner_id\":\"rnr_3\"}\n"
    "o run.create {\"type\":\"start_session\",\"session_name\":\"b\",\"prompt\":\"p\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return operations_run(data, size, beginning, 8);
}
