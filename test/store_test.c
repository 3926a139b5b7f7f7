/* store_test.c: the stores: statements, transactions, migrations.
 *
 * What both databases promise is a STORE_TEST: a test on a SQLite file, and a step of the one test
 * that runs all of them on PostgreSQL. */
#include <stdio.h>
#include <sys/stat.h>

#include "check.h"
#include "sim/postgres.h"
#include "sim/fault.h"
#include "store/store.h"

static const char *const first[] = {
    "CREATE TABLE thing (name TEXT COLLATE \"C\" PRIMARY KEY, size BIGINT, body BYTEA)", NULL
};
static const char *const second[] = { "ALTER TABLE thing ADD COLUMN note TEXT", NULL };
static const char *const broken[] = { "CREATE TABLE other (x BIGINT)", "CREATE NONSENSE", NULL };
static const struct store_migration migrations[] = { { 1, first }, { 2, second } };

struct promise {
    void (*keep)(void);
    struct promise *next;
};

static struct promise *promises;
static const char *where = "test.db"; /* the store's name */
static bool one_by_one;

#define STORE_TEST(name_)                                       \
    static void promise_##name_(void);                          \
    __attribute__((constructor)) static void note_##name_(void) \
    {                                                           \
        static struct promise p = { promise_##name_, NULL };    \
        p.next = promises;                                      \
        promises = &p;                                          \
    }                                                           \
    TEST(name_)                                                 \
    {                                                           \
        promise_##name_();                                      \
    }                                                           \
    static void promise_##name_(void)

static void promises_keep(struct postgres *p)
{
    int kept = 0;

    for (struct promise *each = promises; each; each = each->next, kept++) {
        where = postgres_new_database(p);
        each->keep();
    }
    check_note("%d promises", kept);
}

TEST_LIMIT(postgresql_keeps_all_promises_of_a_store, 120)
{
    struct postgres *p = postgres_start();

    promises_keep(p);
    postgres_stop(p);
}

/* As with a client library before version 14. */
TEST_LIMIT(postgresql_keeps_them_without_a_pipeline_too, 120)
{
    struct postgres *p = postgres_start();

    one_by_one = true;
    promises_keep(p);
    postgres_stop(p);
}

static err try_open(const struct store_migration *steps, int version, struct store **out)
{
    struct store_options options = { .migrations = steps,
                                     .migration_count = version,
                                     .one_by_one = one_by_one };
    return store_open(check_arena(), str_from(where), &options, out);
}

static struct store *opened(int version)
{
    struct store *s;
    CHECK_OK(try_open(migrations, version, &s));
    return s;
}

static struct sql *connected(struct store *s, enum store_use use)
{
    struct sql *sql;
    CHECK_OK(store_connect(check_arena(), s, use, &sql));
    return sql;
}

/* A store, with one who writes and one who reads. */
struct fixture {
    struct store *store;
    struct sql *w, *r;
};

static struct fixture fixture_open(int version)
{
    struct fixture p = { .store = opened(version) };

    p.w = connected(p.store, STORE_WRITES);
    p.r = connected(p.store, STORE_READS);
    return p;
}

static void fixture_close(struct fixture *p)
{
    store_disconnect(p->r);
    store_disconnect(p->w);
    store_close(p->store);
}

static void put(struct sql *w, str name, int64_t size)
{
    CHECK_OK(sql_exec(w, "INSERT INTO thing (name, size, body) VALUES ($1, $2, $3)",
                      ARGS(TEXT(name), INT(size), BYTES(STR("a\0b")))));
}

static void commit(struct sql *w, const struct store_node *node)
{
    err why;
    CHECK_INT(store_commit(w, node, &why), STORE_COMMITTED);
}

static int64_t count(struct sql *r)
{
    struct store_node ignored;
    const struct row *row;
    CHECK_OK(store_begin(r, check_arena(), &ignored));
    CHECK_OK(sql_one(r, &row, "SELECT count(*) FROM thing", NO_ARGS));
    int64_t n = row_int(row, 0);
    store_rollback(r);
    return n;
}

STORE_TEST(values_come_back_as_they_were)
{
    struct fixture p = fixture_open(2);
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    put(p.w, STR("a"), INT64_MIN);
    CHECK_OK(sql_one(p.w, &row, "SELECT name, size, body, note FROM thing WHERE name = $1",
                     ARGS(TEXT(STR("a")))));
    CHECK_STR(row_str(row, 0), "a");
    CHECK_INT(row_int(row, 1), INT64_MIN);
    CHECK(str_eq(row_str(row, 2), STR("a\0b")));
    CHECK(row_null(row, 3));
    CHECK_STR(row_str(row, 3), "");
    CHECK_OK(sql_one(p.w, &row, "SELECT name FROM thing WHERE name = $1", ARGS(TEXT(STR("none")))));
    CHECK(!row);
    store_rollback(p.w);
    fixture_close(&p);
}

STORE_TEST(text_is_ordered_by_bytes)
{
    struct fixture p = fixture_open(2);
    struct store_node node;
    const struct row *rows;
    size_t n;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    put(p.w, STR("b"), 1);
    put(p.w, STR("\xc3\xa4"), 2);
    put(p.w, STR("B"), 3);
    put(p.w, STR(""), 4);
    CHECK_OK(
        sql_all(p.w, &rows, &n, "SELECT size FROM thing ORDER BY name LIMIT $1", ARGS(INT(9))));
    CHECK_INT(n, 4);
    CHECK_INT(row_int(&rows[0], 0), 4);
    CHECK_INT(row_int(&rows[1], 0), 3);
    CHECK_INT(row_int(&rows[2], 0), 1);
    CHECK_INT(row_int(&rows[3], 0), 2);
    store_rollback(p.w);
    fixture_close(&p);
}

STORE_TEST(readers_see_what_is_committed_and_nothing_else)
{
    struct fixture p = fixture_open(2);
    struct store_node node;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    CHECK_INT(node.seq, 0);
    put(p.w, STR("a"), 1);
    CHECK_INT(count(p.r), 0);
    node = (struct store_node){ .seq = 7, .clock = 123 };
    commit(p.w, &node);
    CHECK_INT(count(p.r), 1);

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    CHECK_INT(node.seq, 7);
    CHECK_INT(node.clock, 123);
    put(p.w, STR("b"), 2);
    store_rollback(p.w);
    CHECK_INT(count(p.r), 1);
    fixture_close(&p);
}

STORE_TEST(a_savepoint_takes_back_one_command_of_a_batch)
{
    struct fixture p = fixture_open(2);
    struct store_node node;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    for (int i = 0; i < 10; i++) {
        CHECK_OK(store_mark(p.w));
        put(p.w, arena_printf(check_arena(), "n%d", i), i);
        if (i % 2)
            store_undo(p.w);
        else
            CHECK_OK(store_keep(p.w));
    }
    commit(p.w, &node);
    CHECK_INT(count(p.r), 5);
    fixture_close(&p);
}

/* It is answered at once, and what it wrote goes back like any other write: also where it is all that
 * its command has done, and where a failure of it is what refuses the command. */
STORE_TEST(a_savepoint_takes_back_what_a_statement_has_told_by_returning)
{
    static const char insert[] = "INSERT INTO thing (name, size) VALUES ($1, $2) RETURNING size";
    struct fixture p = fixture_open(2);
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    for (int i = 0; i < 10; i++) {
        struct sql_args args = ARGS(TEXT(arena_printf(check_arena(), "n%d", i)), INT(i));
        CHECK_OK(store_mark(p.w));
        if (i % 3 == 0)
            put(p.w, arena_printf(check_arena(), "first%d", i), i);
        CHECK_OK(sql_one_(p.w, &row, insert, args));
        CHECK_INT(row_int(row, 0), i);
        if (i == 4)
            CHECK_ERR(sql_one_(p.w, &row, insert, args), ERR_INTERNAL);
        if (i % 2)
            CHECK_OK(store_keep(p.w));
        else
            store_undo(p.w);
        CHECK(!store_dead(p.w));
    }
    commit(p.w, &node);
    CHECK_INT(count(p.r), 7); /* the odd ones, and what 3 and 9 had put before */
    fixture_close(&p);
}

/* Whether taking a change back ends the transaction or not, nothing of it stays. */
STORE_TEST(a_cheap_mark_takes_back_what_changed_nothing_and_never_keeps_a_half)
{
    struct fixture p = fixture_open(2);
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    CHECK_OK(store_mark_cheap(p.w));
    put(p.w, STR("kept"), 1);
    CHECK_OK(store_keep(p.w));
    CHECK_OK(store_mark_cheap(p.w));
    CHECK_OK(sql_one(p.w, &row, "SELECT count(*) FROM thing", NO_ARGS));
    CHECK_INT(row_int(row, 0), 1);
    store_undo(p.w);
    CHECK(!store_dead(p.w));
    CHECK_OK(store_mark_cheap(p.w));
    put(p.w, STR("refused"), 2);
    store_undo(p.w);
    bool ended = store_dead(p.w);
    if (ended)
        store_rollback(p.w);
    else
        commit(p.w, &node);
    CHECK_INT(count(p.w), ended ? 0 : 1);
    fixture_close(&p);
}

/* A statement that fails for itself leaves the batch alive, if its command learns of it. */
STORE_TEST(a_refused_statement_does_not_end_the_transaction)
{
    struct fixture p = fixture_open(2);
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    put(p.w, STR("a"), 1);
    CHECK_OK(store_mark(p.w));
    err e = sql_exec(p.w, "INSERT INTO thing (name) VALUES ($1)", ARGS(TEXT(STR("a"))));
    if (!e)
        e = sql_one(p.w, &row, "SELECT count(*) FROM thing", NO_ARGS); /* at the latest */
    CHECK_ERR(e, ERR_INTERNAL);
    store_undo(p.w);
    CHECK(!store_dead(p.w));
    CHECK_OK(store_mark(p.w));
    put(p.w, STR("b"), 1);
    CHECK_OK(store_keep(p.w));
    commit(p.w, &node);
    CHECK_INT(count(p.w), 2);
    fixture_close(&p);
}

STORE_TEST(what_was_committed_is_there_after_opening_again)
{
    struct fixture p = fixture_open(2);
    struct store_node node;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    put(p.w, STR("a"), 1);
    node.seq = 42;
    commit(p.w, &node);
    fixture_close(&p);

    p = fixture_open(2);
    CHECK_OK(store_begin(p.w, check_arena(), &node));
    CHECK_INT(node.seq, 42);
    store_rollback(p.w);
    CHECK_INT(count(p.w), 1);
    fixture_close(&p);
}

STORE_TEST(migrations_run_once_and_in_order)
{
    struct fixture p = fixture_open(1);
    struct store_node node;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    put(p.w, STR("old"), 1);
    commit(p.w, &node);
    fixture_close(&p);

    p = fixture_open(2);
    const struct row *row;
    CHECK_OK(store_begin(p.w, check_arena(), &node));
    CHECK_OK(sql_one(p.w, &row, "SELECT note FROM thing WHERE name = $1", ARGS(TEXT(STR("old")))));
    CHECK(row && row_null(row, 0));
    store_rollback(p.w);
    fixture_close(&p);
}

STORE_TEST(an_older_program_refuses_a_newer_file)
{
    store_close(opened(2));
    struct store *s;
    err e = try_open(migrations, 1, &s);
    CHECK_ERR(e, ERR_CONFLICT);
    CHECK(str_ends(e->message,
                   STR(": a newer baton has brought this database to version 2, this one knows 1: "
                       "run the newer one, or restore a backup from before")));
}

STORE_TEST(a_file_that_is_too_old_is_refused_and_stays_as_it_was)
{
    struct store_options options = { .migrations = migrations,
                                     .migration_count = 2,
                                     .version_min = 2 };
    struct store *s;

    store_close(opened(1));
    err e = store_open(check_arena(), str_from(where), &options, &s);
    CHECK_ERR(e, ERR_CONFLICT);
    CHECK(strstr(e->message.at, "is of version 1, from before"));
    store_close(opened(1));
}

STORE_TEST(a_migration_that_fails_leaves_the_file_as_it_was)
{
    static const struct store_migration bad[] = { { 1, first }, { 2, broken } };
    struct store *s;

    store_close(opened(1));
    CHECK_ERR(try_open(bad, 2, &s), ERR_INTERNAL);
    struct fixture p = fixture_open(2); /* from version 1 on, with no trace of the other */
    CHECK_INT(count(p.r), 0);
    fixture_close(&p);
}

TEST(what_is_no_database_is_refused_with_advice)
{
    struct store_options options = { .migrations = migrations, .migration_count = 2 };
    struct store *s;

    FILE *f = fopen("text.db", "w");
    for (int i = 0; i < 100; i++)
        fputs("this is not a database\n", f);
    fclose(f);
    err e = store_open(check_arena(), STR("text.db"), &options, &s);
    CHECK_ERR(e, ERR_INVALID);
    CHECK(str_ends(e->message, STR("that file is no database of ours; name another")));
    e = store_open(check_arena(), STR("no/such/folder/x.db"), &options, &s);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(str_ends(e->message, STR("see whether its folder exists and may be written")));
}

TEST(a_checkpoint_moves_the_log_into_the_file)
{
    struct fixture p = fixture_open(2);
    struct store_node node;
    struct stat before, after;

    CHECK_INT(stat("test.db", &before), 0);
    CHECK_OK(store_begin(p.w, check_arena(), &node));
    for (int i = 0; i < 1000; i++)
        put(p.w, arena_printf(check_arena(), "thing number %d", i), i);
    commit(p.w, &node);
    CHECK_OK(store_checkpoint(p.r, check_arena()));
    CHECK_INT(stat("test.db", &after), 0);
    CHECK(after.st_size > before.st_size);
    CHECK_INT(count(p.r), 1000);
    fixture_close(&p);
}

/* One statement is prepared once, however often it runs, and its parameters may repeat. */
STORE_TEST(statements_are_found_again_by_their_text)
{
    struct fixture p = fixture_open(2);
    struct store_node node;

    CHECK_OK(store_begin(p.w, check_arena(), &node));
    for (int i = 0; i < 200; i++) {
        const struct row *row;
        CHECK_OK(sql_one(p.w, &row, "SELECT $1 + $2 + $1", ARGS(INT(i), INT(1))));
        CHECK_INT(row_int(row, 0), 2 * i + 1);
    }
    store_rollback(p.w);
    fixture_close(&p);
}

TEST(every_text_is_listed)
{
    size_t n = (size_t)(__stop_sql_texts - __start_sql_texts);
    bool found = false;

    for (size_t i = 0; i < n; i++)
        found |= str_eq(str_from(__start_sql_texts[i].text), STR("SELECT count(*) FROM thing"));
    CHECK(found);
}

/* ---- faults ---- */

/* Two rows that must be there together, or not at all. */
static bool put_pair(struct sql *w, int64_t n)
{
    struct store_node node;
    err why, e = store_begin(w, check_arena(), &node);

    if (e)
        return false;
    e = store_mark(w);
    for (int i = 0; i < 2 && !e; i++)
        e = sql_exec(w, "INSERT INTO thing (name, size) VALUES ($1, $2)",
                     ARGS(TEXT(arena_printf(check_arena(), "%d of %lld", i, (long long)n)),
                          INT(n)));
    if (!e)
        e = store_keep(w);
    if (e || store_dead(w)) {
        store_rollback(w);
        return false;
    }
    node.seq++;
    return store_commit(w, &node, &why) == STORE_COMMITTED;
}

/* Whatever call fails, and however: both rows or none, and the next try succeeds. */
STORE_TEST(every_fault_leaves_all_of_a_transaction_or_nothing)
{
    static const enum fault_kind kinds[] = { FAULT_CALL, FAULT_DEATH, FAULT_COMMIT, FAULT_LOST };
    struct fixture p = fixture_open(2);
    struct fault plan = { FAULT_NONE, 0, 0, 0, false };
    int64_t n = 0, faults = 0;

    p.w = fault_around(p.w, &plan);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (uint64_t nth = 1;; nth++) {
            int64_t before = count(p.r);
            plan = (struct fault){ kinds[k], nth, 0, 0, false };
            bool committed = put_pair(p.w, n++);
            bool there = count(p.r) == before + 2;
            CHECK(there || count(p.r) == before);
            CHECK_INT(there, committed || kinds[k] == FAULT_LOST);
            if (!plan.fired)
                break;
            faults++;
            plan.kind = FAULT_NONE;
            CHECK(put_pair(p.w, n++));
        }
    }
    CHECK_INT(faults, 5 + 5 + 1 + 1);
    fixture_close(&p);
}
