/* tables.h: the tables of server_bench. Private to it.
 *
 * tables_requests.c  reads and writes beside servers that do nothing
 * tables_events.c    fan-out, and readers beside a busy writer
 * tables_growth.c    many states, long histories, starting with them
 * tables_memory.c    what it takes to be there
 * tables_nodes.c     nodes that share a PostgreSQL, beside SQLite and a plain UPDATE
 * tables_team.c      a team of agents, and claims from a long queue
 * tables_mcp.c       a tool of MCP, beside the TypeScript SDK
 * tables_hooks.c     hooks of clients
 * tables_tokens.c    what agents are made to read
 * data_dirs.c        the data directories of all of these */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include "bench/fill.h"
#include "bench/report.h"
#include "bench/target.h"
#include "bench/traffic.h"

struct bench_paths {
    const char *program; /* the server */
    const char *folder;  /* where its data directories are made */
};

enum { SMALL_STATES = 1000, LARGE_STATES = 64 };

/* The path of something in that folder. */
str bench_path(struct arena *a, const struct bench_paths *s, const char *name);

/* Removes what is in a data directory, if there is one. */
void data_dir_empty(const char *folder);

/* A new directory with SMALL_STATES states of 1 KB, LARGE_STATES of 50 KB. */
str data_dir_fresh(struct arena *a, const struct bench_paths *s, const char *name);

/* The target is a server on such a directory, which most of them ask. */
typedef void table(const struct bench_paths *s, const struct target *t);

table table_get, table_patch, table_large_and_hot, table_syncs, table_fan_out, table_readers,
    table_growth, table_start, table_histories, table_memory, table_size, table_nodes, table_team,
    table_claims, table_mcp, table_hooks, table_tokens;

#endif
