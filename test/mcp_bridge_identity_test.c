/* mcp_bridge_identity_test.c: who an agent is that a person has started, and what it is called. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mcp_rig.h"

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static struct rig rig_by_hand(void)
{
    struct rig r = rig_new();

    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    setenv("CLAUDE_CODE_SESSION_ID", "0f1e2d3c-aaaa", 1);
    setenv("CLAUDE_PROJECT_DIR", "/home/ada/my shop/", 1);
    write_file("operator.token", "op_1.secret\n");
    bridge_start(&r);
    return r;
}

#define MINTED "{'token_id':'ss_9','token':'ss_9.secret'}"
#define USE "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'state_read'," META "}}"

TEST(an_agent_that_a_person_started_gets_a_session_of_its_own)
{
    struct rig r = rig_by_hand();

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
    CHECK_HAS(request, "POST /sessions HTTP/1.1\r\n");
    CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
    CHECK_HAS(request, "\"session_name\":\"claude-my-shop-0f1e2d3c\"");
    CHECK_HAS(request, "\"project_dir\":\"/home/ada/my shop/\"");
    server_answer(fd, "409 Conflict", "{'title':'Conflict','detail':'it is there'}");
    CHECK_HAS(server_take(fd), "Authorization: Bearer ss_9.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));

    client_close(&r);
    request = server_take(fd);
    CHECK_HAS(request, "DELETE /tokens/ss_9 HTTP/1.1\r\n");
    CHECK_HAS(request, "Authorization: Bearer op_1.secret\r\n");
    server_send(fd, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    rig_expect_end(&r);
}

/* No hook will tell of its end, so the bridge does; and asks for nothing that nobody would read. */
TEST(an_agent_without_hooks_ends_with_its_client)
{
    struct rig r = rig_new();

    unsetenv("BATON_TOKEN");
    setenv("BATON_DATA", ".", 1);
    write_file("operator.token", "op_1.secret\n");
    bridge_start(&r);
    say(&r, USE);
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "201 Created", MINTED);
    CHECK_HAS(server_take(fd), "POST /sessions HTTP/1.1\r\n");
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
    struct rig r = rig_by_hand();

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

TEST(where_no_token_can_be_minted_the_one_there_is_is_used)
{
    struct rig r = rig_by_hand();

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
