/* map.c: open addressing over an array that keeps the order of insertion. */
#include "base/map.h"

#include <assert.h>

#include "base/arena.h"
#include "base/hash.h"

/* The slot that holds the key, or the free one where it belongs. */
static uint32_t *slot_of(const struct map *m, str key, uint32_t hash)
{
    for (uint32_t i = hash & (m->slot_count - 1);; i = (i + 1) & (m->slot_count - 1)) {
        uint32_t index = m->slots[i];
        if (index == 0)
            return &m->slots[i];
        const struct map_entry *e = &m->entries[index - 1];
        if (e->hash == hash && str_eq(e->key, key))
            return &m->slots[i];
    }
}

static void map_widen(struct map *m)
{
    uint32_t room = m->room ? m->room * 2 : 8;

    assert(m->count == m->room && room > m->room);
    m->entries =
        arena_grow(m->arena, m->entries, m->count * sizeof *m->entries, room * sizeof *m->entries);
    m->room = room;
    m->slot_count = room * 2;
    m->slots = arena_zero(m->arena, m->slot_count * sizeof *m->slots);
    for (uint32_t i = 0; i < m->count; i++)
        *slot_of(m, m->entries[i].key, m->entries[i].hash) = i + 1;
}

void *map_get(const struct map *m, str key)
{
    if (!m->count)
        return NULL;
    uint32_t index = *slot_of(m, key, hash_bytes(key.at, key.len));
    return index ? m->entries[index - 1].value : NULL;
}

void *map_put(struct map *m, str key, void *value)
{
    uint32_t hash = hash_bytes(key.at, key.len);

    if (m->count == m->room)
        map_widen(m);
    assert(m->count < m->slot_count); /* or a search for what is not there would not end */
    uint32_t *slot = slot_of(m, key, hash);
    if (*slot) {
        struct map_entry *e = &m->entries[*slot - 1];
        void *before = e->value;
        e->value = value;
        return before;
    }
    m->entries[m->count++] = (struct map_entry){ key, value, hash };
    *slot = m->count;
    return NULL;
}
