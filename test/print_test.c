/* print_test.c: the three ways to print. */
#include "json_help.h"
#include "json/json.h"

static const struct json *parsed(const char *text)
{
    return json_parsed(check_arena(), str_from(text));
}

static str canonical(const char *text)
{
    struct buf out = buf_in(check_arena());
    json_print_canonical(&out, parsed(text));
    return buf_str(&out);
}

TEST(pretty_output_indents_by_two_and_keeps_empty_containers_short)
{
    struct buf out = buf_in(check_arena());
    json_print_pretty(&out, parsed("{\"a\":[1,{\"b\":[]}],\"c\":{},\"d\":\"x\"}"));
    CHECK_STR(buf_str(&out), "{\n"
                             "  \"a\": [\n"
                             "    1,\n"
                             "    {\n"
                             "      \"b\": []\n"
                             "    }\n"
                             "  ],\n"
                             "  \"c\": {},\n"
                             "  \"d\": \"x\"\n"
                             "}");
}

TEST(the_size_that_is_promised_is_the_size_that_is_printed)
{
    static const char *const texts[] = {
        "null", "true", "false",    "-1.50", "\"\"",          "\"\\u0001\\n\\\"\xc3\xa9\"",
        "[]",   "[1]",  "[1,2,[]]", "{}",    "{\"a\\\\\":1}", "{\"a\":1,\"b\":[{\"c\":null}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct json *j = parsed(texts[i]);
        CHECK_INT(json_print_size(j), json_printed(check_arena(), j).len);
    }
}

/* The examples of RFC 8785: sections 3.2.2 and 3.2.3. */
TEST(canonical_form_is_that_of_the_rfc)
{
    CHECK_STR(canonical("{\"numbers\":[333333333.33333329,1E30,4.50,2e-3,"
                        "0.000000000000000000000000001],"
                        "\"string\":\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\","
                        "\"literals\":[null,true,false]}"),
              "{\"literals\":[null,true,false],"
              "\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
              "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    CHECK_STR(canonical("{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\","
                        "\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\",\"1\":\"One\","
                        "\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
                        "\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}"),
              "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
              "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\","
              "\"\xe2\x82\xac\":\"Euro Sign\",\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
              "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

/* Numbers of the RFC's appendix B, and where shortest digits are hard to find. */
TEST(canonical_numbers_are_printed_as_ecmascript_does)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "0", "0" },
        { "-0", "0" },
        { "5e-324", "5e-324" },
        { "-5e-324", "-5e-324" },
        { "1.7976931348623157e308", "1.7976931348623157e+308" },
        { "9007199254740992", "9007199254740992" },
        { "-9007199254740992", "-9007199254740992" },
        { "295147905179352830000", "295147905179352830000" },
        { "9.999999999999997e22", "9.999999999999997e+22" },
        { "1e23", "1e+23" },
        { "1.0000000000000001e23", "1.0000000000000001e+23" },
        { "999999999999999700000", "999999999999999700000" },
        { "999999999999999900000", "999999999999999900000" },
        { "1e21", "1e+21" },
        { "9.999999999999997e-7", "9.999999999999997e-7" },
        { "0.000001", "0.000001" },
        { "333333333.3333332", "333333333.3333332" },
        { "333333333.33333325", "333333333.33333325" },
        { "333333333.3333333", "333333333.3333333" },
        { "333333333.3333334", "333333333.3333334" },
        { "333333333.33333343", "333333333.33333343" },
        { "-0.0000033333333333333333", "-0.0000033333333333333333" },
        { "1424953923781206.2", "1424953923781206.2" },
        { "5.684341886080802e-14", "5.684341886080802e-14" },
        { "5.684341886080801486968994140625e-14", "5.684341886080802e-14" },
        { "4.35", "4.35" },
        { "100", "100" },
        { "1e2", "100" },
        { "123456789.0", "123456789" },
        { "0.1", "0.1" },
        { "1e-400", "0" },
        { "12345678901234567890123", "1.2345678901234568e+22" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(canonical(cases[i].text), cases[i].expected);
}
