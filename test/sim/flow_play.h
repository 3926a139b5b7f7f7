/* flow_play.h: an execution on a world, beside the reference: what happens to the one happens to the other.
 *
 * After each event from outside the two must have moved alike, line by line, and know the same. Does not
 * know how the mover works; how far it may go in one command, and whether the world is opened anew between
 * two, is its caller's to say. */
#ifndef SIM_FLOW_PLAY_H
#define SIM_FLOW_PLAY_H

#include "sim/flow_random.h"
#include "sim/world.h"

struct play {
    struct world *w;
    struct arena *arena;   /* of the reference, and what is kept */
    struct arena *scratch; /* of one event */
    const struct graph *graph;
    struct reference *reference;
    uint64_t seed;
    str id;                /* of the execution */
    int64_t seen;          /* the last event that was looked at */
    size_t lines;          /* of the reference's trace that were found */
    str late;              /* a job that was reported; empty: none was */
    str runner;            /* of the crew: see flow_crew.h */
    struct crew_run *runs; /* that it holds */
    size_t run_count;
    str stopped;           /* a session that a person has stopped */
    str decided, decision; /* the approval that was decided last, and how; empty: none was */
    struct buf log;
    struct vfs
        *disk; /* whose changes are watched for what a crash would leave; NULL: they are not */
    struct random chance;
    uint64_t points;                 /* at which the power went */
    void (*between)(struct play *p); /* called after each command; NULL: nothing is to happen */
};

/* Deploys and starts a definition with variables, both JSON. */
void play_start(struct play *p, str definition, str variables);

/* Lets an event happen to both, and compares. */
void play_event(struct play *p, struct flow_event *e);

/* Plays a seed to its end, or until it goes in circles; gives how many events there were. The world may be
 * another one then, if `between` opens one. */
unsigned play_seed(struct world **w, struct arena *a, uint64_t seed,
                   void (*between)(struct play *p), struct vfs *watched, uint64_t *points);

#endif
