/* report.h: what a runner tells the server of one run.
 *
 * Every report carries who tells it, under which fence, and an Idempotency-Key, so that it
 * can be told again until it was heard, and counts once. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include "client/caller.h"
#include "runner/stream.h"

enum report_answer {
    REPORT_TAKEN,
    REPORT_LATER,   /* the server is away, or asks for patience */
    REPORT_REFUSED, /* the run is not ours (any more): nothing that we say of it counts */
    REPORT_WRONG,   /* this report will never be taken */
};

struct report {
    struct caller *caller;
    str run_id, runner_id;
    int64_t fence;
    str folder; /* of the run */
};

/* Tells it once: `what` is the last word of the route, `facts` a JSON object or NULL; `number`
 * tells the reports of one kind apart. *answer is NULL or an object that lives in the arena. */
enum report_answer report_once(struct report *r, struct arena *a, const char *what, int64_t number,
                               const struct json *facts, const struct json **answer);

/* Tells it until it was heard, or `patience_ms` have passed, or somebody has removed the folder: then
 * there is nobody to hear it. */
enum report_answer report_until(struct report *r, const char *what, int64_t number,
                                const struct json *facts, int64_t patience_ms);

/* What it means for who tells something that a call went so. */
enum report_answer report_answer_of(err e);

/* How a caller tells a refusal in the log of a machine: by its status. */
err report_refusal(struct arena *a, const struct response *r);

/* Adds the member `usage`, where something is known of it. */
void report_usage(struct arena *a, struct json *facts, const struct stream_usage *u);

#endif
