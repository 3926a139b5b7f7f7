/* fixtures_test.c: the tools, resources and prompts of fixture mode, without a transport.
 *
 * Whether they are what the conformance suite asks for, it says itself (test/cli/conformance.sh).
 * Here is what it does not look at: that they hold to what they say. */
#include "json/schema/schema.h"
#include "json_help.h"
#include "mcp/mcp.h"
#include "suites/suites.h"

struct fixture {
    struct arena *arena;
    struct mcp *mcp;
    struct mcp_client client; /* of the session of an older client */
    int64_t now_ms;
};

static struct fixture fixture_open(void)
{
    struct fixture s = { .arena = check_arena(), .now_ms = 1736937300000 };

    s.client = (struct mcp_client){ .version = MCP_2025_11_25, .elicits_form = true };
    s.mcp = mcp_new(&(struct mcp_options){ .version = "1.2.3", .served = &mcp_fixtures });
    return s;
}

static struct mcp_call *begin(struct fixture *s, bool modern, const char *method,
                              const char *params)
{
    static const char meta[] = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                               "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{},"
                               "'extensions':{'io.modelcontextprotocol/tasks':{}}}}";
    struct mcp_call *m = ARENA_NEW(s->arena, struct mcp_call);
    str text = arena_printf(s->arena, "{'jsonrpc':'2.0','id':7,'method':'%s','params':{%s%s%s}}",
                            method, params, *params && modern ? "," : "", modern ? meta : "");
    struct json body = json_of(s->arena, text.at);

    m->arena = s->arena;
    m->mcp = s->mcp;
    m->session = modern ? NULL : &s->client;
    m->now_ms = s->now_ms;
    mcp_begin(m, json_printed(s->arena, &body));
    return m;
}

static const struct json *parsed(struct fixture *s, str text)
{
    return json_parsed(s->arena, text);
}

static const struct json *result(struct fixture *s, const struct mcp_call *m)
{
    const struct json *found = json_get(parsed(s, m->answer), "result");

    if (!found)
        check_fail(__FILE__, __LINE__, "expected a result, found " STR_FMT, STR_ARG(m->answer));
    return found;
}

static const struct json *ask(struct fixture *s, const char *method, const char *params)
{
    return result(s, begin(s, true, method, params));
}

static int64_t refusal(struct fixture *s, bool modern, const char *method, const char *params)
{
    struct mcp_call *m = begin(s, modern, method, params);

    CHECK_INT(m->next, MCP_ANSWER);
    return json_int_or(json_get(parsed(s, m->answer), "error"), "code", 0);
}

/* The text of a tool's result, or of its first message. */
static str text_of(const struct json *tool_result)
{
    return json_str(json_at(json_get(tool_result, "content"), 0), "text");
}

/* ---- lists ---- */

TEST(each_fixture_tool_has_a_schema_that_compiles_and_a_name_of_its_own)
{
    struct fixture s = fixture_open();

    for (int modern = 0; modern < 2; modern++) {
        const struct json *tools =
            json_get(result(&s, begin(&s, modern, "tools/list", "")), "tools");
        CHECK(tools->len > 15);
        for (uint32_t i = 0; i < tools->len; i++) {
            struct schema *schema;
            CHECK_OK(
                schema_compile(s.arena, json_get(&tools->items[i], "inputSchema"), NULL, &schema));
            schema_free(schema);
            for (uint32_t k = 0; k < i; k++)
                CHECK(!str_eq(json_str(&tools->items[i], "name"),
                              json_str(&tools->items[k], "name")));
        }
    }
    mcp_free(s.mcp);
}

TEST(fixture_resources_come_in_pages_and_each_once)
{
    struct fixture s = fixture_open();
    const struct json *page = ask(&s, "resources/list", "");
    uint32_t first = json_get(page, "resources")->len;
    str cursor = json_str(page, "nextCursor");

    CHECK(first > 0 && cursor.len > 0);
    page = ask(&s, "resources/list",
               arena_printf(s.arena, "'cursor':'" STR_FMT "'", STR_ARG(cursor)).at);
    CHECK(json_get(page, "resources")->len > 0);
    CHECK(!json_get(page, "nextCursor"));
    CHECK_STR(json_str(json_at(json_get(page, "resources"), 0), "uri"), "test://example-resource");
    CHECK_INT(refusal(&s, true, "resources/list", "'cursor':'MTAw'"), RPC_PARAMS);
    mcp_free(s.mcp);
}

static bool lists(struct fixture *s, const char *what, const char *name)
{
    const struct json *all = json_get(ask(s, arena_printf(s->arena, "%s/list", what).at, ""), what);

    for (uint32_t i = 0; i < all->len; i++)
        if (str_eq(json_str(&all->items[i], "name"), str_from(name)))
            return true;
    return false;
}

TEST(a_list_that_is_said_to_change_does)
{
    struct fixture s = fixture_open();
    struct mcp_call *m;

    CHECK(!lists(&s, "tools", "test_extra_tool") && !lists(&s, "prompts", "test_extra_prompt"));
    CHECK_INT(refusal(&s, true, "tools/call", "'name':'test_extra_tool'"), RPC_PARAMS);
    m = begin(&s, true, "tools/call", "'name':'test_trigger_tool_change'");
    CHECK_STR(str_from(m->changed), "tools");
    m = begin(&s, true, "tools/call", "'name':'test_trigger_prompt_change'");
    CHECK_STR(str_from(m->changed), "prompts");
    CHECK(lists(&s, "tools", "test_extra_tool") && lists(&s, "prompts", "test_extra_prompt"));
    ask(&s, "tools/call", "'name':'test_extra_tool'");
    begin(&s, true, "tools/call", "'name':'test_trigger_tool_change'");
    CHECK(!lists(&s, "tools", "test_extra_tool"));
    mcp_free(s.mcp);
}

/* ---- arguments ---- */

TEST(arguments_that_do_not_fit_are_told_to_the_model)
{
    static const char *const calls[] = {
        "'name':'greet','arguments':{'name':7}",
        "'name':'greet'",
        "'name':'test_simple_text','arguments':{'more':1}",
        "'name':'json_schema_2020_12_tool','arguments':{'contactMethod':'phone','email':'a'}",
        "'name':'slow_compute','arguments':{'seconds':-1}",
    };
    struct fixture s = fixture_open();

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct json *found = ask(&s, "tools/call", calls[i]);
        CHECK(json_bool_or(found, "isError", false));
        CHECK(str_starts(text_of(found), STR("the arguments do not fit: ")));
    }
    CHECK_STR(text_of(ask(&s, "tools/call",
                          "'name':'json_schema_2020_12_tool','arguments':"
                          "{'contactMethod':'phone','phone':'1'}")),
              "called with {\"contactMethod\":\"phone\",\"phone\":\"1\"}");
    mcp_free(s.mcp);
}

/* ---- streams ---- */

/* The steps of a call as a line; a request of ours is answered by `reply`. */
static str played(struct fixture *s, struct mcp_call *m, const char *reply)
{
    struct buf out = buf_in(s->arena);
    struct rpc answer = { .kind = RPC_RESPONSE };
    struct json value;

    CHECK_INT(m->next, MCP_PLAY);
    if (reply) {
        value = json_of(s->arena, reply);
        answer.result = &value;
    }
    for (struct mcp_play p = { 0 }; p.step != MCP_STEP_END; p.number++) {
        mcp_play(m, &p);
        const struct json *text =
            p.step == MCP_STEP_SEND || p.step == MCP_STEP_ASK ? parsed(s, p.text) : NULL;
        switch (p.step) {
        case MCP_STEP_SEND:
            buf_printf(&out, "%s ",
                       strrchr(arena_copy(s->arena, json_str(text, "method")).at, '/'));
            break;
        case MCP_STEP_ASK:
            CHECK(str_eq(json_str(text, "id"), p.ask_id));
            p.reply = reply ? &answer : NULL;
            buf_printf(&out, "ask " STR_FMT " ", STR_ARG(json_str(text, "method")));
            break;
        case MCP_STEP_PAUSE:
            if (p.pause_ms)
                buf_printf(&out, "%d ms ", (int)p.pause_ms);
            break;
        case MCP_STEP_CUT: buf_printf(&out, "cut "); break;
        case MCP_STEP_END: buf_printf(&out, "end");
        }
    }
    return buf_str(&out);
}

#define CALL(name, more) "tools/call", "'name':'" name "'" more

TEST(a_stream_says_what_was_asked_for)
{
    struct fixture s = fixture_open();

    CHECK_STR(played(&s, begin(&s, false, CALL("test_tool_with_logging", "")), NULL),
              "/message 50 ms /message 50 ms /message end");
    s.client.log_level = 3;
    CHECK_STR(played(&s, begin(&s, false, CALL("test_tool_with_logging", "")), NULL),
              "50 ms 50 ms end");
    CHECK_STR(played(&s, begin(&s, true, CALL("test_logging_tool", "")), NULL), "50 ms 50 ms end");
    CHECK_STR(played(&s, begin(&s, false, CALL("test_tool_with_progress", "")), NULL),
              "50 ms 50 ms end");
    CHECK_STR(played(&s,
                     begin(&s, false,
                           CALL("test_tool_with_progress", ",'_meta':{'progressToken':'p'}")),
                     NULL),
              "/progress 50 ms /progress 50 ms /progress end");
    CHECK_STR(played(&s, begin(&s, false, CALL("test_reconnection", "")), NULL), "cut 100 ms end");
    mcp_free(s.mcp);
}

TEST(a_level_is_taken_by_its_session)
{
    struct fixture s = fixture_open();
    struct mcp_call *m = begin(&s, false, "logging/setLevel", "'level':'warning'");

    CHECK_INT(m->next, MCP_SET_LEVEL);
    CHECK_INT(m->client.log_level, 3);
    CHECK_INT(refusal(&s, false, "logging/setLevel", "'level':'loud'"), RPC_PARAMS);
    mcp_free(s.mcp);
}

TEST(an_older_client_is_asked_and_its_answer_is_looked_at)
{
    static const struct {
        const char *reply, *text;
        bool is_error;
    } cases[] = {
        { "{'action':'accept','content':{'username':'a','email':'b'}}",
          "User response: action=accept, content={\"username\":\"a\",\"email\":\"b\"}", false },
        { "{'action':'decline'}", "User response: action=decline, content={}", false },
        { "{'action':'accept','content':{'username':'a'}}",
          "expected an answer to elicitation/create, found "
          "{\"action\":\"accept\",\"content\":{\"username\":\"a\"}}",
          true },
        { NULL, "the client did not answer", true },
    };
    struct fixture s = fixture_open();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mcp_call *m =
            begin(&s, false, CALL("test_elicitation", ",'arguments':{'message':'who?'}"));
        CHECK_STR(played(&s, m, cases[i].reply), "ask elicitation/create end");
        CHECK_STR(text_of(result(&s, m)), cases[i].text);
        CHECK_INT(json_bool_or(result(&s, m), "isError", false), cases[i].is_error);
    }
    /* One that has not said that it has a model is not asked for it. */
    struct mcp_call *m = begin(&s, false, CALL("test_sampling", ",'arguments':{'prompt':'why?'}"));
    CHECK_INT(m->next, MCP_ANSWER);
    CHECK(json_bool_or(result(&s, m), "isError", false));
    mcp_free(s.mcp);
}

/* ---- rounds ---- */

#define ACCEPT(key, content) "'" key "':{'action':'accept','content':{" content "}}"

static const struct json *round_of(struct fixture *s, const char *name, const char *answers,
                                   const struct json *before)
{
    str state = json_str(before, "requestState");

    return ask(s, "tools/call",
               arena_printf(s->arena, "'name':'%s','inputResponses':{%s}%s" STR_FMT "%s", name,
                            answers, state.len ? ",'requestState':'" : "", STR_ARG(state),
                            state.len ? "'" : "")
                   .at);
}

TEST(rounds_carry_what_was_answered_in_the_state_alone)
{
    static const char name[] = "test_input_required_result_multi_round";
    struct fixture s = fixture_open();
    const struct json *first = round_of(&s, name, "", NULL), *second;

    CHECK(json_get(json_get(first, "inputRequests"), "step1"));
    second = round_of(&s, name, ACCEPT("step1", "'name':'Ada'"), first);
    CHECK(json_get(json_get(second, "inputRequests"), "step2"));
    CHECK_STR(text_of(round_of(&s, name, ACCEPT("step2", "'color':'red'"), second)),
              "The favorite color of Ada is red.");

    /* Answers without their state, and those that do not fit the form, are asked for again. */
    CHECK(json_get(json_get(round_of(&s, name, ACCEPT("step1", "'name':'Ada'"), NULL),
                            "inputRequests"),
                   "step1"));
    CHECK(
        json_get(json_get(round_of(&s, name, ACCEPT("step1", "'name':7"), first), "inputRequests"),
                 "step1"));

    /* A state is good for ten minutes, and for the tool that gave it out. */
    str state = json_str(first, "requestState");
    const char *again = arena_printf(s.arena,
                                     "'name':'test_input_required_result_request_state',"
                                     "'requestState':'" STR_FMT "'",
                                     STR_ARG(state))
                            .at;
    CHECK_INT(refusal(&s, true, "tools/call", again), RPC_PARAMS);
    s.now_ms += 10 * 60 * 1000;
    again =
        arena_printf(s.arena, "'name':'%s','requestState':'" STR_FMT "'", name, STR_ARG(state)).at;
    CHECK_INT(refusal(&s, true, "tools/call", again), RPC_PARAMS);
    mcp_free(s.mcp);
}

TEST(nothing_is_asked_that_a_client_has_not_declared)
{
    struct fixture s = fixture_open();

    CHECK_INT(refusal(&s, true, CALL("test_missing_capability", "")), RPC_CAPABILITY);
    CHECK_INT(refusal(&s, true, CALL("test_input_required_result_multiple_inputs", "")),
              RPC_CAPABILITY);
    const struct json *asked =
        json_get(ask(&s, CALL("test_input_required_result_capabilities", "")), "inputRequests");
    CHECK_INT(asked->len, 1);
    CHECK(json_get(asked, "user_name"));
    mcp_free(s.mcp);
}

/* ---- tasks ---- */

static const struct json *task_now(struct fixture *s, str id)
{
    return ask(s, "tasks/get", arena_printf(s->arena, "'taskId':'" STR_FMT "'", STR_ARG(id)).at);
}

TEST(a_task_takes_its_time_and_can_be_cancelled_until_then)
{
    struct fixture s = fixture_open();
    str id =
        json_str(ask(&s, CALL("slow_compute", ",'arguments':{'seconds':2,'label':'x'}")), "taskId");
    str other = json_str(ask(&s, CALL("protocol_error_job", "")), "taskId");
    const char *cancel = arena_printf(s.arena, "'taskId':'" STR_FMT "'", STR_ARG(id)).at;

    CHECK(!str_eq(id, other));
    s.now_ms += 1999;
    CHECK_STR(json_str(task_now(&s, id), "status"), "working");
    CHECK_STR(json_str(task_now(&s, other), "status"), "failed");
    s.now_ms += 1;
    CHECK_STR(text_of(json_get(task_now(&s, id), "result")), "computed x for 2 s");
    ask(&s, "tasks/cancel", cancel);
    CHECK_STR(json_str(task_now(&s, id), "status"), "completed");

    id = json_str(ask(&s, CALL("slow_compute", ",'arguments':{'seconds':60}")), "taskId");
    ask(&s, "tasks/cancel", arena_printf(s.arena, "'taskId':'" STR_FMT "'", STR_ARG(id)).at);
    CHECK_STR(json_str(task_now(&s, id), "status"), "cancelled");
    s.now_ms += 60000;
    CHECK_STR(json_str(task_now(&s, id), "status"), "cancelled");
    CHECK_INT(refusal(&s, true, "tasks/get", "'taskId':'task-1'"), RPC_PARAMS);
    mcp_free(s.mcp);
}

TEST(there_are_no_more_fixture_tasks_than_fit_and_none_goes_before_its_time)
{
    struct fixture s = fixture_open();
    str first = json_str(ask(&s, CALL("failing_job", "")), "taskId");

    for (int i = 1; i < 256; i++)
        ask(&s, CALL("failing_job", ""));
    CHECK_INT(refusal(&s, true, CALL("failing_job", "")), RPC_INTERNAL);
    CHECK(json_bool_or(json_get(task_now(&s, first), "result"), "isError", false) == false);
    s.now_ms += json_int_or(task_now(&s, first), "ttlMs", 0);
    CHECK(json_bool_or(json_get(task_now(&s, first), "result"), "isError", false));
    ask(&s, CALL("failing_job", ""));
    mcp_free(s.mcp);
}
