/* project.h: folders whose agents work together.
 *
 * A project is a name, a state, and the folders that belong to it: on each machine one, which is
 * known by git's common directory, so that all worktrees of a repository are one project. Sessions
 * that a person starts in such a folder are its members: see member.h. */
#ifndef CORE_PROJECT_H
#define CORE_PROJECT_H

#include "core/session.h"

struct project {
    str name;
    str project_dir; /* where it was made, for people */
    str state_id;    /* that its members share */
    bool wakes;      /* idle clients of its members may be woken */
    str mirrors; /* files that are kept from its workflows, printed JSON array; empty: the usual */
    int64_t created_at_ms, updated_at_ms;
};

/* The tables `project` and `project_folder`: see columns.h. */
// clang-format off
#define PROJECT_COLUMNS(X, p)                      \
    X(name,        TEXT, INSERT, p->name)          \
    X(project_dir, TEXT, INSERT, p->project_dir)   \
    X(state_id,    TEXT, STORE,  p->state_id)      \
    X(wake,        FLAG, STORE,  p->wakes)         \
    X(created_at,  TIME, INSERT, p->created_at_ms) \
    X(updated_at,  TIME, STORE,  p->updated_at_ms) \
    X(mirrors,     TEXT, STORE,  p->mirrors)
#define PROJECT_NAMES COLUMNS(PROJECT_COLUMNS)
// clang-format on

struct project_folder {
    str hostname, common_dir, project;
    int64_t created_at_ms;
};

// clang-format off
#define PROJECT_FOLDER_COLUMNS(X, f)             \
    X(hostname,   TEXT, INSERT, f->hostname)     \
    X(common_dir, TEXT, INSERT, f->common_dir)   \
    X(project,    TEXT, INSERT, f->project)      \
    X(created_at, TIME, INSERT, f->created_at_ms)
#define PROJECT_FOLDER_NAMES COLUMNS(PROJECT_FOLDER_COLUMNS)
// clang-format on

enum { PROJECT_NAME_MAX = 60, PROJECT_FOLDERS_MAX = 100, PROJECT_DIR_MAX = 1200 };

struct project_new {
    str name, project_dir;
    str hostname, common_dir;        /* its first folder; empty: none yet */
    str state_id;                    /* one that is there; empty: a new one */
    str schema_name;                 /* of a new one; empty: the built-in */
    const struct json *initial_data; /* NULL: an empty document of that schema */
    struct schema_ready *built_in;   /* see project_schema */
    bool wakes;
    str mirrors; /* printed JSON array; empty: the usual */
};

/* The schema of a project that asks for no other: registered when the first one does. */
extern const char project_schema[];
#define PROJECT_SCHEMA_NAME "project"

/* INVALID for a bad name; CONFLICT when it is taken, or the folder is another's; UNFIT when the initial
 * data does not fit the schema. */
err project_create(struct tx *tx, const struct project_new *n, struct project *out);

/* `found` is false, and `out` as it was, when there is none. */
err project_find(struct tx *tx, str name, struct project *out, bool *found);
err project_get(struct tx *tx, str name, struct project *out); /* NOT_FOUND, naming what there is */

/* The project of a folder, or of the nearest one above it, on a machine. */
err project_at(struct tx *tx, str hostname, str folder, struct project *out, bool *found);

/* By name, after one. */
err project_list(struct tx *tx, str after, int64_t limit, const struct project **out,
                 size_t *count);

err project_folders(struct tx *tx, str name, const struct project_folder **out, size_t *count);

/* One more folder of it; nothing where it is that already. CONFLICT: it is another project's. */
err project_join(struct tx *tx, const struct project *p, str hostname, str common_dir);

/* NOT_FOUND unless it is the project's. */
err project_leave(struct tx *tx, const struct project *p, str hostname, str common_dir);

/* Another state: that of all its members who have none of their own, from now on. */
err project_give_state(struct tx *tx, struct project *p, str state_id);

err project_store(struct tx *tx, struct project *p);

/* Its state stays, and so do its members, which have that state and are no members any more. */
err project_delete(struct tx *tx, const struct project *p);

/* The name of a project whose state it is; empty: of none. */
err project_of_state(struct tx *tx, str state_id, str *name);

/* How many members are at work: live, and not silent. */
err project_at_work(struct tx *tx, str name, int64_t *count);

#endif
