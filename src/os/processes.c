/* processes.c: the processes of this machine, as the system shows them. */
#include "os/processes.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES_MAX = 1024 };

/* The bytes of a file, at most `room`; 0 when there are none for us. */
static size_t file_read(const char *path, char *into, size_t room)
{
    size_t len = 0;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    while (len < room && (n = read(fd, into + len, room - len)) > 0)
        len += (size_t)n;
    close(fd);
    return len;
}

static size_t process_file(const char *processes, int64_t pid, const char *name, char *into,
                           size_t room)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%lld/%s", processes, (long long)pid, name);
    return file_read(path, into, room);
}

/* "7 (a (name)) S 1 …": the name may hold anything, so it ends at the last parenthesis. The start
 * is the 20th field behind it. */
bool process_read(const char *processes, int64_t pid, struct process *out)
{
    char line[STAT_BYTES_MAX], state;
    long long parent;

    line[process_file(processes, pid, "stat", line, sizeof line - 1)] = '\0';
    const char *name = strchr(line, '('), *end = strrchr(line, ')');
    *out = (struct process){ .pid = pid };
    if (!name || !end || end < name ||
        sscanf(end + 1,
               " %c %lld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %23s",
               &state, &parent, out->start) != 3)
        return false;
    out->parent = parent;
    out->ended = state == 'Z' || state == 'X';
    snprintf(out->name, sizeof out->name, "%.*s", (int)(end - name - 1), name + 1);
    return true;
}

size_t process_environment(int64_t pid, char *into, size_t room)
{
    return process_file(PROCESSES, pid, "environ", into, room);
}

size_t process_arguments(int64_t pid, char *into, size_t room)
{
    return process_file(PROCESSES, pid, "cmdline", into, room);
}

/* Numbers of processes come again after a boot, and in each namespace. */
str process_identity(struct arena *a, const char *processes, const struct process *p)
{
    char boot[64], space[64];
    size_t len =
        file_read(arena_printf(a, "%s/sys/kernel/random/boot_id", processes).at, boot, sizeof boot);
    ssize_t n = readlink(arena_printf(a, "%s/self/ns/pid", processes).at, space, sizeof space);
    str id = str_slice((str){ boot, len }, 0, str_find((str){ boot, len }, '\n'));

    if (!id.len)
        return STR("");
    return arena_printf(a, STR_FMT "/" STR_FMT "/%lld/%s", STR_ARG(id),
                        STR_ARG(((str){ space, n > 0 ? (size_t)n : 0 })), (long long)p->pid,
                        p->start);
}
