/* check_private.h: what check.c and check_value.c share.
 *
 *   check.c        the machine, the short ways, the rules of each kind, nodes
 *   check_value.c  comparing: enum, const, patterns, uniqueItems
 *
 * What most members of most documents pass through is inline here or static in
 * check.c. */
#ifndef JSON_SCHEMA_CHECK_PRIVATE_H
#define JSON_SCHEMA_CHECK_PRIVATE_H

#include <assert.h>

#include "json/schema/check.h"

/* Worth a copy at each call: they are all that is done for most members. */
#define HOT static inline __attribute__((always_inline))

/* Room for n words that are not cleared; given back like sets of bits. */
static inline uint64_t *check_words(struct check *c, uint32_t n)
{
    assert(c->word_count <= CHECK_WORDS);
    if (n <= CHECK_WORDS - c->word_count) {
        c->word_count += n;
        return c->words + c->word_count - n;
    }
    if (!c->overflow)
        c->overflow = arena_new();
    return ARENA_ARRAY(c->overflow, uint64_t, n);
}

bool check_value_among(struct check *c, const struct value_rules *values, const struct json *v);
bool check_text_matches(struct check *c, const struct regex *regex, str text);
bool check_unique(struct check *c, const struct json *array);

/* For an enum of so many texts that they have no slots. */
bool text_among_many(const struct value_rules *values, const struct json *v);

HOT bool text_among(const struct value_rules *values, const struct json *v)
{
    if (!values->slots)
        return text_among_many(values, v);
    uint64_t key = hash_key(v->text, v->len);
    return name_is(&values->slots[text_slot(values, key)], key, v->text, v->len);
}

#endif
