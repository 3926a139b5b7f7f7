/* http_response_test.c: responses as servers write them, in any pieces. */
#include "client/http_response.h"

#include "check.h"

/* What a response says, in one line: STATUS keep|close {Name=value} "body" +bytes left over. */
static str shown(struct arena *a, const struct response *r, size_t left)
{
    struct buf out = buf_in(a);

    buf_printf(&out, "%d %s", r->status, r->keep_alive ? "keep" : "close");
    for (size_t i = 0; i < r->field_count; i++)
        buf_printf(&out, " " STR_FMT "=" STR_FMT, STR_ARG(r->fields[i].name),
                   STR_ARG(r->fields[i].value));
    buf_printf(&out, " '" STR_FMT "'", STR_ARG(r->body));
    if (left)
        buf_printf(&out, " +%zu", left);
    return buf_str(&out);
}

/* Reads bytes that come in two pieces, cut at a place; then the connection ends. */
static err read_cut(struct arena *a, str bytes, size_t cut, const struct response_limits *limits,
                    str *out)
{
    struct response_parser p;
    str pieces[] = { str_slice(bytes, 0, cut), str_slice(bytes, cut, bytes.len) };
    size_t taken = 0;
    bool done = false;

    response_parser_init(&p, a, limits);
    for (int i = 0; i < 2 && !done; i++) {
        size_t used;
        TRY(response_parse(&p, pieces[i], &used, &done));
        CHECK(done || used == pieces[i].len);
        taken += used;
    }
    if (!done)
        TRY(response_end(&p));
    *out = shown(a, &p.response, bytes.len - taken);
    return NULL;
}

/* The same, byte by byte. */
static err read_slowly(struct arena *a, str bytes, const struct response_limits *limits, str *out)
{
    struct response_parser p;
    size_t at = 0, used;
    bool done = false;

    response_parser_init(&p, a, limits);
    for (; at < bytes.len && !done; at += used)
        TRY(response_parse(&p, str_slice(bytes, at, at + 1), &used, &done));
    if (!done)
        TRY(response_end(&p));
    *out = shown(a, &p.response, bytes.len - at);
    return NULL;
}

struct good {
    const char *bytes, *shown;
};

static const struct good goods[] = {
    { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "200 keep Content-Length=2 '{}'" },
    { "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}", "200 keep Content-Length=2 '{}'" },
    { "HTTP/1.1 201 Created\r\nETag:  \"1\" \r\ncontent-length:0\r\n\r\n",
      "201 keep ETag=\"1\" content-length=0 ''" },
    { "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1", "204 keep '' +8" },
    { "HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n", "304 keep Content-Length=12 ''" },
    { "HTTP/1.1 200 OK\r\nConnection: Keep-Alive, Close\r\nContent-Length: 1\r\n\r\n1",
      "200 close Connection=Keep-Alive, Close Content-Length=1 '1'" },
    { "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1", "200 close Content-Length=1 '1'" },
    { "HTTP/1.1 200 OK\r\n\r\nall of it\n", "200 close 'all of it\n'" },
    { "HTTP/1.1 200 OK\r\n\r\n", "200 close ''" },
    { "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", "200 keep Content-Length=2 '{}'" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n"
      "0\r\nX-Sum: 1\r\n\r\nrest",
      "200 keep Transfer-Encoding=chunked 'abc0123456789' +4" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
      "200 keep Transfer-Encoding=Chunked ''" },
    { "HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
      "200 keep Content-Length=2 '{}'" },
    { "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x05hello",
      "101 keep Upgrade=websocket '' +7" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
      "200 keep Content-Length=2 Content-Length=2 '{}'" },
};

TEST(response_is_the_same_wherever_its_bytes_are_cut)
{
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof goods / sizeof *goods; i++) {
        str bytes = str_from(goods[i].bytes), found;
        for (size_t cut = 0; cut <= bytes.len; cut++) {
            CHECK_OK(read_cut(a, bytes, cut, NULL, &found));
            CHECK_STR(found, goods[i].shown);
        }
        CHECK_OK(read_slowly(a, bytes, NULL, &found));
        CHECK_STR(found, goods[i].shown);
    }
}

struct bad {
    const char *bytes;
    enum error_kind kind;
    const char *message;
};

static const struct bad bads[] = {
    { "", ERR_UNAVAILABLE, "the server closed the connection before its answer was complete" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", ERR_UNAVAILABLE,
      "the server closed the connection before its answer was complete" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", ERR_UNAVAILABLE,
      "the server closed the connection before its answer was complete" },
    { "SSH-2.0-OpenSSH_9.2\r\n", ERR_INTERNAL,
      "the server's answer is not HTTP: expected a line like HTTP/1.1 200 OK, found "
      "\"SSH-2.0-OpenSSH_9.2\"" },
    { "HTTP/2.0 200 OK\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 2000 OK\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 099 OK\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 600 OK\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nno colon\r\n", ERR_INTERNAL,
      "the server's answer is not HTTP: expected a field like Name: value, found \"no colon\"" },
    { "HTTP/1.1 200 OK\r\nNa me: x\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nName: x\r\n folded\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nName: x\001y\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", ERR_INTERNAL,
      "the server's answer is not HTTP: expected either a length or chunks, found \"both\"" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n", ERR_INTERNAL, NULL },
    { "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", ERR_TOO_LARGE,
      "the server's answer is too large: expected at most 67108864 bytes of body" },
};

TEST(response_that_is_none_is_refused_wherever_its_bytes_are_cut)
{
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        str bytes = str_from(bads[i].bytes), found;
        for (size_t cut = 0; cut <= bytes.len; cut++) {
            err e = read_cut(a, bytes, cut, NULL, &found);
            CHECK_ERR(e, bads[i].kind);
            if (bads[i].message)
                CHECK_STR(e->message, bads[i].message);
        }
        CHECK_ERR(read_slowly(a, bytes, NULL, &found), bads[i].kind);
    }
}

TEST(response_that_is_too_large_is_refused)
{
    static const struct response_limits limits = { .head_max = 64, .body_max = 8 };
    static const char *const large[] = {
        "HTTP/1.1 200 OK\r\nX: 0123456789012345678901234567890123456789012345678901234567890\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n123456789",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n3\r\n",
    };
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        str bytes = str_from(large[i]), found;
        for (size_t cut = 0; cut <= bytes.len; cut++)
            CHECK_ERR(read_cut(a, bytes, cut, &limits, &found), ERR_TOO_LARGE);
    }
}

TEST(response_status_is_a_kind_of_error)
{
    CHECK_INT(response_kind(404), ERR_NOT_FOUND);
    CHECK_INT(response_kind(412), ERR_PRECONDITION);
    CHECK_INT(response_kind(507), ERR_FULL);
    CHECK_INT(response_kind(405), ERR_INVALID);
    CHECK_INT(response_kind(502), ERR_UNAVAILABLE);
    CHECK_INT(response_kind(501), ERR_INTERNAL);
}

TEST(response_value_is_found_in_any_case)
{
    struct arena *a = check_arena();
    struct response_parser p;
    size_t used;
    bool done;
    str value;

    response_parser_init(&p, a, NULL);
    CHECK_OK(
        response_parse(&p, STR("HTTP/1.1 204 No Content\r\nETag: \"7\"\r\n\r\n"), &used, &done));
    CHECK(done && response_value(&p.response, "etag", &value));
    CHECK_STR(value, "\"7\"");
    CHECK(!response_value(&p.response, "Link", &value));
}
