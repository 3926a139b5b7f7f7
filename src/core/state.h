/* state.h: versioned documents, each bound to one version of a schema.
 *
 * Every write makes the next version and one row of the log, which holds the
 * patch from the version before. Any version can be had again: from the nearest
 * whole body before it, by replaying patches. Does not know sessions: who wrote
 * is whatever the actor says. */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "core/event.h"
#include "core/schema.h"

#define STATE_BYTES_MAX (1u << 20)

struct state {
    str id, schema_id, root_session;
    int64_t version;
    str body; /* printed */
    int64_t last_seq, snap_seq, snap_version, patch_bytes;
    int64_t created_at_ms, updated_at_ms;
};

/* UNFIT when the data does not fit, with the violations; TOO_LARGE. */
err state_create(struct tx *tx, const struct schema_version *schema, const struct json *data,
                 str root_session, struct state *out);

err state_get(struct tx *tx, str id, struct state *out);

/* Writes: each makes the next version, or changes nothing. `expected` is the version that must be
 * current, 0 for any; CONFLICT, with current_version among its members, when another one is. */
err state_replace(struct tx *tx, str id, const struct json *data, int64_t expected,
                  struct state *out);
err state_patch(struct tx *tx, str id, const struct json *operations, int64_t expected,
                struct state *out);
err state_merge(struct tx *tx, str id, const struct json *patch, int64_t expected,
                struct state *out);

/* A new version with the content of an older one. */
err state_rollback(struct tx *tx, str id, int64_t version, int64_t expected, struct state *out);

err state_delete(struct tx *tx, str id, int64_t expected);

/* The document as it was at a version. NOT_FOUND beyond the newest, GONE when it was compacted. */
err state_at(struct tx *tx, const struct state *state, int64_t version, struct json *out);

/* The versions before `before` (0: from the newest on), newest first, as their log rows. */
err state_history(struct tx *tx, const struct state *state, int64_t before, int64_t limit,
                  const struct event **out, size_t *count);

#endif
