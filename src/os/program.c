/* program.c: this very program, and what it asks of the system for itself. */
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID */
#include "os/program.h"

#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *program_self(void)
{
    return "/proc/self/exe";
}

str program_path(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink(program_self(), path, sizeof path);

    return n > 0 ? arena_copy(a, (str){ path, (size_t)n }) : STR("");
}

int program_spawn(char *const *argv, char *const *env, pid_t *pid)
{
    posix_spawnattr_t how;
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    int code = posix_spawn(pid, program_self(), NULL, &how, argv, env);
    posix_spawnattr_destroy(&how);
    return code;
}

void program_rename(const char *name)
{
    prctl(PR_SET_NAME, name);
}

void program_die_with_parent(int number)
{
    prctl(PR_SET_PDEATHSIG, number);
}
