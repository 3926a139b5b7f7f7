/* equal_test.c: deep equality, and a hash that agrees with it. */
#include "json_help.h"
#include "json/member.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* JSON with single quotes, to be legible in C. */
static const struct json *parse(const char *text)
{
    return json_parsed(check_arena(), quotes_double(check_arena(), text));
}

TEST(equal_values_are_equal_and_hash_alike)
{
    static const char *const pairs[][2] = {
        { "null", "null" },
        { "true", "true" },
        { "1", "1.0" },
        { "[1e2,-0]", "[100,0]" },
        { "'text'", "'te\\u0078t'" },
        { "''", "''" },
        { "[]", "[ ]" },
        { "{}", "{ }" },
        { "[1,[2,[3]]]", "[1,[2,[3.0]]]" },
        { "{'a':1,'b':2}", "{'b':2,'a':1}" },
        { "{'a':1,'b':2,'c':3,'d':4}", "{'a':1,'c':3,'d':4,'b':2}" },
        { "{'a':{'x':1,'y':[{'p':1,'q':2}]},'b':null}",
          "{'b':null,'a':{'y':[{'q':2.0,'p':1}],'x':1}}" },
        { "{'':0}", "{'':0}" },
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const struct json *a = parse(pairs[i][0]), *b = parse(pairs[i][1]);
        CHECK(json_equal(a, a));
        if (!json_equal(a, b) || !json_equal(b, a))
            check_fail(__FILE__, __LINE__, "%s is not %s", pairs[i][0], pairs[i][1]);
        if (json_hash(a) != json_hash(b))
            check_fail(__FILE__, __LINE__, "%s and %s hash differently", pairs[i][0], pairs[i][1]);
    }
}

/* No two of these are equal, and their hashes are not either. */
TEST(different_values_are_told_apart)
{
    static const char *const values[] = {
        "null",
        "false",
        "true",
        "0",
        "1",
        "1.5",
        "''",
        "'0'",
        "'a'",
        "'A'",
        "'null'",
        "[]",
        "[null]",
        "[0]",
        "[[]]",
        "[1,2]",
        "[2,1]",
        "[1,2,null]",
        "[[1],2]",
        "{}",
        "{'a':1}",
        "{'a':2}",
        "{'b':1}",
        "{'a':1,'b':2}",
        "{'a':2,'b':1}",
        "{'a':1,'c':2}",
        "{'a':{}}",
        "{'a':[]}",
        "[{'a':1}]",
    };
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t k = 0; k < COUNT(values); k++) {
            const struct json *a = parse(values[i]), *b = parse(values[k]);
            if (json_equal(a, b) != (i == k))
                check_fail(__FILE__, __LINE__, "%s and %s: equal is wrong", values[i], values[k]);
            if ((json_hash(a) == json_hash(b)) != (i == k))
                check_fail(__FILE__, __LINE__, "%s and %s: hash is wrong", values[i], values[k]);
        }
}

/* Members first, first + step, first + 2 step … of n, going round. */
static struct json object_of(size_t n, size_t first, size_t step)
{
    struct arena *a = check_arena();
    struct json object = json_object();
    for (size_t i = 0; i < n; i++) {
        size_t number = (first + i * step) % n;
        str name = arena_printf(a, "name_%zu", number);
        json_put(a, &object, name, json_int(a, (int64_t)number));
    }
    return object;
}

/* Small objects are searched and large ones sorted: both sides of that edge. */
TEST(equal_takes_members_in_any_order_at_any_size)
{
    static const size_t sizes[] = { 1, 2, 3, 63, 64, 65, 66, 200, 1009 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t n = sizes[i];
        struct json plain = object_of(n, 0, 1), reversed = object_of(n, n - 1, n - 1);
        struct json turned = object_of(n, n / 2, 1);
        CHECK(json_equal(&plain, &reversed) && json_equal(&reversed, &turned));
        CHECK_INT(json_hash(&plain), json_hash(&reversed));
        CHECK_INT(json_hash(&plain), json_hash(&turned));

        struct json_member *changed = &reversed.members[n / 3];
        struct json_member kept = *changed;
        changed->value = json_null();
        CHECK(!json_equal(&plain, &reversed) && !json_equal(&reversed, &turned));
        *changed = kept;
        member_name(changed, STR("other"));
        CHECK(!json_equal(&plain, &reversed) && !json_equal(&reversed, &turned));
    }
}

/* Sixty thousand members backwards, and then with hashes that are all the same, as somebody who
 * knows the hash could choose names: the square of it would take minutes. */
TEST_LIMIT(equal_of_large_shuffled_objects_is_quick, 5)
{
    size_t n = 60000;
    struct arena *arena = check_arena();
    struct json sides[2] = { json_object(), json_object() };
    for (int side = 0; side < 2; side++) {
        sides[side].len = (uint32_t)n;
        sides[side].members = ARENA_ARRAY(arena, struct json_member, n);
        for (size_t i = 0; i < n; i++) {
            str name = arena_printf(arena, "name_%zu", side ? n - 1 - i : i);
            member_name(&sides[side].members[i], name);
            sides[side].members[i].value = json_bool(true);
        }
    }
    CHECK(json_equal(&sides[0], &sides[1]));
    for (size_t i = 0; i < n; i++)
        sides[0].members[i].hash = sides[1].members[i].hash = 7;
    CHECK(json_equal(&sides[0], &sides[1]));

    struct json_member *last = &sides[1].members[n - 1], kept = *last;
    member_name(last, STR("other!")); /* as long as name_0 */
    last->hash = 7;
    CHECK(!json_equal(&sides[0], &sides[1]));
    *last = kept;
    sides[1].members[n / 2].value = json_bool(false);
    CHECK(!json_equal(&sides[0], &sides[1]));
}
