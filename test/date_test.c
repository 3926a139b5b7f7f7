/* date_test.c: texts of times and durations. */
#include "base/date.h"

#include <stdio.h>

#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One text that must give a number, and how that number is printed. */
struct good {
    const char *text;
    int64_t value;
    const char *printed;
};

static void check_good(const struct good *cases, size_t count, bool (*parse)(str, int64_t *),
                       str (*print)(char *, int64_t))
{
    char buffer[DATE_TEXT_MAX];
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (!parse(str_from(cases[i].text), &value))
            check_fail(__FILE__, __LINE__, "%s was refused", cases[i].text);
        if (value != cases[i].value)
            check_fail(__FILE__, __LINE__, "%s is %lld, expected %lld", cases[i].text,
                       (long long)value, (long long)cases[i].value);
        CHECK_STR(print(buffer, value), cases[i].printed);
    }
}

static void check_bad(const char *const *texts, size_t count, bool (*parse)(str, int64_t *))
{
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (parse(str_from(texts[i]), &value))
            check_fail(__FILE__, __LINE__, "\"%s\" was taken as %lld", texts[i], (long long)value);
    }
}

// clang-format off
TEST(date_reads_and_prints_rfc_3339)
{
    static const struct good cases[] = {
        { "1970-01-01T00:00:00Z",            0,               "1970-01-01T00:00:00Z"     },
        { "1970-01-01t00:00:01z",            1000,            "1970-01-01T00:00:01Z"     },
        { "2025-01-15T10:35:00Z",            1736937300000,   "2025-01-15T10:35:00Z"     },
        { "2025-01-15T12:05:00+01:30",       1736937300000,   "2025-01-15T10:35:00Z"     },
        { "2025-01-14T10:36:00-23:59",       1736937300000,   "2025-01-15T10:35:00Z"     },
        { "2025-01-15T10:35:00-00:00",       1736937300000,   "2025-01-15T10:35:00Z"     },
        { "2025-01-15T10:35:00.5Z",          1736937300500,   "2025-01-15T10:35:00.500Z" },
        { "2025-01-15T10:35:00.0019999999Z", 1736937300001,   "2025-01-15T10:35:00.001Z" },
        { "2025-01-15T10:35:00.0009Z",       1736937300000,   "2025-01-15T10:35:00Z"     },
        { "1969-12-31T23:59:59.999Z",        -1,              "1969-12-31T23:59:59.999Z" },
        { "2000-02-29T00:00:00Z",            951782400000,    "2000-02-29T00:00:00Z"     },
        { "2024-02-29T23:59:59Z",            1709251199000,   "2024-02-29T23:59:59Z"     },
        { "1990-12-31T23:59:60Z",            662688000000,    "1991-01-01T00:00:00Z"     },
        { "1990-12-31T15:59:60.25-08:00",    662688000250,    "1991-01-01T00:00:00.250Z" },
        { "2017-01-01T01:29:60+01:30",       1483228800000,   "2017-01-01T00:00:00Z"     },
        { "0000-01-01T00:00:00Z",            -62167219200000, "0000-01-01T00:00:00Z"     },
        { "9999-12-31T23:59:59.999Z",        253402300799999, "9999-12-31T23:59:59.999Z" },
    };
    check_good(cases, COUNT(cases), date_parse, date_print);
}

TEST(date_refuses_what_is_not_rfc_3339)
{
    static const char *const texts[] = {
        "", "2025", "2025-01-15", "2025-01-15T10:35Z", "2025-01-15T10:35:00",
        "2025-01-15 10:35:00Z", "2025-1-15T10:35:00Z", "2025-01-5T10:35:00Z", "2025-01-15T1:35:00Z",
        "25-01-15T10:35:00Z", "2025-00-15T10:35:00Z", "2025-13-15T10:35:00Z",
        "2025-01-00T10:35:00Z", "2025-01-32T10:35:00Z", "2025-04-31T10:35:00Z",
        "2025-02-29T10:35:00Z", "1900-02-29T00:00:00Z", "2025-01-15T24:00:00Z",
        "2025-01-15T10:60:00Z", "2025-01-15T10:35:61Z", "2025-01-15T10:35:00.Z",
        "2025-01-15T10:35:00,5Z", "2025-01-15T10:35:00+24:00", "2025-01-15T10:35:00+01:60",
        "2025-01-15T10:35:00+0130", "2025-01-15T10:35:00+01", "2025-01-15T10:35:00ZZ",
        " 2025-01-15T10:35:00Z", "2025-01-15T10:35:00Z ", "+2025-01-15T10:35:00Z",
        "-025-01-15T10:35:00Z", "2025-01-15T10:35:0\xdb\xb0Z",
        /* A leap second is the last one of a day in UTC and nowhere else. */
        "1990-12-31T23:58:60Z", "1990-12-31T22:59:60Z", "1990-12-31T23:59:60+01:00",
        "1990-12-31T00:59:60-01:00",
        /* In UTC these are in years that have no four digits. */
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
    };
    check_bad(texts, COUNT(texts), date_parse);
}

TEST(duration_reads_and_prints_units)
{
    static const struct good cases[] = {
        { "2h",              7200000,             "2h"                         },
        { "1h30m",           5400000,             "1h30m"                      },
        { "90s",             90000,               "1m30s"                      },
        { "250ms",           250,                 "250ms"                      },
        { "1d",              86400000,            "1d"                         },
        { "1.5h",            5400000,             "1h30m"                      },
        { "90",              90000,               "1m30s"                      },
        { "0.25",            250,                 "250ms"                      },
        { "0",               0,                   "0s"                         },
        { "0ms",             0,                   "0s"                         },
        { "1m1ms",           60001,               "1m1ms"                      },
        { "1d2h3m4s5ms",     93784005,            "1d2h3m4s5ms"                },
        { "36h",             129600000,           "1d12h"                      },
        { "0.5m0.5s",        30500,               "30s500ms"                   },
        { "0.0009765625d",   84375,               "1m24s375ms"                 },
        { "007s",            7000,                "7s"                         },
        { "9223372036854775807ms", INT64_MAX,     "106751991167d7h12m55s807ms" },
    };
    check_good(cases, COUNT(cases), duration_parse, duration_print);
}

TEST(duration_refuses_what_it_cannot_mean)
{
    static const char *const texts[] = {
        "", "h", "-1h", "+1h", "1 h", " 1h", "1h ", "1H", "1x", "1hour", "1m1h", "1h1h", "1h1.m",
        "1ms1s", "1h30", ".5h", "1.h", "1..5h", "1,5h", "1h-1m", "1e3s", "0.5ms", "0.0001",
        "1.00000000000s", "9223372036854775808ms", "18446744073709551616ms",
        "99999999999999999999d", "106751991167d7h12m55s808ms", "9223372036854775807d",
    };
    check_bad(texts, COUNT(texts), duration_parse);
}
// clang-format on

TEST(date_beyond_four_digits_of_year_prints_the_nearest)
{
    char buffer[DATE_TEXT_MAX];
    CHECK_STR(date_print(buffer, INT64_MIN), "0000-01-01T00:00:00Z");
    CHECK_STR(date_print(buffer, INT64_MAX), "9999-12-31T23:59:59.999Z");
}

TEST(duration_below_zero_prints_its_sign)
{
    char buffer[DATE_TEXT_MAX];
    CHECK_STR(duration_print(buffer, -5000), "-5s");
    CHECK_STR(duration_print(buffer, INT64_MIN), "-106751991167d7h12m55s808ms");
}

/* Walks the calendar a day at a time, by the rule everyone knows, beside the formulas. */
TEST(date_civil_and_parse_agree_with_the_calendar)
{
    int64_t days = -1011722;
    char text[DATE_TEXT_MAX];
    int64_t ms;

    for (int year = -800; year <= 2800; year++)
        for (unsigned month = 1; month <= 12; month++)
            for (unsigned day = 1; day <= date_days_in_month(year, month); day++, days++) {
                int y;
                unsigned m, d;
                date_civil(days, &y, &m, &d);
                CHECK(y == year && m == month && d == day);
                if (year < 0)
                    continue;
                snprintf(text, sizeof text, "%04d-%02u-%02uT00:00:00Z", year, month, day);
                CHECK(date_parse(str_from(text), &ms));
                CHECK_INT(ms, days * 86400000);
            }
    CHECK_INT(days, 303517);
}

TEST(date_knows_the_length_of_every_month)
{
    static const unsigned common[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    for (unsigned month = 1; month <= 12; month++)
        CHECK_INT(date_days_in_month(2023, month), common[month - 1]);
    CHECK_INT(date_days_in_month(2024, 2), 29);
    CHECK_INT(date_days_in_month(1900, 2), 28);
    CHECK_INT(date_days_in_month(2000, 2), 29);
    CHECK_INT(date_days_in_month(0, 2), 29);
}
