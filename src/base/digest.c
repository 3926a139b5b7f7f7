/* digest.c: SHA-1, SHA-256, HMAC, base64 and hex.
 *
 * Plain C as in FIPS 180-4, RFC 2104 and RFC 4648. */
#include "base/digest.h"

#include "base/arena.h"

#define BLOCK 64

static uint32_t rotate_left(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store32(unsigned char *at, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* What follows the last whole block: the bytes left over, a one, zeros, and how many bits there
 * were in all. Gives the length, one block or two. */
static size_t pad(unsigned char tail[2 * BLOCK], const void *rest, uint64_t bytes)
{
    size_t left = bytes % BLOCK, length = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    memset(tail, 0, 2 * BLOCK);
    if (left)
        memcpy(tail, rest, left);
    tail[left] = 0x80;
    store32(tail + length - 8, (uint32_t)(bytes >> 29));
    store32(tail + length - 4, (uint32_t)(bytes << 3));
    return length;
}

/* ---- SHA-1 ---- */

/* The function and the constant of each twenty rounds. */
static uint32_t sha1_mix(int round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (round < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void sha1_block(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80];
    for (int i = 0; i < 16; i++)
        w[i] = load32(block + 4 * i);
    for (int i = 16; i < 80; i++)
        w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 80; i++) {
        uint32_t next = rotate_left(a, 5) + sha1_mix(i, b, c, d) + e + w[i];
        e = d;
        d = c;
        c = rotate_left(b, 30);
        b = a;
        a = next;
    }
    const uint32_t sum[5] = { a, b, c, d, e };
    for (int i = 0; i < 5; i++)
        state[i] += sum[i];
}

void sha1(str data, unsigned char out[SHA1_BYTES])
{
    uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    const unsigned char *at = (const unsigned char *)data.at;
    size_t left = data.len;
    for (; left >= BLOCK; at += BLOCK, left -= BLOCK)
        sha1_block(state, at);

    unsigned char tail[2 * BLOCK];
    size_t length = pad(tail, at, data.len);
    for (size_t i = 0; i < length; i += BLOCK)
        sha1_block(state, tail + i);
    for (int i = 0; i < 5; i++)
        store32(out + 4 * i, state[i]);
}

/* ---- SHA-256 ---- */

static const uint32_t sha256_start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void sha256_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = load32(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3) + w[i - 7] +
               (rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    for (int i = 0; i < 64; i++) {
        uint32_t one = h + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                       ((e & f) ^ (~e & g)) + sha256_k[i] + w[i];
        uint32_t two = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
                       ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + one;
        d = c;
        c = b;
        b = a;
        a = one + two;
    }
    const uint32_t sum[8] = { a, b, c, d, e, f, g, h };
    for (int i = 0; i < 8; i++)
        state[i] += sum[i];
}

void sha256_init(struct sha256 *s)
{
    memcpy(s->state, sha256_start, sizeof(s->state));
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, str data)
{
    const unsigned char *at = (const unsigned char *)data.at;
    size_t left = data.len, have = s->bytes % BLOCK;
    s->bytes += data.len;
    if (have && left) {
        size_t n = left < BLOCK - have ? left : BLOCK - have;
        memcpy(s->block + have, at, n);
        at += n;
        left -= n;
        if (have + n < BLOCK)
            return;
        sha256_block(s->state, s->block);
    }
    for (; left >= BLOCK; at += BLOCK, left -= BLOCK)
        sha256_block(s->state, at);
    if (left)
        memcpy(s->block, at, left);
}

void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES])
{
    unsigned char tail[2 * BLOCK];
    size_t length = pad(tail, s->block, s->bytes);
    for (size_t i = 0; i < length; i += BLOCK)
        sha256_block(s->state, tail + i);
    for (int i = 0; i < 8; i++)
        store32(out + 4 * i, s->state[i]);
}

void sha256(str data, unsigned char out[SHA256_BYTES])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, data);
    sha256_end(&s, out);
}

/* ---- HMAC ---- */

/* The digest of the key block, every byte of it changed by `mask`, and then the data. */
static void hmac_pass(const unsigned char key[BLOCK], unsigned char mask, str data,
                      unsigned char out[SHA256_BYTES])
{
    unsigned char masked[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        masked[i] = key[i] ^ mask;
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, (str){ (const char *)masked, BLOCK });
    sha256_add(&s, data);
    sha256_end(&s, out);
}

void hmac_sha256(str key, str data, unsigned char out[SHA256_BYTES])
{
    unsigned char block[BLOCK] = { 0 }, inner[SHA256_BYTES];
    if (key.len > BLOCK)
        sha256(key, block);
    else if (key.len)
        memcpy(block, key.at, key.len);
    hmac_pass(block, 0x36, data, inner);
    hmac_pass(block, 0x5c, (str){ (const char *)inner, sizeof(inner) }, out);
}

bool digest_equal(str a, str b)
{
    if (a.len != b.len)
        return false;
    /* volatile: the compiler must not find out that it could stop early. */
    volatile unsigned char differences = 0;
    for (size_t i = 0; i < a.len; i++)
        differences |= (unsigned char)(a.at[i] ^ b.at[i]);
    return differences == 0;
}

/* ---- texts ---- */

str hex_encode(struct arena *a, str data)
{
    char *out = arena_alloc(a, 2 * data.len + 1);
    for (size_t i = 0; i < data.len; i++) {
        unsigned char byte = (unsigned char)data.at[i];
        out[2 * i] = "0123456789abcdef"[byte >> 4];
        out[2 * i + 1] = "0123456789abcdef"[byte & 15];
    }
    out[2 * data.len] = '\0';
    return (str){ out, 2 * data.len };
}

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

struct base64_form {
    char alphabet[65];
    bool padded;
};

static const struct base64_form plain_form = { LETTERS_AND_DIGITS "+/", true };
static const struct base64_form url_form = { LETTERS_AND_DIGITS "-_", false };

static str encode(struct arena *a, const struct base64_form *form, str data)
{
    char *out = arena_alloc(a, (data.len + 2) / 3 * 4 + 1), *to = out;
    for (size_t i = 0; i < data.len; i += 3) {
        size_t n = data.len - i < 3 ? data.len - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)data.at[i + k] : 0u);
        for (size_t k = 0; k < 4; k++) /* n bytes fill n + 1 letters */
            if (k <= n)
                *to++ = form->alphabet[bits >> (18 - 6 * k) & 63];
            else if (form->padded)
                *to++ = '=';
    }
    *to = '\0';
    return (str){ out, (size_t)(to - out) };
}

static bool letter_value(const struct base64_form *form, char c, uint32_t *out)
{
    const char *at = memchr(form->alphabet, c, 64);
    if (!at)
        return false;
    *out = (uint32_t)(at - form->alphabet);
    return true;
}

static bool decode(struct arena *a, const struct base64_form *form, str text, str *out)
{
    if (form->padded) {
        if (text.len % 4)
            return false;
        for (int i = 0; i < 2 && text.len && text.at[text.len - 1] == '='; i++)
            text.len--;
    }
    if (text.len % 4 == 1)
        return false;

    char *bytes = arena_alloc(a, text.len / 4 * 3 + 3), *to = bytes;
    uint32_t bits = 0, value;
    unsigned count = 0; /* of bits that are in no byte yet */
    for (size_t i = 0; i < text.len; i++) {
        if (!letter_value(form, text.at[i], &value))
            return false;
        bits = bits << 6 | value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            *to++ = (char)(bits >> count);
        }
    }
    if (bits & ((1u << count) - 1))
        return false;
    *to = '\0';
    *out = (str){ bytes, (size_t)(to - bytes) };
    return true;
}

str base64_encode(struct arena *a, str data)
{
    return encode(a, &plain_form, data);
}

str base64url_encode(struct arena *a, str data)
{
    return encode(a, &url_form, data);
}

bool base64_decode(struct arena *a, str text, str *out)
{
    return decode(a, &plain_form, text, out);
}

bool base64url_decode(struct arena *a, str text, str *out)
{
    return decode(a, &url_form, text, out);
}
