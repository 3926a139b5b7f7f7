/* hooks_fixture.h: a world with one runner, played by the test, and clients that tell by their hooks
 * what they do. Events are JSON as the clients send it. */
#ifndef TEST_HOOKS_FIXTURE_H
#define TEST_HOOKS_FIXTURE_H

#include "calls.h"

struct fixture {
    struct world *w;
    str runner, run, prompt;
    int64_t fence;
};

static inline void as_runner(struct fixture *t)
{
    t->w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
}

static inline struct fixture *fixture_new(void)
{
    static int count;
    struct fixture *t = ARENA_NEW(check_arena(), struct fixture);

    CHECK_OK(world_open(arena_printf(check_arena(), "hooks%d.db", ++count).at, NULL, &t->w));
    as_runner(t);
    t->runner = json_str(answer_of(call(t->w, "runner.register",
                                        "{'hostname':'here','tags':[],'capacity':10}")),
                         "runner_id");
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "schema.create", "{'name':'s','json_schema':{'type':'object'}}")->error);
    return t;
}

/* What holds in every database held in this one. */
static inline void fixture_free(struct fixture *t)
{
    world_audit(t->w);
    world_close(t->w);
}

static inline const struct json *session(struct fixture *t, const char *name)
{
    t->w->actor = the_operator;
    return answer_of(call(t->w, "session.get", "{'session_id':'%s'}", name));
}

/* "status update", with - for none, and "!" when it has settled. */
static inline void is(struct fixture *t, const char *name, const char *expected)
{
    const struct json *s = session(t, name);
    str update = json_str(s, "state_update_status");

    CHECK_STR(arena_printf(check_arena(), STR_FMT " " STR_FMT "%s", STR_ARG(json_str(s, "status")),
                           STR_ARG(update.len ? update : STR("-")),
                           json_bool_or(s, "settled", false) ? "!" : ""),
              expected);
}

static inline void as_session(struct fixture *t, const char *name)
{
    const struct json *s = session(t, name);

    t->w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                  .name = str_from(name),
                                  .token_id = STR("ss_1"),
                                  .session_id = json_str(s, "session_id"),
                                  .state_id = json_str(s, "workflow_state_id") };
}

/* One event of a client; `members` follow the event's name and the client's id. */
static inline str hook(struct fixture *t, const char *client, const char *id, const char *event,
                       const char *members)
{
    struct command *c = call(
        t->w, "hook.event",
        "{'client':'%s','event':{'session_id':'%s','cwd':'/home/ann/shop','hook_event_name':'%s'%s%s}}",
        client, id, event, *members ? "," : "", members);

    CHECK_OK(c->error);
    return json_shown(check_arena(), answer_of(c));
}

#define SILENT(reply) CHECK_STR(reply, "{}")

/* ---- runs ---- */

static inline void begin(struct fixture *t, const char *session)
{
    as_runner(t);
    struct command *c =
        call(t->w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    CHECK(!c->answer.waits && !c->answer.empty);
    const struct json *run = json_get(answer_of(c), "run");
    CHECK_STR(json_str(run, "session_name"), session);
    t->run = json_str(run, "run_id");
    t->prompt = json_str(run, "prompt");
    t->fence = json_int_or(run, "fence", 0);
    CHECK_OK(call(t->w, "runner.started",
                  "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT "','fence':%lld}",
                  STR_ARG(t->run), STR_ARG(t->runner), (long long)t->fence)
                 ->error);
    t->w->actor = the_operator;
}

static inline void no_run(struct fixture *t)
{
    as_runner(t);
    struct command *c =
        call(t->w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    CHECK(c->answer.waits || c->answer.empty);
    t->w->actor = the_operator;
}

static inline void done(struct fixture *t, const char *client_id)
{
    as_runner(t);
    CHECK_OK(call(t->w, "runner.completed",
                  "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT
                  "','fence':%lld,'result':'done','client_id':'%s'}",
                  STR_ARG(t->run), STR_ARG(t->runner), (long long)t->fence, client_id)
                 ->error);
    t->w->actor = the_operator;
}

static inline void after_ms(struct fixture *t, int64_t ms)
{
    t->w->actor = the_operator;
    world_pass(t->w, ms);
}

static inline void start(struct fixture *t, const char *parent, const char *name, const char *more)
{
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "run.create",
                  "{'type':'start_session','session_name':'%s','prompt':'go','parent_session_name':"
                  "'%s','callback':true%s}",
                  name, parent, more)
                 ->error);
}

static inline void wrote(struct fixture *t, const char *name)
{
    as_session(t, name);
    CHECK_OK(call(t->w, "state.patch", "{'state_id':'" STR_FMT "','merge':{'%s':'done'}}",
                  STR_ARG(t->w->actor.state_id), name)
                 ->error);
    t->w->actor = the_operator;
}

#define A "11111111-2222-4333-8444-555555555555"
#define A_NAME "claude-shop-11111111"

/* A root that a person started, with a state. */
static inline struct fixture *fixture_with_root(void)
{
    struct fixture *t = fixture_new();

    hook(t, "claude", A, "SessionStart", "'source':'startup'");
    CHECK_OK(call(t->w, "state.create",
                  "{'schema_name':'s','initial_data':{},'root_session':'" A_NAME "'}")
                 ->error);
    return t;
}

/* And a child of it that a runner has begun to run. */
static inline struct fixture *fixture_with_child(void)
{
    struct fixture *t = fixture_with_root();

    start(t, A_NAME, "child", ",'demands':{'profile':'claude'}");
    begin(t, "child");
    return t;
}

#endif
