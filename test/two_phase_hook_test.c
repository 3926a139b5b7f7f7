/* two_phase_hook_test.c: agents that say that they stop, and sessions that only people start. */
#include "phases.h"

/* ---- hooks ---- */

static const struct json *stop(struct team *t, const char *name)
{
    as_session(t, name);
    struct command *c =
        call(t, "session.event", "{'session_id':'%s','event_type':'session_stop'}", name);
    as_operator(t);
    return answer_of(c);
}

static bool blocked(struct team *t, const char *name)
{
    const struct json *answer = stop(t, name);
    bool block = str_eq(json_str(answer, "decision"), STR("block"));

    CHECK(block == (json_str(answer, "reason").len > 0));
    return block;
}

TEST(stop_hook_has_the_update_made_in_the_same_turn)
{
    struct team *t = team_with_child(PLAIN);

    begin(t, "child", "work");
    CHECK(blocked(t, "child"));
    is(t, "child", "running pending 1 1");
    wrote(t, "child");
    CHECK(!blocked(t, "child"));
    is(t, "child", "running completed 1 1");
    done(t);
    is(t, "child", "finished completed 1 1!");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

TEST(stop_hook_and_turns_share_one_count)
{
    struct team *t = team_with_child(PLAIN);

    begin(t, "child", "work");
    CHECK(blocked(t, "child"));
    done(t);
    is(t, "child", "idle pending 2 1");
    next_attempt(t);
    begin(t, "child", "state_update");
    CHECK(blocked(t, "child"));
    is(t, "child", "running pending 3 1");
    CHECK(!blocked(t, "child"));
    is(t, "child", "running failed 3 1");
    done(t);
    is(t, "child", "failed failed 3 1!");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

TEST(stop_hook_lets_those_stop_who_owe_nothing_yet)
{
    struct team *t = team_with(PLAIN);

    CHECK(!blocked(t, "root"));
    start(t, "root", "child");
    begin(t, "child", "work");
    start(t, "child", "grandchild");
    CHECK(!blocked(t, "child")); /* it waits for its own */
    is(t, "child", "running - 0 1");
    done(t);
    begin(t, "grandchild", "work");
    wrote(t, "grandchild");
    CHECK(!blocked(t, "grandchild"));
    is(t, "grandchild", "running skipped 0 1");
    done(t);
    is(t, "grandchild", "finished skipped 0 1!");
    team_free(t);
}

/* ---- attended sessions: nobody here starts or resumes them ---- */

static void attend(struct team *t, const char *parent, const char *name)
{
    CHECK_OK(
        call(t, "session.create", "{'session_name':'%s','parent_session_name':'%s'}", name, parent)
            ->error);
    CHECK_OK(
        call(t, "session.event", "{'session_id':'%s','event_type':'session_start'}", name)->error);
    is(t, name, "running - 0 1");
}

TEST(attended_child_pays_by_its_stop_hook)
{
    struct team *t = team_with(PLAIN);

    attend(t, "root", "child");
    done(t);
    is(t, "root", "idle - 0 1");
    CHECK(blocked(t, "child"));
    is(t, "child", "running pending 1 1");
    wrote(t, "child");
    CHECK(!blocked(t, "child"));
    is(t, "child", "finished completed 1 1!");
    turn(t, "root", "callback");
    heard(t, "root", 0, 0, 1);
    after_ms(t, 10 * t->rules.update_timeout_ms); /* its time was up long after it had settled */
    is(t, "child", "finished completed 1 1!");
    team_free(t);
}

/* Whoever runs it, a parent waits for its record; nobody waits for a root's. */
TEST(attended_root_with_a_state_owes_nothing_at_its_stop)
{
    struct team *t = team_bare();

    CHECK_OK(call(t, "schema.create", "{'name':'s','json_schema':" PLAIN "}")->error);
    CHECK_OK(call(t, "session.create", "{'session_name':'person'}")->error);
    t->state = json_str(answer_of(call(t, "state.create",
                                       "{'schema_name':'s','initial_data':{},"
                                       "'root_session':'person'}")),
                        "state_id");
    CHECK_OK(call(t, "session.event", "{'session_id':'person','event_type':'message'}")->error);
    CHECK(!blocked(t, "person"));
    is(t, "person", "finished - 0 1!");
    team_free(t);
}

TEST(attended_child_that_ignores_all_prompts_fails)
{
    struct team *t = team_with(PLAIN);

    attend(t, "root", "child");
    done(t);
    for (int attempt = 1; attempt <= 3; attempt++)
        CHECK(blocked(t, "child"));
    CHECK(!blocked(t, "child"));
    is(t, "child", "failed failed 3 1!");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

TEST(attended_child_that_falls_silent_does_not_stay_pending)
{
    struct team *t = team_with(PLAIN);

    attend(t, "root", "child");
    done(t);
    CHECK(blocked(t, "child"));
    for (int attempt = 2; attempt <= 3; attempt++) {
        after_ms(t, t->rules.update_timeout_ms);
        CHECK_INT(row_int(row_of(t, "SELECT update_attempts FROM session WHERE name = $1", "child"),
                          0),
                  attempt);
    }
    after_ms(t, t->rules.update_timeout_ms);
    is(t, "child", "failed failed 3 1!");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

TEST(attended_child_that_wrote_and_fell_silent_has_finished)
{
    struct team *t = team_with(PLAIN);

    attend(t, "root", "child");
    done(t);
    CHECK(blocked(t, "child"));
    wrote(t, "child");
    after_ms(t, t->rules.update_timeout_ms);
    is(t, "child", "finished completed 1 1!");
    heard(t, "root", 0, 1, 0);
    team_free(t);
}

/* It was asked before a runner took it over: from then on its run decides, not the time. */
TEST(adopted_child_is_not_settled_by_time_while_its_run_lives)
{
    static const struct {
        bool writes;
        const char *then, *end;
    } cases[] = {
        { true, "running completed 0 1", "finished completed 0 1!" },
        { false, "running pending 0 1", "idle pending 1 1" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct team *t = team_with(PLAIN);
        t->rules.lease_ms = 3600 * 1000;
        CHECK_OK(call(t, "session.create", "{'session_name':'child','parent_session_name':'root'}")
                     ->error);
        CHECK(blocked(t, "child"));
        is(t, "child", "pending pending 1 1");
        done(t);
        start(t, "root", "child");
        begin(t, "child", "work");
        if (cases[i].writes)
            wrote(t, "child");
        for (int attempt = 1; attempt <= 4; attempt++)
            after_ms(t, t->rules.update_timeout_ms);
        is(t, "child", cases[i].then);
        heard(t, "root", 0, 0, 0);
        done(t);
        is(t, "child", cases[i].end);
        team_free(t);
    }
}

/* A person's session is not resumed behind their back. */
TEST(attended_parent_gets_its_callbacks_with_its_next_event)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    attend(t, "root", "lead");
    done(t);
    start(t, "lead", "a");
    start(t, "lead", "b");
    CHECK(!blocked(t, "lead"));
    is(t, "lead", "idle - 0 1");
    turn(t, "a", "work");
    turn(t, "b", "work");
    heard(t, "lead", 2, 0, 0);
    claim_none(t);
    as_session(t, "lead");
    const struct json *answer =
        answer_of(call(t, "session.event", "{'session_id':'lead','event_type':'message'}"));
    CHECK_INT(json_int_or(answer, "callbacks", 0), 2);
    CHECK_HAS(json_str(answer, "additional_context"), "Session: `a`");
    CHECK_HAS(json_str(answer, "additional_context"), "Session: `b`");
    heard(t, "lead", 0, 0, 2);
    CHECK_INT(json_int_or(answer_of(call(t, "session.event",
                                         "{'session_id':'lead','event_type':'message'}")),
                          "callbacks", -1),
              0);
    team_free(t);
}

/* Nobody reads what is answered to an end: what waits is heard when its client is back. */
TEST(a_client_that_ends_is_given_no_callbacks)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    attend(t, "root", "lead");
    done(t);
    start(t, "lead", "a");
    turn(t, "a", "work");
    heard(t, "lead", 1, 0, 0);
    as_operator(t);
    const struct json *answer =
        answer_of(call(t, "session.event", "{'session_id':'lead','event_type':'session_end'}"));
    CHECK_INT(json_int_or(answer, "callbacks", -1), 0);
    CHECK(!json_get(answer, "decision") && !json_get(answer, "additional_context"));
    heard(t, "lead", 1, 0, 0);
    is(t, "lead", "failed failed 0 1!");
    as_session(t, "lead");
    answer = answer_of(call(t, "session.event", "{'session_id':'lead','event_type':'message'}"));
    CHECK_INT(json_int_or(answer, "callbacks", 0), 1);
    heard(t, "lead", 0, 0, 1);
    team_free(t);
}

TEST(callbacks_to_a_deleted_parent_are_dropped)
{
    struct team *t = team_with(WITH("'max_retries':0"));

    attend(t, "root", "lead");
    start(t, "lead", "a");
    turn(t, "a", "work");
    as_operator(t);
    CHECK_OK(call(t, "session.stop", "{'session_id':'lead'}")->error);
    after_ms(t, 1);
    CHECK_OK(call(t, "session.delete", "{'session_id':'lead'}")->error);
    CHECK_INT(row_int(row_of(t,
                             "SELECT count(*) FROM callback WHERE child_name = $1"
                             " AND status = 'waiting'",
                             "a"),
                      0),
              0);
    after_ms(t, 3600 * 1000);
    team_free(t);
}
