/* digest_test.c: against the vectors of FIPS 180, RFC 4231 and RFC 4648. */
#include "base/digest.h"

#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static str hex(const unsigned char *bytes, size_t len)
{
    return hex_encode(check_arena(), (str){ (const char *)bytes, len });
}

static str repeated(const char *piece, size_t times)
{
    struct buf b = buf_in(check_arena());
    while (times--)
        buf_add(&b, str_from(piece));
    return buf_str(&b);
}

#define ABC_LONG "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

TEST(sha1_gives_the_published_digests)
{
    static const struct {
        const char *piece;
        size_t times;
        const char *digest;
    } cases[] = {
        { "", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
        { "abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d" },
        { ABC_LONG, 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
        { "a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f" },
        { "0123456701234567012345670123456701234567012345670123456701234567", 10,
          "dea356a2cddd90c7a7ecedc5ebb563934f460452" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char out[SHA1_BYTES];
        sha1(repeated(cases[i].piece, cases[i].times), out);
        CHECK_STR(hex(out, sizeof(out)), cases[i].digest);
    }
}

TEST(sha256_gives_the_published_digests)
{
    static const struct {
        const char *piece;
        size_t times;
        const char *digest;
    } cases[] = {
        { "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { ABC_LONG, 1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char out[SHA256_BYTES];
        sha256(repeated(cases[i].piece, cases[i].times), out);
        CHECK_STR(hex(out, sizeof(out)), cases[i].digest);
    }
}

/* Every length around the edges of blocks, cut at every place. */
TEST(sha256_in_pieces_is_the_same_as_whole)
{
    str data = repeated("0123456789abcdefghi", 10);
    for (size_t len = 0; len <= data.len; len++)
        for (size_t cut = 0; cut <= len; cut++) {
            unsigned char whole[SHA256_BYTES], pieces[SHA256_BYTES];
            sha256(str_slice(data, 0, len), whole);
            struct sha256 s;
            sha256_init(&s);
            sha256_add(&s, str_slice(data, 0, cut));
            sha256_add(&s, (str){ NULL, 0 });
            sha256_add(&s, str_slice(data, cut, len));
            sha256_end(&s, pieces);
            CHECK(memcmp(whole, pieces, sizeof(whole)) == 0);
        }
}

TEST(hmac_gives_the_digests_of_rfc_4231)
{
    char long_key[131], counting_key[25];
    memset(long_key, 0xaa, sizeof(long_key));
    for (size_t i = 0; i < sizeof(counting_key); i++)
        counting_key[i] = (char)(i + 1);
    const struct {
        str key, data;
        const char *digest;
    } cases[] = {
        { repeated("\x0b", 20), STR("Hi There"),
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
        { STR("Jefe"), STR("what do ya want for nothing?"),
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
        { { long_key, 20 },
          repeated("\xdd", 50),
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
        { { counting_key, 25 },
          repeated("\xcd", 50),
          "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
        { { long_key, 131 },
          STR("Test Using Larger Than Block-Size Key - Hash Key First"),
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
        { { long_key, 131 },
          STR("This is a test using a larger than block-size key and a larger than block-size data. "
              "The key needs to be hashed before being used by the HMAC algorithm."),
          "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
        { { NULL, 0 },
          { NULL, 0 },
          "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char out[SHA256_BYTES];
        hmac_sha256(cases[i].key, cases[i].data, out);
        CHECK_STR(hex(out, sizeof(out)), cases[i].digest);
    }
}

TEST(digest_equal_sees_a_difference_at_any_place)
{
    char a[32], b[32];
    memset(a, 'k', sizeof(a));
    memcpy(b, a, sizeof(a));
    CHECK(digest_equal((str){ a, 32 }, (str){ b, 32 }));
    CHECK(digest_equal(STR(""), (str){ NULL, 0 }));
    CHECK(!digest_equal((str){ a, 32 }, (str){ b, 31 }));
    for (size_t i = 0; i < sizeof(b); i++) {
        b[i] = (char)('k' ^ 0x80);
        CHECK(!digest_equal((str){ a, 32 }, (str){ b, 32 }));
        b[i] = 'k';
    }
}

TEST(hex_writes_small_letters)
{
    CHECK_STR(hex_encode(check_arena(), STR("\x00\x0f\xa5\xff")), "000fa5ff");
    CHECK_STR(hex_encode(check_arena(), STR("")), "");
}

TEST(base64_has_the_texts_of_rfc_4648)
{
    // clang-format off
    static const struct { str data; const char *plain, *url; } cases[] = {
        { STR(""),                 "",         ""        },
        { STR("f"),                "Zg==",     "Zg"      },
        { STR("fo"),               "Zm8=",     "Zm8"     },
        { STR("foo"),              "Zm9v",     "Zm9v"    },
        { STR("foob"),             "Zm9vYg==", "Zm9vYg"  },
        { STR("fooba"),            "Zm9vYmE=", "Zm9vYmE" },
        { STR("foobar"),           "Zm9vYmFy", "Zm9vYmFy" },
        { STR("\xfb\xff\xbf\x00"), "+/+/AA==", "-_-_AA"  },
    };
    // clang-format on
    struct arena *a = check_arena();
    for (size_t i = 0; i < COUNT(cases); i++) {
        str out;
        CHECK_STR(base64_encode(a, cases[i].data), cases[i].plain);
        CHECK(base64_decode(a, str_from(cases[i].plain), &out) && str_eq(out, cases[i].data));
        CHECK_STR(base64url_encode(a, cases[i].data), cases[i].url);
        CHECK(base64url_decode(a, str_from(cases[i].url), &out) && str_eq(out, cases[i].data));
    }
}

TEST(base64_round_trips_every_byte)
{
    struct arena *a = check_arena();
    char bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        str out, data = { bytes, len };
        CHECK(base64_decode(a, base64_encode(a, data), &out) && str_eq(out, data));
        CHECK(base64url_decode(a, base64url_encode(a, data), &out) && str_eq(out, data));
    }
}

TEST(base64_refuses_every_other_way_to_write)
{
    static const char *const plain[] = {
        "Zg",       "Zg=",  "Zg===", "=",    "==",    "====",     "Z===",   "Z",    "Zm9vYg=",
        "Zg==Zg==", "Zm=v", "Zh==",  "Zm9=", "Zm9v ", "Zm 9v===", "Zm9v\n", "-_-_", "Zm9\xc3",
    };
    static const char *const url[] = {
        "Zg==", "Zm8=", "Z",     "A",    "AAAAA", "Zm9vY", "Zh",
        "Zm9",  "+/+/", "Zm9v ", "Zm 9", "Zg=",   "=",
    };
    struct arena *a = check_arena();
    str out;
    for (size_t i = 0; i < COUNT(plain); i++)
        if (base64_decode(a, str_from(plain[i]), &out))
            check_fail(__FILE__, __LINE__, "\"%s\" was decoded", plain[i]);
    for (size_t i = 0; i < COUNT(url); i++)
        if (base64url_decode(a, str_from(url[i]), &out))
            check_fail(__FILE__, __LINE__, "\"%s\" was decoded as base64url", url[i]);
    CHECK(!base64_decode(a, STR("Zm9\0"), &out));
}
