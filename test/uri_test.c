/* uri_test.c: references seen from a base. */
#include "check.h"
#include "json/uri.h"

/* The examples of RFC 3986 §5.4, without fragments. */
TEST(references_resolve_as_the_rfc_shows)
{
    static const char *const cases[][2] = {
        { "g:h", "g:h" },
        { "g", "http://a/b/c/g" },
        { "./g", "http://a/b/c/g" },
        { "g/", "http://a/b/c/g/" },
        { "/g", "http://a/g" },
        { "//g", "http://g" },
        { "?y", "http://a/b/c/d;p?y" },
        { "g?y", "http://a/b/c/g?y" },
        { "#s", "http://a/b/c/d;p?q" },
        { "g#s", "http://a/b/c/g" },
        { ";x", "http://a/b/c/;x" },
        { "g;x", "http://a/b/c/g;x" },
        { "", "http://a/b/c/d;p?q" },
        { ".", "http://a/b/c/" },
        { "./", "http://a/b/c/" },
        { "..", "http://a/b/" },
        { "../", "http://a/b/" },
        { "../g", "http://a/b/g" },
        { "../..", "http://a/" },
        { "../../", "http://a/" },
        { "../../g", "http://a/g" },
        { "../../../g", "http://a/g" },
        { "/./g", "http://a/g" },
        { "/../g", "http://a/g" },
        { "g.", "http://a/b/c/g." },
        { ".g", "http://a/b/c/.g" },
        { "..g", "http://a/b/c/..g" },
        { "./../g", "http://a/b/g" },
        { "./g/.", "http://a/b/c/g/" },
        { "g/./h", "http://a/b/c/g/h" },
        { "g/../h", "http://a/b/c/h" },
        { "g;x=1/../y", "http://a/b/c/y" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(uri_resolve(check_arena(), STR("http://a/b/c/d;p?q"), str_from(cases[i][0])),
                  cases[i][1]);
}

TEST(other_bases_serve_too)
{
    struct arena *a = check_arena();
    CHECK_STR(uri_resolve(a, STR(""), STR("x.json")), "x.json");
    CHECK_STR(uri_resolve(a, STR(""), STR("#a")), "");
    CHECK_STR(uri_resolve(a, STR("urn:uuid:1234"), STR("#a")), "urn:uuid:1234");
    CHECK_STR(uri_resolve(a, STR("urn:x:a?+r"), STR("urn:x:b")), "urn:x:b");
    CHECK_STR(uri_resolve(a, STR("http://a"), STR("b")), "http://a/b");
    CHECK_STR(uri_resolve(a, STR("file:///c/d"), STR("e")), "file:///c/e");
}

TEST(escapes_are_decoded_and_other_percent_signs_kept)
{
    struct arena *a = check_arena();
    CHECK_STR(uri_decode(a, STR("/a%20b%2Fc%e2%82%ac")), "/a b/c\xe2\x82\xac");
    CHECK_STR(uri_decode(a, STR("100%")), "100%");
    CHECK_STR(uri_decode(a, STR("%4")), "%4");
    CHECK_STR(uri_decode(a, STR("%zz%41")), "%zzA");
}
