/* serve.c: the command `serve`: puts the parts together, runs the loop, takes them apart.
 *
 * What it makes, it makes in order, and takes apart in the reverse order, however
 * far it got. Everything that a crash leaves behind is either in the database or
 * made anew at the next start. */
#include "app/serve.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/inside.h"
#include "app/load_entries.h"
#include "app/local_runner.h"
#include "app/operator.h"
#include "app/process.h"
#include "app/serve_plan.h"
#include "app/threads.h"
#include "base/date.h"
#include "base/log.h"
#include "core/audit.h"
#include "core/tables.h"
#include "mcp/mcp.h"

enum {
    STEPS_MAX = 64,
    FILES_OWN = 104, /* files that are no connections: the database's, the log, sockets */
    FILES_LEAST = 128,
    CLOCK_BEHIND_MS = 60 * 1000, /* a wall clock this far behind is worth a line */
    TURN_MS = 5000,              /* beyond the time that another node may hold the writer's lock */
};

struct serving {
    struct arena *arena;
    struct serve_plan plan;
    struct data data;
    struct clock clock;
    int64_t seq; /* of the last event at the start */
    struct store *store;
    struct op_table *table;
    struct threads *threads;
    struct loop *loop;
    struct server *server;
    struct listener *tcp, *local;
    struct signal_watch *term, *interrupt, *hangup;
    struct mcp *mcp;
    const struct mcp_served *served; /* by it; NULL: what we have */
    struct local_runner runner;
    str url, socket; /* socket: empty when there is none */
    bool announced, stopping;
};

/* ---- the process ---- */

/* Each connection is a file; with fewer files than connections, some could not be accepted. With too
 * few for itself a server would fail anywhere. */
static err connections_fit(struct serving *s)
{
    uint64_t files = process_files();
    uint64_t most = files - FILES_OWN;

    if (files < FILES_LEAST)
        return err_new(
            s->arena, ERR_UNAVAILABLE,
            "expected a limit of at least %d open files, found %llu: raise it (ulimit -n "
            "1024, or LimitNOFILE= of a service)",
            FILES_LEAST, (unsigned long long)files);
    if (s->plan.config.limits.connections_max <= most)
        return NULL;
    log_warn("serve.files", LOG_N("open_files_max", (int64_t)files),
             LOG_N("connections_max", (int64_t)most),
             LOG_S("do", STR("raise the limit of open files (ulimit -Hn)")));
    s->plan.config.limits.connections_max = (uint32_t)most;
    return NULL;
}

/* ---- the store ---- */

static err open_store(struct serving *s)
{
    static struct store_migration steps[STEPS_MAX];
    struct store_options options = { .migrations = steps,
                                     .migration_count = tables_step_count,
                                     .version_min = TABLES_VERSION_MIN,
                                     .wal_bytes_max = s->plan.config.wal_bytes_max,
                                     .idle_ms = (int)s->plan.config.lock_ms,
                                     .find_ms = (int)s->plan.config.find_ms };

    if (s->plan.shared) /* whoever waits for a node that stopped gets its turn */
        options.busy_ms = options.idle_ms + TURN_MS;
    assert(tables_step_count <= STEPS_MAX);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    return store_open(s->arena, s->plan.shared ? s->plan.config.store : s->data.database, &options,
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

/* A log that has lost its end would give numbers twice, and what rows say of them would become wrong:
 * nothing is served before somebody has decided. */
static err end_check(struct serving *s)
{
    struct sql *sql = threads_engine(s->threads)->sql;
    struct audit_end end;
    struct store_node node;

    TRY(store_begin(sql, s->arena, &node));
    struct tx tx = { .arena = s->arena, .sql = sql, .seq = &node.seq };
    err e = audit_end_read(&tx, &end);
    if (!e)
        e = audit_end_check(&tx, &end);
    store_rollback(sql);
    return e;
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

    TRY(operator_token(s->arena, e, s->plan.folder));
    TRY(runner_token(s->arena, e, s->plan.folder));
    TRY(unless_full(entries_load(s->arena, e, s->plan.folder, s->plan.shared)));
    json_put(s->arena, &input, STR("node_id"), json_string(STR(""))); /* others see it later */
    TRY(unless_full(system_perform(s->arena, e, "system.start", &input, &answer)));
    TRY(store_begin(e->sql, s->arena, &node));
    store_rollback(e->sql);
    s->seq = node.seq;
    return NULL;
}

static err open_data(struct serving *s)
{
    TRY(data_make(s->arena, s->plan.folder));
    char *whole = realpath(s->plan.folder.at, NULL); /* server.json is read from elsewhere */
    if (whole)
        s->plan.folder = arena_copy(s->arena, str_from(whole));
    free(whole);
    TRY(data_check(s->arena, s->plan.folder));
    TRY(data_open(s->arena, s->plan.folder, s->plan.database, &s->data));
    TRY(open_store(s));
    process_forget();
    TRY(op_table_all(s->arena, &s->table));
    TRY(threads_new(s->arena,
                    &(struct threads_options){ .store = s->store,
                                               .table = s->table,
                                               .clock = &s->clock,
                                               .shared = s->plan.shared,
                                               .data = &s->data,
                                               .config = &s->plan.config },
                    &s->threads));
    TRY(start_clock(s));
    TRY(end_check(s));
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

/* Beside its threads, without which it does not go on, a server relies on its runner. */
static void parts(void *self, struct json_writer *w)
{
    json_write_name(w, STR("runner"));
    local_runner_write(&((struct serving *)self)->runner, w);
}

/* What it signs for clients is good until it stops, and on this node alone: with another secret a
 * client is told to ask again, which every client can. */
static struct mcp *mcp_make(struct serving *s)
{
    struct mcp_options options = { .table = s->table,
                                   .version = BATON_VERSION,
                                   .served = s->served,
                                   .wait_ms = s->plan.config.limits.mcp_wait_ms };
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
        .limits = s->plan.config.limits,
        .seq = s->seq,
        .shared = s->plan.shared,
        .system = &system,
        .cache_bytes = s->plan.config.cache_bytes,
        .now_ms = now_ms,
        .submit = submit,
        .admit = admit,
        .metrics = metrics,
        .unready = unready,
        .parts = parts,
        .inside = inside_run,
        .self = s,
        .version = BATON_VERSION,
    };
    s->mcp = mcp_make(s);
    options.mcp = s->mcp;
    options.mcp_open = s->served;
    options.hosts = serve_plan_hosts(s->arena, &s->plan, &options.host_count);
    options.config = config_rows(s->arena, &s->plan.config, &options.config_count);
    return server_new(&options);
}

static err listen_local(struct serving *s)
{
    struct sockaddr_un address;
    str path = s->plan.config.socket;

    if (str_eq(path, STR("off")))
        return NULL;
    if (!path.len)
        path = data_path(s->arena, s->plan.folder, "baton.sock");
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
    str at = s->plan.config.listen;
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
    log_info("serve.stop", LOG_N("grace_ms", s->plan.config.stop_grace_ms));
    process_notify("STOPPING=1");
    close_doors(s);
    server_stop(s->server, s->plan.config.stop_grace_ms, stopped);
}

/* A terminal that closes may say so more than once: the system to all, and the shell to its jobs. */
static void on_hangup(void *self)
{
    struct serving *s = self;

    if (!s->stopping)
        on_signal(s);
}

/* Who was started by nohup goes on without its terminal. */
static bool hangup_counts(void)
{
    struct sigaction now;

    return sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN;
}

/* ---- from the start to the end ---- */

/* What others may know of it. */
static str store_shown(struct serving *s)
{
    return s->plan.shared ? config_store_redacted(s->arena, s->plan.config.store)
                          : arena_printf(s->arena, "sqlite:" STR_FMT, STR_ARG(s->data.database));
}

static err announce(struct serving *s, struct cli *c)
{
    char now[DATE_TEXT_MAX];
    struct data_server server = { .url = s->url,
                                  .socket = s->socket,
                                  .store = store_shown(s),
                                  .pid = getpid(),
                                  .version = BATON_VERSION,
                                  .started_at = date_print(now, clock_wall_ms()) };

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

    TRY(serve_plan_check(s->arena, &s->plan));
    process_log((enum log_level)s->plan.config.log_level);
    local_runner_note(&s->runner);
    process_prepare();
    TRY(connections_fit(s));
    TRY(open_data(s));
    TRY(open_doors(s));
    s->term = signal_new(s->loop, SIGTERM, on_signal, s);
    s->interrupt = signal_new(s->loop, SIGINT, on_signal, s);
    if (hangup_counts())
        s->hangup = signal_new(s->loop, SIGHUP, on_hangup, s);
    TRY(announce(s, c));
    if (s->plan.runs_agents)
        local_runner_start(&s->runner, s->loop, s->plan.folder);
    log_info("serve.ready", LOG_S("url", s->url), LOG_S("data", s->plan.folder),
             LOG_S("store", store_shown(s)), LOG_S("version", STR(BATON_VERSION)),
             LOG_N("pid", getpid()), LOG_N("ms", clock_wall_ms() - began));
    loop_run(s->loop);
    return s->stopping
               ? NULL
               : err_new(s->arena, ERR_INTERNAL, "the loop has ended, and nobody asked it to");
}

static void take_apart(struct serving *s)
{
    local_runner_stop(&s->runner);
    close_doors(s);
    if (s->term)
        signal_free(s->term);
    if (s->interrupt)
        signal_free(s->interrupt);
    if (s->hangup)
        signal_free(s->hangup);
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

err serve_run_with(struct cli *c, const struct mcp_served *served)
{
    struct serving s = { .arena = c->arena,
                         .served = served,
                         .data = { .lock = -1, .database_lock = -1 } };

    TRY(serve_plan_read(c, &s.plan));
    if (cli_flag(c, "--settings")) {
        struct buf out = buf_in(c->arena);
        config_print(&out, &s.plan.config);
        cli_write(c, buf_str(&out));
        return NULL;
    }
    err e = serve(&s, c);
    take_apart(&s);
    if (!e)
        log_info("serve.stopped");
    return e;
}

err serve_run(struct cli *c)
{
    return serve_run_with(c, NULL);
}
