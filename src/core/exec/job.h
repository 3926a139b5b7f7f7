/* job.h: work of executions that any worker may claim.
 *
 * A job is a mark that rests at work of a type. It is a worker's under a lease from its claim until it
 * reports; a lease that passes its time puts the job back, under the next attempt. The job's id holds the
 * fence of the attempt, so a report of a worker that was too late is of a job that is no more. */
#ifndef CORE_EXEC_JOB_H
#define CORE_EXEC_JOB_H

#include "core/exec/execution.h"

enum { JOBS_MAX = 64, JOB_TYPES_MAX = 32 };

struct job {
    str id; /* job_NO_SCOPE_N_FENCE */
    str execution_id, workflow, step, type, business_key, worker;
    int64_t item; /* −1: none */
    int64_t attempt, max_attempts, lease_until_ms, timeout_at_ms;
    str variables; /* printed JSON object: what it is given */
    str project_dir;
};

struct job_claim {
    const str *types; /* a type, or one that ends in *; none: any that the token may have */
    size_t type_count;
    int64_t max, lease_ms;
    str worker; /* as lists show it */
};

/* The oldest first. None: *count is 0. */
err jobs_claim(struct tx *tx, const struct job_claim *c, struct job **out, size_t *count);

/* Whether an event may be what such a claim waits for. */
bool jobs_wake(const struct job_claim *c, const struct event *e);

/* Reports. CONFLICT when the job is not this worker's any more: its lease has passed, or what it was for
 * was cancelled. `e` is the execution then. */
err job_complete(struct tx *tx, str job_id, const struct json *outputs, struct execution *e);
err job_fail(struct tx *tx, str job_id, str error, bool for_good, struct execution *e);
/* What the definition has no answer to: a person must help. */
err job_error(struct tx *tx, str job_id, str code, str message, struct execution *e);
/* The lease begins anew. */
err job_renew(struct tx *tx, str job_id, int64_t lease_ms, int64_t *until_ms);

/* The next job of this execution for the one who has just reported, of these types; count 0: none. */
err jobs_claim_next(struct tx *tx, const struct execution *e, const struct job_claim *c,
                    struct job **out, size_t *count);

struct job_filter {
    str type, execution_id, after;
    bool waiting; /* only those that nobody has */
    int64_t limit;
};
err jobs_list(struct tx *tx, const struct job_filter *f, struct job **out, size_t *count);

due_run job_due_lease; /* a worker was not heard */

#endif
