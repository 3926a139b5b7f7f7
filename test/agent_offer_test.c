/* agent_offer_test.c: agents that runners have as files, and who is meant by a name. */
#include "share_help.h"
#include "sim/both.h"

#define OFFERS                                                                               \
    ",'capacity':100,'agents':["                                                             \
    "{'name':'coder','source':'home','description':'of home'},"                              \
    "{'name':'coder','source':'project','project':'/src/shop','description':'of the shop'}," \
    "{'name':'writer','source':'data','model':'m'}]"

static str listed(struct world *w)
{
    const struct json *all = json_get(answer(w, "agent.list", "{}"), "agents");
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++) {
        const struct json *by = json_get(&all->items[i], "offered_by");
        buf_printf(&out, "%s" STR_FMT " " STR_FMT, i ? ", " : "",
                   STR_ARG(json_str(&all->items[i], "name")),
                   STR_ARG(json_str(&all->items[i], "source")));
        for (uint32_t k = 0; by && k < by->len; k++)
            buf_printf(&out, " " STR_FMT, STR_ARG(json_str(&by->items[k], "runner")));
    }
    return buf_str(&out);
}

TEST_BOTH(agents_of_runners_are_listed_with_who_has_them)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "one", OFFERS);

    fake_runner_new(w, "two", ",'agents':[{'name':'coder','source':'home'}]");
    CHECK_STR(listed(w), "coder project one one two, writer data one");
    CHECK_STR(at(call(w, "agent.list", "{'limit':1}"), "/next"), "coder");
    CHECK_STR(at(call(w, "agent.list", "{'after':'coder'}"), "/agents/0/model"), "m");
    CHECK_STR(at(call(w, "agent.list", "{}"), "/agents/0/offered_by/0/project"), "/src/shop");
    agent(w, "coder");
    CHECK_STR(listed(w), "coder api, writer data one");
    be(w, &m);
    CHECK_OK(call(w, "runner.heartbeat",
                  "{'runner_id':'" STR_FMT "','agents':[{'name':'tester','source':'data'}]}",
                  STR_ARG(m.id))
                 ->error);
    CHECK_OK(call(w, "runner.heartbeat", "{'runner_id':'" STR_FMT "'}", STR_ARG(m.id))->error);
    w->actor = the_operator;
    CHECK_STR(listed(w), "coder api, tester data one");
    world_pass(w, SILENT_MS);
    CHECK_STR(listed(w), "coder api");
    world_end(w);
}

TEST_BOTH(offers_that_are_none_are_refused)
{
    static const struct {
        const char *agents, *message;
    } cases[] = {
        { "[{'name':'a','source':'project'}]", "expected a \"project\" that begins with a slash" },
        { "[{'name':'a','source':'project','project':'x'}]", "begins with a slash" },
        { "[{'name':'a','source':'home','project':'/x'}]", "expected no \"project\"" },
        { "[{'name':'a b','source':'home'}]", "name" },
        { "[{'name':'a','source':'disk'}]", "source" },
        { "[{'source':'home'}]", "name" },
    };
    struct world *w = world_new();

    w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c =
            call(w, "runner.register", "{'hostname':'h','agents':%s}", cases[i].agents);
        CHECK(c->error && c->error->kind == ERR_INVALID);
        CHECK_HAS(c->error->message, cases[i].message);
    }
    w->actor = the_operator;
    world_end(w);
}

/* A claim, whose run is begun. */
static struct command *begun(struct world *w, const struct fake_runner *m)
{
    struct command *c = poll(w, m);
    struct claim taken = { .fence = 1 };

    if (!c->answer.waits) {
        taken.run_id = at(c, "/run/run_id");
        CHECK_OK(report(w, m, &taken, "started", "")->error);
    }
    return c;
}

/* Its word for where the agent is. */
static str source_of(struct world *w, const struct fake_runner *m)
{
    struct command *c = begun(w, m);

    return c->answer.waits ? STR("nothing") : at(c, "/run/agent_source");
}

TEST_BOTH(a_run_for_an_offered_agent_goes_to_a_runner_that_has_it_there)
{
    struct world *w = world_new();
    struct fake_runner other = fake_runner_new(w, "other", ",'capacity':100"),
                       m = fake_runner_new(w, "one", OFFERS);

    start(w, "a", ",'agent_name':'coder','project_dir':'/src/shop/web'");
    CHECK_STR(source_of(w, &other), "nothing");
    struct command *c = begun(w, &m);
    CHECK_STR(at(c, "/run/agent_source"), "project");
    CHECK_STR(at(c, "/run/agent"), "{\"name\":\"coder\"}");
    CHECK_STR(at(c, "/run/profile/name"), "claude");
    start(w, "b", ",'agent_name':'coder','project_dir':'/src/shopping'");
    CHECK_STR(source_of(w, &m), "home");
    start(w, "c", ",'agent_name':'writer'");
    c = begun(w, &m);
    CHECK_STR(at(c, "/run/agent_source"), "data");
    agent(w, "coder");
    start(w, "d", ",'agent_name':'coder','project_dir':'/src/shop'");
    CHECK_STR(source_of(w, &other), "registered");
    start(w, "e", ",'agent_name':'prose-writer'");
    c = begun(w, &other);
    CHECK_STR(at(c, "/run/agent_source"), "built_in");
    CHECK_STR(at(c, "/run/agent/name"), "prose-writer");
    start(w, "f", "");
    CHECK_STR(source_of(w, &other), "null");
    CHECK_HAS(refused(w, "run.create",
                      "{'type':'start_session','session_name':'g','prompt':'go',"
                      "'agent_name':'writr'}")
                  ->message,
              "did you mean \"writer\"?");
    world_end(w);
}

TEST_BOTH(what_an_offered_agent_began_goes_on_where_it_is_offered_again)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "one", OFFERS);

    start(w, "a", ",'agent_name':'writer'");
    struct turn t = turn_of(w, &m, "work");
    ends(w, &t);
    world_pass(w, SILENT_MS);
    resume(w, "a", "");
    struct fake_runner other = fake_runner_new(w, "one", ",'capacity':100");
    CHECK_STR(source_of(w, &other), "nothing"); /* the same one, which has the agent no more */
    m = fake_runner_new(w, "one", OFFERS);
    CHECK_STR(source_of(w, &m), "data");
    world_end(w);
}

TEST_BOTH(nobody_who_has_the_agent_is_told_with_its_name)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "one", OFFERS), other;

    str run = start(w, "a", ",'agent_name':'writer'");
    CHECK_OK(call(w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(m.id))->error);
    other = fake_runner_new(w, "other", "");
    pass_alive(w, &other, MATCH_MS);
    CHECK_HAS(show(w, run, "/error"), "agent writer");
    world_end(w);
}

TEST_BOTH(a_step_is_done_by_an_agent_that_a_runner_offers)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "one", OFFERS);

    deploy(w, "{'workflow':'x','steps':[{'id':'s','agent':'coder','outputs':['a']}]}");
    struct command *c = call(w, "execution.start", "{'workflow':'x','project_dir':'/src/shop'}");
    CHECK(!json_get(answer_of(c), "warnings"));
    str id = at(c, "/execution_id");
    struct turn t = turn_of(w, &m, "task");
    works(w, &t, id, "s", "{'a':1}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    world_pass(w, SILENT_MS);
    c = call(w, "execution.start", "{'workflow':'x','project_dir':'/src/shop'}");
    CHECK_HAS(at(c, "/warnings/0"), "nobody knows an agent \"coder\"");
    CHECK_HAS(seen(w, at(c, "/execution_id"), "/steps/0/waits_for"), "to be reported");
    world_end(w);
}
