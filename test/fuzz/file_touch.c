/* fuzz: src/core/file_touch.c src/ops/hooks_file.c src/ops/files.c */
/* file_touch.c: what tools of clients tell of the files that they read and write; see operations.h.
 *
 * The project "shop" is on the machine h in /shop; a of claude and b of codex are members of it. */
#include "operations.h"

#define MEMBER(client, id)                                                           \
    "o hook.event {\"client\":\"" client "\",\"host\":\"h\",\"common_dir\":\"/g\","  \
    "\"worktree\":\"/shop\",\"event\":{\"session_id\":\"" id "\",\"cwd\":\"/shop\"," \
    "\"hook_event_name\":\"SessionStart\"}}"

static const char beginning[] =
    "o project.create {\"name\":\"shop\",\"project_dir\":\"/shop\",\"host\":\"h\","
    "\"common_dir\":\"/g\"}\n" MEMBER("claude", "a") "\n" MEMBER("codex", "b");

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return operations_run(data, size, beginning, 3);
}
