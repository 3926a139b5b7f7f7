/* websocket_test.c: which bytes are which events, however they are cut, and which are refused.
 *
 * Bytes are written as hex, events as lines: `text "Hello"`, `close 1000 "bye"`. */
#include <stdlib.h>

#include "base/utf8.h"
#include "check.h"
#include "wire/ws/frame.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const unsigned char KEY[4] = { 0x37, 0xfa, 0x21, 0x3d };

/* ---- helpers ---- */

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static str from_hex(const char *hex)
{
    struct buf out = buf_in(check_arena());
    for (; *hex; hex++) {
        if (*hex == ' ')
            continue;
        buf_byte(&out, (char)(hex_digit(hex[0]) << 4 | hex_digit(hex[1])));
        hex++;
    }
    return buf_str(&out);
}

static str to_hex(str bytes)
{
    struct buf out = buf_in(check_arena());
    for (size_t i = 0; i < bytes.len; i++)
        buf_printf(&out, "%s%02x", i ? " " : "", (unsigned char)bytes.at[i]);
    return buf_str(&out);
}

static void event_log(struct buf *log, const struct websocket_event *e)
{
    static const char *const names[] = {
        [WEBSOCKET_TEXT] = "text", [WEBSOCKET_BINARY] = "binary", [WEBSOCKET_CLOSE] = "close",
        [WEBSOCKET_PING] = "ping", [WEBSOCKET_PONG] = "pong",     [WEBSOCKET_REFUSED] = "refused",
    };
    buf_printf(log, "%s%s", log->len ? "\n" : "", names[e->kind]);
    if (e->code)
        buf_printf(log, " %u", (unsigned)e->code);
    if (e->payload.len > 125)
        buf_printf(log, " %zu bytes", e->payload.len);
    else
        buf_printf(log, " \"" STR_FMT "\"", STR_ARG(e->payload));
}

/* Feeds one piece, from memory of exactly its size, so that a read beyond its end is seen. */
static void feed(struct websocket_reader *r, str piece, struct buf *log)
{
    char *exact = mem_alloc(piece.len);
    struct websocket_event e;

    if (piece.len)
        memcpy(exact, piece.at, piece.len);
    str rest = { exact, piece.len };
    while (websocket_read(r, &rest, &e))
        event_log(log, &e);
    CHECK_INT(rest.len, 0);
    free(exact);
}

/* The events of bytes that come in pieces: the first of `first` bytes, the others of `size`. */
static str events_cut(enum websocket_role role, size_t message_max, str bytes, size_t first,
                      size_t size)
{
    struct websocket_reader r;
    struct buf log = buf_in(check_arena());

    websocket_reader_init(&r, role, message_max);
    feed(&r, str_slice(bytes, 0, first), &log);
    for (size_t i = first; i < bytes.len; i += size)
        feed(&r, str_slice(bytes, i, i + size), &log);
    CHECK(r.room <= r.message_max);
    websocket_reader_release(&r);
    return buf_str(&log);
}

/* The events of bytes, which are the same for the whole, for two pieces cut anywhere, and for
 * single bytes. */
static str events(enum websocket_role role, size_t message_max, str bytes)
{
    str whole = events_cut(role, message_max, bytes, bytes.len, 1);

    for (size_t cut = 0; cut < bytes.len; cut++)
        CHECK_STR(events_cut(role, message_max, bytes, cut, bytes.len), whole.at);
    CHECK_STR(events_cut(role, message_max, bytes, 0, 1), whole.at);
    return whole;
}

struct frame_case {
    enum websocket_role role;
    const char *hex, *expected;
};

static void check_cases(const struct frame_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_STR(events(cases[i].role, 64, from_hex(cases[i].hex)), cases[i].expected);
}

#define S WEBSOCKET_SERVER
#define C WEBSOCKET_CLIENT

/* ---- reading ---- */

TEST(frames_become_events)
{
    static const struct frame_case cases[] = {
        { C, "", "" },
        { C, "81 05 48656c6c6f", "text \"Hello\"" },
        { S, "81 85 37fa213d 7f9f4d5158", "text \"Hello\"" },
        { C, "82 05 48656c6c6f", "binary \"Hello\"" },
        { C, "81 00", "text \"\"" },
        { S, "82 80 01020304", "binary \"\"" },
        { C, "89 05 48656c6c6f", "ping \"Hello\"" },
        { S, "8a 85 37fa213d 7f9f4d5158", "pong \"Hello\"" },
        { C, "89 00 8a 00", "ping \"\"\npong \"\"" },
        { C, "81 01 61 81 01 62", "text \"a\"\ntext \"b\"" },
        { C, "81 02 6161 81 01 ff",
          "text \"aa\"\nrefused 1007 \"expected UTF-8 in a text, found byte 0xff at offset 0\"" },
        { C, "81 05 48656c", "" },
        { C, "81", "" },
    };
    check_cases(cases, COUNT(cases));
}

TEST(fragments_become_one_message_and_control_frames_pass_between_them)
{
    static const struct frame_case cases[] = {
        { C, "01 03 48656c 80 02 6c6f", "text \"Hello\"" },
        { C, "01 03 48656c", "" },
        { C, "01 00 00 00 80 00", "text \"\"" },
        { C, "02 01 61 00 01 62 00 00 80 01 63 81 01 64", "binary \"abc\"\ntext \"d\"" },
        { C, "01 01 61 89 02 7878 00 01 62 8a 00 80 01 63",
          "ping \"xx\"\npong \"\"\ntext \"abc\"" },
        { S, "01 81 00000000 61 89 81 01010101 79 80 81 20202020 42", "ping \"x\"\ntext \"ab\"" },
        { C, "01 01 61 88 02 03e8", "close 1000 \"\"" },
    };
    check_cases(cases, COUNT(cases));
}

TEST(frames_that_break_a_rule_are_refused)
{
    static const struct frame_case cases[] = {
        { C, "c1 00", "refused 1002 \"expected no reserved bits, found 0x40\"" },
        { C, "f1 00", "refused 1002 \"expected no reserved bits, found 0x70\"" },
        { C, "83 00", "refused 1002 \"expected opcode 0, 1, 2, 8, 9 or 10, found 3\"" },
        { C, "8b 00", "refused 1002 \"expected opcode 0, 1, 2, 8, 9 or 10, found 11\"" },
        { C, "8f 00", "refused 1002 \"expected opcode 0, 1, 2, 8, 9 or 10, found 15\"" },
        { C, "81 80",
          "refused 1002 \"expected a frame without mask from a server, found a masked one\"" },
        { S, "81 00",
          "refused 1002 \"expected a masked frame from a client, found one without mask\"" },
        { C, "09 00", "refused 1002 \"expected a whole control frame, found a fragment of one\"" },
        { C, "88 7e",
          "refused 1002 \"expected at most 125 bytes in a control frame, found more\"" },
        { S, "8a ff",
          "refused 1002 \"expected at most 125 bytes in a control frame, found more\"" },
        { C, "80 00", "refused 1002 \"expected the start of a message, found a continuation\"" },
        { C, "81 01 61 80 00",
          "text \"a\"\nrefused 1002 \"expected the start of a message, found a continuation\"" },
        { C, "01 00 81 00",
          "refused 1002 \"expected a continuation of the message, found the start of another\"" },
        { C, "01 00 89 00 02 00",
          "ping \"\"\n"
          "refused 1002 \"expected a continuation of the message, found the start of another\"" },
        { C, "81 7e 007d",
          "refused 1002 \"expected the shortest form of a length, found 125 in 2 bytes\"" },
        { C, "81 7f 000000000000ffff",
          "refused 1002 \"expected the shortest form of a length, found 65535 in 8 bytes\"" },
        { C, "82 7f 8000000000000000",
          "refused 1002 \"expected a length below 2^63, found one with its highest bit set\"" },
        { C, "82 7f 7fffffffffffffff",
          "refused 1009 \"expected a message of at most 64 bytes, "
          "found 9223372036854775807 or more\"" },
        { S, "82 fe 007e 00000000",
          "refused 1009 \"expected a message of at most 64 bytes, found 126 or more\"" },
        { C, "82 41", "refused 1009 \"expected a message of at most 64 bytes, found 65 or more\"" },
        { C, "02 01 61 00 01 62 80 3f",
          "refused 1009 \"expected a message of at most 64 bytes, found 65 or more\"" },
    };
    check_cases(cases, COUNT(cases));
}

TEST(close_frames_have_a_known_code_and_a_readable_reason)
{
    static const struct frame_case cases[] = {
        { C, "88 00", "close 1005 \"\"" },
        { C, "88 05 03e8 627965", "close 1000 \"bye\"" },
        { S, "88 85 37fa213d 34124344 52", "close 1000 \"bye\"" },
        { C, "88 04 1387 c3a9", "close 4999 \"\xc3\xa9\"" },
        { C, "88 01 03", "refused 1002 \"expected a close code of two bytes, found one byte\"" },
        { C, "88 03 03e8 ff",
          "refused 1007 \"expected UTF-8 in the reason of a close, found byte 0xff\"" },
        { C, "88 04 03e8 61c3",
          "refused 1007 \"expected UTF-8 in the reason of a close, found byte 0xc3\"" },
        { C, "88 02 03ed",
          "refused 1002 \"expected a close code of 1000-1003, 1007-1014 or "
          "3000-4999, found 1005\"" },
    };
    check_cases(cases, COUNT(cases));

    for (unsigned code = 0; code <= UINT16_MAX; code++) {
        char frame[] = { (char)0x88, 2, (char)(code >> 8), (char)code };
        bool good = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
                    (code >= 3000 && code <= 4999);
        struct websocket_reader r;
        struct websocket_event e;
        str bytes = { frame, sizeof frame };

        websocket_reader_init(&r, WEBSOCKET_CLIENT, 0);
        CHECK(websocket_read(&r, &bytes, &e));
        CHECK_INT(e.kind, good ? WEBSOCKET_CLOSE : WEBSOCKET_REFUSED);
        CHECK_INT(e.code, good ? code : WEBSOCKET_PROTOCOL_ERROR);
        websocket_reader_release(&r);
    }
}

TEST(nothing_comes_after_a_close_or_a_refusal)
{
    static const struct frame_case cases[] = {
        { C, "88 00 81 01 61 88 00", "close 1005 \"\"" },
        { C, "88 00 ff ff ff", "close 1005 \"\"" },
        { C, "80 00 81 01 61",
          "refused 1002 \"expected the start of a message, found a continuation\"" },
        { C, "81 01 ff 81 01 61",
          "refused 1007 \"expected UTF-8 in a text, found byte 0xff at offset 0\"" },
    };
    check_cases(cases, COUNT(cases));
}

/* ---- texts ---- */

TEST(a_character_may_be_cut_between_fragments)
{
    static const struct frame_case cases[] = {
        { C, "01 01 c3 80 01 a9", "text \"\xc3\xa9\"" },
        { C, "01 02 e282 89 00 80 02 ac21", "ping \"\"\ntext \"\xe2\x82\xac!\"" },
        { C, "01 01 f0 00 01 9f 00 01 98 80 01 80", "text \"\xf0\x9f\x98\x80\"" },
        { C, "82 01 ff", "binary \"\xff\"" },
        { C, "81 02 61c3",
          "refused 1007 \"expected UTF-8 in a text, found byte 0xc3 at offset 1\"" },
        { C, "01 02 61c3 80 00",
          "refused 1007 \"expected UTF-8 in a text, found byte 0xc3 at offset 1\"" },
        { C, "01 02 61c3 80 01 61",
          "refused 1007 \"expected UTF-8 in a text, found byte 0xc3 at offset 1\"" },
    };
    check_cases(cases, COUNT(cases));
}

/* The byte that makes a text hopeless is the one at which it is refused. */
TEST(a_bad_text_is_refused_at_its_first_bad_byte)
{
    static const struct {
        const char *hex;
        size_t bytes; /* after which it is refused */
    } cases[] = {
        { "80", 1 },     { "c0", 1 },       { "c1", 1 },         { "f5", 1 },
        { "ff", 1 },     { "c220", 2 },     { "e080", 2 },       { "e09f", 2 },
        { "eda0", 2 },   { "e28220", 3 },   { "f08f", 2 },       { "f490", 2 },
        { "f09f20", 3 }, { "f09f9820", 4 }, { "616263c2c2", 5 }, { "f09f9880bf", 5 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct websocket_reader r;
        struct websocket_event e = { 0 };
        str bytes = from_hex(cases[i].hex), header = from_hex("81 40");
        bool refused = false;
        size_t fed = 0;

        websocket_reader_init(&r, WEBSOCKET_CLIENT, 0);
        CHECK(!websocket_read(&r, &header, &e));
        while (fed < bytes.len && !refused) {
            str one = str_slice(bytes, fed, fed + 1);
            refused = websocket_read(&r, &one, &e);
            fed++;
        }
        CHECK(refused);
        CHECK_INT(fed, cases[i].bytes);
        CHECK_INT(e.code, WEBSOCKET_BAD_TEXT);
        websocket_reader_release(&r);
    }
}

/* Feeds a text byte by byte and says whether it came through. */
static bool text_passes(str text)
{
    struct websocket_reader r;
    struct websocket_event e = { 0 };
    char header[2] = { (char)0x81, (char)text.len };
    str bytes = { header, 2 };
    bool any = false;

    websocket_reader_init(&r, WEBSOCKET_CLIENT, 0);
    websocket_read(&r, &bytes, &e);
    for (size_t i = 0; i < text.len && !any; i++) {
        bytes = str_slice(text, i, i + 1);
        any = websocket_read(&r, &bytes, &e);
    }
    CHECK(any);
    bool passed = e.kind == WEBSOCKET_TEXT && str_eq(e.payload, text);
    CHECK(passed || (e.kind == WEBSOCKET_REFUSED && e.code == WEBSOCKET_BAD_TEXT));
    websocket_reader_release(&r);
    return passed;
}

TEST(texts_in_single_bytes_are_valid_exactly_when_the_whole_is)
{
    static const unsigned char edges[] = {
        0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf,
        0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5,
    };
    size_t n = COUNT(edges), valid = 0;
    for (size_t i = 0; i < n * n * n * n; i++) {
        const char text[] = { (char)edges[i % n], (char)edges[i / n % n],
                              (char)edges[i / n / n % n], (char)edges[i / n / n / n] };
        bool expected = utf8_valid((str){ text, 4 });
        CHECK_INT(text_passes((str){ text, 4 }), expected);
        valid += expected;
    }
    CHECK(valid > 100);
}

/* ---- memory ---- */

TEST(memory_follows_what_has_come_and_goes_after_the_message)
{
    enum { LONG = 1 << 20 };
    struct websocket_reader r;
    struct websocket_event e;
    struct buf frame = buf_in(check_arena());
    char *payload = arena_zero(check_arena(), LONG);

    websocket_frame(&frame, WEBSOCKET_BINARY, (str){ payload, LONG });
    str bytes = buf_str(&frame), head = str_slice(bytes, 0, 10 + 100);
    websocket_reader_init(&r, WEBSOCKET_CLIENT, 0);
    CHECK(!websocket_read(&r, &head, &e));
    CHECK(r.room < 4096);

    bytes = str_slice(bytes, 10 + 100, bytes.len);
    CHECK(websocket_read(&r, &bytes, &e));
    CHECK_INT(e.payload.len, LONG);
    CHECK(r.room <= LONG);
    CHECK(!websocket_read(&r, &bytes, &e));
    CHECK_INT(r.room, 0);
    websocket_reader_release(&r);
}

TEST(a_message_of_exactly_the_limit_passes)
{
    char payload[1000] = { 0 };
    struct buf frame = buf_in(check_arena());
    websocket_frame(&frame, WEBSOCKET_BINARY, (str){ payload, sizeof payload });
    str bytes = buf_str(&frame);

    CHECK_STR(events_cut(C, 1000, bytes, bytes.len, 1), "binary 1000 bytes");
    CHECK_STR(events_cut(C, 1000, bytes, 7, 13), "binary 1000 bytes");
    CHECK_STR(events_cut(C, 999, bytes, 4, bytes.len),
              "refused 1009 \"expected a message of at most 999 bytes, found 1000 or more\"");
}

TEST(the_limit_of_messages_is_none_of_control_frames)
{
    CHECK_STR(events(C, 2, from_hex("02 02 6162 89 03 787878 80 00")),
              "ping \"xxx\"\nbinary \"ab\"");
}

TEST(the_default_limit_is_one_mebibyte)
{
    CHECK_STR(events(C, 0, from_hex("82 7f 0000000000100000")), "");
    CHECK_STR(events(C, 0, from_hex("82 7f 0000000000100001")),
              "refused 1009 \"expected a message of at most 1048576 bytes, "
              "found 1048577 or more\"");
}

/* ---- writing ---- */

TEST(frames_are_written_with_the_shortest_header)
{
    static const struct {
        size_t len;
        const char *plain, *masked;
    } cases[] = {
        { 0, "82 00", "82 80 37 fa 21 3d" },
        { 125, "82 7d", "82 fd 37 fa 21 3d" },
        { 126, "82 7e 00 7e", "82 fe 00 7e 37 fa 21 3d" },
        { 65535, "82 7e ff ff", "82 fe ff ff 37 fa 21 3d" },
        { 65536, "82 7f 00 00 00 00 00 01 00 00", "82 ff 00 00 00 00 00 01 00 00 37 fa 21 3d" },
    };
    char *payload = arena_zero(check_arena(), 65536);

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf plain = buf_in(check_arena()), masked = buf_in(check_arena());
        str text = { payload, cases[i].len };
        websocket_frame(&plain, WEBSOCKET_BINARY, text);
        websocket_frame_masked(&masked, WEBSOCKET_BINARY, text, KEY);
        CHECK_INT(masked.len, plain.len + 4);
        CHECK_STR(to_hex((str){ plain.at, plain.len - text.len }), cases[i].plain);
        CHECK_STR(to_hex((str){ masked.at, masked.len - text.len }), cases[i].masked);
    }
}

TEST(frames_are_appended_as_in_the_rfc)
{
    struct buf out = buf_in(check_arena());
    websocket_frame(&out, WEBSOCKET_TEXT, STR("Hello"));
    websocket_frame_masked(&out, WEBSOCKET_PONG, STR("Hello"), KEY);
    websocket_frame(&out, WEBSOCKET_PING, STR(""));
    CHECK_STR(to_hex(buf_str(&out)), "81 05 48 65 6c 6c 6f 8a 85 37 fa 21 3d 7f 9f 4d 51 58 89 00");
}

/* Payloads are masked sixteen bytes at a time; every length and every cut must do. */
TEST(what_is_written_is_read_back)
{
    char payload[200];
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (char)(i * 37 + 11);

    for (size_t len = 0; len < sizeof payload; len++) {
        struct buf frames = buf_in(check_arena());
        str text = { payload, len };
        websocket_frame_masked(&frames, WEBSOCKET_BINARY, text, KEY);
        str bytes = buf_str(&frames);

        for (size_t cut = 0; cut <= bytes.len; cut++) {
            struct websocket_reader r;
            struct websocket_event e;
            str head = str_slice(bytes, 0, cut), tail = str_slice(bytes, cut, bytes.len);

            websocket_reader_init(&r, WEBSOCKET_SERVER, 0);
            CHECK(websocket_read(&r, &head, &e) || websocket_read(&r, &tail, &e));
            CHECK_INT(e.kind, WEBSOCKET_BINARY);
            CHECK(str_eq(e.payload, text));
            websocket_reader_release(&r);
        }
    }
}

static str closed(enum websocket_code code, str reason)
{
    struct buf out = buf_in(check_arena());
    websocket_close(&out, code, reason);
    return events(WEBSOCKET_CLIENT, 0, buf_str(&out));
}

TEST(close_frames_are_cut_to_what_fits)
{
    struct buf reason = buf_in(check_arena()), masked = buf_in(check_arena());

    CHECK_STR(closed(WEBSOCKET_NORMAL, STR("bye")), "close 1000 \"bye\"");
    CHECK_STR(closed(WEBSOCKET_TRY_LATER, STR("")), "close 1013 \"\"");
    CHECK_STR(closed(WEBSOCKET_NO_CODE, STR("not sent")), "close 1005 \"\"");
    CHECK_STR(closed(4000, STR("a\xff"
                               "b")),
              "close 4000 \"a\"");
    websocket_close_masked(&masked, WEBSOCKET_GOING_AWAY, STR("bye"), KEY);
    CHECK_STR(events(WEBSOCKET_SERVER, 0, buf_str(&masked)), "close 1001 \"bye\"");

    /* 122 bytes, and a character of two: half of it would fit. */
    for (int i = 0; i < 122; i++)
        buf_byte(&reason, 'x');
    buf_add(&reason, STR("\xc3\xa9"));
    str all = buf_str(&reason);
    for (size_t skip = 0; skip <= 1; skip++) {
        struct buf out = buf_in(check_arena());
        websocket_close(&out, WEBSOCKET_INTERNAL, str_slice(all, skip, all.len));
        CHECK_INT(out.len, skip ? 2 + 2 + 123 : 2 + 2 + 122);
        CHECK_INT(out.at[1], out.len - 2);
    }
}

/* A refusal can be sent as it is. */
TEST(refusals_fit_in_a_close_frame)
{
    struct websocket_reader r;
    struct websocket_event e;
    struct buf out = buf_in(check_arena());
    str bytes = from_hex("02 01 61 80 7f 7fffffffffffffff");

    websocket_reader_init(&r, WEBSOCKET_CLIENT, SIZE_MAX / 2 - 1);
    CHECK(websocket_read(&r, &bytes, &e));
    CHECK_INT(e.code, WEBSOCKET_TOO_BIG);
    websocket_close(&out, e.code, e.payload);
    CHECK_INT(out.len, 2 + 2 + e.payload.len);
    websocket_reader_release(&r);
}

/* ---- the handshake ---- */

TEST(the_accept_key_is_the_one_of_the_rfc)
{
    str accept;
    CHECK_OK(websocket_accept(check_arena(), STR("dGhlIHNhbXBsZSBub25jZQ=="), &accept));
    CHECK_STR(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK_STR(websocket_key(check_arena(), (const unsigned char *)"the sample nonce"),
              "dGhlIHNhbXBsZSBub25jZQ==");
}

TEST(keys_that_are_not_sixteen_bytes_are_refused)
{
    static const struct {
        const char *key, *message;
    } cases[] = {
        { "", "expected Sec-WebSocket-Key to be 16 bytes in base64, found 0" },
        { "dGhl", "expected Sec-WebSocket-Key to be 16 bytes in base64, found 3" },
        { "dGhlIHNhbXBsZSBub25jZSE=",
          "expected Sec-WebSocket-Key to be 16 bytes in base64, found 17" },
        { "dGhlIHNhbXBsZSBub25jZQ",
          "expected Sec-WebSocket-Key to be 16 bytes in base64, found no base64" },
        { "dGhlIHNhbXBsZSBub25jZR==",
          "expected Sec-WebSocket-Key to be 16 bytes in base64, found no base64" },
        { " dGhlIHNhbXBsZSBub25jZQ==",
          "expected Sec-WebSocket-Key to be 16 bytes in base64, found no base64" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        str accept;
        err e = websocket_accept(check_arena(), str_from(cases[i].key), &accept);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, cases[i].message);
    }
}

TEST(a_client_refuses_an_answer_to_another_key)
{
    str key = STR("dGhlIHNhbXBsZSBub25jZQ==");
    CHECK_OK(websocket_check_accept(check_arena(), key, STR("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")));
    CHECK_ERR(websocket_check_accept(check_arena(), key, STR("")), ERR_INVALID);
    err e = websocket_check_accept(check_arena(), key, STR("S3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    CHECK_ERR(e, ERR_INVALID);
    CHECK_STR(e->message, "expected Sec-WebSocket-Accept to be \"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\", "
                          "found \"S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\"");
}
