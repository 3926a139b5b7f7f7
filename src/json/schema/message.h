/* message.h: the words of a violation. For json/schema/ and those who explain other documents.
 *
 * An agent reads them and must repair its document, so they show values as
 * JSON, cut short where they are long, and name the allowed value that is
 * nearest to what was found. Knows nothing of the program that found it. */
#ifndef JSON_SCHEMA_MESSAGE_H
#define JSON_SCHEMA_MESSAGE_H

#include "json/schema/schema.h"

/* A message with its first words. */
static inline struct buf message_start(struct arena *a, const char *words)
{
    struct buf m = buf_in(a);
    buf_add(&m, str_from(words));
    return m;
}

/* A value as JSON; a long text is cut, a long container only counted. */
void message_value(struct buf *out, const struct json *v);

/* A name as JSON, and a pattern as it is, each cut when it is long. */
void message_name(struct buf *out, str name);
void message_pattern(struct buf *out, str pattern);

/* "1 element", "3 elements". */
void message_count(struct buf *out, uint64_t count, const char *noun);

/* "a string or null": the kinds of a node's `kinds` and `whole`. */
void message_kinds(struct buf *out, unsigned kinds, bool whole);

/* "a, b and 7 more": the first names, quoted. */
void message_names(struct buf *out, const str *names, size_t count);

/* `"a"`, or `one of "a", "b"`: the values of an enum. */
void message_values(struct buf *out, const struct json *values, size_t count);

/* Looks for the text that is nearest to another one. */
struct nearest {
    str wanted;
    uint32_t *cells_left; /* of work, shared by many searches; none left: nothing is near */
    unsigned best;        /* changes from the wanted text to the one found; at first too many */
    const void *found;    /* the thing of the best text; NULL: none is near enough */
};

struct nearest nearest_to(str wanted, uint32_t *cells_left);
void nearest_try(struct nearest *n, str text, const void *thing);

/* `; did you mean "a" or "b"?`: the allowed values that begin with `v` as with a word of their own,
 * "async" as "async_poll"; else the one that is nearest to it, as 1 is to "1"; or nothing. */
void message_meant(struct buf *out, const struct json *v, const struct json *values, size_t count,
                   uint32_t *cells_left);

/* `: this is JSON inside of a string …`, if `v` is a string that holds a value of those kinds, none of
 * which is a string. */
void message_quoted(struct buf *out, const struct json *v, unsigned kinds);

/* `"errors":[{"pointer":…,"keyword":…,"message":…}]`: the members of an error. */
str message_errors(struct arena *a, const struct violation *list, size_t count);

#endif
