/* utf8.h: validity and code points. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

/* The index of the first byte that is not part of valid UTF-8 (overlong forms, surrogates and
 * values above U+10FFFF are not), or s.len when all of it is valid. */
size_t utf8_valid_to(str s);

static inline bool utf8_valid(str s)
{
    return utf8_valid_to(s) == s.len;
}

/* How many code points valid UTF-8 holds. */
size_t utf8_length(str s);

/* Takes one code point off the front of valid, non-empty UTF-8. */
uint32_t utf8_next(str *s);

/* Whether a terminal does something at it instead of showing it: controls (C0, DEL, C1), and those that
 * turn the direction of what follows, so that it reads as something else. */
bool utf8_is_control(uint32_t code_point);

/* Writes one code point (at most 4 bytes) and gives their number. */
size_t utf8_put(char *at, uint32_t code_point);

/* The longest prefix of at most `most` bytes that does not cut a code point. */
str utf8_cut(str s, size_t most);

#endif
