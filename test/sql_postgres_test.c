/* sql_postgres_test.c: every SQL text of the program, on a real PostgreSQL.
 *
 * A scenario of operations runs on SQLite and is recorded: each statement with its arguments and
 * the rows that came back. The recording then runs on a PostgreSQL server of the test's own, and
 * every row must be the same. The row of `node` belongs to each store's driver and is left out. */
#include "core/idempotency.h"
#include "core/retain.h"
#include "core/run.h"
#include "core/state.h"
#include "core/tables.h"
#include "sim/postgres.h"
#include "calls.h"
#include "sql_scenario.h"

/* ---- the scenario ---- */

/* Small numbers, so that a few writes are outgrown. */
static const struct retention small = {
    .events = 10,
    .events_ms = 1000,
    .versions = 10,
    .versions_step = 5,
    .keys_ms = 1000,
    .rows = 7,
};

/* Ids are counted: schema_1, wfstate_2 and so on. Names begin with letters that bytes and people
 * order differently. */
// clang-format off
static const struct step steps[] = {
    { .op = "schema.create", .input = "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'integer'}}},'description':'été'}" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0,'text':'ß','list':[1,2]}}" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'ses_B'}", .key = "made" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'ses_B'}", .key = "made" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'ses_a'}" },
    { .op = "state.create",  .input = "{'schema_name':'none','initial_data':{}}", .refused = true },
    { .op = "schema.create", .input = "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'number'},'own':{'x-owner':'root'}}}}" },
    { .op = "schema.create", .input = "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'number'},'own':{'x-owner':'root'}}}}" },
    { .op = "schema.create", .input = "{'name':'Zebra','json_schema':true}" },
    { .op = "schema.create", .input = "{'name':'a_b','json_schema':true}" },
    { .op = "schema.create", .input = "{'name':'a-b','json_schema':true}" },
    { .op = "schema.list",     .input = "{}" },
    { .op = "schema.list",     .input = "{'after':'Zebra','limit':2}" },
    { .op = "schema.get",      .input = "{'name':'task'}" },
    { .op = "schema.get",      .input = "{'name':'task','version':1}" },
    { .op = "schema.get",      .input = "{'name':'task','version':9}", .refused = true },
    { .op = "schema.versions", .input = "{'name':'task'}" },
    { .op = "schema.check",    .input = "{'name':'task','data':{'n':'x'}}" },
    { .op = "state.list",      .input = "{}" },
    { .op = "state.list",      .input = "{'after':'wfstate_2','limit':1}" },
    { .op = "state.list",      .input = "{'active':true}" },
    { .op = "state.list",      .input = "{'schema':'task','active':true}" },
    { .op = "state.list",      .input = "{'root_session':'ses_B','schema':'task'}" },
    { .op = "state.list",      .input = "{'active':true}", .session = "wfstate_3" },
    { .op = "state.update",    .input = "{'state_id':'wfstate_2','data':{'n':1}}" },
    { .op = "state.update",    .input = "{'state_id':'wfstate_2','data':{'n':'x'}}", .refused = true },
    { .op = "state.patch",     .input = "{'state_id':'wfstate_2','operations':[{'op':'replace','path':'/n','value':2}],'expected_version':2}" },
    { .op = "state.patch",     .input = "{'state_id':'wfstate_2','merge':{'n':3}}" },
    { .op = "state.read",      .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.read",      .input = "{'state_id':'wfstate_2','version':1}" },
    { .op = "state.read",      .input = "{'state_id':'wfstate_2','wait_version':2}" },
    { .op = "state.history",   .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.diff",      .input = "{'state_id':'wfstate_2','from':1,'to':3}" },
    { .op = "state.blame",     .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.schema",    .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.migrate",   .input = "{'state_id':'wfstate_2','schema_version':2}" },
    { .op = "state.rename",    .input = "{'state_id':'wfstate_2','name':'plan'}" },
    { .op = "state.read",      .input = "{'state_id':'plan'}" },
    { .op = "state.rollback",  .input = "{'state_id':'wfstate_2','version':1}" },
    { .op = "token.create",    .input = "{'kind':'operator'}" },
    { .op = "token.create",    .input = "{'kind':'session','scope':{'session_id':'ses_1','state_id':'wfstate_2'},'expires_in':60}" },
    { .op = "token.list",      .input = "{}" },
    { .op = "token.renew",     .input = "{'token_id':'ss_10','lease':60}" },
    { .op = "token.revoke",    .input = "{'token_id':'ss_10'}" },
    { .op = "token.revoke",    .input = "{'token_id':'ss_none'}", .refused = true },
    { .op = "event.list",      .input = "{}" },
    { .op = "event.list",      .input = "{'subject':'wfstate_2','limit':2}" },
    { .op = "event.list",      .input = "{'type':['token_revoked']}" },
    { .op = "state.delete",    .input = "{'state_id':'wfstate_4'}" },
    { .op = "node.beat",       .input = "{'node_id':'node_b','name':'b:1','url':'','version':'1','seq':0}", .system = true },
    { .op = "node.beat",       .input = "{'node_id':'node_C','name':'c:1','url':'http://c','version':'1','seq':3}", .system = true },
    { .op = "node.beat",       .input = "{'node_id':'node_b','name':'b:1','url':'','version':'2','seq':4}", .system = true },
    { .op = "node.list",       .input = "{}" },
    { .op = "node.list",       .input = "{'after':'node_C','limit':1}" },
    { .op = "node.leave",      .input = "{'node_id':'node_C'}", .system = true },
    { .op = "session.create",  .input = "{'session_id':'ses_1','session_name':'top','pointers':['/n','/list']}" },
    { .op = "session.create",  .input = "{'session_id':'ses_B','session_name':'below','parent_session_name':'top'}" },
    { .op = "session.create",  .input = "{'session_id':'ses_a','session_name':'beside','parent_session_name':'ses_1','pointers':['/n']}" },
    { .op = "session.create",  .input = "{'session_name':'beside'}", .refused = true },
    { .op = "session.create",  .input = "{'session_name':'attached','workflow_state_id':'wfstate_2'}" },
    { .op = "state.create",    .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'top'}" },
    { .op = "state.list",      .input = "{'active':true}" },
    { .op = "session.list",    .input = "{}" },
    { .op = "session.list",    .input = "{'root':'top','after':'ses_1'}" },
    { .op = "session.list",    .input = "{'parent':'top','limit':1}" },
    { .op = "session.list",    .input = "{'status':'pending'}" },
    { .op = "session.list",    .input = "{'status':'pending'}", .session = "wfstate_13" },
    { .op = "session.get",     .input = "{'session_id':'below'}", .session = "wfstate_13" },
    { .op = "session.create",  .input = "{'session_name':'lowest','parent_session_name':'below'}", .session = "wfstate_13" },
    { .op = "session.event",   .input = "{'session_id':'below','event_type':'message','content':'ö'}" },
    { .op = "session.events",  .input = "{'session_id':'below'}" },
    { .op = "session.status",  .input = "{'session_id':'below'}" },
    { .op = "session.state",   .input = "{'session_id':'below'}" },
    { .op = "event.list",      .input = "{'subject':'ses_B'}", .session = "wfstate_13" },
    { .op = "state.delete",    .input = "{'state_id':'wfstate_13'}", .refused = true },
    { .op = "session.delete",  .input = "{'session_id':'beside'}", .refused = true },
    { .op = "session.stop",    .input = "{'session_id':'top'}" },
    { .op = "agent.create",    .input = "{'name':'reader','description':'liest'}" },
    { .op = "agent.update",    .input = "{'name':'reader','merge':{'tags':['t']}}" },
    { .op = "agent.load",      .input = "{'entries':[{'name':'Filed'}]}", .system = true },
    { .op = "agent.list",      .input = "{'after':'Filed'}" },
    { .op = "agent.load",      .input = "{'entries':[]}", .system = true },
    { .op = "agent.delete",    .input = "{'name':'reader'}" },
    { .op = "profile.list",    .input = "{}" },
    { .op = "system.team",     .input = "{}", .system = true },
};

/* After what is below the one that was stopped has been stopped, too. */
static const struct step last_steps[] = {
    { .op = "session.clear",   .input = "{'session_id':'below'}" },
    { .op = "state.delete",    .input = "{'state_id':'wfstate_13'}" },
    { .op = "session.delete",  .input = "{'session_id':'top'}" },
};
// clang-format on

void step_run(struct world *w, const struct step *s)
{
    struct actor before = w->actor;

    if (s->session)
        w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                   .name = STR("child"),
                                   .session_id = STR("ses_1"),
                                   .state_id = str_from(s->session) };
    else if (s->system)
        w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = world_call(w, s->op, s->input, s->key ? s->key : "");
    w->actor = before;
    if (!s->refused != !c->error)
        check_fail(__FILE__, __LINE__, "%s %s: " STR_FMT, s->op, s->input,
                   STR_ARG(c->error ? c->error->message : c->answer.text));
}

/* Everything that is due, now and in the days to come. */
static void ticks_run(struct world *w)
{
    struct actor before = w->actor;

    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    world_call(w, "system.tick", "{'put_off':{'kind':'move_floor','subject':'','ms':1}}", "");
    w->actor = before;
    for (int hours = 0; hours < 27; hours++) {
        world_pass(w, 0);
        w->now_ms += 3600 * 1000;
    }
}

/* The text of a token for a session that is known. */
static str token_minted(struct world *w)
{
    return at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'top'}}"), "/token");
}

/* ---- runs, whose reports need what a claim has answered ---- */

static struct actor runner_actor(const char *token)
{
    return (
        struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = str_from(token) };
}

static str runner_of(struct world *w, const char *name, const char *more)
{
    str input = arena_printf(check_arena(), "{'hostname':'%s','tags':['t']%s}", name, more);

    w->actor = runner_actor(name);
    return json_str(answer_of(world_call(w, "runner.register", input.at, "")), "runner_id");
}

/* A run that a runner claims, and what it reports of it: words with spaces between them. */
static str turn_run(struct world *w, str runner_id, const char *reports)
{
    str input = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(runner_id));
    const struct json *run =
        json_get(answer_of(world_call(w, "runner.claim", input.at, "")), "run");
    str id = json_str(run, "run_id"), rest = str_from(reports), report;

    while (rest.len) {
        str_cut(rest, ' ', &report, &rest);
        const char *more = str_eq(report, STR("progress"))
                               ? ",'heard':'ö','client_id':'c','output':["
                                 "{'stream':'stderr','text':'eins'},"
                                 "{'stream':'stdout','text':'zwei'}]"
                           : str_eq(report, STR("started")) ? ",'project_dir':'/w'"
                                                            : ",'result_truncated':true";
        str op = arena_printf(check_arena(), "runner." STR_FMT, STR_ARG(report));
        input = arena_printf(check_arena(),
                             "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                             STR_ARG(runner_id), STR_ARG(id),
                             (long long)json_int_or(run, "fence", 0), more);
        CHECK_OK(world_call(w, op.at, input.at, "")->error);
    }
    return id;
}

/* More different demands than one claim looks at. */
static void many_ask(struct world *w)
{
    for (int i = 0; i < 70; i++) {
        str input = arena_printf(check_arena(),
                                 "{'type':'start_session','session_name':'many%d','prompt':'x',"
                                 "'demands':{'tags':['many%d']}}",
                                 i, i);
        step_run(w, &(struct step){ .op = "run.create", .input = input.at });
    }
}

static void runs_run(struct world *w)
{
    static const struct team_rules little = { .lease_ms = 1000,
                                              .claim_max = 3,
                                              .match_ms = 1000,
                                              .run_ms = 1000,
                                              .silent_ms = 1500,
                                              .poll_ms = 1000,
                                              .stop_ms = 1000,
                                              .depth_max = 5,
                                              .tree_max = 9,
                                              .profile_max = 99,
                                              .output_bytes = 6,
                                              .session_events = 5,
                                              .update_attempts = 1 };
    static const char *const asked[] = {
        "{'type':'start_session','session_name':'r1','prompt':'x','demands':{'tags':['t']}}",
        "{'type':'resume_session','session_name':'r1','prompt':'y'}",
        "{'type':'start_session','session_name':'r2','prompt':'x','demands':{'hostname':'b'}}",
        "{'type':'start_session','session_name':'r3','prompt':'x','demands':{'tags':['none']}}",
    };
    const struct actor operator= w->actor;
    const struct team_rules *before = w->engine.team;

    w->engine.team = &little;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        step_run(w, &(struct step){ .op = "run.create", .input = asked[i] });
    str a = runner_of(w, "a", "");
    str run = turn_run(w, a, "started progress progress failed");
    w->actor = runner_actor("a");
    str held = turn_run(w, a, "started");
    str input = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "','runs':['" STR_FMT "']}",
                             STR_ARG(a), STR_ARG(held));
    CHECK_OK(world_call(w, "runner.heartbeat", input.at, "")->error);
    w->actor = operator;
    input = arena_printf(check_arena(), "{'run_id':'" STR_FMT "'}", STR_ARG(run));
    step_run(w, &(struct step){ .op = "run.output", .input = input.at });
    step_run(w, &(struct step){ .op = "run.get", .input = input.at });
    step_run(w, &(struct step){ .op = "run.list", .input = "{}" });
    step_run(w, &(struct step){ .op = "run.list", .input = "{'status':'pending'}" });
    step_run(w, &(struct step){ .op = "run.list", .input = "{'session':'r1'}" });
    step_run(w, &(struct step){ .op = "runner.list", .input = "{}" });
    step_run(w, &(struct step){
                    .op = "system.start", .input = "{'node_id':'node_a'}", .system = true });
    step_run(w, &(struct step){ .op = "system.team", .input = "{}", .system = true });
    str b = runner_of(w, "b", ",'project_dir':'/p'");
    turn_run(w, b, "started");
    w->actor = operator;
    many_ask(w);
    str c = runner_of(w, "c", "");
    input = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(c));
    struct command *waiting = world_call(w, "runner.claim", input.at, "");
    CHECK(waiting->answer.waits);
    waiting->wait_over = true;
    op_perform(&w->engine, &waiting, 1);
    CHECK(waiting->answer.empty);
    w->actor = operator;
    input = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(b));
    step_run(w, &(struct step){ .op = "runner.remove", .input = input.at });
    for (int i = 0; i < 5; i++)
        world_pass(w, 1000);
    step_run(w, &(struct step){ .op = "session.stop", .input = "{'session_id':'r2'}" });
    w->actor = runner_actor("a"); /* which was lost */
    input = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(a));
    CHECK_OK(world_call(w, "runner.heartbeat", input.at, "")->error);
    w->actor = operator;
    w->engine.team = before;
}

/* What a batch of several commands does first. */
static void ahead_run(struct world *w)
{
    struct tx_ahead ahead = { map_in(check_arena()), map_in(check_arena()) };
    const struct actor actor = { .name = STR("operator") };
    const struct idempotency_use uses[] = { { &actor, STR("key-1") }, { &actor, STR("none") } };
    struct tx tx = { .arena = check_arena(), .sql = w->engine.sql, .ahead = &ahead };
    struct store_node node;

    CHECK_OK(store_begin(tx.sql, tx.arena, &node));
    CHECK_OK(state_read_ahead(&tx, &STR("wfstate_2"), 1));
    CHECK_INT(ahead.states.count, 1);
    CHECK_OK(idempotency_read_ahead(&tx, uses, 2));
    CHECK_INT(ahead.keys.count, 2);
    store_rollback(tx.sql);
}

static struct actor session_actor(const char *name, const char *id, str state)
{
    return (struct actor){
        .kind = ACTOR_SESSION, .name = str_from(name), .session_id = str_from(id), .state_id = state
    };
}

/* A parent waits for its child, which records its result when it is asked to; the parent hears of
 * it, and says that it stops. */
static void callbacks_run(struct world *w)
{
    static const struct step asked[] = {
        { .op = "run.create",
          .input = "{'type':'start_session','session_id':'ses_p','session_name':'parent',"
                   "'prompt':'x'}" },
        { .op = "state.create",
          .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'parent'}" },
        { .op = "run.create",
          .input = "{'type':'start_session','session_id':'ses_c','session_name':'child',"
                   "'prompt':'x','parent_session_name':'parent','callback':true}" },
    };
    const struct actor operator= w->actor;
    str state = STR("");

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        step_run(w, &asked[i]);
    state = json_str(answer_of(world_call(w, "session.get", "{'session_id':'ses_p'}", "")),
                     "workflow_state_id");
    str input =
        arena_printf(check_arena(), "{'state_id':'" STR_FMT "','merge':{'n':1}}", STR_ARG(state));
    w->actor = session_actor("parent", "ses_p", state);
    CHECK_OK(world_call(w, "state.patch", input.at, "")->error); /* of its own accord */
    w->actor = operator;
    str d = runner_of(w, "d", "");
    turn_run(w, d, "started progress completed"); /* the parent's */
    turn_run(w, d, "started progress completed");
    w->actor = session_actor("child", "ses_c", state);
    input =
        arena_printf(check_arena(), "{'state_id':'" STR_FMT "','merge':{'n':2}}", STR_ARG(state));
    CHECK_OK(world_call(w, "state.patch", input.at, "")->error); /* for it was asked to */
    w->actor = runner_actor("d");
    turn_run(w, d, "started completed"); /* the child's, for the update */
    turn_run(w, d, "started");           /* the parent's, which hears of it */
    w->actor = operator;
    step_run(w, &(struct step){ .op = "session.event",
                                .input = "{'session_id':'parent','event_type':'session_stop'}" });
}

/* An agent asks for a tool; it is allowed, and asked for again until nobody answers. */
static void hooks_run(struct world *w)
{
    static const char ask[] =
        "{'client':'claude','event':{'session_id':'c','hook_event_name':'PreToolUse','tool_name':"
        "'Bash','tool_input':{'command':'ö'}}}";
    static const struct step before[] = {
        { .op = "hook.event",
          .input =
              "{'client':'codex','event':{'session_id':'h','hook_event_name':'SessionStart'}}" },
        { .op = "session.attend",
          .input = "{'client':'gemini','session_id':'mcp-gemini-1','process':'ö/1'}" },
        { .op = "session.attend",
          .input = "{'client':'gemini','session_id':'mcp-gemini-1','process':'ö/1'}" },
        { .op = "hook.event",
          .input = "{'client':'gemini','process':'ö/1','event':{'session_id':'g',"
                   "'hook_event_name':'SessionStart'}}" },
        { .op = "session.attend", .input = "{'client':'gemini','conversation':'g'}" },
        { .op = "agent.create", .input = "{'name':'careful','profile':'claude','ask':['Bash']}" },
        { .op = "run.create",
          .input = "{'type':'start_session','session_id':'ses_h','session_name':'asks',"
                   "'prompt':'x','parent_session_name':'codex-h','agent_name':'careful'}" },
        { .op = "hook.event",
          .input =
              "{'client':'codex','event':{'session_id':'h','hook_event_name':'SessionStart'}}" },
    };
    const struct actor operator= w->actor;
    const struct actor asks = { .kind = ACTOR_SESSION,
                                .name = STR("asks"),
                                .session_id = STR("ses_h") };

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        step_run(w, &before[i]);
    turn_run(w, runner_of(w, "e", ",'capacity':3"), "started progress");
    for (int i = 0; i < 3; i++) {
        w->actor = asks;
        step_run(w, &(struct step){ .op = "hook.event", .input = ask });
        w->actor = operator;
        step_run(w, &(struct step){ .op = "permission.list", .input = "{}" });
        step_run(w, &(struct step){ .op = "permission.list", .input = "{'session':'asks'}" });
        struct command *c = world_call(w, "permission.list", "{'status':'waiting'}", "");
        const struct json *waiting = json_at(json_get(answer_of(c), "permissions"), 0);
        if (!waiting)
            continue;
        str input = arena_printf(check_arena(),
                                 "{'permission_id':'" STR_FMT "','decision':'allow'}",
                                 STR_ARG(json_str(waiting, "permission_id")));
        step_run(w, &(struct step){ .op = "permission.resolve", .input = input.at });
    }
}

/* Two members of a project write over each other, and one is woken with what its child and a person
 * have to say. */
static void members_run(struct world *w)
{
#define IN "'host':'h','common_dir':'/ö/.git'"
#define MEMBER(id, event, more)                                                                   \
    "{'client':'claude'," IN ",'event':{'session_id':'" id "','hook_event_name':'" event "'" more \
    "}}"
#define TAKE "{'client':'claude','conversation':'m1','waker':'waker-1','way':'queue','timeout':0}"
    static const struct step before[] = {
        { .op = "project.create", .input = "{'name':'shop','project_dir':'/ö'," IN "}" },
        { .op = "project.create", .input = "{'name':'other','project_dir':'/x'}" },
        { .op = "project.list", .input = "{}" },
        { .op = "project.list", .input = "{'host':'h','common_dir':'/ö/.git/x'}" },
        { .op = "project.join", .input = "{'name':'shop','host':'h2','common_dir':'/y'}" },
        { .op = "project.leave", .input = "{'name':'shop','host':'h2','common_dir':'/y'}" },
        { .op = "hook.event", .input = MEMBER("m1", "SessionStart", "") },
        { .op = "hook.event", .input = MEMBER("m2", "SessionStart", ",'source':'resume'") },
        { .op = "hook.event",
          .input = MEMBER("m1", "UserPromptSubmit", ",'prompt':'[baton cb_x msg_x]'") },
        { .op = "project.get", .input = "{'name':'shop'}" },
        { .op = "session.list", .input = "{}" },
        { .op = "wake.take", .input = TAKE },
        { .op = "message.send", .input = "{'to':'claude-m1','message':'ö'}" },
        { .op = "hook.event", .input = MEMBER("m1", "UserPromptSubmit", ",'prompt':'x'") },
        { .op = "hook.event", .input = MEMBER("m1", "Stop", "") },
        { .op = "message.send", .input = "{'to':'claude-m1','message':'again'}" },
        { .op = "wake.take", .input = TAKE },
        { .op = "wake.report", .input = "{'waker':'waker-1','handed':true}" },
        { .op = "message.send", .input = "{'to':'claude-m1','message':'more'}" },
        { .op = "wake.take", .input = TAKE },
        { .op = "wake.report", .input = "{'waker':'waker-1','failed':'why'}" },
        { .op = "message.list", .input = "{}" },
        { .op = "message.list", .input = "{'session':'claude-m1'}" },
        { .op = "hook.event", .input = MEMBER("m1", "SessionEnd", "") },
    };
    const struct actor operator= w->actor;

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        step_run(w, &before[i]);
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("claude-m2"),
                               .session_id = STR("claude-m2") };
    step_run(w, &(struct step){ .op = "session.list", .input = "{}" });
    step_run(w, &(struct step){ .op = "callback.waiting", .input = "{}" });
    w->actor = operator;
    step_run(w, &(struct step){ .op = "project.update",
                                .input = "{'name':'shop','state':'wfstate_2'}" });
    step_run(w, &(struct step){ .op = "project.delete", .input = "{'name':'shop'}" });
#undef IN
#undef MEMBER
#undef TAKE
}

/* Agents inside of a client do phases, and its own list of what there is to do is mirrored. */
static void sub_agents_run(struct world *w)
{
#define INNER(event, more) \
    "{'client':'claude','event':{'session_id':'s1','hook_event_name':'" event "'" more "}}"
    static const struct step all[] = {
        { .op = "hook.event", .input = INNER("SessionStart", "") },
        { .op = "phase.create",
          .input = "{'task':'ö','parent_session_name':'claude-s1','phases':[{'title':'ö',"
                   "'agent':'a'},{'title':'z','agent':'a'}]}" },
        { .op = "hook.event", .input = INNER("SubagentStart", ",'agent_id':'x','agent_type':'a'") },
        { .op = "hook.event", .input = INNER("SubagentStart", ",'agent_id':'X','agent_type':'a'") },
        { .op = "hook.event",
          .input = INNER("SubagentStop", ",'agent_id':'x','last_assistant_message':'- ö.c'") },
        { .op = "hook.event",
          .input = INNER("PostToolUse", ",'tool_name':'TodoWrite','tool_input':{'todos':["
                                        "{'content':'ö','status':'pending'}]}") },
        { .op = "session.todos", .input = "{'session_id':'claude-s1'}" },
        { .op = "hook.event", .input = INNER("Stop", "") },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        step_run(w, &all[i]);
#undef INNER
}

/* An idle client is woken by a runner, in vain; and messages for many. */
static void errands_run(struct world *w)
{
#define CODEX(home, event)                                          \
    "{'client':'codex','host':'eh','user':'ö','client_home':'" home \
    "','event':{'session_id':'q1','cwd':'/ö','hook_event_name':'" event "'}}"
    static const struct step before[] = {
        { .op = "hook.event", .input = CODEX("/a", "UserPromptSubmit") },
        { .op = "session.create", .input = "{'session_name':'role','agent_name':'tester'}" },
        { .op = "message.send", .input = "{'to':'role:tester','message':'ö'}" },
        { .op = "message.send", .input = "{'to':'tree:codex-q1','message':'ö'}" },
        { .op = "hook.event", .input = CODEX("/b", "Stop") },
        { .op = "message.send", .input = "{'to':'codex-q1','message':'ö'}" },
    };
    const struct actor operator= w->actor;

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        step_run(w, &before[i]);
    for (int i = 0; i < 3; i++) {
        world_pass(w, 200 * 1000);
        step_run(w, &(struct step){ .op = "wake.list", .input = "{}" });
        str runner = runner_of(w, "eh", ",'user':'ö'");
        str input = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(runner));
        struct command *c = world_call(w, "runner.claim", input.at, "");
        input = arena_printf(check_arena(),
                             "{'runner_id':'" STR_FMT "','waker':'" STR_FMT "','failed':'why'}",
                             STR_ARG(runner), STR_ARG(at(c, "/wake/waker")));
        CHECK_OK(world_call(w, "runner.woken", input.at, "")->error);
        w->actor = operator;
    }
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("codex-q1"),
                               .session_id = STR("codex-q1") };
    step_run(w, &(struct step){ .op = "message.send",
                                .input = "{'to':'role:tester','message':'x'}",
                                .refused = true });
    w->actor = operator;
#undef CODEX
}

/* A tree that ended longer ago than it is kept, and its state. */
static void ended_run(struct world *w)
{
    const struct retention *before = w->engine.retention;
    struct retention brief = *before;

    brief.sessions_ms = 2000;
    brief.tokens_ms = INT32_MAX; /* which of them come first is not said */
    w->engine.retention = &brief;
    call(w, "schema.create", "{'name':'brief','json_schema':{'x-baton':{'retention':1}}}");
    call(w, "session.create", "{'session_name':'brief'}");
    call(w, "state.create", "{'schema_name':'brief','initial_data':1,'root_session':'brief'}");
    call(w, "session.stop", "{'session_id':'brief'}");
    call(w, "run.stop", "{'run_id':'" STR_FMT "'}",
         STR_ARG(at(call(w, "run.command", "{'argv':['true']}"), "/run_id")));
    world_pass(w, 1500);
    world_pass(w, 1500);
    world_pass(w, 3600 * 1000); /* messages that were read */
    w->engine.retention = before;
}

/* Two members of a project come to one file. */
static void files_run(struct world *w)
{
#define AT "'host':'h','common_dir':'/ö/.git','worktree':'/ö'"
#define EVENT(id, name) "'event':{'session_id':'" id "','cwd':'/ö','hook_event_name':'" name "'"
    static const struct step asked[] = {
        { .op = "project.create",
          .input = "{'name':'files','project_dir':'/ö','host':'h','common_dir':'/ö/.git'}" },
        { .op = "hook.event",
          .input = "{'client':'claude'," AT "," EVENT(
              "f1",
              "PostToolUse") ","
                             "'tool_name':'Write','tool_input':{'file_path':'ß','content':'x'}}}" },
        { .op = "hook.event",
          .input = "{'client':'claude'," AT "," EVENT(
              "f2",
              "PreToolUse") ","
                            "'tool_name':'Write','tool_input':{'file_path':'ß','content':'x'}}}" },
        { .op = "file.list", .input = "{'name':'files'}" },
        { .op = "file.list", .input = "{'name':'files','shared':true}" },
        { .op = "hook.event",
          .input = "{'client':'claude'," AT "," EVENT("f1", "SessionEnd") "}}" },
        { .op = "session.delete", .input = "{'session_id':'claude-f1'}" },
        { .op = "project.delete", .input = "{'name':'files'}" },
    };
#undef AT
#undef EVENT

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        step_run(w, &asked[i]);
}

/* A runner finds that somebody has edited a file which shows a workflow of its machine's project. */
static void mirrors_run(struct world *w)
{
    static const char *const found[] = { "blocked", "written", "edited" };
    const struct actor operator= w->actor;
    str runner = runner_of(w, "mirrors", "");

    w->actor = operator;
    step_run(w, &(struct step){ .op = "project.create",
                                .input = "{'name':'shown','project_dir':'/ß',"
                                         "'host':'mirrors','common_dir':'/ß/.git'}" });
    w->actor = runner_actor("mirrors");
    call(w, "runner.projects", "{'runner_id':'" STR_FMT "'}", STR_ARG(runner));
    call(w, "runner.mirrors", "{'runner_id':'" STR_FMT "'}", STR_ARG(runner));
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        call(w, "runner.mirrored",
             "{'runner_id':'" STR_FMT "','project':'shown','path':'.claude/ö','found':'%s'}",
             STR_ARG(runner), found[i]);
    w->actor = operator;
    step_run(w, &(struct step){ .op = "project.mirrors", .input = "{'name':'shown'}" });
    step_run(w, &(struct step){ .op = "project.update",
                                .input = "{'name':'shown','mirrors':['log']}" });
    step_run(w, &(struct step){ .op = "project.mirrors", .input = "{'name':'shown'}" });
    step_run(w, &(struct step){ .op = "project.delete", .input = "{'name':'shown'}" });
}

static void scenario_run(struct world *w)
{
    struct grant *grant;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        step_run(w, &steps[i]);
    str text = token_minted(w);
    CHECK_OK(op_admit(&w->engine, check_arena(), text, &grant));
    CHECK_STR(grant->actor->session_id, "ses_1");
    grant_unref(grant);
    CHECK_ERR(op_admit(&w->engine, check_arena(), STR("op_9.wrong"), &grant), ERR_UNAUTHENTICATED);
    for (int i = 0; i < 30; i++) {
        str input = arena_printf(check_arena(), "{'state_id':'wfstate_2','data':{'n':%d}}", i);
        step_run(w, &(struct step){ .op = "state.update", .input = input.at });
    }
    ahead_run(w);
    call(w, "token.create", "{'kind':'session','scope':{'session_id':'top'},'lease':60}");
    ticks_run(w);
    for (size_t i = 0; i < sizeof last_steps / sizeof *last_steps; i++)
        step_run(w, &last_steps[i]);
    /* More than a day later: the others are forgotten. */
    step_run(w, &(struct step){ .op = "node.beat",
                                .input = "{'node_id':'node_a','name':'a:1','url':'',"
                                         "'version':'1','seq':9}",
                                .system = true });
    step_run(w, &(struct step){ .op = "node.list", .input = "{}" });
    runs_run(w);
    callbacks_run(w);
    hooks_run(w);
    members_run(w);
    errands_run(w);
    sub_agents_run(w);
    ended_run(w);
    files_run(w);
    mirrors_run(w);
    flows_run(w);
}

/* ---- the texts ---- */

static bool was_run(const struct recording *recording, const char *text)
{
    for (const struct record *r = recording->first; r; r = r->next)
        if (r->kind == RECORD_RUN && strcmp(r->text, text) == 0)
            return true;
    return false;
}

static size_t texts_check(const struct recording *recording)
{
    struct buf missing = buf_in(check_arena());
    size_t count = 0;

    for (const struct sql_text *t = __start_sql_texts; t < __stop_sql_texts; t++) {
        if (!strstr(t->file, "src/"))
            continue; /* a test's own */
        count++;
        if (!was_run(recording, t->text))
            buf_printf(&missing, "\n  %s", t->text);
    }
    if (missing.len)
        check_fail(__FILE__, __LINE__,
                   "no step of the scenario runs these texts; add one that does:" STR_FMT,
                   STR_ARG(buf_str(&missing)));
    return count;
}

TEST_LIMIT(every_sql_text_gives_the_same_rows_on_postgresql, 60)
{
    struct recording recording = { .arena = check_arena() };
    struct world *w;

    CHECK_OK(world_open("baton.db", NULL, &w));
    w->engine.sql = record_around(w->engine.sql, &recording);
    w->engine.retention = &small;
    scenario_run(w);
    world_close(w);
    size_t texts = texts_check(&recording);

    struct postgres *p = postgres_start();
    for (int i = 0; i < tables_step_count; i++)
        for (const char *const *text = tables_steps[i].statements; *text; text++)
            postgres_exec(p, *text);
    postgres_replay(p, &recording);
    postgres_stop(p);
    check_note("%zu texts, %zu calls", texts, recording.count);
}
