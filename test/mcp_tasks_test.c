/* mcp_tasks_test.c: a task is a run, from its start until its session has settled.
 *
 * The test plays the runner: it claims a run, says that its agent began, and how it ended. */
#include "mcp_direct.h"

enum { LEGACY, MODERN };

struct team {
    struct mcp_direct *r;
    str runner, state, run;
    str held; /* the run that the runner has */
    long long fence;
};

static const struct json *did(struct team *t, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static const struct json *did(struct team *t, const char *op, const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    return mcp_direct_did(t->r, op, buf_str(&input).at);
}

static void as_runner(struct team *t)
{
    mcp_direct_as(t->r, ACTOR_RUNNER, "rn_1", "", STR(""));
}

/* A lead with a state, or without one, and what it starts. */
static struct team team_new(bool with_state)
{
    struct team t = { .r = mcp_direct_new("tasks.db") };

    t.r->tasks = true;
    as_runner(&t);
    t.runner = json_str(did(&t, "runner.register", "{'hostname':'here','tags':[],'capacity':10}"),
                        "runner_id");
    mcp_direct_as_operator(t.r);
    did(&t, "session.create", "{'session_id':'ses_lead','session_name':'lead'}");
    if (with_state) {
        did(&t, "schema.create", "{'name':'any','json_schema':{'type':'object'}}");
        t.state = json_str(did(&t, "state.create",
                               "{'schema_name':'any','initial_data':{},'root_session':'ses_lead'}"),
                           "state_id");
    }
    t.run = json_str(did(&t, "run.create",
                         "{'type':'start_session','session_name':'child','prompt':'go',"
                         "'parent_session_name':'lead'}"),
                     "run_id");
    return t;
}

/* The next run is claimed, and begins. */
static void begin(struct team *t)
{
    as_runner(t);
    const struct json *run =
        json_get(did(t, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner)), "run");
    t->held = json_str(run, "run_id");
    t->fence = (long long)json_int_or(run, "fence", 0);
    did(t, "runner.started", "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT "','fence':%lld}",
        STR_ARG(t->held), STR_ARG(t->runner), t->fence);
    mcp_direct_as_operator(t->r);
}

static void end(struct team *t, const char *how, const char *facts)
{
    as_runner(t);
    did(t, how, "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT "','fence':%lld,%s}",
        STR_ARG(t->held), STR_ARG(t->runner), t->fence, facts);
    mcp_direct_as_operator(t->r);
}

static void turn(struct team *t, const char *how, const char *facts)
{
    begin(t);
    end(t, how, facts);
}

static const char *named(str id)
{
    return arena_printf(check_arena(), "'taskId':'" STR_FMT "'", STR_ARG(id)).at;
}

static const struct json *task(struct team *t)
{
    const struct json *found = mcp_direct_result(t->r, MODERN, "tasks/get", named(t->run));

    CHECK_STR(json_str(found, "resultType"), "complete");
    CHECK_STR(json_str(found, "taskId"), arena_copy(check_arena(), t->run).at);
    CHECK(json_is(json_get(found, "ttlMs"), JSON_NULL));
    CHECK(json_int_or(found, "pollIntervalMs", 0) > 0);
    return found;
}

static str status(struct team *t)
{
    return json_str(task(t), "status");
}

TEST(task_works_from_the_queue_to_the_end_of_its_run)
{
    struct team t = team_new(false);

    CHECK_STR(status(&t), "working");
    CHECK_STR(json_str(task(&t), "statusMessage"), "session child is at work: its run is pending");
    t.r->w->now_ms += 5000;
    begin(&t);
    const struct json *working = task(&t);
    CHECK_STR(json_str(working, "status"), "working");
    CHECK(!str_eq(json_str(working, "createdAt"), json_str(working, "lastUpdatedAt")));
    CHECK(!json_get(working, "result"));
    mcp_direct_free(t.r);
}

TEST(task_is_completed_with_the_result_of_a_start_that_waits)
{
    struct team t = team_new(false);

    turn(&t, "runner.completed", "'result':'forty-two','client_id':'c'");
    const struct json *done = task(&t), *result = json_get(done, "result");
    CHECK_STR(json_str(done, "status"), "completed");
    CHECK(!json_get(result, "isError"));
    CHECK(!json_get(json_get(result, "structuredContent"), "usage"));
    CHECK_STR(json_str(json_get(result, "structuredContent"), "result"), "forty-two");
    CHECK_STR(json_str(json_at(json_get(result, "content"), 0), "text"),
              json_printed(check_arena(), json_get(result, "structuredContent")).at);
    mcp_direct_free(t.r);
}

/* The promise of two phases holds for those who look at tasks, too. */
TEST(task_works_until_the_state_update_was_made)
{
    struct team t = team_new(true);

    turn(&t, "runner.completed", "'result':'done','client_id':'c'");
    CHECK_STR(status(&t), "working");
    CHECK_STR(json_str(task(&t), "statusMessage"),
              "session child has not settled: its run is completed");
    begin(&t);
    str child = arena_copy(check_arena(), json_str(did(&t, "session.get", "{'session_id':'child'}"),
                                                   "session_id"));
    mcp_direct_as(t.r, ACTOR_SESSION, "ss_child", child.at, t.state);
    did(&t, "state.patch",
        "{'state_id':'" STR_FMT "','operations':[{'op':'add','path':'/x','value':1}]}",
        STR_ARG(t.state));
    mcp_direct_as_operator(t.r);
    end(&t, "runner.completed", "'result':'recorded','client_id':'c'");
    CHECK_STR(status(&t), "completed");
    mcp_direct_free(t.r);
}

/* As whoever had waited for it would be told: the protocol is all right. */
TEST(task_of_an_agent_that_failed_is_completed_and_says_so)
{
    struct team t = team_new(false);

    turn(&t, "runner.failed", "'error':'it broke','client_id':'c'");
    const struct json *done = task(&t), *result = json_get(done, "result");
    CHECK_STR(json_str(done, "status"), "completed");
    CHECK_STR(json_str(json_get(result, "structuredContent"), "status"), "failed");
    CHECK_STR(json_str(json_get(result, "structuredContent"), "error"), "it broke");
    mcp_direct_free(t.r);
}

TEST(task_keeps_its_own_result_when_its_session_goes_on)
{
    struct team t = team_new(false);

    turn(&t, "runner.completed", "'result':'first','client_id':'c'");
    did(&t, "run.create", "{'type':'resume_session','session_name':'child','prompt':'more'}");
    const struct json *done = task(&t);
    CHECK_STR(json_str(done, "status"), "completed");
    CHECK_STR(json_str(json_get(json_get(done, "result"), "structuredContent"), "result"), "first");
    turn(&t, "runner.completed", "'result':'second','client_id':'c'");
    done = task(&t);
    CHECK_STR(json_str(json_get(json_get(done, "result"), "structuredContent"), "result"), "first");
    mcp_direct_free(t.r);
}

TEST(task_is_cancelled_by_stopping_its_run)
{
    struct team t = team_new(false);

    const struct json *ack = mcp_direct_result(t.r, MODERN, "tasks/cancel", named(t.run));
    CHECK_STR(json_str(ack, "resultType"), "complete");
    CHECK(!json_get(ack, "taskId"));
    CHECK_STR(status(&t), "cancelled");
    mcp_direct_result(t.r, MODERN, "tasks/cancel", named(t.run));
    mcp_direct_free(t.r);
}

TEST(task_that_is_over_is_not_cancelled_any_more)
{
    struct team t = team_new(false);

    turn(&t, "runner.completed", "'result':'done','client_id':'c'");
    mcp_direct_result(t.r, MODERN, "tasks/cancel", named(t.run));
    CHECK_STR(status(&t), "completed");
    mcp_direct_free(t.r);
}

TEST(task_that_nobody_knows_is_refused)
{
    struct team t = team_new(false);
    static const char *const methods[] = { "tasks/get", "tasks/update", "tasks/cancel" };

    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(mcp_direct_refused(t.r, MODERN, methods[i],
                                     "'taskId':'run_none','inputResponses':{}"),
                  RPC_PARAMS);
        CHECK_INT(mcp_direct_refused(t.r, MODERN, methods[i], "'taskId':7"), RPC_PARAMS);
        CHECK_INT(mcp_direct_refused(t.r, MODERN, methods[i], ""), RPC_PARAMS);
        CHECK_INT(mcp_direct_refused(t.r, LEGACY, methods[i], named(t.run)), RPC_METHOD);
    }
    /* Another session's is as unknown as none. */
    did(&t, "session.create", "{'session_id':'ses_other','session_name':'other'}");
    mcp_direct_as(t.r, ACTOR_SESSION, "ss_other", "ses_other", STR(""));
    CHECK_INT(mcp_direct_refused(t.r, MODERN, "tasks/get", named(t.run)), RPC_PARAMS);
    CHECK_INT(mcp_direct_refused(t.r, MODERN, "tasks/cancel", named(t.run)), RPC_PARAMS);
    mcp_direct_as_operator(t.r);
    CHECK_STR(status(&t), "working");
    mcp_direct_free(t.r);
}

TEST(task_awaits_no_input_but_takes_it)
{
    struct team t = team_new(false);
    str params =
        arena_printf(check_arena(), "%s,'inputResponses':{'q':{'action':'accept'}}", named(t.run));

    mcp_direct_result(t.r, MODERN, "tasks/update", params.at);
    CHECK_INT(mcp_direct_refused(t.r, MODERN, "tasks/update", named(t.run)), RPC_PARAMS);
    mcp_direct_free(t.r);
}

TEST(task_needs_a_client_that_declares_them)
{
    struct team t = team_new(false);
    static const char *const methods[] = { "tasks/get", "tasks/update", "tasks/cancel" };

    t.r->tasks = false;
    for (size_t i = 0; i < 3; i++) {
        const struct json *said = mcp_direct_said(t.r, MODERN, methods[i], named(t.run));
        const struct json *error = json_get(said, "error");
        CHECK_INT(json_int_or(error, "code", 0), RPC_CAPABILITY);
        CHECK_STR(json_shown(check_arena(), json_get(error, "data")),
                  "{'requiredCapabilities':{'extensions':{'io.modelcontextprotocol/tasks':{}}}}");
        CHECK_INT(t.r->call->status, 400);
    }
    mcp_direct_free(t.r);
}

/* ---- those who listen ---- */

TEST(listeners_hear_of_the_tasks_that_they_may_see)
{
    struct team t = team_new(false);
    str params = arena_printf(check_arena(),
                              "'notifications':{'taskIds':['run_none','" STR_FMT "']}",
                              STR_ARG(t.run));
    const struct json *said = mcp_direct_said(t.r, MODERN, "subscriptions/listen", params.at);

    CHECK_INT(t.r->call->next, MCP_LISTEN);
    CHECK_INT(t.r->call->listen.task_count, 1);
    CHECK_STR(json_shown(check_arena(), json_get(json_get(said, "params"), "notifications")),
              arena_printf(check_arena(), "{'taskIds':['" STR_FMT "']}", STR_ARG(t.run)).at);
    mcp_direct_free(t.r);
}

/* What is pushed is what tasks/get would have answered at that moment. */
TEST(listeners_are_sent_what_would_be_answered)
{
    struct team t = team_new(false);

    for (int ended = 0; ended < 2; ended++) {
        const struct json *pushed, *params;
        struct json asked = json_copy(check_arena(), task(&t)), shown = json_object();
        struct mcp_call *m = mcp_direct_call(t.r);

        mcp_task_status(m, t.run, STR("\"listen:1\""));
        mcp_direct_finish(t.r, m);
        CHECK_INT(m->next, MCP_ANSWER);
        pushed = json_parsed(check_arena(), m->answer);
        CHECK_STR(json_str(pushed, "method"), "notifications/tasks");
        params = json_get(pushed, "params");
        CHECK_STR(json_shown(check_arena(), json_get(params, "_meta")),
                  "{'io.modelcontextprotocol/subscriptionId':'listen:1'}");
        /* All but the members that say whether it is a result or a notification. */
        for (uint32_t i = 0; i < params->len; i++)
            if (!str_eq(json_name(&params->members[i]), STR("_meta")))
                json_put(check_arena(), &shown, json_name(&params->members[i]),
                         params->members[i].value);
        CHECK_INT(shown.len + 2, asked.len);
        for (uint32_t i = 0; i < shown.len; i++)
            CHECK(json_equal(&shown.members[i].value,
                             json_find(&asked, json_name(&shown.members[i]))));
        if (!ended)
            turn(&t, "runner.completed", "'result':'done','client_id':'c'");
    }
    mcp_direct_free(t.r);
}

TEST(task_that_was_created_is_one_that_works)
{
    struct team t = team_new(false);
    const struct json *run = did(&t, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(t.run)), *said;
    struct mcp_call *m;

    task(&t);
    m = t.r->call;
    task_answer_created(m, run);
    said = json_parsed(check_arena(), m->answer);
    said = json_get(said, "result");
    CHECK_STR(json_str(said, "resultType"), "task");
    CHECK_STR(json_str(said, "status"), "working");
    CHECK_STR(json_str(said, "taskId"), arena_copy(check_arena(), t.run).at);
    mcp_direct_free(t.r);
}
