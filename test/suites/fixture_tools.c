/* fixture_tools.c: the suite's tools that answer at once. */
#include "suites/fixture.h"
#include "mcp/write.h"

/* One green pixel; a thousandth of a second of sound. */
const char fixture_png[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mPQqzUCAAG6AN76"
    "d2wkAAAAAElFTkSuQmCC";
const char fixture_wav[] =
    "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAyIA4gMiAOA==";

/* ---- content ---- */

static void write_field(struct json_writer *w, const char *name, const char *value)
{
    if (value)
        write_text(w, str_from(name), str_from(value));
}

void fixture_write_block(struct json_writer *w, const struct fixture_block *block)
{
    // clang-format off
    static const struct { const char *type, *holds; } looks[] = {
        [BLOCK_TEXT]     = { "text",     "text" },
        [BLOCK_IMAGE]    = { "image",    "data" },
        [BLOCK_AUDIO]    = { "audio",    "data" },
        [BLOCK_RESOURCE] = { "resource", "text" },
    };
    // clang-format on
    bool nested = block->kind == BLOCK_RESOURCE;

    json_write_begin(w, '{');
    write_field(w, "type", looks[block->kind].type);
    if (nested)
        write_begin(w, STR("resource"), '{');
    write_field(w, "uri", block->uri);
    write_field(w, "mimeType", block->mime);
    write_field(w, looks[block->kind].holds, block->text);
    if (nested)
        json_write_end(w, '}');
    json_write_end(w, '}');
}

static void answer_blocks(struct mcp_call *m, const struct fixture_tool *tool,
                          const struct json *arguments)
{
    struct json_writer *w = mcp_result_begin(m);

    (void)arguments;
    write_begin(w, STR("content"), '[');
    for (const struct fixture_block *b = tool->blocks; b->kind; b++)
        fixture_write_block(w, b);
    json_write_end(w, ']');
    mcp_result_end(m);
}

static void answer_error(struct mcp_call *m, const struct fixture_tool *tool,
                         const struct json *arguments)
{
    (void)arguments;
    tool_answer_text(m, str_from(tool->blocks->text), true);
}

/* ---- arguments ---- */

static void greet(struct mcp_call *m, const struct fixture_tool *tool, const struct json *arguments)
{
    (void)tool;
    tool_answer_text(
        m, arena_printf(m->arena, "Hello, " STR_FMT "!", STR_ARG(json_str(arguments, "name"))),
        false);
}

static void repeat_arguments(struct mcp_call *m, const struct fixture_tool *tool,
                             const struct json *arguments)
{
    (void)tool;
    tool_answer_text(m,
                     arena_printf(m->arena, "called with " STR_FMT,
                                  STR_ARG(json_printed(m->arena, arguments))),
                     false);
}

/* ---- lists that change ---- */

static void change_tools(struct mcp_call *m, const struct fixture_tool *tool,
                         const struct json *arguments)
{
    struct fixtures *f = fixtures_of(m);

    (void)tool, (void)arguments;
    f->extra_tool = !f->extra_tool;
    m->changed = "tools";
    tool_answer_text(m,
                     f->extra_tool ? STR("test_extra_tool is there now")
                                   : STR("test_extra_tool is gone"),
                     false);
}

static void change_prompts(struct mcp_call *m, const struct fixture_tool *tool,
                           const struct json *arguments)
{
    struct fixtures *f = fixtures_of(m);

    (void)tool, (void)arguments;
    f->extra_prompt = !f->extra_prompt;
    m->changed = "prompts";
    tool_answer_text(m,
                     f->extra_prompt ? STR("test_extra_prompt is there now")
                                     : STR("test_extra_prompt is gone"),
                     false);
}

/* ---- the table ---- */

// clang-format off
static const struct fixture_block
    simple_text[] = { { BLOCK_TEXT, "This is a simple text response for testing.", NULL, NULL }, { 0 } },
    image[]       = { { BLOCK_IMAGE, fixture_png, "image/png", NULL }, { 0 } },
    audio[]       = { { BLOCK_AUDIO, fixture_wav, "audio/wav", NULL }, { 0 } },
    embedded[]    = { { BLOCK_RESOURCE, "This is an embedded resource content.", "text/plain", "test://embedded-resource" }, { 0 } },
    mixed[]       = { { BLOCK_TEXT, "Multiple content types test:", NULL, NULL },
                      { BLOCK_IMAGE, fixture_png, "image/png", NULL },
                      { BLOCK_RESOURCE, "{\"test\":\"data\",\"value\":123}", "application/json", "test://mixed-content-resource" }, { 0 } },
    error[]       = { { BLOCK_TEXT, "This tool intentionally returns an error for testing", NULL, NULL }, { 0 } },
    extra[]       = { { BLOCK_TEXT, "I come and go.", NULL, NULL }, { 0 } };

#define GREET_INPUT JSON({                                                                         \
    "type": "object", "required": ["name"],                                                        \
    "properties": { "name": { "type": "string", "description": "Who is greeted." } } })

#define HEADERS_INPUT JSON({                                                                       \
    "type": "object", "required": ["region"],                                                      \
    "properties": {                                                                                \
        "region":  { "type": "string",  "x-mcp-header": "Region", "description": "Repeated in Mcp-Param-Region." },    \
        "attempt": { "type": "integer", "x-mcp-header": "Attempt", "description": "Repeated in Mcp-Param-Attempt." },  \
        "note":    { "type": "string", "description": "In the body alone." } } })

/* The suite looks for these keywords, and that they are told as they are written. */
#define SCHEMA_2020_12_INPUT JSON({                                                                \
    "$schema": "https://json-schema.org/draft/2020-12/schema",                                     \
    "type": "object",                                                                              \
    "$defs": {                                                                                     \
        "address": {                                                                               \
            "$anchor": "addressDef", "type": "object",                                             \
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } } } },    \
    "properties": {                                                                                \
        "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" },                    \
        "contactMethod": { "type": "string", "enum": ["phone", "email"] },                         \
        "phone": { "type": "string" }, "email": { "type": "string" } },                            \
    "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],                \
    "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] }, \
    "then": { "required": ["phone"] }, "else": { "required": ["email"] },                          \
    "additionalProperties": false })

static const struct fixture_tool tools[] = {
    /* The suite calls the first tool of the list without arguments. */
    { "test_simple_text", "Answers with a text.", NULL, ERA_BOTH, .call = answer_blocks, .blocks = simple_text },
    { "test_image_content", "Answers with a picture.", NULL, ERA_BOTH, .call = answer_blocks, .blocks = image },
    { "test_audio_content", "Answers with a sound.", NULL, ERA_BOTH, .call = answer_blocks, .blocks = audio },
    { "test_embedded_resource", "Answers with a resource.", NULL, ERA_BOTH, .call = answer_blocks, .blocks = embedded },
    { "test_multiple_content_types", "Answers with a text, a picture and a resource.", NULL, ERA_BOTH, .call = answer_blocks, .blocks = mixed },
    { "test_error_handling", "Always fails.", NULL, ERA_BOTH, .call = answer_error, .blocks = error },
    { "greet", "Greets somebody.", GREET_INPUT, ERA_BOTH, .call = greet },
    { "json_schema_2020_12_tool", "Has an input schema with keywords of JSON Schema 2020-12, and holds to it.", SCHEMA_2020_12_INPUT, ERA_BOTH, .call = repeat_arguments },
    { "test_custom_headers", "Has arguments that are repeated in the head of the request.", HEADERS_INPUT, ERA_BOTH, .call = repeat_arguments },
    { "test_trigger_tool_change", "Adds test_extra_tool to the tools, or takes it away.", NULL, ERA_BOTH, .call = change_tools },
    { "test_trigger_prompt_change", "Adds test_extra_prompt to the prompts, or takes it away.", NULL, ERA_BOTH, .call = change_prompts },
    { "test_extra_tool", "Is there when test_trigger_tool_change has added it.", NULL, ERA_BOTH, .extra = true, .call = answer_blocks, .blocks = extra },
};
// clang-format on

const struct fixture_tools fixture_plain_tools = { tools, sizeof tools / sizeof tools[0] };
