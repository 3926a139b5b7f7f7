/* orchestrator.c: the agent for Claude Code that plans in phases: a file that is all ours, and part of the
 * program. It is written for who asks for it. */
#include "cli/init/init.h"

/* The build runs where that folder is. */
__asm__(".section .rodata\n"
        "orchestrator_at:\n"
        ".incbin \"plugin/claude/delegation-orchestrator.md\"\n"
        "orchestrator_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char orchestrator_at[], orchestrator_end[];

#define MARK "<!-- Written by `baton init --orchestrator`"

err wire_orchestrator(const struct wiring *w, str text, str *out)
{
    str whole = { orchestrator_at, (size_t)(orchestrator_end - orchestrator_at) };
    bool ours = str_contains(text, STR(MARK));

    *out = text;
    if (w->wanted && text.len && !ours)
        return err_new(w->arena, ERR_INVALID,
                       "expected an agent that init wrote, found somebody else's");
    if (w->wanted)
        *out = whole;
    else if (str_eq(text, whole))
        *out = STR("");
    else if (ours)
        wiring_note_kept(w, STR("all of it"), "it is not as init writes it");
    return NULL;
}
