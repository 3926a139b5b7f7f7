/* flow_reference_team_test.c: what the reference does with agents, evidence and approvals. What each small
 * definition does was written out by hand from the design, before it was run. */
#include "reference_help.h"

#define TURN(p, node, number, how, outputs) turn_(p, node, -1, number, how, outputs)

static bool turn_(struct play *p, const char *node, int index, uint32_t number,
                  enum reference_turn how, const char *outputs)
{
    struct json values = json_of(p->arena, outputs);

    return reference_share(p->r, waits(p, WAIT_AGENTS, node, index), number, how, &values);
}

/* "1 works, 2 done, 3 waits". */
static str shares(struct play *p, const char *node)
{
    size_t count;
    const struct reference_share *all =
        reference_shares(p->r, p->arena, waits(p, WAIT_AGENTS, node, -1), &count);
    struct buf out = buf_in(p->arena);

    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s%u %s", i ? ", " : "", all[i].number,
                   all[i].done      ? "done"
                   : all[i].at_work ? "works"
                                    : "waits");
    return buf_str(&out);
}

static bool check(struct play *p, const char *node, enum reference_proof proof)
{
    return reference_check(p->r, waits(p, WAIT_CHECK, node, -1), proof);
}

static bool decide(struct play *p, const char *node, enum reference_decided what, const char *step)
{
    struct reference_decision d = { .what = what,
                                    .step = *step ? graph_step_find(p->graph, str_from(step))
                                                  : GRAPH_NONE };

    return reference_decide(p->r, waits(p, WAIT_APPROVAL, node, -1), &d);
}

#define STEP(p, step) ((int)reference_step((p)->r, graph_step_find((p)->graph, STR(step))))

/* ---- agents ---- */

TEST(flow_reference_waits_for_what_an_agent_records)
{
    struct play p = play("{'steps':[{'id':'a','agent':'ann'},{'id':'b','after':'a'}]}");

    TRACED(&p, "start entered 1, a entered 1, a started 1");
    CHECK_STR(shares(&p, "a"), "1 works");
    CHECK(!reference_report(p.r, 1, OUTCOME_OK, NULL));
    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{'x':1}"));
    TRACED(&p, "a recorded 1, a completed 1, b entered 1, b started 1");
    CHECK_STR(VARIABLES(&p), "{'x':1}");
    CHECK(!reference_share(p.r, 1, 1, TURN_RECORDED, NULL));
}

TEST(flow_reference_takes_the_report_of_whom_nobody_knows)
{
    struct play p = play("{'steps':[{'id':'a','agents':['ann','dan']}]}");

    CHECK_INT(waits(&p, WAIT_AGENTS, "a", -1), 0);
    done(&p, "a");
    CHECK_STR(STATUS(&p), "COMPLETED");
}

TEST(flow_reference_has_agents_work_one_after_the_other)
{
    struct play p = play("{'steps':[{'id':'a','agents':['ann','bob','cid'],'outputs':['x']}]}");

    CHECK_STR(shares(&p, "a"), "1 works");
    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{'x':1}"));
    CHECK_STR(shares(&p, "a"), "1 done, 2 works");
    CHECK(!TURN(&p, "a", 1, TURN_RECORDED, "{'x':1}"));
    CHECK(TURN(&p, "a", 2, TURN_RECORDED, "{'x':2}"));
    CHECK_STR(VARIABLES(&p), "{}");
    CHECK(TURN(&p, "a", 3, TURN_RECORDED, "{'x':3}"));
    CHECK_STR(VARIABLES(&p), "{'x':3}");
    TRACED(&p,
           "start entered 1, a entered 1, a started 1, a recorded 1, a recorded 1, a recorded 1, "
           "a completed 1, end entered 1, end ended 1");
}

TEST(flow_reference_has_one_more_gather_what_several_did_at_once)
{
    struct play many = play("{'steps':[{'id':'a','agent':'bob','parallel_agents':2}]}"),
                both = play("{'steps':[{'id':'a','agents':['ann','bob'],'parallel':true}]}");
    struct play *plays[] = { &many, &both };

    for (int i = 0; i < 2; i++) {
        struct play *p = plays[i];
        CHECK_STR(shares(p, "a"), "1 works, 2 works");
        CHECK(TURN(p, "a", 2, TURN_RECORDED, "{'x':2}"));
        CHECK(TURN(p, "a", 1, TURN_RECORDED, "{'x':1}"));
        CHECK_STR(shares(p, "a"), "1 done, 2 done, 3 works");
        CHECK(TURN(p, "a", 3, TURN_RECORDED, "{'x':12}"));
        CHECK_STR(VARIABLES(p), "{'x':12}");
        CHECK_STR(STATUS(p), "COMPLETED");
    }
}

/* A turn, and three times that it is asked; whoever records then has done it. */
TEST(flow_reference_asks_three_times_for_what_is_owed)
{
    struct play p =
        play("{'steps':[{'id':'a','agent':'ann','retry':{'max_attempts':2}},{'id':'b'}]}");

    traced(&p);
    for (int i = 0; i < 4; i++) {
        TRACED(&p, "");
        CHECK(TURN(&p, "a", 1, TURN_SILENT, "{}"));
    }
    TRACED(&p, "a failed 1, a started 1");
    CHECK(TURN(&p, "a", 1, TURN_SILENT, "{}"));
    CHECK(TURN(&p, "a", 1, TURN_CRASHED, "{}"));
    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{}"));
    TRACED(&p, "a recorded 1, a completed 1, end entered 1, end ended 1");
}

TEST(flow_reference_counts_what_crashed_was_stopped_or_has_failed)
{
    static const enum reference_turn turns[] = { TURN_CRASHED, TURN_STOPPED, TURN_SAID_FAILED };
    struct play p = play("{'steps':[{'id':'a','agent':'ann','retry':{'max_attempts':3}}]}");

    traced(&p);
    for (int i = 0; i < 3; i++)
        CHECK(TURN(&p, "a", 1, turns[i], "{}"));
    TRACED(&p, "a failed 1, a started 1, a failed 1, a started 1, a recorded 1, a failed 1, "
               "a gave_up 1");
    CHECK_STR(STATUS(&p), "FAILED");
}

TEST(flow_reference_gives_a_turn_to_three_runners)
{
    struct play p = play("{'steps':[{'id':'a','agent':'ann','retry':{'max_attempts':2}}]}");

    traced(&p);
    CHECK(TURN(&p, "a", 1, TURN_LOST, "{}"));
    CHECK(TURN(&p, "a", 1, TURN_LOST, "{}"));
    TRACED(&p, "");
    CHECK(TURN(&p, "a", 1, TURN_LOST, "{}"));
    TRACED(&p, "a started 1"); /* uncounted: see attempts that are lost */
    CHECK(TURN(&p, "a", 1, TURN_LOST, "{}"));
    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{}"));
    CHECK_STR(STATUS(&p), "COMPLETED");
}

/* One of two fails: the other is withdrawn, and all begin again. */
TEST(flow_reference_withdraws_the_others_of_a_share_that_failed)
{
    struct play p = play("{'steps':[{'id':'a','agent':'bob','parallel_agents':2,"
                         "'retry':{'max_attempts':2}}]}");

    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{}"));
    traced(&p);
    CHECK(TURN(&p, "a", 2, TURN_STOPPED, "{}"));
    TRACED(&p, "a failed 1, a started 1");
    CHECK_STR(shares(&p, "a"), "1 works, 2 works");
}

/* Two at once: the third waits for its turn, and its attempt's time with it. */
TEST(flow_reference_lets_agents_wait_for_their_turn)
{
    agents_at_once = 2;
    struct play p = play("{'steps':[{'id':'a','agent':'bob','parallel_agents':2},"
                         "{'id':'b','agent':'ann','timeout':'10s'}]}");

    CHECK_STR(shares(&p, "a"), "1 works, 2 works");
    CHECK_STR(shares(&p, "b"), "1 waits");
    CHECK_INT(reference_due_ms(p.r), INT64_MAX);
    CHECK(!TURN(&p, "b", 1, TURN_RECORDED, "{}"));
    CHECK(TURN(&p, "a", 2, TURN_RECORDED, "{}"));
    CHECK_STR(shares(&p, "b"), "1 works");
    CHECK_INT(reference_due_ms(p.r), 10000);
    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{}"));
    CHECK_STR(shares(&p, "a"), "1 done, 2 done, 3 works");
    traced(&p);
    reference_advance(p.r, 10000);
    TRACED(&p, "b failed 2, b gave_up 2");
    CHECK_STR(STATUS(&p), "RUNNING");
    CHECK(TURN(&p, "a", 3, TURN_RECORDED, "{}"));
    CHECK_STR(STATUS(&p), "FAILED");
}

TEST(flow_reference_begins_no_share_while_it_is_paused)
{
    struct play p = play("{'steps':[{'id':'a','agents':['ann','bob']}]}");

    CHECK(reference_pause(p.r));
    CHECK(TURN(&p, "a", 1, TURN_RECORDED, "{}"));
    CHECK_STR(shares(&p, "a"), "1 done, 2 waits");
    CHECK(reference_resume(p.r));
    CHECK_STR(shares(&p, "a"), "1 done, 2 works");
    CHECK(reference_cancel(p.r));
    CHECK(!reference_share(p.r, 1, 2, TURN_RECORDED, NULL));
}

/* ---- evidence ---- */

TEST(flow_reference_believes_what_a_runner_has_seen)
{
    struct play p = play("{'steps':[{'id':'a','outputs':['x'],'retry':{'max_attempts':2},"
                         "'evidence':[{'run':'make test'}]},{'id':'b','after':'a'}]}");

    report(&p, "a", -1, OUTCOME_OK, "{'x':1}");
    TRACED(&p, "start entered 1, a entered 1, a started 1, a proving 1");
    CHECK_STR(VARIABLES(&p), "{'x':1}");
    CHECK_INT(STEP(&p, "a"), REFERENCE_STEP_ACTIVE);
    CHECK(check(&p, "a", PROOF_LACKING));
    TRACED(&p, "a failed 1, a started 1");
    CHECK(!check(&p, "a", PROOF_GOOD));
    report(&p, "a", -1, OUTCOME_OK, "{'x':2}");
    CHECK(check(&p, "a", PROOF_GOOD));
    TRACED(&p, "a proving 1, a completed 1, b entered 1, b started 1");
}

/* No answer is no failure; a person is asked for help after the fourth. */
TEST(flow_reference_checks_again_what_was_lost)
{
    struct play p = play("{'steps':[{'id':'a','evidence':[{'file':'out'}]}]}");

    done(&p, "a");
    traced(&p);
    for (int i = 0; i < 3; i++)
        CHECK(check(&p, "a", PROOF_LOST));
    TRACED(&p, "a proving 1, a proving 1, a proving 1");
    CHECK(check(&p, "a", PROOF_LOST));
    TRACED(&p, "a incident 1");
    CHECK(reference_retry(p.r, 1, NULL));
    CHECK(check(&p, "a", PROOF_ODD));
    TRACED(&p, "a proving 1, a incident 1");
    CHECK(reference_retry(p.r, 1, NULL));
    CHECK(check(&p, "a", PROOF_GOOD));
    CHECK_STR(STATUS(&p), "COMPLETED");
}

TEST(flow_reference_checks_each_item)
{
    struct play p = play("{'steps':[{'id':'a','for_each':[1,2],'outputs':['x'],"
                         "'evidence':[{'file':'=x'}]}]}");

    report(&p, "a", 1, OUTCOME_OK, "{'x':'two'}");
    report(&p, "a", 0, OUTCOME_OK, "{'x':'one'}");
    traced(&p);
    CHECK(reference_check(p.r, 3, PROOF_GOOD));
    CHECK(reference_check(p.r, 2, PROOF_GOOD));
    TRACED(&p, "a completed 3, a completed 2, a closed 1, end entered 1, end ended 1");
    CHECK_STR(VARIABLES(&p), "{'x':['one','two']}");
}

TEST(flow_reference_finishes_a_check_while_it_fails)
{
    struct play p = play("{'steps':[{'id':'a','evidence':[{'file':'out'}]},{'id':'b'},"
                         "{'id':'c','after':'a'}]}");

    failed(&p, "b");
    done(&p, "a");
    CHECK_STR(STATUS(&p), "RUNNING");
    traced(&p);
    CHECK(check(&p, "a", PROOF_GOOD));
    TRACED(&p, "a completed 1, c entered 1, c held 1");
    CHECK_STR(STATUS(&p), "FAILED");
}

/* ---- approvals ---- */

static const char plan_and_code[] = "{'steps':[{'id':'plan','outputs':['x'],'approval':%s},"
                                    "{'id':'code','after':'plan'}],'on_fail':'%s'}";

static struct play asked(const char *approval, const char *on_fail)
{
    struct play p = play(arena_printf(check_arena(), plan_and_code, approval, on_fail).at);

    report(&p, "plan", -1, OUTCOME_OK, "{'x':1}");
    TRACED(&p, "start entered 1, plan entered 1, plan started 1, plan completed 1, plan asked 1");
    CHECK_INT(STEP(&p, "plan"), REFERENCE_STEP_APPROVAL);
    return p;
}

TEST(flow_reference_goes_on_when_a_person_approves)
{
    struct play p = asked("true", "drain");
    struct json changes = json_of(p.arena, "{'tone':'dry'}");
    struct reference_decision d = { .variant = STR("B"), .modifications = &changes };

    CHECK(reference_decide(p.r, 1, &d));
    TRACED(&p, "plan approved 1, code entered 1, code started 1");
    CHECK_STR(VARIABLES(&p), "{'x':1,'decision':'approve','selected_variant':'B',"
                             "'modifications':{'tone':'dry'}}");
    CHECK(!reference_decide(p.r, 1, &d));
}

TEST(flow_reference_fails_when_a_person_rejects)
{
    struct play drain = asked("true", "drain"), stop = asked("true", "stop"),
                incident = asked("true", "incident");

    CHECK(decide(&drain, "plan", DECISION_REJECT, ""));
    TRACED(&drain, "plan rejected 1, plan gave_up 1");
    CHECK_STR(STATUS(&drain), "FAILED");
    CHECK_INT(STEP(&drain, "plan"), REFERENCE_STEP_FAILED);
    CHECK(decide(&stop, "plan", DECISION_REJECT, ""));
    TRACED(&stop, "plan rejected 1, plan cancelled 1");
    CHECK(decide(&incident, "plan", DECISION_REJECT, ""));
    TRACED(&incident, "plan rejected 1");
    CHECK_STR(STATUS(&incident), "FAILED");
}

TEST(flow_reference_goes_back_when_a_person_rejects_and_the_definition_says_whereto)
{
    struct play p = play("{'steps':[{'id':'a'},{'id':'b','after':'a','approval':"
                         "{'on_reject':'a'}}]}");

    for (int i = 0; i < 5; i++) { /* as often as they like */
        done(&p, "a");
        done(&p, "b");
        traced(&p);
        CHECK(decide(&p, "b", DECISION_REJECT, ""));
    }
    TRACED(&p, "b rejected 5, a reopened 6, a entered 6, a started 6");
    CHECK_INT(STEP(&p, "b"), REFERENCE_STEP_PENDING);
}

TEST(flow_reference_goes_back_to_where_a_person_says)
{
    struct play p = play("{'steps':[{'id':'a'},{'id':'b','after':'a','approval':true},"
                         "{'id':'c','after':'b'},{'id':'d'}]}");

    done(&p, "a");
    done(&p, "b");
    traced(&p);
    CHECK(!decide(&p, "b", DECISION_REWORK, "c"));
    CHECK(!decide(&p, "b", DECISION_REWORK, "d"));
    TRACED(&p, "");
    CHECK(decide(&p, "b", DECISION_REWORK, ""));
    TRACED(&p, "b reworked 1, b reopened 3, b entered 3, b started 3");
    done(&p, "b");
    CHECK(decide(&p, "b", DECISION_REWORK, "a"));
    TRACED(&p, "b completed 3, b asked 3, b reworked 3, a reopened 4, a entered 4, a started 4");
}

TEST(flow_reference_decides_when_nobody_does)
{
    struct play yes = asked("{'deadline':'1h','default':'approve'}", "drain"),
                no = asked("{'deadline':'1h','default':'reject'}", "drain"),
                never = asked("{'deadline':'1h'}", "drain");

    reference_advance(yes.r, 3599999);
    TRACED(&yes, "");
    reference_advance(yes.r, 1);
    TRACED(&yes, "plan approved 1, code entered 1, code started 1");
    reference_advance(no.r, 3600000);
    TRACED(&no, "plan rejected 1, plan gave_up 1");
    reference_advance(never.r, 360000000);
    TRACED(&never, "");
    CHECK(decide(&never, "plan", DECISION_APPROVE, ""));
}

TEST(flow_reference_withdraws_what_is_asked_when_it_goes_back)
{
    struct play p = asked("true", "drain");

    CHECK(reopen(&p, "plan"));
    TRACED(&p, "plan cancelled 1, plan reopened 2, plan entered 2, plan started 2");
    CHECK(!decide(&p, "plan", DECISION_APPROVE, ""));
}

TEST(flow_reference_keeps_a_decision_until_it_is_resumed)
{
    struct play p = play(arena_printf(check_arena(), plan_and_code, "true", "drain").at);

    CHECK(reference_pause(p.r));
    done(&p, "plan");
    CHECK(decide(&p, "plan", DECISION_APPROVE, ""));
    TRACED(&p, "start entered 1, plan entered 1, plan started 1, plan completed 1, "
               "plan asked 1, plan approved 1");
    CHECK(reference_resume(p.r));
    TRACED(&p, "code entered 1, code started 1");
}

TEST(flow_reference_asks_once_about_a_loop)
{
    struct play p = play("{'steps':[{'id':'a','for_each':[1,2],'approval':true}]}"),
                none = play("{'steps':[{'id':'a','for_each':[],'approval':true}]}");

    report(&p, "a", 0, OUTCOME_OK, "{}");
    traced(&p);
    report(&p, "a", 1, OUTCOME_OK, "{}");
    TRACED(&p, "a completed 3, a closed 1, a asked 1");
    CHECK(decide(&p, "a", DECISION_APPROVE, ""));
    TRACED(&p, "a approved 1, end entered 1, end ended 1");
    TRACED(&none, "start entered 1, a entered 1, a opened 1, a asked 1");
    CHECK(decide(&none, "a", DECISION_APPROVE, ""));
    CHECK_STR(STATUS(&none), "COMPLETED");
}

/* What was asked before may be decided; nobody is asked any more, and nobody is waited for. */
TEST(flow_reference_asks_nobody_while_it_fails)
{
    struct play p = play("{'steps':[{'id':'a','approval':true},{'id':'b','approval':true},"
                         "{'id':'c'},{'id':'d'},{'id':'e','approval':{'on_reject':'e'}}]}");

    done(&p, "a");
    done(&p, "e");
    failed(&p, "c");
    traced(&p);
    done(&p, "b");
    TRACED(&p, "b completed 2, b held 2");
    CHECK(!decide(&p, "e", DECISION_REWORK, ""));
    CHECK(decide(&p, "e", DECISION_REJECT, ""));
    TRACED(&p, "e rejected 5, e gave_up 5");
    CHECK_STR(STATUS(&p), "RUNNING");
    done(&p, "d");
    CHECK_STR(STATUS(&p), "FAILED");
    CHECK(!decide(&p, "a", DECISION_APPROVE, ""));
}

/* What a person sets is believed before what was reported. */
TEST(flow_reference_asks_when_it_can_be_said_what_there_is_to_choose)
{
    struct play p = play("{'steps':[{'id':'a','outputs':['x'],'approval':{'type':"
                         "'select_variant','options':'=x','deadline':'1h','default':'approve'}}]}");
    struct json mended = json_of(p.arena, "{'x':['p','q']}");

    report(&p, "a", -1, OUTCOME_OK, "{'x':5}");
    TRACED(&p, "start entered 1, a entered 1, a started 1, a completed 1, a incident 1");
    CHECK(reference_retry(p.r, 1, &mended));
    TRACED(&p, "a completed 1, a asked 1");
    reference_advance(p.r, 3600000);
    CHECK_STR(VARIABLES(&p), "{'x':['p','q'],'decision':'approve','selected_variant':'p'}");
}

/* As often as they like, until somebody has decided. */
TEST(flow_reference_asks_anew_about_what_is_reported_anew)
{
    struct play p = play("{'steps':[{'id':'a','approval':true,'fails_when':'=x = 3'}]}"),
                job = play("{'steps':[{'id':'a','job':'t','approval':true}]}");
    struct json other = json_of(p.arena, "{'x':2}"), wrong = json_of(p.arena, "{'x':3}");

    report(&p, "a", -1, OUTCOME_OK, "{'x':1}");
    traced(&p);
    CHECK(!reference_report(p.r, 1, OUTCOME_FAILED, NULL));
    CHECK(reference_report(p.r, 1, OUTCOME_OK, &other));
    TRACED(&p, "a completed 1, a asked 1");
    CHECK_STR(VARIABLES(&p), "{'x':2}");
    CHECK(reference_report(p.r, 1, OUTCOME_OK, &wrong));
    TRACED(&p, "a failed 1, a gave_up 1");
    done(&job, "a");
    CHECK(!reference_report(job.r, 1, OUTCOME_OK, &other));
}

/* ---- all of it ---- */

/* code is checked, and reviewed by two; what they find sends it back, which counts. */
TEST(flow_reference_tries_again_what_agents_find_wanting)
{
    struct play p =
        play("{'steps':[{'id':'code','agent':'ann','retry':{'max_attempts':2},"
             "'evidence':[{'run':'make test'}]},"
             "{'id':'review','after':'code','agents':['bob','cid'],'parallel':true,"
             "'outputs':['ok'],'fails_when':'=not(ok)','triggers_retry':'code','approval':true}]}");

    for (int i = 0; i < 2; i++) {
        CHECK(TURN(&p, "code", 1, TURN_RECORDED, "{}"));
        CHECK(check(&p, "code", PROOF_GOOD));
        CHECK(TURN(&p, "review", 1, TURN_RECORDED, "{'ok':true}"));
        CHECK(TURN(&p, "review", 2, TURN_RECORDED, "{'ok':false}"));
        traced(&p);
        CHECK(TURN(&p, "review", 3, TURN_RECORDED, i ? "{'ok':true}" : "{'ok':false}"));
        if (i)
            TRACED(&p, "review recorded 2, review completed 2, review asked 2");
        else
            TRACED(
                &p,
                "review recorded 1, review failed 1, review cancelled 1, code reopened 2, code entered 2, "
                "code started 2");
    }
    CHECK(decide(&p, "review", DECISION_APPROVE, ""));
    CHECK_STR(STATUS(&p), "COMPLETED");
}
