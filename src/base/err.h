/* err.h: what can go wrong, and how each looks on every wire.
 *
 * An `err` is NULL for success. Its message says what was expected and what was
 * found, because an agent reads it and must be able to act on it. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/arena.h"

struct arena;

// clang-format off
/*     kind           HTTP   JSON-RPC   exit   title                    when                                        */
#define ERROR_KINDS(X)                                                                                              \
    X(INVALID,        400,   -32602,    2,     "Bad request")           /* malformed JSON, unknown field, usage  */ \
    X(UNAUTHENTICATED,401,   -31001,    3,     "Unauthenticated")       /* no token, or one that is not known    */ \
    X(FORBIDDEN,      403,   -31003,    4,     "Forbidden")             /* this kind of token may not            */ \
    X(NOT_FOUND,      404,   -31004,    5,     "Not found")             /* also: outside the actor's scope       */ \
    X(CONFLICT,       409,   -31009,    6,     "Conflict")              /* expected_version, a name taken        */ \
    X(GONE,           410,   -31010,    7,     "Gone")                  /* compacted version, replay floor       */ \
    X(PRECONDITION,   412,   -31012,    8,     "Precondition failed")   /* If-Match                              */ \
    X(TOO_LARGE,      413,   -31013,    9,     "Too large")             /* beyond a size of the limits           */ \
    X(UNSUPPORTED,    415,   -31015,   10,     "Unsupported")           /* media type, encoding                  */ \
    X(MISDIRECTED,    421,   -31021,   11,     "Misdirected")           /* Host is not ours                      */ \
    X(UNFIT,          422,   -31022,   12,     "Does not fit")          /* breaks its schema; lists violations   */ \
    X(LIMIT,          429,   -31029,   13,     "Limit reached")         /* a bound, a budget, a rate             */ \
    X(INTERNAL,       500,   -32603,    1,     "Internal error")        /* we are wrong                          */ \
    X(UNAVAILABLE,    503,   -31053,   14,     "Unavailable")           /* not now: try again                    */ \
    X(FULL,           507,   -31057,   15,     "Storage full")          /* the disk                              */

enum error_kind {
#define ERROR_ENUM(name, http, rpc, exit, title) ERR_##name,
    ERROR_KINDS(ERROR_ENUM)
#undef ERROR_ENUM
    ERROR_KIND_COUNT
};
// clang-format on

struct error {
    enum error_kind kind;
    str message;
    str members; /* more members of the answer as printed JSON, without the braces; often empty */
    bool hidden; /* the message is for the log: it tells of what a caller must not know */
    bool damage; /* INTERNAL because what is stored is not what was stored; is counted by itself */
};

typedef const struct error *err;

struct error_kind_info {
    const char *name, *title;
    int http, rpc, exit;
};

/* How a kind looks on the wires. */
const struct error_kind_info *error_kind_info(enum error_kind kind);

err err_new(struct arena *a, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* INTERNAL: what was read back is not what we have stored. The message says what it is of, never
 * what is in it. */
err err_damage(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same error in another arena, which may outlive its own. */
err err_copy(struct arena *a, err e);

/* The same error with extra members for its answer. */
err err_with(struct arena *a, err e, str members);

/* The same error, whose message no caller gets to see. */
err err_hide(struct arena *a, err e);

/* The same error with "where: " in front of its message. */
err err_within(struct arena *a, err e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define TRY(expression)          \
    do {                         \
        err try_ = (expression); \
        if (try_)                \
            return try_;         \
    } while (0)

#endif
