/* edit.c: changes to a document in place, each of which can be taken back. */
#include "json/edit.h"

#include "json/member.h"

#include <assert.h>

enum {
    SCANNED_MAX = 64, /* members to search one by one */
    ASKED_FEW = 3,    /* times that a wide object is searched before it gets an index */
    STALE_MAX = 1024, /* members that came and went since it was made */

    /* What is done in the time of looking at a value: */
    MOVED_BYTES = 64,
    NAMES_SCANNED = 8,
    NAMES_INDEXED = 2,
    WIDE_SEARCHED = 4,
};

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

static void charge_move(struct edits *e, const struct json *container, uint32_t count)
{
    edit_charge(e, 1 + count * element_size(container) / MOVED_BYTES);
}

/* Shifts the elements from index `from` on, up to `end`, to index `to`. */
static void shift(struct json *container, uint32_t from, uint32_t end, uint32_t to)
{
    if (end > from)
        memmove(element_at(container, to), element_at(container, from),
                (end - from) * element_size(container));
}

/* Makes room for one more. The old vector stays as it is, for undo to return to. */
static void make_room(struct edits *e, struct json *container)
{
    uint32_t room = container->room ? 1u << container->room : container->len;
    uint8_t log = 2;

    if (container->len < room)
        return;
    while (1u << log <= container->len)
        log++;
    assert(log < 31);
    charge_move(e, container, container->len);
    void *grown = arena_array(e->arena, (size_t)1 << log, element_size(container));
    if (container->len)
        memcpy(grown, container->items, container->len * element_size(container));
    container->items = grown;
    container->room = log;
}

/* ---- wide objects ---- */

/* An object is known by its vector, which goes with it when it is moved. The places in its index are
 * those of when it was made. Since then members have come behind the others and some have gone, so
 * one that is still there is at most as many places before its own as have gone. */
struct wide {
    struct wide *next;
    const struct json_member *members;
    uint32_t asked;
    bool indexed, hopeless; /* its names were chosen so that no index helps */
    struct member_index index;
    uint32_t count, gone; /* members when it was made; and removed since */
};

/* The members that came since begin here or later. */
static uint32_t wide_came(const struct wide *w)
{
    return w->count > w->gone ? w->count - w->gone : 0;
}

static struct wide *wide_known(struct edits *e, const struct json_member *members)
{
    struct wide *w = e->wide;
    uint32_t others = 0;

    for (; w && w->members != members; w = w->next)
        others++;
    edit_charge(e, others / WIDE_SEARCHED);
    return w;
}

static struct wide *wide_of(struct edits *e, const struct json *object)
{
    struct wide *w = wide_known(e, object->members);

    if (!w) {
        w = ARENA_NEW(e->arena, struct wide);
        *w = (struct wide){ .next = e->wide, .members = object->members };
        e->wide = w;
    }
    return w;
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
    assert(edit->at->len == edit->old.len + 1); /* as it left it: the later ones are undone */
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
    make_room(e, container);
    charge_move(e, container, container->len - index);
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
    struct wide *w = wide_known(e, object->members);
    struct json_member *m = insert(e, object, object->len);
    if (w)
        w->members = object->members;
    member_name(m, own);
    m->value = value;
}

static void undo_remove(const struct edit *edit)
{
    struct json *container = edit->at;
    size_t size = element_size(container);
    uint32_t kept = container->len, end = edit->old.len;

    assert(kept + edit->count == end);
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
    struct wide *w = container->kind == JSON_OBJECT ? wide_known(e, container->members) : NULL;
    uint32_t *own = ARENA_ARRAY(e->arena, uint32_t, count);
    uint32_t kept = indexes[0];

    charge_move(e, container, container->len - indexes[0]);
    if (w)
        w->gone += count;
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
    assert(kept + count == container->len);
    container->len = kept;
}

void edits_undo(struct edits *e)
{
    e->wide = NULL; /* what is known of them is not undone */
    for (; e->last; e->last = e->last->previous)
        e->last->undo(e->last);
}

/* ---- members by name ---- */

static uint32_t find_by_scan(struct edits *e, const struct json *object, uint32_t from,
                             const struct json_member *sought)
{
    uint32_t at = member_find(object, from, sought);

    edit_charge(e, 1 + ((at == JSON_NONE ? object->len : at) - from) / NAMES_SCANNED);
    return at;
}

static bool wide_index(struct edits *e, struct wide *w, const struct json *object)
{
    uint32_t came = object->len - wide_came(w);

    assert(object->len >= wide_came(w));
    if (w->hopeless || (w->indexed && w->gone + came <= STALE_MAX))
        return w->indexed;
    edit_charge(e, object->len / NAMES_INDEXED);
    w->indexed = member_index_make(&w->index, e->arena, object->members, object->len);
    w->hopeless = !w->indexed;
    w->count = object->len;
    w->gone = 0;
    return w->indexed;
}

static uint32_t find_by_index(struct edits *e, const struct wide *w, const struct json *object,
                              const struct json_member *sought)
{
    uint32_t mask = w->index.slot_count - 1;

    for (uint32_t at = sought->hash & mask; w->index.slots[at].place; at = (at + 1) & mask) {
        uint32_t was = w->index.slots[at].place - 1;
        if (w->index.slots[at].hash != sought->hash)
            continue;
        uint32_t low = was > w->gone ? was - w->gone : 0;
        uint32_t high = was < object->len ? was + 1 : object->len;
        edit_charge(e, 1 + (high > low ? high - low : 0) / NAMES_SCANNED);
        while (high-- > low)
            if (member_same_name(&object->members[high], sought))
                return high;
    }
    return find_by_scan(e, object, wide_came(w), sought);
}

uint32_t edit_find(struct edits *e, const struct json *object, str name)
{
    struct json_member sought;

    member_name(&sought, name);
    if (object->len > SCANNED_MAX) {
        struct wide *w = wide_of(e, object);
        if (w->asked++ >= ASKED_FEW && wide_index(e, w, object))
            return find_by_index(e, w, object, &sought);
    }
    return find_by_scan(e, object, 0, &sought);
}

bool edit_depth_within(struct edits *e, const struct json *j, uint32_t most)
{
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return true;
    if (most == 0)
        return false;
    edit_charge(e, j->len);
    for (uint32_t i = 0; i < j->len && e->work; i++)
        if (!edit_depth_within(e, j->kind == JSON_ARRAY ? &j->items[i] : &j->members[i].value,
                               most - 1))
            return false;
    return true;
}
