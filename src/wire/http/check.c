/* check.c: who asks, and for whom the request is.
 *
 * A page in a browser can make it send requests here, under a name of its own
 * that it lets point at this machine: so the names are checked before the token.
 * Does not know what a token stands for. */
#include "wire/http/glue.h"
#include "wire/http/text.h"

str http_legible(struct arena *a, str value)
{
    size_t most = 60;
    str cut = arena_copy(a, str_slice(value, 0, most));

    for (char *at = (char *)cut.at; at < cut.at + cut.len; at++)
        if (*at < 0x20 || *at > 0x7e)
            *at = '?';
    return value.len > most ? arena_printf(a, STR_FMT "…", STR_ARG(cut)) : cut;
}

/* ---- Host ---- */

/* Four decimal numbers, of which the first is 127: "127.example.com" is a name like any other. */
static bool is_loopback_v4(str host)
{
    int64_t number;
    int parts = 0;

    for (bool more = true; more; parts++) {
        str part;
        more = str_cut(host, '.', &part, &host);
        if (part.len == 0 || part.len > 3 || part.at[0] == '-' || !str_to_int(part, &number) ||
            number > 255 || (parts == 0 && number != 127))
            return false;
    }
    return parts == 4;
}

static bool is_port(str port)
{
    int64_t number;
    return port.len == 0 || (port.at[0] != '-' && str_to_int(port, &number) && number <= 65535);
}

/* The name without its port; false when what follows the name is none. */
static bool host_split(str host, str *name)
{
    size_t end = host.len > 0 && host.at[0] == '[' ? str_find(host, ']') + 1 : str_find(host, ':');

    *name = str_slice(host, 0, end);
    return end >= host.len || (host.at[end] == ':' && is_port(str_slice(host, end + 1, host.len)));
}

static bool host_is_ours(const struct server *s, str host)
{
    str name;

    if (!host_split(host, &name))
        return false;
    if (http_same(name, STR("localhost")) || str_eq(name, STR("[::1]")) || is_loopback_v4(name))
        return true;
    for (size_t i = 0; i < s->options.host_count; i++)
        if (http_same(name, s->options.hosts[i]) || http_same(host, s->options.hosts[i]))
            return true;
    return false;
}

err http_check_host(struct http *h)
{
    str host = h->parser.request.host;

    if (host.len > 0 && str_eq(host, (str){ h->host, h->host_len }))
        return NULL;
    if (link_is_local(h->x.conn->link) || host_is_ours(h->server, host)) {
        h->host_len = host.len <= sizeof h->host ? host.len : 0;
        memcpy(h->host, host.at, h->host_len);
        return NULL;
    }
    return err_new(h->x.arena, ERR_MISDIRECTED,
                   "expected Host to be localhost, a loopback address or a name that this server "
                   "was started with, found \"" STR_FMT "\"",
                   STR_ARG(http_legible(h->x.arena, host)));
}

/* ---- Origin ---- */

static bool is_same_origin(str origin, str host)
{
    str scheme = STR("http://"), secure = STR("https://");

    if (http_same(str_slice(origin, 0, scheme.len), scheme))
        origin = str_slice(origin, scheme.len, origin.len);
    else if (http_same(str_slice(origin, 0, secure.len), secure))
        origin = str_slice(origin, secure.len, origin.len);
    else
        return false;
    return origin.len > 0 && http_same(origin, host);
}

err http_check_origin(struct http *h)
{
    const struct http_request *r = &h->parser.request;
    str origin;

    if (!http_header(r, "origin", &origin))
        return NULL;
    if (http_header_count(r, "origin") == 1 && is_same_origin(origin, r->host))
        return NULL;
    return err_new(h->x.arena, ERR_FORBIDDEN,
                   "expected no Origin, or that of this server, found \"" STR_FMT
                   "\": pages of other sites may not ask here",
                   STR_ARG(http_legible(h->x.arena, origin)));
}

/* ---- what there is one of ---- */

/* Who reads the first and who reads the last of them, as a proxy before us may, see two requests. */
err http_check_single(struct http *h)
{
    static const char *const names[] = {
        "authorization",  "content-type",  "x-workflow-state-id",
        "mcp-session-id", "last-event-id", "mcp-protocol-version"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (http_header_count(&h->parser.request, names[i]) > 1)
            return err_new(h->x.arena, ERR_INVALID,
                           "expected one header %s, found more than one: send it once", names[i]);
    return NULL;
}

/* ---- Authorization ---- */

err http_bearer(struct http *h, str *token)
{
    str shown = STR(""), scheme;

    if (http_header(&h->parser.request, "authorization", &shown) &&
        str_cut(shown, ' ', &scheme, token) && http_same(scheme, STR("bearer"))) {
        *token = str_trim(*token);
        if (token->len > 0)
            return NULL;
    }
    return err_new(h->x.arena, ERR_UNAUTHENTICATED,
                   "expected Authorization: Bearer and a token, found %s: clients take it from "
                   "BATON_TOKEN or BATON_TOKEN_FILE; the operator's is in the file operator.token "
                   "of the server's data directory",
                   shown.len > 0 ? "something else" : "none");
}

bool http_is_known(const struct http *h)
{
    const struct server *s = h->server;
    const struct grant *g = h->x.conn->grant;
    str shown;

    return g && !g->revoked && http_header(&h->parser.request, "authorization", &shown) &&
           str_eq(shown, (str){ h->shown, h->shown_len }) &&
           (g->expires_at_ms == 0 || g->expires_at_ms > s->options.now_ms(s->options.self));
}

void http_remember(struct http *h)
{
    str shown = STR("");

    http_header(&h->parser.request, "authorization", &shown);
    if (shown.len > h->shown_room) {
        h->shown = mem_grow(h->shown, shown.len);
        h->shown_room = shown.len;
    }
    if (shown.len > 0)
        memcpy(h->shown, shown.at, shown.len);
    h->shown_len = shown.len;
}

/* ---- X-Workflow-State-Id ---- */

/* Clients fill it from a variable, which may be empty. */
err http_check_state(struct http *h)
{
    str named;

    if (!http_header(&h->parser.request, "x-workflow-state-id", &named) || named.len == 0 ||
        actor_selects(h->x.conn->grant->actor, named) != SELECTION_UNKNOWN)
        return NULL;
    return err_new(h->x.arena, ERR_NOT_FOUND,
                   "there is no state " STR_FMT " for this token, but X-Workflow-State-Id names it",
                   STR_ARG(http_legible(h->x.arena, named)));
}

str http_selects(const struct http *h)
{
    str named;

    if (!http_header(&h->parser.request, "x-workflow-state-id", &named) || named.len == 0 ||
        actor_selects(h->x.conn->grant->actor, named) != SELECTION_NAME)
        return STR("");
    return named;
}

/* ---- Content-Type ---- */

static bool is_taken(const struct op *op, str type)
{
    if (http_media_is(type, STR("application/json")))
        return true;
    for (int i = 0; i < OP_BODIES_MAX; i++)
        if (op->bodies[i].media_type && http_media_is(type, str_from(op->bodies[i].media_type)))
            return true;
    return false;
}

str http_media_types(struct arena *a, const struct op *op)
{
    struct buf out = buf_in(a);

    buf_add(&out, STR("application/json"));
    for (int i = 0; i < OP_BODIES_MAX; i++)
        if (op->bodies[i].media_type && strcmp(op->bodies[i].media_type, "application/json") != 0)
            buf_printf(&out, ", %s", op->bodies[i].media_type);
    return buf_str(&out);
}

err http_check_media(struct http *h)
{
    const struct http_request *r = &h->parser.request;
    str type, encoding;

    if (!http_has_body(r))
        return NULL;
    if (http_header(r, "content-type", &type) && !is_taken(h->match.op, type))
        return err_new(h->x.arena, ERR_UNSUPPORTED,
                       "expected Content-Type to be one of " STR_FMT ", found \"" STR_FMT "\"",
                       STR_ARG(http_media_types(h->x.arena, h->match.op)),
                       STR_ARG(http_legible(h->x.arena, type)));
    if (http_header(r, "content-encoding", &encoding) && !http_same(encoding, STR("identity")))
        return err_new(h->x.arena, ERR_UNSUPPORTED,
                       "expected no Content-Encoding, found \"" STR_FMT
                       "\": send the body as it is",
                       STR_ARG(http_legible(h->x.arena, encoding)));
    return NULL;
}
