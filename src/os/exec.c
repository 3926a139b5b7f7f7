/* exec.c: processes: starting one, and ending all that came of it. */
#define _GNU_SOURCE /* execvpe, pipe2, close_range */
#include "os/exec.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/processes.h"

enum { GROUPS_MAX = 256, SIGNALS = 65, ORPHAN_ROUNDS = 10, ENVIRON_MAX = 2 << 20 };

/* ---- users ---- */

err exec_user_find(struct arena *a, str name, struct exec_user *out)
{
    gid_t *groups = ARENA_ARRAY(a, gid_t, GROUPS_MAX);
    int count = GROUPS_MAX;

    if (geteuid() != 0)
        return err_new(a, ERR_FORBIDDEN,
                       "only root can run agents as another user, and this runs as user %u: start "
                       "it with sudo, or leave --user out",
                       (unsigned)geteuid());
    const struct passwd *found = getpwnam(arena_copy(a, name).at);
    if (!found)
        return err_new(a, ERR_NOT_FOUND, "there is no user '" STR_FMT "' on this machine",
                       STR_ARG(name));
    if (getgrouplist(found->pw_name, found->pw_gid, groups, &count) < 0)
        return err_new(a, ERR_LIMIT, "user '" STR_FMT "' is in more than %d groups", STR_ARG(name),
                       GROUPS_MAX);
    *out = (struct exec_user){ .uid = found->pw_uid,
                               .gid = found->pw_gid,
                               .groups = groups,
                               .group_count = count,
                               .name = arena_copy(a, str_from(found->pw_name)),
                               .home = arena_copy(a, str_from(found->pw_dir)),
                               .shell = arena_copy(a, str_from(found->pw_shell)) };
    return NULL;
}

str exec_user_name(struct arena *a, str user)
{
    const struct passwd *own = user.len ? NULL : getpwuid(geteuid());

    if (user.len)
        return user;
    return own ? arena_copy(a, str_from(own->pw_name)) : arena_printf(a, "%u", (unsigned)geteuid());
}

/* ---- starting ---- */

/* What failed in the child, told through a pipe that a successful exec closes. */
struct start_failure {
    enum { IN_SETUP, IN_USER, IN_FOLDER, IN_PROGRAM } step;
    int number;
};

static void give_up(int pipe, int step)
{
    struct start_failure m = { step, errno };
    ssize_t n = write(pipe, &m, sizeof m);
    (void)n;
    _exit(127);
}

static bool put_on(int fd, int target)
{
    int null = fd < 0 ? open("/dev/null", O_RDWR) : -1;
    return dup2(fd < 0 ? null : fd, target) >= 0;
}

/* Other threads of ours may hold locks: nothing is called here that takes one. */
static void child_become(const struct exec_plan *p, pid_t parent, int pipe)
{
    const struct exec_user *u = p->user;
    sigset_t none;

    for (int i = 1; i < SIGNALS; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setsid() < 0 || !put_on(p->in, 0) || !put_on(p->out, 1) || !put_on(p->error, 2))
        give_up(pipe, IN_SETUP);
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    if (u && (setgroups((size_t)u->group_count, u->groups) < 0 ||
              setresgid(u->gid, u->gid, u->gid) < 0 || setresuid(u->uid, u->uid, u->uid) < 0))
        give_up(pipe, IN_USER);
    /* After the change of user, which would undo it; and the parent may be gone already. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        give_up(pipe, IN_SETUP);
    if (chdir(p->folder) < 0)
        give_up(pipe, IN_FOLDER);
    execvpe(p->argv[0], p->argv, p->env);
    give_up(pipe, IN_PROGRAM);
}

static err start_error(struct arena *a, const struct exec_plan *p, const struct start_failure *m)
{
    enum error_kind kind = m->number == ENOENT || m->number == ENOTDIR   ? ERR_NOT_FOUND
                           : m->number == EACCES || m->number == ENOEXEC ? ERR_FORBIDDEN
                                                                         : ERR_UNAVAILABLE;
    const char *why = strerror(m->number);

    switch (m->step) {
    case IN_FOLDER: return err_new(a, kind, "cannot work in the folder %s: %s", p->folder, why);
    case IN_USER: return err_new(a, kind, "cannot become another user: %s", why);
    case IN_SETUP: return err_new(a, kind, "cannot prepare a process: %s", why);
    case IN_PROGRAM: break;
    }
    if (m->number == ENOENT)
        return err_new(a, kind,
                       "there is no program '%s' on this machine: install it, or give its folder "
                       "in PATH to the runner",
                       p->argv[0]);
    if (m->number == E2BIG)
        return err_new(a, ERR_TOO_LARGE,
                       "the arguments of '%s' are longer than the system allows: let the profile "
                       "pass the prompt by stdin or file",
                       p->argv[0]);
    return err_new(a, kind, "cannot start '%s': %s", p->argv[0], why);
}

err exec_start(struct arena *a, const struct exec_plan *p, pid_t *out)
{
    struct start_failure m;
    pid_t parent = getpid();
    int ends[2];

    assert(p->argv[0]);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_new(a, ERR_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        child_become(p, parent, ends[1]);
    int failed = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_new(a, ERR_UNAVAILABLE, "cannot start a process: %s", strerror(failed));
    }
    ssize_t n;
    while ((n = read(ends[0], &m, sizeof m)) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    if (n != sizeof m) {
        *out = pid;
        return NULL;
    }
    waitpid(pid, NULL, 0);
    return start_error(a, p, &m);
}

/* ---- all that came of it ---- */

void exec_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void exec_hide(void)
{
#ifndef __SANITIZE_ADDRESS__ /* which looks for leaks from another process */
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* All processes of the machine, by number; the caller frees them. */
static struct process *processes_list(size_t *count)
{
    DIR *proc = opendir(PROCESSES);
    struct process *all = NULL;
    const struct dirent *entry;
    size_t room = 0;
    int64_t pid;

    *count = 0;
    while (proc && (entry = readdir(proc))) {
        if (*count == room) {
            room = room ? 2 * room : 256;
            all = mem_grow(all, room * sizeof *all);
        }
        if (str_to_int(str_from(entry->d_name), &pid) && process_read(PROCESSES, pid, &all[*count]))
            ++*count;
    }
    if (proc)
        closedir(proc);
    if (*count)
        qsort(all, *count, sizeof *all, by_pid);
    return all;
}

/* Whether it has `top` above it. The steps are counted: the list was not made at one moment. */
static bool is_below(const struct process *all, size_t count, const struct process *p, pid_t top)
{
    for (size_t steps = 0; p && steps < count; steps++) {
        struct process parent = { .pid = p->parent };
        if (p->parent == top)
            return true;
        p = bsearch(&parent, all, count, sizeof *all, by_pid);
    }
    return false;
}

int exec_signal(int number, pid_t keep)
{
    size_t count;
    struct process *all = processes_list(&count);
    int alive = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_below(all, count, &all[i], getpid()))
            continue;
        if (all[i].ended) {
            if (all[i].parent == getpid() && all[i].pid != keep)
                waitpid((pid_t)all[i].pid, NULL, WNOHANG);
            continue;
        }
        alive++;
        if (number)
            kill((pid_t)all[i].pid, number);
    }
    mem_free(all);
    return alive;
}

/* Whether it, or a process above it, is in the list. */
static bool is_kept(const struct process *all, size_t count, const struct process *p,
                    const pid_t *keep, size_t keep_count)
{
    for (size_t i = 0; i < keep_count; i++)
        if (p->pid == keep[i] || is_below(all, count, p, keep[i]))
            return true;
    return false;
}

/* Again while there were some: one that was forked meanwhile is seen the next time. */
int exec_kill_orphans(const pid_t *keep, size_t keep_count)
{
    int killed = 0, found = 1;

    for (int round = 0; round < ORPHAN_ROUNDS && found; round++) {
        size_t count;
        struct process *all = processes_list(&count);
        found = 0;
        for (size_t i = 0; i < count; i++)
            if (!all[i].ended && is_below(all, count, &all[i], getpid()) &&
                !is_kept(all, count, &all[i], keep, keep_count))
                found += kill((pid_t)all[i].pid, SIGKILL) == 0;
        killed += found;
        mem_free(all);
    }
    return killed;
}

/* Whether one of the strings is the mark. */
static bool has_string(str strings, str mark)
{
    str one;

    while (strings.len) {
        str_cut(strings, '\0', &one, &strings);
        if (str_eq(one, mark))
            return true;
    }
    return false;
}

int exec_kill_marked(str mark)
{
    size_t count;
    struct process *all = processes_list(&count);
    char *room = mem_alloc(ENVIRON_MAX);
    int killed = 0;

    for (size_t i = 0; i < count; i++) {
        if (all[i].pid == getpid() || all[i].ended)
            continue;
        str environment = { room, process_environment(all[i].pid, room, ENVIRON_MAX) };
        if (has_string(environment, mark))
            killed += kill((pid_t)all[i].pid, SIGKILL) == 0;
    }
    mem_free(room);
    mem_free(all);
    return killed;
}

/* ---- a short one, to its end ---- */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool read_all(int fd, int64_t until_ms, size_t most, struct buf *out)
{
    char piece[4096];

    while (out->len <= most) {
        int64_t left = until_ms - now_ms();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            return false;
        ssize_t n = read(fd, piece, sizeof piece);
        if (n == 0)
            return true;
        if (n < 0)
            return false;
        buf_add(out, (str){ piece, (size_t)n });
    }
    return false;
}

bool exec_output(struct arena *a, struct exec_plan *p, int64_t timeout_ms, size_t most, str *out)
{
    struct buf text = buf_in(a);
    int ends[2], status = -1;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    p->out = ends[1];
    err e = exec_start(a, p, &pid);
    close(ends[1]);
    bool whole = !e && read_all(ends[0], now_ms() + timeout_ms, most, &text);
    close(ends[0]);
    if (e)
        return false;
    if (!whole)
        kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
    *out = buf_str(&text);
    return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
