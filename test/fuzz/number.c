/* Fuzz target: exact arithmetic on the texts of numbers.
 *
 * The input chooses digits and exponents; each value is written in several ways, which must not be
 * told apart, and products are made on paper, which must be multiples. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "json/json.h"

#define DIGITS_MAX 1000

struct source {
    const uint8_t *at, *end;
};

static unsigned take(struct source *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

/* ± digits × 10^exponent; there is at least one digit, and the first is not 0. */
struct value {
    bool negative;
    size_t count;
    uint8_t digits[DIGITS_MAX + 8];
    int exponent;
};

static struct value take_value(struct source *s)
{
    static const unsigned repeats[] = { 1, 1, 1, 2, 5, 20, 100, 200 };
    struct value v = { .negative = take(s) & 1 };
    v.exponent = (int8_t)take(s) * (take(s) & 1 ? 1 : 1000003);
    size_t groups = 1 + take(s) % 20;
    while (groups-- && v.count < DIGITS_MAX) {
        unsigned digit = take(s), times = repeats[digit / 10 % 8];
        while (times-- && v.count < DIGITS_MAX)
            v.digits[v.count++] = (uint8_t)(digit % 10);
    }
    if (v.digits[0] == 0)
        v.digits[0] = 1;
    return v;
}

/* One of the ways to write it: the point after `point` digits, zeros behind, the exponent made up
 * for it. */
struct spelling {
    char text[2 * DIGITS_MAX + 1000];
    struct json json;
};

static void spell(struct spelling *out, const struct value *v, size_t point, unsigned zeros)
{
    char *to = out->text;
    if (v->negative)
        *to++ = '-';
    if (point == 0)
        *to++ = '0';
    for (size_t i = 0; i < v->count + zeros; i++) {
        if (i == point)
            *to++ = '.';
        *to++ = (char)('0' + (i < v->count ? v->digits[i] : 0));
    }
    bool real = point < v->count + zeros;
    int exponent = real ? v->exponent + (int)v->count - (int)point : v->exponent - (int)zeros;
    if (exponent) {
        real = true;
        to += sprintf(to, "e%+0*d", (int)zeros + 1, exponent);
    }
    out->json = (struct json){ .kind = real ? JSON_REAL : JSON_INTEGER,
                               .len = (uint32_t)(to - out->text),
                               .text = out->text };
}

static void check_same(const struct json *a, const struct json *b)
{
    assert(json_number_compare(a, b) == 0 && json_number_compare(b, a) == 0);
    assert(json_number_hash(a) == json_number_hash(b));
    assert(json_is_integral(a) == json_is_integral(b));
    double x = json_to_double(a), y = json_to_double(b);
    assert(memcmp(&x, &y, sizeof(x)) == 0);
    int64_t m, n;
    bool fits = json_to_int(a, &m);
    assert(fits == json_to_int(b, &n) && (!fits || m == n));
    if (fits) {
        char text[32];
        int len = sprintf(text, "%lld", (long long)m);
        struct json printed = { .kind = JSON_INTEGER, .len = (uint32_t)len, .text = text };
        assert(json_is_integral(a) && json_number_compare(a, &printed) == 0);
    }
}

static void check_order(const struct json *a, const struct json *b)
{
    int order = json_number_compare(a, b);
    assert(json_number_compare(b, a) == -order);
    if (order == 0)
        check_same(a, b);
    else if (order < 0)
        assert(json_to_double(a) <= json_to_double(b));
    else
        assert(json_to_double(a) >= json_to_double(b));
}

/* digits × factor + extra. */
static struct value product(const struct value *v, unsigned factor, unsigned extra)
{
    struct value out = { .exponent = v->exponent, .negative = v->negative };
    uint8_t reversed[DIGITS_MAX + 8];
    unsigned carry = extra;
    for (size_t i = v->count; i-- > 0; carry /= 10) {
        carry += v->digits[i] * factor;
        reversed[out.count++] = (uint8_t)(carry % 10);
    }
    for (; carry; carry /= 10)
        reversed[out.count++] = (uint8_t)(carry % 10);
    for (size_t i = 0; i < out.count; i++)
        out.digits[i] = reversed[out.count - 1 - i];
    return out;
}

static void check_multiple(struct value v, unsigned factor, unsigned shift, unsigned zeros)
{
    static struct spelling of, multiple, beside;
    v.negative = false;
    bool one = v.count == 1 && v.digits[0] == 1;
    struct value exact = product(&v, factor, 0), off = product(&v, factor, 1);
    spell(&of, &v, v.count / 2, zeros);
    spell(&beside, &off, off.count, 0);
    exact.exponent += (int)shift;
    spell(&multiple, &exact, exact.count, zeros);
    assert(json_number_multiple(&multiple.json, &of.json));
    assert(json_number_multiple(&beside.json, &of.json) == one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct spelling a, a2, b;
    struct source s = { data, data + size };
    struct value x = take_value(&s), y = take_value(&s);

    spell(&a, &x, x.count, 0);
    spell(&a2, &x, (size_t)take(&s) * 4 % (x.count + 1), take(&s) % 40);
    spell(&b, &y, y.count, 0);
    check_same(&a.json, &a2.json);
    check_order(&a.json, &b.json);
    check_multiple(x, 1 + take(&s) * 257 + take(&s), take(&s), take(&s) % 40);
    return 0;
}
