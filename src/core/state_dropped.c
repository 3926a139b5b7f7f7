/* state_dropped.c: what a new document takes away that others have written.
 *
 * Three documents are compared: what the writer knew, what the state was, and what it
 * becomes. What the writer knew is the version that it says it began from, or its last
 * write, with its own changes since then; so what is in the state and not in that is
 * the work of others. Where that cannot be told in bounded time, it is as before there
 * were authors: all members that are gone. */
#include "core/state.h"
#include "core/stored.h"
#include "json/patch.h"
#include "json/pointer.h"

enum {
    VERSIONS_MAX = 100,      /* that are looked at, from the newest back */
    COMPARISONS_MAX = 10000, /* of elements of arrays, in one search */
};

struct search {
    struct buf path;
    struct state_dropped *out;
    int comparisons;
};

static void dropped_add(struct search *s)
{
    if (s->out->count < STATE_DROPPED_SHOWN)
        s->out->pointers[s->out->count] = arena_copy(s->path.arena, buf_str(&s->path));
    s->out->count++;
}

/* Members that the new document does not have any more, whoever wrote them. */
static void missing_find(struct search *s, const struct json *old, const struct json *new)
{
    size_t len = s->path.len;

    if (old->kind != JSON_OBJECT || new->kind != JSON_OBJECT)
        return;
    const uint32_t *there = json_match(s->path.arena, old, new);
    for (uint32_t i = 0; i < old->len; i++) {
        json_pointer_add(&s->path, json_name(&old->members[i]));
        if (there[i] == JSON_NONE)
            dropped_add(s);
        else
            missing_find(s, &old->members[i].value, &new->members[there[i]].value);
        s->path.len = len;
    }
}

/* ---- by author ---- */

/* Whether an array has such an element; of one that is at the same place it is known at once. */
static bool has_item(struct search *s, const struct json *array, const struct json *item,
                     uint32_t place)
{
    if (place < array->len && json_equal(&array->items[place], item))
        return true;
    for (uint32_t i = 0; i < array->len && s->comparisons > 0; i++, s->comparisons--)
        if (json_equal(&array->items[i], item))
            return true;
    return false;
}

/* Elements of others that are not there any more, wherever they stood. */
static void items_find(struct search *s, const struct json *known, const struct json *old,
                       const struct json *new)
{
    size_t len = s->path.len, count = s->out->count;

    for (uint32_t i = 0; i < old->len && s->comparisons > 0; i++) {
        if (has_item(s, new, &old->items[i], i) || has_item(s, known, &old->items[i], i))
            continue;
        json_pointer_add_index(&s->path, i);
        dropped_add(s);
        s->path.len = len;
    }
    if (s->comparisons > 0)
        return;
    s->out->count = count; /* too many to tell which: it is the array */
    dropped_add(s);
}

static void theirs_find(struct search *s, const struct json *known, const struct json *old,
                        const struct json *new);

/* `known` and `new` may be NULL: there is no such value in them. */
static void members_find(struct search *s, const struct json *known, const struct json *old,
                         const struct json *new)
{
    static const struct json none = { .kind = JSON_OBJECT };
    bool was = known && known->kind == JSON_OBJECT, is = new &&new->kind == JSON_OBJECT;
    const uint32_t *in_known = json_match(s->path.arena, old, was ? known : &none);
    const uint32_t *in_new = json_match(s->path.arena, old, is ? new : &none);
    size_t len = s->path.len;

    for (uint32_t i = 0; i < old->len; i++) {
        json_pointer_add(&s->path, json_name(&old->members[i]));
        theirs_find(s, in_known[i] == JSON_NONE ? NULL : &known->members[in_known[i]].value,
                    &old->members[i].value,
                    in_new[i] == JSON_NONE ? NULL : &new->members[in_new[i]].value);
        s->path.len = len;
    }
}

static void theirs_find(struct search *s, const struct json *known, const struct json *old,
                        const struct json *new)
{
    if ((new &&json_equal(old, new)) || (known && json_equal(known, old)))
        return;
    bool objects = old->kind == JSON_OBJECT && old->len > 0;
    bool in_both = json_is(known, old->kind) && json_is(new, old->kind);
    if (objects && (json_is(known, JSON_OBJECT) || json_is(new, JSON_OBJECT)))
        members_find(s, known, old, new);
    else if (old->kind == JSON_ARRAY && in_both)
        items_find(s, known, old, new);
    else
        dropped_add(s);
}

/* ---- what the writer knew ---- */

static bool is_own(const struct tx *tx, const struct event *row)
{
    const struct actor *a = tx->actor;

    return str_eq(row->session_id, a->session_id) &&
           (a->session_id.len || str_eq(row->actor, a->name));
}

/* The version from which on others' writes were not known, and the numbers of the writer's own rows
 * since then, the newest first. False: it is too long ago, or there was none. */
static err known_since(struct tx *tx, const struct state *s, int64_t base, int64_t *version,
                       int64_t own[VERSIONS_MAX], int *own_count, bool *found)
{
    const struct event *row = NULL;

    *own_count = 0;
    *version = base;
    *found = base == s->version;
    for (int i = 0; i < VERSIONS_MAX && !*found; i++) {
        TRY(state_row_head_before(tx, s, row, &row));
        if (!row)
            return NULL;
        *found = base ? row->version <= base : is_own(tx, row);
        if (!base)
            *version = row->version;
        else if (!*found && is_own(tx, row))
            own[(*own_count)++] = row->seq;
    }
    return NULL;
}

/* A change of the writer's own that needs what others have written stays out: of what it wrote
 * there, it is told as if it were theirs. */
static err own_apply(struct tx *tx, const struct state *s, int64_t seq, struct json *doc)
{
    const struct event *row;

    TRY(state_row(tx, s, seq, &row));
    err unfit = row->data.len ? state_step(tx, s, row, doc) : NULL;
    return unfit && unfit->kind != ERR_INTERNAL ? unfit : NULL;
}

/* `all`: the writer knew the whole document, as it is. */
static err known_read(struct tx *tx, const struct state *s, int64_t base, struct json *known,
                      bool *found, bool *all)
{
    int64_t own[VERSIONS_MAX], version;
    int count;

    TRY(known_since(tx, s, base, &version, own, &count, found));
    *all = *found && version == s->version;
    if (!*found || *all)
        return NULL;
    TRY(state_at(tx, s, version, known));
    while (count > 0)
        TRY(own_apply(tx, s, own[--count], known));
    return NULL;
}

err state_dropped_find(struct tx *tx, const struct state *s, const struct json *old,
                       const struct json *new, int64_t base, struct state_dropped *out)
{
    struct search search = { .path = buf_in(tx->arena),
                             .out = out,
                             .comparisons = COMPARISONS_MAX };
    struct json known;
    bool found = false, all = false;

    *out = (struct state_dropped){ .count = 0 };
    err e = known_read(tx, s, base, &known, &found, &all);
    if (e && e->kind != ERR_GONE && e->kind != ERR_INTERNAL)
        return e;
    if (e || !found)
        missing_find(&search, old, new);
    else if (!all)
        theirs_find(&search, &known, old, new);
    return NULL;
}
