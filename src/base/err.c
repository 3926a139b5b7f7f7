/* err.c: making errors. */
#include "base/err.h"

#include <assert.h>

#include "base/arena.h"

static const struct error_kind_info rows[ERROR_KIND_COUNT] = {
#define ERROR_ROW(name_, http_, rpc_, exit_, title_) \
    [ERR_##name_] = { .name = #name_, .title = title_, .http = http_, .rpc = rpc_, .exit = exit_ },
    ERROR_KINDS(ERROR_ROW)
#undef ERROR_ROW
};

const struct error_kind_info *error_kind_info(enum error_kind kind)
{
    assert(kind < ERROR_KIND_COUNT);
    return &rows[kind];
}

static err error_make(struct arena *a, struct error like)
{
    struct error *e = arena_alloc(a, sizeof *e);
    *e = like;
    return e;
}

err err_new(struct arena *a, enum error_kind kind, const char *format, ...)
{
    struct buf message = buf_in(a);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    return error_make(a, (struct error){ kind, buf_str(&message), STR(""), false, false });
}

err err_damage(struct arena *a, const char *format, ...)
{
    struct buf message = buf_in(a);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    return error_make(a, (struct error){ ERR_INTERNAL, buf_str(&message), STR(""), false, true });
}

err err_with(struct arena *a, err e, str members)
{
    return error_make(a, (struct error){ e->kind, e->message, members, e->hidden, e->damage });
}

err err_copy(struct arena *a, err e)
{
    return error_make(a, (struct error){ e->kind, arena_copy(a, e->message),
                                         arena_copy(a, e->members), e->hidden, e->damage });
}

err err_hide(struct arena *a, err e)
{
    return error_make(a, (struct error){ e->kind, e->message, e->members, true, e->damage });
}

err err_within(struct arena *a, err e, const char *format, ...)
{
    struct buf message = buf_in(a);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    buf_add(&message, STR(": "));
    buf_add(&message, e->message);
    return error_make(a, (struct error){ e->kind, buf_str(&message), e->members, e->hidden,
                                         e->damage });
}
