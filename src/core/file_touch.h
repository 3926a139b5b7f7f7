/* file_touch.h: which member of a project is at which file.
 *
 * What a member has read or written in its working tree is kept by file, with when and how much. One
 * that comes to a file which another has changed since it last looked is told of that, once: before it
 * writes where its client shows that, else with what the client says to it next. Nothing is held up.
 *
 * A file is its machine and its whole path, so that working trees are apart. Paths are texts here:
 * nobody looks at a disk. */
#ifndef CORE_FILE_TOUCH_H
#define CORE_FILE_TOUCH_H

#include "core/session.h"

enum {
    FILE_PATH_MAX = 1000,         /* bytes of a whole path; longer ones are not kept */
    FILE_TOUCHES_MAX = 2000,      /* of a session: the oldest go */
    FILE_TOUCHES_AT_ONCE_MAX = 64 /* of what a client tells at once */
};

struct file_touch {
    str session_id;
    str file;               /* its machine, a colon and its whole path */
    str project;            /* of the session, then */
    str path;               /* within the session's working tree */
    int64_t seen_at_ms;     /* it read or wrote it, or was told what others did */
    int64_t wrote_at_ms;    /* 0: it has not */
    int64_t added, removed; /* lines, by all its writes */
};

/* The table `file_touch`: see columns.h. */
// clang-format off
#define FILE_TOUCH_COLUMNS(X, f)               \
    X(session_id, TEXT, INSERT, f->session_id) \
    X(file,       TEXT, INSERT, f->file)       \
    X(project,    TEXT, INDEX,  f->project)    \
    X(path,       TEXT, STORE,  f->path)       \
    X(seen_at,    TIME, INDEX,  f->seen_at_ms) \
    X(wrote_at,   TIME, STORE,  f->wrote_at_ms)\
    X(added,      INT,  STORE,  f->added)      \
    X(removed,    INT,  STORE,  f->removed)
#define FILE_TOUCH_NAMES COLUMNS(FILE_TOUCH_COLUMNS)
// clang-format on

/* The whole path of a file, without dots and double slashes; `dir` is where the client is. False: it is
 * none, too long, or has signs that no screen should show. */
bool file_path_clean(struct arena *a, str dir, str path, str *out);

enum file_act { FILE_BEFORE_WRITE, FILE_READ, FILE_WROTE };

/* One file that a client tells of. */
struct file_change {
    str path; /* whole, or from where the client is */
    int64_t added, removed;
};

/* A member reads, writes or is about to write files. What it is to be told of them is in `told`; empty:
 * nothing. Files outside of its working tree are nobody's, and so are those of a session that is no
 * member. */
err file_touch_note(struct tx *tx, const struct session *s, enum file_act act, str cwd,
                    const struct file_change *files, size_t count, str *told);

/* Who is at a file. */
struct file_member {
    struct file_touch touch;
    str session_name;
};

/* Members at work and the files that they are at, by file and the last writer first, of at most `limit`
 * files after one; `shared`: those that two or more are at, and one of them has written. */
err file_touch_list(struct tx *tx, str project, str after, bool shared, int64_t limit,
                    const struct file_member **out, size_t *count);

#endif
