/* sqlite_test.c: what only a file has to promise: who opens it minds no writer. What both databases
 * promise is in store_test.c. */
#include "check.h"
#include "store/store.h"

static const char *const first[] = { "CREATE TABLE thing (name TEXT PRIMARY KEY)", NULL };
static const char *const second[] = { "ALTER TABLE thing ADD COLUMN size BIGINT", NULL };
static const struct store_migration migrations[] = { { 1, first }, { 2, second } };

/* Opens it in the version of a program that knows so many steps, and waits for nobody. */
static err opened(int steps, struct store **out)
{
    struct store_options options = { .migrations = migrations,
                                     .migration_count = steps,
                                     .busy_ms = 1 };

    return store_open(check_arena(), STR("baton.db"), &options, out);
}

static int64_t things(struct store *s)
{
    struct sql *r;
    const struct row *row;

    CHECK_OK(store_connect(check_arena(), s, STORE_READS, &r));
    CHECK_OK(store_begin(r, check_arena(), NULL));
    CHECK_OK(sql_one(r, &row, "SELECT count(*) FROM thing", NO_ARGS));
    store_rollback(r);
    store_disconnect(r);
    return row_int(row, 0);
}

/* A server may be inside a batch at every moment that anybody looks. */
TEST(a_file_is_opened_while_somebody_writes_to_it)
{
    struct store *server, *visitor;
    struct sql *w;
    struct store_node node;
    err why;

    CHECK_OK(opened(2, &server));
    CHECK_OK(store_connect(check_arena(), server, STORE_WRITES, &w));
    CHECK_OK(store_begin(w, check_arena(), &node));
    CHECK_OK(sql_exec(w, "INSERT INTO thing (name) VALUES ('a')", NO_ARGS));

    CHECK_OK(opened(2, &visitor));
    CHECK_INT(things(visitor), 0);
    err e = opened(1, &(struct store *){ NULL }); /* an older program */
    CHECK_ERR(e, ERR_CONFLICT);
    CHECK_INT(store_commit(w, &node, &why), STORE_COMMITTED);
    CHECK_INT(things(visitor), 1);
    store_close(visitor);
    store_disconnect(w);
    store_close(server);
}

/* Only who has to migrate it needs the writer's place, and then says who holds it. */
TEST(a_file_is_not_migrated_while_somebody_writes_to_it)
{
    struct store *server, *newer;
    struct sql *w;
    struct store_node node;

    CHECK_OK(opened(1, &server));
    CHECK_OK(store_connect(check_arena(), server, STORE_WRITES, &w));
    CHECK_OK(store_begin(w, check_arena(), &node));
    err e = opened(2, &newer);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK(strstr(e->message.at, "another process holds the database"));
    store_rollback(w);
    CHECK_OK(opened(2, &newer));
    store_close(newer);
    store_disconnect(w);
    store_close(server);
}
