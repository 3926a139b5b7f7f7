/* fixture_prompts.c: the suite's prompts, and completion of their arguments. */
#include <strings.h>

#include "suites/fixture.h"
#include "mcp/write.h"

#define ARGUMENTS_MAX 2

struct prompt {
    const char *name, *description;
    const char *arguments[ARGUMENTS_MAX]; /* all are required; up to the first NULL */
    bool extra; /* there only while test_trigger_prompt_change has made it so */
    const struct fixture_block *blocks; /* messages, or what `say` makes of the arguments */
    void (*say)(struct mcp_call *m, const struct json *arguments);
    const struct fixture_rounds *rounds;
};

/* ---- messages ---- */

static void write_message(struct json_writer *w, const struct fixture_block *block)
{
    json_write_begin(w, '{');
    write_text(w, STR("role"), STR("user"));
    json_write_name(w, STR("content"));
    fixture_write_block(w, block);
    json_write_end(w, '}');
}

static void answer_blocks(struct mcp_call *m, const struct fixture_block *blocks)
{
    struct json_writer *w = mcp_result_begin(m);

    write_begin(w, STR("messages"), '[');
    for (const struct fixture_block *b = blocks; b->kind; b++)
        write_message(w, b);
    json_write_end(w, ']');
    mcp_result_end(m);
}

static void answer_text(struct mcp_call *m, str text)
{
    const struct fixture_block blocks[] = { { BLOCK_TEXT, text.at, NULL, NULL }, { 0 } };

    answer_blocks(m, blocks);
}

static void say_arguments(struct mcp_call *m, const struct json *arguments)
{
    answer_text(m, arena_printf(m->arena,
                                "Prompt with arguments: arg1='" STR_FMT "', arg2='" STR_FMT "'",
                                STR_ARG(json_str(arguments, "arg1")),
                                STR_ARG(json_str(arguments, "arg2"))));
}

static void say_resource(struct mcp_call *m, const struct json *arguments)
{
    str uri = arena_copy(m->arena, json_str(arguments, "resourceUri"));
    const struct fixture_block blocks[] = {
        { BLOCK_RESOURCE, "Embedded resource content for testing.", "text/plain", uri.at },
        { BLOCK_TEXT, "Please process the embedded resource above.", NULL, NULL },
        { 0 },
    };

    answer_blocks(m, blocks);
}

static void say_context(struct mcp_call *m, const struct json *answers)
{
    str context = json_str(json_get(json_get(answers, "user_context"), "content"), "context");

    answer_text(m, arena_printf(m->arena, "The context is: " STR_FMT,
                                STR_ARG(context.len ? context : STR("not told"))));
}

/* ---- the table ---- */

// clang-format off
static const struct fixture_block
    simple[] = { { BLOCK_TEXT, "This is a simple prompt for testing.", NULL, NULL }, { 0 } },
    image[]  = { { BLOCK_IMAGE, fixture_png, "image/png", NULL },
                 { BLOCK_TEXT, "Please analyze the image above.", NULL, NULL }, { 0 } },
    extra[]  = { { BLOCK_TEXT, "I come and go.", NULL, NULL }, { 0 } };

static const struct fixture_question user_context[] = {
    { "user_context", ASK_FORM, "What context should the prompt use?",
      JSON({ "type": "object", "properties": { "context": { "type": "string" } }, "required": ["context"] }), 0 },
    { 0 },
};

static const struct fixture_rounds context = { .rounds = { user_context }, .finish = say_context };

static const struct prompt prompts[] = {
    { "test_simple_prompt", "A text.", { NULL }, .blocks = simple },
    { "test_prompt_with_arguments", "A text with what it is given.", { "arg1", "arg2" }, .say = say_arguments },
    { "test_prompt_with_embedded_resource", "A resource, and what to do with it.", { "resourceUri" }, .say = say_resource },
    { "test_prompt_with_image", "A picture, and what to do with it.", { NULL }, .blocks = image },
    { "test_input_required_result_prompt", "Asks for a context first.", { NULL }, .rounds = &context },
    { "test_extra_prompt", "Is there when test_trigger_prompt_change has added it.", { NULL }, .extra = true, .blocks = extra },
};
// clang-format on

#define PROMPTS (sizeof prompts / sizeof prompts[0])

/* Asking in a result is for clients of today alone. */
static bool is_there(struct mcp_call *m, const struct prompt *p)
{
    return (!p->extra || fixtures_of(m)->extra_prompt) &&
           (!p->rounds || mcp_is_modern(m->client.version));
}

static const struct prompt *find(struct mcp_call *m, str name)
{
    for (size_t i = 0; i < PROMPTS; i++)
        if (str_eq(str_from(prompts[i].name), name))
            return is_there(m, &prompts[i]) ? &prompts[i] : NULL;
    return NULL;
}

/* ---- methods ---- */

static void write_prompt(struct json_writer *w, const struct prompt *p)
{
    json_write_begin(w, '{');
    write_text(w, STR("name"), str_from(p->name));
    write_text(w, STR("description"), str_from(p->description));
    write_begin(w, STR("arguments"), '[');
    for (size_t i = 0; i < ARGUMENTS_MAX && p->arguments[i]; i++) {
        json_write_begin(w, '{');
        write_text(w, STR("name"), str_from(p->arguments[i]));
        write_bool(w, STR("required"), true);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    json_write_end(w, '}');
}

void fixture_prompts_list(struct mcp_call *m)
{
    size_t from;
    str next;

    if (!fixture_page(m, PROMPTS, PROMPTS, &from, &next))
        return;
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("prompts"), '[');
    for (size_t i = from; i < PROMPTS; i++)
        if (is_there(m, &prompts[i]))
            write_prompt(w, &prompts[i]);
    json_write_end(w, ']');
    mcp_write_next(w, next);
    mcp_write_cache(m, w, 0, true);
    mcp_result_end(m);
}

void fixture_prompts_get(struct mcp_call *m)
{
    const struct json *arguments = json_get(m->message.params, "arguments");
    str name;

    if (!mcp_param_str(m, "name", true, &name))
        return;
    const struct prompt *p = find(m, name);
    if (!p) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "there is no prompt " STR_FMT ": prompts/list has all",
                   STR_ARG(name));
        return;
    }
    for (size_t i = 0; i < ARGUMENTS_MAX && p->arguments[i]; i++)
        if (!json_is(json_get(arguments, p->arguments[i]), JSON_STRING)) {
            mcp_refuse(m, RPC_PARAMS, STR(""), "%s needs the argument %s, a string", p->name,
                       p->arguments[i]);
            return;
        }
    if (p->rounds)
        fixture_run_rounds(m, p->rounds);
    else if (p->say)
        p->say(m, arguments);
    else
        answer_blocks(m, p->blocks);
}

/* ---- completion ---- */

// clang-format off
static const struct {
    const char *type, *named, *name; /* the ref: its type, its member, and what that says */
    const char *argument;
    const char *values[5]; /* up to the first NULL */
} completions[] = {
    { "ref/prompt", "name", "test_prompt_with_arguments", "arg1", { "paris", "park", "party", "test", NULL } },
    { "ref/prompt", "name", "test_prompt_with_arguments", "arg2", { "hello", "world", NULL } },
    { "ref/prompt", "name", "test_prompt_with_embedded_resource", "resourceUri", { "test://static-text", "test://example-resource", NULL } },
    { "ref/resource", "uri", "test://template/{id}/data", "id", { "123", "124", NULL } },
};
// clang-format on

#define COMPLETIONS (sizeof completions / sizeof completions[0])

static bool begins(const char *value, str typed)
{
    return strncasecmp(value, typed.at, typed.len) == 0 && strlen(value) >= typed.len;
}

static void answer_values(struct mcp_call *m, const char *const *values, str typed)
{
    struct json_writer *w = mcp_result_begin(m);
    int64_t total = 0;

    write_begin(w, STR("completion"), '{');
    write_begin(w, STR("values"), '[');
    for (size_t i = 0; values[i]; i++)
        if (begins(values[i], typed)) {
            json_write_str(w, str_from(values[i]));
            total++;
        }
    json_write_end(w, ']');
    write_int(w, STR("total"), total);
    write_bool(w, STR("hasMore"), false);
    json_write_end(w, '}');
    mcp_result_end(m);
}

void fixture_complete(struct mcp_call *m)
{
    const struct json *ref = json_get(m->message.params, "ref");
    const struct json *argument = json_get(m->message.params, "argument");
    str type = json_str(ref, "type"), name = json_str(argument, "name");

    if (!json_is(json_get(argument, "value"), JSON_STRING)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.argument must have the strings name and value");
        return;
    }
    for (size_t i = 0; i < COMPLETIONS; i++)
        if (str_eq(type, str_from(completions[i].type)) &&
            str_eq(json_str(ref, completions[i].named), str_from(completions[i].name)) &&
            str_eq(name, str_from(completions[i].argument))) {
            answer_values(m, completions[i].values, json_str(argument, "value"));
            return;
        }
    mcp_refuse(m, RPC_PARAMS, STR(""), "params.ref has no argument " STR_FMT " to complete",
               STR_ARG(name));
}
