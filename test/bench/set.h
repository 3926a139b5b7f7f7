/* set.h: the documents that are measured, parsed and as files.
 *
 * A set is one document, which caches and branch predictors soon know by heart,
 * or many different ones, which is what a server sees. */
#ifndef BENCH_SET_H
#define BENCH_SET_H

#include "json/json.h"

#define MEGABYTE (1u << 20)

enum { SMALL_HOT, SMALL_MANY, LARGE_HOT, LARGE_MANY, SHAPES };

struct shape {
    const char *name, *label;
    uint64_t seed;
    size_t tasks, task_bytes, count;
};

extern const struct shape shapes[SHAPES];

struct set {
    str *texts;
    const struct json **docs;
    size_t count, bytes; /* bytes: of the texts together */
    size_t value_bytes;  /* of the parsed values, without the texts that they point into */
};

/* Texts and values are in the same random order, which is not that of their addresses. */
struct set set_make(struct arena *a, const struct shape *shape);
struct set set_of_one(struct arena *a, str text);

/* Every shape as DIRECTORY/NAME.jsonl, and the documents "strings" and "numbers". */
void sets_write(struct arena *a, const char *directory);

const struct json *parsed(struct arena *a, str text);

/* A benchmark of something that fails is none: both end the program. */
void fail(const char *what, str why) __attribute__((noreturn));
void must(err e);

#endif
