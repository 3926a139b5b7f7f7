/* store_errors_test.c: a shared database that cannot be used, and what he is told who starts a
 * server on it, checks it or copies it. What goes wrong later is in store_mended_test.c. */
#include <sys/socket.h>
#include <sys/un.h>

#include "store_help.h"

/* ---- the database's side ---- */

/* A database with baton's tables, where a text was run. */
static const char *database_with(struct postgres *p, const char *text)
{
    const char *url = postgres_new_database(p);

    CHECK_INT(COMMAND("store", "migrate", url), 0);
    pg_exec(url, text);
    return url;
}

static const char *url_as(const char *user, const char *url)
{
    str rest = str_slice(str_from(url), strlen("postgres://postgres"), strlen(url));
    return arena_printf(check_arena(), "postgres://%s" STR_FMT, user, STR_ARG(rest)).at;
}

static void password_asked_of(struct postgres *p, const char *role)
{
    const char *path = arena_printf(check_arena(), "%s/pg_hba.conf", postgres_folder(p)).at;
    str rules = check_read(path);

    check_write(path, arena_printf(check_arena(), "local all %s scram-sha-256\n" STR_FMT, role,
                                   STR_ARG(rules)));
    CHECK(postgres_number(p, "SELECT pg_reload_conf()::int"));
}

/* ---- starting ---- */

// clang-format off
static const char *const roles[] = {
    "CREATE ROLE weak LOGIN",
    "CREATE ROLE asleep NOLOGIN",
    "CREATE ROLE crowded LOGIN CONNECTION LIMIT 0",
    "CREATE ROLE secretive LOGIN PASSWORD 'other'",
    "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0",
    "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0",
    "CREATE DATABASE closed",
    "REVOKE CONNECT ON DATABASE closed FROM PUBLIC",
};

static const struct {
    const char *user, *database, *says;
    enum error_kind kind;
} places[] = {
    { "asleep",    "postgres", "ALTER ROLE … LOGIN",                                                  ERR_UNAVAILABLE },
    { "crowded",   "postgres", "raise max_connections of the server (or the limit of the role",       ERR_UNAVAILABLE },
    { "secretive", "postgres", "put the right password into the URL, PGPASSWORD or ~/.pgpass",        ERR_UNAVAILABLE },
    { "weak",      "closed",   "GRANT CONNECT ON DATABASE",                                           ERR_UNAVAILABLE },
    { "postgres",  "latin",    "expected a database in UTF8, but it is in LATIN1: create another",    ERR_INVALID },
    { "postgres",  "ascii",    "expected a database in UTF8, but it is in SQL_ASCII: create another", ERR_INVALID },
};

static const struct {
    const char *text, *says;
    enum error_kind kind;
} tables[] = {
    { "UPDATE node SET version = 99",           "a newer baton has brought this database to version 99", ERR_CONFLICT },
    { "UPDATE node SET version = 1000000000",   "a copy into it is going on, or did not end",            ERR_CONFLICT },
    { "UPDATE node SET version = 1000000000",   "dropdb and createdb), and run 'baton store copy' again", ERR_CONFLICT },
    { "ALTER TABLE node RENAME seq TO number",  "a table is not baton's",                                 ERR_INTERNAL },
    { "DELETE FROM node",                       "the row of node is gone: restore a backup",              ERR_UNAVAILABLE },
};
// clang-format on

TEST_LIMIT(a_database_that_cannot_be_used_is_refused_with_what_to_do, 60)
{
    struct postgres *p = postgres_start();

    setenv("PGPASSWORD", "s3cret", 1);
    good_make();
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        postgres_exec(p, roles[i]);
    password_asked_of(p, "secretive");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        REFUSED(postgres_url(p, places[i].user, places[i].database), places[i].kind,
                places[i].says);
    expect(__LINE__,
           COMMAND("store", "copy", "--from", "good.db", "--to",
                   postgres_url(p, "weak", "postgres")),
           ERR_UNAVAILABLE, "permission denied for schema public: let the role own the database");
    const char *migrated = database_with(p, "SELECT 1");
    REFUSED(url_as("weak", migrated), ERR_UNAVAILABLE, "permission denied for table node");
    postgres_stop(p);
    REFUSED(migrated, ERR_UNAVAILABLE, "see whether it runs there, and listens");
    REFUSED("postgres://u@127.0.0.1:1/x", ERR_UNAVAILABLE, "see whether it runs there");
    REFUSED("postgres://u@no.such.host.invalid/x", ERR_UNAVAILABLE, "the host's name");
}

TEST_LIMIT(tables_that_are_not_as_they_should_be_are_refused_with_what_to_do, 60)
{
    struct postgres *p = postgres_start();

    good_make();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        REFUSED(database_with(p, tables[i].text), tables[i].kind, tables[i].says);

    /* Who only looks makes no tables in a database that may be somebody else's. */
    const char *empty = postgres_new_database(p);
    expect(__LINE__, COMMAND("store", "check", empty), ERR_NOT_FOUND, "nothing of baton is in it");
    expect(__LINE__, COMMAND("store", "copy", "--from", empty, "--to", "copy.db"), ERR_NOT_FOUND,
           "nothing of baton is in it");
    pg_exec(empty, "CREATE TABLE log ()");
    expect(__LINE__, COMMAND("store", "copy", "--from", "good.db", "--to", empty), ERR_CONFLICT,
           "it has tables that are not baton's: give baton a database of its own");
    pg_exec(empty, "CREATE TABLE node ()"); /* is not there yet */
    postgres_stop(p);
}

TEST(a_password_on_the_command_line_is_refused_before_it_is_used)
{
    static const char *const urls[] = { "postgres://u:s3cret@127.0.0.1:1/x",
                                        "postgres://127.0.0.1:1/x?user=u&password=s3cret" };

    good_make();
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        REFUSED(urls[i], ERR_INVALID, "a password on the command line can be read by everybody");
        expect(__LINE__, COMMAND("store", "migrate", urls[i]), ERR_INVALID, "~/.pgpass");

        /* Where nobody else can read it, it is taken. */
        setenv("BATON_STORE", urls[i], 1);
        expect(__LINE__, COMMAND("store", "check", "--data", "d"), ERR_UNAVAILABLE,
               "cannot be reached");
        expect(__LINE__, COMMAND("serve", "--data", "d", "--listen", "127.0.0.1:0"),
               ERR_UNAVAILABLE, "cannot be reached");
        expect(__LINE__, COMMAND("store", "backup", "b.db", "--data", "d"), ERR_UNAVAILABLE,
               "cannot be reached");
        unsetenv("BATON_STORE");
    }
}

/* baton.toml, then the environment, then the option. */
TEST(the_last_of_file_environment_and_option_names_the_store)
{
    mkdir("d", 0700);
    check_write("d/baton.toml", STR("store = \"postgres://u:s3cret@127.0.0.1:1/of_the_file\"\n"));
    expect(__LINE__, COMMAND("store", "check", "--data", "d"), ERR_UNAVAILABLE,
           "database of_the_file");
    setenv("BATON_STORE", "postgres://u:s3cret@127.0.0.1:1/of_the_environment", 1);
    expect(__LINE__, COMMAND("store", "check", "--data", "d"), ERR_UNAVAILABLE,
           "database of_the_environment");
    expect(__LINE__,
           COMMAND("serve", "--data", "d", "--listen", "127.0.0.1:0", "--store",
                   "postgres://u@127.0.0.1:1/of_the_option"),
           ERR_UNAVAILABLE, "database of_the_option");
}

/* ---- a server that is too old ---- */

/* Lets everybody in, says its version, and is ready for a query. */
static void old_server_run(int listening)
{
    static const char hello[] = "R\0\0\0\10\0\0\0\0"
                                "S\0\0\0\31server_version\00012.22\0"
                                "Z\0\0\0\5I";
    char asked[4096];

    for (;;) {
        int fd = accept(listening, NULL, NULL);
        if (read(fd, asked, sizeof asked) > 0 && write(fd, hello, sizeof hello - 1) > 0)
            while (read(fd, asked, sizeof asked) > 0)
                ;
        close(fd);
    }
}

TEST(a_server_that_is_too_old_is_refused)
{
    struct sockaddr_un at = { AF_UNIX, ".s.PGSQL.5432" };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *folder = getcwd(NULL, 0);

    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        old_server_run(fd);
    }
    good_make();
    REFUSED(arena_printf(check_arena(), "postgres://u@" STR_FMT "/x",
                         STR_ARG(socket_escaped(folder)))
                .at,
            ERR_UNAVAILABLE, "it is version 12; baton needs 13 or later");
    kill(pid, SIGKILL);
    free(folder);
}
