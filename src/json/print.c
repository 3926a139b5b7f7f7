/* print.c: values → bytes, compact, pretty and canonical (RFC 8785). */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- strings ---- */

static inline bool needs_escape(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

/* How many bytes from the start need no escape. */
static size_t plain_run(str s)
{
    size_t i = 0;
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);

    for (; s.len - i >= 16; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(s.at + i));
        __m128i stop =
            _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes),
                         _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask)
            return i + (unsigned)__builtin_ctz(mask);
    }
#endif
    while (i < s.len && !needs_escape((unsigned char)s.at[i]))
        i++;
    return i;
}

/* The letter after the backslash; 'u' for those without one of their own. */
static char escape_letter(unsigned char c)
{
    switch (c) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '"':
    case '\\': return (char)c;
    default: return 'u';
    }
}

void json_print_string(struct buf *out, str s)
{
    buf_byte(out, '"');
    for (;;) {
        size_t run = plain_run(s);
        buf_add(out, str_slice(s, 0, run));
        if (run == s.len)
            break;
        unsigned char c = (unsigned char)s.at[run];
        char letter = escape_letter(c);
        buf_byte(out, '\\');
        buf_byte(out, letter);
        if (letter == 'u')
            buf_printf(out, "%04x", c);
        s = str_slice(s, run + 1, s.len);
    }
    buf_byte(out, '"');
}

static void print_scalar(struct buf *out, const struct json *j)
{
    switch (j->kind) {
    case JSON_NULL: buf_add(out, STR("null")); break;
    case JSON_BOOL: buf_add(out, j->len ? STR("true") : STR("false")); break;
    case JSON_INTEGER:
    case JSON_REAL: buf_add(out, json_text(j)); break;
    case JSON_STRING: json_print_string(out, json_text(j)); break;
    default: assert(!"a container is no scalar");
    }
}

/* ---- compact ---- */

void json_print(struct buf *out, const struct json *j)
{
    if (j->kind == JSON_ARRAY) {
        buf_byte(out, '[');
        for (uint32_t i = 0; i < j->len; i++) {
            if (i)
                buf_byte(out, ',');
            json_print(out, &j->items[i]);
        }
        buf_byte(out, ']');
    } else if (j->kind == JSON_OBJECT) {
        buf_byte(out, '{');
        for (uint32_t i = 0; i < j->len; i++) {
            if (i)
                buf_byte(out, ',');
            json_print_string(out, json_name(&j->members[i]));
            buf_byte(out, ':');
            json_print(out, &j->members[i].value);
        }
        buf_byte(out, '}');
    } else {
        print_scalar(out, j);
    }
}

str json_printed(struct arena *a, const struct json *j)
{
    struct buf out = buf_in(a);
    json_print(&out, j);
    return buf_str(&out);
}

static size_t string_size(str s)
{
    size_t size = s.len + 2;

    for (;;) {
        size_t run = plain_run(s);
        if (run == s.len)
            return size;
        size += escape_letter((unsigned char)s.at[run]) == 'u' ? 5 : 1;
        s = str_slice(s, run + 1, s.len);
    }
}

size_t json_print_size(const struct json *j)
{
    size_t size = 2 + (j->len > 1 ? j->len - 1 : 0); /* brackets and commas */

    switch (j->kind) {
    case JSON_NULL: return 4;
    case JSON_BOOL: return j->len ? 4 : 5;
    case JSON_INTEGER:
    case JSON_REAL: return j->len;
    case JSON_STRING: return string_size(json_text(j));
    case JSON_ARRAY:
        for (uint32_t i = 0; i < j->len; i++)
            size += json_print_size(&j->items[i]);
        return size;
    default:
        for (uint32_t i = 0; i < j->len; i++)
            size +=
                string_size(json_name(&j->members[i])) + 1 + json_print_size(&j->members[i].value);
        return size;
    }
}

/* ---- pretty ---- */

static void line_break(struct buf *out, unsigned depth)
{
    size_t n = 1 + 2 * (size_t)depth;
    char *at = buf_reserve(out, n);

    at[0] = '\n';
    memset(at + 1, ' ', n - 1);
    out->len += n;
}

static void pretty(struct buf *out, const struct json *j, unsigned depth)
{
    bool is_object = j->kind == JSON_OBJECT;

    if ((!is_object && j->kind != JSON_ARRAY) || j->len == 0) {
        json_print(out, j);
        return;
    }
    buf_byte(out, is_object ? '{' : '[');
    for (uint32_t i = 0; i < j->len; i++) {
        if (i)
            buf_byte(out, ',');
        line_break(out, depth + 1);
        if (is_object) {
            json_print_string(out, json_name(&j->members[i]));
            buf_add(out, STR(": "));
        }
        pretty(out, is_object ? &j->members[i].value : &j->items[i], depth + 1);
    }
    line_break(out, depth);
    buf_byte(out, is_object ? '}' : ']');
}

void json_print_pretty(struct buf *out, const struct json *j)
{
    pretty(out, j, 0);
}

/* ---- canonical ---- */

/* RFC 8785 sorts by UTF-16 units. That is the order of UTF-8's bytes, except that characters
 * above U+FFFF, whose first unit is a surrogate, come before U+E000 to U+FFFF. */
static int utf16_rank(unsigned char c)
{
    return c == 0xee || c == 0xef ? c + 0x10 : c;
}

static int canonical_order(const void *a, const void *b)
{
    const struct json_member *x = *(const struct json_member *const *)a;
    const struct json_member *y = *(const struct json_member *const *)b;

    for (uint32_t i = 0; i < x->name_len && i < y->name_len; i++)
        if (x->name[i] != y->name[i])
            return utf16_rank((unsigned char)x->name[i]) - utf16_rank((unsigned char)y->name[i]);
    return (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

struct decimal {
    char digits[24]; /* without leading or trailing zeros */
    int count;
    int point; /* where the decimal point stands, counted from the first digit */
};

static bool reads_back(const char *digits, int count, int point, double value)
{
    char text[48];

    snprintf(text, sizeof text, "%.*se%d", count, digits, point - count);
    return strtod(text, NULL) == value;
}

/* The shortest digits that read back as the value, which is above zero. Usually that is the value
 * rounded to so many digits; next to a power of two it can be that number's neighbour. */
static struct decimal shortest(double value)
{
    for (int count = 1;; count++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        char *e = strchr(text, 'e');
        struct decimal d = { .count = count, .point = atoi(e + 1) + 1 };
        d.digits[0] = text[0];
        memcpy(d.digits + 1, text + 2, (size_t)count - 1);
        if (count >= 17 || reads_back(d.digits, count, d.point, value))
            return d;
        if (d.digits[count - 1] < '9') {
            d.digits[count - 1]++;
            if (reads_back(d.digits, count, d.point, value))
                return d;
        }
    }
}

static void zeros(struct buf *out, int n)
{
    while (n-- > 0)
        buf_byte(out, '0');
}

/* A double as ECMAScript prints it, which is what RFC 8785 asks for. */
static void print_double(struct buf *out, double value)
{
    if (value < 0)
        buf_byte(out, '-');
    if (value == 0) {
        buf_byte(out, '0');
        return;
    }
    struct decimal d = shortest(fabs(value));
    str digits = { d.digits, (size_t)d.count };
    if (d.point > 21 || d.point < -5) {
        buf_byte(out, d.digits[0]);
        if (d.count > 1) {
            buf_byte(out, '.');
            buf_add(out, str_slice(digits, 1, digits.len));
        }
        buf_printf(out, "e%+d", d.point - 1);
    } else if (d.point <= 0) {
        buf_add(out, STR("0."));
        zeros(out, -d.point);
        buf_add(out, digits);
    } else {
        size_t whole = d.count < d.point ? (size_t)d.count : (size_t)d.point;
        buf_add(out, str_slice(digits, 0, whole));
        zeros(out, d.point - d.count);
        if (whole < digits.len) {
            buf_byte(out, '.');
            buf_add(out, str_slice(digits, whole, digits.len));
        }
    }
}

static void canonical_object(struct buf *out, const struct json *j)
{
    const struct json_member **sorted = mem_alloc(j->len * sizeof *sorted);

    for (uint32_t i = 0; i < j->len; i++)
        sorted[i] = &j->members[i];
    qsort(sorted, j->len, sizeof *sorted, canonical_order);
    buf_byte(out, '{');
    for (uint32_t i = 0; i < j->len; i++) {
        if (i)
            buf_byte(out, ',');
        json_print_string(out, json_name(sorted[i]));
        buf_byte(out, ':');
        json_print_canonical(out, &sorted[i]->value);
    }
    buf_byte(out, '}');
    free(sorted);
}

void json_print_canonical(struct buf *out, const struct json *j)
{
    if (j->kind == JSON_OBJECT) {
        canonical_object(out, j);
    } else if (j->kind == JSON_ARRAY) {
        buf_byte(out, '[');
        for (uint32_t i = 0; i < j->len; i++) {
            if (i)
                buf_byte(out, ',');
            json_print_canonical(out, &j->items[i]);
        }
        buf_byte(out, ']');
    } else if (json_is_number(j)) {
        print_double(out, json_to_double(j));
    } else {
        print_scalar(out, j);
    }
}
