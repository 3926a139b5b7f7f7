/* agents.c: agents in files, as the runner of this machine offers them. */
#include "cli/doctor/doctor.h"

#include <stdlib.h>

#include "client/agent_file.h"

/* How many could be read; each that could not is told. */
static size_t folder_check(struct doctor *d, str folder, bool *good)
{
    const struct agent_file *files;
    size_t count, readable = 0;
    err e = agent_folder_read(d->arena, folder.at, &files, &count);

    if (e)
        doctor_report(d, DOCTOR_WARN, "agents", STR(""), STR_FMT, STR_ARG(e->message));
    for (size_t i = 0; !e && i < count; i++) {
        readable += !files[i].error;
        *good = *good && !files[i].error;
        if (files[i].error)
            doctor_report(d, DOCTOR_WARN, "agents",
                          arena_printf(d->arena, "repair %s", files[i].path),
                          STR_FMT ": nobody can be started from it",
                          STR_ARG(files[i].error->message));
    }
    *good = *good && !e;
    return readable;
}

void doctor_agents(struct doctor *d)
{
    str home = str_from(getenv("HOME"));
    const struct {
        const char *what;
        str folder;
    } places[] = {
        { "of the project", arena_printf(d->arena, STR_FMT "/.claude/agents", STR_ARG(d->root)) },
        { "of your home", arena_printf(d->arena, STR_FMT "/.claude/agents", STR_ARG(home)) },
        { "of the data directory", arena_printf(d->arena, STR_FMT "/agents", STR_ARG(d->data)) },
    };
    struct buf told = buf_in(d->arena);
    bool good = true, at_home = str_eq(d->root, home);

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool known = i == 0 ? !at_home : i == 1 ? home.len > 0 : d->data.len > 0;
        size_t count = known ? folder_check(d, places[i].folder, &good) : 0;
        if (count)
            buf_printf(&told, "%s%zu %s", told.len ? ", " : "", count, places[i].what);
    }
    if (good && told.len)
        doctor_report(d, DOCTOR_OK, "agents", STR(""), "in files: " STR_FMT,
                      STR_ARG(buf_str(&told)));
}
