/* number.c: what the text of a number means, exactly.
 *
 * A number is looked at as sign × digits × 10^exponent, where the digits are a slice of its own
 * text without the zeros at both ends; so any two ways to write a value look the same, and nothing
 * is allocated or rounded. No loop depends on the value of an exponent, only on how many bytes are
 * there. Small integers, which nearly all numbers are, go past all of this.
 *
 * Two bounds: exponents beyond ±4e18 are taken as that, and a divisor of more than
 * DIVISOR_DIGITS_MAX significant digits divides only itself and its products with powers of ten. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "json/json.h"

#define EXPONENT_MAX INT64_C(4000000000000000000)

struct decimal {
    const char *at, *end; /* the digits, a '.' perhaps among them; none when the value is 0 */
    int64_t count;        /* how many digits */
    int64_t exponent;     /* power of ten of the last one */
    bool negative;
};

/* Eighteen characters hold no integer beyond 64 bits, and no sum below that would overflow. */
static inline bool small_int(const struct json *j, int64_t *out)
{
    if (j->kind != JSON_INTEGER || j->len > 18)
        return false;
    bool negative = j->text[0] == '-';
    int64_t n = 0;
    for (uint32_t i = negative; i < j->len; i++)
        n = n * 10 + (j->text[i] - '0');
    *out = negative ? -n : n;
    return true;
}

static int64_t exponent_read(const char *at, const char *end)
{
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    int64_t n = 0;
    for (; at < end; at++)
        n = n > EXPONENT_MAX / 10 ? EXPONENT_MAX : n * 10 + (*at - '0');
    return negative ? -n : n;
}

static struct decimal decimal_of(const struct json *j)
{
    assert(json_is_number(j) && j->len > 0);
    struct decimal d = { 0 };
    const char *at = j->text, *text_end = at + j->len;
    if (*at == '-') {
        d.negative = true;
        at++;
    }

    const char *point = NULL, *end = at;
    for (; end < text_end && *end != 'e' && *end != 'E'; end++)
        if (*end == '.')
            point = end;
    if (end < text_end)
        d.exponent = exponent_read(end + 1, text_end);
    const char *units_end = point ? point : end;

    while (at < end && (*at == '0' || *at == '.'))
        at++;
    while (end > at && (end[-1] == '0' || end[-1] == '.'))
        end--;
    if (at == end)
        return (struct decimal){ .at = at, .end = at, .negative = d.negative };

    d.at = at;
    d.end = end;
    d.count = end - at - (point && at < point && point < end);
    d.exponent += end <= units_end ? units_end - end : -(end - (units_end + 1));
    return d;
}

/* ---- order ---- */

static int digits_compare(const struct decimal *a, const struct decimal *b)
{
    const char *x = a->at, *y = b->at;
    for (;; x++, y++) {
        if (x < a->end && *x == '.')
            x++;
        if (y < b->end && *y == '.')
            y++;
        /* Neither ends in a zero, so the longer one is larger. */
        if (x == a->end || y == b->end)
            return (x < a->end) - (y < b->end);
        if (*x != *y)
            return *x < *y ? -1 : 1;
    }
}

static int sign(const struct decimal *d)
{
    return d->count == 0 ? 0 : d->negative ? -1 : 1;
}

int json_number_compare(const struct json *a, const struct json *b)
{
    int64_t m, n;
    if (small_int(a, &m) && small_int(b, &n))
        return (m > n) - (m < n);

    struct decimal x = decimal_of(a), y = decimal_of(b);
    int x_sign = sign(&x), y_sign = sign(&y);
    if (x_sign != y_sign)
        return x_sign < y_sign ? -1 : 1;
    if (x_sign == 0)
        return 0;
    int64_t x_top = x.exponent + x.count, y_top = y.exponent + y.count;
    if (x_top != y_top)
        return x_top < y_top ? -x_sign : x_sign;
    return x_sign * digits_compare(&x, &y);
}

/* ---- conversions ---- */

bool json_is_integral(const struct json *number)
{
    return number->kind == JSON_INTEGER || decimal_of(number).exponent >= 0;
}

bool json_to_int(const struct json *number, int64_t *out)
{
    if (small_int(number, out))
        return true;

    struct decimal d = decimal_of(number);
    if (d.exponent < 0 || d.count + d.exponent > 19)
        return false;
    uint64_t n = 0; /* 19 digits fit */
    for (const char *at = d.at; at < d.end; at++)
        if (*at != '.')
            n = n * 10 + (uint64_t)(*at - '0');
    for (int64_t i = 0; n && i < d.exponent; i++)
        n *= 10;
    if (n > (uint64_t)INT64_MAX + d.negative)
        return false;
    *out = d.negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* No double, and no middle of two of them, has more than 768 significant digits: behind those it
 * matters only whether anything follows, which one more digit can say. */
#define DOUBLE_DIGITS 770

static double long_to_double(const struct json *number)
{
    struct decimal d = decimal_of(number);
    if (d.count == 0)
        return d.negative ? -0.0 : 0.0;

    char text[DOUBLE_DIGITS + 32], *to = text;
    int64_t kept = 0;
    if (d.negative)
        *to++ = '-';
    for (const char *at = d.at; at < d.end && kept < DOUBLE_DIGITS; at++)
        if (*at != '.') {
            *to++ = *at;
            kept++;
        }
    int64_t exponent = d.exponent + (d.count - kept);
    if (kept < d.count) {
        *to++ = '1';
        exponent--;
    }
    /* Far outside the range of a double the exact power is of no interest. */
    exponent = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent;
    *to++ = 'e';
    if (exponent < 0)
        *to++ = '-';
    for (int64_t n = exponent < 0 ? -exponent : exponent, p = 1000; p; p /= 10)
        *to++ = (char)('0' + n / p % 10);
    *to = '\0';
    return strtod(text, NULL);
}

double json_to_double(const struct json *number)
{
    int64_t n;
    if (small_int(number, &n) && n != 0)
        return (double)n;

    char text[128];
    if (number->len >= sizeof(text))
        return long_to_double(number);
    memcpy(text, number->text, number->len);
    text[number->len] = '\0';
    return strtod(text, NULL);
}

/* ---- digits in groups ---- */

/* Digits of a decimal followed by zeros, taken from the front in groups; only the first group is
 * short. */
struct digits {
    const char *at, *end;
    uint64_t left; /* digits, the zeros counted */
};

static struct digits digits_of(const struct decimal *d, uint64_t zeros)
{
    return (struct digits){ d->at, d->end, (uint64_t)d->count + zeros };
}

static uint64_t digits_take(struct digits *from, unsigned group)
{
    unsigned n = from->left % group ? (unsigned)(from->left % group) : group;
    uint64_t value = 0;
    from->left -= n;
    while (n--) {
        if (from->at < from->end && *from->at == '.')
            from->at++;
        value = value * 10 + (from->at < from->end ? (uint64_t)(*from->at++ - '0') : 0);
    }
    return value;
}

uint32_t json_number_hash(const struct json *number)
{
    const uint64_t k1 = 0xa0761d6478bd642fu, k2 = 0xe7037ed1a0b428dbu;
    int64_t n;
    if (json_to_int(number, &n)) {
        uint64_t h = hash_mix((uint64_t)n ^ k1, k2);
        return (uint32_t)(h ^ h >> 32);
    }
    struct decimal d = decimal_of(number);
    uint64_t h = hash_mix((uint64_t)d.exponent ^ k1, k2 ^ d.negative);
    for (struct digits from = digits_of(&d, 0); from.left;)
        h = hash_mix(digits_take(&from, 18) ^ k1, h ^ k2);
    return (uint32_t)(h ^ h >> 32);
}

/* ---- multiples ---- */

/* A divisor of up to 19 digits, which is below 2^64. */
static bool divides_word(uint64_t divisor, struct digits number)
{
    const uint64_t group = 1000000000000000000u; /* 10^18 */
    uint64_t rest = 0;
    while (number.left)
        rest = (uint64_t)(((unsigned __int128)rest * group + digits_take(&number, 18)) % divisor);
    return rest == 0;
}

/* Longer ones are divided as on paper, with limbs of nine digits for the digits of paper, the most
 * significant first. */
#define LIMB_DIGITS 9
#define LIMB_BASE INT64_C(1000000000)
#define LIMBS_MAX 114
#define DIVISOR_DIGITS_MAX (LIMBS_MAX * LIMB_DIGITS)

/* rest -= q × divisor; rest has one limb more, which alone may become negative. */
static void take_away(int64_t *rest, const int64_t *divisor, int limbs, int64_t q)
{
    int64_t carry = 0;
    for (int i = limbs; i > 0; i--) {
        int64_t t = rest[i] - q * divisor[i - 1] + carry;
        carry = t / LIMB_BASE - (t % LIMB_BASE < 0);
        rest[i] = t - carry * LIMB_BASE;
    }
    rest[0] += carry;
}

/* rest >= divisor? */
static bool reaches(const int64_t *rest, const int64_t *divisor, int limbs)
{
    if (rest[0] != 0)
        return rest[0] > 0;
    for (int i = 0; i < limbs; i++)
        if (rest[i + 1] != divisor[i])
            return rest[i + 1] > divisor[i];
    return true;
}

static bool divides_long(const struct decimal *of, struct digits number)
{
    int64_t divisor[LIMBS_MAX], rest[LIMBS_MAX + 1] = { 0 };
    int limbs = 0;
    for (struct digits from = digits_of(of, 0); from.left;)
        divisor[limbs++] = (int64_t)digits_take(&from, LIMB_DIGITS);
    assert(limbs >= 3);
    double divisor_top = ((double)divisor[0] * 1e9 + (double)divisor[1]) * 1e9 + (double)divisor[2];

    while (number.left) {
        memmove(rest, rest + 1, (size_t)limbs * sizeof(rest[0]));
        rest[limbs] = (int64_t)digits_take(&number, LIMB_DIGITS);
        /* The quotient is below 10^9 and a double is good for 10^15, so the guess is wrong by at
         * most one. */
        double top = (((double)rest[0] * 1e9 + (double)rest[1]) * 1e9 + (double)rest[2]) * 1e9 +
                     (double)rest[3];
        take_away(rest, divisor, limbs, (int64_t)(top / divisor_top));
        if (rest[0] < 0)
            take_away(rest, divisor, limbs, -1);
        else if (reaches(rest, divisor, limbs))
            take_away(rest, divisor, limbs, 1);
        assert(rest[0] == 0);
    }
    for (int i = 1; i <= limbs; i++)
        if (rest[i])
            return false;
    return true;
}

bool json_number_multiple(const struct json *number, const struct json *of)
{
    int64_t m, n;
    if (small_int(number, &m) && small_int(of, &n)) {
        assert(n > 0);
        return m % n == 0;
    }

    struct decimal x = decimal_of(number), y = decimal_of(of);
    assert(sign(&y) > 0);
    if (x.count == 0)
        return true;
    /* Does y's coefficient divide that of x times 10^zeros? x's does not end in 0, so no negative
     * power will do. A coefficient of k digits has less than 4k factors 2 or 5, so further zeros
     * change nothing, however many an exponent asks for. */
    int64_t zeros = x.exponent - y.exponent;
    if (zeros < 0)
        return false;
    if (zeros > 4 * y.count)
        zeros = 4 * y.count;
    if (y.count <= 19) {
        struct digits from = digits_of(&y, 0);
        return divides_word(digits_take(&from, 19), digits_of(&x, (uint64_t)zeros));
    }
    if (y.count <= DIVISOR_DIGITS_MAX)
        return divides_long(&y, digits_of(&x, (uint64_t)zeros));
    return digits_compare(&x, &y) == 0;
}
