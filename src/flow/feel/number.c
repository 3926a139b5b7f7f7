/* number.c: decimal numbers, n · 10^e with n of at most 18 digits.
 *
 * Every result is brought into one form, so that equal numbers look equal: whole numbers below 10^18
 * have the exponent 0, larger ones all 18 digits, fractions no zero at their end. What does not fit
 * into 18 digits is rounded half to even, once, from what is exact in 128 bits or known to be a little
 * more: a digit 1 behind it then keeps it from looking like a half. */
#include <assert.h>

#include "flow/feel/private.h"

typedef unsigned __int128 wide;

/* Numbers stay within what a double can hold, since that is what JSON may say. */
#define MAGNITUDE_MAX 307

static const int64_t powers[FEEL_DIGITS + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    FEEL_POWER,
};

static wide power_of_ten(int n)
{
    assert(n >= 0 && n <= 2 * FEEL_DIGITS);
    return n <= FEEL_DIGITS ? (wide)powers[n] : (wide)FEEL_POWER * (wide)powers[n - FEEL_DIGITS];
}

static int digit_count(uint64_t n)
{
    int count = 1;
    while (count <= FEEL_DIGITS && n >= (uint64_t)powers[count])
        count++;
    return count;
}

/* Into the one form; false when it is beyond the range. */
static bool settle(bool negative, uint64_t n, int exponent, struct feel_value *out)
{
    *out = feel_int(0);
    if (n == 0)
        return true;
    while (exponent < 0 && n % 10 == 0) {
        n /= 10;
        exponent++;
    }
    while (exponent > 0 && n < (uint64_t)powers[FEEL_DIGITS - 1]) {
        n *= 10;
        exponent--;
    }
    int magnitude = exponent + digit_count(n) - 1;
    if (magnitude > MAGNITUDE_MAX)
        return false;
    if (magnitude < -MAGNITUDE_MAX)
        return true;
    out->n = negative ? -(int64_t)n : (int64_t)n;
    out->exponent = (int16_t)exponent;
    return true;
}

static bool round_up(enum feel_rounding how, bool negative, bool odd, int half, bool any)
{
    switch (how) {
    case ROUND_FLOOR: return negative && any;
    case ROUND_CEILING: return !negative && any;
    case ROUND_UP: return any;
    case ROUND_DOWN: return false;
    case ROUND_HALF_UP: return half >= 0;
    case ROUND_HALF_DOWN: return half > 0;
    default: return half > 0 || (half == 0 && odd);
    }
}

/* m without its last digits. */
static wide drop_digits(wide m, int digits, bool negative, enum feel_rounding how)
{
    wide unit = power_of_ten(digits), whole = m / unit, rest = m % unit;
    int half = rest > unit / 2 ? 1 : rest == unit / 2 ? 0 : -1;
    return whole + round_up(how, negative, whole & 1, half, rest > 0);
}

/* 18 digits of what may have up to 38. */
static bool make(bool negative, wide m, int exponent, struct feel_value *out)
{
    int drop = 0;
    while (drop < 2 * FEEL_DIGITS - 16 && m >= (wide)FEEL_POWER * power_of_ten(drop))
        drop++;
    if (drop > 0)
        m = drop_digits(m, drop, negative, ROUND_HALF_EVEN);
    exponent += drop;
    if (m == (wide)FEEL_POWER) { /* 99…9 was rounded up */
        m /= 10;
        exponent++;
    }
    return settle(negative, (uint64_t)m, exponent, out);
}

/* ---- reading and printing ---- */

struct digits {
    wide m;       /* the first of them, without zeros in front */
    int exponent; /* of the last one that is in m */
    bool negative, exact;
    bool sticky; /* what is not in m is more than nothing */
};

#define DIGITS_KEPT 25

static struct digits digits_of(str text)
{
    struct digits d = { .exact = true };
    const char *at = text.at, *end = at + text.len;
    int64_t exponent = 0, kept = 0;
    bool fraction = false;

    if (at < end && *at == '-') {
        d.negative = true;
        at++;
    }
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (kept < DIGITS_KEPT) {
            d.m = d.m * 10 + (unsigned)(*at - '0');
            kept += d.m > 0;
            exponent -= fraction;
        } else {
            d.sticky |= *at != '0';
            exponent += !fraction;
        }
    }
    if (at < end) {
        bool down = at[1] == '-';
        int64_t said = 0;
        for (at += 1 + (at[1] == '-' || at[1] == '+'); at < end && said < 1000000; at++)
            said = said * 10 + (*at - '0');
        exponent += down ? -said : said;
    }
    while (d.m > 0 && d.m % 10 == 0 && !d.sticky) {
        d.m /= 10;
        exponent++;
    }
    d.exponent = exponent > 20000 ? 20000 : exponent < -20000 ? -20000 : (int)exponent;
    d.exact = !d.sticky && d.m < (wide)FEEL_POWER;
    return d;
}

struct feel_value feel_number_read(str text)
{
    struct digits d = digits_of(text);
    struct feel_value v = { .kind = FEEL_LONG, .len = (uint32_t)text.len, .text = text.at };

    if (d.exact && (d.m == 0 || d.exponent >= -MAGNITUDE_MAX)) {
        struct feel_value short_one;
        if (settle(d.negative, (uint64_t)d.m, d.exponent, &short_one))
            return short_one;
    }
    return v;
}

/* 18 digits of a long one. */
static struct feel_value rounded(struct feel_value v)
{
    if (v.kind != FEEL_LONG)
        return v;
    struct digits d = digits_of(feel_string_of(v));
    struct feel_value out;
    if (!make(d.negative, d.m * 10 + d.sticky, d.exponent - 1, &out))
        out = (struct feel_value){ .kind = FEEL_NUMBER,
                                   .n = d.negative ? -(FEEL_POWER - 1) : FEEL_POWER - 1,
                                   .exponent = MAGNITUDE_MAX - FEEL_DIGITS + 1 };
    return out;
}

static char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}

/* Plain where a person would write it so: 0.001, 12.5; else with an exponent. */
str feel_number_print(char room[FEEL_NUMBER_ROOM], struct feel_value v)
{
    char digits_room[INT_ROOM];
    if (v.kind == FEEL_LONG)
        return feel_string_of(v);

    str digits = str_of_int(digits_room, v.n < 0 ? -v.n : v.n);
    int count = (int)digits.len, point = count + v.exponent; /* digits in front of the point */
    char *at = room;
    if (v.n < 0)
        *at++ = '-';
    if (v.exponent == 0) {
        at = put(at, digits.at, digits.len);
    } else if (v.exponent < 0 && point > 0) {
        at = put(at, digits.at, (size_t)point);
        *at++ = '.';
        at = put(at, digits.at + point, (size_t)(count - point));
    } else if (v.exponent < 0 && point > -6) {
        at = put(put(at, "0.", 2), "00000", (size_t)-point);
        at = put(at, digits.at, digits.len);
    } else {
        while (count > 1 && digits.at[count - 1] == '0')
            count--;
        *at++ = digits.at[0];
        if (count > 1) {
            *at++ = '.';
            at = put(at, digits.at + 1, (size_t)count - 1);
        }
        *at++ = 'e';
        digits = str_of_int(digits_room, point - 1);
        at = put(at, digits.at, digits.len);
    }
    assert(at - room <= FEEL_NUMBER_ROOM);
    return (str){ room, (size_t)(at - room) };
}

/* ---- order ---- */

static struct json json_of(char room[FEEL_NUMBER_ROOM], struct feel_value v)
{
    str text = feel_number_print(room, v);
    bool whole = true;
    for (size_t i = 0; i < text.len && whole; i++)
        whole = text.at[i] != '.' && text.at[i] != 'e' && text.at[i] != 'E';
    return (struct json){ .kind = whole ? JSON_INTEGER : JSON_REAL,
                          .len = (uint32_t)text.len,
                          .text = text.at };
}

static wide absolute(int64_t n)
{
    return (wide)(n < 0 ? -n : n);
}

int feel_number_compare(struct feel_value a, struct feel_value b)
{
    if (a.kind == FEEL_LONG || b.kind == FEEL_LONG) {
        char room[2][FEEL_NUMBER_ROOM];
        struct json x = json_of(room[0], a), y = json_of(room[1], b);
        return json_number_compare(&x, &y);
    }
    if (a.exponent == b.exponent || (a.n < 0) != (b.n < 0) || a.n == 0 || b.n == 0)
        return (a.n > b.n) - (a.n < b.n);

    int apart = a.exponent - b.exponent, sign = a.n < 0 ? -1 : 1;
    wide x = absolute(a.n), y = absolute(b.n);
    if (apart >= FEEL_DIGITS || apart <= -FEEL_DIGITS)
        return apart > 0 ? sign : -sign;
    if (apart > 0)
        x *= power_of_ten(apart);
    else
        y *= power_of_ten(-apart);
    return x == y ? 0 : x > y ? sign : -sign;
}

/* ---- arithmetic ---- */

static bool add_scaled(struct feel_value a, struct feel_value b, struct feel_value *out)
{
    if (a.n == 0 || b.n == 0) {
        *out = a.n == 0 ? b : a;
        return true;
    }
    if (a.exponent < b.exponent) {
        struct feel_value c = a;
        a = b;
        b = c;
    }
    /* x gets 37 digits at most; what of y is then still behind them only matters as more than nothing. */
    int apart = a.exponent - b.exponent;
    wide x = absolute(a.n), y = absolute(b.n);
    int room = 2 * FEEL_DIGITS + 1 - digit_count((uint64_t)x);
    room = apart < room ? apart : room;
    x *= power_of_ten(room);
    a.exponent = (int16_t)(a.exponent - room);
    if (room < apart) {
        wide unit = power_of_ten(apart - room < FEEL_DIGITS + 1 ? apart - room : FEEL_DIGITS + 1);
        bool sticky = y % unit > 0;
        x *= 10;
        y = y / unit * 10 + sticky;
        a.exponent--;
    }
    bool negative = a.n < 0;
    if ((a.n < 0) == (b.n < 0))
        return make(negative, x + y, a.exponent, out);
    if (x < y)
        return make(!negative, y - x, a.exponent, out);
    return make(negative, x - y, a.exponent, out);
}

bool feel_number_add(struct feel_value a, struct feel_value b, struct feel_value *out)
{
    a = rounded(a);
    b = rounded(b);
    if (a.exponent == 0 && b.exponent == 0) {
        int64_t n = a.n + b.n;
        if (n < FEEL_POWER && n > -FEEL_POWER) {
            *out = feel_int(n);
            return true;
        }
    }
    return add_scaled(a, b, out);
}

bool feel_number_subtract(struct feel_value a, struct feel_value b, struct feel_value *out)
{
    return feel_number_add(a, feel_number_negate(b), out);
}

bool feel_number_multiply(struct feel_value a, struct feel_value b, struct feel_value *out)
{
    a = rounded(a);
    b = rounded(b);
    return make((a.n < 0) != (b.n < 0), absolute(a.n) * absolute(b.n), a.exponent + b.exponent,
                out);
}

bool feel_number_divide(struct feel_value a, struct feel_value b, struct feel_value *out)
{
    a = rounded(a);
    b = rounded(b);
    if (b.n == 0) /* so little that nothing is left of it in our range */
        return false;

    /* All 18 digits and 19 zeros, so that the quotient has at least 19. */
    int room = FEEL_DIGITS - digit_count((uint64_t)absolute(a.n)) + 1;
    wide x = absolute(a.n) * power_of_ten(room) * power_of_ten(FEEL_DIGITS), y = absolute(b.n);
    wide quotient = x / y;
    bool sticky = x % y > 0;
    return make((a.n < 0) != (b.n < 0), quotient * 10 + sticky,
                a.exponent - b.exponent - room - FEEL_DIGITS - 1, out);
}

bool feel_number_power(struct feel_value a, int64_t power, struct feel_value *out)
{
    struct feel_value square = rounded(a), product = feel_int(1);
    bool inverse = power < 0;
    uint64_t left = inverse ? 0 - (uint64_t)power : (uint64_t)power;

    /* Only 0, 1 and -1 stay in range for long. */
    if (square.exponent == 0 && square.n >= -1 && square.n <= 1) {
        *out = feel_int(left == 0 || square.n == 1 ? 1 : square.n == 0 ? 0 : left % 2 ? -1 : 1);
        return !(inverse && square.n == 0);
    }
    for (; left > 0; left /= 2)
        if ((left % 2 && !feel_number_multiply(product, square, &product)) ||
            (left > 1 && !feel_number_multiply(square, square, &square))) {
            *out = feel_int(0);
            return inverse; /* one divided by what is too large */
        }
    if (!inverse) {
        *out = product;
        return true;
    }
    return product.n != 0 && feel_number_divide(feel_int(1), product, out);
}

bool feel_number_round(struct feel_value a, int64_t scale, enum feel_rounding how,
                       struct feel_value *out)
{
    a = rounded(a);
    *out = a;
    scale = scale > 1000 ? 1000 : scale < -1000 ? -1000 : scale;
    if (a.n == 0 || -(int64_t)a.exponent <= scale)
        return true;

    /* How many digits go; more than there are leave nothing, or one of what stands in front. */
    int64_t drop = -(int64_t)a.exponent - scale;
    bool negative = a.n < 0;
    wide m = absolute(a.n);
    if (drop > FEEL_DIGITS) {
        m = round_up(how, negative, false, -1, true);
        if (m == 0) {
            *out = feel_int(0);
            return true;
        }
    } else {
        m = drop_digits(m, (int)drop, negative, how);
    }
    if (scale < -2 * MAGNITUDE_MAX)
        return m == 0;
    return make(negative, m, (int)-scale, out);
}

bool feel_number_to_int(struct feel_value a, int64_t *out)
{
    if (a.kind == FEEL_LONG) {
        char room[FEEL_NUMBER_ROOM];
        struct json j = json_of(room, a);
        return json_to_int(&j, out);
    }
    if (a.exponent < 0 || a.exponent > FEEL_DIGITS)
        return false;
    wide m = absolute(a.n) * power_of_ten(a.exponent);
    if (m > INT64_MAX)
        return false;
    *out = a.n < 0 ? -(int64_t)m : (int64_t)m;
    return true;
}
