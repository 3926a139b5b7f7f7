/* ancestor.c: the process that a client of an agent is, by what Linux shows of processes. */
#include "cli/ancestor.h"

#include <stdio.h>
#include <unistd.h>

enum {
    UP_MAX = 6,      /* processes between */
    LINE_MAX = 1024, /* of a file there */
    START_FIELD = 20 /* of stat, behind the name: when it was started, in ticks since the boot */
};

/* They start others, and are no clients. */
static const char *const between[] = { "sh",  "bash",    "dash",  "zsh",  "ash",  "ksh",    "fish",
                                       "env", "busybox", "baton", "nice", "sudo", "timeout" };

/* They take in whoever has lost his parent: the first process, or that of a person's sessions. */
static const char *const inits[] = { "init", "systemd", "tini", "dumb-init", "docker-init" };

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct process {
    str name, start;
    int64_t pid, parent;
};

static bool is_among(str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, str_from(names[i])))
            return true;
    return false;
}

/* The first line of a file; empty: there is none. */
static str line_of(struct arena *a, const char *path)
{
    char line[LINE_MAX];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(line, 1, sizeof line, f) : 0;

    if (f)
        fclose(f);
    str text = { line, n };
    return arena_copy(a, str_slice(text, 0, str_find(text, '\n')));
}

/* "7 (a (name)) S 1 …": the name may hold anything, so it ends at the last parenthesis. */
static bool process_read(struct arena *a, const char *processes, int64_t pid, struct process *out)
{
    str text = line_of(a, arena_printf(a, "%s/%lld/stat", processes, (long long)pid).at), field;
    size_t from = str_find(text, '('), to = text.len;

    while (to > from && text.at[to - 1] != ')')
        to--;
    if (to <= from + 1)
        return false;
    *out = (struct process){ .name = str_slice(text, from + 1, to - 1), .pid = pid };
    text = str_trim(str_slice(text, to, text.len));
    for (int i = 1; i <= START_FIELD && str_cut(text, ' ', &field, &text); i++) {
        if (i == 2 && !str_to_int(field, &out->parent))
            return false;
        if (i == START_FIELD)
            out->start = field;
    }
    return out->start.len > 0;
}

str ancestor_client(struct arena *a, const char *processes, int64_t pid)
{
    str boot = line_of(a, arena_printf(a, "%s/sys/kernel/random/boot_id", processes).at);
    struct process p;
    char space[64];

    if (!boot.len || !process_read(a, processes, pid, &p))
        return STR("");
    for (int i = 0; i < UP_MAX; i++) {
        if (p.parent < 1 || !process_read(a, processes, p.parent, &p))
            return STR("");
        if (is_among(p.name, between, COUNT(between)))
            continue;
        if (is_among(p.name, inits, COUNT(inits)))
            return STR("");
        ssize_t n = readlink(arena_printf(a, "%s/self/ns/pid", processes).at, space, sizeof space);
        return arena_printf(a, STR_FMT "/" STR_FMT "/%lld/" STR_FMT, STR_ARG(boot),
                            STR_ARG(((str){ space, n > 0 ? (size_t)n : 0 })), (long long)p.pid,
                            STR_ARG(p.start));
    }
    return STR("");
}
