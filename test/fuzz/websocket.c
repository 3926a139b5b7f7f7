/* fuzz: src/wire/ws/frame.c */
/* websocket.c: any bytes as frames, at both ends.
 *
 * The events do not depend on how the bytes are cut; a text is UTF-8; no more than the limit is
 * ever kept. And any bytes as a payload: what is written, whole or in fragments, is read back. */
#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "wire/ws/frame.h"

enum { SMALL = 100 }; /* a limit that the inputs reach */

/* Adds the events of a piece to a log. The piece is copied to memory of its size, so that a read
 * beyond its end is seen. */
static void feed(struct websocket_reader *r, str piece, struct buf *log)
{
    struct websocket_event e;
    char *exact = memcpy(mem_alloc(piece.len), piece.at, piece.len);
    str rest = { exact, piece.len };
    while (websocket_read(r, &rest, &e)) {
        assert(e.kind != WEBSOCKET_CONTINUATION);
        assert(e.payload.len <= r->message_max || e.payload.len <= WEBSOCKET_CONTROL_MAX);
        assert(e.kind == WEBSOCKET_BINARY || e.kind == WEBSOCKET_PING || e.kind == WEBSOCKET_PONG ||
               utf8_valid(e.payload));
        buf_printf(log, "%d %d %zu ", e.kind, e.code, e.payload.len);
        buf_add(log, e.payload);
        if (e.kind == WEBSOCKET_CLOSE || e.kind == WEBSOCKET_REFUSED)
            websocket_close(&(struct buf){ .arena = log->arena }, e.code, e.payload);
    }
    assert(rest.len == 0 && r->room <= r->message_max);
    free(exact);
}

/* The log of all events of bytes in pieces of a size. */
static str events(struct arena *a, enum websocket_role role, size_t limit, str bytes, size_t size)
{
    struct websocket_reader r;
    struct buf log = buf_in(a);

    websocket_reader_init(&r, role, limit);
    for (size_t i = 0; i < bytes.len; i += size)
        feed(&r, str_slice(bytes, i, i + size), &log);
    websocket_reader_release(&r);
    return buf_str(&log);
}

static void cuts_do_not_matter(struct arena *a, str bytes)
{
    for (int role = WEBSOCKET_SERVER; role <= WEBSOCKET_CLIENT; role++) {
        for (size_t limit = 0; limit <= SMALL; limit += SMALL) {
            str whole = events(a, role, limit, bytes, bytes.len + 1);
            for (size_t size = 1; size <= 7; size += 2)
                assert(str_eq(events(a, role, limit, bytes, size), whole));
        }
    }
}

/* The only event of the bytes is this one. */
static void reads_as(enum websocket_role role, str bytes, enum websocket_kind kind, unsigned code,
                     str payload)
{
    struct websocket_reader r;
    struct websocket_event e;

    websocket_reader_init(&r, role, 0);
    bool any = websocket_read(&r, &bytes, &e);
    assert(any && e.kind == kind && e.code == code && str_eq(e.payload, payload));
    any = websocket_read(&r, &bytes, &e);
    assert(!any && bytes.len == 0);
    websocket_reader_release(&r);
}

static void frames_come_back(struct arena *a, str payload, const unsigned char key[4])
{
    static const enum websocket_kind kinds[] = { WEBSOCKET_TEXT, WEBSOCKET_BINARY, WEBSOCKET_PING,
                                                 WEBSOCKET_PONG };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct buf plain = buf_in(a), masked = buf_in(a);
        str part = kinds[i] == WEBSOCKET_TEXT     ? str_slice(payload, 0, utf8_valid_to(payload))
                   : kinds[i] == WEBSOCKET_BINARY ? payload
                                                  : str_slice(payload, 0, WEBSOCKET_CONTROL_MAX);
        websocket_frame(&plain, kinds[i], part);
        websocket_frame_masked(&masked, kinds[i], part, key);
        reads_as(WEBSOCKET_CLIENT, buf_str(&plain), kinds[i], 0, part);
        reads_as(WEBSOCKET_SERVER, buf_str(&masked), kinds[i], 0, part);
    }

    struct buf plain = buf_in(a), masked = buf_in(a);
    unsigned code = 3000 + key[0];
    str reason = str_slice(payload, 0, WEBSOCKET_REASON_MAX);
    reason.len = utf8_valid_to(reason);
    websocket_close(&plain, code, payload);
    websocket_close_masked(&masked, code, payload, key);
    reads_as(WEBSOCKET_CLIENT, buf_str(&plain), WEBSOCKET_CLOSE, code, reason);
    reads_as(WEBSOCKET_SERVER, buf_str(&masked), WEBSOCKET_CLOSE, code, reason);
}

/* A text in fragments of a size, each made of a whole frame by changing its first byte. */
static void fragments_come_back(struct arena *a, str payload, const unsigned char key[4])
{
    struct buf out = buf_in(a);
    size_t size = key[1] % 16 + 1;

    payload = str_slice(payload, 0, utf8_valid_to(payload));
    for (size_t i = 0; i == 0 || i < payload.len; i += size) {
        size_t start = out.len;
        websocket_frame_masked(&out, WEBSOCKET_TEXT, str_slice(payload, i, i + size), key);
        out.at[start] = (char)((i ? 0 : WEBSOCKET_TEXT) | (i + size >= payload.len ? 0x80 : 0));
    }
    reads_as(WEBSOCKET_SERVER, buf_str(&out), WEBSOCKET_TEXT, 0, payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str bytes = { (const char *)data, size };
    unsigned char key[4] = { 0 };

    memcpy(key, data, size < 4 ? size : 4);
    cuts_do_not_matter(a, bytes);
    frames_come_back(a, bytes, key);
    fragments_come_back(a, str_slice(bytes, 4, size), key);
    str accept;
    if (!websocket_accept(a, bytes, &accept))
        assert(!websocket_check_accept(a, bytes, accept));
    arena_free(a);
    return 0;
}
