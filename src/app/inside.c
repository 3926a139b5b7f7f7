/* inside.c: whether a process belongs to a run of an agent. */
#define _GNU_SOURCE /* memmem */
#include "app/inside.h"

#include <string.h>

#include "os/processes.h"

enum {
    ANCESTORS_MAX = 64,
    ENVIRON_BYTES_MAX = 1 << 20, /* what is behind them is not looked at */
};

/* Variables end with a NUL each, and the first one has none before it. */
static bool has_run(int64_t pid, char *room)
{
    static const char name[] = "\0BATON_RUN_ID=";
    size_t len = process_environment(pid, room + 1, ENVIRON_BYTES_MAX);

    room[0] = 0;
    return memmem(room, len + 1, name, sizeof name - 1) != NULL;
}

/* Keepers of runs adopt what agents leave behind, and say what they are: "baton keep-run FOLDER".
 * Their environment is not to be seen. */
static bool is_keeper(int64_t pid)
{
    static const char words[] = "baton\0keep-run";
    char line[sizeof words];

    return process_arguments(pid, line, sizeof line) == sizeof line &&
           memcmp(line, words, sizeof words) == 0;
}

bool inside_run(int64_t pid)
{
    char *room = mem_alloc(1 + ENVIRON_BYTES_MAX);
    bool inside = false;
    struct process p;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && !inside; i++) {
        inside = has_run(pid, room) || is_keeper(pid);
        pid = process_read(PROCESSES, pid, &p) ? p.parent : 0;
    }
    mem_free(room);
    return inside;
}
