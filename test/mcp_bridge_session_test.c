/* mcp_bridge_session_test.c: older clients, which have a session and a stream; the bridge begins it
 * again when the server has forgotten it. */
#include <unistd.h>

#include "bridge_fixture.h"

/* Up to where it listens to the stream, whose connection is the answer. */
static int open_session(struct bridge_fixture *r, int *stream, const char *session)
{
    str field = arena_printf(check_arena(), "Mcp-Session-Id: %s\r\n", session);

    say(r, OPENING);
    int fd = server_connected(r);
    str request = server_take(fd);
    CHECK(!str_contains(request, STR("Mcp-Session-Id")));
    CHECK(!str_contains(request, STR("Mcp-Method")));
    server_answer_as(fd, "200 OK", field.at, OPENED);
    HEARS(r, OPENED);

    say(r, ANNOUNCED);
    request = server_take(fd);
    CHECK_HAS(request, "MCP-Protocol-Version: 2025-11-25\r\n");
    CHECK_HAS(request, field.at);
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    request = server_take(fd);
    CHECK(str_starts(request, STR("GET /mcp HTTP/1.1\r\n")));
    CHECK_HAS(request, "Accept: text/event-stream\r\n");
    CHECK_HAS(request, field.at);
    *stream = fd;
    server_stream(fd);
    say(r, OLD("1"));
    fd = server_connected(r);
    CHECK_HAS(server_take(fd), field.at);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(r, ANSWER("1"));
    return fd;
}

TEST(an_older_client_has_a_session_and_a_stream)
{
    struct bridge_fixture r = bridge_fixture_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    server_event(stream, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}\nid: 7");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");

    /* What it answers to a request of the server is passed on. */
    say(&r, "{'jsonrpc':'2.0','id':'s1','result':{}}");
    CHECK_HAS(server_take(fd), "Mcp-Session-Id: one\r\n");
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));

    /* A stream that ends is opened again, from where it was. */
    server_stream_end(stream);
    close(stream);
    CHECK_HAS(server_take(fd), "Last-Event-ID: 7\r\n");
    server_stream(fd);

    client_close(&r);
    int last = server_connected(&r);
    CHECK_HAS(server_take(last), "DELETE /mcp HTTP/1.1\r\n");
    server_answer(last, "200 OK", "{}");
    bridge_expect_end(&r);
}

TEST(a_session_that_the_server_has_forgotten_is_begun_again_in_silence)
{
    struct bridge_fixture r = bridge_fixture_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    say(&r, OLD("2"));
    str lost = server_take(fd);
    server_answer(fd, "404 Not found", "{'title':'Not found','detail':'no such session'}");
    CHECK_HAS(server_take(fd), "\"method\":\"initialize\"");
    server_answer_as(fd, "200 OK", "Mcp-Session-Id: two\r\n", OPENED);
    CHECK_HAS(server_take(fd), "\"method\":\"notifications/initialized\"");
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    str again = server_take(fd);
    CHECK_HAS(again, "Mcp-Session-Id: two\r\n");
    CHECK_STR(key_of(again), key_of(lost).at);
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(what_a_client_wants_to_hear_of_is_asked_for_again_with_its_session)
{
    struct bridge_fixture r = bridge_fixture_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    say(&r, "{'jsonrpc':'2.0','id':2,'method':'resources/subscribe','params':{'uri':'a:1'}}");
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    say(&r, OLD("3"));
    server_take(fd);
    server_answer(fd, "404 Not found", "{}");
    CHECK_HAS(server_take(fd), "\"method\":\"initialize\"");
    server_answer_as(fd, "200 OK", "Mcp-Session-Id: two\r\n", OPENED);
    server_take(fd);
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    CHECK_HAS(server_take(fd), "\"id\":3");
    int other = server_connected(&r);
    str request = server_take(other);
    CHECK_HAS(request, "Mcp-Session-Id: two\r\n");
    CHECK_HAS(request, "\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:1\"}");
    server_answer(other, "200 OK", ANSWER("2"));
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));
}

TEST(a_session_that_is_forgotten_by_many_answers_is_begun_again_once)
{
    struct bridge_fixture r = bridge_fixture_start();
    int stream;
    int fd = open_session(&r, &stream, "one");
    str requests[3];

    say_together(&r, (const char *[]){ OLD("2"), OLD("3"), OLD("4") }, 3);
    CHECK(server_take_all(fd, requests, 3).len);
    server_answer(fd, "404 Not found", "{}");
    int other = server_connected(&r); /* while others are still to be answered */
    CHECK_HAS(server_take(other), "\"method\":\"initialize\"");
    server_answer(fd, "404 Not found", "{}");
    server_answer_as(other, "200 OK", "Mcp-Session-Id: two\r\n", OPENED);
    CHECK_HAS(server_take(other), "\"method\":\"notifications/initialized\"");
    server_send(other, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    CHECK(server_take_all(other, requests, 2).len);
    CHECK_HAS(requests[0], "Mcp-Session-Id: two\r\n");
    CHECK_HAS(requests[0], "\"id\":2");
    CHECK_HAS(requests[1], "\"id\":3");
    server_answer(other, "200 OK", ANSWER("2"));
    server_answer(other, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("2"));
    HEARS(&r, ANSWER("3"));

    /* One that is late to say so says nothing new. */
    server_answer(fd, "404 Not found", "{}");
    str last = server_take(other);
    CHECK_HAS(last, "Mcp-Session-Id: two\r\n");
    CHECK_HAS(last, "\"id\":4");
}

TEST(cancelling_is_passed_on_for_an_older_client)
{
    struct bridge_fixture r = bridge_fixture_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    say(&r, OLD("2"));
    server_take(fd);
    say(&r, CANCEL("2"));
    int other = server_connected(&r);
    CHECK_HAS(server_take(other), "notifications/cancelled");
    server_send(other, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    close(fd); /* it is not asked again */
    say(&r, OLD("3"));
    CHECK_HAS(server_take(other), "\"id\":3");
    server_answer(other, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));
}
