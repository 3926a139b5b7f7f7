/* shapes.h: how inputs and answers are described, and what those about states, schemas and
 * sessions have. Private to ops/.
 *
 * Members are written once and put together to shapes by SHAPE, since one answer
 * has what another has and something more. */
#ifndef OPS_SHAPES_H
#define OPS_SHAPES_H

#include "ops/op.h"

// clang-format off

/* The JSON Schema of an object: SHAPE(JSON("a"), JSON("a": { … }, "b": { … })). */
#define SHAPE(required, members) \
    "{\"type\":\"object\",\"required\":[" required "],\"properties\":{" members "}}"

/* That of an input: no other fields are taken. */
#define FIELDS(required, members) \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required "],\"properties\":{" members "}}"

#define SHAPE_LIST(name, about, items) \
    "\"" name "\":{\"type\":\"array\",\"description\":\"" about "\",\"items\":" items "}"

#define SCHEMA_MEMBERS JSON(                                                                       \
    "schema_id": { "type": "string", "description": "Names this version of the schema; every version has its own." },                                   \
    "name": { "type": "string", "description": "What states name it by, all of its versions alike." },                                      \
    "version": { "type": "integer", "minimum": 1, "description": "Its version; texts never change." }, \
    "description": { "type": "string", "description": "What documents of this schema are for, in a line for people; empty: nobody said." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When this version was registered." }, \
    "updated_at": { "type": "string", "format": "date-time", "description": "When it last changed: a version never does, so when it was registered." })

#define SCHEMA_REQUIRED JSON("schema_id", "name", "version", "created_at", "updated_at", "json_schema")
#define SCHEMA_WHOLE SCHEMA_MEMBERS "," JSON("json_schema": { "type": ["object", "boolean"],       \
        "description": "The JSON Schema itself." })
#define SCHEMA_SHAPE SHAPE(SCHEMA_REQUIRED, SCHEMA_WHOLE)

#define FINDING_SHAPE SHAPE(JSON("pointer", "keyword", "message"), JSON(                           \
        "pointer": { "type": "string", "description": "Where in the data, or in the schema." },    \
        "keyword": { "type": "string", "description": "The keyword of the schema that refuses it, like required or type." },                          \
        "message": { "type": "string", "description": "What was expected and what was found." }))

#define ERRORS_MEMBER SHAPE_LIST("errors", "What does not fit, at most 50 of it.", FINDING_SHAPE)

#define STATE_MEMBERS JSON(                                                                        \
    "state_id": { "type": "string", "description": "What requests name it by; it never changes." },                                    \
    "name": { "type": ["string", "null"], "description": "What requests may call it instead; null: it has no name." }, \
    "schema_id": { "type": "string", "description": "The schema that it is bound to." },           \
    "schema_name": { "type": "string", "description": "The name of the schema that the document must fit." }, \
    "schema_version": { "type": "integer", "minimum": 1, "description": "The version of that schema; state.migrate changes it." }, \
    "root_session_id": { "type": ["string", "null"],                                               \
        "description": "The session that it belongs to; null when the operator made it." },        \
    "root_session_name": { "type": ["string", "null"], "description": "How people call that session; null: no session has it." }, \
    "version": { "type": "integer", "minimum": 1, "description": "Rises by one with every write." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was made." }, \
    "updated_at": { "type": "string", "format": "date-time", "description": "When its current version was written." })

#define STATE_REQUIRED JSON("state_id", "name", "schema_id", "schema_name", "schema_version", "version",   \
    "root_session_id", "root_session_name", "created_at", "updated_at")

#define STATE_DATA JSON("current_data": { "description": "The document, as of the version that is said." }, \
    "warning": { "type": "string", "description": "The document has become large (state_warn_bytes): how large, what the limit is, and what to do. It is not there otherwise." })

#define PATCH_MEMBER JSON("patch": { "type": "array", "items": { "type": "object" },               \
    "description": "A JSON Patch (RFC 6902)." })

/* How a session stands: what several answers begin with. */
#define SESSION_HEAD JSON(                                                                         \
    "session_id": { "type": "string", "description": "What it is called for good; requests take it or the name." },                                  \
    "session_name": { "type": "string", "description": "Its name, which no other session has." },  \
    "status": { "enum": ["pending", "running", "idle", "finished", "failed", "stopped"],           \
        "description": "Whether it is at work, and how its work ended." },                         \
    "settled": { "type": "boolean",                                                                \
        "description": "Its work has ended, and its result is recorded or could not be had." },    \
    "state_update_status": { "enum": ["pending", "completed", "failed", "skipped", null],          \
        "description": "Of the update that its work owes the state; null: it was not asked for." }, \
    "error": { "type": ["string", "null"], "description": "Why it failed or was stopped." },       \
    "workflow_state_id": { "type": ["string", "null"], "description": "The id of the state that its tree shares; null: it has none." })

#define SESSION_HEAD_REQUIRED JSON("session_id", "session_name", "status", "settled",              \
    "state_update_status", "error", "workflow_state_id")

#define SESSION_CYCLE JSON("cycle": { "type": "integer", "minimum": 1,                             \
    "description": "How often it was asked for something, from start to settling." })

#define SESSION_HEARD JSON(                                                                        \
    "last_event": { "type": ["string", "null"], "description": "Its last sign of life, in a few words." }, \
    "last_event_at": { "type": ["string", "null"], "format": "date-time", "description": "When that sign of life was; null: there was none yet." }, \
    "notice": { "type": ["string", "null"], "description": "What is in its way, as its client says: a rate limit." }, \
    "notice_until": { "type": ["string", "null"], "format": "date-time", "description": "When that will be over, as its client says; null: nobody said." })

#define USAGE_MEMBERS JSON(                                                                        \
    "input_tokens": { "type": "integer", "description": "Tokens that its models have read." },     \
    "output_tokens": { "type": "integer", "description": "Tokens that its models have written." }, \
    "cached_tokens": { "type": "integer", "description": "Of those read, how many came from a cache." }, \
    "cost_usd": { "type": "number", "description": "What it cost, in dollars." },                  \
    "models": { "type": ["object", "null"], "description": "The same by model; null: nobody said." })

#define SESSION_USAGE "\"usage\":" SHAPE(JSON("input_tokens", "output_tokens", "cached_tokens", "cost_usd"), USAGE_MEMBERS)

#define SESSION_MEMBERS SESSION_HEAD "," SESSION_CYCLE "," SESSION_HEARD "," SESSION_USAGE "," JSON( \
    "parent_session_id": { "type": ["string", "null"], "description": "The session that it is below; null: a root." }, \
    "parent_session_name": { "type": ["string", "null"], "description": "How people call that session; null: it is a root." }, \
    "root_session_id": { "type": "string", "description": "The root of its tree; of a root, itself." }, \
    "depth": { "type": "integer", "minimum": 1, "description": "How deep it stands in its tree: 1 for a root, 2 for what that started, and so on." }, \
    "agent_name": { "type": ["string", "null"], "description": "The agent whose role it has; null: none." }, \
    "profile": { "type": ["string", "null"], "description": "How its client is started; null: not from here." }, \
    "project_dir": { "type": ["string", "null"], "description": "The folder that it works in; null: wherever its runner does." }, \
    "pointers": { "type": ["array", "null"], "description": "Where in the state it may write; null: everywhere." }, \
    "attended": { "type": "boolean", "description": "Whether somebody runs its client outside of baton: then it is never resumed from here." }, \
    "project": { "type": ["string", "null"], "description": "The project that it is a member of, or works for; null: none." }, \
    "worktree": { "type": ["string", "null"], "description": "The top of the working tree that its client is in; null: nobody said." }, \
    "silent": { "type": "boolean", "description": "It is a member of which there was no sign for long." }, \
    "wake": { "type": "boolean", "description": "Whether its idle client may be woken." }, \
    "callback": { "type": "boolean", "description": "Its parent is told when it has settled." },   \
    "state_update_attempts": { "type": "integer", "description": "How often it was asked for its update in this cycle." }, \
    "run_id": { "type": ["string", "null"], "description": "The run that it is busy with." },      \
    "result_run_id": { "type": ["string", "null"], "description": "The run whose result is its own." }, \
    "client_id": { "type": ["string", "null"], "description": "What its client calls the conversation." }, \
    "hostname": { "type": ["string", "null"], "description": "The machine where its client keeps it." }, \
    "git": { "type": ["object", "null"], "description": "What was seen in its directory after its last turn." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was made." }, \
    "updated_at": { "type": "string", "format": "date-time", "description": "When it last changed." }, \
    "ended_at": { "type": ["string", "null"], "format": "date-time", "description": "When it ended; null: it has not." })

#define SESSION_SHAPE SHAPE(SESSION_HEAD_REQUIRED "," JSON("cycle", "usage", "parent_session_id",  \
    "parent_session_name", "root_session_id", "depth", "attended", "created_at", "updated_at", "ended_at"), SESSION_MEMBERS)

// clang-format on
#endif
