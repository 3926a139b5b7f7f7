/* sessions.c: the table of operations on sessions. */
#include "ops/sessions.h"

#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"

// clang-format off

/* Fields that several operations take. */
#define SESSION_ID JSON("session_id": { "type": "string", "minLength": 1, "maxLength": 100, \
    "description": "The session: its id or its name." })
#define WAITING JSON( \
    "wait": { "type": "boolean", "default": false, \
        "description": "Wait until it has settled; when the time is up, answer as it is." }, \
    "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 30, \
        "description": "How many seconds to wait at most." })

static const struct op ops[] = {
    {
        .name = "session.create", .http = "POST /sessions", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Register a session that somebody runs outside of baton; to have one run, create a run.",
        .input = FIELDS(JSON("session_name"), JSON(
            "session_name": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,60}$",
                "description": "Its name, which no other session has." },
            "session_id": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "Its id, like a UUID, where the client has one already." },
            "parent_session_name": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The session that it is below, by name or id; a root without this. A session's is below itself." },
            "workflow_state_id": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The state of a root. Others have the one of their tree, and may say so." },
            "project_dir": { "type": "string", "minLength": 1, "maxLength": 1200,
                "description": "Where it works; its parent's without this." },
            "agent_name": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The role that it has." },
            "pointers": { "type": "array", "items": { "type": "string" }, "maxItems": 100,
                "description": "JSON Pointers to the sections of the state that it may write; its parent's without this." },
            "callback": { "type": "boolean", "default": true,
                "description": "Whether its parent is told when it has settled." })),
        .output = SESSION_SHAPE, .run = session_create_op,
    },
    {
        .name = "session.list", .http = "GET /sessions", .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER, .tool = "list_agent_sessions",
        .summary = "List sessions by id; parents and depths tell the trees that they are.",
        .hint = "List yourself and the agents below you, with their status. Use it to find a name, or to see who still works.",
        .input = FIELDS("", JSON(
            "root": { "type": "string", "description": "Only those of the tree of this session." },
            "parent": { "type": "string", "description": "Only the children of this session." },
            "status": { "enum": ["pending", "running", "idle", "finished", "failed", "stopped"],
                "description": "Only those with this status." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .shows = JSON({ "status": "", "after": "next of the last page" }),
        .tells = JSON({ "sessions": { "session_name": true, "status": true, "settled": true,
            "error": true, "parent_session_name": true, "agent_name": true }, "next": true }),
        .output = SHAPE(JSON("sessions"), SHAPE_LIST("sessions", "A page of them.", SESSION_SHAPE) "," PAGE_NEXT),
        .run = session_list_op,
    },
    {
        .name = "session.get", .http = "GET /sessions/{session_id}", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show a session.",
        .input = FIELDS(JSON("session_id"), SESSION_ID), .output = SESSION_SHAPE, .run = session_get_op,
    },
    {
        .name = "session.delete", .http = "DELETE /sessions/{session_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Delete a session that has ended, with all that is below it and their runs.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," JSON(
            "with_state": { "type": "boolean", "default": false,
                "description": "Of a root: delete its state, too." })),
        .output = SHAPE("", ""), .run = session_delete_op,
    },
    {
        .name = "session.clear", .http = "DELETE /sessions", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .tool = "delete_all_agent_sessions",
        .summary = "Delete what is below a session and has ended with all below it.",
        .hint = "Delete the sessions below you that have ended, when you have read their results: those are gone.",
        .input = FIELDS("", JSON("session_id": { "type": "string", "minLength": 1, "maxLength": 100,
            "description": "The session, by id or name; a session's token means its own without this." })),
        .tier = TIER_ROOT,
        .shows = JSON({ "session_id": "Default: yourself" }),
        .tells = JSON({ "deleted": true, "kept": true }),
        .output = SHAPE(JSON("deleted", "kept"), JSON(
            "deleted": { "type": "integer", "description": "How many of its children are gone, with all below them." },
            "kept": { "type": "integer", "description": "How many are live, or have something live below them." })),
        .run = session_clear_op,
    },
    {
        .name = "session.status", .http = "GET /sessions/{session_id}/status", .wait = true,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .tool = "get_agent_session_status",
        .summary = "Tell how a session stands; or wait until it has settled.",
        .hint = "See whether an agent below you still works. You are called back when it is done: do not poll.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," WAITING),
        .shows = JSON({ "session_id": "Id or name" }),
        .tells = JSON({ "session_name": true, "status": true, "settled": true, "state_update_status": true,
            "error": true, "last_event": true, "last_event_at": true }),
        .output = SHAPE(SESSION_HEAD_REQUIRED "," JSON("cycle", "last_event", "last_event_at"),
            SESSION_HEAD "," SESSION_CYCLE "," SESSION_HEARD),
        .run = session_status_op,
    },
    {
        .name = "session.result", .http = "GET /sessions/{session_id}/result", .wait = true,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .tool = "get_agent_session_result",
        .summary = "Give the last words of a session; or wait until it has settled.",
        .hint = "Read what an agent below you answered, or wait for it. What it recorded is in the shared state: state_read.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," WAITING),
        .shows = JSON({ "session_id": "Id or name", "wait": "Until it has settled", "timeout": "Seconds to wait" }),
        .tells = JSON({ "session_id": true, "session_name": true, "status": true, "settled": true, "state_update_status": true,
            "error": true, "result": true, "truncated": true, "workflow_state_version": true, "hint": true }),
        .output = SHAPE(SESSION_HEAD_REQUIRED "," JSON("result", "run_id", "workflow_state_version", "usage", "hint"),
            SESSION_HEAD "," SESSION_USAGE "," JSON(
            "result": { "type": ["string", "null"], "description": "What its agent said last; null: nothing yet." },
            "truncated": { "type": "boolean", "description": "The result is the end of a longer one: the hint says where the rest is." },
            "run_id": { "type": ["string", "null"], "description": "The run that said it." },
            "workflow_state_version": { "type": ["integer", "null"], "description": "The version of its state now." },
            "hint": { "type": ["string", "null"], "description": "What to do while it has not settled." })),
        .run = session_result_op,
    },
    {
        .name = "session.state", .http = "GET /sessions/{session_id}/workflow-state", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Read the state that a session shares with its tree.",
        .input = FIELDS(JSON("session_id"), SESSION_ID),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA), .run = session_state_op,
    },
    {
        .name = "session.event", .http = "POST /sessions/{session_id}/events", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Tell what a session does, as hooks of its client see it; a stop may be refused.",
        .input = FIELDS(JSON("session_id", "event_type"), SESSION_ID "," JSON(
            "event_type": { "enum": ["session_start", "pre_tool", "post_tool", "message", "session_stop", "session_end"],
                "description": "What happened; session_stop: its agent has done what it was asked for, and may be asked for more; session_end: its client is gone, and it settles, whatever those below it do." },
            "tool_name": { "type": "string", "description": "Of a tool event: the tool." },
            "tool_input": { "description": "What it was called with." },
            "tool_output": { "description": "What it answered." },
            "role": { "type": "string", "description": "Of a message: who said it." },
            "content": { "type": "string", "description": "Of a message: what was said." },
            "reason": { "type": "string", "description": "Of a start, stop or end: why." },
            "error": { "type": "string", "maxLength": 4096, "description": "Of a stop: why it did not end well." },
            "exit_code": { "type": "integer", "description": "Of a stop: what the client ended with." },
            "details": { "type": "object", "description": "Whatever else the client tells." })),
        .output = SHAPE(JSON("number", "callbacks"), JSON(
            "number": { "type": "integer", "minimum": 1, "description": "Of the session's events." },
            "decision": { "enum": ["block"], "description": "There when the session must not stop yet." },
            "reason": { "type": "string", "description": "What it has to do first." },
            "additional_context": { "type": "string", "description": "What the agent is to be told: ends of its children." },
            "callbacks": { "type": "integer", "description": "How many ends that tells of." })),
        .run = session_event_op,
    },
    {
        .name = "session.events", .http = "GET /sessions/{session_id}/events", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "List what a session told of itself; the newest are kept.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," JSON(
            "after": { "type": "integer", "minimum": 0, "default": 0,
                "description": "Those with a higher number than this." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("events"), SHAPE_LIST("events", "A page of them, in order.",
            SHAPE(JSON("number", "event_type", "time", "data"), JSON(
                "number": { "type": "integer", "description": "1, 2 and so on." },
                "event_type": { "type": "string", "description": "What happened." },
                "time": { "type": "string", "format": "date-time", "description": "When it was told." },
                "data": { "type": "object", "description": "What was told with it." }))) "," PAGE_NEXT_NUMBER),
        .run = session_events_op,
    },
    {
        .name = "session.stop", .http = "POST /sessions/{session_id}/stop", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Stop a session and all that is below it; what runs is asked to end.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," JSON(
            "reason": { "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Why, for those who wonder later." })),
        .output = SESSION_SHAPE, .run = session_stop_op,
    },
};
// clang-format on

const struct op_list session_ops = { ops, sizeof ops / sizeof *ops };
