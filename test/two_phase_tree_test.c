/* two_phase_tree_test.c: parents and children: who waits, who is called back, who stops. */
#include <stdio.h>

#include "phases.h"

/* ---- stopping ---- */

/* The operator asks for more. */
static void ask_again(struct team *t, const char *name)
{
    CHECK_OK(call(t, "run.create", "{'type':'resume_session','session_name':'%s','prompt':'again'}",
                  name)
                 ->error);
}

TEST(stop_of_a_root_stops_the_tree)
{
    struct team *t = team_with(PLAIN);
    char name[20];

    t->rules.tree_max = t->rules.profile_max = 1000;
    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "c%d", i);
        start(t, "root", name);
    }
    done(t);
    CHECK_OK(call(t, "session.stop", "{'session_id':'root'}")->error);
    is(t, "root", "stopped - 0 1!");
    after_ms(t, 1);
    is(t, "c0", "stopped failed 0 1!");
    is(t, "c149", "stopped failed 0 1!");
    heard(t, "root", 150, 0, 0);
    claim_none(t); /* a stopped parent is not started by its children */
    ask_again(t, "root");
    turn(t, "root", "work");
    heard(t, "root", 100, 50, 0); /* fifty in a turn */
    turn(t, "root", "callback");
    turn(t, "root", "callback");
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 150);
    is(t, "root", "finished - 0 2!");
    team_free(t);
}

/* A root that was stopped while its child worked, and the child has stopped as well. */
static struct team *team_stopped(void)
{
    struct team *t = team_with_child(WITH("'max_retries':0"));

    begin(t, "child", "work");
    CHECK_OK(call(t, "session.stop", "{'session_id':'root'}")->error);
    after_ms(t, 1); /* the child is asked, and will be looked after for a while */
    CHECK_OK(report(t, "runner.stopped", "")->error);
    is(t, "root", "stopped - 0 1!");
    is(t, "child", "stopped failed 0 1!");
    return t;
}

/* What was still due for those below belongs to the cycle that was stopped. */
TEST(tree_that_is_resumed_is_not_stopped_by_what_was_due_before)
{
    struct team *t = team_stopped();

    ask_again(t, "root");
    begin(t, "root", "work");
    resume(t, "root", "child");
    done(t);
    begin(t, "child", "work");
    wrote(t, "child");
    CHECK_INT(row_int(row_of(t, "SELECT count(*) FROM due WHERE kind = $1", "session_stop"), 0), 1);
    after_ms(t, t->rules.stop_ms);
    is(t, "child", "running - 0 2");
    done(t);
    is(t, "child", "finished skipped 0 2!");
    turn(t, "root", "callback"); /* of the child that was stopped */
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 2);
    is(t, "root", "finished - 0 2!");
    team_free(t);
}

/* Also when it is not the root that goes on, and however soon. */
TEST(child_that_is_resumed_below_a_stopped_parent_runs_to_its_end)
{
    for (int soon = 0; soon < 2; soon++) {
        struct team *t = team_stopped();
        if (!soon)
            after_ms(t, t->rules.stop_ms); /* nobody is left who could start another one */
        ask_again(t, "child");
        begin(t, "child", "work");
        wrote(t, "child");
        after_ms(t, t->rules.stop_ms);
        is(t, "child", "running - 0 2");
        done(t);
        is(t, "child", "finished skipped 0 2!");
        team_free(t);
    }
}

/* But what an agent starts while it is asked to stop does not stay. */
TEST(child_that_a_stopping_agent_starts_is_stopped_as_well)
{
    struct team *t = team_with_child(WITH("'max_retries':0"));

    begin(t, "child", "work");
    CHECK_OK(call(t, "session.stop", "{'session_id':'root'}")->error);
    after_ms(t, 1);
    start(t, "child", "late");
    CHECK_OK(report(t, "runner.stopped", "")->error);
    after_ms(t, t->rules.stop_ms);
    is(t, "late", "stopped failed 0 1!");
    claim_none(t);
    team_free(t);
}

/* ---- parents ---- */

TEST(busy_parent_gets_all_that_waited_in_one_turn)
{
    struct team *t = team_with(PLAIN);
    struct team root;

    t->rules.update_attempts = 0;
    root = *t; /* the run of the root, which goes on meanwhile */
    start(t, "root", "a");
    start(t, "root", "b");
    turn(t, "a", "work");
    turn(t, "b", "work");
    heard(t, "root", 2, 0, 0);
    claim_none(t);
    hold_again(t, &root);
    done(t);
    heard(t, "root", 0, 2, 0);
    begin(t, "root", "callback");
    heard(t, "root", 0, 0, 2);
    str metadata = row_str(row_by(t, "SELECT metadata FROM run WHERE run_id = $1", t->run), 0);
    CHECK_STR(metadata, "{\"callback_source\":\"a\",\"callback_sources\":[\"a\",\"b\"],"
                        "\"workflow_state_version\":1,\"state_update_status\":\"failed\"}");
    done(t);
    claim_none(t);
    is(t, "root", "finished - 0 1!");
    team_free(t);
}

TEST(middle_of_a_tree_records_its_result_after_its_children)
{
    struct team *t = team_with_child(WITH("'policy':'always'"));

    begin(t, "child", "work");
    wrote(t, "child"); /* before its own child is done: its schema wants to hear it again */
    start(t, "child", "grandchild");
    done(t);
    is(t, "child", "idle - 0 1");
    turn(t, "grandchild", "work");
    turn_and_write(t, "grandchild", "state_update");
    is(t, "grandchild", "finished completed 1 1!");
    heard(t, "child", 0, 1, 0);
    heard(t, "root", 0, 0, 0);
    turn(t, "child", "callback");
    is(t, "child", "idle pending 1 1");
    heard(t, "root", 0, 0, 0);
    turn_and_write(t, "child", "state_update");
    is(t, "child", "finished completed 1 1!");
    turn(t, "root", "callback");
    is(t, "root", "finished - 0 1!");
    heard(t, "child", 0, 0, 1);
    heard(t, "root", 0, 0, 1);
    team_free(t);
}

TEST(one_write_in_a_cycle_is_its_record_whichever_turn_made_it)
{
    static const char *const turns[] = { "work", "callback" };

    for (int writes = 0; writes < 3; writes++) { /* in that turn; the last time in none */
        struct team *t = team_with_child(PLAIN);
        begin(t, "child", turns[0]);
        if (writes == 0)
            wrote(t, "child");
        start(t, "child", "grandchild");
        done(t);
        turn_and_write(t, "grandchild", "work");
        is(t, "grandchild", "finished skipped 0 1!");
        begin(t, "child", turns[1]);
        if (writes == 1)
            wrote(t, "child");
        done(t);
        is(t, "child", writes < 2 ? "finished skipped 0 1!" : "idle pending 1 1");
        team_free(t);
    }
}

/* Its agent begins again with another runner; what it has recorded stays recorded. */
TEST(record_of_a_turn_whose_runner_was_lost_counts)
{
    struct team *t = team_with_child(PLAIN);

    begin(t, "child", "work");
    wrote(t, "child");
    after_ms(t, t->rules.lease_ms + 1);
    turn(t, "child", "work");
    is(t, "child", "finished skipped 0 1!");
    team_free(t);
}

TEST(record_of_one_request_does_not_answer_the_next)
{
    struct team *t = team_with_child(PLAIN);

    begin(t, "child", "work");
    wrote(t, "child");
    resume(t, "root", "child"); /* before it has settled, so in the same cycle */
    done(t);
    turn(t, "child", "work");
    is(t, "child", "idle pending 1 1");
    turn_and_write(t, "child", "state_update");
    turn(t, "root", "callback");
    resume(t, "root", "child");
    turn(t, "child", "work");
    is(t, "child", "idle pending 1 2");
    team_free(t);
}

TEST(resumed_child_begins_a_new_cycle)
{
    struct team *t = team_with_child(PLAIN);

    turn(t, "child", "work");
    turn_and_write(t, "child", "state_update");
    begin(t, "root", "callback");
    resume(t, "root", "child");
    done(t);
    is(t, "root", "idle - 0 1");
    is(t, "child", "finished - 0 2");
    turn(t, "child", "work");
    is(t, "child", "idle pending 1 2");
    turn_and_write(t, "child", "state_update");
    is(t, "child", "finished completed 1 2!");
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 2);
    is(t, "root", "finished - 0 1!");
    team_free(t);
}

TEST(turn_asked_for_in_an_open_cycle_comes_before_its_end)
{
    struct team *t = team_with(PLAIN);
    struct team root = *t;

    start(t, "root", "child");
    begin(t, "child", "work");
    resume(t, "root", "child");
    done(t);
    is(t, "child", "running - 0 1");
    turn(t, "child", "work");
    is(t, "child", "idle pending 1 1");
    turn_and_write(t, "child", "state_update");
    is(t, "child", "finished completed 1 1!");
    heard(t, "root", 1, 0, 0);
    hold_again(t, &root);
    done(t);
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    team_free(t);
}

TEST(only_the_callback_mode_calls_back)
{
    static const char *const modes[] = { "async_poll", "sync" };

    for (size_t i = 0; i < 2; i++) {
        struct team *t = team_with(PLAIN);
        struct team root = *t;
        start_as(t, "root", "child", modes[i]);
        turn(t, "child", "work");
        turn_and_write(t, "child", "state_update"); /* its update is owed all the same */
        is(t, "child", "finished completed 1 1!");
        heard(t, "root", 0, 0, 0);
        hold_again(t, &root);
        done(t);
        is(t, "root", "finished - 0 1!");
        claim_none(t);
        team_free(t);
    }
}

TEST(parent_does_not_wait_for_a_child_that_it_polls)
{
    struct team *t = team_with(PLAIN);

    start_as(t, "root", "child", "async_poll");
    done(t);
    is(t, "root", "finished - 0 1!");
    turn(t, "child", "work");
    team_free(t);
}

TEST(tree_without_a_state_has_one_phase)
{
    struct team *t = team_bare();

    CHECK_OK(call(t, "run.create", "{'type':'start_session','session_name':'root','prompt':'lead'}")
                 ->error);
    begin(t, "root", "work");
    start(t, "root", "child");
    done(t);
    turn(t, "child", "work");
    is(t, "child", "finished - 0 1!");
    begin(t, "root", "callback");
    text_is(t->prompt, "callback_without_state");
    done(t);
    is(t, "root", "finished - 0 1!");
    team_free(t);
}

/* It cannot be given its callbacks, and does not wait for what it cannot be given. */
TEST(parent_that_no_client_can_resume_settles_after_its_children)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    start(t, "root", "child");
    CHECK_OK(report(t, "runner.completed", "")->error);
    is(t, "root", "idle - 0 1");
    turn(t, "child", "work");
    is(t, "root", "finished - 0 1!");
    heard(t, "root", 1, 0, 0);
    claim_none(t);
    team_free(t);
}

TEST(callback_whose_turn_never_begins_is_tried_again)
{
    struct team *t = team_with_child(WITH("'max_retries':0"));

    turn(t, "child", "work");
    heard(t, "root", 0, 1, 0);
    CHECK_OK(call(t, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner))->error);
    after_ms(t, t->rules.match_ms);
    heard(t, "root", 1, 0, 0);
    is(t, "root", "idle - 0 1");
    runner_comes(t);
    after_ms(t, t->rules.match_ms);
    heard(t, "root", 0, 1, 0);
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    is(t, "root", "finished - 0 1!");
    team_free(t);
}

/* What it carried has arrived with the turn that was lost: nothing is there to be told again, and the
 * cycle ends as it does after any turn of work. */
TEST(callback_whose_turn_began_and_is_lost_before_it_begins_again_settles_its_parent)
{
    static const char *const ends[] = { "runner.timed_out", "runner.failed", "runner.stopped" };
    static const char *const settled[] = { "failed - 0 1!", "failed - 0 1!", "stopped - 0 1!" };

    for (int i = 0; i < 3; i++) {
        struct team *t = team_with_child(WITH("'max_retries':0"));

        turn(t, "child", "work");
        begin(t, "root", "callback");
        heard(t, "root", 0, 0, 1);
        after_ms(t, t->rules.lease_ms);
        claim(t, "root", "callback");
        is(t, "root", "running - 0 1");
        CHECK_OK(report(t, ends[i], ",'client_id':'c-1'")->error);
        is(t, "root", settled[i]);
        heard(t, "root", 0, 0, 1);
        claim_none(t);
        team_free(t);
    }
}

/* The same when no runner is left that could have its conversation. */
TEST(callback_whose_turn_began_and_that_nobody_takes_again_settles_its_parent)
{
    struct team *t = team_with_child(WITH("'max_retries':0"));

    turn(t, "child", "work");
    begin(t, "root", "callback");
    CHECK_OK(call(t, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner))->error);
    after_ms(t, t->rules.lease_ms);
    after_ms(t, t->rules.match_ms);
    is(t, "root", "failed - 0 1!");
    heard(t, "root", 0, 0, 1);
    team_free(t);
}

/* A parent that fails hears of its children later, in a cycle of its own. */
TEST(failed_parent_is_resumed_by_its_children)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    start(t, "root", "child");
    failed(t);
    is(t, "root", "failed - 0 1!");
    turn(t, "child", "work");
    is(t, "root", "failed - 0 2");
    turn(t, "root", "callback");
    is(t, "root", "finished - 0 2!");
    heard(t, "root", 0, 0, 1);
    team_free(t);
}

TEST(callback_that_came_while_its_parent_failed_is_not_lost)
{
    struct team *t = team_with(WITH("'max_retries':0"));
    struct team root = *t;

    start(t, "root", "child");
    turn(t, "child", "work");
    heard(t, "root", 1, 0, 0);
    hold_again(t, &root);
    failed(t);
    is(t, "root", "failed - 0 2");
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    is(t, "root", "finished - 0 2!");
    team_free(t);
}

/* ---- children that are started a second time ---- */

/* A child that somebody has made by hand, and that nobody has started yet. */
static void make(struct team *t, const char *parent, const char *name, const char *callback)
{
    CHECK_OK(call(t, "session.create",
                  "{'session_name':'%s','parent_session_name':'%s','callback':%s}", name, parent,
                  callback)
                 ->error);
}

/* Whoever starts it to poll it takes nothing from a parent that waits for it. */
TEST(parent_that_waits_hears_of_a_child_that_is_started_to_be_polled)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    make(t, "root", "child", "true");
    done(t);
    is(t, "root", "idle - 0 1");
    CHECK_OK(call(t, "run.create",
                  "{'type':'start_session','session_name':'child','prompt':'go',"
                  "'execution_mode':'async_poll'}")
                 ->error);
    turn(t, "child", "work");
    heard(t, "root", 0, 1, 0);
    turn(t, "root", "callback");
    is(t, "root", "finished - 0 1!");
    team_free(t);
}

TEST(child_made_without_a_callback_calls_back_when_its_start_asks_for_it)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    make(t, "root", "child", "false");
    start(t, "root", "child");
    done(t);
    is(t, "root", "idle - 0 1");
    turn(t, "child", "work");
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    is(t, "root", "finished - 0 1!");
    team_free(t);
}

/* It was awaited once, and settled before its first turn: its next start is another promise. */
TEST(parent_does_not_wait_for_a_child_that_it_starts_again_to_poll)
{
    struct team *t = team_with_child(WITH("'max_retries':0"));

    CHECK_OK(call(t, "session.stop", "{'session_id':'child'}")->error);
    is(t, "child", "stopped failed 0 1!");
    begin(t, "root", "callback");
    start_as(t, "root", "child", "async_poll");
    done(t);
    is(t, "root", "finished - 0 1!");
    turn(t, "child", "work");
    heard(t, "root", 0, 0, 1);
    claim_none(t);
    team_free(t);
}
