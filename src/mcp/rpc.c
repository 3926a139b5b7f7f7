/* rpc.c: reading and writing single messages of JSON-RPC. */
#include "mcp/rpc.h"

#include "mcp/write.h"

static const struct json no_params = { .kind = JSON_OBJECT };

static bool fail(struct rpc_fault *fault, enum rpc_code code, str message)
{
    *fault = (struct rpc_fault){ .code = code, .message = message };
    return false;
}

/* A request or a notification. */
static bool read_call(struct rpc *r, struct rpc_fault *fault)
{
    const struct json *method = json_get(r->whole, "method");
    const struct json *params = json_get(r->whole, "params");

    if (!json_is(method, JSON_STRING) || method->len == 0)
        return fail(fault, RPC_INVALID, STR("\"method\" must be a string that is not empty"));
    if (params && !json_is(params, JSON_OBJECT))
        return fail(fault, RPC_INVALID, STR("\"params\" must be an object"));
    r->kind = r->id ? RPC_REQUEST : RPC_NOTIFICATION;
    r->method = json_text(method);
    r->params = params ? params : &no_params;
    return true;
}

static bool read_response(struct rpc *r, struct rpc_fault *fault)
{
    r->kind = RPC_RESPONSE;
    r->params = &no_params;
    r->result = json_get(r->whole, "result");
    r->error = json_get(r->whole, "error");
    if (!r->result == !r->error)
        return fail(
            fault, RPC_INVALID,
            STR("expected a \"method\", or for a response one of \"result\" and \"error\""));
    if (!r->id)
        return fail(fault, RPC_INVALID, STR("a response must have the \"id\" of its request"));
    if (r->error && !json_is(r->error, JSON_OBJECT))
        return fail(fault, RPC_INVALID, STR("\"error\" must be an object"));
    return true;
}

bool rpc_read(struct arena *a, str text, struct rpc *out, struct rpc_fault *fault)
{
    return rpc_read_within(a, text, 0, out, fault);
}

/* The input of an operation is two containers deeper here than in a body of HTTP: inside `params`
 * and `arguments`. The transport has bounded the text. */
bool rpc_read_within(struct arena *a, str text, size_t memory_max, struct rpc *out,
                     struct rpc_fault *fault)
{
    const struct json_limits limits = { .depth_max = JSON_DEPTH_MAX + 2,
                                        .bytes_max = JSON_BYTES_CEILING,
                                        .memory_max = memory_max };

    *out = (struct rpc){ .method = STR(""), .params = &no_params };
    err e = json_parse(a, text, &limits, &out->whole);
    if (e)
        return fail(fault, RPC_PARSE, e->message);
    if (json_is(out->whole, JSON_ARRAY))
        return fail(fault, RPC_INVALID,
                    STR("expected one message, found an array: send each message by itself"));
    if (!json_is(out->whole, JSON_OBJECT))
        return fail(fault, RPC_INVALID, STR("a message must be an object"));

    const struct json *id = json_get(out->whole, "id");
    if (id && !json_is(id, JSON_STRING) && !json_is(id, JSON_INTEGER))
        return fail(fault, RPC_INVALID, STR("\"id\" must be a string or an integer"));
    out->id = id;
    if (!str_eq(json_str(out->whole, "jsonrpc"), STR("2.0")))
        return fail(fault, RPC_INVALID, STR("\"jsonrpc\" must be \"2.0\""));
    return json_get(out->whole, "method") ? read_call(out, fault) : read_response(out, fault);
}

/* ---- writing ---- */

static void begin(struct json_writer *w)
{
    json_write_begin(w, '{');
    write_text(w, STR("jsonrpc"), STR("2.0"));
}

static void write_id(struct json_writer *w, const struct json *id)
{
    write_value(w, STR("id"), id);
}

void rpc_begin_result(struct json_writer *w, const struct json *id)
{
    begin(w);
    write_id(w, id);
    json_write_name(w, STR("result"));
}

void rpc_begin_notification(struct json_writer *w, str method)
{
    begin(w);
    write_text(w, STR("method"), method);
    json_write_name(w, STR("params"));
}

void rpc_begin_request(struct json_writer *w, str id, str method)
{
    struct json text = json_string(id);

    begin(w);
    write_id(w, &text);
    write_text(w, STR("method"), method);
    json_write_name(w, STR("params"));
}

void rpc_end(struct json_writer *w)
{
    json_write_end(w, '}');
}

void rpc_write_fault(struct json_writer *w, const struct json *id, const struct rpc_fault *fault)
{
    begin(w);
    if (id)
        write_id(w, id);
    write_begin(w, STR("error"), '{');
    write_int(w, STR("code"), fault->code);
    write_text(w, STR("message"), fault->message);
    if (fault->data.len)
        write_printed(w, STR("data"), fault->data);
    json_write_end(w, '}');
    json_write_end(w, '}');
}
