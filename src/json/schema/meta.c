/* meta.c: the meta-schemas of draft-07, 2019-09 and 2020-12.
 *
 * They are the texts that the JSON Schema specification publishes under these
 * addresses, without what has no effect on validation (titles, comments,
 * defaults, marks of deprecation). They were shortened by us; the originals are
 * Copyright (c) 2022 JSON Schema Specification Authors, to be used under the
 * BSD 3-Clause License or the Academic Free License 3.0, as one likes. */
#include "json/schema/program.h"
#include "json/uri.h"

/* JSON written as it is, readable here and exact there. */
#define JSON(...) #__VA_ARGS__

// clang-format off

/* The meta-schema of one vocabulary: what all of a draft begin with, and the members of its own. */
#define META(draft, anchor, name, members)                                      \
    { draft "meta/" name, "{\"$schema\":\"" draft "schema\","                   \
                          "\"$id\":\"" draft "meta/" name "\","                 \
                          "\"$vocabulary\":{\"" draft "vocab/" name "\":true}," \
                          anchor ",\"type\":[\"object\",\"boolean\"]," members "}" }
#define META_2019(name, members) \
    META("https://json-schema.org/draft/2019-09/", JSON("$recursiveAnchor": true), name, members)
#define META_2020(name, members) \
    META("https://json-schema.org/draft/2020-12/", JSON("$dynamicAnchor": "meta"), name, members)

/* Vocabularies that are the same in both drafts. */
#define VALIDATION JSON(                                                                  \
    "properties": {                                                                       \
        "multipleOf": { "type": "number", "exclusiveMinimum": 0 },                        \
        "maximum": { "type": "number" },                                                  \
        "exclusiveMaximum": { "type": "number" },                                         \
        "minimum": { "type": "number" },                                                  \
        "exclusiveMinimum": { "type": "number" },                                         \
        "maxLength": { "$ref": "#/$defs/nonNegativeInteger" },                            \
        "minLength": { "$ref": "#/$defs/nonNegativeIntegerDefault0" },                    \
        "pattern": { "type": "string", "format": "regex" },                               \
        "maxItems": { "$ref": "#/$defs/nonNegativeInteger" },                             \
        "minItems": { "$ref": "#/$defs/nonNegativeIntegerDefault0" },                     \
        "uniqueItems": { "type": "boolean" },                                             \
        "maxContains": { "$ref": "#/$defs/nonNegativeInteger" },                          \
        "minContains": { "$ref": "#/$defs/nonNegativeInteger" },                          \
        "maxProperties": { "$ref": "#/$defs/nonNegativeInteger" },                        \
        "minProperties": { "$ref": "#/$defs/nonNegativeIntegerDefault0" },                \
        "required": { "$ref": "#/$defs/stringArray" },                                    \
        "dependentRequired": {                                                            \
            "type": "object",                                                             \
            "additionalProperties": { "$ref": "#/$defs/stringArray" }                     \
        },                                                                                \
        "const": true,                                                                    \
        "enum": { "type": "array", "items": true },                                       \
        "type": {                                                                         \
            "anyOf": [                                                                    \
                { "$ref": "#/$defs/simpleTypes" },                                        \
                {                                                                         \
                    "type": "array",                                                      \
                    "items": { "$ref": "#/$defs/simpleTypes" },                           \
                    "minItems": 1,                                                        \
                    "uniqueItems": true                                                   \
                }                                                                         \
            ]                                                                             \
        }                                                                                 \
    },                                                                                    \
    "$defs": {                                                                            \
        "nonNegativeInteger": { "type": "integer", "minimum": 0 },                        \
        "nonNegativeIntegerDefault0": { "$ref": "#/$defs/nonNegativeInteger" },           \
        "simpleTypes": {                                                                  \
            "enum": ["array", "boolean", "integer", "null", "number", "object", "string"] \
        },                                                                                \
        "stringArray": {                                                                  \
            "type": "array",                                                              \
            "items": { "type": "string" },                                                \
            "uniqueItems": true                                                           \
        }                                                                                 \
    })

#define META_DATA JSON(                                \
    "properties": {                                    \
        "title": { "type": "string" },                 \
        "description": { "type": "string" },           \
        "default": true,                               \
        "deprecated": { "type": "boolean" },           \
        "readOnly": { "type": "boolean" },             \
        "writeOnly": { "type": "boolean" },            \
        "examples": { "type": "array", "items": true } \
    })

#define FORMAT JSON("properties": { "format": { "type": "string" } })

static const struct meta_schema {
    const char *uri, *text;
} meta_schemas[] = {
    { "http://json-schema.org/draft-07/schema", JSON({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "http://json-schema.org/draft-07/schema#",
        "definitions": {
            "schemaArray": { "type": "array", "minItems": 1, "items": { "$ref": "#" } },
            "nonNegativeInteger": { "type": "integer", "minimum": 0 },
            "nonNegativeIntegerDefault0": {
                "allOf": [{ "$ref": "#/definitions/nonNegativeInteger" }, {}]
            },
            "simpleTypes": {
                "enum": ["array", "boolean", "integer", "null", "number", "object", "string"]
            },
            "stringArray": {
                "type": "array",
                "items": { "type": "string" },
                "uniqueItems": true
            }
        },
        "type": ["object", "boolean"],
        "properties": {
            "$id": { "type": "string", "format": "uri-reference" },
            "$schema": { "type": "string", "format": "uri" },
            "$ref": { "type": "string", "format": "uri-reference" },
            "$comment": { "type": "string" },
            "title": { "type": "string" },
            "description": { "type": "string" },
            "default": true,
            "readOnly": { "type": "boolean" },
            "examples": { "type": "array", "items": true },
            "multipleOf": { "type": "number", "exclusiveMinimum": 0 },
            "maximum": { "type": "number" },
            "exclusiveMaximum": { "type": "number" },
            "minimum": { "type": "number" },
            "exclusiveMinimum": { "type": "number" },
            "maxLength": { "$ref": "#/definitions/nonNegativeInteger" },
            "minLength": { "$ref": "#/definitions/nonNegativeIntegerDefault0" },
            "pattern": { "type": "string", "format": "regex" },
            "additionalItems": { "$ref": "#" },
            "items": { "anyOf": [{ "$ref": "#" }, { "$ref": "#/definitions/schemaArray" }] },
            "maxItems": { "$ref": "#/definitions/nonNegativeInteger" },
            "minItems": { "$ref": "#/definitions/nonNegativeIntegerDefault0" },
            "uniqueItems": { "type": "boolean" },
            "contains": { "$ref": "#" },
            "maxProperties": { "$ref": "#/definitions/nonNegativeInteger" },
            "minProperties": { "$ref": "#/definitions/nonNegativeIntegerDefault0" },
            "required": { "$ref": "#/definitions/stringArray" },
            "additionalProperties": { "$ref": "#" },
            "definitions": { "type": "object", "additionalProperties": { "$ref": "#" } },
            "properties": { "type": "object", "additionalProperties": { "$ref": "#" } },
            "patternProperties": {
                "type": "object",
                "additionalProperties": { "$ref": "#" },
                "propertyNames": { "format": "regex" }
            },
            "dependencies": {
                "type": "object",
                "additionalProperties": {
                    "anyOf": [{ "$ref": "#" }, { "$ref": "#/definitions/stringArray" }]
                }
            },
            "propertyNames": { "$ref": "#" },
            "const": true,
            "enum": { "type": "array", "items": true },
            "type": {
                "anyOf": [
                    { "$ref": "#/definitions/simpleTypes" },
                    {
                        "type": "array",
                        "items": { "$ref": "#/definitions/simpleTypes" },
                        "minItems": 1,
                        "uniqueItems": true
                    }
                ]
            },
            "format": { "type": "string" },
            "contentMediaType": { "type": "string" },
            "contentEncoding": { "type": "string" },
            "if": { "$ref": "#" },
            "then": { "$ref": "#" },
            "else": { "$ref": "#" },
            "allOf": { "$ref": "#/definitions/schemaArray" },
            "anyOf": { "$ref": "#/definitions/schemaArray" },
            "oneOf": { "$ref": "#/definitions/schemaArray" },
            "not": { "$ref": "#" }
        }
    }) },
    { "https://json-schema.org/draft/2019-09/schema", JSON({
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "https://json-schema.org/draft/2019-09/schema",
        "$vocabulary": {
            "https://json-schema.org/draft/2019-09/vocab/core": true,
            "https://json-schema.org/draft/2019-09/vocab/applicator": true,
            "https://json-schema.org/draft/2019-09/vocab/validation": true,
            "https://json-schema.org/draft/2019-09/vocab/meta-data": true,
            "https://json-schema.org/draft/2019-09/vocab/format": false,
            "https://json-schema.org/draft/2019-09/vocab/content": true
        },
        "$recursiveAnchor": true,
        "allOf": [
            { "$ref": "meta/core" },
            { "$ref": "meta/applicator" },
            { "$ref": "meta/validation" },
            { "$ref": "meta/meta-data" },
            { "$ref": "meta/format" },
            { "$ref": "meta/content" }
        ],
        "type": ["object", "boolean"],
        "properties": {
            "definitions": {
                "type": "object",
                "additionalProperties": { "$recursiveRef": "#" }
            },
            "dependencies": {
                "type": "object",
                "additionalProperties": {
                    "anyOf": [
                        { "$recursiveRef": "#" },
                        { "$ref": "meta/validation#/$defs/stringArray" }
                    ]
                }
            }
        }
    }) },
    META_2019("core", JSON(
        "properties": {
            "$id": { "type": "string", "format": "uri-reference", "pattern": "^[^#]*#?$" },
            "$schema": { "type": "string", "format": "uri" },
            "$anchor": { "type": "string", "pattern": "^[A-Za-z][-A-Za-z0-9.:_]*$" },
            "$ref": { "type": "string", "format": "uri-reference" },
            "$recursiveRef": { "type": "string", "format": "uri-reference" },
            "$recursiveAnchor": { "type": "boolean" },
            "$vocabulary": {
                "type": "object",
                "propertyNames": { "type": "string", "format": "uri" },
                "additionalProperties": { "type": "boolean" }
            },
            "$comment": { "type": "string" },
            "$defs": { "type": "object", "additionalProperties": { "$recursiveRef": "#" } }
        }
    )),
    META_2019("applicator", JSON(
        "properties": {
            "additionalItems": { "$recursiveRef": "#" },
            "unevaluatedItems": { "$recursiveRef": "#" },
            "items": {
                "anyOf": [{ "$recursiveRef": "#" }, { "$ref": "#/$defs/schemaArray" }]
            },
            "contains": { "$recursiveRef": "#" },
            "additionalProperties": { "$recursiveRef": "#" },
            "unevaluatedProperties": { "$recursiveRef": "#" },
            "properties": {
                "type": "object",
                "additionalProperties": { "$recursiveRef": "#" }
            },
            "patternProperties": {
                "type": "object",
                "additionalProperties": { "$recursiveRef": "#" },
                "propertyNames": { "format": "regex" }
            },
            "dependentSchemas": {
                "type": "object",
                "additionalProperties": { "$recursiveRef": "#" }
            },
            "propertyNames": { "$recursiveRef": "#" },
            "if": { "$recursiveRef": "#" },
            "then": { "$recursiveRef": "#" },
            "else": { "$recursiveRef": "#" },
            "allOf": { "$ref": "#/$defs/schemaArray" },
            "anyOf": { "$ref": "#/$defs/schemaArray" },
            "oneOf": { "$ref": "#/$defs/schemaArray" },
            "not": { "$recursiveRef": "#" }
        },
        "$defs": {
            "schemaArray": {
                "type": "array",
                "minItems": 1,
                "items": { "$recursiveRef": "#" }
            }
        }
    )),
    META_2019("validation", VALIDATION),
    META_2019("meta-data", META_DATA),
    META_2019("format", FORMAT),
    META_2019("content", JSON(
        "properties": {
            "contentMediaType": { "type": "string" },
            "contentEncoding": { "type": "string" },
            "contentSchema": { "$recursiveRef": "#" }
        }
    )),
    { "https://json-schema.org/draft/2020-12/schema", JSON({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://json-schema.org/draft/2020-12/schema",
        "$vocabulary": {
            "https://json-schema.org/draft/2020-12/vocab/core": true,
            "https://json-schema.org/draft/2020-12/vocab/applicator": true,
            "https://json-schema.org/draft/2020-12/vocab/unevaluated": true,
            "https://json-schema.org/draft/2020-12/vocab/validation": true,
            "https://json-schema.org/draft/2020-12/vocab/meta-data": true,
            "https://json-schema.org/draft/2020-12/vocab/format-annotation": true,
            "https://json-schema.org/draft/2020-12/vocab/content": true
        },
        "$dynamicAnchor": "meta",
        "allOf": [
            { "$ref": "meta/core" },
            { "$ref": "meta/applicator" },
            { "$ref": "meta/unevaluated" },
            { "$ref": "meta/validation" },
            { "$ref": "meta/meta-data" },
            { "$ref": "meta/format-annotation" },
            { "$ref": "meta/content" }
        ],
        "type": ["object", "boolean"],
        "properties": {
            "definitions": {
                "type": "object",
                "additionalProperties": { "$dynamicRef": "#meta" }
            },
            "dependencies": {
                "type": "object",
                "additionalProperties": {
                    "anyOf": [
                        { "$dynamicRef": "#meta" },
                        { "$ref": "meta/validation#/$defs/stringArray" }
                    ]
                }
            },
            "$recursiveAnchor": { "$ref": "meta/core#/$defs/anchorString" },
            "$recursiveRef": { "$ref": "meta/core#/$defs/uriReferenceString" }
        }
    }) },
    META_2020("core", JSON(
        "properties": {
            "$id": { "$ref": "#/$defs/uriReferenceString", "pattern": "^[^#]*#?$" },
            "$schema": { "$ref": "#/$defs/uriString" },
            "$ref": { "$ref": "#/$defs/uriReferenceString" },
            "$anchor": { "$ref": "#/$defs/anchorString" },
            "$dynamicRef": { "$ref": "#/$defs/uriReferenceString" },
            "$dynamicAnchor": { "$ref": "#/$defs/anchorString" },
            "$vocabulary": {
                "type": "object",
                "propertyNames": { "$ref": "#/$defs/uriString" },
                "additionalProperties": { "type": "boolean" }
            },
            "$comment": { "type": "string" },
            "$defs": { "type": "object", "additionalProperties": { "$dynamicRef": "#meta" } }
        },
        "$defs": {
            "anchorString": { "type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$" },
            "uriString": { "type": "string", "format": "uri" },
            "uriReferenceString": { "type": "string", "format": "uri-reference" }
        }
    )),
    META_2020("applicator", JSON(
        "properties": {
            "prefixItems": { "$ref": "#/$defs/schemaArray" },
            "items": { "$dynamicRef": "#meta" },
            "contains": { "$dynamicRef": "#meta" },
            "additionalProperties": { "$dynamicRef": "#meta" },
            "properties": {
                "type": "object",
                "additionalProperties": { "$dynamicRef": "#meta" }
            },
            "patternProperties": {
                "type": "object",
                "additionalProperties": { "$dynamicRef": "#meta" },
                "propertyNames": { "format": "regex" }
            },
            "dependentSchemas": {
                "type": "object",
                "additionalProperties": { "$dynamicRef": "#meta" }
            },
            "propertyNames": { "$dynamicRef": "#meta" },
            "if": { "$dynamicRef": "#meta" },
            "then": { "$dynamicRef": "#meta" },
            "else": { "$dynamicRef": "#meta" },
            "allOf": { "$ref": "#/$defs/schemaArray" },
            "anyOf": { "$ref": "#/$defs/schemaArray" },
            "oneOf": { "$ref": "#/$defs/schemaArray" },
            "not": { "$dynamicRef": "#meta" }
        },
        "$defs": {
            "schemaArray": {
                "type": "array",
                "minItems": 1,
                "items": { "$dynamicRef": "#meta" }
            }
        }
    )),
    META_2020("unevaluated", JSON(
        "properties": {
            "unevaluatedItems": { "$dynamicRef": "#meta" },
            "unevaluatedProperties": { "$dynamicRef": "#meta" }
        }
    )),
    META_2020("validation", VALIDATION),
    META_2020("meta-data", META_DATA),
    META_2020("format-annotation", FORMAT),
    META_2020("format-assertion", FORMAT),
    META_2020("content", JSON(
        "properties": {
            "contentEncoding": { "type": "string" },
            "contentMediaType": { "type": "string" },
            "contentSchema": { "$dynamicRef": "#meta" }
        }
    )),
};
// clang-format on

static const struct meta_schema *meta_find(str uri)
{
    uri = uri_without_empty_fragment(uri);
    for (size_t i = 0; i < sizeof(meta_schemas) / sizeof(meta_schemas[0]); i++)
        if (uri_is_twin(uri, str_from(meta_schemas[i].uri)))
            return &meta_schemas[i];
    return NULL;
}

str schema_meta_text(str uri)
{
    const struct meta_schema *found = meta_find(uri);

    return found ? str_from(found->text) : STR("");
}

str schema_meta_uri(str uri)
{
    const struct meta_schema *found = meta_find(uri);

    return found ? str_from(found->uri) : uri;
}
