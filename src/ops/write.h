/* write.h: members of answers that many operations have. Private to ops/. */
#ifndef OPS_WRITE_H
#define OPS_WRITE_H

#include "base/date.h"
#include "core/schema.h"
#include "core/stored.h"
#include "json/write.h"

/* A text that was read back from the store, as it is: one that is not JSON any more would spoil the
 * answer, and fails the command. */
static inline void write_stored(struct tx *tx, struct json_writer *w, str name, struct stored of,
                                str json)
{
    if (stored_is_json(tx, of, json))
        write_printed(w, name, json);
}

static inline void write_stored_or_null(struct tx *tx, struct json_writer *w, str name,
                                        struct stored of, str json)
{
    if (json.len)
        write_stored(tx, w, name, of, json);
    else
        write_null(w, name);
}

/* 0: there is none. */
static inline void write_int_or_null(struct json_writer *w, str name, int64_t n)
{
    if (n)
        write_int(w, name, n);
    else
        write_null(w, name);
}

static inline void write_time(struct json_writer *w, str name, int64_t ms)
{
    char text[DATE_TEXT_MAX];
    write_text(w, name, date_print(text, ms));
}

static inline void write_time_or_null(struct json_writer *w, str name, int64_t ms)
{
    if (ms)
        write_time(w, name, ms);
    else
        write_null(w, name);
}

/* Whole seconds, rather more than fewer: none at all would be no limit. */
static inline void write_seconds(struct json_writer *w, str name, int64_t ms)
{
    write_int(w, name, (ms + 999) / 1000);
}

/* A schema with its text, or for lists without it. In schemas.c. */
void write_schema(struct tx *tx, struct json_writer *w, const struct schema_version *v,
                  bool with_text);

#endif
