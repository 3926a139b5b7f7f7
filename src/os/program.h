/* program.h: this very program, and what it asks of the system for itself. */
#ifndef OS_PROGRAM_H
#define OS_PROGRAM_H

#include <sys/types.h>

#include "base/arena.h"

/* A path that starts this program again, the same one even when its file was replaced. */
const char *program_self(void);

/* Where its file is; empty: that is not known. */
str program_path(struct arena *a);

/* Starts this program anew, in a session of its own and with no signal ignored or blocked: for
 * processes with threads, which must not fork. 0, or the number of an error. */
int program_spawn(char *const *argv, char *const *env, pid_t *pid);

/* How lists of processes show it. */
void program_rename(const char *name);

/* What it has read of its own code is let go; the system keeps that as long as it has room, and what is
 * needed again comes back by itself. For processes that wait for hours. */
void program_rest(void);

/* From now on it gets this signal when its parent ends. */
void program_die_with_parent(int number);

#endif
