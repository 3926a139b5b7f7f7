/* hooks_test.c: what clients of agents tell by their hooks, whoever they are and whatever comes, and
 * what they are told of themselves. */
#include "cli/hook_input.h"
#include "hooks_fixture.h"

/* ---- who it is ---- */

TEST(session_start_registers_who_a_person_has_started)
{
    struct fixture *t = fixture_new();
    str reply = hook(t, "claude", A, "SessionStart", "'source':'startup'");

    CHECK(str_starts(reply, STR("{'hookSpecificOutput':{'hookEventName':'SessionStart',"
                                "'additionalContext':'You are session `" A_NAME "` in baton")));
    CHECK_HAS(reply, "`state_create` makes one");
    const struct json *s = session(t, "claude-" A);
    CHECK_STR(json_str(s, "session_name"), A_NAME);
    CHECK_STR(json_str(s, "client_id"), A);
    CHECK_STR(json_str(s, "project_dir"), "/home/ann/shop");
    CHECK(json_bool_or(s, "attended", false));
    is(t, A_NAME, "pending -");
    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'hello'");
    is(t, A_NAME, "running -");
    CHECK_STR(json_str(session(t, A_NAME), "last_event"), "hello");
    fixture_free(t);
}

TEST(names_and_ids_are_made_of_whatever_clients_have)
{
    static const struct {
        const char *client, *id, *name;
    } cases[] = {
        { "codex", "0199a213-81c0-7800-8aa0-1b2c3d4e5f60", "codex-shop-0199a213" },
        { "codex", "0199a213-9999-7800-8aa0-1b2c3d4e5f60",
          "codex-0199a213-9999-7800-8aa0-1b2c3d4e5f60" }, /* its short name is taken */
        { "gemini", "a_b/../c", "gemini-shop-" },         /* and some of a digest */
        { "claude", "0123456789012345678901234567890123456789012345678901234567890",
          "claude-shop-" },
    };

    struct fixture *t = fixture_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hook(t, cases[i].client, cases[i].id, "SessionStart", "");
        CHECK_HAS(hook(t, cases[i].client, cases[i].id, "SessionStart", ""), cases[i].name);
    }
    CHECK_INT(json_get(answer_of(call(t->w, "session.list", "{}")), "sessions")->len, 4);
    fixture_free(t);
}

TEST(session_that_was_not_there_at_its_start_is_registered_by_its_next_event)
{
    struct fixture *t = fixture_new();

    SILENT(hook(t, "claude", A, "SessionEnd", "'reason':'other'"));
    CHECK_INT(json_get(answer_of(call(t->w, "session.list", "{}")), "sessions")->len, 0);
    SILENT(hook(t, "claude", A, "PreToolUse", "'tool_name':'Bash','tool_input':{}"));
    is(t, A_NAME, "running -");
    str reply = hook(t, "codex", A, "UserPromptSubmit", "'prompt':'x'");
    CHECK_HAS(reply,
              "'hookEventName':'UserPromptSubmit','additionalContext':'You are session `codex-");
    SILENT(hook(t, "codex", A, "UserPromptSubmit", "'prompt':'x'"));
    fixture_free(t);
}

TEST(session_is_registered_below_the_one_that_its_environment_names)
{
    struct fixture *t = fixture_with_root();
    struct command *c = call(t->w, "hook.event",
                             "{'client':'codex','parent':'" A_NAME "','event':{'session_id':'b',"
                             "'hook_event_name':'SessionStart'}}");

    CHECK_HAS(c->answer.text, "you work for session `" A_NAME "`");
    CHECK_HAS(c->answer.text, "You owe it your result");
    CHECK_STR(json_str(session(t, "codex-b"), "parent_session_name"), A_NAME);
    c = call(t->w, "hook.event",
             "{'client':'codex','parent':'nobody','event':{'session_id':'c',"
             "'hook_event_name':'SessionStart'}}");
    CHECK_STR(json_str(session(t, "codex-c"), "root_session_id"), "codex-c");
    fixture_free(t);
}

TEST(run_speaks_for_itself_and_its_own_clients_are_below_it)
{
    struct fixture *t = fixture_with_child();

    as_session(t, "child");
    hook(t, "claude", "own", "SessionStart", "");
    CHECK_STR(json_str(session(t, "child"), "client_id"), "own");
    as_session(t, "child");
    CHECK_HAS(hook(t, "claude", "own", "SessionStart", ""), "You are session `child`");
    str reply = hook(t, "claude", "other", "SessionStart", "");
    CHECK_HAS(reply, "You are session `claude-shop-other`");
    CHECK_HAS(reply, "you work for session `child`");
    const struct json *s = session(t, "claude-other");
    CHECK_STR(json_str(s, "parent_session_name"), "child");
    CHECK(!json_bool_or(s, "callback", true)); /* its end is no news to who has started it */
    as_session(t, "claude-other");
    CHECK_ERR(call(t->w, "hook.event",
                   "{'client':'claude','event':{'session_id':'" A "',"
                   "'hook_event_name':'Stop'}}")
                  ->error,
              ERR_FORBIDDEN);
    fixture_free(t);
}

TEST(briefing_is_short_whatever_there_is)
{
    struct fixture *t = fixture_with_root();

    for (int i = 0; i < 9; i++)
        start(t, A_NAME,
              arena_printf(check_arena(),
                           "a-child-with-a-name-that-is-as-long-as-a-name-can-be-at-all%d", i)
                  .at,
              "");
    const struct json *answer =
        answer_of(call(t->w, "hook.event",
                       "{'client':'claude','event':{'session_id':'" A "',"
                       "'hook_event_name':'SessionStart','source':'compact'}}"));
    str text = json_str(json_get(answer, "hookSpecificOutput"), "additionalContext");
    CHECK(text.len <= 800);
    CHECK_HAS(text, "version 1; read what you need");
    CHECK_HAS(text, "and 6 more");
    fixture_free(t);
}

/* ---- failures ---- */

TEST(failure_is_noted_with_the_time_when_it_is_over_and_fails_nothing)
{
    static const struct {
        const char *members, *notice, *until;
    } cases[] = {
        { "'error':'rate_limit','error_details':'slow down','resets_at':1736940000",
          "rate_limit: slow down", "2025-01-15T11:20:00Z" },
        { "'error':'rate_limit','resetsAt':'2025-01-15T12:00:00Z'", "rate_limit",
          "2025-01-15T12:00:00Z" },
        { "'error':'rate_limit','error_details':{'retry_after':60}",
          "rate_limit: {'retry_after':60}", "2025-01-15T10:36:00Z" },
        { "'error':'rate_limit','rate_limit_info':{'resetsAt':1736940000000}", "rate_limit",
          "2025-01-15T11:20:00Z" },
        { "'error':'billing_error','error_details':'limit reached|1736940000'",
          "billing_error: limit reached|1736940000", "2025-01-15T11:20:00Z" },
        { "'error':'overloaded'", "overloaded", "" },
        { "'resets_at':-5", "unknown", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = fixture_with_root();
        t->w->now_ms = 1736937300000;
        hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
        SILENT(hook(t, "claude", A, "StopFailure", cases[i].members));
        struct json shown = json_copy(check_arena(), session(t, A_NAME));
        CHECK_STR(json_shown(check_arena(), json_get(&shown, "error")), "null");
        const struct json *s =
            answer_of(call(t->w, "session.status", "{'session_id':'" A_NAME "'}"));
        CHECK_STR(quotes_single(check_arena(), json_str(s, "notice")), cases[i].notice);
        CHECK_STR(json_str(s, "notice_until"), cases[i].until);
        CHECK(str_starts(json_str(s, "last_event"), json_str(s, "notice")));
        is(t, A_NAME, "running -");
        hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash'");
        CHECK_STR(json_str(session(t, A_NAME), "notice"), "");
        fixture_free(t);
    }
}

/* ---- whatever comes ---- */

TEST(unknown_events_and_fields_are_noted)
{
    struct fixture *t = fixture_with_root();

    SILENT(hook(t, "claude", A, "TeaTime", "'cups':2,'deep':{'a':{'b':{'c':{'d':{'e':1}}}}}"));
    SILENT(hook(t, "claude", A, "", ""));
    str events = call(t->w, "session.events", "{'session_id':'" A_NAME "'}")->answer.text;
    CHECK_HAS(events, "\"hook_event_name\":\"TeaTime\",\"cups\":2");
    is(t, A_NAME, "pending -");
    SILENT(json_shown(check_arena(),
                      answer_of(call(t->w, "hook.event", "{'client':'claude','event':{}}"))));
    SILENT(
        json_shown(check_arena(), answer_of(call(t->w, "hook.event",
                                                 "{'client':'claude','event':{'session_id':7}}"))));
    CHECK_ERR(call(t->w, "hook.event", "{'client':'emacs','event':{}}")->error, ERR_INVALID);
    CHECK_ERR(call(t->w, "hook.event", "{'client':'claude','event':[]}")->error, ERR_INVALID);
    t->w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    CHECK_ERR(call(t->w, "hook.event", "{'client':'claude','event':{}}")->error, ERR_FORBIDDEN);
    fixture_free(t);
}

TEST(what_is_kept_of_an_event_is_bounded_and_legible)
{
    struct fixture *t = fixture_with_root();
    struct buf members = buf_in(check_arena());

    buf_add(&members, STR("'tool_name':'Write','tool_input':{'content':'"));
    for (int i = 0; i < 100000; i++)
        buf_add(&members, STR("ö"));
    buf_add(&members, STR("'},'tool_response':["));
    for (int i = 0; i < 5000; i++)
        buf_printf(&members, "%s{'line':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}",
                   i ? "," : "");
    buf_add(&members, STR("]"));
    for (int i = 0; i < 1000; i++)
        buf_printf(&members,
                   ",'m%d':'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'", i);
    hook(t, "claude", A, "PostToolUse", buf_str(&members).at);
    struct command *c = call(t->w, "session.events", "{'session_id':'" A_NAME "','after':1}");
    const struct json *event = json_at(json_get(answer_of(c), "events"), 0);
    CHECK(json_print_size(json_get(event, "data")) <= 8192);
    CHECK_STR(json_str(json_get(event, "data"), "tool_name"), "Write");
    CHECK_STR(json_str(session(t, A_NAME), "last_event"), "post_tool Write");
    fixture_free(t);
}

TEST(tasks_of_a_client_are_events_of_its_session)
{
    struct fixture *t = fixture_with_root();

    hook(t, "claude", A, "TaskCreated", "'task_id':'1','task_subject':'Do A'");
    hook(t, "claude", A, "PostToolUse",
         "'tool_name':'TaskUpdate','tool_input':{'taskId':'1','status':'in_progress'}");
    hook(t, "claude", A, "TaskCompleted", "'task_id':'1','task_subject':'Do A'");
    str events = call(t->w, "session.events", "{'session_id':'" A_NAME "'}")->answer.text;
    CHECK_HAS(events, "\"event_type\":\"task_created\"");
    CHECK_HAS(events, "\"tool_input\":{\"taskId\":\"1\",\"status\":\"in_progress\"}");
    CHECK_HAS(events, "\"event_type\":\"task_completed\"");
    CHECK_STR(json_str(session(t, A_NAME), "last_event"), "Do A");
    fixture_free(t);
}

/* What a client takes: it refuses answers with anything else in them. */
static void reply_check(const struct json *reply, str event)
{
    const struct json *specific = json_get(reply, "hookSpecificOutput");

    for (uint32_t i = 0; i < reply->len; i++) {
        str name = json_name(&reply->members[i]);
        CHECK(str_eq(name, STR("decision")) || str_eq(name, STR("reason")) ||
              str_eq(name, STR("hookSpecificOutput")));
    }
    CHECK((json_get(reply, "decision") != NULL) == (json_str(reply, "reason").len > 0));
    if (!specific)
        return;
    CHECK(str_eq(json_str(specific, "hookEventName"), event));
    for (uint32_t i = 0; i < specific->len; i++) {
        str name = json_name(&specific->members[i]);
        CHECK(str_eq(name, STR("hookEventName")) || str_eq(name, STR("additionalContext")) ||
              str_starts(name, STR("permissionDecision")));
    }
}

TEST(recorded_hooks_of_a_real_client_are_taken)
{
    const char *folder = check_suite("client-traces");
    str text =
        check_read(arena_printf(check_arena(), "%s/claude-code-2.1.325-hooks.json", folder).at);
    struct fixture *t = fixture_new();

    const struct json *records = json_parsed(check_arena(), text);
    for (uint32_t i = 0; i < records->len; i++) {
        const struct json *told = json_get(&records->items[i], "stdin");
        struct command *c = world_command(t->w, "hook.event", "{'client':'claude'}", "");
        json_put(check_arena(), (struct json *)c->input, STR("event"), *told);
        op_perform(&t->w->engine, &c, 1);
        world_check_answer(t->w, c);
        reply_check(answer_of(c), json_str(told, "hook_event_name"));
    }
    check_note("%u events", (unsigned)records->len);
    is(t, "claude-proj-b2658115", "finished -!"); /* print: it came to its end */
    is(t, "claude-proj-28b4b59d", "running -");   /* interactive: an agent was in the background */
    str events = call(t->w, "session.events", "{'session_id':'claude-proj-b2658115'}")->answer.text;
    CHECK_HAS(events, "\"event_type\":\"task_created\"");
    CHECK_HAS(events, "\"agent_id\":\"a76c39ae0ae4e0d47\"");
    fixture_free(t);
}

/* ---- the command ---- */

TEST(half_characters_of_clients_are_mended)
{
    static const struct {
        const char *text, *mended;
    } cases[] = {
        { "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\"" },
        { "\"\\ud83d\"", "\"\\ufffd\"" },
        { "\"\\ude00x\"", "\"\\ufffdx\"" },
        { "\"\\ud83d\\u0041\"", "\"\\ufffd\\u0041\"" },
        { "\"a\\u0000b\"", "\"a\\ufffdb\"" },
        { "\"\\\\ud83d\"", "\"\\\\ud83d\"" }, /* a backslash and four letters */
        { "\"\\uD83D\\uDE00\\uD83D\"", "\"\\uD83D\\uDE00\\ufffd\"" },
        { "\\u12", "\\u12" },
        { "\\", "\\" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = arena_copy(check_arena(), str_from(cases[i].text));
        hook_mend((char *)text.at, text.len);
        CHECK_STR(text, cases[i].mended);
    }
}

/* ---- what members have read ---- */

/* A tool of ours that has read the state, as a client shows its answer. */
static str state_was_read(struct fixture *t, const char *answer)
{
    str members = arena_printf(check_arena(),
                               "'tool_name':'mcp__baton__state_read','tool_input':{},"
                               "'tool_response':%s",
                               answer);

    t->w->actor = the_operator;
    return hook(t, "claude", A, "PostToolUse", members.at);
}

TEST(member_that_has_read_its_state_has_seen_what_others_wrote)
{
    static const struct {
        const char *answer; /* with the state's id and its version in it */
        bool seen;
    } cases[] = {
        { "[{'type':'text','text':'{\\\"state_id\\\":\\\"%s\\\",\\\"version\\\":%d,"
          "\\\"current_data\\\":{}}'}]",
          true },
        { "{'content':[],'structuredContent':{'state_id':'%s','version':%d,'patch':[]}}", true },
        { "{'state_id':'%s','version':%d,'current_data':{}}", true },
        { "{'state_id':'%s','version':%d,'value':1}", false },
        { "{'state_id':'%s','version':%d,'current_data':{},'truncated':true}", false },
        { "{'state_id':'%s2','version':%d,'current_data':{}}", false },
        { "{'state_id':'%s','version':%d0,'current_data':{}}", false },
        { "{'state_id':'%s','version':'%d','current_data':{}}", false },
        { "{'other':['%s',%d]}", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = fixture_new();
        CHECK_OK(call(t->w, "project.create",
                      "{'name':'shop','project_dir':'/s','host':'h','common_dir':'/s/.git'}")
                     ->error);
        for (int k = 0; k < 2; k++)
            CHECK_OK(
                call(t->w, "hook.event",
                     "{'client':'%s','host':'h','common_dir':'/s/.git','worktree':'/s','event':"
                     "{'session_id':'" A "','hook_event_name':'SessionStart'}}",
                     k ? "codex" : "claude")
                    ->error);
        wrote(t, "codex-" A);
        str state =
            arena_copy(check_arena(), json_str(session(t, "claude-" A), "workflow_state_id"));
        struct buf answer = buf_in(check_arena());
        buf_printf(&answer, cases[i].answer, state.at, 2);
        str said = state_was_read(t, buf_str(&answer).at);
        CHECK(str_contains(said, STR("Changed by others since you looked")) == !cases[i].seen);
        fixture_free(t);
    }
}
