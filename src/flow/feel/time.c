/* time.c: dates, moments and the two kinds of durations.
 *
 * A moment keeps the offset that it was written with, for its parts and its text; without one it is
 * in UTC. Days-and-time durations are milliseconds, years-and-months durations are months: which
 * cannot be compared, for a month has no length. Knows no time zones by name, and not what time it
 * is. */
#include <assert.h>

#include "base/date.h"
#include "flow/feel/private.h"

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

/* More than ten thousand years: what is beyond is no duration. */
#define SPAN_MAX (DAY_MS * 366 * 10000)
#define MONTHS_MAX (12 * 10000)

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static struct feel_value time_of(enum feel_kind kind, int64_t n)
{
    return (struct feel_value){ .kind = (uint8_t)kind, .n = n };
}

/* ---- reading ---- */

bool feel_date_read(str text, struct feel_value *out)
{
    char moment[] = "YYYY-MM-DDT00:00:00Z";
    int64_t ms;

    if (text.len != 10)
        return false;
    memcpy(moment, text.at, 10);
    if (!date_parse(str_from(moment), &ms))
        return false;
    *out = time_of(FEEL_DATE, floor_div(ms, DAY_MS));
    return true;
}

/* What stands at the end of a moment: +02:00, -02:00, Z; false: nothing does. */
static bool offset_of(str text, int16_t *minutes)
{
    *minutes = 0;
    if (str_ends(text, STR("Z")) || str_ends(text, STR("z")))
        return true;
    if (text.len < 6 || text.at[text.len - 3] != ':')
        return false;
    const char *at = text.at + text.len - 6;
    if (*at != '+' && *at != '-')
        return false;
    *minutes =
        (int16_t)(((at[1] - '0') * 10 + at[2] - '0') * 60 + (at[4] - '0') * 10 + at[5] - '0');
    if (*at == '-')
        *minutes = (int16_t) - *minutes;
    return true;
}

bool feel_moment_read(str text, struct feel_value *out)
{
    char in_utc[64];
    int16_t offset;
    int64_t ms;

    if (text.len >= sizeof in_utc)
        return false;
    if (!offset_of(text, &offset)) {
        memcpy(in_utc, text.at, text.len);
        in_utc[text.len] = 'Z';
        text = (str){ in_utc, text.len + 1 };
    }
    if (!date_parse(text, &ms))
        return false;
    *out = time_of(FEEL_MOMENT, ms);
    out->exponent = offset;
    return true;
}

/* Digits and a letter out of `units`, which are used up in their order; a fraction only of seconds. */
static bool take_unit(str *s, const char **units, char *unit, int64_t *count, int64_t *ms)
{
    size_t i = 0, point = 0;
    int64_t scale = 100;

    *count = *ms = 0;
    for (; i < s->len && ((s->at[i] >= '0' && s->at[i] <= '9') || s->at[i] == '.'); i++) {
        if (s->at[i] == '.') {
            if (point || i == 0)
                return false;
            point = i + 1;
        } else if (point) {
            *ms += (s->at[i] - '0') * scale;
            scale /= 10;
        } else if (*count > SPAN_MAX) {
            return false;
        } else {
            *count = *count * 10 + (s->at[i] - '0');
        }
    }
    if (i == 0 || i == s->len || point == i)
        return false;
    const char *found = strchr(*units, s->at[i]);
    if (!found || !*found || (point && *found != 'S'))
        return false;
    *unit = *found;
    *units = found + 1;
    *s = str_slice(*s, i + 1, s->len);
    return true;
}

static bool take_clock(str s, int64_t *total)
{
    const char *units = "HMS";
    char unit;
    int64_t count, ms, each;

    if (s.len == 0)
        return false;
    while (s.len > 0) {
        if (!take_unit(&s, &units, &unit, &count, &ms))
            return false;
        each = unit == 'H' ? HOUR_MS : unit == 'M' ? MINUTE_MS : SECOND_MS;
        if (count > SPAN_MAX / each)
            return false;
        *total += count * each + ms;
    }
    return true;
}

/* P1Y2M, or P1DT2H3M4.5S; both together have no meaning here. */
bool feel_duration_read(str text, struct feel_value *out)
{
    bool negative = str_starts(text, STR("-"));
    const char *units = "YMD";
    char unit;
    int64_t months = 0, span = 0, count, ms;
    bool in_months = false, in_span = false;

    text = str_slice(text, negative, text.len);
    if (!str_starts(text, STR("P")) || text.len < 3)
        return false;
    text = str_slice(text, 1, text.len);
    while (text.len > 0 && text.at[0] != 'T') {
        if (!take_unit(&text, &units, &unit, &count, &ms))
            return false;
        in_span |= unit == 'D';
        in_months |= unit != 'D';
        if (count > (unit == 'D' ? SPAN_MAX / DAY_MS : MONTHS_MAX))
            return false;
        if (unit == 'D')
            span = count * DAY_MS;
        else
            months += unit == 'Y' ? count * 12 : count;
    }
    if (text.len > 0) {
        in_span = true;
        if (!take_clock(str_slice(text, 1, text.len), &span))
            return false;
    }
    if (in_months == in_span || months > MONTHS_MAX || span > SPAN_MAX)
        return false;
    *out = in_months ? time_of(FEEL_MONTHS, negative ? -months : months)
                     : time_of(FEEL_SPAN, negative ? -span : span);
    return true;
}

bool feel_time_read(str text, struct feel_value *out)
{
    return feel_date_read(text, out) || feel_moment_read(text, out) ||
           feel_duration_read(text, out);
}

/* ---- printing ---- */

static char *put(char *at, int64_t n, char unit)
{
    char room[INT_ROOM];
    str digits = str_of_int(room, n);
    memcpy(at, digits.at, digits.len);
    at[digits.len] = unit;
    return at + digits.len + 1;
}

static char *put_two(char *at, int64_t n)
{
    at[0] = (char)('0' + n / 10);
    at[1] = (char)('0' + n % 10);
    return at + 2;
}

static char *put_moment(char *at, struct feel_value v)
{
    char room[DATE_TEXT_MAX];
    str text = date_print(room, v.n + v.exponent * MINUTE_MS);
    int64_t offset = v.exponent < 0 ? -v.exponent : v.exponent;

    memcpy(at, text.at, text.len);
    at += text.len;
    if (offset == 0)
        return at;
    at[-1] = v.exponent < 0 ? '-' : '+';
    at = put_two(at, offset / 60);
    *at++ = ':';
    return put_two(at, offset % 60);
}

static char *put_span(char *at, uint64_t ms)
{
    int64_t rest = (int64_t)(ms % DAY_MS);

    if (ms >= DAY_MS || ms == 0)
        at = put(at, (int64_t)(ms / DAY_MS), 'D');
    if (ms == 0)
        return memcpy(at - 2, "T0S", 3) + 3;
    if (rest > 0)
        *at++ = 'T';
    if (rest >= HOUR_MS)
        at = put(at, rest / HOUR_MS, 'H');
    if (rest % HOUR_MS >= MINUTE_MS)
        at = put(at, rest % HOUR_MS / MINUTE_MS, 'M');
    rest %= MINUTE_MS;
    if (rest % SECOND_MS == 0)
        return rest > 0 ? put(at, rest / SECOND_MS, 'S') : at;
    at = put(at, rest / SECOND_MS, '.');
    *at++ = (char)('0' + rest % SECOND_MS / 100);
    at = put_two(at, rest % 100);
    while (at[-1] == '0')
        at--;
    *at++ = 'S';
    return at;
}

static char *put_months(char *at, int64_t months)
{
    if (months >= 12)
        at = put(at, months / 12, 'Y');
    return months % 12 || months == 0 ? put(at, months % 12, 'M') : at;
}

str feel_time_print(char room[FEEL_TIME_ROOM], struct feel_value v)
{
    char *at = room;

    if (v.kind == FEEL_DATE) {
        char date[DATE_TEXT_MAX];
        memcpy(at, date_print(date, v.n * DAY_MS).at, 10);
        return (str){ room, 10 };
    }
    if (v.kind == FEEL_MOMENT) {
        at = put_moment(at, v);
    } else {
        if (v.n < 0)
            *at++ = '-';
        *at++ = 'P';
        at = v.kind == FEEL_SPAN ? put_span(at, (uint64_t)(v.n < 0 ? -v.n : v.n))
                                 : put_months(at, v.n < 0 ? -v.n : v.n);
    }
    assert(at - room <= FEEL_TIME_ROOM);
    return (str){ room, (size_t)(at - room) };
}

/* ---- parts ---- */

struct feel_value feel_date_of(struct feel_value v)
{
    return v.kind == FEEL_DATE
               ? v
               : time_of(FEEL_DATE, floor_div(v.n + v.exponent * MINUTE_MS, DAY_MS));
}

struct calendar {
    int year;
    unsigned month, day;
};

static struct calendar calendar_of(struct feel_value v)
{
    struct calendar c;
    date_civil(feel_date_of(v).n, &c.year, &c.month, &c.day);
    return c;
}

void feel_day_numbers(struct feel_value v, int64_t *of_year, int64_t *of_month, int64_t *month_days)
{
    struct calendar c = calendar_of(v);

    *of_month = *of_year = c.day;
    *month_days = date_days_in_month(c.year, c.month);
    for (unsigned month = 1; month < c.month; month++)
        *of_year += date_days_in_month(c.year, month);
}

int64_t feel_weekday(struct feel_value v)
{
    int64_t days = feel_date_of(v).n + 3; /* 1970-01-01 was a Thursday */
    return days - floor_div(days, 7) * 7 + 1;
}

/* A week belongs to the year that its Thursday is in. */
int64_t feel_week(struct feel_value v)
{
    struct feel_value date = feel_date_of(v);
    int64_t of_year, of_month, month_days;
    date.n += 4 - feel_weekday(date);
    feel_day_numbers(date, &of_year, &of_month, &month_days);
    return (of_year - 1) / 7 + 1;
}

static int64_t part_year(struct feel_value v)
{
    return calendar_of(v).year;
}

static int64_t part_month(struct feel_value v)
{
    return calendar_of(v).month;
}

static int64_t part_day(struct feel_value v)
{
    return calendar_of(v).day;
}

static int64_t of_day(struct feel_value v)
{
    return v.n + v.exponent * MINUTE_MS - feel_date_of(v).n * DAY_MS;
}

static int64_t part_hour(struct feel_value v)
{
    return of_day(v) / HOUR_MS;
}

static int64_t part_minute(struct feel_value v)
{
    return of_day(v) % HOUR_MS / MINUTE_MS;
}

static int64_t part_second(struct feel_value v)
{
    return of_day(v) % MINUTE_MS / SECOND_MS;
}

static int64_t part_days(struct feel_value v)
{
    return v.n / DAY_MS;
}

static int64_t part_hours(struct feel_value v)
{
    return v.n % DAY_MS / HOUR_MS;
}

static int64_t part_minutes(struct feel_value v)
{
    return v.n % HOUR_MS / MINUTE_MS;
}

static int64_t part_seconds(struct feel_value v)
{
    return v.n % MINUTE_MS / SECOND_MS;
}

static int64_t part_years(struct feel_value v)
{
    return v.n / 12;
}

static int64_t part_months(struct feel_value v)
{
    return v.n % 12;
}

// clang-format off
#define DAYS (1u << FEEL_DATE | 1u << FEEL_MOMENT)

static const struct {
    const char *name;
    unsigned kinds;
    int64_t (*part)(struct feel_value v);
} parts[] = {
    { "year",    DAYS,               part_year    },
    { "month",   DAYS,               part_month   },
    { "day",     DAYS,               part_day     },
    { "weekday", DAYS,               feel_weekday },
    { "hour",    1u << FEEL_MOMENT,  part_hour    },
    { "minute",  1u << FEEL_MOMENT,  part_minute  },
    { "second",  1u << FEEL_MOMENT,  part_second  },
    { "days",    1u << FEEL_SPAN,    part_days    },
    { "hours",   1u << FEEL_SPAN,    part_hours   },
    { "minutes", 1u << FEEL_SPAN,    part_minutes },
    { "seconds", 1u << FEEL_SPAN,    part_seconds },
    { "years",   1u << FEEL_MONTHS,  part_years   },
    { "months",  1u << FEEL_MONTHS,  part_months  },
};
// clang-format on

bool feel_time_part(struct feel_value v, str name, struct feel_value *out)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].kinds & 1u << v.kind && str_eq(name, str_from(parts[i].name))) {
            *out = feel_int(parts[i].part(v));
            return true;
        }
    return false;
}

/* ---- arithmetic ---- */

#define FIRST_DAY (-719528) /* 0000-01-01 */
#define LAST_DAY 2932896    /* 9999-12-31 */

static bool is_in_range(struct feel_value v)
{
    switch (v.kind) {
    case FEEL_DATE: return v.n >= FIRST_DAY && v.n <= LAST_DAY;
    case FEEL_MOMENT: {
        int64_t local = v.n + v.exponent * MINUTE_MS;
        return v.n >= FIRST_DAY * DAY_MS && v.n < (LAST_DAY + 1) * DAY_MS &&
               local >= FIRST_DAY * DAY_MS && local < (LAST_DAY + 1) * DAY_MS;
    }
    case FEEL_SPAN: return v.n >= -SPAN_MAX && v.n <= SPAN_MAX;
    default: return v.n >= -MONTHS_MAX && v.n <= MONTHS_MAX;
    }
}

/* The same day of another month, or the last one where it has no such day. */
static bool add_months(struct feel_value v, int64_t months, struct feel_value *out)
{
    struct calendar c = calendar_of(v);
    int64_t month = c.year * 12 + (int64_t)c.month - 1 + months;
    if (month < 0 || month >= 12 * 10000)
        return false;

    int year = (int)(month / 12);
    unsigned of_year = (unsigned)(month % 12) + 1, most = date_days_in_month(year, of_year);
    int64_t days = date_days(year, of_year, c.day < most ? c.day : most);
    *out = v;
    out->n = v.kind == FEEL_DATE ? days : v.n + (days - feel_date_of(v).n) * DAY_MS;
    return is_in_range(*out);
}

/* A date or moment and a duration. */
static bool move(struct feel_value v, struct feel_value duration, bool *fits,
                 struct feel_value *out)
{
    if (duration.kind == FEEL_MONTHS)
        return *fits = add_months(v, duration.n, out);
    *out = v;
    out->n = v.kind == FEEL_DATE ? floor_div(v.n * DAY_MS + duration.n, DAY_MS) : v.n + duration.n;
    return *fits = is_in_range(*out);
}

bool feel_time_add(struct feel_value a, struct feel_value b, bool subtract, bool *fits,
                   struct feel_value *out)
{
    bool a_lasts = a.kind >= FEEL_SPAN, b_lasts = b.kind >= FEEL_SPAN;

    *fits = true;
    if (!feel_is_time(a) || !feel_is_time(b))
        return false;
    if (subtract && !a_lasts && a.kind == b.kind) {
        *out = time_of(FEEL_SPAN, (a.n - b.n) * (a.kind == FEEL_DATE ? DAY_MS : 1));
        return *fits = is_in_range(*out);
    }
    if (subtract && b_lasts)
        b.n = -b.n;
    else if (subtract)
        return false;
    if (b_lasts && !a_lasts)
        return move(a, b, fits, out);
    if (a_lasts && !b_lasts)
        return move(b, a, fits, out);
    if (a.kind != b.kind || !a_lasts)
        return false;
    *out = time_of(a.kind, a.n + b.n);
    return *fits = is_in_range(*out);
}

bool feel_time_scale(struct feel_value duration, struct feel_value number, bool divide,
                     struct feel_value *out)
{
    struct feel_value n = feel_int(duration.n), scaled;
    int64_t whole;

    if (!(divide ? feel_number_divide : feel_number_multiply)(n, number, &scaled) ||
        !feel_number_round(scaled, 0, ROUND_DOWN, &scaled) || !feel_number_to_int(scaled, &whole))
        return false;
    *out = time_of(duration.kind, whole);
    return is_in_range(*out);
}

struct feel_value feel_months_between(struct feel_value from, struct feel_value to)
{
    struct calendar a = calendar_of(from), b = calendar_of(to);
    int64_t months = (b.year - a.year) * 12 + (int64_t)b.month - (int64_t)a.month;

    /* Only whole ones count. */
    if (months > 0 && b.day < a.day)
        months--;
    if (months < 0 && b.day > a.day)
        months++;
    return time_of(FEEL_MONTHS, months);
}
