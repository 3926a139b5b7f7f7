/* schema_test.c: what the public suite's files do not show: older drafts, vocabularies, bundles,
 * options, compile errors, limits. Cases are [schema, fitting documents, unfitting ones]. */
#include <malloc.h>
#include <pthread.h>

#include "base/utf8.h"
#include "check.h"
#include "json/schema/schema.h"
#include "json_help.h"

#define DRAFT_2019 "https://json-schema.org/draft/2019-09/schema"

static struct schema *compiled(const char *text, const struct schema_options *options)
{
    struct json json = json_of(check_arena(), text);
    struct schema *s;
    CHECK_OK(schema_compile(check_arena(), &json, options, &s));
    return s;
}

static bool fits(const struct schema *s, const char *document)
{
    struct json json = json_of(check_arena(), document);
    return schema_check(s, &json) == SCHEMA_FITS;
}

struct fit_case {
    const char *schema;
    const char *good[6], *bad[6];
};

static void cases_run(const struct fit_case *cases, size_t count,
                      const struct schema_options *options)
{
    for (size_t i = 0; i < count; i++) {
        struct schema *s = compiled(cases[i].schema, options);
        for (int j = 0; j < 6 && cases[i].good[j]; j++)
            if (!fits(s, cases[i].good[j]))
                check_fail(__FILE__, __LINE__, "%s should fit %s", cases[i].good[j],
                           cases[i].schema);
        for (int j = 0; j < 6 && cases[i].bad[j]; j++)
            if (fits(s, cases[i].bad[j]))
                check_fail(__FILE__, __LINE__, "%s should not fit %s", cases[i].bad[j],
                           cases[i].schema);
        schema_free(s);
    }
}

#define CASES_RUN(cases, options) cases_run((cases), sizeof(cases) / sizeof *(cases), (options))

TEST(draft_2019_09_keeps_its_own_keywords)
{
    static const struct fit_case cases[] = {
        /* A list of items, what follows it, and what `unevaluatedItems` sees of it. */
        { "{'items':[{'type':'integer'}],'additionalItems':{'type':'string'}}",
          { "[1,'a','b']", "[]" },
          { "['a']", "[1,2]" } },
        { "{'additionalItems':false}", { "[1,2]" }, { 0 } },
        { "{'items':{'type':'integer'},'additionalItems':false}", { "[1,2]" }, { "['a']" } },
        { "{'items':[true],'unevaluatedItems':false}", { "[1]" }, { "[1,2]" } },
        { "{'items':{'type':'integer'},'unevaluatedItems':false}", { "[1,2]" }, { 0 } },
        /* What `contains` found is not evaluated before 2020-12. */
        { "{'contains':{'type':'integer'},'unevaluatedItems':false}", { 0 }, { "[1]" } },
        { "{'contains':true,'minContains':2,'maxContains':3}",
          { "[1,2]" },
          { "[1]", "[1,2,3,4]" } },
        { "{'dependentRequired':{'a':['b']},'dependentSchemas':{'c':{'minProperties':2}}}",
          { "{'a':1,'b':1}", "{'c':1,'d':1}", "{}" },
          { "{'a':1}", "{'c':1}" } },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}",
          { "{'a':1,'b':1}", "{'c':1,'d':1}" },
          { "{'a':1}", "{'c':1}" } },
        { "{'$ref':'#/$defs/a','$defs':{'a':{'type':'object'}},'required':['b']}",
          { "{'b':1}" },
          { "{}", "1" } },
        { "{'$ref':'#x','$defs':{'a':{'$anchor':'x','type':'integer'}}}", { "1" }, { "'a'" } },
        { "{'prefixItems':[{'type':'integer'}]}", { "['a']" }, { 0 } },
        /* Without $recursiveAnchor it is a plain reference. */
        { "{'properties':{'a':{'$recursiveRef':'#'}},'additionalProperties':false}",
          { "{'a':{'a':{}}}" },
          { "{'a':{'b':1}}" } },
        { "{'$id':'http://x/outer','$recursiveAnchor':true,'$ref':'inner',"
          " 'properties':{'kind':{'type':'string'}},'required':['kind'],"
          " '$defs':{'inner':{'$id':'inner','$recursiveAnchor':true,"
          "   'properties':{'next':{'$recursiveRef':'#'}}}}}",
          { "{'kind':'a','next':{'kind':'b'}}" },
          { "{'kind':'a','next':{}}", "{'kind':'a','next':{'kind':'b','next':{'kind':1}}}" } },
        { "{'$id':'http://x/outer','$ref':'inner','required':['kind'],"
          " '$defs':{'inner':{'$id':'inner','$recursiveAnchor':true,"
          "   'properties':{'next':{'$recursiveRef':'#'}}}}}",
          { "{'kind':'a','next':{}}" },
          { "{}" } },
        { "{'properties':{'a':true},'allOf':[{'properties':{'b':true}}],"
          " 'unevaluatedProperties':false}",
          { "{'a':1,'b':2}" },
          { "{'a':1,'c':2}" } },
    };
    struct schema_options options = { .dialect = STR(DRAFT_2019) };
    CASES_RUN(cases, &options);
}

TEST(a_schema_says_its_own_draft)
{
    static const struct fit_case cases[] = {
        { "{'$schema':'http://json-schema.org/draft-07/schema#','items':[{'type':'integer'}],"
          " 'additionalItems':false,'dependentRequired':{'a':['b']}}",
          { "[1]", "{'a':1}" },
          { "[1,2]", "['a']" } },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','$ref':'#/definitions/a',"
          " 'required':['ignored'],'definitions':{'a':{'type':'object'}}}",
          { "{}" },
          { "1" } },
        { "{'$schema':'" DRAFT_2019 "','items':[{'type':'integer'}]}", { "[1,'a']" }, { "['a']" } },
        { "{'$schema':'https://json-schema.org/draft/2020-12/schema','prefixItems':[{'type':"
          "'integer'}],'items':false}",
          { "[1]" },
          { "[1,2]", "['a']" } },
    };
    CASES_RUN(cases, NULL);
}

/* Resources of other drafts inside one document are read by their own rules. */
TEST(bundled_resources_keep_their_draft)
{
    static const struct fit_case cases[] = {
        { "{'$ref':'http://x/old','$defs':{'old':{'$id':'http://x/old',"
          "'$schema':'http://json-schema.org/draft-07/schema#',"
          "'items':[{'type':'integer'}],'additionalItems':false}}}",
          { "[1]" },
          { "[1,2]" } },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','allOf':[{'$ref':'http://x/new'}],"
          "'definitions':{'new':{'$id':'http://x/new',"
          "'$schema':'https://json-schema.org/draft/2020-12/schema',"
          "'prefixItems':[{'type':'integer'}],'$ref':'#/$defs/b','$defs':{'b':{'minItems':1}}}}}",
          { "[1]" },
          { "[]", "['a']" } },
    };
    CASES_RUN(cases, NULL);
}

TEST(references_reach_given_documents_and_no_others)
{
    struct arena *a = check_arena();
    struct json leaf = json_of(a, "{'$id':'http://other/leaf','type':'integer',"
                                  " '$defs':{'deep':{'$id':'http://other/deep','type':'null'}}}");
    struct json list = json_of(a, "{'items':{'$ref':'leaf.json#'}}");
    struct schema_document documents[] = { { STR("http://x/leaf.json"), &leaf },
                                           { STR("http://x/list.json"), &list } };
    struct schema_options options = { .documents = documents, .document_count = 2 };
    static const struct fit_case cases[] = {
        { "{'$id':'http://x/root.json','$ref':'list.json'}", { "[1]" }, { "['a']" } },
        { "{'$ref':'http://x/list.json#/items'}", { "1" }, { "'a'" } },
        { "{'$ref':'http://other/deep'}", { "null" }, { "1" } },
        { "{'$ref':'http://json-schema.org/draft-07/schema#'}",
          { "{'type':'object'}", "true" },
          { "{'type':'nothing'}", "1" } },
    };
    CASES_RUN(cases, &options);

    struct json json = json_of(a, "{'properties':{'a':{'$ref':'http://elsewhere/x.json'}}}");
    struct schema *s;
    err e = schema_compile(a, &json, &options, &s);
    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(e->message,
              "schema /properties/a/$ref: there is no schema "
              "\"http://elsewhere/x.json\": it is neither an $id in this document nor one "
              "of the documents that were given, and nothing is fetched from a network");
}

/* Looking for an $id inside the given documents meets those that are no schemas. They matter only
 * when something refers to them, and then what is wrong with them is said. */
TEST(broken_documents_do_no_harm_until_they_are_referred_to)
{
    static const struct {
        const char *broken, *message;
    } cases[] = {
        { "5",
          "schema http://x/broken#: expected a schema (an object, true or false), found integer" },
        { "{'$dynamicAnchor':'d','properties':{'p':5}}",
          "schema http://x/broken#/properties/p: expected a schema (an object, true or false), "
          "found integer" },
        { "{'$id':'http://x/own','$defs':{'a':{'$id':'http://x/part'},'b':5}}",
          "schema http://x/broken#/$defs/b: expected a schema (an object, true or false), "
          "found integer" },
    };
    struct arena *a = check_arena();
    struct json list = json_of(a, "{'$defs':{'leaf':{'$id':'http://x/leaf','type':'integer'}}}");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json broken = json_of(a, cases[i].broken);
        struct schema_document documents[] = { { STR("http://x/broken"), &broken },
                                               { STR("http://x/list"), &list } };
        struct schema_options options = { .documents = documents, .document_count = 2 };
        static const struct fit_case fine[] = {
            { "{'$ref':'http://x/leaf'}", { "1" }, { "'a'" } },
            { "{'$dynamicAnchor':'d','type':'object','properties':{'leaf':{'$ref':'http://x/leaf'},"
              " 'next':{'$dynamicRef':'#d'}}}",
              { "{'next':{'leaf':1}}" },
              { "{'next':{'leaf':'a'}}", "{'next':1}" } },
        };
        CASES_RUN(fine, &options);

        struct json json =
            json_of(a, "{'allOf':[{'$ref':'http://x/leaf'},{'$ref':'http://x/broken'}]}");
        struct schema *s;
        err e = schema_compile(a, &json, &options, &s);
        CHECK_ERR(e, ERR_UNFIT);
        CHECK_STR(e->message, cases[i].message);
    }
}

TEST(vocabularies_turn_keywords_on_and_off)
{
    struct arena *a = check_arena();
    struct json plain = json_of(a, "{'$schema':'https://json-schema.org/draft/2020-12/schema',"
                                   "'$vocabulary':{"
                                   "'https://json-schema.org/draft/2020-12/vocab/core':true,"
                                   "'https://json-schema.org/draft/2020-12/vocab/applicator':true,"
                                   "'http://x/vocab/unknown':false}}");
    struct json formats =
        json_of(a, "{'$schema':'https://json-schema.org/draft/2020-12/schema','$vocabulary':{"
                   "'https://json-schema.org/draft/2020-12/vocab/core':true,"
                   "'https://json-schema.org/draft/2020-12/vocab/format-assertion':false}}");
    struct json strange = json_of(a, "{'$schema':'https://json-schema.org/draft/2020-12/schema',"
                                     "'$vocabulary':{'http://x/vocab/unknown':true}}");
    struct schema_document documents[] = { { STR("http://x/plain"), &plain },
                                           { STR("http://x/formats"), &formats },
                                           { STR("http://x/strange"), &strange } };
    struct schema_options options = { .documents = documents, .document_count = 3 };
    static const struct fit_case cases[] = {
        { "{'$schema':'http://x/plain','type':'string','properties':{'a':false}}",
          { "1", "{}" },
          { "{'a':1}" } },
        { "{'$schema':'http://x/formats','format':'ipv4','type':'integer'}",
          { "'127.0.0.1'", "1" },
          { "'not an address'" } },
    };
    CASES_RUN(cases, &options);

    struct json json = json_of(a, "{'$schema':'http://x/strange'}");
    struct schema *s;
    err e = schema_compile(a, &json, &options, &s);
    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(e->message, "schema /$schema: its meta-schema requires the vocabulary "
                          "\"http://x/vocab/unknown\", which is not known here");
}

TEST(formats_are_asserted_on_request_only)
{
    static const char text[] = "{'format':'date-time'}";
    struct schema_options asserting = { .assert_formats = true };
    struct schema *silent = compiled(text, NULL), *strict = compiled(text, &asserting);

    CHECK(fits(silent, "'yesterday'"));
    CHECK(!fits(strict, "'yesterday'"));
    CHECK(fits(strict, "'2025-01-15T10:35:00Z'"));
    CHECK(fits(strict, "12"));
    schema_free(silent);
    schema_free(strict);
}

TEST(compile_errors_point_into_the_schema)
{
    static const struct {
        const char *schema, *message;
    } cases[] = {
        { "3",
          "schema (whole document): expected a schema (an object, true or false), found integer" },
        { "{'type':'strng'}", "schema /type: \"strng\" is no type: did you mean \"string\"?" },
        { "{'type':[]}", "schema /type: expected at least one type, found []" },
        { "{'properties':{'a':{'minLength':-1}}}",
          "schema /properties/a/minLength: expected an integer of at least 0, found -1" },
        { "{'properties':{'a':{'minLength':1.5}}}",
          "schema /properties/a/minLength: expected an integer of at least 0, found 1.5" },
        { "{'properties':[]}",
          "schema /properties: expected an object whose members are schemas, found []" },
        { "{'properties':{'a':['b']}}",
          "schema /properties/a: expected a schema (an object, true or "
          "false), found array" },
        { "{'properties':{'a/b':1}}",
          "schema /properties/a~1b: expected a schema (an object, true or "
          "false), found integer" },
        { "{'allOf':[]}", "schema /allOf: expected an array of at least one schema, found []" },
        { "{'anyOf':[true,{'not':'x'}]}",
          "schema /anyOf/1/not: expected a schema (an object, true or "
          "false), found string" },
        { "{'multipleOf':0}", "schema /multipleOf: expected a number above 0, found 0" },
        { "{'required':'a'}", "schema /required: expected an array of strings, found \"a\"" },
        { "{'items':[{}]}",
          "schema /items: expected a schema (an object, true or false), found array" },
        { "{'$defs':{'a':{'$ref':'#/$defs/b'}},'$ref':'#/$defs/a'}",
          "schema /$defs/a/$ref: \"#/$defs/b\" leads nowhere: there is no value at \"/$defs/b\" in this "
          "document" },
        { "{'$ref':'#nowhere'}", "schema /$ref: \"#nowhere\" leads nowhere: there is no anchor "
                                 "\"nowhere\" in this document" },
        { "{'$schema':'http://json-schema.org/draft-04/schema#'}",
          "schema /$schema: expected draft-07, 2019-09 or 2020-12 "
          "(\"https://json-schema.org/draft/2020-12/schema\"), or a meta-schema that was given, found "
          "\"http://json-schema.org/draft-04/schema\"" },
        { "{'$defs':{'a':{'$id':'http://x/a'},'b':{'$id':'http://x/a'}}}",
          "schema /$defs/b/$id: expected each $id once, found \"http://x/a\" again" },
        { "{'$defs':{'a':{'$anchor':'x'},'b':{'$anchor':'x'}}}",
          "schema /$defs/b/$anchor: expected each anchor once in a resource, found \"x\" again" },
        { "{'$anchor':'1x'}",
          "schema /$anchor: expected a letter or '_', then letters, digits and - _ . "
          ":, found \"1x\"" },
        { "{'$id':'http://x/a#b'}",
          "schema /$id: expected a URI without fragment (use $anchor to name a "
          "place), found \"http://x/a#b\"" },
        { "{'dependentRequired':{'a':1}}",
          "schema /dependentRequired: expected an array of names for each member, found 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json json = json_of(check_arena(), cases[i].schema);
        struct schema *s;
        err e = schema_compile(check_arena(), &json, NULL, &s);
        CHECK_ERR(e, ERR_UNFIT);
        CHECK_STR(e->message, cases[i].message);
    }
}

TEST(a_broken_pattern_is_a_compile_error_at_its_place)
{
    struct json json = json_of(check_arena(), "{'properties':{'a':{'pattern':'(x'}}}");
    struct schema *s;
    err e = schema_compile(check_arena(), &json, NULL, &s);
    CHECK_ERR(e, ERR_UNFIT);
    CHECK(str_starts(e->message, STR("schema /properties/a/pattern: \"(x\": ")));
    CHECK(str_starts(e->members, STR("\"errors\":[{\"pointer\":\"/properties/a\"")));
}

/* Names collide, are long, short, empty, many: each one is found, and nothing else is. */
TEST(properties_are_found_in_tables_of_every_size)
{
    struct arena *a = check_arena();
    for (int n = 1; n < 300; n = n < 40 ? n + 1 : n * 2) {
        struct json schema = json_object(), properties = json_object(), required = json_array();
        struct json document = json_object(), wrong = json_object();
        for (int i = 0; i < n; i++) {
            str name = arena_printf(a, "%.*s%d", i % 30, "abcdefghijklmnopqrstuvwxyzABCDE", i);
            struct json type = json_object();
            json_put(a, &type, STR("type"), json_string(STR("integer")));
            json_put(a, &properties, name, type);
            json_push(a, &required, json_string(name));
            json_put(a, &document, name, json_int(a, i));
            json_put(a, &wrong, name, i == n / 2 ? json_null() : json_int(a, i));
        }
        json_put(a, &schema, STR("properties"), properties);
        json_put(a, &schema, STR("required"), required);
        json_put(a, &schema, STR("additionalProperties"), json_bool(false));
        struct schema *s;
        CHECK_OK(schema_compile(a, &schema, NULL, &s));
        CHECK_INT(schema_check(s, &document), SCHEMA_FITS);
        CHECK_INT(schema_check(s, &wrong), SCHEMA_UNFIT);
        document.len--;
        CHECK_INT(schema_check(s, &document), SCHEMA_UNFIT); /* one required name is missing */
        document.len++;
        json_put(a, &document, STR("unknown"), json_null());
        CHECK_INT(schema_check(s, &document), SCHEMA_UNFIT);
        schema_free(s);
    }
}

TEST(enums_of_every_size_know_their_values)
{
    struct arena *a = check_arena();
    for (int n = 1; n < 200; n = n < 20 ? n + 1 : n * 2) {
        struct json schema = json_object(), values = json_array();
        for (int i = 0; i < n; i++)
            json_push(a, &values,
                      json_string(
                          arena_printf(a, "%.*s%d", i % 25, "abcdefghijklmnopqrstuvwxyz", i)));
        json_put(a, &schema, STR("enum"), values);
        struct schema *s;
        CHECK_OK(schema_compile(a, &schema, NULL, &s));
        for (int i = 0; i < n; i++) {
            struct json longer =
                json_string(arena_printf(a, STR_FMT "x", STR_ARG(json_text(&values.items[i]))));
            CHECK_INT(schema_check(s, &values.items[i]), SCHEMA_FITS);
            CHECK_INT(schema_check(s, &longer), SCHEMA_UNFIT);
        }
        CHECK(!fits(s, "''") && !fits(s, "1") && !fits(s, "null"));
        schema_free(s);
    }
}

/* What merging nodes must not change. */
TEST(joined_schemas_mean_what_they_meant_apart)
{
    static const struct fit_case cases[] = {
        { "{'type':['integer','string'],'allOf':[{'type':['string','null']},{'minLength':2}]}",
          { "'ab'" },
          { "1", "null", "'a'" } },
        { "{'allOf':[{'allOf':[{'type':'number'},{'allOf':[{'type':'integer'},{'minimum':3}]}]}]}",
          { "3", "4.0" },
          { "2", "3.5", "'x'" } },
        { "{'properties':{'a':{'type':'integer'}},'allOf':[{'properties':{'b':{'type':'string'}}},"
          "{'required':['c']}]}",
          { "{'a':1,'b':'x','c':null}" },
          { "{'a':'x','c':1}", "{'b':1,'c':1}", "{'a':1}" } },
        { "{'allOf':[{'properties':{'a':true},'unevaluatedProperties':false}],'properties':{'b':true}}",
          { "{'a':1}" },
          { "{'b':1}" } },
        { "{'properties':{'b':true},'$ref':'#/$defs/a','unevaluatedProperties':false,"
          "'$defs':{'a':{'properties':{'a':true}}}}",
          { "{'a':1,'b':1}" },
          { "{'c':1}" } },
        { "{'enum':[1,2],'allOf':[{'enum':[2,3]},{'const':2.0}]}", { "2" }, { "1", "3" } },
        { "{'anyOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/b'}],"
          "'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'type':'null'}}}",
          { "null" },
          { "1" } },
        { "{'allOf':[false]}", { 0 }, { "1", "{}" } },
        { "{'allOf':[true],'not':{'allOf':[true]}}", { 0 }, { "1" } },
    };
    CASES_RUN(cases, NULL);
}

/* A schema that always goes in circles without going into the document has no meaning. */
TEST(a_circle_of_references_is_told_when_it_is_compiled)
{
    static const struct {
        const char *text, *circle;
    } cases[] = {
        { "{'$ref':'#'}", "# → #" },
        { "{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}}}",
          "/$defs/a → /$defs/b → /$defs/a" },
        { "{'properties':{'x':{'allOf':[true,{'$ref':'#/properties/x'}]}}}",
          "/properties/x → /properties/x/allOf/1 → /properties/x" },
        { "{'not':{'$ref':'#'}}", "# → /not → #" },
        { "{'if':{'$ref':'#'}}", "# → /if → #" },
        { "{'oneOf':[true,{'$ref':'#'}]}", "# → /oneOf/1 → #" },
        { "{'anyOf':[{'$ref':'#'},{'$ref':'#'}]}", "# → /anyOf/0 → #" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schema_options stored = { .is_known = true };
        struct json text = json_of(check_arena(), cases[i].text);
        struct schema *s;
        err e = schema_compile(check_arena(), &text, NULL, &s);
        CHECK_ERR(e, ERR_UNFIT);
        CHECK_HAS(e->message, cases[i].circle);
        CHECK_OK(schema_compile(check_arena(), &text, &stored, &s)); /* it was taken once */
        schema_free(s);
    }
}

/* What goes into the document comes to an end with it. */
TEST(references_that_go_into_the_document_are_no_circle)
{
    static const char *const texts[] = {
        "{'properties':{'a':{'$ref':'#'}},'items':{'$ref':'#'}}",
        "{'allOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/a'}],'$defs':{'a':{'items':{'$ref':'#'}}}}",
        "{'$ref':'https://json-schema.org/draft/2020-12/schema'}",
        "{'$ref':'http://json-schema.org/draft-07/schema#'}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct schema_warnings w = { .count = 0 };
        struct schema_options options = { .warnings = &w };
        schema_free(compiled(texts[i], &options));
        CHECK_INT(w.count, 0);
    }
}

/* One that depends on the value is told too; a check that comes there is given up, not followed. */
TEST(a_circle_that_depends_on_the_value_ends)
{
    static const char *const texts[] = {
        "{'anyOf':[false,{'$ref':'#'}]}",
        "{'if':true,'then':{'$ref':'#'}}",
        "{'if':false,'else':{'allOf':[{'$ref':'#'}]}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct schema_warnings w = { .count = 0 };
        struct schema_options options = { .warnings = &w };
        struct schema *s = compiled(texts[i], &options);
        struct json one = json_of(check_arena(), "1");
        CHECK_INT(w.count, 1);
        CHECK_HAS(w.items[0].message, "# → ");
        CHECK_INT(schema_check(s, &one), SCHEMA_EXHAUSTED);
        CHECK_ERR(schema_require(check_arena(), s, &one), ERR_UNFIT);
        schema_free(s);
    }
}

static void *check_often(void *schema)
{
    struct arena *a = arena_new();
    const struct json *good, *bad;

    if (json_parse(a, STR("{\"a\":[\"x1\",\"y2\"]}"), NULL, &good) ||
        json_parse(a, STR("{\"a\":[\"x1\",\"\"]}"), NULL, &bad))
        return NULL;
    uintptr_t right = 0;
    for (int i = 0; i < 2000; i++)
        right += schema_check(schema, good) == SCHEMA_FITS &&
                 schema_check(schema, bad) == SCHEMA_UNFIT;
    arena_free(a);
    return (void *)right;
}

TEST(threads_share_a_schema)
{
    struct schema *s = compiled("{'properties':{'a':{'items':{'pattern':'^[a-z][0-9]$'}}}}", NULL);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, check_often, s), 0);
    for (int i = 0; i < 4; i++) {
        void *right;
        pthread_join(threads[i], &right);
        CHECK_INT((uintptr_t)right, 2000);
    }
    schema_free(s);
}

/* The schema and its text are apart: a program outlives what it was made from. */
TEST(a_program_keeps_what_it_needs)
{
    struct arena *a = arena_new();
    struct schema *s;
    char text[] =
        "{\"properties\":{\"status\":{\"enum\":[\"open\",\"a longer text than sixteen\"]}},"
        "\"patternProperties\":{\"^x\":{\"const\":[1,{\"a\":2}]}}}";

    const struct json *json = json_parsed(a, str_from(text));
    CHECK_OK(schema_compile(a, json, NULL, &s));
    memset(text, '?', sizeof text - 1);
    arena_free(a);
    CHECK(fits(s, "{'status':'open','x':[1.0,{'a':2}]}"));
    CHECK(fits(s, "{'status':'a longer text than sixteen'}"));
    CHECK(!fits(s, "{'status':'shut'}"));
    schema_free(s);
}

TEST(nothing_is_allocated_while_a_document_fits)
{
    struct schema *s = compiled(
        "{'type':'object','required':['tasks'],'properties':{'tasks':{'type':'array','uniqueItems':"
        "true,'items':{'anyOf':[{'type':'string'},{'type':'object','properties':{'n':{'type':"
        "'integer','minimum':0}},'unevaluatedProperties':false}]}}}}",
        NULL);
    struct json doc =
        json_of(check_arena(), "{'tasks':['a',{'n':1},{'n':2},'b','c','d','e','f','g']}");
    CHECK_INT(schema_check(s, &doc), SCHEMA_FITS);

    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < 100; i++)
        CHECK_INT(schema_check(s, &doc), SCHEMA_FITS);
    struct mallinfo2 after = mallinfo2();
    CHECK_INT(after.uordblks, before.uordblks);
    schema_free(s);
}

/* ---- as others write them ---- */

static void check_warns(const char *text, const char *warning)
{
    struct schema_warnings w = { .count = 0 };
    struct schema_options options = { .warnings = &w };

    schema_free(compiled(text, &options));
    CHECK_INT(w.count, warning ? 1 : 0);
    if (warning)
        CHECK_HAS(arena_printf(check_arena(), STR_FMT "/" STR_FMT ": " STR_FMT,
                               STR_ARG(w.items[0].pointer), STR_ARG(w.items[0].keyword),
                               STR_ARG(w.items[0].message)),
                  warning);
}

TEST(schemas_that_others_take_are_taken_with_a_warning)
{
    check_warns("{'$schema':'http://json-schema.org/draft-07/schema#',"
                "'properties':{'a':{'$id':'#/properties/a','type':'string'}}}",
                "/properties/a/$id: ");
    check_warns("{'$schema':'http://json-schema.org/draft-07/schema#',"
                "'definitions':{'a':{'$id':'http://x/y#/definitions/a'}}}",
                "/definitions/a/$id: ");
    check_warns("{'pattern':'^[a-z]{,3}$'}",
                "/pattern: \"^[a-z]{,3}$\" is no pattern with the flag u");
    check_warns("{'patternProperties':{'^x\\\\y':true}}", "/patternProperties: ");
    check_warns("{'pattern':'^[a-z]{1,3}$'}", NULL);
}

TEST(a_warning_cuts_no_character)
{
    struct schema_warnings w = { .count = 0 };
    struct schema_options options = { .warnings = &w };
    struct buf text = buf_in(check_arena());

    buf_add(&text, STR("{'$schema':'http://json-schema.org/draft-07/schema#','pattern':'^x{,"));
    for (int i = 0; i < 100; i++)
        buf_add(&text, STR("\u00e9"));
    buf_add(&text, STR("','not':{'$id':'#/x"));
    for (int i = 0; i < 100; i++)
        buf_add(&text, STR("\u00e9"));
    buf_add(&text, STR("'}}"));
    schema_free(compiled(buf_str(&text).at, &options));
    CHECK_INT(w.count, 2);
    for (size_t i = 0; i < w.count; i++)
        CHECK(utf8_valid(w.items[i].message));
}

TEST(an_id_that_is_a_pointer_hides_nothing)
{
    static const struct fit_case cases[] = {
        { "{'$schema':'http://json-schema.org/draft-07/schema#','$ref':'#/definitions/a',"
          "'definitions':{'a':{'$id':'#/definitions/a','items':{'$ref':'#/definitions/b'}},"
          "'b':{'$id':'#/definitions/b','type':'null'}}}",
          { "[null]", "1" },
          { "[1]" } },
    };
    CASES_RUN(cases, NULL);
}

TEST(http_and_https_name_the_same_dialect)
{
    static const struct fit_case cases[] = {
        /* In draft-07 what stands beside $ref says nothing; in 2019-09 it does, and `items` may be
         * a list; in 2020-12 it may not. */
        { "{'$schema':'https://json-schema.org/draft-07/schema#','definitions':{'a':true},"
          "'$ref':'#/definitions/a','type':'null'}",
          { "1" },
          { 0 } },
        { "{'$schema':'https://json-schema.org/draft-07/schema','items':[{'type':'null'}]}",
          { "[null]" },
          { "[1]" } },
        { "{'$schema':'http://json-schema.org/draft/2019-09/schema#','$defs':{'a':true},"
          "'$ref':'#/$defs/a','items':[{'type':'null'}]}",
          { "[null]" },
          { "[1]" } },
        { "{'$schema':'http://json-schema.org/draft/2020-12/schema','prefixItems':[{'type':'null'}]}",
          { "[null]" },
          { "[1]" } },
        { "{'allOf':[{'$ref':'https://json-schema.org/draft-07/schema'},"
          "{'$ref':'http://json-schema.org/draft-07/schema#'},"
          "{'$ref':'http://json-schema.org/draft/2020-12/schema'}]}",
          { "{'type':'string'}" },
          { "{'type':'strin'}" } },
    };
    CASES_RUN(cases, NULL);
}
