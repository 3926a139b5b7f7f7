/* alias.h: what else is known to be a session.
 *
 * A session that somebody runs outside of baton is met twice: by its client's hooks, which tell what
 * the client calls the conversation, and by its tools, which may not know that. What both know is
 * an alias of the session that the first of them has made: the process that runs the client, or the
 * conversation, where the session was made before anybody told of it. */
#ifndef CORE_ALIAS_H
#define CORE_ALIAS_H

#include "core/tx.h"

enum alias_kind {
    ALIAS_CONVERSATION, /* for good */
    ALIAS_PROCESS,      /* until nothing was heard of it for a month */
};

struct alias {
    str kind, what;
    str session_id;
    int64_t at_ms; /* when it was last heard of */
};

/* The table `alias`: see columns.h. */
// clang-format off
#define ALIAS_COLUMNS(X, a)                    \
    X(kind,       TEXT, INSERT, a->kind)       \
    X(what,       TEXT, INSERT, a->what)       \
    X(session_id, TEXT, INSERT, a->session_id) \
    X(at,         TIME, INSERT, a->at_ms)
#define ALIAS_NAMES COLUMNS(ALIAS_COLUMNS)
// clang-format on

/* The session that it is an alias of; empty: none. */
err alias_find(struct tx *tx, enum alias_kind kind, str what, str *session_id);

/* It is this session's from now on, whosever it was. Costs no write when it was already. */
err alias_set(struct tx *tx, enum alias_kind kind, str what, str session_id);

/* The session goes. */
err alias_drop(struct tx *tx, str session_id);

#endif
