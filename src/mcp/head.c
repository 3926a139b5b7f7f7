/* head.c: the fields of HTTP that repeat what a message of 2026-07-28 says.
 *
 * They are there for proxies, which route and count by them without reading the body; so they must
 * not say anything else than the body does. */
#include "base/digest.h"
#include "base/utf8.h"
#include "mcp/mcp_private.h"

bool mcp_head_field(const struct mcp_call *m, const char *name, str *value)
{
    if (!m->head.field || !m->head.field(m->head.self, name, value))
        return false;
    *value = str_trim(*value);
    return true;
}

/* That a field says something else; it is ASCII. */
static bool refuse_value(struct mcp_call *m, const char *name, str found,
                         const struct json *expected)
{
    str wanted = utf8_cut(json_printed(m->arena, expected), 100), shown = str_slice(found, 0, 100);

    mcp_refuse_as(m, 400, RPC_HEADER, STR(""),
                  "header %s must say what the body says: expected " STR_FMT ", found \"" STR_FMT
                  "\"",
                  name, STR_ARG(wanted), STR_ARG(shown));
    return false;
}

static bool refuse_field(struct mcp_call *m, const char *name, const char *problem)
{
    mcp_refuse_as(m, 400, RPC_HEADER, STR(""), "header %s %s", name, problem);
    return false;
}

/* What a field means: what is not plain ASCII travels as =?base64?…?=. False: it is broken. */
static bool decode_value(struct arena *a, str text, str *out)
{
    const str before = STR("=?base64?"), after = STR("?=");

    *out = text;
    if (text.len >= before.len + after.len && str_starts(text, before) && str_ends(text, after))
        return base64_decode(a, str_slice(text, before.len, text.len - after.len), out);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < 0x20 || (unsigned char)text.at[i] > 0x7e)
            return false;
    return true;
}

/* A number in decimal digits, as JSON has it. */
static bool read_number(struct arena *a, str text, const struct json **out)
{
    return !json_parse(a, text, NULL, out) && json_is_number(*out);
}

static bool means(struct arena *a, str said, const struct json *value)
{
    const struct json *number;

    switch (value->kind) {
    case JSON_STRING: return str_eq(said, json_text(value));
    case JSON_BOOL: return str_eq(said, value->len ? STR("true") : STR("false"));
    case JSON_INTEGER:
    case JSON_REAL: return read_number(a, said, &number) && json_number_compare(number, value) == 0;
    default: return false;
    }
}

/* Whether a field says `value`; NULL: it must not be there. */
static bool check_field(struct mcp_call *m, const char *name, const struct json *value)
{
    str text, said;

    if (!mcp_head_field(m, name, &text))
        return !value || refuse_field(m, name, "is missing; it must repeat what the body says");
    if (!decode_value(m->arena, text, &said))
        return refuse_field(m, name, "is neither plain ASCII nor base64 between =?base64? and ?=");
    if (!value)
        return refuse_field(m, name, "says something that the body does not say");
    return means(m->arena, said, value) || refuse_value(m, name, text, value);
}

static bool check_text(struct mcp_call *m, const char *name, str text)
{
    struct json value = json_string(text);

    return check_field(m, name, &value);
}

bool mcp_check_version_head(struct mcp_call *m, str version)
{
    return !m->head.field || check_text(m, "MCP-Protocol-Version", version);
}

/* The member of params that Mcp-Name repeats; NULL: there is none for this method. */
static const char *named_by(str method)
{
    // clang-format off
    static const struct { const char *method, *member; } names[] = {
        { "tools/call",     "name"   },
        { "prompts/get",    "name"   },
        { "resources/read", "uri"    },
        { "tasks/get",      "taskId" },
        { "tasks/update",   "taskId" },
        { "tasks/cancel",   "taskId" },
    };
    // clang-format on

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(method, str_from(names[i].method)))
            return names[i].member;
    return NULL;
}

bool mcp_check_head(struct mcp_call *m)
{
    const char *member = named_by(m->message.method);

    if (!m->head.field)
        return true;
    if (!check_text(m, "Mcp-Method", m->message.method))
        return false;
    return !member || check_field(m, "Mcp-Name", json_get(m->message.params, member));
}

/* The schemas of the arguments can be inside each other; only what `properties` alone leads to is
 * repeated in the head. */
#define PARAM_DEPTH_MAX 8

static bool check_params(struct mcp_call *m, const struct json *schema, const struct json *value,
                         int depth)
{
    const struct json *properties = json_get(schema, "properties");

    if (!json_is(properties, JSON_OBJECT) || depth == PARAM_DEPTH_MAX)
        return true;
    for (uint32_t i = 0; i < properties->len; i++) {
        const struct json_member *p = &properties->members[i];
        const struct json *argument = json_find(value, json_name(p));
        str suffix = json_str(&p->value, "x-mcp-header");

        if (json_is(argument, JSON_NULL))
            argument = NULL;
        if (suffix.len) {
            str name = arena_printf(m->arena, "Mcp-Param-" STR_FMT, STR_ARG(suffix));
            if (!check_field(m, name.at, argument))
                return false;
        }
        if (!check_params(m, &p->value, argument, depth + 1))
            return false;
    }
    return true;
}

bool mcp_check_param_head(struct mcp_call *m, const struct json *input_schema,
                          const struct json *arguments)
{
    if (!m->head.field || !mcp_is_modern(m->client.version))
        return true;
    return check_params(m, input_schema, arguments, 0);
}
