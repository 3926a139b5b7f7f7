/* init_json.h: changes of a JSON text that leave the rest of it as it was written.
 *
 * A value is put, appended or taken out where a pointer says, and only the bytes of it are others
 * afterwards: members keep their order, lines their indentation and their ends. What is added looks
 * like what is there: on one line, or indented as its neighbours are. Knows no files. */
#ifndef CLI_INIT_JSON_H
#define CLI_INIT_JSON_H

#include "json/json.h"

struct json_text {
    struct arena *arena;
    str text;                /* empty: there is none yet */
    const struct json *json; /* what it says; NULL: none */
};

/* INVALID: it is not JSON; the message says where. */
err json_text_open(struct arena *a, str text, struct json_text *out);

/* The same bytes with comments, and commas before a closing bracket, as spaces. Whether there were
 * any, *had says. */
str json_text_plain(struct arena *a, str text, bool *had);

/* The value there; NULL: none. */
const struct json *json_text_get(const struct json_text *t, const char *pointer);

/* Puts a value, in the place of the one that is there; objects on the way are made. INVALID: there
 * is something else than an object on the way. */
err json_text_set(struct json_text *t, const char *pointer, const struct json *value);

/* Appends an element to the array there, which is made when there is none. INVALID: it is none. */
err json_text_push(struct json_text *t, const char *pointer, const struct json *value);

/* Takes a member or an element out; nothing is done when it is not there. */
void json_text_drop(struct json_text *t, const char *pointer);

/* The same when the container there is empty. */
void json_text_drop_empty(struct json_text *t, const char *pointer);

#endif
