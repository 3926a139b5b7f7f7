/* mirror_file.c: one file that is written into somebody else's folder. */
#define _GNU_SOURCE
#include "runner/mirror_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PARTS_MAX = 16,
    PART_BYTES_MAX = 200, /* of a name, which gets longer while it is written */
    PATH_BYTES_MAX = 1000,
    READ_MAX = 16 << 20, /* of a file that is larger, the beginning: it is none of ours */
    ASIDE_MAX = 20,
};

static err failed(struct arena *a, str what, const char *doing)
{
    enum error_kind kind = errno == ENOSPC || errno == EDQUOT  ? ERR_FULL
                           : errno == EACCES || errno == EPERM ? ERR_FORBIDDEN
                                                               : ERR_UNAVAILABLE;
    return err_new(a, kind, STR_FMT ": cannot %s it: %s", STR_ARG(what), doing, strerror(errno));
}

/* ---- where it is ---- */

static bool is_part(str part)
{
    return part.len > 0 && part.len <= PART_BYTES_MAX && !memchr(part.at, '\0', part.len) &&
           !str_eq(part, STR(".")) && !str_eq(part, STR("..")) && !str_eq(part, STR(".git"));
}

static err path_check(struct arena *a, str path)
{
    bool good = path.len <= PATH_BYTES_MAX &&
                (str_starts(path, STR(".claude/")) || str_starts(path, STR("workspace/")));
    str rest = path, part;
    int parts = 0;

    for (bool more = true; good && more; parts++) {
        more = str_cut(rest, '/', &part, &rest);
        good = is_part(part) && parts < PARTS_MAX;
    }
    return good ? NULL
                : err_new(a, ERR_INVALID,
                          "expected a path in .claude/ or workspace/ without dots, found " STR_FMT,
                          STR_ARG(str_slice(path, 0, PATH_BYTES_MAX)));
}

/* Where git keeps a repository without a working tree, nobody reads files. */
static bool is_bare(int dir)
{
    struct stat head, objects;

    return fstatat(dir, "HEAD", &head, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(head.st_mode) &&
           fstatat(dir, "objects", &objects, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(objects.st_mode);
}

static err root_open(struct arena *a, str root, int *dir)
{
    *dir = open(arena_copy(a, root).at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*dir < 0)
        return err_new(a, ERR_NOT_FOUND, "there is no folder " STR_FMT " to write into: %s",
                       STR_ARG(root), strerror(errno));
    if (!is_bare(*dir))
        return NULL;
    close(*dir);
    return err_new(a, ERR_NOT_FOUND, STR_FMT " is a repository without a working tree",
                   STR_ARG(root));
}

/* What root makes in the folder of another is that one's. */
static void give(int dir, const char *name)
{
    struct stat st;

    if (geteuid() == 0 && fstat(dir, &st) == 0 &&
        fchownat(dir, name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* it is there all the same */
}

/* The folder in a folder; the one before is closed. */
static err folder_enter(struct arena *a, int *dir, str part)
{
    const char *name = arena_copy(a, part).at;
    bool made = mkdirat(*dir, name, 0777) == 0;
    struct stat st;

    if (made)
        give(*dir, name);
    int next = made || errno == EEXIST
                   ? openat(*dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                   : -1;
    err e = next >= 0 ? NULL : failed(a, part, made ? "open" : "make");
    if (e && fstatat(*dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        e = err_new(a, ERR_FORBIDDEN, STR_FMT " is a symbolic link, which is not followed",
                    STR_ARG(part));
    close(*dir);
    *dir = next;
    return e;
}

err mirror_folder_open(struct arena *a, str root, str path, int *dir, str *name)
{
    str part;

    TRY(path_check(a, path));
    TRY(root_open(a, root, dir));
    while (str_cut(path, '/', &part, &path))
        TRY(folder_enter(a, dir, part));
    *name = arena_copy(a, part);
    return NULL;
}

/* ---- what is there ---- */

static void hash_of(struct arena *a, int fd, char out[SHA256_TEXT])
{
    unsigned char sum[SHA256_BYTES];
    size_t left = READ_MAX;
    char piece[32 << 10];
    struct sha256 s;
    ssize_t n = 1;

    sha256_init(&s);
    while (left > 0 && (n = read(fd, piece, sizeof piece < left ? sizeof piece : left)) > 0) {
        sha256_add(&s, (str){ piece, (size_t)n });
        left -= (size_t)n;
    }
    sha256_end(&s, sum);
    if (n >= 0)
        memcpy(out, hex_encode(a, (str){ (const char *)sum, sizeof sum }).at, SHA256_TEXT);
}

static void identity(const struct stat *st, int64_t out[5])
{
    out[0] = (int64_t)st->st_ino;
    out[1] = st->st_size;
    out[2] = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    out[3] = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
    out[4] = st->st_mode;
}

void mirror_look(struct arena *a, int dir, str name, struct mirror_seen *out)
{
    int64_t is[5] = { 0 };
    struct stat st;

    if (fstatat(dir, name.at, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        *out = (struct mirror_seen){ 0 };
        return;
    }
    identity(&st, is);
    if (out->there && memcmp(is, out->is, sizeof is) == 0)
        return;
    *out = (struct mirror_seen){ .there = true };
    memcpy(out->is, is, sizeof is);
    int fd = S_ISREG(st.st_mode)
                 ? openat(dir, name.at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                 : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        hash_of(a, fd, out->sha256);
    if (fd >= 0)
        close(fd);
}

/* ---- writing ---- */

static err text_put(struct arena *a, int fd, str name, str text)
{
    bool good = true;

    while (good && text.len) {
        ssize_t n = write(fd, text.at, text.len);
        good = n > 0 || (n < 0 && errno == EINTR);
        text = str_slice(text, n > 0 ? (size_t)n : 0, text.len);
    }
    return good ? NULL : failed(a, name, "write");
}

/* The other name is always the same: what is left of one who was killed while writing is in nobody's
 * way. */
err mirror_put(struct arena *a, int dir, str name, str text, struct mirror_seen *out)
{
    const char *fresh = arena_printf(a, "." STR_FMT ".baton", STR_ARG(name)).at;

    unlinkat(dir, fresh, 0);
    int fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return failed(a, name, "make");
    give(dir, fresh);
    err e = text_put(a, fd, name, text);
    close(fd);
    if (!e && renameat(dir, fresh, dir, name.at) < 0)
        e = failed(a, name, "write");
    if (e)
        unlinkat(dir, fresh, 0);
    else
        mirror_look(a, dir, name, out);
    return e;
}

err mirror_set_aside(struct arena *a, int dir, str name, str *kept)
{
    struct stat st;

    for (int i = 1; i <= ASIDE_MAX; i++) {
        *kept = i == 1 ? arena_printf(a, STR_FMT ".before-baton", STR_ARG(name))
                       : arena_printf(a, STR_FMT ".before-baton-%d", STR_ARG(name), i);
        if (fstatat(dir, kept->at, &st, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        return renameat(dir, name.at, dir, kept->at) == 0 ? NULL : failed(a, name, "keep beside");
    }
    return err_new(a, ERR_CONFLICT,
                   STR_FMT " is not ours, and %d others of that name were kept already",
                   STR_ARG(name), ASIDE_MAX);
}
