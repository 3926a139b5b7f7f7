/* uri.c: splitting, resolving and decoding references. */
#include "json/uri.h"

struct uri {
    str scheme, authority, path, query; /* without their marks */
    bool has_scheme, has_authority, has_query;
};

void uri_split(str uri, str *without_fragment, str *fragment)
{
    str_cut(uri, '#', without_fragment, fragment);
}

str uri_without_empty_fragment(str uri)
{
    return str_ends(uri, STR("#")) ? str_slice(uri, 0, uri.len - 1) : uri;
}

str uri_without_scheme(str uri)
{
    static const str schemes[] = { { "http:", 5 }, { "https:", 6 } };

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (str_starts(uri, schemes[i]))
            return str_slice(uri, schemes[i].len, uri.len);
    return uri;
}

bool uri_is_twin(str a, str b)
{
    str place = uri_without_scheme(a);

    return str_eq(a, b) ||
           (str_starts(place, STR("//json-schema.org/")) && str_eq(place, uri_without_scheme(b)));
}

static bool is_scheme(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i], low = (char)(c | 0x20);
        bool letter = low >= 'a' && low <= 'z';
        bool more = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (!letter && (i == 0 || !more))
            return false;
    }
    return s.len > 0;
}

static struct uri uri_parse(str text)
{
    struct uri u = { 0 };
    str head, rest;

    uri_split(text, &text, &rest);
    u.has_query = str_cut(text, '?', &text, &u.query);
    if (str_cut(text, ':', &head, &rest) && is_scheme(head)) {
        u.has_scheme = true;
        u.scheme = head;
        text = rest;
    }
    if (str_starts(text, STR("//"))) {
        u.has_authority = true;
        text = str_slice(text, 2, text.len);
        size_t end = str_find(text, '/');
        u.authority = str_slice(text, 0, end);
        text = str_slice(text, end, text.len);
    }
    u.path = text;
    return u;
}

/* Takes the last segment, with its slash, off what was written since `start`. */
static void segment_drop(struct buf *out, size_t start)
{
    while (out->len > start && out->at[out->len - 1] != '/')
        out->len--;
    if (out->len > start)
        out->len--;
}

/* RFC 3986 §5.2.4: resolves the segments "." and "..". */
static void path_normalize(struct buf *out, str path)
{
    size_t start = out->len;

    while (path.len) {
        bool slash = path.at[0] == '/';
        size_t end = slash + str_find(str_slice(path, slash, path.len), '/');
        str segment = str_slice(path, slash, end);
        bool last = end == path.len;
        if (str_eq(segment, STR(".")) || str_eq(segment, STR(".."))) {
            if (segment.len == 2)
                segment_drop(out, start);
            if (last && (slash || out->len > start))
                buf_byte(out, '/');
        } else {
            buf_add(out, str_slice(path, 0, end));
        }
        path = str_slice(path, end, path.len);
    }
}

/* RFC 3986 §5.2.3: a relative path takes the place of the base's last segment. */
static str path_merge(struct arena *a, const struct uri *base, str path)
{
    struct buf merged = buf_in(a);

    if (base->has_authority && base->path.len == 0) {
        buf_byte(&merged, '/');
    } else {
        size_t keep = base->path.len;
        while (keep > 0 && base->path.at[keep - 1] != '/')
            keep--;
        buf_add(&merged, str_slice(base->path, 0, keep));
    }
    buf_add(&merged, path);
    return buf_str(&merged);
}

str uri_resolve(struct arena *a, str base_text, str reference)
{
    struct uri base = uri_parse(base_text), r = uri_parse(reference);
    struct buf out = buf_in(a);
    bool own_authority = r.has_scheme || r.has_authority;

    if (!own_authority) {
        if (r.path.len == 0) {
            r.path = base.path;
            if (!r.has_query) {
                r.query = base.query;
                r.has_query = base.has_query;
            }
        } else if (r.path.at[0] != '/') {
            r.path = path_merge(a, &base, r.path);
        }
        r.authority = base.authority;
        r.has_authority = base.has_authority;
    }
    if (!r.has_scheme) {
        r.scheme = base.scheme;
        r.has_scheme = base.has_scheme;
    }

    if (r.has_scheme) {
        buf_add(&out, r.scheme);
        buf_byte(&out, ':');
    }
    if (r.has_authority) {
        buf_add(&out, STR("//"));
        buf_add(&out, r.authority);
    }
    path_normalize(&out, r.path);
    if (r.has_query) {
        buf_byte(&out, '?');
        buf_add(&out, r.query);
    }
    return buf_str(&out);
}

static int hex_value(char c)
{
    char low = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

str uri_decode(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < text.len; i++) {
        int high = text.len - i > 2 && text.at[i] == '%' ? hex_value(text.at[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text.at[i + 2]) : -1;
        if (low >= 0) {
            buf_byte(&out, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_byte(&out, text.at[i]);
        }
    }
    return buf_str(&out);
}
