/* pointer_test.c: JSON Pointer. */
#include "json_help.h"
#include "json/json.h"
#include "json/pointer.h"

/* The document of RFC 6901 section 5, and a few names more. */
static const char document_text[] =
    "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,"
    "\"k\\\"l\":6,\" \":7,\"m~n\":8,\"deep\":{\"er\":[[],{\"\":{\"\":9}}]},\"~1\":10,\"0\":11}";

static const struct json *document(void)
{
    return json_parsed(check_arena(), str_from(document_text));
}

TEST(pointer_finds_the_value_it_names)
{
    static const struct {
        const char *pointer, *value;
    } cases[] = {
        { "/foo", "[\"bar\",\"baz\"]" },
        { "/foo/0", "\"bar\"" },
        { "/foo/1", "\"baz\"" },
        { "/", "0" },
        { "/a~1b", "1" },
        { "/c%d", "2" },
        { "/e^f", "3" },
        { "/g|h", "4" },
        { "/i\\j", "5" },
        { "/k\"l", "6" },
        { "/ ", "7" },
        { "/m~0n", "8" },
        { "/deep/er/0", "[]" },
        { "/deep/er/1//", "9" },
        { "/~01", "10" }, /* ~0 is read first: this is "~1", not "/" */
        { "/0", "11" },   /* of an object, so a name */
    };
    const struct json *doc = document(), *found;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_OK(json_pointer_get(check_arena(), doc, str_from(cases[i].pointer), &found));
        CHECK_STR(json_printed(check_arena(), found), cases[i].value);
    }
    CHECK_OK(json_pointer_get(check_arena(), doc, STR(""), &found));
    CHECK(found == doc);
}

TEST(pointer_that_leads_nowhere_says_how_far_it_got)
{
    static const struct {
        const char *pointer, *message;
    } cases[] = {
        { "/bar", "no value at \"/bar\": at \"\" is an object without a member \"bar\"" },
        { "/deep/ar/0", "no value at \"/deep/ar/0\": at \"/deep\" is an object without a member "
                        "\"ar\"" },
        { "/foo/2", "no value at \"/foo/2\": at \"/foo\" is an array of 2 without an element "
                    "\"2\"" },
        { "/foo/-", "no value at \"/foo/-\": at \"/foo\" is an array of 2 without an element "
                    "\"-\"" },
        { "/foo/01", "no value at \"/foo/01\": at \"/foo\" is an array of 2 without an element "
                     "\"01\"" },
        { "/a~1b/c", "no value at \"/a~1b/c\": at \"/a~1b\" is a value of kind integer, with "
                     "nothing inside" },
    };
    const struct json *doc = document(), *found;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        err e = json_pointer_get(check_arena(), doc, str_from(cases[i].pointer), &found);
        CHECK_ERR(e, ERR_NOT_FOUND);
        CHECK_STR(e->message, cases[i].message);
    }
}

TEST(pointer_that_is_malformed_is_invalid)
{
    static const struct {
        const char *pointer, *message;
    } cases[] = {
        { "foo", "JSON Pointer: expected nothing or '/' first, found \"foo\"" },
        { "#/foo", "JSON Pointer: expected nothing or '/' first, found \"#/foo\"" },
        { "/a/b~", "JSON Pointer: expected ~0 or ~1, found another '~' in the token \"b~\"" },
        { "/a~2b/c", "JSON Pointer: expected ~0 or ~1, found another '~' in the token \"a~2b\"" },
        { "/no/~~", "JSON Pointer: expected ~0 or ~1, found another '~' in the token \"~~\"" },
    };
    const struct json *found;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        err e = json_pointer_get(check_arena(), document(), str_from(cases[i].pointer), &found);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, cases[i].message);
    }
}

TEST(pointer_index_is_digits_without_leading_zeros)
{
    static const struct {
        const char *token;
        bool fits;
        uint32_t index;
    } cases[] = {
        { "0", true, 0 },           { "7", true, 7 },
        { "10", true, 10 },         { "4294967295", true, UINT32_MAX },
        { "4294967296", false, 0 }, { "99999999999999999999", false, 0 },
        { "", false, 0 },           { "-", false, 0 },
        { "-1", false, 0 },         { "+1", false, 0 },
        { "00", false, 0 },         { "01", false, 0 },
        { "1.0", false, 0 },        { "1 ", false, 0 },
        { "1e0", false, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t index = 0;
        CHECK_INT(json_pointer_index(str_from(cases[i].token), &index), cases[i].fits);
        CHECK_INT(index, cases[i].index);
    }
}

TEST(pointer_printed_and_parsed_is_the_same)
{
    static const char *const tokens[] = { "", "a", "~", "/", "~1", "~0~1//", "é\n", "12" };
    enum { COUNT = sizeof(tokens) / sizeof(*tokens) };
    struct buf text = buf_in(check_arena());
    struct json_pointer pointer;

    for (size_t i = 0; i < COUNT; i++)
        json_pointer_add(&text, str_from(tokens[i]));
    json_pointer_add_index(&text, 4000000000);
    CHECK_STR(buf_str(&text), "//a/~0/~1/~01/~00~01~1~1/é\n/12/4000000000");

    CHECK_OK(json_pointer_parse(check_arena(), buf_str(&text), &pointer));
    CHECK_INT(pointer.count, COUNT + 1);
    for (size_t i = 0; i < COUNT; i++)
        CHECK_STR(pointer.tokens[i], tokens[i]);
    CHECK_STR(pointer.tokens[COUNT], "4000000000");
}

TEST(pointer_steps_only_into_containers)
{
    const struct json *doc = document();

    CHECK(json_pointer_step(doc, STR("foo")) == json_get(doc, "foo"));
    CHECK(json_pointer_step(json_get(doc, "foo"), STR("1")) == json_at(json_get(doc, "foo"), 1));
    CHECK(json_pointer_step(json_get(doc, "foo"), STR("foo")) == NULL);
    CHECK(json_pointer_step(json_get(doc, "c%d"), STR("0")) == NULL);
}
