/* states.c: the table of operations on states. */
#include "ops/states.h"

#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"

// clang-format off

/* Fields that several operations take. */
#define STATE_ID JSON("state_id": { "type": "string", "description": "The state." })
#define EXPECTED JSON("expected_version": { "type": "integer", "minimum": 1, \
    "description": "Refuse unless this version is the current one." })
#define TOUCH JSON("touch": { "type": "boolean", \
    "description": "Make a version also when nothing changes: it records on purpose that all stays as it is." })
#define REPRESENTATION JSON("representation": { "type": "boolean", \
    "description": "Answer with the whole document, too." })

/* What a write answers. */
#define UNCHANGED JSON("unchanged": { "type": "boolean", \
    "description": "True: the document was so already, so nothing was written and the version is what it was. It is not there otherwise." })
#define WRITTEN SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," UNCHANGED)

#define AUTHOR JSON( \
    "time": { "type": "string", "format": "date-time", "description": "When it was written." }, \
    "actor": { "type": "string", "description": "Who wrote it." }, \
    "session_id": { "type": ["string", "null"], "description": "The session that wrote it; null: none did." })

static const struct op ops[] = {
    {
        .name = "state.list", .http = "GET /workflow-states", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List states by id, without their data.",
        .input = FIELDS("", JSON(
            "root_session": { "type": "string", "description": "Only those that belong to this session." },
            "schema": { "type": "string", "description": "Only those bound to a version of this schema." },
            "active": { "type": "boolean", "description": "True: only those whose root session is live." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("states"), SHAPE_LIST("states", "A page of them.", SHAPE(STATE_REQUIRED, STATE_MEMBERS)) "," PAGE_NEXT),
        .run = state_list_op,
    },
    {
        .name = "state.create", .http = "POST /workflow-states", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Create a state bound to a schema.",
        .hint = "Create the state that you will share with the agents you start: once, before starting them. They inherit it.",
        .input = FIELDS(JSON("schema_name", "initial_data"), JSON(
            "schema_name": { "type": "string", "description": "A registered schema." },
            "initial_data": { "description": "The document; it must fit the schema." },
            "schema_version": { "type": "integer", "minimum": 1,
                "description": "The version of the schema; the newest unless it is given." },
            "root_session": { "type": "string",
                "description": "The session that it belongs to; a session's own state always belongs to itself." }) ","
            REPRESENTATION),
        .tier = TIER_ROOT,
        .shows = JSON({ "schema_name": "A registered schema", "initial_data": "Must fit the schema", "schema_version": "Default: the newest" }),
        .tells = JSON({ "state_id": true, "version": true, "schema_name": true, "schema_version": true }),
        .output = WRITTEN, .run = state_create_op,
    },
    {
        .name = "state.read", .http = "GET /workflow-states/{state_id}", .wait = true, .peek = true,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS, .implied = "state_id",
        .summary = "Read a state: all of it, a part, an older version, or what changed since one.",
        .hint = "Read the shared state before you plan or write. Ask for a part by pointer or query if you need no more; with wait_version, wait for others to write.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," JSON(
            "pointer": { "type": "string", "description": "Only the value at this JSON Pointer, like /tasks/0." },
            "query": { "type": "string", "description": "Only what this JSONPath query matches, like $.tasks[?@.status=='done']." },
            "version": { "type": "integer", "minimum": 1, "description": "As it was at this version." },
            "since_version": { "type": "integer", "minimum": 1,
                "description": "Instead of the data, the JSON Patch from this version to the current one." },
            "wait_version": { "type": "integer", "minimum": 1,
                "description": "Wait until it has this version; when the time is up, answer as it is." },
            "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 30,
                "description": "How many seconds to wait at most." },
            "max_chars": { "type": "integer", "minimum": 1000,
                "description": "Show no more characters of the data than this: parts that do not fit are left out and listed." })),
        .shows = JSON({
            "pointer": "Only this part, like /tasks/0",
            "query": "Only what a JSONPath matches: $.tasks[?@.status=='open']",
            "since_version": "Only the patch since this version",
            "version": "As it was then",
            "wait_version": "Wait for this version",
            "timeout": "Seconds to wait",
            "max_chars": "Default 8000; larger parts are cut and listed",
            "state_id": "" }),
        .tells = JSON({ "state_id": true, "version": true, "current_data": true, "value": true,
            "matches": true, "patch": true, "truncated": true,
            "cut_count": true, "cut": true, "hint": true }),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," PATCH_MEMBER "," JSON(
            "truncated": { "type": "boolean", "description": "Not all that was asked for is here: what is here is whole." },
            "cut_count": { "type": "integer", "description": "How many parts were left out." },
            "hint": { "type": "string", "description": "How to get what was left out." }) ","
            SHAPE_LIST("cut", "What was left out, as far as there is room to say it.", SHAPE(JSON("pointer", "kind", "chars"), JSON(
                "pointer": { "type": "string", "description": "Where in the document, as a JSON Pointer." },
                "kind": { "type": "string", "description": "What it is: an object, an array …; or the patch." },
                "length": { "type": "integer", "description": "How many members, elements or characters it has." },
                "chars": { "type": "integer", "description": "How many characters its text has." }))) "," JSON(
            "from_version": { "type": "integer", "description": "The version that the patch begins at." },
            "pointer": { "type": "string", "description": "The pointer that was asked for." },
            "value": { "description": "What is at the pointer." }) ","
            SHAPE_LIST("matches", "What the query matches.", SHAPE(JSON("pointer", "value"), JSON(
                "pointer": { "type": "string", "description": "Where in the document, as a JSON Pointer." },
                "value": { "description": "What is there." })))),
        .run = state_read_op,
    },
    {
        .name = "state.update", .http = "PUT /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .implied = "state_id",
        .summary = "Replace a state's data; refused unless it fits the schema.",
        .hint = "Replace the whole shared state. What you leave out is gone, also what others wrote: to change a part, use state_patch.",
        .input = FIELDS(JSON("state_id", "data"), STATE_ID "," JSON(
            "data": { "description": "The whole new document." },
            "max_chars": { "type": "integer", "minimum": 1,
                "description": "Of who reads no more characters at once: without expected_version, refuse to replace a document that has more." }) ","
            EXPECTED "," TOUCH "," REPRESENTATION),
        .shows = JSON({ "data": "All of the new document", "expected_version": "Refuse if it is not current",
            "state_id": "" }),
        .tells = JSON({ "state_id": true, "version": true, "dropped": true, "unchanged": true }),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," UNCHANGED "," JSON(
            "dropped": { "type": "object", "required": ["count", "pointers"],
                "description": "A warning: members of the old document that the new one does not have any more.",
                "properties": {
                    "count": { "type": "integer", "description": "How many they are." },
                    "pointers": { "type": "array", "items": { "type": "string" },
                        "description": "Where the first 20 of them were." } } })),
        .run = state_update_op,
    },
    {
        .name = "state.patch", .http = "PATCH /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .implied = "state_id",
        .bodies = { { "application/json-patch+json", "operations" },
                    { "application/merge-patch+json", "merge" } },
        .summary = "Apply a JSON Patch or a merge patch; refused unless the result fits the schema.",
        .hint = "Record your progress and results in the shared state; the rest of it stays. Append to a list with the path /list/-.",
        .input = JSON({
            "type": "object", "required": ["state_id"], "additionalProperties": false,
            "oneOf": [ { "required": ["operations"] }, { "required": ["merge"] } ],
            "properties": {
                "state_id": { "type": "string", "description": "The state." },
                "operations": { "type": "array", "description": "JSON Patch operations (RFC 6902), applied all or none." },
                "merge": { "description": "A merge patch (RFC 7396): members replace those of their name, null removes." },
                "expected_version": { "type": "integer", "minimum": 1,
                    "description": "Refuse unless this version is the current one." },
                "touch": { "type": "boolean",
                    "description": "Make a version also when nothing changes: it records on purpose that all stays as it is." },
                "representation": { "type": "boolean", "description": "Answer with the whole document, too." } } }),
        .shows = JSON({
            "operations": "JSON Patch: [{op, path, value}], all or none",
            "merge": "Or a merge patch: null removes",
            "expected_version": "Refuse if it is not current",
            "touch": "A version though nothing changes",
            "representation": "Answer the document, too",
            "state_id": "" }),
        .tells = JSON({ "state_id": true, "version": true, "current_data": true, "unchanged": true }),
        .output = WRITTEN, .run = state_patch_op,
    },
    {
        .name = "state.delete", .http = "DELETE /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete a state; its history goes with it a day later.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," EXPECTED),
        .output = SHAPE("", ""), .run = state_delete_op,
    },
    {
        .name = "state.history", .http = "GET /workflow-states/{state_id}/history",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List the versions of a state, the newest first, with who wrote them, when, and the patch.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," JSON(
            "after": { "type": "integer", "minimum": 1,
                "description": "Begin after this version, with the one before it: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("versions"), SHAPE_LIST("versions", "A page of them.",
            SHAPE(JSON("version", "seq", "type", "time", "actor", "session_id", "patch"), JSON(
                "version": { "type": "integer", "description": "The version." },
                "seq": { "type": "integer", "description": "The number of its event." },
                "type": { "type": "string", "description": "The type of its event: it was created, updated or migrated." },
                "touch": { "type": "boolean", "description": "True: it changed nothing, on purpose. It is not there otherwise." }) ","
                AUTHOR "," PATCH_MEMBER)) "," PAGE_NEXT_NUMBER),
        .run = state_history_op,
    },
    {
        .name = "state.diff", .http = "GET /workflow-states/{state_id}/diff",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show the patch from one version of a state to another.",
        .input = FIELDS(JSON("state_id", "from"), STATE_ID "," JSON(
            "from": { "type": "integer", "minimum": 1, "description": "The version that the patch begins at." },
            "to": { "type": "integer", "minimum": 1, "description": "The version that it leads to; the current one unless it is given." })),
        .output = SHAPE(JSON("state_id", "from", "to", "patch"), STATE_ID "," JSON(
            "from": { "type": "integer", "description": "The version that the patch begins at." },
            "to": { "type": "integer", "description": "The version that it leads to." }) "," PATCH_MEMBER),
        .run = state_diff_op,
    },
    {
        .name = "state.blame", .http = "GET /workflow-states/{state_id}/blame",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Say who wrote a value, and each member or element of it, last.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," JSON(
            "pointer": { "type": "string", "description": "The value, as a JSON Pointer; the whole document unless it is given." })),
        .output = SHAPE(JSON("state_id", "version", "entries", "truncated"), STATE_ID "," JSON(
            "version": { "type": "integer", "description": "The current version." },
            "truncated": { "type": "boolean", "description": "There are more members or elements than are shown." }) ","
            SHAPE_LIST("entries", "The value itself, then what is directly in it.", SHAPE(JSON("pointer", "version"), JSON(
                "pointer": { "type": "string", "description": "Where it is now." },
                "version": { "type": ["integer", "null"], "description": "The version that wrote it; null: it is older than the history." },
                "before": { "type": "integer", "description": "When the version is null: it was written before this one." }) ","
                AUTHOR))),
        .run = state_blame_op,
    },
    {
        .name = "state.rollback", .http = "POST /workflow-states/{state_id}/rollback", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Make a new version with the content of an older one, unless that is what it has.",
        .input = FIELDS(JSON("state_id", "version"), STATE_ID "," JSON(
            "version": { "type": "integer", "minimum": 1, "description": "The older version." }) ","
            EXPECTED "," REPRESENTATION),
        .output = WRITTEN, .run = state_rollback_op,
    },
    {
        .name = "state.migrate", .http = "POST /workflow-states/{state_id}/migrate", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Bind a state to another version of its schema, after changing it so that it fits.",
        .input = FIELDS(JSON("state_id", "schema_version"), STATE_ID "," JSON(
            "schema_version": { "type": "integer", "minimum": 1, "description": "The version of its schema to bind it to." },
            "operations": { "type": "array", "description": "JSON Patch operations that are applied first." },
            "dry_run": { "type": "boolean", "description": "Only say whether the result would fit, and what it would be." }) ","
            EXPECTED "," REPRESENTATION),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," JSON(
            "valid": { "type": "boolean", "description": "Of a dry run: the result would fit." },
            "would_be": { "description": "Of a dry run: the document as it would be." }) "," UNCHANGED "," ERRORS_MEMBER),
        .run = state_migrate_op,
    },
    {
        .name = "state.schema", .http = "GET /workflow-states/{state_id}/schema",
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS, .implied = "state_id",
        .summary = "Show the schema that a state is bound to.",
        .hint = "Show what the shared state may hold. Use it before writing a part that you have not seen, or after a write was refused.",
        .input = FIELDS(JSON("state_id"), STATE_ID),
        .shows = JSON({ "state_id": "" }),
        .tells = JSON({ "name": true, "version": true, "json_schema": true }),
        .output = SCHEMA_SHAPE, .run = state_schema_op,
    },
};
// clang-format on

const struct op_list state_ops = { ops, sizeof ops / sizeof *ops };
