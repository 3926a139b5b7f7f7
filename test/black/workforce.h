/* workforce.h: those who work for executions, of whom none can be relied on, and who note all they are
 * given and told.
 *
 * Workers claim jobs for a second or two and do them, or hold them for too long, fail, report twice, or die
 * with all that they have, also in the middle of a report. People start executions, pause or cancel them,
 * report steps and resolve incidents. Whatever happens to the servers, what they noted can be compared with
 * what these show: each result is the id of the job that it comes from. A test brings the servers, and what
 * happens to them. */
#ifndef TEST_BLACK_WORKFORCE_H
#define TEST_BLACK_WORKFORCE_H

#include <pthread.h>

#include "black/roaming_client.h"

enum {
    WORKFORCE_WORKERS = 6,
    WORKFORCE_STARTERS = 2,    /* each of them sends every start, with the same key */
    WORKFORCE_ATTEMPTS = 4,    /* of each step, as its definition says */
    WORKFORCE_LOSSES = 3,      /* of a job before they count as failures: claim_max */
    WORKFORCE_LEASE_MS = 1000, /* the shortest, and the one of a renewal */
};

enum told { TOLD_NOTHING, TOLD_DONE, TOLD_FAILED, TOLD_ERROR };
enum heard { HEARD_NOTHING, HEARD_YES, HEARD_NO };

/* A job that a worker was given, or a step that a person has reported, and what came of it. */
struct given {
    str id, execution, step, worker;
    int64_t n, fence; /* of the job's id */
    int64_t item, attempt;
    int64_t got_at; /* when it was known to be the worker's */
    int64_t
        until; /* nobody else can have it before, unless it is reported; 0: its step has a timeout */
    int64_t told_at; /* when the report was first sent */
    enum told told;
    enum heard heard;
};

struct given_list {
    struct given *items;
    size_t count;
};

struct workforce {
    struct chaos chaos; /* only its servers are of use */
    int count;          /* executions to start */
    int64_t pace_ms;    /* between two starts of one starter */
    atomic_bool calm;   /* nobody dies any more */
    str *started;       /* their ids */

    struct labourer *labourers; /* workers, starters, a person */
    _Atomic int starting;       /* starters that are at it */
    _Atomic int64_t deaths, late, doubled, pauses;
};

/* Deploys the workflows, and lets all begin. */
void workforce_begin(struct workforce *f, struct random *random);

/* Lets all come to its end, compares what was noted with what the servers show, and says how it went;
 * `before` begins that line. */
void workforce_end(struct workforce *f, const char *before);

/* ---- workforce_check.c ---- */

/* Whether an incident is one that people leave alone. */
bool workforce_leaves(str incident_id);

/* `jobs` and `reports`: all that was given to anybody. */
void workforce_check(const struct workforce *f, const struct black *node, struct given_list *jobs,
                     struct given_list *reports);

#endif
