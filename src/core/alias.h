/* alias.h: what else is known to be a session.
 *
 * A session that somebody runs outside of baton is met twice: by its client's hooks, which tell what
 * the client calls the conversation, and by its tools, which may not know that. What both know is
 * tied to the session that the first of them has made: the process that runs the client, or the
 * conversation, where the session was made before anybody told of it. */
#ifndef CORE_ALIAS_H
#define CORE_ALIAS_H

#include "core/tx.h"

enum alias_kind {
    ALIAS_CONVERSATION, /* for good */
    ALIAS_PROCESS,      /* until nothing was heard of it for a month */
};

/* The table `alias`, see columns.h; its rows are no struct. */
// clang-format off
#define ALIAS_COLUMNS(X, t)      \
    X(kind,       TEXT, INSERT,) \
    X(what,       TEXT, INSERT,) \
    X(session_id, TEXT, INSERT,) \
    X(at,         INT,  INSERT,)
#define ALIAS_NAMES COLUMNS(ALIAS_COLUMNS)
#define ALIAS_PLACES PLACES(ALIAS_COLUMNS)
// clang-format on

/* The session that a thing is tied to; empty: none. */
err alias_find(struct tx *tx, enum alias_kind kind, str what, str *session_id);

/* It is this session's from now on, whosever it was. Costs no write when it was already. */
err alias_make(struct tx *tx, enum alias_kind kind, str what, str session_id);

/* The session goes. */
err alias_drop(struct tx *tx, str session_id);

#endif
