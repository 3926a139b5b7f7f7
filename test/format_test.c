/* format_test.c: what each format of JSON Schema takes and refuses. */
#include "json/schema/format.h"

#include "base/utf8.h"
#include "check.h"
#include "json/schema/format_private.h"

static void check_fits(const char *name, str text, bool expected)
{
    const struct format *f = format_find(str_from(name));
    if (!f)
        check_fail(__FILE__, __LINE__, "no format %s", name);
    if (f->fits(text) != expected)
        check_fail(__FILE__, __LINE__, "%s \"" STR_FMT "\": expected %s", name, STR_ARG(text),
                   expected ? "that it fits" : "that it does not fit");
}

/* Lists end in NULL. The empty text is given by itself, for all formats, below. */
static void check_lists(const char *name, const char *const *yes, const char *const *no)
{
    for (; *yes; yes++)
        check_fits(name, str_from(*yes), true);
    for (; *no; no++)
        check_fits(name, str_from(*no), false);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static str repeated(const char *text, int times)
{
    struct buf b = buf_in(check_arena());
    while (times--)
        buf_add(&b, str_from(text));
    return buf_str(&b);
}

// clang-format off
TEST(formats_are_found_by_their_exact_names)
{
    static const char *const names[] = {
        "date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4",
        "ipv6", "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "time",
        "uri", "uri-reference", "uri-template", "uuid",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct format *f = format_find(str_from(names[i]));
        CHECK(f);
        CHECK_STR(str_from(f->name), names[i]);
        CHECK(f->hint && *f->hint);
    }
    CHECK(!format_find(STR("")));
    CHECK(!format_find(STR("Date")));
    CHECK(!format_find(STR("date-")));
    CHECK(!format_find(STR("color")));
    CHECK(!format_find(STR("zzz")));
}

TEST(only_some_formats_take_an_empty_text)
{
    static const char *const yes[] = { "json-pointer", "regex", "uri-reference", "iri-reference", "uri-template" };
    static const char *const no[] = { "date", "date-time", "duration", "email", "hostname", "idn-email",
        "idn-hostname", "ipv4", "ipv6", "iri", "relative-json-pointer", "time", "uri", "uuid" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        check_fits(yes[i], (str){ NULL, 0 }, true);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        check_fits(no[i], (str){ NULL, 0 }, false);
}

/* A NUL is a character like others, and none of these has it. */
TEST(no_format_ends_at_a_nul)
{
    check_fits("date", (str){ "2025-01-15\0", 11 }, false);
    check_fits("time", (str){ "10:35:00Z\0", 10 }, false);
    check_fits("duration", (str){ "P1\0", 3 }, false);
    check_fits("email", (str){ "a\0@b.c", 6 }, false);
    check_fits("hostname", (str){ "a\0", 2 }, false);
    check_fits("ipv4", (str){ "1.2.3.4\0", 8 }, false);
    check_fits("ipv6", (str){ "::1\0", 4 }, false);
    check_fits("uri", (str){ "a:\0", 3 }, false);
    check_fits("uri-template", (str){ "a\0", 2 }, false);
}

TEST(dates_are_days_that_exist)
{
    check_lists("date",
        LIST("1963-06-19", "2020-01-31", "2021-02-28", "2020-02-29", "2000-02-29", "2020-04-30",
             "2020-12-31", "0000-01-01", "9999-12-31"),
        LIST("2020-01-32", "2021-02-29", "2020-02-30", "1900-02-29", "2020-04-31", "2020-06-31",
             "2020-09-31", "2020-11-31", "2020-13-01", "2020-00-10", "2020-01-00", "06/19/1963",
             "2013-350", "1998-1-20", "1998-01-1", "1998-1", "1963-06-1\xe0\xa7\xaa", "20230328",
             "2023-W01", "2023-W13-2", "2022W527", "2020-11-28T23:55:45Z", " 1963-06-19",
             "1963-06-19 ", "-1963-06-19", "+1963-06-19", "19630-06-19", "1963-06-19Z"));
}

TEST(times_have_an_offset_and_leap_seconds_where_utc_has_them)
{
    check_lists("time",
        LIST("08:30:06Z", "08:30:06z", "00:00:00Z", "23:59:59Z", "23:20:50.52Z", "08:30:06.283185Z",
             "08:30:06+00:20", "08:30:06-08:00", "08:30:06.1+23:59", "23:59:60Z", "23:59:60+00:00",
             "23:59:60.9Z", "01:29:60+01:30", "23:29:60+23:30", "15:59:60-08:00", "00:29:60-23:30"),
        LIST("008:030:006Z", "8:3:6Z", "8:0030:6Z", "24:00:00Z", "00:60:00Z", "00:00:61Z",
             "22:59:60Z", "23:58:60Z", "22:59:60+00:00", "23:58:60+00:00", "23:59:60+01:00",
             "23:59:60+00:30", "23:59:60-01:00", "23:59:60-00:30", "01:02:03+24:00",
             "01:02:03-24:00", "01:02:03+00:60", "01:02:03Z+00:30", "08:30:06 PST",
             "01:01:01,1111", "12:00:00", "12:00:00.52", "12:00:00.Z", "12:00Z", "12Z", "120000Z",
             "1\xe0\xa7\xa8:00:00Z", "08:30:06#00:20", "08:30:06+0020", "08:30:06+00", "ab:cd:ef",
             "08:30:06-8:000", "T08:30:06Z", "08:30:06Z ", "08:30:06\xe2\x88\x92" "08:00"));
}

TEST(date_times_are_a_date_and_a_time)
{
    check_lists("date-time",
        LIST("1963-06-19T08:30:06.283185Z", "1963-06-19T08:30:06Z", "1937-01-01T12:00:27.87+00:20",
             "1990-12-31T15:59:50.123-08:00", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00",
             "1963-06-19t08:30:06.283185z", "2025-01-15T10:35:00-00:00"),
        LIST("1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z",
             "1990-02-31T15:59:59.123-08:00", "1990-12-31T15:59:59-24:00", "1990-12-31T10:00:00+10:60",
             "1963-06-19T08:30:06.28123+01:00Z", "06/19/1963 08:30:06 PST", "2013-350T01:01:01",
             "1963-6-19T08:30:06.283185Z", "1963-06-1T08:30:06.283185Z", "1963-06-19T08:30:06",
             "1963-06-1\xe0\xa7\xaaT00:00:00Z", "1963-06-11T0\xe0\xa7\xaa:00:00Z",
             "1963-06-19 08:30:06Z", "1963-06-19T", "1963-06-19", "1963-06-19TT08:30:06Z",
             "+11963-06-19T08:30:06.283185Z", "1963-06-19T24:00:00Z"));
}

TEST(durations_follow_the_grammar_of_rfc_3339)
{
    check_lists("duration",
        LIST("P4DT12H30M5S", "P4Y", "P1Y2M", "P1Y2M3D", "P2M3D", "PT0S", "P0D", "P1M", "PT1M", "PT36H",
             "P1DT12H", "P2W", "P0W", "PT1H2M", "PT2M3S", "P1YT1S", "P00012345678901234567890D"),
        LIST("P", "PT", "P1YT", "PT1D", "4DT12H30M5S", "P2D1Y", "P1D2H", "P2S", "P1Y2W", "P2W1D", "P1",
             "P1YTH", "P\xe0\xa7\xa8Y", "P1Y2D", "PT1H2S", "PT1.5S", "P-1D", "-P1D", "P1d", "p1D",
             "P1DT1", "PT1H1H", "P1WT1H", "P1D ", " P1D", "PT1H30MT1S"));
}

TEST(ipv4_addresses_are_four_plain_decimals)
{
    check_lists("ipv4",
        LIST("192.168.0.1", "0.0.0.0", "255.255.255.255", "87.10.0.1"),
        LIST("127.0.0.0.1", "256.256.256.256", "127.0", "0x7f000001", "0x7f.0.0.1", "2130706433",
             "087.10.0.1", "87.10.00.1", "1\xe0\xa7\xa8" "7.0.0.1", "192.168.1.0/24", " 1.2.3.4",
             "1.2.3.4 ", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.1000", "-1.2.3.4", "1.2.3.4\n"));
}

TEST(ipv6_addresses_are_eight_groups_or_fewer_with_a_gap)
{
    check_lists("ipv6",
        LIST("::1", "::", "::abef", "::ABEF", "d6::", "::42:ff:1", "1:d6::42", "1:2:3:4:5:6:7:8",
             "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::d6:192.168.0.1", "::ffff:192.168.0.1",
             "1000:1000:1000:1000:1000:1000:255.255.255.255", "1:2:3:4:5::1.2.3.4",
             "2001:0db8:85a3:0000:0000:8a2e:0370:7334"),
        LIST("12345::", "::12345", "::abcef", "::laptop", "1", "127.0.0.1", ":", "1:", ":1", "1::2::3", ":::",
             "1:2:3:4:5:::8", ":2:3:4:5:6:7:8", "1:2:3:4:5:6:7:", ":2:3:4::8", "1:1:1:1:1:1:1:1:1:1",
             "1:2:3:4:5:6:7", "1:2:3:4::5:6:7:8", "1::d6:192.168.0.1:7", "1:2::192.168.256.1",
             "1:2::192.168.ff.1", "1:2:3:4:1.2.3", "1:2:3:4:5:6:7:1.2.3.4",
             "100:100:100:100:100:100:255.255.255.255.255", "1.2.3.4::", "::1.2.3.4:5", "  ::1",
             "::1  ", "fe80::/64", "fe80::a%eth1", "[::1]", "1:2:3:4:5:6:7:\xe0\xa7\xaa",
             "1:2::192.16\xe0\xa7\xaa.0.1", "::1.2.3.04"));
}

TEST(host_names_are_labels_of_ascii_and_valid_a_labels)
{
    check_lists("hostname",
        LIST("www.example.com", "localhost", "EXAMPLE.com", "a", "0", "1host", "h0stn4me", "hostnam3",
             "host-name", "a--b", "r3---sn-x.example", "123.example",
             "xn--4gbwdl.xn--wgbh1c", "xn--bcher-kva.example", "XN--BCHER-KVA.example",
             "xn--ihqwcrb4cv8a8dqg056pqjye", "xn--nxasmm1c.com", "xn--fa-hia.de",
             "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk.com"),
        LIST("-a-host-name-that-starts-with--", "not_a_valid_host_name", "-hostname", "hostname-",
             "a.-b", "a-.b", ".", ".com", "example.", "a..b", "host name", " host", "host\n", "ex\xc3\xa4mple",
             "a\xe3\x80\x82" "b", "*.example.com", "a/b", "a:80", "[::1]", "user@host",
             "a-vvvvvvvvvvvvvvvveeeeeeeeeeeeeeeerrrrrrrrrrrrrrrryyyyyyyyyyyyyyyy-long-host-name-component",
             "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl.com",
             "xn--X", "xn--", "xn---", "xn--a", "xn--abc-", "xn--99999999", "xn--\xc3\xa4",
             "XN--aa---o47jg78q",           /* hyphens at the third and fourth place when decoded */
             "xn--bcher-kva-",              /* ends in a hyphen */
             "xn--Bcher-Kva8445foa"));
}

TEST(a_labels_decode_to_labels_that_idna_allows)
{
    /* The Punycode of labels that the next test has in the open. */
    check_lists("hostname",
        LIST("xn--zca29lwxobi7a", "xn--qmbc", "xn--ll-0ea", "xn--wva3je", "xn--4dbc5h",
             "xn--4dbc8h", "xn--k8j5u", "xn--ngba1o", "xn--11b2ezcw70k", "xn--ngba5hb2804a"),
        LIST("xn--hello-txk", "xn--hello-zed", "xn--hello-6bf", "xn--chb89f", "xn--07jceefgh4c",
             "xn--al-0ea", "xn--l-fda", "xn--la-0ea", "xn--l-gda", "xn--S-jib3p", "xn--wva3j",
             "xn--A-2hc5h", "xn--5db1e", "xn--5db3e", "xn--ngb6iyr", "xn--11b2er09f",
             "xn--defabc-k64e"));
}

TEST(idn_host_names_follow_rfc_5891_to_5893)
{
    check_lists("idn-hostname",
        LIST("실례.테스트", "bücher.example", "www.example.com", "host-name", "EXAMPLE.com", "ab--cd",
             "xn--ihqwcrb4cv8a8dqg056pqjye", "a.b", "a\u3002b", "a\uff0eb", "a\uff61b",
             "ß\u03c2\u0f0b\u3007", "\u06fd\u06fe", "l\u00b7l", "α\u0375β", "\u05d0\u05f3\u05d1",
             "\u05d0\u05f4\u05d1", "\u30fb\u3041", "\u30fb\u30a1", "\u30fb\u4e08",
             "\u0628\u0660\u0628", "\u06f0" "0", "\u0915\u094d\u200d\u0937", "\u0915\u094d\u200c\u0937",
             "\u0628\u064a\u200c\u0628\u064a", "faß.de", "名がドメイン.com",
             "\u05d0\u05d1.example", "ไทย", "ভারত", "中国", "한국"),
        LIST("〮실례.테스트", "실〮례.테스트", "-> $1.00 --", "xn--X", "XN--aa---o47jg78q",
             "-hello", "hello-", "-ü", "ü-", "aa--ü", "\u0903hello", "\u0300hello", "\u0488hello",
             "\u0640\u07fa", "\u3031\u3032\u3033\u3034\u3035\u302e\u302f\u303b", "a\u00b7l", "\u00b7l",
             "l\u00b7a", "l\u00b7", "α\u0375S", "α\u0375", "A\u05f3\u05d1", "\u05f3\u05d1",
             "A\u05f4\u05d1", "\u05f4\u05d1", "def\u30fbabc", "\u30fb", "\u0628\u0660\u06f0",
             "\u0915\u200d\u0937", "\u200d\u0937", "\u0915\u200c\u0937", ".", "\u3002", ".example",
             "example.", "\u3002example", "example\u3002", "a\uff61\uff61b", "a..b", "ü ü", "Bücher.de",
             "☃.example", "ﬁ.example", "a\u0308.example" /* not NFC: ä */, "ń\u0327" /* nor this: ņ́ */, "\u0378", "😀.example",
             "\u05d0a", "a\u05d0", "1.\u05d0", "\u05d0-\u0661" "1", "\u05d0\u0661\u06f1",
             "\u1100\u1161" /* old jamo */, "ü_ü", "a\u0323\u0301\u0316" /* marks out of order */));
}

TEST(names_are_as_long_as_when_encoded)
{
    str label = repeated("a", 63);
    struct buf name = buf_in(check_arena());
    for (int i = 0; i < 3; i++)
        buf_printf(&name, STR_FMT ".", STR_ARG(label));
    buf_add(&name, repeated("b", 61));
    str text = buf_str(&name);
    CHECK_INT(text.len, 253);
    check_fits("hostname", text, true);
    check_fits("idn-hostname", text, true);
    buf_byte(&name, 'b');
    check_fits("hostname", buf_str(&name), false);
    check_fits("idn-hostname", buf_str(&name), false);
    check_fits("hostname", repeated("a", 64), false);

    /* xn--, a hyphen and the digits of the encoding count too. */
    str fits = arena_printf(check_arena(), STR_FMT "ü", STR_ARG(repeated("a", 55)));
    str long_ = arena_printf(check_arena(), STR_FMT "ü", STR_ARG(repeated("a", 56)));
    check_fits("idn-hostname", fits, true);
    check_fits("idn-hostname", long_, false);
    check_fits("idn-hostname", repeated("실", 100), false);
}

TEST(mail_addresses_are_mailboxes_of_rfc_5321)
{
    check_lists("email",
        LIST("joe.bloggs@example.com", "te~st@example.com", "~test@example.com", "test~@example.com",
             "te.s.t@example.com", "\"joe bloggs\"@example.com", "\"joe..bloggs\"@example.com",
             "\"joe@bloggs\"@example.com", "\"\"@example.com", "\"a\\\"b\\\\\"@example.com", "joe.bloggs@[127.0.0.1]",
             "joe.bloggs@[IPv6:::1]", "joe@[ipv6:2001:db8::1]", "joe@[x-tag:anything]", "a@b",
             "!#$%&'*+-/=?^_`{|}~@example.com", "1@2.3"),
        LIST("2962", "joe.bloggs@", "@example.com", "@", ".test@example.com", "test.@example.com",
             "te..st@example.com", "joe bloggs@example.com", "\"joe bloggs@example.com", "\"joe\"bloggs@example.com",
             "joe.bloggs@invalid=domain.com", "joe.bloggs@[127.0.0.300]", "joe.bloggs@[IPv6:::12345]",
             "joe@[IPv6:127.0.0.1]", "joe@[]", "joe@[127.0.0.1", "joe@127.0.0.1]", "joe@[::1]", "joe@[-:x]", "joe@[a-:x]",
             "joe@[tag:]", "a@b@c", "a@.b", "a@b.", "a@-b.c", "a@b_c", "jo\xc3\xa9@example.com",
             "user1@oceania.org, user2@oceania.org", "\"Winston Smith\" <winston.smith@recdep.minitrue>",
             " a@b", "a@b ", "a@b\n", "a\n@b", "\"a\nb\"@c", "(comment)a@b"));
    check_fits("email", arena_printf(check_arena(), STR_FMT "@a", STR_ARG(repeated("x", 64))), true);
    check_fits("email", arena_printf(check_arena(), STR_FMT "@a", STR_ARG(repeated("x", 65))), false);
}

TEST(international_mail_addresses_take_utf8_on_both_sides)
{
    check_lists("idn-email",
        LIST("실례@실례.테스트", "joe.bloggs@example.com", "ü.ö@bücher.example", "\"ü ö\"@example.com", "a@[127.0.0.1]"),
        LIST("2962", "실례@", "@실례", "ü..ö@example.com", "a@〮실례", "a@ü_ü", "\"\\ü\"@example.com"));
}

TEST(uris_are_absolute_and_ascii)
{
    check_lists("uri",
        LIST("http://foo.bar/?baz=qux#quux", "http://foo.com/blah_(wikipedia)_blah#cite-1",
             "http://foo.bar/?q=Test%20URL-encoded%20stuff", "http://xn--nw2a.xn--j6w193g/",
             "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com", "http://223.255.255.254",
             "ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt",
             "ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com",
             "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "a:", "a:b", "a+b-c.1:x",
             "urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "file:///etc/hosts", "http://",
             "http://a:/", "http://a:80", "http://[v1.a:b]/", "http://a?b/c?d#e/f?g", "http://u:p@h:1/p",
             "a:/b", "a:b//c", "http://example.com/%F0%9F%98%80"),
        LIST("//foo.bar/?baz=qux#quux", "/abc", "\\\\WINDOWS\\fileshare", "abc", "http:// shouldfail.com",
             ":// should fail", "bar,baz:foo", "1a:b", ":a", "http://a b", "http://a/\\", "http://a/<", "http://a/>",
             "http://a/{", "http://a/}", "http://a/^", "http://a/`", "http://a/|", "http://a/\"", "http://a/%",
             "http://a/%2", "http://a/%zz", "http://a#b#c", "http://a?[", "http://a/[", "http://a:b/", "http://a:80x",
             "http://[::1", "http://::1]", "http://[::1]x", "http://[1.2.3.4]", "http://[]", "http://[v.a]",
             "http://[v1.]", "http://[v1.%20]", "http://[fe80::1%25eth0]", "https://[@example.org/test.txt", "http://a@b@c",
             "http://\xc3\xa9", "http://a/\xc3\xa9", "http://a/\n", " http://a", "http://a ", "http://a/\x7f"));
}

TEST(references_may_leave_out_the_front)
{
    check_lists("uri-reference",
        LIST("http://foo.bar/?baz=qux#quux", "//foo.bar/?baz=qux#quux", "/abc", "abc", "#fragment", "?a=b",
             "../a", "./a:b", "a/b:c", "//", "/a//b", "1/2", "*"),
        LIST("\\\\WINDOWS\\fileshare", "#frag\\ment", "1:b", ":b", "a b", "//a:b", "#a#b", "\xc3\xbc",
             "unescaped<>", "%"));
    check_lists("iri",
        LIST("http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://ƒøø.com/blah_(wîkïpédiå)_blah#ßité-1",
             "http://ƒøø.ßår/?q=Test%20URL-encoded%20stuff", "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
             "http://[2001:0db8:85a3:0000:0000:8a2e:0370:7334]", "http://a/?\ue000", "http://a/\U00010000"),
        LIST("http://2001:0db8:85a3:0000:0000:8a2e:0370:7334", "/abc", "\\\\WINDOWS\\filëßåré", "âππ", ":// ƒøø",
             "ü:a", "http://a/\ue000", "http://a#\ue000", "http://a/\ufdd0", "http://a/\U0001ffff",
             "http://a/\U000e0001", "http://a/\xc2\x80", "http://[ü]"));
    check_lists("iri-reference",
        LIST("http://ƒøø.ßår/?∂éœ=πîx#πîüx", "//ƒøø.ßår/?∂éœ=πîx#πîüx", "/âππ", "âππ", "#ƒrägmênt"),
        LIST("\\\\WINDOWS\\filëßåré", "#ƒräg\\mênt", "ü:b", "ü ü"));
}

TEST(uri_templates_have_closed_expressions)
{
    check_lists("uri-template",
        LIST("http://example.com/dictionary/{term:1}/{term}", "http://example.com/dictionary", "dictionary/{term:1}/{term}",
             "{+a,b*,c:9999}", "{#a}", "{.a}", "{/a}", "{;a}", "{?a,b}", "{&a}", "{=a}", "{,a}", "{!a}", "{@a}", "{|a}",
             "{a.b.c}", "{a%20b}", "{_1}", "/ü/%20/\ue000", "it's"),
        LIST("http://example.com/dictionary/{term:1}/{term", "}", "{}", "{", "{a,}", "{,}", "{a:}", "{a:0}", "{a:01}",
             "{a:10000}", "{a:1*}", "{a**}", "{a b}", "{a..b}", "{.}", "{a.}", "{+}", "{-a}", "{{a}}", "{a}}", "a b", "%", "%2",
             "\"", "<", ">", "\\", "^", "`", "|", "\n", "{ü}"));
}

TEST(pointers_and_uuids)
{
    check_lists("json-pointer",
        LIST("/foo/bar~0/baz~1/%a", "/", "/foo//bar", "/foo/bar/", "/foo/0", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j",
             "/k\"l", "/ ", "/m~0n", "/foo/-", "/foo/-/bar", "/~1~0~0~1~1", "/~01", "/ü"),
        LIST("/foo/bar~", "/~0~", "/~0/~", "/~2", "/~-1", "/~~", "#", "#/", "#a", "some/thing", "a", "0"));
    check_lists("relative-json-pointer",
        LIST("1", "0/foo/bar", "2/0/baz/1/zip", "0#", "120/foo/bar", "0", "1/", "0+1/a", "0-12#", "10+1"),
        LIST("/foo/bar", "-1/foo/bar", "+1/foo/bar", "0##", "01/a", "01#", "00", "0#/a", "0a", "1/~2", "0+0", "0+", "0-01",
             "0+1+1", "\xe0\xa7\xaa/a", "#"));
    check_lists("uuid",
        LIST("2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
             "2eb8aa08-AA98-11ea-B4Aa-73B441D16380", "00000000-0000-0000-0000-000000000000",
             "98d80576-482e-427f-8434-7f86890ab222", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
        LIST("2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08-aa98-11ea-73b441d16380", "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
             "2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08aa98-11ea-b4aa73b441d16380", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380",
             "2eb8aa08aa9811eab4aa73b441d16380----", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
             "2eb8aa08-aa98-11ea-b4aa-73b441d163800", " 2eb8aa08-aa98-11ea-b4aa-73b441d16380"));
}

TEST(the_format_regex_is_ecma_262)
{
    check_lists("regex",
        LIST("([abc])+\\s+$", "^a*$", "\\p{L}", "(?<n>a)\\k<n>", "[^]"),
        LIST("^(abc]", "^\\S(|(.|\\n)*\\S)\\Z", "\\a", "*", "(?i)a", "[b-a]"));
}
// clang-format on

/* The samples of RFC 3492, section 7.1, as code points of their texts. */
TEST(punycode_goes_both_ways)
{
    static const struct {
        const char *text, *encoded;
    } samples[] = {
        { "ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn" },
        { "他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye" },
        { "Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a" },
        { "3年B組金八先生", "3B-ww4c5e180e575a65lsy2b" },
        { "パフィーdeルンバ", "de-jg4avhby1noc0d" },
        { "そのスピードで", "d9juau41awczczp" },
        { "bücher", "bcher-kva" },
        { "ü", "tda" },
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        uint32_t points[64], decoded[64];
        size_t count = 0, decoded_count, len;
        char encoded[64];
        for (str rest = str_from(samples[i].text); rest.len; count++)
            points[count] = utf8_next(&rest);
        CHECK(punycode_encode(points, count, encoded, sizeof encoded, &len));
        CHECK_STR(((str){ encoded, len }), samples[i].encoded);
        CHECK(punycode_decode((str){ encoded, len }, decoded, 64, &decoded_count));
        CHECK_INT(decoded_count, count);
        CHECK(memcmp(points, decoded, count * sizeof *points) == 0);
        CHECK(!punycode_encode(points, count, encoded, len - 1, &len));
        CHECK(!punycode_decode(str_from(samples[i].encoded), decoded, count - 1, &decoded_count));
    }
}
