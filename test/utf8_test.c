/* utf8_test.c: which bytes are UTF-8, and how many characters they are. */
#include "base/utf8.h"

#include "check.h"

TEST(utf8_validity_ends_at_the_first_wrong_sequence)
{
    // clang-format off
    static const struct { str bytes; size_t valid_to; } cases[] = {
        { STR(""), 0 },
        { STR("plain"), 5 },
        { STR("a\0b"), 3 },
        { STR("\x7f"), 1 },
        { STR("\xc2\x80 \xdf\xbf"), 5 },
        { STR("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"), 15 },
        { STR("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"), 9 },
        { STR("ab\x80"), 2 },                  /* a second byte without a first */
        { STR("ab\xbf"), 2 },
        { STR("\xc0\x80"), 0 },                /* overlong */
        { STR("\xc1\xbf"), 0 },
        { STR("x\xe0\x9f\xbf"), 1 },
        { STR("\xf0\x8f\xbf\xbf"), 0 },
        { STR("\xed\xa0\x80"), 0 },            /* surrogates */
        { STR("\xed\xbf\xbf"), 0 },
        { STR("\xf4\x90\x80\x80"), 0 },        /* above U+10FFFF */
        { STR("\xf5\x80\x80\x80"), 0 },
        { STR("\xff"), 0 },
        { STR("ok\xc3"), 2 },                  /* cut off */
        { STR("ok\xe2\x82"), 2 },
        { STR("ok\xf0\x9f\x98"), 2 },
        { STR("\xe2\x82\x41"), 0 },            /* the third byte is none */
        { STR("\xf0\x9f\x98\x41"), 0 },
        { STR("\xc3\xa9\xc3"), 2 },
    };
    // clang-format on
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t found = utf8_valid_to(cases[i].bytes);
        if (found != cases[i].valid_to)
            check_fail(__FILE__, __LINE__, "case %zu: valid to %zu, expected %zu", i, found,
                       cases[i].valid_to);
        CHECK(utf8_valid(cases[i].bytes) == (cases[i].valid_to == cases[i].bytes.len));
    }
}

/* ASCII is looked at in groups of bytes; no place in a group may hide a wrong one. */
TEST(utf8_finds_a_wrong_byte_at_any_place_of_any_length)
{
    char text[80];
    for (size_t len = 1; len <= sizeof(text); len++) {
        memset(text, 'a', sizeof(text));
        CHECK_INT(utf8_valid_to((str){ text, len }), len);
        for (size_t at = 0; at < len; at++) {
            text[at] = (char)0x80;
            CHECK_INT(utf8_valid_to((str){ text, len }), at);
            text[at] = 'a';
        }
    }
}

TEST(utf8_every_code_point_survives_being_written_and_read)
{
    char bytes[4];
    size_t seen = 0;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        str s = { bytes, utf8_put(bytes, c) };
        CHECK(utf8_valid(s));
        CHECK_INT(utf8_length(s), 1);
        CHECK_INT(utf8_next(&s), c);
        CHECK_INT(s.len, 0);
        seen++;
    }
    CHECK_INT(seen, 0x110000 - 0x800);
}

/* All strings of one and two bytes, and of three where the first begins one of three, against the
 * definition: a sequence is valid exactly when some code point is written so. */
TEST(utf8_takes_only_what_utf8_put_writes)
{
    static bool written[1 << 24];
    char bytes[4];
    for (uint32_t c = 0x80; c <= 0xffff; c++) {
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        unsigned char *b = (unsigned char *)bytes;
        size_t n = utf8_put(bytes, c);
        written[n == 2 ? b[0] << 8 | b[1] : b[0] << 16 | b[1] << 8 | b[2]] = true;
    }
    for (uint32_t v = 0x8000; v <= 0xffff; v++) {
        char two[] = { (char)(v >> 8), (char)v };
        CHECK(utf8_valid((str){ two, 2 }) == written[v]);
    }
    for (uint32_t v = 0xe00000; v <= 0xefffff; v++) {
        char three[] = { (char)(v >> 16), (char)(v >> 8), (char)v };
        CHECK(utf8_valid((str){ three, 3 }) == written[v]);
    }
}

TEST(utf8_length_counts_code_points)
{
    CHECK_INT(utf8_length(STR("")), 0);
    CHECK_INT(utf8_length(STR("na\xc3\xafve")), 5);
    CHECK_INT(utf8_length(STR("\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9x")), 4);
    CHECK_INT(utf8_length(STR("twelve \xe4\xb8\xad\xe6\x96\x87 characters and more")), 29);
}

TEST(utf8_cut_never_splits_a_code_point)
{
    str s = STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"); /* 1, 2, 3, 4 and 1 bytes */
    static const size_t expected[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    for (size_t most = 0; most < sizeof(expected) / sizeof(expected[0]); most++) {
        str cut = utf8_cut(s, most);
        CHECK_INT(cut.len, expected[most]);
        CHECK(cut.at == s.at && utf8_valid(cut));
        CHECK_INT(utf8_valid_to(str_slice(s, 0, most)), cut.len); /* the rest of it lies beyond */
    }
}
