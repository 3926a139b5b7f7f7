/* fixtures.c: MCP as the conformance suite wants to find it: the methods, and the tools among them.
 *
 * `baton-suites serve --mcp-fixtures` answers with these and nothing else. They go through the same engine and
 * the same transport as everything, so what the suite finds of those is true of the real tools. */
#include <assert.h>

#include "suites/fixture.h"
#include "mcp/write.h"

static const struct fixture_tools *const lists[] = {
    &fixture_plain_tools, &fixture_stream_tools, &fixture_ask_tools,
    &fixture_round_tools, &fixture_job_tools,
};

#define LISTS (sizeof lists / sizeof lists[0])
#define TOOLS_MAX 64
#define VIOLATIONS_MAX 5

struct fixtures *fixtures_of(struct mcp_call *m)
{
    if (!m->mcp->served)
        m->mcp->served = ARENA_NEW(m->mcp->arena, struct fixtures);
    return m->mcp->served;
}

const struct json *fixture_json(struct arena *a, const char *text)
{
    const struct json *parsed;
    err e = json_parse(a, str_from(text), NULL, &parsed);

    assert(!e);
    (void)e;
    return parsed;
}

str fixture_violations(struct mcp_call *m, const char *schema, const struct json *value)
{
    struct schema *compiled;
    const struct violation *found;
    err e = schema_compile(m->arena, fixture_json(m->arena, schema), NULL, &compiled);

    assert(!e);
    (void)e;
    struct buf text = buf_in(m->arena);
    size_t count = schema_explain(m->arena, compiled, value, VIOLATIONS_MAX, &found);
    schema_free(compiled);
    for (size_t i = 0; i < count; i++) {
        str where = found[i].pointer;
        buf_printf(&text, "%s" STR_FMT "%s" STR_FMT, i ? "; " : "", STR_ARG(where),
                   where.len ? ": " : "", STR_ARG(found[i].message));
    }
    return buf_str(&text);
}

bool fixture_page(struct mcp_call *m, size_t count, size_t size, size_t *from, str *next)
{
    str after;
    int64_t start = 0;

    if (!mcp_cursor(m, &after))
        return false;
    if (after.len && (!str_to_int(after, &start) || start < 1 || (size_t)start >= count)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "there is nothing to go on with at this cursor");
        return false;
    }
    *from = (size_t)start;
    *next = *from + size < count ? arena_printf(m->arena, "%zu", *from + size) : STR("");
    return true;
}

/* ---- tools ---- */

static bool is_there(struct mcp_call *m, const struct fixture_tool *tool)
{
    enum mcp_era era = mcp_is_modern(m->client.version) ? ERA_MODERN : ERA_LEGACY;

    return tool->in & era && (!tool->extra || fixtures_of(m)->extra_tool);
}

static const struct fixture_tool *find_tool(struct mcp_call *m, str name)
{
    for (size_t i = 0; i < LISTS; i++)
        for (size_t k = 0; k < lists[i]->count; k++) {
            const struct fixture_tool *tool = &lists[i]->tools[k];
            if (str_eq(str_from(tool->name), name))
                return is_there(m, tool) ? tool : NULL;
        }
    return NULL;
}

static const char *input_schema(const struct fixture_tool *tool)
{
    return tool->input ? tool->input : JSON({ "type": "object", "additionalProperties": false });
}

static void write_tool(struct json_writer *w, const struct fixture_tool *tool)
{
    json_write_begin(w, '{');
    write_text(w, STR("name"), str_from(tool->name));
    write_text(w, STR("description"), str_from(tool->description));
    write_printed(w, STR("inputSchema"), str_from(input_schema(tool)));
    json_write_end(w, '}');
}

/* The suite reads one page of tools and looks for all of them there. */
static void tools_list(struct mcp_call *m)
{
    const struct fixture_tool *tools[TOOLS_MAX];
    size_t count = 0, from;
    str next;

    for (size_t i = 0; i < LISTS; i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            if (is_there(m, &lists[i]->tools[k])) {
                assert(count < TOOLS_MAX);
                tools[count++] = &lists[i]->tools[k];
            }
    if (!fixture_page(m, count, TOOLS_MAX, &from, &next))
        return;
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("tools"), '[');
    for (size_t i = from; i < count; i++)
        write_tool(w, tools[i]);
    json_write_end(w, ']');
    mcp_write_next(w, next);
    mcp_write_cache(m, w, 0, true);
    mcp_result_end(m);
}

static void tools_call(struct mcp_call *m)
{
    static const struct json none = { .kind = JSON_OBJECT };
    const struct json *arguments = json_get(m->message.params, "arguments");
    str name;

    if (!mcp_param_str(m, "name", true, &name))
        return;
    const struct fixture_tool *tool = find_tool(m, name);
    if (!tool) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "there is no tool " STR_FMT ": tools/list has all",
                   STR_ARG(name));
        return;
    }
    if (!arguments)
        arguments = &none;
    if (!json_is(arguments, JSON_OBJECT)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "arguments must be an object, not of type %s",
                   json_kind_name(arguments->kind));
        return;
    }
    if (!mcp_check_param_head(m, fixture_json(m->arena, input_schema(tool)), arguments))
        return;
    str unfit = fixture_violations(m, input_schema(tool), arguments);
    if (unfit.len)
        tool_answer_text(
            m, arena_printf(m->arena, "the arguments do not fit: " STR_FMT, STR_ARG(unfit)), true);
    else
        tool->call(m, tool, arguments);
}

/* ---- methods ---- */

// clang-format off
static const struct mcp_method_entry methods[] = {
    { "tools/list",               ERA_BOTH,   tools_list                    },
    { "tools/call",               ERA_BOTH,   tools_call                    },
    { "resources/list",           ERA_BOTH,   fixture_resources_list        },
    { "resources/templates/list", ERA_BOTH,   fixture_resources_templates   },
    { "resources/read",           ERA_BOTH,   fixture_resources_read        },
    { "resources/subscribe",      ERA_LEGACY, fixture_resources_subscribe   },
    { "resources/unsubscribe",    ERA_LEGACY, fixture_resources_unsubscribe },
    { "prompts/list",             ERA_BOTH,   fixture_prompts_list          },
    { "prompts/get",              ERA_BOTH,   fixture_prompts_get           },
    { "completion/complete",      ERA_BOTH,   fixture_complete              },
    { "logging/setLevel",         ERA_LEGACY, fixture_set_level             },
    { "subscriptions/listen",     ERA_MODERN, fixture_listen                },
    { "tasks/get",                ERA_MODERN, fixture_tasks_get             },
    { "tasks/update",             ERA_MODERN, fixture_tasks_update          },
    { "tasks/cancel",             ERA_MODERN, fixture_tasks_cancel          },
};
// clang-format on

const struct mcp_served mcp_fixtures = {
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .prompts_change = true,
    .logs = true,
};
