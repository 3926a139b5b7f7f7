/* team_tree_test.c: trees of agents: several children, children of children, what is resumed, what
 * is stopped, and who is not run from here. */
#include "black/team.h"

static const char any[] = "{}";

/* A child that writes what it is called when it is asked for its result. */
#define GOOD(name) "{'work':[{'say':'" name " is done'}],'state_update':[[" TEAM_WRITE(name) "]]}"

/* The same after a file is there. */
#define GOOD_AFTER(name, file) \
    "{'work':[" TEAM_WAIT(file) "],'state_update':[[" TEAM_WRITE(name) "]]}"

// clang-format off
static const char three_children[] =
    "{'work':["
        TEAM_START("a", GOOD("a")) ","
        TEAM_START("b", GOOD("b")) ","
        TEAM_START("c", GOOD("c")) ","
        TEAM_WAIT("lead") "]}";

static const char orchestrator_below[] =
    "{'work':["
        TEAM_START("middle",
            "{'work':[" TEAM_START("leaf", GOOD_AFTER("leaf", "leaf-go")) "],"
            "'callback':[{'say':'has heard of leaf'}],"
            "'state_update':[[" TEAM_WRITE("middle") "]]}") "]}";

static const char all_stall[] =
    "{'work':["
        TEAM_START("kid", "{'work':[{'stall':true}]}") ","
        TEAM_START("middle",
            "{'work':[" TEAM_START("leaf", "{'work':[{'stall':true}]}") "]}") "]}";
// clang-format on

static int64_t seq_of(struct team *t, const char *type, const char *with)
{
    return json_int_or(team_wait(t, 1, type, with), "seq", 0);
}

/* ---- several ---- */

TEST_LIMIT(busy_parent_hears_of_three_children_in_one_turn, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any, three_children);
    team_wait(&t, 3, "session_settled", "status=finished");
    CHECK_INT(team_count(&t, "callback_delivered", ""), 0);
    team_touch("lead");
    team_settled(&t, "lead", "finished", "");
    CHECK_INT(team_starts("lead"), 2);
    CHECK_INT(team_count(&t, "callback_delivered", ""), 3);
    const struct json *metadata = json_get(team_run_of(&t, "lead", 2), "metadata");
    const struct json *sources = json_get(metadata, "callback_sources");
    CHECK_INT(sources->len, 3);
    CHECK(str_eq(json_str(metadata, "callback_source"), json_text(json_at(sources, 0))));
    str told = team_prompt(&t, "lead", 2);
    for (const char *name = "abc"; *name; name++)
        CHECK_HAS(told, arena_printf(check_arena(), "Session `%c` has completed.", *name).at);
    CHECK_HAS(told, "### 3 of 3");
    team_stop(&t);
}

/* ---- below each other ---- */

TEST_LIMIT(orchestrator_in_the_middle_records_its_result_after_its_children, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any, orchestrator_below);
    team_wait(&t, 1, "session_updated", "session_name=middle status=idle");
    CHECK_INT(team_count(&t, "run_enqueued", "session_name=middle"), 1);
    CHECK_INT(team_count(&t, "session_settled", ""), 0);
    team_touch("leaf-go");
    team_settled(&t, "lead", "finished", "");
    team_settled(&t, "middle", "finished", "completed");
    team_settled(&t, "leaf", "finished", "completed");
    CHECK_STR(team_state(&t, "lead"), "{'leaf':true,'middle':true}");

    static const char *const turns[] = { "work", "callback", "state_update" };
    for (int i = 0; i < 3; i++)
        CHECK_STR(json_str(team_run_of(&t, "middle", i + 1), "purpose"), turns[i]);
    CHECK_INT(team_starts("middle"), 3);
    CHECK(seq_of(&t, "session_settled", "session_name=leaf") <
          seq_of(&t, "callback_delivered", "child_name=leaf"));
    CHECK(seq_of(&t, "callback_delivered", "child_name=leaf") <
          seq_of(&t, "session_settled", "session_name=middle"));
    CHECK_HAS(team_prompt(&t, "lead", 2), "Session `middle` has completed.");
    CHECK(!str_contains(team_prompt(&t, "lead", 2), STR("Session `leaf` has completed.")));
    team_stop(&t);
}

/* Children that are polled, and not waited for, hold nobody up. */
TEST_LIMIT(parent_of_a_child_that_does_not_call_back_is_done_before_it, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any,
              "{'work':[" TEAM_START_AS("kid", "async_poll", GOOD_AFTER("kid", "kid-go")) "]}");
    team_settled(&t, "lead", "finished", "");
    CHECK_INT(team_count(&t, "session_settled", "session_name=kid"), 0);
    team_touch("kid-go");
    team_settled(&t, "kid", "finished", "completed");
    CHECK_INT(team_count(&t, "callback_delivered", ""), 0);
    CHECK_INT(team_starts("lead"), 1);
    team_stop(&t);
}

/* ---- once more ---- */

TEST_LIMIT(child_that_is_resumed_owes_its_result_again_and_calls_back_again, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any, "{'work':[" TEAM_START("kid", GOOD("first")) "]}");
    team_settled(&t, "lead", "finished", "");
    struct json ask = json_of(check_arena(), "{'type':'resume_session','session_name':'kid',"
                                             "'callback':true}");
    struct json more = json_of(check_arena(), GOOD("second"));
    json_put(check_arena(), &ask, STR("prompt"), json_string(json_printed(check_arena(), &more)));
    black_expect(&t.server, 201, "POST /runs", json_printed(check_arena(), &ask).at);
    team_wait(&t, 1, "callback_delivered", "child_name=kid cycle=2");
    const struct json *lead = team_settled(&t, "lead", "finished", "");
    CHECK_INT(json_int_or(lead, "cycle", 0), 2);
    const struct json *kid = team_settled(&t, "kid", "finished", "completed");
    CHECK_INT(json_int_or(kid, "cycle", 0), 2);
    CHECK_INT(json_int_or(kid, "state_update_attempts", 0), 1);
    CHECK_STR(team_state(&t, "lead"), "{'first':true,'second':true}");
    CHECK_INT(team_count(&t, "callback_delivered", "child_name=kid cycle=1"), 1);
    CHECK_INT(team_starts("kid"), 4);
    CHECK_INT(team_starts("lead"), 3);
    team_stop(&t);
}

/* ---- stopping ---- */

/* Those that were stopped tell their parents, which hear it when somebody resumes them. */
TEST_LIMIT(stopping_a_session_stops_all_below_it_with_their_processes, 60)
{
    static const char *const names[] = { "lead", "kid", "middle", "leaf" };
    struct team t = { .unheard = 1 }; /* of leaf: nobody resumes its parent */

    team_touch("helper");
    team_start(&t, NULL);
    team_lead(&t, "lead", any, all_stall);
    team_wait(&t, 1, "run_started", "session_name=kid");
    team_wait(&t, 1, "run_started", "session_name=leaf");
    team_wait(&t, 1, "session_updated", "session_name=middle status=idle");
    team_wait(&t, 1, "session_updated", "session_name=lead status=idle");
    black_expect(&t.server, 200, "POST /sessions/lead/stop", "{'reason':'enough'}");
    for (int i = 0; i < 4; i++) {
        const struct json *s = team_settled(&t, names[i], "stopped", i ? "failed" : "");
        CHECK_HAS(json_str(s, "error"), i ? "a session above it was stopped" : "enough");
        CHECK(team_is_gone(team_pid(&t, names[i], 1)));
    }
    CHECK_INT(team_count(&t, "callback_delivered", ""), 0);

    team_turn(&t, "resume_session", "lead", "{'work':[{'say':'again'}]}");
    team_wait(&t, 2, "callback_delivered", "");
    team_settled(&t, "lead", "finished", "");
    str told = team_prompt(&t, "lead", 3);
    CHECK_HAS(told, "Session `kid` was stopped.");
    CHECK_HAS(told, "Session `middle` was stopped.");
    CHECK_INT(team_starts("lead"), 3);
    team_stop(&t);
}

/* ---- who is not run from here ---- */

TEST_LIMIT(parent_that_a_person_started_hears_with_its_next_event, 60)
{
    struct team t = { .seen = 0 };
    struct json run = json_of(check_arena(),
                              "{'type':'start_session','session_name':'kid','callback':true,"
                              "'parent_session_name':'person','demands':{'profile':'scripted'}}");
    struct json scenario = json_of(check_arena(), GOOD("kid"));

    team_start(&t, NULL);
    black_expect(&t.server, 201, "POST /sessions", "{'session_name':'person'}");
    black_add_schema(&t.server);
    black_expect(&t.server, 201, "POST /workflow-states",
                 "{'schema_name':'any','initial_data':{},'root_session':'person'}");
    json_put(check_arena(), &run, STR("prompt"),
             json_string(json_printed(check_arena(), &scenario)));
    black_expect(&t.server, 201, "POST /runs", json_printed(check_arena(), &run).at);
    team_settled(&t, "kid", "finished", "completed");
    CHECK_INT(team_count(&t, "callback_delivered", ""), 0);
    CHECK_INT(team_count(&t, "run_enqueued", "session_name=person"), 0);

    const char *events = "POST /sessions/person/events";
    const struct json *heard = black_expect(&t.server, 201, events, "{'event_type':'post_tool'}");
    CHECK_INT(json_int_or(heard, "callbacks", 0), 1);
    CHECK_HAS(json_str(heard, "additional_context"), "Session `kid` has completed.");
    heard = black_expect(&t.server, 201, events, "{'event_type':'post_tool'}");
    CHECK_INT(json_int_or(heard, "callbacks", -1), 0);
    heard = black_expect(&t.server, 201, events, "{'event_type':'session_stop'}");
    CHECK(!json_get(heard, "decision"));
    team_settled(&t, "person", "finished", "");
    team_stop(&t);
}

TEST_LIMIT(synchronous_start_is_answered_with_what_the_agent_said, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    const struct json *answer =
        black_expect(&t.server, 200, "POST /runs",
                     "{'type':'start_session','session_name':'one','execution_mode':'sync',"
                     "'demands':{'profile':'scripted'},"
                     "'prompt':'{\\'work\\':[{\\'say\\':\\'forty-two\\'}]}'}");
    CHECK_STR(json_str(answer, "status"), "finished");
    CHECK_STR(json_str(answer, "result"), "forty-two");
    team_stop(&t);
}

/* ---- what an agent was given ---- */

TEST_LIMIT(token_of_an_agent_ends_with_its_turn, 60)
{
    struct team t = { .seen = 0 };

    team_touch("leak"); /* agents write down what they are to keep */
    team_start(&t, NULL);
    team_turn(&t, "start_session", "one", "{'work':[" TEAM_TOUCH("there") "," TEAM_WAIT("go") "]}");
    team_wait_file("there");
    str token = str_trim(check_read("token.one"));
    CHECK_INT(black_ask_as(&t.server, token, "GET /sessions/one", "").status, 200);
    CHECK_INT(black_ask_as(&t.server, token, "GET /tokens", "").status, 403);
    team_touch("go");
    team_settled(&t, "one", "finished", "");
    CHECK_INT(black_ask_as(&t.server, token, "GET /sessions/one", "").status, 401);
    team_stop(&t);
}
