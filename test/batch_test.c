/* batch_test.c: the requests of `baton-suites json batch`, and lines that are none. */
#include "json_help.h"

#include "base/digest.h"
#include "suites/suites.h"

/* Each line in an arena of its own, as the program does it, so that nothing that must last is
 * left in the one of an earlier line. */
static str answer_to(struct batch *b, str line)
{
    struct arena *a = arena_new();
    str copy = arena_copy(a, line);
    struct buf out = buf_in(a);
    batch_line(b, a, copy, &out);
    str answer = arena_copy(check_arena(), buf_str(&out));
    arena_free(a);
    return answer;
}

static void answers(struct batch *b, const char *request, const char *expected)
{
    CHECK_STR(answer_to(b, quotes_double(check_arena(), request)),
              quotes_double(check_arena(), expected).at);
}

static const struct json *parsed(str text)
{
    const struct json *j;
    const struct json_limits limits = { .depth_max = 80, .nul_allowed = true };
    CHECK_OK(json_parse(check_arena(), text, &limits, &j));
    return j;
}

static void refuses(struct batch *b, str line)
{
    const struct json *answer = parsed(answer_to(b, line));
    if (json_str(answer, "error").len == 0 || json_get(answer, "result"))
        check_fail(__FILE__, __LINE__, "expected an error for: " STR_FMT, STR_ARG(line));
}

TEST(batch_answers_each_operation)
{
    // clang-format off
    static const char *const cases[][2] = {
        { "{'op':'validate','schema':{'type':'string'},'instances':['a',1,null]}",
          "{'results':[true,false,false]}" },
        { "{'op':'validate','schema':true,'instances':[]}", "{'results':[]}" },
        { "{'op':'patch','doc':{'a':1},'patch':[{'op':'add','path':'/b','value':2}]}",
          "{'result':{'a':1,'b':2}}" },
        { "{'op':'merge','doc':{'a':1},'patch':{'a':null,'b':2}}", "{'result':{'b':2}}" },
        { "{'op':'diff','a':{'a':1,'b':2},'b':{'b':2.0,'a':1}}", "{'result':[]}" },
        { "{'op':'diff','a':1,'b':2}",
          "{'result':[{'op':'replace','path':'','value':2}]}" },
        { "{'op':'pointer','doc':{'a':[1,2]},'pointer':'/a/1'}", "{'result':2}" },
        { "{'op':'pointer','doc':null,'pointer':''}", "{'result':null}" },
        { "{'op':'path','doc':{'a':[1,2]},'query':'$.a[*]'}",
          "{'result':[1,2],'paths':['$[\\u0027a\\u0027][0]','$[\\u0027a\\u0027][1]']}" },
        { "{'op':'path','doc':{},'query':'$.a'}", "{'result':[],'paths':[]}" },
        { "{'op':'fmt','doc':[1]}", "{'result':'[\\n  1\\n]'}" },
        { "{'op':'canonical','doc':{'b':1.0,'a':[]}}",
          "{'result':'{\\u0022a\\u0022:[],\\u0022b\\u0022:1}'}" },
        { "{'op':'parse','base64':'e30='}", "{'ok':true}" },
        { "{'op':'pointer','doc':{'a\\u0000b':'\\u0000'},'pointer':'/a\\u0000b'}",
          "{'result':'\\u0000'}" },
    };
    // clang-format on
    struct batch *b = batch_new();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        str found = answer_to(b, quotes_double(check_arena(), cases[i][0]));
        if (!json_equal(parsed(found), parsed(quotes_double(check_arena(), cases[i][1]))))
            CHECK_STR(found, quotes_double(check_arena(), cases[i][1]).at);
    }
    batch_free(b);
}

TEST(batch_keeps_numbers_as_they_were_written)
{
    struct batch *b = batch_new();
    answers(b, "{'op':'patch','doc':[1.50,1E2,123456789012345678901234567890],'patch':[]}",
            "{'result':[1.50,1E2,123456789012345678901234567890]}");
    answers(b, "{'op':'pointer','doc':[-0.0],'pointer':'/0'}", "{'result':-0.0}");
    batch_free(b);
}

TEST(batch_echoes_an_id_of_any_kind_also_with_an_error)
{
    struct batch *b = batch_new();
    answers(b, "{'op':'pointer','id':{'n':1.0},'doc':1,'pointer':''}",
            "{'id':{'n':1.0},'result':1}");
    answers(b, "{'id':null,'op':'parse','base64':'MQ=='}", "{'id':null,'ok':true}");
    str refused = answer_to(b, quotes_double(check_arena(), "{'id':'x','op':'nothing'}"));
    CHECK_STR(json_str(parsed(refused), "id"), "x");
    refuses(b, quotes_double(check_arena(), "{'id':'x','op':'nothing'}"));
    batch_free(b);
}

TEST(start_holds_until_the_next_start)
{
    struct batch *b = batch_new();
    const char *draft7 = "{'op':'start','dialect':'http://json-schema.org/draft-07/schema#'}";
    const char *beside_ref = "{'op':'validate','instances':[1],'schema':{'$ref':'#/definitions/a',"
                             "'type':'string','definitions':{'a':true}}}";
    answers(b, beside_ref, "{'results':[false]}");
    answers(b, draft7, "{'ok':true}");
    answers(b, beside_ref, "{'results':[true]}");
    answers(b, beside_ref, "{'results':[true]}");

    /* One that fails changes nothing. */
    refuses(b, quotes_double(check_arena(), "{'op':'start','dialect':7}"));
    answers(b, beside_ref, "{'results':[true]}");
    answers(b, "{'op':'start','dialect':null}", "{'ok':true}");
    answers(b, beside_ref, "{'results':[false]}");

    const char *mail = "{'op':'validate','schema':{'format':'email'},'instances':['nobody']}";
    answers(b, mail, "{'results':[true]}");
    answers(b, "{'op':'start','formatAssertion':true}", "{'ok':true}");
    answers(b, mail, "{'results':[false]}");
    batch_free(b);
}

TEST(validate_reaches_the_remotes_of_start_and_no_others)
{
    struct batch *b = batch_new();
    const char *request = "{'op':'validate','schema':{'$ref':'http://x.test/a'},'instances':[1]}";
    refuses(b, quotes_double(check_arena(), request));

    struct buf start = buf_in(check_arena());
    buf_add(&start, STR("{'op':'start','remotes':{'http://x.test/a':{'$ref':'r299'}"));
    for (int i = 0; i < 300; i++)
        buf_printf(&start, ",'http://x.test/r%d':{'type':'integer'}", i);
    buf_add(&start, STR("}}"));
    answers(b, buf_str(&start).at, "{'ok':true}");
    answers(b, request, "{'results':[true]}");
    answers(b, "{'op':'start'}", "{'ok':true}");
    refuses(b, quotes_double(check_arena(), request));
    batch_free(b);
}

TEST(validate_counts_an_exhausted_check_as_false_and_says_so)
{
    /* Two references to the next level at each of 40 levels: 2^40 checks of one integer. */
    struct buf request = buf_in(check_arena());
    buf_add(&request, STR("{'op':'validate','instances':['x',1,2],'schema':{"
                          "'if':{'type':'integer'},'then':{'$ref':'#/$defs/d0'},'$defs':{"));
    for (int i = 0; i < 40; i++)
        buf_printf(&request, "'d%d':{'allOf':[{'$ref':'#/$defs/d%d'},{'$ref':'#/$defs/d%d'}]},", i,
                   i + 1, i + 1);
    buf_add(&request, STR("'d40':{'minimum':0}}}}"));

    struct batch *b = batch_new();
    const struct json *answer =
        parsed(answer_to(b, quotes_double(check_arena(), buf_str(&request).at)));
    CHECK(json_equal(json_get(answer, "results"), parsed(STR("[true,false,false]"))));
    CHECK_STR(json_str(answer, "error"), "the check of these instances reached its limit: 1, 2");
    batch_free(b);
}

TEST(parse_tells_json_from_what_is_not)
{
    static const struct {
        str text;
        bool ok;
    } cases[] = {
        { STR("[1]"), true },
        { STR("[1,]"), false },
        { STR("\"\\u0000\""), true },
        { STR("\"\xff\""), false },
        { STR("{\"a\":1,\"a\":1}"), false },
        { STR(""), false },
        { STR("1\0"), false },
    };
    struct batch *b = batch_new();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        str encoded = base64_encode(check_arena(), cases[i].text);
        str request =
            arena_printf(check_arena(), "{'op':'parse','base64':'" STR_FMT "'}", STR_ARG(encoded));
        const struct json *answer = parsed(answer_to(b, quotes_double(check_arena(), request.at)));
        CHECK(json_is(json_get(answer, "ok"), JSON_BOOL));
        CHECK_INT(json_bool_or(answer, "ok", false), cases[i].ok);
        CHECK_INT(json_str(answer, "error").len > 0, !cases[i].ok);
    }
    refuses(b, quotes_double(check_arena(), "{'op':'parse','base64':'e30'}"));
    refuses(b, quotes_double(check_arena(), "{'op':'parse','base64':'e3 0='}"));
    batch_free(b);
}

TEST(batch_ignores_blank_lines)
{
    struct batch *b = batch_new();
    CHECK_STR(answer_to(b, STR("")), "");
    CHECK_STR(answer_to(b, STR(" \t\r")), "");
    batch_free(b);
}

TEST(batch_answers_what_is_no_request_by_an_error)
{
    static const str hostile[] = {
        STR("{"),
        STR("nonsense"),
        STR("\0"),
        STR("\xff\xfe{}"),
        STR("{\"op\":\"\xc3\x28\"}"),
        STR("[]"),
        STR("7"),
        STR("{}"),
        STR("{\"op\":7}"),
        STR("{\"op\":\"\"}"),
        STR("{\"op\":\"fmt\"}"),
        STR("{\"op\":\"fmt\",\"doc\":1} {}"),
        STR("{\"op\":\"fmt\",\"doc\":1e999}"),
        STR("{\"op\":\"fmt\",\"op\":\"fmt\",\"doc\":1}"),
        STR("{\"op\":\"fmt\",\"doc\":1,\"dco\":2}"),
        STR("{\"op\":\"validate\",\"schema\":true,\"instances\":{}}"),
        STR("{\"op\":\"validate\",\"schema\":7,\"instances\":[]}"),
        STR("{\"op\":\"validate\",\"schema\":{\"$ref\":\"#/none\"},\"instances\":[]}"),
        STR("{\"op\":\"patch\",\"doc\":{},\"patch\":{}}"),
        STR("{\"op\":\"patch\",\"doc\":{},\"patch\":[{\"op\":\"remove\",\"path\":\"/a\"}]}"),
        STR("{\"op\":\"pointer\",\"doc\":{},\"pointer\":\"a\"}"),
        STR("{\"op\":\"pointer\",\"doc\":{},\"pointer\":\"/a\"}"),
        STR("{\"op\":\"path\",\"doc\":{},\"query\":\"$[\"}"),
        STR("{\"op\":\"start\",\"remotes\":[]}"),
    };
    struct batch *b = batch_new();
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
        refuses(b, hostile[i]);
    answers(b, "{'op':'fmt','doc':1}", "{'result':'1'}");
    batch_free(b);
}

TEST(batch_says_what_was_meant)
{
    // clang-format off
    static const char *const cases[][2] = {
        { "{'op':'valdiate'}", "there is no operation 'valdiate'; did you mean 'validate'?" },
        { "{'op':'validate','schema':1}", "validate needs a member \"instances\"" },
        { "{'op':'validate','schema':1,'instances':1}",
          "validate expects \"instances\" to be of type array, but found integer" },
        { "{'op':'start','formatAsertion':true}",
          "start has no member 'formatAsertion'; did you mean 'formatAssertion'?" },
        { "[]", "expected a request, an object with \"op\", but found array" },
        { "{}", "expected \"op\" to name an operation, but found none" },
    };
    // clang-format on
    struct batch *b = batch_new();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_STR(json_str(parsed(answer_to(b, quotes_double(check_arena(), cases[i][0]))),
                           "error"),
                  cases[i][1]);
    batch_free(b);
}

/* A document may be as deep as anywhere else; the request around it does not count. */
TEST(batch_takes_documents_of_the_full_depth)
{
    char open[JSON_DEPTH_MAX + 1] = "", close[JSON_DEPTH_MAX + 1] = "";
    memset(open, '[', JSON_DEPTH_MAX);
    memset(close, ']', JSON_DEPTH_MAX);

    struct batch *b = batch_new();
    str request = arena_printf(check_arena(), "{'op':'validate','schema':true,'instances':[%s%s]}",
                               open, close);
    answers(b, request.at, "{'results':[true]}");

    request = arena_printf(check_arena(), "{'op':'merge','doc':1,'patch':%s%s}", open, close);
    str expected = arena_printf(check_arena(), "{'result':%s%s}", open, close);
    answers(b, request.at, expected.at);

    request = arena_printf(check_arena(), "{'op':'fmt','doc':%s%s%s%s}", open, open, close, close);
    refuses(b, quotes_double(check_arena(), request.at));
    batch_free(b);
}
