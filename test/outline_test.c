/* outline_test.c: what of a value fits, and that what is shown is whole. */
#include "json/outline.h"
#include "json_help.h"

TEST(characters_are_counted_and_not_bytes)
{
    static const struct {
        const char *text;
        int chars, length;
    } cases[] = {
        { "null", 4, 0 },      { "12.50", 5, 0 },
        { "'abc'", 5, 3 },     { "'été'", 5, 3 },
        { "'a\\n'", 5, 2 },    { "[1,2,3]", 7, 3 },
        { "{'é':'è'}", 9, 1 }, { "{'a':[true,{}]}", 15, 1 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json value = json_of(check_arena(), cases[i].text);
        CHECK_INT(outline_chars(&value), cases[i].chars);
        CHECK_INT(outline_length(&value), cases[i].length);
    }
}

TEST(the_parts_of_an_object_are_its_members_and_of_others_themselves)
{
    struct json object = json_of(check_arena(), "{'a/b':1,'c':[1,2]}");
    struct json array = json_of(check_arena(), "[1,2]");
    struct outline_part *parts;

    CHECK_INT(outline_parts(check_arena(), STR("/x"), &object, &parts), 2);
    CHECK_STR(parts[0].pointer, "/x/a~1b");
    CHECK_STR(parts[1].pointer, "/x/c");
    CHECK_INT(parts[1].chars, 5);
    CHECK_INT(outline_parts(check_arena(), STR("/x"), &array, &parts), 1);
    CHECK_STR(parts[0].pointer, "/x");
    CHECK(parts[0].value == &array);
}

/* Which of {a: 10, b: 30, c: 10, d: 20 characters} are shown. */
TEST(the_smallest_parts_are_shown_and_the_first_of_equal_ones)
{
    static const struct {
        int most;
        const char *shown;
    } cases[] = {
        { 1000, "abcd" }, { 78, "abcd" }, { 77, "acd" }, { 46, "acd" },
        { 45, "ac" },     { 24, "ac" },   { 23, "a" },   { 11, "" },
    };
    struct json value = json_of(
        check_arena(),
        "{'a':'12345678','b':'1234567890123456789012345678','c':'12345678','d':'123456789012345678'}");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf shown = buf_in(check_arena());
        struct outline_part *parts;
        size_t count = outline_parts(check_arena(), STR(""), &value, &parts);
        size_t cut = outline_choose(check_arena(), parts, count, 0, (size_t)cases[i].most);
        for (size_t p = 0; p < count; p++)
            if (parts[p].shown)
                buf_byte(&shown, parts[p].pointer.at[1]);
        CHECK_STR(buf_str(&shown), cases[i].shown);
        CHECK_INT(cut, count - shown.len);
    }
}

/* Whatever the value and the limit: what is shown fits, and one more would not have. */
TEST(what_is_shown_fits_and_no_more_would)
{
    struct random r = random_start();

    for (int round = 0; round < 2000; round++) {
        struct json value = random_json(check_arena(), &r, 3, 9);
        size_t most = random_below(&r, 120), used = 0, smallest_cut = SIZE_MAX;
        struct outline_part *parts;
        size_t count = outline_parts(check_arena(), STR("/p"), &value, &parts);

        outline_choose(check_arena(), parts, count, 4, most);
        for (size_t i = 0; i < count; i++) {
            size_t cost = parts[i].chars + parts[i].pointer.len + 4;
            if (parts[i].shown)
                used += cost;
            else if (cost < smallest_cut)
                smallest_cut = cost;
        }
        CHECK(used <= most);
        CHECK(smallest_cut == SIZE_MAX || used + smallest_cut > most);
    }
}
