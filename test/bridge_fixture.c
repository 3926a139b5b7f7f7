/* bridge_fixture.c: MCP over stdio between a client and a server that the test plays both. */
#define _GNU_SOURCE
#include "bridge_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

/* ---- the bridge, and both its ends ---- */

void server_listen(struct bridge_fixture *r)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "server.sock" };

    unlink("server.sock");
    r->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(listen(r->listener, 64) == 0);
}

void server_end(struct bridge_fixture *r)
{
    close(r->listener);
    r->listener = -1;
    unlink("server.sock");
}

void bridge_start(struct bridge_fixture *r)
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

struct bridge_fixture bridge_fixture_new(void)
{
    struct bridge_fixture r = { .listener = -1, .options = { .pause_ms = 20, .down_ms = 300 } };

    setenv("BATON_URL", "unix:server.sock", 1);
    setenv("BATON_TOKEN", "ss_1.secret", 1);
    unsetenv("BATON_TOKEN_FILE");
    unsetenv("CLAUDE_CODE_SESSION_ID");
    unsetenv("CLAUDE_PROJECT_DIR");
    server_listen(&r);
    return r;
}

struct bridge_fixture bridge_fixture_start(void)
{
    struct bridge_fixture r = bridge_fixture_new();
    bridge_start(&r);
    return r;
}

void bridge_expect_end(struct bridge_fixture *r)
{
    int status;

    CHECK(waitpid(r->pid, &status, 0) == r->pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

void client_close(struct bridge_fixture *r)
{
    close(r->in);
    r->in = -1;
}

/* ---- the client ---- */

void say_bytes(struct bridge_fixture *r, str bytes)
{
    while (bytes.len) {
        ssize_t n = write(r->in, bytes.at, bytes.len);
        CHECK(n > 0);
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
}

void say(struct bridge_fixture *r, const char *text)
{
    say_bytes(r, quotes_double(check_arena(), text));
    say_bytes(r, STR("\n"));
}

void say_together(struct bridge_fixture *r, const char *const *lines, size_t count)
{
    struct buf all = buf_in(check_arena());

    for (size_t i = 0; i < count; i++) {
        buf_add(&all, quotes_double(check_arena(), lines[i]));
        buf_byte(&all, '\n');
    }
    say_bytes(r, buf_str(&all));
}

static bool readable(int fd, int ms)
{
    return poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, ms) == 1;
}

str hear(struct bridge_fixture *r)
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

/* ---- the server ---- */

int server_connected(struct bridge_fixture *r)
{
    struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };

    if (!readable(r->listener, PATIENCE_MS))
        check_fail(__FILE__, __LINE__, "nobody connected");
    int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

void server_expect_nobody(struct bridge_fixture *r)
{
    CHECK(!readable(r->listener, 0));
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

str server_take_all(int fd, str *requests, size_t count)
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

str server_take(int fd)
{
    str request;
    return server_take_all(fd, &request, 1);
}

str key_of(str request)
{
    const char *at = strstr(request.at, "Idempotency-Key: ");
    str line, rest;

    CHECK(at);
    str_cut(str_from(at), '\r', &line, &rest);
    return arena_copy(check_arena(), line);
}

void server_expect_end(int fd)
{
    char byte;
    CHECK_INT(recv(fd, &byte, 1, 0), 0);
}

void server_send(int fd, str bytes)
{
    CHECK(send(fd, bytes.at, bytes.len, MSG_NOSIGNAL) == (ssize_t)bytes.len);
}

str answer_text(const char *status, const char *more, const char *body)
{
    str text = quotes_double(check_arena(), body);

    return arena_printf(check_arena(),
                        "HTTP/1.1 %s\r\nContent-Type: application/json\r\n%s"
                        "Content-Length: %zu\r\n\r\n" STR_FMT,
                        status, more, text.len, STR_ARG(text));
}

void server_answer_as(int fd, const char *status, const char *more, const char *body)
{
    server_send(fd, answer_text(status, more, body));
}

void server_answer(int fd, const char *status, const char *body)
{
    server_answer_as(fd, status, "", body);
}

void server_stream(int fd)
{
    server_send(fd, STR("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n"));
}

void server_event(int fd, const char *text)
{
    str data = quotes_double(check_arena(), text);

    server_send(fd, arena_printf(check_arena(), "%zx\r\ndata: " STR_FMT "\n\n\r\n", data.len + 8,
                                 STR_ARG(data)));
}

void server_stream_end(int fd)
{
    server_send(fd, STR("0\r\n\r\n"));
}
