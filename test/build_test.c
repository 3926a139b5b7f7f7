/* build_test.c: values made by hand, copies, and the writer. */
#include "json_help.h"
#include "json/json.h"

TEST(containers_grow_and_keep_what_they_hold)
{
    struct arena *a = check_arena();
    struct json array = json_array(), object = json_object();

    for (int i = 0; i < 1000; i++) {
        json_push(a, &array, json_int(a, i));
        json_put(a, &object, arena_printf(a, "m%d", i), json_bool(i & 1));
    }
    for (int i = 0; i < 1000; i++) {
        int64_t n;
        CHECK(json_to_int(json_at(&array, (size_t)i), &n));
        CHECK_INT(n, i);
        CHECK_INT(json_bool_or(&object, arena_printf(a, "m%d", i).at, !(i & 1)), i & 1);
    }
    CHECK(!json_at(&array, 1000));
}

TEST(a_copy_shares_nothing_with_the_original)
{
    struct arena *a = check_arena();
    struct arena *other = arena_new();

    char text[] = "{\"a\":[1,\"two\",{\"b\":null}],\"c\":2.50,\"d\":true}";
    const struct json *j = json_parsed(other, str_from(text));
    struct json copy = json_copy(a, j);
    memset(text, 'x', sizeof text - 1);
    arena_free(other);
    CHECK_STR(json_printed(a, &copy), "{\"a\":[1,\"two\",{\"b\":null}],\"c\":2.50,\"d\":true}");
}

TEST(members_of_another_kind_are_answered_by_what_stands_in)
{
    const struct json *j;
    CHECK_OK(
        json_parse(check_arena(), STR("{\"s\":\"x\",\"n\":7,\"b\":true,\"big\":1e30}"), NULL, &j));
    CHECK_STR(json_str(j, "s"), "x");
    CHECK_STR(json_str(j, "n"), "");
    CHECK_STR(json_str(j, "none"), "");
    CHECK_INT(json_int_or(j, "n", -1), 7);
    CHECK_INT(json_int_or(j, "s", -1), -1);
    CHECK_INT(json_int_or(j, "big", -1), -1);
    CHECK_INT(json_bool_or(j, "b", false), 1);
    CHECK_INT(json_bool_or(j, "s", true), 1);
    CHECK(!json_get(NULL, "x") && !json_get(json_get(j, "n"), "x"));
}

TEST(the_writer_puts_commas_where_they_belong)
{
    struct buf out = buf_in(check_arena());
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    json_write_name(&w, STR("a"));
    json_write_begin(&w, '[');
    json_write_int(&w, -9223372036854775807 - 1);
    json_write_bool(&w, true);
    json_write_null(&w);
    json_write_begin(&w, '{');
    json_write_end(&w, '}');
    json_write_begin(&w, '[');
    json_write_end(&w, ']');
    json_write_end(&w, ']');
    json_write_name(&w, STR("b\"c"));
    json_write_str(&w, STR("d\n"));
    json_write_name(&w, STR("e"));
    json_write_printed(&w, STR("[1]"));
    json_write_end(&w, '}');
    CHECK_STR(buf_str(&out), "{\"a\":[-9223372036854775808,true,null,{},[]],\"b\\\"c\":\"d\\n\","
                             "\"e\":[1]}");
}
