/* hash.h: one fast hash of bytes, the same on every run and every machine.
 *
 * It is not secret: whoever chooses keys can make them collide. So a table built on it either
 * holds keys that we chose, or bounds what a collision costs. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_load8(const char *at)
{
    uint64_t v;
    memcpy(&v, at, 8);
    return v;
}

static inline uint64_t hash_load4(const char *at)
{
    uint32_t v;
    memcpy(&v, at, 4);
    return v;
}

/* All bytes of a text of at most 16, as two numbers: equal lengths and keys mean equal texts. */
struct hash_key {
    uint64_t a, b;
};

static inline struct hash_key hash_key(const char *at, size_t len)
{
    if (len >= 8)
        return (struct hash_key){ hash_load8(at), hash_load8(at + len - 8) };
    if (len >= 4)
        return (struct hash_key){ hash_load4(at), hash_load4(at + len - 4) };
    if (len == 0)
        return (struct hash_key){ 0, 0 };
    return (struct hash_key){ (uint64_t)(unsigned char)at[0] << 16 |
                                  (uint64_t)(unsigned char)at[len >> 1] << 8 |
                                  (unsigned char)at[len - 1],
                              0 };
}

/* Names of members are short: for them it takes one key and one multiplication. */
static inline uint32_t hash_bytes(const char *at, size_t len)
{
    const uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd6e8feb86659fd93u;
    uint64_t seed = k2 ^ len;

    for (; len > 16; at += 16, len -= 16)
        seed = hash_mix(hash_load8(at) ^ k1, hash_load8(at + 8) ^ seed);
    struct hash_key key = hash_key(at, len);
    uint64_t h = hash_mix(key.a ^ k1, key.b ^ seed);
    return (uint32_t)(h ^ h >> 32);
}

#endif
