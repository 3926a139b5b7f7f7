/* mcp_test.c: MCP without a transport: which revision a message speaks, who sends it, which methods
 * there are, and what they share. */
#include "mcp_outcome.h"

/* ---- methods ---- */

enum { LEGACY = 1, MODERN = 2 };

static const struct {
    const char *name;
    unsigned eras;
} methods[] = {
    { "initialize", LEGACY },
    { "ping", LEGACY },
    { "resources/subscribe", LEGACY },
    { "resources/unsubscribe", LEGACY },
    { "server/discover", MODERN },
    { "subscriptions/listen", MODERN },
    { "tasks/get", MODERN },
    { "tasks/update", MODERN },
    { "tasks/cancel", MODERN },
    { "tools/list", LEGACY | MODERN },
    { "tools/call", LEGACY | MODERN },
    { "resources/list", LEGACY | MODERN },
    { "resources/templates/list", LEGACY | MODERN },
    { "resources/read", LEGACY | MODERN },
    { "prompts/list", LEGACY | MODERN },
    { "prompts/get", LEGACY | MODERN },
    { "completion/complete", LEGACY | MODERN },
    { "logging/setLevel", 0 }, /* there is nothing to choose from */
    { "tasks/list", 0 },
    { "tasks/result", 0 },
    { "sampling/createMessage", 0 },
    { "Tools/list", 0 },
    { "tools/list/", 0 },
};

TEST(a_method_is_there_in_its_eras_alone)
{
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *name = methods[i].name;
        str old = arena_printf(s.arena, "{'jsonrpc':'2.0','id':1,'method':'%s'}", name);
        str new = arena_printf(s.arena,
                               "{'jsonrpc':'2.0','id':1,'method':'%s','params':{" META "}}", name);
        str in_old = outcome(begin(&s, NULL, &older, quotes_double(s.arena, old.at)));
        str in_new = outcome(begin(&s, NULL, NULL, quotes_double(s.arena, new.at)));

        if (str_eq(in_old, STR("200 -32601")) != !(methods[i].eras & LEGACY) ||
            str_eq(in_new, STR("404 -32601")) != !(methods[i].eras & MODERN))
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT ", " STR_FMT, name, STR_ARG(in_old),
                       STR_ARG(in_new));
    }
    fixture_close(&s);
}

/* ---- eras ---- */

// clang-format off
static const struct { const char *head; bool in_session; const char *body, *outcome; } eras[] = {
    /* Who says its version in the body is taken at its word, whatever else there is. */
    { NULL, false, REQUEST("server/discover", META), "200 result" },
    { NULL, true,  REQUEST("server/discover", META), "200 result" },
    { HEAD("server/discover") "Mcp-Session-Id: old", false, REQUEST("server/discover", META), "200 result" },
    { HEAD("initialize"), false, REQUEST("initialize", "'protocolVersion':'2025-06-18'," META), "404 -32601" },
    { HEAD("ping"), true, REQUEST("ping", META), "404 -32601" },

    /* initialize begins a session, and needs nothing else. */
    { "", false, REQUEST("initialize", "'protocolVersion':'2025-06-18'"), "200 result and a session" },
    { "Mcp-Session-Id: old", false, REQUEST("initialize", "'protocolVersion':'2025-06-18'"), "200 result and a session" },
    { "", false, REQUEST("initialize", ""),                     "200 -32602" },
    { "", false, REQUEST("initialize", "'protocolVersion':1"), "200 -32602" },

    /* Inside one, the version may be left out, but not be wrong. */
    { "", true, REQUEST("ping", ""), "200 result" },
    { "MCP-Protocol-Version: 2025-06-18", true, REQUEST("ping", ""), "200 result" },
    { "MCP-Protocol-Version: 2025-03-26", true, REQUEST("ping", ""), "200 result" },
    { "MCP-Protocol-Version: 1999-01-01", true, REQUEST("ping", ""), "400 -32022" },
    { "MCP-Protocol-Version: ",           true, REQUEST("ping", ""), "400 -32022" },
    { "MCP-Protocol-Version: \xff",       true, REQUEST("ping", ""), "400 -32022" },
    { "MCP-Protocol-Version: 2026-07-28", true, REQUEST("ping", ""), "400 -32602" },

    /* Outside, an older client is told to begin one. */
    { "MCP-Protocol-Version: 2025-06-18", false, REQUEST("ping", ""), "400 -32600" },
    { "MCP-Protocol-Version: 2025-06-18\nMcp-Session-Id: old", false, REQUEST("ping", ""), "404 -32600" },
    { "Mcp-Session-Id: old", false, REQUEST("tools/list", ""), "404 -32600" },
    { "", false, REQUEST("tools/list", ""), "400 -32602" },
    { NULL, false, REQUEST("tools/list", ""), "400 -32602" },

    /* What each message of the newer era must say. */
    { HEAD("tools/list"), false, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}", "400 -32602" },
    { HEAD("tools/list"), false, REQUEST("tools/list", "'_meta':{}"), "400 -32602" },
    { HEAD("tools/list"), false, REQUEST("tools/list", "'_meta':1"), "400 -32602" },
    { HEAD("tools/list"), false, REQUEST("tools/list", "'_meta':{'io.modelcontextprotocol/clientCapabilities':{}}"), "400 -32602" },
    { HEAD("tools/list"), false, REQUEST("tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"), "400 -32602" },
    { HEAD("tools/list"), false, REQUEST("tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':20260728,"
      "'io.modelcontextprotocol/clientCapabilities':{}}"), "400 -32602" },
    { HEAD("tools/list"), false, REQUEST("tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
      "'io.modelcontextprotocol/clientCapabilities':[]}"), "400 -32602" },

    /* What is no request. */
    { "", true,  "{'jsonrpc':'2.0','method':'notifications/initialized'}", "202 accepted" },
    { "", true,  "{'jsonrpc':'2.0','method':'notifications/of/no/kind'}",  "202 accepted" },
    { "", true,  "{'jsonrpc':'2.0','id':1,'result':{}}",                   "202 accepted" },
    { "", true,  "{'jsonrpc':'2.0','id':1,'error':{'code':-1,'message':'m'}}", "202 accepted" },
    { "", false, "{'jsonrpc':'2.0','method':'notifications/initialized'}", "400 -32602" },
    { "Mcp-Session-Id: old", false, "{'jsonrpc':'2.0','id':1,'result':{}}", "404 -32600" },
    { HEAD("notifications/cancelled"), false, "{'jsonrpc':'2.0','method':'notifications/cancelled'}", "202 accepted" },
    { "MCP-Protocol-Version: 2026-07-28", false, "{'jsonrpc':'2.0','id':1,'result':{}}", "400 -32600" },

    /* What is no message. */
    { "", true,  "[" REQUEST("ping", "") "]", "400 -32600" },
    { "", false, "{",                         "400 -32700" },
    { "", false, "",                          "400 -32700" },
};
// clang-format on

TEST(each_message_tells_its_era)
{
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++)
        check_outcome(begin(&s, eras[i].head, eras[i].in_session ? &older : NULL,
                            quotes_double(s.arena, eras[i].body)),
                      eras[i].outcome, eras[i].body);
    fixture_close(&s);
}

TEST(a_version_that_is_not_spoken_is_answered_with_those_that_are)
{
    static const char *const versions[] = { "2099-01-01", "2025-11-25", "", "v999.0.0" };
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        str body = arena_printf(s.arena,
                                REQUEST("server/discover",
                                        "'_meta':{'io.modelcontextprotocol/protocolVersion':"
                                        "'%s'}"),
                                versions[i]);
        str head = arena_printf(s.arena, "MCP-Protocol-Version: %s", versions[i]);
        struct mcp_call *m = begin(&s, head.at, NULL, quotes_double(s.arena, body.at));
        check_outcome(m, "400 -32022", versions[i]);
        CHECK_STR(
            json_shown(s.arena, json_get(json_get(answer_of(m), "error"), "data")),
            arena_printf(s.arena, "{'supported':['2026-07-28'],'requested':'%s'}", versions[i]).at);
    }
    fixture_close(&s);
}

/* The body has not said that it is of the newer era, so any of them would have done. */
TEST(a_version_in_the_head_alone_is_answered_with_all)
{
    struct fixture s = fixture_open(false);
    struct mcp_call *m = begin(&s, "MCP-Protocol-Version: 1999", &older,
                               quotes_double(s.arena, REQUEST("ping", "")));

    CHECK_STR(json_shown(s.arena, json_get(json_get(answer_of(m), "error"), "data")),
              "{'supported':['2025-03-26','2025-06-18','2025-11-25','2026-07-28'],"
              "'requested':'1999'}");
    fixture_close(&s);
}

TEST(initialize_agrees_on_a_version)
{
    static const struct {
        const char *asked, *agreed;
    } cases[] = {
        { "2025-03-26", "2025-03-26" }, { "2025-06-18", "2025-06-18" },
        { "2025-11-25", "2025-11-25" }, { "2024-11-05", "2025-11-25" },
        { "2026-07-28", "2025-11-25" }, { "whatever", "2025-11-25" },
    };
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str body =
            arena_printf(s.arena, REQUEST("initialize", "'protocolVersion':'%s'"), cases[i].asked);
        struct mcp_call *m = begin(&s, "", NULL, quotes_double(s.arena, body.at));
        const struct json *result = json_get(answer_of(m), "result");
        CHECK_STR(json_str(result, "protocolVersion"), cases[i].agreed);
        CHECK_STR(str_from(mcp_version_name(m->client.version)), cases[i].agreed);
        CHECK(!json_get(result, "resultType") && !json_get(result, "_meta"));
    }
    fixture_close(&s);
}

/* ---- who speaks ---- */

static str client_told(struct arena *a, const struct mcp_client *c)
{
    return arena_printf(a, STR_FMT "/" STR_FMT "%s%s%s%s%s", STR_ARG(c->name),
                        STR_ARG(c->client_version), c->elicits_form ? " form" : "",
                        c->elicits_url ? " url" : "", c->samples ? " samples" : "",
                        c->roots ? " roots" : "", c->tasks ? " tasks" : "");
}

TEST(what_a_client_can_do_is_read_alike_in_both_eras)
{
    static const struct {
        const char *capabilities, *told;
    } cases[] = {
        { "{}", "c/1" },
        { "{'elicitation':{}}", "c/1 form" },
        { "{'elicitation':{'form':{}}}", "c/1 form" },
        { "{'elicitation':{'url':{}}}", "c/1 url" },
        { "{'elicitation':{'form':{},'url':{}}}", "c/1 form url" },
        { "{'elicitation':true}", "c/1" },
        { "{'sampling':{},'roots':{'listChanged':true}}", "c/1 samples roots" },
        { "{'extensions':{'io.modelcontextprotocol/tasks':{}}}", "c/1 tasks" },
        { "{'extensions':{'io.modelcontextprotocol/tasks':null,'x/y':{}}}", "c/1" },
    };
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str old =
            arena_printf(s.arena,
                         REQUEST("initialize", "'protocolVersion':'2025-11-25','capabilities':"
                                               "%s,'clientInfo':{'name':'c','version':'1'}"),
                         cases[i].capabilities);
        str new = arena_printf(
            s.arena,
            REQUEST("server/discover",
                    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                    "'io.modelcontextprotocol/clientCapabilities':%s,"
                    "'io.modelcontextprotocol/clientInfo':{'name':'c','version':'1'}}"),
            cases[i].capabilities);
        struct mcp_call *m = begin(&s, NULL, NULL, quotes_double(s.arena, old.at));
        CHECK_STR(client_told(s.arena, &m->client), cases[i].told);
        m = begin(&s, NULL, NULL, quotes_double(s.arena, new.at));
        CHECK_STR(client_told(s.arena, &m->client), cases[i].told);
    }
    fixture_close(&s);
}

TEST(a_session_s_messages_come_from_its_client)
{
    struct fixture s = fixture_open(false);
    struct mcp_call *m = begin(&s, "", &older, quotes_double(s.arena, REQUEST("ping", "")));

    CHECK_INT(m->client.version, MCP_2025_06_18);
    CHECK(m->client.elicits_form);
    CHECK_STR(m->answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    fixture_close(&s);
}

/* ---- what the server says of itself ---- */

TEST(discover_says_what_there_is)
{
    struct fixture s = fixture_open(false);
    struct mcp_call *m =
        begin(&s, NULL, NULL, quotes_double(s.arena, REQUEST("server/discover", META)));
    struct json result = json_copy(s.arena, json_get(answer_of(m), "result"));

    CHECK(json_str(&result, "instructions").len > 0);
    CHECK_STR(json_shown(s.arena, json_get(&result, "capabilities")),
              "{'tools':{'listChanged':true},'resources':{'subscribe':true,'listChanged':true},"
              "'prompts':{},'completions':{},"
              "'extensions':{'io.modelcontextprotocol/tasks':{}}}");
    CHECK_STR(json_shown(s.arena, json_get(&result, "supportedVersions")), "['2026-07-28']");
    CHECK_STR(json_shown(s.arena, json_get(&result, "_meta")),
              "{'io.modelcontextprotocol/serverInfo':{'name':'baton','version':'1.2.3'}}");
    CHECK_STR(json_str(&result, "resultType"), "complete");
    CHECK_STR(json_str(&result, "cacheScope"), "private");
    CHECK(json_int_or(&result, "ttlMs", -1) >= 0);
    fixture_close(&s);
}

TEST(initialize_says_what_there_is_in_the_older_words)
{
    struct fixture s = fixture_open(false);
    struct mcp_call *m =
        begin(&s, "", NULL,
              quotes_double(s.arena, REQUEST("initialize", "'protocolVersion':'2025-11-25'")));
    const struct json *result = json_get(answer_of(m), "result");

    CHECK_STR(json_shown(s.arena, json_get(result, "capabilities")),
              "{'tools':{'listChanged':true},'resources':{'subscribe':true,'listChanged':true},"
              "'prompts':{},'completions':{}}");
    CHECK_STR(json_shown(s.arena, json_get(result, "serverInfo")),
              "{'name':'baton','version':'1.2.3'}");
    fixture_close(&s);
}

TEST(instructions_are_short_and_name_what_the_token_can_do)
{
    static const struct {
        struct actor actor;
        const char *names, *not ;
    } cases[] = {
        { { .kind = ACTOR_SESSION, .is_child = true }, "state_patch", "state_create" },
        { { .kind = ACTOR_SESSION }, "state_create", "operator" },
        { { .kind = ACTOR_OPERATOR }, "operator", "state_create" },
        { { .kind = ACTOR_VIEWER }, "reads", "state_patch" },
        { { .kind = ACTOR_RUNNER }, "", "baton" },
    };
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s.actor = cases[i].actor;
        struct mcp_call *m =
            begin(&s, NULL, NULL, quotes_double(s.arena, REQUEST("server/discover", META)));
        str text = arena_copy(s.arena, json_str(json_get(answer_of(m), "result"), "instructions"));
        CHECK(strstr(text.at, cases[i].names) && !strstr(text.at, cases[i].not ));
        CHECK(text.len <= 400);
    }
    fixture_close(&s);
}

/* ---- what methods share ---- */

TEST(a_cursor_comes_back_as_it_went_out)
{
    static const char *const bad[] = { "''", "'!'", "'/w'", "7", "null", "'_w'" };
    struct fixture s = fixture_open(false);
    struct buf out = buf_in(s.arena);
    struct json_writer w = json_writer_to(&out);
    str after;

    json_write_begin(&w, '{');
    mcp_write_next(&w, STR(""));
    mcp_write_next(&w, STR("\xc3\xa9 / last"));
    json_write_end(&w, '}');
    const struct json *next = json_parsed(s.arena, buf_str(&out));
    CHECK_INT(next->len, 1);

    str text = json_str(next, "nextCursor");
    str body = arena_printf(s.arena,
                            "{'jsonrpc':'2.0','id':1,'method':'ping','params':"
                            "{'cursor':'" STR_FMT "'}}",
                            STR_ARG(text));
    CHECK(mcp_cursor(begin(&s, "", &older, quotes_double(s.arena, body.at)), &after));
    CHECK_STR(after, "\xc3\xa9 / last");
    CHECK(mcp_cursor(begin(&s, "", &older, quotes_double(s.arena, REQUEST("ping", ""))), &after));
    CHECK_STR(after, "");

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        body = arena_printf(s.arena, REQUEST("ping", "'cursor':%s"), bad[i]);
        struct mcp_call *m = begin(&s, "", &older, quotes_double(s.arena, body.at));
        CHECK(!mcp_cursor(m, &after));
        check_outcome(m, "200 -32602", bad[i]);
    }
    fixture_close(&s);
}

TEST(progress_carries_the_token_as_it_was_given)
{
    static const struct {
        const char *token, *printed;
    } cases[] = { { "7", "7" }, { "'7'", "\"7\"" }, { "null", "" }, { "1.5", "" }, { "[]", "" } };
    struct fixture s = fixture_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str body =
            arena_printf(s.arena, REQUEST("ping", "'_meta':{'progressToken':%s}"), cases[i].token);
        struct mcp_call *m = begin(&s, "", &older, quotes_double(s.arena, body.at));
        CHECK_STR(m->progress_token, cases[i].printed);
    }
    struct mcp_call *m =
        begin(&s, "", &older,
              quotes_double(s.arena, REQUEST("ping", "'_meta':{'progressToken':'t'}")));
    CHECK_STR(mcp_progress(s.arena, m, 2, STR("still")),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
              "{\"progressToken\":\"t\",\"progress\":2,\"message\":\"still\"}}");
    fixture_close(&s);
}

/* What is performed and what the cache knows are the same to a method. */
TEST(an_answer_out_of_the_cache_is_an_answer)
{
    struct fixture s = fixture_open(false);
    str body = quotes_double(s.arena, REQUEST("resources/read", "'uri':'baton://state/wfstate_1'"));
    struct cached_answer shown = { .refs = 1, .version = 3, .text = STR("{\"version\":3}") };
    struct mcp_call *peeked = begin(&s, "", &older, body), *asked = begin(&s, "", &older, body);
    struct command done = { .arena = s.arena,
                            .answer.text = shown.text,
                            .answer.version = shown.version };

    check_outcome(peeked, "perform state.read", "a resource");
    CHECK(peeked->plain);
    CHECK_STR(peeked->plain_id, "wfstate_1");
    mcp_cached(peeked, &shown);
    mcp_performed(asked, &done);
    check_outcome(peeked, "200 result", "a resource");
    CHECK(!peeked->plain);
    CHECK_STR(peeked->answer, arena_copy(s.arena, asked->answer).at);
    fixture_close(&s);
}

TEST(a_fault_of_the_transport_is_a_whole_message)
{
    struct json id = json_of(check_arena(), "'a'");

    CHECK_STR(mcp_fault(check_arena(), &id, RPC_INTERNAL, "it stops"),
              "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32603,\"message\":"
              "\"it stops\"}}");
    CHECK_STR(mcp_fault(check_arena(), NULL, RPC_INVALID, "no"),
              "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"no\"}}");
}

/* ---- fixtures ---- */

TEST(with_fixtures_nothing_else_is_served)
{
    struct fixture s = fixture_open(true);

    check_outcome(begin(&s, NULL, NULL, quotes_double(s.arena, CALL("'name':'state_read'"))),
                  "200 -32602", "a real tool");
    check_outcome(begin(&s, NULL, NULL, quotes_double(s.arena, CALL("'name':'test_simple_text'"))),
                  "200 result", "one of the fixtures");
    check_outcome(begin(&s, NULL, &older,
                        quotes_double(s.arena, REQUEST("logging/setLevel", "'level':'info'"))),
                  "200 result", "a level");
    check_outcome(begin(&s, NULL, &older,
                        quotes_double(s.arena, REQUEST("logging/setLevel", "'level':'loud'"))),
                  "200 -32602", "no level");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        str body = arena_printf(s.arena,
                                "{'jsonrpc':'2.0','id':1,'method':'%s','params':{" META "}}",
                                methods[i].name);
        CHECK(begin(&s, NULL, NULL, quotes_double(s.arena, body.at))->next != MCP_PERFORM);
    }
    fixture_close(&s);
}
