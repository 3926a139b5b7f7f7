/* store_verbs.c: the commands `store`, and how they name, take and open databases. */
#include "app/store_verbs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/clock.h"
#include "app/config.h"
#include "app/data.h"
#include "client/endpoint.h"
#include "core/clock_reset.h"
#include "core/tables.h"
#include "json/write.h"

enum {
    STEPS_MAX = 64,
    BUSY_MS = 60 * 1000, /* a server under load lets others in seldom, and nobody waits for us */
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

err depot_name(struct cli *c, const char *word, struct depot *out)
{
    str name = str_from(word), folder, file;

    *out = (struct depot){ .locks = { -1, -1 } };
    TRY(secret_check(c, name));
    if (!word) {
        TRY(data_dir_find(c->arena, cli_value(c, "--data"), &folder));
        TRY(store_configured(c, folder, &name));
    }
    if (store_is_shared(name)) {
        out->name = name;
        out->shown = config_store_shown(c->arena, name);
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

err depot_exists(struct cli *c, struct depot *d)
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
err depot_lock(struct cli *c, struct depot *d)
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

/* ---- opening ---- */

/* Opening migrates, which must not happen under a server that knows the tables as they are. */
static err version_check(struct cli *c, const struct depot *d)
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

err depot_open(struct cli *c, struct depot *d, enum store_use use, int version)
{
    static struct store_migration steps[STEPS_MAX];
    struct store_options options = { .migrations = steps,
                                     .migration_count = version ? version : tables_step_count,
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

void depot_close(struct depot *d)
{
    store_disconnect(d->sql);
    if (d->store)
        store_close(d->store);
    d->sql = NULL;
    d->store = NULL;
}

void depot_release(struct depot *d)
{
    depot_close(d);
    for (int i = 0; i < 2; i++) {
        if (d->locks[i] >= 0)
            close(d->locks[i]);
        d->locks[i] = -1;
    }
}

/* ---- the command `store migrate` ---- */

static void migrated_write(struct cli *c, const struct depot *d)
{
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);

    if (c->json) {
        json_write_begin(&w, '{');
        write_text(&w, STR("store"), term_utf8(c->arena, d->shown));
        write_int(&w, STR("version"), tables_step_count);
        json_write_end(&w, '}');
        buf_byte(&out, '\n');
    } else {
        buf_add(&out, STR("OK: "));
        term_put(&out, PAINT_PLAIN, d->shown);
        buf_printf(&out, " has the tables of version %d\n", tables_step_count);
    }
    cli_write(c, buf_str(&out));
}

static err store_migrate_verb(struct cli *c)
{
    struct depot d;

    TRY(depot_name(c, c->arg_count ? c->args[0] : NULL, &d));
    err e = depot_lock(c, &d);
    if (!e)
        e = depot_open(c, &d, STORE_READS, 0);
    if (!e)
        migrated_write(c, &d);
    depot_release(&d);
    return e;
}

/* ---- the command `store set-clock` ---- */

static err clock_set(struct cli *c, struct depot *d, int64_t *back_ms)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct store_node node;
    err why;

    TRY(store_begin(d->sql, c->arena, &node));
    int64_t now = node.now ? node.now : clock_wall_ms();
    struct tx tx = {
        .arena = c->arena, .sql = d->sql, .now_ms = now, .seq = &node.seq, .actor = &system
    };
    *back_ms = node.clock > now ? node.clock - now : 0;
    err e = *back_ms ? clock_reset(&tx, *back_ms) : NULL;
    if (e || !*back_ms) {
        store_rollback(d->sql);
        return e;
    }
    node.clock = now;
    return store_commit(d->sql, &node, &why) == STORE_COMMITTED ? NULL : why;
}

static err store_set_clock_verb(struct cli *c)
{
    struct depot d;
    int64_t back_ms = 0;

    TRY(depot_name(c, c->arg_count ? c->args[0] : NULL, &d));
    err e = depot_exists(c, &d);
    if (!e)
        e = depot_lock(c, &d);
    if (!e)
        e = depot_open(c, &d, STORE_WRITES, 0);
    if (!e)
        e = clock_set(c, &d, &back_ms);
    if (!e)
        cli_write(c, c->json ? arena_printf(c->arena, "{\"seconds_back\":%lld}\n",
                                            (long long)(back_ms / 1000))
                             : arena_printf(c->arena, "OK: the clock was set back by %lld s\n",
                                            (long long)(back_ms / 1000)));
    depot_release(&d);
    return e;
}

/* ---- the commands ---- */

// clang-format off
#define OPTION_JSON    { "--json",    0,   NULL,  "one line of JSON, and errors as JSON too" }
#define OPTION_DATA    { "--data",    0,   "DIR", "the data directory whose store is meant" }
#define OPTION_VERBOSE { "--verbose", 'v', NULL,  "show how far it is, also where nobody looks" }

static const struct option copy_options[] = {
    { "--from", 0, "STORE", "what to copy" },
    { "--to",   0, "STORE", "a database that is new, or empty" },
    OPTION_VERBOSE, OPTION_JSON, { 0 },
};
static const struct option check_options[] = {
    { "--deep",   0, NULL,    "check every document, replay every history, parse every text too" },
    { "--repair", 0, NULL,    "say which states can be made whole again, and how" },
    { "--from",   0, "STORE", "with --repair: a backup or a copy of it, which may be older" },
    { "--apply",  0, NULL,    "with --repair: do it" },
    OPTION_DATA, OPTION_VERBOSE, OPTION_JSON, { 0 },
};
static const struct option migrate_options[] = { OPTION_DATA, OPTION_JSON, { 0 } };
static const struct option backup_options[] = { OPTION_DATA, OPTION_VERBOSE, OPTION_JSON, { 0 } };
// clang-format on

#define STORES                                                                        \
    "A STORE is sqlite:PATH, a file, a data directory, or postgres://USER@HOST/DB.\n" \
    "Put a password into ~/.pgpass or PGPASSWORD; in the URL it is refused, since\n"  \
    "everybody on the machine can read a command line.\n"

const struct verb store_verbs[] = {
    {
        .name = "copy",
        .summary = "Copy a whole database into a new one, of another kind too",
        .example = "--from ./team --to postgres://db.example/baton",
        .details = STORES
        "\n"
        "Stop the servers of the source first: nothing may be written to it meanwhile.\n"
        "The target must have nothing in it. Both are compared at the end, row by\n"
        "row. When it is interrupted, the source is as it was, and the target is refused\n"
        "by every server: drop it (a file: delete it; PostgreSQL: dropdb and createdb),\n"
        "and copy again.\n"
        "\n"
        "Exit codes: 0 copied, and both are the same; 1 they are not; 2 wrong usage;\n"
        "5 there is no such database; 6 a server uses it, or the target is not empty;\n"
        "14 the disk or the database says no; 15 it is full.",
        .options = copy_options,
        .run = store_copy_verb,
    },
    {
        .name = "check",
        .args = "[STORE]",
        .args_max = 1,
        .summary = "Check that everything in a database fits together",
        .example = "--deep",
        .details = STORES
        "Without a STORE it is the one of the data directory's server.\n"
        "\n"
        "It reads all of it as it is at one moment, while the server may go on. Each\n"
        "thing that is wrong is told with what to do about it. A database of an older\n"
        "baton is migrated first, as a server would do; one with nothing of baton in it\n"
        "is left as it is.\n"
        "\n"
        "--repair needs the server to be stopped. It takes rows of damaged states from a\n"
        "backup (--from) and makes documents that are no JSON anew from their histories.\n"
        "What is whole is never touched, and what would not be whole afterwards is left\n"
        "as it is. Without --apply it only says what it would do.\n"
        "\n"
        "Exit codes: 0 all is well, or is again; 1 something is wrong; 2 wrong usage;\n"
        "5 there is no such database; 6 a server uses it; 14 the disk or the database\n"
        "says no.",
        .options = check_options,
        .run = store_check_verb,
    },
    {
        .name = "migrate",
        .args = "[STORE]",
        .args_max = 1,
        .summary = "Make the tables of a new database, or bring old ones up to date",
        .example = "postgres://owner@db.example/baton",
        .details = STORES
        "Without a STORE it is the one of the data directory's server.\n"
        "\n"
        "A server does the same when it starts. This is for those who let servers work\n"
        "in the name of a role that may not change tables. Servers of an older baton\n"
        "that share the database answer 503 from then on, until they are replaced.\n"
        "\n"
        "Exit codes: 0 they are up to date; 2 wrong usage; 6 a server uses the file, or\n"
        "a newer baton has been there; 14 the disk or the database says no; 15 it is\n"
        "full.",
        .options = migrate_options,
        .run = store_migrate_verb,
    },
    {
        .name = "set-clock",
        .args = "[STORE]",
        .args_max = 1,
        .summary = "Set the clock of a database back to now, after one that was far ahead",
        .example = "--data ./team",
        .details = STORES
        "Without a STORE it is the one of the data directory's server.\n"
        "\n"
        "Time in a database never goes back: when a machine's clock was years ahead, what\n"
        "was written then keeps all servers at that time (clock.behind in the log).\n"
        "Stop the servers, set the machine's clock, and run this: time goes on from now,\n"
        "and what was to happen comes as much later as it was to. What has happened at\n"
        "times that have not come counts as of now.\n"
        "\n"
        "Exit codes: 0 it is right now, or was; 2 wrong usage; 5 there is no such\n"
        "database; 6 a server uses it; 14 the disk or the database says no; 15 it is full.",
        .options = migrate_options,
        .run = store_set_clock_verb,
    },
    {
        .name = "backup",
        .args = "FILE",
        .args_min = 1,
        .args_max = 1,
        .summary = "Write all that is stored into a new SQLite file, while the server runs",
        .example = "monday.db --data ./team",
        .details =
            "The file holds everything as it was at the moment when the command began, and\n"
            "was checked and synced when it ends. To restore it, stop the server, put the\n"
            "file in the place of DIR/baton.db, delete DIR/baton.db-wal and\n"
            "DIR/baton.db-shm, and start the server. A store on PostgreSQL can be saved in\n"
            "this way too: 'baton store copy --from FILE' brings it into a new database.\n"
            "\n"
            "Exit codes: 0 written; 1 it was written, and something in it is wrong, as\n"
            "'baton store check' says; 5 there is no database; 6 the file is there already;\n"
            "14 the disk says no; 15 it is full.",
        .options = backup_options,
        .run = store_backup_verb,
    },
    { 0 },
};
