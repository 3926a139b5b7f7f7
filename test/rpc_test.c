/* rpc_test.c: messages of JSON-RPC: which texts are one, and why others are none. */
#include "json_help.h"
#include "mcp/rpc.h"

/* What a text is, in a line: its kind, id and method, or the fault. */
static str told(struct arena *a, const char *text)
{
    static const char *const kinds[] = { "request", "notification", "response" };
    struct rpc_fault fault;
    struct rpc r;

    bool ok = rpc_read(a, quotes_double(a, text), &r, &fault);
    str id = r.id ? json_shown(a, r.id) : STR("-");
    if (!ok)
        return arena_printf(a, "%d " STR_FMT " " STR_FMT, fault.code, STR_ARG(id),
                            STR_ARG(fault.message));
    CHECK(json_is(r.params, JSON_OBJECT));
    return arena_printf(a, "%s " STR_FMT " " STR_FMT, kinds[r.kind], STR_ARG(id),
                        STR_ARG(r.method));
}

// clang-format off
static const struct { const char *text, *told; } messages[] = {
    { "{'jsonrpc':'2.0','id':1,'method':'ping'}",                   "request 1 ping" },
    { "{'jsonrpc':'2.0','id':'a','method':'ping','params':{}}",     "request 'a' ping" },
    { "{'method':'ping','id':-9007199254740993,'jsonrpc':'2.0'}",   "request -9007199254740993 ping" },
    { " {'jsonrpc':'2.0','method':'notifications/initialized'}\n",  "notification - notifications/initialized" },
    { "{'jsonrpc':'2.0','id':1,'result':{}}",                       "response 1 " },
    { "{'jsonrpc':'2.0','id':1,'result':null}",                     "response 1 " },
    { "{'jsonrpc':'2.0','id':1,'error':{'code':1,'message':'m'}}",  "response 1 " },

    { "[{'jsonrpc':'2.0','id':1,'method':'ping'}]",
      "-32600 - expected one message, found an array: send each message by itself" },
    { "[]",   "-32600 - expected one message, found an array: send each message by itself" },
    { "1",    "-32600 - a message must be an object" },
    { "null", "-32600 - a message must be an object" },
    { "{'jsonrpc':'2.0','id':null,'method':'ping'}", "-32600 - 'id' must be a string or an integer" },
    { "{'jsonrpc':'2.0','id':1.5,'method':'ping'}",  "-32600 - 'id' must be a string or an integer" },
    { "{'jsonrpc':'2.0','id':{},'method':'ping'}",   "-32600 - 'id' must be a string or an integer" },
    { "{'jsonrpc':'1.0','id':1,'method':'ping'}",    "-32600 1 'jsonrpc' must be '2.0'" },
    { "{'id':1,'method':'ping'}",                    "-32600 1 'jsonrpc' must be '2.0'" },
    { "{'jsonrpc':'2.0','id':1,'method':7}",  "-32600 1 'method' must be a string that is not empty" },
    { "{'jsonrpc':'2.0','id':1,'method':''}", "-32600 1 'method' must be a string that is not empty" },
    { "{'jsonrpc':'2.0','id':1,'method':'ping','params':[]}",   "-32600 1 'params' must be an object" },
    { "{'jsonrpc':'2.0','id':1,'method':'ping','params':null}", "-32600 1 'params' must be an object" },
    { "{'jsonrpc':'2.0','id':1}",
      "-32600 1 expected a 'method', or for a response one of 'result' and 'error'" },
    { "{'jsonrpc':'2.0','id':1,'result':1,'error':{}}",
      "-32600 1 expected a 'method', or for a response one of 'result' and 'error'" },
    { "{'jsonrpc':'2.0','result':1}",       "-32600 - a response must have the 'id' of its request" },
    { "{'jsonrpc':'2.0','id':1,'error':1}", "-32600 1 'error' must be an object" },
};
// clang-format on

TEST(a_text_is_one_message_or_is_told_why_not)
{
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        CHECK_STR(quotes_single(a, told(a, messages[i].text)), messages[i].told);
    }
}

TEST(what_is_no_json_is_a_parse_error_without_an_id)
{
    static const char *const texts[] = { "", "{", "{'a':1,'a':2}", "{'jsonrpc':'2.0'}x", "\xff" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        str line = told(check_arena(), texts[i]);
        if (!str_starts(line, STR("-32700 - ")))
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, texts[i], STR_ARG(line));
    }
}

/* A document that fits into a body of HTTP fits into a message: it is two objects further in. */
TEST(arguments_may_be_as_deep_as_a_body)
{
    struct arena *a = check_arena();

    for (int more = 0; more < 2; more++) {
        struct buf text = buf_in(a);
        buf_add(&text,
                STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"arguments\":"));
        for (int i = 0; i < JSON_DEPTH_MAX + more; i++)
            buf_byte(&text, '[');
        for (int i = 0; i < JSON_DEPTH_MAX + more; i++)
            buf_byte(&text, ']');
        buf_add(&text, STR("}}"));
        CHECK_STR(str_slice(told(a, buf_str(&text).at), 0, 7), more ? "-32700 " : "request");
    }
}

/* ---- writing ---- */

static str shown(struct buf *out)
{
    return quotes_single(check_arena(), buf_str(out));
}

TEST(messages_are_written_whole)
{
    struct arena *a = check_arena();
    struct json id = json_of(a, "'x'");
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_result(&w, &id);
    json_write_printed(&w, STR("{}"));
    rpc_end(&w);
    CHECK_STR(shown(&out), "{'jsonrpc':'2.0','id':'x','result':{}}");

    out = buf_in(a);
    w = json_writer_to(&out);
    rpc_begin_notification(&w, STR("notifications/progress"));
    json_write_printed(&w, STR("{}"));
    rpc_end(&w);
    CHECK_STR(shown(&out), "{'jsonrpc':'2.0','method':'notifications/progress','params':{}}");

    out = buf_in(a);
    w = json_writer_to(&out);
    rpc_begin_request(&w, STR("q1"), STR("roots/list"));
    json_write_printed(&w, STR("{}"));
    rpc_end(&w);
    CHECK_STR(shown(&out), "{'jsonrpc':'2.0','id':'q1','method':'roots/list','params':{}}");
}

TEST(a_fault_has_its_data_and_the_id_where_they_are_known)
{
    struct arena *a = check_arena();
    struct json id = json_of(a, "7");
    struct rpc_fault fault = { .code = RPC_VERSION, .message = STR("no"), .data = STR("[1]") };
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    rpc_write_fault(&w, &id, &fault);
    CHECK_STR(shown(&out),
              "{'jsonrpc':'2.0','id':7,'error':{'code':-32022,'message':'no','data':[1]}}");

    fault.data = STR("");
    out = buf_in(a);
    w = json_writer_to(&out);
    rpc_write_fault(&w, NULL, &fault);
    CHECK_STR(shown(&out), "{'jsonrpc':'2.0','error':{'code':-32022,'message':'no'}}");
}
