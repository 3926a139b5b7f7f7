/* program.h: what a schema compiles to. Private to json/schema_*.c.
 *
 * Each schema object becomes one node. Its keywords are sorted by the kind of
 * instance they speak of, so that a check looks at the instance's kind once and
 * meets only rules that apply. Nodes point at each other, in circles where the
 * schema does. Everything is immutable after compiling and lives in the arena
 * of the program. */
#ifndef JSON_SCHEMA_PROGRAM_H
#define JSON_SCHEMA_PROGRAM_H

#include "base/hash.h"
#include "json/regex/regex.h"
#include "json/schema/schema.h"
#include "json/schema/format.h"

struct node;

/* A name or another text, with what it is found by, as the schema mentions it. */
struct name {
    uint64_t key; /* hash_key */
    const char *at;
    uint32_t len, hash;
};

/* Equal bytes, of more than eight: names are rarely so long that it takes more than two loads. */
static inline bool long_name_is(const struct name *n, const char *at, uint32_t len)
{
    if (len > 16)
        return memcmp(n->at, at, len) == 0;
    return hash_load8(n->at) == hash_load8(at) &&
           hash_load8(n->at + len - 8) == hash_load8(at + len - 8);
}

static inline bool name_is(const struct name *n, uint64_t key, const char *at, uint32_t len)
{
    return n->key == key && n->len == len && (len <= HASH_WHOLE_MAX || long_name_is(n, at, len));
}

/* One slot of the perfect hash over all names that `properties` and `required` mention. */
struct property {
    struct name name;        /* at is NULL in a free slot */
    const struct node *node; /* NULL: only required */
    uint64_t required;       /* its bit in object_rules.required, or 0 */
    uint8_t passes;          /* the node's, so that it need not be looked at */
};

/* A length that no name has: it marks free slots, so that no test for them is needed. */
#define LENGTH_FREE UINT32_MAX

struct pattern_rule {
    const struct regex *regex;
    str text;
    const struct node *node;
};

/* `dependentRequired`, `dependentSchemas` and `dependencies`: if that member is there … */
struct dependency {
    const char *keyword;
    struct name name;
    const struct name *required; /* … these must be too */
    uint32_t required_count;
    const struct node *node; /* … and the whole object fits this; NULL: nothing more */
};

struct object_rules {
    const struct property *slots; /* slot_mask + 1 of them, see name_slot */
    uint32_t factor, slot_mask;
    uint32_t name_count; /* slots in use; 0: no table */
    bool probe;          /* no perfect hash was found: a taken slot is not yet a miss */
    bool plain;          /* there is nothing but the table, the counts and up to 64 required */
    uint64_t required;   /* the bits of the first 64 required names */
    const struct name *required_names, *required_more; /* all of them; those beyond 64 */
    uint32_t required_count, required_more_count;
    const struct pattern_rule *patterns;
    uint32_t pattern_count;
    const struct node *additional;  /* NULL: anything */
    const struct node *names;       /* propertyNames */
    const struct node *unevaluated; /* NULL: not asked */
    const struct dependency *dependencies;
    uint32_t dependency_count;
    uint32_t count_min, count_max; /* UINT32_MAX: no maximum */
};

struct array_rules {
    const struct node *const *prefix;
    uint32_t prefix_count;
    const struct node *items;  /* of all after the prefix; NULL: anything */
    const char *items_keyword; /* "items" or "additionalItems", for messages */
    const struct node *contains;
    uint32_t contains_min, contains_max;
    bool contains_marks; /* what `contains` matched counts as evaluated (2020-12) */
    bool unique;
    bool plain; /* there is nothing but `items` */
    const struct node *unevaluated;
    uint32_t count_min, count_max;
};

struct string_rules {
    uint32_t length_min, length_max; /* in characters */
    const struct regex *pattern;
    str pattern_text;
    const struct format *format; /* asserted, or NULL */
};

/* A bound of a number: exact, and as an integer where it is one that fits. */
struct bound {
    const struct json *number; /* NULL: none */
    int64_t value;
    bool is_small; /* value holds it */
    bool excluded; /* the bound itself is out */
};

struct number_rules {
    struct bound min, max;
    uint32_t digits;             /* that a comparison may have to look at */
    const struct json *multiple; /* NULL: none */
    int64_t multiple_value;      /* 0: not a small integer */
};

/* `enum` or `const`. Strings stand apart from the rest. */
struct value_rules {
    const char *keyword;      /* "enum" or "const" */
    const struct json *all;   /* an array of all values */
    const struct name *texts; /* the strings among them, sorted by length and bytes */
    uint32_t text_count;
    const struct name *slots; /* a perfect hash over them, see text_slot; or NULL */
    uint64_t factor;
    uint32_t slot_mask;
    uint32_t others; /* how many values are not strings */
};

enum rule_kind { RULE_ALL, RULE_ANY, RULE_ONE, RULE_NOT, RULE_IF, RULE_DYNAMIC };

/* What applies schemas to the instance itself. */
struct rule {
    enum rule_kind kind;
    const char *keyword; /* "allOf", "$ref", "anyOf" …, for messages */
    const struct node *const *nodes;
    uint32_t count;   /* RULE_IF: if, then, else, where then and else may be NULL */
    uint32_t dynamic; /* RULE_DYNAMIC: index of the dynamic anchor; nodes[0] is where it starts */
};

/* Nodes that say little are checked in little time: what there is to a node beside its kinds. */
enum node_path {
    PATH_ANY,    /* whatever there is */
    PATH_KINDS,  /* nothing */
    PATH_TEXTS,  /* an enum of strings */
    PATH_OBJECT, /* object rules that are plain */
    PATH_ITEMS,  /* array rules that are plain */
};

struct node {
    uint8_t passes;    /* bit per enum json_kind of which any value fits, without a further look */
    uint8_t kinds;     /* bit per enum json_kind that `type` lets through */
    bool whole;        /* "integer": a JSON_REAL only without fraction */
    bool never;        /* the schema `false` */
    uint8_t path;      /* enum node_path */
    uint32_t resource; /* which schema resource it belongs to, for dynamic references */
    const struct object_rules *object;
    const struct array_rules *array;
    const struct string_rules *string;
    const struct number_rules *number;
    const struct value_rules *values; /* enum */
    const struct value_rules *constant;
    const struct rule *rules;
    uint32_t rule_count;
    uint32_t number_in_build; /* for whoever makes the program */
    str pointer;              /* where in the schema text, for messages */
};

/* A dynamic anchor of one resource. */
struct dynamic {
    uint32_t anchor; /* its name, as a number */
    const struct node *node;
};

struct schema {
    struct arena *arena;
    const struct node *root;

    /* The dynamic anchors that references ask for: those of resource r are dynamics[i] for i from
     * dynamic_start[r] on and below dynamic_start[r + 1], in ascending order. */
    const struct dynamic *dynamics;
    const uint32_t *dynamic_start;
    uint32_t dynamic_count; /* 0: there are no dynamic references */
};

/* ---- shared by compile, check and explain ---- */

/* Where a text is looked for in value_rules.slots. */
static inline uint32_t text_slot(const struct value_rules *v, uint64_t key)
{
    return (uint32_t)(key * v->factor >> 32) & v->slot_mask;
}

/* Where the search for a name begins in object_rules.slots. */
static inline uint32_t name_slot(const struct object_rules *o, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * o->factor >> 32) & o->slot_mask;
}

#define ALL_KINDS 0x7f

static inline bool node_takes_kind(const struct node *n, const struct json *j)
{
    return (n->kinds >> j->kind & 1) && !(n->whole && j->kind == JSON_REAL && !json_is_integral(j));
}

/* What a node says of what nothing else in it has evaluated of the instance; NULL: nothing. */
static inline const struct node *node_unevaluated(const struct node *n, const struct json *v)
{
    if (v->kind == JSON_OBJECT)
        return n->object ? n->object->unevaluated : NULL;
    return v->kind == JSON_ARRAY && n->array ? n->array->unevaluated : NULL;
}

/* The text of a built-in meta-schema, or an empty str. */
str schema_meta_text(str uri);

/* The address that it has for itself, of those under which it is known; others stay as they are. */
str schema_meta_uri(str uri);

#endif
