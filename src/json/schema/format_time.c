/* format_time.c: dates, times and durations as RFC 3339 writes them. */
#include "base/date.h"
#include "json/schema/format_private.h"

#define DAY_MINUTES (24 * 60)

/* Exactly `digits` of them, as a number. */
static bool take_number(str *s, size_t digits, unsigned *n)
{
    if (s->len < digits || format_digits(str_slice(*s, 0, digits)) < digits)
        return false;
    *n = 0;
    for (size_t i = 0; i < digits; i++)
        *n = *n * 10 + (unsigned)(s->at[i] - '0');
    *s = str_slice(*s, digits, s->len);
    return true;
}

static bool take_date(str *s)
{
    unsigned year, month, day;
    return take_number(s, 4, &year) && format_take(s, '-') && take_number(s, 2, &month) &&
           format_take(s, '-') && take_number(s, 2, &day) && month >= 1 && month <= 12 &&
           day >= 1 && day <= date_days_in_month((int)year, month);
}

/* Z, or a sign and hours and minutes. */
static bool take_offset(str *s, int *minutes)
{
    unsigned hour, minute;
    *minutes = 0;
    if (format_take(s, 'Z') || format_take(s, 'z'))
        return true;
    bool minus = format_take(s, '-');
    if (!minus && !format_take(s, '+'))
        return false;
    if (!take_number(s, 2, &hour) || !format_take(s, ':') || !take_number(s, 2, &minute) ||
        hour > 23 || minute > 59)
        return false;
    *minutes = (int)(hour * 60 + minute) * (minus ? -1 : 1);
    return true;
}

static bool take_time(str *s)
{
    unsigned hour, minute, second;
    int offset;
    if (!take_number(s, 2, &hour) || !format_take(s, ':') || !take_number(s, 2, &minute) ||
        !format_take(s, ':') || !take_number(s, 2, &second))
        return false;
    if (format_take(s, '.')) {
        size_t digits = format_digits(*s);
        if (digits == 0)
            return false;
        *s = str_slice(*s, digits, s->len);
    }
    if (!take_offset(s, &offset) || hour > 23 || minute > 59 || second > 60)
        return false;

    /* A leap second is the last one of a day of UTC, whatever the clock on the wall says. */
    int utc = ((int)(hour * 60 + minute) - offset + 2 * DAY_MINUTES) % DAY_MINUTES;
    return second < 60 || utc == DAY_MINUTES - 1;
}

bool format_date(str s)
{
    return take_date(&s) && s.len == 0;
}

bool format_time(str s)
{
    return take_time(&s) && s.len == 0;
}

bool format_date_time(str s)
{
    return take_date(&s) && (format_take(&s, 'T') || format_take(&s, 't')) && take_time(&s) &&
           s.len == 0;
}

/* Numbers with units, each followed by none or by the next unit of the list: P1Y2D leaves out the
 * months and is refused, as in the grammar of RFC 3339's appendix A. */
static bool take_units(str *s, const char *units)
{
    bool any = false;
    while (format_digits(*s) > 0) {
        size_t digits = format_digits(*s);
        const char *unit = digits < s->len ? strchr(units, s->at[digits]) : NULL;
        if (!unit || !*unit || (any && unit != units))
            return false;
        units = unit + 1;
        any = true;
        *s = str_slice(*s, digits + 1, s->len);
    }
    return any;
}

bool format_duration(str s)
{
    if (!format_take(&s, 'P'))
        return false;
    str weeks = s;
    if (take_units(&weeks, "W") && weeks.len == 0)
        return true;
    bool date = take_units(&s, "YMD");
    if (s.len == 0)
        return date;
    return format_take(&s, 'T') && take_units(&s, "HMS") && s.len == 0;
}
