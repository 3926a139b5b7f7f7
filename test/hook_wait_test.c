/* hook_wait_test.c: what waits beside an idle agent until there is something to tell it: `baton hook
 * CLIENT --wait`, between a client and a server that the test plays both. */
#define _GNU_SOURCE /* pipe2, memmem */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/hook.h"
#include "bridge_fixture.h"

static const struct verb verbs[] = {
    { .name = "hook",
      .args = "CLIENT",
      .args_min = 1,
      .args_max = 1,
      .summary = "",
      .options = hook_options,
      .run = hook_run },
    { 0 },
};

static const struct verb program = { .name = "baton", .summary = "", .verbs = verbs };

/* ---- the client ---- */

struct waiting {
    struct bridge_fixture server; /* of which only the server is used */
    pid_t pid;
    int in, out, error; /* our ends */
};

static void become(const char *client, int in, int out, int error)
{
    bool waits = strcmp(client, "codex") != 0;
    char *argv[] = { "baton", "hook", (char *)client, waits ? "--wait" : NULL, NULL };

    dup2(in, 0);
    dup2(out, 1);
    dup2(error, 2);
    exit(hook_exit(cli_main(&program, waits ? 4 : 3, argv)));
}

/* Starts one, below a process of its own that does nothing when `below` is given. */
static struct waiting wait_start(const char *client, const char *event, pid_t *below)
{
    struct waiting w = { .server = bridge_fixture_new() };
    int in[2], out[2], error[2], pids[2];

    setenv("CLAUDE_CODE_SESSION_ATTENDED", "1", 1);
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    CHECK(pipe2(error, O_CLOEXEC) == 0 && pipe2(pids, O_CLOEXEC) == 0);
    pid_t pid = fork();
    if (pid == 0 && below) {
        pid_t child = fork();
        if (child > 0) {
            CHECK(write(pids[1], &child, sizeof child) == sizeof child);
            for (int fd = 0; fd < 64; fd++)
                close(fd);
            for (;;)
                pause();
        }
    }
    if (pid == 0) {
        close(w.server.listener);
        close(in[1]);
        become(client, in[0], out[1], error[1]);
    }
    close(in[0]);
    close(out[1]);
    close(error[1]);
    w.pid = pid;
    if (below) {
        *below = pid;
        CHECK(read(pids[0], &w.pid, sizeof w.pid) == sizeof w.pid);
    }
    close(pids[0]);
    close(pids[1]);
    w.in = in[1];
    w.out = out[0];
    w.error = error[0];
    w.server.in = w.in;
    w.server.out = w.out;
    say(&w.server, event);
    if (strcmp(client, "opencode") != 0)
        close(w.in);
    return w;
}

#define EVENT "{'session_id':'c-1','hook_event_name':'Stop'}"

/* All that it wrote, up to its end. */
static str read_to_end(int fd)
{
    struct buf all = buf_in(check_arena());
    ssize_t n = 1;

    while (n > 0) {
        CHECK(poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 10000) == 1);
        n = read(fd, buf_reserve(&all, 4096), 4096);
        all.len += n > 0 ? (size_t)n : 0;
    }
    return buf_str(&all);
}

static void expect_exit(struct waiting *w, int code)
{
    int status;

    CHECK(waitpid(w->pid, &status, 0) == w->pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), code);
}

/* ---- the server ---- */

static str take(int fd, const char *client, const char *way)
{
    str request = server_take(fd);
    str part = arena_printf(check_arena(),
                            "{\"client\":\"%s\",\"conversation\":\"c-1\",\"waker\":\"", client);

    CHECK(str_starts(request, STR("POST /wakes HTTP/1.1\r\n")));
    CHECK_HAS(request, "Authorization: Bearer ss_1.secret\r\n");
    CHECK_HAS(request, part.at);
    CHECK_HAS(request, arena_printf(check_arena(), "\"way\":\"%s\",\"timeout\":50}", way).at);
    const char *at = memmem(request.at, request.len, part.at, part.len);
    str id = STR(""), rest;
    str_cut(str_slice(request, (size_t)(at - request.at) + part.len, request.len), '"', &id, &rest);
    CHECK(id.len >= 8 && id.len <= 64);
    return id;
}

static str take_rewake(int fd)
{
    return take(fd, "claude", "rewake");
}

#define NEWS "{'status':'news','session_id':'s','text':'Done. [baton cb_1]','ids':['cb_1']}"

/* ---- Claude Code ---- */

TEST(news_are_printed_for_claude_which_is_woken_by_the_exit_code)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);

    str first = take_rewake(fd);
    server_answer(fd, "200 OK", "{'status':'none'}");
    CHECK(str_eq(take_rewake(fd), first)); /* the same waker asks again */
    server_answer(fd, "200 OK", NEWS);
    CHECK_STR(read_to_end(w.error), "Done. [baton cb_1]");
    CHECK_STR(read_to_end(w.out), "");
    expect_exit(&w, 2);
}

TEST(a_waker_that_is_not_needed_any_more_ends_in_silence)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);

    take_rewake(fd);
    server_answer(fd, "200 OK", "{'status':'superseded'}");
    CHECK_STR(read_to_end(w.error), "");
    expect_exit(&w, 0);
}

/* The hook that registers it runs at the same time. */
TEST(a_conversation_that_is_not_known_yet_is_asked_for_again)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);

    take_rewake(fd);
    server_answer(fd, "200 OK", "{'status':'off','reason':'it is not known'}");
    take_rewake(fd);
    server_answer(fd, "200 OK", NEWS);
    expect_exit(&w, 2);
}

TEST(a_server_that_knows_of_no_waiting_is_not_asked_again)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);

    take_rewake(fd);
    server_answer(fd, "404 Not Found", "{'title':'Not found','detail':'no such route'}");
    CHECK_HAS(read_to_end(w.error), "no such route");
    expect_exit(&w, 0);
}

TEST(a_server_that_was_away_is_asked_again_by_the_same_waker)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);
    str first = take_rewake(fd);

    server_end(&w.server); /* as kill -9 does: listener and connection are gone */
    close(fd);
    server_listen(&w.server);
    fd = server_connected(&w.server);
    CHECK(str_eq(take_rewake(fd), first));
    server_answer(fd, "503 Service Unavailable", "{'title':'Unavailable'}");
    close(fd);
    fd = server_connected(&w.server);
    CHECK(str_eq(take_rewake(fd), first));
    server_answer(fd, "200 OK", NEWS);
    CHECK_STR(read_to_end(w.error), "Done. [baton cb_1]");
    expect_exit(&w, 2);
}

/* An answer that was lost on its way is given again: nothing is printed twice, or never. */
TEST(news_whose_answer_was_cut_off_are_asked_for_again)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);
    str first = take_rewake(fd);

    server_send(fd, STR("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":\"news\","));
    close(fd);
    fd = server_connected(&w.server);
    CHECK(str_eq(take_rewake(fd), first));
    server_answer(fd, "200 OK", NEWS);
    CHECK_STR(read_to_end(w.error), "Done. [baton cb_1]");
    expect_exit(&w, 2);
}

TEST(a_waker_ends_with_its_client)
{
    pid_t client;
    struct waiting w = wait_start("claude", EVENT, &client);

    take_rewake(server_connected(&w.server));
    CHECK(kill(client, SIGKILL) == 0);
    CHECK_STR(read_to_end(w.error), "");
}

TEST(a_waker_whose_client_died_before_it_looked_ends_too)
{
    pid_t client;
    struct waiting w = wait_start("claude", EVENT, &client);
    int fd = server_connected(&w.server);

    take_rewake(fd);
    CHECK(kill(w.pid, SIGSTOP) == 0);
    CHECK(kill(client, SIGKILL) == 0 && waitpid(client, NULL, 0) == client);
    server_answer(fd, "200 OK", "{'status':'none'}");
    CHECK(kill(w.pid, SIGCONT) == 0);
    CHECK_STR(read_to_end(w.error), "");
}

TEST(a_waker_is_ended_by_signals)
{
    static const int numbers[] = { SIGTERM, SIGHUP };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct waiting w = wait_start("claude", EVENT, NULL);
        int status;
        take_rewake(server_connected(&w.server));
        CHECK(kill(w.pid, numbers[i]) == 0);
        CHECK_STR(read_to_end(w.error), "");
        CHECK(waitpid(w.pid, &status, 0) == w.pid);
        CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
    }
}

/* The thread that started it may end before the client does. */
TEST(a_waker_outlives_a_thread_of_its_client)
{
    struct waiting w = wait_start("claude", EVENT, NULL);
    int fd = server_connected(&w.server);

    take_rewake(fd);
    CHECK(kill(w.pid, SIGUSR1) == 0); /* what the system sends then */
    server_answer(fd, "200 OK", NEWS);
    expect_exit(&w, 2);
}

TEST(claude_without_a_person_is_not_waited_for)
{
    static const char *const values[] = { "0", "", NULL };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *argv[] = { "baton", "hook", "claude", "--wait", NULL };
        if (values[i])
            setenv("CLAUDE_CODE_SESSION_ATTENDED", values[i], 1);
        else
            unsetenv("CLAUDE_CODE_SESSION_ATTENDED");
        CHECK_INT(hook_exit(cli_main(&program, 4, argv)), 0);
    }
}

TEST(what_names_no_conversation_is_told_and_wakes_nobody)
{
    static const char *const events[] = { "{}", "[]", "{", "{'session_id':7}" };

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct waiting w = wait_start("claude", events[i], NULL);
        CHECK(read_to_end(w.error).len > 0);
        expect_exit(&w, 0);
    }
}

/* Wrong usage is what 2 means elsewhere. */
TEST(no_other_end_of_a_hook_is_taken_for_a_wake)
{
    for (int code = 0; code < 100; code++)
        CHECK_INT(hook_exit(code), code ? 1 : 0);
    char *argv[] = { "baton", "hook", "codex", "--wait", NULL };
    CHECK_INT(hook_exit(cli_main(&program, 4, argv)), 1);
}

/* ---- a plugin ---- */

TEST(a_plugin_gets_news_as_lines_and_says_what_came_of_them)
{
    struct waiting w = wait_start("opencode", EVENT, NULL);
    int fd = server_connected(&w.server);
    str id = take(fd, "opencode", "plugin");

    server_answer(fd, "200 OK", NEWS);
    HEARS(&w.server, "{'text':'Done. [baton cb_1]'}");
    say(&w.server, "handed");
    str report = server_take(fd);
    CHECK_HAS(report, arena_printf(check_arena(), "POST /wakes/" STR_FMT " ", STR_ARG(id)).at);
    CHECK_HAS(report, "{\"handed\":true}");
    server_answer(fd, "200 OK", "{}");
    CHECK(str_eq(take(fd, "opencode", "plugin"), id));
    server_answer(fd, "200 OK", NEWS);
    HEARS(&w.server, "{'text':'Done. [baton cb_1]'}");
    say(&w.server, "there is no such session");
    CHECK_HAS(server_take(fd), "{\"failed\":\"there is no such session\"}");
    close(fd); /* it is told again: what is not told may be told twice */
    fd = server_connected(&w.server);
    CHECK_HAS(server_take(fd), "{\"failed\":\"there is no such session\"}");
    kill(w.pid, SIGTERM);
    waitpid(w.pid, NULL, 0);
}

TEST(a_plugin_that_says_no_more_ends_its_waker)
{
    struct waiting w = wait_start("opencode", EVENT, NULL);
    int fd = server_connected(&w.server);

    take(fd, "opencode", "plugin");
    server_answer(fd, "200 OK", NEWS);
    HEARS(&w.server, "{'text':'Done. [baton cb_1]'}");
    close(w.in);
    expect_exit(&w, 0);
}

/* A client shows its person what a hook prints as systemMessage, and standard error to nobody. */
TEST(hook_of_a_server_that_is_older_tells_the_person_once)
{
    static const struct {
        const char *event, *printed;
    } cases[] = {
        { "{'session_id':'c-1','hook_event_name':'SessionStart'}",
          "{\"systemMessage\":\"the baton server that runs is older than this baton, " },
        { "{'session_id':'c-1','hook_event_name':'UserPromptSubmit'}", "" },
    };

    setenv("BATON_HOOK_TIMEOUT_MS", "60000", 1);
    setenv("CODEX_HOME", "/home/ann/.codex", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct waiting w = wait_start("codex", cases[i].event, NULL);
        int fd = server_connected(&w.server);
        CHECK_HAS(server_take(fd), "client_home=%2Fhome%2Fann%2F.codex&client_path=");
        server_answer(fd, "400 Bad Request",
                      "{'title':'Bad request','detail':'hook.event has no parameter x; it "
                      "has: event'}");
        str printed = read_to_end(w.out);
        CHECK(str_starts(printed, str_from(cases[i].printed)));
        CHECK(printed.len == 0 || str_contains(printed, STR("`baton stop`")));
        CHECK_INT(printed.len > 0, cases[i].printed[0] != '\0');
        CHECK_HAS(read_to_end(w.error), "is older than this baton");
        expect_exit(&w, 0);
        server_end(&w.server);
    }
}
