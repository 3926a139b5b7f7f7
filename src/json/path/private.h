/* private.h: a compiled query, shared by the files of json/path_*.c.
 *
 *   lex.c     the texts inside a query: blanks, strings, numbers, and where an error is
 *   parse.c   grammar and types: query text → the structs below
 *   filter.c  what a filter answers for one value; the functions
 *   run.c     walking a document; the locations of what was found
 *
 * A compiled query is immutable and may be run from several threads. */
#ifndef JSON_PATH_PRIVATE_H
#define JSON_PATH_PRIVATE_H

#include "json/path/path.h"
#include "json/regex/regex.h"

/* ---- the compiled query ---- */

enum path_selector_kind {
    SELECT_NAME,
    SELECT_WILDCARD,
    SELECT_INDEX,
    SELECT_SLICE,
    SELECT_FILTER,
    SELECTOR_KINDS
};

struct path_selector {
    enum path_selector_kind kind;
    uint32_t hash; /* of the name */
    const struct path_selector *next;
    union {
        str name;
        int64_t index;
        struct {
            int64_t start, end, step; /* what was left out is filled in by the parser */
        };
        const struct path_expr *filter;
    };
};

struct path_segment {
    bool descendant;
    const struct path_selector *selectors; /* at least one */
    const struct path_segment *next;
};

struct path_query {
    bool relative; /* begins with @, else with $ */
    bool singular; /* finds at most one value, by its form */
    const struct path_segment *segments;
};

struct json_path {
    struct path_query query;
};

enum path_expr_kind {
    EXPR_OR,      /* of all operands */
    EXPR_AND,     /* of all operands */
    EXPR_NOT,     /* of one operand  */
    EXPR_COMPARE, /* of two          */
    EXPR_LITERAL,
    EXPR_QUERY, /* its value where a value is wanted, else whether it finds any */
    EXPR_CALL,  /* operands are the arguments */
    EXPR_KINDS
};

struct path_expr {
    enum path_expr_kind kind;
    struct path_expr *operands, *next; /* the first one; the one after this */
    union {
        const struct path_comparison *comparison;
        struct json literal;
        struct path_query query;
        struct {
            const struct path_function *function;
            struct regex *regex; /* of a literal pattern; NULL also when it is no I-Regexp */
        };
    };
};

/* ---- what a filter is made of ---- */

struct path_comparison {
    const char *text;
    bool equal, less;  /* either of them makes it true … */
    bool swap, negate; /* … with its sides exchanged, or the answer turned round */
};

/* The operator that `rest` begins with, or NULL. */
const struct path_comparison *path_comparison_find(str rest);

enum path_type { PATH_VALUE, PATH_NODES, PATH_LOGICAL };

#define PATH_ARGUMENTS_MAX 2

/* A number that a function has made needs memory while it is compared. */
struct path_scratch {
    struct json number;
    char digits[INT_ROOM];
};

struct path_run;

struct path_function {
    const char *name;
    enum path_type result; /* says which of the two functions is there */
    unsigned argument_count;
    enum path_type arguments[PATH_ARGUMENTS_MAX];
    enum { PATTERN_NONE, PATTERN_WHOLE, PATTERN_ANYWHERE } pattern; /* of the last argument */
    const struct json *(*value)(struct path_run *run, const struct path_expr *call,
                                const struct json *current, struct path_scratch *scratch);
    bool (*test)(struct path_run *run, const struct path_expr *call, const struct json *current);
};

/* NULL when there is no such function. */
const struct path_function *path_function_find(str name);

/* Compiles a literal pattern once, for as long as the arena lives. */
void path_call_prepare(struct arena *a, struct path_expr *call);

/* ---- running ---- */

struct path_run {
    struct arena *arena;
    const struct json *root;
    uint32_t steps_left;
    err error; /* set once; no steps are left then, so everything ends */
    struct {
        str text;
        int kind;
        struct regex *regex;
    } pattern; /* the last one that came from a document */
};

/* Ends the run with LIMIT. */
void path_stop(struct path_run *run);

/* False when the budget does not hold so many steps, which ends the run. */
static inline bool path_spend(struct path_run *run, uint64_t steps)
{
    if (run->steps_left < steps) {
        path_stop(run);
        return false;
    }
    run->steps_left -= (uint32_t)steps;
    return true;
}

/* Comparing, searching and scanning take time by the byte. */
static inline uint64_t path_text_steps(size_t bytes)
{
    return 1 + bytes / 64;
}

/* The value that a singular query finds, or NULL. */
const struct json *path_single(struct path_run *run, const struct path_query *query,
                               const struct json *current);

/* How many values a query finds, counting up to `most`, and the last one of them. */
uint64_t path_count(struct path_run *run, const struct path_query *query,
                    const struct json *current, uint64_t most, const struct json **last);

bool path_filter_test(struct path_run *run, const struct path_expr *e, const struct json *current);

/* ---- reading a query's text ---- */

#define PATH_BYTES_MAX (64u << 10)
#define PATH_DEPTH_MAX 32 /* filters, parentheses and calls inside each other */

struct path_text {
    struct arena *arena;
    str all; /* valid UTF-8 */
    size_t at;
    unsigned depth;
};

/* INVALID with the column of a byte and a message. */
err path_fail(const struct path_text *t, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* INVALID: expected this, found what is here. */
err path_expected(const struct path_text *t, const char *what);

static inline bool path_ended(const struct path_text *t)
{
    return t->at == t->all.len;
}

/* The byte here, 0 at the end; no rule of the grammar accepts a NUL. */
static inline char path_peek(const struct path_text *t)
{
    return path_ended(t) ? 0 : t->all.at[t->at];
}

static inline bool path_take(struct path_text *t, char c)
{
    if (path_ended(t) || t->all.at[t->at] != c)
        return false;
    t->at++;
    return true;
}

void path_skip_blanks(struct path_text *t);

/* A run of letters, digits, '_' and all beyond ASCII that begins with no digit; may be empty. */
str path_read_name(struct path_text *t);

/* A run of a-z, digits and '_' that begins with a letter; may be empty. */
str path_read_word(struct path_text *t);

/* An index, or a part of a slice: within what a double holds exactly. */
bool path_at_number(const struct path_text *t);
err path_read_index(struct path_text *t, int64_t *out);

err path_read_number(struct path_text *t, struct json *out);

/* A string literal, from its quote on. */
err path_read_string(struct path_text *t, str *out);

#endif
