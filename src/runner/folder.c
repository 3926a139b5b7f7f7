/* folder.c: the folder of one run, and the files in it. */
#define _GNU_SOURCE
#include "runner/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX = 16 << 20, REMOVE_MS = 10000 };

str folder_path(struct arena *a, str folder, const char *name)
{
    return arena_printf(a, STR_FMT "/%s", STR_ARG(folder), name);
}

static err failed(struct arena *a, const char *path, const char *doing)
{
    enum error_kind kind = errno == ENOSPC || errno == EDQUOT  ? ERR_FULL
                           : errno == EACCES || errno == EPERM ? ERR_FORBIDDEN
                           : errno == EEXIST                   ? ERR_CONFLICT
                           : errno == ENOENT                   ? ERR_NOT_FOUND
                                                               : ERR_UNAVAILABLE;
    return err_new(a, kind, "%s: cannot %s it: %s", path, doing, strerror(errno));
}

err folder_make(struct arena *a, str path)
{
    const char *name = arena_copy(a, path).at;

    if (mkdir(name, 0700) < 0 && errno != EEXIST)
        return failed(a, name, "make");
    return NULL;
}

err folder_write(struct arena *a, str path, str text, const struct exec_user *owner)
{
    const char *name = arena_copy(a, path).at;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return failed(a, name, "make");
    bool good = !owner || fchown(fd, owner->uid, owner->gid) == 0;
    while (good && text.len) {
        ssize_t n = write(fd, text.at, text.len);
        good = n > 0 || (n < 0 && errno == EINTR);
        text = str_slice(text, n > 0 ? (size_t)n : 0, text.len);
    }
    err e = good ? NULL : failed(a, name, "write");
    close(fd);
    return e;
}

err folder_read(struct arena *a, str path, str *out)
{
    const char *name = arena_copy(a, path).at;
    struct buf text = buf_in(a);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;

    if (fd < 0)
        return failed(a, name, "read");
    while (n > 0 && text.len < READ_MAX) {
        n = read(fd, buf_reserve(&text, 64 << 10), 64 << 10);
        text.len += n > 0 ? (size_t)n : 0;
    }
    err e = n < 0 ? failed(a, name, "read") : NULL;
    close(fd);
    *out = buf_str(&text);
    return e;
}

/* ---- the agent's own ---- */

/* Another user cannot look into our directory, so its files are elsewhere. They are put there while
 * the folder is still ours: in one that another can write, a path may lead anywhere by the time that
 * it is used. */
err folder_for_agent(struct arena *a, str folder, const struct exec_user *user, str *out)
{
    *out = folder_path(a, folder, "agent");
    if (!user)
        return folder_make(a, *out);
    char *elsewhere = (char *)arena_printf(a, "/tmp/baton-run-XXXXXX").at;
    if (!mkdtemp(elsewhere))
        return failed(a, elsewhere, "make");
    if (symlink(elsewhere, out->at) < 0)
        return failed(a, out->at, "make");
    *out = str_from(elsewhere);
    return NULL;
}

/* From then on he can put anything in its place, also what is ours: a file says so. */
err folder_give(struct arena *a, str folder, const struct exec_user *user)
{
    str path = folder_of_agent(a, folder);

    if (!user)
        return NULL;
    TRY(folder_write(a, folder_path(a, folder, "given"), STR(""), NULL));
    return lchown(path.at, user->uid, user->gid) < 0 ? failed(a, path.at, "give away") : NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

/* In folders that nobody else can write. */
static void remove_all(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* What is another's is removed with that one's rights, not with ours: whatever he has put there, or
 * puts there meanwhile, nothing goes that he could not have removed himself. */
static void remove_as_owner(struct arena *a, const char *path, const struct stat *st)
{
    char *argv[] = { "rm", "-rf", "--one-file-system", "--", (char *)path, NULL };
    char *env[] = { "PATH=/usr/bin:/bin", NULL };
    struct exec_user owner = {
        .uid = st->st_uid, .gid = st->st_gid, .groups = &st->st_gid, .group_count = 1
    };
    struct exec_plan plan = {
        .argv = argv, .env = env, .folder = "/", .in = -1, .out = -1, .error = -1, .user = &owner
    };
    str nothing;

    exec_output(a, &plan, REMOVE_MS, 0, &nothing);
}

str folder_of_agent(struct arena *a, str folder)
{
    str path = folder_path(a, folder, "agent");
    char *elsewhere = arena_alloc(a, PATH_MAX);
    ssize_t n = readlink(path.at, elsewhere, PATH_MAX - 1);

    return n > 0 ? arena_copy(a, (str){ elsewhere, (size_t)n }) : path;
}

void folder_remove_agent(struct arena *a, str folder)
{
    str own = folder_path(a, folder, "agent"), path = folder_of_agent(a, folder);
    bool given = access(folder_path(a, folder, "given").at, F_OK) == 0;
    struct stat st;

    if (lstat(path.at, &st) == 0 && st.st_uid != geteuid())
        remove_as_owner(a, path.at, &st);
    else if (!given) /* else it is not the one that was given away */
        remove_all(path.at);
    remove_all(own.at);
}

void folder_remove(struct arena *a, str folder)
{
    folder_remove_agent(a, folder);
    remove_all(arena_copy(a, folder).at);
}

/* ---- locks ---- */

int folder_lock(struct arena *a, str path)
{
    int fd = open(arena_copy(a, path).at, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

pid_t folder_holder(struct arena *a, str path)
{
    int64_t pid;
    str text;

    if (folder_read(a, path, &text) || !str_to_int(str_trim(text), &pid) || pid <= 1 ||
        pid > INT_MAX)
        return 0;
    return (pid_t)pid;
}
