/* brief.c: which messages are answered at once.
 *
 * Those may be sent behind each other on one connection, where the answer to one waits for
 * all before it. What may wait for something, and what is not known, is none of them; nor is
 * what writes: on connections of their own, many are written by one commit. */
#include "cli/bridge/private.h"

static const str methods[] = {
    STR("tools/list"),     STR("resources/list"),  STR("resources/templates/list"),
    STR("resources/read"), STR("prompts/list"),    STR("prompts/get"),
    STR("ping"),           STR("server/discover"), STR("completion/complete"),
};

static const str readers[] = {
    STR("state_read"),
    STR("state_schema"),
    STR("get_agent_session_status"),
    STR("get_agent_session_result"),
    STR("list_agent_sessions"),
    STR("list_agent_blueprints"),
};

/* Arguments with which a tool may take its time. */
static const char *const waits[] = { "wait", "wait_version", "timeout", "execution_mode" };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_among(str name, const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

bool brief_tool(str name)
{
    return is_among(name, readers, COUNT(readers));
}

bool brief_message(const struct rpc *m)
{
    const struct json *arguments = json_get(m->params, "arguments");

    if (m->kind != RPC_REQUEST)
        return false;
    if (!str_eq(m->method, STR("tools/call")))
        return is_among(m->method, methods, COUNT(methods));
    for (size_t i = 0; i < COUNT(waits); i++)
        if (json_get(arguments, waits[i]))
            return false;
    return !json_get(m->params, "task") && brief_tool(json_str(m->params, "name"));
}
