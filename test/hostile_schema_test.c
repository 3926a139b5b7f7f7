/* hostile_schema_test.c: schemas made to hurt, and documents that make good ones hurt, are answered at
 * once. */
#include "hostile.h"
#include "json/schema/schema.h"

static void drop(void *schema)
{
    schema_free(schema);
}

static err run_schema(struct arena *a, const struct hostile *h, struct work *spent)
{
    const struct schema_options options = { .assert_formats = true };
    struct json text = value_of(a, &h->first), doc = value_of(a, &h->second);
    const struct violation *list;
    struct schema *s = NULL;
    struct work start = work_now();
    err e = schema_compile(a, &text, &options, &s);

    if (s) {
        arena_on_release(a, drop, s);
        e = schema_require(a, s, &doc);
    }
    *spent = work_since(start);
    if (s)
        CHECK((schema_explain(a, s, &doc, 1, &list) > 0) == (e != NULL));
    return e;
}

#define WIDE "{'$ref':'#/$defs/w'}"
#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"

TEST_LIMIT(hostile_schemas_are_checked_or_given_up_at_once, 120)
{
    static const struct hostile cases[] = {
        { "allOf that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'allOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'minimum':0}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "allOf that doubles and fails",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'allOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'minimum':2}}}"),
          PLAIN("1"), "UNFIT: expected at least 2, found 1" },
        { "anyOf that doubles and fails",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'anyOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'minimum':2}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "oneOf that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'oneOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':true}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "not that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'not':{'allOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]}},", 40,
               "'a40':{'minimum':0}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "if that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'if':{'$ref':'#/$defs/a\2'},'then':{'$ref':'#/$defs/a\2'}},", 40,
               "'a40':{'minimum':0}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "anyOf over a deep document",
          PLAIN("{'anyOf':[{'properties':{'a':{'$ref':'#'}},'required':['x']},"
                "{'properties':{'a':{'$ref':'#'}},'required':['y']},"
                "{'properties':{'a':{'$ref':'#'}},'required':['z']}]}"),
          NESTED("{'a':", 60, "{}", "}"), "UNFIT: given up" },
        { "a $ref to itself", PLAIN("{'$ref':'#'}"), PLAIN("1"), "UNFIT: leads back to itself" },
        { "a $ref in circles",
          PLAIN("{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}}}"),
          PLAIN("1"), "UNFIT: leads back to itself" },
        { "a circle behind a failure", PLAIN("{'anyOf':[{'type':'string'},{'$ref':'#'}]}"),
          PLAIN("1"), "UNFIT: $ref may lead back" },
        { "a circle through not", PLAIN("{'not':{'$ref':'#'}}"), PLAIN("1"),
          "UNFIT: leads back to itself" },
        { "a $dynamicRef to itself", PLAIN("{'$dynamicAnchor':'a','$dynamicRef':'#a'}"), PLAIN("1"),
          "UNFIT: $ref may lead back" },
        { "a chain of more $ref than may be",
          MANY("{'$ref':'#/$defs/a0','$defs':{", "'a\1':{'$ref':'#/$defs/a\2'},", 30000,
               "'a30000':{'type':'null'}}}"),
          PLAIN("1"), "TOO_LARGE: expected at most 25000 schemas" },
        { "patterns that all differ",
          MANY("{'properties':{'x':true", ",'\1':{'pattern':'^\1$'}", 19000, "}}"), PLAIN("{}"),
          "TOO_LARGE: expected at most 25000 schemas" },
        { "patterns that are all the same",
          MANY("{'properties':{'x':true", ",'\1':{'pattern':'^(a|b)+$'}", 10000, "}}"), PLAIN("{}"),
          "ok" },
        { "a chain of 20,000 $ref",
          MANY("{'$ref':'#/$defs/a0','$defs':{", "'a\1':{'$ref':'#/$defs/a\2'},", 20000,
               "'a20000':{'type':'null'}}}"),
          PLAIN("1"), "UNFIT" },
        { "a $ref to nothing", PLAIN("{'$ref':'#/$defs/x'}"), PLAIN("1"), "UNFIT: #/$defs/x" },
        { "a pattern that backtracks", PLAIN("{'pattern':'^(a+)+$'}"), PLAIN("'" LONG_A "!'"),
          "UNFIT: backtracking" },
        { "a pattern that backtracks over a long text", PLAIN("{'pattern':'(x+x+)+[yz]'}"),
          MANY("'", "x", 100000, "'"), "UNFIT: backtracking" },
        { "patterns of names that backtrack",
          PLAIN("{'patternProperties':{'^(a|a?)+$':true},'additionalProperties':false}"),
          PLAIN("{'" LONG_A "!':1}"), "UNFIT: backtracking" },
        { "many texts that backtrack below the limit", PLAIN("{'items':{'pattern':'^(a+)+$|!'}}"),
          MANY("['a'", ",'aaaaaaaaaaaaaaa!'", 100000, "]"), "UNFIT: given up" },
        { "a repetition that runs to the end from every place", PLAIN("{'pattern':'\\\\w*:|x'}"),
          MANY("'", "w", 300000, "'"), "UNFIT: backtracking" },
        { "a repetition that runs to the end from every iteration",
          PLAIN("{'pattern':'^(a*b|a)*$'}"), MANY("'", "a", 300000, "'"), "UNFIT: backtracking" },
        { "a lookahead that runs to the end from every place", PLAIN("{'pattern':'(?=[^:]*:)x'}"),
          MANY("'", "x", 300000, "'"), "UNFIT: backtracking" },
        { "a text that a pattern walks often", PLAIN("{'pattern':'a.*b.*c.*d'}"),
          MANY("'", "abc", 300000, "'"), "UNFIT" },
        { "a pattern of many repetitions", PLAIN("{'pattern':'((a{1,1000}){1,1000}){1,1000}'}"),
          PLAIN("'a'"), "UNFIT" },
        { "a pattern of 100,000 parentheses",
          { "{'pattern':'", "(", 100000, "a", ")", "'}" },
          PLAIN("'a'"),
          "UNFIT" },
        { "a pattern that is not closed", MANY("{'pattern':'", "(a", 100, "'}"), PLAIN("'a'"),
          "UNFIT: pattern" },
        { "the format regex", PLAIN("{'format':'regex'}"), MANY("'", "(", 100000, "'"),
          "UNFIT: expected" },
        { "formats of long texts",
          PLAIN("{'anyOf':[{'format':'email'},{'format':'hostname'},{'format':'idn-hostname'},"
                "{'format':'ipv6'},{'format':'uri'},{'format':'uri-template'},"
                "{'format':'json-pointer'},{'format':'duration'},{'format':'date-time'}]}"),
          MANY("'", "a.-", 300000, " '"), "UNFIT" },
        { "an enum of 100,000 texts", MANY("{'enum':['x'", ",'value-\1'", 100000, "]}"),
          PLAIN("'value-x'"), "UNFIT: and 99989 more" },
        { "an enum of 100,000 arrays", MANY("{'items':{'enum':[[]", ",[\1]", 100000, "]}}"),
          MANY("[0", ",[-1]", 1000, "]"), "UNFIT" },
        { "an enum of arrays of equal beginnings",
          MANY("{'items':{'enum':[0", ",[[" ZEROS ZEROS ZEROS ZEROS "\1]]", 1000, "]}}"),
          MANY("[0", ",[[" ZEROS ZEROS ZEROS ZEROS "999]]", 1000, ",[[-1]]]"), "UNFIT" },
        { "50,000 required members", MANY("{'required':['x'", ",'\1'", 50000, "]}"), PLAIN("{}"),
          "UNFIT: (and at least 49 more)" },
        { "50,000 required members among 50,000", MANY("{'required':['x'", ",'a\1'", 50000, "]}"),
          MANY("{'y':0", ",'b\1':0", 50000, "}"), "UNFIT" },
        { "50,000 members that are not allowed",
          MANY("{'additionalProperties':false,'properties':{'x':true", ",'property-\1':true", 1000,
               "}}"),
          MANY("{'y':0", ",'propertie-\1':0", 50000, "}"), "UNFIT: is not allowed" },
        { "equal elements at the ends", PLAIN("{'uniqueItems':true}"),
          MANY("[-1", ",\1", 100000, ",-1]"), "UNFIT: found 0 and 100001 equal: -1" },
        { "100,000 elements that differ late", PLAIN("{'uniqueItems':true}"),
          MANY("[0", ",{'a':{'b':[\1]}}", 100000, "]"), "ok" },
        { "100,000 numbers that are almost equal", PLAIN("{'uniqueItems':true}"),
          MANY("[0",
               ",1.00000000000000000\2"
               "1",
               100000, "]"),
          "ok" },
        { "unevaluatedProperties over anyOf that doubles",
          MANY("{'$ref':'#/$defs/a0','unevaluatedProperties':false,'$defs':{",
               "'a\1':{'anyOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'properties':{'a':true}}}}"),
          PLAIN("{'a':1,'b':2}"), "UNFIT: given up" },
        { "unevaluatedProperties at each level",
          PLAIN("{'properties':{'a':{'$ref':'#'}},'allOf':[{'properties':{'b':{'$ref':'#'}}}],"
                "'unevaluatedProperties':false}"),
          NESTED("{'a':", 60, "{'c':1}", "}"), "UNFIT: is not allowed here" },
        { "unevaluatedItems of a long array",
          PLAIN("{'anyOf':[{'prefixItems':[true]},{'contains':{'const':-1}}],"
                "'unevaluatedItems':false}"),
          MANY("[0", ",\1", 200000, "]"), "UNFIT" },
        { "contains in contains", PLAIN("{'contains':{'contains':{'contains':{'const':1}}}}"),
          MANY("[[]", ",[[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0]]", 20000, "]"),
          "UNFIT: expected at least 1 element that fits `contains`, found 0" },
        { "multipleOf of huge exponents", PLAIN("{'multipleOf':1e-300}"), PLAIN("1e308"), "ok" },
        { "multipleOf of many digits", MANY("{'multipleOf':0.", "3", 100000, "}"),
          MANY("", "7", 300, ""), "UNFIT" },
        { "many numbers of many digits", PLAIN("{'items':{'multipleOf':1e-300}}"),
          MANY("[0", ",1.7976931348623157e308", 100000, "]"), "ok" },
        { "bounds of a million digits", MANY("{'minimum':0.", "3", 1000000, "4}"),
          MANY("0.", "3", 1000000, ""), "UNFIT: expected at least 0.333" },
        { "a huge minLength", PLAIN("{'minLength':1e300}"), PLAIN("'a'"), "UNFIT" },
        { "a huge maxItems", PLAIN("{'maxItems':1e300,'minItems':0.0}"), PLAIN("[]"), "ok" },
        { "a megabyte of name before many violations",
          PLAIN("{'additionalProperties':{'items':{'type':'string'}}}"),
          { "{'", "x", 1000000, "':[0", ",0", "]}" },
          "UNFIT: expected a string, found 0" },
        { "100,000 violations", PLAIN("{'items':{'type':'string'}}"), MANY("[0", ",0", 100000, "]"),
          "UNFIT: /0: expected a string, found 0 (and at least 49 more)" },
        { "20,000 properties",
          MANY("{'properties':{'a':true", ",'\1':{'type':'null'}", 20000, "}}"),
          MANY("{'a':0", ",'\1':null", 20000, "}"), "ok" },
        { "JSON in a string before 6,000 forms of two each",
          MANY("{'anyOf':[false",
               ",{'properties':{'a':{'anyOf':[{'type':'array','minItems':\1},{'type':'array'}]}}}",
               6000, "]}"),
          MANY("{'a':'[0", ",0", 32000, "]'}"), "UNFIT: JSON inside of a string" },
        { "JSON in a string before 12,000 forms",
          MANY("{'anyOf':[false", ",{'properties':{'a':{'type':'array','minItems':\1}}}", 12000,
               "]}"),
          MANY("{'a':'[0", ",0", 32000, "]'}"), "UNFIT: JSON inside of a string" },
        { "8,000 forms beside eight of 8,000 members",
          { "{'$defs':{'w':{'required':['q'],'properties':{'a':{}", ",'p\1':{}", 8000,
            "}}},'anyOf':[" WIDE "," WIDE "," WIDE "," WIDE "," WIDE "," WIDE "," WIDE "," WIDE,
            ",{'required':['x']}", "]}" },
          PLAIN("{'b':1}"),
          "UNFIT: the required member \"q\" is missing (as an object with \"q\"" },
        { "5,000 lengths of a long text",
          MANY("{'anyOf':[false", ",{'items':{'maxLength':500000}}", 5000, "]}"),
          MANY("['", "0123456789abcdef", 60000, "']"), "UNFIT" },
        { "3,000 formats of a long text",
          MANY("{'anyOf':[false", ",{'items':{'format':'json-pointer'}}", 3000, "]}"),
          MANY("['/", "0123456789abcdef", 60000, "~']"), "UNFIT" },
        { "1,000 bounds of many digits",
          MANY("{'anyOf':[false", ",{'items':{'maximum':0.\1}}", 1000, "]}"),
          MANY("[0.", "9", 3000000, "]"), "UNFIT" },
        { "300 multiples of many digits",
          MANY("{'anyOf':[false",
               ",{'items':{'multipleOf':0.30\1"
               "1}}",
               300, "]}"),
          MANY("[0.", "7", 3000000, "]"), "UNFIT" },
        { "alternatives that are all looked through for equal elements",
          MANY("{'anyOf':[false", ",{'uniqueItems':true,'contains':{'const':\1}}", 1000, "]}"),
          MANY("[[0],[0", ",0", 300000, "]]"), "UNFIT" },
        { "3,000 dynamic anchors",
          MANY("{'allOf':[true",
               ",{'$id':'http://x/\1','$dynamicAnchor':'d\1','$dynamicRef':'#d\1'}", 3000, "]}"),
          PLAIN("1"), "UNFIT: $ref may lead back" },
        { "10,000 alternatives", MANY("{'anyOf':[false", ",{'minimum':\2}", 10000, "]}"),
          PLAIN("0"), "UNFIT: the closest of 10001 forms" },
        { "a tree of alternatives that all fail late",
          PLAIN(
              "{'$ref':'#/$defs/t','$defs':{'t':{'anyOf':["
              "{'properties':{'l':{'$ref':'#/$defs/t'},'r':{'$ref':'#/$defs/t'}},'required':['x']},"
              "{'properties':{'l':{'$ref':'#/$defs/t'},'r':{'$ref':'#/$defs/t'}},"
              "'required':['y']}]}}}"),
          NESTED("{'l':", 15, "{}", ",'r':{}}"), "UNFIT" },
        { "500 patterns for 500 names",
          MANY("{'patternProperties':{'^x':true", ",'^a\1$':{'type':'null'}", 500, "}}"),
          MANY("{'a':0", ",'a\1':null", 500, "}"), "ok" },
        { "names that are all in dependencies",
          MANY("{'dependentRequired':{'x':['y']", ",'\1':['x']", 5000, "}}"),
          MANY("{'y':0", ",'\1':null", 5000, "}"), "UNFIT" },
    };
    CHECK_HOSTILE(cases, run_schema);
}
