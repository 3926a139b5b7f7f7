/* url.c: reading URLs of servers and writing targets of requests. */
#include "client/url.h"

#include <arpa/inet.h>
#include <assert.h>
#include <sys/un.h>

#include "base/utf8.h"

enum {
    SOCKET_PATH_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
    SHOWN_MAX = 60, /* bytes of a found text in a message */
};

// clang-format off
static const struct { const char *start; uint16_t port; } schemes[] = {
    [URL_HTTP]  = { "http://",   80 },
    [URL_HTTPS] = { "https://", 443 },
    [URL_UNIX]  = { "unix:",      0 },
};
// clang-format on

/* ---- bytes ---- */

static char lowered(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'f');
}

static bool is_unreserved(char c)
{
    return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

static bool is_host_byte(char c)
{
    return is_unreserved(c) && c != '~';
}

/* What may stand in a path as it is, beside percent escapes. */
static bool is_path_byte(char c)
{
    return is_unreserved(c) || (c != '\0' && strchr("/:@!$&'()*+,;=", c));
}

/* ---- messages ---- */

/* The found text in quotes, cut short, with nothing in it that a terminal would obey. What has an @ in
 * it may hold a password, wherever it stands, and is not shown. */
static str shown(struct arena *a, str text)
{
    struct buf out = buf_in(a);
    str cut = utf8_cut(text, SHOWN_MAX);

    if (text.len == 0)
        return STR("nothing");
    if (str_find(text, '@') < text.len)
        return STR("a user name or password before an @");
    buf_byte(&out, '"');
    for (size_t i = 0; i < cut.len; i++) {
        if ((unsigned char)cut.at[i] > ' ' && (unsigned char)cut.at[i] < 0x7f)
            buf_byte(&out, cut.at[i]);
        else
            buf_printf(&out, "\\x%02x", (unsigned char)cut.at[i]);
    }
    buf_add(&out, cut.len < text.len ? STR("…\"") : STR("\""));
    return buf_str(&out);
}

static err expected(struct arena *a, const char *what, str found)
{
    found = shown(a, found);
    return err_new(a, ERR_INVALID, "URL: expected %s, found " STR_FMT, what, STR_ARG(found));
}

/* ---- the parts of a URL ---- */

static str lower_copy(struct arena *a, str text)
{
    char *lower = arena_alloc(a, text.len + 1);

    for (size_t i = 0; i < text.len; i++)
        lower[i] = lowered(text.at[i]);
    lower[text.len] = '\0';
    return (str){ lower, text.len };
}

static err parse_scheme(struct arena *a, str *text, enum url_scheme *out)
{
    str lower = lower_copy(a, *text), head, rest;

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        str start = str_from(schemes[i].start);
        if (str_starts(lower, start)) {
            *text = str_slice(*text, start.len, text->len);
            *out = (enum url_scheme)i;
            return NULL;
        }
    }
    /* Only what stands where the scheme should be: a password may come behind it. */
    bool colon = str_cut(*text, ':', &head, &rest);
    return expected(a, "http://, https:// or unix: at its start",
                    str_slice(*text, 0, head.len + colon));
}

static err parse_socket(struct arena *a, str path, struct url *out)
{
    if (str_starts(path, STR("//"))) {
        path = str_slice(path, 2, path.len);
        if (!str_starts(path, STR("/")))
            return expected(a, "an absolute path behind unix:// (unix:name is a relative one)",
                            path);
    }
    if (path.len == 0)
        return expected(a, "the path of a socket behind unix:", path);
    if (path.len > SOCKET_PATH_MAX)
        return err_new(a, ERR_INVALID,
                       "URL: expected at most %d bytes in the path of a socket, found %zu",
                       SOCKET_PATH_MAX, path.len);
    if (str_find(path, '\0') < path.len)
        return expected(a, "a path of a socket without NUL", path);
    out->socket = arena_copy(a, path);
    return NULL;
}

/* An address in binary form; false when the text is none. */
static bool address_read(int family, str text, unsigned char out[16])
{
    char z[INET6_ADDRSTRLEN];

    if (text.len >= sizeof z || str_find(text, '\0') < text.len)
        return false;
    memcpy(z, text.at, text.len);
    z[text.len] = '\0';
    return inet_pton(family, z, out) == 1;
}

/* Whether resolvers would take the name for an IPv4 address, in one of its many old spellings:
 * its last part is a number, decimal or after 0x. */
static bool is_numeric_host(str host)
{
    while (host.len > 0 && host.at[host.len - 1] == '.')
        host.len--;
    size_t start = host.len;
    while (start > 0 && host.at[start - 1] != '.')
        start--;

    str last = str_slice(host, start, host.len);
    bool hex = last.len >= 2 && last.at[0] == '0' && lowered(last.at[1]) == 'x';
    for (size_t i = hex ? 2 : 0; i < last.len; i++)
        if (!(hex ? is_hex(last.at[i]) : is_digit(last.at[i])))
            return false;
    return last.len > 0;
}

static err check_name(struct arena *a, str host)
{
    unsigned char address[16];

    if (host.len == 0)
        return expected(a, "a host", host);
    for (size_t i = 0; i < host.len; i++)
        if (!is_host_byte(host.at[i]))
            return expected(a, "a host of letters, digits and -._", host);
    if (is_numeric_host(host) && !address_read(AF_INET, host, address))
        return expected(a, "an IPv4 address like 127.0.0.1", host);
    return NULL;
}

/* An IPv6 address in brackets, and what stands behind it. */
static err split_literal(struct arena *a, str authority, str *host, str *port)
{
    unsigned char address[16];
    size_t close = str_find(authority, ']');

    *host = str_slice(authority, 1, close);
    *port = str_slice(authority, close + 1, authority.len);
    if (close == authority.len || !address_read(AF_INET6, *host, address))
        return expected(a, "an IPv6 address like [::1]", authority);
    if (port->len > 0 && port->at[0] != ':')
        return expected(a, "a port or the end behind an IPv6 address", *port);
    return NULL;
}

/* The host, and what stands behind it: nothing, or a colon and more. */
static err split_authority(struct arena *a, str authority, str *host, str *port)
{
    if (str_starts(authority, STR("[")))
        return split_literal(a, authority, host, port);
    size_t colon = str_find(authority, ':');
    *host = str_slice(authority, 0, colon);
    *port = str_slice(authority, colon, authority.len);
    return check_name(a, *host);
}

static err parse_port(struct arena *a, str text, uint16_t *out)
{
    int64_t port;

    if (text.len == 0)
        return NULL;
    text = str_slice(text, 1, text.len);
    if (!str_to_int(text, &port) || port < 1 || port > UINT16_MAX)
        return expected(a, "a port from 1 to 65535 behind the colon", text);
    *out = (uint16_t)port;
    return NULL;
}

static err parse_base(struct arena *a, str path, str *out)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.at[i];
        str rest = str_slice(path, i, path.len);
        if (c == '?' || c == '#')
            return expected(a, "a URL without query and fragment", rest);
        if (c == '%' && !(rest.len >= 3 && is_hex(rest.at[1]) && is_hex(rest.at[2])))
            return expected(a, "two hexadecimal digits behind %", rest);
        if (c != '%' && !is_path_byte(c))
            return expected(a, "a percent-encoded path", rest);
    }
    while (path.len > 0 && path.at[path.len - 1] == '/')
        path.len--;
    *out = arena_copy(a, path);
    return NULL;
}

/* Where the authority ends that the text begins with. */
static size_t authority_end(str text)
{
    size_t end = 0;

    while (end < text.len && text.at[end] != '/' && text.at[end] != '?' && text.at[end] != '#')
        end++;
    return end;
}

err url_parse(struct arena *a, str text, struct url *out)
{
    *out = (struct url){ .host = STR(""), .socket = STR(""), .base = STR("") };
    TRY(parse_scheme(a, &text, &out->scheme));
    if (out->scheme == URL_UNIX)
        return parse_socket(a, text, out);

    size_t end = authority_end(text);
    str authority = str_slice(text, 0, end), host, port;
    if (str_find(authority, '@') < authority.len)
        return err_new(a, ERR_INVALID,
                       "URL: expected a host, found a user name or password before an @");
    TRY(split_authority(a, authority, &host, &port));
    out->host = lower_copy(a, host);
    out->port = schemes[out->scheme].port;
    TRY(parse_port(a, port, &out->port));
    return parse_base(a, str_slice(text, end, text.len), &out->base);
}

bool url_is_loopback(const struct url *u)
{
    static const unsigned char loopback_6[16] = { [15] = 1 };
    unsigned char address[16];

    if (u->scheme == URL_UNIX || str_eq(u->host, STR("localhost")))
        return true;
    if (address_read(AF_INET, u->host, address))
        return address[0] == 127;
    return address_read(AF_INET6, u->host, address) &&
           memcmp(address, loopback_6, sizeof loopback_6) == 0;
}

str url_authority(struct arena *a, const struct url *u)
{
    struct buf out = buf_in(a);
    bool is_ipv6 = str_find(u->host, ':') < u->host.len;

    if (u->scheme == URL_UNIX)
        return STR("localhost");
    buf_add(&out, is_ipv6 ? STR("[") : STR(""));
    buf_add(&out, u->host);
    buf_add(&out, is_ipv6 ? STR("]") : STR(""));
    if (u->port != schemes[u->scheme].port)
        buf_printf(&out, ":%u", (unsigned)u->port);
    return buf_str(&out);
}

/* ---- targets ---- */

void url_encode(struct buf *out, str text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (is_unreserved(text.at[i])) {
            buf_byte(out, text.at[i]);
        } else {
            buf_byte(out, '%');
            buf_byte(out, digits[c >> 4]);
            buf_byte(out, digits[c & 15]);
        }
    }
}

static const struct url_param *param_find(const struct url_param *params, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(str_from(params[i].name), name))
            return &params[i];
    return NULL;
}

/* Whether the pattern has a {name}. */
static bool is_captured(const char *pattern, str name)
{
    str rest = str_from(pattern), before, capture;

    while (str_cut(rest, '{', &before, &rest))
        if (str_cut(rest, '}', &capture, &rest) && str_eq(capture, name))
            return true;
    return false;
}

static err write_segment(struct arena *a, struct buf *out, const struct url_param *p)
{
    if (p->value.len == 0 || str_eq(p->value, STR(".")) || str_eq(p->value, STR(".."))) {
        str found = shown(a, p->value);
        return err_new(a, ERR_INVALID,
                       "expected \"%s\" to be a part of a path, not empty, \".\" or \"..\", "
                       "found " STR_FMT,
                       p->name, STR_ARG(found));
    }
    url_encode(out, p->value);
    return NULL;
}

err url_target(struct arena *a, const struct url *u, const char *pattern,
               const struct url_param *params, size_t count, str *out)
{
    struct buf target = buf_in(a);
    str rest = str_from(pattern), before, name;

    assert(str_starts(rest, STR("/")));
    buf_add(&target, u->base);
    while (str_cut(rest, '{', &before, &rest)) {
        bool closed = str_cut(rest, '}', &name, &rest);
        const struct url_param *p = param_find(params, count, name);
        assert(closed && p); /* the pattern is ours, and so are the names */
        buf_add(&target, before);
        TRY(write_segment(a, &target, p));
    }
    buf_add(&target, before);

    char mark = '?';
    for (size_t i = 0; i < count; i++) {
        if (is_captured(pattern, str_from(params[i].name)))
            continue;
        buf_byte(&target, mark);
        url_encode(&target, str_from(params[i].name));
        buf_byte(&target, '=');
        url_encode(&target, params[i].value);
        mark = '&';
    }
    *out = buf_str(&target);
    return NULL;
}
