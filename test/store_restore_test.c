/* store_restore_test.c: a database of PostgreSQL that is saved while servers write to it, and what
 * everybody finds after it was restored: a new server, one that runs, and who listens. */
#include "black/black.h"
#include "client/ws_client.h"
#include "json_help.h"
#include "pg_help.h"

enum { EXIT_BEHIND = 70, LATER = 5 };

static void node_start(struct black *b, const char *data, const char *url)
{
    const char **args = (const char **)ARENA_ARRAY(check_arena(), char *, 3);

    args[0] = "--store";
    args[1] = url;
    args[2] = NULL;
    *b = (struct black){ .data = data, .args = args };
    black_start(b);
}

static void put(const struct black *b, str state, int n)
{
    black_expect(b, 200, black_route("PUT", state),
                 arena_printf(check_arena(), "{'data':{'n':%d}}", n).at);
}

static int64_t newest(const struct black *b)
{
    return json_int_or(black_expect(b, 200, "GET /events?after=0&limit=1", ""), "seen", -1);
}

/* Writes until the program has ended; gives the last number. */
static int put_until(const struct black *b, str state, int n, pid_t program)
{
    int status;

    while (waitpid(program, &status, WNOHANG) == 0)
        put(b, state, ++n);
    CHECK_INT(status, 0);
    return n;
}

static pid_t dump_start(const struct postgres *p, const char *url)
{
    pg_folder(p, "dump");
    return pg_start(p, (const char *const[]){ "pg_dump", "--format=custom", "--file=dump/team", url,
                                              NULL });
}

static void check_clean(const char *url)
{
    black_run((const char *const[]){ "store", "check", url, "--deep", NULL });
}

/* Who has heard up to a number that the log does not reach is told to begin anew. */
static void reset_heard(const struct black *b, int64_t after)
{
    str wish =
        arena_printf(check_arena(), "{\"action\":\"subscribe\",\"after\":%lld}", (long long)after);
    struct ws_client *ws;
    str message;

    CHECK_OK(ws_client_open(check_arena(), &b->endpoint, "/ws", 5000, &ws));
    CHECK_OK(ws_client_send(ws, check_arena(), wish, 5000));
    do
        CHECK_OK(ws_client_next(ws, check_arena(), 20000, &message));
    while (!strstr(arena_copy(check_arena(), message).at, "\"reset\""));
    ws_client_free(ws);
}

TEST_LIMIT(a_dump_made_under_writes_is_whole_and_a_server_goes_on_from_it, 60)
{
    struct postgres *p = postgres_start();
    const char *live = postgres_new_database(p), *restored = postgres_new_database(p);
    struct black a, b;

    node_start(&a, "a", live);
    black_add_schema(&a);
    str state = black_add_state(&a, "{'n':0}");
    put(&a, state, 1);
    int last = put_until(&a, state, 1, dump_start(p, live));
    for (int i = 0; i < LATER; i++)
        put(&a, state, ++last);
    int64_t heard = newest(&a);
    PG_RUN(p, "pg_restore", "--dbname", restored, "dump/team");
    check_clean(restored);

    /* Another server on another database: what it shows is one moment of the dump. */
    CHECK(mkdir("b", 0700) == 0);
    black_stop(&a);
    CHECK(rename("a/operator.token", "b/operator.token") == 0);
    node_start(&b, "b", restored);
    const struct json *shown = black_expect(&b, 200, black_route("GET", state), "");
    int64_t n = json_int_or(json_get(shown, "current_data"), "n", -1);
    CHECK(n >= 1 && n <= last - LATER);
    CHECK_INT(json_int_or(shown, "version", -1), n + 1);
    CHECK_INT(newest(&b), heard - (last - n));
    reset_heard(&b, heard);

    put(&b, state, 1000);
    shown = black_expect(&b, 200, black_route("GET", state), "");
    CHECK_INT(json_int_or(shown, "version", -1), n + 2);
    CHECK_INT(newest(&b), heard - (last - n) + 1);
    check_note("%d writes during the dump", last - LATER - 1);
    black_stop(&b);
    check_clean(restored);
    check_clean(live);
    postgres_stop(p);
}

/* The server writes meanwhile, for itself: of two that lock each other out, PostgreSQL ends one. All
 * of the restore is one transaction, so it is done once more. */
static void restore_under_a_server(const struct postgres *p, const char *url)
{
    int status;

    for (;;) {
        pid_t pid = pg_start(p, (const char *const[]){ "pg_restore", "--clean", "--if-exists",
                                                       "--single-transaction", "--dbname", url,
                                                       "dump/team", NULL });
        CHECK_INT(waitpid(pid, &status, 0), pid);
        if (status == 0)
            return;
        CHECK_HAS(check_read("pg.log"), "deadlock detected");
        CHECK(unlink("pg.log") == 0);
    }
}

/* What it has published is not so any more: it must not go on showing it. */
TEST_LIMIT(a_server_under_which_the_database_is_taken_back_ends_and_starts_anew, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct black b;

    node_start(&b, "data_b", url);
    black_add_schema(&b);
    str state = black_add_state(&b, "{'n':0}");
    int last = put_until(&b, state, 0, dump_start(p, url));
    for (int i = 0; i < LATER; i++)
        put(&b, state, ++last);
    int64_t heard = newest(&b);
    restore_under_a_server(p, url);
    CHECK_INT(black_end(&b), EXIT_BEHIND);
    CHECK(strstr(arena_copy(check_arena(), check_read("log")).at, "the database was taken back"));

    black_start(&b);
    const struct json *shown = black_expect(&b, 200, black_route("GET", state), "");
    int64_t n = json_int_or(json_get(shown, "current_data"), "n", -1);
    CHECK(n <= last - LATER);
    reset_heard(&b, heard);
    put(&b, state, 1000);
    black_stop(&b);
    check_clean(url);
    postgres_stop(p);
}
