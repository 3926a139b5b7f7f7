/* mcp_bridge_together_test.c: requests that come together go behind each other on one connection,
 * and lose nothing by it. */
#include <signal.h>
#include <unistd.h>

#include "bridge_fixture.h"
#include "ops/op.h"

static const char *const three[] = { ASK("1"), ASK("2"), ASK("3") };

static int take_three(struct bridge_fixture *r, str requests[3])
{
    say_together(r, three, 3);
    int fd = server_connected(r);
    CHECK(server_take_all(fd, requests, 3).len);
    return fd;
}

TEST(what_is_asked_together_is_sent_and_answered_on_one_connection)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3];
    int fd = take_three(&r, requests);
    struct buf answers = buf_in(check_arena());

    CHECK_HAS(requests[0], "\"id\":1");
    CHECK_HAS(requests[1], "\"id\":2");
    CHECK_HAS(requests[2], "\"id\":3");
    CHECK(!str_eq(key_of(requests[0]), key_of(requests[1])));
    buf_add(&answers, answer_text("200 OK", "", ANSWER("1")));
    buf_add(&answers, answer_text("200 OK", "", ANSWER("2")));
    buf_add(&answers, answer_text("200 OK", "", ANSWER("3")));
    str all = buf_str(&answers);
    size_t cut = all.len / 2; /* in the middle of the second one */
    server_send(fd, str_slice(all, 0, cut));
    HEARS(&r, ANSWER("1"));
    server_send(fd, str_slice(all, cut, all.len));
    HEARS(&r, ANSWER("2"));
    HEARS(&r, ANSWER("3"));

    /* And it is kept. */
    say(&r, ASK("4"));
    CHECK_HAS(server_take(fd), "\"id\":4");
    server_answer(fd, "200 OK", ANSWER("4"));
    HEARS(&r, ANSWER("4"));
    server_expect_nobody(&r);
}

TEST(what_may_wait_or_writes_has_a_connection_of_its_own)
{
    static const char *const alone[] = {
        CALL("2", "state_read", "'wait_version':3"),
        CALL("2", "get_agent_session_result", "'wait':true"),
        CALL("2", "get_agent_session_status", "'timeout':5"),
        CALL("2", "start_agent_session", "'execution_mode':'sync'"),
        CALL("2", "state_patch", ""),
        CALL("2", "what_is_this", ""),
        "{'jsonrpc':'2.0','id':2,'method':'tasks/get','params':{" META "}}",
        "{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{" META "}}",
        "{'jsonrpc':'2.0','id':2,'method':'what/is/this','params':{" META "}}",
    };

    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        struct bridge_fixture r = bridge_fixture_new();
        str requests[2], other;
        r.options.drain_ms = 1;
        bridge_start(&r);
        say_together(&r, (const char *[]){ CALL("1", "state_read", ""), alone[i], ASK("3") }, 3);
        int shared = server_connected(&r), own = server_connected(&r);
        CHECK(server_take_all(shared, requests, 2).len);
        CHECK_HAS(requests[0], "\"id\":1");
        CHECK_HAS(requests[1], "\"id\":3");
        CHECK(server_take_all(own, &other, 1).len);
        CHECK_HAS(other, "\"id\":2");
        kill(r.pid, SIGTERM);
        bridge_expect_end(&r);
        close(shared);
        close(own);
        server_end(&r);
    }
}

TEST(a_tool_is_sent_behind_others_if_it_reads)
{
    struct op_table *table;

    CHECK_OK(op_table_all(check_arena(), &table));
    for (size_t i = 0; i < op_count(table); i++) {
        const struct op *op = op_at(table, i);
        str name = arena_copy(check_arena(), str_from(op->tool ? op->tool : op->name));
        for (char *at = (char *)name.at; *at; at++)
            *at = *at == '.' ? '_' : *at;
        if (op->on & ON_MCP && brief_tool(name) != (op->effect == OP_READS))
            check_fail(__FILE__, __LINE__, STR_FMT, STR_ARG(name));
    }
    op_table_free(table);
}

TEST(one_connection_takes_so_many_and_no_more)
{
    enum { ON_ONE = BRIDGE_PIPELINE_MAX, ALL = ON_ONE + 4 };
    struct bridge_fixture r = bridge_fixture_start();
    const char *lines[ALL];
    str requests[ON_ONE];

    for (int i = 0; i < ALL; i++)
        lines[i] = arena_printf(check_arena(), ASK("%d"), i).at;
    say_together(&r, lines, ALL);
    CHECK(server_take_all(server_connected(&r), requests, ON_ONE).len);
    CHECK_HAS(requests[ON_ONE - 1], "\"id\":7");
    CHECK(server_take_all(server_connected(&r), requests, ALL - ON_ONE).len);
    CHECK_HAS(requests[0], "\"id\":8");
}

TEST(what_is_behind_the_last_answer_of_a_connection_is_asked_again_under_its_key)
{
    static const char *const fields[] = { "", "Connection: close\r\n" };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct bridge_fixture r = bridge_fixture_start();
        str first[3], again[2];
        int fd = take_three(&r, first);
        server_answer_as(fd, "200 OK", fields[i], ANSWER("1"));
        HEARS(&r, ANSWER("1"));
        if (!*fields[i])
            close(fd);
        fd = server_connected(&r);
        CHECK(server_take_all(fd, again, 2).len);
        CHECK_STR(key_of(again[0]), key_of(first[1]).at);
        CHECK_STR(key_of(again[1]), key_of(first[2]).at);
        server_answer(fd, "200 OK", ANSWER("2"));
        server_answer(fd, "200 OK", ANSWER("3"));
        HEARS(&r, ANSWER("2"));
        HEARS(&r, ANSWER("3"));
        client_close(&r);
        bridge_expect_end(&r);
        server_end(&r);
    }
}

TEST(a_request_whose_answer_breaks_off_does_not_cost_those_behind_it)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3];

    for (int i = 0; i < BRIDGE_TRIES_MAX; i++) {
        int fd = i ? server_connected(&r) : take_three(&r, requests);
        if (i) /* those behind it are answered at once; it rests before it comes again */
            CHECK(server_take_all(fd, requests, 1).len);
        CHECK_HAS(requests[0], "\"id\":1");
        server_send(fd, STR("HTTP/1.1 200 OK\r\nConte"));
        close(fd);
        if (i)
            continue;
        fd = server_connected(&r);
        CHECK(server_take_all(fd, requests, 2).len);
        server_answer(fd, "200 OK", ANSWER("2"));
        server_answer(fd, "200 OK", ANSWER("3"));
        HEARS(&r, ANSWER("2"));
        HEARS(&r, ANSWER("3"));
        close(fd);
    }
    CHECK_HAS(hear(&r), "\"id\":1,\"error\":{\"code\":-31053");
}

TEST(what_is_behind_a_stream_is_asked_elsewhere)
{
    struct bridge_fixture r = bridge_fixture_start();
    str first[3], again;
    int fd = take_three(&r, first);

    server_answer(fd, "200 OK", ANSWER("1"));
    server_stream(fd); /* of which nothing has come yet */
    HEARS(&r, ANSWER("1"));
    int other = server_connected(&r);
    CHECK(server_take_all(other, &again, 1).len);
    CHECK_STR(key_of(again), key_of(first[2]).at);
    server_answer(other, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));

    /* An answer to the third may come here too: so the connection ends with the stream. */
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    server_event(fd, ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    server_stream_end(fd);
    server_expect_end(fd);
    say(&r, ASK("4"));
    CHECK_HAS(server_take(other), "\"id\":4");
}

TEST(the_answer_to_one_that_was_cancelled_among_others_is_dropped)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3];
    int fd = take_three(&r, requests);

    say(&r, CANCEL("2"));
    say(&r, ASK("9"));
    int other = server_connected(&r); /* now the bridge knows of it */
    server_take(other);
    server_answer(fd, "200 OK", ANSWER("1"));
    server_answer(fd, "200 OK", ANSWER("2"));
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("1"));
    HEARS(&r, ANSWER("3"));
    server_answer(other, "200 OK", ANSWER("9"));
    HEARS(&r, ANSWER("9"));
}

TEST(one_that_was_cancelled_is_not_asked_again_with_the_others)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3], again;
    int fd = take_three(&r, requests);

    say(&r, CANCEL("2"));
    say(&r, ASK("9"));
    int other = server_connected(&r);
    server_take(other);
    server_answer_as(fd, "200 OK", "Connection: close\r\n", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    fd = server_connected(&r);
    CHECK(server_take_all(fd, &again, 1).len);
    CHECK_STR(key_of(again), key_of(requests[2]).at);
}

TEST(a_server_that_is_silent_is_told_to_all_who_wait_on_a_connection)
{
    struct bridge_fixture r = bridge_fixture_new();
    str requests[3];
    r.options.silence_ms = 50;
    bridge_start(&r);
    int fd = take_three(&r, requests);

    CHECK_HAS(hear(&r),
              "\"id\":1,\"error\":{\"code\":-31053,\"message\":\"the server did not answer");
    CHECK_HAS(hear(&r), "\"id\":2,\"error\":{\"code\":-31053");
    CHECK_HAS(hear(&r), "\"id\":3,\"error\":{\"code\":-31053");
    server_expect_end(fd);
}

/* A server that works on one after the other works on several at once if they come apart. */
TEST(after_answers_that_came_one_by_one_requests_go_apart)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3];
    int fd = take_three(&r, requests);

    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));
    say_together(&r, (const char *[]){ ASK("4"), ASK("5") }, 2);
    CHECK_HAS(server_take(fd), "\"id\":4");
    CHECK_HAS(server_take(server_connected(&r)), "\"id\":5");
}

TEST(a_stream_in_many_pieces_sets_nothing_apart)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3];

    say(&r, ASK("0"));
    int fd = server_connected(&r);
    server_take(fd);
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    server_event(fd, ANSWER("0"));
    HEARS(&r, ANSWER("0"));
    server_stream_end(fd);
    say_together(&r, three, 3);
    CHECK(server_take_all(fd, requests, 3).len);
}

TEST(what_is_asked_together_is_answered_after_the_end_of_input)
{
    struct bridge_fixture r = bridge_fixture_start();
    str requests[3];
    int fd = take_three(&r, requests);

    client_close(&r);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    server_answer(fd, "200 OK", ANSWER("2"));
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("2"));
    HEARS(&r, ANSWER("3"));
    bridge_expect_end(&r);
}

TEST(what_was_asked_together_and_is_not_answered_does_not_keep_it)
{
    struct bridge_fixture r = bridge_fixture_new();
    str requests[3];
    r.options.drain_ms = 20;
    bridge_start(&r);
    take_three(&r, requests);
    client_close(&r);
    CHECK_HAS(hear(&r), "\"id\":1,\"error\"");
    CHECK_HAS(hear(&r), "\"id\":2,\"error\"");
    CHECK_HAS(hear(&r), "\"id\":3,\"error\"");
    bridge_expect_end(&r);
}
