/* mcp_stdio_test.c: baton mcp as a process between an agent and a server that comes and goes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "black/black.h"

enum { PATIENCE_MS = 20000, CROWD = 300 };

#define META                                                           \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
    "'io.modelcontextprotocol/clientCapabilities':{}}"

/* ---- the bridge ---- */

struct bridge {
    pid_t pid;
    int in, out;
    str rest;
};

/* It is told where the server is, and so starts none; the token is the operator's, as for an agent
 * that a person has started. */
static struct bridge bridge_start(const struct black *b)
{
    struct bridge r = { .rest = STR("") };
    const char *path = black_program();
    int in[2], out[2];

    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    r.pid = fork();
    CHECK(r.pid >= 0);
    if (r.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("BATON_URL", arena_printf(check_arena(), "unix:%s/baton.sock", b->data).at, 1);
        setenv("BATON_DATA", b->data, 1);
        setenv("CLAUDE_CODE_SESSION_ID", "11112222-aaaa", 1);
        unsetenv("BATON_TOKEN");
        unsetenv("BATON_TOKEN_FILE");
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(open("bridge.log", O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
        execl(path, "baton", "mcp", NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    r.in = in[1];
    r.out = out[0];
    return r;
}

static void say(struct bridge *r, const char *text)
{
    str line = quotes_double(check_arena(), text);

    CHECK(write(r->in, line.at, line.len) == (ssize_t)line.len && write(r->in, "\n", 1) == 1);
}

static const struct json *hear(struct bridge *r)
{
    struct buf all = buf_in(check_arena());
    str line;

    buf_add(&all, r->rest);
    while (!str_cut(buf_str(&all), '\n', &line, &r->rest)) {
        if (poll(&(struct pollfd){ r->out, POLLIN, 0 }, 1, PATIENCE_MS) != 1)
            check_fail(__FILE__, __LINE__, "no line came; it said:\n%s",
                       check_read("bridge.log").at);
        ssize_t n = read(r->out, buf_reserve(&all, 65536), 65536);
        CHECK(n > 0);
        all.len += (size_t)n;
    }
    return json_parsed(check_arena(), line);
}

/* What a tool answers … */
static const struct json *use(struct bridge *r, const char *tool, const char *arguments)
{
    say(r, arena_printf(check_arena(),
                        "{'jsonrpc':'2.0','id':'u','method':'tools/call','params':"
                        "{'name':'%s','arguments':%s," META "}}",
                        tool, arguments)
               .at);
    const struct json *result = json_get(hear(r), "result");
    CHECK(result);
    return result;
}

/* … whose first text is JSON. */
static const struct json *read_of(const struct json *result)
{
    return json_parsed(check_arena(), json_str(json_at(json_get(result, "content"), 0), "text"));
}

static void bridge_end(struct bridge *r)
{
    int status;

    close(r->in);
    CHECK(waitpid(r->pid, &status, 0) == r->pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- an agent's life ---- */

TEST_LIMIT(an_agent_creates_reads_and_repairs_a_state_over_stdio, 60)
{
    struct black b = { .port = 0 };
    black_start(&b);
    black_add_schema(&b);
    struct bridge r = bridge_start(&b);

    const struct json *made =
        use(&r, "state_create", "{'schema_name':'any','initial_data':{'n':1}}");
    str id = json_str(read_of(made), "state_id");
    CHECK(id.len > 0);
    const struct json *patched =
        use(&r, "state_patch",
            "{'operations':[{'op':'replace','path':'/n','value':2}],'expected_version':1}");
    CHECK(!json_bool_or(patched, "isError", false));
    const struct json *stale =
        use(&r, "state_patch",
            "{'operations':[{'op':'replace','path':'/n','value':3}],'expected_version':1}");
    CHECK(json_bool_or(stale, "isError", false));
    const struct json *read = read_of(use(&r, "state_read", "{}"));
    CHECK_INT(json_int_or(read, "version", 0), 2);

    /* It acts as a session of its own, and leaves no token behind. */
    const struct json *session = black_expect(&b, 200, "GET /sessions/claude-11112222-aaaa", "");
    CHECK_STR(json_str(session, "workflow_state_id"), arena_copy(check_arena(), id).at);
    bridge_end(&r);
    const struct json *tokens = json_get(black_expect(&b, 200, "GET /tokens", ""), "tokens");
    int sessions = 0;
    for (uint32_t i = 0; i < tokens->len; i++) {
        const struct json *t = &tokens->items[i];
        if (!str_eq(json_str(t, "kind"), STR("session")))
            continue;
        sessions++;
        CHECK(json_is(json_get(t, "revoked_at"), JSON_STRING));
    }
    CHECK_INT(sessions, 1);
    black_stop(&b);
}

/* ---- a server that comes and goes ---- */

/* Each write is asked for while the server is killed somewhere, and happens once. */
TEST_LIMIT(writes_happen_once_however_often_the_server_is_killed, 120)
{
    struct black b = { .port = 0 };
    black_start(&b);
    black_add_schema(&b);
    struct bridge r = bridge_start(&b);
    int rounds = 4 * black_times();

    use(&r, "state_create", "{'schema_name':'any','initial_data':{'all':[]}}");
    for (int i = 0; i < rounds; i++) {
        say(&r, arena_printf(check_arena(),
                             "{'jsonrpc':'2.0','id':%d,'method':'tools/call','params':"
                             "{'name':'state_patch','arguments':{'operations':"
                             "[{'op':'add','path':'/all/-','value':%d}]}," META "}}",
                             i, i)
                    .at);
        black_kill(&b);
        black_start(&b);
        const struct json *answer = hear(&r);
        CHECK_INT(json_int_or(answer, "id", -1), i);
        CHECK(!json_bool_or(json_get(answer, "result"), "isError", true) ||
              !json_get(json_get(answer, "result"), "isError"));
    }
    const struct json *read = read_of(use(&r, "state_read", "{}"));
    CHECK_INT(json_int_or(read, "version", 0), rounds + 1);
    CHECK_INT(json_get(json_get(read, "current_data"), "all")->len, rounds);
    bridge_end(&r);
    black_stop(&b);
}

TEST_LIMIT(an_older_session_outlives_its_server, 60)
{
    struct black b = { .port = 0 };
    black_start(&b);
    struct bridge r = bridge_start(&b);

    say(&r, "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"
            "'2025-11-25','capabilities':{},'clientInfo':{'name':'old','version':'1'}}}");
    CHECK_STR(json_str(json_get(hear(&r), "result"), "protocolVersion"), "2025-11-25");
    say(&r, "{'jsonrpc':'2.0','method':'notifications/initialized'}");
    say(&r, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
    CHECK(json_get(json_get(hear(&r), "result"), "tools"));
    for (int i = 2; i < 4; i++) {
        black_stop(&b);
        black_start(&b);
        say(&r,
            arena_printf(check_arena(), "{'jsonrpc':'2.0','id':%d,'method':'tools/list'}", i).at);
        const struct json *answer = hear(&r);
        CHECK_INT(json_int_or(answer, "id", -1), i);
        CHECK(json_get(json_get(answer, "result"), "tools"));
    }
    bridge_end(&r);
    black_stop(&b);
}

/* ---- many at once ---- */

TEST_LIMIT(all_of_many_requests_at_once_are_answered_once, 60)
{
    struct black b = { .port = 0 };
    black_start(&b);
    black_add_schema(&b);
    struct bridge r = bridge_start(&b);
    bool answered[CROWD] = { false };

    use(&r, "state_create", "{'schema_name':'any','initial_data':{'n':1}}");
    for (int i = 0; i < CROWD; i++)
        say(&r, arena_printf(check_arena(),
                             "{'jsonrpc':'2.0','id':%d,'method':'tools/call','params':"
                             "{'name':'state_read','arguments':{}," META "}}",
                             i)
                    .at);
    for (int i = 0; i < CROWD; i++) {
        const struct json *answer = hear(&r);
        int64_t id = json_int_or(answer, "id", -1);
        CHECK(id >= 0 && id < CROWD && !answered[id]);
        CHECK(read_of(json_get(answer, "result")));
        answered[id] = true;
    }
    bridge_end(&r);
    black_stop(&b);
}
