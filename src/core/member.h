/* member.h: the servers that share the database.
 *
 * Each has an id from its start to its end, and says every few seconds that it is
 * there. One that falls silent is shown as such, and is forgotten after a day. All
 * times are those of transactions, so the clocks of servers need not agree. To
 * people a member is a node; the table of that name is the store's own.
 *
 * Nothing depends on who is alive: it is for those who look. So there are no
 * events, and a log that nobody writes to does not grow. */
#ifndef CORE_MEMBER_H
#define CORE_MEMBER_H

#include "core/tx.h"

struct member {
    str id;
    str name; /* as the operator knows it: the host and the process */
    str url;  /* where it is reached; empty: nobody said */
    str version;
    int64_t started_at_ms, seen_at_ms;
    int64_t seq; /* of the last event that it has published */
};

/* The table `member`: see columns.h. */
// clang-format off
#define MEMBER_COLUMNS(X, m)                      \
    X(node_id,    TEXT, INSERT, m->id)            \
    X(name,       TEXT, INSERT, m->name)          \
    X(url,        TEXT, INSERT, m->url)           \
    X(version,    TEXT, INSERT, m->version)       \
    X(started_at, INT,  INSERT, m->started_at_ms) \
    X(seen_at,    INT,  INSERT, m->seen_at_ms)    \
    X(seq,        INT,  INSERT, m->seq)
#define MEMBER_NAMES COLUMNS(MEMBER_COLUMNS)
#define MEMBER_PLACES PLACES(MEMBER_COLUMNS)
// clang-format on

/* Notes that a member is there, whose times are set here, and forgets some of those that have been
 * silent for a day. Gives how many are alive, this one included. */
err member_beat(struct tx *tx, const struct member *m, int64_t *alive);

/* Forgets one that stops. One that is not there has left already. */
err member_leave(struct tx *tx, str id);

/* By id, after one, silent ones included. */
err member_list(struct tx *tx, str after, int64_t limit, const struct member **out, size_t *count);

/* Whether it was seen a short time before this transaction. */
bool member_alive(const struct tx *tx, const struct member *m);

#endif
