/* ancestor.c: the process that a client of an agent is. */
#include "cli/ancestor.h"

#include "os/processes.h"

enum {
    UP_MAX = 6,           /* processes between */
    ARGUMENTS_MAX = 4096, /* bytes that are looked at */
};

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

static bool client_find(const char *processes, int64_t pid, struct process *p)
{
    if (!process_read(processes, pid, p))
        return false;
    for (int i = 0; i < UP_MAX; i++) {
        if (p->parent < 1 || !process_read(processes, p->parent, p))
            return false;
        if (!is_among(str_from(p->name), between, COUNT(between)))
            return !is_among(str_from(p->name), inits, COUNT(inits));
    }
    return false;
}

str ancestor_client(struct arena *a, const char *processes, int64_t pid)
{
    struct process p;

    return client_find(processes, pid, &p) ? process_identity(a, processes, &p) : STR("");
}

bool ancestor_was_told(const char *processes, int64_t pid, str word)
{
    char room[ARGUMENTS_MAX];
    struct process p;

    if (!client_find(processes, pid, &p))
        return false;
    str arguments = { room, process_arguments(p.pid, room, sizeof room) }, argument;
    while (arguments.len) {
        str rest = STR("");
        str_cut(arguments, '\0', &argument, &rest);
        if (str_eq(argument, word))
            return true;
        arguments = rest;
    }
    return false;
}
