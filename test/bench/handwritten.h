/* handwritten.h: schema.json written out as C.
 *
 * It knows that one schema and nothing else, so it is about the fastest check
 * that these values allow: the limit that a compiled schema is measured against. */
#ifndef BENCH_HANDWRITTEN_H
#define BENCH_HANDWRITTEN_H

#include "json/json.h"

bool handwritten_check(const struct json *doc);

#endif
