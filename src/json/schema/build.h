/* build.h: a schema on its way from text to program. Private to json/schema_*.c.
 *
 *   build.c          errors, bounds, and the nodes as they are made
 *   load.c           finds resources, anchors, and what references mean
 *   dialect.c        … which keywords count there
 *   shape.c          … whether their values look as they must
 *   compile.c        turns each schema object into a node
 *   compile_kinds.c  … its rules for objects, arrays, strings, numbers
 *   table.c          … the tables in which names are found
 *   loop.c           … whether they lead back to themselves
 *   merge.c          joins nodes where that saves work */
#ifndef JSON_SCHEMA_BUILD_H
#define JSON_SCHEMA_BUILD_H

#include "base/map.h"
#include "json/schema/program.h"

enum draft { DRAFT_07 = 1, DRAFT_2019 = 2, DRAFT_2020 = 4 };

enum vocabulary {
    VOCABULARY_CORE = 1,
    VOCABULARY_APPLICATOR = 2,
    VOCABULARY_UNEVALUATED = 4,
    VOCABULARY_VALIDATION = 8,
    VOCABULARY_METADATA = 16,
    VOCABULARY_FORMAT = 32,
    VOCABULARY_FORMAT_ASSERTED = 64,
    VOCABULARY_CONTENT = 128,
};

struct dialect {
    enum draft draft;
    unsigned vocabularies; /* what its meta-schema turns on */
};

/* What a keyword's value must look like. */
enum shape {
    SHAPE_ANY,
    SHAPE_STRING,
    SHAPE_BOOL,
    SHAPE_ARRAY,
    SHAPE_COUNT, /* an integer of at least 0 */
    SHAPE_NUMBER,
    SHAPE_POSITIVE, /* a number above 0 */
    SHAPE_STRINGS,  /* different strings */
    SHAPE_TYPE,     /* the name of a type, or an array of different ones */
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,         /* at least one, in an array */
    SHAPE_SCHEMA_MAP,      /* an object of schemas */
    SHAPE_SCHEMA_OR_ARRAY, /* `items` before 2020-12 */
    SHAPE_DEPENDENCIES,    /* an object of schemas and arrays of strings */
    SHAPE_REQUIRED_MAP,    /* an object of arrays of strings */
};

#define D7 DRAFT_07
#define D19 DRAFT_2019
#define D20 DRAFT_2020
#define DNEW (DRAFT_2019 | DRAFT_2020)
#define DOLD (DRAFT_07 | DRAFT_2019)
#define DALL (DRAFT_07 | DRAFT_2019 | DRAFT_2020)

// clang-format off
/*    id                     name                     drafts  vocabulary    shape */
#define KEYWORDS(X) \
    X(ID,                    "$id",                   DALL,   CORE,         STRING)          \
    X(SCHEMA,                "$schema",               DALL,   CORE,         STRING)          \
    X(REF,                   "$ref",                  DALL,   CORE,         STRING)          \
    X(ANCHOR,                "$anchor",               DNEW,   CORE,         STRING)          \
    X(RECURSIVE_REF,         "$recursiveRef",         D19,    CORE,         STRING)          \
    X(RECURSIVE_ANCHOR,      "$recursiveAnchor",      D19,    CORE,         BOOL)            \
    X(DYNAMIC_REF,           "$dynamicRef",           D20,    CORE,         STRING)          \
    X(DYNAMIC_ANCHOR,        "$dynamicAnchor",        D20,    CORE,         STRING)          \
    X(VOCABULARY,            "$vocabulary",           DNEW,   CORE,         ANY)             \
    X(COMMENT,               "$comment",              DALL,   CORE,         STRING)          \
    X(DEFS,                  "$defs",                 DNEW,   CORE,         SCHEMA_MAP)      \
    X(DEFINITIONS,           "definitions",           DALL,   CORE,         SCHEMA_MAP)      \
    X(ALL_OF,                "allOf",                 DALL,   APPLICATOR,   SCHEMAS)         \
    X(ANY_OF,                "anyOf",                 DALL,   APPLICATOR,   SCHEMAS)         \
    X(ONE_OF,                "oneOf",                 DALL,   APPLICATOR,   SCHEMAS)         \
    X(NOT,                   "not",                   DALL,   APPLICATOR,   SCHEMA)          \
    X(IF,                    "if",                    DALL,   APPLICATOR,   SCHEMA)          \
    X(THEN,                  "then",                  DALL,   APPLICATOR,   SCHEMA)          \
    X(ELSE,                  "else",                  DALL,   APPLICATOR,   SCHEMA)          \
    X(PROPERTIES,            "properties",            DALL,   APPLICATOR,   SCHEMA_MAP)      \
    X(PATTERN_PROPERTIES,    "patternProperties",     DALL,   APPLICATOR,   SCHEMA_MAP)      \
    X(ADDITIONAL_PROPERTIES, "additionalProperties",  DALL,   APPLICATOR,   SCHEMA)          \
    X(PROPERTY_NAMES,        "propertyNames",         DALL,   APPLICATOR,   SCHEMA)          \
    X(DEPENDENT_SCHEMAS,     "dependentSchemas",      DNEW,   APPLICATOR,   SCHEMA_MAP)      \
    X(DEPENDENCIES,          "dependencies",          DALL,   APPLICATOR,   DEPENDENCIES)    \
    X(PREFIX_ITEMS,          "prefixItems",           D20,    APPLICATOR,   SCHEMAS)         \
    X(ITEMS_OLD,             "items",                 DOLD,   APPLICATOR,   SCHEMA_OR_ARRAY) \
    X(ITEMS,                 "items",                 D20,    APPLICATOR,   SCHEMA)          \
    X(ADDITIONAL_ITEMS,      "additionalItems",       DOLD,   APPLICATOR,   SCHEMA)          \
    X(CONTAINS,              "contains",              DALL,   APPLICATOR,   SCHEMA)          \
    X(UNEVALUATED_ITEMS,     "unevaluatedItems",      DNEW,   UNEVALUATED,  SCHEMA)          \
    X(UNEVALUATED_PROPERTIES,"unevaluatedProperties", DNEW,   UNEVALUATED,  SCHEMA)          \
    X(TYPE,                  "type",                  DALL,   VALIDATION,   TYPE)            \
    X(CONST,                 "const",                 DALL,   VALIDATION,   ANY)             \
    X(ENUM,                  "enum",                  DALL,   VALIDATION,   ARRAY)           \
    X(MULTIPLE_OF,           "multipleOf",            DALL,   VALIDATION,   POSITIVE)        \
    X(MINIMUM,               "minimum",               DALL,   VALIDATION,   NUMBER)          \
    X(MAXIMUM,               "maximum",               DALL,   VALIDATION,   NUMBER)          \
    X(EXCLUSIVE_MINIMUM,     "exclusiveMinimum",      DALL,   VALIDATION,   NUMBER)          \
    X(EXCLUSIVE_MAXIMUM,     "exclusiveMaximum",      DALL,   VALIDATION,   NUMBER)          \
    X(MIN_LENGTH,            "minLength",             DALL,   VALIDATION,   COUNT)           \
    X(MAX_LENGTH,            "maxLength",             DALL,   VALIDATION,   COUNT)           \
    X(PATTERN,               "pattern",               DALL,   VALIDATION,   STRING)          \
    X(MIN_ITEMS,             "minItems",              DALL,   VALIDATION,   COUNT)           \
    X(MAX_ITEMS,             "maxItems",              DALL,   VALIDATION,   COUNT)           \
    X(UNIQUE_ITEMS,          "uniqueItems",           DALL,   VALIDATION,   BOOL)            \
    X(MIN_CONTAINS,          "minContains",           DNEW,   VALIDATION,   COUNT)           \
    X(MAX_CONTAINS,          "maxContains",           DNEW,   VALIDATION,   COUNT)           \
    X(MIN_PROPERTIES,        "minProperties",         DALL,   VALIDATION,   COUNT)           \
    X(MAX_PROPERTIES,        "maxProperties",         DALL,   VALIDATION,   COUNT)           \
    X(REQUIRED,              "required",              DALL,   VALIDATION,   STRINGS)         \
    X(DEPENDENT_REQUIRED,    "dependentRequired",     DNEW,   VALIDATION,   REQUIRED_MAP)    \
    X(FORMAT,                "format",                DALL,   FORMAT,       STRING)          \
    X(CONTENT_ENCODING,      "contentEncoding",       DALL,   CONTENT,      STRING)          \
    X(CONTENT_MEDIA_TYPE,    "contentMediaType",      DALL,   CONTENT,      STRING)          \
    X(CONTENT_SCHEMA,        "contentSchema",         DNEW,   CONTENT,      SCHEMA)          \
    X(TITLE,                 "title",                 DALL,   METADATA,     STRING)          \
    X(DESCRIPTION,           "description",           DALL,   METADATA,     STRING)          \
    X(EXAMPLES,              "examples",              DALL,   METADATA,     ARRAY)           \
    X(READ_ONLY,             "readOnly",              DALL,   METADATA,     BOOL)            \
    X(WRITE_ONLY,            "writeOnly",             DALL,   METADATA,     BOOL)            \
    X(DEPRECATED,            "deprecated",            DNEW,   METADATA,     BOOL)

enum keyword {
#define KEYWORD_ENUM(id, name, drafts, vocabulary, shape) KEYWORD_##id,
    KEYWORDS(KEYWORD_ENUM)
#undef KEYWORD_ENUM
    KEYWORD_COUNT
};
// clang-format on

/* The values of a schema object's keywords, as far as its dialect knows them. */
struct keywords {
    const struct json *at[KEYWORD_COUNT];
};

/* A part of a document with an address of its own. */
struct resource {
    str uri; /* absolute where that could be had; no fragment */
    const struct json *root;
    struct dialect dialect;
    uint32_t index;
    struct map anchors;         /* name → struct json */
    struct map dynamic_anchors; /* likewise; $recursiveAnchor is the one with the empty name */
    struct resource *previous;  /* the one that was found before it */
};

/* A schema somewhere in a document. */
struct schema_location {
    const struct json *json;
    struct resource *resource;
    str pointer; /* in its document, for messages */
};

struct build {
    struct arena *arena;  /* of the program that is being made */
    struct arena *errors; /* of the caller: errors outlive a failed build */
    const struct schema_options *options;
    struct map resources; /* URI → struct resource */
    struct map
        known; /* address of a schema's json → struct schema_location: all that were scanned */
    struct map nodes;              /* address of a schema's json → struct node */
    struct map indexes;            /* address of a wide object → struct map of its members */
    struct map patterns;           /* text → struct regex: many schemas say the same often */
    struct map dynamics;           /* names that dynamic references ask for → index + 1 */
    struct schema_location *queue; /* one per node; compiled up to `done` */
    struct node **made;
    uint32_t count, done, room;
    uint32_t parts;        /* so far: see SCHEMA_PARTS_MAX */
    struct resource *last; /* of all resources */
    uint32_t resource_count;
};

/* A key of the maps that are asked by address. It borrows the pointer, not what that points to. */
static inline str address_key(const struct json *const *address)
{
    return (str){ (const char *)address, sizeof *address };
}

/* Where a schema stands that was scanned; NULL: none was at this address. */
static inline struct schema_location *build_location(const struct build *b, const struct json *json)
{
    return map_get(&b->known, address_key(&json));
}

/* ---- build.c ---- */

/* The document of that address, of those that were given; or NULL. */
const struct json *build_document(const struct build *b, str uri);

/* UNFIT, with a pointer into the schema. */
err build_error(struct build *b, str pointer, const char *keyword, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Says something that is no error, to whoever asked for it. */
void build_warn(struct build *b, str pointer, const char *keyword, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* TOO_LARGE when there are more parts than may be. */
err build_count(struct build *b, str pointer, uint32_t parts);

/* The node of a schema that stands inside another one; it may be filled later. NULL gives NULL. */
const struct node *build_node(struct build *b, const struct json *json);
const struct node *build_node_at(struct build *b, const struct schema_location *location);
const struct node **build_nodes(struct build *b, const struct json *array);

/* ---- dialect.c ---- */

/* Reads the keywords that a dialect knows. */
void keywords_read(const struct json *schema, struct dialect dialect, struct keywords *out);
const char *keyword_name(enum keyword k);

/* Which draft and vocabularies a "$schema" means. Without one (an empty uri), what the options say
 * counts, and else 2020-12. */
err dialect_find(struct build *b, str pointer, str uri, struct dialect *out);

/* ---- load.c ---- */

/* Makes the root document known and gives its location. */
err build_load_root(struct build *b, const struct json *text, struct schema_location *out);

/* What a reference from `from` means. `dynamic` (may be NULL) gets the name of the dynamic anchor
 * that it names, or an empty str. */
err build_resolve(struct build *b, const struct schema_location *from, enum keyword keyword,
                  str reference, struct schema_location *out, str *dynamic);

/* ---- shape.c ---- */

/* Whether a keyword's value looks as it must. */
err shape_check(struct build *b, str pointer, enum keyword k, const struct json *value);
enum shape keyword_shape(enum keyword k);

/* The bit of enum json_kind for a type's name, both number kinds for "number"; 0: unknown. */
unsigned type_kinds(str name);

/* ---- compile_kinds.c ---- */

/* Gives a node the rules that speak of an instance by its kind, and those of its values. */
err build_kinds(struct build *b, const struct schema_location *at, const struct keywords *k,
                struct node *n);

/* ---- table.c ---- */

struct name name_of(str s);

/* Makes the slots of an object's names, of which there are o->name_count. */
void slots_make(struct arena *a, struct object_rules *o, const struct property *names);

/* Sorts the texts of an enum, v->text_count of them, and makes their slots. */
void texts_make(struct arena *a, struct value_rules *v, struct name *texts);

/* ---- loop.c ---- */

/* UNFIT when a schema applies itself to the same value again. */
err build_loops(struct build *b);

/* ---- merge.c ---- */

/* Joins nodes where that changes nothing but the time a check takes. */
void build_merge(struct build *b, struct schema *s);

#endif
