/* mcp_test.c: MCP without a transport: which revision a message speaks, what its head must say,
 * which methods there are, and what real clients have sent.
 *
 * What becomes of a message is written as a line: `200 result`, `404 -32601`, `202 accepted`,
 * `perform state.list`, `listen`. */
#include <stdio.h>

#include "json_help.h"
#include "mcp/mcp_private.h"
#include "sim/engine.h"

struct site {
    struct arena *arena;
    struct op_table *table;
    struct mcp *mcp;
    struct actor actor;
};

static struct site site_open(bool fixtures)
{
    struct site s = { .arena = check_arena(), .actor = { .kind = ACTOR_OPERATOR } };

    CHECK_OK(op_table_all(s.arena, &s.table));
    s.mcp = mcp_new(&(struct mcp_options){
        .table = s.table, .version = "1.2.3", .fixtures = fixtures, .wait_ms = 45000 });
    return s;
}

static void site_close(struct site *s)
{
    mcp_free(s->mcp);
    op_table_free(s->table);
}

/* The head is lines of `Name: value`. */
static bool find_field(const void *self, const char *name, str *value)
{
    str rest = str_from(self), line, found;

    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (str_cut(line, ':', &found, value) && found.len == strlen(name) &&
            strncasecmp(found.at, name, found.len) == 0)
            return true;
    }
    return false;
}

/* What there is of a session of an older client. */
static const struct mcp_client older = { .version = MCP_2025_06_18, .elicits_form = true };

/* `head` NULL: it did not come by HTTP. */
static struct mcp_call *begin(struct site *s, const char *head, const struct mcp_client *session,
                              str body)
{
    struct mcp_call *m = ARENA_NEW(s->arena, struct mcp_call);

    m->arena = s->arena;
    m->mcp = s->mcp;
    m->actor = s->mcp->options.fixtures ? NULL : &s->actor;
    m->session = session;
    m->now_ms = 1736937300000;
    if (head)
        m->head = (struct mcp_head){ find_field, head };
    mcp_begin(m, body);
    return m;
}

static str quoted(struct arena *a, const char *text)
{
    str copy = arena_copy(a, str_from(text));

    for (char *at = (char *)copy.at; (at = strchr(at, '\''));)
        *at = '"';
    return copy;
}

static const struct json *answer_of(const struct mcp_call *m)
{
    const struct json *answer;

    CHECK_OK(json_parse(m->arena, m->answer, NULL, &answer));
    CHECK_STR(json_str(answer, "jsonrpc"), "2.0");
    return answer;
}

static str outcome(const struct mcp_call *m)
{
    switch (m->next) {
    case MCP_ACCEPTED: return arena_printf(m->arena, "%d accepted", m->status);
    case MCP_PERFORM: return arena_printf(m->arena, "perform %s", m->op->name);
    case MCP_LISTEN: return STR("listen");
    case MCP_PLAY: return STR("play");
    default: break;
    }
    const struct json *answer = answer_of(m), *error = json_get(answer, "error");
    const struct json *id = json_get(answer, "id");
    if (m->message.id && m->message.kind == RPC_REQUEST)
        CHECK(id && json_equal(id, m->message.id));
    else
        CHECK(!id);
    if (!error)
        return arena_printf(m->arena, "%d result%s", m->status,
                            m->next == MCP_INITIALIZE ? " and a session" : "");
    CHECK(json_str(error, "message").len > 0);
    return arena_printf(m->arena, "%d %lld", m->status, (long long)json_int_or(error, "code", 0));
}

static void check_outcome(const struct mcp_call *m, const char *expected, const char *what)
{
    str found = outcome(m);

    if (!str_eq(found, str_from(expected)))
        check_fail(__FILE__, __LINE__, "%s\n  found " STR_FMT ", expected %s; " STR_FMT, what,
                   STR_ARG(found), expected, STR_ARG(m->answer));
}

#define META                                                    \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':"       \
    "'2026-07-28','io.modelcontextprotocol/clientCapabilities'" \
    ":{}}"
#define REQUEST(method, params) \
    "{'jsonrpc':'2.0','id':1,'method':'" method "','params':{" params "}}"
#define HEAD(method) "MCP-Protocol-Version: 2026-07-28\nMcp-Method: " method "\n"

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
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *name = methods[i].name;
        str old = arena_printf(s.arena, "{'jsonrpc':'2.0','id':1,'method':'%s'}", name);
        str new = arena_printf(s.arena,
                               "{'jsonrpc':'2.0','id':1,'method':'%s','params':{" META "}}", name);
        str in_old = outcome(begin(&s, NULL, &older, quoted(s.arena, old.at)));
        str in_new = outcome(begin(&s, NULL, NULL, quoted(s.arena, new.at)));

        if (str_eq(in_old, STR("200 -32601")) != !(methods[i].eras & LEGACY) ||
            str_eq(in_new, STR("404 -32601")) != !(methods[i].eras & MODERN))
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT ", " STR_FMT, name, STR_ARG(in_old),
                       STR_ARG(in_new));
    }
    site_close(&s);
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
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++)
        check_outcome(begin(&s, eras[i].head, eras[i].in_session ? &older : NULL,
                            quoted(s.arena, eras[i].body)),
                      eras[i].outcome, eras[i].body);
    site_close(&s);
}

TEST(a_version_that_is_not_spoken_is_answered_with_those_that_are)
{
    static const char *const versions[] = { "2099-01-01", "2025-11-25", "", "v999.0.0" };
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        str body = arena_printf(s.arena,
                                REQUEST("server/discover",
                                        "'_meta':{'io.modelcontextprotocol/protocolVersion':"
                                        "'%s'}"),
                                versions[i]);
        str head = arena_printf(s.arena, "MCP-Protocol-Version: %s", versions[i]);
        struct mcp_call *m = begin(&s, head.at, NULL, quoted(s.arena, body.at));
        check_outcome(m, "400 -32022", versions[i]);
        CHECK_STR(
            json_shown(s.arena, json_get(json_get(answer_of(m), "error"), "data")),
            arena_printf(s.arena, "{'supported':['2026-07-28'],'requested':'%s'}", versions[i]).at);
    }
    site_close(&s);
}

/* The body has not said that it is of the newer era, so any of them would have done. */
TEST(a_version_in_the_head_alone_is_answered_with_all)
{
    struct site s = site_open(false);
    struct mcp_call *m =
        begin(&s, "MCP-Protocol-Version: 1999", &older, quoted(s.arena, REQUEST("ping", "")));

    CHECK_STR(json_shown(s.arena, json_get(json_get(answer_of(m), "error"), "data")),
              "{'supported':['2025-03-26','2025-06-18','2025-11-25','2026-07-28'],"
              "'requested':'1999'}");
    site_close(&s);
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
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str body =
            arena_printf(s.arena, REQUEST("initialize", "'protocolVersion':'%s'"), cases[i].asked);
        struct mcp_call *m = begin(&s, "", NULL, quoted(s.arena, body.at));
        const struct json *result = json_get(answer_of(m), "result");
        CHECK_STR(json_str(result, "protocolVersion"), cases[i].agreed);
        CHECK_STR(str_from(mcp_version_name(m->client.version)), cases[i].agreed);
        CHECK(!json_get(result, "resultType") && !json_get(result, "_meta"));
    }
    site_close(&s);
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
    struct site s = site_open(false);

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
        struct mcp_call *m = begin(&s, NULL, NULL, quoted(s.arena, old.at));
        CHECK_STR(client_told(s.arena, &m->client), cases[i].told);
        m = begin(&s, NULL, NULL, quoted(s.arena, new.at));
        CHECK_STR(client_told(s.arena, &m->client), cases[i].told);
    }
    site_close(&s);
}

TEST(a_session_s_messages_come_from_its_client)
{
    struct site s = site_open(false);
    struct mcp_call *m = begin(&s, "", &older, quoted(s.arena, REQUEST("ping", "")));

    CHECK_INT(m->client.version, MCP_2025_06_18);
    CHECK(m->client.elicits_form);
    CHECK_STR(m->answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    site_close(&s);
}

/* ---- what the server says of itself ---- */

TEST(discover_says_what_there_is)
{
    struct site s = site_open(false);
    struct mcp_call *m = begin(&s, NULL, NULL, quoted(s.arena, REQUEST("server/discover", META)));
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
    site_close(&s);
}

TEST(initialize_says_what_there_is_in_the_older_words)
{
    struct site s = site_open(false);
    struct mcp_call *m =
        begin(&s, "", NULL,
              quoted(s.arena, REQUEST("initialize", "'protocolVersion':'2025-11-25'")));
    const struct json *result = json_get(answer_of(m), "result");

    CHECK_STR(json_shown(s.arena, json_get(result, "capabilities")),
              "{'tools':{'listChanged':true},'resources':{'subscribe':true,'listChanged':true},"
              "'prompts':{},'completions':{}}");
    CHECK_STR(json_shown(s.arena, json_get(result, "serverInfo")),
              "{'name':'baton','version':'1.2.3'}");
    site_close(&s);
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
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s.actor = cases[i].actor;
        struct mcp_call *m =
            begin(&s, NULL, NULL, quoted(s.arena, REQUEST("server/discover", META)));
        str text = arena_copy(s.arena, json_str(json_get(answer_of(m), "result"), "instructions"));
        CHECK(strstr(text.at, cases[i].names) && !strstr(text.at, cases[i].not ));
        CHECK(text.len <= 400);
    }
    site_close(&s);
}

/* ---- the head ---- */

#define CALL(params) REQUEST("tools/call", params "," META)
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
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        check_outcome(begin(&s, heads[i].head, NULL, quoted(s.arena, heads[i].body)),
                      heads[i].outcome, heads[i].head);
    site_close(&s);
}

TEST(a_head_that_disagrees_is_told_what_was_expected)
{
    struct site s = site_open(false);
    struct mcp_call *m =
        begin(&s, NAMED("=?base64?c29tZQ==?="), NULL, quoted(s.arena, CALL("'name':'none'")));

    CHECK_STR(json_str(json_get(answer_of(m), "error"), "message"),
              "header Mcp-Name must say what the body says: expected \"none\", found "
              "\"=?base64?c29tZQ==?=\"");
    site_close(&s);
}

/* Older clients know none of these fields, and may send what they like. */
TEST(the_head_of_an_older_client_is_not_compared)
{
    struct site s = site_open(false);

    check_outcome(begin(&s, "Mcp-Method: tools/call\nMcp-Name: x", &older,
                        quoted(s.arena, REQUEST("ping", ""))),
                  "200 result", "ping");
    site_close(&s);
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
    struct site s = site_open(false);
    struct json schema = json_of(s.arena, tool_schema);

    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        str head = arena_printf(s.arena, "%s\n%s", NAMED("none"), params[i].head);
        struct json arguments = json_of(s.arena, params[i].arguments);
        struct mcp_call *m = begin(&s, head.at, NULL, quoted(s.arena, CALL("'name':'none'")));
        bool agrees = mcp_check_param_head(m, &schema, &arguments);
        if (agrees != params[i].agrees)
            check_fail(__FILE__, __LINE__, "%s with %s", params[i].head, params[i].arguments);
        check_outcome(m, agrees ? AGREES : "400 -32020", params[i].head);
        m->client.version = MCP_2025_11_25;
        CHECK(mcp_check_param_head(m, &schema, &arguments));
    }
    site_close(&s);
}

/* ---- what methods share ---- */

TEST(a_cursor_comes_back_as_it_went_out)
{
    static const char *const bad[] = { "''", "'!'", "'/w'", "7", "null", "'_w'" };
    struct site s = site_open(false);
    struct buf out = buf_in(s.arena);
    struct json_writer w = json_writer_to(&out);
    str after;

    json_write_begin(&w, '{');
    mcp_write_next(&w, STR(""));
    mcp_write_next(&w, STR("\xc3\xa9 / last"));
    json_write_end(&w, '}');
    const struct json *next;
    CHECK_OK(json_parse(s.arena, buf_str(&out), NULL, &next));
    CHECK_INT(next->len, 1);

    str text = json_str(next, "nextCursor");
    str body = arena_printf(s.arena,
                            "{'jsonrpc':'2.0','id':1,'method':'ping','params':"
                            "{'cursor':'" STR_FMT "'}}",
                            STR_ARG(text));
    CHECK(mcp_cursor(begin(&s, "", &older, quoted(s.arena, body.at)), &after));
    CHECK_STR(after, "\xc3\xa9 / last");
    CHECK(mcp_cursor(begin(&s, "", &older, quoted(s.arena, REQUEST("ping", ""))), &after));
    CHECK_STR(after, "");

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        body = arena_printf(s.arena, REQUEST("ping", "'cursor':%s"), bad[i]);
        struct mcp_call *m = begin(&s, "", &older, quoted(s.arena, body.at));
        CHECK(!mcp_cursor(m, &after));
        check_outcome(m, "200 -32602", bad[i]);
    }
    site_close(&s);
}

TEST(progress_carries_the_token_as_it_was_given)
{
    static const struct {
        const char *token, *printed;
    } cases[] = { { "7", "7" }, { "'7'", "\"7\"" }, { "null", "" }, { "1.5", "" }, { "[]", "" } };
    struct site s = site_open(false);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str body =
            arena_printf(s.arena, REQUEST("ping", "'_meta':{'progressToken':%s}"), cases[i].token);
        struct mcp_call *m = begin(&s, "", &older, quoted(s.arena, body.at));
        CHECK_STR(m->progress_token, cases[i].printed);
    }
    struct mcp_call *m =
        begin(&s, "", &older, quoted(s.arena, REQUEST("ping", "'_meta':{'progressToken':'t'}")));
    CHECK_STR(mcp_progress(s.arena, m, 2, STR("still")),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
              "{\"progressToken\":\"t\",\"progress\":2,\"message\":\"still\"}}");
    site_close(&s);
}

/* What is performed and what the cache knows are the same to a method. */
TEST(an_answer_out_of_the_cache_is_an_answer)
{
    struct site s = site_open(false);
    str body = quoted(s.arena, REQUEST("resources/read", "'uri':'baton://state/wfstate_1'"));
    struct op_shown shown = { .refs = 1, .version = 3, .text = STR("{\"version\":3}") };
    struct mcp_call *peeked = begin(&s, "", &older, body), *asked = begin(&s, "", &older, body);
    struct command done = { .arena = s.arena, .answer = shown.text, .version = shown.version };

    check_outcome(peeked, "perform state.read", "a resource");
    CHECK(peeked->plain);
    CHECK_STR(peeked->plain_id, "wfstate_1");
    mcp_peeked(peeked, &shown);
    mcp_performed(asked, &done);
    check_outcome(peeked, "200 result", "a resource");
    CHECK(!peeked->plain);
    CHECK_STR(peeked->answer, arena_copy(s.arena, asked->answer).at);
    site_close(&s);
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
    struct site s = site_open(true);

    check_outcome(begin(&s, NULL, NULL, quoted(s.arena, CALL("'name':'state_read'"))), "200 -32602",
                  "a real tool");
    check_outcome(begin(&s, NULL, NULL, quoted(s.arena, CALL("'name':'test_simple_text'"))),
                  "200 result", "one of the fixtures");
    check_outcome(begin(&s, NULL, &older,
                        quoted(s.arena, REQUEST("logging/setLevel", "'level':'info'"))),
                  "200 result", "a level");
    check_outcome(begin(&s, NULL, &older,
                        quoted(s.arena, REQUEST("logging/setLevel", "'level':'loud'"))),
                  "200 -32602", "no level");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        str body = arena_printf(s.arena,
                                "{'jsonrpc':'2.0','id':1,'method':'%s','params':{" META "}}",
                                methods[i].name);
        CHECK(begin(&s, NULL, NULL, quoted(s.arena, body.at))->next != MCP_PERFORM);
    }
    site_close(&s);
}

/* ---- recordings ---- */

/* The tools of the server that the recording was made with, as ours are called. */
static str with_our_tools(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    while (text.len) {
        if (str_starts(text, STR("\"state_get\"")) || str_starts(text, STR("\"state_set\""))) {
            buf_add(&out, text.at[7] == 'g' ? STR("\"state_read\"") : STR("\"state_patch\""));
            text = str_slice(text, strlen("\"state_get\""), text.len);
        } else {
            buf_byte(&out, text.at[0]);
            text = str_slice(text, 1, text.len);
        }
    }
    return buf_str(&out);
}

static bool find_recorded(const void *self, const char *name, str *value)
{
    const struct json *fields = self;

    for (uint32_t i = 0; i < fields->len; i++)
        if (fields->members[i].name_len == strlen(name) &&
            strncasecmp(fields->members[i].name, name, strlen(name)) == 0) {
            *value = json_text(&fields->members[i].value);
            return true;
        }
    return false;
}

/* A message with all that it asks for done, as a line. */
static str played(struct world *w, struct mcp *mcp, const struct json *record,
                  struct mcp_client *session, bool *in_session)
{
    struct mcp_call *m = ARENA_NEW(w->arena, struct mcp_call);

    m->arena = w->arena;
    m->mcp = mcp;
    m->actor = &w->actor;
    m->session = *in_session ? session : NULL;
    m->now_ms = w->now_ms;
    m->head = (struct mcp_head){ find_recorded, json_get(record, "headers") };
    mcp_begin(m, json_printed(w->arena, json_get(record, "message")));
    while (m->next == MCP_PERFORM) {
        str input = json_shown(w->arena, m->input);
        mcp_performed(m, world_call(w, m->op->name, input.at, ""));
    }
    if (m->next == MCP_INITIALIZE) {
        *session = m->client;
        *in_session = true;
    }
    str line = outcome(m);
    if (m->next == MCP_ANSWER && json_bool_or(json_get(answer_of(m), "result"), "isError", false))
        line = arena_printf(w->arena, STR_FMT " that is an error", STR_ARG(line));
    return arena_printf(w->arena, STR_FMT ": " STR_FMT "\n", STR_ARG(m->message.method),
                        STR_ARG(line));
}

static str replay(const char *name)
{
    str path = arena_printf(check_arena(), "%s/%s", check_suite("client-traces"), name);
    str text = with_our_tools(check_arena(), check_read(path.at));
    struct buf lines = buf_in(check_arena());
    struct mcp_client session;
    const struct json *records;
    bool in_session = false;
    struct world *w;

    CHECK_OK(world_open("mcp.db", NULL, &w));
    CHECK_OK(json_parse(w->arena, text, NULL, &records));
    struct mcp *mcp =
        mcp_new(&(struct mcp_options){ .table = w->table, .version = "1.2.3", .wait_ms = 45000 });
    for (uint32_t i = 0; i < records->len; i++)
        if (str_eq(json_str(&records->items[i], "method"), STR("POST")))
            buf_add(&lines, played(w, mcp, &records->items[i], &session, &in_session));
    mcp_free(mcp);
    world_close(w);
    return buf_str(&lines);
}

/* There is no state yet, so the tools' results say so; that is for the agent to read. */
TEST(what_claude_code_sends_is_answered)
{
    CHECK_STR(replay("claude-code-mcp-2026-07-28-http.json"),
              "server/discover: 200 result\n"
              "tools/list: 200 result\n"
              "tools/call: 200 result that is an error\n"
              "subscriptions/listen: listen\n");
}

TEST(what_codex_sends_is_answered)
{
    CHECK_STR(replay("codex-0.166.0-mcp-2025-06-18-http.json"),
              "initialize: 200 result and a session\n"
              "notifications/initialized: 202 accepted\n"
              "tools/list: 200 result\n"
              "tools/call: 200 result that is an error\n"
              "tools/call: 200 result that is an error\n"
              "tools/call: 200 result that is an error\n");
}
