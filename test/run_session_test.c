/* run_session_test.c: a session and its runs: what can be asked for, by whom, and who sees it. */
#include "json/schema/schema.h"
#include "runners.h"
#include "sim/both.h"

TEST(the_second_run_of_a_busy_session_waits_for_the_first)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':5"),
                       b = fake_runner_new(w, "b", ",'capacity':5");
    str first = start(w, "root", ""), second = resume(w, "root", ",'priority':9"),
        third = resume(w, "root", "");
    struct claim held = claim(w, &a);

    must_be(held.run_id, first);
    CHECK_STR(show(w, second, "/queued"), "false");
    CHECK_OK(report(w, &a, &held, "started", ",'client_id':'abc'")->error);
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "running");
    /* The conversation is where it was begun. */
    CHECK_STR(show(w, second, "/demands/hostname"), "a");
    CHECK_STR(claim(w, &b).run_id, "");
    held = claim(w, &a);
    must_be(held.run_id, second);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(third))->error);
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "finished");
    CHECK_STR(at(call(w, "run.list", "{'session':'root'}"), "/runs/2/status"), "stopped");
    world_end(w);
}

TEST(what_cannot_be_asked_for_is_refused_and_the_message_says_what_can)
{
    static const struct {
        const char *input;
        enum error_kind kind;
        const char *says;
    } cases[] = {
        { "{'type':'start_session','prompt':'x'}", ERR_INVALID, "session_name" },
        { "{'type':'start_session','prompt':'x','session_name':'root'}", ERR_CONFLICT,
          "`baton session resume root`" },
        { "{'type':'resume_session','prompt':'x','session_name':'nobody'}", ERR_NOT_FOUND,
          "nobody" },
        { "{'type':'resume_session','prompt':'x','session_name':'mine'}", ERR_CONFLICT,
          "not started from here" },
        { "{'type':'start_session','prompt':'x','session_name':'b a d'}", ERR_INVALID, "name" },
        { "{'type':'start_session','prompt':'x','session_name':'n','callback':true,"
          "'execution_mode':'sync'}",
          ERR_INVALID, "async_callback" },
        { "{'type':'start_session','prompt':'x','session_name':'n','parent_session_name':'no'}",
          ERR_NOT_FOUND, "no" },
        { "{'type':'start_session','prompt':'x','session_name':'n','argv':['sh']}", ERR_INVALID,
          "argv" },
    };
    struct world *w = world_new();

    start(w, "root", "");
    CHECK_OK(call(w, "session.create", "{'session_name':'mine'}")->error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c = world_call(w, "run.create", cases[i].input, "");
        CHECK_ERR(c->error, cases[i].kind);
        if (!strstr(arena_copy(check_arena(), c->error->message).at, cases[i].says))
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, cases[i].input,
                       STR_ARG(c->error->message));
    }
    world_end(w);
}

TEST(a_session_made_by_hand_can_be_started_once)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");

    CHECK_OK(call(w, "session.create", "{'session_name':'mine'}")->error);
    str run = start(w, "mine", "");
    must_be(claim(w, &a).run_id, run);
    CHECK_ERR(world_call(w, "run.create",
                         "{'type':'start_session','prompt':'x','session_name':'mine'}", "")
                  ->error,
              ERR_CONFLICT);
    world_end(w);
}

/* A session that no runner could take is not lost: it can be started again. */
TEST(a_session_that_had_no_turn_can_be_started_again)
{
    struct world *w = world_new();
    str first = start(w, "root", "");

    world_pass(w, MATCH_MS);
    CHECK_RUN(w, first, "failed");
    struct fake_runner a = fake_runner_new(w, "a", "");
    str second = start(w, "root", "");
    must_be(claim(w, &a).run_id, second);
    world_end(w);
}

TEST(a_session_reaches_what_it_started_and_nothing_else)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", ",'capacity':5");
    str other = start(w, "other", "");
    start(w, "root", ",'project_dir':'/src','priority':1");
    struct claim held = claim(w, &a);
    CHECK_OK(report(w, &a, &held, "started", "")->error);

    act_as(w, held.token);
    str child = at(call(w, "session.start", "{'session_name':'child','prompt':'x'}"), "/run_id");
    CHECK_STR(show(w, child, "/execution_mode"), "async_callback");
    CHECK_STR(show(w, child, "/project_dir"), "/src");
    CHECK_ERR(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(other))->error, ERR_NOT_FOUND);
    CHECK_ERR(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(other))->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(w, "session.start",
                   "{'session_name':'x','prompt':'x','project_dir':'/src/../etc'}")
                  ->error,
              ERR_FORBIDDEN);
    CHECK_ERR(call(w, "session.resume", "{'session_name':'root','prompt':'x'}")->error,
              ERR_FORBIDDEN);
    CHECK_ERR(call(w, "session.start", "{'session_name':'other','prompt':'x'}")->error,
              ERR_CONFLICT);
    must_be(at(call(w, "run.list", "{}"), "/runs/0/run_id"), held.run_id);
    must_be(at(call(w, "run.list", "{'session':'child'}"), "/runs/0/run_id"), child);
    CHECK_ERR(call(w, "run.list", "{'session':'other'}")->error, ERR_NOT_FOUND);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(child))->error);
    w->actor = the_operator;
    world_end(w);
}

/* Whoever sees one state sees the runs of the tree that has it. */
TEST(a_viewer_of_one_state_sees_the_runs_of_its_tree_alone)
{
    struct world *w = world_new();

    CHECK_OK(call(w, "schema.create", "{'name':'any','json_schema':true}")->error);
    str other = start(w, "other", ""), run = start(w, "root", "");
    str state =
        at(call(w, "state.create", "{'schema_name':'any','initial_data':1,'root_session':'root'}"),
           "/state_id");
    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer"), .state_id = state };
    must_be(show(w, run, "/run_id"), run);
    CHECK_ERR(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(other))->error, ERR_NOT_FOUND);
    const char *const lists[] = { "{}", "{'status':'pending'}" };
    for (int i = 0; i < 2; i++) {
        struct command *c = call(w, "run.list", "%s", lists[i]);
        must_be(at(c, "/runs/0/run_id"), run);
        CHECK(!strstr(at(c, "/runs").at, "\"other\""));
    }
    w->actor = the_operator;
    world_end(w);
}

TEST(whoever_wants_the_result_waits_for_it_after_the_commit)
{
    struct world *w = world_new();
    struct command *c = call(w, "run.create",
                             "{'type':'start_session','session_name':'root','prompt':'go',"
                             "'execution_mode':'sync','timeout':7}");

    CHECK_OK(c->error);
    CHECK(c->answer.then && strcmp(c->answer.then, "session.result") == 0);
    CHECK_INT(json_int_or(&c->answer.then_input, "timeout", 0), 7);
    CHECK_OK(schema_require(check_arena(),
                            op_input_schema(w->table, op_find(w->table, str_from(c->answer.then))),
                            &c->answer.then_input));
    world_end(w);
}

/* ---- where a conversation is ---- */

/* A runner of the machine "box". */
static struct fake_runner on_box(struct world *w, const char *name, const char *more)
{
    struct fake_runner m = { .token = arena_printf(check_arena(), "rn_%s", name) };

    be(w, &m);
    m.id = at(call(w, "runner.register", "{'hostname':'box','name':'%s'%s}", name, more),
              "/runner_id");
    w->actor = the_operator;
    return m;
}

/* Has a first turn of a session run by one, which says where. */
static void turn_by(struct world *w, const struct fake_runner *m, const char *session,
                    const char *dir)
{
    CHECK_OK(call(w, "run.create",
                  "{'type':'start_session','session_name':'%s','prompt':'go','agent_name':'coder'}",
                  session)
                 ->error);
    be(w, m);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    str run = at(c, "/run/run_id"), fence = at(c, "/run/fence");
    CHECK_OK(call(w, "runner.started",
                  "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':" STR_FMT
                  ",'project_dir':'%s'}",
                  STR_ARG(m->id), STR_ARG(run), STR_ARG(fence), dir)
                 ->error);
    CHECK_OK(call(w, "runner.completed",
                  "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':" STR_FMT
                  ",'client_id':'c-1','result':'ok'}",
                  STR_ARG(m->id), STR_ARG(run), STR_ARG(fence))
                 ->error);
    w->actor = the_operator;
}

/* Whether it gets a run now. */
static bool gets_one(struct world *w, const struct fake_runner *m, const char *dir)
{
    be(w, m);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    w->actor = the_operator;
    CHECK_OK(c->error);
    if (c->answer.waits || c->answer.empty)
        return false;
    CHECK_STR(at(c, "/run/project_dir"), dir);
    return true;
}

/* Two runners of one machine, of which one has the conversation: by their directories, or by the
 * users that they run agents as. */
TEST_BOTH(resumed_turn_goes_where_its_conversation_is)
{
    static const struct {
        const char *one, *other;
    } pairs[] = {
        { ",'project_dir':'/srv/a'", ",'project_dir':'/srv/b'" },
        { ",'user':'alice'", ",'user':'bob'" },
        { ",'user':'alice','project_dir':'/srv/a'", ",'user':'bob','project_dir':'/srv/a'" },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct world *w = world_new();
        answer(w, "agent.create", "{'name':'coder','profile':'shell','args':['x']}");
        struct fake_runner one = on_box(w, "one", pairs[i].one);
        struct fake_runner other = on_box(w, "other", pairs[i].other);
        turn_by(w, &one, "talk", "/srv/a");
        struct command *c = call(w, "run.create",
                                 "{'type':'resume_session','session_name':'talk','prompt':'more'}");
        CHECK_OK(c->error);
        CHECK(!gets_one(w, &other, ""));
        /* It is the same runner after a restart, and gets it, in the folder where it was. */
        one = on_box(w, "one", pairs[i].one);
        CHECK(gets_one(w, &one, "/srv/a"));
        world_end(w);
    }
}

/* One whose runner is gone waits, and then fails and says who has it. */
TEST_BOTH(conversation_whose_runner_is_gone_goes_to_nobody_else)
{
    struct world *w = world_new();

    answer(w, "agent.create", "{'name':'coder','profile':'shell','args':['x']}");
    struct fake_runner one = on_box(w, "one", ",'user':'alice'");
    turn_by(w, &one, "talk", "/srv/a");
    CHECK_OK(call(w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(one.id))->error);
    struct command *c =
        call(w, "run.create", "{'type':'resume_session','session_name':'talk','prompt':'more'}");
    str id = at(c, "/run_id");
    for (int i = 0; i < 12; i++) {
        on_box(w, "other", ",'user':'bob'");
        world_pass(w, MATCH_MS / 10);
    }
    c = call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "failed");
    CHECK(
        strstr(at(c, "/error").at, "hostname box, user alice, profile shell, project_dir /srv/a"));
    CHECK(strstr(at(c, "/error").at, "which has its conversation"));
    CHECK(strstr(at(c, "/error").at, "runner other on box as bob"));
    world_end(w);
}

/* Whoever asks for a result is told when it is the end of a longer one, and where the rest is. */
TEST_BOTH(result_that_was_cut_says_so)
{
    struct world *w = world_new();

    answer(w, "agent.create", "{'name':'coder','profile':'shell','args':['x']}");
    for (int cut = 0; cut < 2; cut++) {
        struct fake_runner m = on_box(w, "one", "");
        CHECK_OK(call(w, "run.create",
                      "{'type':'start_session','session_name':'s%d','prompt':'go',"
                      "'agent_name':'coder'}",
                      cut)
                     ->error);
        struct claim held = claim(w, &m);
        CHECK_OK(report(w, &m, &held, "started", "")->error);
        CHECK_OK(report(w, &m, &held, "completed",
                        cut ? ",'result':'end','result_truncated':true" : ",'result':'end'")
                     ->error);
        const struct json *r = answer_of(call(w, "session.result", "{'session_id':'s%d'}", cut));
        CHECK_INT(json_bool_or(r, "truncated", false), cut);
        CHECK_INT(strstr(json_str(r, "hint").at, "baton logs") != NULL, cut);
        r = answer_of(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(held.run_id)));
        CHECK_INT(json_bool_or(r, "truncated", false), cut);
    }
    world_end(w);
}

/* ---- names that were used before ---- */

TEST(a_name_is_free_again_when_its_session_was_deleted)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");

    start(w, "worker", "");
    struct claim held = claim(w, &a);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    struct command *c =
        call(w, "run.create", "{'type':'start_session','session_name':'worker','prompt':'again'}");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK(
        strstr(c->error->message.at, "is finished: go on with it (`baton session resume worker`)"));
    CHECK(strstr(c->error->message.at, "delete it (`baton session delete worker`) to begin anew"));
    c = call(w, "session.create", "{'session_name':'worker'}");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK(strstr(c->error->message.at, "`baton session delete worker`"));
    CHECK_OK(call(w, "session.delete", "{'session_id':'worker'}")->error);
    start(w, "worker", "");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'worker'}"), "/cycle"), "1");
    world_close(w);
}

/* ---- sections ---- */

TEST(a_session_is_started_with_sections_that_it_may_write)
{
    struct world *w = world_new();

    start(w, "root", ",'pointers':['/a','/b']");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/pointers"), "[\"/a\",\"/b\"]");
    CHECK_OK(call(w, "session.start",
                  "{'session_name':'below','prompt':'go','parent_session_name':'root',"
                  "'pointers':['/a/x']}")
                 ->error);
    CHECK_STR(at(call(w, "session.get", "{'session_id':'below'}"), "/pointers"), "[\"/a/x\"]");
    CHECK_ERR(refused(w, "session.start",
                      "{'session_name':'more','prompt':'go','parent_session_name':'root',"
                      "'pointers':['/c']}"),
              ERR_FORBIDDEN);
    CHECK_ERR(refused(w, "run.create",
                      "{'type':'start_session','session_name':'bad','prompt':'go',"
                      "'pointers':['a']}"),
              ERR_INVALID);
    /* One that was registered before has what it was registered with. */
    answer(w, "session.create", "{'session_name':'known','pointers':['/a']}");
    CHECK_ERR(refused(w, "run.create",
                      "{'type':'start_session','session_name':'known','prompt':'go',"
                      "'pointers':['/b']}"),
              ERR_CONFLICT);
    start(w, "known", ",'pointers':['/a']");
    world_close(w);
}
