/* http.c: the route /mcp: what its requests want, as far as their heads tell.
 *
 * POST brings a message; GET listens to what belongs to no message, or takes up a stream that
 * broke; DELETE ends a session. The last two are for clients of the older revisions: without a
 * session there is nothing that they could be about. */
#include "wire/http/text.h"
#include "wire/mcp/private.h"

/* ---- refusals ---- */

static void fault(struct http *h, int status, const char *message)
{
    http_respond(&h->x, status, "application/json",
                 mcp_fault(h->x.arena, NULL, RPC_INVALID, message));
}

static bool accepts(struct http *h, const char *type)
{
    str accept;

    if (!http_header_list(h->x.arena, h->x.request, "accept", &accept) ||
        http_accepts(accept, str_from(type), NULL) > 0)
        return true;
    http_problem(h, 406,
                 arena_printf(h->x.arena, "expected Accept to allow %s, found \"" STR_FMT "\"",
                              type, STR_ARG(http_legible(h->x.arena, accept))),
                 STR(""));
    return false;
}

/* A page in a browser cannot send this type elsewhere without asking first. */
static err check_media(struct http *h)
{
    str type = STR(""), encoding;

    if (!http_header(h->x.request, "content-type", &type) ||
        !http_media_is(type, STR("application/json")))
        return err_new(h->x.arena, ERR_UNSUPPORTED,
                       "expected Content-Type to be application/json, found \"" STR_FMT "\"",
                       STR_ARG(http_legible(h->x.arena, type)));
    if (http_header(h->x.request, "content-encoding", &encoding) &&
        !http_same(encoding, STR("identity")))
        return err_new(h->x.arena, ERR_UNSUPPORTED,
                       "expected no Content-Encoding, found \"" STR_FMT
                       "\": send the body as it is",
                       STR_ARG(http_legible(h->x.arena, encoding)));
    return NULL;
}

static struct grant *asker(const struct http *h)
{
    return h->server->options.mcp_open ? NULL : h->x.conn->grant;
}

/* NULL: it has been refused. */
static struct mcp_session *session_of(struct http *h)
{
    struct mcp_session *session = mcp_session_find(h->server, h->x.request, asker(h));
    str id;

    if (session)
        return session;
    if (http_header(h->x.request, "mcp-session-id", &id)) {
        fault(h, 404, "there is no such session (any more): begin another one with initialize");
        return NULL;
    }
    h->match.allowed[0] = STR("POST");
    h->match.allowed_count = 1;
    http_problem(h, 405,
                 STR("without Mcp-Session-Id there is nothing here but POST: a session is begun "
                     "by initialize, in the revisions that have sessions"),
                 STR(""));
    return NULL;
}

/* ---- the methods ---- */

static void post(struct http *h)
{
    err e = check_media(h);

    if (!e && asker(h))
        e = http_check_state(h);
    if (e)
        http_refuse(&h->x, e);
    else if (accepts(h, "application/json"))
        http_want_body(h, mcp_work_begin);
}

/* What belongs to no request: lists that change, and the resources that were subscribed to. */
static void listen(struct http *h, struct mcp_session *session)
{
    static const enum mcp_topic_kind lists[] = { TOPIC_TOOLS, TOPIC_PROMPTS, TOPIC_RESOURCES };

    mcp_channel_attach(session->general, h, session->general->sent);
    mcp_channel_prime(session->general);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (mcp_listener_add(session->listener, h->x.arena, lists[i], STR(""), asker(h)))
            break; /* it hears of as much as it may */
}

static void get(struct http *h)
{
    struct mcp_session *session = session_of(h);
    struct mcp_channel *channel;
    int64_t after;
    str last;

    if (!session || !accepts(h, "text/event-stream"))
        return;
    if (!http_header(h->x.request, "last-event-id", &last))
        listen(h, session);
    else if (mcp_session_resume(session, last, &channel, &after))
        mcp_channel_attach(channel, h, after);
    else
        fault(h, 400, "Last-Event-ID is of no stream that is kept: send the request again");
}

static void end(struct http *h)
{
    struct mcp_session *session = session_of(h);

    if (!session)
        return;
    mcp_session_end(session);
    http_respond(&h->x, 204, NULL, STR(""));
}

void mcp_route(struct http_exchange *x)
{
    struct http *h = http_of(x);

    if (str_eq(x->request->method, STR("POST")))
        post(h);
    else if (str_eq(x->request->method, STR("GET")))
        get(h);
    else
        end(h);
}
