/* mcp_bridge_identity_test.c: who an agent is that a person has started, and what it is called. */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ancestor.h"
#include "bridge_fixture.h"

static struct bridge_fixture bridge_by_hand_in(const char *folder, int64_t lease_ms)
{
    struct bridge_fixture r = bridge_fixture_new();

    r.options.lease_ms = lease_ms;

    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    setenv("CLAUDE_CODE_SESSION_ID", "0f1e2d3c-aaaa", 1);
    setenv("CLAUDE_PROJECT_DIR", folder, 1);
    check_write("operator.token", STR("op_1.secret\n"));
    bridge_start(&r);
    return r;
}

static struct bridge_fixture bridge_by_hand_with(int64_t lease_ms)
{
    return bridge_by_hand_in("/home/ada/my shop/", lease_ms);
}

static struct bridge_fixture bridge_by_hand(void)
{
    return bridge_by_hand_with(0);
}

#define MINTED "{'token_id':'ss_9','token':'ss_9.secret'}"
#define ATTENDED(id) "{'session_id':'" id "','session_name':'it'}"
#define USE "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'state_read'," META "}}"

static void expect_farewell(struct bridge_fixture *r, int fd)
{
    client_close(r);
    str request = server_take(fd);
    CHECK_HAS(request, "POST /sessions/claude-0f1e2d3c-aaaa/events HTTP/1.1\r\n");
    CHECK_HAS(request, "\"event_type\":\"session_end\"");
    int other = server_connected(r);
    server_answer(fd, "201 Created", "{'number':1,'callbacks':0}");
    request = server_take(other);
    CHECK_HAS(request, "DELETE /tokens/ss_9 HTTP/1.1\r\n");
    CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
    server_send(other, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    bridge_expect_end(r);
}

TEST(an_agent_that_a_person_started_gets_a_session_of_its_own)
{
    struct bridge_fixture r = bridge_by_hand();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    str request = server_take(fd);
    CHECK_HAS(request, "POST /tokens HTTP/1.1\r\n");
    CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
    CHECK_HAS(request, "\"kind\":\"session\"");
    CHECK_HAS(request, "\"scope\":{\"session_id\":\"claude-0f1e2d3c-aaaa\"}");
    server_answer(fd, "201 Created", MINTED);
    request = server_take(fd);
    CHECK_HAS(request, "POST /mcp HTTP/1.1\r\n");
    CHECK_HAS(request, "Authorization: Bearer ss_9.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));

    /* There is a session from its first tool on. */
    say(&r, USE);
    request = server_take(fd);
    CHECK_HAS(request, "POST /sessions/attend HTTP/1.1\r\n");
    CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
    CHECK_HAS(request, "\"client\":\"claude\",\"conversation\":\"0f1e2d3c-aaaa\"");
    CHECK_HAS(request, "\"project_dir\":\"/home/ada/my shop/\"");
    server_answer(fd, "200 OK", ATTENDED("claude-0f1e2d3c-aaaa"));
    CHECK_HAS(server_take(fd), "Authorization: Bearer ss_9.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));

    expect_farewell(&r, fd);
}

static void check_untold(const char *folder)
{
    struct bridge_fixture r = bridge_by_hand_in(folder, 0);

    say(&r, USE);
    int fd = server_connected(&r);
    CHECK_HAS(server_take(fd), "POST /tokens HTTP/1.1\r\n");
    server_answer(fd, "201 Created", MINTED);
    str request = server_take(fd);
    CHECK_HAS(request, "POST /sessions/attend HTTP/1.1\r\n");
    CHECK(!memmem(request.at, request.len, "project_dir", strlen("project_dir")));
    CHECK(!memmem(request.at, request.len, "common_dir", strlen("common_dir")));
    CHECK(!memmem(request.at, request.len, "worktree", strlen("worktree")));
    server_answer(fd, "200 OK", ATTENDED("claude-0f1e2d3c-aaaa"));
    CHECK_HAS(server_take(fd), "POST /mcp HTTP/1.1\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    expect_farewell(&r, fd);
}

/* The server finds the project by it: see worktree_test.c. What it could not follow of the variables,
 * the person sees where the client's log is; the agent reads it in its briefing. */
TEST(a_server_is_told_where_the_agent_is_and_what_its_variables_say)
{
    char *here = realpath(".", NULL);
    str folder = arena_printf(check_arena(), "%s/shop", here);

    mkdir("shop", 0700);
    mkdir("shop/.git", 0700);
    mkdir("shop/.git/objects", 0700);
    mkdir("shop/.git/refs", 0700);
    check_write("shop/.git/HEAD", STR("ref: refs/heads/main\n"));
    setenv("BATON_PROJECT", "mall", 1);
    setenv("BATON_SESSION_ID", "lead", 1);
    struct bridge_fixture r = bridge_fixture_new();
    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    setenv("CLAUDE_CODE_SESSION_ID", "0f1e2d3c-aaaa", 1);
    setenv("CLAUDE_PROJECT_DIR", folder.at, 1);
    check_write("operator.token", STR("op_1.secret\n"));
    r.options.state_id = STR("plan");
    CHECK(dup2(open("err", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO) >= 0);
    bridge_start(&r);

    say(&r, USE);
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "201 Created", MINTED);
    str request = server_take(fd);
    CHECK_HAS(request, "POST /sessions/attend HTTP/1.1\r\n");
    CHECK_HAS(request, "\"parent\":\"lead\"");
    CHECK_HAS(request, "\"host\":\"");
    CHECK_HAS(request, arena_printf(check_arena(),
                                    "\"common_dir\":\"%s/shop/.git\","
                                    "\"worktree\":\"%s/shop\",\"project\":\"mall\"",
                                    here, here)
                           .at);
    CHECK_HAS(request, "\"workflow_state_id\":\"plan\"");
    server_answer(fd, "200 OK",
                  "{'session_id':'claude-0f1e2d3c-aaaa','session_name':'it',"
                  "'notice':'BATON_PROJECT: there is no project mall'}");
    CHECK_HAS(server_take(fd), "POST /mcp HTTP/1.1\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    CHECK_HAS(check_read("err"), "BATON_PROJECT: there is no project mall");
    expect_farewell(&r, fd);
    free(here);
}

/* The server would refuse all of it, and the agent have no session. */
TEST(a_folder_that_is_no_utf8_is_not_told)
{
    check_untold("/home/jos\xe9");
}

TEST(a_folder_that_is_longer_than_a_session_may_have_is_not_told)
{
    char deep[1302] = "/home/";

    memset(deep + strlen(deep), 'x', sizeof deep - strlen(deep) - 1);
    check_untold(deep);
}

/* ---- an agent that says later who it is ---- */

static struct bridge_fixture bridge_fixture_of(const char *client)
{
    struct bridge_fixture r = bridge_fixture_new();

    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    check_write("operator.token", STR("op_1.secret\n"));
    bridge_start(&r);
    say(&r, arena_printf(check_arena(),
                         "{'jsonrpc':'2.0','id':0,'method':'initialize','params':"
                         "{'protocolVersion':'2025-11-25','capabilities':{},"
                         "'clientInfo':{'name':'%s'}}}",
                         client)
                .at);
    return r;
}

#define MINTED_AS(n) "{'token_id':'ss_" n "','token':'ss_" n ".secret'}"
#define AS(n) "Authorization: Bearer ss_" n ".secret\r\n"
#define IN(n) "Mcp-Session-Id: " n "\r\n"
#define CODEX_USE(id, thread)                                                            \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'state_patch'," \
    "'_meta':{'threadId':'" thread "'}}}"

/* It has a token and a session of the protocol before it calls a tool, which says whose they are. */
static int codex_open(struct bridge_fixture *r)
{
    int fd = server_connected(r);

    CHECK_HAS(server_take(fd), "\"scope\":{\"session_id\":\"mcp-codex-");
    server_answer(fd, "201 Created", MINTED_AS("1"));
    CHECK_HAS(server_take(fd), AS("1"));
    server_answer_as(fd, "200 OK", IN("one"), OPENED);
    HEARS(r, OPENED);
    return fd;
}

TEST(codex_is_the_session_of_its_thread)
{
    struct bridge_fixture r = bridge_fixture_of("codex-mcp-client");
    int fd = codex_open(&r);

    say(&r, CODEX_USE("1", "01a1e0af-3a44"));
    str request = server_take(fd);
    CHECK_HAS(request, "POST /sessions/attend HTTP/1.1\r\n");
    CHECK_HAS(request, "\"client\":\"codex\",\"conversation\":\"01a1e0af-3a44\"");
    server_answer(fd, "200 OK", ATTENDED("codex-01a1e0af-3a44"));

    /* The one that it was taken for is left, and the thread's begun. */
    int more = server_connected(&r);
    str two[] = { server_take(fd), server_take(more) };
    bool first = str_starts(two[0], STR("DELETE /mcp"));
    CHECK_HAS(two[!first], "DELETE /mcp HTTP/1.1\r\n");
    CHECK_HAS(two[!first], AS("1"));
    CHECK_HAS(two[!first], IN("one"));
    server_send(first ? fd : more, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    CHECK_HAS(two[first], "\"scope\":{\"session_id\":\"codex-01a1e0af-3a44\"}");
    fd = first ? more : fd;
    server_answer(fd, "201 Created", MINTED_AS("2"));
    request = server_take(fd);
    CHECK_HAS(request, AS("2"));
    CHECK_HAS(request, "\"method\":\"initialize\"");
    server_answer_as(fd, "200 OK", IN("two"), OPENED);
    request = server_take(fd);
    CHECK_HAS(request, AS("2"));
    CHECK_HAS(request, IN("two"));
    CHECK_HAS(request, "01a1e0af-3a44");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));

    /* The next call of the thread asks nobody; one of another thread is another session's. */
    say(&r, CODEX_USE("2", "01a1e0af-3a44"));
    CHECK_HAS(server_take(fd), "POST /mcp HTTP/1.1\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    say(&r, CODEX_USE("3", "02b2e0af-0000"));
    CHECK_HAS(server_take(fd), "\"conversation\":\"02b2e0af-0000\"");
}

TEST(gemini_is_asked_for_with_each_call_by_its_process)
{
    struct bridge_fixture r = bridge_fixture_of("gemini-cli-mcp-client");
    int fd = server_connected(&r);
    str request, process;

    CHECK_HAS(server_take(fd), "\"scope\":{\"session_id\":\"mcp-gemini-");
    server_answer(fd, "201 Created", MINTED_AS("1"));
    server_take(fd);
    server_answer(fd, "200 OK", OPENED);
    HEARS(&r, OPENED);
    for (int i = 0; i < 2; i++) {
        say(&r, "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'state_patch'}}");
        request = server_take(fd);
        CHECK_HAS(request, "POST /sessions/attend HTTP/1.1\r\n");
        CHECK_HAS(request, "\"client\":\"gemini\",\"session_id\":\"mcp-gemini-");
        CHECK_HAS(request, "\"process\":\"");
        process = ancestor_client(check_arena(), "/proc", r.pid);
        CHECK_HAS(request, process.at);
        server_answer(fd, "201 Created", "{}");
        CHECK_HAS(server_take(fd), "POST /mcp HTTP/1.1\r\n");
        server_answer(fd, "200 OK", ANSWER("1"));
        HEARS(&r, ANSWER("1"));
    }
}

/* No hook will tell of its end, so the bridge does; and asks for nothing that nobody would read. */
TEST(an_agent_without_hooks_ends_with_its_client)
{
    struct bridge_fixture r = bridge_fixture_new();

    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    check_write("operator.token", STR("op_1.secret\n"));
    bridge_start(&r);
    say(&r, USE);
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "201 Created", MINTED);
    CHECK_HAS(server_take(fd), "POST /sessions/attend HTTP/1.1\r\n");
    server_answer(fd, "201 Created", "{}");
    CHECK_HAS(server_take(fd), "POST /mcp HTTP/1.1\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    client_close(&r);
    str request = server_take(fd);
    CHECK_HAS(request, "POST /sessions/mcp-client-");
    CHECK_HAS(request, "/events HTTP/1.1\r\n");
    CHECK_HAS(request, "\"event_type\":\"session_end\"");
}

TEST(a_token_that_is_not_taken_any_more_is_replaced)
{
    struct bridge_fixture r = bridge_by_hand();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "201 Created", MINTED);
    server_take(fd);
    server_answer_as(fd, "401 Unauthorized", "Connection: close\r\n", "{}");
    close(fd);
    fd = server_connected(&r);
    CHECK_HAS(server_take(fd), "POST /tokens HTTP/1.1\r\n");
    server_answer(fd, "201 Created", "{'token_id':'ss_10','token':'ss_10.secret'}");
    CHECK_HAS(server_take(fd), "Authorization: Bearer ss_10.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

/* A bridge that is killed gives nothing back: what it has ends when it is not heard any more. */
TEST(the_lease_of_a_token_is_renewed_while_the_bridge_lives)
{
    struct bridge_fixture r = bridge_by_hand_with(30);

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    CHECK_HAS(server_take(fd), "\"lease\":10");
    server_answer(fd, "201 Created", MINTED);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    for (int i = 0; i < 3; i++) {
        str request = server_take(fd);
        CHECK_HAS(request, "POST /tokens/ss_9/renew HTTP/1.1\r\n");
        CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
        server_send(fd, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    }
}

TEST(where_no_token_can_be_minted_the_one_there_is_is_used)
{
    struct bridge_fixture r = bridge_by_hand();

    say(&r, USE);
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "403 Forbidden", "{'title':'Forbidden','detail':'no'}");
    CHECK_HAS(server_take(fd), "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer op_1.secret\r\n");
}

TEST(a_session_is_called_after_its_client_its_place_and_its_id)
{
    static const struct {
        const char *client, *directory, *id, *name;
    } cases[] = {
        { "claude", "/home/ada/shop", "1b2c3d4e-5f60", "claude-shop-1b2c3d4e" },
        { "claude", "/", "1b2c3d4e", "claude-1b2c3d4e" },
        { "my client", "/tmp/a.b", "12", "my-client-a-b-12" },
        { "claude", "/x/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "1b2c3d4e",
          "claude-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr-1b2c3d4e" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(identity_session_name(check_arena(), str_from(cases[i].client),
                                        str_from(cases[i].directory), str_from(cases[i].id)),
                  cases[i].name);
}
