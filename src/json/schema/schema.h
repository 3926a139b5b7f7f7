/* schema.h: JSON Schema draft-07, 2019-09 and 2020-12.
 *
 * A schema text is compiled once into an immutable program, shared between
 * threads by reference count. Checking a document against it allocates nothing;
 * only when the document does not fit, explaining it does. */
#ifndef JSON_SCHEMA_SCHEMA_H
#define JSON_SCHEMA_SCHEMA_H

#include "json/json.h"

#define SCHEMA_STEPS_MAX 1000000

/* What a text may hold: schemas inside it, and different patterns, each of which takes as long as
 * some schemas do. A program is made again whenever it is not at hand, so that must not take long. */
#define SCHEMA_PARTS_MAX 25000
#define SCHEMA_PATTERN_PARTS 20

struct schema;

struct schema_document {
    str uri;
    const struct json *text;
};

struct violation {
    str pointer; /* where in the document, or in the schema */
    str keyword; /* of the schema: "enum", "required" … */
    str message; /* expected, found, and where it helps the nearest allowed value */
};

/* What others take and we do too, although it is not as it should be; the first few of it. */
#define SCHEMA_WARNINGS_MAX 20

struct schema_warnings {
    struct violation items[SCHEMA_WARNINGS_MAX];
    size_t count;
};

struct schema_options {
    /* For a text without $schema; empty: 2020-12. */
    str dialect;

    /* False: `format` is an annotation, unless a vocabulary of the meta-schema asserts it. */
    bool assert_formats;

    /* True: an "integer" is one of 64 bits. For who reads them as such: what does not fit must not
     * become something else. */
    bool integers_64;

    /* It was taken before, perhaps when there were other limits: what cannot be checked in the end is
     * found when it is checked. */
    bool is_known;

    uint32_t parts_max; /* 0: SCHEMA_PARTS_MAX */

    struct schema_warnings *warnings; /* gets them, in the arena of the errors; NULL: nobody asks */

    /* What $ref and $schema may reach, beside the meta-schemas. */
    const struct schema_document *documents;
    size_t document_count;
};

/* Compiles. `options` may be NULL. The program keeps copies of what it needs of the text. UNFIT,
 * with a pointer into the schema, when the text is not a valid schema of its dialect, or refers to
 * something that is not there; TOO_LARGE when it has too many parts. It is immutable, and threads
 * may share it until it is freed. */
err schema_compile(struct arena *a, const struct json *text, const struct schema_options *options,
                   struct schema **out);
void schema_free(struct schema *s);

/* Has it freed when that arena is. */
void schema_free_with(struct arena *a, struct schema *s);

enum schema_verdict {
    SCHEMA_FITS,
    SCHEMA_UNFIT,
    SCHEMA_EXHAUSTED, /* the step budget or a pattern's match limit was used up */
};

enum schema_verdict schema_check(const struct schema *s, const struct json *doc);

/* What does not fit, at most `most` of them, the most useful first; 0 when the document fits. */
size_t schema_explain(struct arena *a, const struct schema *s, const struct json *doc, size_t most,
                      const struct violation **out);

/* The check as operations want it: NULL, or UNFIT whose members hold "errors": [{pointer, keyword,
 * message}], at most 50 of them. */
err schema_require(struct arena *a, const struct schema *s, const struct json *doc);

#endif
