/* command_black_test.c: commands that the runner of a real server executes, while servers and runners die. */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "black/team.h"
#include "calls.h"
#include "client/socket.h"

enum { PATIENCE_MS = BLACK_SANITIZED ? 60000 : 20000 };

static const char *const with_runner[] = { "--runner", "on", NULL };

/* A command in the database of a server that is not there; its id. */
static str command_add(const char *script)
{
    char *here = getcwd(arena_alloc(check_arena(), 4096), 4096);
    static int worlds;
    struct world *w;

    CHECK_OK(world_open("data/baton.db", NULL, &w));
    w->ids = 1000 * worlds++; /* it counts them from its beginning */
    str id = at(call(w, "run.command",
                     "{'argv':['sh','-c','%s'],'stdin':'given','project_dir':'%s'}", script, here),
                "/run_id");
    world_close(w);
    return id;
}

static const struct json *run_of(const struct black *b, str id)
{
    return black_expect(b, 200, arena_printf(check_arena(), "GET /runs/" STR_FMT, STR_ARG(id)).at,
                        "");
}

static const struct json *ended(const struct black *b, str id, const char *status)
{
    int64_t until = socket_clock_ms() + PATIENCE_MS;
    const struct json *run;

    while (!json_str((run = run_of(b, id)), "ended_at").len) {
        if (socket_clock_ms() > until)
            check_fail(__FILE__, __LINE__, "it does not end: " STR_FMT,
                       STR_ARG(json_printed(check_arena(), run)));
        poll(NULL, 0, 20);
    }
    CHECK_STR(json_str(run, "status"), status);
    return run;
}

static void begin(struct black *b)
{
    *b = (struct black){ .data = "data", .args = with_runner };
    black_start(b); /* it makes the database */
    black_stop(b);
}

TEST_LIMIT(a_command_is_executed_by_the_runner_of_a_server, 90)
{
    struct black b;

    begin(&b);
    str good = command_add("cat; echo noise >&2"), bad = command_add("exit 3");
    black_start(&b);
    const struct json *run = ended(&b, good, "completed");
    CHECK_STR(json_str(run, "result"), "given");
    CHECK_INT(json_int_or(run, "exit_code", -1), 0);
    run = ended(&b, bad, "failed");
    CHECK_INT(json_int_or(run, "exit_code", -1), 3);
    CHECK_HAS(json_str(run, "error"), "the command ended with exit code 3");
    const struct json *output = black_expect(
        &b, 200, arena_printf(check_arena(), "GET /runs/" STR_FMT "/output", STR_ARG(good)).at, "");
    CHECK_HAS(json_printed(check_arena(), output), "noise");
    black_stop(&b);
    black_run((const char *const[]){ "store", "check", "data/baton.db", "--deep", NULL });
}

/* Executed code may be an agent's: it has no more rights on this machine's server than that. */
TEST_LIMIT(a_command_has_not_the_rights_of_the_operator, 90)
{
    struct black b;

    begin(&b);
    str run = command_add(
        arena_printf(check_arena(), "%s run list --data data; echo $?", black_program()).at);
    black_start(&b);
    const struct json *done = ended(&b, run, "completed");
    CHECK(!str_eq(json_str(done, "result"), STR("0")));
    CHECK(!str_contains(json_str(done, "result"), STR("completed")));
    black_stop(&b);
}

TEST_LIMIT(a_command_outlives_its_server_and_its_runner, 90)
{
    struct black b;

    begin(&b);
    str id = command_add("echo x >>started; touch there; while [ ! -e go ]; do sleep 0.05; done; "
                         "cat; exit 5");
    black_start(&b);
    team_wait_file("there");
    kill(team_runner_of(&b), SIGKILL);
    black_kill(&b);
    team_touch("go");
    black_start(&b);
    const struct json *run = ended(&b, id, "failed");
    CHECK_INT(json_int_or(run, "exit_code", -1), 5);
    CHECK_STR(json_str(run, "result"), "given");
    CHECK_INT(json_int_or(run, "attempt", 0), 1);
    CHECK_STR(check_read("started"), "x\n");
    black_stop(&b);
}
