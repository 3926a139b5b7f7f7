/* http_text_test.c: targets, lists in fields, media types, and heads of responses. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "wire/http/text.h"

/* ---- targets ---- */

TEST(parts_of_a_path_are_decoded_strictly)
{
    static const struct {
        const char *encoded, *decoded; /* NULL: refused */
    } cases[] = {
        { "", "" },
        { "plain", "plain" },
        { "a+b", "a+b" },
        { "a%20b%2Fc%2fd", "a b/c/d" },
        { "%c3%A9", "\xc3\xa9" },
        { "%25%32%30", "%20" },
        { "%", NULL },
        { "a%2", NULL },
        { "%2g", NULL },
        { "%g2", NULL },
        { "%+1", NULL },
        { "%%20", NULL },
        { "a%00b", NULL },
        { "%c3", NULL },
        { "%ff", NULL },
        { "%c0%af", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str out;
        err e = http_decode(check_arena(), str_from(cases[i].encoded), &out);
        if (cases[i].decoded) {
            CHECK_OK(e);
            CHECK_STR(out, cases[i].decoded);
        } else {
            CHECK_ERR(e, ERR_INVALID);
        }
    }
    str out;
    CHECK_STR(http_decode(check_arena(), STR("ab%2x"), &out)->message,
              "expected two hexadecimal digits behind each % of the target, found none at byte 2 "
              "of \"ab%2x\"");
}

/* The pairs as "name=value," or the message of the error. */
static str pairs_of(const char *query)
{
    struct buf out = buf_in(check_arena());
    struct http_pair *pairs;
    size_t count;
    err e = http_query(check_arena(), str_from(query), &pairs, &count);

    if (e)
        return e->message;
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, STR_FMT "=" STR_FMT ",", STR_ARG(pairs[i].name), STR_ARG(pairs[i].value));
    return buf_str(&out);
}

TEST(a_query_is_pairs_in_their_order)
{
    CHECK_STR(pairs_of(""), "");
    CHECK_STR(pairs_of("a=1&b=2&a=3"), "a=1,b=2,a=3,");
    CHECK_STR(pairs_of("a&=b&c="), "a=,=b,c=,");
    CHECK_STR(pairs_of("&&a=1&"), "a=1,");
    CHECK_STR(pairs_of("a=b=c?d/e"), "a=b=c?d/e,");
    CHECK_STR(pairs_of("a+b=c+d%2Be%26"), "a b=c d+e&,");
    CHECK_STR(pairs_of("a=%00"), "expected UTF-8 without NUL in the target, found \"%00\"");
    CHECK_STR(pairs_of("%=1"), "expected two hexadecimal digits behind each % of the target, found "
                               "none at byte 0 of \"%\"");
}

/* ---- values of fields ---- */

static str parts_of(const char *list, char separator)
{
    struct buf out = buf_in(check_arena());
    str rest = str_from(list), part;

    while (http_list_next(&rest, separator, &part))
        buf_printf(&out, "<" STR_FMT ">", STR_ARG(part));
    return buf_str(&out);
}

TEST(lists_are_split_outside_of_quotes)
{
    CHECK_STR(parts_of("", ','), "");
    CHECK_STR(parts_of(" , ,", ','), "");
    CHECK_STR(parts_of("a, b\t,,c;d", ','), "<a><b><c;d>");
    CHECK_STR(parts_of("a;b=\";,\\\";\";c", ';'), "<a><b=\";,\\\";\"><c>");
    CHECK_STR(parts_of("a=\"b,c", ','), "<a=\"b,c>");
    CHECK_STR(parts_of("a=\"b\\", ','), "<a=\"b\\>");
}

static str etags_of(const char *value)
{
    struct buf out = buf_in(check_arena());
    str rest = str_from(value);

    for (;;) {
        struct http_etag tag;
        err e = http_etag_next(check_arena(), &rest, &tag);
        if (e)
            return e->message;
        if (!tag.tag.at)
            return buf_str(&out);
        buf_printf(&out, "%s<" STR_FMT ">%s", tag.weak ? "W" : "", STR_ARG(tag.tag),
                   tag.any ? "any" : "");
    }
}

TEST(entity_tags_are_read_one_by_one)
{
    static const struct {
        const char *value, *tags; /* NULL: refused */
    } cases[] = {
        { "", "" },
        { "\"v7\"", "<v7>" },
        { "\"\"", "<>" },
        { "W/\"v7\" , \"a,b\\\",\t\"c\"", "W<v7><a,b\\><c>" },
        { ", ,\"a\",,", "<a>" },
        { " * ", "<*>any" },
        { "\"*\"", "<*>" },
        { "v7", NULL },
        { "w/\"v7\"", NULL },
        { "\"v7", NULL },
        { "\"", NULL },
        { "\"a\" \"b\"", NULL },
        { "\"a\"b", NULL },
        { "\"a b\"", NULL },
        { "*, \"a\"", NULL },
        { "\"a\", *", NULL },
        { "W/", NULL },
        { "W/*", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str found = etags_of(cases[i].value);
        if (cases[i].tags)
            CHECK_STR(found, cases[i].tags);
        else if (!str_starts(found, STR("expected entity tags like \"v7\" in double quotes")))
            check_fail(__FILE__, __LINE__, "%s was taken as " STR_FMT, cases[i].value,
                       STR_ARG(found));
    }
}

TEST(preferences_are_found_by_name)
{
    str value;

    CHECK(http_prefers(STR("return=representation"), STR("return"), &value));
    CHECK_STR(value, "representation");
    CHECK(
        http_prefers(STR("wait=10, RETURN = \"minimal\" ; a=b, return=x"), STR("return"), &value));
    CHECK_STR(value, "minimal");
    CHECK(http_prefers(STR("respond-async; wait=3"), STR("respond-async"), &value));
    CHECK_STR(value, "");
    CHECK(!http_prefers(STR("respond-async; wait=3, ;"), STR("wait"), &value));
    CHECK(!http_prefers(STR(""), STR("return"), &value));
}

TEST(the_closest_range_says_how_welcome_a_media_type_is)
{
    static const struct {
        const char *accept, *type;
        unsigned weight;
        bool named;
    } cases[] = {
        { "", "application/json", 0, false },
        { "application/json", "application/json", 1000, true },
        { "Application/JSON;charset=utf-8", "application/json", 1000, true },
        { "*/*", "text/html", 1000, false },
        { "text/*", "text/html", 1000, false },
        { "text/*", "textual/html", 0, false },
        { "text/*", "application/json", 0, false },
        { "text/html, application/xml;q=0.9, */*;q=0.8", "application/json", 800, false },
        { "application/json, text/event-stream", "text/event-stream", 1000, true },
        { "text/html;q=0, text/*;q=0.5, */*", "text/html", 0, true },
        { "text/html;q=0, text/*;q=0.5, */*", "text/css", 500, false },
        { "a/b;q=0.123, a/b;q=0.1", "a/b", 123, true },
        { "a/b;x=\",c/d\"", "c/d", 0, false },
        { "a/b;q=1.000", "a/b", 1000, true },
        { "a/b;q=1.9", "a/b", 1000, true },
        { "a/b;Q=0.", "a/b", 0, true },
        { "a/b;q=half", "a/b", 1000, true },
        { "a/b;q=0.x", "a/b", 1000, true },
        { "a/b;q=-1", "a/b", 1000, true },
        { ";q=0, a/b", "a/b", 1000, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool named;
        CHECK_INT(http_accepts(str_from(cases[i].accept), str_from(cases[i].type), &named),
                  cases[i].weight);
        CHECK_INT(named, cases[i].named);
    }
    CHECK_INT(http_accepts(STR("*/*"), STR("a/b"), NULL), 1000);
}

TEST(media_types_are_compared_without_parameters_and_case)
{
    str type = STR("application/json");

    CHECK(http_media_is(STR("application/json"), type));
    CHECK(http_media_is(STR("Application/JSON ; charset=\"utf-8\""), type));
    CHECK(!http_media_is(STR("application/json-patch+json"), type));
    CHECK(!http_media_is(STR("application/jso"), type));
    CHECK(!http_media_is(STR(""), type));
}

/* ---- responses ---- */

TEST(the_head_of_a_response_is_written_line_by_line)
{
    struct buf out = buf_in(check_arena());

    http_write_status(&out, 201);
    http_write_field(&out, STR("Location"), STR("/a"));
    http_write_number(&out, STR("Content-Length"), 0);
    http_write_number(&out, STR("X-Most"), INT64_MAX);
    http_write_end(&out);
    CHECK_STR(buf_str(&out), "HTTP/1.1 201 Created\r\n"
                             "Location: /a\r\n"
                             "Content-Length: 0\r\n"
                             "X-Most: 9223372036854775807\r\n"
                             "\r\n");
    CHECK_STR(str_from(http_reason(431)), "Request Header Fields Too Large");
    CHECK(!http_reason(299) && !http_reason(-1) && !http_reason(600) && !http_reason(1 << 30));
}

TEST(every_kind_of_error_has_a_reason)
{
    for (int kind = 0; kind < ERROR_KIND_COUNT; kind++)
        CHECK(http_reason(error_kind_info((enum error_kind)kind)->http) != NULL);
}

/* Whether writing the field ends the process, as our own mistakes do. */
static bool write_aborts(str name, str value)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct buf out = buf_in(arena_new());
        close(STDERR_FILENO);
        http_write_field(&out, name, value);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

TEST(a_response_is_never_split_by_a_value)
{
    CHECK(!write_aborts(STR("A"), STR("b c\td")));
    CHECK(write_aborts(STR("A"), STR("b\r\nC: d")));
    CHECK(write_aborts(STR("A"), STR("b\n")));
    CHECK(write_aborts(STR("A"), STR("b\0c")));
    CHECK(write_aborts(STR("A: b\r\nC"), STR("d")));
    CHECK(write_aborts(STR(""), STR("d")));
}
