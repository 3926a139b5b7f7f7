/* keeper_prepare.c: what an agent, or a command, is given: files, command line, environment. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "os/program.h"
#include "os/random.h"
#include "runner/agents.h"
#include "runner/git.h"
#include "runner/keeper_private.h"

enum { SECRETS_MAX = 16 << 10, UUID_BYTES = 16, STATE_MS = 10000 };

/* ---- what it was told ---- */

/* The runner's token goes on through the environment of this process, where client/endpoint.h looks. */
static err secrets_read(struct keeper *k)
{
    char *room = arena_alloc(k->arena, SECRETS_MAX);
    const struct json *secrets;
    size_t len = 0;
    ssize_t n;

    while (len < SECRETS_MAX && (n = read(STDIN_FILENO, room + len, SECRETS_MAX - len)) > 0)
        len += (size_t)n;
    err e = json_parse(k->arena, (str){ room, len }, NULL, &secrets);
    if (e)
        return err_new(k->arena, ERR_INVALID, "expected the secrets of a run on standard input");
    k->token = json_str(secrets, "token");
    str runner_token = json_str(secrets, "runner_token");
    if (runner_token.len)
        setenv("BATON_TOKEN", arena_copy(k->arena, runner_token).at, 1);
    return NULL;
}

err keeper_read(struct keeper *k)
{
    struct exec_user *user = ARENA_NEW(k->arena, struct exec_user);
    str text;

    TRY(folder_read(k->arena, folder_path(k->arena, k->folder, "spec.json"), &text));
    TRY(json_parse_own(k->arena, text, &k->spec));
    TRY(secrets_read(k));
    if (json_str(k->spec, "user").len) {
        k->user = user;
        TRY(exec_user_find(k->arena, json_str(k->spec, "user"), user));
    }
    k->run = json_get(k->spec, "run");
    k->profile = json_get(k->run, "profile");
    k->agent = json_get(k->run, "agent");
    k->is_command = str_eq(json_str(k->run, "purpose"), STR("command"));
    str data = json_str(k->spec, "data");
    k->data = data.len ? arena_copy(k->arena, data).at : NULL;
    k->home = json_str(k->spec, "home");
    k->project_dir = json_str(k->run, "project_dir");
    if (!k->project_dir.len)
        k->project_dir = json_str(k->spec, "project_dir");
    k->project_dir = arena_copy(k->arena, k->project_dir);
    k->report.run_id = json_str(k->run, "run_id");
    k->report.folder = k->folder;
    k->report.runner_id = json_str(k->spec, "runner_id");
    k->report.fence = json_int_or(k->run, "fence", 0);
    return NULL;
}

/* ---- pieces ---- */

static str uuid_make(struct arena *a)
{
    unsigned char b[UUID_BYTES];

    random_bytes(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    str hex = hex_encode(a, (str){ (const char *)b, sizeof b });
    return arena_printf(a, "%.8s-%.4s-%.4s-%.4s-%.12s", hex.at, hex.at + 8, hex.at + 12,
                        hex.at + 16, hex.at + 20);
}

/* How the client finds the conversation again. One that has only one place to look, its folder, is
 * resumed without an id; the server still needs to know that it can be. */
static void client_id_choose(struct keeper *k, bool resume)
{
    str way = json_str(k->profile, "client_id");

    if (resume)
        k->client_id = json_str(k->run, "client_id");
    else if (str_eq(way, STR("uuid")))
        k->client_id = uuid_make(k->arena);
    else if (!str_eq(way, STR("stream")) && json_get(k->profile, "resume"))
        k->client_id = json_str(k->run, "session_id");
}

/* The tree that the agent shares, for clients that can only read files. */
static err state_write(struct keeper *k, str path, str *out)
{
    str id = json_str(json_get(k->run, "env"), "WORKFLOW_STATE_ID");
    struct call call = { .method = "GET",
                         .pattern = "/workflow-states/{state_id}",
                         PARAMS({ "state_id", id }),
                         .timeout_ms = STATE_MS };
    const struct json *state;
    struct caller caller;

    if (!id.len || !profile_uses(k->profile, "{state_file}"))
        return NULL;
    caller_init(&caller, k->data);
    caller.token = k->token;
    err e = caller_call(&caller, k->arena, &call, &state);
    caller_release(&caller);
    if (e || !state)
        return NULL; /* it can be read by other ways */
    *out = path;
    return folder_write(k->arena, path, json_printed(k->arena, state), k->user);
}

/* ---- all of it ---- */

struct json keeper_git(struct keeper *k)
{
    return k->env && !k->is_command ? git_snapshot(k->arena, k->project_dir, k->env, k->user)
                                    : json_null();
}

/* Which prompt for a state update this is; empty: it is none. */
static str attempt_of(struct keeper *k)
{
    const struct json *metadata = json_get(k->run, "metadata");
    int64_t attempt = json_int_or(metadata, "attempt", 0);

    return attempt > 0 ? arena_printf(k->arena, "%lld", (long long)attempt) : STR("");
}

/* Where it is, is said twice: a client that believes PWD rather than the system would work where the
 * runner was started. */
static err env_make(struct keeper *k, const struct launch *l, str token_file)
{
    const struct env_pair more[] = {
        { "PWD", k->project_dir },
        { "BATON_URL", l->url },
        { "BATON_TOKEN", k->token },
        { "BATON_TOKEN_FILE", token_file },
        { "BATON_RUN_ID", k->report.run_id },
        { "BATON_RUN_ATTEMPT", attempt_of(k) },
    };

    return profile_env(k->arena, l, environ, k->user, json_get(k->run, "env"), more,
                       sizeof more / sizeof *more, &k->env);
}

static err files_make(struct keeper *k, struct launch *l, str *token_file)
{
    struct arena *a = k->arena;
    str folder, mcp = profile_mcp(a, l);

    TRY(folder_for_agent(a, k->folder, k->user, &folder));
    *token_file = folder_path(a, folder, "token");
    TRY(folder_write(a, *token_file, k->token, k->user));
    if (mcp.len && l->url.len) {
        l->mcp_file = folder_path(a, folder, "mcp.json");
        TRY(folder_write(a, l->mcp_file, mcp, k->user));
    }
    l->prompt_file = folder_path(a, folder, "prompt");
    return state_write(k, folder_path(a, folder, "state.json"), &l->state_file);
}

/* What has changed around an agent since it was last here stands before what it is asked. */
static void prompt_make(struct keeper *k, struct launch *l)
{
    struct json now = l->resume ? keeper_git(k) : json_null();
    str changes = git_changes(k->arena, json_get(k->run, "git"), &now);

    l->prompt = profile_prompt(k->arena, l);
    if (changes.len)
        l->prompt =
            arena_printf(k->arena, STR_FMT "\n" STR_FMT, STR_ARG(changes), STR_ARG(l->prompt));
}

static err input_open(struct keeper *k, str path, int *fd)
{
    *fd = open(path.at, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? NULL
                    : err_new(k->arena, ERR_UNAVAILABLE, STR_FMT ": cannot read it: %s",
                              STR_ARG(path), strerror(errno));
}

/* ---- a command ---- */

/* What is called baton is this very program, whatever else of that name PATH may have. */
static err command_argv(struct keeper *k, str baton, char ***out)
{
    const struct json *argv = json_get(k->run, "argv");
    uint32_t count = json_is(argv, JSON_ARRAY) ? argv->len : 0;

    *out = ARENA_ARRAY(k->arena, char *, count + 1);
    (*out)[count] = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!json_is(&argv->items[i], JSON_STRING))
            return err_new(k->arena, ERR_INVALID, "expected the argv of a command to hold texts");
        (*out)[i] = (char *)arena_copy(k->arena, json_text(&argv->items[i])).at;
    }
    if (!count)
        return err_new(k->arena, ERR_INVALID, "expected a command to have an argv");
    if (strcmp((*out)[0], "baton") == 0 && baton.len && access(baton.at, X_OK) == 0)
        (*out)[0] = (char *)baton.at;
    return NULL;
}

/* Its input is a file, so that nobody has to wait until it is read. BATON_RUN_ID keeps what runs here
 * from the operator's rights on this machine, as an agent is kept from them: commands execute what
 * agents have written. By BATON_RUN_FOLDER a runner finds what is left of it. */
static err command_prepare(struct keeper *k, struct exec_plan *plan)
{
    const struct launch l = { .baton = program_path(k->arena) };
    const struct env_pair more[] = {
        { "PWD", k->project_dir },
        { "BATON_RUN_ID", k->report.run_id },
        { "BATON_RUN_PURPOSE", STR("command") },
        { "BATON_RUN_FOLDER", k->folder },
    };
    str input = folder_path(k->arena, k->folder, "input");
    char **argv;

    TRY(command_argv(k, l.baton, &argv));
    TRY(profile_env(k->arena, &l, environ, k->user, NULL, more, sizeof more / sizeof *more,
                    &k->env));
    TRY(folder_write(k->arena, input, json_str(k->run, "stdin"), NULL));
    *plan = (struct exec_plan){
        .argv = argv, .env = k->env, .folder = k->project_dir.at, .user = k->user
    };
    return input_open(k, input, &plan->in);
}

/* ---- an agent ---- */

/* One that is not registered is in a file of this machine, and is read as that is now. */
static err agent_read(struct keeper *k)
{
    const struct json *agent = json_get(k->run, "agent");
    str source = json_str(k->run, "agent_source"),
        name = json_is(agent, JSON_STRING) ? json_text(agent) : json_str(agent, "name");
    struct agents_place place = { k->project_dir, json_str(k->spec, "user"), k->home };
    struct json *read = ARENA_NEW(k->arena, struct json);
    bool in_file = str_eq(source, STR("project")) || str_eq(source, STR("home")) ||
                   str_eq(source, STR("data"));

    if (!in_file)
        return NULL;
    TRY(agents_find(k->arena, &place, source, name, read));
    k->agent = read;
    return NULL;
}

static err agent_prepare(struct keeper *k, struct exec_plan *plan)
{
    struct launch l = { .profile = k->profile,
                        .resume = str_eq(json_str(k->run, "type"), STR("resume_session")),
                        .prompt = json_str(k->run, "prompt"),
                        .session_name = json_str(k->run, "session_name"),
                        .project_dir = k->project_dir,
                        .baton = program_path(k->arena),
                        .runner_dir = k->home,
                        .url = endpoint_url(k->arena, k->data) };
    str token_file;
    char **argv;

    if (!json_is(k->profile, JSON_OBJECT))
        return err_new(k->arena, ERR_NOT_FOUND,
                       "the profile of this session is not registered any more");
    TRY(agent_read(k));
    l.agent = k->agent;
    if (!l.baton.len)
        l.baton = STR("baton");
    client_id_choose(k, l.resume);
    l.client_id = k->client_id;
    TRY(files_make(k, &l, &token_file));
    TRY(env_make(k, &l, token_file));
    prompt_make(k, &l);
    TRY(folder_write(k->arena, l.prompt_file, l.prompt, k->user));
    TRY(profile_argv(k->arena, &l, &argv));
    *plan = (struct exec_plan){
        .argv = argv, .env = k->env, .folder = k->project_dir.at, .user = k->user, .in = -1
    };
    if (str_eq(profile_prompt_way(k->profile), STR("stdin")))
        TRY(input_open(k, l.prompt_file, &plan->in));
    return folder_give(k->arena, k->folder, k->user);
}

err keeper_prepare(struct keeper *k, struct exec_plan *plan)
{
    return k->is_command ? command_prepare(k, plan) : agent_prepare(k, plan);
}
