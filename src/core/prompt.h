/* prompt.h: the texts that agents get from us.
 *
 * Words of document and user stand in fences, named as data: nothing in a state may
 * read like an instruction of ours. */
#ifndef CORE_PROMPT_H
#define CORE_PROMPT_H

#include "core/callback.h"
#include "core/message.h"
#include "core/project.h"
#include "core/state.h"

#define PROMPT_STATE_BYTES 8192 /* state and schema together: shown up to this */

/* The request for the update that a session owes to its state: ever stricter from attempt to
 * attempt. After a turn that failed there is only one, which says what is known of the failure;
 * that is the session's error. */
err prompt_update(struct tx *tx, const struct session *s, const struct state *state,
                  int64_t attempts, str *out);

/* What a parent reads of its children's ends. */
str prompt_callbacks(struct tx *tx, const struct callback *all, size_t count);

/* What a session reads that others have written to it. */
str prompt_messages(struct tx *tx, const struct message *all, size_t count);

#define PROMPT_HELLO_BYTES 800
#define PROMPT_MEMBER_BYTES 600 /* about 150 tokens */

/* Who a session is in baton, for one whose conversation begins or was cut: its state, what it owes,
 * who works below it. At most PROMPT_HELLO_BYTES. A member hears of its project, of the other members,
 * and what they have changed: at most PROMPT_MEMBER_BYTES. `resumed`: also what it was told last. */
err prompt_hello(struct tx *tx, struct session *s, bool resumed, str *out);

/* What others have changed in the state of a member since it last looked, in a line; and it has looked
 * now. Empty: nothing, or it is no member. */
err prompt_changes(struct tx *tx, struct session *s, str *out);

/* What changed since a session's last turn: its state, its children. Empty: nothing did. */
err prompt_brief(struct tx *tx, const struct session *s, str *out);

#endif
