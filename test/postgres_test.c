/* postgres_test.c: the store on PostgreSQL, as one node sees it: statements on their way, and what
 * it says when something is wrong. What both databases promise is in store_test.c, and in all tests
 * of operations (sim/both.h); several nodes are in postgres_nodes_test.c. */
#include <stdio.h>

#include "check.h"
#include "sim/world.h"
#include "sim/postgres.h"
#include "store/libpq.h"
#include "store/store.h"

static const char *const first[] = {
    "CREATE TABLE thing (name TEXT COLLATE \"C\" PRIMARY KEY, size BIGINT, body TEXT)", NULL
};
static const struct store_migration migrations[] = { { 1, first } };
static const struct store_options options = { .migrations = migrations, .migration_count = 1 };

static struct store *opened(const char *url)
{
    struct store *s;
    CHECK_OK(store_open(check_arena(), str_from(url), &options, &s));
    return s;
}

static struct sql *connected(struct store *s, enum store_use use)
{
    struct sql *sql;
    CHECK_OK(store_connect(check_arena(), s, use, &sql));
    return sql;
}

static err put(struct sql *w, const char *name)
{
    return sql_exec(w, "INSERT INTO thing (name, size) VALUES ($1, 1)", ARGS(TEXT(str_from(name))));
}

static void commit(struct sql *w, struct store_node *node)
{
    err why;
    node->seq++;
    enum store_outcome outcome = store_commit(w, node, &why);
    CHECK_OK(why);
    CHECK_INT(outcome, STORE_COMMITTED);
}

/* The names that are there, in order. */
static const char *names(struct sql *r)
{
    struct buf out = buf_in(check_arena());
    const struct row *rows;
    size_t count;

    CHECK_OK(store_begin(r, check_arena(), NULL));
    CHECK_OK(sql_all(r, &rows, &count, "SELECT name FROM thing ORDER BY name", NO_ARGS));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, STR_FMT " ", STR_ARG(row_str(&rows[i], 0)));
    store_rollback(r);
    return buf_str(&out).at;
}

/* ---- statements on their way ---- */

static void put_in_a_command(struct sql *w, const char *name)
{
    CHECK_OK(store_mark(w));
    CHECK_OK(put(w, name));
    CHECK_OK(store_keep(w));
}

/* Three commands, and the one in the middle meets an error, which is found when the next one reads,
 * or at the commit: then all of them are to run again, one by one. A refused one had sent nothing. */
static void end_with_the_error_of_one_that_was_kept(struct sql *w, struct sql *r)
{
    struct store_node node;
    const struct row *row;
    err why;

    for (int reads = 0; reads < 2; reads++) {
        CHECK_OK(store_begin(w, check_arena(), &node));
        put_in_a_command(w, "a");
        put_in_a_command(w, "a");
        CHECK_OK(store_mark(w));
        err e = reads ? sql_one(w, &row, "SELECT count(*) FROM thing", NO_ARGS) : NULL;
        store_undo(w);
        CHECK_INT(store_dead(w), reads);
        if (reads)
            store_rollback(w);
        else
            CHECK_INT(store_commit(w, &node, &why), STORE_ROLLED_BACK);
        CHECK_ERR(reads ? e : why, ERR_INTERNAL);
        CHECK(strstr((reads ? e : why)->message.at, "thing_pkey"));
    }
    CHECK_OK(store_begin(w, check_arena(), &node));
    put_in_a_command(w, "a");
    CHECK_OK(store_mark(w));
    CHECK_OK(put(w, "b"));
    store_undo(w);
    put_in_a_command(w, "d");
    commit(w, &node);
    CHECK_STR(str_from(names(r)), "a d ");
}

/* A read finds the error of what was sent before it. A statement that was to be prepared behind the
 * failed one was not, and is when it is needed again. */
static void find_the_error_at_the_next_read(struct sql *w, struct sql *r)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(w, check_arena(), &node));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(store_mark(w));
        CHECK_OK(put(w, i ? "e" : "a"));
        CHECK_OK(sql_exec(w, "UPDATE thing SET size = $1 WHERE name = 'e'", ARGS(INT(7))));
        err e = sql_one(w, &row, "SELECT size FROM thing WHERE name = 'e'", NO_ARGS);
        if (i == 0) {
            CHECK_ERR(e, ERR_INTERNAL);
            CHECK_ERR(put(w, "f"), ERR_UNAVAILABLE); /* nothing more in this command */
            store_undo(w);
        } else {
            CHECK_OK(e);
            CHECK_INT(row_int(row, 0), 7);
            CHECK_OK(store_keep(w));
        }
    }
    commit(w, &node);
    CHECK_STR(str_from(names(r)), "a d e ");
}

static void refuse_what_is_no_text(struct sql *w)
{
    struct store_node node;
    err why;

    CHECK_OK(store_begin(w, check_arena(), &node));
    CHECK_OK(store_mark(w));
    CHECK_OK(sql_exec(w, "INSERT INTO thing (name) VALUES ($1)", ARGS(TEXT(STR("x\0y")))));
    CHECK_OK(store_keep(w));
    CHECK_INT(store_commit(w, &node, &why), STORE_ROLLED_BACK);
    CHECK_ERR(why, ERR_INVALID);
}

static void end_with_a_statement_that_takes_too_long(struct sql *w, struct sql *r)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(w, check_arena(), &node));
    CHECK_OK(store_mark(w));
    CHECK_OK(put(w, "g"));
    CHECK_OK(sql_exec(w, "SET LOCAL statement_timeout = 20", NO_ARGS));
    CHECK_ERR(sql_one(w, &row, "SELECT count(*) FROM pg_sleep(10)", NO_ARGS), ERR_UNAVAILABLE);
    CHECK(store_dead(w));
    store_undo(w);
    store_rollback(w);
    CHECK_STR(str_from(names(r)), "a d e ");
}

static void carry_much_at_once(struct sql *w)
{
    struct store_node node;
    const struct row *row;
    struct buf text = buf_in(check_arena());

    memset(buf_reserve(&text, 1 << 20), 'x', 1 << 20);
    text.len = 1 << 20;
    CHECK_OK(store_begin(w, check_arena(), &node));
    CHECK_OK(store_mark(w));
    for (int i = 0; i < 2000; i++)
        CHECK_OK(sql_exec(w, "INSERT INTO thing (name, body) VALUES ($1, $2)",
                          ARGS(TEXT(arena_printf(check_arena(), "much %d", i)),
                               TEXT(i % 500 ? STR("") : buf_str(&text)))));
    CHECK_OK(store_keep(w));
    CHECK_OK(sql_one(w, &row,
                     "SELECT count(*), count(DISTINCT name), max(length(body)) FROM thing"
                     " WHERE name >= 'much' AND name < 'mucj'",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), 2000);
    CHECK_INT(row_int(row, 1), 2000);
    CHECK_INT(row_int(row, 2), 1 << 20);
    CHECK_ERR(sql_one(w, &row, "SELECT sum(size) FROM thing", NO_ARGS), ERR_INTERNAL);
    store_rollback(w);
}

TEST_LIMIT(statements_that_travel_together_fail_together, 60)
{
    struct postgres *p = postgres_start();
    struct store *s = opened(postgres_new_database(p));
    struct sql *w = connected(s, STORE_WRITES), *r = connected(s, STORE_READS);

    end_with_the_error_of_one_that_was_kept(w, r);
    find_the_error_at_the_next_read(w, r);
    refuse_what_is_no_text(w);
    end_with_a_statement_that_takes_too_long(w, r);
    carry_much_at_once(w);
    CHECK_OK(store_checkpoint(r, check_arena()));
    CHECK_OK(store_restart_log(w, check_arena()));
    CHECK_INT(store_log_bytes(w), 0);
    store_disconnect(r);
    store_disconnect(w);
    store_close(s);
    postgres_stop(p);
}

/* ---- operations ---- */

/* Where several nodes share a database, its clock counts and not theirs. */
static void time_is_the_databases(const char *url)
{
    struct world *w;

    CHECK_OK(world_open(url, NULL, &w));
    struct command *c = world_command(w, "schema.create", "{'name':'s','json_schema':true}", "");
    struct engine e = w->engine;
    CHECK_OK(store_connect(check_arena(), w->store, STORE_WRITES, &e.sql));
    op_perform(&e, &c, 1);
    CHECK_OK(c->error);
    CHECK(c->events->time_ms > w->now_ms);
    store_disconnect(e.sql);
    world_close(w);
}

/* Long texts are stored as they are. */
static void texts_are_unpacked(const char *url)
{
    const struct row *row;
    struct world *w;

    CHECK_OK(world_open(url, NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &(struct store_node){ 0 }));
    CHECK_OK(sql_one(w->engine.sql, &row,
                     "SELECT count(*), sum((attstorage <> 'e')::int) FROM pg_attribute"
                     " WHERE attrelid IN ('state'::regclass, 'log'::regclass)"
                     " AND attname IN ('body', 'data')",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), 3);
    CHECK_INT(row_int(row, 1), 0);
    store_rollback(w->engine.sql);
    world_close(w);
}

TEST_USING(a_database_of_nodes_has_one_clock_and_long_texts_as_they_are, 60, &postgres_service)
{
    struct postgres *p = postgres_shared();

    texts_are_unpacked(postgres_new_schema(p));
    time_is_the_databases(postgres_new_schema(p));
    postgres_leave(p);
}

/* ---- what it says ---- */

/* Tries to open, and gives the message, which must not hold the password. */
static const char *refusal(const char *url, enum error_kind kind)
{
    struct store *s;
    err e = store_open(check_arena(), str_from(url), &options, &s);

    CHECK_ERR(e, kind);
    if (strstr(e->message.at, "s3cret"))
        check_fail(__FILE__, __LINE__, "it tells the password: %s", e->message.at);
    return e->message.at;
}

static void refused(const char *url, const char *advice)
{
    const char *message = refusal(url, ERR_UNAVAILABLE);

    if (!strstr(message, advice))
        check_fail(__FILE__, __LINE__, "%s: expected \"%s\" in: %s", url, advice, message);
}

TEST(urls_that_would_show_a_password_are_refused)
{
    static const char *const urls[] = {
        "postgres://me:s3cret/x@db/baton",  "postgres://me:12/s3cret@db/baton",
        "postgres://me:x@s3cret@db/baton",  "postgres://me:s3cret@db/baton?nosuch=1",
        "postgres://me:s3cret%zz@db/baton",
    };
    const struct libpq *pq;

    if (libpq_load(check_arena(), &pq))
        check_skip("libpq.so.5 is not installed (Debian: libpq5)");
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        CHECK(strstr(refusal(urls[i], ERR_INVALID), "postgres://USER@HOST:PORT/DATABASE"));
    refused("postgres://me:s3cret@127.0.0.1:1/baton", "see whether it runs there");
    refused("postgres://me:s3cret@no.such.host.invalid/baton", "the host's name");
}

TEST(a_missing_library_is_named_with_its_package)
{
    struct libpq none;
    err e = libpq_load_from(check_arena(), "libnone.so.5", &none);

    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(strstr(e->message.at, "apt install libpq5"));
}

/* A role that must give its password. */
static void password_ask_for(struct postgres *p)
{
    const char *path = arena_printf(check_arena(), "%s/pg_hba.conf", postgres_folder(p)).at;
    str rules = check_read(path);

    check_write(path, arena_printf(check_arena(), "local all secretive scram-sha-256\n" STR_FMT,
                                   STR_ARG(rules)));
    postgres_exec(p, "CREATE ROLE secretive LOGIN PASSWORD 'other'");
    CHECK(postgres_number(p, "SELECT pg_reload_conf()::int"));
}

TEST_LIMIT(what_is_wrong_is_said_with_what_to_do, 60)
{
    struct postgres *p = postgres_start();

    refused(postgres_url(p, "postgres:s3cret", "nosuch"), "create it first (createdb)");
    refused(postgres_url(p, "nobody:s3cret", "postgres"), "create it first (createuser)");
    password_ask_for(p);
    refused(postgres_url(p, "secretive:s3cret", "postgres"), "put the right password");
    refused(postgres_url(p, "secretive", "postgres"), "put the right password");

    postgres_exec(p, "CREATE ROLE weak LOGIN");
    refused(postgres_url(p, "weak", "postgres"), "let the role own the database");
    postgres_exec(p, "CREATE DATABASE calm");
    postgres_exec(p, "ALTER DATABASE calm SET default_transaction_read_only = on");
    refused(postgres_url(p, "postgres", "calm"), "name the primary");
    postgres_stop(p);
}
