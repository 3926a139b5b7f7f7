/* bank.h: a small database for tests of the simulated disk.
 *
 * It has two tables that must agree: deposit n adds row n to both. So a look at
 * the tables tells how many deposits there were, or that one is there by half. */
#ifndef SIM_BANK_H
#define SIM_BANK_H

#include "check.h"
#include "sim/vfs.h"

#include <sqlite3.h>
#include <stdio.h>

#define BROKEN (-1)

static inline sqlite3 *open_db(struct vfs *w)
{
    sqlite3 *db;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    CHECK_INT(sqlite3_open_v2("bank.db", &db, flags, vfs_name(w)), SQLITE_OK);
    return db;
}

static inline void close_db(sqlite3 *db)
{
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* The primary result code. */
static inline int try_sql(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) & 0xff;
}

static inline void run_sql(sqlite3 *db, const char *sql)
{
    if (try_sql(db, sql) != SQLITE_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
}

/* The first column of the first row as an integer; BROKEN when there is none. */
static inline int ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;
    int answer = BROKEN;

    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
        answer = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    return answer;
}

static inline const char *deposit_sql(int n)
{
    static char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE;"
             "INSERT INTO a VALUES (%d, zeroblob(900));"
             "INSERT INTO b VALUES (%d, zeroblob(5000));"
             "COMMIT",
             n, n);
    return sql;
}

/* How many deposits there are; BROKEN when the tables disagree or the file is damaged. */
static inline int deposits(sqlite3 *db)
{
    return ask(db, "SELECT CASE WHEN count(*) = max(n) AND count(*) = (SELECT count(*) FROM b)"
                   "             AND count(*) = (SELECT max(n) FROM b)"
                   "             AND (SELECT integrity_check = 'ok' FROM pragma_integrity_check)"
                   "            THEN count(*) ELSE -1 END FROM a");
}

struct mode {
    const char *journal, *sync; /* values of the two pragmas */
};

static const struct mode wal_full = { "WAL", "FULL" };

static inline void set_mode(sqlite3 *db, const struct mode *mode)
{
    char sql[128];
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s; PRAGMA synchronous = %s", mode->journal,
             mode->sync);
    run_sql(db, sql);
}

/* A new bank with one deposit that is durable whatever the mode is. */
static inline sqlite3 *bank_new(struct vfs *w, const struct mode *mode)
{
    sqlite3 *db = open_db(w);

    run_sql(db, "PRAGMA page_size = 1024; PRAGMA synchronous = EXTRA");
    run_sql(db, "CREATE TABLE a (n INTEGER PRIMARY KEY, bytes BLOB);"
                "CREATE TABLE b (n INTEGER PRIMARY KEY, bytes BLOB)");
    run_sql(db, deposit_sql(1));
    vfs_sync_directory(w);
    set_mode(db, mode);
    return db;
}

/* Deposits 2 to 5, with a checkpoint in between. Gives the number of the last acknowledged one. */
static inline int bank_live(sqlite3 *db)
{
    int acknowledged = 1;

    for (int n = 2; n <= 5 && try_sql(db, deposit_sql(n)) == SQLITE_OK; n++) {
        acknowledged = n;
        if (n == 3)
            try_sql(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    return acknowledged;
}

#endif
