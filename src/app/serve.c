/* serve.c: the command `serve`: puts the parts together, runs the loop, takes them apart.
 *
 * What it makes, it makes in order, and takes apart in the reverse order, however
 * far it got. Everything that a crash leaves behind is either in the database or
 * made anew at the next start. */
#include "app/serve.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/inside.h"
#include "app/load_entries.h"
#include "app/local_runner.h"
#include "app/operator.h"
#include "app/process.h"
#include "app/threads.h"
#include "base/log.h"
#include "client/find.h"
#include "core/tables.h"
#include "mcp/mcp.h"

enum {
    STEPS_MAX = 64,
    FILES_OWN = 104, /* files that are no connections: the database's, the log, sockets */
    CLOCK_BEHIND_MS = 60 * 1000, /* a wall clock this far behind is worth a line */
    TURN_MS = 5000,              /* beyond the time that another node may hold the writer's lock */
};

struct serving {
    struct arena *arena;
    struct config config;
    str folder;
    str database; /* empty: in the folder */
    bool shared;  /* with other nodes: the store is a server's */
    struct data data;
    struct clock clock;
    int64_t seq; /* of the last event at the start */
    struct store *store;
    struct op_table *table;
    struct threads *threads;
    struct loop *loop;
    struct server *server;
    struct listener *tcp, *local;
    struct signal_watch *term, *interrupt;
    struct mcp *mcp;
    bool mcp_fixtures;
    bool runs_agents;
    struct local_runner runner;
    str url, socket; /* socket: empty when there is none */
    bool announced, stopping;
};

/* ---- the command line ---- */

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
    { "--mcp-fixtures", 0,   NULL,       "let /mcp serve the conformance suite, without a token" },
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
    "and works until it is stopped: Ctrl-C or SIGTERM lets requests in flight be\n"
    "answered, a second one stops it at once. Nothing that was acknowledged is lost,\n"
    "whichever way it ends.\n"
    "\n"
    "DIR is --data, or $BATON_DATA, or baton in $XDG_STATE_HOME, or\n"
    "~/.local/state/baton; it is made when it is not there. In it are\n"
    "  baton.db         the database\n"
    "  operator.token   your key, made at the first start: programs that run as you\n"
    "                   read it there, so that you need not type it\n"
    "  baton.sock       the socket that they use\n"
    "  runner.token     what the runner on this machine shows; runner.log is its log\n"
    "  runs/            a folder for each run that it has: see baton help runner\n"
    "  server.json      url, socket, pid and version of the server while it runs\n"
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
    "Every request shows a token, on this machine too. Other machines cannot\n"
    "connect: for them, put a proxy that speaks TLS in front.\n"
    "\n"
    "Exit codes: 0 stopped when asked to; 2 wrong usage or settings; 4 a file may not\n"
    "be used; 6 another server has DIR, or the port; 14 the disk says no, or\n"
    "the database cannot be reached; 15 it is full; 70 it failed in a commit, or was\n"
    "away from a shared database for too long: start the server again.";

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
static err secret_check(struct serving *s, const char *value)
{
    if (!value || !config_store_has_password(str_from(value)))
        return NULL;
    return err_new(
        s->arena, ERR_INVALID,
        "a password on the command line can be read by everybody on this machine: leave "
        "it out of the URL and put it into PGPASSWORD or ~/.pgpass, or put the whole URL "
        "into BATON_STORE");
}

static err flag_take(struct serving *s, const char *option, const char *value)
{
    str name, setting;

    if (strcmp(option, "--store") == 0 || strcmp(option, "--set") == 0)
        TRY(secret_check(s, value));

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(option, flags[i].option) == 0)
            return config_set(s->arena, &s->config, str_from(flags[i].setting), str_from(value));
    if (strcmp(option, "--verbose") == 0)
        s->config.log_level = LOG_DEBUG;
    if (strcmp(option, "--host") == 0)
        s->config.hosts = arena_printf(s->arena, STR_FMT ",%s", STR_ARG(s->config.hosts), value);
    if (strcmp(option, "--set") != 0)
        return NULL;
    if (!str_cut(str_from(value), '=', &name, &setting))
        return err_new(s->arena, ERR_INVALID,
                       "--set expects NAME=VALUE, but found '%s'. See 'baton serve --settings'.",
                       value);
    return config_set(s->arena, &s->config, name, setting);
}

/* baton.toml, then the environment, then flags. */
static err config_take(struct serving *s, const struct cli *c)
{
    str path = data_path(s->arena, s->folder, "baton.toml"), text;

    s->config = config_default();
    TRY(data_read(s->arena, path, &text));
    TRY(config_read(s->arena, &s->config, text, path.at));
    TRY(config_environment(s->arena, &s->config));
    for (int i = 0; i < c->option_count; i++)
        TRY(flag_take(s, c->options[i].option->name, c->options[i].value));
    return NULL;
}

/* ---- what the options mean ---- */

static err store_check(struct serving *s)
{
    str store = s->config.store;

    if (str_eq(store, STR("sqlite")))
        return NULL;
    if (str_starts(store, STR("sqlite:")) && store.len > strlen("sqlite:")) {
        s->database = str_slice(store, strlen("sqlite:"), store.len);
        return NULL;
    }
    s->shared = store_is_shared(store);
    if (s->shared)
        return NULL;
    return err_new(
        s->arena, ERR_INVALID,
        "--store expects sqlite, sqlite:PATH or postgres://USER@HOST/DATABASE, but found "
        "'" STR_FMT "'",
        STR_ARG(config_store_shown(s->arena, store)));
}

static err listen_check(struct serving *s)
{
    str at = s->config.listen;
    size_t colon = at.len;
    struct url url;

    while (colon > 0 && at.at[colon - 1] != ':')
        colon--;
    if (colon < 2)
        return err_new(s->arena, ERR_INVALID,
                       "--listen expects HOST:PORT like 127.0.0.1:8765, but found '" STR_FMT "'",
                       STR_ARG(at));
    str host = arena_printf(s->arena, "http://" STR_FMT, STR_ARG(str_slice(at, 0, colon - 1)));
    err e = url_parse(s->arena, host, &url);
    if (e)
        return err_within(s->arena, e, "--listen " STR_FMT, STR_ARG(at));
    if (url_is_loopback(&url))
        return NULL;
    return err_new(s->arena, ERR_INVALID,
                   "--listen " STR_FMT
                   " can be reached from other machines, and this build speaks no TLS: tokens "
                   "would travel in the clear. Listen on 127.0.0.1 and put a proxy that speaks TLS "
                   "in front of it (with --host for the name it is called by), or use ssh -L",
                   STR_ARG(at));
}

/* Names between the commas. */
static const str *hosts_of(struct serving *s, size_t *count)
{
    str rest = s->config.hosts, name;
    str *all = ARENA_ARRAY(s->arena, str, rest.len + 1);

    *count = 0;
    while (rest.len) {
        str_cut(rest, ',', &name, &rest);
        name = str_trim(name);
        if (name.len)
            all[(*count)++] = name;
    }
    return all;
}

/* Each connection is a file; with fewer files than connections, some could not be accepted. */
static void connections_fit(struct serving *s)
{
    uint64_t files = process_files();
    uint64_t most = files > 2 * FILES_OWN ? files - FILES_OWN : FILES_OWN;

    if (s->config.limits.connections_max <= most)
        return;
    log_warn("serve.files", LOG_N("open_files_max", (int64_t)files),
             LOG_N("connections_max", (int64_t)most),
             LOG_S("do", STR("raise the limit of open files (ulimit -Hn)")));
    s->config.limits.connections_max = (uint32_t)most;
}

/* ---- the store ---- */

static err open_store(struct serving *s)
{
    static struct store_migration steps[STEPS_MAX];
    struct store_options options = { .migrations = steps,
                                     .migration_count = tables_step_count,
                                     .wal_bytes_max = s->config.wal_bytes_max,
                                     .idle_ms = (int)s->config.lock_ms,
                                     .find_ms = (int)s->config.find_ms };

    if (s->shared) /* whoever waits for a node that stopped gets its turn */
        options.busy_ms = options.idle_ms + TURN_MS;
    assert(tables_step_count <= STEPS_MAX);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    return store_open(s->arena, s->shared ? s->config.store : s->data.database, &options,
                      &s->store);
}

/* Time goes on from the highest that was ever used, even if the wall clock was set back. Where the
 * database has a clock, all nodes go by that one. */
static err start_clock(struct serving *s)
{
    struct sql *sql = threads_engine(s->threads)->sql;
    struct store_node node;

    TRY(store_begin(sql, s->arena, &node));
    store_rollback(sql);
    clock_start(&s->clock, node.clock);
    if (node.now) {
        s->clock.started_ms = node.now > node.clock ? node.now : node.clock;
        return NULL;
    }
    int64_t behind = node.clock - clock_wall_ms();
    if (behind > CLOCK_BEHIND_MS)
        log_warn("clock.behind", LOG_N("seconds", behind / 1000),
                 LOG_S("why", STR("times go on from the last one that was stored")));
    return NULL;
}

/* A server that cannot write can still be read, and deleted from. */
static err unless_full(err e)
{
    if (!e || e->kind != ERR_FULL)
        return e;
    log_warn("serve.full", LOG_S("error", e->message), LOG_S("do", STR("free some space")));
    return NULL;
}

/* What the server does for itself before anybody can ask for something. Events go on from the last
 * number of that. */
static err prepare(struct serving *s)
{
    struct engine *e = threads_engine(s->threads);
    struct json input = json_object();
    const struct json *answer;
    struct store_node node;

    TRY(operator_token(s->arena, e, s->folder));
    TRY(runner_token(s->arena, e, s->folder));
    TRY(unless_full(entries_load(s->arena, e, s->folder, s->shared)));
    json_put(s->arena, &input, STR("node_id"), json_string(STR(""))); /* others see it later */
    TRY(unless_full(system_perform(s->arena, e, "system.start", &input, &answer)));
    TRY(store_begin(e->sql, s->arena, &node));
    store_rollback(e->sql);
    s->seq = node.seq;
    return NULL;
}

static err open_data(struct serving *s)
{
    TRY(data_make(s->arena, s->folder));
    char *whole = realpath(s->folder.at, NULL); /* server.json is read from elsewhere */
    if (whole)
        s->folder = arena_copy(s->arena, str_from(whole));
    free(whole);
    TRY(data_open(s->arena, s->folder, s->database, &s->data));
    if (s->runs_agents)
        local_runner_start(&s->runner, s->arena, s->folder);
    TRY(open_store(s));
    TRY(op_table_all(s->arena, &s->table));
    TRY(threads_new(s->arena,
                    &(struct threads_options){ .store = s->store,
                                               .table = s->table,
                                               .clock = &s->clock,
                                               .shared = s->shared,
                                               .data = &s->data,
                                               .config = &s->config },
                    &s->threads));
    TRY(start_clock(s));
    return prepare(s);
}

/* ---- the server ---- */

static int64_t now_ms(void *self)
{
    return clock_now_ms(&((struct serving *)self)->clock);
}

static bool submit(void *self, struct command *list)
{
    return threads_submit(((struct serving *)self)->threads, list);
}

static void admit(void *self, struct admission *a)
{
    threads_admit(((struct serving *)self)->threads, a);
}

static void metrics(void *self, struct buf *out)
{
    threads_metrics(((struct serving *)self)->threads, out);
}

static const char *unready(void *self)
{
    return threads_unready(((struct serving *)self)->threads);
}

/* What it signs for clients is good until it stops, and on this node alone: with another secret a
 * client is told to ask again, which every client can. */
static struct mcp *mcp_make(struct serving *s)
{
    struct mcp_options options = { .table = s->table,
                                   .version = BATON_VERSION,
                                   .fixtures = s->mcp_fixtures,
                                   .wait_ms = s->config.limits.mcp_wait_ms };
    const struct tx_source *source = threads_engine(s->threads)->source;

    source->random(source->self, options.secret, sizeof options.secret);
    return mcp_new(&options);
}

static struct server *server_make(struct serving *s)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct server_options options = {
        .loop = s->loop,
        .table = s->table,
        .limits = s->config.limits,
        .seq = s->seq,
        .shared = s->shared,
        .system = &system,
        .cache_bytes = s->config.cache_bytes,
        .now_ms = now_ms,
        .submit = submit,
        .admit = admit,
        .metrics = metrics,
        .unready = unready,
        .inside = inside_run,
        .self = s,
        .version = BATON_VERSION,
    };
    s->mcp = mcp_make(s);
    options.mcp = s->mcp;
    options.mcp_open = s->mcp_fixtures;
    options.hosts = hosts_of(s, &options.host_count);
    options.config = config_rows(s->arena, &s->config, &options.config_count);
    return server_new(&options);
}

static err listen_local(struct serving *s)
{
    struct sockaddr_un address;
    str path = s->config.socket;

    if (str_eq(path, STR("off")))
        return NULL;
    if (!path.len)
        path = data_path(s->arena, s->folder, "baton.sock");
    else if (path.at[0] != '/')
        path = data_path(s->arena, str_from(getcwd(arena_alloc(s->arena, 4096), 4096)), path.at);
    if (path.len >= sizeof address.sun_path)
        return err_new(s->arena, ERR_INVALID,
                       STR_FMT ": a socket's path has at most %zu bytes, this one has %zu: give a "
                               "shorter one with --socket PATH, or none with --socket off",
                       STR_ARG(path), sizeof address.sun_path - 1, path.len);
    s->socket = path;
    return loop_listen_unix(s->loop, s->arena, path, server_accept, s->server, &s->local);
}

static err open_doors(struct serving *s)
{
    str at = s->config.listen;
    uint16_t port = 0;

    s->loop = loop_new();
    s->server = server_make(s);
    TRY(loop_listen_tcp(s->loop, s->arena, at, &port, server_accept, s->server, &s->tcp));
    while (at.at[at.len - 1] != ':')
        at.len--;
    s->url = arena_printf(s->arena, "http://" STR_FMT "%u", STR_ARG(at), (unsigned)port);
    TRY(listen_local(s));
    return threads_start(s->threads, s->arena, s->server, s->url);
}

/* ---- stopping ---- */

static void stopped(void *self)
{
    loop_stop(((struct serving *)self)->loop);
}

static void close_doors(struct serving *s)
{
    if (s->tcp)
        listener_close(s->tcp);
    if (s->local)
        listener_close(s->local);
    s->tcp = s->local = NULL;
}

static void on_signal(void *self)
{
    struct serving *s = self;

    if (s->stopping) {
        log_warn("serve.abandon", LOG_S("why", STR("a second signal")));
        _exit(1);
    }
    s->stopping = true;
    log_info("serve.stop", LOG_N("grace_ms", s->config.stop_grace_ms));
    process_notify("STOPPING=1");
    close_doors(s);
    server_stop(s->server, s->config.stop_grace_ms, stopped);
}

/* ---- from the start to the end ---- */

/* What others may know of it. */
static str store_shown(struct serving *s)
{
    return s->shared ? config_store_shown(s->arena, s->config.store)
                     : arena_printf(s->arena, "sqlite:" STR_FMT, STR_ARG(s->data.database));
}

static err announce(struct serving *s, struct cli *c)
{
    struct data_server server = { .url = s->url,
                                  .socket = s->socket,
                                  .store = store_shown(s),
                                  .pid = getpid(),
                                  .version = BATON_VERSION };

    err e = data_announce(s->arena, &s->data, &server);
    if (e && e->kind == ERR_FULL)
        data_retract(s->arena, &s->data); /* one that is there is of another server */
    TRY(unless_full(e));
    s->announced = true;
    cli_write(c, arena_printf(s->arena, "baton listening on " STR_FMT "\n", STR_ARG(s->url)));
    cli_flush(c);
    process_notify("READY=1");
    return NULL;
}

static err serve(struct serving *s, struct cli *c)
{
    int64_t began = clock_wall_ms();

    TRY(listen_check(s));
    TRY(store_check(s));
    process_log((enum log_level)s->config.log_level);
    local_runner_note(&s->runner);
    process_prepare();
    connections_fit(s);
    TRY(open_data(s));
    TRY(open_doors(s));
    s->term = signal_new(s->loop, SIGTERM, on_signal, s);
    s->interrupt = signal_new(s->loop, SIGINT, on_signal, s);
    TRY(announce(s, c));
    log_info("serve.ready", LOG_S("url", s->url), LOG_S("data", s->folder),
             LOG_S("store", store_shown(s)), LOG_S("version", STR(BATON_VERSION)),
             LOG_N("pid", getpid()), LOG_N("ms", clock_wall_ms() - began));
    loop_run(s->loop);
    return NULL;
}

static void take_apart(struct serving *s)
{
    local_runner_stop(&s->runner);
    close_doors(s);
    if (s->term)
        signal_free(s->term);
    if (s->interrupt)
        signal_free(s->interrupt);
    if (s->threads)
        threads_stop(s->threads);
    if (s->server)
        server_free(s->server);
    mcp_free(s->mcp);
    if (s->loop)
        loop_free(s->loop);
    if (s->threads)
        threads_free(s->threads);
    if (s->table)
        op_table_free(s->table);
    if (s->store)
        store_close(s->store);
    if (s->announced)
        data_retract(s->arena, &s->data);
    data_close(&s->data);
}

static err runner_read(struct serving *s, struct cli *c)
{
    const char *given = cli_value(c, "--runner");

    s->runs_agents = !given || strcmp(given, "on") == 0;
    if (given && !s->runs_agents && strcmp(given, "off") != 0)
        return usage_error(c, arena_printf(s->arena, "--runner expects on or off, but found '%s'.",
                                           given));
    return NULL;
}

err serve_run(struct cli *c)
{
    struct serving s = { .arena = c->arena, .data = { .lock = -1, .database_lock = -1 } };

    TRY(place_dir(s.arena, cli_value(c, "--data"), &s.folder));
    TRY(config_take(&s, c));
    TRY(runner_read(&s, c));
    s.mcp_fixtures = cli_flag(c, "--mcp-fixtures");
    if (cli_flag(c, "--settings")) {
        struct buf out = buf_in(c->arena);
        config_print(&out, &s.config);
        cli_write(c, buf_str(&out));
        return NULL;
    }
    err e = serve(&s, c);
    take_apart(&s);
    if (!e)
        log_info("serve.stopped");
    return e;
}
