/* fuzz: src/client/url.c */
/* url.c: a line that is a URL, and lines that are values of parameters.
 *
 * A URL that is taken, written again from its parts, is read as the same; one that is not is
 * refused without showing a password. A target has nothing but what a first line of a request may
 * have, and every value comes out of it as it went in. */
#include "client/url.h"

#include <assert.h>

#include "base/utf8.h"
#include "wire/http/text.h"

static bool url_equal(const struct url *x, const struct url *y)
{
    return x->scheme == y->scheme && str_eq(x->host, y->host) && x->port == y->port &&
           str_eq(x->socket, y->socket) && str_eq(x->base, y->base);
}

static void written_check(struct arena *a, const struct url *u)
{
    static const char *const schemes[] = { [URL_HTTP] = "http", [URL_HTTPS] = "https" };
    struct url again;
    str text;

    if (u->scheme == URL_UNIX)
        text = arena_printf(a, "unix:%s" STR_FMT, str_starts(u->socket, STR("/")) ? "//" : "",
                            STR_ARG(u->socket));
    else
        text = arena_printf(a, "%s://" STR_FMT STR_FMT, schemes[u->scheme],
                            STR_ARG(url_authority(a, u)), STR_ARG(u->base));
    err e = url_parse(a, text, &again);
    assert(!e && url_equal(u, &again));
    assert(url_is_loopback(u) == url_is_loopback(&again));
}

static bool is_of_target(char c)
{
    return c > ' ' && c < 0x7f && c != '#';
}

static void target_check(struct arena *a, const struct url *u, str id, str filter)
{
    const struct url_param params[] = { { "id", id }, { "filter", filter } };
    str target, path, query, value;
    struct http_pair *pairs;
    size_t count;

    err e = url_target(a, u, "/states/{id}/history", params, 2, &target);
    if (e) {
        assert(e->kind == ERR_INVALID);
        assert(id.len == 0 || str_eq(id, STR(".")) || str_eq(id, STR("..")));
        return;
    }
    for (size_t i = 0; i < target.len; i++)
        assert(is_of_target(target.at[i]));
    bool asks = str_cut(str_slice(target, u->base.len, target.len), '?', &path, &query);
    assert(asks && str_starts(path, STR("/states/")) && str_ends(path, STR("/history")));
    str segment = str_slice(path, strlen("/states/"), path.len - strlen("/history"));
    assert(str_find(segment, '/') == segment.len);
    if (!utf8_valid(id) || !utf8_valid(filter) || str_find(id, '\0') < id.len ||
        str_find(filter, '\0') < filter.len)
        return;
    e = http_decode(a, segment, &value);
    assert(!e && str_eq(value, id));
    e = http_query(a, query, &pairs, &count);
    assert(!e && count == 1 && str_eq(pairs[0].value, filter));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? (str){ (const char *)data, size } : STR(""), line, id, filter;
    struct url u;

    str_cut(text, '\n', &line, &text);
    str_cut(text, '\n', &id, &filter);
    err e = url_parse(a, line, &u);
    if (e) {
        assert(e->kind == ERR_INVALID && e->message.len);
        assert(!str_contains(e->message, STR("hunter2@"))); /* nobody's password is shown */
    } else {
        assert(u.scheme == URL_UNIX ? u.socket.len > 0 : u.host.len > 0 && u.port > 0);
        written_check(a, &u);
        target_check(a, &u, id, filter);
    }
    arena_free(a);
    return 0;
}
