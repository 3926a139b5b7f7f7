/* digest.h: SHA-1, SHA-256, HMAC, base64 and hex.
 *
 * SHA-1 is here for the WebSocket handshake alone. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/arena.h"

#define SHA1_BYTES 20
#define SHA256_BYTES 32

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, str data);
void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES]);

void sha1(str data, unsigned char out[SHA1_BYTES]);
void sha256(str data, unsigned char out[SHA256_BYTES]);
void hmac_sha256(str key, str data, unsigned char out[SHA256_BYTES]);

/* Takes the same time wherever two secrets of one length differ. */
bool digest_equal(str a, str b);

str hex_encode(struct arena *a, str data);
str base64_encode(struct arena *a, str data);    /* with padding    */
str base64url_encode(struct arena *a, str data); /* without padding */

/* Strict: padding where the form has it and nowhere else, no spaces, and no bits left over. */
bool base64_decode(struct arena *a, str text, str *out);
bool base64url_decode(struct arena *a, str text, str *out);

#endif
