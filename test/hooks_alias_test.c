/* hooks_tie_test.c: hooks and tools of one conversation speak for one session, whichever comes first. */
#include "hooks_fixture.h"

/* What the tools of a client are told that they are. */
static str attend(struct fixture *t, const char *members)
{
    struct command *c = call(t->w, "session.attend", "{%s}", members);

    CHECK_OK(c->error);
    return arena_copy(check_arena(), json_str(answer_of(c), "session_id"));
}

static void hook_of(struct fixture *t, const char *client, const char *own, const char *event,
                    const char *process)
{
    CHECK_OK(call(t->w, "hook.event",
                  "{'client':'%s','process':'%s','event':{'session_id':'%s','cwd':'/home/ann/shop',"
                  "'hook_event_name':'%s'}}",
                  client, process, own, event)
                 ->error);
}

static unsigned sessions(struct fixture *t)
{
    return json_get(answer_of(call(t->w, "session.list", "{}")), "sessions")->len;
}

#define CODEX "'client':'codex','conversation':'01a1e0af-3a44','project_dir':'/home/ann/shop'"
#define GEMINI(id, process) \
    "'client':'gemini','session_id':'mcp-gemini-" id "','process':'" process "'"

TEST(tools_that_know_their_conversation_are_the_session_of_its_hooks)
{
    for (int first = 0; first < 2; first++) {
        struct fixture *t = fixture_new();
        for (int i = 0; i < 2; i++) {
            if (i == first)
                hook(t, "codex", "01a1e0af-3a44", "SessionStart", "");
            else
                CHECK_STR(attend(t, CODEX), "codex-01a1e0af-3a44");
        }
        CHECK_INT(sessions(t), 1);
        const struct json *s = session(t, "codex-shop-01a1e0af");
        CHECK_STR(json_str(s, "client_id"), "01a1e0af-3a44");
        CHECK_STR(json_str(s, "session_id"), "codex-01a1e0af-3a44");
        fixture_free(t);
    }
}

/* Ids that begin with the time are alike when they are of one minute. */
TEST(conversations_of_one_minute_are_two_sessions)
{
    struct fixture *t = fixture_new();

    CHECK_STR(attend(t, CODEX), "codex-01a1e0af-3a44");
    CHECK_STR(attend(t, "'client':'codex','conversation':'01a1e0af-9999',"
                        "'project_dir':'/home/ann/shop'"),
              "codex-01a1e0af-9999");
    CHECK_INT(sessions(t), 2);
    fixture_free(t);
}

#define CLAUDE(process) \
    "'client':'claude','conversation':'c-1','process':'" process "','project_dir':'/home/ann/shop'"

/* Claude Code tells its tools which conversation it began with, and no other after /clear. */
TEST(tools_of_a_conversation_that_has_ended_are_those_of_the_next_in_its_process)
{
    struct fixture *t = fixture_new();

    hook_of(t, "claude", "c-1", "SessionStart", "P1");
    hook_of(t, "claude", "c-3", "SessionStart", "P2"); /* another client beside it */
    CHECK_STR(attend(t, CLAUDE("P1")), "claude-c-1");
    hook_of(t, "claude", "c-2", "SessionStart", "P1");
    CHECK_STR(attend(t, CLAUDE("P1")), "claude-c-1"); /* as long as it is there */
    hook_of(t, "claude", "c-1", "SessionEnd", "P1");
    CHECK_STR(attend(t, CLAUDE("P1")),
              "claude-c-1"); /* the end came last, and nobody knows better */
    hook_of(t, "claude", "c-1", "SessionEnd", "P1");
    hook_of(t, "claude", "c-2", "UserPromptSubmit", "P1");
    CHECK_STR(attend(t, CLAUDE("P1")), "claude-c-2");
    CHECK_STR(attend(t, CLAUDE("P3")), "claude-c-1"); /* resumed in a new one */
    hook_of(t, "claude", "c-2", "Stop", "P1"); /* which ends the work of who is in no project */
    CHECK_STR(attend(t, CLAUDE("P1")), "claude-c-2");
    CHECK_INT(sessions(t), 3);
    fixture_free(t);
}

TEST(tools_below_the_process_of_hooks_are_their_session)
{
    struct fixture *t = fixture_new();

    hook_of(t, "gemini", "g-1", "SessionStart", "P1");
    CHECK_STR(attend(t, GEMINI("a", "P1")), "gemini-g-1");
    CHECK_STR(attend(t, GEMINI("b", "P2")), "mcp-gemini-b"); /* another client */
    CHECK_INT(sessions(t), 2);

    /* A conversation that is begun anew in the same process, and one that is resumed in another. */
    hook_of(t, "gemini", "g-1", "SessionEnd", "P1");
    hook_of(t, "gemini", "g-2", "SessionStart", "P1");
    CHECK_STR(attend(t, GEMINI("a", "P1")), "gemini-g-2");
    hook_of(t, "gemini", "g-1", "SessionStart", "P3");
    CHECK_STR(attend(t, GEMINI("c", "P3")), "gemini-g-1");
    CHECK_INT(sessions(t), 3);
    fixture_free(t);
}

TEST(hooks_that_come_later_are_of_the_session_of_the_tools)
{
    struct fixture *t = fixture_new();

    CHECK_STR(attend(t, GEMINI("a", "P1")), "mcp-gemini-a");
    hook_of(t, "gemini", "g-1", "BeforeAgent", "P1");
    CHECK_INT(sessions(t), 1);
    CHECK_STR(json_str(session(t, "mcp-gemini-a"), "client_id"), "g-1");
    is(t, "mcp-gemini-a", "running -");

    /* Resumed by another process of the client, whose hooks tell first or last. */
    hook_of(t, "gemini", "g-1", "SessionEnd", "P1");
    hook_of(t, "gemini", "g-1", "SessionStart", "P2");
    CHECK_STR(attend(t, GEMINI("b", "P2")), "mcp-gemini-a");
    CHECK_STR(attend(t, GEMINI("c", "P3")), "mcp-gemini-c");
    hook_of(t, "gemini", "g-1", "SessionStart", "P3");
    CHECK_STR(attend(t, GEMINI("c", "P3")), "mcp-gemini-a");
    CHECK_INT(sessions(t), 2);
    fixture_free(t);
}

/* A client within a client, whose process nobody has told of, is not the one around it. */
TEST(a_process_is_no_other_clients_and_no_other_conversations)
{
    struct fixture *t = fixture_new();

    CHECK_STR(attend(t, GEMINI("a", "P1")), "mcp-gemini-a");
    hook_of(t, "gemini", "g-1", "SessionStart", "P1");
    hook_of(t, "gemini", "g-2", "SessionStart", "P1");
    hook_of(t, "codex", "c-1", "SessionStart", "P1");
    CHECK_STR(json_str(session(t, "mcp-gemini-a"), "client_id"), "g-1");
    CHECK_STR(json_str(session(t, "gemini-g-2"), "client_id"), "g-2");
    CHECK_STR(json_str(session(t, "codex-c-1"), "client_id"), "c-1");
    fixture_free(t);
}

TEST(what_was_tied_to_a_session_that_was_deleted_is_free)
{
    struct fixture *t = fixture_new();

    CHECK_STR(attend(t, GEMINI("a", "P1")), "mcp-gemini-a");
    hook_of(t, "gemini", "g-1", "SessionStart", "P1");
    hook_of(t, "gemini", "g-1", "SessionEnd", "P1");
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "session.delete", "{'session_id':'mcp-gemini-a'}")->error);
    hook_of(t, "gemini", "g-1", "SessionStart", "P1");
    CHECK_STR(attend(t, GEMINI("a", "P1")), "gemini-g-1");
    fixture_free(t);
}

TEST(a_process_that_is_not_heard_of_for_a_month_is_forgotten)
{
    struct fixture *t = fixture_new();

    CHECK_STR(attend(t, GEMINI("a", "P1")), "mcp-gemini-a");
    t->w->now_ms += 31LL * 86400 * 1000;
    CHECK_STR(attend(t, GEMINI("b", "P2")), "mcp-gemini-b");
    CHECK_STR(attend(t, GEMINI("c", "P1")), "mcp-gemini-c");
    fixture_free(t);
}

/* A name is chosen by anybody: who has guessed what a conversation will be called is not thereby it. */
TEST(a_session_that_is_named_like_a_conversation_is_not_spoken_for)
{
    struct fixture *t = fixture_new();

    CHECK_OK(
        call(t->w, "session.create", "{'session_name':'codex-01a1e0af-3a44','session_id':'thief'}")
            ->error);
    struct command *c = call(t->w, "session.attend", "{" CODEX "}");
    CHECK_ERR(c->error, ERR_CONFLICT);
    fixture_free(t);
}

TEST(tools_cannot_take_the_place_of_a_session_that_runs_here)
{
    struct fixture *t = fixture_new();

    CHECK_OK(call(t->w, "run.create",
                  "{'type':'start_session','session_name':'one','session_id':'mcp-gemini-a',"
                  "'prompt':'go'}")
                 ->error);
    err e = call(t->w, "session.attend", "{" GEMINI("a", "P1") "}")->error;
    CHECK(e && e->kind == ERR_CONFLICT);
    fixture_free(t);
}
