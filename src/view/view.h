/* view.h: pictures of an execution, as documents 001 and 002 print them.
 *
 * Each is a function of rows: of an execution, its steps, approvals, incidents and the history of its
 * document. Nothing of it is stored, and nothing is ever read back from where it was written to. Words,
 * members, their order and whole seconds are those of the documents; what neither of them has, a workflow
 * of steps or nodes of our own, is shown in the form of document 002.
 *
 * view.c  rows, words, and where files of it are
 * workflow.c  workflow.json of 001, the state of 002
 * text.c  Markdown, the list of what there is to do
 * numbers.c  metrics, the index of many
 * log.c  what happened, a line for each thing
 *
 * Does not know who asks: see ops/views.c. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "base/date.h"
#include "core/exec/approval.h"
#include "json/write.h"

struct view_step {
    const struct graph_step *step;
    const struct graph_work *work; /* NULL: the engine does it by itself */
    struct step row;               /* pending, when there is none */
    const struct json *data;       /* of the row: an object */
};

struct view {
    struct tx *tx;
    const struct execution *e;
    const struct graph *graph;
    struct json vars;
    struct view_step *steps;
    uint16_t count;
};

/* ---- view.c ---- */

/* CONFLICT when its definition was deleted: its document has what there was. */
err view_load(struct tx *tx, const struct execution *e, struct view *out);

/* Whether it is one of document 001's. */
bool view_is_phases(const struct view *v);

/* How the documents call what they are of: "generation", "planning", "phases", "steps", "nodes". */
str view_kind(const struct view *v);

/* A status in the words of its document: of the whole, and of a step. */
str view_status(const struct view *v);
str view_status_of(str kind, enum execution_status status, bool begun);
str view_step_status(const struct view *v, uint16_t step);

bool view_is_done(const struct view *v, uint16_t step); /* completed or skipped */
bool view_has_begun(const struct view *v);              /* any step of it */
bool view_waits(const struct view *v);       /* some step waits for a person's approval */
uint16_t view_current(const struct view *v); /* the lowest not done; when all are, the last */
int64_t view_progress(const struct view *v); /* floor(100 · current / total) */
uint16_t view_active(const struct view *v);  /* the lowest at work; GRAPH_NONE: none is */

/* By what its document calls a step: 002 by a number, others by an id. */
void view_write_key(struct json_writer *w, str name, const struct view *v, uint16_t step);
str view_key(const struct view *v, uint16_t step);

/* The step that somebody means: by its number, its id, or a number as text. NOT_FOUND, naming the
 * steps that there are. */
err view_step_find(const struct view *v, const struct json *key, uint16_t *out);

/* The steps that come before a step, near or far: one flag for each. */
const bool *view_before(const struct view *v, uint16_t step);

/* What a step has given so far: an object. */
const struct json *view_outputs(const struct view *v, uint16_t step);
void view_write_artifacts(struct json_writer *w, str name, const struct view *v, uint16_t step);

/* Names of outputs that are the whole workflow's, and not their step's: where the blueprint is. */
size_t view_own_artifacts(const struct view *v, const str **names);

/* What document 001's phase has left behind: texts, and what the next ones are to know. */
const struct json *view_deliverables(const struct view *v, uint16_t step); /* an array */
str view_context_for_next(const struct view *v, uint16_t step);
str view_context(const struct view *v,
                 uint16_t step); /* of those right before it; empty: nothing */

/* In whole seconds. */
str view_time(struct tx *tx, int64_t ms);
void view_write_time(struct json_writer *w, str name, int64_t ms); /* 0: null */

/* Where its files are: see interfaces that others read. */
str view_working_dir(struct tx *tx, const struct execution *e);
str view_state_file(struct tx *tx, const struct execution *e);
str view_index_file(struct tx *tx, const struct execution *e);
str view_log_file(struct tx *tx, const struct execution *e);

/* ---- workflow.c ---- */

/* The members of the document, without the braces. */
void view_write_workflow(struct json_writer *w, const struct view *v);

/* ---- text.c ---- */

str view_markdown(const struct view *v);

/* "todos": what agents show their people. */
void view_write_todos(struct json_writer *w, const struct view *v);

/* ---- numbers.c ---- */

/* "workflow_metrics". */
err view_write_metrics(struct json_writer *w, const struct view *v);

/* "workflows": those of a workspace (empty: of none) that document 002 is about, the newest ones, in
 * their order. */
err view_write_index(struct tx *tx, struct json_writer *w, str workspace);

/* ---- log.c ---- */

err view_log(const struct view *v, str *out);

#endif
