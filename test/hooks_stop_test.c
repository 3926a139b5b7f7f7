/* hooks_stop_test.c: a client that wants to stop: when it is held, what it owes first, and what it
 * hears of its children then. */
#include "hooks_fixture.h"

/* ---- stopping ---- */

TEST(stop_is_refused_until_the_result_is_recorded_each_client_in_its_words)
{
    static const struct {
        const char *client, *event, *word;
    } cases[] = {
        { "claude", "Stop", "{'decision':'block','reason':'## Required: Update Workflow State" },
        { "codex", "Stop", "{'decision':'block','reason':'## Required: Update Workflow State" },
        { "gemini", "AfterAgent", "{'decision':'deny','reason':'## Required: Update Workflow" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = fixture_with_child();
        as_session(t, "child");
        str reply = hook(t, cases[i].client, "own", cases[i].event, "'stop_hook_active':false");
        CHECK(str_starts(reply, str_from(cases[i].word)));
        is(t, "child", "running pending");
        wrote(t, "child");
        as_session(t, "child");
        SILENT(hook(t, cases[i].client, "own", cases[i].event, "'stop_hook_active':true"));
        done(t, "own");
        is(t, "child", "finished completed!");
        no_run(t);
        fixture_free(t);
    }
}

TEST(stop_is_refused_a_counted_number_of_times)
{
    struct fixture *t = fixture_with_child();

    for (int i = 0; i < 3; i++) {
        as_session(t, "child");
        CHECK_HAS(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"), "'block'");
    }
    SILENT(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"));
    SILENT(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"));
    done(t, "own");
    is(t, "child", "failed failed!");
    fixture_free(t);
}

TEST(who_owes_nothing_is_never_held)
{
    struct fixture *t = fixture_with_root();

    for (int i = 0; i < 3; i++) {
        SILENT(hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'"));
        is(t, A_NAME, "running -");
        SILENT(hook(t, "claude", A, "Stop", "'stop_hook_active':false"));
        is(t, A_NAME, "finished -!");
    }
    CHECK_INT(json_int_or(session(t, A_NAME), "cycle", 0), 3);
    fixture_free(t);
}

TEST(stop_with_something_in_the_background_neither_holds_nor_settles)
{
    static const struct {
        const char *members, *end;
    } cases[] = {
        { "'background_tasks':[{'id':'a','type':'subagent','status':'running'}]", "running -" },
        { "'background_tasks':[{'id':'a','status':'pending'}],'session_crons':[]", "running -" },
        { "'session_crons':[{'id':'c','schedule':'* * * * *','recurring':true}]", "running -" },
        { "'background_tasks':[{'id':'a','status':'completed'}],'session_crons':[]",
          "finished -!" },
        { "'background_tasks':7", "finished -!" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = fixture_with_root();
        hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
        SILENT(hook(t, "claude", A, "Stop", cases[i].members));
        is(t, A_NAME, cases[i].end);
        fixture_free(t);
    }
    struct fixture *t = fixture_with_child();
    as_session(t, "child");
    SILENT(hook(t, "claude", "own", "Stop", cases[0].members));
    is(t, "child", "running -");
    CHECK_HAS(call(t->w, "session.events", "{'session_id':'child'}")->answer.text, "session_pause");
    fixture_free(t);
}

TEST(agents_inside_of_a_client_neither_stop_nor_start_its_session)
{
    struct fixture *t = fixture_with_child();
    static const char inner[] = "'agent_id':'a1','agent_type':'general-purpose'";

    as_session(t, "child");
    SILENT(hook(t, "claude", "own", "SubagentStart", inner));
    SILENT(hook(t, "claude", "own", "SubagentStop",
                "'agent_id':'a1','stop_hook_active':false,'last_assistant_message':'done'"));
    is(t, "child", "running -");
    str events = call(t->w, "session.events", "{'session_id':'child'}")->answer.text;
    CHECK_HAS(events, "\"event_type\":\"subagent_start\"");
    CHECK_HAS(events, "\"event_type\":\"subagent_stop\"");
    CHECK_HAS(events, "\"agent_type\":\"general-purpose\"");
    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    hook(t, "claude", A, "Stop", "");
    is(t, A_NAME, "idle -"); /* its child is at work */
    hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash','agent_id':'a1'");
    hook(t, "claude", A, "Notification", "'notification_type':'idle_prompt','message':'?'");
    is(t, A_NAME, "idle -");
    fixture_free(t);
}

TEST(end_of_a_client_settles_its_session)
{
    struct fixture *t = fixture_with_root();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    SILENT(hook(t, "claude", A, "SessionEnd", "'reason':'other'"));
    is(t, A_NAME, "finished -!");
    SILENT(hook(t, "claude", A, "SessionEnd", "'reason':'other'"));
    fixture_free(t);

    /* One that owes its result, and one that has recorded it. */
    for (int writes = 0; writes < 2; writes++) {
        t = fixture_with_root();
        call(t->w, "hook.event",
             "{'client':'codex','parent':'" A_NAME "','event':{'session_id':'b',"
             "'hook_event_name':'UserPromptSubmit','prompt':'x'}}");
        if (writes)
            wrote(t, "codex-b");
        SILENT(hook(t, "codex", "b", "SessionEnd", ""));
        is(t, "codex-b", writes ? "finished skipped!" : "failed failed!");
        CHECK_HAS(hook(t, "claude", A, "UserPromptSubmit", "'prompt':'y'"),
                  "Session `codex-b` has ");
        fixture_free(t);
    }

    /* What is run here ends with its run. */
    t = fixture_with_child();
    as_session(t, "child");
    SILENT(hook(t, "claude", "own", "SessionEnd", "'reason':'other'"));
    is(t, "child", "running -");
    fixture_free(t);
}

/* What the document holds says nothing about the write. */
TEST(client_that_borrows_a_token_pays_whatever_the_document_says)
{
    static const char *const answers[] = {
        "{'version':3,'current_data':{'unchanged':true}}",
        "[{'type':'text','text':'{\\'version\\':3,\\'current_data\\':[{\\'unchanged\\':true}]}'}]",
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct fixture *t = fixture_with_child();
        as_session(t, "child");
        hook(t, "claude", "own", "SessionStart", "");
        hook(t, "claude", "other", "UserPromptSubmit", "'prompt':'x'");
        CHECK_HAS(hook(t, "claude", "other", "Stop", ""), "'block'");
        wrote(t, "child"); /* by its token */
        as_session(t, "child");
        hook(t, "claude", "other", "PostToolUse",
             arena_printf(check_arena(), "'tool_name':'mcp__baton__state_patch','tool_response':%s",
                          answers[i])
                 .at);
        is(t, "claude-other", "running completed");
        fixture_free(t);
    }
}

TEST(client_that_borrows_a_token_pays_by_what_it_writes)
{
    static const char *const nothing[] = {
        "'tool_name':'mcp__baton__state_patch','tool_response':{'version':2,'unchanged':true}",
        "'tool_name':'mcp__baton__state_update','tool_response':[{'type':'text','text':"
        "'{\\'version\\':2,\\'unchanged\\':true}'}]",
    };
    struct fixture *t = fixture_with_child();

    as_session(t, "child");
    hook(t, "claude", "own", "SessionStart", "");
    hook(t, "claude", "other", "UserPromptSubmit", "'prompt':'x'");
    CHECK_HAS(hook(t, "claude", "other", "Stop", ""), "'block'");
    hook(t, "claude", "other", "PostToolUse", "'tool_name':'mcp__baton__state_read'");
    is(t, "claude-other", "running pending");
    wrote(t, "child"); /* by its token */
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        as_session(t, "child");
        hook(t, "claude", "other", "PostToolUse", nothing[i]);
        is(t, "claude-other", "running pending");
    }
    as_session(t, "child");
    hook(t, "claude", "other", "PostToolUse", "'tool_name':'mcp__baton__state_patch'");
    is(t, "claude-other", "running completed");
    as_session(t, "child");
    SILENT(hook(t, "claude", "other", "Stop", "'stop_hook_active':true"));
    is(t, "claude-other", "finished completed!");
    is(t, "child", "running -");
    fixture_free(t);
}

/* Calling the tool is not writing: the version that the token has made counts once. */
TEST(client_that_borrows_a_token_does_not_pay_by_a_call_that_wrote_nothing)
{
    struct fixture *t = fixture_with_child();

    as_session(t, "child");
    hook(t, "claude", "own", "SessionStart", "");
    hook(t, "claude", "other", "UserPromptSubmit", "'prompt':'x'");
    CHECK_HAS(hook(t, "claude", "other", "Stop", ""), "'block'");
    hook(t, "claude", "other", "PostToolUse", "'tool_name':'mcp__baton__state_patch'");
    is(t, "claude-other", "running pending");
    fixture_free(t);
}

/* ---- ends of children ---- */

/* A root at work, one of whose children has just settled. */
static struct fixture *fixture_with_news(void)
{
    struct fixture *t = fixture_with_child();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    wrote(t, "child");
    as_session(t, "child");
    hook(t, "claude", "own", "Stop", "");
    done(t, "own");
    is(t, "child", "finished skipped!");
    return t;
}

TEST(ends_of_children_are_told_once_at_the_next_event_that_can)
{
    static const struct {
        const char *event, *members;
    } cases[] = {
        { "SessionStart", "'source':'compact'" },
        { "UserPromptSubmit", "'prompt':'y'" },
        { "PostToolUse", "'tool_name':'Bash'" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = fixture_with_news();
        SILENT(hook(t, "claude", A, "PreToolUse", "'tool_name':'Bash'"));
        SILENT(hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash','agent_id':'a1'"));
        str reply = hook(t, "claude", A, cases[i].event, cases[i].members);
        CHECK_HAS(reply, arena_printf(check_arena(), "'hookEventName':'%s'", cases[i].event).at);
        CHECK_HAS(reply, "Session `child` has completed");
        reply = hook(t, "claude", A, cases[i].event, cases[i].members);
        CHECK(!str_contains(reply, STR("child")));
        fixture_free(t);
    }
}

TEST(who_stops_while_ends_of_children_wait_goes_on_with_them_once)
{
    struct fixture *t = fixture_with_news();
    str reply = hook(t, "claude", A, "Stop", "'stop_hook_active':false");

    CHECK(str_starts(reply, STR("{'decision':'block','reason':'## Child Session Completed")));
    is(t, A_NAME, "running -");
    SILENT(hook(t, "claude", A, "Stop", "'stop_hook_active':true"));
    is(t, A_NAME, "finished -!");
    fixture_free(t);
}
