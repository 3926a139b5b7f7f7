/* store_copy_test.c: a database is copied whole, to a file or to PostgreSQL, or not at all. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "black/black.h"
#include "core/rows.h"
#include "sim/postgres.h"
#include "store_work.h"

/* ---- copying ---- */

TEST(a_copy_answers_as_the_original_does)
{
    work("a.db");
    str before = answers("a.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", "sqlite:b.db"), 0);
    CHECK(said("out", "; both are the same"));
    CHECK_INT(check_read("err").len, 0);
    same_answers(before, "b.db");
    EXITS(STORE("check", "b.db", "--deep"), 0);
    CHECK(said("out", "OK: b.db: "));
    EXITS(STORE("copy", "--from", "b.db", "--to", "c.db", "--json"), 0);
    CHECK(said("out", "\"to\":\"c.db\""));
    goes_on("b.db");
    goes_on("a.db");
    EXITS(STORE("check", "b.db", "--deep"), 0);
}

TEST_LIMIT(a_copy_goes_through_postgresql_and_back, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);

    work("a.db");
    str before = answers("a.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", url), 0);
    EXITS(STORE("check", url, "--deep"), 0);
    EXITS(STORE("copy", "--from", "a.db", "--to", url), 6);
    CHECK(said("err", "is not empty"));
    same_answers(before, url);
    EXITS(STORE("copy", "--from", url, "--to", "b.db", "--verbose"), 0);
    CHECK(said("err", "100%"));
    same_answers(before, "b.db");
    EXITS(STORE("check", "b.db", "--deep"), 0);
    goes_on(url);
    EXITS(STORE("check", url, "--deep"), 0);
    postgres_stop(p);
}

TEST(a_copy_is_refused_where_something_would_be_lost)
{
    struct world *w;

    work("a.db");
    work("b.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 6);
    CHECK(said("err", "b.db is not empty"));
    EXITS(STORE("copy", "--from", "none.db", "--to", "c.db"), 5);
    CHECK(access("c.db", F_OK) < 0);
    EXITS(STORE("copy", "--from", "a.db", "--to", "a.db"), 2);
    EXITS(STORE("copy", "--from", "a.db"), 2);
    EXITS(STORE("copy", "--from", "mysql://host/a", "--to", "c.db"), 2);
    CHECK_OK(world_open("new.db", NULL, &w)); /* migrated, and nothing in it */
    world_close(w);
    EXITS(STORE("copy", "--from", "a.db", "--to", "new.db"), 0);
}

TEST(a_copy_waits_for_no_server_but_says_who_it_is)
{
    mkdir("team", 0700);
    work("team/baton.db");
    int lock = open("team/baton.lock", O_RDWR | O_CREAT, 0600);
    CHECK(flock(lock, LOCK_EX | LOCK_NB) == 0);
    check_write("team/server.json", STR("{\"url\":\"http://127.0.0.1:1\",\"pid\":4711,"
                                        "\"version\":\"" BATON_VERSION "\"}"));
    EXITS(STORE("copy", "--from", "team", "--to", "b.db"), 6);
    CHECK(said("err", "pid 4711: stop it first"));
    EXITS(STORE("check", "team"), 0);
    EXITS(STORE("backup", "b.db", "--data", "team"), 0);
    close(lock);
    EXITS(STORE("copy", "--from", "team", "--to", "c.db"), 0);

    /* Another version would migrate the tables under the server. */
    check_write("team/server.json",
                STR("{\"url\":\"http://127.0.0.1:1\",\"pid\":4711,\"version\":\"0.0.1\"}"));
    EXITS(STORE("check", "team"), 6);
    CHECK(said("err", "baton 0.0.1"));
}

/* Nobody has a lock on a shared database; who serves it is known by its own word. */
TEST_LIMIT(a_copy_of_a_database_that_is_served_is_refused_at_once, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct black node = { .args = (const char *const[]){ "--store", url, NULL } };

    black_start(&node);
    while (json_get(black_expect(&node, 200, "GET /nodes", ""), "nodes")->len == 0)
        ; /* until it has said so, which is the first thing that it does */
    EXITS(STORE("copy", "--from", url, "--to", "b.db"), 6);
    CHECK(said("err", arena_printf(check_arena(), "at http://127.0.0.1:%u: stop it first",
                                   (unsigned)node.port)
                          .at));
    CHECK(access("b.db", F_OK) < 0);
    EXITS(STORE("check", url), 0);
    black_stop(&node);
    EXITS(STORE("copy", "--from", url, "--to", "b.db"), 0);
    postgres_stop(p);
}

/* A row that no request can have made is not found in the order of keys: so the copy stops, after
 * all other rows were written. */
TEST(an_unfinished_copy_is_refused_and_can_be_made_again)
{
    struct world *w;

    work("a.db");
    rows_change("a.db", "INSERT INTO idempotency (actor, key, digest, answer, created_at)"
                        " VALUES ('', '', '', '', 0)");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 1);
    CHECK(said("err", "check it with 'baton store check'"));
    CHECK_ERR(world_open("b.db", NULL, &w), ERR_CONFLICT);
    EXITS(STORE("check", "b.db"), 6);

    rows_change("a.db", "DELETE FROM idempotency WHERE key = ''");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 6);
    CHECK(said("err", "did not end: what is there is not whole"));
    unlink("b.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 0);

    /* Of a backup that cannot be finished, nothing is left. */
    rows_change("a.db", "INSERT INTO idempotency (actor, key, digest, answer, created_at)"
                        " VALUES ('', '', '', '', 0)");
    mkdir("team", 0700);
    CHECK(rename("a.db", "team/baton.db") == 0);
    EXITS(STORE("backup", "c.db", "--data", "team"), 1);
    CHECK(access("c.db", F_OK) < 0);
}

/* ---- interrupted ---- */

/* A copy that has to say how far it is, to somebody who does not listen, gets no further than the
 * end of its first table. */
static pid_t copy_start_and_hold(const char *from, const char *to)
{
    static const char noise[4096];
    int ends[2];

    CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    while (write(ends[1], noise, sizeof noise) > 0)
        ;
    CHECK(fcntl(ends[1], F_SETFL, 0) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char *words[] = { "baton", "store",    "copy",      "--from", (char *)from,
                          "--to",  (char *)to, "--verbose", NULL };
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDERR_FILENO);
        exit(cli_main(&store_program, 8, words));
    }
    return pid;
}

static void interrupt(const char *from, const char *to, int with)
{
    pid_t pid = copy_start_and_hold(from, to);
    int status;

    while (STORE("check", to) != error_kind_info(ERR_CONFLICT)->exit)
        usleep(1000); /* until it is under way */
    kill(pid, with);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == with);
    EXITS(STORE("check", to), 6);
    EXITS(STORE("copy", "--from", from, "--to", to), 6);
    CHECK(said("err", "did not end: what is there is not whole"));
    CHECK(said("err", "drop it (a file: delete it; PostgreSQL: dropdb and createdb)"));
}

TEST_LIMIT(an_interrupted_copy_leaves_the_source_whole_and_the_target_marked, 60)
{
    struct postgres *p = postgres_start();

    work("a.db");
    str before = answers("a.db");
    interrupt("a.db", "b.db", SIGINT);
    interrupt("a.db", postgres_new_database(p), SIGKILL);
    same_answers(before, "a.db");
    postgres_stop(p);
}

/* What a list of columns says is what the table has, as all migrations have made it. Their order may
 * be another one: every statement names them. */
static void columns_compare(const struct rows_table *t, const struct row *found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < t->column_count && !str_eq(str_from(t->columns[k].name), row_str(&found[i], 0)))
            k++;
        if (k == t->column_count)
            check_fail(__FILE__, __LINE__, "the list of columns of %s lacks " STR_FMT, t->name,
                       STR_ARG(row_str(&found[i], 0)));
        else if ((t->columns[k].kind == SQL_INT) != str_eq(row_str(&found[i], 1), STR("BIGINT")))
            check_fail(__FILE__, __LINE__, "%s.%s is of another kind than its list says", t->name,
                       t->columns[k].name);
    }
    CHECK_INT(count, t->column_count);
}

/* Every table of the data model moves, with every column, or is one of those that stay. */
TEST(a_copy_forgets_no_table_and_no_column)
{
    const struct row *tables, *columns;
    size_t count, column_count, moved = 0;
    struct store_node node;
    struct world *w;

    CHECK_OK(world_open("a.db", NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_all_(w->engine.sql, &tables, &count,
                      "SELECT name FROM sqlite_master WHERE type = 'table'", NO_ARGS));
    for (size_t i = 0; i < count; i++) {
        str name = row_str(&tables[i], 0);
        const struct rows_table *t = rows_tables;
        while (t < rows_tables + rows_table_count && !str_eq(str_from(t->name), name))
            t++;
        if (str_eq(name, STR("node")) || str_eq(name, STR("cluster_node")))
            continue;
        if (t == rows_tables + rows_table_count)
            check_fail(__FILE__, __LINE__, "core/rows.c lacks the table " STR_FMT, STR_ARG(name));
        CHECK_OK(sql_all_(w->engine.sql, &columns, &column_count,
                          "SELECT name, type FROM pragma_table_info($1)", ARGS(TEXT(name))));
        columns_compare(t, columns, column_count);
        moved++;
    }
    CHECK_INT(moved, rows_table_count);
    store_rollback(w->engine.sql);
    world_close(w);
}
