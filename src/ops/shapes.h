/* shapes.h: what answers about states and schemas look like. Private to ops/.
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

#define SHAPE_LIST(name, about, items) \
    "\"" name "\":{\"type\":\"array\",\"description\":\"" about "\",\"items\":" items "}"

#define SCHEMA_MEMBERS JSON(                                                                       \
    "schema_id": { "type": "string", "description": "Its id." },                                   \
    "name": { "type": "string", "description": "Its name." },                                      \
    "version": { "type": "integer", "minimum": 1, "description": "Its version; texts never change." }, \
    "description": { "type": "string", "description": "What it is for." },                         \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was registered." })

#define SCHEMA_SHAPE SHAPE(JSON("schema_id", "name", "version", "created_at", "json_schema"),      \
    SCHEMA_MEMBERS "," JSON("json_schema": { "type": ["object", "boolean"],                        \
        "description": "The JSON Schema itself." }))

#define ERRORS_MEMBER SHAPE_LIST("errors", "What does not fit, at most 50 of it.",                 \
    SHAPE(JSON("pointer", "keyword", "message"), JSON(                                             \
        "pointer": { "type": "string", "description": "Where in the data." },                      \
        "keyword": { "type": "string", "description": "Of the schema." },                          \
        "message": { "type": "string", "description": "What was expected and what was found." })))

#define STATE_MEMBERS JSON(                                                                        \
    "state_id": { "type": "string", "description": "Its id." },                                    \
    "schema_id": { "type": "string", "description": "The schema that it is bound to." },           \
    "schema_name": { "type": "string", "description": "The name of that schema." },                \
    "schema_version": { "type": "integer", "minimum": 1, "description": "The version of that schema." }, \
    "root_session_id": { "type": ["string", "null"],                                               \
        "description": "The session that it belongs to; null when the operator made it." },        \
    "root_session_name": { "type": ["string", "null"], "description": "The name of that session." }, \
    "version": { "type": "integer", "minimum": 1, "description": "Rises by one with every write." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was made." }, \
    "updated_at": { "type": "string", "format": "date-time", "description": "When it was last written." })

#define STATE_REQUIRED JSON("state_id", "schema_id", "schema_name", "schema_version", "version",   \
    "root_session_id", "root_session_name", "created_at", "updated_at")

#define STATE_DATA JSON("current_data": { "description": "The document." })

#define PATCH_MEMBER JSON("patch": { "type": "array", "items": { "type": "object" },               \
    "description": "A JSON Patch (RFC 6902)." })

// clang-format on
#endif
