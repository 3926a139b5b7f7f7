/* diff_test.c: the patch between two documents. */
#include "json/diff.h"

#include "check.h"
#include "json/patch.h"
#include "json_help.h"

/* Applies a diff and checks that it leads to `to`, and that replacing the document whole would not
 * have been shorter. */
static void check_leads_to(struct arena *a, const struct json *from, const struct json *to,
                           const struct json *diff)
{
    struct json_patch_limits limits = { .operations_max = UINT32_MAX };
    struct json doc = json_copy(a, from);
    size_t whole = strlen("[{'op':'replace','path':'','value':}]") + json_print_size(to);
    err e = json_patch(a, &doc, diff, &limits);

    if (e || !json_equal(&doc, to))
        check_fail(__FILE__, __LINE__,
                   "from " STR_FMT "\nto   " STR_FMT "\nby   " STR_FMT "\ngives " STR_FMT,
                   STR_ARG(json_printed(a, from)), STR_ARG(json_printed(a, to)),
                   STR_ARG(json_printed(a, diff)), STR_ARG(e ? e->message : json_printed(a, &doc)));
    CHECK(json_print_size(diff) <= whole);
    CHECK((diff->len == 0) == json_equal(from, to));
}

/* ---- readable ---- */

/* One record of test/cases/diff.json. */
static void check_record(struct arena *a, const struct json *record)
{
    const struct json *from = json_get(record, "from"), *to = json_get(record, "to");
    struct json diff = json_diff(a, from, to, 0, NULL);

    CHECK_STR(json_printed(a, &diff), json_printed(a, json_get(record, "patch")).at);
    check_leads_to(a, from, to, &diff);
}

TEST(diff_of_equal_documents_is_empty)
{
    json_each_case("diff", "of equal documents is empty", check_record);
}

TEST(diff_of_objects_goes_member_by_member)
{
    json_each_case("diff", "of objects goes member by member", check_record);
}

TEST(diff_of_arrays_finds_what_was_inserted_removed_and_moved)
{
    json_each_case("diff", "of arrays finds what was inserted removed and moved", check_record);
}

TEST(diff_of_arrays_matches_objects_by_their_ids)
{
    json_each_case("diff", "of arrays matches objects by their ids", check_record);
}

/* ---- always correct ---- */

TEST(random_documents_are_turned_into_each_other)
{
    struct random r = random_start();

    for (int i = 0; i < 5000; i++) {
        struct arena *a = arena_new();
        struct json from = random_json(a, &r, 4, 8), to = random_json(a, &r, 4, 8);
        uint64_t steps = random_below(&r, 4) ? 0 : 1 + random_below(&r, 60);
        struct json diff = json_diff(a, &from, &to, steps, NULL);
        check_leads_to(a, &from, &to, &diff);
        arena_free(a);
    }
}

/* Arrays of few different elements, and of objects with ids: where matching and moving are hard. */
TEST(random_arrays_are_turned_into_each_other)
{
    struct random r = random_start();

    for (int i = 0; i < 5000; i++) {
        struct arena *a = arena_new();
        struct json sides[2] = { json_array(), json_array() };
        uint32_t kinds = 1 + random_below(&r, 12), with_ids = random_below(&r, 2);

        for (int s = 0; s < 2; s++) {
            for (uint32_t n = random_below(&r, 20); n > 0; n--) {
                struct json element = json_int(a, random_below(&r, kinds));
                if (with_ids) {
                    struct json object = json_object();
                    json_put(a, &object, STR("id"), json_int(a, random_below(&r, 200)));
                    json_put(a, &object, STR("text"), json_string(STR("a text of some length")));
                    json_put(a, &object, STR("n"), element);
                    element = object;
                }
                json_push(a, &sides[s], element);
            }
        }
        struct json diff = json_diff(a, &sides[0], &sides[1], 0, NULL);
        check_leads_to(a, &sides[0], &sides[1], &diff);
        arena_free(a);
    }
}

/* Changes some places of a document, as an agent would. */
static void mutate(struct arena *a, struct random *r, struct json *j)
{
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT) {
        *j = random_scalar(a, r);
        return;
    }
    if (j->kind == JSON_ARRAY && random_below(r, 3) == 0) {
        json_push(a, j, random_json(a, r, 2, 4));
        struct json *one = &j->items[random_below(r, j->len)], *last = &j->items[j->len - 1];
        struct json swapped = *one;
        *one = *last;
        *last = swapped;
    } else if (j->len > 0 && random_below(r, 6) == 0) {
        j->len--;
    } else if (j->len > 0) {
        uint32_t i = random_below(r, j->len);
        mutate(a, r, j->kind == JSON_ARRAY ? &j->items[i] : &j->members[i].value);
    }
}

TEST(random_changes_of_a_document_give_small_patches)
{
    struct random r = random_start();
    size_t documents = 0, patches = 0;

    for (int i = 0; i < 1000; i++) {
        struct arena *a = arena_new();
        struct json from = random_json(a, &r, 6, 10);
        struct json to = json_copy(a, &from);
        for (uint32_t n = random_below(&r, 5); n > 0; n--)
            mutate(a, &r, &to);
        struct json diff = json_diff(a, &from, &to, 0, NULL);
        check_leads_to(a, &from, &to, &diff);
        documents += json_print_size(&to);
        patches += json_print_size(&diff);
        arena_free(a);
    }
    check_note("patches are %zu%% of their documents", 100 * patches / documents);
    CHECK(patches < documents / 10);
}

/* ---- bounded ---- */

static struct json numbered(struct arena *a, int from, int count, int step)
{
    struct json doc = json_object(), *list = json_put(a, &doc, STR("list"), json_array());

    for (int i = 0; i < count; i++) {
        struct json element = json_object();
        json_put(a, &element, STR("n"), json_int(a, from + i * step));
        json_put(a, &element, STR("text"),
                 json_string(arena_printf(a, "element number %d", from + i * step)));
        json_push(a, list, element);
    }
    return doc;
}

TEST(diff_finds_one_inserted_among_twenty_thousand)
{
    struct arena *a = check_arena();
    struct json from = numbered(a, 1, 20000, 1), to = numbered(a, 0, 20001, 1);
    struct json diff = json_diff(a, &from, &to, 0, NULL);
    CHECK_STR(json_shown(a, &diff), "[{'op':'add','path':'/list/0','value':"
                                    "{'n':0,'text':'element number 0'}}]");
}

TEST_LIMIT(diff_of_twenty_thousand_different_elements_is_bounded, 5)
{
    struct arena *a = check_arena();
    struct json from = numbered(a, 0, 20000, 1), to = numbered(a, 100000, 20000, 3);
    struct json diff = json_diff(a, &from, &to, 0, NULL);
    check_leads_to(a, &from, &to, &diff);
}

TEST_LIMIT(diff_of_twenty_thousand_shuffled_elements_is_bounded, 5)
{
    struct arena *a = check_arena();
    struct random r = random_start();
    struct json from = numbered(a, 0, 20000, 1), to = json_copy(a, &from);
    struct json *items = to.members[0].value.items;

    for (uint32_t i = 19999; i > 0; i--) {
        uint32_t k = random_below(&r, i + 1);
        struct json swapped = items[i];
        items[i] = items[k];
        items[k] = swapped;
    }
    struct json diff = json_diff(a, &from, &to, 0, NULL);
    check_leads_to(a, &from, &to, &diff);
}

/* With steps for almost nothing the changed part is replaced, and still only that part. */
TEST(diff_replaces_whole_what_it_has_no_steps_for)
{
    struct arena *a = check_arena();
    struct json from = json_of(a, "{'a':{'x':'a long text','y':1},'b':{'x':'a long text','y':1},"
                                  "'c':'a text that is long enough to be worth it'}");
    struct json to = json_of(a, "{'a':{'x':'a long text','y':2},'b':{'x':'a long text','y':2},"
                                "'c':'a text that is long enough to be worth it'}");
    struct json diff = json_diff(a, &from, &to, 2, NULL);

    CHECK_STR(json_shown(a, &diff), "[{'op':'replace','path':'/a/y','value':2},"
                                    "{'op':'replace','path':'/b','value':"
                                    "{'x':'a long text','y':2}}]");
}

/* Names in another order, some gone and some new: more than are searched one by one. */
TEST(diff_of_wide_objects_pairs_members_by_name)
{
    struct arena *a = check_arena();
    struct json from = json_object(), to = json_object();

    for (int i = 0; i < 3000; i++) {
        json_put(a, &from, arena_printf(a, "name %d", i), json_int(a, i));
        json_put(a, &to, arena_printf(a, "name %d", 3009 - i), json_int(a, 3009 - i));
    }
    struct json diff = json_diff(a, &from, &to, 0, NULL);
    check_leads_to(a, &from, &to, &diff);
    CHECK_INT(diff.len, 20);
}

/* Beyond so many values documents are compared place by place; what comes of it is as true. */
TEST(random_diffs_of_very_many_values_lead_there)
{
    struct random r = random_start();

    for (int round = 0; round < 12; round++) {
        struct arena *a = arena_new();
        struct json from = json_object(), to;
        for (int i = 0; i < 40; i++) {
            struct json list = json_array();
            for (int k = 0; k < 3000; k++)
                json_push(a, &list, json_int(a, (int)random_below(&r, 10)));
            json_put(a, &from, arena_printf(a, "list %d", i), list);
        }
        to = json_copy(a, &from);
        for (uint32_t n = random_below(&r, 30); n > 0; n--) {
            struct json *list = &to.members[random_below(&r, 30)].value;
            list->items[random_below(&r, list->len)] = random_json(a, &r, 2, 3);
            if (random_below(&r, 3) == 0)
                list->len -= random_below(&r, 3);
            if (random_below(&r, 3) == 0)
                json_push(a, list, json_int(a, 7));
            if (random_below(&r, 9) == 0)
                json_put(a, &to, arena_printf(a, "new %u", (unsigned)n), json_null());
            if (random_below(&r, 9) == 0)
                to.len--;
        }
        struct json diff = json_diff(a, &from, &to, 0, NULL);
        check_leads_to(a, &from, &to, &diff);
        CHECK(diff.len < 500 && json_print_size(&diff) < json_print_size(&to) / 4);
        arena_free(a);
    }
}
