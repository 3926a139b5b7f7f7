/* store_verbs.c: the commands `store`. */
#include "app/store_verbs.h"

#include "app/clock.h"
#include "core/clock_reset.h"
#include "core/tables.h"
#include "json/write.h"

/* ---- the command `store migrate` ---- */

static void migrated_write(struct cli *c, const struct database *d)
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
    struct database d;

    TRY(database_name(c, c->arg_count ? c->args[0] : NULL, &d));
    err e = database_lock(c, &d);
    if (!e)
        e = database_open(c, &d, STORE_READS, 0);
    if (!e)
        migrated_write(c, &d);
    database_release(&d);
    return e;
}

/* ---- the command `store set-clock` ---- */

static err clock_set(struct cli *c, struct database *d, int64_t *back_ms)
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
    struct database d;
    int64_t back_ms = 0;

    TRY(database_name(c, c->arg_count ? c->args[0] : NULL, &d));
    err e = database_exists(c, &d);
    if (!e)
        e = database_lock(c, &d);
    if (!e)
        e = database_open(c, &d, STORE_WRITES, 0);
    if (!e)
        e = clock_set(c, &d, &back_ms);
    if (!e)
        cli_write(c, c->json ? arena_printf(c->arena, "{\"seconds_back\":%lld}\n",
                                            (long long)(back_ms / 1000))
                             : arena_printf(c->arena, "OK: the clock was set back by %lld s\n",
                                            (long long)(back_ms / 1000)));
    database_release(&d);
    return e;
}

/* ---- the command `store check` ---- */

static err store_check_verb(struct cli *c)
{
    struct database d;

    if (!cli_flag(c, "--repair") && (cli_value(c, "--from") || cli_flag(c, "--apply")))
        return usage_error(c, STR("--from and --apply are for --repair"));
    TRY(database_name(c, c->arg_count ? c->args[0] : NULL, &d));
    TRY(database_exists(c, &d));
    err e = cli_flag(c, "--repair") ? database_lock(c, &d) : NULL;
    if (!e)
        e = database_open(c, &d, cli_flag(c, "--repair") ? STORE_WRITES : STORE_READS, 0);
    if (!e)
        e = cli_flag(c, "--repair") ? repair_run(c, &d) : check_print(c, &d);
    database_release(&d);
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
