/* message.h: what agents and people write to each other.
 *
 * A message is a row that waits until the session that it is for can take it: with the answer to its
 * next hook or tool, or with its next turn. It is delivered once. Only a person's wakes a client that
 * sits idle: see wake.h. */
#ifndef CORE_MESSAGE_H
#define CORE_MESSAGE_H

#include "core/session.h"

#define MESSAGE_BYTES_MAX 16384
#define MESSAGES_PENDING_MAX 200 /* of one receiver */
#define MESSAGE_RECEIVERS_MAX 64 /* of one that is for many */

struct message {
    str id;
    str sender_id, sender_name; /* a session; without an id a person, or (without a name) baton */
    str receiver_id, receiver_name;
    int64_t seq; /* of the event that it was sent: their order */
    enum message_status status;
    bool wakes;
    str carrier; /* the waker that has taken it; empty: none */
    str error;
    int64_t created_at_ms, delivered_at_ms;
    str text;
};

/* The table `message`: see columns.h. */
// clang-format off
#define MESSAGE_COLUMNS(X, m)                           \
    X(message_id,    TEXT, INSERT, m->id)               \
    X(sender_id,     TEXT, INSERT, m->sender_id)        \
    X(sender_name,   TEXT, INSERT, m->sender_name)      \
    X(receiver_id,   TEXT, INSERT, m->receiver_id)      \
    X(receiver_name, TEXT, INSERT, m->receiver_name)    \
    X(seq,           INT,  INSERT, m->seq)              \
    X(status,        WORD, STORE,  m->status)           \
    X(wakes,         FLAG, INSERT, m->wakes)            \
    X(carrier,       TEXT, STORE,  m->carrier)          \
    X(error,         TEXT, STORE,  m->error)            \
    X(created_at,    TIME, INSERT, m->created_at_ms)    \
    X(delivered_at,  TIME, STORE,  m->delivered_at_ms)  \
    X(message,       TEXT, INSERT, m->text)
#define MESSAGE_NAMES COLUMNS(MESSAGE_COLUMNS)
// clang-format on

/* Sends one to a session, as the actor or (`by_server`) as baton itself. INVALID when it is empty or too
 * long; LIMIT when too many wait for that session already. Emits message_sent. */
err message_send(struct tx *tx, const struct session *to, str text, bool by_server,
                 struct message *out);

/* Whom the actor means: a session by its name or id; "role:NAME", all live ones whose agent that is;
 * "tree:NAME", that session and all live ones below it. NOT_FOUND when there is none that it may write to,
 * LIMIT when they are more than MESSAGE_RECEIVERS_MAX, INVALID for the actor itself. */
err message_receivers(struct tx *tx, str to, struct session **out, size_t *count);

/* Those that wait for a session and that nobody has taken, the oldest first; `waking`: only those that
 * wake it. */
err message_pending(struct tx *tx, str receiver_id, bool waking, struct message **out,
                    size_t *count);

/* Whether there are any. */
err message_waits(struct tx *tx, str receiver_id, bool *out);

/* The same, delivered by being given: one text, empty when there are none. */
err messages_take(struct tx *tx, const struct session *receiver, bool waking, str *text,
                  size_t *count);

/* Writes what of it can change. Of one that is delivered emits message_delivered. */
err message_store(struct tx *tx, struct message *m);
err message_deliver(struct tx *tx, struct message *m);

/* Forgets up to `limit` of those that were delivered before a time, the oldest first; *count: so many. */
err message_forget(struct tx *tx, int64_t before_ms, int64_t limit, int64_t *count);

err message_find(struct tx *tx, str id, struct message *out, bool *found);

struct message_filter {
    str after;              /* an id */
    str session_id, status; /* its sender or receiver; empty: any */
    int64_t limit;
};

/* By id; what the actor has sent or is sent, and all for an operator. */
err message_list(struct tx *tx, const struct message_filter *f, const struct message **out,
                 size_t *count);

#endif
