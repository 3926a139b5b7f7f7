/* tools_test.c: which tools there are for whom, what they tell, and what they refuse. */
#include "tools_fixture.h"

/* ---- the list ---- */

#define CHILD_TOOLS "state_read state_update state_patch state_schema list_agent_sessions "
#define AGENT_TOOLS                                                          \
    "get_agent_session_status get_agent_session_result start_agent_session " \
    "resume_agent_session list_agent_blueprints"
#define ROOT_TOOLS                                                                       \
    "state_create " CHILD_TOOLS "delete_all_agent_sessions " AGENT_TOOLS " send_message" \
    " start_workflow create_workflow_state"

TEST(each_kind_of_token_sees_its_own_tools)
{
    struct fixture *d = fixture_new("{}");

    CHECK_STR(names_listed(d), ROOT_TOOLS);
    as_session(d, "kid", true);
    CHECK_STR(names_listed(d), CHILD_TOOLS AGENT_TOOLS);
    as_operator(d);
    CHECK_STR(names_listed(d), ROOT_TOOLS);
    as_viewer(d);
    CHECK_STR(names_listed(d), "state_read state_schema list_agent_sessions "
                               "get_agent_session_status get_agent_session_result "
                               "list_agent_blueprints");
    as_runner(d);
    CHECK_STR(names_listed(d), "");
    fixture_free(d);
}

/* Four characters are about a token. */
TEST(a_child_pays_at_most_1500_tokens_for_its_tools)
{
    struct fixture *d = fixture_new("{}");

    as_session(d, "kid", true);
    const struct json *tools = json_get(json_get(said(d, "tools/list", ""), "result"), "tools");
    size_t chars = json_printed(check_arena(), tools).len;
    check_note("%zu characters, %u tools", chars, (unsigned)tools->len);
    CHECK(chars <= 6000);
    CHECK(tools->len <= 12);
    fixture_free(d);
}

static const struct json *schema_of(const struct json *tool, const char *which)
{
    const struct json *schema = json_get(tool, which);
    struct schema *compiled;

    CHECK_OK(schema_compile(check_arena(), schema, NULL, &compiled));
    schema_free(compiled);
    CHECK_STR(json_str(schema, "type"), "object");
    return schema;
}

/* A client that is promised JSON shows its model nothing but that. */
TEST(what_a_tool_answers_is_promised_to_programs_and_not_to_models)
{
    struct fixture *d = fixture_new("{}");

    for (int who = 0; who < 4; who++) {
        if (who < 2)
            as_session(d, who ? "kid" : "root", who == 1);
        else
            who == 2 ? as_operator(d) : as_viewer(d);
        const struct json *tools = json_get(json_get(said(d, "tools/list", ""), "result"), "tools");
        for (uint32_t i = 0; i < tools->len; i++) {
            if (who < 2)
                CHECK(!json_get(&tools->items[i], "outputSchema"));
            else
                schema_of(&tools->items[i], "outputSchema");
        }
        const struct json *result =
            called(d, "state_read",
                   arena_printf(check_arena(), "{'state_id':'" STR_FMT "'}", STR_ARG(d->state)).at);
        CHECK((who < 2) == !json_get(result, "structuredContent"));
        CHECK(json_of_text(result));
    }
    fixture_free(d);
}

TEST(every_tool_is_described_as_clients_want_it)
{
    struct fixture *d = fixture_new("{}");
    const struct json *tools = json_get(json_get(said(d, "tools/list", ""), "result"), "tools");

    for (uint32_t i = 0; i < tools->len; i++) {
        const struct json *tool = &tools->items[i], *hints = json_get(tool, "annotations");
        const struct json *input = schema_of(tool, "inputSchema");
        bool reads = json_bool_or(hints, "readOnlyHint", false);

        CHECK(!json_get(input, "oneOf") && !json_get(input, "anyOf") && !json_get(input, "allOf"));
        for (uint32_t p = 0; p < json_get(input, "properties")->len; p++) {
            const struct json *field = &json_get(input, "properties")->members[p].value;
            CHECK(json_str(field, "type").len);
            CHECK(!str_eq(json_str(field, "type"), STR("array")) || json_get(field, "items"));
        }
        CHECK(json_str(tool, "description").len > 40);
        CHECK(json_get(hints, "readOnlyHint") && !json_bool_or(hints, "openWorldHint", true));
        CHECK(reads == !json_get(hints, "destructiveHint"));
        CHECK(json_bool_or(json_get(tool, "_meta"), "anthropic/alwaysLoad", false));
    }
    CHECK(json_bool_or(json_get(listed_tool(d, "state_update"), "annotations"), "destructiveHint",
                       false));
    CHECK(!json_bool_or(json_get(listed_tool(d, "state_patch"), "annotations"), "destructiveHint",
                        true));
    fixture_free(d);
}

TEST(the_list_goes_on_behind_its_cursor)
{
    struct fixture *d = fixture_new("{}");
    struct buf cursor = buf_in(check_arena());
    struct json_writer w = json_writer_to(&cursor);

    json_write_begin(&w, '{');
    mcp_write_next(&w, STR("start_agent_session"));
    json_write_end(&w, '}');
    const struct json *written = json_parsed(check_arena(), buf_str(&cursor));
    str params = arena_printf(check_arena(), "'cursor':'" STR_FMT "'",
                              STR_ARG(json_str(written, "nextCursor")));
    const struct json *result = json_get(said(d, "tools/list", params.at), "result");
    CHECK_INT(json_get(result, "tools")->len, 5);
    CHECK_STR(json_str(json_at(json_get(result, "tools"), 0), "name"), "resume_agent_session");
    CHECK(!json_get(result, "nextCursor"));
    CHECK_STR(json_str(result, "cacheScope"), "private");

    /* A tool that this one does not see is no place in its list. */
    as_session(d, "kid", true);
    cursor = buf_in(check_arena());
    w = json_writer_to(&cursor);
    json_write_begin(&w, '{');
    mcp_write_next(&w, STR("state_create"));
    json_write_end(&w, '}');
    written = json_parsed(check_arena(), buf_str(&cursor));
    params = arena_printf(check_arena(), "'cursor':'" STR_FMT "'",
                          STR_ARG(json_str(written, "nextCursor")));
    CHECK_INT(json_int_or(json_get(said(d, "tools/list", params.at), "error"), "code", 0),
              RPC_PARAMS);
    fixture_free(d);
}

static void is_unknown(struct fixture *d, const char *tool)
{
    const struct json *error =
        json_get(said(d, "tools/call", arena_printf(check_arena(), "'name':'%s'", tool).at),
                 "error");

    CHECK_INT(json_int_or(error, "code", 0), RPC_PARAMS);
    CHECK_STR(json_str(error, "message"), arena_printf(check_arena(), "Unknown tool: %s", tool).at);
}

TEST(a_tool_of_another_tier_is_unknown)
{
    struct fixture *d = fixture_new("{}");

    is_unknown(d, "no_such_tool");
    is_unknown(d, "state_delete");
    is_unknown(d, "state.read");
    as_session(d, "kid", true);
    is_unknown(d, "state_create");
    is_unknown(d, "delete_all_agent_sessions");
    as_viewer(d);
    is_unknown(d, "state_patch");
    as_runner(d);
    is_unknown(d, "state_read");
    CHECK_INT(json_int_or(json_get(said(d, "tools/call", "'name':7"), "error"), "code", 0),
              RPC_PARAMS);
    fixture_free(d);
}

/* ---- what they tell ---- */

/* One life of a root with all of its tools; each answer is checked against the list. */
TEST(every_answer_of_every_tool_fits_what_the_list_promises)
{
    struct fixture *d = fixture_new(NULL);

    told(d, "state_create", "{'schema_name':'plan','initial_data':{'status':'open'}}");
    d->state = json_str(meanwhile(d, as_operator, "session.get", "{'session_id':'root'}"),
                        "workflow_state_id");
    as_session(d, "root", false);
    str id = d->state;
    const char *all = arena_printf(check_arena(),
                                   "{'state_id':'" STR_FMT
                                   "','version':1,'current_data':{'status':'open'}}",
                                   STR_ARG(id))
                          .at;
    tells(d, "state_read", "{}", all);
    told(d, "state_read", "{'pointer':'/status'}");
    told(d, "state_read", "{'query':'$.status'}");
    told(d, "state_patch", "{'operations':[{'op':'add','path':'/n','value':1}]}");
    told(d, "state_patch", "{'merge':{'n':2},'representation':true}");
    told(d, "state_read", "{'since_version':1}");
    told(d, "state_read", "{'version':1}");
    const struct json *dropped = told(d, "state_update", "{'data':{'n':3}}");
    CHECK(!json_get(dropped, "dropped")); /* all of it was its own */
    CHECK_INT(json_int_or(told(d, "state_schema", "{}"), "version", 0), 1);
    tells(d, "list_agent_blueprints", "{}",
          "{'agents':[{'name':'tester','description':'Tests.'}]}");

    const struct json *started = told(d, "start_agent_session",
                                      "{'session_name':'one','prompt':'go','agent_name':'tester',"
                                      "'execution_mode':'async_poll'}");
    CHECK_STR(json_str(started, "status"), "pending");
    told(d, "get_agent_session_status", "{'session_id':'one'}");
    told(d, "get_agent_session_result", "{'session_id':'one'}");
    run_through(d);
    told(d, "get_agent_session_status", "{'session_id':'one'}");
    told(d, "get_agent_session_result", "{'session_id':'one'}");
    told(d, "resume_agent_session",
         "{'session_name':'one','prompt':'more','execution_mode':'async_poll'}");
    const struct json *sessions = json_get(told(d, "list_agent_sessions", "{}"), "sessions");
    CHECK_INT(sessions->len, 3);
    CHECK(!json_get(&sessions->items[0], "usage"));
    told(d, "delete_all_agent_sessions", "{}");
    fixture_free(d);
}

TEST(the_older_revision_has_no_structured_content)
{
    struct fixture *d = fixture_new("{}");

    const char *which =
        arena_printf(check_arena(), "{'state_id':'" STR_FMT "'}", STR_ARG(d->state)).at;
    as_operator(d);
    d->older = true;
    CHECK(json_get(called(d, "state_read", which), "structuredContent"));
    d->legacy.version = MCP_2025_03_26;
    const struct json *result = called(d, "state_read", which);
    CHECK(!json_get(result, "structuredContent"));
    CHECK_STR(json_shown(check_arena(), json_get(result, "content")),
              arena_printf(check_arena(),
                           "[{'type':'text','text':'{\\'state_id\\':\\'" STR_FMT
                           "\\',\\'version\\':1,\\'current_data\\':{}}'}]",
                           STR_ARG(d->state))
                  .at);
    fixture_free(d);
}

TEST(what_is_told_is_chosen_from_the_printed_text)
{
    static const struct {
        const char *names, *printed, *told;
    } cases[] = {
        { "{'a':true}", "{}", "{}" },
        { "{'a':true}", "{'a':1,'b':2}", "{'a':1}" },
        { "{'b':true}", "{'a':{'b':[1,{'c':'}'}]},'b':'x\\n,]','c':null}", "{'b':'x\\n,]'}" },
        { "{'b':true}", " { 'a' : [ 1 , 2 ] , 'b' : { 'x' : 1 } } ", "{'b':{ 'x' : 1 }}" },
        { "{'a':true,'n':true}", "{'a':null,'n':null}", "{'a':null}" },
        { "{'l':{'x':true}}", "{'l':[{'x':1,'y':2},{'y':3}],'x':4}", "{'l':[{'x':1},{}]}" },
        { "{'l':{'x':true}}", "{'l':[]}", "{'l':[]}" },
        { "{'o':{'x':true}}", "{'o':{'y':'\\\\','x':true}}", "{'o':{'x':true}}" },
    };
    struct json schema =
        json_of(check_arena(),
                "{'properties':{'a':{},'n':{'type':['string','null']},'l':{'type':'array',"
                "'items':{'properties':{'x':{}}}},'o':{'properties':{'x':{}}}}}");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json names = json_of(check_arena(), cases[i].names);
        str printed = quotes_double(check_arena(), cases[i].printed);
        struct buf out = buf_in(check_arena());
        const struct projection *tell;

        size_t count = projection_make(check_arena(), &names, &schema, &tell);
        projection_write(&out, printed, tell, count);
        CHECK_STR(buf_str(&out), quotes_double(check_arena(), cases[i].told).at);
    }
}

/* ---- whose state ---- */

TEST(the_state_is_the_sessions_own_unless_the_head_or_the_call_names_one)
{
    struct fixture *d = fixture_new("{'n':1}");

    as_operator(d);
    str other = json_str(did(d, "state.create", "{'schema_name':'plan','initial_data':{'n':2}}"),
                         "state_id");
    str by_id = arena_printf(check_arena(), "{'state_id':'" STR_FMT "'}", STR_ARG(other));
    refuses(d, "state_read", "{}",
            "Which state is meant? Give its state_id: no session implies one here.");
    CHECK_INT(json_int_or(json_get(told(d, "state_read", by_id.at), "current_data"), "n", 0), 2);
    d->head = other;
    d->older = true; /* whose head has nothing else to say */
    CHECK_INT(json_int_or(json_get(told(d, "state_read", "{}"), "current_data"), "n", 0), 2);
    d->older = false;
    d->head = STR("");

    as_session(d, "root", false);
    CHECK_INT(json_int_or(json_get(told(d, "state_read", "{}"), "current_data"), "n", 0), 1);
    static const char *const tools[] = { "state_read", "state_schema" };
    for (size_t i = 0; i < 2; i++)
        refuses(d, tools[i], by_id.at,
                arena_printf(check_arena(),
                             "%s was refused (Not found): there is no state " STR_FMT
                             "\nWithout state_id, it is your own shared state.",
                             tools[i], STR_ARG(other))
                    .at);
    d->state = STR("");
    as_session(d, "root", false);
    refuses(d, "state_read", "{}",
            "There is no shared state yet. Create it with state_create, before you start other "
            "agents: they inherit it.");
    as_session(d, "kid", true);
    refuses(d, "state_read", "{}",
            "There is no shared state yet: the root of your sessions creates it with state_create. "
            "Go on without it, and answer with your result.");
    fixture_free(d);
}

/* ---- what is refused ---- */

TEST(a_refused_call_says_what_to_do_next)
{
    static const struct {
        const char *tool, *arguments, *text;
    } cases[] = {
        { "state_patch", "{'operations':[{'op':'add','path':'/n','value':5}],'expected_version':1}",
          "state_patch was refused (Conflict): state S is at version 2, expected 1: read it again "
          "and repeat the change on what it is now\n"
          "current_version: 2. Read it again with state_read, then repeat the change with "
          "expected_version 2." },
        { "state_patch", "{'merge':{'status':'dome','n':'x'}}",
          "state_patch was refused (Does not fit)\n"
          "- /n: expected an integer, found \"x\"\n"
          "- /status: expected one of \"open\", \"done\", found \"dome\"; did you mean \"done\"?\n"
          "Nothing was written. Correct this and call it again; state_schema shows what is "
          "allowed." },
        { "state_read", "{'pointer':7,'what':1}",
          "state_read was refused (Bad request)\n"
          "- /pointer: expected a string, found 7\n"
          "- /what: \"what\" is not allowed here; allowed: \"max_chars\", \"pointer\", \"query\", "
          "\"since_version\", \"state_id\", \"timeout\", \"version\", \"wait_version\"\n"
          "Correct the arguments and call it again." },
        { "state_patch", "{}",
          "state_patch was refused (Bad request)\n"
          "- expected \"operations\" or \"merge\", found neither\n"
          "Correct the arguments and call it again." },
        { "state_patch", "{'operations':[],'merge':{}}",
          "state_patch was refused (Bad request)\n"
          "- expected only one of \"operations\" and \"merge\", found both\n"
          "Correct the arguments and call it again." },
        { "state_patch", "{'operations':'[{\\\"op\\\":\\\"add\\\"}]'}",
          "state_patch was refused (Bad request)\n"
          "- /operations: expected an array, found \"[{\\\"op\\\":\\\"add\\\"}]\": this is JSON inside "
          "of a string; write the array itself, without quotes\n"
          "Correct the arguments and call it again." },
        { "state_update", "{'data':'{\\\"n\\\":1}'}",
          "state_update was refused (Does not fit)\n"
          "- data: expected an object, found \"{\\\"n\\\":1}\": this is JSON inside of a string; write "
          "the object itself, without quotes\n"
          "Nothing was written. Correct this and call it again; state_schema shows what is "
          "allowed." },
        { "state_patch", "{'operations':[{'op':'add','path':'/findings/-','value':1}]}",
          "state_patch was refused (Does not fit): operation 0 (add /findings/-): the document has "
          "no member \"findings\", and it is not made on the way: first add /findings with the "
          "value [], then this\n"
          "Nothing was written. Correct this and call it again; state_schema shows what is "
          "allowed." },
        { "start_agent_session", "{'session_name':'x','prompt':'go','execution_mode':'async'}",
          "start_agent_session was refused (Bad request)\n"
          "- /execution_mode: expected one of \"sync\", \"async_poll\", \"async_callback\", found "
          "\"async\"; did you mean \"async_poll\" or \"async_callback\"? sync: answer with the "
          "result; async_poll: be asked for it later; async_callback: call the parent back when it "
          "is there.\n"
          "Correct the arguments and call it again." },
        { "start_agent_session", "{'session_name':'one','prompt':'go'}",
          "start_agent_session was refused (Conflict): session one has been started already and is "
          "running: ask it for more with resume_agent_session (a run of the type resume_session), or choose "
          "another name" },
        { "state_read", "{'pointer':'/none'}",
          "state_read was refused (Not found): no value at \"/none\": at \"\" is an object "
          "without a member \"none\"" },
        { "get_agent_session_status", "{'session_id':'nobody'}",
          "get_agent_session_status was refused (Not found): there is no session \"nobody\" at "
          "or below this one; list_agent_sessions tells which there are" },
    };
    struct fixture *d = fixture_new("{}");

    told(d, "state_patch", "{'merge':{'n':1}}");
    told(d, "start_agent_session", "{'session_name':'one','prompt':'go'}");
    claim(d);
    report(d, "runner.started", "");
    as_session(d, "root", false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct json *result = called(d, cases[i].tool, cases[i].arguments);
        str text = text_of(result, 0);
        str seen = arena_copy(check_arena(), text);
        char *id = strstr(seen.at, arena_copy(check_arena(), d->state).at);
        if (id) { /* its id, as a letter */
            *id = 'S';
            memmove(id + 1, id + d->state.len, strlen(id + d->state.len) + 1);
        }
        CHECK(json_bool_or(result, "isError", false));
        CHECK_STR(str_from(seen.at), cases[i].text);
    }
    fixture_free(d);
}

TEST(every_kind_of_error_says_what_happened)
{
    struct fixture *d = fixture_new("{}");
    const struct tool *t = tool_of(d->mcp, "state.patch");
    struct json none = json_object();

    for (int kind = 0; kind < ERROR_KIND_COUNT; kind++) {
        err e = err_new(check_arena(), (enum error_kind)kind, "something is so");
        str text = tool_error_text(check_arena(), t, &none, e);
        CHECK(str_starts(text, STR("state_patch was refused (")));
        CHECK(strstr(text.at, "something is so"));
    }
    fixture_free(d);
}

/* ---- who a token stands for ---- */

static enum op_tier tier_of(struct fixture *d, const char *kind, const char *scope, bool *attended)
{
    const struct json *made =
        did(d, "token.create", arena_printf(check_arena(), "{'kind':'%s'%s}", kind, scope).at);
    struct engine *reader;
    struct grant *g;

    CHECK_OK(world_reader(d->w, &reader));
    CHECK_OK(op_admit(reader, check_arena(), json_str(made, "token"), &g));
    enum op_tier tier = actor_tier(g->actor);
    *attended = actor_is_attended(g->actor);
    grant_unref(g);
    return tier;
}

TEST(a_token_tells_its_tier)
{
    static const struct {
        const char *kind, *scope;
        enum op_tier tier;
        bool attended;
    } cases[] = {
        { "session", ",'scope':{'session_id':'kid'}", TIER_CHILD, true },
        { "session", ",'scope':{'session_id':'root'}", TIER_ROOT, true },
        { "session", ",'scope':{'session_id':'one'}", TIER_CHILD, false },
        { "session", ",'scope':{'session_id':'unheard-of'}", TIER_ROOT, true },
        { "operator", "", TIER_OPERATOR, false },
        { "viewer", "", TIER_VIEWER, false },
        { "runner", "", TIER_NONE, false },
    };
    struct fixture *d = fixture_new("{}");

    told(d, "start_agent_session", "{'session_name':'one','prompt':'go'}");
    as_operator(d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool attended;
        CHECK_INT(tier_of(d, cases[i].kind, cases[i].scope, &attended), cases[i].tier);
        CHECK_INT(attended, cases[i].attended);
    }
    fixture_free(d);
}
