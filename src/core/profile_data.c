/* profile_data.c: the profiles that come with the program, and what any profile must be. */
#include "core/profile_data.h"

/* JSON written as it is, readable here and exact there. */
#define JSON(...) #__VA_ARGS__

/* A file of profiles/ as bytes of the program. The build runs where that folder is. */
// clang-format off
#define PROFILE_FILE(name)                              \
    __asm__(".section .rodata\n"                        \
            "profile_" #name "_at:\n"                   \
            ".incbin \"profiles/" #name ".json\"\n"     \
            "profile_" #name "_end:\n"                  \
            ".byte 0\n"                                 \
            ".previous\n");                             \
    extern const char profile_##name##_at[], profile_##name##_end[];
// clang-format on

#define PROFILES(X) X(aider) X(claude) X(codex) X(gemini) X(kiro) X(opencode) X(scripted) X(shell)

PROFILES(PROFILE_FILE)

struct profile_built_in profile_built_in(size_t i)
{
#define PROFILE_ROW(name) { #name, profile_##name##_at, profile_##name##_end },
    static const struct {
        const char *name, *at, *end;
    } all[] = { PROFILES(PROFILE_ROW) };
#undef PROFILE_ROW

    if (i >= sizeof all / sizeof *all)
        return (struct profile_built_in){ NULL, STR("") };
    return (struct profile_built_in){ all[i].name,
                                      { all[i].at, (size_t)(all[i].end - all[i].at) } };
}

// clang-format off
const char profile_schema_text[] = JSON({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["name", "start"],
    "additionalProperties": false,
    "properties": {
        "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,60}$" },
        "description": { "type": "string", "maxLength": 1000 },
        "start": { "$ref": "#/$defs/argv" },
        "resume": { "$ref": "#/$defs/argv" },
        "options": {
            "type": "array", "maxItems": 32,
            "items": {
                "type": "object",
                "required": ["if"],
                "minProperties": 2,
                "additionalProperties": false,
                "properties": {
                    "if": { "$ref": "#/$defs/condition" },
                    "unless": { "$ref": "#/$defs/condition" },
                    "args": { "$ref": "#/$defs/argv" },
                    "env": { "$ref": "#/$defs/env" }
                }
            }
        },
        "prompt": { "enum": ["argument", "stdin", "file"] },
        "role": { "enum": ["option", "prompt"] },
        "client_id": { "enum": ["uuid", "stream", "none"] },
        "env": { "$ref": "#/$defs/env" },
        "unset": {
            "type": "array", "maxItems": 64,
            "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*[*]?$" }
        },
        "mcp": { "type": "object" },
        "output": {
            "type": "object",
            "required": ["format"],
            "additionalProperties": false,
            "properties": {
                "format": { "enum": ["jsonl", "text"] },
                "client_id": { "$ref": "#/$defs/rules" },
                "result": { "$ref": "#/$defs/rules" },
                "failed": { "$ref": "#/$defs/rules" },
                "heard": { "$ref": "#/$defs/rules" },
                "usage": {
                    "type": "array", "maxItems": 16,
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "properties": {
                            "where": { "$ref": "#/$defs/where" },
                            "add": { "enum": ["last", "sum"] },
                            "input": { "$ref": "#/$defs/pointer" },
                            "output": { "$ref": "#/$defs/pointer" },
                            "cached": { "$ref": "#/$defs/pointer" },
                            "cost_usd": { "$ref": "#/$defs/pointer" },
                            "models": { "$ref": "#/$defs/pointer" },
                            "whole": { "type": "array", "maxItems": 5,
                                       "items": { "enum": ["input_tokens", "output_tokens", "cached_tokens",
                                                           "cost_usd", "models"] } }
                        }
                    }
                }
            }
        },
        "exit": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "ok": { "type": "array", "maxItems": 256,
                        "items": { "type": "integer", "minimum": 0, "maximum": 255 } }
            }
        }
    },
    "$defs": {
        "condition": { "enum": ["model", "system_prompt", "tools", "mcp", "state", "read", "edit", "work"] },
        "env": {
            "type": "object", "maxProperties": 64,
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
            "additionalProperties": { "type": "string", "maxLength": 8192 }
        },
        "argv": { "type": "array", "minItems": 1, "maxItems": 256,
                  "items": { "type": "string", "maxLength": 65536 } },
        "pointer": { "type": "string", "pattern": "^(/([^~]|~[01])*)?$", "maxLength": 512 },
        "where": {
            "type": "object", "maxProperties": 16,
            "propertyNames": { "$ref": "#/$defs/pointer" },
            "additionalProperties": { "type": ["string", "number", "boolean", "null"] }
        },
        "rules": {
            "type": "array", "maxItems": 16,
            "items": {
                "type": "object",
                "required": ["at"],
                "additionalProperties": false,
                "properties": {
                    "where": { "$ref": "#/$defs/where" },
                    "at": { "$ref": "#/$defs/pointer" },
                    "add": { "enum": ["last", "join"] }
                }
            }
        }
    }
});
// clang-format on
