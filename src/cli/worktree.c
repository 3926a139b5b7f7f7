/* worktree.c: which repository a folder is in, by what git has left there. */
#include "cli/worktree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = PATH_MAX + 64 }; /* of a file that holds one path */

enum kind { NOTHING, FOLDER, PLAIN_FILE, ODD };

static enum kind kind_of(str path)
{
    struct stat st;

    if (stat(path.at, &st) < 0)
        return NOTHING;
    return S_ISDIR(st.st_mode) ? FOLDER : S_ISREG(st.st_mode) ? PLAIN_FILE : ODD;
}

static str path_in(struct arena *a, str folder, str name)
{
    if (name.len && name.at[0] == '/')
        return name;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

/* Without links; empty: it is not there. */
static str real_path(struct arena *a, str path)
{
    char *whole = realpath(path.at, NULL);
    str out = arena_copy(a, str_from(whole));

    free(whole);
    return out;
}

/* The one line of a small file; empty: it is none. */
static str line_read(struct arena *a, str path)
{
    char text[LINE_BYTES_MAX];
    int fd = open(path.at, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;

    if (fd >= 0)
        close(fd);
    if (n <= 0 || n == sizeof text || memchr(text, '\0', (size_t)n))
        return STR("");
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    return arena_copy(a, (str){ text, (size_t)n });
}

/* Whether git would take it for a repository: its HEAD may be a link to nowhere. */
static bool is_git_dir(struct arena *a, str path)
{
    struct stat st;

    return lstat(path_in(a, path, STR("HEAD")).at, &st) == 0 &&
           (kind_of(path_in(a, path, STR("commondir"))) == PLAIN_FILE ||
            (kind_of(path_in(a, path, STR("objects"))) == FOLDER &&
             kind_of(path_in(a, path, STR("refs"))) == FOLDER));
}

/* Of a linked worktree, a file in its own directory says where the common one is. */
static str common_of(struct arena *a, str git_dir)
{
    str file = path_in(a, git_dir, STR("commondir"));

    if (kind_of(file) == NOTHING)
        return git_dir;
    str line = line_read(a, file);
    return line.len ? real_path(a, path_in(a, git_dir, line)) : STR("");
}

/* The directory of git that `.git` is or names; empty: none. */
static str git_dir_of(struct arena *a, str dot_git, str folder)
{
    static const str prefix = STR("gitdir: ");

    if (kind_of(dot_git) == FOLDER)
        return real_path(a, dot_git);
    str line = kind_of(dot_git) == PLAIN_FILE ? line_read(a, dot_git) : STR("");
    if (!str_starts(line, prefix) || line.len == prefix.len)
        return STR("");
    line = arena_copy(a, str_slice(line, prefix.len, line.len));
    return real_path(a, path_in(a, folder, line));
}

struct worktree worktree_find(struct arena *a, str folder)
{
    str here = real_path(a, arena_copy(a, folder));
    struct worktree alone;

    if (!here.len)
        here = folder;
    alone = (struct worktree){ here, here };
    for (str at = here; at.len;) {
        str base = str_eq(at, STR("/")) ? STR("") : at;
        str dot_git = arena_printf(a, STR_FMT "/.git", STR_ARG(base)), git_dir = STR("");
        enum kind kind = kind_of(dot_git);
        if (kind != NOTHING)
            git_dir = git_dir_of(a, dot_git, at);
        else if (is_git_dir(a, at))
            git_dir = at; /* a bare one, or a folder inside of .git */
        if (git_dir.len && is_git_dir(a, git_dir)) {
            str common = common_of(a, git_dir);
            return common.len ? (struct worktree){ at, common } : alone;
        }
        if (kind == PLAIN_FILE || kind == ODD)
            return alone; /* git goes no further either */
        if (!base.len)
            break;
        size_t slash = at.len;
        while (slash > 0 && at.at[slash - 1] != '/')
            slash--;
        at = slash > 0 ? arena_copy(a, str_slice(at, 0, slash > 1 ? slash - 1 : 1)) : STR("");
    }
    return alone;
}
