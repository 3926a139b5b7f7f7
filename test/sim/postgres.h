/* postgres.h: a PostgreSQL server of a test's own.
 *
 * It lives in the test's directory, listens on a socket there alone, and ends with the test. Texts
 * are not ordered by their bytes in it unless a column says COLLATE "C". */
#ifndef SIM_POSTGRES_H
#define SIM_POSTGRES_H

#include "sim/record.h"

struct postgres;

/* Skips the test where there is no server to start. */
struct postgres *postgres_start(void);
void postgres_stop(struct postgres *p);

void postgres_exec(struct postgres *p, const char *text);

/* Runs all of a recording, in its transactions and savepoints. Each statement must give the rows
 * that were recorded. */
void postgres_replay(struct postgres *p, const struct recording *recording);

#endif
