/* team_kill_test.c: a server or a runner that is killed, at each point of a child's life: all ends
 * as if nothing had happened. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "black/team.h"

/* ---- the life of a child ---- */

// clang-format off
/* A child that forgets once to record its result. Each step waits for a file of its name. */
static const char life[] =
    "{'work':["
        TEAM_START("kid",
            "{'work':[" TEAM_WAIT("work") "],"
            "'state_update':[[" TEAM_WAIT("first") "],"
                            "[" TEAM_WAIT("second") "," TEAM_WRITE("kid") "]]}") ","
        TEAM_WAIT("lead") "],"
    "'callback':[" TEAM_WAIT("callback") "," TEAM_WRITE("lead") "]}";

static const char short_life[] =
    "{'work':["
        TEAM_START("kid",
            "{'work':[" TEAM_TOUCH("there") "," TEAM_WAIT("work") "],"
            "'state_update':[[" TEAM_WRITE("kid") "]]}") "]}";
// clang-format on

/* A second between two requests is time enough to die in. */
static void begin(struct team *t)
{
    team_lead(t, "lead", "{'retry_delay':1}", life);
}

/* A team that has begun, with a runner of the server's, or without one. */
static struct team *begun(void)
{
    struct team *t = ARENA_NEW(check_arena(), struct team);

    team_start(t, NULL);
    begin(t);
    return t;
}

static struct team *begun_without_runner(void)
{
    struct team *t = ARENA_NEW(check_arena(), struct team);

    team_start_without_runner(t, NULL);
    begin(t);
    return t;
}

static void go_on(const char *first, const char *second, const char *third)
{
    const char *const all[] = { first, second, third };

    for (int i = 0; i < 3; i++)
        if (all[i])
            team_touch(all[i]);
}

static void check_life(struct team *t)
{
    go_on("work", "first", "second");
    go_on("lead", "callback", NULL);
    team_settled(t, "lead", "finished", "");
    const struct json *kid = team_settled(t, "kid", "finished", "completed");
    CHECK_INT(json_int_or(kid, "cycle", 0), 1);
    CHECK_INT(json_int_or(kid, "state_update_attempts", 0), 2);
    CHECK_STR(team_state(t, "lead"), "{'kid':true,'lead':true}");
    CHECK_INT(team_starts("kid"), 3);
    CHECK_INT(team_starts("lead"), 2);
    CHECK_INT(team_count(t, "run_started", ""), 5);
    CHECK_INT(team_count(t, "callback_delivered", "child_name=kid cycle=1"), 1);
    CHECK_HAS(team_prompt(t, "lead", 2), "Session `kid` has completed.");
    team_stop(t);
}

/* ---- the server ---- */

static void check_killed(struct team *t)
{
    team_restart(t);
    check_life(t);
}

/* Nothing that is enqueued from now on is claimed before the server is started again. */
static void lose_runner(struct team *t)
{
    kill(team_runner_of(&t->server), SIGKILL);
}

TEST_LIMIT(server_killed_while_a_run_is_pending, 60)
{
    struct team *t = begun_without_runner();

    t->server.args = team_args("on", NULL, NULL);
    check_killed(t);
}

/* A runner is given the run and dies without having heard of it. The one that comes next has its
 * name, and is given it again. */
TEST_LIMIT(server_killed_while_a_run_is_claimed, 60)
{
    struct team *t = begun_without_runner();
    char host[256];

    struct black runner = t->server;
    runner.endpoint.token = str_trim(check_read("data/runner.token"));
    CHECK(gethostname(host, sizeof host) == 0);
    str body = arena_printf(check_arena(), "{'name':'local','hostname':'%s'}", host);
    const struct json *made = black_expect(&runner, 201, "POST /runner/register", body.at);
    str claim = arena_printf(check_arena(), "GET /runner/runs?runner_id=" STR_FMT,
                             STR_ARG(json_str(made, "runner_id")));
    CHECK(json_get(black_expect(&runner, 200, claim.at, ""), "run"));
    t->server.args = team_args("on", NULL, NULL);
    check_killed(t);
}

TEST_LIMIT(server_killed_while_a_child_works, 60)
{
    struct team *t = begun();

    team_wait(t, 1, "run_started", "session_name=kid");
    check_killed(t);
}

/* The work is over, and the request for the result waits for a runner. */
TEST_LIMIT(server_killed_between_the_phases, 60)
{
    struct team *t = begun();

    team_wait(t, 1, "run_started", "session_name=kid");
    lose_runner(t);
    team_touch("work");
    team_wait(t, 1, "run_enqueued", "session_name=kid purpose=state_update");
    check_killed(t);
}

TEST_LIMIT(server_killed_while_a_child_is_asked_for_its_result, 60)
{
    struct team *t = begun();

    team_touch("work");
    team_wait(t, 1, "run_started", "session_name=kid purpose=state_update");
    check_killed(t);
}

TEST_LIMIT(server_killed_between_two_requests_for_a_result, 60)
{
    struct team *t = begun();

    go_on("work", "first", NULL);
    team_wait(t, 1, "run_finished", "session_name=kid purpose=state_update");
    check_killed(t);
}

TEST_LIMIT(server_killed_while_a_callback_waits_for_a_busy_parent, 60)
{
    struct team *t = begun();

    go_on("work", "first", "second");
    team_wait(t, 1, "session_settled", "session_name=kid");
    check_killed(t);
}

TEST_LIMIT(server_killed_while_a_callback_is_in_flight, 60)
{
    struct team *t = begun();

    go_on("work", "first", "lead");
    team_wait(t, 2, "run_started", "session_name=kid purpose=state_update");
    team_wait(t, 1, "run_finished", "session_name=lead");
    lose_runner(t);
    team_touch("second");
    team_wait(t, 1, "run_enqueued", "session_name=lead purpose=callback");
    check_killed(t);
}

TEST_LIMIT(server_killed_while_a_parent_hears_of_its_child, 60)
{
    struct team *t = begun();

    go_on("work", "first", "second");
    team_touch("lead");
    team_wait(t, 1, "callback_delivered", "child_name=kid");
    check_killed(t);
}

/* ---- the runner ---- */

static void runner_end(pid_t runner)
{
    kill(runner, SIGTERM);
    waitpid(runner, NULL, 0);
}

TEST_LIMIT(runner_killed_and_started_again_loses_no_run_and_starts_none_twice, 60)
{
    struct team t = { .seen = 0 };

    team_start_without_runner(&t, NULL);
    pid_t runner = team_runner_start(&t.server);
    begin(&t);
    team_wait(&t, 1, "run_started", "session_name=kid");
    team_runner_kill(runner);
    runner = team_runner_start(&t.server);
    team_touch("work");
    team_wait(&t, 1, "run_started", "session_name=kid purpose=state_update");
    team_runner_kill(runner);
    runner = team_runner_start(&t.server);
    check_life(&t);
    runner_end(runner);
}

/* Its agents end their turns meanwhile; what follows from that waits. */
TEST_LIMIT(agents_end_their_turns_while_there_is_no_runner, 60)
{
    struct team t = { .seen = 0 };

    team_start_without_runner(&t, NULL);
    pid_t runner = team_runner_start(&t.server);
    begin(&t);
    team_wait(&t, 1, "run_started", "session_name=kid");
    team_runner_kill(runner);
    go_on("work", "lead", NULL);
    team_wait(&t, 1, "run_finished", "session_name=kid");
    team_wait(&t, 1, "run_finished", "session_name=lead");
    CHECK_INT(team_count(&t, "run_claimed", ""), 2);
    runner = team_runner_start(&t.server);
    check_life(&t);
    runner_end(runner);
}

TEST_LIMIT(server_and_runner_killed_at_once_lose_nothing, 60)
{
    struct team *t = begun();

    team_touch("work");
    team_wait(t, 1, "run_started", "session_name=kid purpose=state_update");
    lose_runner(t);
    check_killed(t);
}

/* With the one who watches over it, an agent dies too; the run comes back, and the parent still
 * hears once. */
TEST_LIMIT(agent_dies_with_its_keeper_and_its_run_comes_back, 90)
{
    struct team t = { .seen = 0 };

    team_start(&t, (const char *const[]){ "lease_time=1s", NULL });
    team_lead(&t, "lead", "{}", short_life);
    team_wait_file("there");
    pid_t agent = team_pid(&t, "kid", 1);
    str stat = check_read(arena_printf(check_arena(), "/proc/%d/stat", (int)agent).at);
    const char *parent = strrchr(stat.at, ')') + 3; /* "pid (name) state parent" */
    kill((pid_t)atoi(parent), SIGKILL);
    team_wait(&t, 2, "run_started", "session_name=kid purpose=work");
    CHECK(team_is_gone(agent));
    team_touch("work");
    team_settled(&t, "lead", "finished", "");
    team_settled(&t, "kid", "finished", "completed");
    CHECK_INT(json_int_or(team_run_of(&t, "kid", 1), "attempt", 0), 2);
    CHECK_INT(team_count(&t, "callback_delivered", ""), 1);
    black_stop(&t.server);
}
