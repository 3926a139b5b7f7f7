/* runner_test.c: a runner, its keepers and real processes as agents, against a made-up server. */
#define _GNU_SOURCE /* accept4 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "runner/folder.h"
#include "runner/heartbeat.h"
#include "fake_server.h"

#define SHELL                                                                            \
    "'profile':{'name':'shell','start':['{args}'],'resume':['{args}'],'prompt':'stdin'," \
    "'client_id':'none','output':{'format':'text'},'exit':{'ok':[0,7]}}"

/* A run whose agent is a shell script, which must hold no quotes of either kind. */
static const char *script_run(const char *id, int fence, const char *script, const char *more)
{
    return arena_printf(check_arena(),
                        "{'run_id':'%s','type':'start_session','purpose':'work',"
                        "'session_id':'ses_1','session_name':'worker','prompt':'do it',"
                        "'fence':%d,'token':'ss_of_the_agent','lease_seconds':1,'max_seconds':60,"
                        "'agent':{'args':['/bin/sh','-c','%s']}," SHELL
                        ",'env':{'BATON_SESSION_ID':'ses_1','BATON_RUN_ID':'%s',"
                        "'BATON_RUN_PURPOSE':'work','AGENT_SESSION_NAME':'worker',"
                        "'TRACEPARENT':'00-1-2-01'}%s}",
                        id, fence, script, id, more)
        .at;
}

static str body_str(const struct told_report *r, const char *member)
{
    return json_str(r->body, member);
}

/* Until the keeper has removed its folder, which is the last that it does. */
static void folder_gone(const char *run_id)
{
    const char *path = arena_printf(check_arena(), "data/runs/%s", run_id).at;

    for (int i = 0; access(path, F_OK) == 0; i++) {
        struct timespec little = { .tv_nsec = 10000000 };
        CHECK(i < FAKE_PATIENCE_S * 100);
        nanosleep(&little, NULL);
    }
}

TEST(run_is_started_then_told_to_its_end)
{
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 4, "cat; echo; echo done", ""));
    pid_t runner = runner_launch(f, NULL);
    const struct told_report *end = fake_wait(f, "run_1", "completed", 1);

    CHECK_STR(body_str(end, "result"), "do it\ndone");
    CHECK_STR(body_str(end, "runner_id"), "rnr_1");
    CHECK_STR(body_str(end, "client_id"), "ses_1");
    CHECK_STR(end->token, "rn_of_the_runner");
    CHECK_INT(json_int_or(end->body, "fence", 0), 4);
    CHECK_INT(json_int_or(end->body, "exit_code", -1), 0);
    CHECK_INT(fake_count(f, "run_1", "started"), 1);
    CHECK_STR(f->reports[0].what, "started");
    folder_gone("run_1");
    runner_end(runner, SIGTERM);
}

/* A child that it had just forked has its lock until it is a program of its own. */
TEST(runner_waits_for_what_is_left_of_one_that_was_killed)
{
    struct fake_server *f = fake_new();
    int status, made = mkdir("data", 0700);
    int lock = folder_lock(check_arena(), STR("data/runner.lock"));
    pid_t killed = fork();

    if (killed == 0)
        _exit(0);
    CHECK((made == 0 || errno == EEXIST) && lock >= 0 && waitpid(killed, &status, 0) == killed);
    CHECK(dprintf(lock, "%d\n", (int)killed) > 0);
    fake_offer(f, script_run("run_1", 1, "cat", ""));
    pid_t runner = runner_launch(f, NULL);
    for (int i = 0; i < 50 && waitpid(runner, &status, WNOHANG) == 0; i++)
        poll(NULL, 0, 10); /* one that does not wait has ended by then */
    close(lock);
    fake_wait(f, "run_1", "completed", 1);
    runner_end(runner, SIGTERM);
}

TEST_LIMIT(every_way_to_end_is_told_as_what_it_is, 60)
{
    static const struct {
        const char *script, *more, *what, *error;
        int exit;
    } cases[] = {
        { "exit 0", "", "completed", "", 0 },
        { "exit 7", "", "completed", "", 7 }, /* the profile says that this is good */
        { "echo no >&2; exit 3", "", "failed", "exit code 3", 3 },
        { "kill -9 $$", "", "failed", "signal 9", -1 },
        { "true", ",'project_dir':'/nowhere/at/all'", "failed", "/nowhere/at/all", -1 },
        { "sleep 100", ",'max_seconds':1", "timed_out", "longer", -1 },
    };
    struct fake_server *f = fake_new();
    pid_t runner = runner_launch(f, NULL);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *id = arena_printf(check_arena(), "run_%zu", i).at;
        const char *run = script_run(id, 1, cases[i].script, "");
        if (cases[i].more[0]) /* members that stand there already */
            run =
                arena_printf(check_arena(), "%.*s%s}", (int)strlen(run) - 1, run, cases[i].more).at;
        if (strstr(cases[i].more, "max_seconds")) {
            char *at = strstr((char *)run, "'max_seconds':60,");
            memmove(at, at + 17, strlen(at + 17) + 1);
        }
        fake_offer(f, run);
        const struct told_report *end = fake_wait(f, id, cases[i].what, 1);
        CHECK_HAS(body_str(end, "error"), cases[i].error);
        CHECK_INT(json_int_or(end->body, "exit_code", -1), cases[i].exit);
        CHECK(i != 2 || str_eq(body_str(end, "stderr_tail"), STR("no")));
    }
    runner_end(runner, SIGTERM);
}

TEST(program_that_is_not_there_fails_the_run_with_its_name)
{
    struct fake_server *f = fake_new();
    fake_offer(
        f, "{'run_id':'run_1','type':'start_session','session_id':'s','prompt':'x','fence':1,"
           "'token':'ss_x','lease_seconds':1,'profile':{'name':'p','start':['no-such-agent']}}");
    pid_t runner = runner_launch(f, NULL);
    const struct told_report *end = fake_wait(f, "run_1", "failed", 1);

    CHECK_HAS(body_str(end, "error"), "no-such-agent");
    CHECK(!json_get(end->body, "client_id"));
    runner_end(runner, SIGTERM);
}

/* ---- what agents leave behind ---- */

static void script_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* One that ignores SIGTERM, in the agent's group; and one that has left group and session. */
static void stubborn_write(void)
{
    script_write("stubborn", "#!/bin/sh\n"
                             "trap '' TERM\n"
                             "echo $$ >stubborn.pid\n"
                             "while :; do sleep 0.1; done\n");
    script_write("escaped", "#!/bin/sh\n"
                            "trap '' TERM HUP\n"
                            "echo $$ >escaped.pid\n"
                            "while :; do sleep 0.1; done\n");
}

static const char leaving[] =
    "./stubborn & setsid ./escaped & "
    "while [ ! -s stubborn.pid -o ! -s escaped.pid ]; do sleep 0.01; done; ";

TEST(grandchildren_that_ignore_sigterm_end_with_their_agent)
{
    struct fake_server *f = fake_new();
    stubborn_write();
    fake_offer(f,
               script_run("run_1", 1, arena_printf(check_arena(), "%secho bye", leaving).at, ""));
    pid_t runner = runner_launch(f, NULL);

    CHECK_STR(body_str(fake_wait(f, "run_1", "completed", 1), "result"), "bye");
    CHECK(!is_alive(pid_in("stubborn.pid")));
    CHECK(!is_alive(pid_in("escaped.pid")));
    runner_end(runner, SIGTERM);
}

TEST(flood_of_output_is_bounded_and_does_not_hold_the_agent_up)
{
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1, "yes 0123456789abcdef | head -c 20000000; echo last", ""));
    pid_t runner = runner_launch(f, NULL);
    str result = body_str(fake_wait(f, "run_1", "completed", 1), "result");

    CHECK(result.len <= 256 << 10);
    CHECK(str_ends(result, STR("last")));
    CHECK(f->body_bytes < 16 << 20);
    check_note("%zu bytes were told of 20000000", f->body_bytes);
    runner_end(runner, SIGTERM);
}

/* ---- stopping ---- */

TEST(stop_that_the_server_answers_ends_all_of_the_agent)
{
    struct fake_server *f = fake_new();
    stubborn_write();
    fake_offer(f,
               script_run("run_1", 1, arena_printf(check_arena(), "%ssleep 100", leaving).at, ""));
    pid_t runner = runner_launch(f, NULL);

    pid_t stubborn = pid_in("stubborn.pid"), escaped = pid_in("escaped.pid");
    fake_set(f, &f->stop, true);
    CHECK_HAS(body_str(fake_wait(f, "run_1", "stopped", 1), "error"), "asked to stop");
    CHECK(!is_alive(stubborn) && !is_alive(escaped));
    runner_end(runner, SIGTERM);
}

TEST(stop_that_a_claim_names_reaches_the_keeper_at_once)
{
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1, "echo $$ >pid; sleep 100", ""));
    pid_t runner = runner_launch(f, NULL);

    pid_t agent = pid_in("pid");
    pthread_mutex_lock(&f->mutex);
    f->stop_run = "run_1";
    pthread_mutex_unlock(&f->mutex);
    fake_wait(f, "run_1", "stopped", 1);
    CHECK(!is_alive(agent));
    runner_end(runner, SIGTERM);
}

/* ---- whose run it is ---- */

TEST(agent_is_not_started_when_the_server_refuses_the_start)
{
    struct fake_server *f = fake_new();
    f->refuse = "started";
    fake_offer(f, script_run("run_1", 1, "touch was-here", ""));
    fake_offer(f, script_run("run_2", 1, "true", ""));
    pid_t runner = runner_launch(f, NULL);

    fake_wait(f, "run_2", "started", 1);
    folder_gone("run_1");
    CHECK(access("was-here", F_OK) != 0);
    CHECK_INT(fake_count(f, "run_1", "failed") + fake_count(f, "run_1", "completed"), 0);
    runner_end(runner, SIGTERM);
}

TEST(agent_ends_quietly_when_its_run_is_somebody_elses)
{
    struct fake_server *f = fake_new();
    f->refuse = "progress";
    fake_offer(f, script_run("run_1", 1, "echo $$ >pid; echo said; sleep 100", ""));
    pid_t runner = runner_launch(f, NULL);

    gone_wait(pid_in("pid"));
    folder_gone("run_1");
    CHECK_INT(fake_count(f, "run_1", "failed") + fake_count(f, "run_1", "stopped"), 0);
    runner_end(runner, SIGTERM);
}

TEST(agent_ends_when_its_lease_cannot_be_renewed_for_long)
{
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1, "echo $$ >pid; sleep 100", ""));
    pid_t runner = runner_launch(f, NULL);

    pid_t agent = pid_in("pid");
    fake_set(f, &f->away, true);
    gone_wait(agent);
    folder_gone("run_1");
    runner_end(runner, SIGTERM);
}

TEST(end_is_told_when_a_server_that_was_away_is_back)
{
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1,
                             "echo $$ >pid; while [ ! -e go ]; do sleep 0.02; done; echo ok", ""));
    pid_t runner = runner_launch(f, NULL);

    pid_t agent = pid_in("pid");
    fake_set(f, &f->away, true);
    script_write("go", "");
    gone_wait(agent);
    fake_set(f, &f->away, false);
    CHECK_STR(body_str(fake_wait(f, "run_1", "completed", 1), "result"), "ok");
    CHECK_INT(fake_count(f, "run_1", "completed"), 1);
    runner_end(runner, SIGTERM);
}

/* ---- reports, while the server is away ---- */

/* What a keeper tells with, in this process, to a server that is away. */
static struct report report_to(struct fake_server *f)
{
    static struct caller caller;
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)f->port);
    setenv("BATON_URL", url, 1);
    setenv("BATON_TOKEN", "rn_of_the_runner", 1);
    fake_set(f, &f->away, true);
    caller_init(&caller, NULL);
    caller.refusal = report_refusal;
    return (struct report){ .caller = &caller,
                            .run_id = STR("run_1"),
                            .runner_id = STR("rnr_1"),
                            .fence = 1,
                            .folder = STR(".") };
}

/* Waits until that many requests have found nobody. */
static void missed_wait(struct fake_server *f, int count)
{
    pthread_mutex_lock(&f->mutex);
    while (f->missed < count)
        pthread_cond_wait(&f->changed, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
}

static void *end_tell(void *report)
{
    struct report *r = report;
    struct arena *a = arena_new();
    struct json facts = json_object();

    caller_take(r->caller);
    json_put(a, &facts, STR("result"), json_string(STR("done")));
    intptr_t result = report_until(r, "completed", 1, &facts, 600000);
    caller_give(r->caller);
    arena_free(a);
    return (void *)result;
}

TEST(report_is_told_until_a_server_that_was_away_hears_it)
{
    struct fake_server *f = fake_new();
    struct report r = report_to(f);
    pthread_t teller;
    void *result;

    caller_give(r.caller);
    CHECK(pthread_create(&teller, NULL, end_tell, &r) == 0);
    missed_wait(f, 2);
    CHECK_INT(fake_count(f, "run_1", "completed"), 0);
    fake_set(f, &f->away, false);
    pthread_join(teller, &result);
    caller_take(r.caller);
    CHECK_INT((intptr_t)result, REPORT_TAKEN);
    CHECK_STR(body_str(fake_wait(f, "run_1", "completed", 1), "result"), "done");
    CHECK_INT(fake_count(f, "run_1", "completed"), 1);
    caller_release(r.caller);
}

TEST(report_that_nobody_hears_ends_with_its_patience)
{
    struct fake_server *f = fake_new();
    struct report r = report_to(f);

    CHECK_INT(report_until(&r, "completed", 1, NULL, 0), REPORT_LATER);
    fake_set(f, &f->away, false);
    f->refuse = "completed";
    CHECK_INT(report_until(&r, "completed", 1, NULL, 600000), REPORT_REFUSED);
    caller_release(r.caller);
}

/* All that was told of a run's output, in order. */
static str output_told(struct fake_server *f)
{
    struct buf out = buf_in(check_arena());

    pthread_mutex_lock(&f->mutex);
    for (int i = 0; i < f->count; i++) {
        const struct json *output = json_get(f->reports[i].body, "output");
        for (uint32_t k = 0; output && k < output->len; k++)
            buf_add(&out, json_str(&output->items[k], "text"));
    }
    pthread_mutex_unlock(&f->mutex);
    return buf_str(&out);
}

TEST(output_while_the_server_is_away_is_told_once_when_it_is_back)
{
    struct fake_server *f = fake_new();
    struct report r = report_to(f);
    int wake = eventfd(0, EFD_CLOEXEC);
    struct heartbeat *p = heartbeat_new(&r, 600000, wake);

    heartbeat_output(p, HEARTBEAT_STDOUT, STR("one"));
    missed_wait(f, 1);
    heartbeat_output(p, HEARTBEAT_STDOUT, STR("two"));
    heartbeat_facts(p, STR("client-1"), STR("heard"));
    missed_wait(f, 2);
    CHECK_INT(heartbeat_word(p), HEARTBEAT_GO);
    fake_set(f, &f->away, false);
    fake_wait(f, "run_1", "progress", 1);
    heartbeat_free(p, 600000); /* tells what there is */
    CHECK_STR(output_told(f), "one\ntwo\n");
    CHECK_STR(body_str(&f->reports[f->count - 1], "client_id"), "client-1");
    caller_release(r.caller);
    close(wake);
}

/* ---- who is killed ---- */

TEST(runner_that_is_killed_loses_nothing_and_starts_nothing_twice)
{
    static const char *const one[] = { "--capacity", "1", NULL };
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1,
                             "echo x >>started; echo $$ >pid; "
                             "while [ ! -e go ]; do sleep 0.02; done; echo ok",
                             ""));
    pid_t runner = runner_launch(f, one);
    pid_t agent = pid_in("pid");

    runner_end(runner, SIGKILL);
    fake_offer(f, script_run("run_2", 1, "echo two", ""));
    runner = runner_launch(f, one);
    fake_wait(f, "run_1", "progress", fake_count(f, "run_1", "progress") + 2);
    CHECK(is_alive(agent));
    CHECK_INT(fake_count(f, "run_2", "started"), 0); /* there is no room for it */
    script_write("go", "");
    CHECK_STR(body_str(fake_wait(f, "run_1", "completed", 1), "result"), "ok");
    CHECK_STR(body_str(fake_wait(f, "run_2", "completed", 1), "result"), "two");
    CHECK_STR(check_read("started"), "x\n");
    CHECK_INT(fake_count(f, "run_1", "started"), 1);
    runner_end(runner, SIGTERM);
}

TEST(keeper_that_is_killed_takes_its_agent_with_it)
{
    struct fake_server *f = fake_new();
    stubborn_write();
    fake_offer(f, script_run("run_1", 1,
                             arena_printf(check_arena(), "%secho $$ >pid; sleep 100", leaving).at,
                             ""));
    pid_t runner = runner_launch(f, NULL);
    pid_t agent = pid_in("pid"), keeper = pid_in("data/runs/run_1/lock");

    kill(keeper, SIGKILL);
    gone_wait(agent);
    gone_wait(pid_in("stubborn.pid"));
    gone_wait(pid_in("escaped.pid"));
    fake_offer(f, script_run("run_1", 2, "echo again", "")); /* its lease has passed */
    CHECK_INT(json_int_or(fake_wait(f, "run_1", "completed", 1)->body, "fence", 0), 2);
    runner_end(runner, SIGTERM);
}

TEST(one_runner_has_a_directory)
{
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1, "true", ""));
    pid_t runner = runner_launch(f, NULL);
    int status;

    fake_wait(f, "run_1", "completed", 1);
    pid_t second = runner_launch(f, NULL);
    CHECK(waitpid(second, &status, 0) == second);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), error_kind_info(ERR_CONFLICT)->exit);
    runner_end(runner, SIGTERM);
}

/* ---- what an agent is given ---- */

TEST(environment_of_an_agent_is_what_was_promised)
{
    static const char *const more[] = { "CLAUDECODE=1",
                                        "CLAUDE_CODE_SESSION_ID=x",
                                        "CODEX_HOME=/x",
                                        "BATON_DATA=/elsewhere",
                                        "WORKFLOW_STATE_ID=old",
                                        "KEPT=yes",
                                        NULL };
    static const char *const there[] = {
        "BATON_TOKEN=ss_of_the_agent\n",
        "BATON_SESSION_ID=ses_1\n",
        "BATON_RUN_ID=run_1\n",
        "BATON_RUN_PURPOSE=work\n",
        "AGENT_SESSION_NAME=worker\n",
        "TRACEPARENT=00-1-2-01\n",
        "KEPT=yes\n",
        "BATON_URL=http://127.0.0.1:",
    };
    static const char *const not_there[] = { "CLAUDE",
                                             "CODEX",
                                             "/elsewhere",
                                             "WORKFLOW_STATE_ID",
                                             "rn_of_the_runner",
                                             "BATON_PARENT_SESSION_ID",
                                             "BATON_TEST_PROGRAM" };
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1, "env; stat -c %a $BATON_TOKEN_FILE; cat $BATON_TOKEN_FILE",
                             ""));
    pid_t runner = runner_launch(f, more);
    str env = body_str(fake_wait(f, "run_1", "completed", 1), "result");

    /* Its own token is taken out of what it says, so that no row ever holds it. */
    CHECK(!str_contains(env, STR("ss_of_the_agent")));
    for (size_t i = 1; i < sizeof there / sizeof *there; i++)
        if (!str_contains(env, str_from(there[i])))
            check_fail(__FILE__, __LINE__, "no %s in:\n" STR_FMT, there[i], STR_ARG(env));
    for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++)
        if (str_contains(env, str_from(not_there[i])))
            check_fail(__FILE__, __LINE__, "%s in:\n" STR_FMT, not_there[i], STR_ARG(env));
    CHECK_HAS(env, "BATON_TOKEN=[token]\n");
    CHECK(str_ends(env, STR("\n600\n[token]")));
    folder_gone("run_1");
    runner_end(runner, SIGTERM);
}

/* There are clients that believe it rather than where they are. */
TEST(where_an_agent_is_started_is_where_it_is_told_to_be)
{
    static const char *const more[] = { "PWD=/elsewhere", "OLDPWD=/before", NULL };
    struct fake_server *f = fake_new();
    char here[4096];

    CHECK(mkdir("project", 0700) == 0 && realpath("project", here));
    fake_offer(f, script_run("run_1", 1, "tr \\\\\\\\0 \\\\\\\\n </proc/$$/environ",
                             arena_printf(check_arena(), ",'project_dir':'%s'", here).at));
    pid_t runner = runner_launch(f, more);
    str env = body_str(fake_wait(f, "run_1", "completed", 1), "result");

    CHECK_HAS(env, arena_printf(check_arena(), "PWD=%s\n", here).at);
    CHECK(!str_contains(env, STR("/elsewhere")) && !str_contains(env, STR("/before")));
    folder_gone("run_1");
    runner_end(runner, SIGTERM);
}

TEST(secrets_are_in_no_command_line_and_the_runners_in_no_environment)
{
    /* The patterns must not find themselves. */
    script_write("look", "#!/bin/sh\n"
                         "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' '\\n' >lines\n"
                         "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\000' '\\n' >environs\n"
                         "echo $(grep -c keep-run lines) $(grep -c '_of_the_[ar]' lines)"
                         " $(grep -c 'rn_of_the_[r]' environs)\n");
    struct fake_server *f = fake_new();
    fake_offer(f, script_run("run_1", 1, "./look", ""));
    pid_t runner = runner_launch(f, NULL);
    str found = body_str(fake_wait(f, "run_1", "completed", 1), "result"), keepers, others;
    int64_t count;

    str_cut(found, ' ', &keepers, &others);
    CHECK(str_to_int(keepers, &count) && count >= 1); /* it did look */
    CHECK_STR(others, "0 0");
    runner_end(runner, SIGTERM);
}

TEST(agents_run_as_another_user_where_that_is_asked_for)
{
    static const char *const more[] = { "--user", "nobody", NULL };
    struct fake_server *f = fake_new();
    int status;

    fake_offer(f, script_run("run_1", 1,
                             "id -un; stat -c %U $BATON_TOKEN_FILE; cat; "
                             "cat data/runs/run_1/spec.json",
                             ""));
    CHECK(chmod(".", 0755) == 0);
    pid_t runner = runner_launch(f, more);
    if (geteuid() != 0) {
        CHECK(waitpid(runner, &status, 0) == runner);
        CHECK_INT(WEXITSTATUS(status), error_kind_info(ERR_FORBIDDEN)->exit);
        return;
    }
    const struct told_report *end = fake_wait(f, "run_1", "failed", 1);
    CHECK_STR(body_str(end, "result"), "nobody\nnobody\ndo it");
    CHECK_HAS(body_str(end, "stderr_tail"), "ermission denied");
    runner_end(runner, SIGTERM);
}

/* ---- what is another user's ---- */

/* A run's folder, and in it the agent's, who is another user. */
static str agent_folder(struct exec_user *nobody)
{
    struct arena *a = check_arena();
    str agent;

    if (geteuid() != 0)
        check_skip("only root has agents run as others");
    CHECK_OK(exec_user_find(a, STR("nobody"), nobody));
    CHECK_OK(folder_make(a, STR("run")));
    CHECK_OK(folder_for_agent(a, STR("run"), nobody, &agent));
    return agent;
}

/* A folder that the agent's user has, with something in it that he could not remove: removing the
 * run's files must not do that for him. */
TEST(files_of_another_user_are_removed_with_his_rights)
{
    struct exec_user nobody;
    struct arena *a = check_arena();
    str agent = agent_folder(&nobody);

    CHECK_OK(folder_write(a, folder_path(a, agent, "token"), STR("t"), &nobody));
    CHECK_OK(folder_give(a, STR("run"), &nobody));
    str kept = folder_path(a, agent, "kept"), file = folder_path(a, kept, "file");
    CHECK(mkdir(kept.at, 0755) == 0);
    CHECK_OK(folder_write(a, file, STR("root's"), NULL));
    folder_remove(a, STR("run"));
    CHECK(access(file.at, F_OK) == 0);
    CHECK(access(folder_path(a, agent, "token").at, F_OK) != 0);
    CHECK(access("run", F_OK) != 0);
    CHECK(unlink(file.at) == 0 && rmdir(kept.at) == 0 && rmdir(agent.at) == 0);
}

/* He can move what is ours to where his folder was. */
TEST(what_is_put_in_the_place_of_another_users_folder_stays)
{
    struct exec_user nobody;
    struct arena *a = check_arena();
    str agent = agent_folder(&nobody);

    CHECK_OK(folder_give(a, STR("run"), &nobody));
    CHECK(rmdir(agent.at) == 0 && mkdir(agent.at, 0777) == 0);
    CHECK_OK(folder_write(a, folder_path(a, agent, "file"), STR("root's"), NULL));
    folder_remove(a, STR("run"));
    CHECK(access("run", F_OK) != 0);
    CHECK(unlink(folder_path(a, agent, "file").at) == 0 && rmdir(agent.at) == 0);
}

/* Until its files are there, nobody else can put something in their place. */
TEST(folder_is_given_away_when_it_is_complete)
{
    struct exec_user nobody;
    struct arena *a = check_arena();
    struct stat st;
    str agent;

    if (geteuid() != 0)
        check_skip("only root has agents run as others");
    CHECK_OK(exec_user_find(a, STR("nobody"), &nobody));
    CHECK_OK(folder_make(a, STR("run")));
    CHECK_OK(folder_for_agent(a, STR("run"), &nobody, &agent));
    CHECK(stat(agent.at, &st) == 0 && st.st_uid == 0 && (st.st_mode & 0777) == 0700);
    CHECK_OK(folder_give(a, STR("run"), &nobody));
    CHECK(stat(agent.at, &st) == 0 && st.st_uid == nobody.uid);
    folder_remove(a, STR("run"));
    CHECK(access(agent.at, F_OK) != 0);
}

/* A daemon of an agent, in a session of its own and with an environment of its own, has nothing that
 * tells whose it is but who has started it. */
TEST(daemon_of_an_agent_ends_when_its_keeper_is_killed)
{
    struct fake_server *f = fake_new();

    script_write("daemon", "#!/bin/sh\necho $$ >pid.new; mv pid.new pid; exec sleep 1000\n");
    fake_offer(f, script_run("run_1", 1,
                             "/usr/bin/env -i /usr/bin/setsid ./daemon >/dev/null 2>&1 & "
                             "exec sleep 1000",
                             ""));
    pid_t runner = runner_launch(f, NULL);
    pid_t agents = pid_in("pid"), keeper = pid_in("data/runs/run_1/lock");
    CHECK(is_alive(agents));
    kill(keeper, SIGKILL);
    gone_wait(agents);
    runner_end(runner, SIGTERM);
}

/* ---- errands ---- */

/* A program that is called codex, of this text, in ./bin. */
static str codex_put(const char *text)
{
    char *here = getcwd(NULL, 0);
    str bin = arena_printf(check_arena(), "%s/bin", here);

    free(here);
    mkdir("bin", 0700);
    check_write("bin/codex", str_from(text));
    CHECK(chmod("bin/codex", 0700) == 0);
    return bin;
}

static const char *errand(str bin)
{
    return arena_printf(check_arena(),
                        "{'waker':'wkr_1','conversation':'01a1e0af','home':'" STR_FMT
                        "/home','path':'" STR_FMT ":/bin:/usr/bin','text':'[baton cb_1] $(x) it'}",
                        STR_ARG(bin), STR_ARG(bin))
        .at;
}

#define RECORD "#!/bin/sh\nprintf '%s\\n' \"$CODEX_HOME\" \"$@\" >>${CODEX_HOME%/*}/called\n"

TEST(idle_client_is_told_by_its_own_queue_with_its_own_home)
{
    struct fake_server *f = fake_new();
    str bin = codex_put(RECORD);

    fake_set(f, &f->offers_wakes, true);
    fake_offer(f, errand(bin));
    pid_t runner = runner_launch(f, NULL);
    const struct told_report *r = fake_wait(f, "wkr_1", "wake", 1);
    CHECK(json_bool_or(r->body, "handed", false));
    CHECK_STR(r->token, "rn_of_the_runner");
    CHECK_STR(check_read("bin/called"), arena_printf(check_arena(),
                                                     STR_FMT "/home\nqueue\n--thread=01a1e0af\n"
                                                             "--message=[baton cb_1] $(x) it\n",
                                                     STR_ARG(bin))
                                            .at);
    runner_end(runner, SIGTERM);
}

TEST(queue_that_does_not_take_it_is_told_with_its_reason)
{
    static const struct {
        const char *program, *reason;
    } cases[] = {
        { "#!/bin/sh\necho 'no such thread' >&2\nexit 1\n", "no such thread" },
        { "#!/bin/sh\nkill -9 $$\n", "said nothing to the point" },
        { "#!/nowhere/at/all\n", "there is no program 'codex'" },
    };
    struct fake_server *f = fake_new();
    pid_t runner = runner_launch(f, NULL);

    fake_set(f, &f->offers_wakes, true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_offer(f, errand(codex_put(cases[i].program)));
        CHECK_HAS(body_str(fake_wait(f, "wkr_1", "wake", (int)i + 1), "failed"), cases[i].reason);
    }
    runner_end(runner, SIGTERM);
}

/* What was handed over is told by whoever did it, whatever becomes of the runner; and claims go on
 * meanwhile. */
TEST(errand_outlives_its_runner_and_a_server_that_is_away)
{
    struct fake_server *f = fake_new();
    str bin = codex_put("#!/bin/sh\nfirst=${CODEX_HOME%/*}\ntouch $first/begun\n"
                        "while ! test -e $first/go; do sleep 0.05; done\necho x >>$first/called\n");
    struct timespec little = { .tv_nsec = 10000000 };

    fake_set(f, &f->offers_wakes, true);
    fake_offer(f, errand(bin));
    pid_t runner = runner_launch(f, NULL);
    while (access("bin/begun", F_OK) < 0)
        nanosleep(&little, NULL);
    runner_end(runner, SIGKILL);
    fake_set(f, &f->away, true);
    check_write("bin/go", STR(""));
    while (access("bin/called", F_OK) < 0 || f->missed < 1)
        nanosleep(&little, NULL);
    fake_set(f, &f->away, false);
    CHECK(json_bool_or(fake_wait(f, "wkr_1", "wake", 1)->body, "handed", false));
    CHECK_STR(check_read("bin/called"), "x\n");
    runner = runner_launch(f, NULL); /* its directory is free */
    fake_set(f, &f->offers_wakes, false);
    fake_offer(f, script_run("run_1", 1, "cat", ""));
    fake_wait(f, "run_1", "completed", 1);
    runner_end(runner, SIGTERM);
}
