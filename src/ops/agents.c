/* agents.c: operations on agents, the roles that sessions have; entries.c does them. */
#include "ops/entries.h"
#include "ops/ops.h"
#include "ops/page.h"

// clang-format off

#define AGENT_NAME JSON("name": { "type": "string", "description": "Its name: letters, digits and - _ . up to 60 of them." })

#define AGENT_HEAD AGENT_NAME "," JSON(                                                            \
    "description": { "type": "string", "description": "What it is for: others choose it by this." }, \
    "profile": { "type": "string", "description": "How its client is started; what a session asks for, else claude, without this." }, \
    "model": { "type": "string", "description": "The model that it uses; the client's own choice without this." }, \
    "tags": { "type": "array", "items": { "type": "string" }, "description": "Words to find it by." })

#define AGENT_MEMBERS AGENT_HEAD "," JSON(                                                         \
    "system_prompt": { "type": "string", "description": "Who it is and how it works: stands before all that it is asked." }, \
    "initial_prompt": { "type": "string", "description": "What its first turn begins with." },     \
    "tools": { "type": "array", "items": { "type": "string" }, "description": "The tools that it may use, by its client's own names; all without this. With Claude Code: others are held to permissions." }, \
    "permissions": { "type": "string", "enum": ["read", "edit", "work"],                           \
        "description": "What it may do in its project directory: read, edit files, or work, which is to run commands, too; work without this." }, \
    "ask": { "type": "array", "items": { "type": "string" }, "description": "Tools that wait for the operator when it is run from here: Bash, or Bash(git push:*)." }, \
    "started_by": { "type": "array", "items": { "type": "string" }, "description": "Which sessions may give this role to those that they start, so that these own what x-owner says is the role's: agents' names (of a session that has that role), root, or ids. The operator always may." }, \
    "mcp_servers": { "type": "object", "description": "MCP servers of its own, by name, as its client has them in a file." }, \
    "args": { "type": "array", "items": { "type": "string" }, "description": "With the profile shell: the command line, in whole arguments." })

#define AGENT_SHAPE SHAPE(JSON("name", "source", "created_at", "updated_at"), AGENT_MEMBERS "," ENTRY_ORIGIN)

#define OFFERED_BY SHAPE_LIST("offered_by", "Of one that is not registered and that runners have as a file: which do.", \
    SHAPE(JSON("runner_id", "runner", "hostname", "source", "project"), JSON(                      \
        "runner_id": { "type": "string", "description": "The runner." },                           \
        "runner": { "type": "string", "description": "Its name." },                                \
        "hostname": { "type": "string", "description": "Its machine." },                           \
        "source": { "enum": ["project", "home", "data"], "description": "Where its file is." },    \
        "project": { "type": ["string", "null"], "description": "Of a project: the folder that it is good in; null: everywhere." })))

static const struct op ops[] = {
    {
        .name = "agent.create", .http = "POST /agents", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Register an agent: a role that sessions can be started in.",
        .input = FIELDS(JSON("name"), AGENT_MEMBERS), .output = AGENT_SHAPE, .run = entry_create_op,
    },
    {
        .name = "agent.list", .http = "GET /agents", .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_ALL,
        .tool = "list_agent_blueprints",
        .summary = "List the agents, by name, without their prompts.",
        .hint = "List the roles that you can start agents in, and what each is for. Use it before start_agent_session.",
        .input = FIELDS("", JSON(
            "roles": { "type": "boolean", "description": "Also the roles of workflows that come with the program and that nobody has begun or deployed." }) ","
            PAGE_AFTER_NAME "," PAGE_LIMIT),
        .tool_input = JSON({ "after": "next of the last page" }),
        .tool_output = JSON({ "agents": { "name": true, "description": true, "tags": true }, "next": true }),
        .output = SHAPE(JSON("agents"), SHAPE_LIST("agents", "A page of them.",
            SHAPE(JSON("name", "source"), AGENT_HEAD "," ENTRY_ORIGIN "," OFFERED_BY)) "," PAGE_NEXT),
        .run = entry_list_op,
    },
    {
        .name = "agent.get", .http = "GET /agents/{name}", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_RUNNER,
        .summary = "Show an agent, its prompts included.",
        .input = FIELDS(JSON("name"), AGENT_NAME), .output = AGENT_SHAPE, .run = entry_get_op,
    },
    {
        .name = "agent.update", .http = "PATCH /agents/{name}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .bodies = { { "application/merge-patch+json", "merge" } },
        .summary = "Change an agent by a merge patch; turns that begin from now on see it.",
        .input = FIELDS(JSON("name", "merge"), AGENT_NAME "," ENTRY_MERGE), .output = AGENT_SHAPE, .run = entry_update_op,
    },
    {
        .name = "agent.delete", .http = "DELETE /agents/{name}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete an agent; one that a file holds comes back when the server starts.",
        .input = FIELDS(JSON("name"), AGENT_NAME), .output = SHAPE("", ""), .run = entry_delete_op,
    },
    {
        .name = "agent.load", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Make the agents that come from files these.",
        .input = ENTRY_LOAD, .output = ENTRY_LOADED, .run = entry_load_op,
    },
};
// clang-format on

const struct op_list agent_ops = { ops, sizeof ops / sizeof *ops };
