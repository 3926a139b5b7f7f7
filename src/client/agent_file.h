/* agent_file.h: agents that are written down in files.
 *
 *   .claude/agents/reviewer.md        ---
 *                                     name: reviewer
 *                                     description: Reads changes and says what is wrong
 *                                     tools: Read, Grep, Bash(git diff:*)
 *                                     model: opus
 *                                     ---
 *                                     You review changes …
 *
 * What stands between the dashes is a small part of YAML: `key: value`, texts in quotes
 * or over several lines, lists. Keys that mean nothing here are left to the client whose
 * file it is. The rest of the file is the system prompt. A .json file is the agent itself.
 *
 * Whether an agent is what it must be, the server says. */
#ifndef CLIENT_AGENT_FILE_H
#define CLIENT_AGENT_FILE_H

#include "json/json.h"

/* An agent from the text of a .md file; `stem` is its name when it says none. INVALID, with the
 * line, when its front matter cannot be read. */
err agent_file_parse(struct arena *a, str text, str stem, struct json *out);

/* An agent from a .md or .json file. The error names the file, and the line where it can. */
err agent_file_read(struct arena *a, const char *path, struct json *out);

struct agent_file {
    const char *path;
    struct json agent;
    err error; /* NULL: it could be read. Names the file, and the line where it can */
};

/* The .md and .json files of a folder, by name; of one that is not there, none. */
err agent_folder_read(struct arena *a, const char *folder, const struct agent_file **out,
                      size_t *count);

#endif
