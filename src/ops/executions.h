/* executions.h: how operations show executions, jobs and incidents. Private to ops/. */
#ifndef OPS_EXECUTIONS_H
#define OPS_EXECUTIONS_H

#include "core/exec/approval.h"
#include "core/exec/incident.h"
#include "core/exec/job.h"
#include "core/exec/share.h"
#include "ops/op.h"
#include "ops/shapes.h"

/* ---- executions.c ---- */

/* The members of an execution that all of its answers have; of one that was read from a list, too. */
void execution_members(struct json_writer *w, const struct execution *e);

/* What every operation that changes one answers: the members, its variables and its result. */
void write_execution(struct tx *tx, struct answer *out, const struct execution *e);

/* "after": the steps that come before a step, by their ids. */
void write_step_after(struct json_writer *w, const struct graph *g, const struct graph_step *s);

/* ---- execution_waits.c ---- */

/* All about where the marks of an execution rest. */
struct execution_rest {
    const struct execution *e;
    const struct graph *graph;
    const struct mark *marks; /* whose `at` is their node in the graph; GRAPH_NONE: it is not there */
    size_t count;
    const struct incident *incidents; /* that are open */
    size_t incident_count;
    const struct approval *approvals; /* that wait */
    size_t approval_count;
    const struct share *shares; /* what agents do of it */
    size_t share_count;
};

/* What a mark waits for, in words that a person can act on: "a worker for jobs of type deploy, for 3m". */
str mark_waits_for(struct tx *tx, const struct execution_rest *r, const struct mark *m);

/* The same for all of a step; empty: nothing of it waits. */
str step_waits_for(struct tx *tx, const struct execution_rest *r, const struct graph_step *s);

/* When the attempt that is at work began; of several, the first of them. 0: none is at work. */
int64_t step_attempt_began(const struct execution_rest *r, const struct graph_step *s);

/* ---- jobs.c ---- */

void write_job(struct tx *tx, struct json_writer *w, const struct job *j);
void write_jobs(struct tx *tx, struct json_writer *w, const struct job *jobs, size_t count);

/* What `claim` says of an input, or the input itself. FORBIDDEN when it asks for types that the actor's
 * token does not name; one that names none gets what the token has. */
err job_claim_in(struct tx *tx, const struct json *claim, struct job_claim *out);

/* ---- approvals.c ---- */

void write_approval(struct tx *tx, struct json_writer *w, const struct approval *p);

/* What DECISION_FIELDS of an input say; INVALID when they do not fit the decision. */
struct approval_decision approval_decision_in(const struct input *in, enum approval_status status);
err approval_decision_check(struct tx *tx, const struct approval_decision *d);

/* "approve", "reject", "rework". */
bool approval_status_of(str word, enum approval_status *out);

/* ---- steps.c ---- */

/* What DECIDED_SHAPE says of a step that was decided about. */
err write_step_decided(struct tx *tx, struct json_writer *w, const struct execution *e, str id);

/* The approval that waits at the step that an input names by `workflow_id` and `step`. */
err step_approval(struct tx *tx, const struct input *in, struct approval *out, bool *found);

/* ---- incidents.c ---- */

void write_incident(struct json_writer *w, const struct incident *i);

/* ---- for the tables ---- */

// clang-format off

#define EXECUTION_ID JSON("execution_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The execution, as execution.start or execution.list answered its id." })

#define EXECUTION_MEMBERS JSON(                                                                    \
    "execution_id": { "type": "string", "description": "What requests name it by." },              \
    "workflow": { "type": "string", "description": "The name of its workflow." },                  \
    "version": { "type": "integer", "minimum": 1, "description": "The version of that, which it keeps to its end." }, \
    "status": { "enum": ["RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"], "description": "RUNNING and PAUSED are open, the others have ended." }, \
    "reason": { "type": ["string", "null"], "description": "Why it has failed, was cancelled or is paused." }, \
    "failing": { "type": "boolean", "description": "Something has failed for good: what runs may finish, and nothing new is begun." }, \
    "incidents": { "type": "integer", "minimum": 0, "description": "How many things wait for a person: incident.list shows them." }, \
    "state_id": { "type": ["string", "null"], "description": "Its document, a state that only baton writes: state.read and watching work on it." }, \
    "workflow_state_id": { "type": ["string", "null"], "description": "The state that its work is about; null: none." }, \
    "session_id": { "type": ["string", "null"], "description": "The session that it was started for; null: none." }, \
    "session_name": { "type": ["string", "null"], "description": "The workspace that it belongs to, by a name of the starter's choice; null: none." }, \
    "project_dir": { "type": ["string", "null"], "description": "The folder that its commands run in; null: none." }, \
    "business_key": { "type": ["string", "null"], "description": "What it is known by outside, like the number of an order: no two open executions of a workflow have the same." }, \
    "started_by": { "type": "string", "description": "Who has started it." },                      \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was started." }, \
    "updated_at": { "type": "string", "format": "date-time", "description": "When it last changed." }, \
    "ended_at": { "type": ["string", "null"], "format": "date-time", "description": "When it ended; null: it has not." })

#define EXECUTION_REQUIRED JSON("execution_id", "workflow", "version", "status", "reason", "failing", "incidents", \
    "state_id", "business_key", "started_by", "created_at", "updated_at", "ended_at")

#define EXECUTION_DATA JSON(                                                                       \
    "variables": { "type": "object", "description": "Its variables, as they are now." },           \
    "result": { "description": "What has come of it; null until it has completed." })

#define EXECUTION_SHAPE SHAPE(EXECUTION_REQUIRED "," JSON("variables", "result"), EXECUTION_MEMBERS "," EXECUTION_DATA)

#define JOB_ID JSON("job_id": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The job, as job.claim answered its id." })

#define JOB_SHAPE SHAPE(JSON("job_id", "execution_id", "workflow", "step", "type", "item", "attempt", "worker", "variables"), JSON( \
    "job_id": { "type": "string", "description": "What reports name it by: each attempt has its own." }, \
    "execution_id": { "type": "string", "description": "The execution that it is of." },           \
    "workflow": { "type": "string", "description": "The name of its workflow." },                  \
    "step": { "type": "string", "description": "The step that it does, by its id." },              \
    "type": { "type": "string", "description": "Its type, which workers claim by." },              \
    "business_key": { "type": ["string", "null"], "description": "What the execution is known by outside; null: nothing was given." }, \
    "item": { "type": ["integer", "null"], "description": "Of a step that is done for each item of a list: which one, from 0; null: it is done once." }, \
    "attempt": { "type": "integer", "minimum": 1, "description": "Which attempt this is, from 1." }, \
    "max_attempts": { "type": "integer", "description": "After so many that have failed it has failed for good." }, \
    "worker": { "type": ["string", "null"], "description": "Who has it; null: it waits for one." },  \
    "lease_until": { "type": ["string", "null"], "format": "date-time", "description": "When it goes back unless it is reported or renewed; null: nobody has it." }, \
    "timeout_at": { "type": ["string", "null"], "format": "date-time", "description": "When this attempt has taken too long; null: it may take as long as it likes." }, \
    "project_dir": { "type": ["string", "null"], "description": "The folder that the execution is about; null: none." }, \
    "variables": { "type": "object", "description": "What the step is given." }))

#define JOBS_MEMBER(about) SHAPE_LIST("jobs", about, JOB_SHAPE)

#define CLAIM_TYPES JSON(                                                                          \
    "types": { "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 100 }, "minItems": 1, "maxItems": 32, \
        "description": "Types of jobs; one that ends in * stands for all that begin so." })

#define CLAIM_FIELDS CLAIM_TYPES "," JSON(                                                         \
    "max": { "type": "integer", "minimum": 1, "maximum": 64, "default": 1, "description": "How many to take at most." }, \
    "lease_seconds": { "type": "integer", "minimum": 1, "maximum": 86400, "default": 60,           \
        "description": "For how long they are the worker's: after that, without a report, they go back." }, \
    "worker": { "type": "string", "minLength": 1, "maxLength": 200, "description": "What lists call who has them; the name of the token unless given." })

#define CLAIM_MEMBER "\"claim\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"types\"],\"description\":\"Take the next jobs of the same execution at once, as job.claim does.\",\"properties\":{" CLAIM_FIELDS "}}"

#define INCIDENT_ID JSON("incident_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The incident, as incident.list or execution.get answered its id." })

#define INCIDENT_SHAPE SHAPE(JSON("incident_id", "execution_id", "workflow", "step", "kind", "message", "status", "raised_at"), JSON( \
    "incident_id": { "type": "string", "description": "What incident.resolve takes." },            \
    "execution_id": { "type": "string", "description": "The execution that cannot go on." },       \
    "workflow": { "type": "string", "description": "The name of its workflow." },                  \
    "step": { "type": ["string", "null"], "description": "Where it stands: the id of a step or a node; null: it is of the execution as a whole." }, \
    "token": { "type": ["string", "null"], "description": "The token that stands still, as the document calls it; null: it is of the execution as a whole." }, \
    "kind": { "type": "string", "description": "expression, choice, items, command, evidence, marks, attempts, error, loop or stalled." }, \
    "message": { "type": "string", "description": "What was expected, what was found and what to do." }, \
    "status": { "enum": ["open", "resolved"], "description": "Whether it still waits for a person." }, \
    "raised_at": { "type": "string", "format": "date-time", "description": "Since when it waits." }, \
    "resolved_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was resolved; null: it was not." }, \
    "resolved_by": { "type": ["string", "null"], "description": "Who has resolved it; null: nobody." }))

#define APPROVAL_ID JSON("approval_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The approval, as inbox.list, approval.list or the event approval_requested names it." })

#define APPROVAL_SHAPE SHAPE(JSON("approval_id", "execution_id", "workflow", "step", "title", "kind", "status", "content", "digest", "options", "created_at"), JSON( \
    "approval_id": { "type": "string", "description": "What approval.decide takes." },             \
    "execution_id": { "type": "string", "description": "The execution whose step waits for it." }, \
    "workflow": { "type": "string", "description": "The name of its workflow." },                  \
    "step": { "type": "string", "description": "The step, by its id." },                           \
    "title": { "type": "string", "description": "How people call that step." },                    \
    "kind": { "enum": ["approve", "select_variant"], "description": "select_variant: one of several is to be chosen." }, \
    "status": { "enum": ["waiting", "approved", "rejected", "rework", "expired", "withdrawn"],     \
        "description": "What was decided; expired: nobody did in time; withdrawn: what it was about has changed, or its execution has ended." }, \
    "content": { "type": "object", "description": "What there is to judge: the step, and what it has given." }, \
    "digest": { "type": "string", "description": "The SHA-256 of that; a decision that names another one is refused." }, \
    "options": { "type": "array", "description": "The variants to choose from; none: any name will do." }, \
    "on_reject": { "type": ["string", "null"], "description": "The step that is done anew when it is rejected; null: the execution fails." }, \
    "attended": { "type": "boolean", "description": "Whether the person in front of an agent's client may decide there, too." }, \
    "session_id": { "type": ["string", "null"], "description": "The session that the execution was started for; null: none." }, \
    "deadline": { "type": ["string", "null"], "format": "date-time", "description": "By when it is to be decided; null: any time." }, \
    "fallback": { "enum": ["approve", "reject", null], "description": "What holds when nobody has decided by then; null: it waits on." }, \
    "decision": { "type": "object", "description": "What was decided: reason, selected_variant, modifications, and of rework the step." }, \
    "decided_by": { "type": ["string", "null"], "description": "The name of the token that decided it, or system where its time ran out; null: it waits still." }, \
    "channel": { "type": ["string", "null"], "description": "By which way: http, cli, mcp, page, elicitation or deadline; null: none, it waits or was withdrawn." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "Since when it waits." }, \
    "decided_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was decided; null: it waits still." }))

#define STEP(name, about) "\"" name "\":{\"type\":[\"integer\",\"string\"],\"description\":\"" about "\"}"
#define STEP_OR_NULL(name, about) "\"" name "\":{\"type\":[\"integer\",\"string\",\"null\"],\"description\":\"" about "\"}"
#define SUCCESS JSON("success": { "type": "boolean", "description": "Always true: what is refused is an error." })

#define DECIDED_SHAPE SHAPE(JSON("success", "workflow_id", "step", "status", "next_step", "next_step_name"), SUCCESS "," JSON( \
    "workflow_id": { "type": "string", "description": "The workflow." },                           \
    "status": { "type": "string", "description": "What the step is now." },                        \
    "next_step_name": { "type": ["string", "null"], "description": "What people call that; null: there is none." }) "," \
    STEP("step", "The step that was decided about.") "," STEP_OR_NULL("next_step", "The next step that is not done; null: there is none."))

#define DECISION_FIELDS JSON(                                                                      \
    "step": { "type": "string", "maxLength": 200, "description": "Of rework: the step that is done anew with all after it; the one that waits unless given." }, \
    "reason": { "type": "string", "maxLength": 4000, "description": "Why, in words that whoever does it anew reads; may be left out." }, \
    "selected_variant": { "type": "string", "maxLength": 200, "description": "The variant that is chosen, where there are several." }, \
    "modifications": { "type": "object", "description": "What to change about it, as the variable modifications tells the steps after it." }, \
    "digest": { "type": "string", "maxLength": 100, "description": "The digest of what was seen: when something else waits by now, nothing is decided." }, \
    "channel": { "enum": ["http", "cli", "mcp", "page"], "default": "http", "description": "By which way the person has decided, for those who wonder later." })

// clang-format on
#endif
