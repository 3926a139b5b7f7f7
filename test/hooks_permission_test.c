/* hooks_permission_test.c: tools for which an agent needs a word of the operator. */
#include "hooks_fixture.h"

static struct fixture *fixture_with_asker(const char *profile)
{
    struct fixture *t = fixture_new();

    CHECK_OK(call(t->w, "agent.create",
                  "{'name':'careful','profile':'%s','ask':['Bash(git push:*)','WebFetch']}",
                  profile)
                 ->error);
    CHECK_OK(call(t->w, "run.create",
                  "{'type':'start_session','session_name':'solo','prompt':'go','agent_name':"
                  "'careful'}")
                 ->error);
    begin(t, "solo");
    return t;
}

#define PUSH "'tool_name':'Bash','tool_input':{'command':'git push origin'},'tool_use_id':'t1'"

static str push(struct fixture *t, const char *client, const char *event)
{
    as_session(t, "solo");
    str reply = hook(t, client, "own", event, PUSH);
    t->w->actor = the_operator;
    return reply;
}

static str waiting_id(struct fixture *t)
{
    const struct json *all =
        json_get(answer_of(call(t->w, "permission.list", "{'status':'waiting'}")), "permissions");

    CHECK_INT(all->len, 1);
    return json_str(&all->items[0], "permission_id");
}

static void resolve(struct fixture *t, const char *decision)
{
    CHECK_OK(call(t->w, "permission.resolve",
                  "{'permission_id':'" STR_FMT "','decision':'%s','reason':"
                  "'because'}",
                  STR_ARG(waiting_id(t)), decision)
                 ->error);
}

TEST(tool_that_a_role_lists_waits_for_the_operator_and_then_runs)
{
    struct fixture *t = fixture_with_asker("claude");

    CHECK_HAS(push(t, "claude", "PreToolUse"),
              "{'hookSpecificOutput':{'hookEventName':'PreToolUse','permissionDecision':'defer',"
              "'permissionDecisionReason':'This use of Bash waits for the operator");
    CHECK_HAS(push(t, "claude", "PreToolUse"), "'defer'"); /* the same question */
    done(t, "own");
    is(t, "solo", "idle -"); /* it waits, and does not settle */
    no_run(t);
    resolve(t, "allow");
    begin(t, "solo");
    CHECK_HAS(t->prompt, "It was allowed");
    CHECK_HAS(t->prompt, "because");
    CHECK_HAS(push(t, "claude", "PreToolUse"), "'permissionDecision':'allow'");
    CHECK_HAS(push(t, "claude", "PreToolUse"), "'allow'"); /* the same call, asked again */
    as_session(t, "solo");
    CHECK_HAS(
        hook(t, "claude", "own", "PreToolUse",
             "'tool_name':'Bash','tool_input':{'command':'git push origin'},'tool_use_id':'t2'"),
        "'defer'"); /* another call */
    done(t, "own");
    resolve(t, "deny");
    begin(t, "solo");
    CHECK_HAS(t->prompt, "It was denied");
    CHECK_HAS(push(t, "claude", "PreToolUse"), "'permissionDecision':'deny'");
    CHECK_HAS(push(t, "claude", "PreToolUse"), "The operator denied this use of Bash: because");
    done(t, "own");
    is(t, "solo", "finished -!");
    fixture_free(t);
}

TEST(clients_that_cannot_wait_are_refused_and_told_how_to_go_on)
{
    struct fixture *t = fixture_with_asker("codex");

    CHECK_HAS(push(t, "codex", "PreToolUse"), "'permissionDecision':'deny'");
    CHECK_HAS(push(t, "codex", "PreToolUse"), "You will be resumed when it was decided.");
    as_session(t, "solo");
    SILENT(hook(t, "codex", "own", "Stop", ""));
    t->w->actor = the_operator;
    resolve(t, "allow"); /* while its run is still there */
    done(t, "own");
    begin(t, "solo");
    SILENT(push(t, "codex", "PreToolUse"));
    done(t, "own");
    is(t, "solo", "finished -!");
    fixture_free(t);

    t = fixture_with_asker("gemini");
    CHECK_HAS(push(t, "gemini", "BeforeTool"),
              "{'decision':'deny','reason':'This use of Bash waits");
    done(t, "own");
    resolve(t, "allow");
    begin(t, "solo");
    SILENT(push(t, "gemini", "BeforeTool"));
    fixture_free(t);
}

/* Its update is owed after that, in turns of their own. */
TEST(who_waits_for_the_operator_is_not_asked_for_its_update)
{
    struct fixture *t = fixture_with_root();

    CHECK_OK(
        call(t->w, "agent.create", "{'name':'careful','profile':'claude','ask':['Bash']}")->error);
    start(t, A_NAME, "solo", ",'agent_name':'careful'");
    begin(t, "solo");
    as_session(t, "solo");
    CHECK_HAS(hook(t, "claude", "own", "Stop", ""), "'block'");
    push(t, "claude", "PreToolUse");
    as_session(t, "solo");
    SILENT(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"));
    done(t, "own");
    is(t, "solo", "idle pending");
    no_run(t);
    resolve(t, "allow");
    begin(t, "solo");
    CHECK_HAS(push(t, "claude", "PreToolUse"), "'allow'");
    wrote(t, "solo");
    as_session(t, "solo");
    SILENT(hook(t, "claude", "own", "Stop", ""));
    done(t, "own");
    is(t, "solo", "finished completed!");
    fixture_free(t);
}

/* Its client never told how. */
TEST(who_cannot_be_resumed_settles_when_it_was_decided)
{
    struct fixture *t = fixture_with_asker("codex");

    as_session(t, "solo");
    hook(t, "claude", "own", "PreToolUse", PUSH); /* of a client that is not the profile's */
    t->w->actor = the_operator;
    done(t, "");
    is(t, "solo", "idle -");
    resolve(t, "allow");
    is(t, "solo", "finished -!");
    no_run(t);
    fixture_free(t);
}

TEST(question_that_nobody_answers_expires_and_one_of_a_stopped_session_is_withdrawn)
{
    struct fixture *t = fixture_with_asker("claude");

    push(t, "claude", "PreToolUse");
    done(t, "own");
    after_ms(t, t->w->team.permission_ms);
    begin(t, "solo");
    CHECK_HAS(t->prompt, "Nobody has decided in time");
    CHECK_HAS(call(t->w, "permission.list", "{'session':'solo'}")->answer.text,
              "\"status\":\"expired\"");
    push(t, "claude", "PreToolUse");
    str id = waiting_id(t);
    done(t, "own");
    CHECK_OK(call(t->w, "session.stop", "{'session_id':'solo'}")->error);
    is(t, "solo", "stopped -!");
    CHECK_ERR(call(t->w, "permission.resolve", "{'permission_id':'" STR_FMT "','decision':'allow'}",
                   STR_ARG(id))
                  ->error,
              ERR_CONFLICT);
    CHECK_ERR(
        call(t->w, "permission.resolve", "{'permission_id':'prm_none','decision':'allow'}")->error,
        ERR_NOT_FOUND);
    no_run(t);
    CHECK_OK(call(t->w, "session.delete", "{'session_id':'solo'}")->error);
    fixture_free(t);
}

TEST(role_asks_for_what_its_list_says_and_for_nothing_else)
{
    static const struct {
        const char *rule, *tool, *input;
        bool asks;
    } cases[] = {
        { "Bash", "Bash", "{'command':'ls'}", true },
        { "Bash", "BashOutput", "{}", false },
        { "mcp__*", "mcp__mail__send", "{}", true },
        { "Bash(git push:*)", "Bash", "{'command':'git push'}", true },
        { "Bash(git push:*)", "Bash", "{'command':'git pushed'}", false },
        { "Bash(git push:*)", "Bash", "{'command':'cd x && git push -f'}", true },
        { "Bash(git push:*)", "Bash", "{'command':'echo a; git push'}", true },
        { "Bash(rm *)", "Bash", "{'command':'rm -rf /'}", true },
        { "Bash(rm *)", "Bash", "{'command':'ls rm'}", false },
        { "Edit(*.py)", "Edit", "{'file_path':'/a/b.py'}", true },
        { "Edit(*.py)", "Edit", "{'file_path':'/a/b.c'}", false },
        { "Edit(*.py)", "Write", "{'file_path':'/a/b.py'}", false },
        { "WebFetch(https://*.example/*)", "WebFetch", "{'url':'https://a.example/x'}", true },
        { "Odd(*secret*)", "Odd", "{'x':{'y':'a secret'}}", true },
        { "a*b*c*d*e", "aaaabbbbccccddddeeeef", "{}", false },
        { "(", "Bash", "{}", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = fixture_new();
        CHECK_OK(call(t->w, "agent.create", "{'name':'r','profile':'claude','ask':['%s']}",
                      cases[i].rule)
                     ->error);
        CHECK_OK(call(t->w, "run.create",
                      "{'type':'start_session','session_name':'solo','prompt':'go','agent_name':"
                      "'r'}")
                     ->error);
        begin(t, "solo");
        as_session(t, "solo");
        str reply = hook(t, "claude", "own", "PreToolUse",
                         arena_printf(check_arena(), "'tool_name':'%s','tool_input':%s",
                                      cases[i].tool, cases[i].input)
                             .at);
        if (str_contains(reply, STR("'defer'")) != cases[i].asks)
            check_fail(__FILE__, __LINE__, "%s for %s %s", cases[i].rule, cases[i].tool,
                       cases[i].input);
        world_close(t->w);
    }
}

TEST(somebody_who_is_there_is_asked_by_the_client_itself)
{
    struct fixture *t = fixture_with_root();

    CHECK_OK(call(t->w, "agent.create", "{'name':'careful','ask':['Bash']}")->error);
    SILENT(hook(t, "claude", A, "PreToolUse", PUSH));
    CHECK_INT(json_get(answer_of(call(t->w, "permission.list", "{}")), "permissions")->len, 0);
    fixture_free(t);
}
