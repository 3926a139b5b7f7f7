/* head.c: what HTTP is told of a message.
 *
 * A client that speaks HTTP itself sends these fields; over stdio there are none, so
 * they are taken from the message. Whatever it holds, it cannot add a field. */
#include "base/digest.h"
#include "cli/bridge/private.h"

/* ---- values ---- */

static bool is_plain(str value)
{
    if (value.len && (value.at[0] == ' ' || value.at[value.len - 1] == ' '))
        return false;
    if (str_starts(value, STR("=?base64?")) && str_ends(value, STR("?=")))
        return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] < 0x20 || value.at[i] > 0x7e)
            return false;
    return true;
}

static void put(struct buf *out, const char *name, str value)
{
    buf_add(out, str_from(name));
    buf_add(out, STR(": "));
    buf_add(out, value);
    buf_add(out, STR("\r\n"));
}

void head_value(struct buf *out, const char *name, str value)
{
    if (is_plain(value)) {
        put(out, name, value);
        return;
    }
    buf_printf(out, "%s: =?base64?", name);
    buf_add(out, base64_encode(out->arena, value));
    buf_add(out, STR("?=\r\n"));
}

/* ---- all requests ---- */

void head_begin(struct bridge *b, struct buf *out, const char *method, const char *pattern, str id,
                bool as_operator)
{
    const struct endpoint *p = &b->upstream.endpoint;
    bool own = b->identity.own && !as_operator;
    str before, after;

    buf_add(out, str_from(method));
    buf_byte(out, ' ');
    buf_add(out, p->url.base);
    bool named = str_cut(str_from(pattern), '{', &before, &after);
    buf_add(out, before);
    if (named) {
        url_encode(out, id);
        str_cut(after, '}', &before, &after);
        buf_add(out, after);
    }
    buf_add(out, STR(" HTTP/1.1\r\n"));
    put(out, "Host", url_authority(out->arena, &p->url));
    buf_add(out, STR("Authorization: Bearer "));
    buf_add(out, own ? b->identity.token_text : p->token);
    buf_add(out, STR("\r\n"));
}

static void put_number(struct buf *out, const char *name, str before, uint64_t n)
{
    buf_add(out, str_from(name));
    buf_add(out, STR(": "));
    buf_add(out, before);
    buf_int(out, (int64_t)n);
    buf_add(out, STR("\r\n"));
}

void head_body(struct buf *out, str body)
{
    buf_add(out, STR("Content-Type: application/json\r\n"));
    put_number(out, "Content-Length", STR(""), body.len);
}

/* ---- messages ---- */

/* The member of params that says which thing a method is about. */
static const struct {
    str method;
    const char *member;
} names[] = {
    { STR("tools/call"), "name" },     { STR("prompts/get"), "name" },
    { STR("resources/read"), "uri" },  { STR("tasks/get"), "taskId" },
    { STR("tasks/update"), "taskId" }, { STR("tasks/cancel"), "taskId" },
};

static void put_name(struct buf *out, const struct rpc *m)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!str_eq(m->method, names[i].method))
            continue;
        const struct json *name = json_get(m->params, names[i].member);
        if (json_is(name, JSON_STRING))
            head_value(out, "Mcp-Name", json_text(name));
        return;
    }
}

void head_session(struct bridge *b, struct exchange *c, struct buf *out)
{
    struct legacy *l = &b->legacy;

    c->session = l->session_id.len ? l->number : 0;
    if (l->version.len)
        head_value(out, "MCP-Protocol-Version", l->version);
    if (l->session_id.len)
        head_value(out, "Mcp-Session-Id", l->session_id);
}

static void head_era(struct bridge *b, struct exchange *c, struct buf *out)
{
    if (c->version.len) {
        head_value(out, "MCP-Protocol-Version", c->version);
        head_value(out, "Mcp-Method", c->rpc.method);
        put_name(out, &c->rpc);
        return;
    }
    if (!str_eq(c->rpc.method, STR("initialize")))
        head_session(b, c, out);
}

/* The key lets the server tell a repetition from a second wish, so that whatever is lost on the way
 * can be sent again. */
void head_message(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/mcp", STR(""), false);
    buf_add(out, STR("Accept: application/json, text/event-stream\r\n"));
    if (b->options.state_id.len)
        put(out, "X-Workflow-State-Id", b->options.state_id);
    head_era(b, c, out);
    put_number(out, "Idempotency-Key", str_from(b->key), c->number);
    head_body(out, c->body);
}
