/* patch_private.h: what patch.c shares with patch_explain.c, which words its errors. */
#ifndef JSON_PATCH_PRIVATE_H
#define JSON_PATCH_PRIVATE_H

#include "json/json.h"
#include "json/pointer.h"

struct patching;

struct patch_op {
    const struct patch_action *action; /* NULL until it is known */
    uint32_t index;                    /* in the patch */
    str path_text, from_text;
    struct json_pointer path, from;
    const struct json *value;
};

enum { PATCH_VALUE = 1, PATCH_FROM = 2 };

struct patch_action {
    const char *name;
    unsigned needs; /* members beside "op" and "path": PATCH_VALUE, PATCH_FROM */
    bool writes;    /* puts a value at its path */
    err (*apply)(struct patching *p, const struct patch_op *op);
};

/* An error of one operation, which is named in front of the message and in the error's members. */
err patch_error(struct arena *a, const struct patch_op *op, enum error_kind kind,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* UNFIT: the path cannot go on at its token `i`, since `at` has nothing of that name. */
err patch_not_found(struct arena *a, const struct patch_op *op, const struct json_pointer *path,
                    size_t i, const struct json *at);

/* CONFLICT: what a test found is not what it expected. Says where they first differ, as far as that
 * can be found with the work that is left. */
err patch_differs(struct arena *a, const struct patch_op *op, const struct json *found,
                  const struct json *expected, uint64_t work);

/* A value as a reader wants to see it: itself when it is short, else what it is. */
str patch_value_text(struct arena *a, const struct json *j);

#endif
