/* parse_test.c: what is JSON, what is not, and what is said about it. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "json/json.h"

static err parse(str text, const struct json **out)
{
    return json_parse(check_arena(), text, NULL, out);
}

static const struct json *good(const char *text)
{
    const struct json *j;
    CHECK_OK(parse(str_from(text), &j));
    return j;
}

static str round_trip(const char *text)
{
    return json_printed(check_arena(), good(text));
}

TEST(valid_documents_come_back_as_they_were)
{
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "12",
        "-1.50e+10",
        "0.1E-2",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[1,[2,[3]],{}]",
        "{\"a\":{\"b\":[null,true]},\"c\":\"d\"}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\"",
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
        "\"\\u001f\"",
        "123456789012345678901234567890",
        "1.000000000000000000000000000000001",
        "{\"\":{\"\":1}}",
        "1.7976931348623157e308",
        "5e-324",
        "1e-400",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_STR(round_trip(texts[i]), texts[i]);
}

TEST(space_between_tokens_is_skipped)
{
    CHECK_STR(round_trip(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } }\n "),
              "{\"a\":[1,2],\"b\":{}}");
}

TEST(escapes_become_characters)
{
    const struct json *j = good("\"\\u0041\\/\\u00e9\\u20ac\\ud83d\\ude00x\"");
    CHECK_STR(json_text(j), "A/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x");
    j = good(
        "[\"a long text without any escape in its first part\\nand then \\\"one\\\"\",\"\\t\"]");
    CHECK_STR(json_text(json_at(j, 0)),
              "a long text without any escape in its first part\nand then \"one\"");
    CHECK_STR(json_text(json_at(j, 1)), "\t");
}

/* Runs of plain bytes are read sixteen at a time; every length and every place must do. */
TEST(strings_of_every_length_are_read_whole)
{
    str plain = STR("abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789");

    for (size_t len = 0; len < plain.len; len++) {
        for (size_t at = 0; at <= len; at++) {
            struct buf text = buf_in(check_arena()), expected = buf_in(check_arena());
            buf_printf(&text, "\"" STR_FMT "\\n" STR_FMT "\"", STR_ARG(str_slice(plain, 0, at)),
                       STR_ARG(str_slice(plain, at, len)));
            buf_printf(&expected, STR_FMT "\n" STR_FMT, STR_ARG(str_slice(plain, 0, at)),
                       STR_ARG(str_slice(plain, at, len)));
            /* A copy of exactly that size, so that a read beyond its end is found. */
            char *exact = memcpy(mem_alloc(text.len), text.at, text.len);
            const struct json *j;
            CHECK_OK(parse((str){ exact, text.len }, &j));
            CHECK_STR(json_text(j), buf_str(&expected).at);
            free(exact);
        }
    }
}

TEST(what_is_not_json_is_refused_with_place_and_expectation)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "line 1, column 1: expected a value, found the end of the text" },
        { "  ", "line 1, column 3: expected a value, found the end of the text" },
        { "{", "line 1, column 2: expected a name in double quotes, found the end of the text; the "
               "text seems to be cut off" },
        { "{\"a\":1,}", "line 1, column 8: expected a name in double quotes, found '}'; a comma "
                        "before it would be one too many" },
        { "[1,]",
          "line 1, column 4: expected a value, found ']'; a comma before it would be one too "
          "many" },
        { "[1 2]", "line 1, column 4: expected ',' or ']' after an element, found '2'" },
        { "{\"a\" 1}", "line 1, column 6: expected ':' after a name, found '1'" },
        { "{\"a\":1 \"b\"}", "line 1, column 8: expected ',' or '}' after a member, found '\"'" },
        { "{'a':1}", "line 1, column 2: expected a name in double quotes, found '''; JSON quotes "
                     "with \", not with '" },
        { "{\n  \"a\": tru\n}", "line 2, column 8: expected a value, found 't'; the only words of "
                                "JSON are null, true and false" },
        { "[\n\"\xc3\xa9\xc3\xa9\", x]", "line 2, column 7: expected a value, found 'x'" },
        { "// no", "line 1, column 1: expected a value, found '/'; JSON has no comments" },
        { "NaN", "line 1, column 1: expected a value, found 'N'; JSON knows null, but no NaN, "
                 "Infinity or undefined" },
        { "1 2", "line 1, column 3: expected the end of the text after the value, found '2'" },
        { "01", "line 1, column 2: expected no digit after a leading 0, found '1'" },
        { "-", "line 1, column 2: expected a digit, found the end of the text" },
        { "1.", "line 1, column 3: expected a digit, found the end of the text" },
        { "1e", "line 1, column 3: expected a digit, found the end of the text" },
        { "1e+x", "line 1, column 4: expected a digit, found 'x'" },
        { ".5", "line 1, column 1: expected a value, found '.'" },
        { "+1", "line 1, column 1: expected a value, found '+'" },
        { "1e309", "line 1, column 1: expected a number of at most 1.797e308, found '1'; it is "
                   "beyond the range of a double" },
        { "-1.8e308", "line 1, column 1: expected a number of at most 1.797e308, found '-'; it is "
                      "beyond the range of a double" },
        { "\"a",
          "line 1, column 3: expected '\"' at the end of a string, found the end of the text" },
        { "\"a\nb\"", "line 1, column 3: expected '\"' or a character, found byte 0x0a; control "
                      "characters and line ends are written as \\n, \\t or \\u00XX" },
        { "\"\\x\"", "line 1, column 3: expected one of \" \\ / b f n r t u after \\, found 'x'" },
        { "\"\\u12g4\"",
          "line 1, column 6: expected four hexadecimal digits after \\u, found 'g'" },
        { "\"\\ud800\"", "line 1, column 2: expected a character, found '\\'; it begins half of a "
                         "surrogate pair alone" },
        { "\"\\ud800\\u0041\"",
          "line 1, column 2: expected a character, found '\\'; it begins half "
          "of a surrogate pair alone" },
        { "\"\\udc00\"", "line 1, column 2: expected a character, found '\\'; it begins half of a "
                         "surrogate pair alone" },
        { "\"a\\u0000b\"", "line 1, column 3: expected a character other than NUL, found '\\'; "
                           "\\u0000 is not accepted in strings" },
        { "\"\xff\"", "line 1, column 2: expected valid UTF-8, found byte 0xff" },
        { "\"\xc0\xaf\"", "line 1, column 2: expected valid UTF-8, found byte 0xc0" },
        { "\"\xed\xa0\x80\"", "line 1, column 2: expected valid UTF-8, found byte 0xed" },
        { "\"\xf4\x90\x80\x80\"", "line 1, column 2: expected valid UTF-8, found byte 0xf4" },
        { "\"\\n\xe2\x82\"", "line 1, column 4: expected valid UTF-8, found byte 0xe2" },
        { "\xef\xbb\xbf{}", "line 1, column 1: expected a value, found a byte order mark; save the "
                            "text as UTF-8 without it" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct json *j;
        err e = parse(str_from(cases[i].text), &j);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, cases[i].message);
    }
}

TEST(a_name_may_stand_once_in_an_object)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "{\"a\":1,\"a\":2}",
          "line 1, column 8: expected each name once in an object, found /a a second time" },
        { "{\"x\":[0,{\"b\":[],\"c\":{\"d\":1},\"b\":2}]}",
          "line 1, column 29: expected each name once in an object, found /x/1/b a second time" },
        { "{\"a/b\":1,\"\\u0061/b\":2}",
          "line 1, column 22: expected each name once in an object, found /a~1b a second time" },
        { "[[],{\"\":1,\"\":1}]",
          "line 1, column 11: expected each name once in an object, found /1/ a second time" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct json *j;
        err e = parse(str_from(cases[i].text), &j);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, cases[i].message);
    }
}

/* Small objects are compared pairwise, larger ones through a table: the same answer at each size. */
TEST(a_duplicate_is_found_in_objects_of_any_size)
{
    for (int n = 2; n < 200; n++) {
        struct buf text = buf_in(check_arena());
        buf_byte(&text, '{');
        for (int i = 0; i < n; i++)
            buf_printf(&text, "\"name%d\":%d,", i, i);
        struct buf twice = text;
        twice.at = memcpy(arena_alloc(check_arena(), text.len + 64), text.at, text.len);
        twice.room = text.len + 64;
        buf_add(&text, STR("\"other\":0}"));
        buf_printf(&twice, "\"name%d\":0}", n / 2);

        const struct json *j;
        CHECK_OK(parse(buf_str(&text), &j));
        CHECK_INT(j->len, n + 1);
        CHECK_ERR(parse(buf_str(&twice), &j), ERR_INVALID);
    }
}

static str nested(int depth, char open, char close)
{
    struct buf text = buf_in(check_arena());
    for (int i = 0; i < depth; i++)
        buf_byte(&text, open);
    for (int i = 0; i < depth; i++)
        buf_byte(&text, close);
    return buf_str(&text);
}

TEST(depth_is_limited_where_the_limit_says)
{
    const struct json *j;
    CHECK_OK(parse(nested(64, '[', ']'), &j));
    err e = parse(nested(65, '[', ']'), &j);
    CHECK_ERR(e, ERR_INVALID);
    CHECK_STR(e->message, "line 1, column 65: expected at most 64 arrays and objects inside each "
                          "other, found one more");
    CHECK_ERR(parse(nested(1000000, '[', ']'), &j), ERR_INVALID);
    struct json_limits limits = { .depth_max = 68 };
    CHECK_OK(json_parse(check_arena(), nested(68, '[', ']'), &limits, &j));
}

TEST(size_is_limited_before_anything_is_read)
{
    const struct json *j;
    struct json_limits limits = { .bytes_max = 10 };
    CHECK_OK(json_parse(check_arena(), STR("[1,2,3,45]"), &limits, &j));
    err e = json_parse(check_arena(), STR("[1,2,3,456]"), &limits, &j);
    CHECK_ERR(e, ERR_TOO_LARGE);
    CHECK_STR(e->message, "expected at most 10 bytes of JSON, found 11");
}

TEST(what_we_have_printed_ourselves_may_be_deeper_and_longer_than_what_others_send)
{
    struct buf text = buf_in(check_arena());
    const struct json *j;

    CHECK_OK(json_parse_own(check_arena(), nested(1000, '[', ']'), &j));
    buf_byte(&text, '"');
    memset(buf_reserve(&text, JSON_BYTES_MAX), 'x', JSON_BYTES_MAX);
    text.len += JSON_BYTES_MAX;
    buf_byte(&text, '"');
    CHECK_ERR(parse(buf_str(&text), &j), ERR_TOO_LARGE);
    CHECK_OK(json_parse_own(check_arena(), buf_str(&text), &j));
    CHECK_INT(j->len, JSON_BYTES_MAX);
    CHECK_ERR(json_parse_own(check_arena(), STR("{"), &j), ERR_INTERNAL);
}

TEST(nul_is_accepted_only_on_request)
{
    const struct json *j;
    struct json_limits limits = { .nul_allowed = true };
    CHECK_OK(json_parse(check_arena(), STR("\"a\\u0000b\""), &limits, &j));
    CHECK_INT(j->len, 3);
    CHECK_STR(json_printed(check_arena(), j), "\"a\\u0000b\"");
}

TEST(kinds_of_numbers_are_told_by_how_they_are_written)
{
    CHECK_INT(good("12")->kind, JSON_INTEGER);
    CHECK_INT(good("-0")->kind, JSON_INTEGER);
    CHECK_INT(good("12.0")->kind, JSON_REAL);
    CHECK_INT(good("1e2")->kind, JSON_REAL);
}

/* More values than fit the stack's part of the scratch. */
TEST(large_containers_keep_every_value)
{
    struct buf text = buf_in(check_arena());
    buf_add(&text, STR("{\"list\":["));
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "%s{\"i\":%d}", i ? "," : "", i);
    buf_add(&text, STR("]}"));
    const struct json *list = json_get(good(buf_str(&text).at), "list");
    CHECK_INT(list->len, 5000);
    for (int i = 0; i < 5000; i++)
        CHECK_INT(json_int_or(json_at(list, (size_t)i), "i", -1), i);
}

/* Whatever prefix of a document arrives, it is refused and never read beyond. */
TEST(every_prefix_of_a_document_is_refused)
{
    str whole =
        STR("{\"a\":[1,-2.5e3,\"x\\u00e9\\n\",null,true,false,{\"b\":{}}],\"c\":\"\xe2\x82\xac\"}");
    for (size_t n = 0; n < whole.len; n++) {
        const struct json *j;
        char *exact = mem_alloc(n);
        memcpy(exact, whole.at, n);
        CHECK_ERR(parse((str){ exact, n }, &j), ERR_INVALID);
        free(exact);
    }
}

/* Two bytes of text are sixteen of a value: who has little memory counts those. */
TEST(values_may_take_no_more_memory_than_they_are_given)
{
    const struct json_limits limits = { .memory_max = 64 << 10 };
    struct buf text = buf_in(check_arena());
    struct arena *a = arena_new();
    const struct json *j;

    buf_add(&text, STR("[[0,0],0"));
    for (int i = 0; i < 4000; i++)
        buf_add(&text, STR(",0"));
    buf_add(&text, STR("]"));
    CHECK_OK(json_parse(a, buf_str(&text), &limits, &j));
    text.len--;
    for (int i = 0; i < 100000; i++)
        buf_add(&text, STR(",[0,0]"));
    buf_add(&text, STR("]"));
    arena_reset(a);
    err e = json_parse(a, buf_str(&text), &limits, &j);
    CHECK_ERR(e, ERR_TOO_LARGE);
    CHECK_HAS(e->message, "65536 bytes of memory");
    CHECK(a->bytes < 256 << 10);
    arena_free(a);
}
