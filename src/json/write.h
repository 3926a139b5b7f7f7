/* write.h: members of objects, name and value at once, for those who write many of them.
 *
 * What a member means, and which members there are, is its caller's business. */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include "json/json.h"

static inline void write_text(struct json_writer *w, str name, str text)
{
    json_write_name(w, name);
    json_write_str(w, text);
}

static inline void write_int(struct json_writer *w, str name, int64_t n)
{
    json_write_name(w, name);
    json_write_int(w, n);
}

static inline void write_bool(struct json_writer *w, str name, bool value)
{
    json_write_name(w, name);
    json_write_bool(w, value);
}

static inline void write_null(struct json_writer *w, str name)
{
    json_write_name(w, name);
    json_write_null(w);
}

static inline void write_or_null(struct json_writer *w, str name, str text)
{
    if (text.len)
        write_text(w, name, text);
    else
        write_null(w, name);
}

static inline void write_value(struct json_writer *w, str name, const struct json *value)
{
    json_write_name(w, name);
    json_write_value(w, value);
}

/* Text that is JSON already. */
static inline void write_printed(struct json_writer *w, str name, str json)
{
    json_write_name(w, name);
    json_write_printed(w, json);
}

/* An object or an array, which json_write_end ends. */
static inline void write_begin(struct json_writer *w, str name, char bracket)
{
    json_write_name(w, name);
    json_write_begin(w, bracket);
}

static inline void write_texts(struct json_writer *w, str name, const str *texts, size_t count)
{
    write_begin(w, name, '[');
    for (size_t i = 0; i < count; i++)
        json_write_str(w, texts[i]);
    json_write_end(w, ']');
}

#endif
