/* worktree.h: which repository a folder is in, by what git has left there.
 *
 * Read, not asked of git: a hook has milliseconds, and git may not be there. A linked worktree has the
 * common directory of the repository that it is of; a submodule is a repository of its own. */
#ifndef CLI_WORKTREE_H
#define CLI_WORKTREE_H

#include "base/arena.h"

struct worktree {
    str top;        /* of the working tree */
    str common_dir; /* git's, "/home/ada/shop/.git": the same for all worktrees of a repository */
};

/* Both are absolute, and no symbolic links. Where there is no repository, or one that is not as git
 * leaves it, both are the folder itself. */
struct worktree worktree_find(struct arena *a, str folder);

#endif
