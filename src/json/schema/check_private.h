/* check_private.h: what the files of json/schema_check*.c share.
 *
 *   check.c        the machine, the short ways, the rules of each kind, nodes
 *   check_value.c  comparing: enum, const, patterns, uniqueItems
 *   check_rules.c  allOf, anyOf, oneOf, not, if, and dynamic references
 *
 * What most members of most documents pass through is inline here or static in
 * check.c. */
#ifndef JSON_SCHEMA_CHECK_PRIVATE_H
#define JSON_SCHEMA_CHECK_PRIVATE_H

#include "json/schema/check.h"

/* Worth a copy at each call: they are all that is done for most members. */
#define HOT static inline __attribute__((always_inline))

/* ---- check.c ---- */

/* Room for n words that are not cleared; given back like sets of bits. */
uint64_t *check_words(struct check *c, uint32_t n);

/* Whether a value fits that a node does not let pass by its kind alone. */
bool check_closer(struct check *c, const struct node *n, const struct json *v);

/* A value of its own, so nothing that the schema above has seen is passed on. */
HOT bool fits(struct check *c, const struct node *n, const struct json *v)
{
    return n->passes >> v->kind & 1 || check_closer(c, n, v);
}

/* ---- check_value.c ---- */

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

/* ---- check_rules.c ---- */

/* Whether `v` fits what a rule applies to it; `seen` as for check_node. By enum rule_kind. */
typedef bool rule_check(struct check *c, const struct rule *r, const struct json *v,
                        uint64_t *seen);
extern rule_check *const rule_checks[];

#endif
