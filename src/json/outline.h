/* outline.h: which parts of a value fit into so many characters.
 *
 * A part is shown whole or not at all: what is too large is named, with what it is and how large, so
 * that whoever reads can ask for it. Does not know how it is shown. */
#ifndef JSON_OUTLINE_H
#define JSON_OUTLINE_H

#include "json/json.h"

struct outline_part {
    str pointer; /* where it is */
    const struct json *value;
    size_t chars; /* of its compact text; a character of several bytes counts as one */
    bool shown;
};

/* The characters of a value's compact text. */
size_t outline_chars(const struct json *value);

/* How many members, elements or characters a value has; other kinds: 0. */
size_t outline_length(const struct json *value);

/* The members of the object that is found at the pointer, in their order; of anything else there is
 * one part, itself: an array without some of its elements would count them wrong. */
size_t outline_parts(struct arena *a, str pointer, const struct json *value,
                     struct outline_part **out);

/* Says which of them are shown: all, if they fit, else the smallest, so that as many as possible
 * are. Each takes its own characters, those of its pointer, and so many `around` it. Gives how many
 * are not shown. */
size_t outline_choose(struct arena *a, struct outline_part *parts, size_t count, size_t around,
                      size_t chars_max);

#endif
