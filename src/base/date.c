/* date.c: times and durations as integers, and their texts.
 *
 * The calendar is the Gregorian one, extended to years before it was made. */
#include "base/date.h"

#include <assert.h>

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

/* From 0000-03-01, where the formulas count from, to 1970-01-01. */
#define DAYS_TO_1970 719468
#define DAYS_IN_400_YEARS 146097

/* ---- the calendar ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The day on which a year begins, when years begin in March: their leap day is then the last, and
 * no month has to know about it. */
static int64_t march_year_start(int64_t year)
{
    return 365 * year + floor_div(year, 4) - floor_div(year, 100) + floor_div(year, 400);
}

/* Days before a month, counted from March as 0: 31, 30, 31, 30, 31 and again. */
static int64_t march_month_start(int64_t month)
{
    return (153 * month + 2) / 5;
}

int64_t date_days(int year, unsigned month, unsigned day)
{
    assert(month >= 1 && month <= 12);
    int64_t march_year = (int64_t)year - (month < 3), march_month = (month + 9) % 12;
    return march_year_start(march_year) + march_month_start(march_month) + day - 1 - DAYS_TO_1970;
}

void date_civil(int64_t days, int *year, unsigned *month, unsigned *day)
{
    days += DAYS_TO_1970;
    int64_t cycle = floor_div(days, DAYS_IN_400_YEARS);
    int64_t rest = days - cycle * DAYS_IN_400_YEARS;

    int64_t march_year = rest / 365; /* or one too many, for the leap days passed */
    if (march_year_start(march_year) > rest)
        march_year--;
    rest -= march_year_start(march_year);

    int64_t march_month = (5 * rest + 2) / 153;
    *day = (unsigned)(rest - march_month_start(march_month) + 1);
    *month = (unsigned)((march_month + 2) % 12 + 1);
    *year = (int)(cycle * 400 + march_year + (*month < 3));
}

unsigned date_days_in_month(int year, unsigned month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    assert(month >= 1 && month <= 12);
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* ---- reading ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_char(str *s, char c)
{
    if (s->len == 0 || s->at[0] != c)
        return false;
    *s = str_slice(*s, 1, s->len);
    return true;
}

/* Exactly so many digits. */
static bool take_digits(str *s, size_t count, unsigned *out)
{
    if (s->len < count)
        return false;
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_digit(s->at[i]))
            return false;
        *out = *out * 10 + (unsigned)(s->at[i] - '0');
    }
    *s = str_slice(*s, count, s->len);
    return true;
}

/* ---- times ---- */

/* The years that a text can say: 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z. */
#define FIRST_MS INT64_C(-62167219200000)
#define LAST_MS INT64_C(253402300799999)

static bool take_day(str *s, int64_t *days)
{
    unsigned year, month, day;
    if (!take_digits(s, 4, &year) || !take_char(s, '-') || !take_digits(s, 2, &month) ||
        !take_char(s, '-') || !take_digits(s, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > date_days_in_month((int)year, month))
        return false;
    *days = date_days((int)year, month, day);
    return true;
}

static bool take_clock(str *s, unsigned *hour, unsigned *minute)
{
    return take_digits(s, 2, hour) && *hour < 24 && take_char(s, ':') &&
           take_digits(s, 2, minute) && *minute < 60;
}

/* Nothing, or a point and digits, of which three count. */
static bool take_fraction(str *s, unsigned *ms)
{
    *ms = 0;
    if (!take_char(s, '.'))
        return true;
    if (s->len == 0 || !is_digit(s->at[0]))
        return false;
    for (unsigned scale = 100; s->len && is_digit(s->at[0]); scale /= 10) {
        *ms += (unsigned)(s->at[0] - '0') * scale;
        *s = str_slice(*s, 1, s->len);
    }
    return true;
}

static bool take_offset(str *s, int64_t *minutes)
{
    *minutes = 0;
    if (take_char(s, 'Z') || take_char(s, 'z'))
        return true;
    bool west = take_char(s, '-');
    unsigned hour, minute;
    if ((!west && !take_char(s, '+')) || !take_clock(s, &hour, &minute))
        return false;
    *minutes = (int64_t)hour * 60 + minute;
    if (west)
        *minutes = -*minutes;
    return true;
}

bool date_parse(str text, int64_t *ms)
{
    int64_t days, offset;
    unsigned hour, minute, second, fraction_ms;
    if (!take_day(&text, &days) || !(take_char(&text, 'T') || take_char(&text, 't')) ||
        !take_clock(&text, &hour, &minute) || !take_char(&text, ':') ||
        !take_digits(&text, 2, &second) || second > 60 || !take_fraction(&text, &fraction_ms) ||
        !take_offset(&text, &offset) || text.len > 0)
        return false;

    int64_t minute_ms = days * DAY_MS + ((int64_t)hour * 60 + minute - offset) * MINUTE_MS;
    bool last_minute = (minute_ms + MINUTE_MS) % DAY_MS == 0;
    if (second == 60 && !last_minute)
        return false;
    int64_t at_ms = minute_ms + second * SECOND_MS + fraction_ms;
    if (at_ms < FIRST_MS || at_ms > LAST_MS)
        return false;
    *ms = at_ms;
    return true;
}

/* ---- writing ---- */

static char *put_char(char *at, char c)
{
    *at = c;
    return at + 1;
}

/* At least `width` digits. */
static char *put_number(char *at, uint64_t n, unsigned width)
{
    char digits[20];
    unsigned count = 0;
    for (; n || count < width; n /= 10)
        digits[count++] = (char)('0' + n % 10);
    while (count)
        at = put_char(at, digits[--count]);
    return at;
}

static str put_end(char *buffer, char *at)
{
    assert(at - buffer < DATE_TEXT_MAX);
    *at = '\0';
    return (str){ buffer, (size_t)(at - buffer) };
}

str date_print(char buffer[DATE_TEXT_MAX], int64_t ms)
{
    ms = ms < FIRST_MS ? FIRST_MS : ms > LAST_MS ? LAST_MS : ms;
    int64_t days = floor_div(ms, DAY_MS);
    uint64_t rest = (uint64_t)(ms - days * DAY_MS);
    int year;
    unsigned month, day;
    date_civil(days, &year, &month, &day);

    char *at = put_number(buffer, (uint64_t)year, 4);
    at = put_number(put_char(at, '-'), month, 2);
    at = put_number(put_char(at, '-'), day, 2);
    at = put_number(put_char(at, 'T'), rest / HOUR_MS, 2);
    at = put_number(put_char(at, ':'), rest / MINUTE_MS % 60, 2);
    at = put_number(put_char(at, ':'), rest / SECOND_MS % 60, 2);
    if (rest % SECOND_MS)
        at = put_number(put_char(at, '.'), rest % SECOND_MS, 3);
    return put_end(buffer, put_char(at, 'Z'));
}

/* ---- durations ---- */

/* 12.50 is 12 and 50 of 10^2. */
struct amount {
    uint64_t whole, fraction, fraction_of;
    unsigned places;
};

/* A day is 2^10 × 3^3 × 5^5 milliseconds, so a fraction that is a whole number of them never needs
 * more than ten places. */
#define PLACES_MAX 10

static bool take_amount(str *s, struct amount *out)
{
    *out = (struct amount){ .fraction_of = 1 };
    size_t start_len = s->len;
    for (; s->len && is_digit(s->at[0]); *s = str_slice(*s, 1, s->len))
        if (__builtin_mul_overflow(out->whole, 10u, &out->whole) ||
            __builtin_add_overflow(out->whole, (uint64_t)(s->at[0] - '0'), &out->whole))
            return false;
    if (s->len == start_len)
        return false;
    if (!take_char(s, '.'))
        return true;
    for (; s->len && is_digit(s->at[0]); *s = str_slice(*s, 1, s->len)) {
        if (++out->places > PLACES_MAX)
            return false;
        out->fraction = out->fraction * 10 + (uint64_t)(s->at[0] - '0');
        out->fraction_of *= 10;
    }
    return out->places > 0;
}

/* Adds so many units: false when that is no whole number of what the total counts, or too much. */
static bool add_amount(uint64_t *total, const struct amount *amount, uint64_t unit)
{
    assert(unit <= DAY_MS); /* times 10^PLACES_MAX it fits */
    uint64_t part = amount->fraction * unit, whole;
    return part % amount->fraction_of == 0 &&
           !__builtin_mul_overflow(amount->whole, unit, &whole) &&
           !__builtin_add_overflow(*total, whole, total) &&
           !__builtin_add_overflow(*total, part / amount->fraction_of, total);
}

static bool give(uint64_t total, int64_t *out)
{
    *out = (int64_t)total;
    return total <= INT64_MAX;
}

// clang-format off
static const struct { str name; uint64_t ms; } units[] = {
    { { "d",  1 }, DAY_MS    },
    { { "h",  1 }, HOUR_MS   },
    { { "m",  1 }, MINUTE_MS },
    { { "s",  1 }, SECOND_MS },
    { { "ms", 2 }, 1         },
};
// clang-format on
#define UNITS (sizeof(units) / sizeof(units[0]))

bool duration_parse(str text, int64_t *ms)
{
    uint64_t total = 0;
    struct amount amount;
    size_t next = 0; /* units before this one were used or passed */
    if (!take_amount(&text, &amount))
        return false;
    if (text.len == 0)
        return add_amount(&total, &amount, SECOND_MS) && give(total, ms);

    for (;;) {
        size_t letters = 0;
        while (letters < text.len && !is_digit(text.at[letters]))
            letters++;
        while (next < UNITS && !str_eq(units[next].name, str_slice(text, 0, letters)))
            next++;
        if (next == UNITS || !add_amount(&total, &amount, units[next].ms))
            return false;
        next++;
        text = str_slice(text, letters, text.len);
        if (text.len == 0)
            return give(total, ms);
        if (!take_amount(&text, &amount))
            return false;
    }
}

str duration_print(char buffer[DATE_TEXT_MAX], int64_t ms)
{
    char *at = buffer;
    uint64_t rest = (uint64_t)ms;
    if (ms < 0) {
        at = put_char(at, '-');
        rest = 0 - rest;
    }
    if (rest == 0) {
        at = put_char(at, '0');
        at = put_char(at, 's');
    }
    for (size_t i = 0; i < UNITS; i++) {
        if (rest < units[i].ms)
            continue;
        at = put_number(at, rest / units[i].ms, 1);
        rest %= units[i].ms;
        for (size_t k = 0; k < units[i].name.len; k++)
            at = put_char(at, units[i].name.at[k]);
    }
    return put_end(buffer, at);
}
