/* map.h: bytes → pointer.
 *
 * Keys are borrowed: they live at least as long as the map. Iteration is in the
 * order of insertion, so that what is printed from a map is the same every time. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

struct map_entry {
    str key;
    void *value;
    uint32_t hash;
};

struct map {
    struct arena *arena;
    struct map_entry *entries; /* in order of insertion */
    uint32_t *slots;           /* index + 1 of an entry; 0 is free */
    uint32_t count, room, slot_count;
};

static inline struct map map_in(struct arena *a)
{
    return (struct map){ .arena = a };
}

/* The value, or NULL. */
void *map_get(const struct map *m, str key);

/* Sets and gives back the value that was there, or NULL. */
void *map_put(struct map *m, str key, void *value);

#endif
