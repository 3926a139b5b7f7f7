/* mcp_private.h: what the files of mcp/ know of each other.
 *
 * From below to above:
 *
 * rpc.c        messages
 * reply.c      how methods say what is next
 * era.c        revisions, initialize, server/discover, what the server says of itself
 * head.c       what the fields of HTTP must say of a message of 2026-07-28
 * tools.c      tools/list: the operation table as an agent sees it
 * elicit.c     asking the person in front of a client what only a person decides
 * tool_call.c  tools/call: arguments → operation → result
 * resources.c  resources/…;  prompts.c  prompts/…;  completion.c  completion/complete
 * listen.c     subscriptions/listen, and what listeners are sent
 * tasks.c      tasks/…: a task is a run
 * rounds.c     requestState: what a client hands back to us, signed
 * mcp.c        a message: its era, its client, its method; the table of methods */
#ifndef MCP_MCP_PRIVATE_H
#define MCP_MCP_PRIVATE_H

#include "mcp/mcp.h"

struct tool_list; /* tools.c's: what each kind of token sees, printed once */

struct mcp {
    struct mcp_options options;
    struct arena *arena; /* as long as the server */
    str server_info;     /* printed JSON */
    struct tool_list *tools;
    void *served;  /* what options.served remembers; NULL: nothing yet */
    int64_t asked; /* requests of ours: the number of the last one */
};

/* A method. It sets what is next of the call. */
typedef void mcp_method(struct mcp_call *m);

enum mcp_era { ERA_LEGACY = 1, ERA_MODERN = 2, ERA_BOTH = ERA_LEGACY | ERA_MODERN };

struct mcp_method_entry {
    const char *name;
    enum mcp_era eras;
    mcp_method *run;
};

/* What another program serves by our protocol and our transport. Methods about the server itself
 * stay ours. */
struct mcp_served {
    const struct mcp_method_entry *methods;
    size_t method_count;
    bool prompts_change, logs; /* what initialize says that it can do */
};

/* Of what mcp.h promises: mcp_fault and mcp_progress are in reply.c, versions in era.c, what
 * listeners are sent in listen.c, mcp_uri_state in resources.c, mcp_task_status in tasks.c. */

/* ---- reply.c: how a method says what is next ---- */

/* The answer is what is written between these two: a result object. mcp_result_begin writes `{`,
 * and for a modern client resultType "complete" and _meta with serverInfo; mcp_result_end writes
 * `}` and makes it the answer, with status 200. */
struct json_writer *mcp_result_begin(struct mcp_call *m);
struct json_writer *mcp_result_begin_as(struct mcp_call *m, const char *result_type);
void mcp_result_end(struct mcp_call *m);

/* ttlMs and cacheScope, which some results of 2026-07-28 must have; nothing for an older client. */
void mcp_write_cache(struct mcp_call *m, struct json_writer *w, int64_t ttl_ms, bool public);

/* The answer is an error. The status is 200; but for a modern client 404 with RPC_METHOD, and 400
 * with RPC_HEADER, RPC_CAPABILITY and RPC_VERSION. `data` is printed JSON or empty. */
void mcp_refuse(struct mcp_call *m, enum rpc_code code, str data, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with a status of its own: the message as such is wrong, whatever it asks for. */
void mcp_refuse_as(struct mcp_call *m, int status, enum rpc_code code, str data, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* A field of the head, of any bytes; false, when there is none. */
bool mcp_head_field(const struct mcp_call *m, const char *name, str *value);

/* The operation of that name with this input is next, then `then`. */
void mcp_ask(struct mcp_call *m, const char *op, const struct json *input,
             void (*then)(struct mcp_call *m, const struct command *done));

/* A member of params: a string, "" when it is not there; refuses and gives false when it is there
 * and no string, or is missing and needed. */
bool mcp_param_str(struct mcp_call *m, const char *name, bool needed, str *out);

/* cursor of a list: a place to go on from, opaque to clients. False: it was refused. */
bool mcp_cursor(struct mcp_call *m, str *after);
void mcp_write_next(struct json_writer *w, str after); /* nextCursor; nothing when it is empty */

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

/* ---- methods ---- */

mcp_method mcp_initialize, mcp_discover, mcp_ping; /* era.c */
mcp_method mcp_tools_list, mcp_tools_call;         /* tools.c, tool_call.c */
mcp_method mcp_resources_list, mcp_resources_templates, mcp_resources_read, mcp_resources_subscribe,
    mcp_resources_unsubscribe;                                /* resources.c */
mcp_method mcp_prompts_list, mcp_prompts_get;                 /* prompts.c */
mcp_method mcp_complete;                                      /* completion.c */
mcp_method mcp_tasks_get, mcp_tasks_update, mcp_tasks_cancel; /* tasks.c */
mcp_method mcp_listen;                                        /* listen.c */

/* ---- era.c ---- */

#define MCP_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define MCP_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define MCP_META_CLIENT "io.modelcontextprotocol/clientInfo"
#define MCP_META_SERVER "io.modelcontextprotocol/serverInfo"

/* Which revision a message speaks, and for whom: sets `client`. False: it was refused. */
bool mcp_find_era(struct mcp_call *m);

/* Who answers: printed JSON. */
str mcp_server_info(struct arena *a, const char *version);

/* ---- head.c ---- */

/* Whether the fields of the head agree with the message; refuses and gives false when not. The
 * tool's input schema tells which arguments are repeated in the head (x-mcp-header); may be NULL. */
bool mcp_check_version_head(struct mcp_call *m, str version);
bool mcp_check_head(struct mcp_call *m);
bool mcp_check_param_head(struct mcp_call *m, const struct json *input_schema,
                          const struct json *arguments);

/* ---- tools.c ---- */

/* Which tools a token sees. */
struct tool_list *tools_new(struct arena *a, const struct op_table *t);

/* The operation of a tool as this actor sees it; NULL: there is none for it. */
const struct op *tool_find(const struct mcp *m, const struct actor *actor, str name);

/* ---- tool_call.c ---- */

/* The answer is a tool's result: a text, or an error that says how to repair it. */
void tool_answer_text(struct mcp_call *m, str text, bool is_error);

/* ---- elicit.c ---- */

/* What becomes of a call once its person was asked. */
struct elicit_ends {
    void (*decided)(struct mcp_call *m, const struct command *done); /* performed for that person */
    void (*undecided)(struct mcp_call *m); /* nobody could be asked, or nobody has decided */
};

/* Whether this call is one about which the person in front of its client can be asked. */
bool elicit_can(const struct mcp_call *m, const struct op *op);

/* Asks them about the step that the input of step.approve names, or takes what they have answered.
 * `past` is what requestState holds; NULL: nothing. */
void elicit(struct mcp_call *m, const struct json *input, const struct json *past,
            const struct elicit_ends *ends);

/* ---- tasks.c ---- */

/* Answers a tools/call that started a run, for a client that knows tasks. `run` is what run.get
 * answers. */
void task_answer_created(struct mcp_call *m, const struct json *run);

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

/* Whether the client can have to do with tasks; refuses and gives false when not. */
bool task_check_client(struct mcp_call *m);

/* ---- rounds.c: what a client hands back ---- */

/* A text that the client returns as it is: `payload` (printed JSON) signed, bound to the actor, to
 * what the request asks for, and to a time. */
str round_seal(struct mcp_call *m, str payload, int64_t lives_ms);

/* The payload of params.requestState; refuses and gives false when it was changed, has expired, or
 * belongs to another. True with *out NULL: there is none. */
bool round_open(struct mcp_call *m, const struct json **out);

/* The answer to an input request of that name, of params.inputResponses; NULL: none that fits. */
const struct json *round_response(struct mcp_call *m, const char *name);

/* The same of a response as such: whether it answers elicitation/create. */
bool round_fits_elicitation(const struct json *response);

/* The answer says that more is needed: between the two the caller writes the member inputRequests
 * with its name, or nothing: then the client repeats the request as soon as it likes. */
struct json_writer *round_begin(struct mcp_call *m);
void round_end(struct mcp_call *m, str request_state); /* empty: none */

#endif
