/* mcp_head_test.c: what the head of a message must say, where it comes by HTTP. */
#include "mcp_outcome.h"

#define NAMED(name) HEAD("tools/call") "Mcp-Name: " name
#define AGREES "200 -32602" /* there is no such tool, which is found out after the head */

// clang-format off
static const struct { const char *head, *body, *outcome; } heads[] = {
    { NAMED("none"), CALL("'name':'none'"), AGREES },
    { "mcp-protocol-version: 2026-07-28\nMCP-METHOD:  tools/call \nmcp-name:\tnone ", CALL("'name':'none'"), AGREES },
    { "Mcp-Method: tools/call\nMcp-Name: none", CALL("'name':'none'"), "400 -32020" },
    { "MCP-Protocol-Version: 2025-11-25\nMcp-Method: tools/call\nMcp-Name: none", CALL("'name':'none'"), "400 -32020" },
    { "MCP-Protocol-Version: 2026-07-28\nMcp-Name: none", CALL("'name':'none'"), "400 -32020" },
    { HEAD("tools/list") "Mcp-Name: none", CALL("'name':'none'"), "400 -32020" },
    { HEAD("TOOLS/CALL") "Mcp-Name: none", CALL("'name':'none'"), "400 -32020" },
    { HEAD("tools/call"), CALL("'name':'none'"), "400 -32020" },
    { NAMED("None"), CALL("'name':'none'"), "400 -32020" },
    { NAMED("no"),   CALL("'name':'none'"), "400 -32020" },
    { NAMED(""),     CALL("'name':'none'"), "400 -32020" },
    { NAMED("none"), CALL("'arguments':{}"), "400 -32020" },
    { HEAD("tools/call"), CALL("'arguments':{}"), "200 -32602" },

    /* Texts that a field cannot hold as they are. */
    { NAMED("=?base64?bm9uZQ==?="), CALL("'name':'none'"), AGREES },
    { NAMED("=?base64?w6l0w6k=?="), CALL("'name':'\xc3\xa9t\xc3\xa9'"), AGREES },
    { NAMED("\xc3\xa9t\xc3\xa9"),   CALL("'name':'\xc3\xa9t\xc3\xa9'"), "400 -32020" },
    { NAMED("=?base64?bm9uZQ?="),   CALL("'name':'none'"), "400 -32020" },
    { NAMED("=?base64?bm9u!Q==?="), CALL("'name':'none'"), "400 -32020" },
    { NAMED("=?base64?/w==?="),     CALL("'name':'none'"), "400 -32020" },
    { NAMED("=?BASE64?bm9uZQ==?="), CALL("'name':'none'"), "400 -32020" },
    { NAMED("bm9uZQ=="),            CALL("'name':'bm9uZQ=='"), AGREES },
    { NAMED("=?base64?bm9uZQ=="),   CALL("'name':'=?base64?bm9uZQ=='"), AGREES },
    { NAMED("=?base64?="),          CALL("'name':'=?base64?='"), AGREES },

    /* Other methods that name something. */
    { HEAD("resources/read") "Mcp-Name: baton://x", REQUEST("resources/read", "'uri':'baton://x'," META), "200 -32602" },
    { HEAD("resources/read") "Mcp-Name: baton://y", REQUEST("resources/read", "'uri':'baton://x'," META), "400 -32020" },
    { HEAD("prompts/get") "Mcp-Name: y", REQUEST("prompts/get", "'name':'x'," META), "400 -32020" },
    { HEAD("tasks/get") "Mcp-Name: y", REQUEST("tasks/get", "'taskId':'x'," META), "400 -32020" },
    { HEAD("tasks/update"), REQUEST("tasks/update", "'taskId':'x'," META), "400 -32020" },
    { HEAD("tasks/cancel"), REQUEST("tasks/cancel", "'taskId':'x'," META), "400 -32020" },
    { HEAD("server/discover") "Mcp-Name: anything", REQUEST("server/discover", META), "200 result" },

    /* A method that is not there is found out after the head, too. */
    { HEAD("no/method"), REQUEST("no/method", META), "404 -32601" },
    { HEAD("tools/list"), REQUEST("no/method", META), "400 -32020" },
};
// clang-format on

TEST(the_head_must_say_what_the_body_says)
{
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        check_outcome(begin(&s, heads[i].head, NULL, quotes_double(s.arena, heads[i].body)),
                      heads[i].outcome, heads[i].head);
    fixture_close(&s);
}

TEST(a_head_that_disagrees_is_told_what_was_expected)
{
    struct fixture s = fixture_open(false);
    struct mcp_call *m = begin(&s, NAMED("=?base64?c29tZQ==?="), NULL,
                               quotes_double(s.arena, CALL("'name':'none'")));

    CHECK_STR(json_str(json_get(answer_of(m), "error"), "message"),
              "header Mcp-Name must say what the body says: expected \"none\", found "
              "\"=?base64?c29tZQ==?=\"");
    fixture_close(&s);
}

/* Older clients know none of these fields, and may send what they like. */
TEST(the_head_of_an_older_client_is_not_compared)
{
    struct fixture s = fixture_open(false);

    check_outcome(begin(&s, "Mcp-Method: tools/call\nMcp-Name: x", &older,
                        quotes_double(s.arena, REQUEST("ping", ""))),
                  "200 result", "ping");
    fixture_close(&s);
}

static const char tool_schema[] =
    "{'type':'object','properties':{'region':{'type':'string','x-mcp-header':'Region'},"
    "'count':{'type':'integer','x-mcp-header':'Count'},'deep':{'type':'object','properties':{"
    "'loud':{'type':'boolean','x-mcp-header':'Loud'}}},'plain':{'type':'string'},"
    "'any':{'anyOf':[{'properties':{'x':{'x-mcp-header':'Unreached'}}}]}}}";

// clang-format off
static const struct { const char *head, *arguments; bool agrees; } params[] = {
    { "", "{}", true },
    { "Mcp-Param-Region: eu", "{'region':'eu'}", true },
    { "MCP-PARAM-REGION: eu", "{'region':'eu','plain':'x'}", true },
    { "Mcp-Param-Region: us", "{'region':'eu'}", false },
    { "",                     "{'region':'eu'}", false },
    { "Mcp-Param-Region: eu", "{}", false },
    { "Mcp-Param-Region: eu", "{'region':null}", false },
    { "",                     "{'region':null}", true },
    { "Mcp-Param-Region: ",   "{'region':''}", true },
    { "Mcp-Param-Region: =?base64?IGV1?=", "{'region':' eu'}", true },
    { "Mcp-Param-Count: 42",   "{'count':42}", true },
    { "Mcp-Param-Count: 42.0", "{'count':42}", true },
    { "Mcp-Param-Count: 42",   "{'count':42.0}", true },
    { "Mcp-Param-Count: 9007199254740993", "{'count':9007199254740992}", false },
    { "Mcp-Param-Count: 43",   "{'count':42}", false },
    { "Mcp-Param-Count: x",    "{'count':42}", false },
    { "Mcp-Param-Count: true", "{'count':42}", false },
    { "Mcp-Param-Loud: true",  "{'deep':{'loud':true}}", true },
    { "Mcp-Param-Loud: True",  "{'deep':{'loud':true}}", false },
    { "Mcp-Param-Loud: false", "{'deep':{'loud':false}}", true },
    { "",                      "{'deep':{'loud':false}}", false },
    { "",                      "{'deep':{}}", true },
    { "",                      "{'deep':7}", true },
    { "",                      "{'any':{'x':1}}", true },
    { "Mcp-Param-Region: {}",  "{'region':{}}", false },
};
// clang-format on

TEST(arguments_that_a_tool_wants_in_the_head_must_be_there_alike)
{
    struct fixture s = fixture_open(false);
    struct json schema = json_of(s.arena, tool_schema);

    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        str head = arena_printf(s.arena, "%s\n%s", NAMED("none"), params[i].head);
        struct json arguments = json_of(s.arena, params[i].arguments);
        struct mcp_call *m =
            begin(&s, head.at, NULL, quotes_double(s.arena, CALL("'name':'none'")));
        bool agrees = mcp_check_param_head(m, &schema, &arguments);
        if (agrees != params[i].agrees)
            check_fail(__FILE__, __LINE__, "%s with %s", params[i].head, params[i].arguments);
        check_outcome(m, agrees ? AGREES : "400 -32020", params[i].head);
        m->client.version = MCP_2025_11_25;
        CHECK(mcp_check_param_head(m, &schema, &arguments));
    }
    fixture_close(&s);
}
