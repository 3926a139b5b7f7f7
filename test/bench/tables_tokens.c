/* tables_tokens.c: what agents are made to read: lists of tools, and all of a child's life.
 *
 * A token is taken for four characters. Everything is counted once, as it comes into a model's
 * context; of a tool's result that is its text. */
#include "bench/tables.h"

#include <stdio.h>

#include "base/utf8.h"
#include "bench/team_load.h"
#include "bench/mcp_load.h"
#include "bench/set.h"

#define CLIENT_ID "b2f1c8de-3a57-4c1e-9d57-0f6a8f3f2c11"

/* ---- counting ---- */

static double row(const char *name, size_t characters)
{
    double tokens = (double)characters / 4;

    printf("%-30s %9zu %9.0f\n", name, characters, tokens);
    return tokens;
}

static size_t printed_length(struct arena *a, const struct json *j)
{
    return utf8_length(json_printed(a, j));
}

/* ---- a team of two ---- */

struct life {
    struct arena *arena;
    struct target server;
    struct api_client client;
    const char *runner_token;
    str runner_id;
    const struct json *run; /* of the child, that is under way */
    struct mcp_clients child;
    double tokens; /* so far */
};

static void part(struct life *l, const char *name, size_t characters)
{
    l->tokens += row(name, characters);
}

static const char task[] =
    "Write the tests that the parser in src/parser.c lacks, run them, and mend what they find. "
    "Keep to the style of the tests that are there. Record the outcome in the shared state.";

static void prepare(struct life *l, const struct bench_paths *s)
{
    struct api_client *k = &l->client;
    str folder = bench_path(l->arena, s, "tokens");
    char state[FILL_ID_BYTES];

    data_dir_empty(folder.at);
    struct filler *f = fill_open(folder.at);
    fill_states(f, 0, 1, 4, 215);
    fill_close(f);
    l->server = target_start(s->program, folder.at, NULL);
    *k = api_client_new(l->server.port);
    fill_id(state, 0);
    l->runner_token = api_client_runner_token(k, l->arena, &l->server);
    l->runner_id = json_str(api_client_must(k, l->runner_token, "POST", STR("/runner/register"),
                                            STR("{\"hostname\":\"bench\",\"capacity\":1}")),
                            "runner_id");
    api_client_must(
        k, l->server.token, "POST", STR("/sessions"),
        arena_printf(k->arena, "{\"session_name\":\"root\",\"workflow_state_id\":\"%s\"}", state));
    api_client_must(k, l->server.token, "POST", STR("/runs"),
                    arena_printf(k->arena,
                                 "{\"type\":\"start_session\",\"session_name\":\"child\","
                                 "\"parent_session_name\":\"root\",\"prompt\":\"%s\"}",
                                 task));
}

static void report(struct life *l, const char *what, const char *more)
{
    struct arena *a = l->client.arena;

    api_client_must(
        &l->client, l->runner_token, "POST",
        arena_printf(a, "/runner/runs/" STR_FMT "/%s", STR_ARG(json_str(l->run, "run_id")), what),
        arena_printf(a, "{\"runner_id\":\"" STR_FMT "\",\"fence\":%lld,%s}", STR_ARG(l->runner_id),
                     (long long)json_int_or(l->run, "fence", 0), more));
}

/* A turn has a token of its own. */
static void turn_begin(struct life *l)
{
    str path =
        arena_printf(l->client.arena, "/runner/runs?runner_id=" STR_FMT, STR_ARG(l->runner_id));

    l->run = json_get(api_client_must(&l->client, l->runner_token, "GET", path, STR("")), "run");
    if (!l->run)
        fail("a claim", STR("found no run"));
    report(l, "started", "\"client_id\":\"" CLIENT_ID "\"");
    l->child.token = arena_copy(l->arena, json_str(l->run, "token")).at;
    mcp_clients_begin(&l->child, l->arena, l->server.port, 1);
}

/* ---- its parts ---- */

static const struct json *tools_of(const struct mcp_clients *c, struct arena *a, int port)
{
    return json_get(mcp_clients_ask(c, a, port, "tools/list", STR("{}")), "tools");
}

static void begin_parts(struct life *l)
{
    struct arena *a = l->arena;
    int port = l->server.port;
    const struct json *hello =
        api_client_must(&l->client, l->child.token, "POST", STR("/hooks/claude"),
                        STR("{\"session_id\":\"" CLIENT_ID "\",\"cwd\":\"/tmp\","
                            "\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}"));
    const struct json *opened = mcp_clients_ask(
        &l->child, a, port, "initialize",
        STR("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":"
            "{\"name\":\"bench\",\"version\":\"1\"}}"));

    part(l, "list of tools", printed_length(a, tools_of(&l->child, a, port)));
    part(l, "instructions", utf8_length(json_str(opened, "instructions")));
    part(l, "briefing when it starts",
         utf8_length(json_str(json_get(hello, "hookSpecificOutput"), "additionalContext")));
    part(l, "its task", utf8_length(json_str(l->run, "prompt")));
}

static void call_parts(struct life *l, const char *tool, str arguments)
{
    struct arena *a = l->arena;
    const struct json *result = mcp_clients_ask(
        &l->child, a, l->server.port, "tools/call",
        arena_printf(a, "{\"name\":\"%s\",\"arguments\":" STR_FMT "}", tool, STR_ARG(arguments)));
    size_t told = 0;
    const struct json *content = json_get(result, "content");

    for (uint32_t i = 0; i < content->len; i++)
        told += utf8_length(json_str(&content->items[i], "text"));
    part(l, arena_printf(a, "%s: call", tool).at, strlen(tool) + utf8_length(arguments));
    part(l, arena_printf(a, "%s: result", tool).at, told);
}

static void life_table(struct life *l)
{
    report_title("a child, told in two phases", "characters   tokens");
    turn_begin(l);
    begin_parts(l);
    call_parts(l, "state_read", STR("{}"));
    report(l, "completed", "\"result\":\"All tests of the parser pass.\"");
    turn_begin(l);
    part(l, "request for the update", utf8_length(json_str(l->run, "prompt")));
    call_parts(l, "state_patch",
               STR("{\"operations\":[{\"op\":\"replace\",\"path\":\"/status\",\"value\":"
                   "\"completed\"},{\"op\":\"add\",\"path\":\"/summary\",\"value\":\"14 tests of "
                   "the parser were added and pass; one mistake was mended.\"}]}"));
    report(l, "completed", "\"result\":\"The state is updated.\"");
    printf("%-30s %9.0f %9.0f\n", "all of it", l->tokens * 4, l->tokens);
}

/* ---- lists of tools ---- */

static double tier_row(struct life *l, const char *name, const char *token)
{
    struct mcp_clients c = { .token = token };

    mcp_clients_begin(&c, l->arena, l->server.port, 1);
    const struct json *tools = tools_of(&c, l->arena, l->server.port);
    return row(arena_printf(l->arena, "%s, %u tools", name, (unsigned)tools->len).at,
               printed_length(l->arena, tools));
}

static void tiers_table(struct life *l)
{
    report_title("lists of tools", "characters   tokens");
    double child = tier_row(l, "child", mcp_session_token(l->arena, &l->server, "child"));
    tier_row(l, "root", mcp_session_token(l->arena, &l->server, "root"));
    tier_row(l, "operator", l->server.token);
    goal_most("a child's: at most 2,000 tokens", child, 2000);
}

void table_tokens(const struct bench_paths *s, const struct target *t)
{
    struct life l = { .arena = arena_new() };

    (void)t;
    prepare(&l, s);
    life_table(&l);
    tiers_table(&l);
    api_client_free(&l.client);
    target_stop(&l.server);
    arena_free(l.arena);
}
