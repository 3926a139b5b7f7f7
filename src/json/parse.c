/* parse.c: bytes → values in an arena.
 *
 * One pass, no recursion. Finished values wait on a scratch stack until their
 * container closes and is copied to the arena in one piece, so that arrays and
 * objects are vectors. Names are hashed on the way: the hash finds duplicates
 * here and members everywhere else.
 *
 * Written for this program instead of taking a library's tree, because every
 * such tree needs a second walk for what we promise (depth, duplicate names,
 * hashes, numbers as text) and another form for editing. docs/benchmarks.md has
 * the measurement. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/member.h"
#include "json/pointer.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    SCRATCH_BYTES = 8 << 10,    /* on the C stack; more comes from malloc              */
    REAL_DIGITS_SAFE = 300,     /* fewer digits than this cannot leave a double's range */
    DOUBLE_EXPONENT_MAX = 308,  /* 1.79…e308                                           */
    EXPONENT_CLAMP = 100000000, /* an exponent beyond this is as good as infinite       */
};

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
    uint32_t depth, depth_max;
    bool nul_allowed;
    struct frame *frames; /* depth_max of them */
};

/* ---- errors ---- */

static err error_at(struct parser *p, const char *at, str what)
{
    unsigned line = 1, column = 1;

    for (const char *c = p->begin; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            column++; /* columns count characters, not bytes */
        }
    }
    return err_new(p->arena, ERR_INVALID, "line %u, column %u: " STR_FMT, line, column,
                   STR_ARG(what));
}

static str found_text(struct parser *p)
{
    if (p->at >= p->end)
        return STR("the end of the text");
    unsigned char c = (unsigned char)*p->at;
    if (c > ' ' && c < 0x7f)
        return arena_printf(p->arena, "'%c'", c);
    return arena_printf(p->arena, "byte 0x%02x", c);
}

/* What people and agents write most often instead of JSON. */
static const char *hint_for(const struct parser *p)
{
    if (p->hint)
        return p->hint;
    if (p->at >= p->end)
        return p->depth ? "; the text seems to be cut off" : "";
    switch (*p->at) {
    case '\'': return "; JSON quotes with \", not with '";
    case '/':
    case '#': return "; JSON has no comments";
    case '}':
    case ']': return "; a comma before it would be one too many";
    case 'N':
    case 'I':
    case 'u': return "; JSON knows null, but no NaN, Infinity or undefined";
    case 'T':
    case 'F': return "; true and false are written in small letters";
    default: return "";
    }
}

static err unexpected(struct parser *p)
{
    return error_at(p, p->at,
                    arena_printf(p->arena, "expected %s, found " STR_FMT "%s", p->expected,
                                 STR_ARG(found_text(p)), hint_for(p)));
}

static bool expect(struct parser *p, const char *what)
{
    p->expected = what;
    p->hint = NULL;
    return false;
}

static bool expect_hint(struct parser *p, const char *what, const char *hint)
{
    p->expected = what;
    p->hint = hint;
    return false;
}

/* ---- the scratch stack ---- */

static void scratch_widen(struct parser *p)
{
    size_t room = p->room * 2;

    if (p->room == SCRATCH_BYTES)
        p->scratch = memcpy(mem_alloc(room), p->scratch, p->top);
    else
        p->scratch = mem_grow(p->scratch, room);
    p->room = room;
}

static inline void *scratch_push(struct parser *p, size_t size)
{
    if (p->top + size > p->room)
        scratch_widen(p);
    void *place = p->scratch + p->top;
    p->top += size;
    return place;
}

/* Where a finished value goes: behind the name that was read last, or as the next element. */
static inline struct json *value_place(struct parser *p)
{
    if (p->depth && p->frames[p->depth - 1].is_object)
        return &((struct json_member *)(void *)(p->scratch + p->top))[-1].value;
    return scratch_push(p, sizeof(struct json));
}

static inline void value_done(struct parser *p, enum json_kind kind, size_t len, const char *text)
{
    *value_place(p) = (struct json){ .kind = kind, .len = (uint32_t)len, .text = text };
}

/* ---- strings ---- */

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

/* A string that has more to it than plain ASCII up to its closing quote. */
static __attribute__((noinline)) bool string_rest(struct parser *p, const char *start, str *out)
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

/* A string whose opening quote is at p->at. */
static inline __attribute__((always_inline)) bool string(struct parser *p, str *out)
{
    const char *start = p->at + 1, *at = plain_end(start, p->end);

    if (at == p->end || *at != '"') {
        p->at = at;
        return string_rest(p, start, out);
    }
    *out = (str){ start, (size_t)(at - start) };
    p->at = at + 1;
    return true;
}

/* ---- numbers ---- */

static inline const char *digits_end(const char *at, const char *end)
{
    while (at < end && (unsigned char)(*at - '0') <= 9)
        at++;
    return at;
}

/* Whether a number can be a double other than infinity. `whole` digits stand before the point. */
static bool in_range(const struct json *number, const char *exponent, const char *end)
{
    const char *first = number->text + (number->text[0] == '-');
    const char *point = digits_end(first, end);
    int64_t power = 0, place;

    if (exponent) {
        bool minus = *exponent == '-';
        for (const char *c = exponent + (minus || *exponent == '+'); c < end; c++)
            if (power < EXPONENT_CLAMP)
                power = power * 10 + (*c - '0');
        if (minus)
            power = -power;
    }
    /* The decimal place of the first digit that counts: 0 for 1 to 9. */
    if (*first != '0') {
        place = point - first - 1;
    } else {
        const char *c = point < end && *point == '.' ? point + 1 : point;
        while (c < end && *c == '0')
            c++;
        if (c >= end || (unsigned char)(*c - '0') > 9)
            return true; /* zero, whatever its exponent */
        place = -(c - point);
    }
    if (place + power != DOUBLE_EXPONENT_MAX)
        return place + power < DOUBLE_EXPONENT_MAX;
    return isfinite(json_to_double(number));
}

static bool number_broken(struct parser *p, const char *start)
{
    if (p->at > start && p->at[-1] == '0' && p->at < p->end && *p->at >= '0' && *p->at <= '9')
        return expect_hint(p, "no digit after a leading 0", "");
    return expect_hint(p, "a digit", "");
}

/* A number that begins at p->at; its text is kept as it is. */
static inline bool number(struct parser *p)
{
    const char *start = p->at, *end = p->end, *exponent = NULL;
    enum json_kind kind = JSON_INTEGER;

    p->at += *p->at == '-';
    const char *whole = p->at;
    p->at = digits_end(whole, end);
    if (p->at == whole || (*whole == '0' && p->at > whole + 1)) {
        p->at = p->at == whole ? whole : whole + 1;
        return number_broken(p, start);
    }
    if (p->at < end && *p->at == '.') {
        const char *fraction = ++p->at;
        kind = JSON_REAL;
        p->at = digits_end(fraction, end);
        if (p->at == fraction)
            return number_broken(p, end);
    }
    if (p->at < end && (*p->at | 0x20) == 'e') {
        exponent = ++p->at;
        kind = JSON_REAL;
        p->at += p->at < end && (*p->at == '-' || *p->at == '+');
        const char *digits = p->at;
        p->at = digits_end(digits, end);
        if (p->at == digits)
            return number_broken(p, end);
    }

    struct json value = { .kind = kind, .len = (uint32_t)(p->at - start), .text = start };
    if ((exponent || value.len >= REAL_DIGITS_SAFE) && !in_range(&value, exponent, p->at)) {
        p->at = start;
        return expect_hint(p, "a number of at most 1.797e308",
                           "; it is beyond the range of a double");
    }
    *value_place(p) = value;
    return true;
}

/* ---- containers ---- */

/* The pointer to the container that is open at `depth`: the name or index that each one outside of
 * it has come to. */
static void pointer_to(const struct parser *p, uint32_t depth, struct buf *out)
{
    for (uint32_t d = 0; d + 1 < depth; d++) {
        size_t until = p->frames[d + 1].start;
        if (p->frames[d].is_object)
            json_pointer_add(
                out, json_name((const struct json_member *)(const void *)(p->scratch + until) - 1));
        else
            json_pointer_add_index(out, (until - p->frames[d].start) / sizeof(struct json));
    }
}

static err duplicate_error(struct parser *p, const struct json_member *m)
{
    struct buf pointer = buf_in(p->arena);

    pointer_to(p, p->depth, &pointer);
    json_pointer_add(&pointer, json_name(m));
    bool in_text = m->name >= p->begin && m->name < p->end;
    return error_at(p, in_text ? m->name - 1 : p->at,
                    arena_printf(p->arena,
                                 "expected each name once in an object, found " STR_FMT
                                 " a second time",
                                 STR_ARG(buf_str(&pointer))));
}

static err open_container(struct parser *p, bool is_object)
{
    if (p->depth == p->depth_max)
        return error_at(p, p->at,
                        arena_printf(p->arena,
                                     "expected at most %u arrays and objects inside each other, "
                                     "found one more",
                                     p->depth_max));
    p->frames[p->depth++] = (struct frame){ p->top, is_object };
    p->at++;
    return NULL;
}

/* Moves a finished container's values from the scratch stack to the arena. */
static inline err close_container(struct parser *p)
{
    struct frame *f = &p->frames[p->depth - 1];
    size_t bytes = p->top - f->start;
    size_t n = bytes / (f->is_object ? sizeof(struct json_member) : sizeof(struct json));
    void *values = p->scratch + f->start;

    if (f->is_object && n > 1) {
        const struct json_member *twice = member_duplicate(values, n);
        if (twice)
            return duplicate_error(p, twice);
    }
    values = n ? memcpy(arena_alloc(p->arena, bytes), values, bytes) : NULL;
    enum json_kind kind = f->is_object ? JSON_OBJECT : JSON_ARRAY;
    p->top = f->start;
    p->depth--;
    p->at++;
    value_done(p, kind, n, values);
    return NULL;
}

static inline void skip_space(struct parser *p)
{
    /* No token begins with a byte that low, so one test is enough where there is no space. */
    while (p->at < p->end && (unsigned char)*p->at <= ' ' &&
           (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static inline bool next_is(const struct parser *p, char c)
{
    return p->at < p->end && *p->at == c;
}

static bool word(struct parser *p, str text, enum json_kind kind, size_t value)
{
    if ((size_t)(p->end - p->at) < text.len || memcmp(p->at, text.at, text.len) != 0)
        return expect_hint(p, "a value", "; the only words of JSON are null, true and false");
    p->at += text.len;
    value_done(p, kind, value, NULL);
    return true;
}

/* A value that is no container. */
static inline bool scalar(struct parser *p)
{
    str text;

    if (p->at >= p->end)
        return expect(p, "a value");
    switch (*p->at) {
    case '"':
        if (!string(p, &text))
            return false;
        value_done(p, JSON_STRING, text.len, text.at);
        return true;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return number(p);
    case 't': return word(p, STR("true"), JSON_BOOL, 1);
    case 'f': return word(p, STR("false"), JSON_BOOL, 0);
    case 'n': return word(p, STR("null"), JSON_NULL, 0);
    default: return expect(p, "a value");
    }
}

/* A name and the colon behind it. */
static inline bool name(struct parser *p)
{
    str text;

    skip_space(p);
    if (!next_is(p, '"'))
        return expect(p, "a name in double quotes");
    if (!string(p, &text))
        return false;
    struct json_member *m = scratch_push(p, sizeof *m);
    member_name(m, text);
    skip_space(p);
    if (!next_is(p, ':'))
        return expect(p, "':' after a name");
    p->at++;
    return true;
}

static err parse_values(struct parser *p)
{
    for (;;) {
        skip_space(p);
        if (next_is(p, '{') || next_is(p, '[')) {
            bool is_object = *p->at == '{';
            TRY(open_container(p, is_object));
            skip_space(p);
            if (!next_is(p, is_object ? '}' : ']')) {
                if (is_object && !name(p))
                    return unexpected(p);
                continue;
            }
            TRY(close_container(p));
        } else if (!scalar(p)) {
            return unexpected(p);
        }

        /* A value is done; close what ends with it. */
        for (;;) {
            if (p->depth == 0)
                return NULL;
            bool in_object = p->frames[p->depth - 1].is_object;
            skip_space(p);
            if (next_is(p, ',')) {
                p->at++;
                if (in_object && !name(p))
                    return unexpected(p);
                break;
            }
            if (!next_is(p, in_object ? '}' : ']')) {
                expect(p, in_object ? "',' or '}' after a member" : "',' or ']' after an element");
                return unexpected(p);
            }
            TRY(close_container(p));
        }
    }
}

static err parse_document(struct parser *p)
{
    if (p->end - p->at >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0)
        return error_at(p, p->at,
                        STR("expected a value, found a byte order mark; save the text as "
                            "UTF-8 without it"));
    TRY(parse_values(p));
    skip_space(p);
    if (p->at < p->end) {
        expect_hint(p, "the end of the text after the value", "");
        return unexpected(p);
    }
    return NULL;
}

err json_parse(struct arena *a, str text, const struct json_limits *limits, const struct json **out)
{
    size_t bytes_max = limits && limits->bytes_max ? limits->bytes_max : JSON_BYTES_MAX;
    uint32_t depth_max = limits && limits->depth_max ? limits->depth_max : JSON_DEPTH_MAX;
    _Alignas(16) char scratch[SCRATCH_BYTES];
    struct frame frames[depth_max];

    assert(bytes_max <= JSON_BYTES_CEILING && depth_max <= 1024);
    if (text.len > bytes_max)
        return err_new(a, ERR_TOO_LARGE, "expected at most %zu bytes of JSON, found %zu", bytes_max,
                       text.len);

    struct parser p = {
        .at = text.at,
        .begin = text.at,
        .end = text.at + text.len,
        .arena = a,
        .scratch = scratch,
        .room = SCRATCH_BYTES,
        .depth_max = depth_max,
        .frames = frames,
        .nul_allowed = limits && limits->nul_allowed,
    };
    err e = parse_document(&p);
    if (!e) {
        struct json *root = arena_alloc(a, sizeof *root);
        *root = *(struct json *)(void *)p.scratch;
        *out = root;
    }
    if (p.scratch != scratch)
        free(p.scratch);
    return e;
}
