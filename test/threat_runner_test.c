/* threat_runner_test.c: what a runner cannot do with what is not its own, nor with what it reports. */
#include "threats.h"

static bool is_report(const struct world *w, const struct op *op)
{
    return op->by & BY_RUNNER && op_field(w->table, op, STR("fence"));
}

TEST(runner_reports_only_what_it_holds_under_its_own_name_and_fence)
{
    struct threat t = threat_new();
    struct fake_runner other = fake_runner_new(t.w, "elsewhere");
    struct turn ours = t.ours.left;
    str before = show_tree(t.w, &t.ours);
    int reports = 0;

    for (size_t i = 0; i < op_count(t.w->table); i++) {
        const struct op *op = op_at(t.w->table, i);
        const char *what = op->name + strlen("runner.");
        struct fake_runner liar = { .token = other.token, .id = t.runner.id };
        struct turn old = ours, future = ours, none = ours;
        if (!is_report(t.w, op))
            continue;
        old.fence--;
        future.fence++;
        none.run_id = STR("run_none");
        CHECK_ERR(report(t.w, &other, &ours, what, "")->error, ERR_CONFLICT);
        CHECK_ERR(report(t.w, &liar, &ours, what, "")->error, ERR_NOT_FOUND);
        CHECK_ERR(report(t.w, &t.runner, &old, what, "")->error,
                  old.fence ? ERR_CONFLICT : ERR_INVALID);
        CHECK_ERR(report(t.w, &t.runner, &future, what, "")->error, ERR_CONFLICT);
        CHECK_ERR(report(t.w, &t.runner, &none, what, "")->error, ERR_NOT_FOUND);
        reports++;
    }
    CHECK_INT(reports, 6);
    CHECK_STR(show_tree(t.w, &t.ours), arena_copy(check_arena(), before).at);
    world_close(t.w);
}

TEST(runner_speaks_for_no_other_runner_and_sees_no_state)
{
    struct threat t = threat_new();
    struct fake_runner other = fake_runner_new(t.w, "elsewhere");
    str before = show_tree(t.w, &t.ours), id = t.runner.id;

    act_as(t.w, other.token);
    CHECK_ERR(call(t.w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(t.w, "runner.heartbeat", "{'runner_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_NOT_FOUND);
    CHECK_STR(at(call(t.w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(id)),
                 "/deregistered"),
              "true");
    CHECK_ERR(
        call(t.w, "state.read", "{'state_id':'" STR_FMT "'}", STR_ARG(t.ours.state_id))->error,
        ERR_FORBIDDEN);
    CHECK_STR(show_tree(t.w, &t.ours), arena_copy(check_arena(), before).at);
    world_close(t.w);
}

TEST(sign_of_life_of_a_runner_does_not_lengthen_the_lease_of_anothers_run)
{
    struct threat t = threat_new();
    struct fake_runner other = fake_runner_new(t.w, "elsewhere");
    int64_t lease_ms = team_rules_default.lease_ms;
    str id = t.ours.left.run_id;

    t.w->now_ms += lease_ms - 1000;
    act_as(t.w, other.token);
    CHECK_OK(call(t.w, "runner.heartbeat", "{'runner_id':'" STR_FMT "','runs':['" STR_FMT "']}",
                  STR_ARG(other.id), STR_ARG(id))
                 ->error);
    world_pass(t.w, 2000);
    t.w->actor = the_operator;
    struct command *c = call(t.w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "pending");
    world_close(t.w);
}

// clang-format off
static const struct {
    const char *usage;
    enum error_kind kind; /* 0: taken */
} usages[] = {
    { "{'input_tokens':9223372036854775807,'output_tokens':9223372036854775807,'cost_usd':1e300}", 0 },
    { "{'input_tokens':9223372036854775807,'output_tokens':1,'cost_usd':9e12}",                     0 },
    { "{'input_tokens':1e308,'output_tokens':1e18,'cost_usd':1e308}",                               0 },
    { "{'cost_usd':9223372036854.5}",                                                              0 },
    { "{'models':{'m':{'n':1e308}}}",                                                              0 },
    { "{'models':{'m':{'n':1.5e308}}}",                                                            0 },
    { "{'models':{'m':[[[[[[]]]]]]}}",                                                             0 },
    { "{'models':{'m':9223372036854775807}}",                                                      0 },
    { "{'models':{'m':9223372036854775807}}",                                                      0 },
    { "{'input_tokens':-1}",                                                                       ERR_INVALID },
    { "{'cost_usd':-0.01}",                                                                        ERR_INVALID },
    { "{'input_tokens':'many'}",                                                                   ERR_INVALID },
    { "{'input_tokens':0.5}",                                                                      ERR_INVALID },
    { "{'models':[]}",                                                                             ERR_INVALID },
};
// clang-format on

/* Sums are never less than before, nor less than nothing. */
TEST(false_usage_cannot_break_the_sums)
{
    struct threat t = threat_new();
    int64_t spent = 0, now;

    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++) {
        t.w->actor = the_operator;
        struct turn turn = { .fence = 0 };
        CHECK_OK(call(t.w, "run.create",
                      i ? "{'type':'resume_session','session_name':'spender','prompt':'p'}"
                        : "{'type':'start_session','session_name':'spender','prompt':'p'}")
                     ->error);
        turn = claim(t.w, &t.runner);
        CHECK_OK(report(t.w, &t.runner, &turn, "started", "")->error);
        str more = arena_printf(check_arena(), ",'client_id':'c','usage':%s", usages[i].usage);
        err e = report(t.w, &t.runner, &turn, "completed", more.at)->error;
        CHECK_INT(e ? e->kind : 0, usages[i].kind);
        if (e)
            CHECK_OK(report(t.w, &t.runner, &turn, "completed", ",'client_id':'c'")->error);
        struct command *c = call(t.w, "session.get", "{'session_id':'spender'}");
        CHECK(str_to_int(at(c, "/usage/input_tokens"), &now));
        CHECK(now >= spent);
        spent = now;
        CHECK(at(c, "/usage/cost_usd").at[0] != '-');
    }
    CHECK(spent == INT64_MAX);
    world_close(t.w);
}
