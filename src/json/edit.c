/* edit.c: changes to a document in place, each of which can be taken back. */
#include "json/edit.h"

#include "json/member.h"

#include <assert.h>
#include <stdlib.h>

#define SCANNED_MAX 64 /* members to search one by one; for more, sorting bounds the cost */

struct edit {
    struct edit *previous;
    void (*undo)(const struct edit *edit);
    struct json *at; /* the place or the container that was changed */
    struct json old; /* what it held */
    uint32_t index;  /* of an insertion */

    uint32_t count; /* of removals */
    const uint32_t *indexes;
    char *removed;
};

/* ---- vectors of elements or of members ---- */

static size_t element_size(const struct json *container)
{
    assert(container->kind == JSON_ARRAY || container->kind == JSON_OBJECT);
    return container->kind == JSON_ARRAY ? sizeof(struct json) : sizeof(struct json_member);
}

static char *element_at(const struct json *container, uint32_t index)
{
    return (char *)container->items + index * element_size(container);
}

/* Shifts the elements from index `from` on, up to `end`, to index `to`. */
static void shift(struct json *container, uint32_t from, uint32_t end, uint32_t to)
{
    if (end > from)
        memmove(element_at(container, to), element_at(container, from),
                (end - from) * element_size(container));
}

/* Makes room for one more. The old vector stays as it is, for undo to return to. */
static void make_room(struct arena *a, struct json *container)
{
    uint32_t room = container->room ? 1u << container->room : container->len;
    uint8_t log = 2;

    if (container->len < room)
        return;
    while (1u << log <= container->len)
        log++;
    assert(log < 31);
    void *grown = arena_array(a, (size_t)1 << log, element_size(container));
    if (container->len)
        memcpy(grown, container->items, container->len * element_size(container));
    container->items = grown;
    container->room = log;
}

/* ---- edits and their inverses ---- */

static struct edit *record(struct edits *e, struct json *at, void (*undo)(const struct edit *))
{
    struct edit *edit = ARENA_NEW(e->arena, struct edit);
    *edit = (struct edit){ .previous = e->last, .undo = undo, .at = at, .old = *at };
    e->last = edit;
    return edit;
}

static void undo_set(const struct edit *edit)
{
    *edit->at = edit->old;
}

void edit_set(struct edits *e, struct json *at, struct json value)
{
    record(e, at, undo_set);
    *at = value;
}

static void undo_insert(const struct edit *edit)
{
    /* An insertion that made the vector grow left the old one untouched. */
    if (edit->at->items == edit->old.items)
        shift(edit->at, edit->index + 1, edit->at->len, edit->index);
    *edit->at = edit->old;
}

/* Opens a gap of one element and gives its address. */
static void *insert(struct edits *e, struct json *container, uint32_t index)
{
    assert(index <= container->len);
    record(e, container, undo_insert)->index = index;
    make_room(e->arena, container);
    shift(container, index, container->len, index + 1);
    container->len++;
    return element_at(container, index);
}

void edit_insert(struct edits *e, struct json *array, uint32_t index, struct json value)
{
    assert(array->kind == JSON_ARRAY);
    *(struct json *)insert(e, array, index) = value;
}

void edit_append(struct edits *e, struct json *object, str name, struct json value)
{
    assert(object->kind == JSON_OBJECT);
    str own = arena_copy(e->arena, name);
    struct json_member *m = insert(e, object, object->len);
    member_name(m, own);
    m->value = value;
}

static void undo_remove(const struct edit *edit)
{
    struct json *container = edit->at;
    size_t size = element_size(container);
    uint32_t kept = container->len, end = edit->old.len;

    for (uint32_t k = edit->count; k-- > 0;) {
        uint32_t index = edit->indexes[k], behind = end - index - 1;
        shift(container, kept - behind, kept, index + 1);
        memcpy(element_at(container, index), edit->removed + k * size, size);
        kept -= behind;
        end = index;
    }
    *container = edit->old;
}

void edit_remove(struct edits *e, struct json *container, const uint32_t *indexes, uint32_t count)
{
    if (count == 0)
        return;
    size_t size = element_size(container);
    struct edit *edit = record(e, container, undo_remove);
    uint32_t *own = ARENA_ARRAY(e->arena, uint32_t, count);
    uint32_t kept = indexes[0];

    edit->count = count;
    edit->indexes = memcpy(own, indexes, count * sizeof *own);
    edit->removed = arena_array(e->arena, count, size);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t next = k + 1 < count ? indexes[k + 1] : container->len;
        assert(indexes[k] < next);
        memcpy(edit->removed + k * size, element_at(container, indexes[k]), size);
        shift(container, indexes[k] + 1, next, kept);
        kept += next - indexes[k] - 1;
    }
    container->len = kept;
}

void edits_undo(struct edits *e)
{
    for (; e->last; e->last = e->last->previous)
        e->last->undo(e->last);
}

/* ---- members by name ---- */

uint32_t edit_find(const struct json *object, str name)
{
    struct json_member sought;

    member_name(&sought, name);
    for (uint32_t i = 0; i < object->len; i++)
        if (member_same_name(&object->members[i], &sought))
            return i;
    return EDIT_NONE;
}

/* Two versions of an object mostly have their members in the same order, so each search begins
 * behind the place of the last one. */
static void match_by_scan(const struct json *of, const struct json *in, uint32_t *found)
{
    uint32_t start = 0;

    for (uint32_t i = 0; i < of->len; i++) {
        found[i] = EDIT_NONE;
        for (uint32_t step = 0, k = start; step < in->len; step++) {
            if (k >= in->len)
                k = 0;
            if (member_same_name(&of->members[i], &in->members[k])) {
                found[i] = k;
                start = k + 1;
                break;
            }
            k++;
        }
    }
}

static const struct json_member **sorted(struct arena *a, const struct json *object)
{
    const struct json_member **list = ARENA_ARRAY(a, const struct json_member *, object->len);

    for (uint32_t i = 0; i < object->len; i++)
        list[i] = &object->members[i];
    qsort(list, object->len, sizeof *list, member_order);
    return list;
}

static void match_by_order(struct arena *a, const struct json *of, const struct json *in,
                           uint32_t *found)
{
    const struct json_member **left = sorted(a, of), **right = sorted(a, in);

    for (uint32_t i = 0, k = 0; i < of->len; i++) {
        while (k < in->len && member_order(&right[k], &left[i]) < 0)
            k++;
        bool same = k < in->len && member_same_name(left[i], right[k]);
        found[left[i] - of->members] = same ? (uint32_t)(right[k] - in->members) : EDIT_NONE;
    }
}

const uint32_t *edit_match(struct arena *a, const struct json *of, const struct json *in)
{
    uint32_t *found = ARENA_ARRAY(a, uint32_t, of->len);

    if (of->len <= SCANNED_MAX || in->len <= SCANNED_MAX)
        match_by_scan(of, in, found);
    else
        match_by_order(a, of, in, found);
    return found;
}

bool edit_depth_within(const struct json *j, uint32_t most)
{
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return true;
    if (most == 0)
        return false;
    for (uint32_t i = 0; i < j->len; i++)
        if (!edit_depth_within(j->kind == JSON_ARRAY ? &j->items[i] : &j->members[i].value,
                               most - 1))
            return false;
    return true;
}
