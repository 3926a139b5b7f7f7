/* str.h: counted bytes.
 *
 * A `str` is borrowed: it is passed like an integer, never freed, and lives as
 * long as whatever owns its bytes. It need not end in NUL and may hold any
 * byte. Knows nothing of encodings: see utf8.h. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *at;
    size_t len;
} str;

#define STR(literal) ((str){ "" literal, sizeof(literal) - 1 })
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).len, (s).at

/* A NUL-terminated string as a str; NULL becomes the empty one. */
static inline str str_from(const char *z)
{
    return (str){ z ? z : "", z ? strlen(z) : 0 };
}

static inline bool str_eq(str a, str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* The bytes from `from` up to, not including, `to`; both are cut to the length. */
static inline str str_slice(str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return (str){ s.at + from, to - from };
}

/* Order by bytes; of two where one begins the other, the shorter is first. */
int str_compare(str a, str b);

bool str_starts(str s, str prefix);
bool str_ends(str s, str suffix);

/* Splits at the first `sep`: false, with all of `s` in `before`, when there is none. */
bool str_cut(str s, char sep, str *before, str *after);

/* Finds the first byte `c` and gives its index, or s.len. */
size_t str_find(str s, char c);

/* Whether a text stands somewhere in another; the empty one always does. */
bool str_contains(str s, str part);

/* Without spaces, tabs and line ends at either side. */
str str_trim(str s);

/* A whole decimal integer with an optional minus: false for anything else, overflow included. */
bool str_to_int(str s, int64_t *out);

/* The other way: the digits are at the end of the room. */
enum { INT_ROOM = 20 };
str str_of_int(char room[INT_ROOM], int64_t n);

/* How many single-byte changes, insertions or removals, or swaps of neighbours, turn a into b;
 * more than `most` answers most + 1. For "did you mean". */
unsigned str_distance(str a, str b, unsigned most);

#endif
