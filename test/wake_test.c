/* wake_test.c: how the idle client of an agent that a person started is woken: nothing is lost, nothing
 * comes twice, whoever dies. */
#include "hooks_fixture.h"

static struct command *asks(struct fixture *t, const char *waker)
{
    t->w->actor = the_operator;
    return call(t->w, "wake.take",
                "{'client':'claude','conversation':'" A "','waker':'%s','way':'rewake'}", waker);
}

static const char *status(const struct command *c)
{
    return c->answer.waits ? "waits" : arena_copy(check_arena(), at(c, "/status")).at;
}

/* A waker that is there: the first question only registers it. */
static void waits(struct fixture *t, const char *waker)
{
    CHECK_STR(str_from(status(asks(t, waker))), "none");
    CHECK_STR(str_from(status(asks(t, waker))), "waits");
}

static void settled(struct fixture *t)
{
    wrote(t, "child");
    done(t, "own");
    is(t, "child", "finished skipped!");
}

/* A root that sits idle, whose child has begun. */
static struct fixture *fixture_idle(void)
{
    struct fixture *t = fixture_with_child();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    SILENT(hook(t, "claude", A, "Stop", ""));
    is(t, A_NAME, "idle -");
    return t;
}

static str marker(const struct command *c)
{
    str text = at(c, "/text"), head, rest;

    CHECK(str_starts(text, STR("[baton cb_")));
    CHECK(str_cut(text, ']', &head, &rest));
    return arena_printf(check_arena(), STR_FMT "]", STR_ARG(head));
}

/* The prompt that a client makes of what a waker printed. */
static str woken(struct fixture *t, str mark)
{
    return hook(t, "claude", A, "UserPromptSubmit",
                arena_printf(check_arena(), "'prompt':'<task-notification> " STR_FMT " text'",
                             STR_ARG(mark))
                    .at);
}

TEST(idle_client_is_woken_once_when_its_child_settles)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    struct command *c = asks(t, "waker-1");
    CHECK_STR(at(c, "/status"), "news");
    CHECK_HAS(at(c, "/text"), "Session `child` has completed");
    str mark = marker(c);
    SILENT(woken(t, mark)); /* the receipt; nothing is told again */
    CHECK_STR(str_from(status(asks(t, "waker-1"))), "waits");
    CHECK_HAS(woken(t, mark), "'decision':'block'");
    fixture_free(t);
}

TEST(waker_that_lost_its_answer_gets_the_same_again)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    str first = at(asks(t, "waker-1"), "/text");
    CHECK(str_eq(at(asks(t, "waker-1"), "/text"), first));
    /* In flight, it is not told by another way. */
    SILENT(hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash'"));
    fixture_free(t);
}

TEST(newest_waker_has_it_and_the_older_ones_end)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    waits(t, "waker-2");
    CHECK_STR(at(asks(t, "waker-1"), "/status"), "superseded");
    settled(t);
    CHECK_STR(at(asks(t, "waker-1"), "/status"), "superseded");
    CHECK_STR(at(asks(t, "waker-2"), "/status"), "news");
    fixture_free(t);
}

TEST(client_at_work_hears_by_its_own_hooks_first)
{
    struct fixture *t = fixture_with_child();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    waits(t, "waker-1");
    settled(t);
    struct command *c = asks(t, "waker-1");
    CHECK(c->answer.waits && c->answer.wait_again_ms > 0);
    CHECK_HAS(hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash'"), "has completed");
    after_ms(t, 2000);
    CHECK_STR(str_from(status(asks(t, "waker-1"))), "waits");
    fixture_free(t);
}

/* Its turn was ended by Esc, which no hook tells of. */
TEST(client_that_seems_to_work_is_woken_after_the_grace)
{
    struct fixture *t = fixture_with_child();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    waits(t, "waker-1");
    settled(t);
    after_ms(t, 2000);
    CHECK_STR(at(asks(t, "waker-1"), "/status"), "news");
    fixture_free(t);
}

TEST(what_never_arrived_is_offered_again_after_a_stop)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    str mark = marker(asks(t, "waker-1")); /* and then it is killed */
    SILENT(hook(t, "claude", A, "Stop", ""));
    waits(t, "waker-2"); /* it may be queued behind the turn: not yet */
    after_ms(t, 5000);
    CHECK(str_eq(marker(asks(t, "waker-2")), mark));
    fixture_free(t);
}

TEST(what_never_arrived_is_told_when_the_client_begins_again)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    marker(asks(t, "waker-1")); /* and then the client is killed */
    CHECK_HAS(hook(t, "claude", A, "SessionStart", "'source':'resume'"), "has completed");
    waits(t, "waker-2");
    fixture_free(t);
}

TEST(what_never_arrived_waits_for_the_next_who_resumes)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    marker(asks(t, "waker-1"));
    hook(t, "claude", A, "SessionEnd", "'reason':'other'");
    CHECK_STR(at(asks(t, "waker-1"), "/status"), "superseded");
    CHECK_HAS(hook(t, "claude", A, "SessionStart", "'source':'resume'"), "has completed");
    fixture_free(t);
}

TEST(end_of_a_conversation_ends_its_wakers)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    hook(t, "claude", A, "SessionEnd", "'reason':'clear'");
    CHECK_STR(at(asks(t, "waker-1"), "/status"), "superseded");
    hook(t, "claude", A, "SessionStart", "'source':'resume'");
    waits(t, "waker-2");
    fixture_free(t);
}

TEST(waking_can_be_turned_off)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    CHECK_OK(call(t->w, "session.update", "{'session_id':'" A_NAME "','wake':false}")->error);
    CHECK_HAS(at(asks(t, "waker-1"), "/reason"), "off for this session");
    CHECK_OK(call(t->w, "session.update", "{'session_id':'" A_NAME "','wake':true}")->error);
    CHECK_STR(str_from(status(asks(t, "waker-1"))), "waits");
    t->w->actor = the_operator;
    CHECK_HAS(at(call(t->w, "wake.take", "{'session_id':'child','waker':'waker-9','way':'queue'}"),
                 "/reason"),
              "no such session");
    fixture_free(t);
}

TEST(resumed_conversation_is_told_what_it_was_told_last)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    str mark = marker(asks(t, "waker-1"));
    woken(t, mark); /* and the client is killed */
    str id = str_slice(mark, 7, mark.len - 1);
    CHECK_HAS(
        hook(t, "claude", A, "SessionStart", "'source':'resume'"),
        arena_printf(check_arena(), "Told last: [" STR_FMT "] the end of `child`", STR_ARG(id)).at);
    fixture_free(t);
}

TEST(queue_keeps_what_it_was_handed_and_gives_back_what_it_could_not)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    str mark = marker(asks(t, "waker-1"));
    CHECK_OK(call(t->w, "wake.report", "{'waker':'waker-1','failed':'codex is not there'}")->error);
    CHECK(str_eq(marker(asks(t, "waker-1")), mark));
    CHECK_OK(call(t->w, "wake.report", "{'waker':'waker-1','handed':true}")->error);
    CHECK_STR(str_from(status(asks(t, "waker-1"))), "waits");
    CHECK(!str_contains(hook(t, "claude", A, "SessionStart", "'source':'resume'"),
                        STR("has completed"))); /* it survives that */
    SILENT(woken(t, mark));
    CHECK_ERR(refused(t->w, "wake.report", "{'waker':'nobody-here','handed':true}"), ERR_NOT_FOUND);
    fixture_free(t);
}

TEST(message_of_a_person_wakes_and_that_of_an_agent_does_not)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    as_session(t, "child");
    CHECK_ERR(call(t->w, "message.send", "{'to':'" A_NAME "','message':'psst'}")->error,
              ERR_NOT_FOUND); /* it is above */
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "message.send", "{'to':'" A_NAME "','message':'come'}")->error);
    struct command *c = asks(t, "waker-1");
    CHECK_HAS(at(c, "/text"), "from the person who runs this");
    CHECK(str_starts(at(c, "/ids/0"), STR("msg_")));
    fixture_free(t);
}

/* A person may quote what they like. */
TEST(prompt_of_a_person_is_never_taken_for_a_double)
{
    struct fixture *t = fixture_idle();

    waits(t, "waker-1");
    settled(t);
    str mark = marker(asks(t, "waker-1"));
    woken(t, mark);
    SILENT(hook(
        t, "claude", A, "UserPromptSubmit",
        arena_printf(check_arena(), "'prompt':'what was " STR_FMT " about?'", STR_ARG(mark)).at));
    SILENT(hook(t, "claude", A, "UserPromptSubmit",
                "'prompt':'[baton ] [baton cb_] [baton cb_unknown msg_x'"));
    fixture_free(t);
}

/* ---- a runner in place of a waker that is gone ---- */

#define QUEUE(at) \
    "'host':'" at "','user':'ann','client_home':'/home/ann/.codex','client_path':'/opt/bin:/bin'"

/* A Codex that tells where its queue is, idle, whose child has begun. `more`: of that hook. */
static struct fixture *fixture_codex(const char *more)
{
    struct fixture *t = fixture_new();

    as_runner(t);
    t->runner = json_str(answer_of(call(t->w, "runner.register",
                                        "{'hostname':'here','user':'ann','capacity':10}")),
                         "runner_id");
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "hook.event",
                  "{'client':'codex',%s,'event':{'session_id':'" A
                  "','cwd':'/home/ann/shop','hook_event_name':'UserPromptSubmit','prompt':'x'}}",
                  more)
                 ->error);
    start(t, "codex-shop-11111111", "child", "");
    begin(t, "child");
    SILENT(hook(t, "codex", A, "Stop", ""));
    return t;
}

static const struct json *errand(struct fixture *t)
{
    as_runner(t);
    struct command *c =
        call(t->w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    t->w->actor = the_operator;
    CHECK_OK(c->error);
    return c->answer.waits || c->answer.empty ? NULL : json_get(answer_of(c), "wake");
}

static struct command *errand_report(struct fixture *t, const struct json *e, const char *how)
{
    as_runner(t);
    struct command *c = call(t->w, "runner.woken",
                             "{'runner_id':'" STR_FMT "','waker':'" STR_FMT "',%s}",
                             STR_ARG(t->runner), STR_ARG(json_str(e, "waker")), how);
    t->w->actor = the_operator;
    return c;
}

static struct command *bridge_asks(struct fixture *t)
{
    t->w->actor = the_operator;
    return call(t->w, "wake.take",
                "{'client':'codex','conversation':'" A "','waker':'bridge','way':'queue'}");
}

static str errand_mark(const struct json *e)
{
    str head, rest;

    CHECK(str_cut(json_str(e, "text"), ']', &head, &rest));
    return arena_printf(check_arena(), STR_FMT "]", STR_ARG(head));
}

TEST(runner_wakes_a_client_whose_own_waker_is_gone)
{
    struct fixture *t = fixture_codex(QUEUE("here"));

    done(t, "own");    /* which settles it: there is no state */
    CHECK(!errand(t)); /* its own waker would go first */
    after_ms(t, 7000);
    const struct json *e = errand(t);
    CHECK_STR(json_str(e, "conversation"), A);
    CHECK_STR(json_str(e, "home"), "/home/ann/.codex");
    CHECK_STR(json_str(e, "path"), "/opt/bin:/bin");
    CHECK_HAS(json_str(e, "text"), "Session `child` has completed");
    CHECK(!errand(t));
    CHECK_OK(errand_report(t, e, "'handed':true")->error);
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    SILENT(hook(
        t, "codex", A, "UserPromptSubmit",
        arena_printf(check_arena(), "'prompt':'" STR_FMT " text'", STR_ARG(errand_mark(e))).at));
    CHECK_HAS(
        hook(
            t, "codex", A, "UserPromptSubmit",
            arena_printf(check_arena(), "'prompt':'" STR_FMT " text'", STR_ARG(errand_mark(e))).at),
        "'decision':'block'");
    fixture_free(t);
}

/* Who is there takes it at once, and is not superseded by a runner that has stood in for it. */
TEST(waker_beside_its_client_goes_before_a_runner)
{
    struct fixture *t = fixture_codex(QUEUE("here"));

    CHECK_STR(str_from(status(bridge_asks(t))), "none");
    done(t, "own");
    CHECK_STR(str_from(status(bridge_asks(t))), "news");
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    CHECK_OK(call(t->w, "wake.report", "{'waker':'bridge','failed':'no'}")->error);
    after_ms(t, 7000); /* it was away for so long */
    const struct json *e = errand(t);
    CHECK(e);
    CHECK_STR(str_from(status(bridge_asks(t))), "waits");
    CHECK_OK(errand_report(t, e, "'failed':'there is no program codex'")->error);
    CHECK_STR(str_from(status(bridge_asks(t))), "news");
    fixture_free(t);
}

/* The server does not hear how it went: it is offered again, to whoever is there then. */
TEST(errand_of_a_runner_that_died_is_offered_again)
{
    struct fixture *t = fixture_codex(QUEUE("here"));

    done(t, "own");
    after_ms(t, 7000);
    const struct json *first = errand(t);
    after_ms(t, 60 * 1000); /* the time of a lease */
    CHECK(!errand(t));
    after_ms(t, 7000);
    const struct json *second = errand(t);
    CHECK(second && !str_eq(json_str(first, "waker"), json_str(second, "waker")));
    CHECK(str_eq(errand_mark(first), errand_mark(second)));
    SILENT(hook(
        t, "codex", A, "UserPromptSubmit",
        arena_printf(check_arena(), "'prompt':'" STR_FMT "'", STR_ARG(errand_mark(first))).at));
    CHECK_OK(errand_report(t, first, "'handed':true")->error);
    CHECK_OK(errand_report(t, second, "'failed':'too late'")->error);
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    fixture_free(t);
}

TEST(queue_that_fails_again_and_again_is_none_until_a_hook_tells_of_it)
{
    static const int64_t waits_ms[] = { 7000, 28000, 112000 };
    struct fixture *t = fixture_codex(QUEUE("here"));

    done(t, "own");
    for (int i = 0; i < 3; i++) {
        after_ms(t, waits_ms[i] - 1);
        CHECK(!errand(t));
        after_ms(t, 1);
        const struct json *e = errand(t);
        CHECK(e);
        CHECK_OK(errand_report(t, e, "'failed':'no such thread'")->error);
    }
    after_ms(t, 24 * 3600 * 1000);
    CHECK(!errand(t));
    t->w->actor = the_operator; /* one that carries nothing */
    CHECK_OK(call(t->w, "hook.event",
                  "{'client':'codex'," QUEUE("here") ",'event':{'session_id':'" A
                                                     "','hook_event_name':'PostToolUseFailure'}}")
                 ->error);
    after_ms(t, 7000);
    CHECK(errand(t));
    fixture_free(t);
}

TEST(runners_of_other_machines_and_users_are_given_no_errands)
{
    struct fixture *t = fixture_codex(QUEUE("there"));

    done(t, "own");
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    fixture_free(t);

    t = fixture_codex("'host':'here','user':'bob','client_home':'/home/bob/.codex'");
    done(t, "own");
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    fixture_free(t);
}

TEST(runner_at_its_capacity_hears_of_errands_with_its_sign_of_life)
{
    struct fixture *t = fixture_codex(QUEUE("here"));

    done(t, "own");
    after_ms(t, 7000);
    as_runner(t);
    struct command *c =
        call(t->w, "runner.heartbeat", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    CHECK_HAS(at(c, "/wake/text"), "Session `child` has completed");
    t->w->actor = (struct actor){ .kind = ACTOR_RUNNER, .name = STR("x"), .token_id = STR("rn_2") };
    as_runner(t);
    str other =
        json_str(answer_of(call(t->w, "runner.register", "{'hostname':'here2'}")), "runner_id");
    str report = arena_printf(check_arena(),
                              "{'runner_id':'" STR_FMT "','waker':'" STR_FMT "','handed':true}",
                              STR_ARG(other), STR_ARG(at(c, "/wake/waker")));
    CHECK_ERR(refused(t->w, "runner.woken", report.at), ERR_NOT_FOUND); /* another one's */
    CHECK_OK(call(t->w, "runner.woken",
                  "{'runner_id':'" STR_FMT "','waker':'wkr_gone','failed':'x'}", STR_ARG(other))
                 ->error);
    fixture_free(t);
}

/* What it says would be run by a runner. */
TEST(session_is_not_believed_where_its_queue_is)
{
    struct fixture *t = fixture_codex("'host':'here'");

    done(t, "own");
    as_session(t, "child");
    CHECK_OK(call(t->w, "hook.event",
                  "{'client':'codex'," QUEUE("here") ",'event':{'session_id':'own',"
                                                     "'hook_event_name':'UserPromptSubmit'}}")
                 ->error);
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    fixture_free(t);
}

TEST(news_that_come_later_do_not_put_off_what_waits)
{
    struct fixture *t = fixture_codex(QUEUE("here"));

    done(t, "own");
    for (int i = 0; i < 3; i++) {
        after_ms(t, 2000);
        CHECK_OK(
            call(t->w, "message.send", "{'to':'codex-shop-11111111','message':'come'}")->error);
    }
    after_ms(t, 1000);
    const struct json *e = errand(t);
    CHECK_HAS(json_str(e, "text"), "Session `child` has completed");
    CHECK_HAS(json_str(e, "text"), "from the person who runs this");
    fixture_free(t);
}

TEST(client_that_has_ended_is_woken_by_no_runner)
{
    struct fixture *t = fixture_codex(QUEUE("here"));

    done(t, "own");
    hook(t, "codex", A, "SessionEnd", "'reason':'other'");
    after_ms(t, 3600 * 1000);
    CHECK(!errand(t));
    fixture_free(t);
}

/* ---- clients that cannot be woken ---- */

static str unheard(struct fixture *t)
{
    t->w->actor = the_operator;
    return json_shown(check_arena(), answer_of(call(t->w, "wake.list", "{}")));
}

TEST(news_that_no_client_is_woken_for_are_listed_until_it_has_heard)
{
    struct fixture *t = fixture_new();

    hook(t, "gemini", A, "BeforeAgent", "'prompt':'x'");
    start(t, "gemini-shop-11111111", "child", "");
    begin(t, "child");
    SILENT(hook(t, "gemini", A, "AfterAgent", ""));
    done(t, "own");
    CHECK_STR(unheard(t), "{'unheard':[]}"); /* it could still be woken */
    after_ms(t, 6999);
    CHECK_STR(unheard(t), "{'unheard':[]}");
    after_ms(t, 1);
    CHECK_HAS(unheard(t), "'session_name':'gemini-shop-11111111','ends':1,'messages':0,'since':'");
    CHECK_OK(call(t->w, "message.send", "{'to':'gemini-shop-11111111','message':'come'}")->error);
    CHECK_HAS(unheard(t), "'ends':1,'messages':1,");
    CHECK_HAS(hook(t, "gemini", A, "BeforeAgent", "'prompt':'y'"), "has completed");
    CHECK_STR(unheard(t), "{'unheard':[]}");
    fixture_free(t);
}
