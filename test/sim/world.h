/* world.h: the operations without a server, for tests: one thread, counted ids, a clock that is a
 * number, and a store under faults. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "core/retain.h"
#include "core/team.h"
#include "ops/perform.h"
#include "sim/fault.h"

struct world {
    struct arena *arena; /* of what belongs to the world */
    struct store *store;
    struct op_table *table;
    struct fault fault, read_fault; /* of the writer's calls, and of the reader's */
    struct engine engine;           /* the writer */
    struct engine reader;           /* its sql is NULL until somebody reads: see world_reader */
    struct tx_source source;
    struct actor actor;         /* of the next command */
    struct retention retention; /* how long its engines keep things */
    struct team_rules team;     /* and what they let sessions and runs do */
    int64_t now_ms;
    int ids;

    /* What both_run compares: its commands, in the order in which they were made. */
    struct command **commands;
    size_t command_count, command_room;
};

/* On a file, in the file system of that name (NULL: the real one), or on "postgres://…", whose own
 * clock is not asked. While both_run has its turn on PostgreSQL, a path is a new database there.
 * The error is of opening. */
err world_open(const char *path, const char *vfs, struct world **out);

/* The same with everything in an arena of the caller's, which must outlive the world, and with a
 * table of operations that all such worlds of the process share. */
err world_open_in(struct arena *a, const char *path, const char *vfs, struct world **out);
void world_close(struct world *w);

/* The second connection, which only reads; made at its first use. */
err world_reader(struct world *w, struct engine **out);

/* Closes it: the next one has nothing in memory of what this one has read. */
void world_reader_end(struct world *w);

/* A command of an operation; the input is JSON with single quotes, the key may be empty. */
struct command *world_command(struct world *w, const char *op, const char *input, const char *key);

/* Performs one, and checks that its answer fits what the table says of it. */
struct command *world_call(struct world *w, const char *op, const char *input, const char *key);

/* So much later, when all that was due by then has been done. Whoever acted acts on. */
void world_pass(struct world *w, int64_t ms);

/* What holds in every database holds in this one; else the test has failed. */
void world_audit(struct world *w);

/* The same inside of a transaction of the caller's. */
void sql_audit(struct sql *sql, struct arena *a);

/* All of a command's outcome as one line. */
str world_told(struct arena *a, const struct command *c);

/* That check for a command which somebody else performed. */
void world_check_answer(const struct world *w, const struct command *c);

#endif
