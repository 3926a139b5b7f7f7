/* url_test.c: which URLs name a server, and that no value leaves its place in a target. */
#include "check.h"
#include "client/url.h"

static struct url good(const char *text)
{
    struct url u;
    CHECK_OK(url_parse(check_arena(), str_from(text), &u));
    return u;
}

/* All parts of a URL in one line. */
static str parts(const char *text)
{
    static const char *const names[] = { "http", "https", "unix" };
    struct url u = good(text);
    return arena_printf(check_arena(), "%s|" STR_FMT "|%u|" STR_FMT "|" STR_FMT, names[u.scheme],
                        STR_ARG(u.host), (unsigned)u.port, STR_ARG(u.socket), STR_ARG(u.base));
}

TEST(urls_fall_into_their_parts)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "http://127.0.0.1:8765/base", "http|127.0.0.1|8765||/base" },
        { "http://127.0.0.1:8765", "http|127.0.0.1|8765||" },
        { "http://127.0.0.1:8765///", "http|127.0.0.1|8765||" },
        { "http://a.example", "http|a.example|80||" },
        { "https://a.example/x/y/", "https|a.example|443||/x/y" },
        { "HTTPS://A.Example:08443/X%2fy", "https|a.example|8443||/X%2fy" },
        { "http://[::1]:8765", "http|::1|8765||" },
        { "http://[2001:DB8::1]", "http|2001:db8::1|80||" },
        { "http://[::ffff:10.0.0.1]/b", "http|::ffff:10.0.0.1|80||/b" },
        { "http://9f3c2a1b:65535", "http|9f3c2a1b|65535||" },
        { "http://0xyz:1", "http|0xyz|1||" },
        { "http://host/a@b:c", "http|host|80||/a@b:c" },
        { "unix:/run/baton.sock", "unix||0|/run/baton.sock|" },
        { "unix:///run/baton.sock", "unix||0|/run/baton.sock|" },
        { "unix:baton sock?#%", "unix||0|baton sock?#%|" },
        { "Unix:.baton/Sock", "unix||0|.baton/Sock|" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(parts(cases[i].text), cases[i].expected);
}

TEST(what_is_no_url_is_refused_with_what_was_expected)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "URL: expected http://, https:// or unix: at its start, found nothing" },
        { "127.0.0.1:8765",
          "URL: expected http://, https:// or unix: at its start, found \"127.0.0.1:\"" },
        { "ws://host", "URL: expected http://, https:// or unix: at its start, found \"ws:\"" },
        { "a\x1b[2J", "URL: expected http://, https:// or unix: at its start, "
                      "found \"a\\x1b[2J\"" },
        { "http://", "URL: expected a host, found nothing" },
        { "http://:80", "URL: expected a host, found nothing" },
        { "http:///x", "URL: expected a host, found nothing" },
        { "http://a b", "URL: expected a host of letters, digits and -._, found \"a\\x20b\"" },
        { "http://~a", "URL: expected a host of letters, digits and -._, found \"~a\"" },
        { "http://a%41", "URL: expected a host of letters, digits and -._, found \"a%41\"" },
        { "http://a\r\nX: y", "URL: expected a host of letters, digits and -._, "
                              "found \"a\\x0d\\x0aX\"" },
        { "http://127.1", "URL: expected an IPv4 address like 127.0.0.1, found \"127.1\"" },
        { "http://2130706433",
          "URL: expected an IPv4 address like 127.0.0.1, found \"2130706433\"" },
        { "http://0x7f.0X1", "URL: expected an IPv4 address like 127.0.0.1, found \"0x7f.0X1\"" },
        { "http://127.0.0.01", "URL: expected an IPv4 address like 127.0.0.1, "
                               "found \"127.0.0.01\"" },
        { "http://127.0.0.1.", "URL: expected an IPv4 address like 127.0.0.1, "
                               "found \"127.0.0.1.\"" },
        { "http://[::1", "URL: expected an IPv6 address like [::1], found \"[::1\"" },
        { "http://[]", "URL: expected an IPv6 address like [::1], found \"[]\"" },
        { "http://[fe80::1%25eth0]",
          "URL: expected an IPv6 address like [::1], found \"[fe80::1%25eth0]\"" },
        { "http://[127.0.0.1]", "URL: expected an IPv6 address like [::1], found \"[127.0.0.1]\"" },
        { "http://[::1]8765",
          "URL: expected a port or the end behind an IPv6 address, found \"8765\"" },
        { "http://::1", "URL: expected a host, found nothing" },
        { "http://h:", "URL: expected a port from 1 to 65535 behind the colon, found nothing" },
        { "http://h:0", "URL: expected a port from 1 to 65535 behind the colon, found \"0\"" },
        { "http://h:-1", "URL: expected a port from 1 to 65535 behind the colon, found \"-1\"" },
        { "http://h:65536",
          "URL: expected a port from 1 to 65535 behind the colon, found \"65536\"" },
        { "http://h:1:2", "URL: expected a port from 1 to 65535 behind the colon, found \"1:2\"" },
        { "http://h?q=1", "URL: expected a URL without query and fragment, found \"?q=1\"" },
        { "http://h/a#b", "URL: expected a URL without query and fragment, found \"#b\"" },
        { "http://h/a%2", "URL: expected two hexadecimal digits behind %, found \"%2\"" },
        { "http://h/a%g0b", "URL: expected two hexadecimal digits behind %, found \"%g0b\"" },
        { "http://h/a b", "URL: expected a percent-encoded path, found \"\\x20b\"" },
        { "http://h/\xc3\xa9", "URL: expected a percent-encoded path, found \"\\xc3\\xa9\"" },
        { "unix:", "URL: expected the path of a socket behind unix:, found nothing" },
        { "unix://host/x", "URL: expected an absolute path behind unix:// "
                           "(unix:name is a relative one), found \"host/x\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct url u;
        err e = url_parse(check_arena(), str_from(cases[i].text), &u);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, cases[i].message);
    }
}

/* A message may end up in a log. */
TEST(a_password_is_refused_and_not_repeated)
{
    static const char *const texts[] = {
        "http://me:secret@host/",
        "https://secret@host",
        "http://me:secret@",
        "http://a\\@me:secret@host",
        "http://@secret",
        "htp://me:secret@host",
        "http://me:secret@h:99999",
        "http://me:secret@[::1/x?#y",
        "secret@host",
        "me:secret@host",
        "http://host#secret@x",
        "http://host/a?b#secret@x",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct url u;
        err e = url_parse(check_arena(), str_from(texts[i]), &u);
        CHECK_ERR(e, ERR_INVALID);
        CHECK(!str_contains(e->message, STR("secret")));
    }
}

TEST(long_and_nul_bearing_texts_are_refused)
{
    struct url u;
    struct buf longer = buf_in(check_arena());
    buf_add(&longer, STR("unix:/"));
    for (int i = 0; i < 107; i++)
        buf_byte(&longer, 'a');

    CHECK_OK(url_parse(check_arena(), (str){ longer.at, 5 + 104 }, &u));
    CHECK_INT(u.socket.len, 104);
    CHECK_INT(u.socket.at[104], '\0');
    CHECK_ERR(url_parse(check_arena(), buf_str(&longer), &u), ERR_INVALID);
    CHECK_ERR(url_parse(check_arena(), STR("unix:/a\0b"), &u), ERR_INVALID);
    CHECK_ERR(url_parse(check_arena(), STR("http://a\0b/"), &u), ERR_INVALID);
    CHECK_ERR(url_parse(check_arena(), STR("http://[::1\0]/"), &u), ERR_INVALID);
    CHECK_ERR(url_parse(check_arena(), STR("http://a/\0b"), &u), ERR_INVALID);
    CHECK_ERR(url_parse(check_arena(), str_slice(STR("http://a/%41"), 0, 11), &u), ERR_INVALID);

    longer.len = 0;
    buf_add(&longer, STR("http://host:"));
    for (int i = 0; i < 100; i++)
        buf_byte(&longer, '7');
    err e = url_parse(check_arena(), buf_str(&longer), &u);
    CHECK_ERR(e, ERR_INVALID);
    CHECK(str_ends(e->message, STR("77777…\"")));
    CHECK(e->message.len < 140);
}

/* The operator's token goes where this says yes, so every doubtful spelling is a no. */
TEST(only_this_machine_is_loopback)
{
    static const struct {
        const char *text;
        bool expected;
    } cases[] = {
        { "http://127.0.0.1:8765", true },
        { "https://127.255.3.4", true },
        { "http://LocalHost:1", true },
        { "http://[::1]", true },
        { "http://[0:0:0:0:0:0:0:0001]", true },
        { "unix:/run/baton.sock", true },
        { "http://128.0.0.1", false },
        { "http://0.0.0.0", false },
        { "http://[::]", false },
        { "http://[::2]", false },
        { "http://[fe80::1]", false },
        { "http://[::ffff:127.0.0.1]", false },
        { "http://127.0.0.1.example.com", false },
        { "http://localhost.example.com", false },
        { "http://localhost.", false },
        { "http://notlocalhost", false },
        { "http://example.com/localhost", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct url u = good(cases[i].text);
        if (url_is_loopback(&u) != cases[i].expected)
            check_fail(__FILE__, __LINE__, "%s: expected %d", cases[i].text, cases[i].expected);
    }
}

TEST(the_host_header_has_a_port_where_it_is_not_the_usual_one)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "http://Host", "host" },           { "http://host:80/x", "host" },
        { "http://host:443", "host:443" },   { "https://host:443", "host" },
        { "https://[::1]:8", "[::1]:8" },    { "http://[::1]", "[::1]" },
        { "unix:/run/b.sock", "localhost" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct url u = good(cases[i].text);
        CHECK_STR(url_authority(check_arena(), &u), cases[i].expected);
    }
}

TEST(every_byte_is_encoded_but_letters_digits_and_four_marks)
{
    str plain = STR("ABCXYZabcxyz0189-._~");
    struct buf out = buf_in(check_arena());
    url_encode(&out, plain);
    CHECK(str_eq(buf_str(&out), plain));

    out.len = 0;
    url_encode(&out, STR("\0 /?#%&=+;:@[]{}\"'<>\\\r\n\xc3\xa9"));
    CHECK_STR(buf_str(&out), "%00%20%2F%3F%23%25%26%3D%2B%3B%3A%40%5B%5D%7B%7D%22%27%3C%3E%5C%0D"
                             "%0A%C3%A9");

    size_t kept = 0;
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        out.len = 0;
        url_encode(&out, (str){ &byte, 1 });
        CHECK(out.len == 3 || (out.len == 1 && out.at[0] == byte));
        kept += out.len == 1;
    }
    CHECK_INT(kept, 26 + 26 + 10 + 4);
}

static err target(const char *url, const char *pattern, const struct url_param *params,
                  size_t count, str *out)
{
    struct url u = good(url);
    return url_target(check_arena(), &u, pattern, params, count, out);
}

TEST(targets_put_captures_in_the_path_and_the_rest_in_the_query)
{
    const struct url_param params[] = {
        { "after", STR("1 & 2") },
        { "id", STR("a/../b?x=#{path}") },
        { "path", STR("...") },
        { "empty", STR("") },
    };
    str out;

    CHECK_OK(target("http://h", "/workflow-states/{id}/at/{path}", params, 4, &out));
    CHECK_STR(out,
              "/workflow-states/a%2F..%2Fb%3Fx%3D%23%7Bpath%7D/at/...?after=1%20%26%202&empty=");
    CHECK_OK(target("http://h/base/", "/{id}", params + 1, 1, &out));
    CHECK_STR(out, "/base/a%2F..%2Fb%3Fx%3D%23%7Bpath%7D");
    CHECK_OK(target("unix:/s", "/", params, 1, &out));
    CHECK_STR(out, "/?after=1%20%26%202");
    CHECK_OK(target("unix:/s", "/{path}/{path}.json", params + 2, 1, &out));
    CHECK_STR(out, "/.../....json");
    CHECK_OK(target("http://h", "/health", NULL, 0, &out));
    CHECK_STR(out, "/health");
}

TEST(a_segment_that_would_change_the_path_is_refused)
{
    static const char *const values[] = { "", ".", ".." };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct url_param param = { "id", str_from(values[i]) };
        str out;
        CHECK_ERR(target("http://h", "/states/{id}/versions", &param, 1, &out), ERR_INVALID);
    }
    struct url_param param = { "id", STR("") };
    str out;
    err e = target("http://h", "/states/{id}", &param, 1, &out);
    CHECK_STR(e->message, "expected \"id\" to be a part of a path, not empty, \".\" or \"..\", "
                          "found nothing");
}
