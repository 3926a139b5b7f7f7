/* merge_test.c: JSON Merge Patch. */
#include "json/patch.h"

#include "check.h"
#include "json_help.h"

struct merge_case {
    const char *doc, *patch, *expected;
};

static void check_merges(const struct merge_case *cases, size_t count)
{
    struct arena *a = check_arena();

    for (size_t i = 0; i < count; i++) {
        struct json doc = json_of(a, cases[i].doc), patch = json_of(a, cases[i].patch);
        CHECK_OK(json_merge(a, &doc, &patch, NULL));
        CHECK_STR(json_shown(a, &doc), cases[i].expected);
    }
}

TEST(merge_agrees_with_every_example_of_the_rfc)
{
    // clang-format off
    static const struct merge_case cases[] = {
        { "{'a':'b'}",            "{'a':'c'}",                 "{'a':'c'}"               },
        { "{'a':'b'}",            "{'b':'c'}",                 "{'a':'b','b':'c'}"       },
        { "{'a':'b'}",            "{'a':null}",                "{}"                      },
        { "{'a':'b','b':'c'}",    "{'a':null}",                "{'b':'c'}"               },
        { "{'a':['b']}",          "{'a':'c'}",                 "{'a':'c'}"               },
        { "{'a':'c'}",            "{'a':['b']}",               "{'a':['b']}"             },
        { "{'a':{'b':'c'}}",      "{'a':{'b':'d','c':null}}",  "{'a':{'b':'d'}}"         },
        { "{'a':[{'b':'c'}]}",    "{'a':[1]}",                 "{'a':[1]}"               },
        { "['a','b']",            "['c','d']",                 "['c','d']"               },
        { "{'a':'b'}",            "['c']",                     "['c']"                   },
        { "{'a':'foo'}",          "null",                      "null"                    },
        { "{'a':'foo'}",          "'bar'",                     "'bar'"                   },
        { "{'e':null}",           "{'a':1}",                   "{'e':null,'a':1}"        },
        { "[1,2]",                "{'a':'b','c':null}",        "{'a':'b'}"               },
        { "{}",                   "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"         },
    };
    // clang-format on
    check_merges(cases, sizeof cases / sizeof cases[0]);
}

TEST(merge_keeps_members_in_their_places_and_appends_new_ones)
{
    // clang-format off
    static const struct merge_case cases[] = {
        { "{'a':1,'b':2,'c':3}",     "{'c':9,'a':8}",                "{'a':8,'b':2,'c':9}"     },
        { "{'a':1,'b':2,'c':3,'d':4}", "{'d':null,'x':1,'a':null}",  "{'b':2,'c':3,'x':1}"     },
        { "{'a':{'x':1},'b':2}",     "{'a':{'y':2}}",                "{'a':{'x':1,'y':2},'b':2}" },
        { "{'a':1}",                 "{'z':{'y':null,'x':1}}",       "{'a':1,'z':{'x':1}}"     },
        { "{'a':1}",                 "{}",                           "{'a':1}"                 },
        { "3",                       "{}",                           "{}"                      },
        { "{'a':[{'b':null}]}",      "{'a':[null,{'b':null}]}",      "{'a':[null,{'b':null}]}" },
    };
    // clang-format on
    check_merges(cases, sizeof cases / sizeof cases[0]);
}

TEST(merge_that_makes_the_document_too_large_changes_nothing)
{
    struct arena *a = check_arena();
    struct json doc = json_of(a, "{'a':1,'b':{'c':[1,2]},'d':null}");
    struct json patch = json_of(a, "{'b':{'c':null,'x':'0123456789'},'a':null,'e':{'f':1}}");
    str before = json_printed(a, &doc);
    struct json_patch_limits limits = { .result_bytes_max = 44 };

    err e = json_merge(a, &doc, &patch, &limits);
    CHECK_ERR(e, ERR_TOO_LARGE);
    CHECK_STR(e->message, "merge patch: the document would have 45 bytes, at most 44 are allowed");
    CHECK(str_eq(json_printed(a, &doc), before));

    limits.result_bytes_max = 45;
    CHECK_OK(json_merge(a, &doc, &patch, &limits));
    CHECK_STR(json_shown(a, &doc), "{'b':{'x':'0123456789'},'d':null,'e':{'f':1}}");
}

TEST(merge_refuses_a_patch_that_is_too_deep)
{
    struct arena *a = check_arena();
    struct json doc = json_of(a, "{'a':1}"), patch = json_of(a, "{'b':{'c':[1]}}");
    struct json_patch_limits limits = { .depth_max = 2 };

    CHECK_ERR(json_merge(a, &doc, &patch, &limits), ERR_TOO_LARGE);
    CHECK_STR(json_shown(a, &doc), "{'a':1}");
    limits.depth_max = 3;
    CHECK_OK(json_merge(a, &doc, &patch, &limits));
}

/* What the RFC says, on values that nobody edits. */
static struct json merged(struct arena *a, const struct json *target, const struct json *patch)
{
    struct json result = json_object();

    if (patch->kind != JSON_OBJECT)
        return *patch;
    for (uint32_t i = 0; target && target->kind == JSON_OBJECT && i < target->len; i++) {
        const struct json *change = json_find(patch, json_name(&target->members[i]));
        if (!change)
            json_put(a, &result, json_name(&target->members[i]), target->members[i].value);
        else if (change->kind != JSON_NULL)
            json_put(a, &result, json_name(&target->members[i]),
                     merged(a, &target->members[i].value, change));
    }
    for (uint32_t i = 0; i < patch->len; i++) {
        str name = json_name(&patch->members[i]);
        bool known = json_is(target, JSON_OBJECT) && json_find(target, name);
        if (!known && patch->members[i].value.kind != JSON_NULL)
            json_put(a, &result, name, merged(a, NULL, &patch->members[i].value));
    }
    return result;
}

/* A patch that removes much. */
static struct json random_merge(struct arena *a, struct random *r)
{
    struct json patch = random_json(a, r, 4, 12);

    for (uint32_t i = 0; patch.kind == JSON_OBJECT && i < patch.len; i++)
        if (random_below(r, 2))
            patch.members[i].value = json_null();
    return patch;
}

TEST(random_merges_do_what_the_rfc_says)
{
    struct random r = random_start();

    for (int i = 0; i < 5000; i++) {
        struct arena *a = arena_new();
        struct json from = random_json(a, &r, 4, 12), patch = random_merge(a, &r);
        struct json doc = json_copy(a, &from), expected = merged(a, &from, &patch);

        CHECK_OK(json_merge(a, &doc, &patch, NULL));
        str text = json_printed(a, &expected);
        CHECK_STR(json_printed(a, &doc), text.at);
        arena_free(a);
    }
}

TEST(random_merges_that_are_too_large_leave_every_byte_as_it_was)
{
    struct random r = random_start();

    for (int i = 0; i < 5000; i++) {
        struct arena *a = arena_new();
        struct json from = random_json(a, &r, 4, 12), patch = random_merge(a, &r);
        struct json doc = json_copy(a, &from), expected = merged(a, &from, &patch);
        struct json_patch_limits limits = { .result_bytes_max = json_print_size(&expected) - 1 };

        if (limits.result_bytes_max > 0) {
            CHECK_ERR(json_merge(a, &doc, &patch, &limits), ERR_TOO_LARGE);
            CHECK_STR(json_printed(a, &doc), json_printed(a, &from).at);
        }
        arena_free(a);
    }
}

TEST(merge_leaves_nothing_of_the_patch_in_the_document)
{
    struct arena *a = check_arena();
    char text[] = "{\"name\":{\"k\":[\"text\",12.5]}}";
    struct json doc = json_of(a, "{}");
    const struct json *patch = json_parsed(a, str_from(text));

    CHECK_OK(json_merge(a, &doc, patch, NULL));
    memset(text, '#', sizeof text);
    CHECK_STR(json_shown(a, &doc), "{'name':{'k':['text',12.5]}}");
}

/* Half of the members of a wide object go, half are new; searching for each would take minutes. */
TEST_LIMIT(merge_of_wide_objects_is_not_quadratic, 5)
{
    enum { WIDTH = 200000 };
    struct arena *a = check_arena();
    struct json doc = json_object(), patch = json_object();

    for (int i = 0; i < WIDTH; i++) {
        json_put(a, &doc, arena_printf(a, "k%d", i), json_int(a, i));
        json_put(a, &patch, arena_printf(a, "k%d", WIDTH + WIDTH / 2 - 1 - i),
                 i % 2 ? json_null() : json_bool(true));
    }
    CHECK_OK(json_merge(a, &doc, &patch, NULL));
    CHECK_INT(doc.len, WIDTH / 2 + WIDTH / 4 + WIDTH / 4);
}
