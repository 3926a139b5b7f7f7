/* fuzz: src/ops/op.c src/ops/perform.c src/ops/states.c src/ops/schemas.c src/ops/tokens.c src/ops/events.c src/ops/system.c src/core/state.c src/core/state_write.c src/core/state_history.c src/core/event.c */
/* ops.c: operations on states, schemas, tokens and events; see operations.h. */
#include "operations.h"

static const char beginning[] =
    "o schema.create {\"name\":\"s\",\"json_schema\":{\"type\":\"object\",\"properties\":{"
    "\"n\":{\"type\":\"integer\"}}}}\n"
    "o state.create {\"schema_name\":\"s\",\"initial_data\":{\"n\":1,\"list\":[1,{\"a\":2}]}}\n"
    "o state.patch {\"state_id\":\"wfstate_2\",\"merge\":{\"n\":2}}\n"
    "o schema.create {\"name\":\"s\",\"json_schema\":{\"type\":\"object\"}}\n"
    "o token.create {\"kind\":\"viewer\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return operations_run(data, size, beginning, 5);
}
