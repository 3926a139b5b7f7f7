/* mcp_bridge_wake_test.c: an idle Codex is woken by its bridge, with a stand-in for `codex queue`. */
#define _GNU_SOURCE /* memmem */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge_fixture.h"

#define THREAD "01a1e0af-3a44"

/* A program that is called codex, of this text, before all others. */
static void codex_put(const char *text)
{
    mkdir("bin", 0700);
    check_write("bin/codex", str_from(text));
    CHECK(chmod("bin/codex", 0700) == 0);
    char *here = getcwd(NULL, 0);
    setenv("PATH", arena_printf(check_arena(), "%s/bin:%s", here, getenv("PATH")).at, 1);
    free(here);
}

#define USE(id, thread)                                                                 \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'state_read'," \
    "'_meta':{'threadId':'" thread "','io.modelcontextprotocol/protocolVersion':"       \
    "'2026-07-28','io.modelcontextprotocol/clientInfo':{'name':'codex-mcp-client'}}}}"

/* A bridge whose client has called a tool: *fd is the connection of its calls, and what is given that
 * on which news are asked for. */
static int bridge_woken_by(struct bridge_fixture *r, int *fd)
{
    *r = bridge_fixture_new();
    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    check_write("operator.token", STR("op_1.secret\n"));
    bridge_start(r);
    say(r, USE("1", THREAD));
    *fd = server_connected(r);
    CHECK_HAS(server_take(*fd), "POST /tokens ");
    server_answer(*fd, "201 Created", "{'token_id':'ss_1','token':'ss_1.secret'}");
    str attend = server_take(*fd);
    CHECK_HAS(attend, "POST /sessions/attend ");
    str id = STR(""), rest;
    const char *at = memmem(attend.at, attend.len, "\"conversation\":\"", 16);
    CHECK(at);
    str_cut(str_from(at + 16), '"', &id, &rest);
    CHECK_STR(id, THREAD);
    server_answer(*fd, "200 OK", "{}");
    CHECK_HAS(server_take(*fd), "POST /mcp ");
    server_answer(*fd, "200 OK", ANSWER("1"));
    HEARS(r, ANSWER("1"));
    return server_connected(r);
}

static str take(int fd)
{
    static const char before[] = "{\"client\":\"codex\",\"conversation\":\"" THREAD
                                 "\",\"waker\":\"";
    str request = server_take(fd), id = STR(""), rest;

    CHECK(str_starts(request, STR("POST /wakes HTTP/1.1\r\n")));
    CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
    CHECK_HAS(request, before);
    CHECK_HAS(request, "\"way\":\"queue\",\"timeout\":50}");
    const char *at = memmem(request.at, request.len, before, sizeof before - 1);
    str_cut(str_from(at + sizeof before - 1), '"', &id, &rest);
    CHECK(id.len >= 8 && id.len <= 64);
    return id;
}

static void expect_report(str request, str waker, const char *body)
{
    CHECK_HAS(
        request,
        arena_printf(check_arena(), "POST /wakes/" STR_FMT " HTTP/1.1\r\n", STR_ARG(waker)).at);
    CHECK_HAS(request, quotes_double(check_arena(), body).at);
}

#define NEWS(text) "{'status':'news','session_id':'s','text':'" text "','ids':['cb_1']}"
#define RECORD "#!/bin/sh\nprintf '%s\\n' \"$@\" >>called\n"

TEST(codex_is_told_by_its_own_queue_and_the_server_that_it_was)
{
    struct bridge_fixture r;
    int fd;

    codex_put(RECORD);
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    server_answer(wakes, "200 OK", "{'status':'none'}");
    CHECK(str_eq(take(wakes), waker));
    server_answer(wakes, "200 OK", NEWS("It is $(done) `x` [baton cb_1]"));
    str report = server_take(wakes);
    expect_report(report, waker, "{'handed':true}");
    CHECK_STR(check_read("called"),
              "queue\n--thread=" THREAD "\n--message=It is $(done) `x` [baton cb_1]\n");
    server_answer(wakes, "200 OK", "{}");
    CHECK(str_eq(take(wakes), waker)); /* and on */
    client_close(&r);
    CHECK_HAS(server_take(fd), "\"event_type\":\"session_end\"");
}

/* Before it knows that it was told, it must not be given more: the same would come again. */
TEST(a_report_that_did_not_arrive_is_made_again_before_anything_else)
{
    struct bridge_fixture r;
    int fd;

    codex_put(RECORD);
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    server_answer(wakes, "200 OK", NEWS("Done."));
    expect_report(server_take(wakes), waker, "{'handed':true}");
    close(wakes);
    expect_report(server_take(fd), waker, "{'handed':true}"); /* by the other one, which is free */
    server_answer(fd, "503 Service Unavailable", "{}");
    expect_report(server_take(fd), waker, "{'handed':true}");
    server_answer(fd, "200 OK", "{}");
    take(fd);
    CHECK_STR(check_read("called"), "queue\n--thread=" THREAD "\n--message=Done.\n");
}

TEST(what_codex_does_not_take_is_reported_with_the_reason)
{
    struct bridge_fixture r;
    int fd;

    codex_put("#!/bin/sh\necho 'no such thread' >&2\nexit 1\n");
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    server_answer(wakes, "200 OK", NEWS("Done."));
    expect_report(server_take(wakes), waker, "{'failed':'no such thread'}");
}

TEST(a_codex_that_is_not_there_is_reported)
{
    struct bridge_fixture r;
    int fd;

    mkdir("bin", 0700);
    setenv("PATH", "bin", 1);
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    server_answer(wakes, "200 OK", NEWS("Done."));
    expect_report(server_take(wakes), waker, "{'failed':'there is no program ");
}

/* A command that leaves something behind with its output has ended all the same. */
TEST(a_queue_that_leaves_a_daemon_behind_is_done)
{
    struct bridge_fixture r;
    int fd;

    codex_put("#!/bin/sh\nsleep 30 &\n");
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    server_answer(wakes, "200 OK", NEWS("Done."));
    expect_report(server_take(wakes), waker, "{'handed':true}");
}

/* It is looked for again, and is not started. */
TEST(a_server_that_comes_back_is_asked_for_news_by_the_same_waker)
{
    struct bridge_fixture r;
    int fd;

    codex_put(RECORD);
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    server_end(&r);
    close(wakes);
    close(fd);
    server_listen(&r);
    wakes = server_connected(&r);
    CHECK(str_eq(take(wakes), waker));
}

TEST(a_conversation_that_follows_is_asked_for_by_another_waker)
{
    struct bridge_fixture r;
    int fd;

    codex_put(RECORD);
    int wakes = bridge_woken_by(&r, &fd);
    str waker = take(wakes);
    say(&r, USE("2", "another-thread"));
    CHECK_HAS(server_take(fd), "\"conversation\":\"another-thread\"");
    server_answer(fd, "200 OK", "{}");
    CHECK_HAS(server_take(fd), "POST /mcp ");
    server_expect_end(wakes);
    int other = server_connected(&r);
    str request = server_take(other);
    CHECK_HAS(request, "\"conversation\":\"another-thread\"");
    CHECK(!memmem(request.at, request.len, waker.at, waker.len));
}

TEST(a_server_that_wakes_nobody_is_left_alone)
{
    static const char *const answers[][2] = {
        { "200 OK", "{'status':'off','reason':'it is off'}" },
        { "200 OK", "{'status':'superseded'}" },
        { "404 Not Found", "{'title':'Not found'}" },
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct bridge_fixture r;
        int fd;
        int wakes = bridge_woken_by(&r, &fd);
        take(wakes);
        server_answer(wakes, answers[i][0], answers[i][1]);
        say(&r, USE("2", THREAD)); /* on whichever connection: no news are asked for before it */
        struct pollfd both[] = { { fd, POLLIN, 0 }, { wakes, POLLIN, 0 } };
        CHECK(poll(both, 2, 10000) > 0);
        CHECK_HAS(server_take(both[0].revents ? fd : wakes), "POST /mcp ");
        kill(r.pid, SIGKILL);
        waitpid(r.pid, NULL, 0);
        server_end(&r);
    }
}
