/* postgres.c: a PostgreSQL server of a test's own. */
#include "sim/postgres.h"

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
#include "os/random.h"
#include "store/libpq.h"

struct postgres {
    PGconn *connection;
    struct map prepared; /* SQL text → the name under which it is prepared */
    pid_t pid;
    const char *folder; /* of its socket */
    const char *const *settings;
};

static const struct libpq *pq;

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
    fflush(NULL); /* or the child would print it too */
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

static PGconn *connected(const char *url)
{
    const char *names[] = { "dbname", NULL }, *values[] = { url, NULL };

    for (int tries = 0; tries < 500; tries++) {
        PGconn *c = pq->connectdb_params(names, values, 1);
        if (pq->status(c) == CONNECTION_OK)
            return c;
        pq->finish(c);
        usleep(20000); /* it says only so when it is ready */
    }
    server_failed("the server does not answer");
    return NULL;
}

/* What is not synced need not be on a disk. */
static void folder_make(bool in_memory, const struct passwd *user)
{
    const char *folder = "data";

    if (in_memory && strcmp(check_memory_folder(), ".") != 0) {
        folder = arena_printf(check_arena(), "%s/data", check_memory_folder()).at;
        CHECK_INT(symlink(folder, "data"), 0);
    }
    CHECK_INT(mkdir(folder, 0700), 0);
    fclose(fopen("postgres.log", "w"));
    if (!user)
        return;
    CHECK_INT(chmod(".", 0711), 0);
    CHECK_INT(chown(folder, user->pw_uid, user->pw_gid), 0);
    CHECK_INT(chown("postgres.log", user->pw_uid, user->pw_gid), 0);
}

static void data_make(const char *programs, const struct passwd *user)
{
    str initdb = arena_printf(check_arena(), "%s/initdb", programs);
    char *argv[] = { (char *)initdb.at,     "--pgdata=data",
                     "--username=postgres", "--auth=trust",
                     "--no-sync",           "--encoding=UTF8",
                     "--locale=C.UTF-8",    "--locale-provider=icu",
                     "--icu-locale=en-US",  NULL };
    int status;

    if (waitpid(program_start(argv, user), &status, 0) < 0 || status)
        server_failed("initdb failed");
}

static void server_run(struct postgres *p, const char *const *settings)
{
    const char *programs = server_programs();
    str server = arena_printf(check_arena(), "%s/postgres", programs);
    /* One that is killed leaves nothing but its folder. */
    char *argv[32] = { (char *)server.at,
                       "-D",
                       "data",
                       "-c",
                       "listen_addresses=",
                       "-c",
                       "dynamic_shared_memory_type=mmap",
                       "-k",
                       (char *)p->folder };

    p->settings = settings;
    for (int i = 9; settings && *settings; settings++) {
        argv[i++] = "-c";
        argv[i++] = (char *)*settings;
        CHECK(i < 31);
    }
    p->pid = program_start(argv, server_user());
    p->connection = connected(postgres_url(p, "postgres", "postgres"));
    p->prepared = map_in(check_arena());
}

static struct postgres *start(const char *const *settings, bool in_memory)
{
    struct postgres *p = ARENA_NEW(check_arena(), struct postgres);
    char *folder = getcwd(NULL, 0);

    if (libpq_load(check_arena(), &pq))
        check_skip("libpq.so.5 is not installed (Debian: libpq5)");
    folder_make(in_memory, server_user());
    data_make(server_programs(), server_user());
    p->folder = arena_printf(check_arena(), "%s/data", folder).at;
    free(folder);
    server_run(p, settings);
    return p;
}

struct postgres *postgres_start_with(const char *const *settings)
{
    return start(settings, false);
}

struct postgres *postgres_start(void)
{
    static const char *const fast[] = { "fsync=off", NULL };

    return start(fast, true);
}

/* ---- a server for all ---- */

static void serve(void)
{
    static const char *const quick[] = { "fsync=off",         "full_page_writes=off",
                                         "autovacuum=off",    "shared_buffers=16MB",
                                         "max_wal_size=64MB", NULL };
    struct postgres *p = postgres_start_with(quick);

    check_serve(p->folder);
    postgres_stop(p);
}

struct service postgres_service = { .name = "PostgreSQL", .run = serve };

struct postgres *postgres_shared(void)
{
    struct postgres *p = ARENA_NEW(check_arena(), struct postgres);

    p->folder = check_service(&postgres_service).at;
    CHECK_OK(libpq_load(check_arena(), &pq));
    p->connection = connected(postgres_url(p, "postgres", "postgres"));
    return p;
}

void postgres_leave(struct postgres *p)
{
    pq->finish(p->connection);
}

void postgres_stop(struct postgres *p)
{
    int status;

    pq->finish(p->connection);
    kill(p->pid, SIGQUIT);
    CHECK_INT(waitpid(p->pid, &status, 0), p->pid);
}

void postgres_start_again(struct postgres *p)
{
    server_run(p, p->settings);
}

const char *postgres_url(const struct postgres *p, const char *user, const char *database)
{
    struct buf url = buf_in(check_arena());

    buf_printf(&url, "postgres://%s@", user);
    for (const char *at = p->folder; *at; at++)
        if (*at == '/')
            buf_add(&url, STR("%2F"));
        else
            buf_byte(&url, *at);
    buf_printf(&url, "/%s", database);
    return buf_str(&url).at;
}

const char *postgres_folder(const struct postgres *p)
{
    return p->folder;
}

const char *postgres_new_database(struct postgres *p)
{
    static int databases;
    const char *name = arena_printf(check_arena(), "db" STR_FMT "_%d",
                                    STR_ARG(random_hex(check_arena(), 4)), ++databases)
                           .at;

    postgres_exec(p, arena_printf(check_arena(), "CREATE DATABASE %s", name).at);
    return postgres_url(p, "postgres", name);
}

const char *postgres_new_schema(struct postgres *p)
{
    static int schemas;
    const char *name = arena_printf(check_arena(), "s" STR_FMT "_%d",
                                    STR_ARG(random_hex(check_arena(), 4)), ++schemas)
                           .at;

    postgres_exec(p, arena_printf(check_arena(), "CREATE SCHEMA %s", name).at);
    return arena_printf(check_arena(), "%s?options=-csearch_path%%3D%s",
                        postgres_url(p, "postgres", "postgres"), name)
        .at;
}

/* ---- statements by hand ---- */

void postgres_exec(struct postgres *p, const char *text)
{
    PGresult *r = pq->exec(p->connection, text);

    if (pq->result_status(r) != PGRES_COMMAND_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, pq->error_message(p->connection));
    pq->clear(r);
}

int64_t postgres_number(struct postgres *p, const char *text)
{
    PGresult *r = pq->exec(p->connection, text);

    if (pq->result_status(r) != PGRES_TUPLES_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, pq->error_message(p->connection));
    int64_t n = pq->ntuples(r) ? strtoll(pq->getvalue(r, 0, 0), NULL, 10) : 0;
    pq->clear(r);
    return n;
}

void postgres_until(struct postgres *p, const char *text)
{
    for (int tries = 0; tries < 1000; tries++) {
        if (postgres_number(p, text))
            return;
        usleep(10000); /* another process is to come so far */
    }
    check_fail(__FILE__, __LINE__, "it never came true: %s", text);
}

/* ---- running there what was recorded ---- */

/* The one answer to what was sent. */
static PGresult *answered(struct postgres *p)
{
    PGresult *r = pq->get_result(p->connection);

    CHECK(r && !pq->get_result(p->connection));
    return r;
}

/* Prepares a text at its first use, as the types of its arguments must be found without them. */
static const char *prepared(struct postgres *p, const char *text)
{
    const char *name = map_get(&p->prepared, str_from(text));

    if (name)
        return name;
    name = arena_printf(check_arena(), "s%u", p->prepared.count).at;
    CHECK(pq->send_prepare(p->connection, name, text, 0, NULL));
    PGresult *r = answered(p);
    if (pq->result_status(r) != PGRES_COMMAND_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, pq->error_message(p->connection));
    pq->clear(r);
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

static void value_check(const struct record *r, const PGresult *found, int row, int column)
{
    const struct sql_value *v = &r->rows[row].values[column];

    if (v->kind == SQL_NULL ? !pq->getisnull(found, row, column)
                            : !str_eq(value_text(v), str_from(pq->getvalue(found, row, column))))
        check_fail(__FILE__, __LINE__, "%s\nrow %d, column %d: SQLite %s, PostgreSQL %s", r->text,
                   row, column, v->kind == SQL_NULL ? "NULL" : value_text(v).at,
                   pq->getisnull(found, row, column) ? "NULL" : pq->getvalue(found, row, column));
}

static void rows_check(const struct record *r, const PGresult *found)
{
    int rows = pq->ntuples(found);

    if (r->whole ? rows != (int)r->count : rows < (int)r->count)
        check_fail(__FILE__, __LINE__, "%s\nSQLite gives %zu rows, PostgreSQL %d", r->text,
                   r->count, rows);
    for (int row = 0; row < (int)r->count; row++) {
        CHECK_INT(pq->nfields(found), r->rows[row].count);
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
    CHECK(pq->send_query_prepared(p->connection, name, (int)r->args.count, values, NULL, NULL, 0));
    PGresult *found = answered(p);
    int status = pq->result_status(found);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", r->text, pq->error_message(p->connection));
    rows_check(r, found);
    pq->clear(found);
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
