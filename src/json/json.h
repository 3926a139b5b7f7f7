/* json.h: JSON values, and how to read, build and print them.
 *
 * A value is 16 bytes and lives in some arena with everything below it. Values
 * are immutable wherever the pointer says const; json/patch.h edits a document
 * in place for the one caller who owns it. Strings and the texts of numbers are
 * slices of the parsed text where they can be, so that text must live as long.
 *
 * Numbers keep their text: what passes through unchanged is printed as it came,
 * and integers of any size are exact. Knows no files, no schemas, no time. */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "base/arena.h"
#include "base/err.h"

enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_INTEGER, /* a number written without fraction and exponent */
    JSON_REAL,    /* any other number: 1.0 and 1e3 too              */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    uint8_t kind; /* enum json_kind */
    uint8_t room; /* log2 of the elements there is space for, in a container that was edited */
    uint32_t len; /* bytes of text, elements, members; the value of a bool */
    union {
        const char *text; /* a string's bytes, unescaped; a number as it was written */
        struct json *items;
        struct json_member *members;
    };
};

/* Names are told apart by their keys; the bytes are looked at only where they are longer. */
struct json_member {
    const char *name;
    uint64_t key; /* hash_key of the name */
    uint32_t name_len;
    uint32_t hash; /* hash_bytes of the name */
    struct json value;
};

#define JSON_NUMBERS (1u << JSON_INTEGER | 1u << JSON_REAL)

static inline bool json_is(const struct json *j, enum json_kind kind)
{
    return j && j->kind == kind;
}

static inline bool json_is_number(const struct json *j)
{
    return j && (1u << j->kind & JSON_NUMBERS);
}

/* "null", "boolean", "integer", "number", "string", "array", "object". */
const char *json_kind_name(enum json_kind kind);

/* The bytes of a string, or the text of a number. */
static inline str json_text(const struct json *j)
{
    return (str){ j->text, j->len };
}

static inline str json_name(const struct json_member *m)
{
    return (str){ m->name, m->name_len };
}

/* The member of that name, or NULL; also when `j` is NULL or no object. */
const struct json *json_find(const struct json *j, str name);

static inline const struct json *json_get(const struct json *j, const char *name)
{
    return json_find(j, str_from(name));
}

/* The element, or NULL beyond the end; also when `j` is NULL or no array. */
static inline const struct json *json_at(const struct json *j, size_t i)
{
    return json_is(j, JSON_ARRAY) && i < j->len ? &j->items[i] : NULL;
}

/* A member's string, integer or truth, or what stands in for it when it is missing or of another
 * kind (an integer beyond 64 bits too). */
str json_str(const struct json *j, const char *name);
int64_t json_int_or(const struct json *j, const char *name, int64_t otherwise);
bool json_bool_or(const struct json *j, const char *name, bool otherwise);

/* ---- parse.c ---- */

#define JSON_DEPTH_MAX 64         /* containers inside each other, the outermost counted */
#define JSON_BYTES_MAX (4u << 20) /* of text; configurable up to JSON_BYTES_CEILING       */
#define JSON_BYTES_CEILING (1u << 30)

struct json_limits {
    uint32_t depth_max; /* 0: JSON_DEPTH_MAX */
    size_t bytes_max;   /* 0: JSON_BYTES_MAX */
    bool nul_allowed;   /* \u0000 in strings; never in what is stored */
    size_t memory_max;  /* of what it takes to hold the values, beside the text; 0: any */
};

/* Parses one document. `limits` may be NULL for the defaults. The values point into `text`.
 * INVALID, with line, column and what was expected, for: anything that is not RFC 8259, invalid
 * UTF-8, lone surrogates, NUL in a string, a name twice in one object, a number beyond the range
 * of a double, too deep. TOO_LARGE for too many bytes, or for values that take too much memory. */
err json_parse(struct arena *a, str text, const struct json_limits *limits,
               const struct json **out);

/* The limits of what we have printed ourselves, the highest that there are: what others send is
 * wrapped, escaped and put together by us, so it may be deeper and longer than they may send. */
extern const struct json_limits json_limits_own;

/* Parses what we have printed: an answer, a row of the store. INTERNAL: it is no JSON. */
err json_parse_own(struct arena *a, str text, const struct json **out);

/* ---- print.c ---- */

void json_print(struct buf *out, const struct json *j); /* compact */
void json_print_pretty(struct buf *out,
                       const struct json *j); /* two spaces, no newline at the end */
void json_print_canonical(struct buf *out, const struct json *j); /* RFC 8785 */

/* One string with its quotes and escapes. */
void json_print_string(struct buf *out, str s);

/* The compact form in the arena. */
str json_printed(struct arena *a, const struct json *j);

/* How many bytes json_print would write. */
size_t json_print_size(const struct json *j);

/* ---- number.c ---- */

/* The value as an exact 64-bit integer, 1.0 and 1e3 too: false when it has a fraction or does not
 * fit. */
bool json_to_int(const struct json *number, int64_t *out);
double json_to_double(const struct json *number);

/* Whether the value has no fraction: 1.0 and 1e3 have none. */
bool json_is_integral(const struct json *number);

/* Exact, whatever the digits: below, equal or above as < 0, 0, > 0. */
int json_number_compare(const struct json *a, const struct json *b);

/* Exact: is `number` a whole multiple of `of`, which is above 0? */
bool json_number_multiple(const struct json *number, const struct json *of);

/* Equal for numbers that are equal. */
uint32_t json_number_hash(const struct json *number);

/* ---- equal.c ---- */

/* Deep equality: members in any order, numbers by value (1 and 1.0 are equal). */
bool json_equal(const struct json *a, const struct json *b);

/* The same for equal values. */
uint32_t json_hash(const struct json *j);

/* The same two for whoever must not spend too long: what they look at is taken off `work`, about
 * one for a value and for each 64 bytes of text. When it comes to 0, the answer is void. */
bool json_equal_within(const struct json *a, const struct json *b, uint64_t *work);
uint32_t json_hash_within(const struct json *j, uint64_t *work);

/* ---- member.c ---- */

#define JSON_NONE UINT32_MAX /* no such element or member */

/* For each member of `of`, the index of the member of `in` that has its name, or JSON_NONE. Not
 * quadratic, however wide the objects are and whatever their names. */
const uint32_t *json_match(struct arena *a, const struct json *of, const struct json *in);

/* ---- build.c ---- */

/* Values made by hand. Strings are borrowed; containers grow in the arena. */
struct json json_null(void);
struct json json_bool(bool b);
struct json json_int(struct arena *a, int64_t n);
struct json json_string(str s);
struct json json_array(void);
struct json json_object(void);

/* Appends a value to an array, or a member to an object (that has none of that name), and gives
 * its place, which is good until the next addition. */
struct json *json_push(struct arena *a, struct json *array, struct json value);
struct json *json_put(struct arena *a, struct json *object, str name, struct json value);

/* A deep copy that shares nothing with the original, texts included. */
struct json json_copy(struct arena *a, const struct json *j);

/* Writes JSON text without a tree. Commas are its business; names and nesting are the caller's,
 * checked by asserts. */
struct json_writer {
    struct buf *out;
    uint64_t started; /* bit d: something was written at depth d */
    unsigned depth;
    bool named; /* a name was written and its value has not been */
};

static inline struct json_writer json_writer_to(struct buf *out)
{
    return (struct json_writer){ .out = out };
}

void json_write_begin(struct json_writer *w, char bracket); /* '{' or '[' */
void json_write_end(struct json_writer *w, char bracket);   /* '}' or ']' */
void json_write_name(struct json_writer *w, str name);
void json_write_str(struct json_writer *w, str value);
void json_write_int(struct json_writer *w, int64_t value);
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);
void json_write_value(struct json_writer *w, const struct json *value);
void json_write_printed(struct json_writer *w, str json); /* text that is JSON already */

#endif
