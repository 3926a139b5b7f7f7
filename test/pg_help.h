/* pg_help.h: programs that come with PostgreSQL, run on the server of a test. */
#ifndef TEST_PG_HELP_H
#define TEST_PG_HELP_H

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sim/postgres.h"
#include "store/libpq.h"

enum { PG_WORDS_MAX = 24 };

/* Starts one as the user of the server, which ends with the test; its words go to "pg.log". */
static inline pid_t pg_start(const struct postgres *p, const char *const *words)
{
    char *argv[PG_WORDS_MAX] = { 0 };
    struct stat st;
    glob_t found;
    int count = 0;

    CHECK(glob("/usr/lib/postgresql/*/bin", 0, NULL, &found) == 0);
    str path = arena_printf(check_arena(), "%s/%s", found.gl_pathv[found.gl_pathc - 1], words[0]);
    globfree(&found);
    while (words[count]) {
        argv[count] = (char *)words[count];
        CHECK(++count < PG_WORDS_MAX);
    }
    argv[0] = (char *)path.at; /* it looks for its own files by it */
    CHECK(stat(postgres_folder(p), &st) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    int fd = open("pg.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    if (geteuid() == 0 && (setgid(st.st_gid) || setuid(st.st_uid)))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    execv(path.at, argv);
    _exit(127);
}

/* Runs one to its end, which must be a good one. */
static inline void pg_run(const struct postgres *p, const char *const *words)
{
    int status;

    if (waitpid(pg_start(p, words), &status, 0) < 0 || status)
        check_fail(__FILE__, __LINE__, "%s failed: " STR_FMT, words[0],
                   STR_ARG(check_read("pg.log")));
}

#define PG_RUN(p, ...) pg_run(p, (const char *const[]){ __VA_ARGS__, NULL })

/* A folder of the test's that the server can write to. */
static inline void pg_folder(const struct postgres *p, const char *name)
{
    struct stat st;

    CHECK(mkdir(name, 0700) == 0 && stat(postgres_folder(p), &st) == 0);
    CHECK(chown(name, st.st_uid, st.st_gid) == 0);
}

/* Statements in another database than `postgres`. False: it cannot be reached. */
static inline bool pg_try(const char *url, const char *text)
{
    const char *names[] = { "dbname", NULL }, *values[] = { url, NULL };
    const struct libpq *pq;

    CHECK_OK(libpq_load(check_arena(), &pq));
    PGconn *c = pq->connectdb_params(names, values, 1);
    bool reached = pq->status(c) == CONNECTION_OK;
    PGresult *r = reached ? pq->exec(c, text) : NULL;
    if (reached && pq->result_status(r) != PGRES_COMMAND_OK &&
        pq->result_status(r) != PGRES_TUPLES_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, pq->error_message(c));
    pq->clear(r);
    pq->finish(c);
    return reached;
}

static inline void pg_exec(const char *url, const char *text)
{
    if (!pg_try(url, text))
        check_fail(__FILE__, __LINE__, "%s cannot be reached", url);
}

#endif
