/* event_stream.c: any bytes as a stream of server-sent events.
 *
 * In whatever pieces they come, the events, their ids and what is said about coming back are the
 * same; and what was read, written again in the plainest way, is read as the same. */
#include "client/event_stream.h"

#include <assert.h>
#include <stdlib.h>

/* What was read, one event after the other. Each piece is a block of its own, so that reading
 * beyond it is noticed. */
static str told(struct arena *a, str bytes, size_t piece)
{
    struct buf out = buf_in(a);
    struct event_reader r;
    str data;

    event_reader_init(&r, a);
    for (size_t at = 0; at < bytes.len; at += piece) {
        str part = str_slice(bytes, at, at + piece);
        char *exact = memcpy(malloc(part.len), part.at, part.len);
        str left = { exact, part.len };
        while (event_read(&r, &left, &data)) {
            assert(data.len > 0 && data.len <= EVENT_DATA_MAX);
            assert(str_find(data, '\r') == data.len); /* it ends lines, too */
            assert(event_last_id(&r).len <= EVENT_ID_MAX && r.retry_ms >= -1);
            buf_printf(&out, "%zu " STR_FMT " %zu ", data.len, STR_ARG(data),
                       event_last_id(&r).len);
            buf_add(&out, event_last_id(&r));
        }
        assert(left.len == 0 && !r.broken);
        free(exact);
    }
    buf_printf(&out, " %lld", (long long)r.retry_ms);
    return buf_str(&out);
}

static void data_write(struct buf *out, str data)
{
    str line;

    for (bool more = true; more;) {
        more = str_cut(data, '\n', &line, &data);
        buf_add(out, STR("data: "));
        buf_add(out, line);
        buf_byte(out, '\n');
    }
    buf_byte(out, '\n');
}

static void round_trip_check(struct arena *a, str bytes)
{
    struct buf written = buf_in(a), first = buf_in(a), second = buf_in(a);
    struct event_reader r;
    str data;

    event_reader_init(&r, a);
    while (event_read(&r, &bytes, &data)) {
        data_write(&written, data);
        buf_printf(&first, "%zu ", data.len);
        buf_add(&first, data);
    }
    str again = buf_str(&written);
    event_reader_init(&r, a);
    while (event_read(&r, &again, &data)) {
        buf_printf(&second, "%zu ", data.len);
        buf_add(&second, data);
    }
    assert(str_eq(buf_str(&first), buf_str(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str bytes = size ? (str){ (const char *)data, size } : STR("");
    str whole = told(a, bytes, size + 1);

    for (size_t piece = 1; piece <= 7; piece += 3)
        assert(str_eq(told(a, bytes, piece), whole));
    round_trip_check(a, bytes);
    arena_free(a);
    return 0;
}
