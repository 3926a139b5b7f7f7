/* runner_command_test.c: runs of purpose command, executed by a runner and its keepers, against a
 * made-up server. */
#define _GNU_SOURCE /* accept4 */
#include <sys/stat.h>

#include "fake_server.h"

/* What is to be executed is a JSON array with single quotes; more are members, beginning with a comma. */
static const char *command_run(const char *id, const char *argv, const char *more)
{
    return arena_printf(check_arena(),
                        "{'run_id':'%s','purpose':'command','attempt':1,'fence':1,"
                        "'lease_seconds':1,'argv':%s%s}",
                        id, argv, more)
        .at;
}

static str text_of(const struct told_report *r, const char *member)
{
    return json_str(r->body, member);
}

static void script(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* It starts one that has left group and session, and neither heeds SIGTERM. */
static void stubborn_make(void)
{
    script("escaped", "#!/bin/sh\n"
                      "trap '' TERM HUP\n"
                      "echo $$ >escaped.pid\n"
                      "while :; do sleep 0.1; done\n");
    script("stubborn", "#!/bin/sh\n"
                       "trap '' TERM\n"
                       "setsid ./escaped &\n"
                       "while [ ! -s escaped.pid ]; do sleep 0.01; done\n"
                       "echo $$ >stubborn.pid\n"
                       "while :; do sleep 0.1; done\n");
}

static const char *input_of(size_t size)
{
    char *much = arena_alloc(check_arena(), size + 1);

    memset(much, 'x', size);
    much[size] = '\0';
    return arena_printf(check_arena(), ",'stdin':'%s'", much).at;
}

/* Until there were so many more claims. */
static void claims_wait(struct fake_server *f, int more)
{
    struct timespec little = { .tv_nsec = 10000000 };
    int until = 0, claims = -1;

    for (int i = 0; claims < until; i++) {
        pthread_mutex_lock(&f->mutex);
        claims = f->claims;
        pthread_mutex_unlock(&f->mutex);
        until = i ? until : claims + more;
        CHECK(i < FAKE_PATIENCE_S * 100);
        nanosleep(&little, NULL);
    }
}

/* ---- how it ends ---- */

TEST_LIMIT(every_way_of_a_command_to_end_is_told_as_what_it_is, 60)
{
    static const struct {
        const char *argv, *more, *what, *error;
        int exit;
    } cases[] = {
        { "['true']", "", "completed", "", 0 },
        { "['sh','-c','echo no >&2; exit 3']", "", "failed", "the command ended with exit code 3",
          3 },
        { "['sh','-c','kill -9 $$']", "", "failed", "the command was ended by signal 9", -1 },
        { "['no-such-program','x']", "", "failed", "there is no program 'no-such-program'", -1 },
        { "['./stubborn']", "", "failed", "./stubborn", -1 }, /* not there in this test */
        { "['true']", ",'project_dir':'/nowhere/at/all'", "failed", "/nowhere/at/all", -1 },
        { "['sleep','100']", ",'max_seconds':1", "timed_out", "longer", -1 },
        { "[]", "", "failed", "argv", -1 },
    };
    struct fake_server *f = fake_new();
    pid_t runner = runner_launch(f, NULL);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *id = arena_printf(check_arena(), "run_%zu", i).at;
        fake_offer(f, command_run(id, cases[i].argv, cases[i].more));
        const struct told_report *end = fake_wait(f, id, cases[i].what, 1);
        CHECK_HAS(text_of(end, "error"), cases[i].error);
        CHECK_INT(json_int_or(end->body, "exit_code", -1), cases[i].exit);
        CHECK(i != 1 || str_eq(text_of(end, "stderr_tail"), STR("no")));
        CHECK(!json_get(end->body, "client_id") && !json_get(end->body, "git"));
        CHECK_STR(end->token, "rn_of_the_runner");
    }
    runner_end(runner, SIGTERM);
}

TEST(time_that_is_over_ends_all_that_a_command_has_started)
{
    struct fake_server *f = fake_new();
    stubborn_make();
    fake_offer(f, command_run("run_1", "['./stubborn']", ",'max_seconds':4"));
    pid_t runner = runner_launch(f, NULL);

    fake_wait(f, "run_1", "timed_out", 1);
    CHECK(!is_alive(pid_in("stubborn.pid")) && !is_alive(pid_in("escaped.pid")));
    runner_end(runner, SIGTERM);
}

TEST(stop_ends_all_that_a_command_has_started)
{
    struct fake_server *f = fake_new();
    stubborn_make();
    fake_offer(f, command_run("run_1", "['./stubborn']", ""));
    pid_t runner = runner_launch(f, NULL);

    pid_t stubborn = pid_in("stubborn.pid");
    fake_set(f, &f->stop, true);
    fake_wait(f, "run_1", "stopped", 1);
    CHECK(!is_alive(stubborn) && !is_alive(pid_in("escaped.pid")));
    runner_end(runner, SIGTERM);
}

/* ---- what it is given ---- */

TEST(arguments_are_as_they_were_given)
{
    struct fake_server *f = fake_new();

    fake_offer(f, command_run("run_1",
                              "['printf','<%s>','$HOME; `id`','{prompt}','a  b','-x','','ü\\n']",
                              ",'stdin':'ignored','project_dir':'/'"));
    pid_t runner = runner_launch(f, NULL);
    CHECK_STR(text_of(fake_wait(f, "run_1", "completed", 1), "result"),
              "<$HOME; `id`><{prompt}><a  b><-x><><ü\n>");
    runner_end(runner, SIGTERM);
}

TEST(a_command_has_no_token_and_nothing_of_an_agent_around_it)
{
    static const char *const more[] = { "CLAUDECODE=1",          "CODEX_HOME=/x",
                                        "BATON_DATA=/elsewhere", "KEPT=yes",
                                        "WORKFLOW_STATE_ID=x",   NULL };
    static const char *const not_there[] = { "CLAUDE",    "CODEX",     "BATON_DATA", "WORKFLOW",
                                             "BATON_URL", "BATON_TOK", "rn_of_the" };
    struct fake_server *f = fake_new();
    char here[4096];

    CHECK(mkdir("project", 0700) == 0 && realpath("project", here));
    fake_offer(f, command_run("run_1", "['sh','-c','env; pwd']",
                              arena_printf(check_arena(), ",'project_dir':'%s'", here).at));
    pid_t runner = runner_launch(f, more);
    str env = text_of(fake_wait(f, "run_1", "completed", 1), "result");

    CHECK_HAS(env, "KEPT=yes\n");
    CHECK_HAS(env, "BATON_RUN_ID=run_1\n"); /* so that it has not the operator's rights */
    CHECK_HAS(env, "BATON_RUN_PURPOSE=command\n");
    CHECK_HAS(env, arena_printf(check_arena(), "PWD=%s\n", here).at);
    CHECK(str_ends(env, str_from(here)));
    for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++)
        if (str_contains(env, str_from(not_there[i])))
            check_fail(__FILE__, __LINE__, "%s in:\n" STR_FMT, not_there[i], STR_ARG(env));
    runner_end(runner, SIGTERM);
}

TEST(a_command_runs_as_another_user_where_that_is_asked_for)
{
    static const char *const more[] = { "--user", "nobody", NULL };
    struct fake_server *f = fake_new();

    if (geteuid() != 0)
        check_skip("only root can run programs as others");
    CHECK(chmod(".", 0755) == 0);
    fake_offer(f, command_run("run_1",
                              "['sh','-c','id -un; cat; cat data/runs/run_1/spec.json || echo no']",
                              ",'stdin':'given\\n'"));
    pid_t runner = runner_launch(f, more);
    CHECK_STR(text_of(fake_wait(f, "run_1", "completed", 1), "result"), "nobody\ngiven\nno");
    runner_end(runner, SIGTERM);
}

/* ---- much in, much out ---- */

TEST_LIMIT(much_input_that_is_read_late_or_never_holds_nobody_up, 60)
{
    static const struct {
        const char *script, *result;
    } cases[] = {
        { "wc -c", "1048576" },
        { "echo unread", "unread" },
        { "yes 0123456789abcdef | head -c 10000000; wc -c", "1048576" },
    };
    struct fake_server *f = fake_new();
    const char *input = input_of(1 << 20);
    pid_t runner = runner_launch(f, NULL);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *id = arena_printf(check_arena(), "run_%zu", i).at;
        fake_offer(
            f, command_run(id, arena_printf(check_arena(), "['sh','-c','%s']", cases[i].script).at,
                           input));
        const struct told_report *end = fake_wait(f, id, "completed", 1);
        str result = text_of(end, "result");
        if (!str_ends(result, str_from(cases[i].result)))
            check_fail(__FILE__, __LINE__, "%s: %.100s", cases[i].script, result.at);
        CHECK(result.len <= 64 << 10);
        CHECK(json_bool_or(end->body, "result_truncated", false) == (i == 2));
    }
    runner_end(runner, SIGTERM);
}

/* ---- who dies ---- */

TEST(a_runner_that_is_killed_loses_no_command)
{
    struct fake_server *f = fake_new();
    fake_offer(f, command_run("run_1",
                              "['sh','-c','echo x >>started; echo $$ >pid; "
                              "while [ ! -e go ]; do sleep 0.02; done; echo ok; exit 4']",
                              ""));
    pid_t runner = runner_launch(f, NULL);
    pid_t pid = pid_in("pid");

    runner_end(runner, SIGKILL);
    fake_wait(f, "run_1", "progress", fake_count(f, "run_1", "progress") + 2);
    CHECK(is_alive(pid));
    script("go", "");
    const struct told_report *end = fake_wait(f, "run_1", "failed", 1);
    CHECK_STR(text_of(end, "result"), "ok");
    CHECK_INT(json_int_or(end->body, "exit_code", -1), 4);
    CHECK_STR(check_read("started"), "x\n");
}

/* Neither runner nor keeper is left, and nobody has adopted what the command has started: it is known
 * by its environment. */
TEST(what_a_command_leaves_ends_when_a_runner_is_back)
{
    struct fake_server *f = fake_new();
    stubborn_make();
    fake_offer(f, command_run("run_1", "['./stubborn']", ""));
    pid_t runner = runner_launch(f, NULL);
    pid_t stubborn = pid_in("stubborn.pid"), keeper = pid_in("data/runs/run_1/lock");

    runner_end(runner, SIGKILL);
    kill(keeper, SIGKILL);
    gone_wait(stubborn);
    CHECK(is_alive(pid_in("escaped.pid")));
    runner = runner_launch(f, NULL);
    gone_wait(pid_in("escaped.pid"));
    claims_wait(f, 3); /* else it would be given to the one that was killed */
    fake_offer(f, command_run("run_1", "['echo','again']", "")); /* its lease has passed */
    CHECK_STR(text_of(fake_wait(f, "run_1", "completed", 1), "result"), "again");
    runner_end(runner, SIGTERM);
}

/* ---- whether it takes any ---- */

TEST(a_runner_takes_commands_unless_it_is_told_not_to)
{
    static const char *const no[] = { "--no-commands", NULL };
    const char *const *const more[] = { NULL, no };
    struct fake_server *f = fake_new();

    for (int i = 0; i < 2; i++) {
        const char *id = arena_printf(check_arena(), "run_%d", i).at;
        pid_t runner = runner_launch(f, more[i]);
        claims_wait(f, 3); /* else it would be given to the one before */
        fake_offer(f, command_run(id, "['true']", ""));
        fake_wait(f, id, "completed", 1);
        CHECK(json_bool_or(f->registered, "commands", i != 0) == (i == 0));
        runner_end(runner, SIGTERM);
    }
}
