/* git.h: what version control sees in the folder where an agent works.
 *
 *   {"head": "5a3b2cd…", "branch": "main", "dirty": ["src/a.c", …]}
 *
 * Git is asked as the agent's own user, since a repository can name programs to run. */
#ifndef RUNNER_GIT_H
#define RUNNER_GIT_H

#include "json/json.h"
#include "os/exec.h"

/* Null when it is no repository, there is no git, or it takes too long. */
struct json git_snapshot(struct arena *a, str folder, char *const *env,
                         const struct exec_user *user);

/* What an agent should know that was there before and comes again: a paragraph; empty when nothing
 * has changed or one of both is not known. */
str git_changes(struct arena *a, const struct json *before, const struct json *now);

/* The same from what `git status --porcelain=v2 --branch -z` prints. */
struct json git_read(struct arena *a, str status);

#endif
