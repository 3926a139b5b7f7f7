/* file.c: files of a project, and never any outside of it. */
#define _GNU_SOURCE
#include "cli/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 4 << 20 };

static err failed(struct arena *a, const char *path, const char *doing)
{
    enum error_kind kind = errno == ENOSPC || errno == EDQUOT                    ? ERR_FULL
                           : errno == EACCES || errno == EPERM || errno == EROFS ? ERR_FORBIDDEN
                                                                                 : ERR_UNAVAILABLE;
    return err_new(a, kind, "%s: cannot %s it: %s", path, doing, strerror(errno));
}

static bool is_inside(str root, const char *real)
{
    return strcmp(root.at, "/") == 0 ||
           (strncmp(real, root.at, root.len) == 0 && real[root.len] == '/');
}

/* ---- reading ---- */

static err outside(struct arena *a, const char *path)
{
    return err_new(a, ERR_FORBIDDEN,
                   "%s: it leads out of the project, or to nothing, by a symbolic link: only files "
                   "of the project are changed",
                   path);
}

/* Where a file is that need not be there: its folder must be the project's, or not there either. */
static err path_resolve(struct arena *a, str root, const char *path, str *real, bool *exists)
{
    str whole = arena_printf(a, STR_FMT "/%s", STR_ARG(root), path);
    char found[PATH_MAX];
    struct stat st;

    *exists = realpath(whole.at, found) != NULL;
    *real = *exists ? arena_copy(a, str_from(found)) : whole;
    if (*exists)
        return is_inside(root, found) ? NULL : outside(a, path);
    if (errno != ENOENT && errno != ENOTDIR)
        return failed(a, path, "find");
    if (lstat(whole.at, &st) == 0) /* a link to nothing */
        return outside(a, path);
    const char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    str folder = arena_printf(a, STR_FMT "/%.*s", STR_ARG(root), (int)(slash - path), path);
    if (lstat(folder.at, &st) < 0)
        return errno == ENOENT ? NULL : failed(a, path, "find");
    if (!realpath(folder.at, found) || !is_inside(root, found))
        return outside(a, path);
    if (stat(found, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_new(a, ERR_INVALID, "%s: expected a folder to be around it, but found a file",
                       path);
    *real = arena_printf(a, "%s%s", found, slash);
    return NULL;
}

static err content_read(struct arena *a, int fd, struct init_file *f)
{
    struct buf text = buf_in(a);
    struct stat st;
    ssize_t n = 1;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX)
        return err_new(a, ERR_INVALID, "%s: expected a file of at most %d bytes", f->path,
                       FILE_BYTES_MAX);
    f->mode = st.st_mode & 07777;
    f->owner = st.st_uid;
    f->group = st.st_gid;
    while (n > 0) {
        n = read(fd, buf_reserve(&text, 16 << 10), 16 << 10);
        text.len += n > 0 ? (size_t)n : 0;
    }
    f->text = buf_str(&text);
    return n < 0 ? failed(a, f->path, "read") : NULL;
}

err init_file_read(struct arena *a, str root, const char *path, struct init_file *out)
{
    *out = (struct init_file){ .path = path, .text = STR("") };
    TRY(path_resolve(a, root, path, &out->real, &out->exists));
    if (!out->exists)
        return NULL;
    int fd = open(out->real.at, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return failed(a, path, "read");
    err e = content_read(a, fd, out);
    close(fd);
    return e;
}

/* ---- writing ---- */

static str folder_of(struct arena *a, str real)
{
    const char *slash = strrchr(real.at, '/');
    return arena_copy(a, str_slice(real, 0, (size_t)(slash - real.at)));
}

/* A file that was there keeps its mode and its owner; that the owner cannot be kept is no reason
 * to stop: whoever may write the file may replace it. */
static bool temporary_fill(int fd, const struct init_file *f, str text)
{
    mode_t mask = umask(0);
    umask(mask);
    if (f->exists && fchown(fd, f->owner, f->group) < 0 && errno != EPERM)
        return false;
    if (fchmod(fd, f->exists ? f->mode : 0666 & ~mask) < 0)
        return false;
    for (size_t at = 0; at < text.len;) {
        ssize_t n = write(fd, text.at + at, text.len - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) == 0;
}

static err replace(struct arena *a, const struct init_file *f, str text)
{
    str folder = folder_of(a, f->real);
    str temporary = arena_printf(a, STR_FMT ".baton-XXXXXX", STR_ARG(f->real));

    if (mkdir(folder.at, 0777) < 0 && errno != EEXIST)
        return failed(a, f->path, "make a folder for");
    int fd = mkostemp((char *)temporary.at, O_CLOEXEC);
    if (fd < 0)
        return failed(a, f->path, "write");
    err e = temporary_fill(fd, f, text) ? NULL : failed(a, f->path, "write");
    close(fd);
    if (!e && rename(temporary.at, f->real.at) < 0)
        e = failed(a, f->path, "replace");
    if (e)
        unlink(temporary.at);
    return e;
}

err init_file_write(struct arena *a, str root, const struct init_file *f, str text)
{
    struct init_file now;

    TRY(init_file_read(a, root, f->path, &now));
    if (now.exists != f->exists || !str_eq(now.text, f->text) || !str_eq(now.real, f->real))
        return err_new(a, ERR_CONFLICT,
                       "%s: it was changed by somebody else just now: look at it, and run this "
                       "again",
                       f->path);
    if (text.len)
        return replace(a, &now, text);
    if (unlink(now.real.at) < 0)
        return failed(a, f->path, "remove");
    str folder = folder_of(a, now.real);
    if (!str_eq(folder, root))
        rmdir(folder.at); /* which fails unless it is empty */
    return NULL;
}
