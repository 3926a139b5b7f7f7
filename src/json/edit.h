/* edit.h: changes to a document in place, each of which can be taken back.
 *
 * Private to json/. An edit remembers what it overwrote. Undoing the edits in
 * reverse puts every byte of the tree back where it was; therefore an edit may
 * keep pointers into vectors that later edits move or replace. What is moved,
 * copied or looked at is counted. Knows nothing of paths and patches. */
#ifndef JSON_EDIT_H
#define JSON_EDIT_H

#include "json/json.h"

struct edits {
    struct arena *arena;
    struct edit *last;
    struct wide *wide; /* objects with many members, and what is known of their names */
    uint64_t work;     /* that is left, in the time of looking at a value */
};

/* `work` is what may be spent; when it comes to 0, what was found is void. */
static inline struct edits edits_in(struct arena *a, uint64_t work)
{
    return (struct edits){ .arena = a, .work = work };
}

static inline void edit_charge(struct edits *e, uint64_t work)
{
    e->work = e->work > work ? e->work - work : 0;
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

/* The index of a member by its name, or JSON_NONE. An object that is asked often gets an index. */
uint32_t edit_find(struct edits *e, const struct json *object, str name);

/* Whether at most `most` containers are inside each other, the outermost counted. */
bool edit_depth_within(struct edits *e, const struct json *j, uint32_t most);

#endif
