/* swarm_private.h: what a run is made of. */
#ifndef SIM_SWARM_PRIVATE_H
#define SIM_SWARM_PRIVATE_H

#include "sim/inputs.h"
#include "sim/crash_points.h"
#include "sim/swarm.h"

enum { SWARM_BATCH_MAX = 8 };

struct swarm {
    uint64_t seed;
    int step;
    struct random random;
    struct arena *arena;
    const struct swarm_options *options;
    struct swarm_totals *totals;
    struct sha256 sum;

    struct medium on;
    struct world *w;
    struct model *model;
    struct model *follower; /* hears of events late, and from event.list alone */
    struct inputs inputs;
    struct crash_points moments;
    unsigned char digest[SHA256_BYTES]; /* of all rows, after the last step */
    int keys;
    size_t next_op[2]; /* by effect: each operation has its turn */
};

static inline uint32_t below(struct swarm *s, uint32_t n)
{
    return random_below(&s->random, n);
}

static inline bool chance(struct swarm *s, uint32_t one_in)
{
    return below(s, one_in) == 0;
}

/* ---- swarm.c ---- */

/* A line of the log. */
void swarm_note(struct swarm *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void swarm_note_command(struct swarm *s, const struct command *c);

/* Opens the world on what the disk holds now: after the death of the last, or the first time. */
void swarm_open(struct swarm *s, int ids, int64_t now_ms);
void swarm_reopen(struct swarm *s);

struct command *swarm_command(struct swarm *s, const struct op *op, struct json input,
                              const struct actor *actor, str key);

void swarm_count(struct swarm *s, enum fault_site site, struct command *const *batch, size_t count);

/* ---- swarm_batch.c ---- */

/* Performs a command, alone and without a fault, and tells the model. */
void swarm_perform(struct swarm *s, struct command *c);

/* Performs a batch under a fault that is drawn, and follows it to its end: until every command is
 * answered, or was found out about after a restart. `race`: exactly one of them can win. */
void swarm_batch(struct swarm *s, struct command *const *batch, size_t count, bool race);

/* The model, what is read, and every row agree. */
void swarm_settle(struct swarm *s);

#endif
