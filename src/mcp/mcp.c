/* mcp.c: one message: which method it asks for, and how methods say what is next. */
#include <assert.h>

#include "base/digest.h"
#include "base/utf8.h"
#include "mcp/mcp_private.h"
#include "mcp/write.h"

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

void mcp_peeked(struct mcp_call *m, const struct op_shown *shown)
{
    struct command done = { .arena = m->arena,
                            .op = m->op,
                            .input = m->input,
                            .actor = m->actor,
                            .answer = { .text = shown->text, .version = shown->version } };
    m->shown = shown;
    m->told = (struct op_told){ STR(""), STR("") };
    mcp_performed(m, &done);
    m->shown = NULL;
}

bool mcp_peek(struct mcp_call *m, struct op_cache *c)
{
    str id = m->plain_id;
    struct op_shown *shown = m->plain ? op_peek(c, m->op, id, m->actor) : NULL;

    if (!shown)
        return false;
    mcp_peeked(m, shown);
    if (m->told.text.len)
        op_cache_tell(c, id, shown, m->told);
    op_shown_unref(shown);
    return true;
}

void mcp_play(struct mcp_call *m, struct mcp_play *p)
{
    assert(m->next == MCP_PLAY && m->play);
    m->play(m, p);
}

/* ---- what is next ---- */

static struct json_writer *writer_start(struct mcp_call *m)
{
    m->out = buf_in(m->arena);
    m->writer = json_writer_to(&m->out);
    return &m->writer;
}

struct json_writer *mcp_result_begin_as(struct mcp_call *m, const char *result_type)
{
    struct json_writer *w = writer_start(m);

    assert(m->message.id);
    rpc_begin_result(w, m->message.id);
    json_write_begin(w, '{');
    if (mcp_is_modern(m->client.version)) {
        write_text(w, STR("resultType"), str_from(result_type));
        write_begin(w, STR("_meta"), '{');
        write_printed(w, STR(MCP_META_SERVER), m->mcp->server_info);
        json_write_end(w, '}');
    }
    return w;
}

struct json_writer *mcp_result_begin(struct mcp_call *m)
{
    return mcp_result_begin_as(m, "complete");
}

static void answer(struct mcp_call *m, int status)
{
    assert(m->writer.depth == 0);
    m->next = MCP_ANSWER;
    m->status = status;
    m->answer = buf_str(&m->out);
}

void mcp_result_end(struct mcp_call *m)
{
    json_write_end(&m->writer, '}');
    rpc_end(&m->writer);
    answer(m, 200);
}

void mcp_write_cache(struct mcp_call *m, struct json_writer *w, int64_t ttl_ms, bool public)
{
    if (!mcp_is_modern(m->client.version))
        return;
    write_int(w, STR("ttlMs"), ttl_ms);
    write_text(w, STR("cacheScope"), public ? STR("public") : STR("private"));
}

static void refuse(struct mcp_call *m, int status, enum rpc_code code, str data, const char *format,
                   va_list args)
{
    struct rpc_fault fault = { .code = code, .data = data };
    struct buf message = buf_in(m->arena);

    buf_vprintf(&message, format, args);
    fault.message = buf_str(&message);
    /* What was no request has nobody who waits for an answer with its id. */
    rpc_write_fault(writer_start(m), m->message.kind == RPC_REQUEST ? m->message.id : NULL, &fault);
    answer(m, status);
}

static int refusal_status(const struct mcp_call *m, enum rpc_code code)
{
    if (!mcp_is_modern(m->client.version))
        return 200;
    switch (code) {
    case RPC_METHOD: return 404;
    case RPC_HEADER:
    case RPC_CAPABILITY:
    case RPC_VERSION: return 400;
    default: return 200;
    }
}

void mcp_refuse(struct mcp_call *m, enum rpc_code code, str data, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    refuse(m, refusal_status(m, code), code, data, format, args);
    va_end(args);
}

void mcp_refuse_as(struct mcp_call *m, int status, enum rpc_code code, str data, const char *format,
                   ...)
{
    va_list args;

    va_start(args, format);
    refuse(m, status, code, data, format, args);
    va_end(args);
}

void mcp_ask(struct mcp_call *m, const char *op, const struct json *input,
             void (*then)(struct mcp_call *m, const struct command *done))
{
    m->next = MCP_PERFORM;
    m->op = op_find(m->mcp->options.table, str_from(op));
    m->input = input;
    m->then = then;
    assert(m->op);
}

/* ---- what methods read and write alike ---- */

bool mcp_param_str(struct mcp_call *m, const char *name, bool needed, str *out)
{
    const struct json *value = json_get(m->message.params, name);

    *out = STR("");
    if (!value && !needed)
        return true;
    if (!json_is(value, JSON_STRING)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.%s must be a string, found %s", name,
                   value ? json_kind_name(value->kind) : "none");
        return false;
    }
    *out = json_text(value);
    return true;
}

bool mcp_cursor(struct mcp_call *m, str *after)
{
    str cursor;

    if (!mcp_param_str(m, "cursor", false, &cursor))
        return false;
    *after = STR("");
    if (!json_get(m->message.params, "cursor"))
        return true;
    if (cursor.len == 0 || !base64url_decode(m->arena, cursor, after) || !utf8_valid(*after)) {
        mcp_refuse(m, RPC_PARAMS, STR(""),
                   "params.cursor is none of this list: begin again without it");
        return false;
    }
    return true;
}

void mcp_write_next(struct json_writer *w, str after)
{
    if (!after.len)
        return;
    write_text(w, STR("nextCursor"), base64url_encode(w->out->arena, after));
}

/* ---- what a transport sends by itself ---- */

str mcp_fault(struct arena *a, const struct json *id, enum rpc_code code, const char *message)
{
    struct rpc_fault fault = { .code = code, .message = str_from(message) };
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    rpc_write_fault(&w, id, &fault);
    return buf_str(&out);
}

str mcp_progress(struct arena *a, const struct mcp_call *m, int64_t number, str message)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    assert(m->progress_token.len);
    rpc_begin_notification(&w, STR("notifications/progress"));
    json_write_begin(&w, '{');
    write_printed(&w, STR("progressToken"), m->progress_token);
    write_int(&w, STR("progress"), number);
    if (message.len)
        write_text(&w, STR("message"), message);
    json_write_end(&w, '}');
    rpc_end(&w);
    return buf_str(&out);
}
