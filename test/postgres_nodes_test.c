/* postgres_nodes_test.c: several nodes on one PostgreSQL: turns, snapshots, news, migrations; and
 * connections that are lost, under a commit too. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sim/world.h"
#include "sim/postgres.h"
#include "sim/proxy.h"
#include "store/store.h"

static const char *const first[] = { "CREATE TABLE thing (name TEXT PRIMARY KEY)", NULL };
static const char *const second[] = { "ALTER TABLE thing ADD COLUMN body TEXT", NULL };
static const struct store_migration migrations[] = { { 1, first }, { 2, second } };

static struct store *opened_with(const char *url, struct store_options options)
{
    struct store *s;

    options.migrations = migrations;
    if (!options.migration_count)
        options.migration_count = 1;
    CHECK_OK(store_open(check_arena(), str_from(url), &options, &s));
    return s;
}

static struct store *opened(const char *url)
{
    return opened_with(url, (struct store_options){ 0 });
}

static struct sql *connected(struct store *s, enum store_use use)
{
    struct sql *sql;
    CHECK_OK(store_connect(check_arena(), s, use, &sql));
    return sql;
}

static void put(struct sql *w, const char *name)
{
    CHECK_OK(sql_exec(w, "INSERT INTO thing (name) VALUES ($1)", ARGS(TEXT(str_from(name)))));
}

static enum store_outcome put_alone(struct sql *w, const char *name, err *why)
{
    struct store_node node;

    CHECK_OK(store_begin(w, check_arena(), &node));
    put(w, name);
    node.seq++;
    return store_commit(w, &node, why);
}

static void put_committed(struct sql *w, const char *name)
{
    err why;
    CHECK_INT(put_alone(w, name, &why), STORE_COMMITTED);
    CHECK_OK(why);
}

static bool is_there(struct sql *r, const char *name)
{
    const struct row *row;

    CHECK_OK(store_begin(r, check_arena(), &(struct store_node){ 0 }));
    CHECK_OK(
        sql_one(r, &row, "SELECT name FROM thing WHERE name = $1", ARGS(TEXT(str_from(name)))));
    store_rollback(r);
    return row != NULL;
}

/* Ends all sessions but the test's own, as an operator would. */
static void sessions_end(struct postgres *p)
{
    postgres_number(p, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                       " WHERE application_name = 'baton'");
    postgres_until(p, "SELECT (count(*) = 0)::int FROM pg_stat_activity"
                      " WHERE application_name = 'baton'");
}

/* ---- turns ---- */

struct turn {
    struct sql *w;
    struct store_node node;
    err e;
    pthread_t thread;
};

static void *turn_run(void *self)
{
    struct turn *t = self;
    err why;

    t->e = store_begin(t->w, check_arena(), &t->node);
    if (!t->e)
        store_commit(t->w, &t->node, &why);
    return NULL;
}

static void turn_wait_for(struct postgres *p, struct turn *t)
{
    CHECK_INT(pthread_create(&t->thread, NULL, turn_run, t), 0);
    postgres_until(p, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
}

static void take_turns(struct postgres *p, const char *url)
{
    struct store *a = opened(url), *b = opened(url);
    struct sql *w = connected(a, STORE_WRITES);
    struct turn other = { .w = connected(b, STORE_WRITES) };
    struct store_node node;
    err why;

    CHECK_OK(store_begin(w, check_arena(), &node));
    int64_t began = node.now;
    turn_wait_for(p, &other);
    put(w, "a");
    node.seq = 41;
    CHECK_INT(store_commit(w, &node, &why), STORE_COMMITTED);
    pthread_join(other.thread, NULL);
    CHECK_OK(other.e);
    CHECK_INT(other.node.seq, 41);
    CHECK(other.node.now >= began); /* the clock is read with the lock, not before it */
    store_disconnect(other.w);
    store_disconnect(w);
    store_close(b);
    store_close(a);
}

/* Whoever waits too long is told so, and may try again. */
static void give_up_waiting(const char *url)
{
    struct store *s = opened_with(url, (struct store_options){ .busy_ms = 50 });
    struct sql *a = connected(s, STORE_WRITES), *b = connected(s, STORE_WRITES);
    struct store_node node;

    CHECK_OK(store_begin(a, check_arena(), &node));
    err e = store_begin(b, check_arena(), &node);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(strstr(e->message.at, "another node is writing"));
    store_rollback(a);
    put_committed(b, "after waiting");
    store_disconnect(b);
    store_disconnect(a);
    store_close(s);
}

/* A node that stops inside its transaction loses it, and learns of it when it goes on. */
static void lose_the_lock_when_stopped(const char *url)
{
    struct store *s = opened_with(url, (struct store_options){ .idle_ms = 100 });
    struct sql *a = connected(s, STORE_WRITES), *b = connected(s, STORE_WRITES);
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(a, check_arena(), &node));
    CHECK_OK(store_mark(a));
    put(a, "never");
    put_committed(b, "meanwhile");
    CHECK_ERR(sql_one(a, &row, "SELECT count(*) FROM thing", NO_ARGS), ERR_UNAVAILABLE);
    CHECK(store_dead(a));
    store_undo(a);
    store_rollback(a);
    CHECK(!is_there(b, "never"));
    put_committed(a, "again");
    store_disconnect(b);
    store_disconnect(a);
    store_close(s);
}

/* What a reader sees does not change while it reads, and its number belongs to it. */
static void read_one_moment(const char *url)
{
    struct store *s = opened(url);
    struct sql *w = connected(s, STORE_WRITES), *r = connected(s, STORE_READS);
    struct store_node before, node;
    const struct row *row;

    CHECK_OK(store_begin(r, check_arena(), &before));
    put_committed(w, "later");
    CHECK_OK(sql_one(r, &row, "SELECT count(*) FROM thing WHERE name = 'later'", NO_ARGS));
    CHECK_INT(row_int(row, 0), 0);
    store_rollback(r);
    CHECK_OK(store_begin(r, check_arena(), &node));
    CHECK_INT(node.seq, before.seq + 1);
    store_rollback(r);
    CHECK(is_there(r, "later"));
    store_disconnect(r);
    store_disconnect(w);
    store_close(s);
}

TEST_LIMIT(writers_of_several_nodes_take_turns, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);

    take_turns(p, url);
    give_up_waiting(url);
    lose_the_lock_when_stopped(url);
    read_one_moment(url);
    postgres_stop(p);
}

enum { NODES = 3, BATCHES = 20, COMMANDS = 5 };

/* A node that patches the one state that all of them share. */
static void node_run(const char *url)
{
    struct world *w;

    CHECK_OK(world_open(url, NULL, &w));
    for (int i = 0; i < BATCHES; i++) {
        struct command *batch[COMMANDS];
        for (int k = 0; k < COMMANDS; k++)
            batch[k] = world_command(w, "state.patch",
                                     "{'state_id':'wfstate_2','operations':[{'op':'add',"
                                     "'path':'/list/-','value':1}]}",
                                     "");
        op_perform(&w->engine, batch, COMMANDS);
        for (int k = 0; k < COMMANDS; k++)
            CHECK_OK(batch[k]->error);
    }
    world_close(w);
}

/* Runs it in so many processes at once. */
static void nodes_run(int count, void (*run)(const char *url), const char *url)
{
    int status;

    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid)
            continue;
        run(url);
        _exit(0);
    }
    for (int i = 0; i < count; i++) {
        CHECK(wait(&status) > 0);
        CHECK_INT(status, 0);
    }
}

TEST_LIMIT(nodes_that_patch_one_state_lose_no_version_and_no_number, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct world *w;
    const struct row *row;

    CHECK_OK(world_open(url, NULL, &w));
    world_call(w, "schema.create", "{'name':'any','json_schema':true}", "");
    CHECK_OK(world_call(w, "state.create", "{'schema_name':'any','initial_data':{'list':[]}}", "")
                 ->error);
    nodes_run(NODES, node_run, url);

    int64_t writes = NODES * BATCHES * COMMANDS;
    struct command *c =
        world_call(w, "state.read", "{'state_id':'wfstate_2','query':'$.list[*]'}", "");
    CHECK_INT(c->answer.version, 1 + writes);
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &(struct store_node){ 0 }));
    CHECK_OK(sql_one(w->engine.sql, &row,
                     "SELECT count(*), max(seq), count(DISTINCT version) FROM log WHERE seq > 1",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), 1 + writes);
    CHECK_INT(row_int(row, 1), 2 + writes);
    CHECK_INT(row_int(row, 2), 1 + writes);
    store_rollback(w->engine.sql);
    world_close(w);
    postgres_stop(p);
}

/* ---- migrations ---- */

static void node_start(const char *url)
{
    struct store *s = opened(url);
    struct sql *w = connected(s, STORE_WRITES);

    put_committed(w, arena_printf(check_arena(), "node %d", (int)getpid()).at);
    store_disconnect(w);
    store_close(s);
}

TEST_LIMIT(nodes_that_start_at_once_migrate_once, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);

    nodes_run(NODES, node_start, url);

    /* One of them is newer: the others stop, readers too. */
    struct store *old = opened(url);
    struct sql *w = connected(old, STORE_WRITES), *r = connected(old, STORE_READS);
    struct store_node node;
    CHECK_OK(store_begin(r, check_arena(), &node));
    CHECK_INT(node.seq, NODES);
    store_rollback(r);
    store_close(opened_with(url, (struct store_options){ .migration_count = 2 }));
    err e = store_begin(w, check_arena(), &node);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(strstr(e->message.at, "a newer baton has brought this database to version 2"));
    CHECK_ERR(store_begin(r, check_arena(), &node), ERR_UNAVAILABLE);
    store_disconnect(r);
    store_disconnect(w);
    store_close(old);
    postgres_stop(p);
}

/* ---- news ---- */

TEST_LIMIT(a_node_hears_of_the_commits_of_others, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct store *s = opened(url), *other = opened(url);
    struct sql *w = connected(other, STORE_WRITES), *own = connected(s, STORE_WRITES);
    struct sql *r = connected(s, STORE_READS);
    struct store_node node;
    int64_t seq = -1;

    CHECK_OK(store_listen(r, check_arena()));
    CHECK_INT(store_wait(r, 0, &seq), STORE_QUIET);
    CHECK_OK(store_begin(w, check_arena(), &node));
    put(w, "never");
    store_rollback(w);
    put_committed(w, "a");
    put_committed(w, "b");
    while (seq < 2)
        CHECK_INT(store_wait(r, 10000, &seq), STORE_NEWS);
    CHECK_INT(seq, 2);
    CHECK_INT(store_wait(r, 1, &seq), STORE_QUIET);

    sessions_end(p);
    CHECK_INT(store_wait(r, 10000, &seq), STORE_LOST);
    CHECK_INT(store_wait(r, 10000, &seq), STORE_LOST);
    CHECK_OK(store_listen(r, check_arena()));
    put_committed(w, "c");
    CHECK_INT(store_wait(r, 10000, &seq), STORE_NEWS);
    CHECK_INT(seq, 3);

    put_committed(own, "d"); /* which it knows by itself */
    put_committed(w, "e");
    CHECK_INT(store_wait(r, 10000, &seq), STORE_NEWS);
    CHECK_INT(seq, 5);
    CHECK_INT(store_wait(r, 1, &seq), STORE_QUIET);
    store_disconnect(r);
    store_disconnect(own);
    store_disconnect(w);
    store_close(other);
    store_close(s);
    postgres_stop(p);
}

/* ---- lost connections ---- */

static void lose_it_inside_a_batch(struct postgres *p, struct sql *w, struct sql *r)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(w, check_arena(), &node));
    CHECK_OK(store_mark(w));
    put(w, "kept, it seemed");
    CHECK_OK(store_keep(w));
    sessions_end(p);
    CHECK_OK(store_mark(w));
    put(w, "lost");
    err e = sql_one(w, &row, "SELECT count(*) FROM thing", NO_ARGS);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(strstr(e->message.at, "the connection was lost"));
    CHECK(store_dead(w));
    store_undo(w);
    store_rollback(w);
    CHECK(!is_there(r, "kept, it seemed"));
    put_committed(w, "after the loss");
}

/* One that was lost while nobody used it is replaced, and nobody hears of it. */
static void lose_it_between_batches(struct postgres *p, struct sql *w, struct sql *r)
{
    sessions_end(p);
    put_committed(w, "after an idle loss");
    CHECK(is_there(r, "after an idle loss"));
}

static void go_on_after_a_restart(struct postgres *p, struct sql *w, struct sql *r)
{
    struct store_node node;

    postgres_stop(p);
    err e = store_begin(w, check_arena(), &node);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(strstr(e->message.at, "cannot be reached"));
    e = store_begin(w, check_arena(), &node); /* too early for another try */
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(str_ends(e->message, STR("; trying again")));
    postgres_start_again(p);
    while (store_begin(w, check_arena(), &node))
        usleep(10000); /* the next try is due soon */
    store_rollback(w);
    put_committed(w, "after a restart");
    CHECK(is_there(r, "after a restart"));
}

TEST_LIMIT(a_lost_connection_costs_one_batch_at_most, 60)
{
    struct postgres *p = postgres_start();
    struct store *s = opened(postgres_new_database(p));
    struct sql *w = connected(s, STORE_WRITES), *r = connected(s, STORE_READS);

    lose_it_inside_a_batch(p, w, r);
    lose_it_between_batches(p, w, r);
    go_on_after_a_restart(p, w, r);
    store_disconnect(r);
    store_disconnect(w);
    store_close(s);
    postgres_stop(p);
}

/* ---- lost commits ---- */

/* Another node that commits before the cut one is back. */
static void another_commits(void *with)
{
    struct store_node node;
    struct arena *a = arena_new();
    err why;

    CHECK_OK(store_begin(with, a, &node));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(sql_exec(with, "INSERT INTO thing (name) VALUES ($1)",
                          ARGS(TEXT(arena_printf(a, "other %d", i)))));
        node.seq++;
    }
    CHECK_INT(store_commit(with, &node, &why), STORE_COMMITTED);
    arena_free(a);
}

struct cut {
    enum proxy_plan plan;
    bool another; /* node commits meanwhile */
    enum store_outcome outcome;
    bool there;
};

static void cut_at_commit(struct postgres *p, const struct cut *c)
{
    const char *url = postgres_new_database(p);
    struct store *direct = opened(url);
    struct sql *r = connected(direct, STORE_READS), *other = connected(direct, STORE_WRITES);
    struct proxy *wire =
        proxy_start(postgres_folder(p), c->another ? another_commits : NULL, other);
    struct store *s = opened_with(proxy_url(wire, strrchr(url, '/') + 1),
                                  (struct store_options){
                                      .idle_ms = 300,
                                      .find_ms = c->outcome == STORE_UNKNOWN ? 300 : 0,
                                  });
    struct sql *w = connected(s, STORE_WRITES);
    err why;

    proxy_arm(wire, c->plan, 0); /* opening the store commits too */
    CHECK_INT(put_alone(w, "mine", &why), c->outcome);
    CHECK_INT(why == NULL, c->outcome == STORE_COMMITTED);
    CHECK_INT(is_there(r, "mine"), c->there);
    if (c->outcome != STORE_UNKNOWN)
        put_committed(w, "next");
    CHECK(proxy_disarm(wire));
    proxy_stop(wire);
    store_disconnect(w);
    store_disconnect(other);
    store_disconnect(r);
    store_close(s);
    store_close(direct);
}

TEST_LIMIT(a_commit_whose_answer_is_lost_is_looked_for, 60)
{
    static const struct cut cuts[] = {
        { PROXY_CUT_BEFORE, false, STORE_ROLLED_BACK, false },
        { PROXY_CUT_BEFORE, true, STORE_ROLLED_BACK, false },
        { PROXY_STALL, false, STORE_ROLLED_BACK, false },
        { PROXY_CUT_ANSWER, false, STORE_COMMITTED, true },
        { PROXY_CUT_ANSWER, true, STORE_COMMITTED, true },
        { PROXY_CUT_FOR_EVER, false, STORE_UNKNOWN, true },
    };
    struct postgres *p = postgres_start();

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        cut_at_commit(p, &cuts[i]);
    postgres_stop(p);
}
