/* json/schema/schema.h: named, versioned schemas, and what is compiled of them.
 *
 * A registered schema never changes: another text under its name is its next
 * version. Does not know what is bound to it: see state.h. */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "core/policy.h"
#include "core/tx.h"
#include "json/schema/schema.h"

#define SCHEMA_TEXT_BYTES_MAX (1u << 20)
#define SCHEMA_NAME_MAX 100

struct schema_version {
    str id, name;
    int64_t version;
    str text, digest, description;
    int64_t created_at_ms;
};

/* The table `schema`: see columns.h. */
// clang-format off
#define SCHEMA_COLUMNS(X, v)                     \
    X(name,        TEXT, INSERT, v->name)        \
    X(version,     INT,  INSERT, v->version)     \
    X(schema_id,   TEXT, INSERT, v->id)          \
    X(text,        JSON, INSERT, v->text)        \
    X(digest,      TEXT, INSERT, v->digest)      \
    X(description, TEXT, INSERT, v->description) \
    X(created_at,  TIME, INSERT, v->created_at_ms)
#define SCHEMA_NAMES COLUMNS(SCHEMA_COLUMNS)
// clang-format on

/* A text that is a schema: all about registering it that takes long and needs no transaction. It
 * belongs to the arena. UNFIT when it is none, TOO_LARGE. */
struct schema_ready;
err schema_prepare(struct arena *a, const struct json *text, struct schema_ready **out);

/* What is not as it should be in it, and is taken anyway. */
const struct schema_warnings *schema_ready_warnings(const struct schema_ready *ready);

/* Registers such a text under a name. When it is that of the newest version already, gives that one and
 * `created` is false. INVALID for a bad name. */
err schema_register(struct tx *tx, str name, struct schema_ready *ready, str description,
                    struct schema_version *out, bool *created);

/* By name and version, 0 for the newest. NOT_FOUND, naming what there is. */
err schema_find(struct tx *tx, str name, int64_t version, struct schema_version *out);
err schema_by_id(struct tx *tx, str id, struct schema_version *out);

/* The newest version of each name after `after`, by name. */
err schema_list(struct tx *tx, str after, int64_t limit, const struct schema_version **out,
                size_t *count);

/* The versions of a name below `before` (0: all), the newest first. NOT_FOUND when there is no such
 * name. */
err schema_versions(struct tx *tx, str name, int64_t before, int64_t limit,
                    const struct schema_version **out, size_t *count);

/* What documents are checked against. */
struct schema_rules {
    struct schema *program;
    struct policy policy;
};

/* The rules of a schema by its id, of tx->compiled: see cache.h for how long they are good. A
 * transaction that registered a schema may be rolled back, and its rules stay there; that does no
 * harm, because an id is made once and never again: whatever names it was rolled back with it. A name
 * and a version can come again with another text, so they find nothing there. */
err schema_rules(struct tx *tx, str id, const struct schema_rules **out);

#endif
