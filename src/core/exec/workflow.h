/* workflow.h: definitions of workflows, by name and version, and their graphs.
 *
 * A deployed definition never changes: another text under its name is its next version. Does not know
 * what runs by it: see execution.h, but for what may not be deleted while something does. */
#ifndef CORE_EXEC_WORKFLOW_H
#define CORE_EXEC_WORKFLOW_H

#include "core/team.h"
#include "flow/graph.h"
#include "json/schema/schema.h"

#define WORKFLOW_NAME_MAX 100

struct workflow {
    str name;
    int64_t version;
    str digest; /* of its text */
    str kind;   /* how it is written: see graph_kind_names */
    str description;
    int64_t created_at_ms;
    str text; /* printed JSON; empty in lists */
};

/* The table `workflow`: see columns.h. */
// clang-format off
#define WORKFLOW_LISTED(X, w)                       \
    X(name,        TEXT, INSERT, w->name)           \
    X(version,     INT,  INSERT, w->version)        \
    X(digest,      TEXT, INSERT, w->digest)         \
    X(kind,        TEXT, INSERT, w->kind)           \
    X(description, TEXT, INSERT, w->description)    \
    X(created_at,  TIME, INSERT, w->created_at_ms)
#define WORKFLOW_LISTED_NAMES COLUMNS(WORKFLOW_LISTED)
#define WORKFLOW_COLUMNS(X, w) WORKFLOW_LISTED(X, w) X(text, JSON, INSERT, w->text)
#define WORKFLOW_NAMES COLUMNS(WORKFLOW_COLUMNS)
// clang-format on

/* A definition that was compiled: all about deploying it that takes long and needs no transaction. It
 * lives in the arena. UNFIT, with all that is wrong, when it is none; TOO_LARGE. */
struct workflow_ready {
    const struct graph *graph;
    str text, digest;
};
err workflow_prepare(struct arena *a, const struct json *definition, struct workflow_ready **out);

/* Deploys it under a name; empty: what the definition calls itself. When the newest version of it is
 * the same text, gives that one and `created` is false. INVALID for a bad name, or none. */
err workflow_deploy(struct tx *tx, const struct workflow_ready *ready, str name, str description,
                    struct workflow *out, bool *created);

/* By name and version, 0 for the newest. NOT_FOUND, naming what there is. */
err workflow_find(struct tx *tx, str name, int64_t version, struct workflow *out);

/* The one that an execution runs by: CONFLICT when it was deleted and another one has its version now. */
err workflow_still(struct tx *tx, str name, int64_t version, str digest, struct workflow *out);

/* The newest version of each name after `after`, by name; and the versions of a name below `before`
 * (0: all), the newest first. */
err workflow_list(struct tx *tx, str after, int64_t limit, const struct workflow **out,
                  size_t *count);
err workflow_versions(struct tx *tx, str name, int64_t before, int64_t limit,
                      const struct workflow **out, size_t *count);

/* Deletes a version, or (0) all of them. CONFLICT while an execution of it has not ended. */
err workflow_delete(struct tx *tx, str name, int64_t version);

/* What executions of a version run by, of tx->compiled, where it has the digest of its text as key:
 * see cache.h for how long it is good. */
struct workflow_program {
    const struct graph *graph;
    struct schema *input; /* what an execution is started with; NULL: anything */
};
err workflow_program(struct tx *tx, str name, int64_t version, str digest,
                     const struct workflow_program **out);

#endif
