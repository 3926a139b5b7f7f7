/* parse_string.c: strings with escapes, or with characters above ASCII.
 *
 * They are checked to be UTF-8 and written without their escapes. Does not know
 * where in a document a string stands. */
#include "base/utf8.h"
#include "json/parse_private.h"

/* Steps over one character above ASCII; false when it is not valid UTF-8. */
static inline bool wide_skip(struct parser *p)
{
    const unsigned char *c = (const unsigned char *)p->at;
    size_t left = (size_t)(p->end - p->at), n = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;

    if (c[0] < 0xc2 || c[0] > 0xf4 || left < n || (c[1] & 0xc0) != 0x80)
        return false;
    if (n >= 3 && (c[2] & 0xc0) != 0x80)
        return false;
    if (n == 4 && (c[3] & 0xc0) != 0x80)
        return false;
    /* Overlong forms, surrogates, and what lies above U+10FFFF. */
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return false;
    p->at += n;
    return true;
}

static bool hex4(struct parser *p, uint32_t *out)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++, p->at++) {
        if (p->at >= p->end)
            return expect(p, "four hexadecimal digits after \\u");
        unsigned char c = (unsigned char)*p->at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value << 4 | ((c | 0x20) - 'a' + 10u);
        else
            return expect(p, "four hexadecimal digits after \\u");
    }
    *out = value;
    return true;
}

/* \uXXXX, or two of them that make one character. */
static bool unicode_escape(struct parser *p, char **to)
{
    const char *start = p->at - 2;
    uint32_t unit, low;

    if (!hex4(p, &unit))
        return false;
    if (unit >= 0xd800 && unit <= 0xdfff) {
        bool paired = unit < 0xdc00 && p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u';
        if (paired) {
            p->at += 2;
            if (!hex4(p, &low))
                return false;
            paired = low >= 0xdc00 && low <= 0xdfff;
        }
        if (!paired) {
            p->at = start;
            return expect_hint(p, "a character", "; it begins half of a surrogate pair alone");
        }
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    if (unit == 0 && !p->nul_allowed) {
        p->at = start;
        return expect_hint(p, "a character other than NUL", "; \\u0000 is not accepted in strings");
    }
    *to += utf8_put(*to, unit);
    return true;
}

static bool escape(struct parser *p, char **to)
{
    static const char plain[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
    };

    p->at++;
    if (p->at >= p->end)
        return expect(p, "an escaped character after \\");
    unsigned char c = (unsigned char)*p->at;
    if (c == 'u') {
        p->at++;
        return unicode_escape(p, to);
    }
    if (!plain[c])
        return expect_hint(p, "one of \" \\ / b f n r t u after \\", "");
    *(*to)++ = plain[c];
    p->at++;
    return true;
}

static bool string_broken(struct parser *p)
{
    if (p->at >= p->end)
        return expect_hint(p, "'\"' at the end of a string", "");
    if ((unsigned char)*p->at >= 0x80)
        return expect_hint(p, "valid UTF-8", "");
    return expect_hint(p, "'\"' or a character",
                       "; control characters and line ends are written as \\n, \\t or \\u00XX");
}

/* Copies plain bytes to `to` and gives the end of the copy. Sixteen bytes are moved before it is
 * known how many of them count, which is why the pool has that much room to spare. */
static inline char *plain_copy(struct parser *p, char *to)
{
#if defined(__SSE2__)
    for (; p->end - p->at >= 16; p->at += 16, to += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p->at);
        _mm_storeu_si128((__m128i *)(void *)to, bytes);
        unsigned mask = stop_mask(bytes);
        if (mask) {
            p->at += __builtin_ctz(mask);
            return to + __builtin_ctz(mask);
        }
    }
#endif
    while (p->at < p->end && (signed char)*p->at >= ' ' && *p->at != '"' && *p->at != '\\')
        *to++ = *p->at++;
    return to;
}

/* The rest of a string from its first escape on: what came before is at `start`. Texts without
 * their escapes are written one behind the other into a pool that is made at the first of them; it
 * is large enough, because an escape is never shorter than what it stands for. */
static bool string_unescape(struct parser *p, const char *start, str *out)
{
    if (!p->pool)
        p->pool = arena_alloc(p->arena, (size_t)(p->end - start) + 16);
    char *text = p->pool, *to = text + (p->at - start);
    memcpy(text, start, (size_t)(p->at - start));
    for (;;) {
        to = plain_copy(p, to);
        if (p->at < p->end && *p->at == '"')
            break;
        if (p->at < p->end && *p->at == '\\') {
            if (!escape(p, &to))
                return false;
            continue;
        }
        const char *run = p->at;
        if (p->at >= p->end || (unsigned char)*p->at < 0x80 || !wide_skip(p))
            return string_broken(p);
        memcpy(to, run, (size_t)(p->at - run));
        to += p->at - run;
    }
    p->at++;
    p->pool = to;
    *out = (str){ text, (size_t)(to - text) };
    return true;
}

bool parse_string_rest(struct parser *p, const char *start, str *out)
{
    while (p->at < p->end && (unsigned char)*p->at >= 0x80 && wide_skip(p))
        p->at = plain_end(p->at, p->end);
    if (p->at < p->end && *p->at == '\\')
        return string_unescape(p, start, out);
    if (p->at >= p->end || *p->at != '"')
        return string_broken(p);
    *out = (str){ start, (size_t)(p->at - start) };
    p->at++;
    return true;
}
