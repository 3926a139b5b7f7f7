/* place.h: where an agent is, as its hooks and its tools tell the server, which never looks at a
 * client's disk: the machine, the repository, the working tree, and the project that a person names. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "client/url.h"

enum {
    PLACE_DIR_BYTES_MAX = 1200, /* of a folder that is told: the server takes no longer one */
    PLACE_HOST_BYTES_MAX = 200,
    PLACE_NAME_BYTES_MAX = 100, /* of a name or an id */
    PLACE_MEMBERS = 4,
};

/* The machine's name, as its runner says it too. */
str place_host(struct arena *a);

/* The folder that the agent of a client was started in. Of Claude Code: $CLAUDE_PROJECT_DIR, since a
 * hook may be called from wherever the agent has gone to; in the environment of others that is somebody
 * else's. Of others: the one that they tell, where there is such a folder (empty: they tell none). Else
 * the one that this process is in. */
str place_folder(struct arena *a, str client, str told);

/* The members host, common_dir, worktree and project that are known of an agent in a folder and can be
 * told; gives how many they are. */
size_t place_members(struct arena *a, str folder, struct url_param out[PLACE_MEMBERS]);

/* Whether it can be an id or a name of something in baton. */
bool place_is_name(str text);

/* The value of a variable that is one; NULL: it is not set, or cannot be one, which is said on
 * standard error: nobody is held up by a variable. */
const char *place_variable(const char *variable);

#endif
