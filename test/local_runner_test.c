/* local_runner_test.c: a whole server with the runner that it starts, and shell scripts as agents. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/local_runner.h"
#include "app/serve.h"
#include "app/threads_private.h"
#include "check.h"
#include "client/http_client.h"
#include "json_help.h"

static const struct verb verbs[] = {
    { .name = "serve", .summary = "", .options = serve_options, .run = serve_run },
    { 0 },
};

static const struct verb program = { .name = "baton", .summary = "", .verbs = verbs };

/* ---- the server, in ./data ---- */

static pid_t serve(void)
{
    char *argv[] = { "baton", "serve", "--data", "data", "--listen", "127.0.0.1:0", NULL };
    int ends[2];
    char byte;

    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(log, STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        exit(cli_main(&program, 6, argv));
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1); /* it says that it listens */
    close(ends[0]);
    return pid;
}

static void end(pid_t server, int number)
{
    int status;

    kill(server, number);
    CHECK(waitpid(server, &status, 0) == server);
    CHECK(number == SIGKILL || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

/* ---- requests as the operator; JSON with single quotes ---- */

static const struct json *ask(const char *method, const char *target, const char *body)
{
    struct arena *a = check_arena();
    struct json parsed = body ? json_of(a, body) : json_null();
    struct http_call call = { .method = method,
                              .target = str_from(target),
                              .body = body ? json_printed(a, &parsed) : STR("") };
    const struct json *answer = NULL;
    struct response r;
    struct endpoint endpoint;

    CHECK_OK(endpoint_find(a, "data", &endpoint));
    struct http_client *client = http_client_new(&endpoint);
    CHECK_OK(http_client_call(client, a, &call, &r));
    http_client_free(client);
    if (r.status >= 400)
        check_fail(__FILE__, __LINE__, "%s %s: %d " STR_FMT, method, target, r.status,
                   STR_ARG(r.body));
    if (r.body.len)
        answer = json_parsed(a, r.body);
    return answer;
}

/* A session whose agent is a script without quotes. */
static void start(const char *session, const char *script)
{
    struct arena *a = check_arena();

    ask("POST", "/agents",
        arena_printf(a, "{'name':'%s','profile':'shell','args':['/bin/sh','-c','%s']}", session,
                     script)
            .at);
    ask("POST", "/runs",
        arena_printf(a,
                     "{'type':'start_session','session_name':'%s','agent_name':'%s',"
                     "'prompt':'do it'}",
                     session, session)
            .at);
}

/* Waits until its session has this status. */
static const struct json *status_wait(const char *session, const char *status)
{
    const char *target = arena_printf(check_arena(), "/sessions/%s/result", session).at;

    for (int i = 0; i < 150; i++) {
        const struct json *s = ask("GET", target, NULL);
        if (str_eq(json_str(s, "status"), str_from(status)))
            return s;
        poll(NULL, 0, 100);
    }
    check_fail(__FILE__, __LINE__, "%s is not %s; the runner logged:\n" STR_FMT, session, status,
               STR_ARG(check_read("data/runner.log")));
}

static void file_wait(const char *path)
{
    for (int i = 0; access(path, F_OK) != 0; i++) {
        CHECK(i < 1500);
        poll(NULL, 0, 10);
    }
}

TEST(server_runs_agents_on_its_own_machine)
{
    struct stat st;
    pid_t server = serve();

    start("one", "cat; echo; echo done");
    CHECK_STR(json_str(status_wait("one", "finished"), "result"), "do it\ndone");
    start("two", "exit 3");
    CHECK(strstr(json_str(status_wait("two", "failed"), "error").at, "exit code 3"));
    CHECK(stat("data/runner.token", &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    end(server, SIGTERM);
}

TEST(session_that_is_stopped_loses_its_agent)
{
    pid_t server = serve();

    start("one", "echo $$ >pid; sleep 100");
    file_wait("pid");
    ask("POST", "/sessions/one/stop", "{}");
    status_wait("one", "stopped");
    end(server, SIGTERM);
}

TEST_LIMIT(agent_works_on_while_its_server_is_stopped_or_killed, 60)
{
    static const int signals[] = { SIGTERM, SIGKILL };

    for (int i = 0; i < 2; i++) {
        char *name = (char *)arena_printf(check_arena(), "s%d", i).at;
        pid_t server = serve();
        start(name, arena_printf(check_arena(),
                                 "echo x >>starts%d; while [ ! -e go%d ]; do sleep 0.05; done; "
                                 "echo ok",
                                 i, i)
                        .at);
        file_wait(arena_printf(check_arena(), "starts%d", i).at);
        end(server, signals[i]);
        server = serve();
        close(open(arena_printf(check_arena(), "go%d", i).at, O_CREAT | O_WRONLY, 0600));
        CHECK_STR(json_str(status_wait(name, "finished"), "result"), "ok");
        CHECK_STR(check_read(arena_printf(check_arena(), "starts%d", i).at), "x\n");
        end(server, SIGTERM);
    }
}

/* ---- a runner that ends ---- */

/* The process that has the server's runner's lock, once it is another than `before`. */
static pid_t runner_wait(pid_t before)
{
    for (int i = 0; i < 1500; i++) {
        int64_t pid;
        if (access("data/runner.lock", F_OK) == 0 &&
            str_to_int(str_trim(check_read("data/runner.lock")), &pid) && pid != before)
            return (pid_t)pid;
        poll(NULL, 0, 10);
    }
    check_fail(__FILE__, __LINE__, "there is no runner; the server logged:\n" STR_FMT,
               STR_ARG(check_read("log")));
}

static const struct json *ready_runner(void)
{
    return json_get(ask("GET", "/ready", NULL), "runner");
}

/* However it ends, and while nobody asks for anything. */
TEST_LIMIT(runner_that_ends_is_started_again, 60)
{
    static const int signals[] = { SIGKILL, SIGTERM };
    pid_t server = serve(), runner = 0;

    for (int i = 0; i < 2; i++) {
        runner = runner_wait(runner);
        CHECK_STR(json_str(ready_runner(), "state"), "running");
        CHECK_INT(json_int_or(ready_runner(), "restarts", -1), i);
        CHECK(kill(runner, signals[i]) == 0);
        while (!json_get(ready_runner(), "again_in_ms") &&
               json_int_or(ready_runner(), "restarts", -1) == i)
            poll(NULL, 0, 1);
        CHECK(strstr(json_str(ready_runner(), "last_end").at,
                     signals[i] == SIGKILL ? "signal 9" : "signal 15"));
    }
    start("one", "echo done");
    CHECK_STR(json_str(status_wait("one", "finished"), "result"), "done");
    CHECK_INT(json_int_or(ready_runner(), "restarts", -1), 2);
    CHECK(strstr(check_read("log").at, "runner.ended"));
    end(server, SIGTERM);
}

/* The operator wants none any more. */
TEST(runner_that_was_removed_is_not_started_again)
{
    pid_t server = serve();

    runner_wait(0);
    for (int i = 0; i < 1500 && !json_get(ask("GET", "/runners", NULL), "runners")->len; i++)
        poll(NULL, 0, 10);
    str id = json_str(&json_get(ask("GET", "/runners", NULL), "runners")->items[0], "runner_id");
    ask("DELETE", arena_printf(check_arena(), "/runners/" STR_FMT, STR_ARG(id)).at, NULL);
    for (int i = 0; i < 1500 && str_eq(json_str(ready_runner(), "state"), STR("running")); i++)
        poll(NULL, 0, 10);
    CHECK_STR(json_str(ready_runner(), "state"), "removed");
    end(server, SIGTERM);
}

/* One that does not react holds up no server that stops. */
TEST_LIMIT(server_stops_though_its_runner_stands_still, 60)
{
    pid_t server = serve();

    CHECK(kill(runner_wait(0), SIGSTOP) == 0);
    end(server, SIGTERM);
}

TEST(runner_that_cannot_start_is_tried_less_and_less)
{
    CHECK_INT(local_runner_delay_ms(1), 200);
    CHECK_INT(local_runner_delay_ms(2), 400);
    CHECK_INT(local_runner_delay_ms(8), 25600);
    CHECK_INT(local_runner_delay_ms(9), 30000);
    CHECK_INT(local_runner_delay_ms(1000), 30000);
}

/* ---- threads that end ---- */

static void *end_at_once(void *self)
{
    return self;
}

/* Starts one that ends at once, in a process of its own, and gives the exit code of that. */
static int thread_end(bool wanted)
{
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        atomic_bool ending = wanted;
        struct thread t = { .name = "reader", .run = end_at_once, .ending = &ending };
        int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(log, STDERR_FILENO);
        CHECK_OK(thread_start(check_arena(), &t));
        pthread_join(t.id, NULL);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(server_ends_with_any_of_its_threads)
{
    CHECK_INT(thread_end(true), 0);
    CHECK_INT(thread_end(false), EXIT_THREAD);
    CHECK(strstr(check_read("log").at, "thread.ended name=reader"));
}
