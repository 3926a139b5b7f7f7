/* sql.h: what a rule may do with the database.
 *
 * Statements run inside a transaction that somebody else began and will end; see
 * store.h. One text serves SQLite and PostgreSQL: parameters are $1, $2 …, and
 * types are TEXT, BIGINT and BYTEA. Times, ids and random values are arguments,
 * never functions of SQL. What a statement decides, it tells by RETURNING;
 * constraints are never violated on purpose.
 *
 * Texts are literals, which the macros below make sure of: a statement is
 * prepared once and found again by the literal's address. All of them are
 * listed (sql_texts), so that a test can run each on every database. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include "base/arena.h"
#include "base/err.h"

struct sql; /* one connection, in a transaction */

enum sql_kind { SQL_NULL, SQL_INT, SQL_TEXT, SQL_BYTES };

struct sql_value {
    enum sql_kind kind;
    int64_t number;
    str bytes; /* of TEXT and BYTES */
};

struct sql_args {
    const struct sql_value *values;
    size_t count;
};

/* ARGS(TEXT(id), INT(now), NOTHING) for $1, $2 and $3. */
#define ARGS(...)                                                           \
    ((struct sql_args){ (const struct sql_value[]){ __VA_ARGS__ },          \
                        sizeof((const struct sql_value[]){ __VA_ARGS__ }) / \
                            sizeof(struct sql_value) })
#define NO_ARGS ((struct sql_args){ NULL, 0 })
#define INT(n) ((struct sql_value){ SQL_INT, (n), { NULL, 0 } })
#define TEXT(s) ((struct sql_value){ SQL_TEXT, 0, (s) })
#define BYTES(s) ((struct sql_value){ SQL_BYTES, 0, (s) })
#define NOTHING ((struct sql_value){ SQL_NULL, 0, { NULL, 0 } })

/* A row of a result; it lives in the arena of the command. */
struct row {
    const struct sql_value *values;
    size_t count;
};

/* A column by its place in the statement, counted from 0. What is NULL reads as 0 or "". */
int64_t row_int(const struct row *r, size_t column);
str row_str(const struct row *r, size_t column);
bool row_null(const struct row *r, size_t column);

/* Runs a statement for its effect. */
#define sql_exec(s, text, args) sql_exec_((s), SQL_TEXT_OF(text), (args))

/* Gives its first row, or NULL when there is none. */
#define sql_one(s, row, text, args) sql_one_((s), (row), SQL_TEXT_OF(text), (args))

/* Gives all of its rows: its text has a LIMIT, or its tables are small. */
#define sql_all(s, rows, count, text, args) \
    sql_all_((s), (rows), (count), SQL_TEXT_OF(text), (args))

err sql_exec_(struct sql *s, const char *text, struct sql_args args);
err sql_one_(struct sql *s, const struct row **row, const char *text, struct sql_args args);
err sql_all_(struct sql *s, const struct row **rows, size_t *count, const char *text,
             struct sql_args args);

struct sql_text {
    const char *text, *file; /* file: where it stands */
};

/* A literal, noted in a section of the program that holds all of them. */
#define SQL_TEXT_OF(text_)                                                                     \
    ({                                                                                         \
        static const struct sql_text sql_text_                                                 \
            __attribute__((section("sql_texts"), used, aligned(16))) = { "" text_, __FILE__ }; \
        sql_text_.text;                                                                        \
    })

extern const struct sql_text __start_sql_texts[], __stop_sql_texts[];

#endif
