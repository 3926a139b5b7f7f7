/* schema.h: named, versioned schemas, and the compiled ones that are kept at hand.
 *
 * A registered schema never changes: another text under its name is its next
 * version. Does not know what is bound to it: see state.h. */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "core/tx.h"
#include "json/schema.h"

#define SCHEMA_TEXT_BYTES_MAX (1u << 20)
#define SCHEMA_NAME_MAX 100

struct schema_version {
    str id, name;
    int64_t version;
    str text, digest, description;
    int64_t created_at_ms;
};

/* Registers a text under a name. When it is that of the newest version already, gives that one and
 * `created` is false. UNFIT when it is no schema, INVALID for a bad name, TOO_LARGE. */
err schema_register(struct tx *tx, str name, const struct json *text, str description,
                    struct schema_version *out, bool *created);

/* By name and version, 0 for the newest. NOT_FOUND, naming what there is. */
err schema_find(struct tx *tx, str name, int64_t version, struct schema_version *out);
err schema_by_id(struct tx *tx, str id, struct schema_version *out);

/* The newest version of each name after `after`, by name. */
err schema_list(struct tx *tx, str after, int64_t limit, const struct schema_version **out,
                size_t *count);

/* All versions of a name, the newest first. NOT_FOUND when there is none. */
err schema_versions(struct tx *tx, str name, int64_t limit, const struct schema_version **out,
                    size_t *count);

/* The compiled schema, which lives at least as long as the command. */
err schema_program(struct tx *tx, const struct schema_version *v, struct schema **out);

/* Compiled schemas by the digest of their text, for one thread. By digest and not by name and
 * version, because a transaction that was rolled back may have used that version for another. */
struct schema_cache *schema_cache_new(uint32_t most);
void schema_cache_free(struct schema_cache *c);

#endif
