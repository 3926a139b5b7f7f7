/* mirrors.h: which files show the workflows of a project. Private to ops/. */
#ifndef OPS_MIRRORS_H
#define OPS_MIRRORS_H

#include "core/mirror.h"

/* The kind of file that a path within a project's folder would be, and the execution that its name
 * tells, where it tells one; MIRROR_KINDS: it is none. */
enum mirror_kind mirror_kind_of(str path, str *execution_id);

/* What an agent is told that writes to such a file of its project; empty: nothing. */
err mirror_warning(struct tx *tx, const struct session *s, str cwd, str path, str *out);

#endif
