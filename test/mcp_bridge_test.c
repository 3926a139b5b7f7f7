/* mcp_bridge_test.c: what the bridge passes on, what it refuses, and how it ends. */
#include <signal.h>
#include <unistd.h>

#include "bridge_fixture.h"

/* ---- what is passed on ---- */

TEST(a_message_is_posted_with_what_http_is_to_know_of_it)
{
    struct bridge_fixture r = bridge_fixture_new();
    r.options.state_id = STR("wfstate_7");
    bridge_start(&r);
    say(&r, "{'jsonrpc':'2.0','id':'x','method':'tools/call',"
            "'params':{'name':'state_read','arguments':{}," META "}}");
    int fd = server_connected(&r);
    str request = server_take(fd);

    CHECK(str_starts(request, STR("POST /mcp HTTP/1.1\r\nHost: localhost\r\n")));
    CHECK_HAS(request, "Authorization: Bearer ss_1.secret\r\n");
    CHECK_HAS(request, "Accept: application/json, text/event-stream\r\n");
    CHECK_HAS(request, "Content-Type: application/json\r\n");
    CHECK_HAS(request, "MCP-Protocol-Version: 2026-07-28\r\n");
    CHECK_HAS(request, "Mcp-Method: tools/call\r\n");
    CHECK_HAS(request, "Mcp-Name: state_read\r\n");
    CHECK_HAS(request, "X-Workflow-State-Id: wfstate_7\r\n");
    CHECK_HAS(request, "Idempotency-Key: mcp-");
    CHECK_HAS(request, "\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",");
    server_answer(fd, "200 OK", ANSWER("'x'"));
    HEARS(&r, ANSWER("'x'"));

    /* The connection is kept for the next. */
    say(&r, ASK("2"));
    request = server_take(fd);
    CHECK_HAS(request, "Mcp-Method: tools/list\r\n");
    CHECK(!str_contains(request, STR("Mcp-Name")));
    server_answer(fd, "200 OK", "{'jsonrpc':'2.0',\n'id':2,'result':{}}");
    HEARS(&r, "{'jsonrpc':'2.0', 'id':2,'result':{}}");
    client_close(&r);
    bridge_expect_end(&r);
}

TEST(a_value_that_is_not_plain_is_encoded_and_adds_no_field)
{
    static const struct {
        const char *value, *field;
    } cases[] = {
        { "plain", "Mcp-Name: plain\r\n" },
        { "a b", "Mcp-Name: a b\r\n" },
        { "", "Mcp-Name: \r\n" },
        { " edge", "Mcp-Name: =?base64?IGVkZ2U=?=\r\n" },
        { "Zürich", "Mcp-Name: =?base64?WsO8cmljaA==?=\r\n" },
        { "a\r\nX-Evil: 1", "Mcp-Name: =?base64?YQ0KWC1FdmlsOiAx?=\r\n" },
        { "=?base64?eA==?=", "Mcp-Name: =?base64?PT9iYXNlNjQ/ZUE9PT89?=\r\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = buf_in(check_arena());
        head_value(&out, "Mcp-Name", str_from(cases[i].value));
        CHECK_STR(buf_str(&out), cases[i].field);
    }
}

TEST(requests_are_answered_in_any_order)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int first = server_connected(&r);
    CHECK_HAS(server_take(first), "\"id\":1");
    say(&r, ASK("2"));
    int second = server_connected(&r);
    CHECK_HAS(server_take(second), "\"id\":2");
    server_answer(second, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    server_answer(first, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

TEST(each_event_of_a_stream_is_a_line)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    server_event(fd, "{'jsonrpc':'2.0',\ndata: 'id':1,'result':{}}");
    HEARS(&r, "{'jsonrpc':'2.0', 'id':1,'result':{}}");
    server_stream_end(fd);

    say(&r, ASK("2"));
    CHECK_HAS(server_take(fd), "\"id\":2");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(a_notification_is_answered_by_nothing)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, "{'jsonrpc':'2.0','method':'notifications/x','params':{" META "}}");
    int fd = server_connected(&r);
    CHECK_HAS(server_take(fd), "Mcp-Method: notifications/x\r\n");
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    say(&r, ASK("1"));
    CHECK_HAS(server_take(fd), "\"id\":1");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

/* ---- what is not a message ---- */

TEST(a_line_that_is_no_message_is_refused_and_the_next_is_not)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, "{'jsonrpc'");
    CHECK_HAS(hear(&r), "\"code\":-32700");
    say(&r, "[]");
    CHECK_HAS(hear(&r), "\"code\":-32600");
    say(&r, "{'jsonrpc':'2.0','id':5,'method':7}");
    CHECK_HAS(hear(&r), "\"id\":5,\"error\":{\"code\":-32600");
    say(&r, "");
    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

TEST(a_line_that_is_too_long_is_refused_by_its_id)
{
    struct bridge_fixture r = bridge_fixture_start();
    size_t size = 5 << 20;
    char *filling = arena_alloc(check_arena(), size);

    memset(filling, 'a', size);
    say_bytes(&r, STR("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\""));
    say_bytes(&r, (str){ filling, size });
    say_bytes(&r, STR("\"},\"id\":31}\n"));
    str line = hear(&r);
    CHECK_HAS(line, "\"id\":31,\"error\":{\"code\":-32600");
    CHECK_HAS(line, "expected at most 4194304 bytes");
    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

TEST(what_the_server_refuses_becomes_an_answer)
{
    static const struct {
        const char *status, *body, *line;
    } cases[] = {
        { "413 Too large", "{'title':'Too large','detail':'expected less'}",
          "{'jsonrpc':'2.0','id':1,'error':{'code':-31013,'message':'Too large: expected less'}}" },
        { "403 Forbidden", "{'jsonrpc':'2.0','error':{'code':-1,'message':'no'}}",
          "{'jsonrpc':'2.0','id':1,'error':{'code':-31003,"
          "'message':'the server answers with status 403'}}" },
        { "400 Bad", "{'jsonrpc':'2.0','id':1,'error':{'code':-32020,'message':'header'}}",
          "{'jsonrpc':'2.0','id':1,'error':{'code':-32020,'message':'header'}}" },
        { "202 Accepted", "",
          "{'jsonrpc':'2.0','id':1,'error':{'code':-32602,"
          "'message':'the server answers with status 202'}}" },
    };
    struct bridge_fixture r = bridge_fixture_start();
    int fd = -1;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say(&r, ASK("1"));
        fd = fd < 0 ? server_connected(&r) : fd;
        server_take(fd);
        server_answer(fd, cases[i].status, cases[i].body);
        HEARS(&r, cases[i].line);
    }
}

/* ---- cancelling ---- */

TEST(cancelling_closes_the_connection_of_a_request)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    say(&r, CANCEL("1"));
    server_expect_end(fd); /* its end */
    say(&r, ASK("2"));
    fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

/* ---- the end ---- */

TEST(what_is_in_flight_when_the_input_ends_is_answered)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    client_close(&r);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    bridge_expect_end(&r);
}

TEST(what_is_not_answered_does_not_keep_it)
{
    struct bridge_fixture r = bridge_fixture_new();
    r.options.drain_ms = 20;
    bridge_start(&r);
    say(&r, ASK("1"));
    server_take(server_connected(&r));
    client_close(&r);
    bridge_expect_end(&r);
}

TEST(a_signal_ends_it)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    kill(r.pid, SIGTERM);
    bridge_expect_end(&r);
}

TEST(a_client_that_is_gone_ends_it)
{
    struct bridge_fixture r = bridge_fixture_start();

    say(&r, ASK("1"));
    int fd = server_connected(&r);
    server_take(fd);
    close(r.out);
    server_answer(fd, "200 OK", ANSWER("1"));
    bridge_expect_end(&r);
}

/* ---- events ---- */

/* The data of all events, each between brackets, whatever pieces the bytes come in. */
static str events_of(str text, size_t cut)
{
    struct event_reader r;
    struct buf out = buf_in(check_arena());
    str parts[] = { str_slice(text, 0, cut), str_slice(text, cut, text.len) }, data;

    event_reader_init(&r, check_arena());
    for (int i = 0; i < 2; i++) {
        while (event_read(&r, &parts[i], &data)) {
            buf_byte(&out, '[');
            buf_add(&out, data);
            buf_byte(&out, ']');
        }
    }
    buf_printf(&out, " id=" STR_FMT " retry=%lld", STR_ARG(event_last_id(&r)),
               (long long)r.retry_ms);
    return buf_str(&out);
}

TEST(events_are_the_same_in_whatever_pieces_they_come)
{
    str text = STR(":comment\n\ndata: one\n\ndata:two\r\ndata: lines\r\nid: 4\r\n\r\n"
                   "event: x\rretry: 250\rdata: three\r\rid: 5\ndata:\n\ndata: cut off");

    for (size_t cut = 0; cut <= text.len; cut++)
        CHECK_STR(events_of(text, cut), "[one][two\nlines][three] id=5 retry=250");
}

/* A line's end that came in two pieces is over: the next line feed is an empty line. */
TEST(events_are_the_same_byte_by_byte)
{
    str text = STR("data: one\r\n\ndata: two\r\n\r\n"), data;
    struct buf out = buf_in(check_arena());
    struct event_reader r;

    event_reader_init(&r, check_arena());
    for (size_t i = 0; i < text.len; i++) {
        str byte = str_slice(text, i, i + 1);
        while (event_read(&r, &byte, &data))
            buf_printf(&out, "[" STR_FMT "]", STR_ARG(data));
    }
    CHECK_STR(buf_str(&out), "[one][two]");
}
