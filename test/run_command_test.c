/* run_command_test.c: runs of purpose command: they have no session, and go the way of all runs. */
#include "runners.h"
#include "sim/both.h"

#define TAKES ",'commands':true"

/* ---- helpers ---- */

/* Has one executed; what it has beside its argv is JSON, beginning with a comma. */
static str command(struct world *w, const char *more)
{
    return at(call(w, "run.command", "{'argv':['make','check']%s}", more), "/run_id");
}

/* The last event of a type, printed. */
static str event_data(struct world *w, str run_id, const char *type)
{
    str events =
        call(w, "event.list", "{'subject':'" STR_FMT "','type':['%s']}", STR_ARG(run_id), type)
            ->answer.text;
    CHECK(events.len > 0);
    return events;
}

/* ---- from its claim to its end ---- */

TEST_BOTH(a_command_is_claimed_without_a_session_and_its_end_tells_the_exit_code)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str run = command(w, ",'stdin':'{\\\"n\\\":1}','owner':'step_7','project_dir':'/w'");
    struct command *c = poll(w, &a);
    struct claim held = { .run_id = run, .fence = 1 };

    CHECK_STR(json_printed(check_arena(), json_get(answer_of(c), "run")),
              arena_printf(check_arena(),
                           "{\"run_id\":\"" STR_FMT "\",\"purpose\":\"command\","
                           "\"fence\":1,\"lease_seconds\":1,\"max_seconds\":5,"
                           "\"argv\":[\"make\",\"check\"],\"stdin\":\"{\\\"n\\\":1}\","
                           "\"project_dir\":\"/w\"}",
                           STR_ARG(run))
                  .at);
    CHECK_STR(c->answer.minted, "");
    CHECK_OK(report(w, &a, &held, "started", ",'project_dir':'/w'")->error);
    CHECK_OK(report(w, &a, &held, "progress",
                    ",'heard':'x','client_id':'c','output':[{'stream':'stdout','text':'said'}]")
                 ->error);
    CHECK_OK(report(w, &a, &held, "failed",
                    ",'exit_code':3,'result':'out','stderr_tail':'no','usage':{'input_tokens':5}")
                 ->error);
    CHECK_RUN(w, run, "failed");
    CHECK_STR(show(w, run, "/exit_code"), "3");
    CHECK_STR(show(w, run, "/owner"), "step_7");
    CHECK_STR(show(w, run, "/result"), "out");
    CHECK_STR(show(w, run, "/error"), "its command ended with exit code 3\nno");
    CHECK_STR(show(w, run, "/session_id"), "null");
    CHECK_STR(show(w, run, "/type"), "null");
    CHECK_HAS(event_data(w, run, "run_finished"), "\"exit_code\":3");
    CHECK_OK(report(w, &a, &held, "failed", "")->error); /* again */
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_CONFLICT);
    world_end(w);
}

TEST_BOTH(an_exit_code_of_nought_is_told_and_none_is_not)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str good = command(w, ""), killed = command(w, "");
    struct claim held = claim(w, &a);

    must_be(held.run_id, good);
    CHECK_OK(report(w, &a, &held, "completed", ",'exit_code':0")->error);
    CHECK_STR(show(w, good, "/exit_code"), "0");
    CHECK_HAS(event_data(w, good, "run_finished"), "\"exit_code\":0");
    held = claim(w, &a);
    must_be(held.run_id, killed);
    CHECK_OK(report(w, &a, &held, "failed", ",'error':'signal 9','exit_code':-9")->error);
    CHECK_STR(show(w, killed, "/exit_code"), "null");
    CHECK(!strstr(event_data(w, killed, "run_finished").at, "exit_code"));
    world_end(w);
}

/* ---- who gets it ---- */

TEST_BOTH(a_runner_that_does_not_say_that_it_takes_commands_gets_none)
{
    struct world *w = world_new();
    struct fake_runner old = fake_runner_new(w, "old", ",'capacity':9"),
                       no = fake_runner_new(w, "no", ",'commands':false"),
                       picky = fake_runner_new(w, "picky", TAKES ",'profiles':['claude']");
    str run = command(w, "");
    str turn = start(w, "root", ",'priority':-5");

    CHECK_STR(claim(w, &no).run_id, arena_copy(check_arena(), turn).at); /* which is behind it */
    CHECK_STR(claim(w, &old).run_id, "");
    must_be(claim(w, &picky).run_id, run); /* profiles are of agents */
    world_end(w);
}

TEST_BOTH(directory_host_and_tags_of_a_command_are_asked_of_its_runner)
{
    static const struct {
        const char *command, *runner;
        bool fits;
    } cases[] = {
        { ",'project_dir':'/w/x'", "", true },
        { ",'project_dir':'/w/x'", ",'project_dir':'/w'", true },
        { ",'project_dir':'/v'", ",'project_dir':'/w'", false },
        { "", ",'project_dir':'/w'", true },
        { ",'hostname':'a'", "", true },
        { ",'hostname':'b'", "", false },
        { ",'tags':['t']", ",'tags':['s','t']", true },
        { ",'tags':['t']", "", false },
    };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_runner a =
            fake_runner_new(w, "a", arena_printf(check_arena(), TAKES "%s", cases[i].runner).at);
        str run = command(w, cases[i].command);
        struct claim held = claim(w, &a);
        if ((held.run_id.len > 0) != cases[i].fits)
            check_fail(__FILE__, __LINE__, "%s on %s", cases[i].command, cases[i].runner);
        CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(run))->error);
        if (held.run_id.len)
            CHECK_OK(report(w, &a, &held, "stopped", "")->error);
        CHECK_RUN(w, run, "stopped");
    }
    world_end(w);
}

TEST_BOTH(commands_and_turns_are_one_queue)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES ",'capacity':9");
    str turn = start(w, "root", ""), later = command(w, ",'after_seconds':2"), old = command(w, ""),
        high = command(w, ",'priority':3"), young = start(w, "young", "");
    const str order[] = { high, turn, old, young };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, order[i]);
        CHECK_OK(report(w, &a, &held, "completed", "")->error);
    }
    CHECK_STR(claim(w, &a).run_id, "");
    pass_alive(w, &a, 2000);
    must_be(claim(w, &a).run_id, later);
    world_end(w);
}

TEST_BOTH(a_command_that_nobody_could_take_fails_and_says_what_it_asks_for)
{
    struct world *w = world_new();
    struct fake_runner no = fake_runner_new(w, "no", "");
    str run = command(w, ",'project_dir':'/w'");

    pass_alive(w, &no, MATCH_MS);
    CHECK_RUN(w, run, "failed");
    CHECK_HAS(show(w, run, "/error"), "asks for a runner that takes commands, project_dir /w");
    world_end(w);
}

/* ---- leases, stops, times ---- */

TEST_BOTH(a_command_returns_when_its_lease_passes_until_it_has_lost_too_many)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str run = command(w, "");

    for (int attempt = 1; attempt <= 3; attempt++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, run);
        CHECK_INT(held.fence, attempt);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
        world_pass(w, LEASE_MS);
        CHECK_RUN(w, run, attempt < 3 ? "pending" : "failed");
        CHECK_ERR(report(w, &a, &held, "stopped", "")->error, ERR_CONFLICT);
    }
    CHECK_HAS(show(w, run, "/error"), "lost 3 runners");
    world_end(w);
}

TEST_BOTH(a_command_that_was_lost_may_still_tell_that_it_is_done)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str run = command(w, "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    world_pass(w, LEASE_MS);
    CHECK_OK(report(w, &a, &held, "completed", ",'exit_code':0")->error);
    CHECK_RUN(w, run, "completed");
    world_end(w);
}

TEST_BOTH(a_command_is_stopped_like_any_run)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str waiting = command(w, ",'tags':['none']"), run = command(w, "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(waiting))->error);
    CHECK_RUN(w, waiting, "stopped");
    CHECK_OK(
        call(w, "run.stop", "{'run_id':'" STR_FMT "','reason':'enough'}", STR_ARG(run))->error);
    CHECK_RUN(w, run, "stopping");
    must_be(at(poll(w, &a), "/stop_runs/0"), run);
    world_pass(w, STOP_MS);
    CHECK_RUN(w, run, "stopped");
    CHECK_STR(show(w, run, "/error"), "enough");
    world_end(w);
}

TEST_BOTH(a_command_whose_runner_does_not_end_it_in_time_is_ended)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str run = command(w, ",'max_seconds':1");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    for (int i = 0; i < 4; i++) {
        world_pass(w, (1000 + GRACE_MS) / 4);
        CHECK_OK(report(w, &a, &held, "progress", "")->error);
    }
    CHECK_RUN(w, run, "timed_out");
    world_end(w);
}

/* ---- who sees it ---- */

TEST_BOTH(no_session_sees_or_stops_a_command)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES ",'capacity':2");
    str run = command(w, ",'owner':'x','priority':1");
    start(w, "root", "");
    struct claim held = claim(w, &a);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    struct claim turn = claim(w, &a);
    str id = arena_printf(check_arena(), "{'run_id':'" STR_FMT "'}", STR_ARG(run));

    must_be(held.run_id, run);
    CHECK_OK(report(w, &a, &turn, "started", "")->error);
    act_as(w, turn.token);
    CHECK_ERR(refused(w, "run.get", id.at), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "run.output", id.at), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "run.stop", id.at), ERR_NOT_FOUND);
    CHECK_ERR(call(w, "event.list", "{'subject':'" STR_FMT "'}", STR_ARG(run))->error,
              ERR_NOT_FOUND);
    CHECK_STR(at(call(w, "run.list", "{}"), "/runs/0/purpose"), "work"); /* its own */
    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    CHECK_STR(show(w, run, "/purpose"), "command");
    w->actor.state_id = STR("wfstate_1"); /* of one state alone */
    CHECK_ERR(refused(w, "run.get", id.at), ERR_NOT_FOUND);
    CHECK_STR(call(w, "run.list", "{}")->answer.text, "{\"runs\":[]}");
    w->actor = the_operator;
    CHECK_STR(at(call(w, "run.list", "{'status':'running'}"), "/runs/0/owner"), "x");
    world_end(w);
}

/* ---- what is refused ---- */

TEST_BOTH(what_no_process_could_be_given_is_no_command)
{
    static const struct {
        const char *input;
        enum error_kind kind;
    } cases[] = {
        { "{'argv':[]}", ERR_INVALID },
        { "{'argv':['','x']}", ERR_INVALID },
        { "{'argv':['sh'],'project_dir':'here'}", ERR_INVALID },
        { "{'argv':['sh','"
          "%s"
          "']}",
          ERR_TOO_LARGE },
        { "{'argv':['sh'],'stdin':'%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s'}", ERR_TOO_LARGE },
    };
    struct world *w = world_new();
    char *much = arena_alloc(check_arena(), 70001);

    memset(much, 'x', 70000);
    much[70000] = '\0';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf input = buf_in(check_arena());
        str rest = str_from(cases[i].input), piece;
        for (bool more = true; more;) {
            const char *mark = strstr(rest.at, "%s");
            piece = mark ? str_slice(rest, 0, (size_t)(mark - rest.at)) : rest;
            buf_add(&input, piece);
            if ((more = mark != NULL)) {
                buf_add(&input, str_from(much));
                rest = str_from(mark + 2);
            }
        }
        CHECK_ERR(refused(w, "run.command", buf_str(&input).at), cases[i].kind);
    }
    CHECK_STR(call(w, "run.list", "{}")->answer.text, "{\"runs\":[]}");
    world_end(w);
}

/* ---- how long it is kept ---- */

static bool is_there(struct world *w, str run_id)
{
    struct command *c = call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(run_id));

    CHECK(!c->error || c->error->kind == ERR_NOT_FOUND);
    return !c->error;
}

/* One that has written something and ended. */
static str ended(struct world *w, struct fake_runner *a)
{
    str run = command(w, "");
    struct claim held = claim(w, a);

    must_be(held.run_id, run);
    CHECK_OK(report(w, a, &held, "started", "")->error);
    CHECK_OK(
        report(w, a, &held, "progress", ",'output':[{'stream':'stdout','text':'said'}]")->error);
    CHECK_OK(report(w, a, &held, "completed", ",'exit_code':0")->error);
    return run;
}

TEST_BOTH(commands_that_have_ended_go_after_the_time_of_what_has_ended)
{
    enum { HOUR_MS = 60 * 60 * 1000, DAY_MS = 24 * HOUR_MS };
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", TAKES);
    str first = ended(w, &a), second = ended(w, &a), stopped = command(w, "");

    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(stopped))->error);
    str turn = start(w, "root", "");
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(turn))->error);
    world_pass(w, 3000LL * DAY_MS);
    CHECK(is_there(w, first) && is_there(w, second) && is_there(w, stopped)); /* nobody said */
    w->retention.sessions_ms = DAY_MS;
    w->retention.rows = 2; /* of a firing */
    world_pass(w, HOUR_MS + 1000);
    CHECK(!is_there(w, first) && !is_there(w, second) && !is_there(w, stopped));
    CHECK(is_there(w, turn)); /* that goes with its session */

    a = fake_runner_new(w, "a", TAKES);
    first = ended(w, &a);
    world_pass(w, DAY_MS - 1000);
    CHECK(is_there(w, first));
    str later = command(w, "");
    world_pass(w, HOUR_MS + 2000);
    CHECK(!is_there(w, first));
    CHECK_RUN(w, later, "failed"); /* nobody took it, which is less long ago */
    world_end(w);
}
