/* mcp_load.c: clients of MCP that call one tool as fast as they are answered. */
#define _GNU_SOURCE
#include "bench/mcp_load.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/team_load.h"
#include "bench/measure.h"
#include "bench/set.h"

#define INITIALIZE                                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

enum { SAMPLES_MAX = 1 << 18, MESSAGE_MAX = 512 };

const char *mcp_session_token(struct arena *a, const struct target *t, const char *name)
{
    struct api_client k = api_client_new(t->port);
    const struct json *session =
        api_client_must(&k, t->token, "GET", arena_printf(k.arena, "/sessions/%s", name), STR(""));
    const struct json *made = api_client_must(
        &k, t->token, "POST", STR("/tokens"),
        arena_printf(k.arena, "{\"kind\":\"session\",\"scope\":{\"session_id\":\"" STR_FMT "\"}}",
                     STR_ARG(json_str(session, "session_id"))));
    const char *token = arena_copy(a, json_str(made, "token")).at;

    api_client_free(&k);
    return token;
}

/* ---- messages ---- */

static int call_print(char text[MESSAGE_MAX], uint64_t id, bool modern)
{
    static const char meta[] =
        ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}";

    return snprintf(text, MESSAGE_MAX,
                    "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"tools/call\",\"params\":"
                    "{\"name\":\"state_read\",\"arguments\":{}%s}}",
                    (unsigned long long)id, modern ? meta : "");
}

/* ---- over HTTP ---- */

/* All of the head but what tells of the session. */
static void head_add(struct buf *out, const struct mcp_clients *c, size_t body_bytes)
{
    buf_printf(out,
               "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
               "Accept: application/json, text/event-stream\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n",
               c->token, body_bytes);
}

static void session_add(struct buf *out, const struct mcp_clients *c, uint32_t connection)
{
    buf_printf(out, "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " STR_FMT "\r\n",
               STR_ARG(c->sessions[connection]));
}

void mcp_clients_request(void *self, struct buf *out, uint32_t connection, uint64_t n)
{
    const struct mcp_clients *c = self;
    char text[MESSAGE_MAX];
    int bytes = call_print(text, n + 1, c->modern);

    head_add(out, c, (size_t)bytes);
    if (c->modern)
        buf_add(out, STR("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                         "Mcp-Name: state_read\r\n"));
    else
        session_add(out, c, connection);
    buf_add(out, STR("\r\n"));
    buf_add(out, (str){ text, (size_t)bytes });
}

/* The id is in the head of the answer, whose end is that of the connection. */
static str session_begin(const struct mcp_clients *c, struct arena *a, int port)
{
    struct buf request = buf_in(a), answer = buf_in(a);
    int fd = load_connect(port);
    ssize_t got;

    head_add(&request, c, strlen(INITIALIZE));
    buf_add(&request, STR("Connection: close\r\n\r\n" INITIALIZE));
    load_ask(fd, buf_str(&request));
    while ((got = recv(fd, buf_reserve(&answer, MCP_ROOM), MCP_ROOM, 0)) > 0)
        answer.len += (size_t)got;
    close(fd);
    str text = buf_str(&answer), id;
    const char *field = strcasestr(text.at, "\r\nmcp-session-id:");
    if (!field)
        fail("no session was begun", text);
    str_cut(str_slice(text, (size_t)(field - text.at) + 17, text.len), '\r', &id, &text);
    return str_trim(id);
}

static str ask(const struct mcp_clients *c, struct arena *a, int port, uint32_t connection,
               str message)
{
    struct buf request = buf_in(a);
    str body;

    head_add(&request, c, message.len);
    session_add(&request, c, connection);
    buf_add(&request, STR("\r\n"));
    buf_add(&request, message);
    int status = load_once(a, port, buf_str(&request), &body);
    if (status < 200 || status > 299)
        fail("a message was refused", body);
    return body;
}

void mcp_clients_begin(struct mcp_clients *c, struct arena *a, int port, uint32_t count)
{
    struct arena *scratch = arena_new();

    c->sessions = ARENA_ARRAY(a, str, count);
    for (uint32_t i = 0; i < count; i++) {
        c->sessions[i] = arena_copy(a, session_begin(c, scratch, port));
        ask(c, scratch, port, i, STR(INITIALIZED));
        arena_reset(scratch);
    }
    arena_free(scratch);
}

const struct json *mcp_clients_ask(const struct mcp_clients *c, struct arena *a, int port,
                                   const char *method, str params)
{
    str message =
        arena_printf(a, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":" STR_FMT "}",
                     method, STR_ARG(params));
    str body = ask(c, a, port, 0, message);
    const struct json *result = json_get(parsed(a, body), "result");

    if (!result || json_bool_or(result, "isError", false))
        fail(method, body);
    return result;
}

/* ---- over pipes ---- */

static void put(struct mcp_pipe *p, str text)
{
    while (text.len) {
        ssize_t sent = write(p->to, text.at, text.len);
        if (sent <= 0)
            fail("writing to a program that speaks MCP", str_from(strerror(errno)));
        text = str_slice(text, (size_t)sent, text.len);
    }
}

/* More of what comes back. */
static str get(struct mcp_pipe *p)
{
    ssize_t got = read(p->from, p->room + p->len, MCP_ROOM - p->len);

    if (got <= 0)
        fail("a program that speaks MCP", str_from(got ? strerror(errno) : "has ended"));
    str more = { p->room + p->len, (size_t)got };
    p->len += (size_t)got;
    return more;
}

/* A line by itself, which nothing comes after until it is answered. */
static void ask_line(struct mcp_pipe *p, str message)
{
    put(p, message);
    put(p, STR("\n"));
    while (p->len == 0 || p->room[p->len - 1] != '\n')
        get(p);
    p->room[p->len] = '\0';
    if (!strstr(p->room, "\"result\"") || strstr(p->room, "\"isError\""))
        fail("unexpected answer", str_from(p->room));
    p->answer_bytes = p->len;
    p->len = 0;
}

static void calls_put(struct mcp_pipe *p, uint32_t count)
{
    p->lines.len = 0;
    while (count-- > 0) {
        char *at = buf_reserve(&p->lines, MESSAGE_MAX);
        p->lines.len += (size_t)call_print(at, ++p->calls, false);
        buf_byte(&p->lines, '\n');
    }
    put(p, (str){ p->lines.at, p->lines.len });
}

/* Waits for answers: how many. */
static uint32_t answers_get(struct mcp_pipe *p)
{
    uint32_t count = 0;

    while (count == 0) {
        for (str rest = get(p), line; str_cut(rest, '\n', &line, &rest);)
            count++;
        p->len = 0;
    }
    return count;
}

struct mcp_pipe mcp_pipe_start(const char *const *words)
{
    struct arena *a = arena_new();
    struct mcp_pipe p = { .arena = a, .lines = buf_in(a), .room = mem_alloc(MCP_ROOM + 1) };
    char text[MESSAGE_MAX];
    int to[2], from[2];

    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        fail("a pipe", str_from(strerror(errno)));
    p.pid = fork();
    if (p.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    p.to = to[1];
    p.from = from[0];
    ask_line(&p, STR(INITIALIZE));
    put(&p, STR(INITIALIZED "\n"));
    int bytes = call_print(text, ++p.calls, false);
    ask_line(&p, (str){ text, (size_t)bytes });
    return p;
}

void mcp_pipe_stop(struct mcp_pipe *p)
{
    close(p->to);
    waitpid(p->pid, NULL, 0);
    close(p->from);
    mem_free(p->room);
    arena_free(p->arena);
}

static double cpu_s(const struct mcp_pipe *p, pid_t server)
{
    return process_cpu_s(p->pid) + (server ? process_cpu_s(server) : 0);
}

/* Answers are counted until a time; the calls that are under way then are left to be answered. */
static uint64_t keep_asking(struct mcp_pipe *p, double until, double *samples, uint64_t *sampled)
{
    uint64_t answered = 0;
    double now = now_s();

    while (now < until) {
        double asked = now;
        uint32_t count = answers_get(p);
        answered += count;
        calls_put(p, count);
        now = now_s();
        if (sampled && *sampled < SAMPLES_MAX)
            samples[(*sampled)++] = (now - asked) * 1e6;
    }
    return answered;
}

struct load_result mcp_pipe_run(struct mcp_pipe *p, pid_t server, uint32_t under_way,
                                double seconds)
{
    struct load_result r = { .p50_us = NAN, .p99_us = NAN, .max_us = NAN };
    double *samples = mem_alloc(SAMPLES_MAX * sizeof *samples);
    uint64_t sampled = 0;

    calls_put(p, under_way);
    keep_asking(p, now_s() + seconds * 0.1, NULL, NULL);
    double began = now_s(), cpu_began = cpu_s(p, server);
    r.requests = keep_asking(p, began + seconds, samples, under_way == 1 ? &sampled : NULL);
    r.seconds = now_s() - began;
    r.cpu_us = (cpu_s(p, server) - cpu_began) * 1e6 / (double)r.requests;
    for (uint32_t left = under_way; left > 0;)
        left -= answers_get(p);
    figures_sort(samples, sampled);
    if (sampled) {
        r.p50_us = samples[sampled / 2];
        r.p99_us = samples[sampled * 99 / 100];
        r.max_us = samples[sampled - 1];
    }
    mem_free(samples);
    return r;
}
