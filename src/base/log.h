/* log.h: one line of key=value for each thing that happened.
 *
 *   run.claim run=run_8f2 session=root runner=r1 attempt=2 ms=3
 *
 * Where lines go is decided by the program, once, at its start; the default is
 * standard error. Values with spaces, quotes or control bytes are quoted. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_field {
    const char *key;
    enum { LOG_TEXT, LOG_INT } kind;
    str text;
    int64_t number;
};

#define LOG_S(k, s) ((struct log_field){ (k), LOG_TEXT, (s), 0 })
#define LOG_N(k, n) ((struct log_field){ (k), LOG_INT, { "", 0 }, (n) })

/* log_info("run.claim", LOG_S("run", id), LOG_N("attempt", 2)); */
#define log_debug(...) log_at_(LOG_DEBUG, __VA_ARGS__, { 0 })
#define log_info(...) log_at_(LOG_INFO, __VA_ARGS__, { 0 })
#define log_warn(...) log_at_(LOG_WARN, __VA_ARGS__, { 0 })
#define log_error(...) log_at_(LOG_ERROR, __VA_ARGS__, { 0 })
#define log_at_(level, what, ...) log_line((level), (what), (struct log_field[]){ __VA_ARGS__ })

/* Fields end with one whose key is NULL. */
void log_line(enum log_level level, const char *what, const struct log_field *fields);

/* Lines below `least` are dropped; each kept line goes to `write` whole, ending in a newline. */
void log_to(enum log_level least, void (*write)(void *to, enum log_level level, str line),
            void *to);

#endif
