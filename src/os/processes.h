/* processes.h: the processes of this machine, as the system shows them. */
#ifndef OS_PROCESSES_H
#define OS_PROCESSES_H

#include <sys/types.h>

#include "base/arena.h"

/* The folder in which the system shows them; tests have their own. */
#define PROCESSES "/proc"

struct process {
    int64_t pid, parent;
    bool ended;     /* and its parent has not waited for it */
    char name[64];  /* of its program, cut short */
    char start[24]; /* when it was started, as the system counts */
};

/* False: it is gone, or cannot be seen. */
bool process_read(const char *processes, int64_t pid, struct process *out);

/* The variables that it was started with, or its arguments: each ends with a NUL. At most `room`
 * bytes; 0 when it has none for us. */
size_t process_environment(int64_t pid, char *into, size_t room);
size_t process_arguments(int64_t pid, char *into, size_t room);

/* A text that means this process and no other, on any machine or later, too. Empty: not known. */
str process_identity(struct arena *a, const char *processes, const struct process *p);

#endif
