/* reply.c: how methods say what is next: a result, an error, an operation to perform. */
#include <assert.h>

#include "base/digest.h"
#include "base/utf8.h"
#include "mcp/mcp_private.h"
#include "mcp/write.h"

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
    m->by_person = false;
    assert(m->op);
}

void mcp_ask_with(struct mcp_call *m, const char *op, struct json input,
                  void (*then)(struct mcp_call *m, const struct command *done))
{
    struct json *kept = ARENA_NEW(m->arena, struct json);

    *kept = input;
    mcp_ask(m, op, kept, then);
}

const struct json *mcp_answer_json(struct mcp_call *m, const struct command *done)
{
    const struct json *answer;
    err unread = json_parse_own(m->arena, arena_copy(m->arena, done->answer.text), &answer);

    assert(!unread); /* we have printed it ourselves */
    return answer;
}

bool error_says_unknown(err e)
{
    return e->kind == ERR_NOT_FOUND || e->kind == ERR_GONE || e->kind == ERR_INVALID;
}

void mcp_refuse_error(struct mcp_call *m, err e, enum rpc_code unknown, str data)
{
    enum rpc_code code = error_says_unknown(e) ? unknown
                                               : (enum rpc_code)error_kind_info(e->kind)->rpc;

    mcp_refuse(m, code, error_says_unknown(e) ? data : STR(""), STR_FMT, STR_ARG(e->message));
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

bool mcp_one_page(struct mcp_call *m)
{
    str after;

    if (!mcp_cursor(m, &after))
        return false;
    if (after.len)
        mcp_refuse(m, RPC_PARAMS, STR(""), "this list has one page: leave out \"cursor\"");
    return !after.len;
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
