/* mirror.h: files in a project's folder that show its workflows, for those who read files.
 *
 * They are pictures: made of rows, written by the runner of the machine that has the folder, and never
 * read back. What somebody else does to one is undone, and kept here, so that a person hears of it.
 *
 * Does not know what is in them, nor where in the folder they are: see ops/mirrors.c. */
#ifndef CORE_MIRROR_H
#define CORE_MIRROR_H

#include "core/exec/execution.h"
#include "core/project.h"
#include "core/runner.h"

/* What a project may want: of document 001's newest workflow, and of document 002's. */
enum mirror_kind { MIRROR_WORKFLOW, MIRROR_MARKDOWN, MIRROR_STATE, MIRROR_LOG, MIRROR_KINDS };
extern const char *const mirror_kind_names[MIRROR_KINDS];

/* Those that it wants, a bit for each; all, unless it says otherwise. */
err mirror_kinds(struct tx *tx, const struct project *p, unsigned *out);

/* Makes it want these: an array of names. */
void mirror_kinds_set(struct tx *tx, struct project *p, const struct json *names);

/* Where the files of a folder of a project are: beside git's common directory. */
str mirror_folder(str common_dir);

/* The newest executions of a kind that belong to a project, the open ones first: its members' and those
 * that work in its folders. Without variables. */
err mirror_executions(struct tx *tx, const struct project *p, str kind, size_t limit,
                      const struct execution **out, size_t *count);

/* The folders of projects on a machine. */
err mirror_folders(struct tx *tx, str hostname, const struct project_folder **out, size_t *count);

/* Whether it is this runner that writes into a folder: one of those on its machine does. */
err mirror_is_writer(struct tx *tx, const struct runner *r, str folder, bool *out);

/* What was found of a file. */
struct mirror {
    str project, path;
    str found;  /* "edited", "deleted", or "blocked": it cannot be written */
    str detail; /* in words for people; often empty */
    int64_t times;
    int64_t found_at_ms;
};

/* The table `mirror`: see columns.h. */
// clang-format off
#define MIRROR_COLUMNS(X, m)             \
    X(project,  TEXT, INSERT, m->project) \
    X(path,     TEXT, INSERT, m->path)    \
    X(found,    TEXT, STORE,  m->found)   \
    X(detail,   TEXT, STORE,  m->detail)  \
    X(times,    INT,  STORE,  m->times)   \
    X(found_at, TIME, STORE,  m->found_at_ms)
#define MIRROR_NAMES COLUMNS(MIRROR_COLUMNS)
// clang-format on

enum { MIRRORS_NOTED_MAX = 100 }; /* of a project: the oldest go */

/* Keeps it. Emits mirror_found. */
err mirror_note(struct tx *tx, struct mirror *m);

/* One that could not be written was. */
err mirror_unblock(struct tx *tx, str project, str path);

/* By path. */
err mirror_noted(struct tx *tx, str project, const struct mirror **out, size_t *count);

#endif
