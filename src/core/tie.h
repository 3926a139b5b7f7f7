/* tie.h: what else is known to be a session.
 *
 * A session that somebody runs outside of baton is met twice: by its client's hooks, which tell what
 * the client calls the conversation, and by its tools, which may not know that. What both know is
 * tied to the session that the first of them has made: the process that runs the client, or the
 * conversation, where the session was made before anybody told of it. */
#ifndef CORE_TIE_H
#define CORE_TIE_H

#include "core/tx.h"

enum tie_kind {
    TIE_CONVERSATION, /* for good */
    TIE_PROCESS,      /* until nothing was heard of it for a month */
};

/* The table `tie`, see columns.h; its rows are no struct. */
// clang-format off
#define TIE_COLUMNS(X, t)         \
    X(kind,       TEXT, INSERT,) \
    X(what,       TEXT, INSERT,) \
    X(session_id, TEXT, INSERT,) \
    X(at,         INT,  INSERT,)
#define TIE_NAMES COLUMNS(TIE_COLUMNS)
#define TIE_PLACES PLACES(TIE_COLUMNS)
// clang-format on

/* The session that a thing is tied to; empty: none. */
err tie_find(struct tx *tx, enum tie_kind kind, str what, str *session_id);

/* It is this session's from now on, whosever it was. Costs no write when it was already. */
err tie_make(struct tx *tx, enum tie_kind kind, str what, str session_id);

/* The session goes. */
err tie_drop(struct tx *tx, str session_id);

#endif
