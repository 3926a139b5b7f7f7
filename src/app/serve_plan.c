/* serve_plan.c: the command line of `serve`: what can be said, and what it means. */
#include "app/serve_plan.h"

#include "app/data.h"
#include "app/serve.h"
#include "client/endpoint.h"
#include "client/url.h"
#include "store/store.h"

/* ---- what is said ---- */

// clang-format off
const struct option serve_options[] = {
    { "--data",         0,   "DIR",      "where the data is kept" },
    { "--store",        0,   "STORE",    "sqlite (in DIR), sqlite:PATH, or postgres://USER@HOST/DB" },
    { "--listen",       0,   "ADDR",     "HOST:PORT for HTTP (127.0.0.1:8765); port 0: a free one" },
    { "--socket",       0,   "PATH",     "the Unix socket (DIR/baton.sock), or off" },
    { "--runner",       0,   "on|off",   "whether agents are run on this machine (on)" },
    { "--host",         0,   "NAME",     "answer to this name in Host too; may be repeated" },
    { "--set",          0,   "NAME=VAL", "change a setting; may be repeated" },
    { "--settings",     0,   NULL,       "print all settings, as a baton.toml, and exit" },
    { "--log-level",    0,   "L",        "debug, info, warn or error" },
    { "--verbose",      'v', NULL,       "the same as --log-level debug" },
    { 0 },
};
// clang-format on

const char serve_details[] =
    "When it is ready it prints one line,\n"
    "\n"
    "  baton listening on http://127.0.0.1:8765\n"
    "\n"
    "and works until it is stopped: Ctrl-C, `baton stop`, SIGTERM, or the end of its\n"
    "terminal lets requests in flight be answered, a second Ctrl-C stops it at once.\n"
    "Nothing that was acknowledged is lost, whichever way it ends.\n"
    "\n"
    "DIR is --data, or $BATON_DATA, or baton in $XDG_STATE_HOME, or\n"
    "~/.local/state/baton; it is made when it is not there. In it are\n"
    "  baton.db         the database\n"
    "  operator.token   your key, made at the first start: programs that run as you\n"
    "                   read it there, so that you need not type it\n"
    "  baton.sock       the socket that they use\n"
    "  runner.token     what the runner on this machine shows; runner.log is its log\n"
    "  runs/            a folder for each run that it has: see baton help runner\n"
    "  server.json      url, socket, pid, version and start of the server while it\n"
    "                   runs: baton status shows it\n"
    "  baton.toml       settings, if you write one: lines like body_bytes = \"8MiB\"\n"
    "  agents/          agents, if you keep any as files: NAME.md or NAME.json\n"
    "  profiles/        and profiles: NAME.json; both are read at the start\n"
    "\n"
    "Settings are taken from baton.toml, then from the environment\n"
    "(BATON_BODY_BYTES=8MiB), then from options (--set body_bytes=8MiB): the last\n"
    "that names one counts. --settings prints all of them.\n"
    "\n"
    "Several servers, each with a DIR of its own, may share one PostgreSQL database:\n"
    "--store postgres://USER@HOST/DB. What one has acknowledged, all of them show.\n"
    "A password is taken from BATON_STORE, PGPASSWORD or ~/.pgpass, never from the\n"
    "command line, where others could read it. While the database is away, requests\n"
    "are answered with 503; the server goes on by itself when it is back.\n"
    "\n"
    "Agents are run by a runner, a process of its own that is started again when it\n"
    "ends; GET /ready, baton top and baton doctor say how it is.\n"
    "\n"
    "Every request shows a token, on this machine too. Other machines cannot\n"
    "connect: for them, put a proxy that speaks TLS in front.\n"
    "\n"
    "Exit codes: 0 stopped when asked to; 2 wrong usage or settings; 4 a file may not\n"
    "be used; 6 another server has DIR, or the port; 14 the disk says no, or\n"
    "the database cannot be reached; 15 it is full; 70 it failed in a commit, lost a\n"
    "thread, or was away from a shared database for too long: start the server again.";

/* Options that are settings under another name. */
static const struct {
    const char *option, *setting;
} flags[] = {
    { "--listen", "listen" },
    { "--store", "store" },
    { "--socket", "socket" },
    { "--log-level", "log_level" },
};

/* The command line of a process is there for everybody on the machine to read. */
static err secret_check(struct arena *a, const char *value)
{
    if (!value || !config_store_has_password(str_from(value)))
        return NULL;
    return err_new(
        a, ERR_INVALID,
        "a password on the command line can be read by everybody on this machine: leave "
        "it out of the URL and put it into PGPASSWORD or ~/.pgpass, or put the whole URL "
        "into BATON_STORE");
}

static err flag_take(struct arena *a, struct config *config, const char *option, const char *value)
{
    str name, setting;

    if (strcmp(option, "--store") == 0 || strcmp(option, "--set") == 0)
        TRY(secret_check(a, value));

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(option, flags[i].option) == 0)
            return config_set(a, config, str_from(flags[i].setting), str_from(value));
    if (strcmp(option, "--verbose") == 0)
        config->log_level = LOG_DEBUG;
    if (strcmp(option, "--host") == 0)
        config->hosts = arena_printf(a, STR_FMT ",%s", STR_ARG(config->hosts), value);
    if (strcmp(option, "--set") != 0)
        return NULL;
    if (!str_cut(str_from(value), '=', &name, &setting))
        return err_new(a, ERR_INVALID,
                       "--set expects NAME=VALUE, but found '%s'. See 'baton serve --settings'.",
                       value);
    return config_set(a, config, name, setting);
}

/* baton.toml, then the environment, then flags. */
static err config_take(struct cli *c, str folder, struct config *out)
{
    str path = data_path(c->arena, folder, "baton.toml"), text;

    *out = config_default();
    TRY(data_read(c->arena, path, &text));
    TRY(config_read(c->arena, out, text, path.at));
    TRY(config_environment(c->arena, out));
    for (int i = 0; i < c->option_count; i++)
        TRY(flag_take(c->arena, out, c->options[i].option->name, c->options[i].value));
    return NULL;
}

static err runner_take(struct cli *c, bool *out)
{
    const char *given = cli_value(c, "--runner");

    *out = !given || strcmp(given, "on") == 0;
    if (given && !*out && strcmp(given, "off") != 0)
        return usage_error(c, arena_printf(c->arena, "--runner expects on or off, but found '%s'.",
                                           given));
    return NULL;
}

err serve_plan_read(struct cli *c, struct serve_plan *out)
{
    *out = (struct serve_plan){ 0 };
    TRY(data_dir_find(c->arena, cli_value(c, "--data"), &out->folder));
    TRY(config_take(c, out->folder, &out->config));
    return runner_take(c, &out->runs_agents);
}

/* ---- what it means ---- */

static err store_check(struct arena *a, struct serve_plan *p)
{
    str store = p->config.store;

    if (str_eq(store, STR("sqlite")))
        return NULL;
    if (str_starts(store, STR("sqlite:")) && store.len > strlen("sqlite:")) {
        p->database = str_slice(store, strlen("sqlite:"), store.len);
        return NULL;
    }
    p->shared = store_is_shared(store);
    if (p->shared)
        return NULL;
    return err_new(
        a, ERR_INVALID,
        "--store expects sqlite, sqlite:PATH or postgres://USER@HOST/DATABASE, but found "
        "'" STR_FMT "'",
        STR_ARG(config_store_redacted(a, store)));
}

static err listen_check(struct arena *a, str at)
{
    size_t colon = at.len;
    struct url url;

    while (colon > 0 && at.at[colon - 1] != ':')
        colon--;
    if (colon < 2)
        return err_new(a, ERR_INVALID,
                       "--listen expects HOST:PORT like 127.0.0.1:8765, but found '" STR_FMT "'",
                       STR_ARG(at));
    str host = arena_printf(a, "http://" STR_FMT, STR_ARG(str_slice(at, 0, colon - 1)));
    err e = url_parse(a, host, &url);
    if (e)
        return err_within(a, e, "--listen " STR_FMT, STR_ARG(at));
    if (url_is_loopback(&url))
        return NULL;
    return err_new(a, ERR_INVALID,
                   "--listen " STR_FMT
                   " can be reached from other machines, and this build speaks no TLS: tokens "
                   "would travel in the clear. Listen on 127.0.0.1 and put a proxy that speaks TLS "
                   "in front of it (with --host for the name it is called by), or use ssh -L",
                   STR_ARG(at));
}

err serve_plan_check(struct arena *a, struct serve_plan *p)
{
    TRY(listen_check(a, p->config.listen));
    return store_check(a, p);
}

/* Names between the commas. */
const str *serve_plan_hosts(struct arena *a, const struct serve_plan *p, size_t *count)
{
    str rest = p->config.hosts, name;
    str *all = ARENA_ARRAY(a, str, rest.len + 1);

    *count = 0;
    while (rest.len) {
        str_cut(rest, ',', &name, &rest);
        name = str_trim(name);
        if (name.len)
            all[(*count)++] = name;
    }
    return all;
}
