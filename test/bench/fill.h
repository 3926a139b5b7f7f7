/* fill.h: data directories with as many states and runs as a measurement wants.
 *
 * They are filled by the operations themselves, in this process and in large
 * batches, while no server has the directory. States have numbers; the same
 * number has the same id and the same first document everywhere. */
#ifndef BENCH_FILL_H
#define BENCH_FILL_H

#include "json/json.h"

enum { FILL_ID_BYTES = 24 };

/* Numbers of states that are not 1 KB long with one version. */
enum {
    FILL_LARGE = 100000000, /* 50 KB */
    FILL_SHORT = 200000000, /* a history of 10 versions */
    FILL_LONG = 300000000,  /* a history of 10,000 versions */
};

void fill_id(char id[FILL_ID_BYTES], uint64_t number);

struct filler;

/* Opens the directory, or makes it, with a schema named "bench" in it. */
struct filler *fill_open(const char *folder);

/* The same for a store by its name. */
struct filler *fill_open_store(const char *name);

/* All that was committed is in the database's file afterwards. */
void fill_close(struct filler *f);

/* Makes states with these numbers. */
void fill_states(struct filler *f, uint64_t first, uint64_t count, size_t tasks, size_t task_bytes);

/* Patches a state that many times. */
void fill_versions(struct filler *f, uint64_t number, uint64_t count);

/* Tags that a run may ask for; runs of one key ask for the same of them. */
enum { FILL_TAGS = 17 };
void fill_tag(char tag[8], int number);

/* Queues runs, each the first turn of a session of its own, which differ in what they ask of their
 * runner: so many sets of tags, or as many directories below /work. */
void fill_runs(struct filler *f, uint64_t count, uint64_t tag_sets, uint64_t directories);

/* Calls of one operation as the operator, in one transaction. Their answers live in the arena; times as
 * in fill_call, of all of them. */
void fill_batch(struct filler *f, struct arena *a, const char *op, const str *inputs, size_t count,
                const struct json **answers, double *us, double *cpu_us);

/* From now on it is that time, in ms since 1970. */
void fill_freeze(struct filler *f, int64_t now_ms);

/* One operation by itself, as a runner's token or (empty) as the operator. Its answer lives in the
 * arena; NULL: it waits, or has none. `cpu_us` is the processor time that it took, and `us` all of
 * the time; either may be NULL. */
const struct json *fill_call(struct filler *f, struct arena *a, str runner_token, const char *op,
                             str input, double *us, double *cpu_us);

#endif
