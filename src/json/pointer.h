/* pointer.h: JSON Pointer, RFC 6901. */
#ifndef JSON_POINTER_H
#define JSON_POINTER_H

#include "json/json.h"

struct json_pointer {
    str *tokens; /* unescaped */
    size_t count;
};

/* INVALID when the text is neither empty nor begins with '/', or holds a '~' that is not ~0 or ~1. */
err json_pointer_parse(struct arena *a, str text, struct json_pointer *out);

/* The value there. INVALID for a malformed pointer; NOT_FOUND, saying how far it got and what is
 * there instead, when there is no such value. */
err json_pointer_get(struct arena *a, const struct json *doc, str pointer, const struct json **out);

/* One step: a member by name or an element by index; NULL when there is none. */
const struct json *json_pointer_step(const struct json *at, str token);

/* An array index as pointers write it: digits without leading zeros. False for anything else. */
bool json_pointer_index(str token, uint32_t *out);

/* Appends "/" and the escaped token. */
void json_pointer_add(struct buf *out, str token);
void json_pointer_add_index(struct buf *out, size_t index);

#endif
