/* diff.h: two documents → the patch between them. */
#ifndef JSON_DIFF_H
#define JSON_DIFF_H

#include "json/json.h"

/* A small readable JSON Patch (add, remove, replace, and move where an element only moved) that
 * turns `from` into `to`, as an array of operations living in the arena. Arrays of objects with an
 * id-like member ("id", "key", "name", or one ending in "_id") are matched by it. When finding the
 * smallest patch would take more than `steps` comparisons (0: a million), the parts not yet
 * compared are replaced whole; of documents with very many values, only what stands in the same place
 * is compared. `work` (may be NULL) gets what applying the patch takes, as json_patch counts it; a
 * patch that would take more than JSON_PATCH_WORK replaces the document. json_equal(patch(from), to) always holds; equal documents give an
 * empty array. Values in the patch borrow from `to`. */
struct json json_diff(struct arena *a, const struct json *from, const struct json *to,
                      uint64_t steps, uint64_t *work);

#endif
