/* explain_test.c: a document that does not fit is told why, in words that can be acted on. */
#include <dirent.h>

#include "json_help.h"
#include "json/schema/schema.h"
#include "json/schema/program.h"

/* JSON with single quotes, to be legible in C. */
static const struct json *parsed(const char *text)
{
    return json_parsed(check_arena(), quotes_double(check_arena(), text));
}

static void drop(void *schema)
{
    schema_free(schema);
}

static struct schema *compiled(const char *text)
{
    static const struct schema_options options = { .assert_formats = true };
    struct schema *s;

    CHECK_OK(schema_compile(check_arena(), parsed(text), &options, &s));
    arena_on_release(check_arena(), drop, s);
    return s;
}

/* Each violation as "pointer keyword: message" on a line of its own, double quotes made single. */
static str explained(const char *schema, const char *doc, size_t most)
{
    const struct violation *list;
    struct buf out = buf_in(check_arena());
    size_t count = schema_explain(check_arena(), compiled(schema), parsed(doc), most, &list);

    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s" STR_FMT " " STR_FMT ": " STR_FMT, i ? "\n" : "",
                   STR_ARG(list[i].pointer), STR_ARG(list[i].keyword), STR_ARG(list[i].message));
    return quotes_single(check_arena(), buf_str(&out));
}

struct explain_case {
    const char *schema, *doc, *violations;
};

static void check_cases(const struct explain_case *c, size_t count)
{
    for (; count > 0; c++, count--) {
        str found = explained(c->schema, c->doc, 50);
        if (!str_eq(found, str_from(c->violations)))
            check_fail(__FILE__, __LINE__,
                       "schema %s\ndocument %s\nexpected:\n%s\nfound:\n" STR_FMT, c->schema, c->doc,
                       c->violations, STR_ARG(found));
    }
}

#define CHECK_CASES(cases) check_cases((cases), sizeof(cases) / sizeof(*(cases)))

TEST(explain_is_silent_about_what_fits)
{
    static const struct explain_case cases[] = {
        { "true", "1", "" },
        { "{'type':'integer'}", "1.0", "" },
        { "{'required':['a'],'properties':{'a':{'type':'string'}}}", "{'a':'b'}", "" },
        { "{'oneOf':[{'type':'string'},{'type':'null'}]}", "null", "" },
        { "{'properties':{'a':{'anyOf':[{'const':1},{'const':2}]}},'unevaluatedProperties':false}",
          "{'a':2}", "" },
    };
    CHECK_CASES(cases);
}

TEST(explain_names_the_types_that_were_expected)
{
    static const struct explain_case cases[] = {
        { "{'type':'string'}", "42", " type: expected a string, found 42" },
        { "{'type':'integer'}", "1.5", " type: expected an integer, found 1.5" },
        { "{'type':'number'}", "'1'", " type: expected a number, found '1'" },
        { "{'type':['null','string']}", "[]", " type: expected a string or null, found []" },
        { "{'type':['object','boolean','array']}", "1e3",
          " type: expected a boolean, an array or an object, found 1e3" },
        { "{'type':['integer','number']}", "true", " type: expected a number, found true" },
        { "false", "1", " false: the document is not allowed here, found 1" },
        { "{'properties':{'a':false}}", "{'a':1}", "/a false: 'a' is not allowed here, found 1" },
        { "{'allOf':[{'type':'string'},{'type':'null'}]}", "1",
          " type: the document is not allowed here, found 1" },
    };
    CHECK_CASES(cases);
}

TEST(explain_cuts_long_values_short)
{
    static const struct explain_case cases[] = {
        { "{'type':'null'}", "'0123456789012345678901234567890123456789012345678901234567890123'",
          " type: expected null, found "
          "'012345678901234567890123456789012345678901234567890123456789'…" },
        /* 59 bytes and a character of two: it is not cut in half. */
        { "{'type':'null'}", "'01234567890123456789012345678901234567890123456789012345678éx'",
          " type: expected null, found "
          "'01234567890123456789012345678901234567890123456789012345678'…" },
        { "{'type':'null'}", "[{'a':1,'b':[true,null]}]",
          " type: expected null, found [{'a':1,'b':[true,null]}]" },
        { "{'type':'null'}", "['0123456789012345678901234567890123456789','01234567890123456789']",
          " type: expected null, found an array of 2 elements" },
        { "{'type':'null'}", "{'0123456789012345678901234567890123456789':'01234567890123456789'}",
          " type: expected null, found an object of 1 member" },
        { "{'type':'null'}",
          "1234567890123456789012345678901234567890123456789012345678901234567890",
          " type: expected null, found "
          "123456789012345678901234567890123456789012345678901234567890…" },
    };
    CHECK_CASES(cases);
}

TEST(explain_names_the_nearest_allowed_value)
{
    static const struct explain_case cases[] = {
        { "{'enum':['pending','running','done','failed']}", "'done!'",
          " enum: expected one of 'pending', 'running', 'done', 'failed', found 'done!'; "
          "did you mean 'done'?" },
        { "{'enum':['pending','running']}", "'RUNNING'",
          " enum: expected one of 'pending', 'running', found 'RUNNING'; did you mean 'running'?" },
        { "{'enum':['pending','running']}", "'x'",
          " enum: expected one of 'pending', 'running', found 'x'" },
        { "{'enum':[1,2,'3']}", "3",
          " enum: expected one of 1, 2, '3', found 3; did you mean '3'?" },
        { "{'enum':[true,false]}", "'true'",
          " enum: expected one of true, false, found 'true'; did you mean true?" },
        { "{'enum':[100,200]}", "101", " enum: expected one of 100, 200, found 101" },
        { "{'enum':[]}", "1", " enum: expected no value, found 1" },
        { "{'const':'workflow'}", "'worklfow'",
          " const: expected 'workflow', found 'worklfow'; did you mean 'workflow'?" },
        { "{'const':{'a':[1]}}", "{'a':[]}", " const: expected {'a':[1]}, found {'a':[]}" },
        { "{'enum':['a1','a2','a3','a4','a5','a6','a7','a8','a9','b1','b2','b3','b4','b5']}", "0",
          " enum: expected one of 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'b1', "
          "'b2', 'b3' and 2 more, found 0" },
    };
    CHECK_CASES(cases);
}

TEST(explain_says_what_a_string_should_be)
{
    static const struct explain_case cases[] = {
        { "{'minLength':3}", "'äö'", " minLength: expected at least 3 characters, found 2" },
        { "{'minLength':1}", "''", " minLength: expected at least 1 character, found 0" },
        { "{'maxLength':2}", "'äöü'", " maxLength: expected at most 2 characters, found 3" },
        { "{'pattern':'^[a-z]+$'}", "'A'",
          " pattern: expected a string that matches the pattern ^[a-z]+$, found 'A'" },
        { "{'minLength':3,'pattern':'b'}", "'a'",
          " minLength: expected at least 3 characters, found 1\n"
          " pattern: expected a string that matches the pattern b, found 'a'" },
    };
    CHECK_CASES(cases);
    str format = explained("{'properties':{'at':{'format':'date-time'}}}", "{'at':'today'}", 1);
    CHECK(str_starts(format, STR("/at format: expected a date-time")));
    CHECK(str_ends(format, STR(", found 'today'")));
}

TEST(explain_says_what_a_number_should_be)
{
    static const struct explain_case cases[] = {
        { "{'minimum':1}", "0", " minimum: expected at least 1, found 0" },
        { "{'exclusiveMinimum':1}", "1.0", " exclusiveMinimum: expected more than 1, found 1.0" },
        { "{'maximum':1.5}", "2", " maximum: expected at most 1.5, found 2" },
        { "{'exclusiveMaximum':10}", "10", " exclusiveMaximum: expected less than 10, found 10" },
        { "{'multipleOf':0.01}", "0.075", " multipleOf: expected a multiple of 0.01, found 0.075" },
        { "{'minimum':10,'multipleOf':3}", "4",
          " minimum: expected at least 10, found 4\n"
          " multipleOf: expected a multiple of 3, found 4" },
    };
    CHECK_CASES(cases);
}

TEST(explain_says_what_an_array_should_hold)
{
    static const struct explain_case cases[] = {
        { "{'minItems':1}", "[]", " minItems: expected at least 1 element, found 0" },
        { "{'maxItems':2}", "[1,2,3]", " maxItems: expected at most 2 elements, found 3" },
        { "{'items':{'type':'string'}}", "['a',1,'b',2]",
          "/1 type: expected a string, found 1\n/3 type: expected a string, found 2" },
        { "{'prefixItems':[{'type':'string'},true],'items':false}", "[1,2,3,4]",
          " items: expected at most 2 elements, found 4\n/0 type: expected a string, found 1" },
        { "{'prefixItems':[true,false]}", "[1,2]",
          "/1 false: element 1 is not allowed here, found 2" },
        { "{'uniqueItems':true}", "['a','b','c','b']",
          " uniqueItems: expected elements that all differ, found 1 and 3 equal: 'b'" },
        { "{'uniqueItems':true}", "[{'a':1,'b':2},{'b':2,'a':1.0}]",
          " uniqueItems: expected elements that all differ, found 0 and 1 equal: {'a':1,'b':2}" },
        { "{'contains':{'const':1}}", "[2,3]",
          " contains: expected at least 1 element that fits `contains`, found 0" },
        { "{'contains':{'const':1},'minContains':2}", "[1,3]",
          " minContains: expected at least 2 elements that fit `contains`, found 1" },
        { "{'contains':{'const':1},'maxContains':1}", "[1,1]",
          " maxContains: expected at most 1 element that fits `contains`, found 2" },
        { "{'prefixItems':[true],'unevaluatedItems':false}", "[1,2]",
          "/1 unevaluatedItems: element 1 is not allowed here, found 2" },
        { "{'prefixItems':[true],'unevaluatedItems':{'type':'null'}}", "[1,2]",
          "/1 type: expected null, found 2" },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','items':[true],"
          "'additionalItems':false}",
          "[1,2]", " additionalItems: expected at most 1 element, found 2" },
    };
    CHECK_CASES(cases);
}

TEST(explain_names_members_that_are_missing)
{
    static const struct explain_case cases[] = {
        { "{'required':['status']}", "{}", " required: the required member 'status' is missing" },
        { "{'required':['status','name']}", "{'statsu':1,'x':2}",
          " required: the required member 'status' is missing; found 'statsu': "
          "did you mean 'status'?\n"
          " required: the required member 'name' is missing" },
        /* What has a meaning of its own is not taken for a slip. */
        { "{'required':['name'],'properties':{'names':true}}", "{'names':1}",
          " required: the required member 'name' is missing" },
        { "{'properties':{'a':{'required':['b']}}}", "{'a':{}}",
          "/a required: the required member 'b' is missing" },
        { "{'dependentRequired':{'a':['b','c']}}", "{'a':1,'c':2}",
          " dependentRequired: 'a' is there, so 'b' must be too" },
        { "{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1}",
          " required: the required member 'b' is missing (because 'a' is there)" },
        { "{'minProperties':1}", "{}", " minProperties: expected at least 1 member, found 0" },
        { "{'maxProperties':1}", "{'a':1,'b':2}",
          " maxProperties: expected at most 1 member, found 2" },
    };
    CHECK_CASES(cases);
}

TEST(explain_names_members_that_are_not_allowed)
{
    static const struct explain_case cases[] = {
        { "{'properties':{'size':true,'color':true,'weight':true},'additionalProperties':false}",
          "{'colour':1}",
          "/colour additionalProperties: 'colour' is not allowed here; allowed: 'color', 'size', "
          "'weight'; did you mean 'color'?" },
        { "{'additionalProperties':false}", "{'a/b~c':1}",
          "/a~1b~0c additionalProperties: 'a/b~c' is not allowed here" },
        { "{'properties':{'a':false,'b':true},'additionalProperties':false}", "{'c':1}",
          "/c additionalProperties: 'c' is not allowed here; allowed: 'b'" },
        { "{'additionalProperties':{'type':'string'}}", "{'a':1,'b':'x'}",
          "/a type: expected a string, found 1" },
        { "{'patternProperties':{'^x-':{'type':'string'}}}", "{'x-a':1,'y':1}",
          "/x-a type: expected a string, found 1" },
        { "{'propertyNames':{'maxLength':3}}", "{'long name':1}",
          "/long name propertyNames: the name 'long name' is not allowed: expected at most 3 "
          "characters, found 9" },
        { "{'propertyNames':{'enum':['left','right']}}", "{'rihgt':1}",
          "/rihgt propertyNames: the name 'rihgt' is not allowed: expected one of 'left', "
          "'right', found 'rihgt'; did you mean 'right'?" },
        { "{'allOf':[{'properties':{'color':true}}],'properties':{'size':true},"
          "'unevaluatedProperties':false}",
          "{'colour':1,'size':2}",
          "/colour unevaluatedProperties: 'colour' is not allowed here; allowed: 'color', 'size'; "
          "did you mean 'color'?" },
        { "{'properties':{'a':true},'unevaluatedProperties':{'type':'string'}}", "{'a':1,'b':2}",
          "/b type: expected a string, found 2" },
    };
    CHECK_CASES(cases);
}

TEST(explain_picks_the_closest_alternative)
{
    static const struct explain_case cases[] = {
        /* Of the kinds. */
        { "{'anyOf':[{'type':'string'},{'type':'integer'},{'type':'null'}]}", "[1]",
          " anyOf: expected a string, an integer or null, found [1]" },
        { "{'oneOf':[{'$ref':'#/$defs/t'},{'type':'number'}],'$defs':{'t':{'type':'string'}}}",
          "true", " oneOf: expected a string or a number, found true" },
        { "{'anyOf':[{'type':'string','minLength':3},{'type':'integer'}]}", "'a'",
          " minLength: expected at least 3 characters, found 1 (as a string; also allowed: an "
          "integer)" },
        /* Of the values. */
        { "{'anyOf':[{'const':'left'},{'const':'right'},{'enum':['up','down']}]}", "'rihgt'",
          " anyOf: expected one of 'left', 'right', 'up', 'down', found 'rihgt'; did you mean "
          "'right'?" },
        /* Of the members that tell them apart. */
        { "{'oneOf':[{'properties':{'kind':{'const':'a'},'x':{'type':'string'}},"
          "'required':['kind','x']},"
          "{'properties':{'kind':{'const':'b'},'y':{'type':'string'},'z':{'type':'string'}},"
          "'required':['kind','y','z']}]}",
          "{'kind':'b'}",
          " required: the required member 'y' is missing (as an object with 'kind': 'b'; also "
          "allowed: an object with 'kind': 'a')\n"
          " required: the required member 'z' is missing (as an object with 'kind': 'b'; also "
          "allowed: an object with 'kind': 'a')" },
        { "{'anyOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/b'}],'$defs':{"
          "'a':{'allOf':[{'properties':{'t':{'enum':['a','A']}}}],'required':['x']},"
          "'b':{'allOf':[{'properties':{'t':{'enum':['b','B']}}}],'required':['y']}}}",
          "{'t':'B'}",
          " required: the required member 'y' is missing (as an object with 'y'; also allowed: an "
          "object with 'x')" },
        /* Of the rest: fewest, then deepest. */
        { "{'anyOf':[{'required':['a','b']},{'required':['c','d']},{'required':['b']}]}", "{}",
          " anyOf: expected 'a' and 'b' or 'c' and 'd' or 'b', found none of them" },
        { "{'anyOf':[{'required':['a','b']},{'required':['c','d']}]}", "{'c':1}",
          " required: the required member 'd' is missing (as an object with 'c' and 'd'; also "
          "allowed: an object with 'a' and 'b')" },
        { "{'oneOf':[{'required':['a']},{'required':['b']}]}", "{'a':1,'b':1}",
          " oneOf: expected only one of 'a' and 'b', found both" },
        { "{'anyOf':[{'items':{'type':'string'},'maxItems':0},{'items':{'type':'integer'}}]}",
          "[1,'x']",
          "/1 type: expected an integer, found 'x' (the closest of 2 forms that are allowed here)" },
        { "{'anyOf':[{'required':['a']},{'properties':{'b':{'required':['c']}}}]}", "{'b':{}}",
          "/b required: the required member 'c' is missing (also allowed: an object with 'a')" },
        /* Inside each other. */
        { "{'anyOf':[{'type':'null'},{'items':{'anyOf':[{'type':'null'},{'minimum':5}]},"
          "'type':'array'}]}",
          "[7,3]", "/1 minimum: expected at least 5, found 3 (also allowed: null)" },
        { "{'oneOf':[{'type':'integer'},{'type':'string'},{'minimum':3},true]}", "5",
          " oneOf: expected to fit exactly one of the forms that are allowed here, fits an integer, "
          "/oneOf/2 and /oneOf/3" },
    };
    CHECK_CASES(cases);
}

TEST(explain_says_why_a_schema_applies)
{
    static const struct explain_case cases[] = {
        { "{'if':{'properties':{'a':{'const':1}}},'then':{'required':['b']},"
          "'else':{'required':['c']}}",
          "{'a':1}", " required: the required member 'b' is missing (because `if` fits)" },
        { "{'if':{'properties':{'a':{'const':1}}},'then':{'required':['b']},"
          "'else':{'required':['c']}}",
          "{'a':2}", " required: the required member 'c' is missing (because `if` does not fit)" },
        { "{'if':true,'then':false}", "1",
          " false: the document is not allowed here, found 1 (because `if` fits)" },
        { "{'not':{'const':'x'}}", "'x'", " not: expected anything but 'x', found 'x'" },
        { "{'not':{'enum':[1,2]}}", "2", " not: expected anything but one of 1, 2, found 2" },
        { "{'not':{'type':['string','null']}}", "'x'",
          " not: expected anything but a string or null, found 'x'" },
        { "{'not':{'required':['a','b']}}", "{'a':1,'b':2}",
          " not: expected an object without 'a' and 'b', found {'a':1,'b':2}" },
        { "{'properties':{'n':{'not':{'minimum':5}}}}", "{'n':7}",
          "/n not: expected a value that does not fit the schema at /properties/n/not, found 7" },
    };
    CHECK_CASES(cases);
}

TEST(explain_leaves_out_what_only_follows)
{
    static const struct explain_case cases[] = {
        /* A value of the wrong type has no members worth speaking of. */
        { "{'type':'object','minItems':3,'items':{'type':'string'}}", "[1]",
          " type: expected an object, found [1]" },
        { "{'enum':['abc'],'minLength':2}", "'x'", " enum: expected 'abc', found 'x'" },
        /* `b` is unevaluated only because `a` is wrong. */
        { "{'anyOf':[{'properties':{'a':{'type':'string'},'b':true},'required':['a']}],"
          "'unevaluatedProperties':false}",
          "{'a':1,'b':2}", "/a type: expected a string, found 1" },
        /* Two ways to one value. */
        { "{'allOf':[{'$ref':'#/$defs/x'},{'$ref':'#/$defs/x'},{'allOf':[{'$ref':'#/$defs/x'}]}],"
          "'$defs':{'x':{'properties':{'a':{'type':'string'}},'required':['b']}}}",
          "{'a':1}",
          " required: the required member 'b' is missing\n/a type: expected a string, found 1" },
    };
    CHECK_CASES(cases);
}

TEST(explain_puts_useful_violations_first)
{
    static const struct explain_case cases[] = {
        { "{'properties':{'a':{'properties':{'b':{'type':'string'}}},'c':{'maximum':1},"
          "'d':{'type':'null'}},'required':['e'],'maxProperties':2}",
          "{'a':{'b':1},'c':2,'d':3}",
          " required: the required member 'e' is missing\n"
          "/d type: expected null, found 3\n"
          "/c maximum: expected at most 1, found 2\n"
          "/a/b type: expected a string, found 1\n"
          " maxProperties: expected at most 2 members, found 3" },
    };
    CHECK_CASES(cases);
    CHECK_STR(explained(cases[0].schema, cases[0].doc, 2),
              " required: the required member 'e' is missing\n/d type: expected null, found 3");
    CHECK_STR(explained(cases[0].schema, cases[0].doc, 0), "");
}

TEST(explain_says_when_checking_was_given_up)
{
    static const struct explain_case cases[] = {
        { "{'anyOf':[false,{'$ref':'#'}]}", "1",
          " budget: checking was given up because too many schemas apply inside each other: a "
          "$ref may lead back to itself" },
        { "{'items':{'pattern':'^(a|a?)+$'}}",
          "['a','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!']",
          "/1 budget: matching the pattern ^(a|a?)+$ took too many steps of backtracking, so it "
          "is not known whether 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' matches" },
    };
    CHECK_CASES(cases);
}

TEST(explain_follows_dynamic_references)
{
    static const struct explain_case cases[] = {
        { "{'$id':'http://a/root','$dynamicAnchor':'n','$ref':'tree','unevaluatedProperties':false,"
          "'$defs':{'t':{'$id':'tree','$dynamicAnchor':'n','properties':{'data':true,"
          "'kids':{'items':{'$dynamicRef':'#n'}}}}}}",
          "{'kids':[{'daat':1}]}",
          "/kids/0/daat unevaluatedProperties: 'daat' is not allowed here; allowed: 'data', "
          "'kids'; did you mean 'data'?" },
    };
    CHECK_CASES(cases);
}

/* The explanation uses a schema for schemas, which is what an author of schemas meets first. */
TEST(explain_knows_the_meta_schemas)
{
    static const struct explain_case cases[] = {
        { "{'$ref':'https://json-schema.org/draft/2020-12/schema'}",
          "{'type':'strin','properties':{'a':{'minimum':'3'}}}",
          "/type enum: expected one of 'array', 'boolean', 'integer', 'null', 'number', 'object', "
          "'string', found 'strin'; did you mean 'string'? (also allowed: an array)\n"
          "/properties/a/minimum type: expected a number, found '3'" },
        { "{'$ref':'http://json-schema.org/draft-07/schema#'}", "{'items':[{'minLength':-1}]}",
          "/items/0/minLength minimum: expected at least 0, found -1 (as an array; also "
          "allowed: a boolean or an object)" },
        { "{'$ref':'https://json-schema.org/draft/2019-09/schema'}", "{'$defs':{'a':1}}",
          "/$defs/a type: expected a boolean or an object, found 1" },
    };
    CHECK_CASES(cases);
}

TEST(require_is_silent_about_what_fits)
{
    CHECK_OK(schema_require(check_arena(), compiled("{'type':'string'}"), parsed("'a'")));
}

TEST(require_lists_the_violations)
{
    struct schema *s = compiled("{'properties':{'a':{'type':'string'},'b':{'type':'null'}}}");
    err e = schema_require(check_arena(), s, parsed("{'a':1,'b':2}"));

    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(e->message, "/a: expected a string, found 1 (and 1 more)");
    CHECK_STR(
        e->members,
        "\"errors\":["
        "{\"pointer\":\"/a\",\"keyword\":\"type\",\"message\":\"expected a string, found 1\"},"
        "{\"pointer\":\"/b\",\"keyword\":\"type\",\"message\":\"expected null, found 2\"}]");

    e = schema_require(check_arena(), compiled("{'required':['x']}"), parsed("{}"));
    CHECK_STR(e->message, "the required member \"x\" is missing");
    e = schema_require(check_arena(), compiled("{'anyOf':[false,{'$ref':'#'}]}"), parsed("{}"));
    CHECK_ERR(e, ERR_UNFIT);
    CHECK(str_starts(e->message, STR("checking was given up")));
}

TEST(require_lists_at_most_fifty)
{
    struct buf doc = buf_in(check_arena());

    for (int i = 0; i < 60; i++)
        buf_printf(&doc, "%c%d", i ? ',' : '[', i);
    buf_byte(&doc, ']');
    err e = schema_require(check_arena(), compiled("{'items':{'type':'string'}}"),
                           parsed(buf_str(&doc).at));
    CHECK_STR(e->message, "/0: expected a string, found 0 (and at least 49 more)");
}

TEST(meta_schemas_are_found_by_their_address)
{
    static const char *const uris[] = {
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2019-09/meta/format",
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
    };

    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        str text = schema_meta_text(str_from(uris[i]));
        const struct json *schema = json_parsed(check_arena(), text);
        CHECK(str_starts(json_str(schema, "$id"), str_from(uris[i])));
        CHECK(str_eq(text, schema_meta_text(arena_printf(check_arena(), "%s#", uris[i]))));
    }
    CHECK_INT(schema_meta_text(STR("https://json-schema.org/draft/2020-12/schema#meta")).len, 0);
    CHECK_INT(schema_meta_text(STR("")).len, 0);
}

/* ---- the public suite: whatever does not fit is explained, and nothing else ---- */

static unsigned fit_count, unfit_count;

static void check_agreement(const struct schema *s, const struct json *test, const char *file)
{
    const struct json *doc = json_get(test, "data");
    const struct violation *list;
    size_t count = schema_explain(check_arena(), s, doc, 10, &list);
    enum schema_verdict verdict = schema_check(s, doc);

    if ((verdict == SCHEMA_FITS) != (count == 0))
        check_fail(__FILE__, __LINE__, "%s: " STR_FMT ": verdict %d, but %zu violations", file,
                   STR_ARG(json_str(test, "description")), (int)verdict, count);
    if (verdict == SCHEMA_UNFIT && str_eq(list[0].keyword, STR("budget")))
        check_fail(__FILE__, __LINE__, "%s: " STR_FMT ": no reason was found", file,
                   STR_ARG(json_str(test, "description")));
    fit_count += verdict == SCHEMA_FITS;
    unfit_count += verdict == SCHEMA_UNFIT;
}

static void check_file(const char *path, str dialect)
{
    const struct schema_options options = { .dialect = dialect, .assert_formats = true };
    const struct json_limits limits = { .nul_allowed = true };
    const struct json *groups, *group, *test;

    CHECK_OK(json_parse(check_arena(), check_read(path), &limits, &groups));
    for (size_t i = 0; (group = json_at(groups, i)); i++) {
        struct schema *s;
        if (schema_compile(check_arena(), json_get(group, "schema"), &options, &s))
            continue; /* it refers to documents that only the suite's own test knows */
        for (size_t j = 0; (test = json_at(json_get(group, "tests"), j)); j++)
            check_agreement(s, test, path);
        schema_free(s);
    }
}

static void check_folder(const char *path, str dialect)
{
    DIR *dir = opendir(path);

    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));)
        if (str_ends(str_from(d->d_name), STR(".json")))
            check_file(arena_printf(check_arena(), "%s/%s", path, d->d_name).at, dialect);
    closedir(dir);
}

TEST(explain_agrees_with_the_check_on_the_public_suite)
{
    static const struct {
        const char *folder, *dialect;
    } drafts[] = {
        { "draft7", "http://json-schema.org/draft-07/schema#" },
        { "draft2019-09", "https://json-schema.org/draft/2019-09/schema" },
        { "draft2020-12", "https://json-schema.org/draft/2020-12/schema" },
    };
    const char *suite = check_suite("json-schema-test-suite");

    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++) {
        str dialect = str_from(drafts[i].dialect);
        str folder = arena_printf(check_arena(), "%s/tests/%s", suite, drafts[i].folder);
        check_folder(folder.at, dialect);
        check_folder(arena_printf(check_arena(), STR_FMT "/optional", STR_ARG(folder)).at, dialect);
        check_folder(arena_printf(check_arena(), STR_FMT "/optional/format", STR_ARG(folder)).at,
                     dialect);
    }
    CHECK(fit_count > 500 && unfit_count > 500);
    check_note("%u fit, %u do not", fit_count, unfit_count);
}
