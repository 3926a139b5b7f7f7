/* team_phases_test.c: work, then the record of its result, and only then the parent hears: with
 * agents that do what they should, that forget, that stall, and that die. */
#include <signal.h>

#include "black/team.h"

/* A lead with one child; what the child does for its work, and at each request for its result. */
#define ONE_CHILD(work, updates)                                                \
    "{'work':[" TEAM_START("kid", "{'work':[" work "],'state_update':[" updates \
                                  "]}") "],"                                    \
                                        "'callback':[{'say':'has heard'}]}"

static const char any[] = "{}";

/* The turn in which the lead was told, after its work. */
static str told_lead(struct team *t)
{
    const struct json *run = team_run_of(t, "lead", 2);

    CHECK_STR(json_str(run, "purpose"), "callback");
    CHECK_STR(json_str(run, "status"), "completed");
    CHECK_INT(team_starts("lead"), 2);
    return team_prompt(t, "lead", 2);
}

TEST_LIMIT(parent_hears_of_a_child_after_its_result_is_recorded, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any, ONE_CHILD("{'say':'did it'}", "[" TEAM_WRITE("kid") "]"));
    const struct json *lead = team_settled(&t, "lead", "finished", "");
    CHECK_INT(json_int_or(lead, "cycle", 0), 1);
    team_settled(&t, "kid", "finished", "completed");
    CHECK_STR(team_state(&t, "lead"), "{'kid':true}");

    CHECK_INT(team_starts("kid"), 2);
    CHECK_HAS(team_prompt(&t, "kid", 2), "## Required: Update Workflow State");
    CHECK_STR(json_str(team_run_of(&t, "kid", 2), "purpose"), "state_update");
    str told = told_lead(&t);
    CHECK_HAS(told, "Session `kid` has completed.");
    CHECK_HAS(told, "State Update: completed");
    CHECK_HAS(told, "Workflow State Version: 2");
    const struct json *metadata = json_get(team_run_of(&t, "lead", 2), "metadata");
    CHECK_STR(json_shown(check_arena(), metadata),
              "{'callback_source':'kid','callback_sources':['kid'],'workflow_state_version':2,"
              "'state_update_status':'completed'}");
    team_stop(&t);
}

TEST_LIMIT(child_that_wrote_during_its_work_is_asked_or_not_as_the_schema_says, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "always", "{'policy':'always'}",
              "{'work':[" TEAM_START("asked",
                                     "{'work':[" TEAM_WRITE("a") "],"
                                                                 "'state_update':[[" TEAM_WRITE(
                                                                     "b") "]]}") "]}");
    team_lead(&t, "missing", "{'policy':'if_missing'}",
              "{'work':[" TEAM_START("left",
                                     "{'work':[" TEAM_WRITE("a") "],"
                                                                 "'state_update':[[" TEAM_WRITE(
                                                                     "b") "]]}") "]}");
    team_settled(&t, "always", "finished", "");
    team_settled(&t, "missing", "finished", "");
    team_settled(&t, "asked", "finished", "completed");
    team_settled(&t, "left", "finished", "skipped");
    CHECK_STR(team_state(&t, "always"), "{'a':true,'b':true}");
    CHECK_STR(team_state(&t, "missing"), "{'a':true}");
    CHECK_INT(team_starts("asked"), 2);
    CHECK_INT(team_starts("left"), 1);
    CHECK_HAS(team_prompt(&t, "missing", 2), "State Update: skipped");
    team_stop(&t);
}

/* ---- children that forget ---- */

#define FORGET "[{'say':'it is done, as I said'}]"
#define RECORD "[" TEAM_WRITE("kid") "]"

/* The requests that a child gets one after the other grow shorter and sharper. */
static void check_requests(struct team *t, int count)
{
    static const char *const words[] = { "Your task is complete.", "**Warning:**",
                                         "Call the `state_patch` tool now" };

    CHECK_INT(team_starts("kid"), 1 + count);
    for (int n = 0; n < count; n++) {
        str prompt = team_prompt(t, "kid", 2 + n);
        CHECK_HAS(prompt, "## Required: Update Workflow State");
        for (int other = 0; other < 3; other++)
            CHECK_INT(str_contains(prompt, str_from(words[other])), other == n);
    }
}

static void forget(const char *updates, int requests, const char *status, const char *update)
{
    struct team t = { .seen = 0 };
    const char *scenario =
        arena_printf(check_arena(), ONE_CHILD("{'say':'done'}", "%s"), updates).at;

    team_start(&t, NULL);
    team_lead(&t, "lead", any, scenario);
    team_settled(&t, "lead", "finished", "");
    const struct json *kid = team_settled(&t, "kid", status, update);
    CHECK_INT(json_int_or(kid, "state_update_attempts", 0), requests);
    check_requests(&t, requests);
    CHECK_HAS(told_lead(&t), arena_printf(check_arena(), "State Update: %s", update).at);
    if (strcmp(status, "failed") == 0) {
        CHECK_HAS(told_lead(&t), "Warning: Child failed to update workflow state.");
        CHECK_HAS(told_lead(&t), "did not record its result after 3 prompts");
    }
    team_stop(&t);
}

TEST_LIMIT(child_that_forgets_once_is_asked_again, 60)
{
    forget(FORGET "," RECORD, 2, "finished", "completed");
}

TEST_LIMIT(child_that_forgets_twice_is_asked_a_third_time, 60)
{
    forget(FORGET "," FORGET "," RECORD, 3, "finished", "completed");
}

TEST_LIMIT(child_that_forgets_three_times_has_failed_and_its_parent_hears_so, 60)
{
    forget(FORGET "," FORGET "," FORGET, 3, "failed", "failed");
}

/* A write that the schema refuses is none. */
TEST_LIMIT(refused_write_does_not_count_as_a_record, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(
        &t, "lead", any,
        ONE_CHILD("{'say':'done'}",
                  "[{'call':{'op':'state.update','input':{'data':[]},'expect':422}}]," RECORD));
    team_settled(&t, "lead", "finished", "");
    team_settled(&t, "kid", "finished", "completed");
    check_requests(&t, 2);
    team_stop(&t);
}

/* ---- children that do not come to an end ---- */

TEST_LIMIT(child_that_stalls_when_asked_is_ended_each_time_and_has_failed, 90)
{
    static const char *const settings[] = { "state_update_timeout=600ms", NULL };
    struct team t = { .seen = 0 };

    team_touch("helper"); /* which does not end by itself either */
    team_start(&t, settings);
    team_lead(&t, "lead", any,
              ONE_CHILD("{'say':'done'}", "[{'stall':true}],[{'stall':true}],[{'stall':true}]"));
    team_settled(&t, "lead", "finished", "");
    team_settled(&t, "kid", "failed", "failed");
    CHECK_INT(team_starts("kid"), 4);
    for (int n = 2; n <= 4; n++)
        CHECK_STR(json_str(team_run_of(&t, "kid", n), "status"), "timed_out");
    CHECK_HAS(told_lead(&t), "did not record its result after 3 prompts");
    team_stop(&t);
}

TEST_LIMIT(child_whose_work_takes_too_long_is_ended_and_asked_for_its_failure_once, 60)
{
    struct team t = { .seen = 0 };

    team_touch("helper");
    team_start(&t, (const char *const[]){ "run_time=600ms", NULL });
    team_lead(&t, "lead", any, ONE_CHILD("{'stall':true}", "[],[]," RECORD));
    team_settled(&t, "lead", "finished", "");
    const struct json *kid = team_settled(&t, "kid", "failed", "completed");
    CHECK_HAS(json_str(kid, "error"), "longer");
    CHECK_INT(team_starts("kid"), 2);
    CHECK_HAS(team_prompt(&t, "kid", 2), "Your last turn did not end well.");
    CHECK_HAS(told_lead(&t), "Session `kid` has failed.");
    team_stop(&t);
}

/* ---- children that die ---- */

static void check_died(struct team *t, const char *why, const char *update)
{
    team_settled(t, "lead", "finished", "");
    const struct json *kid = team_settled(t, "kid", "failed", update);
    CHECK_HAS(json_str(kid, "error"), why);
    str told = told_lead(t);
    CHECK_HAS(told, "Session `kid` has failed.");
    CHECK_HAS(told, why);
    CHECK_HAS(told, "kid complains"); /* what it wrote to stderr */
    team_stop(t);
}

/* It is asked once what went wrong, since its client can still be. */
TEST_LIMIT(child_that_exits_with_an_error_is_asked_once_to_record_it, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any, ONE_CHILD("{'exit':1}", "[],[]," RECORD));
    check_died(&t, "exit code 1", "completed");
    CHECK_INT(team_starts("kid"), 2);
}

TEST_LIMIT(child_that_fails_and_records_nothing_has_failed_for_its_first_reason, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", any, ONE_CHILD("{'exit':1}", "[],[]," FORGET));
    check_died(&t, "exit code 1", "failed");
    CHECK_INT(team_starts("kid"), 2);
}

TEST_LIMIT(child_whose_schema_wants_no_record_of_failures_is_not_asked, 60)
{
    struct team t = { .seen = 0 };

    team_start(&t, NULL);
    team_lead(&t, "lead", "{'on_failure':'skip'}", ONE_CHILD("{'exit':1}", "[],[]," RECORD));
    check_died(&t, "exit code 1", "failed");
    CHECK_INT(team_starts("kid"), 1);
}

TEST_LIMIT(child_whose_agent_is_killed_has_failed_with_what_is_known, 60)
{
    struct team t = { .seen = 0 };

    team_touch("helper");
    team_start(&t, NULL);
    team_lead(&t, "lead", any,
              ONE_CHILD(TEAM_TOUCH("there") "," TEAM_WAIT("never"), "[],[]," RECORD));
    team_wait_file("there");
    kill(team_pid(&t, "kid", 1), SIGKILL);
    check_died(&t, "signal 9", "completed");
    CHECK_INT(team_starts("kid"), 2);
}
