/* frame.c: WebSocket frames, read in pieces of any size and written whole.
 *
 * Everything a reader decides depends on the bytes that have come, never on how they were cut:
 * a header is looked at when its first two bytes are there and again when it is complete, a text
 * is checked as far as it has come. So a peer is refused at the first byte that is wrong, and a
 * message that is too long before any of it is kept. */
#include "wire/ws/frame.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/utf8.h"

enum {
    FINAL = 0x80, /* of the first byte */
    RESERVED = 0x70,
    OPCODE = 0x0f,
    CONTROL = 0x08,
    MASKED = 0x80, /* of the second byte */
    LENGTH = 0x7f,
    LENGTH_16 = 126, /* the length follows in 2 bytes */
    LENGTH_64 = 127, /* in 8 bytes */

    HEADER_MIN = 2,
    MASK_BYTES = 4,
    MESSAGE_ROOM = 512,      /* what a message is given at first */
    MESSAGE_KEPT = 16 << 10, /* more than this is given back after a message */
};

#define KNOWN_OPCODES                                                               \
    (1u << WEBSOCKET_CONTINUATION | 1u << WEBSOCKET_TEXT | 1u << WEBSOCKET_BINARY | \
     1u << WEBSOCKET_CLOSE | 1u << WEBSOCKET_PING | 1u << WEBSOCKET_PONG)

/* The close codes that may be on the wire. The gaps are codes that only stand for what happened
 * at one end, or that nobody has defined. */
// clang-format off
static const struct { unsigned low, high; } close_codes[] = {
    { 1000, 1003 },
    { 1007, 1014 },
    { 3000, 4999 },
};
// clang-format on

static bool close_code_valid(unsigned code)
{
    for (size_t i = 0; i < sizeof close_codes / sizeof *close_codes; i++)
        if (code >= close_codes[i].low && code <= close_codes[i].high)
            return true;
    return false;
}

/* ---- masking ---- */

/* Copies n bytes of a payload, of which `offset` came before, under the key: masking and unmasking
 * are the same. */
static void mask_copy(char *to, const char *from, size_t n, const unsigned char key[MASK_BYTES],
                      size_t offset)
{
    unsigned char turned[8];
    uint64_t wide, a, b;
    size_t i = 0;

    for (size_t k = 0; k < sizeof turned; k++)
        turned[k] = key[(offset + k) % MASK_BYTES];
    memcpy(&wide, turned, sizeof wide);

    for (; n - i >= 16; i += 16) {
        memcpy(&a, from + i, 8);
        memcpy(&b, from + i + 8, 8);
        a ^= wide;
        b ^= wide;
        memcpy(to + i, &a, 8);
        memcpy(to + i + 8, &b, 8);
    }
    for (; i < n; i++)
        to[i] = (char)((unsigned char)from[i] ^ turned[i % sizeof turned]);
}

/* ---- reading: the message ---- */

void websocket_reader_init(struct websocket_reader *r, enum websocket_role role, size_t message_max)
{
    *r = (struct websocket_reader){
        .role = role,
        .message_max = message_max ? message_max : WEBSOCKET_MESSAGE_MAX,
    };
}

void websocket_reader_release(struct websocket_reader *r)
{
    free(r->at);
    *r = (struct websocket_reader){ .phase = WEBSOCKET_ENDED };
}

/* Forgets a message that was given out. Thousands of connections are idle most of the time, and
 * must not each hold the memory of the longest message they ever had. */
static void message_forget(struct websocket_reader *r)
{
    if (r->room > MESSAGE_KEPT) {
        free(r->at);
        r->at = NULL;
        r->room = 0;
    }
    r->len = r->valid = 0;
    r->delivered = false;
}

/* Grows with the bytes that come, not with the length that a header announces. */
static char *message_reserve(struct websocket_reader *r, size_t n)
{
    size_t need = r->len + n;

    assert(need <= r->message_max);
    if (need > r->room) {
        size_t room = r->room ? r->room * 2 : MESSAGE_ROOM;
        if (room < need)
            room = need;
        if (room > r->message_max)
            room = r->message_max;
        r->at = mem_grow(r->at, room);
        r->room = room;
    }
    return r->at + r->len;
}

static str message_text(const struct websocket_reader *r)
{
    return (str){ r->at ? r->at : "", r->len };
}

/* ---- reading: what is refused ---- */

static bool refuse(struct websocket_reader *r, enum websocket_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Always false, so that a check can end with it. */
static bool refuse(struct websocket_reader *r, enum websocket_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(r->reason, sizeof r->reason, format, args);
    va_end(args);
    assert(n >= 0 && (size_t)n < sizeof r->reason);
    r->code = code;
    r->phase = WEBSOCKET_BROKEN;
    return false;
}

static bool refuse_frame(struct websocket_reader *r, const char *expected, const char *found)
{
    return refuse(r, WEBSOCKET_PROTOCOL_ERROR, "expected %s, found %s", expected, found);
}

/* The first two bytes of a header. */
static bool header_start_holds(struct websocket_reader *r)
{
    unsigned opcode = r->header[0] & OPCODE;
    bool final = r->header[0] & FINAL, masked = r->header[1] & MASKED;

    if (r->header[0] & RESERVED)
        return refuse(r, WEBSOCKET_PROTOCOL_ERROR, "expected no reserved bits, found 0x%02x",
                      r->header[0] & RESERVED);
    if (!(KNOWN_OPCODES >> opcode & 1))
        return refuse(r, WEBSOCKET_PROTOCOL_ERROR, "expected opcode 0, 1, 2, 8, 9 or 10, found %u",
                      opcode);
    if (masked && r->role == WEBSOCKET_CLIENT)
        return refuse_frame(r, "a frame without mask from a server", "a masked one");
    if (!masked && r->role == WEBSOCKET_SERVER)
        return refuse_frame(r, "a masked frame from a client", "one without mask");

    if (opcode & CONTROL) {
        if (!final)
            return refuse_frame(r, "a whole control frame", "a fragment of one");
        if ((r->header[1] & LENGTH) > WEBSOCKET_CONTROL_MAX)
            return refuse_frame(r, "at most 125 bytes in a control frame", "more");
    } else if (opcode == WEBSOCKET_CONTINUATION && r->message == WEBSOCKET_CONTINUATION) {
        return refuse_frame(r, "the start of a message", "a continuation");
    } else if (opcode != WEBSOCKET_CONTINUATION && r->message != WEBSOCKET_CONTINUATION) {
        return refuse_frame(r, "a continuation of the message", "the start of another");
    }
    return true;
}

/* The length of the payload, in the bytes of a complete header that hold it. */
static bool length_holds(struct websocket_reader *r, uint64_t length, unsigned bytes)
{
    uint64_t least = bytes == 8 ? UINT16_MAX + 1 : bytes == 2 ? LENGTH_16 : 0;

    if (length < least)
        return refuse(r, WEBSOCKET_PROTOCOL_ERROR,
                      "expected the shortest form of a length, found %u in %u bytes",
                      (unsigned)length, bytes);
    if (length > INT64_MAX)
        return refuse_frame(r, "a length below 2^63", "one with its highest bit set");
    if (!(r->header[0] & CONTROL) && length > r->message_max - r->len)
        return refuse(r, WEBSOCKET_TOO_BIG,
                      "expected a message of at most %zu bytes, found %llu or more", r->message_max,
                      (unsigned long long)(r->len + length));
    return true;
}

/* Whether the bytes begin a character and lack only its end. */
static bool character_begins(str tail)
{
    unsigned char first = (unsigned char)tail.at[0];
    char whole[4] = { (char)0x80, (char)0x80, (char)0x80, (char)0x80 };
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;

    if (tail.len >= length)
        return false;
    if (tail.len == 1)
        return first >= 0xc2 && first <= 0xf4;
    memcpy(whole, tail.at, tail.len); /* behind a second byte, 0x80 is always right */
    return utf8_valid((str){ whole, length });
}

/* What has come of a text; with `ended`, it must not lack the end of a character. */
static bool text_holds(struct websocket_reader *r, bool ended)
{
    str rest = str_slice(message_text(r), r->valid, r->len);

    r->valid += utf8_valid_to(rest);
    rest = str_slice(message_text(r), r->valid, r->len);
    if (rest.len == 0 || (!ended && character_begins(rest)))
        return true;
    return refuse(r, WEBSOCKET_BAD_TEXT,
                  "expected UTF-8 in a text, found byte 0x%02x at offset %zu",
                  (unsigned char)rest.at[0], r->valid);
}

/* ---- reading: frames ---- */

static unsigned length_bytes(const struct websocket_reader *r)
{
    unsigned length = r->header[1] & LENGTH;
    return length == LENGTH_64 ? 8 : length == LENGTH_16 ? 2 : 0;
}

static bool header_gather(struct websocket_reader *r, str *bytes, unsigned size)
{
    size_t n = size - r->header_len;

    if (n > bytes->len)
        n = bytes->len;
    if (n > 0)
        memcpy(r->header + r->header_len, bytes->at, n);
    r->header_len += (unsigned)n;
    *bytes = str_slice(*bytes, n, bytes->len);
    return r->header_len == size;
}

/* False when the header is not complete or is refused. */
static bool header_take(struct websocket_reader *r, str *bytes)
{
    if (r->header_len < HEADER_MIN)
        if (!header_gather(r, bytes, HEADER_MIN) || !header_start_holds(r))
            return false;

    bool masked = r->header[1] & MASKED;
    unsigned more = length_bytes(r), size = HEADER_MIN + more + (masked ? MASK_BYTES : 0);
    if (!header_gather(r, bytes, size))
        return false;

    uint64_t length = more ? 0 : r->header[1] & LENGTH;
    for (unsigned i = 0; i < more; i++)
        length = length << 8 | r->header[HEADER_MIN + i];
    if (!length_holds(r, length, more))
        return false;

    unsigned opcode = r->header[0] & OPCODE;
    if (opcode == WEBSOCKET_TEXT || opcode == WEBSOCKET_BINARY)
        r->message = opcode;
    if (masked)
        memcpy(r->key, r->header + HEADER_MIN + more, MASK_BYTES);
    r->payload_len = length;
    r->taken = 0;
    r->header_len = 0;
    r->phase = WEBSOCKET_IN_PAYLOAD;
    return true;
}

/* False when the payload is not complete or is refused. */
static bool payload_take(struct websocket_reader *r, str *bytes)
{
    bool control = r->header[0] & CONTROL;
    size_t n = r->payload_len - r->taken;

    if (n > bytes->len)
        n = bytes->len;
    if (n > 0) {
        char *to = control ? r->control + r->taken : message_reserve(r, n);
        mask_copy(to, bytes->at, n, r->key, r->taken);
        r->taken += n;
        *bytes = str_slice(*bytes, n, bytes->len);
        if (!control) {
            r->len += n;
            if (r->message == WEBSOCKET_TEXT && !text_holds(r, false))
                return false;
        }
    }
    return r->taken == r->payload_len;
}

static bool close_end(struct websocket_reader *r, struct websocket_event *out)
{
    str payload = { r->control, r->payload_len }, reason = str_slice(payload, 2, payload.len);
    unsigned code = WEBSOCKET_NO_CODE;

    if (payload.len == 1)
        return refuse_frame(r, "a close code of two bytes", "one byte");
    if (payload.len >= 2) {
        code = (unsigned)(unsigned char)payload.at[0] << 8 | (unsigned char)payload.at[1];
        if (!close_code_valid(code))
            return refuse(r, WEBSOCKET_PROTOCOL_ERROR,
                          "expected a close code of 1000-1003, 1007-1014 or 3000-4999, found %u",
                          code);
    }
    if (!utf8_valid(reason))
        return refuse(r, WEBSOCKET_BAD_TEXT,
                      "expected UTF-8 in the reason of a close, found byte 0x%02x",
                      (unsigned char)reason.at[utf8_valid_to(reason)]);
    *out = (struct websocket_event){ WEBSOCKET_CLOSE, reason, code };
    r->phase = WEBSOCKET_ENDED;
    return true;
}

/* False when a whole frame makes no event, or is refused. */
static bool frame_end(struct websocket_reader *r, struct websocket_event *out)
{
    unsigned opcode = r->header[0] & OPCODE;

    r->phase = WEBSOCKET_IN_HEADER;
    if (opcode == WEBSOCKET_CLOSE)
        return close_end(r, out);
    if (opcode & CONTROL) {
        *out = (struct websocket_event){ opcode, { r->control, r->payload_len }, 0 };
        return true;
    }
    if (!(r->header[0] & FINAL) || (r->message == WEBSOCKET_TEXT && !text_holds(r, true)))
        return false;
    *out = (struct websocket_event){ r->message, message_text(r), 0 };
    r->message = WEBSOCKET_CONTINUATION;
    r->delivered = true;
    return true;
}

bool websocket_read(struct websocket_reader *r, str *bytes, struct websocket_event *out)
{
    if (r->delivered)
        message_forget(r);
    while (r->phase == WEBSOCKET_IN_HEADER || r->phase == WEBSOCKET_IN_PAYLOAD) {
        if (r->phase == WEBSOCKET_IN_HEADER && !header_take(r, bytes))
            break;
        if (!payload_take(r, bytes))
            break;
        if (frame_end(r, out))
            return true;
    }

    bool broken = r->phase == WEBSOCKET_BROKEN;
    if (broken) {
        *out = (struct websocket_event){ WEBSOCKET_REFUSED, str_from(r->reason), r->code };
        r->phase = WEBSOCKET_ENDED;
    }
    /* Bytes are left only where nothing is read any more. */
    *bytes = str_slice(*bytes, bytes->len, bytes->len);
    return broken;
}

/* ---- writing ---- */

static size_t header_put(unsigned char *to, enum websocket_kind opcode, size_t length, bool masked)
{
    unsigned more = length > UINT16_MAX ? 8 : length > WEBSOCKET_CONTROL_MAX ? 2 : 0;

    to[0] = (unsigned char)(FINAL | opcode);
    to[1] = (unsigned char)(more == 8 ? LENGTH_64 : more == 2 ? LENGTH_16 : length);
    if (masked)
        to[1] |= MASKED;
    for (unsigned i = 0; i < more; i++)
        to[HEADER_MIN + i] = (unsigned char)((uint64_t)length >> 8 * (more - 1 - i));
    return HEADER_MIN + more;
}

/* Without a key, the frame is not masked. */
static void frame_put(struct buf *out, enum websocket_kind opcode, str payload,
                      const unsigned char *key)
{
    assert(opcode > WEBSOCKET_CONTINUATION && opcode <= WEBSOCKET_PONG &&
           KNOWN_OPCODES >> opcode & 1);
    assert(!(opcode & CONTROL) || payload.len <= WEBSOCKET_CONTROL_MAX);

    char *to = buf_reserve(out, WEBSOCKET_HEADER_MAX + payload.len);
    size_t header = header_put((unsigned char *)to, opcode, payload.len, key != NULL);
    out->len += header;
    if (!key) {
        buf_add(out, payload);
        return;
    }
    buf_add(out, (str){ (const char *)key, MASK_BYTES });
    mask_copy(to + header + MASK_BYTES, payload.at, payload.len, key, 0);
    out->len += payload.len;
}

void websocket_frame(struct buf *out, enum websocket_kind opcode, str payload)
{
    frame_put(out, opcode, payload, NULL);
}

void websocket_frame_masked(struct buf *out, enum websocket_kind opcode, str payload,
                            const unsigned char key[4])
{
    assert(key);
    frame_put(out, opcode, payload, key);
}

static void close_put(struct buf *out, enum websocket_code code, str reason,
                      const unsigned char *key)
{
    char payload[WEBSOCKET_CONTROL_MAX];
    size_t len = 0;

    assert(code == WEBSOCKET_NO_CODE || close_code_valid(code));
    if (code != WEBSOCKET_NO_CODE) {
        payload[len++] = (char)(code >> 8);
        payload[len++] = (char)code;
        reason = str_slice(reason, 0, WEBSOCKET_REASON_MAX);
        reason.len = utf8_valid_to(reason); /* a character that was cut is not valid either */
        if (reason.len > 0)
            memcpy(payload + len, reason.at, reason.len);
        len += reason.len;
    }
    frame_put(out, WEBSOCKET_CLOSE, (str){ payload, len }, key);
}

void websocket_close(struct buf *out, enum websocket_code code, str reason)
{
    close_put(out, code, reason, NULL);
}

void websocket_close_masked(struct buf *out, enum websocket_code code, str reason,
                            const unsigned char key[4])
{
    assert(key);
    close_put(out, code, reason, key);
}

/* ---- the handshake ---- */

str websocket_key(struct arena *a, const unsigned char random[WEBSOCKET_KEY_BYTES])
{
    return base64_encode(a, (str){ (const char *)random, WEBSOCKET_KEY_BYTES });
}

/* The answer that proves that the request was understood as a WebSocket handshake. */
static str accept_for(struct arena *a, str key)
{
    unsigned char digest[SHA1_BYTES];
    struct buf text = buf_in(a);

    buf_add(&text, key);
    buf_add(&text, STR("258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    sha1(buf_str(&text), digest);
    return base64_encode(a, (str){ (const char *)digest, sizeof digest });
}

err websocket_accept(struct arena *a, str key, str *accept)
{
    str bytes;

    if (!base64_decode(a, key, &bytes))
        return err_new(a, ERR_INVALID,
                       "expected Sec-WebSocket-Key to be %d bytes in base64, found no base64",
                       WEBSOCKET_KEY_BYTES);
    if (bytes.len != WEBSOCKET_KEY_BYTES)
        return err_new(a, ERR_INVALID,
                       "expected Sec-WebSocket-Key to be %d bytes in base64, found %zu",
                       WEBSOCKET_KEY_BYTES, bytes.len);
    *accept = accept_for(a, key);
    return NULL;
}

err websocket_check_accept(struct arena *a, str key, str accept)
{
    str expected = accept_for(a, key), found = utf8_cut(accept, 64);

    if (str_eq(expected, accept))
        return NULL;
    return err_new(a, ERR_INVALID,
                   "expected Sec-WebSocket-Accept to be \"" STR_FMT "\", found \"" STR_FMT "\"",
                   STR_ARG(expected), STR_ARG(found));
}
