/* parse_private.h: the parser's state, shared by the files of json/parse*.c.
 *
 *   parse.c         the grammar, numbers, and plain strings, which most are
 *   parse_string.c  strings with escapes or with characters above ASCII
 *   parse_error.c   the words for what is wrong, and where
 *
 * What runs for every byte is inline here or static in parse.c; the other two
 * files are entered by a call. */
#ifndef JSON_PARSE_PRIVATE_H
#define JSON_PARSE_PRIVATE_H

#include "json/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

struct frame {
    size_t start; /* of this container's values on the scratch stack */
    bool is_object;
};

struct parser {
    const char *at, *end, *begin;
    struct arena *arena;
    const char *expected; /* for the error message, set where parsing stops */
    const char *hint;
    char *pool;    /* where the next text goes that had escapes; NULL: none had so far */
    char *scratch; /* finished values of open containers */
    size_t top, room;
    size_t memory_max, memory; /* that the values may take, and those in the arena do */
    uint32_t depth, depth_max;
    bool nul_allowed;
    struct frame *frames; /* depth_max of them */
};

/* ---- parse_error.c ---- */

/* INVALID, with the line and column of `at` in front of `what`. */
err parse_error_at(const struct parser *p, const char *at, str what);

/* The same for what stands at p->at instead of p->expected. */
err parse_unexpected(const struct parser *p);

/* A name that stands twice in the object that is being closed. */
err parse_duplicate(const struct parser *p, const struct json_member *m);

/* TOO_LARGE: there are more values than may be held. */
err parse_too_much(const struct parser *p);

/* Notes what was expected where parsing stops, and what to say behind it: NULL for what the byte
 * that was found suggests, "" for nothing. */
static inline bool expect_hint(struct parser *p, const char *what, const char *hint)
{
    p->expected = what;
    p->hint = hint;
    return false;
}

static inline bool expect(struct parser *p, const char *what)
{
    return expect_hint(p, what, NULL);
}

/* ---- parse_string.c ---- */

/* The rest of a string that has more to it than plain ASCII up to its closing quote: p->at is where
 * that ends, and what came before is at `start`. */
bool parse_string_rest(struct parser *p, const char *start, str *out);

/* ---- plain ASCII ---- */

#if defined(__SSE2__)
/* A bit for each of sixteen bytes that ends a run of plain ASCII: quotes, escapes, controls, and
 * what lies above ASCII. */
static inline unsigned stop_mask(__m128i bytes)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');

    /* Signed, so that bytes above 0x7f are below the space too. */
    __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
    __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, marks));
}
#endif

/* The first byte that ends a run of plain ASCII. */
static inline const char *plain_end(const char *at, const char *end)
{
#if defined(__SSE2__)
    for (; end - at >= 32; at += 32) {
        const __m128i *blocks = (const __m128i *)(const void *)at;
        unsigned mask = stop_mask(_mm_loadu_si128(blocks));
        if (mask)
            return at + __builtin_ctz(mask);
        mask = stop_mask(_mm_loadu_si128(blocks + 1));
        if (mask)
            return at + 16 + __builtin_ctz(mask);
    }
#endif
    while (at < end && (signed char)*at >= ' ' && *at != '"' && *at != '\\')
        at++;
    return at;
}

#endif
