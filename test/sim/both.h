/* both.h: tests of operations that hold on every database, and answers that are the same.
 *
 *   TEST_BOTH(a_key_applies_a_command_once) { … }
 *
 * is the test of that name, on SQLite, and a second one, ..._on_postgresql. That runs the body
 * twice, on SQLite and then with every world in a new schema of the shared PostgreSQL, and fails
 * also when the two differ in anything: a command's answer or error, a row that is left when a
 * world is closed. */
#ifndef SIM_BOTH_H
#define SIM_BOTH_H

#include "sim/postgres.h"

#define TEST_BOTH_LIMIT(name_, limit_)                                             \
    static void both_##name_(void);                                                \
    TEST_LIMIT(name_, limit_)                                                      \
    {                                                                              \
        both_##name_();                                                            \
    }                                                                              \
    TEST_USING(name_##_on_postgresql, (limit_) ? (limit_) : 60, &postgres_service) \
    {                                                                              \
        both_run(both_##name_);                                                    \
    }                                                                              \
    static void both_##name_(void)

#define TEST_BOTH(name) TEST_BOTH_LIMIT(name, 0)

void both_run(void (*body)(void));

/* What to open instead of the file of that path. */
const char *both_store(const char *path);

/* Whether somebody compares; then these are lines to be compared. */
bool both_listens(void);
void both_note(str lines);

/* All rows of a store, if somebody compares; between transactions. */
void both_note_rows(struct sql *sql);

/* Fails at the first line that differs; `told` are lines on PostgreSQL. */
void both_compare(str sqlite, str told);

#endif
