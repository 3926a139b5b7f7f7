/* event_stream.c: bytes → server-sent events. */
#include "client/event_stream.h"

void event_reader_init(struct event_reader *r, struct arena *a)
{
    *r = (struct event_reader){ .line = buf_in(a), .data = buf_in(a), .retry_ms = -1 };
}

str event_last_id(const struct event_reader *r)
{
    return (str){ r->id, r->id_len };
}

/* ---- lines ---- */

static void data_add(struct event_reader *r, str value)
{
    if (r->data.len + value.len + 1 > EVENT_DATA_MAX) {
        r->broken = true;
        return;
    }
    if (r->has_data)
        buf_byte(&r->data, '\n');
    buf_add(&r->data, value);
    r->has_data = true;
}

/* A line that is not empty: a name and, behind a colon and perhaps a space, its value. A comment
 * has no name. */
static void line_take(struct event_reader *r, str line)
{
    str name, value;
    int64_t ms;

    if (!str_cut(line, ':', &name, &value))
        value = STR("");
    if (str_starts(value, STR(" ")))
        value = str_slice(value, 1, value.len);
    if (str_eq(name, STR("data")))
        data_add(r, value);
    if (str_eq(name, STR("id")) && value.len <= EVENT_ID_MAX &&
        str_find(value, '\0') == value.len) {
        memcpy(r->id, value.at, value.len);
        r->id_len = value.len;
    }
    if (str_eq(name, STR("retry")) && str_to_int(value, &ms) && ms >= 0)
        r->retry_ms = ms;
}

/* ---- bytes ---- */

static size_t line_end(str bytes)
{
    size_t feed = str_find(bytes, '\n');
    return str_find(str_slice(bytes, 0, feed), '\r');
}

/* The next line, without its end; false: it is not whole yet, and what there was of it is kept. */
static bool line_next(struct event_reader *r, str *bytes, str *line)
{
    if (bytes->len) {
        bool half = r->after_cr && bytes->at[0] == '\n';
        r->after_cr = false; /* also when there is nothing behind it yet */
        *bytes = str_slice(*bytes, half, bytes->len);
    }

    size_t end = line_end(*bytes);
    str part = str_slice(*bytes, 0, end);
    bool whole = end < bytes->len;
    if (whole)
        r->after_cr = bytes->at[end] == '\r';
    *bytes = str_slice(*bytes, whole ? end + 1 : end, bytes->len);
    if (whole && r->line.len == 0) {
        *line = part;
        return true;
    }
    if (r->line.len + part.len > EVENT_DATA_MAX)
        r->broken = true;
    else
        buf_add(&r->line, part);
    *line = (str){ r->line.at, r->line.len };
    return whole;
}

bool event_read(struct event_reader *r, str *bytes, str *data)
{
    str line;

    if (r->given)
        r->data.len = 0;
    r->given = false;
    while (bytes->len && !r->broken && line_next(r, bytes, &line)) {
        bool over = line.len == 0;
        if (!over)
            line_take(r, line);
        r->line.len = 0;
        if (!over || !r->has_data)
            continue;
        r->has_data = false;
        r->given = true;
        *data = (str){ r->data.at, r->data.len };
        if (data->len)
            return true;
        r->given = false; /* one whose data is empty only carries an id */
    }
    if (r->broken)
        *bytes = str_slice(*bytes, bytes->len, bytes->len);
    return false;
}
