/* profile.h: how a profile says that its client is started: command line, environment, files.
 *
 * A profile is data (profiles/, core/profile_data.h). In its command lines {words} stand for
 * what is known of the run; each is one whole argument and never becomes two, so that no
 * prompt can add an option. {args} and {options} alone stand for several: what the agent's
 * entry lists, which the operator wrote, and the options whose condition holds. ${BATON_URL}
 * and ${BATON}, our own program, may stand within an argument. Starts nothing. */
#ifndef RUNNER_PROFILE_H
#define RUNNER_PROFILE_H

#include "json/json.h"
#include "os/exec.h"

/* What is known of a run; empty: it has none. */
struct launch {
    const struct json *profile;
    const struct json *agent; /* NULL: none */
    bool resume;
    str prompt, prompt_file, client_id, session_name, project_dir, mcp_file, state_file;
    str baton;      /* our own program */
    str runner_dir; /* where a client may keep its conversations */
    str url;        /* of the server, for programs of others */
};

/* The command line, ending in NULL. INVALID when the profile cannot be followed, with what to
 * change in it. */
err profile_argv(struct arena *a, const struct launch *l, char ***out);

struct env_pair {
    const char *name;
    str value; /* empty: not set */
};

/* The environment of the agent: ours without what is secret, what the profile takes away, and all
 * that tells of another agent around us; then the user's, the profile's, the run's and `more`. */
err profile_env(struct arena *a, const struct launch *l, char *const *ours,
                const struct exec_user *user, const struct json *run_env,
                const struct env_pair *more, size_t count, char ***out);

/* The text of {mcp_file}, with the agent's own servers; empty when the profile has none. */
str profile_mcp(struct arena *a, const struct launch *l);

/* What the agent is asked: the prompt; at first with the agent's initial prompt in front, and with
 * its role too where the profile says so. */
str profile_prompt(struct arena *a, const struct launch *l);

/* How it gets that: "argument", "stdin" or "file". */
str profile_prompt_way(const struct json *profile);

/* Whether a word like "{state_file}" is used anywhere in it. */
bool profile_uses(const struct json *profile, const char *word);

/* Whether the client's exit code means that it did its work. */
bool profile_exit_is_good(const struct json *profile, int code);

#endif
