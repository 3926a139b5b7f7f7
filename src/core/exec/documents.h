/* documents.h: executions as documents 001 and 002 ask for them: which there are, and what whoever does a
 * step says of it.
 *
 * Does not know how they are shown: see view.h. */
#ifndef CORE_EXEC_DOCUMENTS_H
#define CORE_EXEC_DOCUMENTS_H

#include "core/exec/execution.h"

/* By id, for who takes part in the work: a session sees those of its whole tree, and the one that it
 * works for; others as with execution_get. */
err execution_see(struct tx *tx, str id, struct execution *out);

struct execution_documents {
    str kind; /* "phases", "generation" or "planning"; empty: the last two, of document 002 */
    bool of_workspace; /* only those of this workspace, or (empty) of none */
    str workspace;
    str status;   /* a word, "open", or empty: all */
    bool waiting; /* only those with a step that waits for an approval */
    int64_t before, limit;
};

/* The newest first, without variables and result; a session's are those of its tree. `total`: how many
 * there are in all; NULL: nobody asks. */
err execution_documents(struct tx *tx, const struct execution_documents *f,
                        const struct execution **out, size_t *count, int64_t *total);

/* Which documents a tree's project uses: there is an execution of theirs, or the operator has deployed a
 * definition. Without a root: the whole server. */
struct documents_used {
    bool phases, steps; /* 001, 002 */
};
err documents_used(struct tx *tx, str root_id, struct documents_used *out);

/* The same for whoever asks. */
err documents_used_here(struct tx *tx, struct documents_used *out);

/* Before one of a kind: when it is the first, its document is used there from now on. Emits document_used.
 * Of a definition the root is NOBODY: it is for all. */
#define DOCUMENTS_NOBODY STR("#")
err documents_begin(struct tx *tx, str kind, str root_id);

/* What somebody says of a step that is done by report. */
struct step_told {
    str step;
    enum step_status status;
    const struct json *outputs; /* an object, added to what was said before; NULL: {} */
    str error;                  /* why it has failed */
};

/* A phase of document 001 begins; a step says what there is so far; or it is over. Saying the same again
 * changes nothing. CONFLICT, with what it is and what there is to do, for any other change: a step is
 * pending until its turn, and what is over is done anew only when the workflow is resumed from it. */
err execution_tell(struct tx *tx, str id, const struct step_told *t, struct execution *out);

#endif
