/* diff_array.h: which elements of two arrays correspond to each other.
 *
 * Private to json/. Knows nothing of patches: see diff.c. */
#ifndef JSON_DIFF_ARRAY_H
#define JSON_DIFF_ARRAY_H

#include "json/json.h"

#define DIFF_NONE UINT32_MAX

/* A value with what comparing it needs, found once for all values below it as well. */
struct diff_node {
    const struct json *value;
    struct diff_node *kids; /* of its elements or members, in order */
    uint64_t hash;          /* the same for equal values */
    size_t bytes;           /* as printed; of the old document nobody asks */
};

bool diff_same(const struct diff_node *a, const struct diff_node *b);

/* For each element of `to`, the one of `from` that it is or came from, or DIFF_NONE; no two come
 * from the same. Takes what it compared off `steps`, and with less care when that becomes 0. */
const uint32_t *diff_match(struct arena *a, const struct diff_node *from,
                           const struct diff_node *to, uint64_t *steps);

/* Of the elements of `to` that have a partner, those that can stay while the others move: as many
 * as possible. */
const bool *diff_stays(struct arena *a, const uint32_t *partner, uint32_t count);

#endif
