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

#define HASH_WHOLE_MAX 8

/* 64 bits. Of at most 8 bytes they are the bytes themselves: equal lengths and keys mean equal
 * texts, and the texts need not be looked at again. */
static inline uint64_t hash_key(const char *at, size_t len)
{
    const uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd6e8feb86659fd93u;

    if (len <= HASH_WHOLE_MAX) {
        if (len >= 4)
            return hash_load4(at) | hash_load4(at + len - 4) << 32;
        if (len == 0)
            return 0;
        return (uint64_t)(unsigned char)at[0] << 16 | (uint64_t)(unsigned char)at[len >> 1] << 8 |
               (unsigned char)at[len - 1];
    }
    const char *end = at + len;
    uint64_t seed = k2 ^ len;
    for (; end - at > 16; at += 16)
        seed = hash_mix(hash_load8(at) ^ k1, hash_load8(at + 8) ^ seed);
    /* The last sixteen bytes, or of a shorter text its first and its last eight. */
    const char *from = len >= 16 ? end - 16 : at;
    return hash_mix(hash_load8(from) ^ k1, hash_load8(end - 8) ^ seed);
}

/* A key as 32 bits that are all worth the same. */
static inline uint32_t hash_fold(uint64_t key, size_t len)
{
    uint64_t h = hash_mix(key ^ 0xa0761d6478bd642fu, len ^ 0xe7037ed1a0b428dbu);
    return (uint32_t)(h ^ h >> 32);
}

static inline uint32_t hash_bytes(const char *at, size_t len)
{
    return hash_fold(hash_key(at, len), len);
}

#endif
