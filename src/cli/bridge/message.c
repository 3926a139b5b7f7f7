/* message.c: a message of the client: what it needs, and what becomes of its answer.
 *
 * Each is passed on as it came, and so is what comes back. What is not a message, because
 * something between the client and the protocol went wrong, becomes an error that says so. */
#include "cli/bridge/private.h"

enum { RENEWALS_MAX = 2 }; /* of the session or the token, for one message */

static const struct exchange_kind message;

bool message_is_pending(const struct exchange *c)
{
    return c->kind == &message && !c->lasting && !c->cancelled;
}

static bool is_legacy(const struct exchange *c)
{
    return c->version.len == 0;
}

/* ---- which are answered at once ---- */

/* Those may be sent behind each other on one connection, where the answer to one waits for all
 * before it. What may wait for something, and what is not known, is none of them; nor is what
 * writes: on connections of their own, many are written by one commit. */
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
    STR("get_workflow_state"),
    STR("list_workflows"),
    STR("get_workflow_status"),
    STR("get_next_step"),
    STR("validate_prerequisites"),
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

static bool brief_message(const struct rpc *m)
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

/* ---- from the client ---- */

static struct exchange *find_in(const struct list *exchanges, const struct json *id)
{
    LIST_EACH(it, exchanges) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        if (c->kind == &message && c->rpc.kind == RPC_REQUEST && json_equal(c->rpc.id, id))
            return c;
    }
    return NULL;
}

/* The client does not want an answer any more. Since 2026-07-28 that is said by closing the
 * connection, unless others are on it: then its answer is dropped. Before, it was said by a message,
 * which is passed on if the exchange was. True: there is no more to do. */
static bool cancel(struct bridge *b, const struct exchange *notice)
{
    const struct json *id = json_get(notice->rpc.params, "requestId");
    struct exchange *c = id ? find_in(&b->in_flight, id) : NULL;

    if (!c)
        c = id ? find_in(&b->waiting, id) : NULL;
    if (!c)
        return b->legacy.state == LEGACY_NONE;
    if (c->in_flight && is_legacy(c)) {
        c->cancelled = true;
        return false;
    }
    if (c->connection && connection_is_shared(c->connection))
        c->cancelled = true;
    else
        exchange_end(b, c);
    return true;
}

void message_take(struct bridge *b, str line)
{
    struct exchange *c = exchange_new(b, &message);
    struct rpc_fault fault;

    c->body = arena_copy(c->arena, line);
    if (!rpc_read(c->arena, c->body, &c->rpc, &fault)) {
        lines_fault(b, c->rpc.id, fault.code, fault.message);
        exchange_end(b, c);
        return;
    }
    c->version =
        json_str(json_get(c->rpc.params, "_meta"), "io.modelcontextprotocol/protocolVersion");
    if (str_eq(c->rpc.method, STR("notifications/cancelled")) && cancel(b, c)) {
        exchange_end(b, c);
        return;
    }
    if (is_legacy(c))
        legacy_note(b, c);
    c->lasting = !is_legacy(c) && str_eq(c->rpc.method, STR("subscriptions/listen"));
    c->brief = brief_message(&c->rpc);
    exchange_queue(b, c);
}

static bool message_ready(struct bridge *b, struct exchange *c)
{
    if (!identity_token(b, c))
        return false;
    if (is_legacy(c) && !legacy_ready(b, c))
        return false;
    if (!str_eq(c->rpc.method, STR("tools/call")))
        return true;
    if (!identity_row(b, c))
        return false;
    wake_follow(b);
    return true;
}

/* ---- from the server ---- */

static void refuse(struct bridge *b, struct exchange *c, err e)
{
    if (c->cancelled)
        return;
    if (c->rpc.kind == RPC_REQUEST)
        lines_fault(b, c->rpc.id, error_kind_info(e->kind)->rpc, e->message);
    else
        lines_note(STR_FMT " was not passed on: " STR_FMT,
                   STR_ARG(c->rpc.method.len ? c->rpc.method : STR("a response")),
                   STR_ARG(e->message));
}

static void message_failed(struct bridge *b, struct exchange *c, err e)
{
    refuse(b, c, e);
    if (is_legacy(c))
        legacy_over(b, c, 0);
    exchange_end(b, c);
}

/* The answer itself. */
static void answer(struct bridge *b, struct exchange *c, str text, const struct response *r)
{
    if (is_legacy(c))
        legacy_answered(b, c, text, r);
    if (!c->cancelled)
        lines_put(b, text);
    c->answered = true;
}

/* A server that ends says so to whoever listens; the client need not know, since the bridge listens
 * again when the server is back. */
static bool is_known(const struct exchange *c, const struct rpc *m)
{
    if (!c->lasting)
        return false;
    return (m->kind == RPC_RESPONSE && m->result) ||
           str_eq(m->method, STR("notifications/cancelled")) ||
           (c->repeated && str_eq(m->method, STR("notifications/subscriptions/acknowledged")));
}

static void message_event(struct bridge *b, struct exchange *c, str data)
{
    struct rpc_fault fault;
    struct rpc m;

    if (!rpc_read(b->scratch, data, &m, &fault)) {
        lines_note("the server sent what is no message: " STR_FMT, STR_ARG(fault.message));
        return;
    }
    if (is_known(c, &m))
        return;
    if (m.kind == RPC_RESPONSE)
        answer(b, c, data, &c->connection->parser.response);
    else if (!c->cancelled)
        lines_put(b, data);
}

/* Whether a body is the answer to this exchange, though the status says that something is wrong. */
static bool is_answer(struct bridge *b, const struct exchange *c, const struct response *r)
{
    struct rpc_fault fault;
    struct rpc m;

    return rpc_read(b->scratch, r->body, &m, &fault) && m.kind == RPC_RESPONSE && c->rpc.id &&
           json_equal(m.id, c->rpc.id);
}

/* What is wrong may be mended by the bridge itself: true, it is tried again. */
static bool mend(struct bridge *b, struct exchange *c, const struct response *r)
{
    if (r->status == 503 && c->tries + 1 < BRIDGE_TRIES_MAX) {
        exchange_retry(b, c, 200 << c->tries++);
        return true;
    }
    if (c->renewals == RENEWALS_MAX || !(r->status == 401 || (r->status == 404 && c->session)))
        return false;
    c->renewals++;
    if (r->status == 404) {
        legacy_lost(b, c);
    } else {
        identity_renew(b);
        upstream_forget(b);
    }
    exchange_retry(b, c, 0);
    return true;
}

static void message_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    bool request = c->rpc.kind == RPC_REQUEST;

    if (c->answered || c->cancelled) {
        exchange_end(b, c);
        return;
    }
    if (r->status == 200 && request && !r->body.len) {
        exchange_lost(b, c, true); /* a stream that ended before its time */
        return;
    }
    if (r->status >= 400 && mend(b, c, r))
        return;
    if (request && (r->status == 200 || is_answer(b, c, r)))
        answer(b, c, r->body, r);
    else if (request || r->status >= 400)
        refuse(b, c, exchange_refusal(b->scratch, r));
    if (is_legacy(c))
        legacy_over(b, c, r->status);
    exchange_end(b, c);
}

static const struct exchange_kind message = { .head = head_message,
                                              .ready = message_ready,
                                              .event = message_event,
                                              .done = message_done,
                                              .failed = message_failed };
