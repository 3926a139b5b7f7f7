/* rows.h: all rows of all tables, as text that is the same on every database. */
#ifndef SIM_ROWS_H
#define SIM_ROWS_H

#include "base/digest.h"
#include "store/store.h"

/* A line for each row, those of one table after those of another. Between transactions. */
str rows_told(struct sql *sql, struct arena *a);

/* A digest of these lines. */
void rows_digest(struct sql *sql, unsigned char out[SHA256_BYTES]);

#endif
