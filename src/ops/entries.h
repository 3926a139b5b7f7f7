/* entries.h: what operations on agents and on profiles share. Private to ops/.
 *
 * The two differ in what an entry must be, which core/agent.h knows; the handlers
 * tell them apart by the operation's noun. */
#ifndef OPS_ENTRIES_H
#define OPS_ENTRIES_H

#include "ops/shapes.h"

op_run entry_create_op, entry_list_op, entry_get_op, entry_update_op, entry_delete_op,
    entry_load_op;

// clang-format off
#define ENTRY_MERGE JSON("merge": { "type": "object",                                              \
    "description": "A merge patch (RFC 7396): members replace those of their name, null removes." })

#define ENTRY_ORIGIN JSON(                                                                         \
    "source": { "enum": ["api", "file", "built in", "project", "home", "data"], "description": "api: over the API; file: from a file of the server's directory; built in: it comes with the program. Of an agent that runners offer as a file of theirs: a project's, that of their user's home, or that of their data." }, \
    "created_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was registered; null: it was not." }, \
    "updated_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was last changed; null: it was not registered." })

#define ENTRY_LOAD FIELDS(JSON("entries"), JSON("entries": { "type": "array", "maxItems": 1000, \
    "description": "All that there are in files, each with its name.",                             \
    "items": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } } }, \
    "drop": { "type": "boolean", "description": "Whether others that came from files go (true)." }))

#define ENTRY_LOADED SHAPE(JSON("kept", "dropped", "refused"), JSON(                               \
    "kept": { "type": "integer", "description": "How many of them are there now." },               \
    "dropped": { "type": "integer", "description": "How many went because their file did." }) ","  \
    SHAPE_LIST("refused", "Those that are not what they must be.", SHAPE(JSON("name", "error"), JSON( \
        "name": { "type": "string", "description": "The name that its file gave it." },            \
        "error": { "type": "string", "description": "Why it was not taken, in words for people." }))))
// clang-format on

#endif
