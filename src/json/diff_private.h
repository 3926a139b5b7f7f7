/* diff_private.h: a patch on its way. Private to json/diff*.c.
 *
 *   diff.c         documents compared with care
 *   diff_array.c   … which elements of two arrays correspond
 *   diff_coarse.c  documents of so many values that care would take too long */
#ifndef JSON_DIFF_PRIVATE_H
#define JSON_DIFF_PRIVATE_H

#include "json/diff_array.h"
#include "json/pointer.h"

struct diff {
    struct arena *arena, *scratch; /* scratch goes when the patch is done */
    struct json ops;
    size_t bytes;    /* of the operations, as printed, with a comma after each */
    struct buf path; /* of the values that are being compared */
    uint64_t steps;  /* that are left */
    uint64_t work;   /* of applying the patch: what its removals, moves and additions shift */
};

/* One operation at the current path. `from` is of a move; `value` may be NULL. */
void diff_emit(struct diff *d, const char *name, const str *from, const struct diff_node *value);

/* How many bytes a text has when it is printed. */
size_t diff_string_bytes(str s);

/* An operation shifts the elements or members of a container from `index` on. */
void diff_shifts(struct diff *d, const struct json *container, uint32_t index);

/* The whole document instead of what was found. */
void diff_replace_all(struct diff *d, const struct json *to);

void diff_coarse(struct diff *d, const struct json *from, const struct json *to);

static inline size_t path_enter(struct diff *d, str name)
{
    size_t len = d->path.len;
    json_pointer_add(&d->path, name);
    return len;
}

static inline size_t path_enter_index(struct diff *d, size_t index)
{
    size_t len = d->path.len;
    json_pointer_add_index(&d->path, index);
    return len;
}

static inline void path_leave(struct diff *d, size_t len)
{
    d->path.len = len;
}

#endif
