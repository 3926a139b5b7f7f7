/* cache.c: the last things that were asked for, found by going through all of them: they are few. */
#include "base/cache.h"

#include <assert.h>

#include "base/hash.h"

struct cache_entry {
    uint32_t hash; /* of the key */
    str key;
    struct arena *arena; /* of the key, too */
    const void *thing;
    uint64_t used; /* when, in uses of the cache */
};

struct cache {
    struct cache_entry *entries;
    uint32_t count, most;
    uint64_t uses;
};

struct cache *cache_new(uint32_t most)
{
    struct cache *c = mem_alloc(sizeof *c);

    assert(most >= CACHE_LEAST);
    *c = (struct cache){ .entries = mem_alloc(most * sizeof *c->entries), .most = most };
    return c;
}

void cache_free(struct cache *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        arena_free(c->entries[i].arena);
    mem_free(c->entries);
    mem_free(c);
}

const void *cache_find(struct cache *c, str key)
{
    uint32_t hash = hash_bytes(key.at, key.len);

    for (uint32_t i = 0; i < c->count; i++) {
        struct cache_entry *entry = &c->entries[i];
        if (entry->hash == hash && str_eq(entry->key, key)) {
            entry->used = ++c->uses;
            return entry->thing;
        }
    }
    return NULL;
}

/* Room for one more; when there is none, the one goes that was not used for longest. */
static struct cache_entry *entry_room(struct cache *c)
{
    struct cache_entry *oldest = &c->entries[0];

    if (c->count < c->most)
        return &c->entries[c->count++];
    for (uint32_t i = 1; i < c->count; i++)
        if (c->entries[i].used < oldest->used)
            oldest = &c->entries[i];
    arena_free(oldest->arena);
    return oldest;
}

void cache_keep(struct cache *c, str key, struct arena *arena, const void *thing)
{
    struct cache_entry *entry = entry_room(c);

    arena_take(arena);
    *entry = (struct cache_entry){ .hash = hash_bytes(key.at, key.len),
                                   .key = arena_copy(arena, key),
                                   .arena = arena,
                                   .thing = thing,
                                   .used = ++c->uses };
    arena_give(arena); /* it does not change any more, and the cache goes when its thread has */
}
