/* fuzz: src/wire/http/sse.c src/client/event_stream.c */
/* sse.c: a request for a stream of events; and texts as events of one.
 *
 * The input is a request's head, an empty line, and lines. What a request asks for is within its
 * limits or refused with a reason. Each line, printed as JSON, is sent as an event: whoever reads
 * the stream, however it is cut, has the same texts and the same numbers. */
#include <assert.h>

#include "base/utf8.h"
#include "client/event_stream.h"
#include "json/json.h"
#include "wire/http/parse.h"
#include "wire/hub.h"

enum { TYPES_MAX = 64, LINES_MAX = 32 };

static void wish_check(struct arena *a, str bytes)
{
    struct http_limits limits = { .body_max = 0 };
    struct http_parser p;
    struct hub_filter filter;
    size_t used;

    http_parser_init(&p, a, &limits);
    if (http_parse(&p, bytes, &used) != HTTP_HEAD_DONE)
        return;
    err e = sse_filter(a, &p.request, &filter);
    if (e) {
        assert(e->kind == ERR_INVALID && utf8_valid(e->message) && e->message.len);
        return;
    }
    assert(filter.after >= -1 && filter.type_count <= TYPES_MAX && utf8_valid(filter.subject));
    for (size_t i = 0; i < filter.type_count; i++)
        assert(utf8_valid(filter.types[i]));
}

/* Reads the stream in pieces, and checks that it is these texts. */
static void stream_check(struct arena *a, str stream, const str *texts, size_t count, size_t piece)
{
    struct event_reader r;
    size_t seen = 0;
    str data;

    event_reader_init(&r, a);
    for (size_t at = 0; at < stream.len; at += piece) {
        str bytes = str_slice(stream, at, at + piece);
        while (event_read(&r, &bytes, &data)) {
            int64_t number;
            assert(seen < count && str_eq(data, texts[seen]));
            assert(str_to_int(event_last_id(&r), &number) && number == (int64_t)seen + 1);
            seen++;
        }
        assert(bytes.len == 0 && !r.broken);
    }
    assert(seen == count);
}

static void events_check(struct arena *a, str lines)
{
    struct buf stream = buf_in(a);
    str texts[LINES_MAX], line;
    size_t count = 0;

    while (lines.len && count < LINES_MAX) {
        str_cut(lines, '\n', &line, &lines);
        if (!utf8_valid(line))
            continue;
        struct json text = json_string(line);
        texts[count] = json_printed(a, &text);
        sse_write(&stream, (int64_t)count + 1, STR("workflow_state_updated"), texts[count]);
        count++;
    }
    for (size_t piece = 1; piece < 40; piece = piece * 3 + 1)
        stream_check(a, buf_str(&stream), texts, count, piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? (str){ (const char *)data, size } : STR("");
    size_t head = 0;

    while (head + 4 < text.len && !str_starts(str_slice(text, head, text.len), STR("\r\n\r\n")))
        head++;
    wish_check(a, text);
    events_check(a, str_slice(text, head, text.len));
    arena_free(a);
    return 0;
}
