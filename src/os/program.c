/* program.c: this very program, and what it asks of the system for itself. */
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID */
#include "os/program.h"

#include <limits.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
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

static int code_rest(struct dl_phdr_info *object, size_t size, void *page)
{
    uintptr_t mask = *(const uintptr_t *)page - 1;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t from = (object->dlpi_addr + part->p_vaddr) & ~mask;
        uintptr_t to = (object->dlpi_addr + part->p_vaddr + part->p_memsz + mask) & ~mask;
        /* What could be written may have been, and would be lost. */
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void program_rest(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    dl_iterate_phdr(code_rest, &page);
}

void program_die_with_parent(int number)
{
    prctl(PR_SET_PDEATHSIG, number);
}
