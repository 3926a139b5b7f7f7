/* inside.c: whether a process belongs to a run of an agent, by what /proc says of it. */
#define _GNU_SOURCE /* memmem */
#include "app/inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    ANCESTORS_MAX = 64,
    ENVIRON_BYTES_MAX = 1 << 20, /* what is behind them is not looked at */
    STAT_BYTES_MAX = 1024,
};

/* The bytes of a file of a process, at most `room`; 0 when it has none for us. */
static size_t proc_read(int64_t pid, const char *name, char *into, size_t room)
{
    char path[64];
    size_t len = 0;
    ssize_t n = 1;

    snprintf(path, sizeof path, "/proc/%lld/%s", (long long)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (len < room && (n = read(fd, into + len, room - len)) > 0)
        len += (size_t)n;
    close(fd);
    return len;
}

/* Variables end with a NUL each, and the first one has none before it. */
static bool has_run(int64_t pid, char *room)
{
    static const char name[] = "\0BATON_RUN_ID=";
    size_t len = proc_read(pid, "environ", room + 1, ENVIRON_BYTES_MAX);

    room[0] = 0;
    return memmem(room, len + 1, name, sizeof name - 1) != NULL;
}

/* Keepers of runs adopt what agents leave behind, and say what they are: "baton keep-run FOLDER".
 * Their environment is not to be seen. */
static bool is_keeper(int64_t pid)
{
    static const char words[] = "baton\0keep-run";
    char line[sizeof words];

    return proc_read(pid, "cmdline", line, sizeof line) == sizeof line &&
           memcmp(line, words, sizeof words) == 0;
}

/* "17 (name) S 16 …": the name may hold anything, so what is behind its last parenthesis counts. */
static int64_t parent_of(int64_t pid)
{
    char stat[STAT_BYTES_MAX];
    size_t len = proc_read(pid, "stat", stat, sizeof stat - 1);
    long long parent = 0;

    stat[len] = 0;
    char *behind = strrchr(stat, ')');
    if (!behind || sscanf(behind, ") %*c %lld", &parent) != 1)
        return 0;
    return parent;
}

bool inside_run(int64_t pid)
{
    char *room = mem_alloc(1 + ENVIRON_BYTES_MAX);
    bool inside = false;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && !inside; i++) {
        inside = has_run(pid, room) || is_keeper(pid);
        pid = parent_of(pid);
    }
    mem_free(room);
    return inside;
}
