/* private.h: what the files of executions share, from below to above: working (an execution in memory),
 * step, variable, incident, command, work_agent, approval (a person is asked), cancel, loop, reopen, work (an attempt),
 * evidence, document, close (back into rows), mover (the agenda), execution, share, report, help (incidents, as a
 * person sees them), decide (approvals, likewise), job.
 *
 * A command opens an execution, changes its marks, moves it, and closes it: then the rows are written, the
 * document is rendered from them, and one event says what moved. What goes upwards in this list goes
 * through the agenda: whoever has something to do puts the mark on it. */
#ifndef CORE_EXEC_PRIVATE_H
#define CORE_EXEC_PRIVATE_H

#include "base/date.h"
#include "core/event.h"
#include "core/exec/approval.h"
#include "core/exec/incident.h"
#include "core/exec/job.h"
#include "core/run.h"
#include "core/exec/share.h"
#include "core/state.h"

enum { MOVES_SHOWN = 64, MARK_BUCKETS = 256, JOB_TYPES_SHOWN = 16 };

struct move {
    str node;
    const char *what;
    int64_t n;
};

/* An execution in the hands of one command. */
struct exec {
    struct tx *tx;
    struct execution row;
    enum execution_status was; /* in its row */
    const struct graph *graph;
    struct json vars; /* its variables, an object */
    size_t vars_bytes;
    bool vars_changed;

    struct mark *marks[MARK_BUCKETS]; /* all that are known, by n */
    int64_t known;
    bool all_known;             /* also those inside of loops */
    struct mark *first, **last; /* of the agenda */
    struct step *steps;         /* of the graph, in its order */

    struct move moves[MOVES_SHOWN];
    int64_t moved;
    str jobs[JOB_TYPES_SHOWN]; /* types that became claimable */
    size_t job_count;
    bool result_changed;
    bool fresh; /* it is started by this command */
};

/* ---- working.c ---- */

/* Takes up an execution that is there. */
err exec_open(struct tx *tx, const struct execution *row, struct exec *x);

/* The same for who only changes who is at which work: without steps, and marks only as they are asked for. What
 * more there is, is known after exec_know; closing needs that. */
err exec_open_marks(struct tx *tx, const struct execution *row, struct exec *x);
err exec_know(struct exec *x);

/* For the event: what became of a mark. */
void exec_moved(struct exec *x, str node, const char *what, int64_t n);
void exec_move(struct exec *x, const struct mark *m, const char *what);

/* A mark of this execution; NULL: there is none (any more). */
err mark_find(struct exec *x, int64_t scope, int64_t n, struct mark **out);

/* All marks of a loop, or (0) all outside of loops, are known from now on. */
err marks_know(struct exec *x, int64_t scope);
err marks_know_all(struct exec *x);

struct mark *mark_new(struct exec *x, int64_t scope, uint16_t node, uint16_t via);
void mark_place(struct exec *x, struct mark *m, uint16_t node, uint16_t via);
void mark_gone(struct exec *x, struct mark *m);

/* It has that left to do, behind all others; or rests so. */
void mark_todo(struct exec *x, struct mark *m, enum mark_status what);
void mark_rest(struct exec *x, struct mark *m, enum mark_status how);

/* The known marks from the lowest n on: the first with n above `after`; NULL: none. */
struct mark *mark_after(struct exec *x, int64_t after);

/* Nothing begins any more: it rests until all is over. */
void mark_hold(struct exec *x, struct mark *m);

/* Something came from outside. */
void exec_told(struct exec *x);

struct step *exec_step(struct exec *x, uint16_t step);
struct step *step_of(struct exec *x, const struct mark *m); /* NULL: its node is none of a step */
/* When something is due for a mark; 0: nothing is any more. */
err mark_timer(struct exec *x, struct mark *m, int64_t at_ms);
str mark_subject(struct tx *tx, const struct mark *m);

/* ---- step.c ---- */

struct outcome;

void step_become(struct exec *x, struct step *s, enum step_status to);

/* What a step tells of itself; and one more attempt that did not do. */
err step_note(struct exec *x, struct step *s, const char *name, struct json value);
err history_add(struct exec *x, const struct mark *m, const struct outcome *o);

/* What it has noted under that name; NULL: nothing. */
err step_noted(struct exec *x, const struct step *s, const char *name, const struct json **out);

/* What was wrong with the attempt before the one that a mark is at: an array of texts, empty when nothing
 * was. Whoever tries again is told so. */
err violations_of(struct exec *x, const struct mark *m, struct json *out);

/* ---- variable.c ---- */

/* Where the expressions of a mark find names: an item of a loop first. It stays where it was made. */
struct exec_scope {
    struct json item; /* an object; empty: none */
    struct feel_scope inner, outer;
};
err scope_of(struct exec *x, const struct mark *m, struct exec_scope *out);
const struct feel_scope *scope_names(const struct exec_scope *s);

err vars_set(struct exec *x, str name, const struct json *value);
err vars_set_all(struct exec *x, const struct json *values);

/* What is too much for one execution: an error's text, empty when it is not. */
str vars_trouble(struct exec *x);

/* Settings, evaluated: an object. `trouble` says why it cannot be, and is empty otherwise. */
err settings_eval(struct exec *x, const struct mark *m, const struct graph_settings *s,
                  struct json *out, str *trouble);

/* What a mark at work is given. */
err work_input(struct exec *x, const struct mark *m, struct json *out, str *trouble);

/* ---- incident.c ---- */

/* The mark goes on with `again` when it is resolved; MARK_STATUS_COUNT: it stays as it is. */
err incident_raise(struct exec *x, struct mark *m, enum mark_status again, const char *kind,
                   str message);
/* Of a mark that goes, or (NULL) of all of the execution. */
err incidents_end(struct exec *x, const struct mark *m);
err incident_end(struct exec *x, struct incident *i);

/* ---- command.c ---- */

err command_begin(struct exec *x, struct mark *m);
err command_stop(struct exec *x, struct mark *m, str why);

/* ---- approval.c ---- */

/* The work of a mark's step is done, and a person decides what becomes of it. Where the question cannot be
 * put, that is an incident; its mark comes back by MARK_PROVE. */
err approval_ask(struct exec *x, struct mark *m, const struct json *outputs);

/* What waits at a mark is not asked any more. */
err approval_withdraw(struct exec *x, const struct mark *m);

/* It is decided: its row, its time and its event; and the step says how. */
err approval_end(struct exec *x, struct approval *p);

/* The one that waits at a mark. */
err approval_of_mark(struct exec *x, const struct mark *m, struct approval *out, bool *found);

/* ---- work_agent.c ---- */

err agents_begin(struct exec *x, struct mark *m);

/* One of its shares is completed: the next ones begin; or all are, with these outputs. */
err agents_go_on(struct exec *x, struct mark *m, bool *over, str *outputs);

/* Its shares go, and whoever works on them is stopped; nothing when it has none. */
err agents_stop(struct exec *x, struct mark *m, str why);

/* Whether agents are at this attempt of it, or were. */
err agents_are_at(struct exec *x, const struct mark *m, bool *out);

/* A share whose record is the step's. */
bool share_is_last(const struct exec *x, const struct mark *m, const struct share *s);

/* Gives one that waits a session and a run; `full`: there is no room for it now. Its row is the caller's. */
err share_start(struct tx *tx, const struct execution *e, struct share *s, bool *full);

err share_store(struct tx *tx, const struct share *s);

/* Behind all that wait; and those that wait are looked at, at that time at the latest. */
err share_wait(struct tx *tx, struct share *s);
err share_turn_by(struct tx *tx, int64_t at_ms);

/* ---- cancel.c ---- */

/* Nobody is at its work any more. */
err work_leave(struct exec *x, struct mark *m);

/* Cancels a mark, and all inside of it. */
err mark_cancel(struct exec *x, struct mark *m, str why);

/* It ends, and all marks go; what is at work is stopped. `told`: each of them is in the trace. */
err exec_end(struct exec *x, enum execution_status how, str reason, bool told);

/* ---- loop.c ---- */

/* A mark becomes a loop; `leaves`: there is nothing to do, and it goes on at once. */
err loop_open(struct exec *x, struct mark *m, bool *leaves);

/* Instances begin as many as may be at work at once, so many in one move. */
err loop_more(struct exec *x, struct mark *m);

/* One is done, with these outputs. */
err instance_done(struct exec *x, struct mark *m, const struct json *outputs);

/* ---- reopen.c ---- */

/* A step and all after it are done anew. `retry`: because a later one has failed, which counts. `why` is
 * what whoever does it anew is told; empty: nothing. */
err exec_reopen(struct exec *x, uint16_t step, bool retry, str why);

/* ---- work.c ---- */

/* An attempt begins, of a mark that is at its node. */
err work_begin(struct exec *x, struct mark *m);

/* It is over, as somebody reports. */
struct outcome {
    const char *what; /* "completed", "failed", "timeout", "lost", "violations" */
    const struct json *outputs;
    str error;
    const struct json
        *violations; /* what was wrong with it, an array of texts; NULL: the error says it */
    bool for_good;   /* no further attempt */
};

/* The one door for results: outputs are kept, fails_when is asked, then evidence (MARK_PROVE), then a
 * person, and then the step is done. */
err work_end(struct exec *x, struct mark *m, const struct outcome *o);

/* What was reported stands: nothing was to be proven, or it was. */
err work_proven(struct exec *x, struct mark *m, const struct json *outputs);

/* What a person was asked about is reported anew before they have decided: the question is withdrawn, and the
 * mark is at that attempt again. */
err work_again(struct exec *x, struct mark *m);

/* The attempt did not do: another one, or none is left. */
err work_missed(struct exec *x, struct mark *m, const struct outcome *o);

/* The step of a mark, which is outside of loops, has failed for good, and so the execution does. */
err work_refused(struct exec *x, struct mark *m, str error, str reason);

/* A result that lacks what the definition names is UNFIT. */
err outputs_check(struct exec *x, const struct mark *m, const struct json *outputs);

/* ---- evidence.c ---- */

/* MARK_PROVE: what was reported is checked by a runner, where the definition wants that, or stands. */
err evidence_begin(struct exec *x, struct mark *m);

/* The run that checks it has ended. */
err evidence_end(struct exec *x, struct mark *m, const struct run *r);

/* ---- document.c ---- */

err document_new(struct exec *x);
err document_render(struct exec *x);

/* ---- close.c ---- */

/* The rows that have changed, the document, and the event. */
err exec_close(struct exec *x, struct execution *out);
err marks_flush(struct exec *x);

/* ---- mover.c ---- */

/* Moves it as far as it goes, or as far as one command may. */
err exec_drain(struct exec *x);

/* An end of work as one command: the execution moves on, and is closed. */
err work_told(struct exec *x, struct mark *m, const struct outcome *o, struct execution *out);

/* ---- report.c ---- */

/* The mark of a step that may be reported; CONFLICT when it is not at work, or not done by report. */
err report_find(struct exec *x, const struct execution_report *r, struct mark **out);

/* ---- execution.c ---- */

/* The one with that number, with all columns; *found is false when there is none. */
err execution_load(struct tx *tx, int64_t no, struct execution *out, bool *found);

/* As execution_get; CONFLICT when it has ended. */
err execution_get_open(struct tx *tx, str id, struct execution *out);

#endif
