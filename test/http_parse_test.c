/* http_parse_test.c: what is a request, what is none, and that no cut between bytes matters. */
#include <stdlib.h>

#include "check.h"
#include "wire/http/parse.h"
#include "wire/http/text.h"

/* Bytes from legible text: '|' is CR LF. */
static str wire(const char *text)
{
    struct buf out = buf_in(check_arena());
    for (; *text; text++)
        buf_add(&out, *text == '|' ? STR("\r\n") : (str){ text, 1 });
    return buf_str(&out);
}

static void tell_head(struct buf *out, const struct http_request *r)
{
    buf_printf(out, STR_FMT " " STR_FMT " 1.%d", STR_ARG(r->method), STR_ARG(r->path), r->minor);
    buf_printf(out, " query=" STR_FMT " host=" STR_FMT, STR_ARG(r->query), STR_ARG(r->host));
    buf_printf(out, "%s%s%s", r->keep_alive ? " keep" : " close", r->upgrade ? " upgrade" : "",
               r->expect_continue ? " continue" : "");
    if (r->has_length)
        buf_printf(out, " length=%llu", (unsigned long long)r->content_length);
    if (r->chunked)
        buf_add(out, STR(" chunked"));
    for (uint32_t i = 0; i < r->field_count; i++)
        buf_printf(out, " [" STR_FMT "=" STR_FMT "]", STR_ARG(r->fields[i].name),
                   STR_ARG(r->fields[i].value));
}

/* What a parser says to one piece, until it needs another. False: it refused. */
static bool feed(struct http_parser *p, str piece, const struct http_limits *limits,
                 struct buf *out)
{
    for (;;) {
        size_t used;
        enum http_result result = http_parse(p, piece, &used);
        piece = str_slice(piece, used, piece.len);
        if (result == HTTP_HEAD_DONE)
            tell_head(out, &p->request);
        else if (result == HTTP_REFUSED)
            buf_printf(out, "%d " STR_FMT, p->status, STR_ARG(p->message));
        else if (result == HTTP_REQUEST_DONE)
            buf_printf(out, " {" STR_FMT "}", STR_ARG(p->request.body));

        if (result == HTTP_REFUSED)
            return false;
        if (result == HTTP_REQUEST_DONE)
            http_parser_init(p, check_arena(), limits);
        if (result == HTTP_NEED_MORE || (result == HTTP_REQUEST_DONE && piece.len == 0))
            return true;
    }
}

/* All that is said to bytes that come as `first` of them and then `step` by `step`. Each piece lies
 * in memory of its own size that is gone at the next one: a look back or beyond is found. */
static str told(str bytes, size_t first, size_t step, const struct http_limits *limits)
{
    struct buf out = buf_in(check_arena());
    struct http_parser p;
    bool going = true;

    http_parser_init(&p, check_arena(), limits);
    for (size_t at = 0, n = first; at < bytes.len && going; at += n, n = step) {
        str piece = str_slice(bytes, at, at + n);
        char *copy = memcpy(mem_alloc(piece.len + 1), piece.at, piece.len);
        going = feed(&p, (str){ copy, piece.len }, limits, &out);
        memset(copy, '!', piece.len);
        free(copy);
    }
    return buf_str(&out);
}

static str whole(str bytes)
{
    return told(bytes, bytes.len, 1, NULL);
}

static void check_all_cuts(str bytes)
{
    const char *expected = whole(bytes).at;

    for (size_t first = 1; first < bytes.len; first++)
        CHECK_STR(told(bytes, first, bytes.len, NULL), expected);
    for (size_t step = 1; step < 8; step++)
        CHECK_STR(told(bytes, step, step, NULL), expected);
}

// clang-format off
static const struct {
    const char *bytes, *told;
} good[] = {
    { "GET / HTTP/1.1|Host: h||",
      "GET / 1.1 query= host=h keep [Host=h] {}" },
    { "GET /a/b%20c?d=e&f=/?g HTTP/1.1|host:h:80||",
      "GET /a/b%20c 1.1 query=d=e&f=/?g host=h:80 keep [host=h:80] {}" },
    { "|GET / HTTP/1.1|Host: h||",
      "GET / 1.1 query= host=h keep [Host=h] {}" },
    { "GET / HTTP/1.0||",
      "GET / 1.0 query= host= close {}" },
    { "GET / HTTP/1.0|Connection: Keep-Alive||",
      "GET / 1.0 query= host= keep [Connection=Keep-Alive] {}" },
    { "GET / HTTP/1.1|Host: h|Connection: a, ,CLOSE||",
      "GET / 1.1 query= host=h close [Host=h] [Connection=a, ,CLOSE] {}" },
    { "GET / HTTP/1.0|Connection: keep-alive|Connection: close||",
      "GET / 1.0 query= host= close [Connection=keep-alive] [Connection=close] {}" },
    { "GET /ws HTTP/1.1|Host: h|Connection: keep-alive, Upgrade|Upgrade: websocket||",
      "GET /ws 1.1 query= host=h keep upgrade [Host=h] [Connection=keep-alive, Upgrade] "
      "[Upgrade=websocket] {}" },
    { "GET /ws HTTP/1.0|Connection: Upgrade|Upgrade: websocket||",
      "GET /ws 1.0 query= host= close [Connection=Upgrade] [Upgrade=websocket] {}" },
    { "OPTIONS * HTTP/1.1|Host: h||",
      "OPTIONS * 1.1 query= host=h keep [Host=h] {}" },
    { "GET http://Example:1/a?b HTTP/1.1|Host: example:1||",
      "GET /a 1.1 query=b host=example:1 keep [Host=example:1] {}" },
    { "GET HTTP://h?b HTTP/1.0||",
      "GET / 1.0 query=b host=h close {}" },
    { "GET http://h HTTP/1.0||",
      "GET / 1.0 query= host=h close {}" },
    { "GET / HTTP/1.1|Host: [::1]:80|X:|Y: \t a b\t |Z:\xc3\xa9\x80||",
      "GET / 1.1 query= host=[::1]:80 keep [Host=[::1]:80] [X=] [Y=a b] [Z=\xc3\xa9\x80] {}" },
    { "GET / HTTP/1.1|Host:|!#$%&'*+-.^_`~09azAZ: \"(),/:;<=>?@[\\]{}||",
      "GET / 1.1 query= host= keep [Host=] [!#$%&'*+-.^_`~09azAZ=\"(),/:;<=>?@[\\]{}] {}" },
    { "POST /a HTTP/1.1|Host: h|Content-Length: 5||hello",
      "POST /a 1.1 query= host=h keep length=5 [Host=h] [Content-Length=5] {hello}" },
    { "POST /a HTTP/1.1|Host: h|Content-Length: 0||",
      "POST /a 1.1 query= host=h keep length=0 [Host=h] [Content-Length=0] {}" },
    { "PUT /a HTTP/1.1|Host: h|Content-Length: 002|Expect: 100-Continue||ok",
      "PUT /a 1.1 query= host=h keep continue length=2 [Host=h] [Content-Length=002] "
      "[Expect=100-Continue] {ok}" },
    { "PUT /a HTTP/1.1|Host: h|Expect: 100-continue||",
      "PUT /a 1.1 query= host=h keep [Host=h] [Expect=100-continue] {}" },
    { "PUT /a HTTP/1.0|Content-Length: 2|Expect: 100-continue||ok",
      "PUT /a 1.0 query= host= close length=2 [Content-Length=2] [Expect=100-continue] {ok}" },
    { "POST /a HTTP/1.1|Host: h|Transfer-Encoding: Chunked||"
      "5|hello|00b;x=\"y\";z|\n and more\r|0||",
      "POST /a 1.1 query= host=h keep chunked [Host=h] [Transfer-Encoding=Chunked] "
      "{hello\n and more\r}" },
    { "POST /a HTTP/1.1|Host: h|Transfer-Encoding: chunked||0|A: b|Content-Length: 9||",
      "POST /a 1.1 query= host=h keep chunked [Host=h] [Transfer-Encoding=chunked] {}" },
    { "POST /a HTTP/1.1|Host: h|Content-Length: 1||xGET /b HTTP/1.1|Host: i||||GET /c HTTP/1.0||",
      "POST /a 1.1 query= host=h keep length=1 [Host=h] [Content-Length=1] {x}"
      "GET /b 1.1 query= host=i keep [Host=i] {}"
      "400 expected a method and one space, found the end of the line" },
    { "POST /a HTTP/1.1|Host: h|Transfer-Encoding: chunked||1|x|0||GET /c HTTP/1.0||",
      "POST /a 1.1 query= host=h keep chunked [Host=h] [Transfer-Encoding=chunked] {x}"
      "GET /c 1.0 query= host= close {}" },
};
// clang-format on

TEST(requests_are_read_whole_and_those_behind_them_next)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK_STR(whole(wire(good[i].bytes)), good[i].told);
}

#define LINE "GET / HTTP/1.1|Host: h|"
#define CHUNKED "POST / HTTP/1.1|Host: h|Transfer-Encoding: chunked||"

// clang-format off
static const struct {
    const char *bytes, *told;
} bad[] = {
    /* lines */
    { "GET / HTTP/1.1\nHost: h||", "400 expected CR LF at the end of a line, found LF alone" },
    { "\nGET / HTTP/1.1|", "400 expected CR LF at the end of a line, found LF alone" },
    { LINE "A: b\n|", "400 expected CR LF at the end of a line, found LF alone" },
    { LINE "\n", "400 expected CR LF at the end of a line, found LF alone" },
    { LINE "A: b\rc|", "400 expected no control bytes in the value of A, found byte 0x0d" },
    { LINE "A: b\r|", "400 expected no control bytes in the value of A, found byte 0x0d" },
    { "GET /\r HTTP/1.1|",
      "400 expected a target of visible ASCII without '#', and one space, found byte 0x0d" },
    { "||GET / HTTP/1.1|", "400 expected a method and one space, found the end of the line" },

    /* the request line */
    { "GET|", "400 expected a method and one space, found the end of the line" },
    { " GET / HTTP/1.1|", "400 expected a method and one space, found byte 0x20" },
    { "G(T / HTTP/1.1|", "400 expected a method and one space, found '('" },
    { "GET\t/ HTTP/1.1|", "400 expected a method and one space, found byte 0x09" },
    { "ABCDEFGHIJKLMNOPQ / HTTP/1.1|", "501 expected a method of at most 16 letters, found 17" },
    { "GET  / HTTP/1.1|",
      "400 expected a target of visible ASCII without '#', and one space, found byte 0x20" },
    { "GET /|",
      "400 expected a target of visible ASCII without '#', and one space, "
      "found the end of the line" },
    { "GET /a#b HTTP/1.1|",
      "400 expected a target of visible ASCII without '#', and one space, found '#'" },
    { "GET /\xc3\xa9 HTTP/1.1|",
      "400 expected a target of visible ASCII without '#', and one space, found byte 0xc3" },
    { "GET a HTTP/1.1|", "400 expected the target to begin with '/' or http://, found 'a'" },
    { "GET ?a HTTP/1.1|", "400 expected the target to begin with '/' or http://, found '?'" },
    { "GET https://h/ HTTP/1.1|",
      "400 expected the target to begin with '/' or http://, found 'h'" },
    { "CONNECT h:80 HTTP/1.1|", "400 expected the target to begin with '/' or http://, found 'h'" },
    { "GET * HTTP/1.1|", "400 expected a path as the target, found * which is for OPTIONS" },
    { "OPTIONS *a HTTP/1.1|", "400 expected the target to begin with '/' or http://, found '*'" },
    { "GET http:///a HTTP/1.1|", "400 expected a host behind http:// in the target, found '/'" },
    { "GET http://a@h/ HTTP/1.1|",
      "400 expected a host, an optional port and a path in the target, found '@'" },
    { "GET http://h/ HTTP/1.1|Host: i|",
      "400 expected Host to be the host of the target, found \"i\"" },
    { "GET / HTTP/1.2|",
      "505 expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"HTTP/1.2\"" },
    { "PRI * HTTP/2.0||SM||",
      "505 expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"HTTP/2.0\"" },
    { "GET / HTTP/1.1 |",
      "505 expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"HTTP/1.1 \"" },
    { "GET / HTTP/1.1\r|",
      "505 expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"HTTP/1.1?\"" },
    { "GET / http/1.1|",
      "400 expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"http/1.1\"" },
    { "GET / b HTTP/1.1|",
      "400 expected HTTP/1.1 or HTTP/1.0 at the end of the request line, found \"b HTTP/1.1\"" },

    /* fields */
    { LINE " a: b|",
      "400 expected the name of a field, found a line that continues the last" },
    { LINE "A: b|\tc|",
      "400 expected the name of a field, found a line that continues the last" },
    { LINE "A : b|", "400 expected the name of a field and ':' right behind it, found byte 0x20" },
    { LINE ": b|", "400 expected the name of a field and ':' right behind it, found ':'" },
    { LINE "A|",
      "400 expected the name of a field and ':' right behind it, found the end of the line" },
    { LINE "A(b): c|", "400 expected the name of a field and ':' right behind it, found '('" },
    { LINE "\xc3\xa9: c|",
      "400 expected the name of a field and ':' right behind it, found byte 0xc3" },
    { LINE "Host: h|", "400 expected one Host, found two" },
    { "GET / HTTP/1.1|Host: a b|",
      "400 expected Host to be a name and an optional port, found byte 0x20" },
    { "GET / HTTP/1.1|Host: a/b|",
      "400 expected Host to be a name and an optional port, found '/'" },
    { "GET / HTTP/1.1||", "400 expected a field Host, found none" },
    { LINE "Connection: a b|", "400 expected Connection to be a list of words, found \"a b\"" },
    { LINE "Expect: 200-ok|", "417 expected Expect to be 100-continue, found \"200-ok\"" },

    /* lengths */
    { LINE "Content-Length: 1|Content-Length: 1||x",
      "400 expected one Content-Length, found two" },
    { LINE "Content-Length:||", "400 expected Content-Length to be decimal digits, found \"\"" },
    { LINE "Content-Length: +1|",
      "400 expected Content-Length to be decimal digits, found \"+1\"" },
    { LINE "Content-Length: -1|",
      "400 expected Content-Length to be decimal digits, found \"-1\"" },
    { LINE "Content-Length: 1, 1|",
      "400 expected Content-Length to be decimal digits, found \"1, 1\"" },
    { LINE "Content-Length: 0x1|",
      "400 expected Content-Length to be decimal digits, found \"0x1\"" },
    { LINE "Content-Length: 4194305||",
      "413 expected a body of at most 4194304 bytes, found a longer one announced" },
    { LINE "Content-Length: 18446744073709551617||",
      "413 expected a body of at most 4194304 bytes, found a longer one announced" },
    { LINE "Content-Length: 0000000000000000001||x",
      "413 expected a body of at most 4194304 bytes, found a longer one announced" },
    { LINE "Content-Length: 99999999999999999999999999999999999999999999999999999999999a|",
      "400 expected Content-Length to be decimal digits, found "
      "\"9999999999999999999999999999999999999999…\"" },
    { LINE "Content-Length: 1|Transfer-Encoding: chunked||",
      "400 expected Content-Length or Transfer-Encoding, found both" },
    { LINE "Transfer-Encoding: chunked|Content-Length: 0||",
      "400 expected Content-Length or Transfer-Encoding, found both" },
    { LINE "Transfer-Encoding: chunked|Transfer-Encoding: chunked||",
      "400 expected one Transfer-Encoding, found two" },
    { LINE "Transfer-Encoding: gzip, chunked||",
      "501 expected Transfer-Encoding to be chunked, found \"gzip, chunked\"" },
    { LINE "Transfer-Encoding: xchunked||",
      "501 expected Transfer-Encoding to be chunked, found \"xchunked\"" },
    { LINE "Transfer-Encoding: identity||",
      "501 expected Transfer-Encoding to be chunked, found \"identity\"" },
    { "POST / HTTP/1.0|Transfer-Encoding: chunked||",
      "400 expected no Transfer-Encoding in HTTP/1.0, found chunked" },
};

/* After a head that is good. */
static const struct {
    const char *bytes, *told;
} bad_chunks[] = {
    { "|",
      "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found the end of the line" },
    { "+5|", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found '+'" },
    { "-5|", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found '-'" },
    { "0x5|", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found 'x'" },
    { " 5|", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found byte 0x20" },
    { "5 |", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found byte 0x20" },
    { "5 ;a|", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found byte 0x20" },
    { "g|", "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found 'g'" },
    { "00000000000000005|",
      "400 expected the size of a chunk as 1 to 16 hexadecimal digits, found the end of the line" },
    { "5\nhello", "400 expected CR LF at the end of a line, found LF alone" },
    { "5;a\rb|", "400 expected no control bytes in the extension of a chunk, found byte 0x0d" },
    { "1|xy|", "400 expected CR LF behind a chunk, found 'y'" },
    { "1|x\r\r", "400 expected CR LF behind a chunk, found byte 0x0d" },
    { "1|x\n0||", "400 expected CR LF at the end of a line, found LF alone" },
    { "ffffffffffffffff|", "413 expected a body of at most 4194304 bytes, found more" },
    { "1|x|400000|", "413 expected a body of at most 4194304 bytes, found more" },
    { "0|a b|", "400 expected the name of a field and ':' right behind it, found byte 0x20" },
    { "0|a:b|\n", "400 expected CR LF at the end of a line, found LF alone" },
};
// clang-format on

TEST(what_could_be_read_in_two_ways_is_refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_STR(whole(wire(bad[i].bytes)), bad[i].told);
    str head = whole(wire(CHUNKED));
    for (size_t i = 0; i < sizeof bad_chunks / sizeof *bad_chunks; i++) {
        struct buf expected = buf_in(check_arena()), bytes = buf_in(check_arena());
        buf_add(&bytes, wire(CHUNKED));
        buf_add(&bytes, wire(bad_chunks[i].bytes));
        buf_printf(&expected, STR_FMT "%s", STR_ARG(head), bad_chunks[i].told);
        CHECK_STR(whole(buf_str(&bytes)), buf_str(&expected).at);
    }
}

TEST(where_bytes_are_cut_does_not_matter)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_all_cuts(wire(good[i].bytes));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_all_cuts(wire(bad[i].bytes));
    for (size_t i = 0; i < sizeof bad_chunks / sizeof *bad_chunks; i++) {
        struct buf bytes = buf_in(check_arena());
        buf_add(&bytes, wire(CHUNKED));
        buf_add(&bytes, wire(bad_chunks[i].bytes));
        check_all_cuts(buf_str(&bytes));
    }
}

/* Every byte in each place where bytes are looked at one by one. */
TEST(only_the_bytes_of_the_grammar_are_taken)
{
    static const char token[] = "!#$%&'*+-.^_`|~";

    for (int c = 0; c < 256; c++) {
        bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool in_name = letter || (c != 0 && strchr(token, c));
        bool in_value = c == '\t' || (c >= ' ' && c != 0x7f);
        bool in_target = c > ' ' && c < 0x7f && c != '#';
        static const struct {
            const char *before, *behind;
        } places[] = {
            { "GET / HTTP/1.0\r\na", "b: c\r\n\r\n" },
            { "GET / HTTP/1.0\r\na: b", "c\r\n\r\n" },
            { "GET /a", "b HTTP/1.0\r\n\r\n" },
        };
        bool allowed[] = { in_name || c == ':', in_value, in_target };
        for (size_t i = 0; i < 3; i++) {
            struct buf bytes = buf_in(check_arena());
            buf_add(&bytes, str_from(places[i].before));
            buf_byte(&bytes, (char)c);
            buf_add(&bytes, str_from(places[i].behind));
            if (str_starts(whole(buf_str(&bytes)), STR("GET")) != allowed[i])
                check_fail(__FILE__, __LINE__, "byte 0x%02x in place %zu", c, i);
        }
    }
}

/* Values are looked at sixteen bytes at a time; every length and every place must do. */
TEST(a_control_byte_is_found_wherever_it_stands)
{
    for (size_t len = 1; len < 50; len++) {
        for (size_t at = 0; at < len; at++) {
            char *value = memset(mem_alloc(len), 0x80 + (int)len, len);
            CHECK(http_is_value((str){ value, len }));
            value[at] = '\t';
            CHECK(http_is_value((str){ value, len }));
            value[at] = 0x7f;
            CHECK(!http_is_value((str){ value, len }));
            value[at] = '\0';
            CHECK(!http_is_value((str){ value, len }));
            free(value);
        }
    }
    CHECK_STR(whole(wire("GET / HTTP/1.0|A: 0123456789012345678901234567\x1f|")),
              "400 expected no control bytes in the value of A, found byte 0x1f");
}

/* ---- limits ---- */

static str repeated(char c, size_t n)
{
    char *at = arena_alloc(check_arena(), n + 1);
    memset(at, c, n);
    at[n] = '\0';
    return (str){ at, n };
}

/* `n` letters between two texts, with the limits of a small server. */
static str with_letters(const char *before, size_t n, const char *behind, size_t step)
{
    static const struct http_limits limits = { 100, 50, 120, 4, 10 };
    struct buf bytes = buf_in(check_arena());

    buf_add(&bytes, wire(before));
    buf_add(&bytes, repeated('a', n));
    buf_add(&bytes, wire(behind));
    str answer = told(buf_str(&bytes), step, step, &limits);
    return str_starts(answer, STR("GET")) ? STR("good") : answer;
}

TEST(limits_hold_to_the_byte)
{
    static const struct {
        const char *before, *behind;
        size_t most;
        const char *told;
    } cases[] = {
        { "GET /", " HTTP/1.0||", 100 - 14,
          "414 expected a request line of at most 100 bytes, found more" },
        { "GET / HTTP/1.0|A:", "||", 50 - 2,
          "431 expected a field of at most 50 bytes, found more" },
        { "GET / HTTP/1.0|A:", "|B:1234567890123456789012345678901234567890||", 48,
          "431 expected a field of at most 50 bytes, found more" },
        { "GET / HTTP/1.0|A:1234567890123456789012345678901234567890|"
          "B:1234567890123456789012345678901234567890|C:",
          "||", 34, "431 expected fields of at most 120 bytes together, found more" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t step = 1; step < 300; step = step * 2 + 1) {
            CHECK_STR(with_letters(cases[i].before, cases[i].most, cases[i].behind, step), "good");
            CHECK_STR(with_letters(cases[i].before, cases[i].most + 1, cases[i].behind, step),
                      cases[i].told);
            CHECK_STR(with_letters(cases[i].before, 5000, "", step), cases[i].told);
        }
    }
}

TEST(fields_are_counted_with_those_of_the_trailer)
{
    static const struct http_limits limits = { 100, 50, 120, 3, 10 };
    static const char *const more = "431 expected at most 3 fields, found more";
    str bytes = wire("GET / HTTP/1.0|A:|B:|C:||");

    CHECK(str_ends(told(bytes, bytes.len, 1, &limits), STR("{}")));
    bytes = wire("GET / HTTP/1.0|A:|B:|C:|D:||");
    CHECK_STR(told(bytes, bytes.len, 1, &limits), more);
    bytes = wire(CHUNKED "0|C:||");
    CHECK(str_ends(told(bytes, bytes.len, 1, &limits), STR("{}")));
    bytes = wire(CHUNKED "0|C:|D:||");
    CHECK(str_ends(told(bytes, bytes.len, 1, &limits), str_from(more)));
}

TEST(chunks_and_their_extensions_are_bounded)
{
    static const struct http_limits limits = { .body_max = 10 };
    str bytes = wire(CHUNKED "5|12345|5|67890|0||");
    CHECK(str_ends(told(bytes, bytes.len, 1, &limits), STR("{1234567890}")));
    bytes = wire(CHUNKED "5|12345|6|678901|0||");
    CHECK(str_ends(told(bytes, bytes.len, 1, &limits),
                   STR("413 expected a body of at most 10 bytes, found more")));

    struct buf one = buf_in(check_arena()), many = buf_in(check_arena());
    buf_printf(&one, "%s1;" STR_FMT "\r\nx\r\n0\r\n\r\n", wire(CHUNKED).at,
               STR_ARG(repeated('a', 254)));
    CHECK(str_ends(whole(buf_str(&one)), STR("{x}")));
    one.len = 0;
    buf_printf(&one, "%s1;" STR_FMT "\r\nx\r\n", wire(CHUNKED).at, STR_ARG(repeated('a', 255)));
    CHECK(str_ends(whole(buf_str(&one)), STR("in at most 256 bytes, found more")));

    buf_add(&many, wire(CHUNKED));
    for (int i = 0; i < 2049; i++)
        buf_add(&many, wire("1;a|x|"));
    CHECK(
        str_ends(whole(buf_str(&many)),
                 STR("400 expected chunk extensions of at most 4096 bytes together, found more")));
}

/* A megabyte of one-byte chunks must not cost a multiple of it. */
TEST(many_small_chunks_cost_little_memory)
{
    struct arena *a = arena_new();
    struct http_parser p;
    struct buf bytes = buf_in(check_arena());
    size_t used, count = 1 << 20;

    buf_add(&bytes, wire(CHUNKED));
    for (size_t i = 0; i < count; i++)
        buf_add(&bytes, STR("1\r\nx\r\n"));
    buf_add(&bytes, STR("0\r\n\r\n"));
    http_parser_init(&p, a, NULL);
    CHECK_INT(http_parse(&p, buf_str(&bytes), &used), HTTP_HEAD_DONE);
    CHECK_INT(http_parse(&p, str_slice(buf_str(&bytes), used, bytes.len), &used),
              HTTP_REQUEST_DONE);
    CHECK_INT(p.request.body.len, count);
    CHECK(a->bytes < 8 * count);
    arena_free(a);
}

TEST(a_caller_can_lower_the_limit_when_the_head_is_known)
{
    struct http_parser p;
    size_t used;
    str bytes = wire("POST / HTTP/1.0|Content-Length: 5||hello");

    http_parser_init(&p, check_arena(), NULL);
    CHECK_INT(http_parse(&p, bytes, &used), HTTP_HEAD_DONE);
    CHECK_INT(used, bytes.len - 5);
    p.limits.body_max = 4;
    CHECK_INT(http_parse(&p, str_slice(bytes, used, bytes.len), &used), HTTP_REFUSED);
    CHECK_INT(p.status, 413);
    CHECK_INT(http_parse(&p, bytes, &used), HTTP_REFUSED);
    CHECK_INT(used, 0);
}

/* ---- fields ---- */

TEST(fields_are_found_in_any_case_and_counted)
{
    struct http_parser p;
    size_t used;
    str value = STR("untouched");

    http_parser_init(&p, check_arena(), NULL);
    http_parse(&p, wire("GET / HTTP/1.0|Accept: a|ACCEPT: b|X-[: c||"), &used);
    CHECK_INT(p.status, 400);
    http_parser_init(&p, check_arena(), NULL);
    CHECK_INT(http_parse(&p, wire("GET / HTTP/1.0|Accept: a|X: y|ACCEPT: b||"), &used),
              HTTP_HEAD_DONE);
    CHECK(!http_header(&p.request, "accep", &value));
    CHECK_STR(value, "untouched");
    CHECK(http_header(&p.request, "aCCept", &value));
    CHECK_STR(value, "a");
    CHECK_INT(http_header_count(&p.request, "accept"), 2);
    CHECK_INT(http_header_count(&p.request, "x-y"), 0);
    CHECK(http_header_list(check_arena(), &p.request, "accept", &value));
    CHECK_STR(value, "a, b");
    CHECK(http_header_list(check_arena(), &p.request, "x", &value));
    CHECK_STR(value, "y");
    CHECK(!http_header_list(check_arena(), &p.request, "z", &value));
    CHECK(!http_same(STR("^"), STR("~")) && !http_same(STR("@"), STR("`")));
}
