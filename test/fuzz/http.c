/* fuzz: src/wire/http/parse.c src/wire/http/head.c src/wire/http/text.c */
/* http.c: any bytes as what comes over a connection.
 *
 * However the bytes are cut, the same is said about them; what was read keeps the promises of
 * http_parse.h, and when it is written again in the plainest way it is read as the same. Its query,
 * its values and the bytes themselves go through everything that reads such texts. */
#include "wire/http/parse.h"

#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "wire/http/text.h"

static const struct http_limits small = {
    .request_line_max = 200,
    .field_max = 100,
    .fields_max = 300,
    .field_count_max = 8,
    .body_max = 500,
};

static void tell(struct buf *out, const struct http_request *r)
{
    const str texts[] = { r->method, r->target, r->path, r->query, r->host, r->body };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        buf_printf(out, "%zu:" STR_FMT " ", texts[i].len, STR_ARG(texts[i]));
    buf_add(out, r->body);
    buf_printf(out, "%d%d%d%d%d%d %llu", r->minor, r->has_length, r->chunked, r->keep_alive,
               r->upgrade, r->expect_continue, (unsigned long long)r->content_length);
    for (uint32_t i = 0; i < r->field_count; i++)
        buf_printf(out, " %zu:" STR_FMT "=%zu:" STR_FMT, r->fields[i].name.len,
                   STR_ARG(r->fields[i].name), r->fields[i].value.len, STR_ARG(r->fields[i].value));
    buf_byte(out, '\n');
}

/* One request and its fields, written again. */
static str written(struct arena *a, const struct http_request *r)
{
    struct buf out = buf_in(a);

    buf_printf(&out, STR_FMT " " STR_FMT " HTTP/1.%d\r\n", STR_ARG(r->method), STR_ARG(r->target),
               r->minor);
    for (uint32_t i = 0; i < r->field_count; i++)
        http_write_field(&out, r->fields[i].name, r->fields[i].value);
    http_write_end(&out);
    if (r->chunked && r->body.len > 0)
        buf_printf(&out, "%zx\r\n", r->body.len);
    buf_add(&out, r->body);
    if (r->chunked)
        buf_add(&out, r->body.len > 0 ? STR("\r\n0\r\n\r\n") : STR("0\r\n\r\n"));
    return buf_str(&out);
}

static void request_holds(const struct http_request *r)
{
    assert(http_is_token(r->method) && r->method.len <= 16);
    assert(r->path.len > 0 && (r->path.at[0] == '/' || str_eq(r->path, STR("*"))));
    assert(r->minor == 0 || http_header_count(r, "host") == 1);
    assert(http_header_count(r, "content-length") == r->has_length);
    assert(http_header_count(r, "transfer-encoding") == r->chunked);
    assert(!(r->has_length && r->chunked));
    assert(r->chunked || r->body.len == r->content_length);
    assert(r->body.len <= small.body_max && r->field_count <= small.field_count_max);
    for (uint32_t i = 0; i < r->field_count; i++)
        assert(http_is_token(r->fields[i].name) && http_is_value(r->fields[i].value));
}

/* Reads one request after the other from bytes in pieces whose sizes come from `seed`; seed 0: in
 * one piece. */
static str told(struct arena *a, str bytes, uint32_t seed)
{
    struct buf out = buf_in(a);
    struct http_parser p;
    size_t at = 0, end = seed ? 0 : bytes.len, used;

    http_parser_init(&p, a, &small);
    for (;;) {
        enum http_result result = http_parse(&p, str_slice(bytes, at, end), &used);
        at += used;
        if (result == HTTP_REFUSED) {
            assert(http_reason(p.status) && utf8_valid(p.message));
            buf_printf(&out, "%d " STR_FMT, p.status, STR_ARG(p.message));
            return buf_str(&out);
        }
        if (result == HTTP_HEAD_DONE || result == HTTP_REQUEST_DONE)
            tell(&out, &p.request);
        if (result == HTTP_REQUEST_DONE) {
            request_holds(&p.request);
            http_parser_init(&p, a, &small);
        }
        if (result != HTTP_NEED_MORE)
            continue;
        assert(at == end);
        if (end == bytes.len)
            return buf_str(&out);
        seed = seed * 1664525 + 1013904223;
        end += 1 + (seed >> 16) % ((seed >> 28) + 1);
        if (end > bytes.len)
            end = bytes.len;
    }
}

/* The readers of values, on bytes that need be no value. */
static void texts_hold(struct arena *a, str text)
{
    struct http_pair *pairs;
    struct http_etag tag;
    size_t count;
    str out, rest = text;

    if (!http_decode(a, text, &out))
        assert(out.len <= text.len && utf8_valid(out) && str_find(out, '\0') == out.len);
    if (!http_query(a, text, &pairs, &count))
        assert(count <= text.len);
    for (size_t n = 0; !http_etag_next(a, &rest, &tag) && tag.tag.at; n++) {
        assert(n <= text.len);
        assert(tag.any || str_find(tag.tag, '"') == tag.tag.len);
    }
    rest = text;
    for (size_t n = 0; http_list_next(&rest, ',', &out); n++)
        assert(out.len > 0 && n < text.len);
    if (http_prefers(text, STR("return"), &out))
        assert(out.len < text.len);
    assert(http_accepts(text, STR("text/html"), NULL) <= 1000);
    http_media_is(text, STR("text/html"));
}

static void fields_hold(struct arena *a, const struct http_request *r)
{
    texts_hold(a, r->query);
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct http_field *field = &r->fields[i];
        const char *name = arena_copy(a, field->name).at;
        str first, list;

        texts_hold(a, field->value);
        assert(http_header(r, name, &first) && http_header_list(a, r, name, &list));
        assert(http_header_count(r, name) > 1 ? list.len >= first.len : str_eq(list, first));
        assert(http_is_value(list));
    }
}

static void round_trip_holds(struct arena *a, str bytes)
{
    struct http_parser p, again;
    size_t used;

    http_parser_init(&p, a, &small);
    if (http_parse(&p, bytes, &used) != HTTP_HEAD_DONE)
        return;
    if (http_parse(&p, str_slice(bytes, used, bytes.len), &used) != HTTP_REQUEST_DONE)
        return;

    /* A field as we write it has a space that it may not have had, so it may be longer. */
    const struct http_limits roomy = { .body_max = small.body_max };
    str text = written(a, &p.request);
    http_parser_init(&again, a, &roomy);
    assert(http_parse(&again, text, &used) == HTTP_HEAD_DONE);
    text = str_slice(text, used, text.len);
    assert(http_parse(&again, text, &used) == HTTP_REQUEST_DONE && used == text.len);

    struct buf first = buf_in(a), second = buf_in(a);
    tell(&first, &p.request);
    tell(&second, &again.request);
    assert(str_eq(buf_str(&first), buf_str(&second)));
    fields_hold(a, &p.request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    char *copy = memcpy(mem_alloc(size + 1), data, size);
    str bytes = { copy, size };

    str expected = told(a, bytes, 0);
    for (uint32_t seed = 1; seed < 4; seed++)
        assert(str_eq(told(a, bytes, seed * 77 + (uint32_t)size), expected));
    round_trip_holds(a, bytes);
    texts_hold(a, bytes);
    free(copy);
    arena_free(a);
    return 0;
}
