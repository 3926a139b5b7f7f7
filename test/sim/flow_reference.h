/* flow_reference.h: what an execution of a workflow does, said as plainly as possible.
 *
 * The workflow engine keeps tokens as rows, moves them a few at a time and can be cut off between any two
 * moves. This does the same with a list in memory, a queue and one loop, so that the two can be compared
 * after the same events from outside: the trace (node, what, n) must be the same, line by line. It is
 * written from the design and from nothing of the engine; where they differ, one of them is wrong.
 *
 * After each event from outside everything moves that can, so budgets of a command do not show.
 *
 * Does not know rows, transactions, sessions and runs, or what work is given: `with` and prompts are not evaluated.
 *
 * What the design leaves open is answered so:
 *
 * Entering
 *  1. `when` is asked of every kind of node, after `entered`. What is skipped leaves by its kind's flows.
 *  2. While an execution is failing, a mark is `held` where `started` or `opened` would stand: after `when`,
 *     before `items`; an instance of work is held as well, an instance of a feel node is not, and a body
 *     goes on to make instances. Further attempts (after a delay, none, or a loss) are held too.
 *  3. An empty loop is `opened` and not `closed`. More than 1,000 items are an incident.
 *  4. Of a feel node that meets an error, the settings before it stay set.
 * Incidents
 *  5. Retrying does again what could not be done: entering (`when`, settings, items: `entered` once more),
 *     leaving (conditions, an xor's too: no second `entered`), or work (`started`).
 *  6. Retrying resets what has been used of attempts and of losses; the attempt's number goes on.
 *  7. fails_when that cannot be evaluated: no `completed` and no `failed`, but `incident`; retrying starts
 *     the work again. A result of the whole that cannot be evaluated is null.
 *  8. `loop` and `stalled` are incidents of the execution (number 0 in what waits here), traced with node
 *     and n of the next item of the agenda, or of the lowest mark. While `loop` is open nothing is drained,
 *     whatever comes from outside; resolving it begins the count again. Each event from outside does.
 *  9. A leaving that would make more than 10,000 marks is an incident. Starting instances does not ask.
 * Reports
 * 10. All members of an object of outputs are set, declared or not, and stay set when fails_when then makes a
 *     failure of it. Of an instance they are kept only when it completes; its fails_when sees its outputs, then
 *     item and loopCounter, then the variables. Lists are made of declared outputs (a feel node's: its
 *     settings) and of nothing else. What is no object is an object without members.
 * 11. A loss that does not count leaves no word in the trace but the next `started`; it goes through the
 *     agenda, without a delay. It is counted for each mark; the fourth is a failure.
 * 12. Delays and timeouts are measured from the command's time. When a delay is over, the mark goes on the
 *     agenda as entering again. What is due at once: by time, then by n, each a command of its own, and the
 *     time is the later one. factor is applied by whole milliseconds, cut off, once for each power.
 * 13. k and "attempts so far" are the attempts that count (not losses, nor what came before an incident
 *     was retried). triggers_retry compares the target's highest attempt number with its max_attempts (1 without
 *     work). Re-opening for it adds one at once, so that a target that is skipped or feel is bounded too;
 *     each mark of the step, and each instance, begins with that number, and what came before counts.
 * 14. triggers_retry is not followed while the execution is failing, nor if the step is not downstream of it.
 * Ends
 * 15. `gave_up` is traced with the failed mark's own n. The rest of its loop goes without a word, as do marks that
 *     are left when a failing execution has ended. `stop` and cancel trace `cancelled` for each mark, lowest n
 *     first, the failed one too; `stop` has no `gave_up`.
 * 16. PAUSED: reports, delays and timeouts do all that a report does, and nothing of the agenda. What
 *     would end or stall is judged when it is resumed.
 * 17. A failing execution waits for started work alone: not for delays and not for incidents.
 * Re-opening
 * 18. Refused while the execution is failing, and in the nodes form. A step that has not begun may be re-opened.
 * 19. Of an ended execution, R has every step that is neither completed nor skipped: failed and
 *     cancelled ones too. Otherwise joins would starve.
 * 20. A prerequisite outside R whose own token has yet to leave (the report came while it was paused) gets no new
 *     mark: its token comes by itself. Two would come else.
 * 21. Variables stay as they are.
 * Agents
 * 22. Of one attempt there is one `started`, and for what an agent records of its share `recorded`, also that it
 *     cannot be done. All agents of a step are known, or it is done by report. An attempt's time runs from when
 *     its first share begins, also while a later one waits. `parallel_agents` 1 is as none.
 * 23. Places of those that wait for their turn are by when they were made. None begins while nothing is drained.
 * 24. One share that fails is a failed attempt, and the others of it are withdrawn. Those that wait for their turn
 *     begin also while the execution is failing: their attempt was started.
 * 25. Asked means: a turn that ended well, and nothing was recorded. After three of these it has failed, however
 *     those ended. A first turn that crashes has failed where nobody can be asked any more. Of a turn that was
 *     stopped nothing is asked. One that has lost three runners is a loss of the mark: see 11. None of this is
 *     counted as an attempt of its own.
 *     A turn that was asked for and lost three runners has failed: its attempt's work was done, and not recorded.
 * 26. What several agents record one after the other is not kept apart: the last record is the result, and no
 *     variable is set before. The record of one who does not come last is of no other effect.
 * Evidence
 * 27. It is looked for after `fails_when`, for each instance of a loop. Outputs that are variables are so before;
 *     what there is to look for is said by the result itself first, then as for everything else, so that
 *     nobody else can change what is checked. Looking goes through the agenda, while the execution is failing
 *     too, and is `proving` in the trace.
 * 28. A check without an answer is no failure and is done again, without a word but the next `proving`. It counts as
 *     a loss of the mark (see 11), but the fourth is an incident: the work is not to blame. One whose answer says
 *     nothing is an incident at once.
 * Approvals
 * 29. Work is `completed`, and a loop `closed`, before anybody is asked about it, and the step is done when that is
 *     approved. A loop is asked about as a whole, also an empty one. Whoever is skipped is not asked about.
 * 30. A person is asked at once, also while it is paused. While the execution is failing the mark is held
 *     instead, and what was asked before may still be decided; it is not waited for.
 * 31. Rejected, and nothing says where it goes back: that is a failure for good as on_fail says, but no incident: a
 *     person knows of it. triggers_retry is not followed, and no attempt is counted. With on_reject that step
 *     is re-opened as by a person; while the execution is failing it is not.
 * 32. Rework is refused where re-opening is, and for a step that is not before this one or itself. The
 *     mark that is sent back is not in the trace as cancelled.
 * 33. A deadline without a fallback changes nothing. It runs while it is paused. Of variants it chooses the first.
 * 34. `decision` becomes a variable, and `selected_variant` and `modifications` where they were given.
 * 35. Variants that cannot be said are an incident; retrying checks and completes the work again. What a person
 *     sets when they retry a check or a question takes the place of what was reported under that name.
 * 36. What is done by report may be reported anew while it waits for a decision: that asks anew. */
#ifndef SIM_FLOW_REFERENCE_H
#define SIM_FLOW_REFERENCE_H

#include "flow/graph.h"

struct reference;

enum reference_status {
    REFERENCE_NEW,
    REFERENCE_RUNNING,
    REFERENCE_PAUSED,
    REFERENCE_COMPLETED,
    REFERENCE_FAILED,
    REFERENCE_CANCELLED,
    REFERENCE_STATUS_COUNT
};
extern const char *const reference_status_names[REFERENCE_STATUS_COUNT];

/* The words of the trace. */
enum reference_word {
    WORD_ENTERED,
    WORD_SKIPPED,
    WORD_ENDED,
    WORD_JOINED,
    WORD_OPENED,
    WORD_STARTED,
    WORD_COMPLETED,
    WORD_CLOSED,
    WORD_FAILED,
    WORD_GAVE_UP,
    WORD_HELD,
    WORD_INCIDENT,
    WORD_CANCELLED,
    WORD_REOPENED,
    WORD_PROVING, /* a runner looks for what proves it */
    WORD_ASKED,   /* a person */
    WORD_APPROVED,
    WORD_REJECTED,
    WORD_REWORKED,
    WORD_RECORDED, /* by an agent, of its share */
    WORD_COUNT
};
extern const char *const reference_words[WORD_COUNT];

/* How an attempt has ended. */
enum reference_outcome { OUTCOME_OK, OUTCOME_FAILED, OUTCOME_TIMEOUT, OUTCOME_LOST, OUTCOME_COUNT };

/* How a turn of an agent has ended. */
enum reference_turn {
    TURN_RECORDED,
    TURN_SAID_FAILED, /* recorded that it could not do it */
    TURN_SILENT,      /* well, and nothing is recorded */
    TURN_CRASHED,     /* badly, and nobody can ask it any more, unless it was asked already */
    TURN_STOPPED,     /* by somebody */
    TURN_LOST,        /* its runner is gone */
    TURN_COUNT
};

/* What a runner has seen. */
enum reference_proof {
    PROOF_GOOD,
    PROOF_LACKING,
    PROOF_LOST, /* it is gone, or could not look */
    PROOF_ODD,  /* it says nothing that can be understood, or somebody has stopped it */
    PROOF_COUNT
};

enum reference_decided { DECISION_APPROVE, DECISION_REJECT, DECISION_REWORK, DECISION_COUNT };
extern const char *const reference_decisions[DECISION_COUNT];

struct reference_decision {
    enum reference_decided what;
    uint16_t step;                    /* of rework; GRAPH_NONE: the step itself */
    str variant;                      /* empty: none */
    const struct json *modifications; /* an object; NULL: none */
};

/* What one agent does of an attempt. */
struct reference_share {
    uint32_t number;    /* from 1 */
    bool at_work, done; /* neither: it waits for its turn */
    uint32_t asks;      /* how often it was asked for what it owes */
};

/* What a mark rests for. */
enum reference_wait {
    WAIT_MOVE, /* it is on the agenda, which is not drained: paused, or an incident `loop` */
    WAIT_JOIN, /* for marks of the other in-flows */
    WAIT_REPORT,
    WAIT_AGENTS, /* for what they record, or for their turn: see reference_shares */
    WAIT_CHECK,
    WAIT_APPROVAL,
    WAIT_DELAY, /* before its next attempt */
    WAIT_LOOP,  /* a body, for its instances */
    WAIT_HELD,
    WAIT_INCIDENT,
    WAIT_COUNT
};

struct reference_waiting {
    enum reference_wait wait;
    uint16_t node;
    uint32_t n;       /* 0: an incident of the execution */
    uint32_t scope;   /* the body's n; 0: it is no instance */
    int64_t index;    /* of an instance, from 0; else -1 */
    uint32_t attempt; /* of work; 0: none yet */
    uint32_t at_work; /* agents, of WAIT_AGENTS */
};

struct reference_line {
    uint16_t node;
    enum reference_word what;
    uint32_t n;
};

enum reference_step {
    REFERENCE_STEP_PENDING,
    REFERENCE_STEP_ACTIVE,
    REFERENCE_STEP_APPROVAL,
    REFERENCE_STEP_COMPLETED,
    REFERENCE_STEP_SKIPPED,
    REFERENCE_STEP_FAILED,
    REFERENCE_STEP_CANCELLED
};

/* All live in the arena, the graph must live as long. `variables` is an object, or NULL. */
struct reference *reference_new(struct arena *a, const struct graph *g,
                                const struct json *variables, int64_t now_ms);

/* After how many moves without anything from outside there is an incident `loop`: 10,000 unless set. */
void reference_moves_max(struct reference *r, uint32_t most);

/* Agents that are known, and how many may be at work at once. They live as long. */
void reference_agents(struct reference *r, const str *names, size_t count, uint32_t at_once_most);

/* ---- what comes from outside: false, and nothing has happened, where it is not possible ---- */

bool reference_start(struct reference *r);

/* The work that a mark has started has ended. Outputs: an object, or NULL. */
bool reference_report(struct reference *r, uint32_t n, enum reference_outcome outcome,
                      const struct json *outputs);

/* A turn of an agent that is at work has ended. Outputs: of what it has recorded, an object, or NULL. */
bool reference_share(struct reference *r, uint32_t n, uint32_t number, enum reference_turn how,
                     const struct json *outputs);

/* Who looks for what proves a step has done so. */
bool reference_check(struct reference *r, uint32_t n, enum reference_proof proof);

/* A person has decided about a step. */
bool reference_decide(struct reference *r, uint32_t n, const struct reference_decision *d);

/* A person has helped: sets variables (an object, or NULL), and what could not be done is done again.
 * n is the mark's; 0: what is with the execution as a whole. */
bool reference_retry(struct reference *r, uint32_t n, const struct json *variables);

bool reference_reopen(struct reference *r, uint16_t step);
bool reference_pause(struct reference *r);
bool reference_resume(struct reference *r);
bool reference_cancel(struct reference *r);

/* Time passes, and what is due happens. */
void reference_advance(struct reference *r, int64_t ms);

/* ---- what can be asked ---- */

enum reference_status reference_status(const struct reference *r);
bool reference_failing(const struct reference *r);
bool reference_stalled(const struct reference *r);

/* When a delay or a timeout is over next; INT64_MAX: none is running. */
int64_t reference_due_ms(const struct reference *r);
int64_t reference_now_ms(const struct reference *r);

/* All marks, lowest n first; before them, with n 0, an incident of the execution. */
const struct reference_waiting *reference_waiting(const struct reference *r, struct arena *a,
                                                  size_t *count);

/* Of a mark that waits for agents. */
const struct reference_share *reference_shares(const struct reference *r, struct arena *a,
                                               uint32_t n, size_t *count);

const struct json *reference_variables(const struct reference *r);

/* Of a completed execution; else NULL. */
const struct json *reference_result(const struct reference *r);

enum reference_step reference_step(const struct reference *r, uint16_t step);

const struct reference_line *reference_trace(const struct reference *r, size_t *count);

/* From the line `from` on, as "node what n", each with a line end. */
str reference_trace_text(const struct reference *r, struct arena *a, size_t from);

#endif
