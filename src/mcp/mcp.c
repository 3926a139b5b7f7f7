/* mcp.c: one message: which method it asks for. */
#include <assert.h>

#include "base/utf8.h"
#include "mcp/mcp_private.h"

struct mcp *mcp_new(const struct mcp_options *o)
{
    struct arena *a = arena_new();
    struct mcp *m = ARENA_NEW(a, struct mcp);

    m->arena = a;
    m->options = *o;
    m->server_info = mcp_server_info(a, o->version);
    if (!o->served)
        m->tools = tools_new(a, o->table);
    return m;
}

void mcp_free(struct mcp *m)
{
    if (m)
        arena_free(m->arena);
}

/* ---- methods ---- */

// clang-format off
static const struct mcp_method_entry own[] = {
    { "tools/call",               ERA_BOTH,   mcp_tools_call            },
    { "tools/list",               ERA_BOTH,   mcp_tools_list            },
    { "resources/list",           ERA_BOTH,   mcp_resources_list        },
    { "resources/templates/list", ERA_BOTH,   mcp_resources_templates   },
    { "resources/read",           ERA_BOTH,   mcp_resources_read        },
    { "prompts/list",             ERA_BOTH,   mcp_prompts_list          },
    { "prompts/get",              ERA_BOTH,   mcp_prompts_get           },
    { "completion/complete",      ERA_BOTH,   mcp_complete              },

    { "resources/subscribe",      ERA_LEGACY, mcp_resources_subscribe   },
    { "resources/unsubscribe",    ERA_LEGACY, mcp_resources_unsubscribe },

    { "subscriptions/listen",     ERA_MODERN, mcp_listen                },
    { "tasks/get",                ERA_MODERN, mcp_tasks_get             },
    { "tasks/update",             ERA_MODERN, mcp_tasks_update          },
    { "tasks/cancel",             ERA_MODERN, mcp_tasks_cancel          },
};

/* Of the server itself, whatever it serves. */
static const struct mcp_method_entry about_us[] = {
    { "initialize",               ERA_LEGACY, mcp_initialize            },
    { "ping",                     ERA_LEGACY, mcp_ping                  },
    { "server/discover",          ERA_MODERN, mcp_discover              },
};
// clang-format on

static mcp_method *find_method(const struct mcp_call *m, const struct mcp_method_entry *methods,
                               size_t count)
{
    enum mcp_era era = mcp_is_modern(m->client.version) ? ERA_MODERN : ERA_LEGACY;

    for (size_t i = 0; i < count; i++)
        if ((methods[i].eras & era) && str_eq(m->message.method, str_from(methods[i].name)))
            return methods[i].run;
    return NULL;
}

static void refuse_method(struct mcp_call *m)
{
    str name = utf8_cut(m->message.method, 100);

    mcp_refuse(m, RPC_METHOD, STR(""), "there is no method \"" STR_FMT "\" in revision %s",
               STR_ARG(name), mcp_version_name(m->client.version));
}

static void run_method(struct mcp_call *m)
{
    const struct mcp_served *served = m->mcp->options.served;
    mcp_method *run = served ? find_method(m, served->methods, served->method_count)
                             : find_method(m, own, sizeof own / sizeof *own);

    if (!run)
        run = find_method(m, about_us, sizeof about_us / sizeof *about_us);
    if (run)
        run(m);
    else
        refuse_method(m);
}

/* ---- one message ---- */

/* What a progress notification will carry: the token as it was given. */
static str read_progress_token(const struct mcp_call *m)
{
    const struct json *token = json_get(json_get(m->message.params, "_meta"), "progressToken");

    if (json_is(token, JSON_STRING) || json_is(token, JSON_INTEGER))
        return json_printed(m->arena, token);
    return STR("");
}

void mcp_begin(struct mcp_call *m, str body)
{
    struct rpc_fault fault;

    if (!rpc_read_within(m->arena, body, m->memory_max, &m->message, &fault)) {
        mcp_refuse_as(m, 400, fault.code, fault.data, STR_FMT, STR_ARG(fault.message));
        return;
    }
    if (!mcp_find_era(m))
        return;
    m->progress_token = read_progress_token(m);
    switch (m->message.kind) {
    case RPC_REQUEST: run_method(m); return;
    case RPC_RESPONSE:
        /* Only the older revisions have requests of ours, which a client answers. */
        if (mcp_is_modern(m->client.version)) {
            mcp_refuse_as(m, 400, RPC_INVALID, STR(""),
                          "expected a request or a notification, found a response");
            return;
        }
        break;
    case RPC_NOTIFICATION: break;
    }
    m->next = MCP_ACCEPTED;
    m->status = 202;
}

void mcp_performed(struct mcp_call *m, const struct command *done)
{
    assert(m->next == MCP_PERFORM && m->then);
    m->plain = false;
    m->then(m, done);
}

void mcp_cached(struct mcp_call *m, const struct cached_answer *shown)
{
    struct command done = { .arena = m->arena,
                            .op = m->op,
                            .input = m->input,
                            .actor = m->actor,
                            .answer = { .text = shown->text, .version = shown->version } };
    m->cached = shown;
    m->tool_text = (struct tool_text){ STR(""), STR("") };
    mcp_performed(m, &done);
    m->cached = NULL;
}

bool mcp_peek(struct mcp_call *m, struct op_cache *c)
{
    str id = m->plain_id;
    struct cached_answer *shown = m->plain ? op_peek(c, m->op, id, m->actor) : NULL;

    if (!shown)
        return false;
    mcp_cached(m, shown);
    if (m->tool_text.text.len)
        op_cache_keep_tool_text(c, id, shown, m->tool_text);
    cached_answer_unref(shown);
    return true;
}

void mcp_play(struct mcp_call *m, struct mcp_play *p)
{
    assert(m->next == MCP_PLAY && m->play);
    m->play(m, p);
}
