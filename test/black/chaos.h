/* chaos.h: writers and subscribers to whom nothing may get lost, whatever happens to the servers.
 *
 * Every write puts the next number of its writer into the writer's slot of a document, and has a
 * key of its own; a writer that got no answer sends the same again, to another node if there is
 * one, until it has one. So at the end each write is known to be there exactly once, with the
 * version that was answered: documents and histories can be compared with the answers, and what
 * subscribers heard with the histories. A test brings the servers, and what happens to them. */
#ifndef TEST_BLACK_CHAOS_H
#define TEST_BLACK_CHAOS_H

#include <stdatomic.h>

#include "black/black.h"
#include "json_help.h"

enum {
    CHAOS_WRITERS = 16,
    CHAOS_SHARED = CHAOS_WRITERS, /* a state that all write, */
    CHAOS_CAREFUL,                /* and one that they write with expected_version */
    CHAOS_STATES,                 /* those before are one for each writer */
};

struct chaos {
    struct black *nodes; /* started; what is written on one of them, all of them show */
    int node_count;
    int patience_ms; /* for an answer, before the same is asked again */
    bool calm;       /* no node ends meanwhile: nothing need be asked again */

    str ids[CHAOS_STATES];
    atomic_bool over;
    _Atomic int64_t known[CHAOS_STATES]; /* the highest version that anybody was shown */
    _Atomic int64_t last[CHAOS_STATES];  /* when all is written; 0 until then */
    struct writer *writers;
    struct listener *listeners;
};

/* Makes the states, and lets writers and subscribers begin. */
void chaos_begin(struct chaos *c, struct random *random);

/* Has them end, compares all that they were told with what all nodes show, and says how it went;
 * `before` begins that line. */
void chaos_end(struct chaos *c, const char *before);

/* How long to go on: so many seconds, less in a sanitized build; in a soak what that says. */
int64_t chaos_ms(int seconds, int sanitized_seconds);

#endif
