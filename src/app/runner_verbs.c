/* runner_verbs.c: the commands `runner` and `keep-run`: options → what the runner wants to know. */
#include "app/runner_verbs.h"

#include <stdlib.h>
#include <unistd.h>

#include "app/data.h"
#include "app/process.h"
#include "base/digest.h"
#include "client/endpoint.h"
#include "os/exec.h"
#include "runner/keeper.h"
#include "runner/runner.h"

enum { CAPACITY_MAX = 1000, RUNS_PER_CORE = 4 };

// clang-format off
const struct option runner_verb_options[] = {
    { "--url",         0,   "URL",  "the server, when it is on another machine" },
    { "--capacity",    0,   "N",    "how many agents may run at a time (4 for each core)" },
    { "--tag",         0,   "TAG",  "something that runs can ask for; may be repeated" },
    { "--profile",     0,   "NAME", "a kind of agent that it can run (all); may be repeated" },
    { "--no-commands", 0,   NULL,   "run agents alone, and nothing that a workflow executes" },
    { "--name",        0,   "NAME", "what tells it apart from others with its token" },
    { "--project-dir", 0,   "DIR",  "where agents work, unless their run says where (here)" },
    { "--user",        0,   "USER", "run agents as this user, who cannot read our files" },
    { "--data",        0,   "DIR",  "its directory, and the server's if that is on this machine" },
    { "--verbose",     'v', NULL,   "log more" },
    { "--json",        0,   NULL,   "print an object when it is registered" },
    { 0 },
};
// clang-format on

const char runner_verb_details[] =
    "The server starts one for its own machine. On another machine, give it the\n"
    "server's URL and a token of its own, made by the operator:\n"
    "\n"
    "  baton token create runner          prints the token, once\n"
    "  BATON_TOKEN_FILE=./runner.token baton runner --url http://127.0.0.1:8765\n"
    "\n"
    "Without --url and BATON_URL it works for the server of DIR, with the token in\n"
    "DIR/runner.token. A token is never given on the command line.\n"
    "\n"
    "Each agent has a keeper, a process of its own that outlives the runner: it can be\n"
    "stopped, killed and started again, and no run is lost or started twice. SIGTERM\n"
    "and Ctrl-C end the runner; agents work on, and their results are told.\n"
    "\n"
    "DIR is --data, or $BATON_DATA, or baton in $XDG_STATE_HOME, or\n"
    "~/.local/state/baton. In it are\n"
    "  runner.lock      held by the one runner that uses the directory\n"
    "  runner.token     made by a server for its own runner\n"
    "  agents/          agents in files, which it offers beside those of projects and of home\n"
    "  mirrors.json     which files of workflows it has written into projects, by their SHA-256\n"
    "  runs/RUN_ID/     of each run as long as it lasts: lock, spec.json, keeper.log,\n"
    "                   and agent/, what the agent may read: token, prompt, mcp.json;\n"
    "                   or input, what a command gets on its standard input\n"
    "\n"
    "An agent that is stopped, or takes longer than it may, is asked to end (SIGTERM) with\n"
    "all that it has started; what is still there after $BATON_AGENT_STOP_TIME (5s) is\n"
    "killed.\n"
    "\n"
    "Agents run as you, and can read what you can: DIR too. --user, which needs root,\n"
    "runs them as somebody else.\n"
    "\n"
    "Exit codes: 0 told to end, or removed by the operator; 2 wrong usage; 3 the token\n"
    "is not known; 4 something is not allowed; 6 another runner has DIR.";

/* ---- what the options say ---- */

/* All values of an option that may be repeated. */
static const str *values_of(struct cli *c, const char *name, size_t *count)
{
    str *all = ARENA_ARRAY(c->arena, str, (size_t)c->option_count + 1);

    *count = 0;
    for (int i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].option->name, name) == 0)
            all[(*count)++] = str_from(c->options[i].value);
    return all;
}

static err capacity_read(struct cli *c, int64_t *out)
{
    const char *given = cli_value(c, "--capacity");

    *out = RUNS_PER_CORE * sysconf(_SC_NPROCESSORS_ONLN);
    if (given && (!str_to_int(str_from(given), out) || *out < 1 || *out > CAPACITY_MAX))
        return usage_error(c, arena_printf(c->arena,
                                           "--capacity expects a number from 1 to %d, but found "
                                           "'%s'.",
                                           CAPACITY_MAX, given));
    return NULL;
}

static err path_read(struct cli *c, const char *given, str *out)
{
    char *whole = realpath(given ? given : ".", NULL);

    if (!whole)
        return usage_error(c, arena_printf(c->arena, "there is no folder '%s'.", given));
    *out = arena_copy(c->arena, str_from(whole));
    free(whole);
    return NULL;
}

/* The directory is made here; the token in it is the one to show unless another is named. */
static err place_read(struct cli *c, struct runner_options *o)
{
    const char *url = cli_value(c, "--url");

    TRY(data_dir_find(c->arena, cli_value(c, "--data"), &o->home));
    TRY(data_make(c->arena, o->home));
    TRY(path_read(c, o->home.at, &o->home));
    if (url)
        setenv("BATON_URL", url, 1);
    if (!url && (cli_value(c, "--data") || !getenv("BATON_URL")))
        o->data = o->home;
    if (!getenv("BATON_TOKEN") && !getenv("BATON_TOKEN_FILE"))
        setenv("BATON_TOKEN_FILE", data_path(c->arena, o->home, "runner.token").at, 1);
    return NULL;
}

static err user_read(struct cli *c, struct runner_options *o)
{
    struct exec_user user;

    o->user = str_from(cli_value(c, "--user"));
    return o->user.len ? exec_user_find(c->arena, o->user, &user) : NULL;
}

/* Runners of one machine that have different directories or users are different ones: two with the
 * same token and name would count as one. */
static str name_of(struct cli *c, const struct runner_options *o)
{
    unsigned char sum[SHA256_BYTES];
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    sha256(arena_printf(c->arena, "%s\n" STR_FMT "\n" STR_FMT, host,
                        STR_ARG(exec_user_name(c->arena, o->user)), STR_ARG(o->home)),
           sum);
    return arena_printf(c->arena, "runner-%02x%02x%02x%02x", sum[0], sum[1], sum[2], sum[3]);
}

static void registered(void *self, str runner_id)
{
    struct cli *c = self;

    if (c->json)
        cli_write(c,
                  arena_printf(c->arena, "{\"runner_id\":\"" STR_FMT "\"}\n", STR_ARG(runner_id)));
    else
        cli_write(c, arena_printf(c->arena, "baton runner " STR_FMT " waits for runs\n",
                                  STR_ARG(runner_id)));
    cli_flush(c);
}

err runner_verb_run(struct cli *c)
{
    struct runner_options o = { .data = STR(""), .ready = registered, .to = c };
    const char *name = cli_value(c, "--name");

    TRY(capacity_read(c, &o.capacity));
    TRY(user_read(c, &o));
    TRY(place_read(c, &o));
    TRY(path_read(c, cli_value(c, "--project-dir"), &o.project_dir));
    o.name = name ? str_from(name) : name_of(c, &o);
    o.tags = values_of(c, "--tag", &o.tag_count);
    o.commands = !cli_flag(c, "--no-commands");
    o.profiles = values_of(c, "--profile", &o.profile_count);
    process_log(cli_flag(c, "--verbose") ? LOG_DEBUG : LOG_INFO);
    return runner_run(c->arena, &o);
}

err keep_run_verb_run(struct cli *c)
{
    process_log(LOG_INFO);
    return keeper_run(c->arena, str_from(c->args[0]));
}
