/* agents.h: agents that are written in files on a runner's machine, as Claude Code has them.
 *
 *   project   .claude/agents of the folders of projects that are on this machine, and of the
 *             runner's own
 *   home      ~/.claude/agents, of whom agents run as
 *   data      agents in the runner's data directory
 *
 * They need not be registered: the runner says which there are, and starts one from its file as it is
 * then. Of a file counts what its client reads there: a name, a description, a model, tools, and the
 * text below. What else it may say of arguments or of a profile is not followed, since agents can write
 * such files. */
#ifndef RUNNER_AGENTS_H
#define RUNNER_AGENTS_H

#include "json/json.h"
#include "runner/runner.h"

/* What there is, as the server is told: [{"name", "project"?, "source", "description", "model"?,
 * "tools"?}], the nearest first; a project is its folder. `projects` are {"name", "folder"}; files that
 * cannot be read are left out, and pushed to `bad` as texts. */
struct json agents_offered(struct arena *a, const struct runner_options *o,
                           const struct json *projects, struct json *bad);

/* Where a run looks for its agent. */
struct agents_place {
    str project_dir; /* and the folders above it */
    str user;        /* as whom it runs; empty: as us */
    str data;
};

/* The agent of that name. NOT_FOUND, naming the folders that were looked at. */
err agents_find(struct arena *a, const struct agents_place *p, str source, str name,
                struct json *out);

#endif
