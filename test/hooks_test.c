/* hooks_test.c: what clients of agents tell by their hooks, and what they are told to do.
 *
 * A site is a world with one runner, played by the test. Events are JSON as the clients send it. */
#define _GNU_SOURCE
#include "check.h"
#include "cli/hook.h"
#include "core/audit.h"
#include "json_help.h"
#include "sim/engine.h"

static const struct actor the_operator = { .kind = ACTOR_OPERATOR, .name = STR("operator") };

struct site {
    struct world *w;
    str runner, run, prompt;
    int64_t fence;
};

/* ---- asking ---- */

static struct command *call(struct site *t, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct command *call(struct site *t, const char *op, const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    return world_call(t->w, op, buf_str(&input).at, "");
}

static const struct json *answer_of(const struct command *c)
{
    const struct json *answer;

    CHECK_OK(c->error);
    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &answer));
    return answer;
}

static bool has(str text, const char *part)
{
    return memmem(text.at, text.len, part, strlen(part)) != NULL;
}

#define SHOWS(text, part)                                                                \
    do {                                                                                 \
        str text_ = (text);                                                              \
        if (!has(text_, (part)))                                                         \
            check_fail(__FILE__, __LINE__, "expected to find: %s\nin: " STR_FMT, (part), \
                       STR_ARG(text_));                                                  \
    } while (0)

static struct site *site_new(void)
{
    static int count;
    struct site *t = ARENA_NEW(check_arena(), struct site);

    CHECK_OK(world_open(arena_printf(check_arena(), "hooks%d.db", ++count).at, NULL, &t->w));
    t->w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
    t->runner = json_str(answer_of(call(t, "runner.register",
                                        "{'hostname':'here','tags':[],'capacity':10}")),
                         "runner_id");
    t->w->actor = the_operator;
    CHECK_OK(call(t, "schema.create", "{'name':'s','json_schema':{'type':'object'}}")->error);
    return t;
}

static void broken_rule(void *self, const struct audit_finding *f)
{
    (void)self;
    check_fail(__FILE__, __LINE__, "%s: " STR_FMT ": " STR_FMT, f->rule, STR_ARG(f->place),
               STR_ARG(f->problem));
}

/* What holds in every database held in this one. */
static void site_free(struct site *t)
{
    struct store_node node;
    struct tx tx = { .arena = check_arena(), .sql = t->w->engine.sql };

    CHECK_OK(store_begin(tx.sql, tx.arena, &node));
    tx.seq = &node.seq;
    tx.now_ms = t->w->now_ms;
    CHECK_OK(audit_rows(&tx, broken_rule, NULL));
    store_rollback(tx.sql);
    world_close(t->w);
}

static const struct json *session(struct site *t, const char *name)
{
    t->w->actor = the_operator;
    return answer_of(call(t, "session.get", "{'session_id':'%s'}", name));
}

/* "status update", with - for none, and "!" when it has settled. */
static void is(struct site *t, const char *name, const char *expected)
{
    const struct json *s = session(t, name);
    str update = json_str(s, "state_update_status");

    CHECK_STR(arena_printf(check_arena(), STR_FMT " " STR_FMT "%s", STR_ARG(json_str(s, "status")),
                           STR_ARG(update.len ? update : STR("-")),
                           json_bool_or(s, "settled", false) ? "!" : ""),
              expected);
}

static void as_session(struct site *t, const char *name)
{
    const struct json *s = session(t, name);

    t->w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                  .name = str_from(name),
                                  .token_id = STR("ss_1"),
                                  .session_id = json_str(s, "session_id"),
                                  .state_id = json_str(s, "workflow_state_id") };
}

/* One event of a client; `members` follow the event's name and the client's id. */
static str hook(struct site *t, const char *client, const char *id, const char *event,
                const char *members)
{
    struct command *c = call(
        t, "hook.event",
        "{'client':'%s','event':{'session_id':'%s','cwd':'/home/ann/shop','hook_event_name':'%s'%s%s}}",
        client, id, event, *members ? "," : "", members);

    CHECK_OK(c->error);
    return json_shown(check_arena(), answer_of(c));
}

#define SILENT(reply) CHECK_STR(reply, "{}")

/* ---- runs ---- */

static void begin(struct site *t, const char *session)
{
    t->w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
    struct command *c = call(t, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    CHECK(!c->waits && !c->empty);
    const struct json *run = json_get(answer_of(c), "run");
    CHECK_STR(json_str(run, "session_name"), session);
    t->run = json_str(run, "run_id");
    t->prompt = json_str(run, "prompt");
    t->fence = json_int_or(run, "fence", 0);
    CHECK_OK(call(t, "runner.started",
                  "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT "','fence':%lld}",
                  STR_ARG(t->run), STR_ARG(t->runner), (long long)t->fence)
                 ->error);
    t->w->actor = the_operator;
}

static void no_run(struct site *t)
{
    t->w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
    struct command *c = call(t, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    CHECK(c->waits || c->empty);
    t->w->actor = the_operator;
}

static void done(struct site *t, const char *client_id)
{
    t->w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
    CHECK_OK(call(t, "runner.completed",
                  "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT
                  "','fence':%lld,'result':'done','client_id':'%s'}",
                  STR_ARG(t->run), STR_ARG(t->runner), (long long)t->fence, client_id)
                 ->error);
    t->w->actor = the_operator;
}

static void after_ms(struct site *t, int64_t ms)
{
    bool more = true;

    t->w->now_ms += ms;
    t->w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    while (more)
        more = json_bool_or(answer_of(call(t, "system.tick", "{}")), "more", false);
    t->w->actor = the_operator;
}

static void start(struct site *t, const char *parent, const char *name, const char *more)
{
    t->w->actor = the_operator;
    CHECK_OK(call(t, "run.create",
                  "{'type':'start_session','session_name':'%s','prompt':'go','parent_session_name':"
                  "'%s','callback':true%s}",
                  name, parent, more)
                 ->error);
}

static void wrote(struct site *t, const char *name)
{
    as_session(t, name);
    CHECK_OK(call(t, "state.patch", "{'state_id':'" STR_FMT "','merge':{'%s':'done'}}",
                  STR_ARG(t->w->actor.state_id), name)
                 ->error);
    t->w->actor = the_operator;
}

#define A "11111111-2222-4333-8444-555555555555"
#define A_NAME "claude-shop-11111111"

/* A root that a person started, with a state. */
static struct site *site_with_root(void)
{
    struct site *t = site_new();

    hook(t, "claude", A, "SessionStart", "'source':'startup'");
    CHECK_OK(
        call(t, "state.create", "{'schema_name':'s','initial_data':{},'root_session':'" A_NAME "'}")
            ->error);
    return t;
}

/* And a child of it that a runner has begun to run. */
static struct site *site_with_child(void)
{
    struct site *t = site_with_root();

    start(t, A_NAME, "child", ",'demands':{'profile':'claude'}");
    begin(t, "child");
    return t;
}

/* ---- who it is ---- */

TEST(session_start_registers_who_a_person_has_started)
{
    struct site *t = site_new();
    str reply = hook(t, "claude", A, "SessionStart", "'source':'startup'");

    CHECK(str_starts(reply, STR("{'hookSpecificOutput':{'hookEventName':'SessionStart',"
                                "'additionalContext':'You are session `" A_NAME "` in baton")));
    SHOWS(reply, "`state_create` makes one");
    const struct json *s = session(t, "claude-" A);
    CHECK_STR(json_str(s, "session_name"), A_NAME);
    CHECK_STR(json_str(s, "client_id"), A);
    CHECK_STR(json_str(s, "project_dir"), "/home/ann/shop");
    CHECK(json_bool_or(s, "attended", false));
    is(t, A_NAME, "pending -");
    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'hello'");
    is(t, A_NAME, "running -");
    CHECK_STR(json_str(session(t, A_NAME), "last_event"), "hello");
    site_free(t);
}

TEST(names_and_ids_are_made_of_whatever_clients_have)
{
    static const struct {
        const char *client, *id, *name;
    } cases[] = {
        { "codex", "0199a213-81c0-7800-8aa0-1b2c3d4e5f60", "codex-shop-0199a213" },
        { "codex", "0199a213-9999-7800-8aa0-1b2c3d4e5f60",
          "codex-0199a213-9999-7800-8aa0-1b2c3d4e5f60" }, /* its short name is taken */
        { "gemini", "a_b/../c", "gemini-shop-" },         /* and some of a digest */
        { "claude", "0123456789012345678901234567890123456789012345678901234567890",
          "claude-shop-" },
    };

    struct site *t = site_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hook(t, cases[i].client, cases[i].id, "SessionStart", "");
        SHOWS(hook(t, cases[i].client, cases[i].id, "SessionStart", ""), cases[i].name);
    }
    CHECK_INT(json_get(answer_of(call(t, "session.list", "{}")), "sessions")->len, 4);
    site_free(t);
}

TEST(session_that_was_not_there_at_its_start_is_registered_by_its_next_event)
{
    struct site *t = site_new();

    SILENT(hook(t, "claude", A, "SessionEnd", "'reason':'other'"));
    CHECK_INT(json_get(answer_of(call(t, "session.list", "{}")), "sessions")->len, 0);
    SILENT(hook(t, "claude", A, "PreToolUse", "'tool_name':'Bash','tool_input':{}"));
    is(t, A_NAME, "running -");
    str reply = hook(t, "codex", A, "UserPromptSubmit", "'prompt':'x'");
    SHOWS(reply, "'hookEventName':'UserPromptSubmit','additionalContext':'You are session `codex-");
    SILENT(hook(t, "codex", A, "UserPromptSubmit", "'prompt':'x'"));
    site_free(t);
}

TEST(session_is_registered_below_the_one_that_its_environment_names)
{
    struct site *t = site_with_root();
    struct command *c = call(t, "hook.event",
                             "{'client':'codex','parent':'" A_NAME "','event':{'session_id':'b',"
                             "'hook_event_name':'SessionStart'}}");

    SHOWS(c->answer, "you work for session `" A_NAME "`");
    SHOWS(c->answer, "You owe it your result");
    CHECK_STR(json_str(session(t, "codex-b"), "parent_session_name"), A_NAME);
    c = call(t, "hook.event",
             "{'client':'codex','parent':'nobody','event':{'session_id':'c',"
             "'hook_event_name':'SessionStart'}}");
    CHECK_STR(json_str(session(t, "codex-c"), "root_session_id"), "codex-c");
    site_free(t);
}

TEST(run_speaks_for_itself_and_its_own_clients_are_below_it)
{
    struct site *t = site_with_child();

    as_session(t, "child");
    hook(t, "claude", "own", "SessionStart", "");
    CHECK_STR(json_str(session(t, "child"), "client_id"), "own");
    as_session(t, "child");
    SHOWS(hook(t, "claude", "own", "SessionStart", ""), "You are session `child`");
    str reply = hook(t, "claude", "other", "SessionStart", "");
    SHOWS(reply, "You are session `claude-shop-other`");
    SHOWS(reply, "you work for session `child`");
    const struct json *s = session(t, "claude-other");
    CHECK_STR(json_str(s, "parent_session_name"), "child");
    CHECK(!json_bool_or(s, "callback", true)); /* its end is no news to who has started it */
    as_session(t, "claude-other");
    CHECK_ERR(call(t, "hook.event",
                   "{'client':'claude','event':{'session_id':'" A "',"
                   "'hook_event_name':'Stop'}}")
                  ->error,
              ERR_FORBIDDEN);
    site_free(t);
}

TEST(briefing_is_short_whatever_there_is)
{
    struct site *t = site_with_root();

    for (int i = 0; i < 9; i++)
        start(t, A_NAME,
              arena_printf(check_arena(),
                           "a-child-with-a-name-that-is-as-long-as-a-name-can-be-at-all%d", i)
                  .at,
              "");
    const struct json *answer =
        answer_of(call(t, "hook.event",
                       "{'client':'claude','event':{'session_id':'" A "',"
                       "'hook_event_name':'SessionStart','source':'compact'}}"));
    str text = json_str(json_get(answer, "hookSpecificOutput"), "additionalContext");
    CHECK(text.len <= 800);
    SHOWS(text, "version 1; read what you need");
    SHOWS(text, "and 6 more");
    site_free(t);
}

/* ---- stopping ---- */

TEST(stop_is_refused_until_the_result_is_recorded_each_client_in_its_words)
{
    static const struct {
        const char *client, *event, *word;
    } cases[] = {
        { "claude", "Stop", "{'decision':'block','reason':'## Required: Update Workflow State" },
        { "codex", "Stop", "{'decision':'block','reason':'## Required: Update Workflow State" },
        { "gemini", "AfterAgent", "{'decision':'deny','reason':'## Required: Update Workflow" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct site *t = site_with_child();
        as_session(t, "child");
        str reply = hook(t, cases[i].client, "own", cases[i].event, "'stop_hook_active':false");
        CHECK(str_starts(reply, str_from(cases[i].word)));
        is(t, "child", "running pending");
        wrote(t, "child");
        as_session(t, "child");
        SILENT(hook(t, cases[i].client, "own", cases[i].event, "'stop_hook_active':true"));
        done(t, "own");
        is(t, "child", "finished completed!");
        no_run(t);
        site_free(t);
    }
}

TEST(stop_is_refused_a_counted_number_of_times)
{
    struct site *t = site_with_child();

    for (int i = 0; i < 3; i++) {
        as_session(t, "child");
        SHOWS(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"), "'block'");
    }
    SILENT(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"));
    SILENT(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"));
    done(t, "own");
    is(t, "child", "failed failed!");
    site_free(t);
}

TEST(who_owes_nothing_is_never_held)
{
    struct site *t = site_with_root();

    for (int i = 0; i < 3; i++) {
        SILENT(hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'"));
        is(t, A_NAME, "running -");
        SILENT(hook(t, "claude", A, "Stop", "'stop_hook_active':false"));
        is(t, A_NAME, "finished -!");
    }
    CHECK_INT(json_int_or(session(t, A_NAME), "cycle", 0), 3);
    site_free(t);
}

TEST(stop_with_something_in_the_background_neither_holds_nor_settles)
{
    static const struct {
        const char *members, *end;
    } cases[] = {
        { "'background_tasks':[{'id':'a','type':'subagent','status':'running'}]", "running -" },
        { "'background_tasks':[{'id':'a','status':'pending'}],'session_crons':[]", "running -" },
        { "'session_crons':[{'id':'c','schedule':'* * * * *','recurring':true}]", "running -" },
        { "'background_tasks':[{'id':'a','status':'completed'}],'session_crons':[]",
          "finished -!" },
        { "'background_tasks':7", "finished -!" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct site *t = site_with_root();
        hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
        SILENT(hook(t, "claude", A, "Stop", cases[i].members));
        is(t, A_NAME, cases[i].end);
        site_free(t);
    }
    struct site *t = site_with_child();
    as_session(t, "child");
    SILENT(hook(t, "claude", "own", "Stop", cases[0].members));
    is(t, "child", "running -");
    SHOWS(call(t, "session.events", "{'session_id':'child'}")->answer, "session_pause");
    site_free(t);
}

TEST(agents_inside_of_a_client_neither_stop_nor_start_its_session)
{
    struct site *t = site_with_child();
    static const char inner[] = "'agent_id':'a1','agent_type':'general-purpose'";

    as_session(t, "child");
    SILENT(hook(t, "claude", "own", "SubagentStart", inner));
    SILENT(hook(t, "claude", "own", "SubagentStop",
                "'agent_id':'a1','stop_hook_active':false,'last_assistant_message':'done'"));
    is(t, "child", "running -");
    str events = call(t, "session.events", "{'session_id':'child'}")->answer;
    SHOWS(events, "\"event_type\":\"subagent_start\"");
    SHOWS(events, "\"event_type\":\"subagent_stop\"");
    SHOWS(events, "\"agent_type\":\"general-purpose\"");
    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    hook(t, "claude", A, "Stop", "");
    is(t, A_NAME, "idle -"); /* its child is at work */
    hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash','agent_id':'a1'");
    hook(t, "claude", A, "Notification", "'notification_type':'idle_prompt','message':'?'");
    is(t, A_NAME, "idle -");
    site_free(t);
}

TEST(end_of_a_client_settles_its_session)
{
    struct site *t = site_with_root();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    SILENT(hook(t, "claude", A, "SessionEnd", "'reason':'other'"));
    is(t, A_NAME, "finished -!");
    SILENT(hook(t, "claude", A, "SessionEnd", "'reason':'other'"));
    site_free(t);

    /* One that owes its result, and one that has recorded it. */
    for (int writes = 0; writes < 2; writes++) {
        t = site_with_root();
        call(t, "hook.event",
             "{'client':'codex','parent':'" A_NAME "','event':{'session_id':'b',"
             "'hook_event_name':'UserPromptSubmit','prompt':'x'}}");
        if (writes)
            wrote(t, "codex-b");
        SILENT(hook(t, "codex", "b", "SessionEnd", ""));
        is(t, "codex-b", writes ? "finished skipped!" : "failed failed!");
        SHOWS(hook(t, "claude", A, "UserPromptSubmit", "'prompt':'y'"), "Session `codex-b` has ");
        site_free(t);
    }

    /* What is run here ends with its run. */
    t = site_with_child();
    as_session(t, "child");
    SILENT(hook(t, "claude", "own", "SessionEnd", "'reason':'other'"));
    is(t, "child", "running -");
    site_free(t);
}

TEST(client_that_borrows_a_token_pays_by_what_it_writes)
{
    struct site *t = site_with_child();

    as_session(t, "child");
    hook(t, "claude", "own", "SessionStart", "");
    hook(t, "claude", "other", "UserPromptSubmit", "'prompt':'x'");
    SHOWS(hook(t, "claude", "other", "Stop", ""), "'block'");
    hook(t, "claude", "other", "PostToolUse", "'tool_name':'mcp__baton__state_read'");
    is(t, "claude-other", "running pending");
    as_session(t, "child");
    hook(t, "claude", "other", "PostToolUse", "'tool_name':'mcp__baton__state_patch'");
    is(t, "claude-other", "running completed");
    as_session(t, "child");
    SILENT(hook(t, "claude", "other", "Stop", "'stop_hook_active':true"));
    is(t, "claude-other", "finished completed!");
    is(t, "child", "running -");
    site_free(t);
}

/* ---- ends of children ---- */

/* A root at work, one of whose children has just settled. */
static struct site *site_with_news(void)
{
    struct site *t = site_with_child();

    hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
    wrote(t, "child");
    as_session(t, "child");
    hook(t, "claude", "own", "Stop", "");
    wrote(t, "child");
    done(t, "own");
    is(t, "child", "finished completed!");
    return t;
}

TEST(ends_of_children_are_told_once_at_the_next_event_that_can)
{
    static const struct {
        const char *event, *members;
    } cases[] = {
        { "SessionStart", "'source':'resume'" },
        { "UserPromptSubmit", "'prompt':'y'" },
        { "PostToolUse", "'tool_name':'Bash'" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct site *t = site_with_news();
        SILENT(hook(t, "claude", A, "PreToolUse", "'tool_name':'Bash'"));
        SILENT(hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash','agent_id':'a1'"));
        str reply = hook(t, "claude", A, cases[i].event, cases[i].members);
        SHOWS(reply, arena_printf(check_arena(), "'hookEventName':'%s'", cases[i].event).at);
        SHOWS(reply, "Session `child` has completed");
        CHECK(!has(hook(t, "claude", A, cases[i].event, cases[i].members), "child"));
        site_free(t);
    }
}

TEST(who_stops_while_ends_of_children_wait_goes_on_with_them_once)
{
    struct site *t = site_with_news();
    str reply = hook(t, "claude", A, "Stop", "'stop_hook_active':false");

    CHECK(str_starts(reply, STR("{'decision':'block','reason':'## Child Session Completed")));
    is(t, A_NAME, "running -");
    SILENT(hook(t, "claude", A, "Stop", "'stop_hook_active':true"));
    is(t, A_NAME, "finished -!");
    site_free(t);
}

/* ---- permissions ---- */

static struct site *site_with_asker(const char *profile)
{
    struct site *t = site_new();

    CHECK_OK(call(t, "agent.create",
                  "{'name':'careful','profile':'%s','ask':['Bash(git push:*)','WebFetch']}",
                  profile)
                 ->error);
    CHECK_OK(call(t, "run.create",
                  "{'type':'start_session','session_name':'solo','prompt':'go','agent_name':"
                  "'careful'}")
                 ->error);
    begin(t, "solo");
    return t;
}

#define PUSH "'tool_name':'Bash','tool_input':{'command':'git push origin'},'tool_use_id':'t1'"

static str push(struct site *t, const char *client, const char *event)
{
    as_session(t, "solo");
    str reply = hook(t, client, "own", event, PUSH);
    t->w->actor = the_operator;
    return reply;
}

static str waiting_id(struct site *t)
{
    const struct json *all =
        json_get(answer_of(call(t, "permission.list", "{'status':'waiting'}")), "permissions");

    CHECK_INT(all->len, 1);
    return json_str(&all->items[0], "permission_id");
}

static void resolve(struct site *t, const char *decision)
{
    CHECK_OK(call(t, "permission.resolve",
                  "{'permission_id':'" STR_FMT "','decision':'%s','reason':"
                  "'because'}",
                  STR_ARG(waiting_id(t)), decision)
                 ->error);
}

TEST(tool_that_a_role_lists_waits_for_the_operator_and_then_runs)
{
    struct site *t = site_with_asker("claude");

    SHOWS(push(t, "claude", "PreToolUse"),
          "{'hookSpecificOutput':{'hookEventName':'PreToolUse','permissionDecision':'defer',"
          "'permissionDecisionReason':'This use of Bash waits for the operator");
    SHOWS(push(t, "claude", "PreToolUse"), "'defer'"); /* the same question */
    done(t, "own");
    is(t, "solo", "idle -"); /* it waits, and does not settle */
    no_run(t);
    resolve(t, "allow");
    begin(t, "solo");
    SHOWS(t->prompt, "It was allowed");
    SHOWS(t->prompt, "because");
    SHOWS(push(t, "claude", "PreToolUse"), "'permissionDecision':'allow'");
    SHOWS(push(t, "claude", "PreToolUse"), "'allow'"); /* the same call, asked again */
    as_session(t, "solo");
    SHOWS(hook(t, "claude", "own", "PreToolUse",
               "'tool_name':'Bash','tool_input':{'command':'git push origin'},'tool_use_id':'t2'"),
          "'defer'"); /* another call */
    done(t, "own");
    resolve(t, "deny");
    begin(t, "solo");
    SHOWS(t->prompt, "It was denied");
    SHOWS(push(t, "claude", "PreToolUse"), "'permissionDecision':'deny'");
    SHOWS(push(t, "claude", "PreToolUse"), "The operator denied this use of Bash: because");
    done(t, "own");
    is(t, "solo", "finished -!");
    site_free(t);
}

TEST(clients_that_cannot_wait_are_refused_and_told_how_to_go_on)
{
    struct site *t = site_with_asker("codex");

    SHOWS(push(t, "codex", "PreToolUse"), "'permissionDecision':'deny'");
    SHOWS(push(t, "codex", "PreToolUse"), "You will be resumed when it was decided.");
    as_session(t, "solo");
    SILENT(hook(t, "codex", "own", "Stop", ""));
    t->w->actor = the_operator;
    resolve(t, "allow"); /* while its run is still there */
    done(t, "own");
    begin(t, "solo");
    SILENT(push(t, "codex", "PreToolUse"));
    done(t, "own");
    is(t, "solo", "finished -!");
    site_free(t);

    t = site_with_asker("gemini");
    SHOWS(push(t, "gemini", "BeforeTool"), "{'decision':'deny','reason':'This use of Bash waits");
    done(t, "own");
    resolve(t, "allow");
    begin(t, "solo");
    SILENT(push(t, "gemini", "BeforeTool"));
    site_free(t);
}

/* Its update is owed after that, in turns of their own. */
TEST(who_waits_for_the_operator_is_not_asked_for_its_update)
{
    struct site *t = site_with_root();

    CHECK_OK(
        call(t, "agent.create", "{'name':'careful','profile':'claude','ask':['Bash']}")->error);
    start(t, A_NAME, "solo", ",'agent_name':'careful'");
    begin(t, "solo");
    as_session(t, "solo");
    SHOWS(hook(t, "claude", "own", "Stop", ""), "'block'");
    push(t, "claude", "PreToolUse");
    as_session(t, "solo");
    SILENT(hook(t, "claude", "own", "Stop", "'stop_hook_active':true"));
    done(t, "own");
    is(t, "solo", "idle pending");
    no_run(t);
    resolve(t, "allow");
    begin(t, "solo");
    SHOWS(push(t, "claude", "PreToolUse"), "'allow'");
    wrote(t, "solo");
    as_session(t, "solo");
    SILENT(hook(t, "claude", "own", "Stop", ""));
    done(t, "own");
    is(t, "solo", "finished completed!");
    site_free(t);
}

/* Its client never told how. */
TEST(who_cannot_be_resumed_settles_when_it_was_decided)
{
    struct site *t = site_with_asker("codex");

    as_session(t, "solo");
    hook(t, "claude", "own", "PreToolUse", PUSH); /* of a client that is not the profile's */
    t->w->actor = the_operator;
    done(t, "");
    is(t, "solo", "idle -");
    resolve(t, "allow");
    is(t, "solo", "finished -!");
    no_run(t);
    site_free(t);
}

TEST(question_that_nobody_answers_expires_and_one_of_a_stopped_session_is_withdrawn)
{
    struct site *t = site_with_asker("claude");

    push(t, "claude", "PreToolUse");
    done(t, "own");
    after_ms(t, t->w->team.permission_ms);
    begin(t, "solo");
    SHOWS(t->prompt, "Nobody has decided in time");
    SHOWS(call(t, "permission.list", "{'session':'solo'}")->answer, "\"status\":\"expired\"");
    push(t, "claude", "PreToolUse");
    str id = waiting_id(t);
    done(t, "own");
    CHECK_OK(call(t, "session.stop", "{'session_id':'solo'}")->error);
    is(t, "solo", "stopped -!");
    CHECK_ERR(call(t, "permission.resolve", "{'permission_id':'" STR_FMT "','decision':'allow'}",
                   STR_ARG(id))
                  ->error,
              ERR_CONFLICT);
    CHECK_ERR(
        call(t, "permission.resolve", "{'permission_id':'prm_none','decision':'allow'}")->error,
        ERR_NOT_FOUND);
    no_run(t);
    CHECK_OK(call(t, "session.delete", "{'session_id':'solo'}")->error);
    site_free(t);
}

TEST(role_asks_for_what_its_list_says_and_for_nothing_else)
{
    static const struct {
        const char *rule, *tool, *input;
        bool asks;
    } cases[] = {
        { "Bash", "Bash", "{'command':'ls'}", true },
        { "Bash", "BashOutput", "{}", false },
        { "mcp__*", "mcp__mail__send", "{}", true },
        { "Bash(git push:*)", "Bash", "{'command':'git push'}", true },
        { "Bash(git push:*)", "Bash", "{'command':'git pushed'}", false },
        { "Bash(git push:*)", "Bash", "{'command':'cd x && git push -f'}", true },
        { "Bash(git push:*)", "Bash", "{'command':'echo a; git push'}", true },
        { "Bash(rm *)", "Bash", "{'command':'rm -rf /'}", true },
        { "Bash(rm *)", "Bash", "{'command':'ls rm'}", false },
        { "Edit(*.py)", "Edit", "{'file_path':'/a/b.py'}", true },
        { "Edit(*.py)", "Edit", "{'file_path':'/a/b.c'}", false },
        { "Edit(*.py)", "Write", "{'file_path':'/a/b.py'}", false },
        { "WebFetch(https://*.example/*)", "WebFetch", "{'url':'https://a.example/x'}", true },
        { "Odd(*secret*)", "Odd", "{'x':{'y':'a secret'}}", true },
        { "a*b*c*d*e", "aaaabbbbccccddddeeeef", "{}", false },
        { "(", "Bash", "{}", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct site *t = site_new();
        CHECK_OK(
            call(t, "agent.create", "{'name':'r','profile':'claude','ask':['%s']}", cases[i].rule)
                ->error);
        CHECK_OK(call(t, "run.create",
                      "{'type':'start_session','session_name':'solo','prompt':'go','agent_name':"
                      "'r'}")
                     ->error);
        begin(t, "solo");
        as_session(t, "solo");
        str reply = hook(t, "claude", "own", "PreToolUse",
                         arena_printf(check_arena(), "'tool_name':'%s','tool_input':%s",
                                      cases[i].tool, cases[i].input)
                             .at);
        if (has(reply, "'defer'") != cases[i].asks)
            check_fail(__FILE__, __LINE__, "%s for %s %s", cases[i].rule, cases[i].tool,
                       cases[i].input);
        world_close(t->w);
    }
}

TEST(somebody_who_is_there_is_asked_by_the_client_itself)
{
    struct site *t = site_with_root();

    CHECK_OK(call(t, "agent.create", "{'name':'careful','ask':['Bash']}")->error);
    SILENT(hook(t, "claude", A, "PreToolUse", PUSH));
    CHECK_INT(json_get(answer_of(call(t, "permission.list", "{}")), "permissions")->len, 0);
    site_free(t);
}

/* ---- failures ---- */

TEST(failure_is_noted_with_the_time_when_it_is_over_and_fails_nothing)
{
    static const struct {
        const char *members, *notice, *until;
    } cases[] = {
        { "'error':'rate_limit','error_details':'slow down','resets_at':1736940000",
          "rate_limit: slow down", "2025-01-15T11:20:00Z" },
        { "'error':'rate_limit','resetsAt':'2025-01-15T12:00:00Z'", "rate_limit",
          "2025-01-15T12:00:00Z" },
        { "'error':'rate_limit','error_details':{'retry_after':60}",
          "rate_limit: {'retry_after':60}", "2025-01-15T10:36:00Z" },
        { "'error':'rate_limit','rate_limit_info':{'resetsAt':1736940000000}", "rate_limit",
          "2025-01-15T11:20:00Z" },
        { "'error':'billing_error','error_details':'limit reached|1736940000'",
          "billing_error: limit reached|1736940000", "2025-01-15T11:20:00Z" },
        { "'error':'overloaded'", "overloaded", "" },
        { "'resets_at':-5", "unknown", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct site *t = site_with_root();
        t->w->now_ms = 1736937300000;
        hook(t, "claude", A, "UserPromptSubmit", "'prompt':'x'");
        SILENT(hook(t, "claude", A, "StopFailure", cases[i].members));
        struct json shown = json_copy(check_arena(), session(t, A_NAME));
        CHECK_STR(json_shown(check_arena(), json_get(&shown, "error")), "null");
        const struct json *s = answer_of(call(t, "session.status", "{'session_id':'" A_NAME "'}"));
        str notice = arena_copy(check_arena(), json_str(s, "notice"));
        for (char *at = (char *)notice.at; (at = strchr(at, '"'));)
            *at = '\'';
        CHECK_STR(notice, cases[i].notice);
        CHECK_STR(json_str(s, "notice_until"), cases[i].until);
        CHECK(str_starts(json_str(s, "last_event"), json_str(s, "notice")));
        is(t, A_NAME, "running -");
        hook(t, "claude", A, "PostToolUse", "'tool_name':'Bash'");
        CHECK_STR(json_str(session(t, A_NAME), "notice"), "");
        site_free(t);
    }
}

/* ---- whatever comes ---- */

TEST(unknown_events_and_fields_are_noted)
{
    struct site *t = site_with_root();

    SILENT(hook(t, "claude", A, "TeaTime", "'cups':2,'deep':{'a':{'b':{'c':{'d':{'e':1}}}}}"));
    SILENT(hook(t, "claude", A, "", ""));
    str events = call(t, "session.events", "{'session_id':'" A_NAME "'}")->answer;
    SHOWS(events, "\"hook_event_name\":\"TeaTime\",\"cups\":2");
    is(t, A_NAME, "pending -");
    SILENT(json_shown(check_arena(),
                      answer_of(call(t, "hook.event", "{'client':'claude','event':{}}"))));
    SILENT(
        json_shown(check_arena(), answer_of(call(t, "hook.event",
                                                 "{'client':'claude','event':{'session_id':7}}"))));
    CHECK_ERR(call(t, "hook.event", "{'client':'emacs','event':{}}")->error, ERR_INVALID);
    CHECK_ERR(call(t, "hook.event", "{'client':'claude','event':[]}")->error, ERR_INVALID);
    t->w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    CHECK_ERR(call(t, "hook.event", "{'client':'claude','event':{}}")->error, ERR_FORBIDDEN);
    site_free(t);
}

TEST(what_is_kept_of_an_event_is_bounded_and_legible)
{
    struct site *t = site_with_root();
    struct buf members = buf_in(check_arena());

    buf_add(&members, STR("'tool_name':'Write','tool_input':{'content':'"));
    for (int i = 0; i < 100000; i++)
        buf_add(&members, STR("ö"));
    buf_add(&members, STR("'},'tool_response':["));
    for (int i = 0; i < 5000; i++)
        buf_printf(&members, "%s{'line':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}",
                   i ? "," : "");
    buf_add(&members, STR("]"));
    for (int i = 0; i < 1000; i++)
        buf_printf(&members,
                   ",'m%d':'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'", i);
    hook(t, "claude", A, "PostToolUse", buf_str(&members).at);
    struct command *c = call(t, "session.events", "{'session_id':'" A_NAME "','after':1}");
    const struct json *event = json_at(json_get(answer_of(c), "events"), 0);
    CHECK(json_print_size(json_get(event, "data")) <= 8192);
    CHECK_STR(json_str(json_get(event, "data"), "tool_name"), "Write");
    CHECK_STR(json_str(session(t, A_NAME), "last_event"), "post_tool Write");
    site_free(t);
}

TEST(tasks_of_a_client_are_events_of_its_session)
{
    struct site *t = site_with_root();

    hook(t, "claude", A, "TaskCreated", "'task_id':'1','task_subject':'Do A'");
    hook(t, "claude", A, "PostToolUse",
         "'tool_name':'TaskUpdate','tool_input':{'taskId':'1','status':'in_progress'}");
    hook(t, "claude", A, "TaskCompleted", "'task_id':'1','task_subject':'Do A'");
    str events = call(t, "session.events", "{'session_id':'" A_NAME "'}")->answer;
    SHOWS(events, "\"event_type\":\"task_created\"");
    SHOWS(events, "\"tool_input\":{\"taskId\":\"1\",\"status\":\"in_progress\"}");
    SHOWS(events, "\"event_type\":\"task_completed\"");
    CHECK_STR(json_str(session(t, A_NAME), "last_event"), "Do A");
    site_free(t);
}

/* What a client takes: it refuses answers with anything else in them. */
static void reply_check(const struct json *reply, str event)
{
    const struct json *specific = json_get(reply, "hookSpecificOutput");

    for (uint32_t i = 0; i < reply->len; i++) {
        str name = json_name(&reply->members[i]);
        CHECK(str_eq(name, STR("decision")) || str_eq(name, STR("reason")) ||
              str_eq(name, STR("hookSpecificOutput")));
    }
    CHECK((json_get(reply, "decision") != NULL) == (json_str(reply, "reason").len > 0));
    if (!specific)
        return;
    CHECK(str_eq(json_str(specific, "hookEventName"), event));
    for (uint32_t i = 0; i < specific->len; i++) {
        str name = json_name(&specific->members[i]);
        CHECK(str_eq(name, STR("hookEventName")) || str_eq(name, STR("additionalContext")) ||
              str_starts(name, STR("permissionDecision")));
    }
}

TEST(recorded_hooks_of_a_real_client_are_taken)
{
    const char *folder = check_suite("client-traces");
    str text =
        check_read(arena_printf(check_arena(), "%s/claude-code-2.1.325-hooks.json", folder).at);
    const struct json *records;
    struct site *t = site_new();

    CHECK_OK(json_parse(check_arena(), text, NULL, &records));
    for (uint32_t i = 0; i < records->len; i++) {
        const struct json *told = json_get(&records->items[i], "stdin");
        struct command *c = world_command(t->w, "hook.event", "{'client':'claude'}", "");
        json_put(check_arena(), (struct json *)c->input, STR("event"), *told);
        op_perform(&t->w->engine, &c, 1);
        world_check_answer(t->w, c);
        reply_check(answer_of(c), json_str(told, "hook_event_name"));
    }
    check_note("%u events", (unsigned)records->len);
    is(t, "claude-proj-b2658115", "finished -!"); /* print: it came to its end */
    is(t, "claude-proj-28b4b59d", "running -");   /* interactive: an agent was in the background */
    str events = call(t, "session.events", "{'session_id':'claude-proj-b2658115'}")->answer;
    SHOWS(events, "\"event_type\":\"task_created\"");
    SHOWS(events, "\"agent_id\":\"a76c39ae0ae4e0d47\"");
    site_free(t);
}

/* ---- the command ---- */

TEST(half_characters_of_clients_are_mended)
{
    static const struct {
        const char *text, *mended;
    } cases[] = {
        { "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\"" },
        { "\"\\ud83d\"", "\"\\ufffd\"" },
        { "\"\\ude00x\"", "\"\\ufffdx\"" },
        { "\"\\ud83d\\u0041\"", "\"\\ufffd\\u0041\"" },
        { "\"a\\u0000b\"", "\"a\\ufffdb\"" },
        { "\"\\\\ud83d\"", "\"\\\\ud83d\"" }, /* a backslash and four letters */
        { "\"\\uD83D\\uDE00\\uD83D\"", "\"\\uD83D\\uDE00\\ufffd\"" },
        { "\\u12", "\\u12" },
        { "\\", "\\" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = arena_copy(check_arena(), str_from(cases[i].text));
        hook_mend((char *)text.at, text.len);
        CHECK_STR(text, cases[i].mended);
    }
}

TEST(no_exit_code_of_a_hook_refuses_anything)
{
    for (int code = 0; code < 256; code++)
        CHECK(hook_exit(code) != 2 && (hook_exit(code) == 0) == (code == 0));
}
