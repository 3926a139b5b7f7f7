/* cache.h: things that take long to make, by a key, the last ones that were asked for.
 *
 * Each lives in an arena of its own and does not change. A cache belongs to one thread; it does not
 * know what is in it, so all who keep things in one have keys that are different. */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include "base/arena.h"

/* What was found stays good until as many others were asked for as the cache holds. */
#define CACHE_LEAST 8

struct cache;

/* Of at most so many things, at least CACHE_LEAST. */
struct cache *cache_new(uint32_t most);
void cache_free(struct cache *c);

/* NULL when it is not there (any more). */
const void *cache_find(struct cache *c, str key);

/* Keeps a thing with its arena, which was given away (arena_give) and goes when the thing does: when
 * there is no room any more for that which was not asked for for the longest time. There is none of
 * that key yet. */
void cache_keep(struct cache *c, str key, struct arena *arena, const void *thing);

#endif
