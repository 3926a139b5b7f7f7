/* idempotency.h: the same request twice is applied once.
 *
 * Whoever does not hear an answer asks again, with the same key. The answer to
 * an applied command is kept with its key, in the same transaction, and given
 * again. Only applied commands are kept: one that was refused may succeed now. */
#ifndef CORE_IDEMPOTENCY_H
#define CORE_IDEMPOTENCY_H

#include "core/tx.h"

#define IDEMPOTENCY_KEY_MAX 255

/* An answer that was given under a key. */
struct idempotency {
    str actor, key;
    str digest; /* of the operation and its input; empty: nothing was answered under this key */
    str answer;
    int64_t created_at_ms;
};

/* The table `idempotency`: see columns.h. */
// clang-format off
#define IDEMPOTENCY_COLUMNS(X, k)          \
    X(actor,      TEXT, INSERT, k->actor)  \
    X(key,        TEXT, INSERT, k->key)    \
    X(digest,     TEXT, INSERT, k->digest) \
    X(answer,     JSON, INSERT, k->answer) \
    X(created_at, TIME, INSERT, k->created_at_ms)
#define IDEMPOTENCY_NAMES COLUMNS(IDEMPOTENCY_COLUMNS)
// clang-format on

/* The answer that was given under this key, or an empty one. `digest` is that of the operation and
 * its input. INVALID for a bad key; UNFIT when the key was used for something else. */
err idempotency_find(struct tx *tx, str key, str digest, str *answer);

/* A key, and who uses it. */
struct idempotency_use {
    const struct actor *actor;
    str key;
};

/* Reads what is kept under these into tx->ahead. It lives in the arena of tx. */
err idempotency_read_ahead(struct tx *tx, const struct idempotency_use *uses, size_t count);

/* Keeps an answer. The key has been looked for before, in this transaction. */
err idempotency_keep(struct tx *tx, str key, str digest, str answer);

/* Forgets up to `limit` keys that are older than a time. */
err idempotency_forget(struct tx *tx, int64_t before_ms, int64_t limit);

/* When the oldest key was used; 0: there is none. */
err idempotency_oldest(struct tx *tx, int64_t *at_ms);

#endif
