/* truncate.h: answers that hold no more of a document than somebody can read. Private to ops/.
 *
 * Whatever is shown is whole; what was cut is listed with what it is and how large, and the answer
 * says so and how to get it. */
#ifndef OPS_TRUNCATE_H
#define OPS_TRUNCATE_H

#include "json/path/path.h"

#define TRUNCATE_NONE SIZE_MAX /* as many characters as there are */

/* A member with the value at the pointer, or with those of its members that fit. */
void write_truncated_value(struct arena *a, struct json_writer *w, str name, str pointer,
                           const struct json *value, size_t chars_max);

/* The member `patch`: a part of one would be another patch, so it is there whole or not at all. */
void write_truncated_patch(struct arena *a, struct json_writer *w, const struct json *patch,
                           size_t chars_max);

/* The member `matches`, with those that fit. */
void write_truncated_matches(struct arena *a, struct json_writer *w,
                             const struct json_matches *found, size_t chars_max);

#endif
