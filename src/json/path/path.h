/* path.h: JSONPath, RFC 9535, complete with filters and functions.
 *
 * A query is compiled once and run over any number of documents. Running is
 * bounded: a step budget ends queries that would visit more than is sane. */
#ifndef JSON_PATH_PATH_H
#define JSON_PATH_PATH_H

#include "json/json.h"

#define JSON_PATH_STEPS_MAX 4000000

struct json_path; /* lives in the arena that it was compiled in */

/* INVALID, with the position and what was expected, when the query is not well-formed or not
 * well-typed. */
err json_path_compile(struct arena *a, str query, const struct json_path **out);

struct json_match {
    const struct json *value;
    const struct json_path_location *location; /* print it with json_path_print */
};

struct json_matches {
    struct json_match *items;
    size_t count;
};

/* All matches in the order of the RFC. LIMIT when the step budget is used up. */
err json_path_run(struct arena *a, const struct json_path *path, const struct json *doc,
                  struct json_matches *out);

/* The same for who can use no more than so many: TOO_LARGE when there are more. */
err json_path_run_most(struct arena *a, const struct json_path *path, const struct json *doc,
                       size_t most, struct json_matches *out);

/* How many bytes the location takes as a JSON Pointer, at least. */
size_t json_path_pointer_size(const struct json_path_location *location);

/* The normalized path of a match: $['a'][0]. */
void json_path_print(struct buf *out, const struct json_path_location *location);

/* The same location as a JSON Pointer: /a/0. */
void json_path_print_pointer(struct buf *out, const struct json_path_location *location);

#endif
