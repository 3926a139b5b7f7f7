/* duplicate.h: does a name stand twice among members? Private to json/. */
#ifndef JSON_DUPLICATE_H
#define JSON_DUPLICATE_H

#include "json/json.h"

/* A member whose name another one before it has, or NULL. Whatever the names, and whoever chose
 * them, it takes no longer than sorting them. */
const struct json_member *json_duplicate(const struct json_member *members, size_t n);

#endif
