/* check.h: the machine that runs a compiled schema. Private to json/schema_*.c.
 *
 * explain.c uses it to ask of any part of a program whether it fits. */
#ifndef JSON_SCHEMA_CHECK_H
#define JSON_SCHEMA_CHECK_H

#include "json/schema/program.h"

/* The resources that were entered on the way here, innermost first. */
struct scope {
    uint32_t resource;
    const struct scope *outer;
};

enum { CHECK_WORDS = 512 };

struct check {
    const struct schema *schema;
    uint32_t steps_left; /* 0: given up, and whatever was answered is void */
    uint32_t depth_left; /* schemas applied inside each other */
    bool too_deep;       /* why it was given up: one of these, or else the steps */
    bool regex_limit;
    const struct scope *scope; /* kept only where the program has dynamic references */
    struct arena *overflow;    /* when `words` is not enough; made on first use */
    uint32_t word_count;
    uint64_t words[CHECK_WORDS]; /* a stack of bit sets and hashes */
};

void check_init(struct check *c, const struct schema *s);
void check_release(struct check *c);

static inline bool check_exhausted(const struct check *c)
{
    return c->steps_left == 0;
}

static inline void check_charge(struct check *c, uint64_t steps)
{
    c->steps_left = c->steps_left > steps ? c->steps_left - (uint32_t)steps : 0;
}

/* Whether `v` fits `n`. With `seen`, a set of v->len bits, marks the members or elements that the
 * schema evaluated (meaningful only when it fits). */
bool check_node(struct check *c, const struct node *n, const struct json *v, uint64_t *seen);

/* Marks what all keywords of `n` but unevaluated… evaluate in `v`, as far as they fit. */
void check_evaluated(struct check *c, const struct node *n, const struct json *v, uint64_t *seen);

/* A cleared set of n bits. Sets are given back by setting word_count to what it was before. */
uint64_t *check_bits(struct check *c, uint32_t n);

/* Where a dynamic reference leads to from here. */
const struct node *check_dynamic(const struct check *c, const struct rule *r);

/* The slot of a name among `properties` and `required`, or NULL. */
const struct property *object_property(const struct object_rules *o, const struct json_member *m);

static inline bool bit_get(const uint64_t *bits, uint32_t i)
{
    return bits[i >> 6] >> (i & 63) & 1;
}

static inline void bit_set(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] |= 1ull << (i & 63);
}

#endif
