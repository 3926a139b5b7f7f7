/* uri.h: as much of RFC 3986 as references between schemas need. */
#ifndef JSON_URI_H
#define JSON_URI_H

#include "base/arena.h"

/* Splits at the first '#'. */
void uri_split(str uri, str *without_fragment, str *fragment);

/* "a#" → "a": both are one address. Other fragments stay. */
str uri_without_empty_fragment(str uri);

/* Without "http:" or "https:", whichever it has; another one stays as it is. */
str uri_without_scheme(str uri);

/* Whether both name the same: addresses of json-schema.org are names, and are written with http and
 * with https. */
bool uri_is_twin(str a, str b);

/* The target of `reference` seen from `base` (RFC 3986 §5.2), without its fragment. */
str uri_resolve(struct arena *a, str base, str reference);

/* %41 → A; a percent sign that is no escape stays as it is. */
str uri_decode(struct arena *a, str text);

#endif
