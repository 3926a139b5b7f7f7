/* exec.h: processes: starting one, and ending all that came of it.
 *
 * A child is the leader of a session and of a process group of its own, and dies with
 * the thread that started it. Whatever it starts in its turn stays below us, however
 * it tries to get away, since we adopt orphans (exec_adopt). Does not know what a child
 * is for. */
#ifndef OS_EXEC_H
#define OS_EXEC_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* Somebody else, as whom a child runs. */
struct exec_user {
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    int group_count;
    str name, home, shell;
};

/* NOT_FOUND: there is none of that name. FORBIDDEN: only root may run programs as others. */
err exec_user_find(struct arena *a, str name, struct exec_user *out);

/* The name of that user, or of our own when it is empty; a number where it has none. */
str exec_user_name(struct arena *a, str user);

struct exec_plan {
    char *const *argv, *const *env;
    const char *folder;           /* to run in */
    int in, out, error;           /* descriptors; −1: /dev/null */
    const struct exec_user *user; /* NULL: as us */
};

/* Starts it. NOT_FOUND when there is no such program or folder, FORBIDDEN when it may not be run:
 * then nothing was started. */
err exec_start(struct arena *a, const struct exec_plan *p, pid_t *out);

/* From now on orphans below us become our children. */
void exec_adopt(void);

/* From now on no other process of our user may look into our memory and environment, where secrets
 * are. */
void exec_hide(void);

/* Sends a signal to all processes below us, 0 to none; gives how many there are. Those that have
 * ended are taken away first, but for `keep`, which is the caller's to wait for. */
int exec_signal(int number, pid_t keep);

/* Kills all processes whose environment has this "NAME=value", and gives how many they were. */
int exec_kill_marked(str mark);

/* Kills all processes below us but those of the list and what is below them, and gives how many they
 * were. With exec_adopt, what the others of our children have left behind when they ended is below us,
 * whatever its environment. */
int exec_kill_orphans(const pid_t *keep, size_t count);

/* Runs it to its end, within a time, and gives what it wrote, at most `most` bytes. False: it could
 * not be started, ended badly or took too long. Its standard error is not kept. */
bool exec_output(struct arena *a, struct exec_plan *p, int64_t timeout_ms, size_t most, str *out);

#endif
