/* two_phase_test.c: how cycles of sessions end: work, then the update that it owes. */
#include "phases.h"

/* ---- one child ---- */

TEST(parent_hears_of_a_child_after_its_update)
{
    struct team *t = team_with_child(PLAIN);

    turn(t, "child", "work");
    is(t, "child", "idle pending 1 1");
    heard(t, "root", 0, 0, 0);
    begin(t, "child", "state_update");
    is(t, "child", "running pending 1 1");
    wrote(t, "child");
    is(t, "child", "running completed 1 1");
    heard(t, "root", 0, 0, 0);
    done(t);
    is(t, "child", "finished completed 1 1!");
    heard(t, "root", 0, 1, 0);
    is(t, "root", "idle - 0 1");
    begin(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    is(t, "root", "running - 0 1");
    done(t);
    is(t, "root", "finished - 0 1!");
    claim_none(t);
    team_free(t);
}

/* How many prompts a child ignores before it writes; 0 in `writes`: never. */
TEST(child_that_ignores_prompts_is_asked_again_until_the_last)
{
    static const struct {
        int writes;
        const char *end;
    } cases[] = {
        { 1, "finished completed 1 1!" },
        { 2, "finished completed 2 1!" },
        { 3, "finished completed 3 1!" },
        { 0, "failed failed 3 1!" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct team *t = team_with_child(PLAIN);
        turn(t, "child", "work");
        for (int attempt = 1; attempt <= (cases[i].writes ? cases[i].writes : 3); attempt++) {
            begin(t, "child", "state_update");
            if (attempt == cases[i].writes)
                wrote(t, "child");
            done(t);
            if (attempt < cases[i].writes) {
                claim_none(t);
                heard(t, "root", 0, 0, 0);
            }
            next_attempt(t);
        }
        is(t, "child", cases[i].end);
        turn(t, "root", "callback");
        heard(t, "root", 0, 0, 1);
        is(t, "root", "finished - 0 1!");
        if (!cases[i].writes)
            CHECK_STR(error_of(t, "child"), "it did not record its result after 3 prompts");
        team_free(t);
    }
}

/* However the turn for the update ends, it was an attempt. */
TEST(update_turn_that_ends_badly_counts_as_an_attempt)
{
    static const char *const ends[] = { "runner.failed", "runner.timed_out" };

    for (size_t i = 0; i < 2; i++) {
        struct team *t = team_with_child(PLAIN);
        turn(t, "child", "work");
        for (int attempt = 1; attempt <= 3; attempt++) {
            begin(t, "child", "state_update");
            CHECK_OK(report(t, ends[i], "")->error);
            next_attempt(t);
        }
        is(t, "child", "failed failed 3 1!");
        heard(t, "root", 0, 1, 0);
        team_free(t);
    }
}

TEST(update_turn_that_hangs_is_ended_by_the_server)
{
    struct team *t = team_with_child(PLAIN);

    turn(t, "child", "work");
    t->rules.lease_ms = 3600 * 1000;
    for (int attempt = 1; attempt <= 3; attempt++) {
        begin(t, "child", "state_update");
        after_ms(t, t->rules.update_timeout_ms + t->rules.run_grace_ms);
        next_attempt(t);
    }
    is(t, "child", "failed failed 3 1!");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

/* An update that was made before the turn for it failed is an update. */
TEST(update_counts_though_its_turn_fails_afterwards)
{
    struct team *t = team_with_child(PLAIN);

    turn(t, "child", "work");
    begin(t, "child", "state_update");
    wrote(t, "child");
    failed(t);
    is(t, "child", "finished completed 1 1!");
    team_free(t);
}

TEST(refused_write_does_not_pay)
{
    struct team *t = team_with_child("{'type':'object','properties':{'child':{'type':'integer'}}}");

    turn(t, "child", "work");
    begin(t, "child", "state_update");
    CHECK_ERR(write_by(t, "child")->error, ERR_UNFIT);
    is(t, "child", "running pending 1 1");
    done(t);
    is(t, "child", "idle pending 2 1");
    team_free(t);
}

/* Writing what is there already says nothing; unless it is said on purpose. */
TEST(write_that_changes_nothing_does_not_pay_unless_it_touches)
{
    static const struct {
        const char *op, *members;
        bool pays;
    } cases[] = {
        { "state.patch", "'operations':[]", false },
        { "state.patch", "'operations':[{'op':'test','path':'','value':{'plan':'two'}}]", false },
        { "state.patch", "'merge':{}", false },
        { "state.update", "'data':{'plan':'two'}", false },
        { "state.patch", "'operations':[],'touch':true", true },
        { "state.update", "'data':{'plan':'two'},'touch':true", true },
    };

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        bool asked = i % 2, pays = cases[i / 2].pays;
        struct team *t = team_with_child(PLAIN);
        if (asked)
            turn(t, "child", "work");
        begin(t, "child", asked ? "state_update" : "work");
        as_session(t, "child");
        CHECK_OK(call(t, cases[i / 2].op, "{'state_id':'" STR_FMT "',%s}", STR_ARG(t->state),
                      cases[i / 2].members)
                     ->error);
        as_operator(t);
        done(t);
        is(t, "child",
           asked  ? pays ? "finished completed 1 1!" : "idle pending 2 1"
           : pays ? "finished skipped 0 1!"
                  : "idle pending 1 1");
        team_free(t);
    }
}

TEST(write_of_another_session_does_not_pay)
{
    struct team *t = team_with_child(PLAIN);

    turn(t, "child", "work");
    begin(t, "child", "state_update");
    wrote(t, "root");
    is(t, "child", "running pending 1 1");
    team_free(t);
}

/* ---- policies ---- */

TEST(child_that_has_written_is_not_asked_unless_its_schema_says_always)
{
    static const struct {
        const char *schema;
        bool writes;
        const char *end;
    } cases[] = {
        { PLAIN, true, "finished skipped 0 1!" },
        { PLAIN, false, "idle pending 1 1" },
        { WITH("'max_retries':3"), true, "finished skipped 0 1!" },
        { WITH("'policy':'always'"), true, "idle pending 1 1" },
        { WITH("'policy':'if_missing'"), true, "finished skipped 0 1!" },
        { WITH("'policy':'if_missing'"), false, "idle pending 1 1" },
        { WITH("'max_retries':0"), true, "finished skipped 0 1!" },
        { WITH("'max_retries':0"), false, "failed failed 0 1!" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct team *t = team_with_child(cases[i].schema);
        begin(t, "child", "work");
        if (cases[i].writes)
            wrote(t, "child");
        done(t);
        is(t, "child", cases[i].end);
        team_free(t);
    }
}

/* That report may be late, or lost: the server was away when the agent began. */
TEST(child_that_writes_before_its_beginning_is_heard_of_is_not_asked)
{
    for (int lost = 0; lost < 2; lost++) {
        struct team *t = team_with_child(PLAIN);
        claim(t, "child", "work");
        wrote(t, "child");
        if (!lost)
            CHECK_OK(report(t, "runner.started", "")->error);
        done(t);
        is(t, "child", "finished skipped 0 1!");
        team_free(t);
    }
}

TEST(schema_decides_attempts_timeout_and_delay)
{
    struct team *t = team_with_child(WITH("'max_retries':2,'timeout':7,'retry_delay':60"));

    turn(t, "child", "work");
    begin(t, "child", "state_update");
    CHECK_INT(row_int(row_by(t, "SELECT max_ms FROM run WHERE run_id = $1", t->run), 0), 7000);
    done(t);
    after_ms(t, 59 * 1000);
    claim_none(t);
    after_ms(t, 1000);
    turn(t, "child", "state_update");
    is(t, "child", "failed failed 2 1!");
    team_free(t);
}

/* ---- work that does not end well ---- */

TEST(failed_child_is_asked_once_to_record_that)
{
    static const struct {
        bool wrote, writes; /* before it failed; and when it is asked */
        const char *end;
    } cases[] = { { false, true, "failed completed 3 1!" },
                  { false, false, "failed failed 3 1!" },
                  { true, true, "failed completed 3 1!" } };

    for (size_t i = 0; i < 3; i++) {
        struct team *t = team_with_child(PLAIN);
        begin(t, "child", "work");
        if (cases[i].wrote)
            wrote(t, "child");
        failed(t);
        is(t, "child", "idle pending 3 1");
        begin(t, "child", "state_update");
        CHECK_HAS(t->prompt, "it broke");
        if (cases[i].writes)
            wrote(t, "child");
        done(t);
        is(t, "child", cases[i].end);
        CHECK_STR(error_of(t, "child"), "it broke");
        heard(t, "root", 0, 1, 0);
        team_free(t);
    }
}

TEST(failed_child_settles_at_once_where_it_cannot_or_need_not_be_asked)
{
    static const struct {
        const char *schema, *facts;
    } cases[] = {
        { WITH("'on_failure':'skip'"), ",'error':'it broke','client_id':'c-1'" },
        { PLAIN, ",'error':'it broke'" }, /* its client never told how to resume it */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct team *t = team_with_child(cases[i].schema);
        begin(t, "child", "work");
        CHECK_OK(report(t, "runner.failed", cases[i].facts)->error);
        is(t, "child", "failed failed 0 1!");
        begin(t, "root", "callback");
        CHECK_HAS(t->prompt, "it broke");
        team_free(t);
    }
}

TEST(child_that_no_client_can_resume_settles_after_its_work)
{
    for (int writes = 0; writes < 2; writes++) {
        struct team *t = team_with_child(PLAIN);
        begin(t, "child", "work");
        if (writes)
            wrote(t, "child");
        CHECK_OK(report(t, "runner.completed", "")->error);
        is(t, "child", writes ? "finished skipped 0 1!" : "failed failed 0 1!");
        heard(t, "root", 0, 1, 0);
        team_free(t);
    }
}

TEST(child_whose_runners_are_lost_settles_with_the_reason)
{
    struct team *t = team_with_child(PLAIN);

    for (int lost = 1; lost <= 3; lost++) {
        begin(t, "child", "work");
        after_ms(t, t->rules.lease_ms);
    }
    is(t, "child", "failed failed 0 1!");
    CHECK_HAS(error_of(t, "child"), "lost 3 runners");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

TEST(stopped_child_settles_and_calls_back)
{
    struct team *t = team_with_child(PLAIN);

    begin(t, "child", "work");
    CHECK_OK(call(t, "session.stop", "{'session_id':'child','reason':'enough'}")->error);
    is(t, "child", "running - 0 1");
    CHECK_OK(report(t, "runner.stopped", "")->error);
    is(t, "child", "stopped failed 0 1!");
    CHECK_STR(error_of(t, "child"), "enough");
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    team_free(t);
}

/* Which states of a child a stop can meet; each settles once. */
TEST(stop_settles_a_child_wherever_it_is)
{
    struct team *t = team_with_child(PLAIN);

    CHECK_OK(call(t, "session.stop", "{'session_id':'child'}")->error);
    is(t, "child", "stopped failed 0 1!"); /* before its first turn */
    heard(t, "root", 0, 1, 0);
    CHECK_OK(call(t, "session.stop", "{'session_id':'child'}")->error);
    heard(t, "root", 0, 1, 0); /* again: nothing */
    begin(t, "root", "callback");
    start(t, "root", "child"); /* it has had no turn yet */
    done(t);
    is(t, "root", "idle - 0 1");
    turn(t, "child", "work");
    is(t, "child", "idle pending 1 2");
    CHECK_OK(call(t, "session.stop", "{'session_id':'child'}")->error);
    is(t, "child", "stopped failed 1 2!"); /* while it owes its update */
    heard(t, "root", 0, 1, 1);
    team_free(t);
}

/* ---- what the log and a repeated request say ---- */

TEST(consequences_name_what_led_to_them)
{
    struct team *t = team_with_child(WITH("'max_retries':0"));
    static const char text[] = "SELECT c.type, e.actor FROM log e JOIN log c ON c.seq = e.cause"
                               " WHERE e.type = $1 ORDER BY e.seq DESC LIMIT 1";

    turn(t, "child", "work");
    const struct row *settled = row_of(t, text, "session_settled");
    CHECK_STR(row_str(settled, 0), "run_finished");
    CHECK_STR(row_str(settled, 1), "system");
    CHECK_STR(row_str(row_of(t, text, "run_enqueued"), 0), "session_settled");
    team_free(t);
}

TEST(repeated_request_is_answered_by_the_same_read)
{
    struct team *t = team_bare();
    static const char input[] = "{'type':'start_session','session_name':'root','prompt':'lead',"
                                "'execution_mode':'sync'}";

    for (int i = 0; i < 2; i++) {
        struct command *c = world_call(t->w, "run.create", input, "once");
        CHECK_OK(c->error);
        CHECK(c->repeated == (i == 1));
        CHECK(c->answer.then && strcmp(c->answer.then, "session.result") == 0);
        CHECK(json_bool_or(&c->answer.then_input, "wait", false));
    }
    CHECK_INT(row_int(row_of(t, "SELECT count(*) FROM run WHERE session_name = $1", "root"), 0), 1);
    team_free(t);
}
