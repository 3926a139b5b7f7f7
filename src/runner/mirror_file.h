/* mirror_file.h: one file that is written into somebody else's folder.
 *
 * Whoever works in that folder can put anything there, also while it is looked at. So no symbolic link
 * is followed below it, a file comes into being whole and by another name, and nothing is removed: what
 * is in the way, and is not ours, is kept beside. */
#ifndef RUNNER_MIRROR_FILE_H
#define RUNNER_MIRROR_FILE_H

#include "base/digest.h"
#include "base/err.h"

enum { SHA256_TEXT = 2 * SHA256_BYTES + 1 };

/* What is there now. */
struct mirror_seen {
    bool there;
    char sha256[SHA256_TEXT]; /* of its bytes; empty: it is no file, or cannot be read */
    int64_t is[5];            /* what changes when somebody touches it */
};

/* Opens the folder of a file, and makes what is missing on the way to it. `path` is below `root`, in
 * .claude/ or workspace/. INVALID: it is not; FORBIDDEN: a link is in the way; NOT_FOUND: there is no
 * such root; or what else is in the way. */
err mirror_folder_open(struct arena *a, str root, str path, int *dir, str *name);

/* Looks at it. It is read only when it was touched since `out` was last set. */
void mirror_look(struct arena *a, int dir, str name, struct mirror_seen *out);

/* Writes it anew: there is the old file, or the new one whole. */
err mirror_put(struct arena *a, int dir, str name, str text, struct mirror_seen *out);

/* Keeps what is there beside, as NAME.before-baton. */
err mirror_set_aside(struct arena *a, int dir, str name, str *kept);

#endif
