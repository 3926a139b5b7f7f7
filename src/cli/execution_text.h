/* execution_text.h: an execution, and what happens to it, as text for people.
 *
 * It is pure: it knows no server, no terminal and no time but what it is given. */
#ifndef CLI_EXECUTION_TEXT_H
#define CLI_EXECUTION_TEXT_H

#include "cli/cli.h"

struct execution_text {
    int64_t now_ms;
    size_t width; /* of the screen; 0: no limit */
    bool unicode, coloured;
};

/* All of it: how it stands, its steps, what it waits for, and each incident with the command that
 * resolves it. `execution` is what execution.get answers, `whole` its steps as execution.steps has them,
 * or NULL. */
void execution_text_put(struct buf *out, const struct execution_text *t,
                        const struct json *execution, const struct json *whole);

/* How many steps there are that are to be done, and how many of them are. */
void execution_progress(const struct json *execution, int64_t *done, int64_t *total);

/* What the first of its steps wait for that are at work, in one line; empty: nothing. */
str execution_waits(struct arena *a, const struct json *execution);

/* One event of an execution, as event.list lists it or as a subscriber gets it, in a line. */
void execution_event_put(struct buf *out, const struct execution_text *t, const struct json *event);

#endif
