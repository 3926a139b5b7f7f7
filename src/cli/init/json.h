/* json.h: changes of a JSON text that leave the rest of it as it was written.
 *
 * A value is put, appended or taken out where a pointer says, and only the bytes of it are others
 * afterwards: members keep their order, lines their indentation and their ends. What is added looks
 * like what is there: on one line, or indented as its neighbours are. A mark of byte order, comments,
 * and a comma before a closing bracket may be in the text, and stay.
 *
 * An empty container that somebody has written is told from one that was made here by how it is
 * filled: behind an empty line, or, on one line, as nothing else is written here. So it is left when
 * it is empty again, and one that was made here goes. Knows no files. */
#ifndef CLI_INIT_JSON_H
#define CLI_INIT_JSON_H

#include "json/json.h"

struct json_text {
    struct arena *arena;
    str text;                /* empty: there is none yet */
    str plain;               /* the same bytes as JSON alone has them */
    const struct json *json; /* what it says; NULL: none */
    bool made;               /* there was none, so that the object around all is ours */
};

/* INVALID: it is not JSON; the message says where. */
err json_text_open(struct arena *a, str text, struct json_text *out);

/* The same bytes with spaces for a mark of byte order, for comments, and for a comma between a
 * value and a closing bracket. */
str json_text_plain(struct arena *a, str text);

/* The value there; NULL: none. */
const struct json *json_text_get(const struct json_text *t, const char *pointer);

/* Puts a value, in the place of the one that is there; objects on the way are made. INVALID: there
 * is something else than an object on the way. */
err json_text_set(struct json_text *t, const char *pointer, const struct json *value);

/* Appends an element to the array there, which is made when there is none. INVALID: it is none. */
err json_text_push(struct json_text *t, const char *pointer, const struct json *value);

/* Takes a member or an element out, with the containers around it that hold nothing any more and
 * were made here; nothing is done when it is not there. */
void json_text_drop(struct json_text *t, const char *pointer);

/* Whether somebody has put comments into the value there, or the container of that name. */
bool json_text_commented(const struct json_text *t, const char *pointer);

#endif
