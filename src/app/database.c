/* database.c: how the commands `store` name, take and open databases. */
#include "app/database.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/config.h"
#include "app/data.h"
#include "client/endpoint.h"
#include "core/node.h"
#include "core/tables.h"

enum {
    STEPS_MAX = 64,
    BUSY_MS = 60 * 1000, /* a server under load lets others in seldom, and nobody waits for us */
    NODES_MAX = 100,     /* that are looked at */
};

/* ---- names ---- */

/* The command line of a process is there for everybody on the machine to read. */
static err secret_check(struct cli *c, str word)
{
    if (!config_store_has_password(word))
        return NULL;
    return usage_error(c, STR("a password on the command line can be read by everybody on this "
                              "machine: leave it out of the URL, and put it into ~/.pgpass or "
                              "PGPASSWORD."));
}

static bool is_folder(str path)
{
    struct stat st;
    return stat(path.at, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The store of a server with these settings. */
static err store_configured(struct cli *c, str folder, str *out)
{
    str path = data_path(c->arena, folder, "baton.toml"), text;
    struct config config = config_default();

    TRY(data_read(c->arena, path, &text));
    TRY(config_read(c->arena, &config, text, path.at));
    TRY(config_environment(c->arena, &config));
    *out = str_eq(config.store, STR("sqlite")) ? data_path(c->arena, folder, "baton.db")
                                               : config.store;
    return NULL;
}

err database_name(struct cli *c, const char *word, struct database *out)
{
    str name = str_from(word), folder, file;

    *out = (struct database){ .locks = { -1, -1 } };
    TRY(secret_check(c, name));
    if (!word) {
        TRY(data_dir_find(c->arena, cli_value(c, "--data"), &folder));
        TRY(store_configured(c, folder, &name));
    }
    if (store_is_shared(name)) {
        out->name = name;
        out->shown = config_store_redacted(c->arena, name);
        out->shared = true;
        return NULL;
    }
    if (str_starts(name, STR("sqlite:")))
        name = str_slice(name, strlen("sqlite:"), name.len);
    if (!name.len || (str_cut(name, ':', &folder, &file) && str_starts(file, STR("//"))))
        return usage_error(c, arena_printf(c->arena,
                                           "a store is sqlite:PATH, a file, a data directory or "
                                           "postgres://…, but '%s' was found",
                                           word ? word : ""));
    name = arena_copy(c->arena, name);
    out->name = is_folder(name) ? data_path(c->arena, name, "baton.db") : name;
    out->shown = out->name;
    return NULL;
}

err database_exists(struct cli *c, struct database *d)
{
    struct stat st;

    d->existing = true;
    if (d->shared || (stat(d->name.at, &st) == 0 && S_ISREG(st.st_mode)))
        return NULL;
    return err_new(c->arena, ERR_NOT_FOUND,
                   STR_FMT ": there is no database: name its file, its data directory, or "
                           "postgres://…",
                   STR_ARG(d->name));
}

/* ---- one at a time ---- */

static str folder_of(struct arena *a, str path)
{
    size_t slash = path.len;

    while (slash > 0 && path.at[slash - 1] != '/')
        slash--;
    return slash ? arena_copy(a, str_slice(path, 0, slash - (slash > 1))) : STR(".");
}

static bool is_default(str path)
{
    return str_eq(path, STR("baton.db")) || str_ends(path, STR("/baton.db"));
}

/* The server that has announced itself beside a database; false: none has. */
static bool server_beside(struct cli *c, str path, const struct json **out)
{
    str text = STR("");

    return is_default(path) &&
           !data_read(c->arena, data_path(c->arena, folder_of(c->arena, path), "server.json"),
                      &text) &&
           text.len && !json_parse(c->arena, text, NULL, out);
}

static err in_use(struct cli *c, str path)
{
    const struct json *server;

    if (server_beside(c, path, &server))
        return err_new(c->arena, ERR_CONFLICT,
                       STR_FMT " is used by a server, pid %lld: stop it first (kill %lld), and "
                               "start it again afterwards",
                       STR_ARG(path), (long long)json_int_or(server, "pid", 0),
                       (long long)json_int_or(server, "pid", 0));
    return err_new(c->arena, ERR_CONFLICT,
                   STR_FMT " is used by another baton: stop it, or wait for it", STR_ARG(path));
}

static err lock_take(struct cli *c, str database, str file, int *out)
{
    int fd = open(file.at, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_new(c->arena, ERR_UNAVAILABLE, STR_FMT ": cannot open it: %s", STR_ARG(file),
                       strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *out = fd;
        return NULL;
    }
    close(fd);
    return in_use(c, database);
}

/* A server locks its folder when the database is the one in there, else the database: see data.c.
 * It may be either. */
err database_lock(struct cli *c, struct database *d)
{
    if (d->shared)
        return NULL;
    if (is_default(d->name)) {
        str folder = folder_of(c->arena, d->name);
        TRY(lock_take(c, d->name, data_path(c->arena, folder, "baton.lock"), &d->locks[0]));
    }
    return lock_take(c, d->name, arena_printf(c->arena, STR_FMT ".lock", STR_ARG(d->name)),
                     &d->locks[1]);
}

/* Nobody has a lock on one that is shared, but who serves it says so. */
err database_unused(struct cli *c, const struct database *d, const struct store_node *node)
{
    struct buf who = buf_in(c->arena);
    const struct node *nodes;
    size_t count, alive = 0;
    struct tx tx = { .arena = c->arena,
                     .sql = d->sql,
                     .now_ms = node->now > node->clock ? node->now : node->clock };

    TRY(node_list(&tx, STR(""), NODES_MAX, &nodes, &count));
    for (size_t i = 0; i < count; i++)
        if (node_alive(&tx, &nodes[i]))
            buf_printf(&who, "%s" STR_FMT " at " STR_FMT, alive++ ? ", " : "",
                       STR_ARG(nodes[i].name), STR_ARG(nodes[i].url));
    if (!alive)
        return NULL;
    return err_new(c->arena, ERR_CONFLICT,
                   STR_FMT " is used by " STR_FMT ": stop %s first (one that was killed counts for "
                           "15 seconds more)",
                   STR_ARG(d->shown), STR_ARG(buf_str(&who)), alive > 1 ? "them" : "it");
}

/* ---- opening ---- */

/* Opening migrates, which must not happen under a server that knows the tables as they are. */
static err version_check(struct cli *c, const struct database *d)
{
    const struct json *server;

    if (d->shared || d->locks[1] >= 0 || !server_beside(c, d->name, &server) ||
        str_eq(json_str(server, "version"), STR(BATON_VERSION)))
        return NULL;
    return err_new(c->arena, ERR_CONFLICT,
                   STR_FMT " is used by a server of baton " STR_FMT ", and this is " BATON_VERSION
                           ": use the same one, or stop the server",
                   STR_ARG(d->shown), STR_ARG(json_str(server, "version")));
}

err database_open(struct cli *c, struct database *d, enum store_use use, int version)
{
    static struct store_migration steps[STEPS_MAX];
    struct store_options options = { .migrations = steps,
                                     .migration_count = version ? version : tables_step_count,
                                     .version_min = TABLES_VERSION_MIN,
                                     .existing = d->existing,
                                     .as_it_is = d->as_it_is };

    assert(tables_step_count <= STEPS_MAX && !d->store);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    TRY(version_check(c, d));
    if (!d->shared)
        options.busy_ms = BUSY_MS;
    umask(077); /* what is stored is for its owner alone */
    TRY(store_open(c->arena, d->name, &options, &d->store));
    return store_connect(c->arena, d->store, use, &d->sql);
}

void database_close(struct database *d)
{
    store_disconnect(d->sql);
    if (d->store)
        store_close(d->store);
    d->sql = NULL;
    d->store = NULL;
}

void database_release(struct database *d)
{
    database_close(d);
    for (int i = 0; i < 2; i++) {
        if (d->locks[i] >= 0)
            close(d->locks[i]);
        d->locks[i] = -1;
    }
}
