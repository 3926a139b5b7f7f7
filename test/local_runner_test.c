/* local_runner_test.c: a whole server with the runner that it starts, and shell scripts as agents. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/serve.h"
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
    struct place place;

    CHECK_OK(place_find(a, "data", &place));
    struct http_client *client = http_client_new(&place);
    CHECK_OK(http_client_call(client, a, &call, &r));
    http_client_free(client);
    if (r.status >= 400)
        check_fail(__FILE__, __LINE__, "%s %s: %d " STR_FMT, method, target, r.status,
                   STR_ARG(r.body));
    if (r.body.len)
        CHECK_OK(json_parse(a, r.body, NULL, &answer));
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
