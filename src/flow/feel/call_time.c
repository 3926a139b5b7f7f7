/* call_time.c: the functions on dates, moments and durations. What now is, the caller of the
 * evaluation has said. */
#include "base/date.h"
#include "flow/feel/private.h"

#define DAY_MS INT64_C(86400000)

static struct feel_value moment_of(int64_t ms)
{
    return (struct feel_value){ .kind = FEEL_MOMENT, .n = ms };
}

static struct feel_value date_of_numbers(struct feel_run *run, const struct feel_value *args)
{
    int64_t year, month, day;

    for (int i = 0; i < 3; i++)
        if (!feel_is_number(args[i]))
            return args[i].kind == FEEL_NULL
                       ? feel_null_from(run, args[i])
                       : feel_null_of(run, "expected year, month and day as numbers, found \1",
                                      args[i], args[i]);
    if (!feel_number_to_int(args[0], &year) || !feel_number_to_int(args[1], &month) ||
        !feel_number_to_int(args[2], &day) || year < 0 || year > 9999 || month < 1 || month > 12 ||
        day < 1 || day > date_days_in_month((int)year, (unsigned)month))
        return feel_null(run, "expected a date that there is, from 0000-01-01 to 9999-12-31");
    return (struct feel_value){ .kind = FEEL_DATE,
                                .n = date_days((int)year, (unsigned)month, (unsigned)day) };
}

static struct feel_value call_date(struct feel_run *run, const struct feel_value *args,
                                   uint32_t count)
{
    struct feel_value out;

    if (count == 3)
        return date_of_numbers(run, args);
    if (count == 2)
        return feel_null(run, "expected date(text) or date(year, month, day)");
    if (args[0].kind == FEEL_DATE || args[0].kind == FEEL_MOMENT)
        return feel_date_of(args[0]);
    if (args[0].kind == FEEL_STRING && feel_date_read(feel_string_of(args[0]), &out))
        return out;
    return feel_null_of(run, "expected a date as \"2026-01-31\", found \1", args[0], args[0]);
}

static struct feel_value call_moment(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    struct feel_value out;

    (void)count;
    if (args[0].kind == FEEL_MOMENT)
        return args[0];
    if (args[0].kind == FEEL_DATE)
        return moment_of(args[0].n * DAY_MS);
    if (args[0].kind == FEEL_STRING && feel_moment_read(feel_string_of(args[0]), &out))
        return out;
    return feel_null_of(run,
                        "expected a date and time as \"2026-01-31T10:00:00Z\", or with an offset, "
                        "found \1",
                        args[0], args[0]);
}

static struct feel_value call_duration(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    struct feel_value out;

    (void)count;
    if (args[0].kind == FEEL_SPAN || args[0].kind == FEEL_MONTHS)
        return args[0];
    if (args[0].kind == FEEL_STRING && feel_duration_read(feel_string_of(args[0]), &out))
        return out;
    return feel_null_of(run, "expected a duration as \"P1DT2H30M\" or \"P1Y6M\", found \1", args[0],
                        args[0]);
}

static struct feel_value call_months(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    (void)run, (void)count;
    return feel_months_between(args[0], args[1]);
}

static struct feel_value call_now(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    (void)args, (void)count;
    return moment_of(run->now_ms);
}

static struct feel_value call_today(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    (void)args, (void)count;
    return feel_date_of(moment_of(run->now_ms));
}

static struct feel_value call_day_of_week(struct feel_run *run, const struct feel_value *args,
                                          uint32_t count)
{
    static const char *const names[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday" };
    (void)run, (void)count;
    return feel_string(str_from(names[feel_weekday(args[0]) - 1]));
}

static struct feel_value call_month_of_year(struct feel_run *run, const struct feel_value *args,
                                            uint32_t count)
{
    static const char *const names[] = { "January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December" };
    int year;
    unsigned month, day;

    (void)run, (void)count;
    date_civil(feel_date_of(args[0]).n, &year, &month, &day);
    return feel_string(str_from(names[month - 1]));
}

static struct feel_value call_day_of_year(struct feel_run *run, const struct feel_value *args,
                                          uint32_t count)
{
    int64_t of_year, of_month, month_days;

    (void)run, (void)count;
    feel_day_numbers(args[0], &of_year, &of_month, &month_days);
    return feel_int(of_year);
}

static struct feel_value call_week_of_year(struct feel_run *run, const struct feel_value *args,
                                           uint32_t count)
{
    (void)run, (void)count;
    return feel_int(feel_week(args[0]));
}

static struct feel_value call_last_day(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    struct feel_value date = feel_date_of(args[0]);
    int64_t of_year, of_month, month_days;

    (void)run, (void)count;
    feel_day_numbers(date, &of_year, &of_month, &month_days);
    date.n += month_days - of_month;
    return date;
}

// clang-format off
const struct feel_function feel_calls_time[] = {
    { "date",                      1, 3, "v",  call_date,          "date(text) or date(year, month, day)", false },
    { "date and time",             1, 1, "v",  call_moment,        "date and time(text)", false },
    { "duration",                  1, 1, "v",  call_duration,      "duration(text)", false },
    { "years and months duration", 2, 2, "tt", call_months,        "years and months duration(from, to)", false },
    { "now",                       0, 0, "?",  call_now,           "now()", true },
    { "today",                     0, 0, "?",  call_today,         "today()", true },
    { "day of week",               1, 1, "t",  call_day_of_week,   "day of week(date)", false },
    { "day of year",               1, 1, "t",  call_day_of_year,   "day of year(date)", false },
    { "week of year",              1, 1, "t",  call_week_of_year,  "week of year(date)", false },
    { "month of year",             1, 1, "t",  call_month_of_year, "month of year(date)", false },
    { "last day of month",         1, 1, "t",  call_last_day,      "last day of month(date)", false },
    { 0 },
};
// clang-format on
