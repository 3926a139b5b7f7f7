/* evidence_test.c: steps that are done when a runner has seen it. The runner is played by the test. */
#include "sim/both.h"
#include "checks.h"
#include "workflow_help.h"

/* Written, and proven in three ways. */
#define CODE                                                                                 \
    "{'workflow':'code','steps':[{'id':'code','outputs':['file'],'evidence':["               \
    "{'run':['make','test'],'exit':0},{'file':'=file','sha256':'=\\\"ab\\\" + \\\"cd\\\"'}," \
    "{'junit':'report.xml'}],'retry':{'max_attempts':2}},{'id':'ship','after':['code']}]}"

#define ALL_GOOD GOOD_COMMAND "," GOOD_FILE "," GOOD_TESTS

static str coded(struct world *w)
{
    str id = begin(w, "code", "'project_dir':'/src'");

    CHECK_OK(reported(w, id, "code", "'outputs':{'file':'a.c'}")->error);
    return id;
}

static str step_of(struct world *w, str id, int step, const char *member)
{
    return at(call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id)),
              arena_printf(check_arena(), "/steps/%d/%s", step, member).at);
}

/* ---- what is checked ---- */

TEST_BOTH(evidence_is_asked_of_a_runner_before_the_step_is_done)
{
    struct world *w = world_new();

    deploy(w, CODE);
    str runner = runner_new(w), id = coded(w);
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(seen(w, id, "/tokens/0/status"), "check");
    CHECK_HAS(seen(w, id, "/steps/0/waits_for"),
              "a runner that takes commands in /src to check its evidence (run run_");
    CHECK_HAS(reported(w, id, "code", "'outputs':{'file':'b.c'}")->error->message,
              "a runner checks its evidence");
    struct check k = check_claim(w, runner);
    CHECK_STR(k.folder, "/src");
    CHECK_STR(k.input,
              "{\"checks\":[{\"kind\":\"command\",\"argv\":[\"make\",\"test\"],\"exit\":0},"
              "{\"kind\":\"file\",\"path\":\"a.c\",\"sha256\":\"abcd\"},"
              "{\"kind\":\"junit\",\"path\":\"report.xml\"}]}");
    CHECK_HAS(seen(w, id, "/steps/0/waits_for"), "its evidence to be checked, run run_");
    CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
    CHECK(str_eq(seen(w, id, "/steps/0/attempt_started_at"), seen(w, id, "/steps/0/started_at")));
    CHECK_OK(check_says(w, &k, true, ALL_GOOD)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    CHECK_STR(step_of(w, id, 0, "outputs"), "{\"file\":\"a.c\"}");
    CHECK_STR(
        step_of(w, id, 0, "evidence"),
        "[{\"ok\":true,\"kind\":\"command\",\"what\":\"make test\",\"found\":\"exit 0\"},"
        "{\"ok\":true,\"kind\":\"file\",\"what\":\"a.c\",\"found\":\"it\",\"sha256\":\"abcd\"},"
        "{\"ok\":true,\"kind\":\"junit\",\"what\":\"report.xml\",\"found\":\"9 tests\","
        "\"tests\":9,\"failures\":0}]");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_that_is_missed_is_a_failed_attempt_that_says_what_was_wrong)
{
    struct world *w = world_new();

    deploy(w, CODE);
    str runner = runner_new(w), id = coded(w);
    struct check k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, false, BAD_COMMAND "," GOOD_FILE "," GOOD_TESTS)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(seen(w, id, "/steps/0/attempt"), "2");
    str history = step_of(w, id, 0, "history");
    CHECK_HAS(history, "\"attempt\":1,\"outcome\":\"violations\",\"started_at\":\"");
    CHECK_HAS(history, "\"violations\":[\"make test: exit 2\\n1 of 9 failed\"]");
    CHECK_HAS(step_of(w, id, 0, "evidence"), "[{\"ok\":false,");

    /* One that says that all is well, of which one is not. */
    CHECK_OK(reported(w, id, "code", "'outputs':{'file':'a.c'}")->error);
    k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, true, BAD_COMMAND "," GOOD_FILE "," GOOD_TESTS)->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_HAS(seen(w, id, "/reason"), "step code has failed after 2 attempts: make test: exit 2");
    CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_comes_before_the_person_who_judges_the_step)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'both','steps':[{'id':'a','evidence':[{'run':'true'}],'approval':true},"
              "{'id':'b','after':['a']}]}");
    str runner = runner_new(w), id = begin(w, "both", "");
    CHECK_OK(reported(w, id, "a", "'outputs':{'n':1}")->error);
    CHECK_STR(at(call(w, "inbox.list", "{}"), "/entries"), "[]");
    struct check k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, true, GOOD_COMMAND)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "waiting_approval");

    /* What is reported anew is proven anew. */
    CHECK_OK(reported(w, id, "a", "'outputs':{'n':2}")->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, true, GOOD_COMMAND)->error);
    str approval = seen(w, id, "/open_approvals/0/approval_id");
    CHECK_STR(seen(w, id, "/open_approvals/0/content/outputs"), "{\"n\":2}");
    CHECK_OK(call(w, "inbox.decide", "{'id':'" STR_FMT "','decision':'approve'}", STR_ARG(approval))
                 ->error);
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_of_an_item_of_a_list_is_the_items_own)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'each','steps':[{'id':'a','for_each':['x','y'],'as':'f','outputs':['n'],"
              "'evidence':[{'file':'=f'}]},{'id':'b','after':['a']}]}");
    str runner = runner_new(w), id = begin(w, "each", "");
    CHECK_OK(reported(w, id, "a", "'item':0,'outputs':{'n':1}")->error);
    CHECK_OK(reported(w, id, "a", "'item':1,'outputs':{'n':2}")->error);
    struct check one = check_claim(w, runner), two = check_claim(w, runner);
    CHECK_STR(one.input, "{\"checks\":[{\"kind\":\"file\",\"path\":\"x\",\"sha256\":null}]}");
    CHECK_STR(two.input, "{\"checks\":[{\"kind\":\"file\",\"path\":\"y\",\"sha256\":null}]}");
    CHECK_HAS(seen(w, id, "/steps/0/waits_for"), "2 of 2 items; its evidence to be checked, run ");
    CHECK_OK(check_says(w, &two, true, GOOD_FILE)->error);
    CHECK_OK(check_says(w, &one, true, GOOD_FILE)->error);
    CHECK_STR(seen(w, id, "/variables/n"), "[1,2]");
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    CHECK_HAS(step_of(w, id, 0, "evidence"), "[{\"item\":1,\"ok\":true,");

    id = begin(w, "each", "");
    CHECK_OK(reported(w, id, "a", "'item':0,'outputs':{'n':1}")->error);
    one = check_claim(w, runner);
    CHECK_OK(check_says(w, &one, false, "{'kind':'file','ok':false,'what':'x','found':'no file'}")
                 ->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_HAS(step_of(w, id, 0, "history"), "\"item\":0,\"outcome\":\"violations\"");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_whose_expression_says_nothing_is_an_incident)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'none','steps':[{'id':'a','evidence':[{'file':'=path'}]}]}");
    str runner = runner_new(w), id = begin(w, "none", "");
    CHECK_OK(reported(w, id, "a", "'outputs':{'n':1}")->error);
    CHECK_HAS(seen(w, id, "/open_incidents/0/message"),
              "the path of its evidence: expected a text from =path, found null");
    CHECK_OK(call(w, "incident.resolve",
                  "{'incident_id':'" STR_FMT "','variables':{'path':'a.txt'}}",
                  STR_ARG(seen(w, id, "/open_incidents/0/incident_id")))
                 ->error);
    struct check k = check_claim(w, runner);
    CHECK_HAS(k.input, "\"path\":\"a.txt\"");
    CHECK_OK(check_says(w, &k, true, GOOD_FILE)->error);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    CHECK_STR(step_of(w, id, 0, "outputs"), "{\"n\":1}");
    world_audit(w);
    world_close(w);
}

/* ---- runs that do not say ---- */

TEST_BOTH(evidence_whose_runner_is_lost_is_checked_again_and_counts_for_nothing)
{
    struct world *w = world_new();

    deploy(w, CODE);
    w->team.claim_max = 2;
    str runner = runner_new(w), id = coded(w);
    for (int i = 0; i < 2; i++) {
        for (int lost = 0; lost < 2; lost++) {
            CHECK(check_claim(w, runner).run_id.len);
            world_pass(w, w->team.lease_ms);
        }
        CHECK_STR(seen(w, id, "/tokens/0/status"), "check");
        CHECK_STR(seen(w, id, "/steps/0/attempt"), "1");
    }
    struct check k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, true, ALL_GOOD)->error);
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_that_nobody_can_check_waits_for_who_can)
{
    struct world *w = world_new();

    deploy(w, CODE);
    str id = coded(w), first = seen(w, id, "/steps/0/waits_for");
    world_pass(w, w->team.match_ms + 1000); /* its run is given up, and another one waits */
    CHECK_HAS(seen(w, id, "/steps/0/waits_for"), "a runner that takes commands in /src");
    CHECK(!str_eq(seen(w, id, "/steps/0/waits_for"), first));
    CHECK_STR(seen(w, id, "/steps/0/attempt"), "1");
    str runner = runner_new(w);
    struct check k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, true, ALL_GOOD)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_that_is_no_answer_is_an_incident_and_asked_for_again)
{
    static const char *const answers[] = {
        ",'exit_code':0,'result':'fine'",
        ",'exit_code':0,'result':'{\\\"ok\\\":true}'",
        ",'exit_code':0,'result':'{\\\"ok\\\":true,\\\"checks\\\":[]}'",
        ",'exit_code':127,'error':'there is no baton'",
    };
    struct world *w = world_new();

    deploy(w, CODE);
    str runner = runner_new(w), id = coded(w);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct check k = check_claim(w, runner);
        CHECK_OK(check_ends(w, &k, strstr(answers[i], "127") ? "failed" : "completed", answers[i])
                     ->error);
        CHECK_STR(seen(w, id, "/open_incidents/0/kind"), "evidence");
        CHECK_HAS(seen(w, id, "/open_incidents/0/message"), "the findings of 'baton evidence'");
        CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
        CHECK_OK(call(w, "inbox.decide", "{'id':'" STR_FMT "','decision':'retry'}",
                      STR_ARG(seen(w, id, "/open_incidents/0/incident_id")))
                     ->error);
    }
    struct check k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, true, ALL_GOOD)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    world_audit(w);
    world_close(w);
}

/* The exit code of baton evidence does not matter where it has said what it found. */
TEST_BOTH(evidence_counts_by_what_was_found_and_not_by_the_exit_code)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'one','steps':[{'id':'a','evidence':[{'run':'true'}]}]}");
    str runner = runner_new(w), id = begin(w, "one", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    struct check k = check_claim(w, runner);
    CHECK_OK(
        check_ends(w, &k, "failed",
                   ",'exit_code':1,'result':'{\\\"ok\\\":false,\\\"checks\\\":[{\\\"ok\\\":false,"
                   "\\\"what\\\":\\\"true\\\",\\\"found\\\":\\\"exit 1\\\"}]}'")
            ->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_HAS(seen(w, id, "/reason"), "true: exit 1");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(evidence_that_takes_too_long_is_an_attempt_that_did)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'slow','steps':[{'id':'a','timeout':'5m','evidence':[{'run':'x'}]}]}");
    str runner = runner_new(w), id = begin(w, "slow", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    struct check k = check_claim(w, runner);
    CHECK_OK(check_ends(w, &k, "timed_out", "")->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_HAS(step_of(w, id, 0, "history"), "\"outcome\":\"timeout\"");
    world_audit(w);
    world_close(w);
}

/* ---- checks that nobody waits for any more ---- */

TEST_BOTH(evidence_is_not_looked_for_when_its_step_is_not_wanted_any_more)
{
    static const char *const ends[] = { "execution.cancel", "execution.resume" };
    struct world *w = world_new();

    deploy(w, CODE);
    str runner = runner_new(w);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        str id = coded(w);
        struct check k = check_claim(w, runner);
        CHECK_OK(call(w, ends[i], "{'execution_id':'" STR_FMT "'%s}", STR_ARG(id),
                      i ? ",'from':'code'" : "")
                     ->error);
        CHECK_STR(at(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(k.run_id)), "/status"),
                  "stopping");
        CHECK_OK(check_says(w, &k, true, ALL_GOOD)->error); /* too late */
        CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
        CHECK_STR(seen(w, id, "/status"), i ? "RUNNING" : "CANCELLED");
        CHECK_STR(check_claim(w, runner).run_id, "");
    }
    world_audit(w);
    world_close(w);
}

/* What was done may be proven; what would come after it is not begun. */
TEST_BOTH(evidence_of_what_is_done_is_looked_for_while_the_execution_fails)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'two','steps':[{'id':'a','evidence':[{'run':'true'}]},{'id':'b'},"
              "{'id':'c','after':['a']}]}");
    str runner = runner_new(w), id = begin(w, "two", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    struct check k = check_claim(w, runner);
    CHECK_OK(reported(w, id, "b", "'failed':true")->error);
    CHECK_STR(seen(w, id, "/status"), "RUNNING");
    CHECK_OK(check_says(w, &k, true, GOOD_COMMAND)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    CHECK_STR(seen(w, id, "/steps/2/status"), "pending");
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    world_audit(w);
    world_close(w);
}

/* A later step that cannot be proven has an earlier one done anew, which is told why. */
TEST_BOTH(evidence_that_is_missed_for_good_goes_back_to_where_the_definition_says)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'again','steps':[{'id':'a','retry':{'max_attempts':2}},{'id':'b',"
              "'after':['a'],'evidence':[{'run':'make test'}],'triggers_retry':'a'}]}");
    str runner = runner_new(w), id = begin(w, "again", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    CHECK_OK(reported(w, id, "b", "")->error);
    struct check k = check_claim(w, runner);
    CHECK_OK(check_says(w, &k, false, BAD_COMMAND)->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(seen(w, id, "/steps/0/attempt"), "2");
    CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
    CHECK_HAS(step_of(w, id, 0, "history"),
              "\"violations\":[\"step b has failed after 1 attempt: make test: exit 2");
    world_audit(w);
    world_close(w);
}
