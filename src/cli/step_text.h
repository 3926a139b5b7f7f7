/* step_text.h: what is kept of a step of an execution as text: who has worked for it, what a runner has
 * found, what a person has decided, and what became of earlier attempts. Pure. */
#ifndef CLI_STEP_TEXT_H
#define CLI_STEP_TEXT_H

#include "cli/execution_text.h"

/* The lines that stand below a step in a picture of all of them; most steps have none. `step` is as
 * execution.steps has it. */
void step_notes_put(struct buf *out, const struct execution_text *t, size_t indent,
                    const struct json *step);

/* All of it. */
void step_text_put(struct buf *out, const struct execution_text *t, const struct json *step);

#endif
