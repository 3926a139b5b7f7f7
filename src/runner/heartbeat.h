/* heartbeat.h: the signs of life of a run, told by a thread of their own.
 *
 * What the agent writes is told at most once a second, or sooner when it is much, and the
 * lease is renewed even if it is silent. A server that is slow or away delays neither the
 * agent nor whoever watches over it: what cannot be told in time is left out, and the gap
 * is told. */
#ifndef RUNNER_HEARTBEAT_H
#define RUNNER_HEARTBEAT_H

#include "runner/report.h"

struct heartbeat;

enum heartbeat_word {
    HEARTBEAT_GO,
    HEARTBEAT_STOP, /* the server asks to stop the agent */
    HEARTBEAT_LOST, /* the run is somebody else's, or will be: the agent must not go on */
};

enum heartbeat_stream { HEARTBEAT_STDOUT, HEARTBEAT_STDERR };

/* The report is the heartbeat's alone until heartbeat_free. `wake_fd` is an eventfd that is written to when
 * the word has changed. */
struct heartbeat *heartbeat_new(struct report *r, int64_t lease_ms, int wake_fd);

void heartbeat_output(struct heartbeat *p, enum heartbeat_stream from, str line);

/* Facts that are known while it runs; empty: unknown. */
void heartbeat_facts(struct heartbeat *p, str client_id, str heard);

enum heartbeat_word heartbeat_word(struct heartbeat *p);

/* Ends the thread, after it has told all that there is, for as long as that takes within
 * `patience_ms`. */
void heartbeat_free(struct heartbeat *p, int64_t patience_ms);

#endif
