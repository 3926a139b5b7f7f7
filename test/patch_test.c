/* patch_test.c: JSON Patch, in place, whole or not at all. */
#define _GNU_SOURCE /* memmem */
#include "json/patch.h"

#include "check.h"
#include "json_help.h"

/* ---- the public suite ---- */

/* Takes one element off the text of an array. Some records of the suite are malformed on purpose,
 * so the file as a whole is no JSON to a strict parser. */
static bool next_record(str *rest, str *record)
{
    size_t start = str_find(*rest, '{'), depth = 0, i = start;
    bool in_string = false;

    for (; i < rest->len; i++) {
        char c = rest->at[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']') && --depth == 0)
            break;
    }
    if (i >= rest->len)
        return false;
    *record = str_slice(*rest, start, i + 1);
    *rest = str_slice(*rest, i + 1, rest->len);
    return true;
}

/* Whether a record behaves; one that is to fail may fail in the parser already. */
static bool record_behaves(struct arena *a, str text)
{
    const struct json *record;
    if (json_parse(a, text, NULL, &record))
        return memmem(text.at, text.len, "\"error\"", 7) != NULL;

    const struct json *expected = json_get(record, "expected");
    struct json doc = json_copy(a, json_get(record, "doc"));
    err e = json_patch(a, &doc, json_get(record, "patch"), NULL);
    if (e)
        return json_get(record, "error") && json_equal(&doc, json_get(record, "doc"));
    return !json_get(record, "error") && (!expected || json_equal(&doc, expected));
}

TEST(patch_behaves_as_the_public_suite_says)
{
    static const char *const files[] = { "tests.json", "spec_tests.json" };
    const char *folder = check_suite("json-patch-tests");
    struct arena *a = check_arena();
    int enabled = 0, disabled = 0;

    for (int f = 0; f < 2; f++) {
        str rest = check_read(arena_printf(a, "%s/%s", folder, files[f]).at), record;
        rest = str_slice(rest, str_find(rest, '[') + 1, rest.len);
        while (next_record(&rest, &record)) {
            if (memmem(record.at, record.len, "\"disabled\": true", 16))
                disabled++;
            else
                enabled++;
            if (!record_behaves(a, record))
                check_fail(__FILE__, __LINE__, "%s: " STR_FMT, files[f], STR_ARG(record));
        }
    }
    check_note("%d enabled and %d disabled records behave", enabled, disabled);
    CHECK_INT(enabled, 108);
}

/* ---- what operations do ---- */

/* One record of test/cases/patch.json: an expected document, or how the patch is refused. */
static void check_record(struct arena *a, const struct json *record)
{
    struct json doc = json_copy(a, json_get(record, "doc"));
    const struct json *expected = json_get(record, "expected");
    err e = json_patch(a, &doc, json_get(record, "patch"), NULL);
    str found = json_printed(a, &doc);

    if (expected) {
        CHECK_OK(e);
        CHECK_STR(found, json_printed(a, expected).at);
        return;
    }
    CHECK(e != NULL);
    CHECK_STR(e->message, arena_copy(a, json_str(record, "message")).at);
    CHECK(str_eq(str_from(error_kind_info(e->kind)->name), json_str(record, "kind")));
    CHECK_STR(arena_printf(a, "{" STR_FMT "}", STR_ARG(e->members)),
              json_printed(a, json_get(record, "members")).at);
    CHECK_STR(found, json_printed(a, json_get(record, "doc")).at);
}

TEST(patch_keeps_the_order_of_members)
{
    json_each_case("patch", "keeps the order of members", check_record);
}

TEST(patch_works_on_whole_documents_and_within_them)
{
    json_each_case("patch", "works on whole documents and within them", check_record);
}

/* Names and values are slices of the patch's text until they are copied. */
TEST(patch_leaves_nothing_of_itself_in_the_document)
{
    struct arena *a = check_arena();
    char text[] = "[{\"op\":\"add\",\"path\":\"/name\",\"value\":{\"k\":[\"text\",12.5]}}]";
    struct json doc = json_of(a, "{}");
    const struct json *patch = json_parsed(a, str_from(text));

    CHECK_OK(json_patch(a, &doc, patch, NULL));
    memset(text, '#', sizeof text);
    CHECK_STR(json_shown(a, &doc), "{'name':{'k':['text',12.5]}}");
}

/* ---- what is refused, and in which words ---- */

TEST(patch_says_where_a_path_ends)
{
    json_each_case("patch", "says where a path ends", check_record);
}

TEST(patch_says_where_a_test_differs)
{
    json_each_case("patch", "says where a test differs", check_record);
}

TEST(patch_says_what_is_malformed)
{
    json_each_case("patch", "says what is malformed", check_record);
}

/* A path is text from outside: neither it nor a value may fill the log. */
TEST(patch_cuts_long_texts_in_its_messages)
{
    struct arena *a = check_arena();
    char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';

    struct json doc = json_object();
    json_put(a, &doc, STR("a"), json_string(str_from(long_name)));
    struct json patch = json_of(
        a, arena_printf(a, "[{'op':'test','path':'/a','value':1},{'op':'remove','path':'/%s'}]",
                        long_name)
               .at);
    CHECK(json_patch(a, &doc, &patch, NULL)->message.len < 500);
    patch.items++;
    patch.len--;
    CHECK(json_patch(a, &doc, &patch, NULL)->message.len < 500);
}

/* ---- limits ---- */

TEST(patch_stops_at_its_limits)
{
    static const struct {
        const char *doc, *patch;
        struct json_patch_limits fits, refuses;
    } cases[] = {
        { "[]",
          "[{'op':'add','path':'/-','value':1},{'op':'add','path':'/-','value':1}]",
          { .operations_max = 2 },
          { .operations_max = 1 } },
        { "{'a':'1234'}",
          "[{'op':'copy','from':'/a','path':'/b'},{'op':'copy','from':'/a','path':'/c'}]",
          { .copy_bytes_max = 12 },
          { .copy_bytes_max = 11 } },
        { "{'a':1}",
          "[{'op':'add','path':'/b','value':'xyz'}]",
          { .result_bytes_max = 17 },
          { .result_bytes_max = 16 } },
        { "{'a':{}}",
          "[{'op':'add','path':'/a/b','value':[1]}]",
          { .depth_max = 3 },
          { .depth_max = 2 } },
        { "{'a':{},'b':{'c':[]}}",
          "[{'op':'move','from':'/b','path':'/a/b'}]",
          { .depth_max = 4 },
          { .depth_max = 3 } },
        { "{'a':{'b':1}}",
          "[{'op':'copy','from':'','path':'/a/c'}]",
          { .depth_max = 4 },
          { .depth_max = 3 } },
        { "1",
          "[{'op':'replace','path':'','value':[[]]}]",
          { .depth_max = 2 },
          { .depth_max = 1 } },
    };
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json doc = json_of(a, cases[i].doc), patch = json_of(a, cases[i].patch);
        CHECK_ERR(json_patch(a, &doc, &patch, &cases[i].refuses), ERR_TOO_LARGE);
        CHECK_STR(json_shown(a, &doc), cases[i].doc);
        CHECK_OK(json_patch(a, &doc, &patch, &cases[i].fits));
    }
}

/* Each copies the document into itself: thirty of them would be a gigabyte. */
TEST(patch_that_doubles_the_document_again_and_again_is_refused)
{
    struct arena *a = check_arena();
    struct json doc = json_of(a, "[1]"), patch = json_array();
    struct json copy = json_of(a, "{'op':'copy','from':'','path':'/-'}");

    for (int i = 0; i < 30; i++)
        json_push(a, &patch, copy);
    CHECK_ERR(json_patch(a, &doc, &patch, NULL), ERR_TOO_LARGE);
    CHECK_STR(json_shown(a, &doc), "[1]");
}

/* Which index is that of an object is looked for among all of those that were asked: whoever makes
 * many of them, inside each other, pays for that. */
TEST(patch_that_walks_through_many_wide_objects_again_and_again_is_refused)
{
    enum { CHAINS = 40, DEPTH = 60, WIDTH = 65, OPERATIONS = 1000 };
    struct arena *a = check_arena();
    struct json doc = json_object(), patch = json_array();

    for (int c = 0; c < CHAINS; c++) {
        struct json chain = json_null();
        for (int d = 0; d < DEPTH; d++) {
            struct json around = json_object();
            json_put(a, &around, STR("a"), chain);
            for (int i = 1; i < WIDTH; i++)
                json_put(a, &around, arena_printf(a, "%d", i), json_null());
            chain = around;
        }
        json_put(a, &doc, arena_printf(a, "c%d", c), chain);
    }
    for (int i = 0; i < OPERATIONS; i++) {
        struct json op = json_object();
        struct buf path = buf_in(a);
        buf_printf(&path, "/c%d", i < CHAINS ? i : 0);
        for (int d = 0; d < DEPTH; d++)
            buf_add(&path, STR("/a"));
        json_put(a, &op, STR("op"), json_string(STR("test")));
        json_put(a, &op, STR("path"), json_string(buf_str(&path)));
        json_put(a, &op, STR("value"), json_null());
        json_push(a, &patch, op);
    }
    CHECK_ERR(json_patch(a, &doc, &patch, NULL), ERR_TOO_LARGE);
}

/* ---- whole or not at all ---- */

/* A path to some place in the document, now and then to one that is not there. */
static str random_path(struct arena *a, struct random *r, const struct json *doc)
{
    struct json at = *doc;
    struct buf path = buf_in(a);

    while ((at.kind == JSON_ARRAY || at.kind == JSON_OBJECT) && random_below(r, 5)) {
        if (at.len == 0 || random_below(r, 30) == 0) {
            buf_add(&path, random_below(r, 2) ? STR("/-") : STR("/b"));
            break;
        }
        uint32_t i = random_below(r, at.len);
        if (at.kind == JSON_ARRAY)
            buf_printf(&path, "/%u", (unsigned)i);
        else
            buf_printf(&path, "/" STR_FMT, STR_ARG(json_name(&at.members[i])));
        at = at.kind == JSON_ARRAY ? at.items[i] : at.members[i].value;
    }
    return buf_str(&path);
}

static struct json random_patch(struct arena *a, struct random *r, const struct json *doc)
{
    static const char *const names[] = { "add", "remove", "replace", "move", "copy", "add" };
    struct json patch = json_array();

    for (uint32_t n = 1 + random_below(r, 12); n > 0; n--) {
        struct json op = json_object();
        const char *name = names[random_below(r, sizeof names / sizeof names[0])];
        json_put(a, &op, STR("op"), json_string(str_from(name)));
        json_put(a, &op, STR("path"), json_string(random_path(a, r, doc)));
        json_put(a, &op, STR("from"), json_string(random_path(a, r, doc)));
        json_put(a, &op, STR("value"), random_json(a, r, 2, 4));
        json_push(a, &patch, op);
    }
    return patch;
}

/* Paths are made for the document as it was, so many patches fail on their way; the others are made
 * to fail at their end. */
TEST(random_patches_that_fail_leave_every_byte_as_it_was)
{
    enum { ROUNDS = 5000 };
    struct random r = random_start();
    struct json never = json_of(check_arena(), "{'op':'test','path':'','value':'never'}");
    int steps = 0, passed = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct arena *a = arena_new();
        struct json doc = random_json(a, &r, 4, 7), patch;
        doc = json_copy(a, &doc);
        str before = json_printed(a, &doc);

        for (int k = 0; k < 4; k++) {
            patch = random_patch(a, &r, &doc);
            json_push(a, &patch, never);
            err e = json_patch(a, &doc, &patch, NULL);
            CHECK(e != NULL);
            CHECK_STR(json_printed(a, &doc), before.at);
            if (e->kind == ERR_CONFLICT) {
                patch.len--;
                passed++;
                steps += (int)patch.len;
                CHECK_OK(json_patch(a, &doc, &patch, NULL));
                before = json_printed(a, &doc);
            }
        }
        arena_free(a);
    }
    check_note("%d of %d patches failed at their end only, after %d operations", passed, 4 * ROUNDS,
               steps);
    CHECK(passed > ROUNDS / 2 && passed < 3 * ROUNDS);
}

/* ---- cost ---- */

static struct json wide_document(struct arena *a, int tasks)
{
    struct json doc = json_of(a, "{'tasks':[],'log':[],'version':0}");

    for (int i = 0; i < tasks; i++) {
        struct json task = json_of(
            a, arena_printf(a,
                            "{'id':%d,'title':'a task that somebody has to do','status':'open',"
                            "'tags':['x','y']}",
                            i)
                   .at);
        json_push(a, &doc.members[0].value, task);
    }
    return json_copy(a, &doc);
}

TEST(ten_thousand_small_patches_do_not_copy_a_large_document)
{
    struct arena *a = arena_new(), *patches = arena_new();
    struct json doc = wide_document(a, 1300);
    size_t size = json_print_size(&doc), before = a->bytes;

    for (int i = 0; i < 10000; i++) {
        struct json patch =
            json_of(patches,
                    arena_printf(patches,
                                 "[{'op':'replace','path':'/tasks/%d/status','value':'done'},"
                                 "{'op':'replace','path':'/version','value':%d}%s]",
                                 i % 1300, i,
                                 i % 2 ? ",{'op':'add','path':'/log/-','value':'entry'}"
                                       : ",{'op':'add','path':'/tasks/0/x','value':1}")
                        .at);
        CHECK_OK(json_patch(a, &doc, &patch, NULL));
        arena_reset(patches);
    }
    size_t grown = a->bytes - before;
    check_note("document of %zu bytes, %zu bytes of memory for each patch", size, grown / 10000);
    CHECK(size > 100000);
    CHECK(grown / 10000 < 2000);
    CHECK_INT(json_get(&doc, "log")->len, 5000);
    arena_free(a);
    arena_free(patches);
}

/* A vector that gave up its spare room when it shrinks would be copied by every second patch. */
TEST(adding_and_removing_at_a_power_of_two_does_not_copy_each_time)
{
    enum { WIDTH = 1 << 14 };
    struct arena *a = arena_new();
    struct json doc = json_array();
    struct json add = json_of(a, "[{'op':'add','path':'/-','value':0}]");
    struct json take = json_of(a, arena_printf(a, "[{'op':'remove','path':'/%d'}]", WIDTH).at);

    for (int i = 0; i < WIDTH; i++)
        CHECK_OK(json_patch(a, &doc, &add, NULL));
    size_t before = a->bytes;
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(json_patch(a, &doc, &add, NULL));
        CHECK_OK(json_patch(a, &doc, &take, NULL));
    }
    CHECK(a->bytes - before < 1000 * 2000 + 4 * WIDTH * sizeof(struct json));
    CHECK_INT(doc.len, WIDTH);
    arena_free(a);
}

/* One operation of a patch never depends on what was remembered for those before it: a wide object,
 * whose members are found by an index, comes out as from patches of one operation each. */
TEST(random_operations_on_a_wide_object_are_those_of_many_patches)
{
    static const char *const forms[] = {
        "{'op':'add','path':'/w/n%u','value':1}",
        "{'op':'remove','path':'/w/n%u'}",
        "{'op':'replace','path':'/w/n%u','value':{'a':2}}",
        "{'op':'move','from':'/w/n%u','path':'/w/m'}",
        "{'op':'copy','from':'/w/n%u','path':'/w/c'}",
        "{'op':'move','from':'/w','path':'/v'},{'op':'move','from':'/v','path':'/w'}",
    };
    const struct json_patch_limits limits = { .operations_max = UINT32_MAX };
    struct random r = random_start();

    for (int round = 0; round < 8; round++) {
        struct arena *a = arena_new();
        struct json doc = json_of(a, "{'w':{}}"), model, all = json_array();
        struct json *wide = &doc.members[0].value;
        for (int i = 0; i < 300; i++)
            json_put(a, wide, arena_printf(a, "n%d", i), json_int(a, i));
        model = json_copy(a, &doc);
        while (all.len < 4000) {
            uint32_t form = random_below(&r, sizeof forms / sizeof *forms);
            struct buf text = buf_in(a);
            buf_byte(&text, '[');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            buf_printf(&text, forms[form], (unsigned)random_below(&r, 400));
#pragma GCC diagnostic pop
            buf_byte(&text, ']');
            struct json some = json_of(a, buf_str(&text).at);
            if (json_patch(a, &model, &some, NULL))
                continue;
            for (uint32_t i = 0; i < some.len; i++)
                json_push(a, &all, some.items[i]);
        }
        CHECK_OK(json_patch(a, &doc, &all, &limits));
        CHECK(str_eq(json_printed(a, &doc), json_printed(a, &model)));
        arena_free(a);
    }
}
