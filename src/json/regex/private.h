/* private.h: what the two translators of regular expressions share.
 *
 * A translator reads a pattern of its own syntax, checks it, and writes the
 * same expression for PCRE2. What PCRE2 is given holds nothing that was not
 * understood here, so no syntax of Perl can slip through. */
#ifndef JSON_REGEX_PRIVATE_H
#define JSON_REGEX_PRIVATE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/utf8.h"

#define REGEX_NESTING_MAX 200
#define REGEX_REPEAT_MAX 65535 /* what PCRE2 can count */
#define REGEX_END 0xffffffffu  /* regex_peek at the end: no code point */

struct regex_reader {
    struct arena *arena;
    str pattern; /* valid UTF-8 */
    size_t at;
    struct buf out; /* for PCRE2 */
    unsigned depth;
    bool refers; /* has references, so groups capture and none may be left out */
    bool loose;  /* what only the `u` flag refuses stands for what it does without it */
};

/* Both leave the expression in r->out. */
err regex_translate_ecma(struct regex_reader *r);
err regex_translate_iregexp(struct regex_reader *r);

/* The name by which PCRE2 knows what ECMA-262 writes inside \p{…}; false when there is none. */
bool regex_property(struct buf *out, str name, bool negated);

/* INVALID, with the place in the pattern as a character counted from 1. */
err regex_fault(const struct regex_reader *r, size_t where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The next code point, taken or not; REGEX_END when there is none. */
uint32_t regex_peek(const struct regex_reader *r);
uint32_t regex_take(struct regex_reader *r);

/* Takes the text when it is next. */
bool regex_accept(struct regex_reader *r, str text);

/* Whether {n}, {n,} or {n,m} is next. */
bool regex_braces_follow(const struct regex_reader *r);

/* Reads a quantifier if there is one and writes it; `lazy` allows a '?' after it. What it repeats
 * was written from `atom` on. */
err regex_quantifier(struct regex_reader *r, size_t atom, bool lazy, bool *found);

/* Writes a code point so that it stands for itself, inside and outside of a class. */
void regex_write_literal(struct buf *out, uint32_t c);

/* Writes a range of a class. Surrogates, which no valid UTF-8 holds, are left out. */
void regex_write_range(struct buf *out, uint32_t low, uint32_t high);

#endif
