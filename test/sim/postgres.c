/* postgres.c: a PostgreSQL server of a test's own. */
#include "sim/postgres.h"

#include <dlfcn.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "check.h"

/* ---- the library, as far as it is needed: it is found at run time, so nothing links it ---- */

struct pg_conn;
struct pg_result;

enum { PG_COMMAND_OK = 1, PG_TUPLES_OK = 2, PG_CONNECTION_OK = 0 };

static struct {
    struct pg_conn *(*connect)(const char *options);
    int (*status)(const struct pg_conn *c);
    const char *(*error)(const struct pg_conn *c);
    void (*finish)(struct pg_conn *c);
    struct pg_result *(*exec)(struct pg_conn *c, const char *text);
    struct pg_result *(*prepare)(struct pg_conn *c, const char *name, const char *text, int types,
                                 const unsigned *type);
    struct pg_result *(*run)(struct pg_conn *c, const char *name, int count,
                             const char *const *values, const int *lengths, const int *formats,
                             int result_format);
    int (*result_status)(const struct pg_result *r);
    int (*rows)(const struct pg_result *r);
    int (*columns)(const struct pg_result *r);
    int (*is_null)(const struct pg_result *r, int row, int column);
    const char *(*value)(const struct pg_result *r, int row, int column);
    void (*clear)(struct pg_result *r);
} pq;

static void library_load(void)
{
    static const struct {
        const char *name;
        void *to;
    } symbols[] = {
        { "PQconnectdb", &pq.connect },
        { "PQstatus", &pq.status },
        { "PQerrorMessage", &pq.error },
        { "PQfinish", &pq.finish },
        { "PQexec", &pq.exec },
        { "PQprepare", &pq.prepare },
        { "PQexecPrepared", &pq.run },
        { "PQntuples", &pq.rows },
        { "PQresultStatus", &pq.result_status },
        { "PQnfields", &pq.columns },
        { "PQgetisnull", &pq.is_null },
        { "PQgetvalue", &pq.value },
        { "PQclear", &pq.clear },
    };
    void *library = dlopen("libpq.so.5", RTLD_NOW);

    if (!library)
        check_skip("libpq.so.5 is not installed (Debian: libpq5)");
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        CHECK(symbol);
        memcpy(symbols[i].to, &symbol, sizeof symbol);
    }
}

/* ---- a server of our own: it ends with the test ---- */

static const char *server_programs(void)
{
    glob_t found;

    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found))
        check_skip("no PostgreSQL server is installed (Debian: postgresql-15)");
    str path = str_from(found.gl_pathv[found.gl_pathc - 1]);
    path = arena_copy(check_arena(), str_slice(path, 0, path.len - strlen("/initdb")));
    globfree(&found);
    return path.at;
}

/* PostgreSQL refuses to run as root; its package has made a user for it. */
static const struct passwd *server_user(void)
{
    if (geteuid() != 0)
        return NULL;
    const struct passwd *user = getpwnam("postgres");
    if (!user)
        check_skip("this is root, and there is no user postgres to run a server as");
    return user;
}

static pid_t program_start(char *const *argv, const struct passwd *user)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    if (user &&
        (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid)))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (!freopen("postgres.log", "a", stdout) || !freopen("postgres.log", "a", stderr))
        _exit(126);
    execv(argv[0], argv);
    _exit(127);
}

static void server_failed(const char *what)
{
    check_fail(__FILE__, __LINE__, "%s: " STR_FMT, what, STR_ARG(check_read("postgres.log")));
}

static struct pg_conn *connected(const char *folder)
{
    str options = arena_printf(check_arena(), "host=%s user=postgres dbname=postgres", folder);

    for (int tries = 0; tries < 500; tries++) {
        struct pg_conn *c = pq.connect(options.at);
        if (pq.status(c) == PG_CONNECTION_OK)
            return c;
        pq.finish(c);
        usleep(20000); /* it says only so when it is ready */
    }
    server_failed("the server does not answer");
    return NULL;
}

struct postgres {
    struct pg_conn *connection;
    struct map prepared; /* SQL text → the name under which it is prepared */
    pid_t pid;
};

static void data_make(const char *programs, const struct passwd *user)
{
    str initdb = arena_printf(check_arena(), "%s/initdb", programs);
    char *argv[] = { (char *)initdb.at,     "--pgdata=data",
                     "--username=postgres", "--auth=trust",
                     "--no-sync",           "--encoding=UTF8",
                     "--locale=C.UTF-8",    "--locale-provider=icu",
                     "--icu-locale=en-US",  NULL };
    int status;

    fclose(fopen("postgres.log", "w"));
    if (user) {
        CHECK_INT(chmod(".", 0711), 0);
        CHECK_INT(mkdir("data", 0700), 0);
        CHECK_INT(chown("data", user->pw_uid, user->pw_gid), 0);
        CHECK_INT(chown("postgres.log", user->pw_uid, user->pw_gid), 0);
    }
    if (waitpid(program_start(argv, user), &status, 0) < 0 || status)
        server_failed("initdb failed");
}

struct postgres *postgres_start(void)
{
    library_load();
    const char *programs = server_programs();
    const struct passwd *user = server_user();
    struct postgres *p = ARENA_NEW(check_arena(), struct postgres);
    char *folder = getcwd(NULL, 0);

    data_make(programs, user);
    str server = arena_printf(check_arena(), "%s/postgres", programs);
    str socket = arena_printf(check_arena(), "%s/data", folder);
    char *argv[] = { (char *)server.at, "-D", "data", "-F", "-c", "listen_addresses=", "-k",
                     (char *)socket.at, NULL };
    free(folder);
    p->pid = program_start(argv, user);
    p->connection = connected(socket.at);
    p->prepared = map_in(check_arena());
    return p;
}

void postgres_stop(struct postgres *p)
{
    int status;

    pq.finish(p->connection);
    kill(p->pid, SIGQUIT);
    CHECK_INT(waitpid(p->pid, &status, 0), p->pid);
}

/* ---- running there what was recorded ---- */

void postgres_exec(struct postgres *p, const char *text)
{
    struct pg_result *r = pq.exec(p->connection, text);

    if (pq.result_status(r) != PG_COMMAND_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, pq.error(p->connection));
    pq.clear(r);
}

/* Prepares a text at its first use, as the types of its arguments must be found without them. */
static const char *prepared(struct postgres *p, const char *text)
{
    const char *name = map_get(&p->prepared, str_from(text));

    if (name)
        return name;
    name = arena_printf(check_arena(), "s%u", p->prepared.count).at;
    struct pg_result *r = pq.prepare(p->connection, name, text, 0, NULL);
    if (pq.result_status(r) != PG_COMMAND_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, pq.error(p->connection));
    pq.clear(r);
    map_put(&p->prepared, str_from(text), (void *)name);
    return name;
}

/* A value as PostgreSQL writes it. */
static str value_text(const struct sql_value *v)
{
    struct buf out = buf_in(check_arena());

    if (v->kind == SQL_INT)
        buf_printf(&out, "%lld", (long long)v->number);
    else if (v->kind == SQL_TEXT)
        buf_add(&out, v->bytes);
    else
        for (size_t i = 0; i < v->bytes.len; i++)
            buf_printf(&out, "%s%02x", i ? "" : "\\x", (unsigned char)v->bytes.at[i]);
    return buf_str(&out);
}

static void value_check(const struct record *r, const struct pg_result *found, int row, int column)
{
    const struct sql_value *v = &r->rows[row].values[column];

    if (v->kind == SQL_NULL ? !pq.is_null(found, row, column)
                            : !str_eq(value_text(v), str_from(pq.value(found, row, column))))
        check_fail(__FILE__, __LINE__, "%s\nrow %d, column %d: SQLite %s, PostgreSQL %s", r->text,
                   row, column, v->kind == SQL_NULL ? "NULL" : value_text(v).at,
                   pq.is_null(found, row, column) ? "NULL" : pq.value(found, row, column));
}

static void rows_check(const struct record *r, const struct pg_result *found)
{
    int rows = pq.rows(found);

    if (r->whole ? rows != (int)r->count : rows < (int)r->count)
        check_fail(__FILE__, __LINE__, "%s\nSQLite gives %zu rows, PostgreSQL %d", r->text,
                   r->count, rows);
    for (int row = 0; row < (int)r->count; row++) {
        CHECK_INT(pq.columns(found), r->rows[row].count);
        for (int column = 0; column < (int)r->rows[row].count; column++)
            value_check(r, found, row, column);
    }
}

static void statement_replay(struct postgres *p, const struct record *r)
{
    const char *name = prepared(p, r->text);
    const char **values = ARENA_ARRAY(check_arena(), const char *, r->args.count);

    for (size_t i = 0; i < r->args.count; i++)
        values[i] = r->args.values[i].kind == SQL_NULL ? NULL : value_text(&r->args.values[i]).at;
    struct pg_result *found =
        pq.run(p->connection, name, (int)r->args.count, values, NULL, NULL, 0);
    int status = pq.result_status(found);
    if (status != PG_COMMAND_OK && status != PG_TUPLES_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", r->text, pq.error(p->connection));
    rows_check(r, found);
    pq.clear(found);
}

void postgres_replay(struct postgres *p, const struct recording *recording)
{
    static const char *const texts[] = {
        [RECORD_BEGIN] = "BEGIN",          [RECORD_MARK] = "SAVEPOINT command",
        [RECORD_KEEP] = "RELEASE command", [RECORD_UNDO] = "ROLLBACK TO command; RELEASE command",
        [RECORD_COMMIT] = "COMMIT",        [RECORD_ROLLBACK] = "ROLLBACK",
    };

    for (const struct record *r = recording->first; r; r = r->next)
        if (r->kind == RECORD_RUN)
            statement_replay(p, r);
        else
            postgres_exec(p, texts[r->kind]);
}
