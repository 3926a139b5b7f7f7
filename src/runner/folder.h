/* folder.h: the folder of one run, DIR/runs/RUN_ID, and the files in it.
 *
 *   lock         held by the run's keeper as long as it lives; its process id is in it
 *   spec.json    what was claimed, without secrets
 *   keeper.log   what the keeper has to say
 *   input        what a command gets on its standard input
 *   agent        what the agent may read: token, prompt, mcp.json, state.json; where agents run as
 *                another user, a link to such a folder of that user's
 *
 * All of it is its owner's alone and goes when the run has ended. */
#ifndef RUNNER_FOLDER_H
#define RUNNER_FOLDER_H

#include "os/exec.h"

str folder_path(struct arena *a, str folder, const char *name);

/* Makes a folder for its owner alone; one that is there already is good too. */
err folder_make(struct arena *a, str path);

/* Writes a new file for its owner, or for that user, alone. CONFLICT when there is one. */
err folder_write(struct arena *a, str path, str text, const struct exec_user *owner);

/* A whole file of at most 16 MiB. */
err folder_read(struct arena *a, str path, str *out);

/* Makes the folder for the agent's files; `out` is where it really is. */
err folder_for_agent(struct arena *a, str folder, const struct exec_user *user, str *out);

/* Hands it over to the user, when all of its files are there. */
err folder_give(struct arena *a, str folder, const struct exec_user *user);

/* Where the agent's files are, if there are any; what folder_for_agent gave. */
str folder_of_agent(struct arena *a, str folder);

/* Removes it with all that is in it, and the agent's files, wherever they are. */
void folder_remove(struct arena *a, str folder);
void folder_remove_agent(struct arena *a, str folder);

/* Takes the file for the process that has the descriptor; −1 when another has it. */
int folder_lock(struct arena *a, str path);

/* Who has the lock: the process id that it wrote there; 0: unknown. */
pid_t folder_holder(struct arena *a, str path);

#endif
