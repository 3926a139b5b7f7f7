/* format.h: the formats of JSON Schema, as predicates on strings.
 *
 * Each takes valid UTF-8; all but "regex" allocate nothing. */
#ifndef JSON_SCHEMA_FORMAT_H
#define JSON_SCHEMA_FORMAT_H

#include "base/str.h"

struct format {
    const char *name;
    bool (*fits)(str text);
    const char *hint; /* for messages: "a date-time like 2025-01-15T10:35:00Z" */
};

/* NULL when the name is no standard format; such formats are never asserted. */
const struct format *format_find(str name);

#endif
