/* blame.h: who wrote a part of a state last.
 *
 * The history is walked from the newest version back, and each part is followed
 * to where it was before: through elements that were inserted before it and
 * through moves, until an operation wrote it, something around it, or something
 * in it. A copy counts as written by who copied. */
#ifndef CORE_BLAME_H
#define CORE_BLAME_H

#include "core/state.h"

#define BLAME_PARTS_MAX 1000

struct blame {
    str pointer;            /* where it is now */
    const struct event *by; /* the version that wrote it, as its log row; NULL: not known, but */
    int64_t before;         /* before this version: history that is not kept, or too long to walk */
};

/* The value at a pointer, then each of its elements or members; `cut` when there are more than
 * BLAME_PARTS_MAX of them, or their pointers are too long, and the rest is left off. NOT_FOUND when there is no such value. */
err state_blame(struct tx *tx, const struct state *state, str pointer, const struct blame **out,
                size_t *count, bool *cut);

#endif
