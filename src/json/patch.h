/* patch.h: JSON Patch (RFC 6902) and Merge Patch (RFC 7396), in place.
 *
 * The caller owns the document: a struct json whose arrays, objects and texts
 * all live in the arena that is passed, as json_copy makes it. A patch that fails leaves the document as it was.
 * Cost follows the patch and the width of the containers that it touches, never
 * the whole document, so a thousand patches can be replayed on one. */
#ifndef JSON_PATCH_H
#define JSON_PATCH_H

#include "json/json.h"

struct json_patch_limits {
    uint32_t operations_max; /* 0: 1,000 */
    size_t copy_bytes_max;   /* of all `copy` operations together, as printed; 0: 2 MiB */
    size_t result_bytes_max; /* of the document afterwards, as printed; 0: not checked  */
    uint32_t depth_max;      /* of the document afterwards; 0: JSON_DEPTH_MAX           */
    uint64_t work_max; /* values looked at, and 64 bytes shifted for one; 0: JSON_PATCH_WORK */
    uint64_t *worked;  /* gets how much of that was used; may be NULL             */
};

/* About 20 ms. A shift in an array of n elements costs n / 4, so this is eight million elements. */
#define JSON_PATCH_WORK 2000000

/* Applies all operations or none. Values are copied out of `patch` into the arena. Errors name the
 * operation by its index: INVALID for a malformed patch, UNFIT when a path does not exist (its
 * members hold "index"), CONFLICT when a `test` fails, TOO_LARGE beyond a limit. */
err json_patch(struct arena *a, struct json *doc, const struct json *patch,
               const struct json_patch_limits *limits);

/* The same for a merge patch, which can fail only by its limits. */
err json_merge(struct arena *a, struct json *doc, const struct json *patch,
               const struct json_patch_limits *limits);

#endif
