/* postgres.h: a PostgreSQL server of a test's own.
 *
 * It lives in the test's directory, listens on a socket there alone, and ends with the test. Texts
 * are not ordered by their bytes in it unless a column says COLLATE "C". */
#ifndef SIM_POSTGRES_H
#define SIM_POSTGRES_H

#include "check.h"
#include "sim/record.h"

struct postgres;

/* A server that all tests of a run share: TEST_USING(name, limit, &postgres_service). Each makes
 * stores of its own in it and stops, starts and configures nothing. */
extern struct service postgres_service;
struct postgres *postgres_shared(void);
void postgres_leave(struct postgres *p);

/* Skips the test where there is no server to start. */
struct postgres *postgres_start(void);
void postgres_stop(struct postgres *p);

/* With settings ("fsync=on"), which NULL ends. */
struct postgres *postgres_start_with(const char *const *settings);

/* Starts it again, with what it holds. Stopping it was like a crash. */
void postgres_start_again(struct postgres *p);

/* A store's name for a database of it, in the name of a role; and for one that is made anew. */
const char *postgres_url(const struct postgres *p, const char *user, const char *database);
const char *postgres_new_database(struct postgres *p);

/* The same for a new schema in the database `postgres`, which is made ten times as fast. */
const char *postgres_new_schema(struct postgres *p);

/* Where its socket is. */
const char *postgres_folder(const struct postgres *p);

/* Statements by hand, in the database `postgres`; the first column of the first row, or 0. */
void postgres_exec(struct postgres *p, const char *text);
int64_t postgres_number(struct postgres *p, const char *text);

/* Asks again and again until the number is not 0. */
void postgres_until(struct postgres *p, const char *text);

/* Runs all of a recording, in its transactions and savepoints. Each statement must give the rows
 * that were recorded. */
void postgres_replay(struct postgres *p, const struct recording *recording);

#endif
