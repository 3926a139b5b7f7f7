/* workflow.h: definitions of workflows, by name and version, and their graphs.
 *
 * A deployed definition never changes: another text under its name is its next version. Some come with
 * the program: they are there as version 1, and have a row from when one is started, or another text is
 * deployed under their name. One that an execution brings with it has no name: it is kept under the
 * digest of its text, is in no list, and goes with its last execution.
 *
 * Does not know what runs by it: see execution.h, but for what may not be deleted while something does. */
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
    int64_t created_at_ms; /* 0: it comes with the program, and has no row */
    str text;              /* printed JSON; empty in lists */
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

/* Deploys it under a name; empty: what the definition calls itself, or is of. When the newest version of it is
 * the same text, gives that one and `created` is false. INVALID for a bad name, or none. */
err workflow_deploy(struct tx *tx, const struct workflow_ready *ready, str name, str description,
                    struct workflow *out, bool *created);

/* Keeps one that has no name; `out` is what executions are started by. */
err workflow_keep(struct tx *tx, const struct workflow_ready *ready, struct workflow *out);

/* Whether it has no name. */
bool workflow_is_unnamed(str name);

/* An execution of it begins, or its last one goes: one that comes with the program gets its row, one
 * without a name loses it. */
err workflow_begun(struct tx *tx, const struct workflow *w);
err workflow_let_go(struct tx *tx, str name);

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

/* Deletes a version, or (0) all of them. CONFLICT while an execution of it has not ended. One that comes
 * with the program is that again; NOT_FOUND when nothing was deployed in its place. */
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
