/* node.h: the servers that share the database.
 *
 * Each has an id from its start to its end, and says every few seconds that it is
 * there. One that falls silent is shown as such, and is forgotten after a day. All
 * times are those of transactions, so the clocks of servers need not agree. Its
 * table is `cluster_node`, since `node` is the store's own.
 *
 * Nothing depends on who is alive: it is for those who look. So there are no
 * events, and a log that nobody writes to does not grow. */
#ifndef CORE_NODE_H
#define CORE_NODE_H

#include "core/tx.h"

struct node {
    str id;
    str name; /* as the operator knows it: the host and the process */
    str url;  /* where it is reached; empty: nobody said */
    str version;
    int64_t started_at_ms, seen_at_ms;
    int64_t seq; /* of the last event that it has published */
};

/* The table `cluster_node`: see columns.h. */
// clang-format off
#define NODE_COLUMNS(X, n)                        \
    X(node_id,    TEXT, INSERT, n->id)            \
    X(name,       TEXT, INSERT, n->name)          \
    X(url,        TEXT, INSERT, n->url)           \
    X(version,    TEXT, INSERT, n->version)       \
    X(started_at, TIME, INSERT, n->started_at_ms) \
    X(seen_at,    TIME, INSERT, n->seen_at_ms)    \
    X(seq,        INT,  INSERT, n->seq)
#define NODE_NAMES COLUMNS(NODE_COLUMNS)
// clang-format on

/* Notes that a node is there, whose times are set here, and forgets some of those that have been
 * silent for a day. Gives how many are alive, this one included. */
err node_heartbeat(struct tx *tx, const struct node *n, int64_t *alive);

/* Forgets one that stops. One that is not there has left already. */
err node_leave(struct tx *tx, str id);

/* By id, after one, silent ones included. */
err node_list(struct tx *tx, str after, int64_t limit, const struct node **out, size_t *count);

/* Whether it was seen a short time before this transaction. */
bool node_alive(const struct tx *tx, const struct node *n);

#endif
