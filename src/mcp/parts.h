/* parts.h: what resources, prompts, completion and tasks share. Private to mcp/. */
#ifndef MCP_PARTS_H
#define MCP_PARTS_H

#include "mcp/mcp_private.h"
#include "mcp/write.h"

/* ---- parts.c ---- */

/* mcp_ask with an input that was made here. */
void mcp_ask_with(struct mcp_call *m, const char *op, struct json input,
                  void (*then)(struct mcp_call *m, const struct command *done));

/* What an operation has answered, as a value that lives as long as the call. */
const struct json *mcp_answer_json(struct mcp_call *m, const struct command *done);

/* Whether an error says that there is no such thing, for whoever asks. */
bool error_says_unknown(err e);

/* An operation's error as the answer; one that says that there is no such thing has the code
 * `unknown` and `data`. */
void mcp_refuse_error(struct mcp_call *m, err e, enum rpc_code unknown, str data);

/* For a list that is never cut: refuses and gives false when a page of it is asked for. */
bool mcp_one_page(struct mcp_call *m);

/* ---- resources.c ---- */

#define STATE_TEMPLATE "baton://state/{id}"
#define VERSION_TEMPLATE "baton://state/{id}/v/{n}"

/* The state and the version (0: the current one) that an address means; false: it is none. */
bool state_uri_read(str uri, str *state_id, int64_t *version);

/* ---- prompts.c ---- */

/* What an argument can be completed from. */
enum completes {
    COMPLETES_NOTHING,
    COMPLETES_STATES,
    COMPLETES_VERSIONS,
    COMPLETES_SCHEMAS,
    COMPLETES_SESSIONS,
};

/* What the argument of a prompt is completed from; false: there is no such prompt or argument. */
bool prompt_completes(str prompt, str argument, enum completes *out);

/* ---- tasks.c ---- */

/* Whether the client can have to do with tasks; refuses and gives false when not. */
bool task_check_client(struct mcp_call *m);

#endif
