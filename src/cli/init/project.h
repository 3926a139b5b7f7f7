/* project.h: the project that a folder is, on the server: a name, and a state that its agents share.
 *
 * It belongs to the repository, so all of its worktrees are in it, from whichever of its folders it is
 * asked for. Without a server there is nothing to make, which stops nobody from being wired. */
#ifndef CLI_INIT_PROJECT_H
#define CLI_INIT_PROJECT_H

#include "cli/bridge/bridge.h"
#include "cli/cli.h"
#include "client/caller.h"

enum init_project_action {
    PROJECT_NONE,    /* nothing is to be done, or nothing can be */
    PROJECT_KEPT,    /* it is one already */
    PROJECT_CREATED, /* it becomes one */
    PROJECT_JOINED,  /* it becomes a folder of one that is there */
    PROJECT_CHANGED, /* it gets another state */
    PROJECT_LEFT,    /* it is one no more */
};

struct init_project {
    str name, host, common_dir, top;
    str state_id, schema_name; /* as the server says */
    enum init_project_action action;
    str what;                  /* what it is, or becomes, in a few words */
    str started;               /* the data directory of a server that was; empty: none */
    err unknown;               /* why the server could not be asked; NULL: it was */
    const struct json *schema; /* of a file, to be registered first; NULL: none */
    struct caller caller;
};

/* The project of a folder, as the server says; its name is empty where it is none. */
err init_project_find(struct caller *k, struct arena *a, str folder, struct init_project *out);

/* What is to be done for the folder, or to take it out again; with --start, a server is started when
 * there is none. CONFLICT, NOT_FOUND: what the options ask for cannot be. */
err init_project_plan(struct cli *c, str folder, bool remove, mcp_start *start,
                      struct init_project *out);
void init_project_release(struct init_project *p);

/* Whether that changes anything. */
static inline bool init_project_changes(const struct init_project *p)
{
    return p->action > PROJECT_KEPT;
}

/* Does it; what the server then says of the project is in it. */
err init_project_do(struct cli *c, struct init_project *p);

/* "created" */
const char *init_project_action_name(enum init_project_action action);

#endif
