/* utf8.c: validity and code points. */
#include "base/utf8.h"

#include <assert.h>

#define HIGH_BITS 0x8080808080808080u
#define LOW_BITS 0x0101010101010101u

static uint64_t load8(const char *at)
{
    uint64_t v;
    memcpy(&v, at, 8);
    return v;
}

/* By the first byte: how long its sequence is, and the range of the second byte. That range is how
 * overlong forms, surrogates and values above U+10FFFF are kept out. */
// clang-format off
static const struct form { unsigned char length, low, high; } forms[256] = {
    [0x00 ... 0x7f] = { 1, 0x00, 0xff },
    [0xc2 ... 0xdf] = { 2, 0x80, 0xbf },
    [0xe0]          = { 3, 0xa0, 0xbf },
    [0xe1 ... 0xec] = { 3, 0x80, 0xbf },
    [0xed]          = { 3, 0x80, 0x9f },
    [0xee ... 0xef] = { 3, 0x80, 0xbf },
    [0xf0]          = { 4, 0x90, 0xbf },
    [0xf1 ... 0xf3] = { 4, 0x80, 0xbf },
    [0xf4]          = { 4, 0x80, 0x8f },
};
// clang-format on

/* The length of the sequence of several bytes that begins here, or 0. */
static size_t sequence(const unsigned char *at, size_t left)
{
    struct form form = forms[at[0]];
    if (form.length < 2 || form.length > left || at[1] < form.low || at[1] > form.high)
        return 0;
    for (size_t i = 2; i < form.length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return form.length;
}

size_t utf8_valid_to(str s)
{
    size_t i = 0;
    while (i < s.len) {
        if (!(s.at[i] & 0x80)) {
            i++;
            while (s.len - i >= 16 && !((load8(s.at + i) | load8(s.at + i + 8)) & HIGH_BITS))
                i += 16;
            continue;
        }
        size_t length = sequence((const unsigned char *)s.at + i, s.len - i);
        if (length == 0)
            break;
        i += length;
    }
    return i;
}

size_t utf8_length(str s)
{
    size_t i = 0, followers = 0;
    for (; i + 8 <= s.len; i += 8) {
        uint64_t v = load8(s.at + i);
        uint64_t marks = v >> 7 & ~(v >> 6) & LOW_BITS; /* a 1 for every byte 10xxxxxx */
        followers += marks * LOW_BITS >> 56;
    }
    for (; i < s.len; i++)
        followers += (s.at[i] & 0xc0) == 0x80;
    return s.len - followers;
}

uint32_t utf8_next(str *s)
{
    assert(s->len > 0);
    const unsigned char *at = (const unsigned char *)s->at;
    size_t length = forms[at[0]].length;
    assert(length > 0 && length <= s->len);

    uint32_t code_point = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        code_point = code_point << 6 | (at[i] & 0x3f);
    s->at += length;
    s->len -= length;
    return code_point;
}

size_t utf8_put(char *at, uint32_t code_point)
{
    assert(code_point <= 0x10ffff && (code_point < 0xd800 || code_point > 0xdfff));
    if (code_point < 0x80) {
        at[0] = (char)code_point;
        return 1;
    }
    size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code_point >>= 6)
        at[i] = (char)(0x80 | (code_point & 0x3f));
    at[0] = (char)(0xf00u >> length | code_point); /* as many high ones as there are bytes */
    return length;
}

str utf8_cut(str s, size_t most)
{
    if (s.len <= most)
        return s;
    while (most > 0 && (s.at[most] & 0xc0) == 0x80)
        most--;
    return (str){ s.at, most };
}

bool utf8_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}
