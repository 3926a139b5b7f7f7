/* write.h: members of answers that many operations have. Private to ops/. */
#ifndef OPS_WRITE_H
#define OPS_WRITE_H

#include "base/date.h"
#include "core/schema.h"
#include "json/json.h"

static inline void write_text(struct json_writer *w, str name, str text)
{
    json_write_name(w, name);
    json_write_str(w, text);
}

static inline void write_or_null(struct json_writer *w, str name, str text)
{
    json_write_name(w, name);
    if (text.len)
        json_write_str(w, text);
    else
        json_write_null(w);
}

static inline void write_int(struct json_writer *w, str name, int64_t n)
{
    json_write_name(w, name);
    json_write_int(w, n);
}

static inline void write_time(struct json_writer *w, str name, int64_t ms)
{
    char text[DATE_TEXT_MAX];
    write_text(w, name, date_print(text, ms));
}

/* Whole seconds, rather more than fewer: none at all would be no limit. */
static inline void write_seconds(struct json_writer *w, str name, int64_t ms)
{
    write_int(w, name, (ms + 999) / 1000);
}

static inline void write_bool(struct json_writer *w, str name, bool value)
{
    json_write_name(w, name);
    json_write_bool(w, value);
}

/* A schema with its text, or for lists without it. In schemas.c. */
void write_schema(struct json_writer *w, const struct schema_version *v, bool with_text);

#endif
