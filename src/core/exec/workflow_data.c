/* workflow_data.c: the definitions that come with the program. */
#include "core/exec/workflow_data.h"

/* A file of workflows/ as bytes of the program. The build runs where that folder is. */
// clang-format off
#define WORKFLOW_FILE(name)                              \
    __asm__(".section .rodata\n"                         \
            "workflow_" #name "_at:\n"                   \
            ".incbin \"workflows/" #name ".json\"\n"     \
            "workflow_" #name "_end:\n"                  \
            ".byte 0\n"                                  \
            ".previous\n");                              \
    extern const char workflow_##name##_at[], workflow_##name##_end[];
// clang-format on

#define WORKFLOWS(X) X(generation) X(planning)

WORKFLOWS(WORKFLOW_FILE)

struct workflow_built_in workflow_built_in(size_t i)
{
#define WORKFLOW_ROW(name) { #name, workflow_##name##_at, workflow_##name##_end },
    static const struct {
        const char *name, *at, *end;
    } all[] = { WORKFLOWS(WORKFLOW_ROW) };
#undef WORKFLOW_ROW

    if (i >= sizeof all / sizeof *all)
        return (struct workflow_built_in){ NULL, STR("") };
    return (struct workflow_built_in){ all[i].name,
                                       { all[i].at, (size_t)(all[i].end - all[i].at) } };
}
