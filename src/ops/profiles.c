/* profiles.c: operations on profiles, how kinds of clients are started; entries.c does them. */
#include "ops/entries.h"
#include "ops/ops.h"
#include "ops/page.h"

// clang-format off

#define PROFILE_NAME JSON("name": { "type": "string", "description": "Its name: letters, digits and - _ . up to 60 of them." })

#define PROFILE_HEAD PROFILE_NAME "," JSON(                                                        \
    "description": { "type": "string", "description": "Which client it starts, in a line for people." })

#define PROFILE_MEMBERS PROFILE_HEAD "," JSON(                                                     \
    "start": { "type": "array", "items": { "type": "string" },                                     \
        "description": "The command line of a first turn; {prompt}, {client_id}, {model} and others stand for whole arguments." }, \
    "resume": { "type": "array", "items": { "type": "string" }, "description": "That of a later turn; sessions cannot be resumed without it." }, \
    "options": { "type": "array", "items": { "type": "object" },                                   \
        "description": "Arguments and variables for what an agent may have: { if: model, args: [--model, {model}] }." }, \
    "prompt": { "type": "string", "description": "How the prompt gets there: argument, stdin or file." }, \
    "role": { "type": "string", "description": "How the system prompt does: option or prompt." },  \
    "client_id": { "type": "string", "description": "What the client calls the conversation: uuid (we choose), stream (it tells) or none." }, \
    "env": { "type": "object", "description": "Variables that are set for it." },                  \
    "unset": { "type": "array", "items": { "type": "string" }, "description": "Variables that are taken away; * at the end stands for anything." }, \
    "mcp": { "type": "object", "description": "The file that {mcp_file} names." },                 \
    "output": { "type": "object", "description": "How its result, its usage and its id are found in what it writes." }, \
    "exit": { "type": "object", "description": "Which exit codes are good." })

#define PROFILE_SHAPE SHAPE(JSON("name", "start", "source", "created_at", "updated_at"), PROFILE_MEMBERS "," ENTRY_ORIGIN)

static const struct op ops[] = {
    {
        .name = "profile.create", .http = "POST /profiles", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Register a profile: how one kind of client is started; one of a name that is built in stands before that.",
        .input = FIELDS(JSON("name", "start"), PROFILE_MEMBERS), .output = PROFILE_SHAPE, .run = entry_create_op,
    },
    {
        .name = "profile.list", .http = "GET /profiles", .on = ON_HTTP | ON_CLI, .by = BY_ALL,
        .summary = "List the profiles, by name, those that are built in too.",
        .input = FIELDS("", PAGE_AFTER_NAME "," PAGE_LIMIT),
        .output = SHAPE(JSON("profiles"), SHAPE_LIST("profiles", "A page of them.",
            SHAPE(JSON("name", "source"), PROFILE_HEAD "," ENTRY_ORIGIN)) "," PAGE_NEXT),
        .run = entry_list_op,
    },
    {
        .name = "profile.get", .http = "GET /profiles/{name}", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_RUNNER,
        .summary = "Show a profile.",
        .input = FIELDS(JSON("name"), PROFILE_NAME), .output = PROFILE_SHAPE, .run = entry_get_op,
    },
    {
        .name = "profile.update", .http = "PATCH /profiles/{name}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .bodies = { { "application/merge-patch+json", "merge" } },
        .summary = "Change a profile by a merge patch; turns that begin from now on see it.",
        .input = FIELDS(JSON("name", "merge"), PROFILE_NAME "," ENTRY_MERGE), .output = PROFILE_SHAPE, .run = entry_update_op,
    },
    {
        .name = "profile.delete", .http = "DELETE /profiles/{name}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete a profile; one that is built in is that again, one that a file holds comes back when the server starts.",
        .input = FIELDS(JSON("name"), PROFILE_NAME), .output = SHAPE("", ""), .run = entry_delete_op,
    },
    {
        .name = "profile.load", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Make the profiles that come from files these.",
        .input = ENTRY_LOAD, .output = ENTRY_LOADED, .run = entry_load_op,
    },
};
// clang-format on

const struct op_list profile_ops = { ops, sizeof ops / sizeof *ops };
