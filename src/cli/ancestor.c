/* ancestor.c: the process that a client of an agent is. */
#include "cli/ancestor.h"

#include "os/processes.h"

enum { UP_MAX = 6 }; /* processes between */

/* They start others, and are no clients. */
static const char *const between[] = { "sh",  "bash",    "dash",  "zsh",  "ash",  "ksh",    "fish",
                                       "env", "busybox", "baton", "nice", "sudo", "timeout" };

/* They take in whoever has lost his parent: the first process, or that of a person's sessions. */
static const char *const inits[] = { "init", "systemd", "tini", "dumb-init", "docker-init" };

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_among(str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, str_from(names[i])))
            return true;
    return false;
}

str ancestor_client(struct arena *a, const char *processes, int64_t pid)
{
    struct process p;

    if (!process_read(processes, pid, &p))
        return STR("");
    for (int i = 0; i < UP_MAX; i++) {
        if (p.parent < 1 || !process_read(processes, p.parent, &p))
            return STR("");
        if (is_among(str_from(p.name), between, COUNT(between)))
            continue;
        if (is_among(str_from(p.name), inits, COUNT(inits)))
            return STR("");
        return process_identity(a, processes, &p);
    }
    return STR("");
}
