/* head.c: what the lines of a request's head say.
 *
 * Each function reads one line, or one value, that is whole. Where lines come
 * from and which comes next is parse.c's business. */
#include "wire/http/private.h"

enum {
    METHOD_MAX = 16,
    LENGTH_DIGITS_MAX = 18, /* what 64 bits hold; more are beyond every limit */
};

/* ---- refusing ---- */

bool parse_refuse(struct http_parser *p, int status, const char *format, ...)
{
    struct buf message = buf_in(p->arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    p->status = status;
    p->message = buf_str(&message);
    return false;
}

const char *http_found(struct http_parser *p, str line, size_t at)
{
    if (at >= line.len)
        return "the end of the line";
    unsigned char c = (unsigned char)line.at[at];
    return arena_printf(p->arena, c > 0x20 && c < 0x7f ? "'%c'" : "byte 0x%02x", c).at;
}

const char *http_printable(struct http_parser *p, str value)
{
    struct buf out = buf_in(p->arena);

    for (size_t i = 0; i < value.len && i < 40; i++)
        buf_byte(&out, value.at[i] >= 0x20 && value.at[i] < 0x7f ? value.at[i] : '?');
    if (value.len > 40)
        buf_add(&out, STR("…"));
    return buf_str(&out).at;
}

/* ---- the request line ---- */

static bool read_absolute(struct http_parser *p, str *path)
{
    struct http_request *r = &p->request;
    str rest = http_drop(r->target, strlen("http://"));
    size_t end = http_span(rest, HTTP_HOST);

    r->host = str_slice(rest, 0, end);
    *path = http_drop(rest, end);
    if (end == 0)
        return parse_refuse(p, 400, "expected a host behind http:// in the target, found %s",
                            http_found(p, rest, 0));
    if (path->len > 0 && path->at[0] != '/' && path->at[0] != '?')
        return parse_refuse(p, 400,
                            "expected a host, an optional port and a path in the target, found %s",
                            http_found(p, rest, end));
    return true;
}

static bool read_target(struct http_parser *p)
{
    struct http_request *r = &p->request;
    str path = r->target;

    if (http_same(str_slice(path, 0, strlen("http://")), STR("http://"))) {
        if (!read_absolute(p, &path))
            return false;
    } else if (str_eq(path, STR("*"))) {
        if (!str_eq(r->method, STR("OPTIONS")))
            return parse_refuse(p, 400,
                                "expected a path as the target, found * which is for OPTIONS");
    } else if (path.len == 0 || path.at[0] != '/') {
        return parse_refuse(p, 400, "expected the target to begin with '/' or http://, found %s",
                            http_found(p, path, 0));
    }
    str_cut(path, '?', &r->path, &r->query);
    if (r->path.len == 0)
        r->path = STR("/");
    return true;
}

static bool read_version(struct http_parser *p, str version)
{
    if (str_eq(version, STR("HTTP/1.1")) || str_eq(version, STR("HTTP/1.0"))) {
        p->request.minor = version.at[7] == '1';
        return true;
    }
    return parse_refuse(
        p, str_starts(version, STR("HTTP/")) ? 505 : 400,
        "expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"%s\"",
        http_printable(p, version));
}

bool http_read_request_line(struct http_parser *p, str line)
{
    struct http_request *r = &p->request;
    size_t end = http_span(line, HTTP_TOKEN);

    r->method = str_slice(line, 0, end);
    if (end == 0 || end == line.len || line.at[end] != ' ')
        return parse_refuse(p, 400, "expected a method and one space, found %s",
                            http_found(p, line, end));
    if (end > METHOD_MAX)
        return parse_refuse(p, 501, "expected a method of at most %d letters, found %zu",
                            METHOD_MAX, end);

    line = http_drop(line, end + 1);
    end = http_span(line, HTTP_TARGET);
    r->target = str_slice(line, 0, end);
    if (end == 0 || end == line.len || line.at[end] != ' ')
        return parse_refuse(
            p, 400, "expected a target of visible ASCII without '#', and one space, found %s",
            http_found(p, line, end));
    return read_version(p, http_drop(line, end + 1)) && read_target(p);
}

/* ---- the fields that say how to read the rest ---- */

enum { SAW_HOST = 1, SAW_ENCODING = 2, SAW_CLOSE = 4, SAW_KEEP_ALIVE = 8, SAW_CONTINUE = 16 };

static bool read_host(struct http_parser *p, str value)
{
    struct http_request *r = &p->request;

    if (p->saw & SAW_HOST)
        return parse_refuse(p, 400, "expected one Host, found two");
    p->saw |= SAW_HOST;
    if (http_span(value, HTTP_HOST) != value.len)
        return parse_refuse(p, 400, "expected Host to be a name and an optional port, found %s",
                            http_found(p, value, http_span(value, HTTP_HOST)));
    if (r->host.len > 0 && !http_same(r->host, value))
        return parse_refuse(p, 400, "expected Host to be the host of the target, found \"%s\"",
                            http_printable(p, value));
    r->host = value;
    return true;
}

static bool read_content_length(struct http_parser *p, str value)
{
    struct http_request *r = &p->request;
    uint64_t length = 0;
    size_t end = 0;

    if (r->has_length)
        return parse_refuse(p, 400, "expected one Content-Length, found two");
    r->has_length = true;
    for (; end < value.len && value.at[end] >= '0' && value.at[end] <= '9'; end++)
        length = end < LENGTH_DIGITS_MAX ? length * 10 + (uint64_t)(value.at[end] - '0')
                                         : UINT64_MAX;
    if (end == 0 || end < value.len)
        return parse_refuse(p, 400, "expected Content-Length to be decimal digits, found \"%s\"",
                            http_printable(p, value));
    r->content_length = length;
    return true;
}

static bool read_transfer_encoding(struct http_parser *p, str value)
{
    if (p->saw & SAW_ENCODING)
        return parse_refuse(p, 400, "expected one Transfer-Encoding, found two");
    p->saw |= SAW_ENCODING;
    p->request.chunked = http_same(value, STR("chunked"));
    if (!p->request.chunked)
        return parse_refuse(p, 501, "expected Transfer-Encoding to be chunked, found \"%s\"",
                            http_printable(p, value));
    return true;
}

static bool read_connection(struct http_parser *p, str value)
{
    bool more = true;

    while (more) {
        str word;
        more = str_cut(value, ',', &word, &value);
        word = http_trim(word);
        if (word.len > 0 && !http_is_token(word))
            return parse_refuse(p, 400, "expected Connection to be a list of words, found \"%s\"",
                                http_printable(p, word));
        if (http_same(word, STR("close")))
            p->saw |= SAW_CLOSE;
        else if (http_same(word, STR("keep-alive")))
            p->saw |= SAW_KEEP_ALIVE;
        else if (http_same(word, STR("upgrade")))
            p->request.upgrade = true;
    }
    return true;
}

static bool read_expect(struct http_parser *p, str value)
{
    if (!http_same(value, STR("100-continue")))
        return parse_refuse(p, 417, "expected Expect to be 100-continue, found \"%s\"",
                            http_printable(p, value));
    p->saw |= SAW_CONTINUE;
    return true;
}

// clang-format off
static const struct {
    str name;
    bool (*read)(struct http_parser *p, str value);
} framing[] = {
    { STR("host"),              read_host              },
    { STR("content-length"),    read_content_length    },
    { STR("transfer-encoding"), read_transfer_encoding },
    { STR("connection"),        read_connection        },
    { STR("expect"),            read_expect            },
};
// clang-format on

bool http_read_framing(struct http_parser *p, struct http_field field)
{
    for (size_t i = 0; i < sizeof framing / sizeof *framing; i++)
        if (http_same(field.name, framing[i].name))
            return framing[i].read(p, field.value);
    return true;
}

bool http_check_length(struct http_parser *p)
{
    if (p->request.content_length <= p->limits.body_max)
        return true;
    return parse_refuse(p, 413,
                        "expected a body of at most %llu bytes, found a longer one announced",
                        (unsigned long long)p->limits.body_max);
}

bool http_check_head(struct http_parser *p)
{
    struct http_request *r = &p->request;

    if (r->minor == 1 && !(p->saw & SAW_HOST))
        return parse_refuse(p, 400, "expected a field Host, found none");
    if (r->chunked && r->has_length)
        return parse_refuse(p, 400, "expected Content-Length or Transfer-Encoding, found both");
    if (r->chunked && r->minor == 0)
        return parse_refuse(p, 400, "expected no Transfer-Encoding in HTTP/1.0, found chunked");
    if (!http_check_length(p))
        return false;

    r->keep_alive = !(p->saw & SAW_CLOSE) && (r->minor == 1 || p->saw & SAW_KEEP_ALIVE);
    r->upgrade = r->upgrade && r->minor == 1;
    r->expect_continue = p->saw & SAW_CONTINUE && r->minor == 1 &&
                         (r->chunked || r->content_length > 0);
    return true;
}

/* ---- any field ---- */

bool http_read_field(struct http_parser *p, str line, struct http_field *field)
{
    size_t end = http_span(line, HTTP_TOKEN);

    if (line.at[0] == ' ' || line.at[0] == '\t')
        return parse_refuse(p, 400,
                            "expected the name of a field, found a line that continues the last");
    if (end == 0 || end == line.len || line.at[end] != ':')
        return parse_refuse(p, 400,
                            "expected the name of a field and ':' right behind it, found %s",
                            http_found(p, line, end));

    str value = http_drop(line, end + 1);
    size_t good = http_value_span(value);
    if (good < value.len)
        return parse_refuse(p, 400, "expected no control bytes in the value of %s, found %s",
                            http_printable(p, str_slice(line, 0, end)), http_found(p, value, good));
    *field = (struct http_field){ str_slice(line, 0, end), http_trim(value) };
    return true;
}

/* ---- looking fields up ---- */

bool http_header(const struct http_request *r, const char *name, str *value)
{
    str wanted = str_from(name);

    for (uint32_t i = 0; i < r->field_count; i++) {
        if (http_same(r->fields[i].name, wanted)) {
            *value = r->fields[i].value;
            return true;
        }
    }
    return false;
}

uint32_t http_header_count(const struct http_request *r, const char *name)
{
    str wanted = str_from(name);
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->field_count; i++)
        count += http_same(r->fields[i].name, wanted);
    return count;
}

bool http_header_list(struct arena *a, const struct http_request *r, const char *name, str *list)
{
    if (http_header_count(r, name) <= 1)
        return http_header(r, name, list);

    struct buf joined = buf_in(a);
    str wanted = str_from(name);
    for (uint32_t i = 0; i < r->field_count; i++) {
        if (!http_same(r->fields[i].name, wanted))
            continue;
        if (joined.len > 0)
            buf_add(&joined, STR(", "));
        buf_add(&joined, r->fields[i].value);
    }
    *list = buf_str(&joined);
    return true;
}
