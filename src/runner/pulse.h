/* pulse.h: the signs of life of a run, told by a thread of their own.
 *
 * What the agent writes is told at most once a second, or sooner when it is much, and the
 * lease is renewed even if it is silent. A server that is slow or away delays neither the
 * agent nor whoever watches over it: what cannot be told in time is left out, and the gap
 * is told. */
#ifndef RUNNER_PULSE_H
#define RUNNER_PULSE_H

#include "runner/report.h"

struct pulse;

enum pulse_word {
    PULSE_GO,
    PULSE_STOP, /* the server asks to stop the agent */
    PULSE_LOST, /* the run is somebody else's, or will be: the agent must not go on */
};

enum pulse_stream { PULSE_STDOUT, PULSE_STDERR };

/* The report is the pulse's alone until pulse_free. `wake_fd` is an eventfd that is written to when
 * the word has changed. */
struct pulse *pulse_new(struct report *r, int64_t lease_ms, int wake_fd);

void pulse_output(struct pulse *p, enum pulse_stream from, str line);

/* Facts that are known while it runs; empty: unknown. */
void pulse_facts(struct pulse *p, str client_id, str heard);

enum pulse_word pulse_word(struct pulse *p);

/* Ends the thread, after it has told all that there is, for as long as that takes within
 * `patience_ms`. */
void pulse_free(struct pulse *p, int64_t patience_ms);

#endif
