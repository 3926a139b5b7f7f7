/* threat_session_test.c: what an agent cannot get with the token of its session: by what it asks for,
 * after its run, by much of it, and by what it says. */
#include <unistd.h>

#include "runner/stream.h"
#include "threats.h"

/* ---- what a session asks for ---- */

// clang-format off
static const struct {
    const char *more; /* of a request for a session below */
    enum error_kind kind;
} wishes[] = {
    { "'project_dir':'/etc'",                       ERR_FORBIDDEN },
    { "'project_dir':'/work'",                      ERR_FORBIDDEN },
    { "'project_dir':'/work/hereafter'",            ERR_FORBIDDEN },
    { "'project_dir':'/work/here/../there'",        ERR_FORBIDDEN },
    { "'project_dir':'/work/here/..'",              ERR_FORBIDDEN },
    { "'project_dir':'/work/here/x/../../..'",      ERR_FORBIDDEN },
    { "'project_dir':'work/here'",                  ERR_INVALID },
    { "'demands':{'project_dir':'/etc'}",           ERR_FORBIDDEN },
    { "'demands':{'profile':'/bin/sh'}",            ERR_NOT_FOUND },
    { "'demands':{'profile':'sh -c id'}",           ERR_NOT_FOUND },
    { "'agent_name':'nobody'",                      ERR_NOT_FOUND },
    { "'args':['/bin/sh']",                         ERR_INVALID },
    { "'argv':['/bin/sh']",                         ERR_INVALID },
    { "'env':{'PATH':'/tmp'}",                      ERR_INVALID },
    { "'demands':{'args':['x']}",                   ERR_INVALID },
    { "'profile':{'start':['/bin/sh']}",            ERR_INVALID },
    { "'session_id':'../x'",                        ERR_INVALID },
    { "'max_seconds':2592001",                      ERR_INVALID },
    { "'priority':1001",                            ERR_INVALID },
};
// clang-format on

TEST(session_chooses_neither_a_command_line_nor_a_directory)
{
    struct threat t = threat_new();

    act_as(t.w, t.ours.root.token);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct command *c = call(t.w, "run.create",
                                 "{'type':'start_session','session_name':'below','prompt':'p',%s}",
                                 wishes[i].more);
        if (!c->error || c->error->kind != wishes[i].kind)
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, wishes[i].more,
                       STR_ARG(world_told(check_arena(), c)));
    }
    CHECK_OK(call(t.w, "run.create",
                  "{'type':'start_session','session_name':'below','prompt':'p',"
                  "'project_dir':'/work/here/deeper'}")
                 ->error);
    world_close(t.w);
}

/* A token for a session that nobody here runs, as the operator mints one by hand. */
static str token_for(struct world *w, const char *session)
{
    w->actor = the_operator;
    return at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'%s'}}", session),
              "/token");
}

TEST(session_hands_on_no_more_than_it_may_write_itself)
{
    static const struct {
        const char *pointers;
        bool may;
    } cases[] = {
        { "['/a']", true }, { "['/a/b','/a']", true }, { "[]", true },           { "['']", false },
        { "['/']", false }, { "['/ab']", false },      { "['/a','/b']", false },
    };
    struct threat t = threat_new();

    act_as(t.w, t.ours.root.token);
    CHECK_OK(call(t.w, "session.create", "{'session_name':'narrow','pointers':['/a']}")->error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        act_as(t.w, token_for(t.w, "narrow"));
        struct command *c = call(t.w, "session.create",
                                 "{'session_name':'below-%zu','pointers':%s}", i,
                                 cases[i].pointers);
        CHECK_INT(c->error ? c->error->kind : 0, cases[i].may ? 0 : ERR_FORBIDDEN);
    }
    /* Without a word about them, they are its parent's. */
    CHECK_STR(at(call(t.w, "session.create", "{'session_name':'same'}"), "/pointers"), "[\"/a\"]");
    act_as(t.w, token_for(t.w, "same"));
    CHECK_ERR(call(t.w, "state.patch",
                   "{'state_id':'" STR_FMT "','operations':[{'op':'add','path':'/b','value':1}]}",
                   STR_ARG(t.ours.state_id))
                  ->error,
              ERR_FORBIDDEN);
    world_close(t.w);
}

/* ---- a token that was minted before its session came ---- */

static str token_ahead(struct world *w, const char *more)
{
    w->actor = the_operator;
    return at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'reviewer'%s}}",
                   more),
              "/token");
}

TEST(id_that_a_token_stands_for_is_nobody_elses)
{
    static const char *const forms[] = {
        "'session_id':'reviewer','session_name':'x'",
        "'session_id':'reviewer','session_name':'reviewer'",
        "'session_name':'reviewer'",
        "'session_id':'other','session_name':'reviewer'",
    };
    struct threat t = threat_new();
    str token = token_ahead(t.w, "");

    for (size_t i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        act_as(t.w, t.theirs.root.token);
        struct command *c = i % 2 ? call(t.w, "session.create", "{%s}", forms[i / 2])
                                  : call(t.w, "run.create",
                                         "{'type':'start_session','prompt':'x',%s}", forms[i / 2]);
        CHECK_ERR(c->error, ERR_CONFLICT);
    }
    t.w->actor = the_operator; /* who may register it, but not call another one so */
    CHECK_ERR(call(t.w, "session.create", "{%s}", forms[2])->error, ERR_CONFLICT);
    CHECK_OK(call(t.w, "session.create", "{%s}", forms[1])->error);
    act_as(t.w, token);
    CHECK_STR(at(call(t.w, "session.get", "{'session_id':'reviewer'}"), "/session_id"), "reviewer");
    world_close(t.w);
}

TEST(id_is_free_again_when_no_token_stands_for_it)
{
    for (int revoked = 0; revoked < 2; revoked++) {
        struct threat t = threat_new();
        t.w->actor = the_operator;
        struct command *c = call(t.w, "token.create",
                                 "{'kind':'session','scope':{'session_id':'reviewer'},"
                                 "'expires_in':60}");
        if (revoked)
            CHECK_OK(
                call(t.w, "token.revoke", "{'token_id':'" STR_FMT "'}", STR_ARG(at(c, "/token_id")))
                    ->error);
        else
            t.w->now_ms += 60 * 1000;
        CHECK_OK(call(t.w, "session.create", "{'session_name':'reviewer'}")->error);
        world_close(t.w);
        unlink("threat.db");
    }
}

/* It is a root with the state and the sections of its token; nothing else can be made with that. */
TEST(holder_of_a_token_registers_its_session_and_no_other)
{
    struct threat t = threat_new();
    str state = at(call(t.w, "state.create", "{'schema_name':'any','initial_data':{'a':1,'b':1}}"),
                   "/state_id");
    str token =
        token_ahead(t.w, arena_printf(check_arena(), ",'state_id':'" STR_FMT "','pointers':['/a']",
                                      STR_ARG(state))
                             .at);

    act_as(t.w, token);
    struct command *c = call(t.w, "session.create", "{'session_name':'below'}");
    CHECK_ERR(c->error, ERR_NOT_FOUND);
    CHECK_HAS(c->error->message, "register it first");
    CHECK_ERR(call(t.w, "run.create",
                   "{'type':'start_session','session_id':'reviewer','session_name':'r',"
                   "'prompt':'x'}")
                  ->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(t.w, "session.create",
                   "{'session_id':'reviewer','session_name':'r','parent_session_name':'our-root'}")
                  ->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(t.w, "session.create",
                   "{'session_id':'reviewer','session_name':'r','workflow_state_id':'" STR_FMT "'}",
                   STR_ARG(t.ours.state_id))
                  ->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(t.w, "session.create",
                   "{'session_id':'reviewer','session_name':'r','pointers':['/b']}")
                  ->error,
              ERR_FORBIDDEN);
    c = call(t.w, "session.create", "{'session_id':'reviewer','session_name':'r'}");
    CHECK_STR(at(c, "/parent_session_id"), "null");
    CHECK_STR(at(c, "/pointers"), "[\"/a\"]");
    act_as(t.w, token);
    CHECK(str_eq(t.w->actor.state_id, state));
    CHECK_ERR(call(t.w, "state.patch", "{'state_id':'" STR_FMT "','merge':{'b':2}}", STR_ARG(state))
                  ->error,
              ERR_FORBIDDEN);
    CHECK_OK(call(t.w, "session.create", "{'session_name':'below'}")->error);
    world_audit(t.w);
    world_close(t.w);
}

/* Whoever is called as an id is not thereby it. */
TEST(name_that_is_the_id_of_another_speaks_for_nobody)
{
    static const char *const calls[][2] = {
        { "callback.waiting", "{}" },
        { "hook.event", "{'client':'claude','event':{'session_id':'c','hook_event_name':"
                        "'UserPromptSubmit','prompt':'x'}}" },
        { "session.create", "{'session_name':'below'}" },
        { "session.get", "{'session_id':'shadow'}" },
        { "state.create", "{'schema_name':'any','initial_data':{}}" },
    };
    struct threat t = threat_new();

    t.w->actor = the_operator;
    CHECK_OK(call(t.w, "session.create", "{'session_name':'shadow'}")->error);
    str before = call(t.w, "session.get", "{'session_id':'shadow'}")->answer.text;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        t.w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                     .name = STR("shadow"),
                                     .token_id = STR("ss_9"),
                                     .session_id = STR("shadow") };
        call(t.w, calls[i][0], "%s", calls[i][1]);
        t.w->actor = the_operator;
        CHECK_STR(call(t.w, "session.get", "{'session_id':'shadow'}")->answer.text, before.at);
        CHECK_STR(at(call(t.w, "session.events", "{'session_id':'shadow'}"), "/events"), "[]");
    }
    world_close(t.w);
}

/* Whoever can choose the id of a session could choose that of the runner, or of the operator, and
 * answer for them. */
TEST(session_shares_its_keys_with_nobody_whatever_it_is_called)
{
    static const char *const names[] = { "operator", "runner" };
    struct threat t = threat_new();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        act_as(t.w, t.ours.root.token);
        CHECK_OK(
            call(t.w, "session.create", "{'session_name':'x%zu','session_id':'%s'}", i, names[i])
                ->error);
    }
    act_as(t.w, token_for(t.w, "operator"));
    struct command *c = world_call(t.w, "session.create", "{'session_name':'mine'}", "k1");
    CHECK_OK(c->error);
    t.w->actor = the_operator;
    c = world_call(t.w, "session.create", "{'session_name':'mine'}", "k1");
    CHECK(!c->repeated);
    CHECK_ERR(c->error, ERR_CONFLICT);

    /* A keeper's report is known by such a key, which the agent can guess. */
    str key = arena_printf(check_arena(), STR_FMT "-1-completed-1", STR_ARG(t.ours.left.run_id));
    act_as(t.w, token_for(t.w, "runner"));
    CHECK_OK(world_call(t.w, "session.create", "{'session_name':'guess'}", key.at)->error);
    act_as(t.w, t.runner.token);
    str end = arena_printf(check_arena(),
                           "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld}",
                           STR_ARG(t.runner.id), STR_ARG(t.ours.left.run_id),
                           (long long)t.ours.left.fence);
    CHECK_OK(world_call(t.w, "runner.completed", end.at, key.at)->error);
    world_close(t.w);
}

/* ---- after its run ---- */

TEST(token_of_a_run_is_worth_nothing_when_the_run_has_ended_or_is_claimed_again)
{
    static const char *const ends[] = { "completed", "failed", "timed_out", "stopped" };
    struct threat t = threat_new();
    struct grant *grant;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        t.w->actor = the_operator;
        struct turn turn =
            working(t.w, &t.runner, arena_printf(check_arena(), "root-%zu", i).at, "word");
        act_as(t.w, turn.token);
        CHECK_OK(report(t.w, &t.runner, &turn, ends[i], "")->error);
        CHECK_ERR(op_admit(&t.w->engine, check_arena(), turn.token, &grant), ERR_UNAUTHENTICATED);
    }
    t.w->actor = the_operator;
    CHECK_OK(call(t.w, "run.create", "{'type':'start_session','session_name':'again','prompt':'p'}")
                 ->error);
    struct turn first = claim(t.w, &t.runner), second = claim(t.w, &t.runner);
    CHECK_STR(second.run_id, arena_copy(check_arena(), first.run_id).at);
    CHECK_ERR(op_admit(&t.w->engine, check_arena(), first.token, &grant), ERR_UNAUTHENTICATED);
    act_as(t.w, second.token);
    world_close(t.w);
}

/* ---- much of it ---- */

static str many(char c, size_t n)
{
    char *at_ = arena_alloc(check_arena(), n + 1);

    memset(at_, c, n);
    at_[n] = '\0';
    return (str){ at_, n };
}

TEST(what_is_too_much_is_refused_or_cut_and_nothing_breaks)
{
    struct threat t = threat_new();
    struct turn turn = t.ours.left;
    const char *prompt = many('p', 1048577).at;

    act_as(t.w, t.ours.root.token);
    CHECK_ERR(call(t.w, "session.start", "{'session_name':'b','prompt':'%s'}", prompt)->error,
              ERR_INVALID);
    CHECK_ERR(call(t.w, "session.start", "{'session_name':'b','prompt':'p','metadata':{'m':'%s'}}",
                   many('m', 16384).at)
                  ->error,
              ERR_TOO_LARGE);
    CHECK_ERR(
        call(t.w, "session.start", "{'session_name':'%s','prompt':'p'}", many('n', 61).at)->error,
        ERR_INVALID);
    str big = many('x', 65537), words = many('w', 5000);
    str piece = arena_printf(check_arena(), ",'output':[{'stream':'stdout','text':'%s'}]", big.at);
    CHECK_ERR(report(t.w, &t.runner, &turn, "progress", piece.at)->error, ERR_TOO_LARGE);
    CHECK_OK(report(t.w, &t.runner, &turn, "progress",
                    arena_printf(check_arena(), ",'heard':'%s'", words.at).at)
                 ->error);
    CHECK(at(call(t.w, "session.get", "{'session_id':'our-left'}"), "/last_event").len <= 300);
    CHECK_ERR(report(t.w, &t.runner, &turn, "completed",
                     arena_printf(check_arena(), ",'result':'%s'", prompt).at)
                  ->error,
              ERR_INVALID);
    act_as(t.w, turn.token);
    struct command *c = call(t.w, "session.event",
                             "{'session_id':'our-left','event_type':'message','content':'%s'}",
                             many('e', 200000).at);
    CHECK_OK(c->error);
    c = call(t.w, "session.events", "{'session_id':'our-left'}");
    CHECK(c->answer.text.len < 100000);
    world_close(t.w);
}

/* ---- its token, in what it says ---- */

static void line_drop(void *to, str line)
{
    (void)to;
    (void)line;
}

TEST(token_is_in_no_fact_however_it_is_written)
{
    static const char *const streams[] = {
        "{'type':'r','text':'ss_s'}\n{'type':'r','text':'ecret!'}\n", /* in two pieces */
        "{'type':'r','text':'\\u0073s_secret!'}\n",                   /* by an escape */
        "{'type':'r','text':'ss_s\\u0065cret!'}\n",
    };
    struct json output = json_of(check_arena(),
                                 "{'format':'jsonl',"
                                 "'result':[{'at':'/text','add':'join'}],"
                                 "'client_id':[{'at':'/text'}],"
                                 "'heard':[{'at':'/text'}],'failed':[{'at':'/text'}]}");

    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct stream *s = stream_new(&output, STR("ss_secret"), line_drop, NULL);
        stream_feed(s, quotes_double(check_arena(), streams[i]));
        stream_end(s);
        struct stream_facts f = stream_facts(s);
        CHECK_STR(f.result, "*********!");
        const str others[] = { f.client_id, f.heard, f.error };
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            CHECK(!strstr(arena_copy(check_arena(), others[k]).at, "ss_secret"));
        stream_free(s);
    }
}
