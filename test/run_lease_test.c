/* run_lease_test.c: who has claimed a run holds it under a lease and a fence: what he loses when he
 * falls silent, and what nobody else can do meanwhile. */
#include "runners.h"

/* ---- fences and leases ---- */

TEST(polling_again_gives_a_claimed_run_anew_and_the_old_token_is_dead)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim first = claim(w, &a), second = claim(w, &a);

    must_be(second.run_id, run);
    CHECK_INT(second.fence, 2);
    CHECK(token_error(w, first.token).len > 0);
    CHECK_STR(token_error(w, second.token), "");
    CHECK_ERR(report(w, &a, &first, "started", "")->error, ERR_CONFLICT);
    CHECK_ERR(report(w, &a, &first, "progress", "")->error, ERR_CONFLICT);
    CHECK_ERR(report(w, &a, &first, "completed", "")->error, ERR_CONFLICT);
    CHECK_RUN(w, run, "claimed");
    CHECK_OK(report(w, &a, &second, "started", "")->error);
    CHECK_STR(claim(w, &a).run_id, "");
    world_end(w);
}

TEST(a_runner_that_says_what_it_knows_is_not_told_again)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':2");
    str first = start(w, "one", ""), second = start(w, "two", "");
    struct claim held = claim(w, &a);

    must_be(held.run_id, first);
    be(w, &a);
    struct command *c = call(w, "runner.claim",
                             "{'runner_id':'" STR_FMT "','known':['" STR_FMT "']}", STR_ARG(a.id),
                             STR_ARG(first));
    w->actor = the_operator;
    must_be(at(c, "/run/run_id"), second);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    world_end(w);
}

TEST(another_runner_cannot_report_a_run)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ""), b = fake_runner_new(w, "b", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);

    CHECK_ERR(report(w, &b, &held, "completed", "")->error, ERR_CONFLICT);
    struct fake_runner thief = { b.token, a.id };
    CHECK_ERR(report(w, &thief, &held, "completed", "")->error, ERR_NOT_FOUND);
    CHECK_STR(at(poll(w, &thief), "/deregistered"), "true");
    held.run_id = STR("run_none");
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_NOT_FOUND);
    CHECK_RUN(w, run, "claimed");
    world_end(w);
}

/* A runner that dies must cost a delay, not the run; but not for ever. */
TEST(a_run_returns_when_its_lease_passes_until_it_has_lost_too_many)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");

    for (int attempt = 1; attempt <= 3; attempt++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, run);
        CHECK_INT(held.fence, attempt);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
        world_pass(w, LEASE_MS - 1);
        CHECK_RUN(w, run, "running");
        world_pass(w, 1);
        if (attempt < 3) {
            CHECK_RUN(w, run, "pending");
            CHECK_STR(show(w, run, "/queued"), "true");
            CHECK_ERR(report(w, &a, &held, "progress", "")->error, ERR_CONFLICT);
            CHECK_ERR(report(w, &a, &held, "failed", "")->error, ERR_CONFLICT);
        }
    }
    CHECK_RUN(w, run, "failed");
    CHECK(strstr(show(w, run, "/error").at, "lost 3 runners"));
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "failed");
    world_end(w);
}

TEST(a_sign_of_life_gives_a_full_new_lease)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    for (int i = 0; i < 3; i++) {
        world_pass(w, LEASE_MS - 1);
        CHECK_OK(report(w, &a, &held, "progress", "")->error);
    }
    world_pass(w, LEASE_MS - 1);
    be(w, &a);
    CHECK_OK(call(w, "runner.heartbeat", "{'runner_id':'" STR_FMT "','runs':['" STR_FMT "']}",
                  STR_ARG(a.id), STR_ARG(run))
                 ->error);
    w->actor = the_operator;
    world_pass(w, LEASE_MS - 1);
    CHECK_RUN(w, run, "running");
    world_pass(w, 1);
    CHECK_RUN(w, run, "pending");
    world_end(w);
}

TEST(a_late_completion_counts_when_nobody_has_claimed_the_run_since)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ""), b = fake_runner_new(w, "b", "");
    str run = start(w, "one", "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    world_pass(w, LEASE_MS);
    CHECK_RUN(w, run, "pending");
    CHECK_OK(report(w, &a, &held, "completed", ",'result':'late'")->error);
    CHECK_RUN(w, run, "completed");
    CHECK_STR(claim(w, &b).run_id, "");

    run = start(w, "two", "");
    held = claim(w, &a);
    world_pass(w, LEASE_MS);
    struct claim other = claim(w, &b);
    must_be(other.run_id, run);
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_CONFLICT);
    CHECK_RUN(w, run, "claimed");
    CHECK_OK(report(w, &b, &other, "completed", "")->error);
    world_end(w);
}

TEST(a_start_of_the_only_server_renews_every_lease)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);
    const struct actor system = { .kind = ACTOR_SYSTEM, .name = STR("system") };

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    w->now_ms += 3 * LEASE_MS;
    w->actor = system;
    CHECK_STR(at(call(w, "system.start", "{'node_id':'node_1'}"), "/renewed"), "true");
    world_pass(w, LEASE_MS - 1);
    CHECK_RUN(w, run, "running");
    w->actor = system;
    CHECK_OK(call(w, "node.beat", "{'node_id':'node_2','name':'n','url':'','version':'1','seq':0}")
                 ->error);
    CHECK_STR(at(call(w, "system.start", "{'node_id':'node_1'}"), "/renewed"), "false");
    world_pass(w, 1);
    CHECK_RUN(w, run, "pending");
    world_end(w);
}

/* ---- runners ---- */

TEST(a_runner_that_falls_silent_is_lost_and_joins_again_when_heard)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");

    pass_alive(w, &a, 3 * SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "true");
    world_pass(w, SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "false");
    struct command *c = poll(w, &a);
    CHECK(c->answer.empty && c->events && str_eq(event_type_name(c->events), STR("runner_joined")));
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "true");
    world_pass(w, SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "false");
    world_end(w);
}

TEST(a_runner_that_registers_again_is_the_same_with_what_it_says_now)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ""),
                       again = fake_runner_new(w, "a", ",'tags':['x']");

    must_be(again.id, a.id);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/tags"), "[\"x\"]");
    world_end(w);
}

TEST(the_runs_of_a_removed_runner_go_back_at_once)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':2"),
                       b = fake_runner_new(w, "b", "");
    str run = start(w, "one", ""), stopping = start(w, "two", "");
    struct claim first = claim(w, &a);
    CHECK_OK(report(w, &a, &first, "started", "")->error);
    struct claim second = claim(w, &a);
    CHECK_OK(report(w, &a, &second, "started", "")->error);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(stopping))->error);

    CHECK_OK(call(w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(a.id))->error);
    world_pass(w, 0);
    CHECK_RUN(w, run, "pending");
    CHECK_RUN(w, stopping, "stopped");
    must_be(claim(w, &b).run_id, run);
    CHECK_ERR(report(w, &a, &first, "completed", "")->error, ERR_NOT_FOUND);
    world_end(w);
}
