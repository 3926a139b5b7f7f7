/* member.h: members and their names. Private to json/. */
#ifndef JSON_MEMBER_H
#define JSON_MEMBER_H

#include "base/hash.h"
#include "json/json.h"

/* Gives a member its name, which is borrowed, and what it is found by. */
static inline void member_name(struct json_member *m, str name)
{
    m->name = name.at;
    m->name_len = (uint32_t)name.len;
    m->key = hash_key(name.at, name.len);
    m->hash = hash_fold(m->key, name.len);
}

static inline bool member_same_name(const struct json_member *a, const struct json_member *b)
{
    return a->key == b->key && a->name_len == b->name_len &&
           (a->name_len <= HASH_WHOLE_MAX || memcmp(a->name, b->name, a->name_len) == 0);
}

/* The index of a member by its name, or JSON_NONE, from that one on. */
uint32_t member_find(const struct json *object, uint32_t from, const struct json_member *sought);

/* Where members are, by the hashes of their names: a table of places. Names are the caller's to
 * compare. */
struct member_index {
    struct member_slot {
        uint32_t hash, place; /* index + 1; 0: free */
    } * slots;
    uint32_t slot_count;
};

/* False when so many hashes collide that the table would be slow: somebody chose the names. What an
 * index had before is used again. */
bool member_index_make(struct member_index *x, struct arena *a, const struct json_member *members,
                       uint32_t count);

/* A member whose name another one before it has, or NULL. Whatever the names, and whoever chose
 * them, it takes no longer than sorting them. */
const struct json_member *member_duplicate(const struct json_member *members, size_t n);

#endif
