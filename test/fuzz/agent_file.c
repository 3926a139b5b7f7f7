/* Fuzz target: agents written in files.
 *
 * Whatever is read is an object of the members that there are, prints as JSON and can be read as
 * such; whatever is not names a line of the file. */
#include <assert.h>

#include "client/agent_file.h"

static bool is_known(str name)
{
    static const char *const names[] = { "name",  "description", "profile",        "model",
                                         "tools", "tags",        "initial_prompt", "system_prompt",
                                         "args",  "ask",         "permissions" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(name, str_from(names[i])))
            return true;
    return false;
}

static void check_agent(struct arena *a, const struct json *agent)
{
    const struct json *again;
    err e = json_parse(a, json_printed(a, agent), NULL, &again);

    assert(!e && json_equal(agent, again));
    assert(json_str(agent, "name").len && json_str(agent, "profile").len);
    for (uint32_t i = 0; i < agent->len; i++) {
        const struct json *value = &agent->members[i].value;
        assert(is_known(json_name(&agent->members[i])));
        assert(value->len > 0 && (json_is(value, JSON_STRING) || json_is(value, JSON_ARRAY)));
        for (uint32_t k = 0; json_is(value, JSON_ARRAY) && k < value->len; k++)
            assert(json_is(&value->items[k], JSON_STRING) && value->items[k].len > 0);
    }
}

static void check_error(err e, str text)
{
    int64_t line, lines = 1;
    str number, rest;

    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    assert(e->kind == ERR_INVALID || e->kind == ERR_TOO_LARGE);
    if (!str_starts(e->message, STR("line ")))
        return;
    str_cut(str_slice(e->message, strlen("line "), e->message.len), ':', &number, &rest);
    assert(str_to_int(number, &line) && line >= 1 && line <= lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = { (const char *)data, size };
    struct json agent;
    err e = agent_file_parse(a, text, STR("stem"), &agent);

    if (e)
        check_error(e, text);
    else
        check_agent(a, &agent);
    arena_free(a);
    return 0;
}
