/* edit.h: changes to a document in place, each of which can be taken back.
 *
 * Private to json/. An edit remembers what it overwrote. Undoing the edits in
 * reverse puts every byte of the tree back where it was; therefore an edit may
 * keep pointers into vectors that later edits move or replace. Knows nothing
 * of paths and patches. */
#ifndef JSON_EDIT_H
#define JSON_EDIT_H

#include "json/json.h"

#define EDIT_NONE UINT32_MAX /* no such element or member */

struct edits {
    struct arena *arena;
    struct edit *last;
};

static inline struct edits edits_in(struct arena *a)
{
    return (struct edits){ .arena = a };
}

/* The value at a place becomes another one; the place may be the whole document. */
void edit_set(struct edits *e, struct json *at, struct json value);

/* A new element in front of the one at `index`, or behind the last one. */
void edit_insert(struct edits *e, struct json *array, uint32_t index, struct json value);

/* A new member behind the others, of a name that the object does not have. The name is copied. */
void edit_append(struct edits *e, struct json *object, str name, struct json value);

/* Elements or members disappear; their indexes are ascending and count as before the removal. */
void edit_remove(struct edits *e, struct json *container, const uint32_t *indexes, uint32_t count);

/* Takes all of them back. */
void edits_undo(struct edits *e);

/* The index of a member by its name, or EDIT_NONE. */
uint32_t edit_find(const struct json *object, str name);

/* For each member of `of`, the index of the member of `in` that has its name, or EDIT_NONE. Not
 * quadratic, however wide the objects are and whatever their names. */
const uint32_t *edit_match(struct arena *a, const struct json *of, const struct json *in);

/* Whether at most `most` containers are inside each other, the outermost counted. */
bool edit_depth_within(const struct json *j, uint32_t most);

#endif
