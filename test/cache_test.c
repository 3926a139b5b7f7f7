/* cache_test.c: which things a cache keeps, and that those that go take their arenas along. */
#include <stdio.h>

#include "base/cache.h"

#include "check.h"

/* A thing that counts itself off when its arena goes. */
static void gone(void *left)
{
    --*(int *)left;
}

static void keep(struct cache *c, const char *key, int *left)
{
    struct arena *a = arena_new();
    str thing = arena_copy(a, str_from(key));

    arena_on_release(a, gone, left);
    ++*left;
    arena_give(a);
    cache_keep(c, str_from(key), a, thing.at);
}

static const char *found(struct cache *c, const char *key)
{
    return cache_find(c, str_from(key));
}

TEST(a_cache_finds_what_was_kept_by_its_key_alone)
{
    struct cache *c = cache_new(CACHE_LEAST);
    int left = 0;
    char key[] = "digest";

    CHECK(!found(c, "digest"));
    keep(c, key, &left);
    key[0] = 'D'; /* the cache has a copy of its own */
    keep(c, "", &left);
    CHECK_STR(str_from(found(c, "digest")), "digest");
    CHECK_STR(str_from(found(c, "")), "");
    CHECK(!found(c, "Digest"));
    CHECK(!found(c, "diges"));
    CHECK_INT(left, 2);
    cache_free(c);
    CHECK_INT(left, 0);
}

TEST(a_cache_that_is_full_drops_what_was_not_asked_for_for_longest)
{
    struct cache *c = cache_new(CACHE_LEAST);
    char keys[CACHE_LEAST + 2][16];
    int left = 0;

    for (int i = 0; i < CACHE_LEAST + 2; i++)
        snprintf(keys[i], sizeof keys[i], "key %d", i);
    for (int i = 0; i < CACHE_LEAST; i++)
        keep(c, keys[i], &left);
    CHECK_INT(left, CACHE_LEAST);
    CHECK(found(c, keys[0])); /* so the second is now the oldest */
    keep(c, keys[CACHE_LEAST], &left);
    CHECK_INT(left, CACHE_LEAST);
    CHECK(!found(c, keys[1]));
    keep(c, keys[CACHE_LEAST + 1], &left);
    CHECK_INT(left, CACHE_LEAST);
    CHECK(!found(c, keys[2]));
    for (int i = 0; i < CACHE_LEAST + 2; i++)
        if (i != 1 && i != 2)
            CHECK_STR(str_from(found(c, keys[i])), keys[i]);
    cache_free(c);
    CHECK_INT(left, 0);
}

/* What was found is in use until the cache has been asked for that many others. */
TEST(what_a_cache_has_given_is_good_until_as_many_others_were_asked_for)
{
    struct cache *c = cache_new(CACHE_LEAST);
    char key[16];
    int left = 0;

    keep(c, "used", &left);
    for (int i = 0; i < 1000; i++) {
        const char *used = found(c, "used");
        CHECK(used);
        for (int k = 1; k < CACHE_LEAST; k++) {
            snprintf(key, sizeof key, "other %d", i * CACHE_LEAST + k);
            keep(c, key, &left);
        }
        CHECK_STR(str_from(used), "used"); /* sanitized builds see what was freed */
    }
    cache_free(c);
    CHECK_INT(left, 0);
}
