/* scripted.h: an agent that does what a scenario says: for demonstrations, tests, measurements.
 *
 *   { "work":         [ STEP… ],               what it does when it is asked for work
 *     "state_update": [ [ STEP… ], [ … ] ],    at the first, second … request for its result
 *     "callback":     [ STEP… ] }              when its children have ended
 *
 * A step is an object with one of
 *
 *   "say": TEXT              says it; what it says last is its result
 *   "call": { "op": "state.patch", "input": { … }, "expect": 200 }
 *                            an operation; what its session implies need not be in the input.
 *                            Another status than expected (any success) fails the turn
 *   "record": { "artifacts": { … }, "error": TEXT }
 *                            what the step has given that its session works for, or, where the error
 *                            is not empty, why it has failed
 *   "start": { "session_name": NAME, "prompt": SCENARIO or TEXT, "agent": NAME, "mode": MODE }
 *                            another session below it; scripted, unless an agent is named
 *   "cost_usd": 0.01, "tokens": [ IN, OUT ]
 *   "sleep_ms": N
 *   "wait_file": PATH        until there is such a file
 *   "touch": PATH
 *   "stop_hook": true        tells that it stops, as a client's hook would; when that is
 *                            refused, plays the next of "state_update", and tells again
 *   "stall": true            goes on for ever
 *   "exit": N                ends at once, without a result
 *
 * The player is a function of its scenario and of whoever does things for it: a process that
 * speaks to a server, or a test without either. */
#ifndef RUNNER_SCRIPTED_H
#define RUNNER_SCRIPTED_H

#include "json/json.h"

/* Does what the player asks for. An error ends the turn as failed. */
struct scripted_io {
    void *self;

    /* Emits one line of what it writes: {"type": "say", "text": …}. */
    err (*emit)(void *self, struct arena *a, const struct json *line);

    /* An operation by its name. What it was answered lives in the arena; NULL: nothing. */
    err (*call)(void *self, struct arena *a, str op, const struct json *input, int *status,
                const struct json **answer);

    /* Lets time pass; INT64_MAX: for ever. An error when that cannot be. */
    err (*pause)(void *self, struct arena *a, int64_t ms);

    err (*touch)(void *self, struct arena *a, str path);
    bool (*exists)(void *self, str path);
};

struct scripted_turn {
    str purpose;     /* "work", "task", "state_update", "callback" */
    int64_t attempt; /* which request to record the result, from 1 on */
    str client_id;
    str session_id;  /* its own; needed by stop_hook alone */
    str workflow_id; /* that it works for a step of; needed by record alone */
};

/* The scenario in a prompt: its first JSON object, whatever stands around it. INVALID when there is none,
 * or when it is not what is described above, with a pointer to the place. */
err scripted_read(struct arena *a, str prompt, const struct json **out);

/* Plays one turn and gives the exit code: 0 for a turn that went well. That it could not be played
 * is told as a line of type "error", and the code is 1. */
int scripted_play(struct arena *a, const struct json *scenario, const struct scripted_turn *turn,
                  const struct scripted_io *io);

#endif
