/* share_test.c: steps that agents do: begun, recorded, asked for, tried again, stopped. */
#include "share_help.h"
#include "sim/both.h"

#define FIX                                                                          \
    "{'workflow':'fix','steps':["                                                    \
    "{'id':'plan','agent':'planner','prompt':'Plan {{issue}}.','outputs':['plan']}," \
    "{'id':'code','title':'Write it','description':'As planned.','after':['plan'],"  \
    "'agent':'coder','outputs':['files'],'timeout':'3s',"                            \
    "'retry':{'max_attempts':3,'backoff':'1s'}}],'result':'=files'}"

/* A world with that, its agents and a runner. */
static struct world *world_with_fix(struct fake_runner *m)
{
    struct world *w = world_new();

    *m = fake_runner_new(w, "r", ",'capacity':100");
    agent(w, "planner");
    agent(w, "coder");
    deploy(w, FIX);
    return w;
}

#define ISSUE "'input':{'issue':'a leak'},'project_dir':'/src'"

TEST_BOTH(an_agent_is_started_for_a_step_and_its_record_is_the_result)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);

    CHECK_HAS(seen(w, id, "/steps/0/waits_for"), "session exec-");
    struct turn t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "Plan a leak.");
    CHECK_HAS(t.prompt, "update_workflow_state");
    CHECK_HAS(t.prompt, "\"artifacts\": {\"plan\": …}");
    CHECK_HAS(t.prompt, arena_copy(check_arena(), id).at);
    CHECK_STR(session_is(w, t.session, "/project_dir"), "/src");
    CHECK_STR(session_is(w, t.session, "/agent_name"), "planner");
    CHECK_STR(session_is(w, t.session, "/attended"), "false");
    CHECK_OK(records(w, &t, id, "plan", ",'outputs':{'plan':['one',2]}")->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress"); /* until its agent has stopped */
    CHECK_OK(records(w, &t, id, "plan", ",'outputs':{'plan':['two']}")->error);
    ends(w, &t);
    CHECK_STR(session_is(w, t.session, "/status"), "finished");
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    CHECK_STR(seen(w, id, "/variables/plan"), "[\"two\"]");
    CHECK_STR(kept(w, id, "/steps/0/sessions/0/agent"), "planner");
    CHECK_STR(kept(w, id, "/steps/0/sessions/0/status"), "completed");

    t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "As planned.");
    CHECK_HAS(t.prompt, "```json\n{\"issue\":\"a leak\"}\n```");
    CHECK_HAS(t.prompt, "```json\n{\"plan\":[\"two\"]}\n```");
    CHECK(!str_contains(t.prompt, STR("Attempt")));
    works(w, &t, id, "code", "{'files':['a.c']}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    CHECK_STR(seen(w, id, "/result"), "[\"a.c\"]");
    world_end(w);
}

TEST_BOTH(who_stops_without_a_record_is_asked_and_then_the_attempt_has_failed)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    works(w, &t, id, "plan", "{'plan':1}");
    for (int attempt = 1; attempt <= 3; attempt++) {
        t = turn_of(w, &m, "task");
        if (attempt > 1) {
            CHECK_HAS(t.prompt,
                      attempt == 2 ? "### Attempt 2 of 3\n" : "### Attempt 3 of 3: the last one\n");
            CHECK_HAS(t.prompt, "it did not record its result after 3 prompts");
            CHECK(str_contains(t.prompt, STR("You MUST check")) == (attempt == 3));
        }
        ends(w, &t);
        for (int asked = 1; asked <= 3; asked++) {
            CHECK_STR(session_is(w, t.session, "/state_update_status"), "pending");
            struct turn again = turn_of(w, &m, "state_update");
            must_be(again.session, t.session);
            CHECK_HAS(again.prompt, "## Required: Record the Result of Your Step");
            CHECK(str_contains(again.prompt, STR("Do no other work")) == (asked == 3));
            ends(w, &again);
            pass_alive(w, &m, rules.update_delay_ms);
        }
        CHECK_STR(session_is(w, t.session, "/status"), "failed");
        CHECK_STR(session_is(w, t.session, "/state_update_status"), "failed");
        pass_alive(w, &m, 4000);
    }
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_STR(kept(w, id, "/steps/1/history/0/outcome"), "violations");
    CHECK_STR(kept(w, id, "/steps/1/history/2/attempt"), "3");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    world_end(w);
}

TEST_BOTH(who_is_asked_for_its_record_and_gives_it_has_done_the_step)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    ends(w, &t);
    t = turn_of(w, &m, "state_update");
    CHECK_HAS(records(w, &t, id, "plan", ",'outputs':{'plna':1}")->error->message,
              "outputs that are missing here: \"plan\"");
    CHECK_HAS(records(w, &t, id, "code", ",'outputs':{'files':1}")->error->message,
              "this session works for step plan of ");
    works(w, &t, id, "plan", "{'plan':1}");
    CHECK_STR(session_is(w, t.session, "/state_update_status"), "completed");
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    world_end(w);
}

TEST_BOTH(the_hook_of_a_stop_asks_for_the_record_in_the_same_turn)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    act_as(w, t.claim.token);
    struct command *c = call(w, "session.event",
                             "{'session_id':'" STR_FMT "','event_type':'session_stop'}",
                             STR_ARG(t.session));
    w->actor = the_operator;
    CHECK_STR(at(c, "/decision"), "block");
    CHECK_HAS(at(c, "/reason"), "update_workflow_state");
    works(w, &t, id, "plan", "{'plan':1}");
    CHECK_STR(session_is(w, t.session, "/status"), "finished");
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    world_end(w);
}

TEST_BOTH(an_agent_that_says_that_it_failed_is_told_so_the_next_time)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    works(w, &t, id, "plan", "{'plan':1}");
    t = turn_of(w, &m, "task");
    CHECK_OK(records(w, &t, id, "code", ",'failed':true,'error':'no compiler'")->error);
    ends(w, &t);
    CHECK_STR(kept(w, id, "/steps/1/history/0/error"), "no compiler");
    CHECK_STR(session_is(w, t.session, "/state_update_status"), "skipped");
    pass_alive(w, &m, 1000);
    t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "```text\nno compiler\n```");
    CHECK_HAS(t.session, "-a2");
    works(w, &t, id, "code", "{'files':[]}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    world_end(w);
}

TEST_BOTH(an_attempt_that_takes_too_long_is_stopped_from_when_its_agent_is_there)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    works(w, &t, id, "plan", "{'plan':1}");
    pass_alive(w, &m, 5000); /* it waits for a runner: that does not count */
    t = turn_of(w, &m, "task");
    pass_working(w, &t, 2900);
    CHECK_STR(kept(w, id, "/steps/1/attempt"), "1");
    pass_working(w, &t, 200);
    CHECK_STR(kept(w, id, "/steps/1/history/0/outcome"), "timeout");
    CHECK_STR(show(w, t.claim.run_id, "/status"), "stopping");
    CHECK_HAS(records(w, &t, id, "code", ",'outputs':{'files':1}")->error->message,
              "is not wanted any more: its attempt is over");
    CHECK_OK(report(w, &m, &t.claim, "stopped", "")->error);
    CHECK_STR(session_is(w, t.session, "/status"), "stopped");
    pass_alive(w, &m, 1000);
    CHECK_HAS(turn_of(w, &m, "task").prompt, "it took longer than its timeout");
    world_end(w);
}

TEST_BOTH(a_cancelled_execution_stops_its_agents_and_takes_no_late_record)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE), other = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "','reason':'not needed'}",
                  STR_ARG(id))
                 ->error);
    CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(other))->error);
    CHECK_STR(show(w, t.claim.run_id, "/status"), "stopping");
    err late = records(w, &t, id, "plan", ",'outputs':{'plan':1}")->error;
    CHECK(late->kind == ERR_CONFLICT);
    CHECK_HAS(late->message, "the execution has ended, CANCELLED: not needed. Stop");
    CHECK_OK(report(w, &m, &t.claim, "stopped", "")->error);
    CHECK(!turn_next(w, &m).claim.run_id.len); /* the other one had not begun */
    CHECK_STR(kept(w, id, "/steps/0/sessions/0/status"), "withdrawn");
    world_end(w);
}

TEST_BOTH(a_pause_leaves_agents_at_work_and_begins_nothing)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    CHECK_OK(call(w, "execution.pause", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    works(w, &t, id, "plan", "{'plan':1}");
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    CHECK_OK(call(w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    t = turn_of(w, &m, "task");
    works(w, &t, id, "code", "{'files':1}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    world_end(w);
}

TEST_BOTH(a_session_that_a_person_stops_is_an_attempt_that_has_failed)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    CHECK_OK(call(w, "session.stop", "{'session_id':'" STR_FMT "'}", STR_ARG(t.session))->error);
    CHECK_OK(report(w, &m, &t.claim, "stopped", "")->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_HAS(seen(w, id, "/reason"), " was stopped: ");
    CHECK_STR(kept(w, id, "/steps/0/history/0/outcome"), "failed");
    world_end(w);
}

/* What agents do is theirs to record, unless a person has done it. */
TEST_BOTH(others_do_not_record_what_agents_do_but_a_person_does)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    CHECK_OK(call(w, "session.create", "{'session_name':'boss'}")->error);
    str id = begin(w, "fix", ISSUE ",'parent_session_name':'boss'");
    struct turn t = turn_of(w, &m, "task");
    CHECK_STR(session_is(w, t.session, "/parent_session_name"), "boss");
    act_as(w, at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'boss'}}"),
                 "/token"));
    CHECK_HAS(call(w, "execution.report",
                   "{'execution_id':'" STR_FMT "','step':'plan','outputs':{'plan':1}}", STR_ARG(id))
                  ->error->message,
              "its result is theirs to record");
    w->actor = the_operator;
    CHECK_OK(call(w, "execution.report",
                  "{'execution_id':'" STR_FMT "','step':'plan','outputs':{'plan':1}}", STR_ARG(id))
                 ->error);
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    CHECK_STR(show(w, t.claim.run_id, "/status"), "stopping");
    world_end(w);
}

TEST_BOTH(a_runner_that_is_lost_costs_no_attempt_until_it_is_one_too_many)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    world_pass(w, LEASE_MS);
    struct turn again = turn_of(w, &m, "task");
    must_be(again.claim.run_id, t.claim.run_id);
    CHECK_STR(seen(w, id, "/steps/0/attempt"), "1");
    /* One whose runs take runner after runner with them: three sessions, and each of those so often. */
    for (int i = 0; i < 100 && str_eq(seen(w, id, "/status"), STR("RUNNING")); i++) {
        world_pass(w, LEASE_MS);
        turn_next(w, &m);
    }
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_STR(kept(w, id, "/steps/0/history/0/outcome"), "lost");
    CHECK_STR(kept(w, id, "/steps/0/history/3/outcome"), "lost");
    world_end(w);
}

TEST_BOTH(a_limit_of_a_rate_is_waited_for_and_counts_nothing)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str id = begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");

    CHECK_OK(report(w, &m, &t.claim, "failed", ",'error':'rate_limit: come back later'")->error);
    CHECK_STR(seen(w, id, "/steps/0/waits_for"), "room for 1 more session");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    pass_alive(w, &m, 59000);
    CHECK(!turn_next(w, &m).claim.run_id.len);
    pass_alive(w, &m, 1000);
    struct turn later = turn_of(w, &m, "task");
    CHECK(!str_eq(later.session, t.session));
    must_be(later.prompt, t.prompt);
    works(w, &later, id, "plan", "{'plan':1}");
    CHECK_STR(seen(w, id, "/steps/0/attempt"), "1");
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    world_end(w);
}

TEST_BOTH(an_agent_that_nobody_knows_makes_a_step_one_by_report)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    CHECK_OK(call(w, "agent.delete", "{'name':'coder'}")->error);
    struct command *c = call(w, "execution.start", "{'workflow':'fix'," ISSUE "}");
    CHECK_HAS(at(c, "/warnings/0"),
              "nobody knows an agent \"coder\": step code waits for a report");
    str id = at(c, "/execution_id");
    struct turn t = turn_of(w, &m, "task");
    works(w, &t, id, "plan", "{'plan':1}");
    CHECK_HAS(seen(w, id, "/steps/1/waits_for"), "step code to be reported");
    CHECK_OK(call(w, "execution.report",
                  "{'execution_id':'" STR_FMT "','step':'code','outputs':{'files':1}}", STR_ARG(id))
                 ->error);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    agent(w, "coder");
    CHECK(!json_get(answer_of(call(w, "execution.start", "{'workflow':'fix'," ISSUE "}")),
                    "warnings"));
    world_end(w);
}

/* ---- several agents ---- */

TEST_BOTH(agents_one_after_the_other_are_given_what_those_before_them_recorded)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    deploy(w, "{'workflow':'two','steps':[{'id':'s','agents':['planner','coder'],"
              "'outputs':['plan']}]}");
    str id = begin(w, "two", "");
    struct turn t = turn_of(w, &m, "task");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    CHECK_HAS(t.prompt, "You are agent 1 of 2 that do this step one after the other");
    CHECK_HAS(records(w, &t, id, "s", "")->error->message, "expected at least one artifact");
    works(w, &t, id, "s", "{'draft':'x'}");
    t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "**Recorded by agent `planner`:**\n```json\n{\"draft\":\"x\"}");
    CHECK(records(w, &t, id, "s", ",'outputs':{'draft':'y'}")->error->kind == ERR_UNFIT);
    works(w, &t, id, "s", "{'plan':'y'}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    CHECK_STR(seen(w, id, "/variables"), "{\"plan\":\"y\"}");
    world_end(w);
}

TEST_BOTH(agents_at_once_are_followed_by_one_that_brings_their_results_together)
{
    static const char *const how[] = { "'agent':'coder','parallel_agents':2",
                                       "'agents':['coder','planner'],'parallel':true" };

    for (int i = 0; i < 2; i++) {
        struct fake_runner m;
        struct world *w = world_with_fix(&m);
        deploy(w, arena_printf(check_arena(),
                               "{'workflow':'many','steps':[{'id':'s',%s,'outputs':['report']}]}",
                               how[i])
                      .at);
        str id = begin(w, "many", "");
        struct turn a = turn_of(w, &m, "task"), b = turn_of(w, &m, "task");
        CHECK(!turn_next(w, &m).claim.run_id.len);
        CHECK_HAS(a.prompt, "You are number 1 of 2 agents that do this step at once");
        CHECK_HAS(b.prompt, "You are number 2 of 2 agents");
        works(w, &b, id, "s", "{'b':2}");
        CHECK(!turn_next(w, &m).claim.run_id.len);
        works(w, &a, id, "s", "{'a':1}");
        struct turn last = turn_of(w, &m, "task");
        CHECK_STR(session_is(w, last.session, "/agent_name"), "coder");
        CHECK_HAS(last.prompt,
                  "2 agents have done this step at once. Bring their results together");
        CHECK_HAS(last.prompt, "{\"a\":1}");
        CHECK_HAS(last.prompt, "{\"b\":2}");
        works(w, &last, id, "s", "{'report':'good'}");
        CHECK_STR(seen(w, id, "/variables"), "{\"report\":\"good\"}");
        CHECK_STR(seen(w, id, "/status"), "COMPLETED");
        world_end(w);
    }
}

TEST_BOTH(when_one_of_several_at_once_fails_the_others_are_stopped)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    deploy(w, "{'workflow':'many','steps':[{'id':'s','agent':'coder','parallel_agents':3,"
              "'outputs':['report']}]}");
    str id = begin(w, "many", "");
    struct turn a = turn_of(w, &m, "task"), b = turn_of(w, &m, "task");
    CHECK_OK(records(w, &a, id, "s", ",'failed':true,'error':'broken'")->error);
    ends(w, &a);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_HAS(seen(w, id, "/reason"), "broken");
    CHECK_STR(show(w, b.claim.run_id, "/status"), "stopping");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    world_end(w);
}

/* ---- limits ---- */

TEST_BOTH(beyond_a_limit_of_sessions_shares_wait_for_their_turn_in_order)
{
    struct team_rules few = rules;
    struct fake_runner m;
    struct world *w = world_with_fix(&m);
    str ids[4];

    few.profile_max = 2;
    w->engine.team = &few;
    for (int i = 0; i < 4; i++)
        ids[i] =
            begin(w, "fix", arena_printf(check_arena(), "'input':{'issue':'number %d'}", i).at);
    CHECK_STR(seen(w, ids[2], "/steps/0/waits_for"), "room for 1 more session");
    struct turn t[2] = { turn_of(w, &m, "task"), turn_of(w, &m, "task") };
    CHECK(!turn_next(w, &m).claim.run_id.len);
    CHECK_OK(records(w, &t[1], ids[1], "plan", ",'failed':true")->error);
    ends(w, &t[1]);
    world_pass(w, 0);
    struct turn third = turn_of(w, &m, "task");
    CHECK_HAS(third.prompt, "Plan number 2.");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    /* The next step of the first one comes after who waits already. */
    works(w, &t[0], ids[0], "plan", "{'plan':1}");
    world_pass(w, 0);
    struct turn fourth = turn_of(w, &m, "task");
    CHECK_HAS(fourth.prompt, "Plan number 3.");
    works(w, &third, ids[2], "plan", "{'plan':1}");
    world_pass(w, 0);
    struct turn next = turn_of(w, &m, "task");
    CHECK_HAS(next.prompt, arena_copy(check_arena(), ids[0]).at);
    CHECK_STR(seen(w, ids[0], "/steps/1/attempt"), "1");
    w->engine.team = &rules;
    world_end(w);
}

/* One tree that is full is in nobody's way who has another. */
TEST_BOTH(who_waits_for_room_in_one_tree_does_not_hold_up_another)
{
    struct team_rules few = rules;
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    few.tree_max = 1;
    CHECK_OK(call(w, "session.create", "{'session_name':'boss'}")->error);
    w->engine.team = &few;
    str id = begin(w, "fix", ISSUE ",'parent_session_name':'boss'");
    CHECK_STR(seen(w, id, "/steps/0/waits_for"), "room for 1 more session");
    begin(w, "fix", "'input':{'issue':'another'}");
    world_pass(w, 0);
    struct turn other = turn_of(w, &m, "task");
    CHECK_HAS(other.prompt, "Plan another.");
    CHECK_STR(seen(w, id, "/steps/0/waits_for"), "room for 1 more session");
    w->engine.team = &rules;
    pass_working(w, &other, 30000); /* the limit has grown: somebody looks again */
    CHECK_HAS(turn_of(w, &m, "task").prompt, "Plan a leak.");
    world_end(w);
}

TEST_BOTH(who_begins_is_told_what_it_works_for)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    begin(w, "fix", ISSUE);
    struct turn t = turn_of(w, &m, "task");
    act_as(w, t.claim.token);
    str said = at(call(w, "hook.event",
                       "{'client':'claude','host':'r','event':{'hook_event_name':'SessionStart',"
                       "'session_id':'c1','source':'startup','cwd':'/src'}}"),
                  "/hookSpecificOutput/additionalContext");
    w->actor = the_operator;
    CHECK_HAS(said, "You work for step `plan` of workflow `exec-");
    CHECK_HAS(said, "record its result with `update_workflow_state` before you stop");
    CHECK(!str_contains(said, STR("state_patch")));
    world_end(w);
}

TEST_BOTH(a_session_below_too_many_others_is_for_a_person)
{
    struct team_rules low = rules;
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    low.depth_max = 1;
    CHECK_OK(call(w, "session.create", "{'session_name':'boss'}")->error);
    w->engine.team = &low;
    str id = begin(w, "fix", ISSUE ",'parent_session_name':'boss'");
    CHECK_HAS(seen(w, id, "/open_incidents/0/message"), "too many sessions below each other");
    w->engine.team = &rules;
    CHECK_OK(call(w, "incident.resolve", "{'incident_id':'" STR_FMT "'}",
                  STR_ARG(seen(w, id, "/open_incidents/0/incident_id")))
                 ->error);
    turn_of(w, &m, "task");
    world_end(w);
}

/* ---- what is done anew ---- */

TEST_BOTH(a_step_that_a_later_one_has_done_anew_is_told_why)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    deploy(w, "{'workflow':'check','steps':[{'id':'write','agent':'coder','outputs':['draft'],"
              "'retry':{'max_attempts':3}},{'id':'check','after':['write'],'agent':'planner',"
              "'triggers_retry':true}]}");
    str id = begin(w, "check", "");
    struct turn t = turn_of(w, &m, "task");
    works(w, &t, id, "write", "{'draft':1}");
    t = turn_of(w, &m, "task");
    CHECK_OK(records(w, &t, id, "check", ",'failed':true,'error':'the tone is wrong'")->error);
    ends(w, &t);
    t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "### Attempt 2 of 3");
    CHECK_HAS(t.prompt, "the tone is wrong");
    CHECK_STR(seen(w, id, "/steps/0/attempt"), "2");
    CHECK_STR(kept(w, id, "/steps/0/sessions/0/attempt"), "1");
    CHECK_OK(
        call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'write'}", STR_ARG(id))
            ->error);
    CHECK_HAS(records(w, &t, id, "write", ",'outputs':{'draft':1}")->error->message, "Stop");
    world_end(w);
}

TEST(a_step_that_a_person_wants_done_anew_is_told_what_they_said)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "box", "");

    agent(w, "planner");
    deploy(w, "{'workflow':'w','steps':[{'id':'a','agent':'planner','outputs':['plan'],"
              "'approval':{'on_reject':'a'}}]}");
    str id = begin(w, "w", "");
    for (int round = 0; round < 3; round++) {
        struct turn t = turn_of(w, &m, "task");
        CHECK(str_contains(t.prompt, STR("### Once more")) == (round > 0));
        if (round == 1)
            CHECK_HAS(t.prompt, "```text\nrework was asked for by operator: name the tests\n```");
        if (round == 2)
            CHECK_HAS(t.prompt, "```text\nit was rejected by operator: too long\n```");
        CHECK_OK(records(w, &t, id, "a", ",'outputs':{'plan':1}")->error);
        ends(w, &t);
        CHECK_STR(seen(w, id, "/steps/0/status"), "waiting_approval");
        CHECK_OK(call(w, "approval.decide",
                      "{'approval_id':'" STR_FMT "','decision':'%s','reason':'%s'}",
                      STR_ARG(seen(w, id, "/open_approvals/0/approval_id")),
                      round == 0   ? "rework"
                      : round == 1 ? "reject"
                                   : "approve",
                      round == 0 ? "name the tests" : "too long")
                     ->error);
    }
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    world_end(w);
}

TEST_BOTH(each_item_of_a_list_has_agents_of_its_own)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    deploy(w, "{'workflow':'each','steps':[{'id':'s','for_each':'=parts','as':'part',"
              "'agent':'coder','prompt':'Do {{part}}.','outputs':['file']}],'result':'=file'}");
    str id = begin(w, "each", "'input':{'parts':['x','y']}");
    struct turn x = turn_of(w, &m, "task"), y = turn_of(w, &m, "task");
    CHECK_HAS(x.prompt, "Do x.");
    CHECK_HAS(y.prompt, "Do y.");
    works(w, &y, id, "s", "{'file':'y.c'}");
    works(w, &x, id, "s", "{'file':'x.c'}");
    CHECK_STR(seen(w, id, "/result"), "[\"x.c\",\"y.c\"]");
    world_end(w);
}

TEST_BOTH(agents_share_the_state_that_their_execution_is_about_and_do_not_own_it)
{
    struct fake_runner m;
    struct world *w = world_with_fix(&m);

    answer(w, "schema.create", "{'name':'s','json_schema':{'type':'object'}}");
    str state = at(call(w, "state.create", "{'schema_name':'s','initial_data':{}}"), "/state_id");
    str more =
        arena_printf(check_arena(), ISSUE ",'workflow_state_id':'" STR_FMT "'", STR_ARG(state));
    str id = begin(w, "fix", more.at);
    begin(w, "fix", more.at);
    struct turn t = turn_of(w, &m, "task"), other = turn_of(w, &m, "task");
    must_be(session_is(w, t.session, "/workflow_state_id"), state);
    must_be(session_is(w, other.session, "/workflow_state_id"), state);
    act_as(w, t.claim.token);
    CHECK_OK(call(w, "state.patch",
                  "{'state_id':'" STR_FMT "','operations':[{'op':'add','path':'/a','value':1}]}",
                  STR_ARG(state))
                 ->error);
    w->actor = the_operator;
    ends(w, &t); /* what it has written is no record of its step */
    t = turn_of(w, &m, "state_update");
    CHECK_HAS(t.prompt, "Record the Result of Your Step");
    works(w, &t, id, "plan", "{'plan':1}");
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    world_end(w);
}
