/* store_work.h: a database with a team's work in it, and commands on whole databases, for tests.
 *
 * The commands run as a user's do, from their arguments to their exit code. */
#ifndef TEST_STORE_WORK_H
#define TEST_STORE_WORK_H

#include "check.h"
#include "cli/cli.h"
#include "core/retain.h"
#include "sim/world.h"

/* ---- commands ---- */

extern const struct verb store_program;

/* Runs `baton store …`; what it prints is in the file "out", errors are in "err". */
int store_call(const char *first, ...);

#define STORE(...) store_call(__VA_ARGS__, NULL)

bool said(const char *file, const char *text);
void expect_exit(const char *file, int line, int found, int expected);

#define EXITS(call, code) expect_exit(__FILE__, __LINE__, (call), (code))

/* ---- work ---- */

/* Small numbers, so that histories are compacted and the floor moves. */
extern const struct retention work_retention;

/* Two states with compacted histories, one deleted, tokens, keys, work that is due, a team. */
void work(const char *path);

/* One more write to a state, under a key of its own. */
void work_update(struct world *w, const char *state, int n);

/* Everything that can be asked, as one text. */
str answers(const char *store);
void same_answers(str before, const char *store);

/* A request that was answered before is answered from its key, and the next write goes on. */
void goes_on(const char *store);

/* ---- by hand ---- */

/* Performs a statement on it. */
void rows_change(const char *store, const char *text);

void file_copy(const char *from, const char *to);

#endif
