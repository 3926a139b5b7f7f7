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

#include "json/member.h"
#include "json/parse_private.h"

enum {
    SCRATCH_BYTES = 8 << 10,    /* on the C stack; more comes from malloc              */
    DEPTH_CEILING = 1024,       /* of any depth_max: frames are on the C stack, too */
    REAL_DIGITS_SAFE = 300,     /* fewer digits than this cannot leave a double's range */
    DOUBLE_EXPONENT_MAX = 308,  /* 1.79…e308                                           */
    EXPONENT_CLAMP = 100000000, /* an exponent beyond this is as good as infinite       */
};

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
static inline struct json *value_slot(struct parser *p)
{
    if (p->depth && p->frames[p->depth - 1].is_object)
        return &((struct json_member *)(void *)(p->scratch + p->top))[-1].value;
    return scratch_push(p, sizeof(struct json));
}

static inline void value_done(struct parser *p, enum json_kind kind, size_t len, const char *text)
{
    *value_slot(p) = (struct json){ .kind = kind, .len = (uint32_t)len, .text = text };
}

/* ---- strings ---- */

/* A string whose opening quote is at p->at. */
static inline __attribute__((always_inline)) bool string(struct parser *p, str *out)
{
    const char *start = p->at + 1, *at = plain_end(start, p->end);

    if (at == p->end || *at != '"') {
        p->at = at;
        return parse_string_rest(p, start, out);
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

/* Whether a number can be a double other than infinity. `exponent` is where its exponent begins,
 * NULL when it has none. */
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

/* A number that begins at p->at; its text is kept as it is. */
static inline bool number(struct parser *p)
{
    const char *start = p->at, *end = p->end, *exponent = NULL;
    enum json_kind kind = JSON_INTEGER;

    p->at += *p->at == '-';
    const char *whole = p->at;
    p->at = digits_end(whole, end);
    if (p->at == whole)
        return expect_hint(p, "a digit", "");
    if (p->at > whole + 1 && *whole == '0') {
        p->at = whole + 1;
        return expect_hint(p, "no digit after a leading 0", "");
    }
    if (p->at < end && *p->at == '.') {
        const char *fraction = ++p->at;
        kind = JSON_REAL;
        p->at = digits_end(fraction, end);
        if (p->at == fraction)
            return expect_hint(p, "a digit", "");
    }
    if (p->at < end && (*p->at | 0x20) == 'e') {
        exponent = ++p->at;
        kind = JSON_REAL;
        p->at += p->at < end && (*p->at == '-' || *p->at == '+');
        const char *digits = p->at;
        p->at = digits_end(digits, end);
        if (p->at == digits)
            return expect_hint(p, "a digit", "");
    }

    struct json value = { .kind = kind, .len = (uint32_t)(p->at - start), .text = start };
    if ((exponent || value.len >= REAL_DIGITS_SAFE) && !in_range(&value, exponent, p->at)) {
        p->at = start;
        return expect_hint(p, "a number of at most 1.797e308",
                           "; it is beyond the range of a double");
    }
    *value_slot(p) = value;
    return true;
}

/* ---- containers ---- */

static err open_container(struct parser *p, bool is_object)
{
    if (p->depth == p->depth_max)
        return parse_error_at(
            p, p->at,
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
    assert(f->start <= p->top);
    size_t bytes = p->top - f->start;
    size_t n = bytes / (f->is_object ? sizeof(struct json_member) : sizeof(struct json));
    void *values = p->scratch + f->start;

    if (f->is_object && n > 1) {
        const struct json_member *twice = member_duplicate(values, n);
        if (twice)
            return parse_duplicate(p, twice);
    }
    values = n ? memcpy(arena_alloc(p->arena, bytes), values, bytes) : NULL;
    p->memory += bytes;
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
                    return parse_unexpected(p);
                continue;
            }
            TRY(close_container(p));
        } else if (!scalar(p)) {
            return parse_unexpected(p);
        }

        /* A value is done; close what ends with it. */
        for (;;) {
            if (p->depth == 0)
                return NULL;
            bool in_object = p->frames[p->depth - 1].is_object;
            skip_space(p);
            if (next_is(p, ',')) {
                if (p->top + p->memory > p->memory_max)
                    return parse_too_much(p);
                p->at++;
                if (in_object && !name(p))
                    return parse_unexpected(p);
                break;
            }
            if (!next_is(p, in_object ? '}' : ']')) {
                expect(p, in_object ? "',' or '}' after a member" : "',' or ']' after an element");
                return parse_unexpected(p);
            }
            TRY(close_container(p));
        }
    }
}

static err parse_document(struct parser *p)
{
    if (p->end - p->at >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0)
        return parse_error_at(p, p->at,
                              STR("expected a value, found a byte order mark; save the text as "
                                  "UTF-8 without it"));
    TRY(parse_values(p));
    skip_space(p);
    if (p->at < p->end) {
        expect_hint(p, "the end of the text after the value", "");
        return parse_unexpected(p);
    }
    return NULL;
}

err json_parse(struct arena *a, str text, const struct json_limits *limits, const struct json **out)
{
    size_t bytes_max = limits && limits->bytes_max ? limits->bytes_max : JSON_BYTES_MAX;
    uint32_t depth_max = limits && limits->depth_max ? limits->depth_max : JSON_DEPTH_MAX;
    _Alignas(16) char scratch[SCRATCH_BYTES];
    struct frame frames[depth_max];

    assert(bytes_max <= JSON_BYTES_CEILING && depth_max <= DEPTH_CEILING);
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
        .memory_max = limits && limits->memory_max ? limits->memory_max : SIZE_MAX,
    };
    err e = parse_document(&p);
    if (!e) {
        assert(p.depth == 0 && p.top == sizeof(struct json));
        struct json *root = arena_alloc(a, sizeof *root);
        *root = *(struct json *)(void *)p.scratch;
        *out = root;
    }
    if (p.scratch != scratch)
        free(p.scratch);
    return e;
}

const struct json_limits json_limits_own = { .depth_max = DEPTH_CEILING,
                                             .bytes_max = JSON_BYTES_CEILING,
                                             .nul_allowed = true };

err json_parse_own(struct arena *a, str text, const struct json **out)
{
    err e = json_parse(a, text, &json_limits_own, out);

    return e ? err_new(a, ERR_INTERNAL, "what was printed here cannot be read: " STR_FMT,
                       STR_ARG(e->message))
             : NULL;
}
