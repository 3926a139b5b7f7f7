/* run_claim_test.c: which runner gets which run, in what order, and how it waits for one. */
#include "runners.h"

/* ---- who gets what ---- */

TEST(demands_decide_who_may_take_a_run)
{
    static const struct {
        const char *run, *runner;
        bool fits;
    } cases[] = {
        { "", "", true },
        { ",'demands':{'hostname':'a'}", "", true },
        { ",'demands':{'hostname':'b'}", "", false },
        { ",'demands':{'tags':['gpu']}", ",'tags':['gpu','big']", true },
        { ",'demands':{'tags':['gpu','big']}", ",'tags':['big','gpu']", true },
        { ",'demands':{'tags':['gpu','small']}", ",'tags':['gpu']", false },
        { ",'demands':{'tags':['gpu']}", "", false },
        { ",'demands':{'profile':'codex'}", "", true },
        { ",'demands':{'profile':'codex'}", ",'profiles':['claude','codex']", true },
        { ",'demands':{'profile':'codex'}", ",'profiles':['claude']", false },
        { ",'project_dir':'/src/x'", ",'project_dir':'/src'", true },
        { ",'project_dir':'/src'", ",'project_dir':'/src/'", true },
        { ",'demands':{'project_dir':'/src'}", "", true },
        { ",'project_dir':'/srcs'", ",'project_dir':'/src'", false },
        { ",'project_dir':'/src/../etc'", ",'project_dir':'/src'", false },
        { "", ",'project_dir':'/src'", true },
        { ",'demands':{'hostname':'a','tags':['t'],'profile':'codex','project_dir':'/p'}",
          ",'tags':['t'],'profiles':['codex'],'project_dir':'/'", true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new();
        struct fake_runner a = fake_runner_new(w, "a", cases[i].runner);
        start(w, "root", cases[i].run);
        bool got = claim(w, &a).run_id.len > 0;
        if (got != cases[i].fits)
            check_fail(__FILE__, __LINE__, "%s on %s: %d", cases[i].run, cases[i].runner, got);
        world_end(w);
    }
}

TEST(equal_demands_have_equal_keys_and_can_be_read_back)
{
    struct arena *a = check_arena();
    const str tags[] = { STR("b"), STR("a\"'"), STR("b") }, same[] = { STR("a\"'"), STR("b") };
    struct demand d = { STR("h,\n"), STR("p"), STR("/d"), STR("u"),     tags,
                        3,           false,    false,     STR("coder"), STR("/e") },
                  back;
    struct demand other = { STR("h,\n"), STR("p"), STR("/d"), STR("u"),     same,
                            2,           false,    false,     STR("coder"), STR("/e") };

    str key = demand_key(a, &d);
    must_be(demand_key(a, &other), key);
    demand_read(a, key, &back);
    CHECK_STR(back.hostname, "h,\n");
    CHECK_STR(back.profile, "p");
    CHECK_STR(back.project_dir, "/d");
    CHECK_INT(back.tag_count, 2);
    CHECK_STR(back.tags[0], "a\"'");
    CHECK_STR(back.agent, "coder");
    CHECK_STR(back.agent_dir, "/e");
    must_be(demand_key(a, &back), key);
}

/* Whatever the key: one of the runner's own host is not looked at before one that any may take. */
TEST(the_highest_priority_is_first_and_then_the_oldest)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':10,'tags':['t']");
    str low = start(w, "low", ",'priority':-1"), old = start(w, "old", ",'demands':{'tags':['t']}"),
        host = start(w, "host", ",'demands':{'hostname':'a'}"), young = start(w, "young", ""),
        high = start(w, "high", ",'priority':7,'demands':{'hostname':'a','tags':['t']}");
    const str order[] = { high, old, host, young, low };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, order[i]);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
    }
    world_end(w);
}

/* A session's directory is no demand of its own: however many there are, nobody overtakes. */
TEST(directories_do_not_change_the_order_for_who_takes_all)
{
    enum { DIRECTORIES = 80 };
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':100");
    str runs[DIRECTORIES];

    for (int i = 0; i < DIRECTORIES; i++) {
        bool last = i == DIRECTORIES - 1;
        str more = arena_printf(check_arena(), ",'project_dir':'/w/%d','priority':%d",
                                DIRECTORIES - i, last ? 1 : 0);
        runs[i] = start(w, arena_printf(check_arena(), "s%d", i).at, more.at);
    }
    for (int i = 0; i < DIRECTORIES; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, runs[i ? i - 1 : DIRECTORIES - 1]);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
    }
    world_end(w);
}

TEST(a_runner_with_a_directory_takes_what_is_in_it_by_priority_and_age)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':10,'project_dir':'/w/'");
    str none = start(w, "none", ""), deep = start(w, "deep", ",'project_dir':'/w/b/c'"),
        here = start(w, "here", ",'project_dir':'/w','demands':{'hostname':'a'}"),
        high = start(w, "high", ",'project_dir':'/w/a','priority':1");
    const str order[] = { high, none, deep, here };

    start(w, "beside", ",'project_dir':'/w-2','priority':9");
    start(w, "above", ",'project_dir':'/','priority':9");
    start(w, "other", ",'project_dir':'/w/a','priority':9,'demands':{'hostname':'b'}");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, order[i]);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
    }
    CHECK_STR(claim(w, &a).run_id, "");
    world_end(w);
}

/* Has a claim that waits run again, with memory of its own: what the time before has made is gone
 * then. */
static void look_again(struct world *w, const struct fake_runner *m, struct command *c)
{
    struct arena *before = c->arena;

    be(w, m);
    c->waited = c->answer.wait_self;
    c->actor = &w->actor;
    c->arena = check_arena_new();
    op_perform(&w->engine, &c, 1);
    w->actor = the_operator;
    CHECK_OK(c->error);
    if (before != check_arena())
        arena_reset(before);
}

/* As often as it wants to look on, each time when it said; gives how often that was. */
static int look_around(struct world *w, const struct fake_runner *m, struct command *c)
{
    int looks = 0;

    for (; c->answer.waits && c->answer.wait_again_ms; looks++) {
        CHECK(c->answer.wait_again_ms > w->now_ms && c->answer.wait_again_ms < w->now_ms + 100);
        w->now_ms = c->answer.wait_again_ms;
        look_again(w, m, c);
    }
    return looks;
}

/* No look is at all of very many demands: while a claim waits it looks on, soon, once around. */
TEST(each_of_very_many_demands_gets_its_turn)
{
    static const struct {
        const char *name, *runner, *others, *fitting;
    } cases[] = {
        { "tags, the last of all", ",'tags':['z']", ",'demands':{'tags':['t%d']}",
          ",'demands':{'tags':['z']}" },
        { "tags, the first of all", ",'tags':['a']", ",'demands':{'tags':['t%d']}",
          ",'demands':{'tags':['a']}" },
        { "one for the runner's host", "", ",'demands':{'tags':['t%d']}",
          ",'demands':{'hostname':'a'}" },
        { "directories", ",'project_dir':'/w'", ",'project_dir':'/w/%d','demands':{'tags':['t']}",
          ",'project_dir':'/w/z'" },
    };
    enum { OTHERS = 90, LOOKS = 7 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new();
        struct fake_runner a = fake_runner_new(w, "a", cases[i].runner);
        for (int k = 0; k < OTHERS; k++) {
            struct buf more = buf_in(check_arena());
            buf_printf(&more, cases[i].others, k);
            start(w, arena_printf(check_arena(), "s%d", k).at, buf_str(&more).at);
        }
        struct command *c = poll(w, &a);
        for (int k = 0; k < 4; k++) /* something came, but not for it: it goes around from there */
            look_again(w, &a, c);
        int looks = look_around(w, &a, c);
        CHECK(c->answer.waits && looks > 0 && looks <= LOOKS);
        CHECK(c->answer.wait_until_ms > w->now_ms + 1000);
        str run = start(w, "fits", cases[i].fitting);
        look_again(w, &a, c);
        look_around(w, &a, c);
        if (c->answer.waits || !str_eq(at(c, "/run/run_id"), run))
            check_fail(__FILE__, __LINE__, "%s: not found once around", cases[i].name);
        world_end(w);
    }
}

/* The next claim goes on where one has come to that found something, or waited in vain. */
TEST(a_claim_goes_on_where_the_last_one_ended)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'tags':['z']");
    enum { OTHERS = 40, CLAIMS = 2 }; /* of two looks each */
    int claims = 0;

    for (int k = 0; k < OTHERS; k++)
        start(w, arena_printf(check_arena(), "s%d", k).at,
              arena_printf(check_arena(), ",'demands':{'tags':['t%02d']}", k).at);
    start(w, "fits", ",'demands':{'tags':['z']}");
    for (struct command *c = NULL; !c || !json_get(answer_of(c), "run"); claims++) {
        CHECK(claims < CLAIMS);
        c = poll(w, &a);
        c->wait_over = true;
        look_again(w, &a, c);
        CHECK(!c->answer.waits);
    }
    CHECK_INT(claims, CLAIMS);
    world_end(w);
}

TEST(a_runner_gets_no_more_than_it_can_take)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':2");
    struct claim held[2];

    for (int i = 0; i < 3; i++)
        start(w, arena_printf(check_arena(), "s%d", i).at, "");
    for (int i = 0; i < 2; i++) {
        held[i] = claim(w, &a);
        CHECK_OK(report(w, &a, &held[i], "started", "")->error);
    }
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/runs"), "2");
    CHECK_OK(report(w, &a, &held[0], "completed", "")->error);
    CHECK(claim(w, &a).run_id.len > 0);
    world_end(w);
}

TEST(a_run_waits_for_its_time)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", ",'not_before':'2025-01-15T10:35:02Z'");

    CHECK_STR(show(w, run, "/queued"), "false");
    world_pass(w, 1999);
    CHECK_STR(claim(w, &a).run_id, "");
    world_pass(w, 1);
    must_be(claim(w, &a).run_id, run);
    world_end(w);
}

TEST(a_run_that_nobody_can_take_fails_and_says_why)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str wrong = start(w, "one", ",'demands':{'tags':['gpu'],'hostname':'b'}");
    str right = start(w, "two", "");
    struct claim held = claim(w, &a); /* and is full with it */
    str waits = start(w, "three", "");

    must_be(held.run_id, right);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    pass_alive(w, &a, MATCH_MS - 1);
    CHECK_RUN(w, wrong, "pending");
    pass_alive(w, &a, 1);
    CHECK_RUN(w, wrong, "failed");
    CHECK_STR(show(w, wrong, "/error"),
              "no runner could take it; it asks for hostname b, profile claude, tag gpu; there are"
              " runner a on a");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'one'}"), "/status"), "failed");
    CHECK_RUN(w, waits, "pending");
    world_pass(w, SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "false");
    world_pass(w, MATCH_MS);
    CHECK_STR(show(w, waits, "/error"),
              "no runner could take it; it asks for profile claude; no runner is there");
    world_end(w);
}

/* ---- waiting for work ---- */

static bool wakes(const struct command *waits, const struct command *by)
{
    bool any = false;

    CHECK(waits->answer.waits && waits->answer.wakes);
    for (const struct event *e = by->events; e; e = event_after(e))
        any |= waits->answer.wakes(waits->answer.wait_self, e);
    return any;
}

TEST(a_waiting_claim_is_woken_by_what_concerns_it_alone)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'tags':['t']"),
                       b = fake_runner_new(w, "b", "");
    struct command *of_a = poll(w, &a), *of_b = poll(w, &b), *by;
    static const char ask[] = "{'type':'start_session','session_name':'%s','prompt':'go'%s}";

    by = call(w, "run.create", ask, "one", ",'demands':{'tags':['t']}");
    CHECK(wakes(of_a, by) && !wakes(of_b, by));
    struct claim held = claim(w, &a);
    by = call(w, "run.create", ask, "later", ",'not_before':'2025-01-15T10:35:02Z'");
    CHECK(!wakes(of_a, by) && !wakes(of_b, by));
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    by = call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(held.run_id));
    CHECK(wakes(of_a, by) && !wakes(of_b, by));
    by = report(w, &a, &held, "stopped", "");
    CHECK(wakes(of_a, by) && !wakes(of_b, by));
    by = call(w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(b.id));
    CHECK(!wakes(of_a, by) && wakes(of_b, by));
    CHECK_STR(at(poll(w, &b), "/deregistered"), "true");
    world_end(w);
}

TEST(a_claim_whose_time_is_up_is_answered_with_nothing)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    struct command *c = poll(w, &a);

    CHECK(c->answer.waits);
    CHECK_INT(c->answer.wait_until_ms, w->now_ms + rules.poll_ms);
    c->wait_over = true;
    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
    CHECK(c->answer.empty && !c->answer.waits);
    world_end(w);
}

/* An agent that a project's folder has is its machine's, whether that takes runs of every folder or not;
 * and a claim that waits looks anew when there are other agents. */
TEST(a_claim_that_waits_gets_a_run_for_an_agent_that_has_come_meanwhile)
{
    static const char *const dirs[] = { "", ",'project_dir':'/shop'" };

    for (int i = 0; i < 2; i++) {
        struct world *w = world_new();
        struct fake_runner a = fake_runner_new(w, "a", dirs[i]);
        struct command *waits = poll(w, &a);
        CHECK(waits->answer.waits);
        be(w, &a);
        struct command *told =
            call(w, "runner.heartbeat",
                 "{'runner_id':'" STR_FMT
                 "','agents':[{'name':'greeter','source':'project','project':'/shop'}]}",
                 STR_ARG(a.id));
        CHECK_OK(told->error);
        CHECK(wakes(waits, told));
        waits = poll(w, &a);
        CHECK(waits->answer.waits);
        struct command *asked = call(w, "run.create",
                                     "{'type':'start_session','session_name':'s','prompt':'go',"
                                     "'agent_name':'greeter','project_dir':'/shop/src'}");
        CHECK_OK(asked->error);
        CHECK(wakes(waits, asked));
        CHECK_STR(claim(w, &a).run_id, arena_copy(check_arena(), at(asked, "/run_id")).at);
        asked = call(w, "run.create",
                     "{'type':'start_session','session_name':'t','prompt':'go',"
                     "'agent_name':'greeter','project_dir':'/shop2'}");
        CHECK(asked->error && asked->error->kind == ERR_NOT_FOUND);
        world_end(w);
    }
}
