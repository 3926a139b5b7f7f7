/* mcp_bridge_restart_test.c: a server that goes and comes, or is not there, or is silent. */
#include <unistd.h>

#include "bridge_fixture.h"

TEST(what_was_not_answered_is_asked_again_under_the_same_key)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    str first = server_take(fd);
    close(fd);
    fd = server_connected(&r);
    str second = server_take(fd);
    CHECK_STR(key_of(second), key_of(first).at);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));

    /* One that was kept open and has been closed meanwhile costs no try. */
    close(fd);
    say(&r, ASK("2"));
    fd = server_connected(&r);
    CHECK(!str_eq(key_of(server_take(fd)), key_of(first)));
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(what_is_lost_again_and_again_is_told_so)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    for (int i = 0; i < BRIDGE_TRIES_MAX; i++) {
        int fd = server_connected(&r);
        server_take(fd);
        close(fd);
    }
    str line = hear(&r);
    CHECK_HAS(line, "\"id\":1,\"error\":{\"code\":-31053");
    CHECK_HAS(line, "may have been done");
}

TEST(without_a_server_requests_are_told_what_to_do_until_there_is_one)
{
    struct bridge_fixture r = bridge_fixture_new();
    server_end(&r);
    bridge_start(&r);

    say(&r, ASK("1"));
    CHECK_HAS(hear(&r), "no server answers at BATON_URL unix:server.sock: start it");
    say(&r, ASK("2"));
    CHECK_HAS(hear(&r), "\"id\":2,\"error\":{\"code\":-31053");
    server_listen(&r);
    say(&r, ASK("3"));
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));

    /* One that goes away and comes back in time is not noticed. */
    server_end(&r);
    close(fd);
    say(&r, ASK("4"));
    server_listen(&r);
    fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("4"));
    HEARS(&r, ANSWER("4"));
}

static err cannot_start(struct arena *a, str dir)
{
    return err_new(a, ERR_UNAVAILABLE, "cannot start one for " STR_FMT ": do it", STR_ARG(dir));
}

TEST(a_server_that_cannot_be_started_is_told_to_every_request)
{
    struct bridge_fixture r = bridge_fixture_new();
    server_end(&r);
    r.options.data = "nothing";
    r.options.start = cannot_start;
    bridge_start(&r);
    say(&r, ASK("1"));
    CHECK_HAS(hear(&r),
              "\"id\":1,\"error\":{\"code\":-31053,\"message\":\"cannot start one for nothing");
    say(&r, ASK("2"));
    CHECK_HAS(hear(&r), "\"id\":2,\"error\":{\"code\":-31053");
    client_close(&r);
    bridge_expect_end(&r);
}

TEST(a_server_that_is_silent_is_not_waited_for_without_end)
{
    struct bridge_fixture r = bridge_fixture_new();
    r.options.silence_ms = 50;
    bridge_start(&r);
    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    CHECK_HAS(hear(&r),
              "\"id\":1,\"error\":{\"code\":-31053,\"message\":\"the server did not answer");
}

TEST(a_restart_is_nothing_that_a_listener_hears_of)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, "{'jsonrpc':'2.0','id':'l','method':'subscriptions/listen','params':{" META "}}");
    int fd = server_connected(&r);
    server_take(fd);
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged'}");
    server_event(fd, "{'jsonrpc':'2.0','id':'l','result':{}}");
    server_stream_end(fd);
    CHECK_HAS(server_take(fd), "subscriptions/listen");
    close(fd);

    fd = server_connected(&r);
    CHECK_HAS(server_take(fd), "subscriptions/listen");
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged'}");
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
}
