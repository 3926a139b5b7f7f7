/* runs.c: the table of operations on runs. */
#include "ops/runs.h"

#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"

// clang-format off

#define RUN_ID JSON("run_id": { "type": "string", "description": "The run." })

#define RUN_MEMBERS JSON(                                                                          \
    "run_id": { "type": "string", "description": "What run.get, run.output and run.stop take." },                                      \
    "session_id": { "type": "string", "description": "The session whose turn it is." },            \
    "session_name": { "type": "string", "description": "The name of that session." },              \
    "type": { "enum": ["start_session", "resume_session"], "description": "The first turn, or a later one." }, \
    "purpose": { "enum": ["work", "state_update", "callback", "task"], "description": "What it is for." }, \
    "status": { "enum": ["pending", "claimed", "running", "stopping", "completed", "failed", "timed_out", "stopped"], \
        "description": "How far it is." },                                                         \
    "execution_mode": { "enum": ["sync", "async_poll", "async_callback"], "description": "How whoever asked hears of the end." }, \
    "queued": { "type": "boolean", "description": "Whether a runner may claim it now." },          \
    "agent_name": { "type": ["string", "null"], "description": "The agent of its session." },      \
    "profile": { "type": ["string", "null"], "description": "The profile of its session." },       \
    "project_dir": { "type": ["string", "null"], "description": "Where its session works." },      \
    "demands": { "type": "object", "description": "What it asks of its runner: hostname, user, profile, project_dir, tags." }, \
    "priority": { "type": "integer", "description": "More is sooner." },                           \
    "max_seconds": { "type": "integer", "description": "How long it may take." },                  \
    "cycle": { "type": "integer", "description": "The cycle of its session." },                    \
    "attempt": { "type": "integer", "description": "1, and one more for each runner that lost it." }, \
    "runner_id": { "type": ["string", "null"], "description": "The runner that claimed it last." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was asked for." }, \
    "not_before": { "type": ["string", "null"], "description": "No runner gets it before this." }, \
    "claimed_at": { "type": ["string", "null"], "description": "When it was claimed last." },      \
    "started_at": { "type": ["string", "null"], "description": "When its agent began." },          \
    "ended_at": { "type": ["string", "null"], "description": "When it ended." },                   \
    "metadata": { "type": "object", "description": "What whoever asked for it has noted." },       \
    "error": { "type": ["string", "null"], "description": "Why it did not end well." })

#define RUN_REQUIRED JSON("run_id", "session_id", "session_name", "type", "purpose", "status", "created_at")

#define RUN_SHAPE SHAPE(RUN_REQUIRED, RUN_MEMBERS "," JSON(                                        \
    "prompt": { "type": "string", "description": "What the agent is asked." },                     \
    "result": { "type": ["string", "null"], "description": "What it answered." },                  \
    "truncated": { "type": "boolean", "description": "The result is the end of a longer one; what the run wrote is in its output (baton logs)." }))

/* What both ways to ask for a run take. */
#define PROMPT_FIELDS JSON(                                                                        \
    "prompt": { "type": "string", "minLength": 1, "maxLength": 1048576, "description": "What the agent is to do." }, \
    "execution_mode": { "enum": ["sync", "async_poll", "async_callback"],                          \
        "description": "sync: answer with the result; async_poll: be asked for it later; async_callback: call the parent back when it is there." }, \
    "callback": { "type": "boolean", "description": "The same as the mode async_callback." },      \
    "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 45,                    \
        "description": "Of the mode sync: how many seconds to wait; then the answer says how to go on." }, \
    "metadata": { "type": "object", "description": "Kept with the run." },                         \
    "max_seconds": { "type": "integer", "minimum": 1, "maximum": 2592000, "description": "How long it may take." }, \
    "priority": { "type": "integer", "minimum": -1000, "maximum": 1000, "default": 0, "description": "More is sooner." }, \
    "not_before": { "type": "string", "format": "date-time", "description": "No runner gets it before this." })

#define START_FIELDS JSON(                                                                         \
    "agent_name": { "type": "string", "description": "The role of a new session, as /agents lists them." }, \
    "project_dir": { "type": "string", "maxLength": 1200, "pattern": "^/", "description": "Where a new session works; its parent's unless given." }, \
    "parent_session_name": { "type": "string", "description": "The session that a new one is below of; a session's own unless given." }, \
    "demands": { "type": "object", "additionalProperties": false,                                  \
        "description": "What the run asks of its runner.",                                         \
        "properties": {                                                                            \
            "hostname": { "type": "string", "maxLength": 255, "description": "Only a runner that registered with this hostname gets it." },    \
            "tags": { "type": "array", "maxItems": 20, "items": { "type": "string", "minLength": 1, "maxLength": 100 }, \
                "description": "All of these tags." },                                             \
            "profile": { "type": "string", "maxLength": 100, "description": "That kind of client, unless the agent says." }, \
            "project_dir": { "type": "string", "maxLength": 1200, "pattern": "^/", "description": "That directory; the same as project_dir." } } })

/* What a tool tells of a turn that was asked for. */
#define RUN_TELLS JSON({ "session_id": true, "session_name": true, "status": true })

static const struct op ops[] = {
    {
        .name = "run.create", .http = "POST /runs", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Ask for a turn of a session: start a new one, or resume one.",
        .input = FIELDS(JSON("type", "prompt"), JSON(
            "type": { "enum": ["start_session", "resume_session"], "description": "A new session, or one that has begun." },
            "session_name": { "type": "string", "description": "The session's name: a new one must not be taken." },
            "session_id": { "type": "string", "description": "The session's id, or its name." }) ","
            PROMPT_FIELDS "," START_FIELDS),
        .output = RUN_SHAPE, .run = run_create_op,
    },
    {
        .name = "session.start", .effect = OP_WRITES, .on = ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .tool = "start_agent_session",
        .summary = "Start a session with a prompt.",
        .hint = "Start another agent below you for a task of its own. Go on or end your turn: you are called back when it is done.",
        .input = FIELDS(JSON("session_name", "prompt"), JSON(
            "session_name": { "type": "string", "description": "A name that is not taken: letters, digits, - and _." }) ","
            PROMPT_FIELDS "," START_FIELDS),
        .shows = JSON({
            "session_name": "New: letters, digits, - and _",
            "prompt": "The whole task: it sees nothing of yours but the shared state",
            "agent_name": "Its role: list_agent_blueprints",
            "execution_mode": "sync: wait for its answer; default async_callback",
            "project_dir": "Default: yours",
            "max_seconds": "" }),
        .tells = RUN_TELLS,
        .output = RUN_SHAPE, .run = run_create_op,
    },
    {
        .name = "session.resume", .effect = OP_WRITES, .on = ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .tool = "resume_agent_session",
        .summary = "Ask a session that has begun for another turn.",
        .hint = "Ask an agent below you for more work in the same conversation, after it has settled.",
        .input = FIELDS(JSON("session_name", "prompt"), JSON(
            "session_name": { "type": "string", "description": "The session, by name or id." }) "," PROMPT_FIELDS),
        .shows = JSON({ "session_name": "Name or id", "prompt": "", "execution_mode": "sync: wait for its answer" }),
        .tells = RUN_TELLS,
        .output = RUN_SHAPE, .run = run_create_op,
    },
    {
        .name = "run.list", .http = "GET /runs", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "List runs: of one session in their order, or all by id.",
        .input = FIELDS("", JSON(
            "session": { "type": "string", "description": "Only those of this session, by id or name; a session sees its own unless given." },
            "status": { "enum": ["pending", "claimed", "running", "stopping", "completed", "failed", "timed_out", "stopped"],
                "description": "Only those with this status." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("runs"), SHAPE_LIST("runs", "A page of them, without prompts and results.", SHAPE(RUN_REQUIRED, RUN_MEMBERS)) "," PAGE_NEXT),
        .run = run_list_op,
    },
    {
        .name = "run.get", .http = "GET /runs/{run_id}", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show a run.",
        .input = FIELDS(JSON("run_id"), RUN_ID), .output = RUN_SHAPE, .run = run_get_op,
    },
    {
        .name = "run.stop", .http = "POST /runs/{run_id}/stop", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Stop a run: at once when no runner has it, else as soon as its runner hears of it.",
        .input = FIELDS(JSON("run_id"), RUN_ID "," JSON(
            "reason": { "type": "string", "maxLength": 1000, "description": "Why; it is shown as the run's error." })),
        .output = RUN_SHAPE, .run = run_stop_op,
    },
    {
        .name = "run.output", .http = "GET /runs/{run_id}/output", .wait = true, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show what the agent of a run has written, from a number on; or wait for more.",
        .input = FIELDS(JSON("run_id"), RUN_ID "," JSON(
            "after": { "type": "integer", "minimum": 0, "default": 0, "description": "Pieces with a higher number than this." },
            "wait": { "type": "integer", "minimum": 0, "maximum": 60, "default": 0,
                "description": "Seconds to wait for a piece when there is none yet." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "How many pieces at most." })),
        .output = SHAPE(JSON("run_id", "status", "output", "next", "ended"), JSON(
            "run_id": { "type": "string", "description": "The run." },
            "status": { "type": "string", "description": "How far it is." },
            "next": { "type": "integer", "description": "What to ask for with after, to go on." },
            "ended": { "type": "boolean", "description": "Whether this was all that there will be." }) ","
            SHAPE_LIST("output", "In order; the oldest go when there is too much.", SHAPE(JSON("number", "stream", "text", "time"), JSON(
                "number": { "type": "integer", "description": "Of the run's pieces: 1, 2 and so on." },
                "stream": { "enum": ["stdout", "stderr"], "description": "Where it was written." },
                "text": { "type": "string", "description": "What was written." },
                "time": { "type": "string", "format": "date-time", "description": "When it came." })))),
        .run = run_output_op,
    },
};
// clang-format on

const struct op_list run_ops = { ops, sizeof ops / sizeof *ops };
