/* junit_test.c: reports of tests, read from test/cases/junit.json. */
#include "runner/junit.h"

#include "check.h"
#include "json_help.h"

static struct json shown(struct arena *a, const struct junit *j)
{
    struct json out = json_object(), failed = json_array();

    for (size_t i = 0; i < j->named; i++)
        json_push(a, &failed, json_string(j->failed[i]));
    json_put(a, &out, STR("tests"), json_int(a, j->tests));
    json_put(a, &out, STR("failures"), json_int(a, j->failures));
    json_put(a, &out, STR("errors"), json_int(a, j->errors));
    json_put(a, &out, STR("skipped"), json_int(a, j->skipped));
    json_put(a, &out, STR("failed"), failed);
    return out;
}

static void report_reads(struct arena *a, const struct json *record)
{
    struct junit found;

    CHECK_OK(junit_read(a, json_str(record, "text"), &found));
    struct json report = shown(a, &found);
    CHECK_STR(json_printed(a, &report), json_printed(a, json_get(record, "expected")).at);
}

static void report_refused(struct arena *a, const struct json *record)
{
    struct junit found;
    err e = junit_read(a, json_str(record, "text"), &found);

    CHECK(e && e->kind == ERR_INVALID);
    CHECK_STR(e->message, arena_copy(a, json_str(record, "message")).at);
}

TEST(a_report_of_tests_is_read_as_many_tools_write_it)
{
    json_each_case("junit", "is read", report_reads);
}

TEST(a_report_that_is_none_is_refused_with_the_line_and_what_was_expected)
{
    json_each_case("junit", "is refused", report_refused);
}

/* Whatever a report holds, it takes no more than its length of work and memory. */
TEST(a_report_of_tests_is_bounded)
{
    struct arena *a = check_arena();
    struct buf text = buf_in(a);
    struct junit found;

    buf_add(&text, STR("<testsuite>"));
    while (text.len < JUNIT_BYTES_MAX - 100)
        buf_add(&text, STR("<testcase name='x'><failure/></testcase>"));
    buf_add(&text, STR("</testsuite>"));
    CHECK_OK(junit_read(a, buf_str(&text), &found));
    CHECK_INT(found.failures, found.tests);
    CHECK_INT(found.named, JUNIT_NAMES_MAX);
    while (text.len <= JUNIT_BYTES_MAX)
        buf_byte(&text, ' ');
    err e = junit_read(a, buf_str(&text), &found);
    CHECK(e && e->kind == ERR_TOO_LARGE);
    e = junit_read(a, STR("<testsuite>\xff</testsuite>"), &found);
    CHECK(e && e->kind == ERR_INVALID);
}
