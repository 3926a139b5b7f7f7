/* mcp_bridge_test.c: MCP over stdio, between a client and a server that the test plays both. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cli/mcp_bridge_private.h"
#include "ops/op.h"

enum { PATIENCE_MS = 10000 };

/* ---- the bridge, and both its ends ---- */

struct rig {
    struct mcp_bridge_options options;
    int listener; /* −1: there is no server */
    int in, out;  /* the client's ends */
    pid_t pid;
    str rest; /* lines that came and were not looked at */
};

static void server_listen(struct rig *r)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "server.sock" };

    unlink("server.sock");
    r->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(listen(r->listener, 64) == 0);
}

static void server_end(struct rig *r)
{
    close(r->listener);
    r->listener = -1;
    unlink("server.sock");
}

static void bridge_start(struct rig *r)
{
    int in[2], out[2];

    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    r->pid = fork();
    CHECK(r->pid >= 0);
    if (r->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(in[1]);
        close(out[0]);
        if (r->listener >= 0)
            close(r->listener);
        r->options.in = in[0];
        r->options.out = out[1];
        mcp_bridge(&r->options);
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    r->in = in[1];
    r->out = out[0];
    r->rest = STR("");
}

/* With a token, so that it needs no identity of its own. */
static struct rig rig_new(void)
{
    struct rig r = { .listener = -1, .options = { .pause_ms = 20, .down_ms = 300 } };

    setenv("BATON_URL", "unix:server.sock", 1);
    setenv("BATON_TOKEN", "ss_1.secret", 1);
    unsetenv("BATON_TOKEN_FILE");
    unsetenv("CLAUDE_CODE_SESSION_ID");
    unsetenv("CLAUDE_PROJECT_DIR");
    server_listen(&r);
    return r;
}

static struct rig rig_start(void)
{
    struct rig r = rig_new();
    bridge_start(&r);
    return r;
}

static void rig_expect_end(struct rig *r)
{
    int status;

    CHECK(waitpid(r->pid, &status, 0) == r->pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

static void client_close(struct rig *r)
{
    close(r->in);
    r->in = -1;
}

/* ---- the client ---- */

static str json_of(const char *text)
{
    str copy = arena_copy(check_arena(), str_from(text));

    for (char *at = (char *)copy.at; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static void say_bytes(struct rig *r, str bytes)
{
    while (bytes.len) {
        ssize_t n = write(r->in, bytes.at, bytes.len);
        CHECK(n > 0);
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
}

static void say(struct rig *r, const char *text)
{
    say_bytes(r, json_of(text));
    say_bytes(r, STR("\n"));
}

static bool readable(int fd, int ms)
{
    return poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, ms) == 1;
}

static str hear(struct rig *r)
{
    struct buf all = buf_in(check_arena());

    buf_add(&all, r->rest);
    for (;;) {
        str text = buf_str(&all), line;
        if (str_cut(text, '\n', &line, &r->rest))
            return line;
        if (!readable(r->out, PATIENCE_MS))
            check_fail(__FILE__, __LINE__, "no line came");
        ssize_t n = read(r->out, buf_reserve(&all, 65536), 65536);
        CHECK(n > 0);
        all.len += (size_t)n;
    }
}

/* Single quotes stand for double ones. */
#define HEARS(r, text) CHECK_STR(hear(r), json_of(text).at)

static bool has(str text, const char *part)
{
    return memmem(text.at, text.len, part, strlen(part)) != NULL;
}

static void check_has(int line, str text, const char *part)
{
    if (!has(text, part))
        check_fail(__FILE__, line, "expected \"%s\" in:\n" STR_FMT, part, STR_ARG(text));
}

#define HAS(text, part) check_has(__LINE__, (text), (part))
#define HAS_NOT(text, part) CHECK(!has((text), (part)))

/* ---- the server ---- */

static int server_accept(struct rig *r)
{
    struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };

    if (!readable(r->listener, PATIENCE_MS))
        check_fail(__FILE__, __LINE__, "nobody connected");
    int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* The bytes of the first request of a text; 0: it is not whole. */
static size_t request_bytes(str text)
{
    const char *end = memmem(text.at, text.len, "\r\n\r\n", 4);
    const char *length = end ? memmem(text.at, (size_t)(end - text.at), "Content-Length: ", 16)
                             : NULL;
    size_t bytes = end ? (size_t)(end + 4 - text.at) + (length ? (size_t)atoi(length + 16) : 0) : 0;

    return bytes <= text.len ? bytes : 0;
}

/* So many whole requests, one behind the other; empty when the connection ends before. */
static str server_take_all(int fd, str *requests, size_t count)
{
    struct buf all = buf_in(check_arena());

    for (;;) {
        str text = buf_str(&all), rest = text;
        size_t found = 0, bytes;
        while (found < count && (bytes = request_bytes(rest))) {
            requests[found++] = str_slice(rest, 0, bytes);
            rest = str_slice(rest, bytes, rest.len);
        }
        if (found == count) {
            CHECK_STR(rest, "");
            return text;
        }
        ssize_t n = recv(fd, buf_reserve(&all, 65536), 65536, 0);
        if (n <= 0)
            return STR("");
        all.len += (size_t)n;
    }
}

static str server_take(int fd)
{
    str request;
    return server_take_all(fd, &request, 1);
}

static void server_expect_end(int fd)
{
    char byte;
    CHECK_INT(recv(fd, &byte, 1, 0), 0);
}

static void server_send(int fd, str bytes)
{
    CHECK(send(fd, bytes.at, bytes.len, MSG_NOSIGNAL) == (ssize_t)bytes.len);
}

static void server_answer_as(int fd, const char *status, const char *more, const char *body)
{
    str text = json_of(body);

    server_send(fd, arena_printf(check_arena(),
                                 "HTTP/1.1 %s\r\nContent-Type: application/json\r\n%s"
                                 "Content-Length: %zu\r\n\r\n" STR_FMT,
                                 status, more, text.len, STR_ARG(text)));
}

static void server_answer(int fd, const char *status, const char *body)
{
    server_answer_as(fd, status, "", body);
}

static void server_stream(int fd)
{
    server_send(fd, STR("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n"));
}

static void server_event(int fd, const char *text)
{
    str data = json_of(text);

    server_send(fd, arena_printf(check_arena(), "%zx\r\ndata: " STR_FMT "\n\n\r\n", data.len + 8,
                                 STR_ARG(data)));
}

static void server_stream_end(int fd)
{
    server_send(fd, STR("0\r\n\r\n"));
}

/* ---- messages ---- */

#define META "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"
#define ASK(id) "{'jsonrpc':'2.0','id':" id ",'method':'tools/list','params':{" META "}}"
#define ANSWER(id) "{'jsonrpc':'2.0','id':" id ",'result':{}}"
#define OLD(id) "{'jsonrpc':'2.0','id':" id ",'method':'tools/list'}"
#define OPENING                                      \
    "{'jsonrpc':'2.0','id':0,'method':'initialize'," \
    "'params':{'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'old'}}}"
#define OPENED "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25'}}"
#define ANNOUNCED "{'jsonrpc':'2.0','method':'notifications/initialized'}"

/* ---- what is passed on ---- */

TEST(a_message_is_posted_with_what_http_is_to_know_of_it)
{
    struct rig r = rig_new();
    r.options.state_id = STR("wfstate_7");
    bridge_start(&r);
    say(&r, "{'jsonrpc':'2.0','id':'x','method':'tools/call',"
            "'params':{'name':'state_read','arguments':{}," META "}}");
    int fd = server_accept(&r);
    str request = server_take(fd);

    CHECK(str_starts(request, STR("POST /mcp HTTP/1.1\r\nHost: localhost\r\n")));
    HAS(request, "Authorization: Bearer ss_1.secret\r\n");
    HAS(request, "Accept: application/json, text/event-stream\r\n");
    HAS(request, "Content-Type: application/json\r\n");
    HAS(request, "MCP-Protocol-Version: 2026-07-28\r\n");
    HAS(request, "Mcp-Method: tools/call\r\n");
    HAS(request, "Mcp-Name: state_read\r\n");
    HAS(request, "X-Workflow-State-Id: wfstate_7\r\n");
    HAS(request, "Idempotency-Key: mcp-");
    HAS(request, "\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",");
    server_answer(fd, "200 OK", ANSWER("'x'"));
    HEARS(&r, ANSWER("'x'"));

    /* The connection is kept for the next. */
    say(&r, ASK("2"));
    request = server_take(fd);
    HAS(request, "Mcp-Method: tools/list\r\n");
    HAS_NOT(request, "Mcp-Name");
    server_answer(fd, "200 OK", "{'jsonrpc':'2.0',\n'id':2,'result':{}}");
    HEARS(&r, "{'jsonrpc':'2.0', 'id':2,'result':{}}");
    client_close(&r);
    rig_expect_end(&r);
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
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int first = server_accept(&r);
    HAS(server_take(first), "\"id\":1");
    say(&r, ASK("2"));
    int second = server_accept(&r);
    HAS(server_take(second), "\"id\":2");
    server_answer(second, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    server_answer(first, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

TEST(each_event_of_a_stream_is_a_line)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/progress'}");
    server_event(fd, "{'jsonrpc':'2.0',\ndata: 'id':1,'result':{}}");
    HEARS(&r, "{'jsonrpc':'2.0', 'id':1,'result':{}}");
    server_stream_end(fd);

    say(&r, ASK("2"));
    HAS(server_take(fd), "\"id\":2");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(a_notification_is_answered_by_nothing)
{
    struct rig r = rig_start();

    say(&r, "{'jsonrpc':'2.0','method':'notifications/x','params':{" META "}}");
    int fd = server_accept(&r);
    HAS(server_take(fd), "Mcp-Method: notifications/x\r\n");
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    say(&r, ASK("1"));
    HAS(server_take(fd), "\"id\":1");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

/* ---- what is not a message ---- */

TEST(a_line_that_is_no_message_is_refused_and_the_next_is_not)
{
    struct rig r = rig_start();

    say(&r, "{'jsonrpc'");
    HAS(hear(&r), "\"code\":-32700");
    say(&r, "[]");
    HAS(hear(&r), "\"code\":-32600");
    say(&r, "{'jsonrpc':'2.0','id':5,'method':7}");
    HAS(hear(&r), "\"id\":5,\"error\":{\"code\":-32600");
    say(&r, "");
    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

TEST(a_line_that_is_too_long_is_refused_by_its_id)
{
    struct rig r = rig_start();
    size_t size = 5 << 20;
    char *filling = arena_alloc(check_arena(), size);

    memset(filling, 'a', size);
    say_bytes(&r, STR("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\""));
    say_bytes(&r, (str){ filling, size });
    say_bytes(&r, STR("\"},\"id\":31}\n"));
    str line = hear(&r);
    HAS(line, "\"id\":31,\"error\":{\"code\":-32600");
    HAS(line, "expected at most 4194304 bytes");
    say(&r, ASK("1"));
    int fd = server_accept(&r);
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
    struct rig r = rig_start();
    int fd = -1;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say(&r, ASK("1"));
        fd = fd < 0 ? server_accept(&r) : fd;
        server_take(fd);
        server_answer(fd, cases[i].status, cases[i].body);
        HEARS(&r, cases[i].line);
    }
}

/* ---- a server that goes and comes ---- */

static str key_of(str request)
{
    const char *at = strstr(request.at, "Idempotency-Key: ");
    str line, rest;

    CHECK(at);
    str_cut(str_from(at), '\r', &line, &rest);
    return arena_copy(check_arena(), line);
}

TEST(what_was_not_answered_is_asked_again_under_the_same_key)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    str first = server_take(fd);
    close(fd);
    fd = server_accept(&r);
    str second = server_take(fd);
    CHECK_STR(key_of(second), key_of(first).at);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));

    /* One that was kept open and has been closed meanwhile costs no try. */
    close(fd);
    say(&r, ASK("2"));
    fd = server_accept(&r);
    CHECK(!str_eq(key_of(server_take(fd)), key_of(first)));
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(what_is_lost_again_and_again_is_told_so)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    for (int i = 0; i < BRIDGE_TRIES_MAX; i++) {
        int fd = server_accept(&r);
        server_take(fd);
        close(fd);
    }
    str line = hear(&r);
    HAS(line, "\"id\":1,\"error\":{\"code\":-31053");
    HAS(line, "may have been done");
}

TEST(without_a_server_requests_are_told_what_to_do_until_there_is_one)
{
    struct rig r = rig_new();
    server_end(&r);
    bridge_start(&r);

    say(&r, ASK("1"));
    HAS(hear(&r), "no server answers at BATON_URL unix:server.sock: start it");
    say(&r, ASK("2"));
    HAS(hear(&r), "\"id\":2,\"error\":{\"code\":-31053");
    server_listen(&r);
    say(&r, ASK("3"));
    int fd = server_accept(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));

    /* One that goes away and comes back in time is not noticed. */
    server_end(&r);
    close(fd);
    say(&r, ASK("4"));
    server_listen(&r);
    fd = server_accept(&r);
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
    struct rig r = rig_new();
    server_end(&r);
    r.options.data = "nothing";
    r.options.start = cannot_start;
    bridge_start(&r);
    say(&r, ASK("1"));
    HAS(hear(&r), "\"id\":1,\"error\":{\"code\":-31053,\"message\":\"cannot start one for nothing");
    say(&r, ASK("2"));
    HAS(hear(&r), "\"id\":2,\"error\":{\"code\":-31053");
    client_close(&r);
    rig_expect_end(&r);
}

TEST(a_server_that_is_silent_is_not_waited_for_without_end)
{
    struct rig r = rig_new();
    r.options.silence_ms = 50;
    bridge_start(&r);
    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    HAS(hear(&r), "\"id\":1,\"error\":{\"code\":-31053,\"message\":\"the server did not answer");
}

/* ---- older clients ---- */

/* Up to where it listens to the stream, whose connection is the answer. */
static int open_session(struct rig *r, int *stream, const char *session)
{
    str field = arena_printf(check_arena(), "Mcp-Session-Id: %s\r\n", session);

    say(r, OPENING);
    int fd = server_accept(r);
    str request = server_take(fd);
    HAS_NOT(request, "Mcp-Session-Id");
    HAS_NOT(request, "Mcp-Method");
    server_answer_as(fd, "200 OK", field.at, OPENED);
    HEARS(r, OPENED);

    say(r, ANNOUNCED);
    request = server_take(fd);
    HAS(request, "MCP-Protocol-Version: 2025-11-25\r\n");
    HAS(request, field.at);
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    request = server_take(fd);
    CHECK(str_starts(request, STR("GET /mcp HTTP/1.1\r\n")));
    HAS(request, "Accept: text/event-stream\r\n");
    HAS(request, field.at);
    *stream = fd;
    server_stream(fd);
    say(r, OLD("1"));
    fd = server_accept(r);
    HAS(server_take(fd), field.at);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(r, ANSWER("1"));
    return fd;
}

TEST(an_older_client_has_a_session_and_a_stream)
{
    struct rig r = rig_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    server_event(stream, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}\nid: 7");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");

    /* What it answers to a request of the server is passed on. */
    say(&r, "{'jsonrpc':'2.0','id':'s1','result':{}}");
    HAS(server_take(fd), "Mcp-Session-Id: one\r\n");
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));

    /* A stream that ends is opened again, from where it was. */
    server_stream_end(stream);
    close(stream);
    HAS(server_take(fd), "Last-Event-ID: 7\r\n");
    server_stream(fd);

    client_close(&r);
    int last = server_accept(&r);
    HAS(server_take(last), "DELETE /mcp HTTP/1.1\r\n");
    server_answer(last, "200 OK", "{}");
    rig_expect_end(&r);
}

TEST(a_session_that_the_server_has_forgotten_is_begun_again_in_silence)
{
    struct rig r = rig_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    say(&r, OLD("2"));
    str lost = server_take(fd);
    server_answer(fd, "404 Not found", "{'title':'Not found','detail':'no such session'}");
    HAS(server_take(fd), "\"method\":\"initialize\"");
    server_answer_as(fd, "200 OK", "Mcp-Session-Id: two\r\n", OPENED);
    HAS(server_take(fd), "\"method\":\"notifications/initialized\"");
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    str again = server_take(fd);
    HAS(again, "Mcp-Session-Id: two\r\n");
    CHECK_STR(key_of(again), key_of(lost).at);
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(what_a_client_wants_to_hear_of_is_asked_for_again_with_its_session)
{
    struct rig r = rig_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    say(&r, "{'jsonrpc':'2.0','id':2,'method':'resources/subscribe','params':{'uri':'a:1'}}");
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
    say(&r, OLD("3"));
    server_take(fd);
    server_answer(fd, "404 Not found", "{}");
    HAS(server_take(fd), "\"method\":\"initialize\"");
    server_answer_as(fd, "200 OK", "Mcp-Session-Id: two\r\n", OPENED);
    server_take(fd);
    server_send(fd, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    HAS(server_take(fd), "\"id\":3");
    int other = server_accept(&r);
    str request = server_take(other);
    HAS(request, "Mcp-Session-Id: two\r\n");
    HAS(request, "\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:1\"}");
    server_answer(other, "200 OK", ANSWER("2"));
    server_answer(fd, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));
}

/* ---- behind each other ---- */

#define CANCEL(id) \
    "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':" id "}}"
#define CALL(id, name, arguments)                                                \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'" name \
    "','arguments':{" arguments "}," META "}}"

/* As a client writes them that has several at once. */
static void say_together(struct rig *r, const char *const *lines, size_t count)
{
    struct buf all = buf_in(check_arena());

    for (size_t i = 0; i < count; i++) {
        buf_add(&all, json_of(lines[i]));
        buf_byte(&all, '\n');
    }
    say_bytes(r, buf_str(&all));
}

static const char *const three[] = { ASK("1"), ASK("2"), ASK("3") };

static int take_three(struct rig *r, str requests[3])
{
    say_together(r, three, 3);
    int fd = server_accept(r);
    CHECK(server_take_all(fd, requests, 3).len);
    return fd;
}

static str answer_text(const char *more, const char *body)
{
    str text = json_of(body);

    return arena_printf(check_arena(),
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s"
                        "Content-Length: %zu\r\n\r\n" STR_FMT,
                        more, text.len, STR_ARG(text));
}

TEST(what_is_asked_together_is_sent_and_answered_on_one_connection)
{
    struct rig r = rig_start();
    str requests[3];
    int fd = take_three(&r, requests);
    struct buf answers = buf_in(check_arena());

    HAS(requests[0], "\"id\":1");
    HAS(requests[1], "\"id\":2");
    HAS(requests[2], "\"id\":3");
    CHECK(!str_eq(key_of(requests[0]), key_of(requests[1])));
    buf_add(&answers, answer_text("", ANSWER("1")));
    buf_add(&answers, answer_text("", ANSWER("2")));
    buf_add(&answers, answer_text("", ANSWER("3")));
    str all = buf_str(&answers);
    size_t cut = all.len / 2; /* in the middle of the second one */
    server_send(fd, str_slice(all, 0, cut));
    HEARS(&r, ANSWER("1"));
    server_send(fd, str_slice(all, cut, all.len));
    HEARS(&r, ANSWER("2"));
    HEARS(&r, ANSWER("3"));

    /* And it is kept. */
    say(&r, ASK("4"));
    HAS(server_take(fd), "\"id\":4");
    server_answer(fd, "200 OK", ANSWER("4"));
    HEARS(&r, ANSWER("4"));
    CHECK(!readable(r.listener, 0));
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
        struct rig r = rig_new();
        str requests[2], other;
        r.options.drain_ms = 1;
        bridge_start(&r);
        say_together(&r, (const char *[]){ CALL("1", "state_read", ""), alone[i], ASK("3") }, 3);
        int shared = server_accept(&r), own = server_accept(&r);
        CHECK(server_take_all(shared, requests, 2).len);
        HAS(requests[0], "\"id\":1");
        HAS(requests[1], "\"id\":3");
        CHECK(server_take_all(own, &other, 1).len);
        HAS(other, "\"id\":2");
        kill(r.pid, SIGTERM);
        rig_expect_end(&r);
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
    enum { ALL = 40, ON_ONE = 32 };
    struct rig r = rig_start();
    const char *lines[ALL];
    str requests[ON_ONE];

    for (int i = 0; i < ALL; i++)
        lines[i] = arena_printf(check_arena(), ASK("%d"), i).at;
    say_together(&r, lines, ALL);
    CHECK(server_take_all(server_accept(&r), requests, ON_ONE).len);
    HAS(requests[ON_ONE - 1], "\"id\":31");
    CHECK(server_take_all(server_accept(&r), requests, ALL - ON_ONE).len);
    HAS(requests[0], "\"id\":32");
}

TEST(what_is_behind_the_last_answer_of_a_connection_is_asked_again_under_its_key)
{
    static const char *const fields[] = { "", "Connection: close\r\n" };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct rig r = rig_start();
        str first[3], again[2];
        int fd = take_three(&r, first);
        server_send(fd, answer_text(fields[i], ANSWER("1")));
        HEARS(&r, ANSWER("1"));
        if (!*fields[i])
            close(fd);
        fd = server_accept(&r);
        CHECK(server_take_all(fd, again, 2).len);
        CHECK_STR(key_of(again[0]), key_of(first[1]).at);
        CHECK_STR(key_of(again[1]), key_of(first[2]).at);
        server_send(fd, answer_text("", ANSWER("2")));
        server_send(fd, answer_text("", ANSWER("3")));
        HEARS(&r, ANSWER("2"));
        HEARS(&r, ANSWER("3"));
        client_close(&r);
        rig_expect_end(&r);
        server_end(&r);
    }
}

TEST(a_request_whose_answer_breaks_off_does_not_cost_those_behind_it)
{
    struct rig r = rig_start();
    str requests[3];

    for (int i = 0; i < BRIDGE_TRIES_MAX; i++) {
        int fd = i ? server_accept(&r) : take_three(&r, requests);
        if (i) /* those behind it are answered at once; it rests before it comes again */
            CHECK(server_take_all(fd, requests, 1).len);
        HAS(requests[0], "\"id\":1");
        server_send(fd, STR("HTTP/1.1 200 OK\r\nConte"));
        close(fd);
        if (i)
            continue;
        fd = server_accept(&r);
        CHECK(server_take_all(fd, requests, 2).len);
        server_send(fd, answer_text("", ANSWER("2")));
        server_send(fd, answer_text("", ANSWER("3")));
        HEARS(&r, ANSWER("2"));
        HEARS(&r, ANSWER("3"));
        close(fd);
    }
    HAS(hear(&r), "\"id\":1,\"error\":{\"code\":-31053");
}

TEST(what_is_behind_a_stream_is_asked_elsewhere)
{
    struct rig r = rig_start();
    str first[3], again;
    int fd = take_three(&r, first);

    server_send(fd, answer_text("", ANSWER("1")));
    server_stream(fd); /* of which nothing has come yet */
    HEARS(&r, ANSWER("1"));
    int other = server_accept(&r);
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
    HAS(server_take(other), "\"id\":4");
}

TEST(the_answer_to_one_that_was_cancelled_among_others_is_dropped)
{
    struct rig r = rig_start();
    str requests[3];
    int fd = take_three(&r, requests);

    say(&r, CANCEL("2"));
    say(&r, ASK("9"));
    int other = server_accept(&r); /* now the bridge knows of it */
    server_take(other);
    server_send(fd, answer_text("", ANSWER("1")));
    server_send(fd, answer_text("", ANSWER("2")));
    server_send(fd, answer_text("", ANSWER("3")));
    HEARS(&r, ANSWER("1"));
    HEARS(&r, ANSWER("3"));
    server_answer(other, "200 OK", ANSWER("9"));
    HEARS(&r, ANSWER("9"));
}

TEST(one_that_was_cancelled_is_not_asked_again_with_the_others)
{
    struct rig r = rig_start();
    str requests[3], again;
    int fd = take_three(&r, requests);

    say(&r, CANCEL("2"));
    say(&r, ASK("9"));
    int other = server_accept(&r);
    server_take(other);
    server_send(fd, answer_text("Connection: close\r\n", ANSWER("1")));
    HEARS(&r, ANSWER("1"));
    fd = server_accept(&r);
    CHECK(server_take_all(fd, &again, 1).len);
    CHECK_STR(key_of(again), key_of(requests[2]).at);
}

TEST(a_server_that_is_silent_is_told_to_all_who_wait_on_a_connection)
{
    struct rig r = rig_new();
    str requests[3];
    r.options.silence_ms = 50;
    bridge_start(&r);
    int fd = take_three(&r, requests);

    HAS(hear(&r), "\"id\":1,\"error\":{\"code\":-31053,\"message\":\"the server did not answer");
    HAS(hear(&r), "\"id\":2,\"error\":{\"code\":-31053");
    HAS(hear(&r), "\"id\":3,\"error\":{\"code\":-31053");
    server_expect_end(fd);
}

/* A server that works on one after the other works on several at once if they come apart. */
TEST(after_answers_that_came_one_by_one_requests_go_apart)
{
    struct rig r = rig_start();
    str requests[3];
    int fd = take_three(&r, requests);

    server_send(fd, answer_text("", ANSWER("1")));
    HEARS(&r, ANSWER("1"));
    server_send(fd, answer_text("", ANSWER("2")));
    HEARS(&r, ANSWER("2"));
    server_send(fd, answer_text("", ANSWER("3")));
    HEARS(&r, ANSWER("3"));
    say_together(&r, (const char *[]){ ASK("4"), ASK("5") }, 2);
    HAS(server_take(fd), "\"id\":4");
    HAS(server_take(server_accept(&r)), "\"id\":5");
}

TEST(a_stream_in_many_pieces_sets_nothing_apart)
{
    struct rig r = rig_start();
    str requests[3];

    say(&r, ASK("0"));
    int fd = server_accept(&r);
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

TEST(a_session_that_is_forgotten_by_many_answers_is_begun_again_once)
{
    struct rig r = rig_start();
    int stream;
    int fd = open_session(&r, &stream, "one");
    str requests[3];

    say_together(&r, (const char *[]){ OLD("2"), OLD("3"), OLD("4") }, 3);
    CHECK(server_take_all(fd, requests, 3).len);
    server_answer(fd, "404 Not found", "{}");
    int other = server_accept(&r); /* while others are still to be answered */
    HAS(server_take(other), "\"method\":\"initialize\"");
    server_answer(fd, "404 Not found", "{}");
    server_answer_as(other, "200 OK", "Mcp-Session-Id: two\r\n", OPENED);
    HAS(server_take(other), "\"method\":\"notifications/initialized\"");
    server_send(other, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    CHECK(server_take_all(other, requests, 2).len);
    HAS(requests[0], "Mcp-Session-Id: two\r\n");
    HAS(requests[0], "\"id\":2");
    HAS(requests[1], "\"id\":3");
    server_send(other, answer_text("", ANSWER("2")));
    server_send(other, answer_text("", ANSWER("3")));
    HEARS(&r, ANSWER("2"));
    HEARS(&r, ANSWER("3"));

    /* One that is late to say so says nothing new. */
    server_answer(fd, "404 Not found", "{}");
    str last = server_take(other);
    HAS(last, "Mcp-Session-Id: two\r\n");
    HAS(last, "\"id\":4");
}

TEST(what_is_asked_together_is_answered_after_the_end_of_input)
{
    struct rig r = rig_start();
    str requests[3];
    int fd = take_three(&r, requests);

    client_close(&r);
    server_send(fd, answer_text("", ANSWER("1")));
    HEARS(&r, ANSWER("1"));
    server_send(fd, answer_text("", ANSWER("2")));
    server_send(fd, answer_text("", ANSWER("3")));
    HEARS(&r, ANSWER("2"));
    HEARS(&r, ANSWER("3"));
    rig_expect_end(&r);
}

TEST(what_was_asked_together_and_is_not_answered_does_not_keep_it)
{
    struct rig r = rig_new();
    str requests[3];
    r.options.drain_ms = 20;
    bridge_start(&r);
    take_three(&r, requests);
    client_close(&r);
    HAS(hear(&r), "\"id\":1,\"error\"");
    HAS(hear(&r), "\"id\":2,\"error\"");
    HAS(hear(&r), "\"id\":3,\"error\"");
    rig_expect_end(&r);
}

/* ---- cancelling ---- */

TEST(cancelling_closes_the_connection_of_a_request)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    say(&r, CANCEL("1"));
    server_expect_end(fd); /* its end */
    say(&r, ASK("2"));
    fd = server_accept(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));
}

TEST(cancelling_is_passed_on_for_an_older_client)
{
    struct rig r = rig_start();
    int stream;
    int fd = open_session(&r, &stream, "one");

    say(&r, OLD("2"));
    server_take(fd);
    say(&r, CANCEL("2"));
    int other = server_accept(&r);
    HAS(server_take(other), "notifications/cancelled");
    server_send(other, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    close(fd); /* it is not asked again */
    say(&r, OLD("3"));
    HAS(server_take(other), "\"id\":3");
    server_answer(other, "200 OK", ANSWER("3"));
    HEARS(&r, ANSWER("3"));
}

/* ---- listening ---- */

TEST(a_restart_is_nothing_that_a_listener_hears_of)
{
    struct rig r = rig_start();

    say(&r, "{'jsonrpc':'2.0','id':'l','method':'subscriptions/listen','params':{" META "}}");
    int fd = server_accept(&r);
    server_take(fd);
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged'}");
    server_event(fd, "{'jsonrpc':'2.0','id':'l','result':{}}");
    server_stream_end(fd);
    HAS(server_take(fd), "subscriptions/listen");
    close(fd);

    fd = server_accept(&r);
    HAS(server_take(fd), "subscriptions/listen");
    server_stream(fd);
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged'}");
    server_event(fd, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    HEARS(&r, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
}

/* ---- who it is ---- */

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
    int fd = server_accept(&r);
    str request = server_take(fd);
    HAS(request, "POST /tokens HTTP/1.1\r\n");
    HAS(request, "Authorization: Bearer op_1.secret\r\n");
    HAS(request, "\"kind\":\"session\"");
    HAS(request, "\"scope\":{\"session_id\":\"claude-0f1e2d3c-aaaa\"}");
    server_answer(fd, "201 Created", MINTED);
    request = server_take(fd);
    HAS(request, "POST /mcp HTTP/1.1\r\n");
    HAS(request, "Authorization: Bearer ss_9.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));

    /* There is a session from its first tool on. */
    say(&r, USE);
    request = server_take(fd);
    HAS(request, "POST /sessions HTTP/1.1\r\n");
    HAS(request, "Authorization: Bearer op_1.secret\r\n");
    HAS(request, "\"session_name\":\"claude-my-shop-0f1e2d3c\"");
    HAS(request, "\"project_dir\":\"/home/ada/my shop/\"");
    server_answer(fd, "409 Conflict", "{'title':'Conflict','detail':'it is there'}");
    HAS(server_take(fd), "Authorization: Bearer ss_9.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("2"));
    HEARS(&r, ANSWER("2"));

    client_close(&r);
    request = server_take(fd);
    HAS(request, "DELETE /tokens/ss_9 HTTP/1.1\r\n");
    HAS(request, "Authorization: Bearer op_1.secret\r\n");
    server_send(fd, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    rig_expect_end(&r);
}

TEST(a_token_that_is_not_taken_any_more_is_replaced)
{
    struct rig r = rig_by_hand();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    server_answer(fd, "201 Created", MINTED);
    server_take(fd);
    server_answer_as(fd, "401 Unauthorized", "Connection: close\r\n", "{}");
    close(fd);
    fd = server_accept(&r);
    HAS(server_take(fd), "POST /tokens HTTP/1.1\r\n");
    server_answer(fd, "201 Created", "{'token_id':'ss_10','token':'ss_10.secret'}");
    HAS(server_take(fd), "Authorization: Bearer ss_10.secret\r\n");
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
}

TEST(where_no_token_can_be_minted_the_one_there_is_is_used)
{
    struct rig r = rig_by_hand();

    say(&r, USE);
    int fd = server_accept(&r);
    server_take(fd);
    server_answer(fd, "403 Forbidden", "{'title':'Forbidden','detail':'no'}");
    HAS(server_take(fd), "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
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

/* ---- the end ---- */

TEST(what_is_in_flight_when_the_input_ends_is_answered)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    client_close(&r);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    rig_expect_end(&r);
}

TEST(what_is_not_answered_does_not_keep_it)
{
    struct rig r = rig_new();
    r.options.drain_ms = 20;
    bridge_start(&r);
    say(&r, ASK("1"));
    server_take(server_accept(&r));
    client_close(&r);
    rig_expect_end(&r);
}

TEST(a_signal_ends_it)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    server_answer(fd, "200 OK", ANSWER("1"));
    HEARS(&r, ANSWER("1"));
    kill(r.pid, SIGTERM);
    rig_expect_end(&r);
}

TEST(a_client_that_is_gone_ends_it)
{
    struct rig r = rig_start();

    say(&r, ASK("1"));
    int fd = server_accept(&r);
    server_take(fd);
    close(r.out);
    server_answer(fd, "200 OK", ANSWER("1"));
    rig_expect_end(&r);
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
