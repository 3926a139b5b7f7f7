/* table.c: tables in which names and texts are found by one look.
 *
 * Which names a schema mentions is known when it is compiled. So there is time
 * to look for a multiplier under which no two of them meet in one slot. */
#include <assert.h>
#include <stdlib.h>

#include "json/schema/build.h"

enum {
    FACTOR_TRIES = 200,     /* multipliers tried for a perfect hash at each table size */
    NAMES_PERFECT_MAX = 64, /* for more of them, none would be found */
    SPREAD_MAX = 8,         /* slots per name, at the most, for the sake of a perfect hash */
};

struct name name_of(str s)
{
    uint64_t key = hash_key(s.at, s.len);
    return (struct name){ key, s.at, (uint32_t)s.len, hash_fold(key, s.len) };
}

/* ---- names of members ---- */

/* Whether no two names meet, of up to 64 in up to 1,024 slots. */
static bool slots_apart(const struct object_rules *o, const struct property *names)
{
    uint64_t taken[NAMES_PERFECT_MAX * SPREAD_MAX * 2 / 64] = { 0 };

    for (uint32_t i = 0; i < o->name_count; i++) {
        uint32_t at = name_slot(o, names[i].name.hash);
        if (taken[at >> 6] >> (at & 63) & 1)
            return false;
        taken[at >> 6] |= 1ull << (at & 63);
    }
    return true;
}

/* Looks for a table size and a factor under which no two names meet. */
static bool slots_perfect(struct object_rules *o, const struct property *names, uint32_t size)
{
    if (o->name_count > NAMES_PERFECT_MAX)
        return false;
    for (uint32_t spread = 1; spread <= SPREAD_MAX; spread *= 2) {
        o->slot_mask = size * spread - 1;
        for (uint32_t i = 0; i < FACTOR_TRIES; i++) {
            o->factor = 0x9e3779b1u * (2 * i + 1);
            if (slots_apart(o, names))
                return true;
        }
    }
    return false;
}

/* With many names, or names made to collide, a search goes on from slot to slot. */
void slots_make(struct arena *a, struct object_rules *o, const struct property *names)
{
    uint32_t size = 1;
    while (size < o->name_count + 1)
        size *= 2;
    if (!slots_perfect(o, names, size)) {
        o->slot_mask = size * 4 - 1;
        o->factor = 0x9e3779b1u;
        o->probe = true;
    }

    assert(o->name_count <= o->slot_mask); /* one is free, or a search would not end */
    struct property *slots = arena_zero(a, (o->slot_mask + 1) * sizeof *slots);
    for (uint32_t i = 0; i <= o->slot_mask; i++)
        slots[i].name.len = LENGTH_FREE;
    for (uint32_t i = 0; i < o->name_count; i++) {
        uint32_t at = name_slot(o, names[i].name.hash);
        while (slots[at].name.at)
            at = (at + 1) & o->slot_mask;
        slots[at] = names[i];
    }
    o->slots = slots;
}

/* ---- texts of an enum ---- */

static int text_order(const void *a, const void *b)
{
    const struct name *x = a, *y = b;

    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return x->len ? memcmp(x->at, y->at, x->len) : 0;
}

/* Puts the texts into slots of their own; false when two of them meet. */
static bool text_slots_fill(const struct value_rules *v, struct name *slots)
{
    for (uint32_t i = 0; i <= v->slot_mask; i++)
        slots[i] = (struct name){ .len = LENGTH_FREE };
    for (uint32_t i = 0; i < v->text_count; i++) {
        const struct name *t = &v->texts[i];
        struct name *slot = &slots[text_slot(v, t->key)];
        if (slot->len != LENGTH_FREE && !name_is(slot, t->key, t->at, t->len))
            return false;
        *slot = *t;
    }
    return true;
}

/* Looks for a factor under which no two texts meet, among few of them. */
static void text_slots_make(struct arena *a, struct value_rules *v)
{
    uint32_t size = 2;
    while (size < v->text_count * 2)
        size *= 2;
    if (v->text_count == 0 || v->text_count > NAMES_PERFECT_MAX)
        return;

    v->slot_mask = size - 1;
    struct name *slots = ARENA_ARRAY(a, struct name, size);
    for (uint32_t i = 0; i < FACTOR_TRIES * 4 && !v->slots; i++) {
        v->factor = 0x9e3779b97f4a7c15u * (2 * i + 1);
        if (text_slots_fill(v, slots))
            v->slots = slots;
    }
}

void texts_make(struct arena *a, struct value_rules *v, struct name *texts)
{
    qsort(texts, v->text_count, sizeof *texts, text_order);
    v->texts = texts;
    text_slots_make(a, v);
}
