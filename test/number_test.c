/* number_test.c: numbers are exact, however they are written. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "json/json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct json number(const char *text)
{
    bool real = strpbrk(text, ".eE") != NULL;
    return (struct json){ .kind = real ? JSON_REAL : JSON_INTEGER,
                          .len = (uint32_t)strlen(text),
                          .text = text };
}

/* `times` copies of a digit between two texts. */
static const char *with_many(const char *before, char digit, size_t times, const char *after)
{
    struct buf b = buf_in(check_arena());
    buf_add(&b, str_from(before));
    memset(buf_reserve(&b, times), digit, times);
    b.len += times;
    buf_add(&b, str_from(after));
    return buf_str(&b).at;
}

static int compare(const char *a, const char *b)
{
    struct json x = number(a), y = number(b);
    int order = json_number_compare(&x, &y), back = json_number_compare(&y, &x);
    if (order != -back)
        check_fail(__FILE__, __LINE__, "%s and %s: %d one way, %d the other", a, b, order, back);
    return order;
}

TEST(number_orders_values_however_written)
{
    static const char *const ascending[] = {
        "-1e308",
        "-9223372036854775809",
        "-9223372036854775808",
        "-1000000000000000000000e-3",
        "-2",
        "-1.5",
        "-1",
        "-1e-400",
        "0",
        "1e-30000000000000000000",
        "1e-99999999999999",
        "1e-400",
        "0.1",
        "0.10000000000000000000000000000000000001",
        "0.2",
        "1",
        "1.0000000000000000000001",
        "1.5",
        "9",
        "10",
        "999999999999999999",
        "1e18",
        "9007199254740992e3",
        "9007199254740993e3",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e308",
        "1.7976931348623157e308",
    };
    for (size_t i = 0; i < COUNT(ascending); i++)
        for (size_t k = 0; k < COUNT(ascending); k++) {
            int expected = (i > k) - (i < k), found = compare(ascending[i], ascending[k]);
            if (found != expected)
                check_fail(__FILE__, __LINE__, "%s and %s compare as %d, expected %d", ascending[i],
                           ascending[k], found, expected);
        }
}

/* Each line is one value. */
TEST(number_written_differently_is_equal_and_hashes_alike)
{
    static const char *const values[][6] = {
        { "0", "-0", "0.0", "-0.000", "0e5", "0.0E-99999999999999999999" },
        { "1", "1.0", "1e0", "10e-1", "0.001e+3", "1e0000000000000" },
        { "-1", "-1.0", "-1E0", "-10e-1", "-0.1e1", "-1000e-3" },
        { "100", "1e2", "1.00e2", "100.0", "1000e-1", "0.01e4" },
        { "12.5", "12.50", "125e-1", "0.125e2", "1.25e1", "1250E-0000000000000000000000002" },
        { "1e400", "10e399", "0.1e401", "1.0e400", "100e+398", "1E400" },
        { "1e-400", "10e-401", "0.1e-399", "1.0e-400", "100e-402", "0.01e-398" },
        { "123456789012345678901234567890", "12345678901234567890123456789e1",
          "123456789012345678901234567890.0", "1.2345678901234567890123456789e29",
          "1234567890123456789012345678900e-1", "0.12345678901234567890123456789e30" },
        { "9223372036854775807", "9223372036854775807.0", "9223372036854775807e0",
          "922337203685477580.7e1", "9223372036854775807000e-3", "9.223372036854775807e18" },
    };
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t k = 1; k < COUNT(values[i]); k++) {
            struct json a = number(values[i][0]), b = number(values[i][k]);
            if (compare(values[i][0], values[i][k]) != 0)
                check_fail(__FILE__, __LINE__, "%s is not %s", values[i][0], values[i][k]);
            if (json_number_hash(&a) != json_number_hash(&b))
                check_fail(__FILE__, __LINE__, "%s and %s hash differently", values[i][0],
                           values[i][k]);
        }
}

TEST(number_hash_tells_most_numbers_apart)
{
    char text[32];
    uint32_t seen[2000];
    for (size_t i = 0; i < COUNT(seen); i++) {
        snprintf(text, sizeof(text), "%zu.%zu", i / 9, i % 9 + 1);
        struct json j = number(text);
        seen[i] = json_number_hash(&j);
        for (size_t k = 0; k < i; k++)
            CHECK(seen[i] != seen[k]);
    }
}

TEST(number_becomes_an_integer_only_exactly)
{
    // clang-format off
    static const struct { const char *text; bool fits; int64_t value; bool integral; } cases[] = {
        { "0",                       true,  0,         true  },
        { "-0",                      true,  0,         true  },
        { "-0.0",                    true,  0,         true  },
        { "0e99999999999999999999",  true,  0,         true  },
        { "42",                      true,  42,        true  },
        { "-42",                     true,  -42,       true  },
        { "1.0",                     true,  1,         true  },
        { "1e3",                     true,  1000,      true  },
        { "10e-1",                   true,  1,         true  },
        { "0.25e2",                  true,  25,        true  },
        { "9223372036854775807",     true,  INT64_MAX, true  },
        { "-9223372036854775808",    true,  INT64_MIN, true  },
        { "-922337203685477580.8e1", true,  INT64_MIN, true  },
        { "9223372036854775808",     false, 0,         true  },
        { "-9223372036854775809",    false, 0,         true  },
        { "9999999999999999999",     false, 0,         true  },
        { "10000000000000000000",    false, 0,         true  },
        { "18446744073709551617",    false, 0,         true  },
        { "1e19",                    false, 0,         true  },
        { "1e308",                   false, 0,         true  },
        { "0.5",                     false, 0,         false },
        { "25e-3",                   false, 0,         false },
        { "1e-99999999999999999999", false, 0,         false },
        { "9007199254740993.5",      false, 0,         false },
    };
    // clang-format on
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json j = number(cases[i].text);
        int64_t value = 0;
        if (json_to_int(&j, &value) != cases[i].fits || value != cases[i].value)
            check_fail(__FILE__, __LINE__, "%s became %lld", cases[i].text, (long long)value);
        if (json_is_integral(&j) != cases[i].integral)
            check_fail(__FILE__, __LINE__, "%s: integral is wrong", cases[i].text);
    }
}

TEST(number_becomes_the_nearest_double)
{
    const struct {
        const char *text;
        double value;
    } cases[] = {
        { "0", 0.0 },
        { "1", 1.0 },
        { "-12.5", -12.5 },
        { "0.1", 0.1 },
        { "1e3", 1000 },
        { "999999999999999999", 1e18 },
        { "9007199254740993", 9007199254740992.0 },
        { "1.7976931348623157e308", 1.7976931348623157e308 },
        { "4.9e-324", 4.9e-324 },
        { "1e-400", 0.0 },
        { "1e-99999999999999999999", 0.0 },
        /* Half way between 2^53 and the double above it, and one digit far behind decides. */
        { with_many("9007199254740993.", '0', 2000, "0"), 9007199254740992.0 },
        { with_many("9007199254740993.", '0', 2000, "1"), 9007199254740994.0 },
        { with_many("0.", '3', 5000, ""), 1.0 / 3 },
        { with_many("-0.", '3', 5000, ""), -1.0 / 3 },
        { with_many("1", '0', 300, ""), 1e300 },
        { with_many("1", '0', 100000, "e-100000"), 1.0 },
        { with_many("0.", '0', 100000, "1e100001"), 1.0 },
        { with_many("5e-", '0', 200, "1"), 0.5 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json j = number(cases[i].text);
        double found = json_to_double(&j);
        if (found != cases[i].value)
            check_fail(__FILE__, __LINE__, "%.40s became %.17g, expected %.17g", cases[i].text,
                       found, cases[i].value);
    }
}

TEST(number_keeps_the_sign_of_zero_as_a_double)
{
    const char *const zeros[] = { "-0", "-0.0", "-0e7", "-1e-400",
                                  with_many("-0.", '0', 1000, "0") };
    for (size_t i = 0; i < COUNT(zeros); i++) {
        struct json j = number(zeros[i]);
        double found = json_to_double(&j);
        CHECK(found == 0 && signbit(found));
    }
    struct json plain = number("0");
    CHECK(!signbit(json_to_double(&plain)));
}

TEST(number_multiple_is_exact)
{
    static const char square[] = "15241578753238836750495351562536198787501905199875019052100";
    const struct {
        const char *number, *of;
        bool multiple;
    } cases[] = {
        { "10", "5", true },
        { "11", "5", false },
        { "-10", "5", true },
        { "0", "7", true },
        { "-0.0", "0.3", true },
        { "0.0075", "0.0001", true },
        { "0.00751", "0.0001", false },
        { "4.35", "0.01", true },
        { "1.1", "0.1", true },
        { "0.3", "0.1", true },
        { "7", "0.5", true },
        { "7.25", "0.5", false },
        { "1", "1.0", true },
        { "1.5", "1", false },
        { "12391239123", "1e-8", true },
        { "1e308", "0.5", true },
        { "1e308", "0.123456789", false },
        { "1e308", "3", false },
        { "1e308", "1e-99999999999999999999", true },
        { "1e308", "3e-99999999", false },
        { "3e307", "3e-99999999", true },
        { "1e-99999999999999999999", "1", false },
        { "1e-400", "1e-401", true },
        { "9007199254740993", "3", true },
        { "9007199254740993", "2", false },
        { "9007199254740992", "2", true },
        { "18446744073709551616", "4294967296", true },
        { "18446744073709551617", "4294967296", false },
        { "99999999999999999999", "9999999999999999999", false },
        { "99999999999999999990", "9999999999999999999", true },
        /* Divisors beyond 64 bits. 2^70 is 1180591620717411303424. */
        { "1180591620717411303424", "1180591620717411303424", true },
        { "3541774862152233910272", "1180591620717411303424", true },
        { "3541774862152233910273", "1180591620717411303424", false },
        { "1e69", "1180591620717411303424", false },
        { "1e70", "1180591620717411303424", true },
        { "1e308", "1180591620717411303424", true },
        { "1e308", "1180591620717411303424e-999999999999", true },
        { "1e308", "1180591620717411303425e-999999999999", false },
        { square, "123456789012345678901234567890", true },
        { "15241578753238836750495351562536198787501905199875019052101",
          "123456789012345678901234567890", false },
        { square, "1234567890123456789012345678900", true },
        { square, "12345678901234567890123456789000", false },
        { "1.5241578753238836750495351562536198787501905199875019052100",
          "1.23456789012345678901234567890e-29", true },
        /* Where a quotient guessed in floating point is one too large, and one too small, the last
         * time with a rest that has one limb more than the divisor. */
        { "1234567833333333843333333384341098770185", "1234567890123456789012345678909", false },
        { "1234567888888888898888888889896654321091", "1234567890123456789012345678909", true },
        { "752231580999999999999999666009178484", "999999999999999999999999556", false },
        { with_many("", '9', 300, ""), with_many("", '9', 30, ""), true },
        { with_many("", '9', 301, ""), with_many("", '9', 30, ""), false },
        { with_many("", '9', 2000, ""), with_many("", '9', 1000, ""), true },
        { with_many("", '9', 2000, "8"), with_many("", '9', 1000, ""), false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json a = number(cases[i].number), b = number(cases[i].of);
        if (json_number_multiple(&a, &b) != cases[i].multiple)
            check_fail(__FILE__, __LINE__, "%.60s %s a multiple of %.60s", cases[i].number,
                       cases[i].multiple ? "is not" : "is", cases[i].of);
    }
}

/* Work on a divisor grows with its digits, so there is an end to them. */
TEST(number_of_too_many_digits_divides_only_its_shifts)
{
    const char *of = with_many("0.", '7', 5000, "");
    const struct {
        const char *number;
        bool multiple;
    } cases[] = {
        { of, true },
        { with_many("-", '7', 5000, "e3"), true },
        { with_many("0.0", '7', 5000, ""), false },
        { with_many("", '7', 4999, "8"), false },
        { "0", true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json a = number(cases[i].number), b = number(of);
        CHECK(json_number_multiple(&a, &b) == cases[i].multiple);
    }
}

/* Megabytes of digits cost a walk over them, not their square. */
TEST_LIMIT(number_of_a_million_digits_is_quick, 5)
{
    const char *text = with_many("0.", '3', 4000000, ""),
               *same = with_many("3.", '3', 3999999, "e-1");
    struct json a = number(text), b = number(same),
                of = number(with_many("0.", '3', 1000, "e-3999000"));
    CHECK_INT(json_number_compare(&a, &b), 0);
    CHECK(json_number_hash(&a) == json_number_hash(&b));
    CHECK(json_to_double(&a) == json_to_double(&b));
    CHECK(json_number_multiple(&a, &of));
    CHECK(json_number_multiple(&a, &b));
}
