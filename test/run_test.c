/* run_test.c: a run is claimed, started and ended once; or it is stopped, or takes too long. */
#include "runners.h"

/* ---- a turn ---- */

TEST(a_run_is_claimed_started_and_completed)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", ",'metadata':{'k':1},'project_dir':'/src','max_seconds':9");

    CHECK_RUN(w, run, "pending");
    struct command *c = poll(w, &a);
    must_be(at(c, "/run/run_id"), run);
    CHECK_STR(at(c, "/run/type"), "start_session");
    CHECK_STR(at(c, "/run/purpose"), "work");
    CHECK_STR(at(c, "/run/session_name"), "root");
    CHECK_STR(at(c, "/run/prompt"), "go");
    CHECK_STR(at(c, "/run/agent"), "null");
    CHECK_STR(at(c, "/run/profile/name"), "claude");
    CHECK_STR(at(c, "/run/project_dir"), "/src");
    CHECK_STR(at(c, "/run/fence"), "1");
    CHECK_STR(at(c, "/run/lease_seconds"), "1");
    CHECK_STR(at(c, "/run/max_seconds"), "9");
    CHECK_STR(at(c, "/run/metadata"), "{\"k\":1}");
    CHECK_STR(at(c, "/run/env/AGENT_SESSION_NAME"), "root");
    must_be(at(c, "/run/env/BATON_RUN_ID"), run);
    CHECK_RUN(w, run, "claimed");
    struct claim held = { run, at(c, "/run/token"), 1 };

    CHECK_STR(token_error(w, held.token), "");
    CHECK_OK(report(w, &a, &held, "started", ",'client_id':'abc'")->error);
    CHECK_RUN(w, run, "running");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "running");
    CHECK_OK(report(w, &a, &held, "completed", ",'result':'done'")->error);
    CHECK_RUN(w, run, "completed");
    CHECK_STR(show(w, run, "/result"), "done");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "finished");
    CHECK(token_error(w, held.token).len > 0);
    world_end(w);
}

/* Everybody who knows the ids comes to the same trace. */
TEST(the_trace_of_a_run_comes_from_the_ids_of_its_tree)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':5");
    str first, second;

    start(w, "root", "");
    first = at(poll(w, &a), "/run/env/TRACEPARENT");
    be(w, &a);
    CHECK(call(w, "runner.claim", "{'runner_id':'" STR_FMT "','known':['%s']}", STR_ARG(a.id),
               "run_none")
              ->answer.text.len > 0);
    w->actor = the_operator;
    start(w, "other", ",'priority':5");
    struct fake_runner b = fake_runner_new(w, "b", "");
    second = at(poll(w, &b), "/run/env/TRACEPARENT");
    CHECK_INT(first.len, 55);
    CHECK(str_starts(first, STR("00-")) && str_ends(first, STR("-01")));
    CHECK(!str_eq(str_slice(first, 3, 35), str_slice(second, 3, 35)));
    CHECK(!str_eq(str_slice(first, 36, 52), str_slice(second, 36, 52)));
    world_end(w);
}

TEST(each_end_is_reported_once_and_another_is_a_conflict)
{
    static const struct {
        const char *report, *status, *more, *error;
    } ends[] = {
        { "completed", "completed", ",'result':'r'", "null" },
        { "failed", "failed", ",'error':'bad','stderr_tail':'trace'", "bad\ntrace" },
        { "failed", "failed", ",'exit_code':3", "its agent ended with exit code 3" },
        { "timed_out", "timed_out", ",'error':'slow'", "slow" },
        { "stopped", "stopped", ",'error':'by hand'", "by hand" },
    };
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        str run = start(w, arena_printf(check_arena(), "s%zu", i).at, "");
        struct claim held = claim(w, &a);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
        CHECK_OK(report(w, &a, &held, ends[i].report, ends[i].more)->error);
        CHECK_RUN(w, run, ends[i].status);
        CHECK_STR(show(w, run, "/error"), ends[i].error);
        struct command *again = report(w, &a, &held, ends[i].report, ends[i].more);
        CHECK_OK(again->error);
        CHECK(!again->events);
        if (strcmp(ends[i].status, "stopped") != 0)
            CHECK_ERR(report(w, &a, &held, "stopped", "")->error, ERR_CONFLICT);
        CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "true");
        CHECK_RUN(w, run, ends[i].status);
    }
    world_end(w);
}

/* The report of the start was lost on the way; what follows from it must not be. */
TEST(a_completion_without_a_start_is_a_start_too)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    CHECK(!str_eq(show(w, run, "/started_at"), STR("null")));
    world_end(w);
}

/* ---- stopping, and taking too long ---- */

TEST(a_pending_run_is_stopped_at_once)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");

    CHECK_OK(
        call(w, "run.stop", "{'run_id':'" STR_FMT "','reason':'no need'}", STR_ARG(run))->error);
    CHECK_RUN(w, run, "stopped");
    CHECK_STR(show(w, run, "/error"), "no need");
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "stopped");
    struct command *again = call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(run));
    CHECK_OK(again->error);
    CHECK(!again->events);
    world_end(w);
}

TEST(a_run_that_somebody_has_stops_when_its_runner_says_so_or_after_a_time)
{
    for (int how = 0; how < 4; how++) {
        struct world *w = world_new();
        struct fake_runner a = fake_runner_new(w, "a", "");
        str run = start(w, "root", "");
        struct claim held = claim(w, &a);
        if (how > 0)
            CHECK_OK(report(w, &a, &held, "started", "")->error);
        CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(run))->error);
        CHECK_RUN(w, run, "stopping");
        must_be(at(poll(w, &a), "/stop_runs/0"), run);
        must_be(at(poll(w, &a), "/stop_runs/0"), run);
        CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "true");
        CHECK_RUN(w, run, "stopping");
        if (how < 2)
            CHECK_OK(report(w, &a, &held, "stopped", "")->error);
        else if (how == 2)
            CHECK_OK(report(w, &a, &held, "completed", ",'result':'first'")->error);
        else
            world_pass(w, STOP_MS);
        CHECK_RUN(w, run, "stopped");
        CHECK_STR(show(w, run, "/error"), "stopped by operator");
        CHECK_STR(show(w, run, "/result"), how == 2 ? "first" : "null");
        CHECK(poll(w, &a)->answer.waits);
        world_end(w);
    }
}

TEST(the_server_ends_a_run_that_takes_too_long)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", ",'max_seconds':2");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    CHECK_OK(
        report(w, &a, &held, "progress", ",'output':[{'stream':'stderr','text':'stuck'}]")->error);
    for (int i = 0; i < 24; i++) {
        world_pass(w, 100);
        CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "false");
    }
    world_pass(w, 100);
    CHECK_RUN(w, run, "timed_out");
    CHECK_STR(show(w, run, "/error"),
              "it took longer than the 2 s that it may, and its runner did not end it\nstuck");
    CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "true");
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_CONFLICT);
    CHECK(token_error(w, held.token).len > 0);
    world_end(w);
}
