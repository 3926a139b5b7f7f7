/* agent_check.c: what an agent and a profile must be.
 *
 * A profile's {words} each stand for one whole argument, so that no prompt can add an
 * option or become a part of a shell's program. What stands for nothing, or stands
 * within a longer text, is refused here, where whoever wrote it still looks. */
#include "core/agent_private.h"
#include "core/profile_data.h"
#include "json/schema/schema.h"
#include "json/write.h"

enum { ENTRY_BYTES_MAX = 256 << 10 };

#define JSON(...) #__VA_ARGS__

// clang-format off
static const char agent_schema_text[] = JSON({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["name"],
    "additionalProperties": false,
    "properties": {
        "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,60}$" },
        "description": { "type": "string", "maxLength": 10000 },
        "profile": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,60}$" },
        "system_prompt": { "type": "string", "maxLength": 100000 },
        "initial_prompt": { "type": "string", "maxLength": 100000 },
        "model": { "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^-]" },
        "tools": { "type": "array", "maxItems": 256,
                   "items": { "type": "string", "minLength": 1, "maxLength": 500 } },
        "permissions": { "enum": ["read", "edit", "work"] },
        "ask": { "type": "array", "maxItems": 256,
                 "items": { "type": "string", "minLength": 1, "maxLength": 500 } },
        "started_by": { "type": "array", "maxItems": 64,
                        "items": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,100}$" } },
        "mcp_servers": { "type": "object", "maxProperties": 64,
                         "additionalProperties": { "type": "object" } },
        "tags": { "type": "array", "maxItems": 64,
                  "items": { "type": "string", "minLength": 1, "maxLength": 100 } },
        "args": { "type": "array", "minItems": 1, "maxItems": 256,
                  "items": { "type": "string", "maxLength": 65536 } }
    }
});
// clang-format on

err entry_unfit(struct arena *a, str pointer, const char *keyword, str message)
{
    struct buf members = buf_in(a);
    struct json_writer w = json_writer_to(&members);
    err e = err_new(a, ERR_UNFIT, STR_FMT ": " STR_FMT, STR_ARG(pointer), STR_ARG(message));

    buf_add(&members, STR("\"errors\":"));
    json_write_begin(&w, '[');
    json_write_begin(&w, '{');
    write_text(&w, STR("pointer"), pointer);
    write_text(&w, STR("keyword"), str_from(keyword));
    write_text(&w, STR("message"), message);
    json_write_end(&w, '}');
    json_write_end(&w, ']');
    return err_with(a, e, buf_str(&members));
}

/* ---- words ---- */

enum place { IN_COMMAND = 1, IN_OPTION = 2, IN_ENV = 4, ANYWHERE = 7 };

/* What the runner knows a value for; where else than in the named places, it stands for nothing. */
static const struct {
    const char *word;
    unsigned places;
} words[] = {
    { "{prompt}", ANYWHERE },     { "{prompt_file}", ANYWHERE },   { "{client_id}", ANYWHERE },
    { "{model}", ANYWHERE },      { "{system_prompt}", ANYWHERE }, { "{tools}", ANYWHERE },
    { "{mcp_file}", ANYWHERE },   { "{project_dir}", ANYWHERE },   { "{session_name}", ANYWHERE },
    { "{state_file}", ANYWHERE }, { "{baton}", ANYWHERE },         { "{runner_dir}", ANYWHERE },
    { "{tool_names}", ANYWHERE }, { "{mcp_tools}", ANYWHERE },     { "{args}", IN_COMMAND },
    { "{options}", IN_COMMAND },
};

enum { WORDS = sizeof words / sizeof *words };

/* The first {word} of a text, by its look. ${word} is a variable of somebody else. */
static bool word_next(str text, size_t *from, str *word)
{
    for (size_t i = *from; i < text.len; i++) {
        size_t end = i + 1;
        if (text.at[i] != '{')
            continue;
        while (end < text.len &&
               ((text.at[end] >= 'a' && text.at[end] <= 'z') || text.at[end] == '_'))
            end++;
        if (end == text.len || text.at[end] != '}' || end == i + 1 ||
            (i > 0 && text.at[i - 1] == '$'))
            continue;
        *word = str_slice(text, i, end + 1);
        *from = end + 1;
        return true;
    }
    return false;
}

/* The places in which a word stands for something; 0: it is none of ours. */
static unsigned word_places(str word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (str_eq(word, str_from(words[i].word)))
            return words[i].places;
    return 0;
}

static str words_listed(struct arena *a, enum place place)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < WORDS; i++)
        if (words[i].places & place)
            buf_printf(&out, "%s%s", out.len ? " " : "", words[i].word);
    return buf_str(&out);
}

/* How to write what was written with a word inside of it. */
static str split_shown(struct arena *a, str text, str word)
{
    str before = str_slice(text, 0, (size_t)(word.at - text.at));
    str after = str_slice(text, before.len + word.len, text.len);
    struct buf out = buf_in(a);

    while (before.len && (before.at[before.len - 1] == '=' || before.at[before.len - 1] == ' '))
        before.len--;
    if (!before.len || after.len || before.len > 40)
        return STR("make it an element of its own");
    buf_add(&out, STR("write "));
    json_print_string(&out, before);
    buf_add(&out, STR(", "));
    json_print_string(&out, word);
    return buf_str(&out);
}

static err text_check(struct arena *a, str pointer, str text, enum place place)
{
    size_t from = 0;
    str word;

    while (word_next(text, &from, &word)) {
        bool whole = word.len == text.len;
        unsigned places = word_places(word);
        if (whole && !(places & place))
            return entry_unfit(a, pointer, "placeholder",
                               arena_printf(a,
                                            STR_FMT " stands for nothing here; there are " STR_FMT,
                                            STR_ARG(word), STR_ARG(words_listed(a, place))));
        if (!whole && places)
            return entry_unfit(
                a, pointer, "placeholder",
                arena_printf(a,
                             "expected " STR_FMT " to be a whole value, found it within a longer "
                             "one: " STR_FMT,
                             STR_ARG(word),
                             STR_ARG(place == IN_ENV ? STR("a variable can be nothing but it")
                                                     : split_shown(a, text, word))));
    }
    return NULL;
}

static err list_check(struct arena *a, str pointer, const struct json *list, enum place place)
{
    for (uint32_t i = 0; list && i < list->len; i++)
        TRY(text_check(a, arena_printf(a, STR_FMT "/%u", STR_ARG(pointer), i),
                       json_text(&list->items[i]), place));
    return NULL;
}

static err env_check(struct arena *a, str pointer, const struct json *env)
{
    for (uint32_t i = 0; env && i < env->len; i++)
        TRY(text_check(a,
                       arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(pointer),
                                    STR_ARG(json_name(&env->members[i]))),
                       json_text(&env->members[i].value), IN_ENV));
    return NULL;
}

/* Of a profile that fits its schema. */
static err words_check(struct arena *a, const struct json *profile)
{
    const struct json *options = json_get(profile, "options");

    TRY(list_check(a, STR("/start"), json_get(profile, "start"), IN_COMMAND));
    TRY(list_check(a, STR("/resume"), json_get(profile, "resume"), IN_COMMAND));
    for (uint32_t i = 0; options && i < options->len; i++) {
        TRY(list_check(a, arena_printf(a, "/options/%u/args", i),
                       json_get(&options->items[i], "args"), IN_OPTION));
        TRY(env_check(a, arena_printf(a, "/options/%u/env", i),
                      json_get(&options->items[i], "env")));
    }
    return env_check(a, STR("/env"), json_get(profile, "env"));
}

/* ---- all of it ---- */

static err schema_fits(struct arena *a, const char *schema_text, const struct json *text)
{
    const struct json *schema;
    struct schema *program;

    TRY(json_parse(a, str_from(schema_text), NULL, &schema));
    TRY(schema_compile(a, schema, NULL, &program));
    err e = schema_require(a, program, text);
    schema_free(program);
    return e;
}

err entry_check(struct arena *a, enum catalog c, const struct json *text)
{
    bool profile = c == CATALOG_PROFILES;

    if (json_print_size(text) > ENTRY_BYTES_MAX)
        return err_new(a, ERR_TOO_LARGE, "expected %s of at most %d bytes, found %zu",
                       profile ? "a profile" : "an agent", ENTRY_BYTES_MAX, json_print_size(text));
    TRY(schema_fits(a, profile ? profile_schema_text : agent_schema_text, text));
    return profile ? words_check(a, text) : NULL;
}
